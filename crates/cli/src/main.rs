//! The voice: the `palisade` command.
//!
//! `args` is the tree of commands, `command` has one file for each, `ui` is the only way out, and
//! `exit` the only place where an ending becomes a number.
#![forbid(unsafe_code)]

mod args;
mod asking;
mod command;
mod confirm;
mod exit;
mod failure;
mod ui;

use std::process::ExitCode;

#[cfg(target_env = "musl")]
#[global_allocator]
static MEMORY: palisade::Memory<dlmalloc::GlobalDlmalloc> =
    palisade::Memory::over(dlmalloc::GlobalDlmalloc);

fn main() -> ExitCode {
    ui::announce_bugs();
    exit::Exit::of(|| match args::Cli::version_alone() {
        Some(version) => command::version(version),
        None => args::Cli::read().map_or_else(|exit| exit, |cli| command::run(&cli)),
    })
    .into()
}
