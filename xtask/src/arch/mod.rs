//! `cargo xtask arch`: does the tree still have the shape that ARCHITECTURE.md draws?

mod edges;
mod hygiene;
mod packages;
mod purity;
mod readme;
mod shape;

use std::io::Write;
use std::process::Command;

use serde_json::{Value, json};

use crate::failure::Failure;
use crate::finding::{Ending, Finding};
use crate::program::{self, Target};
use crate::tree::Tree;

const PURE_TARGET: &str = "wasm32-unknown-unknown";

pub(crate) fn run(arguments: &[String], out: &mut dyn Write) -> Result<Ending, Failure> {
    let tree = Tree::open()?;
    let report = Report::of(&tree)?;
    match arguments {
        [] => report.print(out)?,
        [flag] if flag == "--json" => writeln!(out, "{:#}", report.json())?,
        [unknown, ..] => return Err(Failure::argument("arch", unknown)),
    }
    Ok(Ending::of(&report.findings))
}

struct Report {
    findings: Vec<Finding>,
    packages: usize,
    skipped: Vec<String>,
}

impl Report {
    fn of(tree: &Tree) -> Result<Self, Failure> {
        let mut cargo = Command::new("cargo");
        cargo.args(["metadata", "--no-deps", "--format-version", "1"]);
        let metadata: Value =
            serde_json::from_str(&program::capture(cargo.current_dir(tree.root()))?)
                .map_err(|error| Failure::new(format!("cannot read cargo's metadata: {error}")))?;
        let mut findings = edges::check(&metadata);
        for (path, text) in tree.rust()? {
            findings.extend(purity::check(path, &text));
            findings.extend(shape::check(path, &text));
        }
        let needles = hygiene::needles(tree.root());
        for path in tree.files() {
            findings.extend(hygiene::check(path, &tree.read(path)?, &needles));
        }
        // A missing file promises and runs nothing, which is what the check then says.
        let [readme, ci] = ["README.md", ".ci/run"].map(|file| tree.read(file).unwrap_or_default());
        findings.extend(readme::check(&readme, &ci));
        let packages = packages::count(tree.root())?;
        findings.extend(packages::check(packages));
        let mut skipped = Vec::new();
        match pure_rooms_build(tree)? {
            Ok(found) => findings.extend(found),
            Err(why) => skipped.push(why),
        }
        Ok(Self { findings, packages, skipped })
    }

    fn print(&self, out: &mut dyn Write) -> Result<(), Failure> {
        for finding in &self.findings {
            writeln!(out, "{finding}")?;
        }
        for skipped in &self.skipped {
            writeln!(out, "SKIPPED: {skipped}")?;
        }
        let Self { packages, .. } = self;
        writeln!(out, "packages: {packages} of at most {}", packages::CEILING)?;
        writeln!(out, "arch: {} findings, {} skipped", self.findings.len(), self.skipped.len())?;
        Ok(())
    }

    fn json(&self) -> Value {
        let findings: Vec<_> = self.findings.iter().map(Finding::json).collect();
        json!({ "findings": findings, "packages": self.packages, "skipped": self.skipped })
    }
}

/// Builds `policy` and `plan` for a target without an operating system: a dependency that needs
/// one does not build there. `Err` holds why this could not be tried.
fn pure_rooms_build(tree: &Tree) -> Result<Result<Option<Finding>, String>, Failure> {
    if let Target::Missing { why } = program::ensure_target(PURE_TARGET) {
        return Ok(Err(format!(
            "{PURE_TARGET} cannot be installed, the pure rooms were not built for it: {why}"
        )));
    }
    let mut cargo = Command::new("cargo");
    cargo.args(["check", "--quiet", "-p", "palisade-policy", "-p", "palisade-plan"]);
    cargo.args(["--target", PURE_TARGET]).current_dir(tree.root());
    let output = program::output(&mut cargo)?;
    Ok(Ok((!output.status.success()).then(|| Finding {
        file: "Cargo.toml".to_owned(),
        line: 1,
        rule: "pure-target",
        what: format!(
            "policy and plan do not build for {PURE_TARGET}:\n{}",
            String::from_utf8_lossy(&output.stderr)
        ),
        fix: "remove the dependency or call that needs an operating system",
    })))
}
