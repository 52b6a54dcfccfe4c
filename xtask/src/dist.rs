//! `cargo xtask dist`: the static release binary, the one that ships (Ruling 37).

use std::fs;
use std::io::Write;
use std::path::PathBuf;
use std::process::Command;

use crate::elf::{self, Linking};
use crate::failure::Failure;
use crate::finding::Ending;
use crate::program::{self, Target};
use crate::tree::Tree;

pub(crate) const BINARY: &str = "target/dist/palisade";

pub(crate) fn run(arguments: &[String], out: &mut dyn Write) -> Result<Ending, Failure> {
    if let Some(unknown) = arguments.first() {
        return Err(Failure::argument("dist", unknown));
    }
    let tree = Tree::open()?;
    let (built, libc) = build(&tree, Symbols::Stripped, out)?;
    let size = fs::metadata(&built).map_or(0, |file| file.len());
    let shipped = tree.root().join(BINARY);
    let folder = shipped.parent().map_or(Ok(()), fs::create_dir_all);
    // Copied beside and renamed: a binary that is running cannot be written over.
    let fresh = shipped.with_extension("new");
    folder
        .and_then(|()| fs::copy(&built, &fresh))
        .and_then(|_| fs::rename(&fresh, &shipped))
        .map_err(|error| Failure::io(format!("cannot write {BINARY}"), &error))?;
    writeln!(out, "{BINARY}: {size} bytes, static, {libc}")?;
    Ok(Ending::Clean)
}

/// Whether a binary tells the names of its functions.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Symbols {
    Stripped,
    Kept,
}

/// Builds the binary; returns where it is, and with which C library.
pub(crate) fn build(
    tree: &Tree,
    symbols: Symbols,
    out: &mut dyn Write,
) -> Result<(PathBuf, String), Failure> {
    let host = host_triple()?;
    let musl = musl_triple(&host);
    let (libc, triple) = match program::ensure_target(&musl) {
        Target::Installed => ("musl", musl),
        Target::Missing { why } => {
            writeln!(out, "note: {musl} cannot be installed, linking glibc statically: {why}")?;
            ("glibc", host)
        }
    };
    let mut cargo = Command::new("cargo");
    // An explicit target keeps the flags away from procedural macros, which must be dynamic.
    cargo.args(["build", "--release", "-p", "palisade-cli", "--target", &triple]);
    if symbols == Symbols::Kept {
        cargo.env("CARGO_PROFILE_RELEASE_STRIP", "none");
    }
    // At a fixed address there is nothing to relocate at every start (ADR 0019), and what a start
    // needs lies together (ADR 0026): functions are told apart by names without hashes.
    let flags = "-C target-feature=+crt-static -C relocation-model=static \
        -C symbol-mangling-version=v0";
    cargo.current_dir(tree.root()).env("RUSTFLAGS", flags);
    let target = tree.root().join("target");
    program::succeed(cargo.env("CARGO_TARGET_DIR", &target))?;

    let built = target.join(&triple).join("release/palisade");
    let bytes = fs::read(&built)
        .map_err(|error| Failure::io(format!("cannot read {}", built.display()), &error))?;
    match elf::linking(&bytes) {
        Linking::Static => Ok((built, format!("{libc} ({triple})"))),
        Linking::Dynamic => Err(Failure::new("the binary asks for a dynamic linker")),
        Linking::Unknown => Err(Failure::new("the binary is not a 64-bit ELF file")),
    }
}

pub(crate) fn host_triple() -> Result<String, Failure> {
    let text = program::capture(Command::new("rustc").arg("-vV"))?;
    let host = text.lines().find_map(|line| line.strip_prefix("host: "));
    host.map(str::to_owned).ok_or_else(|| Failure::new("rustc does not name its host"))
}

pub(crate) fn musl_triple(host: &str) -> String {
    let architecture = host.split('-').next().unwrap_or(host);
    format!("{architecture}-unknown-linux-musl")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_musl_target_has_the_hosts_architecture() {
        assert_eq!(musl_triple("x86_64-unknown-linux-gnu"), "x86_64-unknown-linux-musl");
        assert_eq!(musl_triple("aarch64-unknown-linux-gnu"), "aarch64-unknown-linux-musl");
    }
}
