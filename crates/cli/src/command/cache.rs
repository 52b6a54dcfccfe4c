//! `palisade cache`: what tools of projects fetched and built behind walls.

use palisade::cache::{Cached, Store};
use palisade::policy::text::visible;
use serde_json::{Value as Json, json};

use crate::args::{Output, Place};
use crate::exit::Exit;
use crate::failure::Failure;
use crate::ui::{Format, Ui};

/// Show or clear what tools fetched and built behind walls
///
/// With `files.caches: private`, which is the default, each project has a layer of its own over the
/// caches in your home folder: nothing reaches the real ones, and what was fetched is there at the
/// next run. The layers lie in your state folder, and those not used for longest go first when they
/// grow too large.
///
/// Exit codes: 0 done, 125 failed.
///
/// Example: palisade cache show
#[derive(Debug, clap::Subcommand)]
pub(crate) enum CacheCommand {
    Show(ShowArgs),
    Clear(ClearArgs),
}

/// List the projects that have caches, and their sizes
///
/// Example: palisade cache show --json
#[derive(Debug, clap::Args)]
pub(crate) struct ShowArgs {
    #[command(flatten)]
    output: Output,
}

/// Remove the caches of this project, or of all; those that a run uses stay
///
/// Example: palisade cache clear --all
#[derive(Debug, clap::Args)]
pub(crate) struct ClearArgs {
    /// Those of all projects
    #[arg(long, conflicts_with = "root")]
    all: bool,

    #[command(flatten)]
    place: Place,

    #[command(flatten)]
    output: Output,
}

impl CacheCommand {
    pub(super) fn format(&self) -> Format {
        match self {
            Self::Show(args) => args.output.format(),
            Self::Clear(args) => args.output.format(),
        }
    }

    pub(super) fn run(&self, ui: &Ui) -> Result<Exit, Failure> {
        match self {
            Self::Show(_) => self.show(ui),
            Self::Clear(args) => self.clear(args, ui),
        }
    }

    fn show(&self, ui: &Ui) -> Result<Exit, Failure> {
        let request = Place { root: None }.request()?;
        let found = store(request.cache_store())?.show();
        let found = found.map_err(|error| failed("read", &error))?;
        match self.format() {
            Format::Json => {
                let projects: Json = found.iter().map(told).collect();
                ui.json(&json!({ "projects": projects }))?;
            }
            Format::Human => {
                let line = |it: &Cached| format!("{:>10}  {}\n", size(it.bytes), shown(it));
                ui.data(&found.iter().map(line).collect::<String>())?;
                if found.is_empty() {
                    ui.say("no project has caches");
                }
            }
        }
        Ok(Exit::Success)
    }

    fn clear(&self, args: &ClearArgs, ui: &Ui) -> Result<Exit, Failure> {
        let request = args.place.request()?;
        let store = store(request.cache_store())?;
        let root = if args.all { None } else { Some(request.project()?.path) };
        let freed = store.clear(root.as_deref()).map_err(|error| failed("clear", &error))?;
        match self.format() {
            Format::Json => ui.json(&json!({ "freed": freed }))?,
            Format::Human => {
                ui.data(&format!("{} freed\n", size(freed)))?;
                // What is there after all has been removed is what a run holds.
                for kept in store.show().map_err(|error| failed("read", &error))? {
                    if root.as_ref().is_none_or(|root| *root == kept.root) {
                        ui.say(&format!(
                            "note: a run is using the caches of `{}`: they stay",
                            shown(&kept)
                        ));
                    }
                }
            }
        }
        Ok(Exit::Success)
    }
}

fn store(store: Option<Store>) -> Result<Store, Failure> {
    store.ok_or_else(|| {
        Failure::new("no-state", "there is no home folder to keep caches in").hint("set HOME")
    })
}

fn failed(doing: &str, error: &std::io::Error) -> Failure {
    Failure::io("cache", format!("cannot {doing} the caches"), error)
}

fn told(cached: &Cached) -> Json {
    let used = cached.used.duration_since(std::time::SystemTime::UNIX_EPOCH).unwrap_or_default();
    json!({
        "root": cached.root.to_string_lossy(),
        "who": cached.who,
        "folder": cached.folder.to_string_lossy(),
        "bytes": cached.bytes,
        "used": used.as_secs(),
    })
}

fn shown(cached: &Cached) -> String {
    let root = visible(&cached.root.to_string_lossy());
    match &cached.who {
        None => root,
        Some(who) => format!("{root} ({})", visible(who)),
    }
}

/// Returns a size in the largest unit of which there is more than one.
fn size(bytes: u64) -> String {
    let units = [("GiB", 30), ("MiB", 20), ("KiB", 10)];
    match units.into_iter().find(|(_, shift)| bytes >> shift > 0) {
        Some((unit, shift)) => format!("{} {unit}", bytes >> shift),
        None => format!("{bytes} B"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_rounded_down_to_a_unit() {
        let cases =
            [(0, "0 B"), (1023, "1023 B"), (1024, "1 KiB"), (5 << 20, "5 MiB"), (3 << 30, "3 GiB")];
        for (bytes, text) in cases {
            assert_eq!(size(bytes), text);
        }
    }
}
