//! Where copies, moved files and links land: `cp a d` writes `d`, and `d/a` if `d` is a folder.

use smallvec::SmallVec;

use super::general;
use super::grammar::Role;
use crate::command::{Act, Arg, Certainty, Holed as _};

/// What is brought to a place, and which place that is.
#[derive(Debug, Default)]
pub(super) struct Landing<'t> {
    /// Words, by their places: most commands bring nothing anywhere, and need none of them.
    sources: SmallVec<[(usize, Source); 4]>,
    into: Option<Arg<'t>>,
    /// The same, where it can only be a folder.
    folder: Option<Arg<'t>>,
}

#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum Source {
    Content,
    Linked,
    Symlinked,
}

impl<'t> Landing<'t> {
    /// Notes a word that matters here: the one at `at` of all.
    pub(super) fn note(&mut self, role: Role, at: usize, all: &[Arg<'t>]) {
        let source = match role {
            Role::Into => {
                self.into = all.get(at).cloned();
                return;
            }
            Role::Read | Role::RemoteRead | Role::Delete(_) => Source::Content,
            Role::Linked => Source::Linked,
            Role::Symlinked => Source::Symlinked,
            Role::Text
            | Role::Guess
            | Role::Write
            | Role::Enter
            | Role::Work
            | Role::Aside
            | Role::Connect
            | Role::RemoteWrite
            | Role::Shell
            | Role::ShellWords
            | Role::Program
            | Role::Argv
            | Role::Fed
            | Role::Parallel
            | Role::Elsewhere
            | Role::Code(_)
            | Role::Script(_)
            | Role::Load
            | Role::Splice
            | Role::Sub
            | Role::Inner(_) => return,
        };
        self.sources.push((at, source));
    }

    /// Notes a folder that an option names.
    pub(super) fn note_folder(&mut self, folder: Option<Arg<'t>>) {
        self.folder = folder;
    }

    /// Adds the names that are written below the place, and the links that are made.
    pub(super) fn conclude(&self, all: &[Arg<'t>], acts: &mut Vec<Act<'t>>) {
        let is_single = self.sources.len() == 1;
        for &(at, source) in &self.sources {
            let Some(word) = all.get(at) else { continue };
            let below = match self.folder.as_ref().or(self.into.as_ref()) {
                Some(into) if general::is_remote(into) => continue,
                Some(into) => landed(into, word),
                None if source == Source::Content => continue,
                // `ln -s x/y` makes `y` here.
                None => landed(&Arg::known(".", word.span), word),
            };
            acts.extend(below.clone().map(Act::Write));
            let may_be_file = is_single && self.folder.is_none();
            let file = self.into.as_ref().filter(|into| !into.text.ends_with(['/', '.']));
            let name = file.filter(|_| may_be_file).cloned().or(below);
            let Some(name) = name else { continue };
            match source {
                Source::Content => {}
                Source::Linked => acts.push(Act::Link { target: word.clone(), name }),
                Source::Symlinked => {
                    acts.push(Act::Link { target: seen_from(&name, word.clone()), name });
                }
            }
        }
    }
}

/// Returns the name that `source` gets in the folder `into`, where that can be told.
fn landed<'t>(into: &Arg<'t>, source: &Arg<'t>) -> Option<Arg<'t>> {
    let text = &*source.text;
    let trimmed = text.trim_end_matches('/');
    let name = trimmed.rsplit(['/', ':']).next().unwrap_or(trimmed);
    // All of a folder: names that nobody wrote, but one may be what the place is known for.
    let is_content = matches!(name, "." | ".." | "") || text.len() > trimmed.len();
    let (name, certainty) = match name {
        _ if is_content && is_dotted(&into.text) => ("*", Certainty::Pattern),
        _ if matches!(name, "." | ".." | "") => return None,
        _ if name.has_hole() && !is_dotted(&into.text) => return None,
        name if name.has_hole() => (name, source.certainty),
        name if source.certainty == Certainty::Pattern && name.contains(['*', '?', '[']) => {
            (name, Certainty::Pattern)
        }
        name => (name, Certainty::Known),
    };
    let folder = into.text.trim_end_matches('/');
    let text = format!("{folder}/{name}").into();
    let certainty = certainty.max(into.certainty);
    Some(Arg { text, certainty, span: into.span, verbatim: None })
}

/// Tells places in a folder whose name begins with a dot: `.git`, `.github/workflows`.
fn is_dotted(text: &str) -> bool {
    text.split('/').any(|part| part.starts_with('.') && !matches!(part, "." | ".."))
}

/// A link that stands in a folder is followed from there.
fn seen_from<'t>(name: &Arg<'t>, target: Arg<'t>) -> Arg<'t> {
    let folder = match name.text.rsplit_once('/') {
        Some((folder, _)) if !target.text.starts_with(['/', '~']) => folder,
        Some(_) | None => return target,
    };
    let text = format!("{folder}/{}", target.text).into();
    let certainty = target.certainty.max(name.certainty);
    Arg { text, certainty, verbatim: None, ..target }
}
