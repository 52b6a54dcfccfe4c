//! `cargo xtask red`: each recorded change must turn its test red (Ruling 39).
//!
//! The changes are made in a copy below `target/`, never in the working tree.

use std::collections::BTreeSet;
use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::failure::Failure;
use crate::finding::Ending;
use crate::program;
use crate::spec::{self, Red};
use crate::tree::Tree;

/// What a run of one test showed.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum Colour {
    /// The test ran and failed.
    Red,
    /// The test ran and passed.
    Green,
    /// No test of that name ran.
    Absent,
    /// Nothing ran: the code does not compile.
    Broken,
}

pub(crate) fn run(arguments: &[String], out: &mut dyn Write) -> Result<Ending, Failure> {
    let tree = Tree::open()?;
    let mut reds = spec::reds(&tree)?;
    if let Some(unknown) = arguments.iter().find(|row| !reds.iter().any(|red| red.row == **row)) {
        return Err(Failure::new(format!("{} has no entry for `{unknown}`", spec::RED)));
    }
    reds.retain(|red| arguments.is_empty() || arguments.contains(&red.row));
    let scratch = Scratch::copy(&tree)?;
    // All unchanged runs first: they share one build.
    let before: Vec<_> = reds.iter().map(|red| scratch.test(red)).collect::<Result<_, _>>()?;
    let mut ending = Ending::Clean;
    for (red, before) in reds.iter().zip(before) {
        let verdict = match before {
            Colour::Green => verdict(scratch.test_changed(red)?),
            Colour::Red => Err("fails without the change"),
            Colour::Absent => Err("no such test"),
            Colour::Broken => Err("does not compile without the change"),
        };
        let (word, what) = match verdict {
            Ok(what) => ("red ", what),
            Err(what) => {
                ending = Ending::Findings;
                ("FAIL", what)
            }
        };
        let Red { row, test, file, .. } = red;
        writeln!(out, "{word} {row} {test}: {what} ({file})")?;
    }
    writeln!(out, "{} changes replayed", reds.len())?;
    Ok(ending)
}

fn verdict(after: Colour) -> Result<&'static str, &'static str> {
    match after {
        Colour::Red => Ok("the change turns it red"),
        Colour::Green => Err("stays green under the change"),
        Colour::Absent => Err("the change makes the test vanish"),
        Colour::Broken => Err("the change does not compile, which proves nothing"),
    }
}

/// A copy of the working tree with a build folder of its own.
struct Scratch {
    root: PathBuf,
    build: PathBuf,
}

impl Scratch {
    fn copy(tree: &Tree) -> Result<Self, Failure> {
        let target = tree.root().join("target");
        let scratch = Self { root: target.join("red"), build: target.join("red-build") };
        for file in tree.files() {
            let read = fs::read(tree.root().join(file))
                .map_err(|error| Failure::io(format!("cannot read {file}"), &error))?;
            let copy = scratch.root.join(file);
            // An unchanged file keeps its time stamp, and cargo its build.
            if fs::read(&copy).is_ok_and(|found| found == read) {
                continue;
            }
            write(&copy, &read)?;
        }
        let wanted: BTreeSet<PathBuf> =
            tree.files().iter().map(|file| scratch.root.join(file)).collect();
        remove_others(&scratch.root, &wanted)
            .map_err(|error| Failure::io("cannot clean target/red", &error))?;
        Ok(scratch)
    }

    fn test_changed(&self, red: &Red) -> Result<Colour, Failure> {
        let Red { row, file, from, to, .. } = red;
        let path = self.root.join(file);
        let text = fs::read_to_string(&path)
            .map_err(|error| Failure::io(format!("{row}: cannot read {file}"), &error))?;
        let changed = change(&text, from, to)
            .ok_or_else(|| Failure::new(format!("{row}: {file} must hold this once: `{from}`")))?;
        write(&path, changed.as_bytes())?;
        let colour = self.test(red);
        write(&path, text.as_bytes())?;
        colour
    }

