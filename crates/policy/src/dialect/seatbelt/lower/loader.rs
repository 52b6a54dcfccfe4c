//! Whether the loader, without which no program starts, can be read.

use std::path::Path;

use super::super::rule::Verdict;
use super::super::string::Known;
use super::ground::Entry;
use crate::dialect::FileKind;
use crate::key::Reader;

/// Where systems keep loaders. What a profile denies by default is implied for them; what it denies
/// by name is not.
const LOADERS: [&str; 12] = [
    "/lib/ld-linux-aarch64.so.1",
    "/lib/ld-musl-aarch64.so.1",
    "/lib/ld-musl-x86_64.so.1",
    "/lib/x86_64-linux-gnu/ld-linux-x86-64.so.2",
    "/lib64/ld-linux-x86-64.so.2",
    "/usr/lib/aarch64-linux-gnu/ld-linux-aarch64.so.1",
    "/usr/lib/ld-linux-aarch64.so.1",
    "/usr/lib/ld-linux-x86-64.so.2",
    "/usr/lib/ld-musl-aarch64.so.1",
    "/usr/lib/ld-musl-x86_64.so.1",
    "/usr/lib/x86_64-linux-gnu/ld-linux-x86-64.so.2",
    "/usr/lib64/ld-linux-x86-64.so.2",
];

/// Complains about the rule that denies the loader, if one does. One about everything is a default.
pub(super) fn check(entries: &[Entry], known: Known<'_>, cx: &mut Reader<'_>) {
    for loader in LOADERS.map(Path::new) {
        let last = entries.iter().rfind(|entry| entry.pattern.matches(loader));
        let Some(last) = last.filter(|last| last.pattern.to_string() != "/") else { continue };
        let there = || (known.around.kind)(loader) == Some(FileKind::File);
        if last.verdict == Verdict::Deny && there() {
            let message =
                format!("no program could start: this denies the loader `{}`", loader.display());
            let problem = cx.complaint("loader-denied", message, last.span);
            let hint = format!(
                "allow it behind this: (allow file-read* (literal \"{}\"))",
                loader.display()
            );
            return cx.report(problem.hint(hint));
        }
    }
}
