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
use dlmalloc::GlobalDlmalloc as Rest;
#[cfg(all(target_os = "linux", not(target_env = "musl")))]
use std::alloc::System as Rest;

#[cfg(target_os = "linux")]
#[global_allocator]
static MEMORY: palisade::Memory<Rest> = palisade::Memory::over(Rest);

fn main() -> ExitCode {
    #[cfg(target_os = "linux")]
    if !command::run::has_tasks(std::env::args_os()) && !args::serves_many() {
        MEMORY.serves_one();
    }
    ui::announce_bugs();
    let exit = exit::Exit::of(|| match args::Cli::version_alone() {
        Some(version) => command::version(version),
        None => command::without_room().unwrap_or_else(|| {
            args::Cli::read().map_or_else(|exit| exit, |cli| command::run(&cli))
        }),
    });
    if args::answers_hook() { exit.refusing().into() } else { exit.into() }
}
