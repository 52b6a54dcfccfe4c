//! `palisade completions`: what a shell needs to complete our words.

use clap::{Command, CommandFactory as _};
use clap_complete::Shell;

use crate::args::Cli;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::ui::Ui;

/// Print completions for a shell
///
/// Where the result belongs depends on the shell; for bash, a file below
/// `~/.local/share/bash-completion/completions`.
///
/// Example: palisade completions bash
#[derive(Debug, clap::Args)]
pub(crate) struct CompletionsArgs {
    /// Shell to complete for
    #[arg(value_name = "SHELL")]
    shell: Shell,
}

impl CompletionsArgs {
    pub(crate) fn run(&self, ui: &Ui) -> Result<Exit, Failure> {
        let mut bytes = Vec::new();
        clap_complete::generate(self.shell, &mut offered(&Cli::command()), "palisade", &mut bytes);
        super::print_generated(ui, &bytes)
    }
}

/// Copies the tree without the commands that are not for people: the generators offer those too.
fn offered(tree: &Command) -> Command {
    let shown = tree.get_subcommands().filter(|below| !below.is_hide_set()).cloned();
    Command::new("palisade")
        .version(env!("CARGO_PKG_VERSION"))
        .disable_help_subcommand(true)
        .args(tree.get_arguments().cloned())
        .subcommands(shown)
}
