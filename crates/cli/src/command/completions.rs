//! `palisade completions`: what a shell needs to complete our words.

use clap::CommandFactory as _;
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
        clap_complete::generate(self.shell, &mut Cli::command(), "palisade", &mut bytes);
        super::print_generated(ui, &bytes)
    }
}
