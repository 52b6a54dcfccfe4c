//! `cargo xtask conformance`: every escape behind every engine that is installed.

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::dist;
use crate::failure::Failure;
use crate::finding::Ending;
use crate::program::{self, Target};
use crate::tree::Tree;

/// The page that is written.
const DOCUMENT: &str = "docs/conformance.md";

pub(crate) fn run(arguments: &[String], out: &mut dyn Write) -> Result<Ending, Failure> {
    let tree = Tree::open()?;
    let shipped = tree.root().join(dist::BINARY);
    let palisade = match arguments {
        [] if shipped.is_file() => shipped,
        [] => {
            return Err(Failure::new(format!(
                "{} is missing; run `cargo xtask dist`, or name another with --palisade",
                dist::BINARY
            )));
        }
        [flag, file] if flag == "--palisade" => PathBuf::from(file),
        [unknown, ..] => return Err(Failure::argument("conformance", unknown)),
    };
    let built = build(&tree, out)?;
    let mut runner = Command::new(built.join("conformance"));
    runner.arg("--palisade").arg(&palisade).arg("--document");
    runner.arg("--probe").arg(built.join("conformance-probe"));
    let output = program::output(&mut runner)?;
    let told = String::from_utf8_lossy(&output.stderr);
    write!(out, "{told}")?;
    let page = String::from_utf8_lossy(&output.stdout);
    if page.is_empty() {
        return Err(Failure::new("the suite printed no table"));
    }
    fs::write(tree.root().join(DOCUMENT), page.as_bytes())
        .map_err(|error| Failure::io(format!("cannot write {DOCUMENT}"), &error))?;
    write!(out, "{page}")?;
    Ok(if output.status.success() { Ending::Clean } else { Ending::Findings })
}

/// Builds probe and runner as programs that need nothing of a system; returns their folder.
pub(crate) fn build(tree: &Tree, out: &mut dyn Write) -> Result<PathBuf, Failure> {
    let host = dist::host_triple()?;
    let musl = dist::musl_triple(&host);
    let triple = match program::ensure_target(&musl) {
        Target::Installed => musl,
        Target::Missing { why } => {
            writeln!(out, "note: {musl} cannot be installed, linking glibc statically: {why}")?;
            host
        }
    };
    let mut cargo = Command::new("cargo");
    cargo.args(["build", "--quiet", "-p", "palisade-conformance", "--bins", "--target", &triple]);
    cargo.current_dir(tree.root()).env("RUSTFLAGS", "-C target-feature=+crt-static");
    let target = tree.root().join("target");
    program::succeed(cargo.env("CARGO_TARGET_DIR", &target))?;
    Ok(folder(&target, &triple))
}

fn folder(target: &Path, triple: &str) -> PathBuf {
    target.join(triple).join("debug")
}
