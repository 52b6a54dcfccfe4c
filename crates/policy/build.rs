//! Turns `tools.txt` into constants: the table of tools costs nothing when a program starts.

#[path = "build/emit.rs"]
mod emit;
#[path = "src/command/tool/hash.rs"]
mod hash;
#[path = "build/parse.rs"]
mod parse;
#[path = "build/row.rs"]
mod row;

use std::path::Path;

const TABLE: &str = "tools.txt";

#[expect(clippy::disallowed_methods, reason = "a build script reads and writes files")]
fn main() -> Result<(), String> {
    let text = std::fs::read_to_string(TABLE).map_err(|error| format!("{TABLE}: {error}"))?;
    let rows =
        parse::rows(&text).map_err(|(line, message)| format!("{TABLE}:{line}: {message}"))?;
    let folder = std::env::var_os("OUT_DIR").ok_or("cargo names no OUT_DIR")?;
    std::fs::write(Path::new(&folder).join("tools.rs"), emit::rust(&rows)?)
        .map_err(|error| format!("tools.rs: {error}"))?;
    announce(&format!("cargo::rerun-if-changed={TABLE}"));
    announce("cargo::rerun-if-changed=build.rs");
    announce("cargo::rerun-if-changed=build");
    announce("cargo::rerun-if-changed=src/command/tool/hash.rs");
    Ok(())
}

/// Tells cargo, which reads a build script's standard output.
fn announce(line: &str) {
    println!("{line}");
}
