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

/// Complains about the rule that denies the loader, if one does, and names every loader that is not
/// let through. A rule about everything is a default.
pub(super) fn check(entries: &[Entry], known: Known<'_>, cx: &mut Reader<'_>) {
    let denied_by = |loader: &&str| {
        let last = entries.iter().rfind(|entry| entry.pattern.matches(Path::new(loader)))?;
        let named = last.pattern.to_string() != "/" && last.verdict == Verdict::Deny;
        let there = || (known.around.kind)(Path::new(loader)) == Some(FileKind::File);
        (named && there()).then_some(last.span)
    };
    let denied: Vec<&str> =
        LOADERS.into_iter().filter(|loader| denied_by(loader).is_some()).collect();
    let Some((first, span)) = denied.first().and_then(|it| Some((*it, denied_by(it)?))) else {
        return;
    };
    let message = format!("no program could start: this denies the loader `{first}`");
    let literals: Vec<String> =
        denied.iter().map(|loader| format!("(literal \"{loader}\")")).collect();
    let hint = format!("allow it behind this: (allow file-read* {})", literals.join(" "));
    cx.report(cx.complaint("loader-denied", message, span).hint(hint));
}
