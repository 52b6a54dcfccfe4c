//! `cargo xtask docs`: documents that are generated, and the check that they still agree.

use std::fs;
use std::io::Write;
use std::process::Command;

use palisade_policy::schema;

use crate::failure::Failure;
use crate::finding::{Ending, Finding};
use crate::tree::Tree;
use crate::{program, rows};

/// Whether a document that differs is rewritten or reported.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Mode {
    Check,
    Write,
}

/// What became of one document.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(crate) enum Synced {
    Same,
    Stale { file: String, line: usize },
    Written { file: String },
}

impl Synced {
    /// Returns the finding for a document that no longer agrees with its source.
    pub(crate) fn finding(&self) -> Option<Finding> {
        match self {
            Self::Same | Self::Written { .. } => None,
            Self::Stale { file, line } => Some(Finding {
                file: file.clone(),
                line: *line,
                rule: "generated",
                what: "the document differs from what its source generates".to_owned(),
                fix: "run `cargo xtask docs` and commit the result",
            }),
        }
    }
}

pub(crate) fn run(arguments: &[String], out: &mut dyn Write) -> Result<Ending, Failure> {
    let mode = match arguments {
        [] => Mode::Write,
        [flag] if flag == "--check" => Mode::Check,
        [unknown, ..] => return Err(Failure::argument("docs", unknown)),
    };
    let tree = Tree::open()?;
    let mut findings = Vec::new();
    for (file, wanted) in documents(&tree)? {
        let synced = sync(&tree, file, &wanted, mode)?;
        findings.extend(synced.finding());
        report(out, synced)?;
    }
    for finding in &findings {
        writeln!(out, "{finding}")?;
    }
    Ok(Ending::of(&findings))
}

/// Makes `file` hold `wanted`, or says that it does not.
pub(crate) fn sync(tree: &Tree, file: &str, wanted: &str, mode: Mode) -> Result<Synced, Failure> {
    let path = tree.root().join(file);
    let found = if path.exists() { tree.read(file)? } else { String::new() };
    match (first_difference(&found, wanted), mode) {
        (None, Mode::Check | Mode::Write) => Ok(Synced::Same),
        (Some(line), Mode::Check) => Ok(Synced::Stale { file: file.to_owned(), line }),
        (Some(_), Mode::Write) => {
            let write = path.parent().map_or(Ok(()), fs::create_dir_all);
            write
                .and_then(|()| fs::write(&path, wanted))
                .map_err(|error| Failure::io(format!("cannot write {file}"), &error))?;
            Ok(Synced::Written { file: file.to_owned() })
        }
    }
}

/// Says which document was written; what is unchanged needs no line.
fn report(out: &mut dyn Write, synced: Synced) -> Result<(), Failure> {
    match synced {
        Synced::Same | Synced::Stale { .. } => Ok(()),
        Synced::Written { file } => Ok(writeln!(out, "written: {file}")?),
    }
}

/// Returns every generated document with the text it should have.
fn documents(tree: &Tree) -> Result<Vec<(&'static str, String)>, Failure> {
    Ok(vec![
        (rows::DOCUMENT, rows::document(tree)?),
        ("schema/policy.json", schema::json()),
        ("docs/policy.md", schema::markdown()),
        ("docs/cli.md", command_line(tree)?),
    ])
}

/// Returns what the built command says of itself.
fn command_line(tree: &Tree) -> Result<String, Failure> {
    let mut cargo = Command::new("cargo");
    cargo.args(["run", "--quiet", "-p", "palisade-cli", "--", "markdown-help"]);
    program::capture(cargo.current_dir(tree.root()))
}

fn first_difference(found: &str, wanted: &str) -> Option<usize> {
    if found == wanted {
        return None;
    }
    let same = found.lines().zip(wanted.lines()).take_while(|(found, wanted)| found == wanted);
    Some(same.count() + 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_line_that_differs_is_named() {
        let cases = [
            ("a\nb\n", "a\nb\n", None),
            ("a\nb\n", "a\nc\n", Some(2)),
            ("", "a\n", Some(1)),
            ("a\n", "a\nb\n", Some(2)),
            ("a\nb", "a\nb\n", Some(3)),
        ];
        for (found, wanted, expected) in cases {
            assert_eq!(first_difference(found, wanted), expected, "{found:?} {wanted:?}");
        }
    }

    #[test]
    fn only_a_stale_document_is_a_finding() {
        let file = "docs/a.md".to_owned();
        assert_eq!(Synced::Same.finding(), None);
        assert_eq!(Synced::Written { file: file.clone() }.finding(), None);
        let finding = Synced::Stale { file, line: 3 }.finding();
        assert_eq!(finding.map(|finding| finding.line), Some(3));
    }
}
