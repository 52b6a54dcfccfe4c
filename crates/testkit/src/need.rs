//! Facts of the machine that a test needs. A skip is loud, and CI can forbid it.

use std::env;
use std::fmt;
use std::io::{self, Write as _};
use std::process::{Command, Stdio};

/// Something that not every machine offers to a test.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Fact {
    /// The test runs as uid 0, so that it can make files of other users.
    Root,
    /// Another user exists to become, which some containers do not offer.
    OtherUser,
    /// Tools of developers are installed for everybody: this shell text succeeds.
    Tools(&'static str),
}

/// What a test should do about a [`Fact`].
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
#[must_use]
pub enum Need {
    /// The fact holds: test.
    Run,
    /// It does not: return. The skip was already printed.
    Skip,
}

/// Answers whether a test that needs `fact` can run here.
///
/// A skip is printed past the test harness's capture. `PALISADE_TEST_REQUIRE=all`, or a list that
/// names the fact (`root,other-user`), turns it into a failure.
///
/// # Panics
///
/// When the fact is missing and required.
pub fn need(fact: Fact) -> Need {
    match fact {
        Fact::Root if rustix::process::geteuid().is_root() => Need::Run,
        Fact::Root => missing(fact, "this test runs as an ordinary user"),
        // Only trying shows it: `ordinary_user` reports when the attempt fails.
        Fact::OtherUser => Need::Run,
        Fact::Tools(trial) if succeeds(trial) => Need::Run,
        Fact::Tools(trial) => missing(fact, &format!("`{trial}` fails")),
    }
}

/// Tries with the folders that everybody's programs are in, as the sandboxes of tests do.
fn succeeds(trial: &str) -> bool {
    let mut shell = Command::new("/bin/sh");
    shell.args(["-c", trial]).env("PATH", "/usr/local/bin:/usr/bin:/bin");
    shell.stdout(Stdio::null()).stderr(Stdio::null()).status().is_ok_and(|end| end.success())
}

/// Prints the skip, or fails if the fact was required.
pub(crate) fn missing(fact: Fact, because: &str) -> Need {
    let required = env::var("PALISADE_TEST_REQUIRE").unwrap_or_default();
    if is_required(&required, fact) {
        panic!("PALISADE_TEST_REQUIRE asks for `{fact}`, but {because}");
    }
    let test = std::thread::current().name().unwrap_or("a test").to_owned();
    // A closed stderr must not turn a skip into a failure.
    writeln!(io::stderr(), "SKIPPED {test}: it needs `{fact}`, but {because}").ok();
    Need::Skip
}

fn is_required(list: &str, fact: Fact) -> bool {
    let name = fact.to_string();
    list.split(',').map(str::trim).any(|wanted| wanted == "all" || wanted == name)
}

impl fmt::Display for Fact {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Root => "root",
            Self::OtherUser => "other-user",
            Self::Tools(_) => "tools",
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_skip_is_a_failure_where_the_fact_was_required() {
        #[rustfmt::skip]
        let cases = [
            // PALISADE_TEST_REQUIRE  required  because
            ("all",                   true,     "everything is required"),
            ("userns, root",          true,     "named in a list"),
            ("",                      false,    "nothing is required"),
            ("rootless",              false,    "a longer word is another fact"),
            ("other-user",            false,    "another fact"),
        ];
        for (list, expected, because) in cases {
            assert_eq!(is_required(list, Fact::Root), expected, "{list:?}: {because}");
        }
    }
}
