//! The file operations of the supervisor, on a real disk and against somebody who plants links.
#![expect(
    clippy::unwrap_used,
    clippy::print_stdout,
    reason = "a test that cannot be set up must stop at once, and a race tells how it went"
)]

mod lookup;
mod operations;
mod race;

use std::path::Path;

use palisade_apply::{Failed, Jail, Why};
use palisade_testkit::Project;

/// A project and a folder beside it that nobody may touch: its `secret` says so.
fn beside() -> (Project, Project) {
    (Project::new().dir("src"), Project::new().file("secret", "outside").dir("folder"))
}

fn jail(project: &Project) -> Jail {
    Jail::open_root(project.root()).unwrap()
}

fn why<T: std::fmt::Debug>(outcome: Result<T, Failed>) -> Why {
    outcome.unwrap_err().why()
}

fn path(text: &str) -> &Path {
    Path::new(text)
}
