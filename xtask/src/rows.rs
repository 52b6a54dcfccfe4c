//! `cargo xtask rows`: which promises have a test, and which of those tests is known to fail.

mod document;

use std::collections::BTreeMap;
use std::io::Write;

use serde_json::{Value, json};

use crate::code;
use crate::docs::{self, Mode};
use crate::failure::Failure;
use crate::finding::{Ending, Finding};
use crate::spec::{self, Red, Row};
use crate::tree::Tree;

pub(crate) const DOCUMENT: &str = "docs/rows.md";

const RECORD: &str =
    "change one line, see the test fail, record it in spec/red.json, run `cargo xtask docs`";

/// A test that names a row.
#[derive(Clone, Debug, Eq, PartialEq)]
struct Test {
    row: String,
    name: String,
    file: String,
    line: usize,
}

pub(crate) fn run(arguments: &[String], out: &mut dyn Write) -> Result<Ending, Failure> {
    let tree = Tree::open()?;
    let (rows, reds) = (spec::rows(&tree)?, spec::reds(&tree)?);
    let tests = tests(&tree)?;
    let mut findings = check(&rows, &tests, &reds);
    for red in &reds {
        findings.extend(is_applicable(red, &tree.read(&red.file).unwrap_or_default()));
    }
    let by_row = ByRow::new(&tests);
    match arguments.iter().map(String::as_str).collect::<Vec<_>>().as_slice() {
        [] => print(out, &rows, &by_row, |_| true)?,
        ["--missing"] => print(out, &rows, &by_row, |tests| tests.is_empty())?,
        ["--json"] => {
            let rows: Vec<_> = rows.iter().map(|row| as_json(row, by_row.of(row))).collect();
            let found: Vec<_> = findings.iter().map(Finding::json).collect();
            writeln!(out, "{:#}", json!({ "rows": rows, "findings": found }))?;
            return Ok(Ending::of(&findings));
        }
        ["--check"] => {
            let wanted = document::markdown(&rows, &by_row, &reds);
            findings.extend(docs::sync(&tree, DOCUMENT, &wanted, Mode::Check)?.finding());
        }
        [unknown, ..] => return Err(Failure::argument("rows", unknown)),
    }
    for finding in &findings {
        writeln!(out, "{finding}")?;
    }
    writeln!(out, "{}", by_row.summary(&rows))?;
    Ok(Ending::of(&findings))
}

/// Returns the text of docs/rows.md.
pub(crate) fn document(tree: &Tree) -> Result<String, Failure> {
    let tests = tests(tree)?;
    Ok(document::markdown(&spec::rows(tree)?, &ByRow::new(&tests), &spec::reds(tree)?))
}

/// The tests, by the row they name.
struct ByRow<'a>(BTreeMap<&'a str, Vec<&'a Test>>);

impl<'a> ByRow<'a> {
    fn new(tests: &'a [Test]) -> Self {
        let mut by_row: BTreeMap<&str, Vec<&Test>> = BTreeMap::new();
        for test in tests {
            by_row.entry(&test.row).or_default().push(test);
        }
        Self(by_row)
    }

    fn of(&self, row: &Row) -> &[&'a Test] {
        self.0.get(row.name.as_str()).map_or(&[][..], Vec::as_slice)
    }

    /// Counts the rows that have a test, out of all rows of each list.
    fn summary(&self, rows: &[Row]) -> String {
        let count = |letter: char| {
            let of_list = || rows.iter().filter(move |row| row.name.starts_with(letter));
            let covered = of_list().filter(|row| !self.of(row).is_empty()).count();
            format!("{covered}/{}", of_list().count())
        };
        format!("acceptance {}, escapes {}", count('a'), count('e'))
    }
}

fn tests(tree: &Tree) -> Result<Vec<Test>, Failure> {
    let mut tests = Vec::new();
    for (file, text) in tree.rust()? {
        tests.extend(named(file, &text));
    }
    Ok(tests)
}

/// Returns the functions of a file that name a row: `fn a097_…`, `fn e033_…`.
fn named(file: &str, text: &str) -> Vec<Test> {
    let tokens = code::tokens(text);
    let functions = tokens.windows(2).filter_map(|pair| match pair {
        [keyword, name] if keyword.text == "fn" => Some(name),
        _ => None,
    });
    let tests = functions.filter_map(|name| {
        let row = row_of(name.text)?;
        Some(Test {
            row: row.to_owned(),
            name: name.text.to_owned(),
            file: file.to_owned(),
            line: name.line,
        })
    });
    tests.collect()
}

fn row_of(function: &str) -> Option<&str> {
    let (row, sentence) = function.split_once('_')?;
    let number = row.strip_prefix(['a', 'e'])?;
    let is_number = number.len() == 3 && number.bytes().all(|byte| byte.is_ascii_digit());
    (is_number && !sentence.is_empty()).then_some(row)
}

fn check(rows: &[Row], tests: &[Test], reds: &[Red]) -> Vec<Finding> {
    let mut findings = Vec::new();
    for test in tests {
        let Test { row, name, file, line } = test;
        let mut report = |rule, what, fix| {
            findings.push(Finding { file: file.clone(), line: *line, rule, what, fix });
        };
        if !rows.iter().any(|known| known.name == *row) {
            let what = format!("`{name}` names row {row}, which does not exist");
            report(
                "row",
                what,
                "correct the number; the rows are in spec/. Then run `cargo xtask docs`",
            );
        } else if !reds.iter().any(|red| red.row == *row && red.function() == name) {
            let what = format!("nothing shows that `{name}` can fail");
            report("red", what, RECORD);
        }
    }
    for red in reds {
        let Red { row, test, .. } = red;
        let function = red.function();
        if !tests.iter().any(|test| test.row == *row && test.name == function) {
            findings.push(Finding {
                file: spec::RED.to_owned(),
                line: 1,
                rule: "red",
                what: format!("{row}: no test is called `{test}`"),
                fix: "correct the name or delete the entry, then run `cargo xtask docs`",
            });
        }
    }
    findings
}

/// A change is replayed by text, so that text must be there, once.
fn is_applicable(red: &Red, text: &str) -> Option<Finding> {
    let Red { row, file, from, to, .. } = red;
    let times = if from.is_empty() { 0 } else { text.matches(from.as_str()).count() };
    (times != 1 || from == to).then(|| Finding {
        file: file.clone(),
        line: 1,
        rule: "red",
        what: format!("{row}: the line to change occurs {times} times: `{from}`"),
        fix: "record the line as it is in spec/red.json; run `cargo xtask red ROW`, `cargo xtask docs`",
    })
}

fn print(
    out: &mut dyn Write,
    rows: &[Row],
    by_row: &ByRow<'_>,
    wanted: impl Fn(&[&Test]) -> bool,
) -> Result<(), Failure> {
    for row in rows {
        let tests = by_row.of(row);
        if !wanted(tests) {
            continue;
        }
        let Row { name, behaviour } = row;
        let state = if tests.is_empty() { "uncovered" } else { "covered  " };
        writeln!(out, "{name} {state} {behaviour}")?;
        for Test { name, file, line, .. } in tests {
            writeln!(out, "               {name} ({file}:{line})")?;
        }
    }
    Ok(())
}

fn as_json(row: &Row, tests: &[&Test]) -> Value {
    let tests: Vec<_> = tests
        .iter()
        .map(|test| json!({ "name": test.name, "file": test.file, "line": test.line }))
        .collect();
    json!({ "row": row.name, "behaviour": row.behaviour, "tests": tests })
}

#[cfg(test)]
mod tests;
