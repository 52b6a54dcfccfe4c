//! `palisade serve`: deciding and running for programs, as JSON-RPC.

mod base64;
mod connection;
mod project;
mod running;
#[cfg(target_os = "linux")]
mod socket;

use std::io;
use std::os::fd::AsFd as _;
use std::path::PathBuf;
use std::sync::Arc;

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

use crate::args::Place;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::ui::{Format, Ui};
use connection::{Connection, Server};

/// Decide and run for another program, by JSON-RPC 2.0
///
/// One message a line. Methods: `version`, `check`, `run`, `cancel`, `stdin`, `policy`, `trust`,
/// `reload`, `set_enabled`, `set_default_profile` and `profile_health_error`; `schema/rpc.json` has their
/// parameters. `run` answers when the command has ended, with what `palisade run --json` prints; with
/// "stream" its output comes before, as `output` notifications. Many runs go on at the same time.
/// What a client started ends with its connection.
///
/// Whoever may speak here is you: a socket is for your own user alone, and no model should hold it.
///
/// Exit codes: 0 the client is gone, 125 nothing can be served.
///
/// Example: palisade serve --stdio
#[derive(Debug, clap::Args)]
#[command(group = clap::ArgGroup::new("where").required(true))]
pub(crate) struct ServeArgs {
    /// Speak on standard input and output
    #[arg(long, group = "where")]
    stdio: bool,

    /// Listen at a Unix socket, which only your user may use
    #[arg(long, value_name = "PATH", group = "where")]
    socket: Option<PathBuf>,

    #[command(flatten)]
    place: Place,
}

impl ServeArgs {
    pub(super) fn format(&self) -> Format {
        Format::Human
    }

    pub(super) fn run(&self, ui: &Ui) -> Result<Exit, Failure> {
        let mut request = self.place.request()?;
        request.speaker = palisade::Speaker::Library;
        let below = match request.root.take() {
            None => None,
            Some(root) => Some(request.cwd.join(&root).canonicalize().map_err(|error| {
                Failure::io("root", format!("`{}` is no folder", root.display()), &error)
            })?),
        };
        let server =
            Arc::new(Server { slots: running::Slots::new(more_descriptors()), request, below });
        match &self.socket {
            #[cfg(target_os = "linux")]
            Some(path) => socket::serve(path, &server, ui),
            #[cfg(not(target_os = "linux"))]
            Some(path) => {
                let _: &Ui = ui;
                Err(Failure::new("socket", "who connects cannot be told on this system")
                    .file(path)
                    .hint("use --stdio"))
            }
            None => {
                let gone = io::stdout().as_fd().try_clone_to_owned();
                let gone =
                    gone.map_err(|error| Failure::io("stdout", "there is no output", &error))?;
                Connection::new(server, Box::new(io::stdout()), gone)
                    .serve(&mut io::stdin().lock());
                Ok(Exit::Success)
            }
        }
    }
}

/// Raises how many descriptors there may be, as far as that goes; returns how many.
fn more_descriptors() -> u64 {
    const ENOUGH: u64 = 1 << 16;
    let has = getrlimit(Resource::Nofile);
    let (Some(now), most) = (has.current, has.maximum.unwrap_or(ENOUGH)) else { return ENOUGH };
    let wanted = most.min(ENOUGH).max(now);
    match setrlimit(Resource::Nofile, Rlimit { current: Some(wanted), ..has }) {
        Ok(()) => wanted,
        Err(_) => now,
    }
}
