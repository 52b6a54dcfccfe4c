//! The tree of commands. Its doc comments are the help texts.

use std::env;
use std::path::PathBuf;

use clap::{Args, Parser, Subcommand};
use palisade::{Request, Speaker};

use crate::command::{completions, man, policy, trust};
use crate::failure::Failure;
use crate::ui::{Color, Format};

/// Confine coding agents to a project
///
/// Reads the policies of the machine, the user and the project, and shows what holds. A project's
/// own policy can only narrow until you trust it.
///
/// Exit codes: 0 done, 2 wrong usage, 3 undecided, 125 failed and nothing was run, 126 declined.
#[derive(Debug, Parser)]
#[command(name = "palisade", version, arg_required_else_help = true, max_term_width = 100)]
pub(crate) struct Cli {
    /// When to use colour
    #[arg(long, global = true, value_name = "WHEN", default_value = "auto")]
    pub(crate) color: Color,

    #[command(subcommand)]
    pub(crate) command: Command,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    #[command(subcommand)]
    Policy(policy::PolicyCommand),
    Trust(trust::TrustArgs),
    Completions(completions::CompletionsArgs),
    Man(man::ManArgs),
    /// Print the manual of this command line as Markdown
    #[command(hide = true)]
    MarkdownHelp,
}

/// Which project is meant.
#[derive(Debug, Args)]
pub(crate) struct Place {
    /// Project folder, instead of the one that is found
    #[arg(long, value_name = "DIR")]
    pub(crate) root: Option<PathBuf>,
}

/// What a person says on top of the files.
#[derive(Debug, Args)]
pub(crate) struct Selection {
    #[command(flatten)]
    place: Place,

    /// Policy file to add on top of those that are found; it counts as yours. May be repeated
    #[arg(long, value_name = "FILE")]
    policy: Vec<String>,

    /// How calls are decided, such as `confined` or `runner`
    #[arg(long, value_name = "NAME")]
    preset: Option<String>,

    /// How commands are confined, such as `readonly`, or a file
    #[arg(long, value_name = "NAME")]
    profile: Option<String>,
}

/// For whom a command prints.
#[derive(Debug, Args)]
pub(crate) struct Output {
    /// Print JSON, also for errors
    #[arg(long)]
    json: bool,
}

impl Cli {
    /// Returns the version if nothing else is asked for. Building the tree of commands takes longer
    /// than all the rest of a start, and this answer does not need it.
    pub(crate) fn version_alone() -> Option<&'static str> {
        let mut arguments = env::args_os().skip(1);
        let first = arguments.next()?;
        let alone = (first == "--version" || first == "-V") && arguments.next().is_none();
        alone.then_some(concat!("palisade ", env!("CARGO_PKG_VERSION"), "\n"))
    }
}

impl Place {
    /// Asks for the project around the working folder.
    pub(crate) fn request(&self) -> Result<Request, Failure> {
        let mut request = Request::from_process().map_err(|error| {
            Failure::io("cwd", "cannot find the working folder", &error)
                .hint("go to a folder that exists")
        })?;
        request.speaker = Speaker::CommandLine;
        request.root.clone_from(&self.root);
        Ok(request)
    }
}

impl Selection {
    /// Asks for the policy that these options choose.
    pub(crate) fn request(&self) -> Result<Request, Failure> {
        let mut request = self.place.request()?;
        request.policies.clone_from(&self.policy);
        request.preset.clone_from(&self.preset);
        request.profile.clone_from(&self.profile);
        Ok(request)
    }
}

impl Output {
    pub(crate) fn format(&self) -> Format {
        if self.json { Format::Json } else { Format::Human }
    }
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory as _;

    #[test]
    fn the_tree_of_commands_is_sound() {
        super::Cli::command().debug_assert();
    }
}
