//! Folders that are read as a whole, and hold what is hidden.

use super::Style;
use super::child::has_letter;
use super::verdict::{Axis, Reason};
use super::walk::Walk;
use crate::command::{Act, Arg};
use crate::jail::{Last, Standing};

impl Walk<'_> {
    /// Asks about folders that a command reads with all in them, where some of that is hidden.
    /// `name` is without a version.
    #[inline(never)]
    pub(super) fn whole_trees(&mut self, name: &str, args: &[Arg<'_>], acts: &[Act<'_>]) {
        if self.judge.style == Style::Runner || !reads_trees(name, args) {
            return;
        }
        let holds = |folder: &Arg<'_>| {
            self.any_place(folder, Last::Follow, |place| {
                matches!(place.standing, Standing::Outside(_))
                    && self.judge.ground().holds_hidden(&place.path)
            })
        };
        let whole = acts.iter().find_map(|act| {
            let (Act::Read(folder) | Act::Enter(folder)) = act else { return None };
            holds(folder).then_some(folder)
        });
        let Some(folder) = whole else { return };
        self.report(Reason {
            answer: self.asking(),
            code: "hidden-path",
            axis: Axis::Path,
            message: format!("`{}` is read as a whole, and holds what is hidden", folder.text),
            span: folder.span,
            origin: None,
            hint: Some("name the files or folders that are meant".into()),
        });
    }
}

/// Whether a command reads the folders that it is given with all that lies below them.
fn reads_trees(name: &str, args: &[Arg<'_>]) -> bool {
    let has = |option: &str| args.iter().any(|arg| is_short_for(&arg.text, option));
    let flag = |letters: &[u8]| args.iter().any(|arg| has_letter(&arg.text, letters));
    match name {
        "cp" | "gcp" => flag(b"rRa") || has("--recursive") || has("--archive"),
        "tar" | "bsdtar" | "gtar" | "star" => {
            let bundle = args.first().filter(|first| !first.text.starts_with('-'));
            let long = ["--create", "--append", "--update"].iter().any(|option| has(option));
            long || flag(b"cru")
                || bundle.is_some_and(|bundle| bundle.text.contains(['c', 'r', 'u']))
        }
        "7z" | "7za" | "7zz" => args.first().is_some_and(|verb| matches!(&*verb.text, "a" | "u")),
        "zip" => flag(b"r") || has("--recurse-paths"),
        "rsync" => flag(b"ra") || has("--recursive") || has("--archive"),
        "scp" | "diff" => flag(b"r") || has("--recursive"),
        "egrep" | "fgrep" | "ggrep" | "grep" | "ugrep" | "zgrep" => {
            flag(b"rR")
                || has("--recursive")
                || has("--dereference-recursive")
                || enters_folders(args)
        }
        // These leave out names that begin with a dot, unless they are told otherwise.
        "ack" | "ag" | "rg" => flag(b"u.") || has("--hidden") || has("--unrestricted"),
        "git" => has("grep") && has("--no-index"),
        "borg" | "duplicity" | "pax" | "restic" | "rgrep" => true,
        _ => false,
    }
}

/// Whether a word is an option, or enough of its beginning for a tool to know it.
fn is_short_for(text: &str, option: &str) -> bool {
    text == option || text.len() > 3 && text.starts_with("--") && option.starts_with(text)
}

/// `grep -d recurse`, `--directories=recurse`, and what is short for them.
fn enters_folders(args: &[Arg<'_>]) -> bool {
    let is_recurse = |value: &str| value.len() > 2 && "recurse".starts_with(value);
    let names = |text: &str| {
        is_short_for(text, "--directories") || has_letter(text, b"d") && text.ends_with('d')
    };
    let glued = |arg: &Arg<'_>| {
        let parts = arg.text.split_once('=');
        parts.is_some_and(|(name, value)| names(name) && is_recurse(value))
    };
    args.iter().any(glued)
        || args.windows(2).any(
            |pair| matches!(pair, [name, value] if names(&name.text) && is_recurse(&value.text)),
        )
}
