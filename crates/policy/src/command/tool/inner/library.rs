//! Modules, plug-ins and packages: which ones are as good as built in, and where others come from.

use super::general;
use crate::command::{Act, Arg, Concern, Run};

/// Modules of Perl that come with it, or that everybody has, and that reach nothing by themselves.
const PERL: &[&str] = &[
    "Carp",
    "Cwd",
    "Data::Dumper",
    "Digest::MD5",
    "Digest::SHA",
    "Encode",
    "Getopt::Long",
    "JSON",
    "JSON::PP",
    "JSON::XS",
    "List::MoreUtils",
    "List::Util",
    "MIME::Base64",
    "Math::BigInt",
    "Scalar::Util",
    "Text::ParseWords",
    "Text::Wrap",
    "Time::HiRes",
    "Time::Local",
    "Time::Piece",
    "URI::Escape",
    "Unicode::Normalize",
    "bigint",
    "constant",
    "feature",
    "integer",
    "strict",
    "utf8",
    "warnings",
];

/// Profilers and the like of Perl.
const DEVEL: &[&str] = &["Confess", "Cover", "DProf", "NYTProf", "Peek", "SmallProf", "Trace"];

/// Libraries of Ruby of which the same holds.
const RUBY: &[&str] = &[
    "English",
    "base64",
    "benchmark",
    "bigdecimal",
    "csv",
    "date",
    "digest",
    "digest/md5",
    "digest/sha2",
    "forwardable",
    "json",
    "matrix",
    "ostruct",
    "pp",
    "prime",
    "securerandom",
    "set",
    "shellwords",
    "stringio",
    "strscan",
    "time",
    "tsort",
    "uri",
    "yaml",
];

/// `Name`, `-Name` or `Name=list,of,imports`: what stands there is a piece of code.
pub(super) fn perl<'t>(arg: &Arg<'t>, acts: &mut Vec<Act<'t>>) {
    let text = arg.text.strip_prefix('-').unwrap_or(&arg.text);
    // `-d:Name` and `-dt:Name` load a debugger or a profiler.
    if let Some(name) = text.strip_prefix(':').or_else(|| text.strip_prefix("t:")) {
        if !DEVEL.contains(&name) {
            acts.push(Act::Run(Run::Load(arg.clone())));
        }
        return;
    }
    if text == "t" {
        return;
    }
    let (name, imports) = text.split_once('=').unwrap_or((text, ""));
    let is_plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, ',' | ':' | '_' | '-');
    if !PERL.contains(&name) || !imports.chars().all(is_plain) {
        acts.push(Act::Run(Run::Load(arg.clone())));
    }
}

pub(super) fn ruby<'t>(arg: &Arg<'t>, acts: &mut Vec<Act<'t>>) {
    if !RUBY.contains(&&*arg.text) {
        acts.push(Act::Run(Run::Load(arg.clone())));
    }
}

/// A library that is loaded into a compiler, or any other word for it.
pub(super) fn plugin<'t>(arg: &Arg<'t>, acts: &mut Vec<Act<'t>>) {
    if general::is_library(&arg.text) {
        acts.push(Act::Run(Run::Load(arg.clone())));
    }
}

/// `name`, `./folder`, `https://…`, `git+ssh://…` or `name @ https://…`.
///
/// What an address names was seen by nobody, and its own code runs when it is installed.
pub(super) fn package<'t>(arg: &Arg<'t>, acts: &mut Vec<Act<'t>>) {
    let address = match arg.text.rfind('@') {
        Some(at) if arg.text.get(at..).is_some_and(|rest| rest.contains("://")) => {
            let blanks = arg.text.get(at + 1..).unwrap_or_default();
            arg.tail(at + 1 + (blanks.len() - blanks.trim_start().len()))
        }
        Some(_) | None => Some(arg.clone()),
    };
    let Some(address) = address else { return };
    if address.text.contains("://") && !address.text.starts_with("file:") {
        acts.push(Act::Raise(Concern::Spawns, arg.span));
    }
    general::guess(&address, acts);
}
