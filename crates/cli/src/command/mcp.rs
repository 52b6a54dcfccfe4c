//! `palisade mcp`: tools for models that stay inside, and a door in front of other servers' tools.

mod files;
mod gate;
mod http;
mod peer;
mod pins;
mod server;
mod tools;
mod whose;

use std::net::SocketAddr;
use std::path::{Path, PathBuf};

use clap::Subcommand;
use palisade::trust::ContentHash;

use crate::args::Selection;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::ui::{Format, Ui};

/// Serve tools by the Model Context Protocol, or guard another server's
#[derive(Debug, Subcommand)]
pub(crate) enum McpCommand {
    Serve(ServeArgs),
    Gate(GateArgs),
}

/// Serve tools that stay inside the project, to the client that starts it or to those that connect
///
/// The tools are `run_command`, `read_file`, `write_file`, `edit_file`, `list_directory`, `search` and
/// `explain_decision`. Each call is judged as `palisade check --tool` judges it. Commands run behind
/// walls, as under `palisade run`, and files are opened beneath the project and nowhere else. Where the
/// policy asks, the client asks its user, if it can; otherwise that is a no.
///
/// The client starts it and speaks on standard input and output; with --http, clients connect, to the
/// path `/mcp`, and it runs until it is ended. Pages in a browser are refused
/// and, unless a token is demanded, processes of other users.
///
/// Exit codes: 0 the client is gone, 125 nothing can be served.
///
/// Example: palisade mcp serve --root ~/app
#[derive(Debug, clap::Args)]
pub(crate) struct ServeArgs {
    /// Listen for clients that speak HTTP; beyond this machine only with --token-file
    #[arg(long, value_name = "ADDRESS", num_args = 0..=1, default_missing_value = "127.0.0.1:8790")]
    http: Option<SocketAddr>,

    /// File with a token that clients must show: `authorization: Bearer TOKEN`
    #[arg(long, value_name = "FILE", requires = "http")]
    token_file: Option<PathBuf>,

    /// Another name under which clients reach it, with or without a port. May be repeated
    #[arg(long, value_name = "HOST[:PORT]", requires = "http")]
    allow_host: Vec<String>,

    #[command(flatten)]
    selection: Selection,
}

/// Stand between a client and another MCP server
///
/// The server is started behind walls, as under `palisade run`, and spoken to on its standard input
/// and output; or it runs already, and is spoken to by HTTP (--http), which puts no walls around it. Each `tools/call` is judged as a hook would judge it; what is denied comes back as an
/// error of the tool, and the server does not hear of it. Tools that the policy denies by name are not
/// listed. What a tool says of itself is remembered: one that changes later is not listed and not
/// called any more, until you accept it with --accept-changes. Everything else passes unchanged.
///
/// A tool that nobody knows is denied; `tools.exclude: [mcp__NAME__TOOL]` in your own policy lets one
/// pass, and `tools.patterns` has its arguments judged.
///
/// Exit codes: 0 the client is gone, 125 the server cannot be confined, 126 it is denied.
///
/// Example: palisade mcp gate --name files -- mcp-server-filesystem .
#[derive(Debug, clap::Args)]
pub(crate) struct GateArgs {
    /// What policies call the server: its tool `read` is `mcp__NAME__read` to them
    #[arg(long, value_name = "NAME", default_value = "server")]
    name: String,

    /// Accept what the server's tools say of themselves now
    #[arg(long)]
    accept_changes: bool,

    /// Speak to a server that runs already, by streamable HTTP
    #[arg(long, value_name = "URL", conflicts_with = "server")]
    http: Option<String>,

    /// File with the token that the server wants; it goes nowhere but by https, or to this machine
    #[arg(long, value_name = "FILE", requires = "http")]
    token_file: Option<PathBuf>,

    /// Authorities that certify the server, as PEM, instead of this machine's
    #[arg(long, value_name = "FILE", requires = "http")]
    server_ca: Option<PathBuf>,

    #[command(flatten)]
    selection: Selection,

    /// The server: a program and its arguments
    #[arg(last = true, required_unless_present = "http", value_name = "SERVER")]
    server: Vec<String>,
}

impl McpCommand {
    pub(super) fn format(&self) -> Format {
        Format::Human
    }

    pub(super) fn run(&self, ui: &Ui) -> Result<Exit, Failure> {
        match self {
            Self::Serve(args) => {
                let request = args.selection.request()?;
                match args.http {
                    Some(at) => http::serve(&request, args, at, ui),
                    None => server::serve(&request, ui),
                }
            }
            Self::Gate(args) => {
                let request = args.selection.request()?;
                gate::stand(&request, args, ui)
            }
        }
    }
}

/// Returns what names a text.
fn hash(text: &str) -> String {
    ContentHash::of([(Path::new("text"), text.as_bytes())]).to_string()
}