    fn test(&self, red: &Red) -> Result<Colour, Failure> {
        let mut cargo = Command::new("cargo");
        cargo.args(["test", "-p", &red.package, &red.test]);
        cargo.current_dir(&self.root).env("CARGO_TARGET_DIR", &self.build);
        // Snapshots must be compared, not rewritten.
        cargo.env("CI", "true").env("INSTA_UPDATE", "no");
        let output = program::output(&mut cargo)?;
        Ok(colour(&String::from_utf8_lossy(&output.stdout), &red.test))
    }
}

fn change(text: &str, from: &str, to: &str) -> Option<String> {
    let is_once = !from.is_empty() && text.matches(from).count() == 1;
    is_once.then(|| text.replacen(from, to, 1))
}

/// Reads libtest's lines. A crash ends the list early, so a missing end counts as red only if the
/// run had begun.
fn colour(stdout: &str, test: &str) -> Colour {
    let mut colour = if stdout.contains("running ") { Colour::Absent } else { Colour::Broken };
    let mut is_open = false;
    for line in stdout.lines() {
        if line.starts_with("running ") {
            is_open = line != "running 0 tests";
        } else if line.starts_with("test result:") {
            is_open = false;
        } else if let Some(line) = line.strip_prefix("test ")
            && let Some((name, result)) = line.split_once(" ... ")
            && name.trim_end_matches(" - should panic").ends_with(test)
        {
            match result.trim() {
                "FAILED" => return Colour::Red,
                "ok" => colour = Colour::Green,
                _ => {}
            }
        }
    }
    if is_open { Colour::Red } else { colour }
}

fn write(path: &Path, bytes: &[u8]) -> Result<(), Failure> {
    let folder = path.parent().map_or(Ok(()), fs::create_dir_all);
    folder
        .and_then(|()| fs::write(path, bytes))
        .map_err(|error| Failure::io(format!("cannot write {}", path.display()), &error))
}

/// Removes what an earlier copy left and the tree no longer has.
fn remove_others(folder: &Path, wanted: &BTreeSet<PathBuf>) -> std::io::Result<()> {
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        if path.is_dir() {
            remove_others(&path, wanted)?;
        } else if !wanted.contains(&path) {
            fs::remove_file(&path)?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_change_is_made_only_where_it_is_unambiguous() {
        assert_eq!(change("a == b", "==", "!=").as_deref(), Some("a != b"));
        assert_eq!(change("a == b == c", "==", "!="), None);
        assert_eq!(change("a", "==", "!="), None);
        assert_eq!(change("a", "", "x"), None);
    }

    #[test]
    fn only_a_test_that_ran_and_failed_is_red() {
        #[rustfmt::skip]
        let cases = [
            ("running 1 test\ntest m::a001_x ... FAILED\n\ntest result: FAILED. 0 passed", Colour::Red),
            ("running 1 test\ntest m::a001_x ... ok\n\ntest result: ok. 1 passed",         Colour::Green),
            ("running 0 tests\n\ntest result: ok. 0 passed",                               Colour::Absent),
            ("running 1 test\ntest m::other ... FAILED\n\ntest result: FAILED.",           Colour::Absent),
            ("running 1 test\ntest m::a001_x ... ignored\n\ntest result: ok.",             Colour::Absent),
            ("",                                                                           Colour::Broken),
            ("running 1 test\n",                                                           Colour::Red),
        ];
        for (stdout, expected) in cases {
            assert_eq!(colour(stdout, "a001_x"), expected, "{stdout}");
        }
    }

    #[test]
    fn green_and_broken_changes_prove_nothing() {
        assert!(verdict(Colour::Red).is_ok());
        for colour in [Colour::Green, Colour::Absent, Colour::Broken] {
            assert!(verdict(colour).is_err(), "{colour:?}");
        }
    }
}
