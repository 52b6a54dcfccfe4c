//! `palisade man`: the manual page.

use std::path::PathBuf;

use clap::CommandFactory as _;
use clap_mangen::Man;

use crate::args::Cli;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::ui::Ui;

/// Print the manual page
///
/// With `--dir`, writes one page for each command into a folder that exists.
///
/// Example: palisade man --dir pages
#[derive(Debug, clap::Args)]
pub(crate) struct ManArgs {
    /// Folder to write pages to
    #[arg(long, value_name = "DIR")]
    dir: Option<PathBuf>,
}

impl ManArgs {
    pub(crate) fn run(&self, ui: &Ui) -> Result<Exit, Failure> {
        let cannot = |error| Failure::io("man", "cannot write the manual", &error);
        if let Some(dir) = &self.dir {
            clap_mangen::generate_to(Cli::command(), dir).map_err(|error| {
                cannot(error).file(dir).hint("the folder must exist, and you must own it")
            })?;
            return Ok(Exit::Success);
        }
        let mut bytes = Vec::new();
        Man::new(Cli::command()).render(&mut bytes).map_err(cannot)?;
        super::print_generated(ui, &bytes)
    }
}
