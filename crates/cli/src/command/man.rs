//! `palisade man`: the manual pages.

use std::path::{Path, PathBuf};
use std::{fs, io};

use clap::{Command, CommandFactory as _};
use clap_mangen::Man;
use clap_mangen::roff::{Roff, bold, roman};
use palisade::policy::text::visible;

use crate::args::{Cli, FILES, VARIABLES};
use crate::exit::Exit;
use crate::failure::Failure;
use crate::ui::Ui;

/// Print a manual page
///
/// Without a command it is the page of `palisade` itself; those of its commands list their options.
/// With `--dir`, writes one page for each command into a folder that exists.
///
/// Example: palisade man run | man -l -
#[derive(Debug, clap::Args)]
pub(crate) struct ManArgs {
    /// Command that the page is about, such as `run` or `policy show`
    #[arg(value_name = "COMMAND")]
    command: Vec<String>,

    /// Folder to write pages to
    #[arg(long, value_name = "DIR", conflicts_with = "command")]
    dir: Option<PathBuf>,
}

impl ManArgs {
    pub(crate) fn run(&self, ui: &Ui) -> Result<Exit, Failure> {
        // What stands below the help has sections of its own here.
        let mut root = Cli::command().after_long_help(None);
        root.build();
        let cannot = |error| Failure::io("man", "cannot make the manual", &error);
        let mut first = page(&root).map_err(cannot)?;
        first.text.extend(surroundings().map_err(cannot)?);
        if !self.command.is_empty() {
            let page = page(named(&root, &self.command)?).map_err(cannot)?;
            return super::print_generated(ui, &page.text);
        }
        let Some(dir) = &self.dir else {
            return super::print_generated(ui, &first.text);
        };
        let mut pages = vec![first];
        below(&root, &mut pages).map_err(cannot)?;
        for Page { name, text } in pages {
            let path = dir.join(name);
            fs::write(&path, text).map_err(|error| unwritten(dir, &path, &error))?;
        }
        Ok(Exit::Success)
    }
}

/// Finds a command by its words.
fn named<'c>(root: &'c Command, words: &[String]) -> Result<&'c Command, Failure> {
    words.iter().try_fold(root, |command, word| {
        let mut below = command.get_subcommands().filter(|sub| !sub.is_hide_set());
        below.find(|sub| sub.get_name() == word).ok_or_else(|| {
            let message = format!("there is no command `{}`", visible(&words.join(" ")));
            Failure::new("man", message).hint("`palisade help` lists them")
        })
    })
}

struct Page {
    name: String,
    text: Vec<u8>,
}

fn below(command: &Command, pages: &mut Vec<Page>) -> io::Result<()> {
    for sub in command.get_subcommands().filter(|sub| !sub.is_hide_set()) {
        pages.push(page(sub)?);
        below(sub, pages)?;
    }
    Ok(())
}

fn page(command: &Command) -> io::Result<Page> {
    // A blank date keeps its place: an empty one would let the version slide into it.
    let man = Man::new(command.clone())
        .date(" ")
        .source(concat!("palisade ", env!("CARGO_PKG_VERSION")))
        .manual("Palisade");
    let mut text = Vec::new();
    man.render(&mut text)?;
    Ok(Page { name: man.get_filename(), text })
}

/// Returns the sections about variables and files.
fn surroundings() -> io::Result<Vec<u8>> {
    let mut roff = Roff::new();
    for (title, entries) in [("ENVIRONMENT", VARIABLES), ("FILES", FILES)] {
        roff.control("SH", [title]);
        for (name, what) in entries {
            roff.control("TP", []).text([bold(name)]).text([roman(what)]);
        }
    }
    let mut text = Vec::new();
    roff.to_writer(&mut text)?;
    Ok(text)
}

fn unwritten(dir: &Path, path: &Path, error: &io::Error) -> Failure {
    let failure = Failure::io("man", format!("cannot write {}", path.display()), error).file(path);
    if !dir.exists() {
        failure.hint(format!("the folder must exist: mkdir -p {}", dir.display()))
    } else if !dir.is_dir() {
        failure.hint(format!("{} is no folder", dir.display()))
    } else {
        failure
    }
}
