//! `cargo xtask network`: what real clients see behind a filtered network.

use std::io::Write;
use std::process::Command;

use crate::failure::Failure;
use crate::finding::Ending;
use crate::program;
use crate::tree::Tree;

/// The test that runs them; it compares the page otherwise.
const TEST: &str = "network_clients::every_client_reaches_what_is_listed_and_nothing_else";

pub(crate) fn run(arguments: &[String], out: &mut dyn Write) -> Result<Ending, Failure> {
    if let Some(unknown) = arguments.first() {
        return Err(Failure::argument("network", unknown));
    }
    let tree = Tree::open()?;
    let mut cargo = Command::new("cargo");
    cargo.args(["test", "-p", "palisade-cli", "--test", "cli", "--", "--exact", TEST]);
    cargo.current_dir(tree.root()).env("PALISADE_TEST_WRITE", "yes");
    // A page without some of its rows is none.
    cargo.env("PALISADE_TEST_REQUIRE", "all");
    let output = program::output(&mut cargo)?;
    out.write_all(&output.stdout)?;
    out.write_all(&output.stderr)?;
    Ok(if output.status.success() { Ending::Clean } else { Ending::Findings })
}
