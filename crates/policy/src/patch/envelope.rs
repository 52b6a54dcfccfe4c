//! `apply_patch` bodies: `*** Begin Patch`, `*** Add File: …`.

use super::line::{Line, Lines};
use super::{Deed, Form, Lie, Touched, Unreadable, within_bounds};
use crate::text::Span;

/// The bodies in a text.
#[derive(Debug, Default)]
pub(super) struct Bodies {
    pub(super) touched: Vec<Touched>,
    /// The first body that begins and does not end.
    pub(super) lie: Option<Lie>,
    /// Where each begins, by its own word or by its first file, and ends.
    spans: Vec<Span>,
}

impl Bodies {
    /// Whether a place lies in a body.
    pub(super) fn holds(&self, place: Span) -> bool {
        let at = self.spans.partition_point(|body| body.start() <= place.start());
        let body = at.checked_sub(1).and_then(|at| self.spans.get(at));
        body.is_some_and(|body| place.start() < body.end())
    }
}

/// What a `*** …` line of a body says.
enum Marker<'t> {
    /// Something happens to a file.
    File(Deed, Line<'t>),
    /// The body begins.
    Begin,
    /// It ends.
    End,
    /// A note is made.
    Note,
}

/// Whether the text behind `*** ` belongs to a body, and not to a context diff.
pub(super) fn is_marker(rest: Line<'_>) -> bool {
    marker(rest).is_some()
}

/// Reads the bodies in a text. Nothing where there is none.
///
/// Indentation does not matter, nor whether a body begins and ends: readers differ, and every
/// line that one of them takes for a header counts.
pub(super) fn read(text: &str) -> Result<Option<Bodies>, Unreadable> {
    let mut found: Option<Bodies> = None;
    let mut front = Front::Blank;
    let mut open = Open::default();
    for line in Lines::new(text) {
        front = front.then(line)?;
        for piece in std::iter::once(line).chain(line.broken()) {
            let Some(rest) = piece.trimmed().after("***") else { continue };
            let Some(marker) = marker(rest) else { continue };
            let bodies = found.get_or_insert_default();
            let (deed, name) = match marker {
                Marker::File(deed, name) => (deed, name),
                Marker::Begin => {
                    open.close(bodies, piece.start);
                    open = Open { start: Some(piece.start), begun: Some(piece.span()) };
                    continue;
                }
                Marker::End => {
                    open.begun = None;
                    open.close(bodies, piece.start);
                    continue;
                }
                Marker::Note => continue,
            };
            open.start.get_or_insert(piece.start);
            let touched = &mut bodies.touched;
            if deed == Deed::MoveTo
                && let Some(last) = touched.last_mut().filter(|last| last.deed == Deed::Change)
            {
                last.deed = Deed::MoveFrom;
            }
            for name in readings(name) {
                let (path, span) = (name.text.to_owned(), name.span());
                touched.push(Touched { path, deed: deed.clone(), span, form: Form::Whole });
                within_bounds(touched.len(), span)?;
            }
        }
    }
    if let Some(bodies) = &mut found {
        open.close(bodies, text.len());
    }
    Ok(found)
}

/// A body that has not ended yet.
#[derive(Default)]
struct Open {
    start: Option<usize>,
    /// Where it says that it begins.
    begun: Option<Span>,
}

impl Open {
    /// Closes it at `end`, whether it says so or not.
    fn close(&mut self, bodies: &mut Bodies, end: usize) {
        bodies.spans.extend(self.start.take().map(|start| Span::new(start, end)));
        let message = "the patch begins and does not say where it ends";
        let lie = self.begun.take().map(|span| Lie { message, span });
        bodies.lie = bodies.lie.or(lie);
    }
}

fn marker(rest: Line<'_>) -> Option<Marker<'_>> {
    let rest = rest.trimmed();
    let Some((verb, name)) = rest.text.split_once(':') else {
        return match rest.text.to_ascii_lowercase().as_str() {
            "begin patch" => Some(Marker::Begin),
            "end patch" => Some(Marker::End),
            "end of file" => Some(Marker::Note),
            _ => None,
        };
    };
    let name = Line { text: name, start: rest.start + verb.len() + 1 }.trimmed();
    let deed = match verb.to_ascii_lowercase().as_str() {
        "environment id" => return Some(Marker::Note),
        "add file" | "create file" => Deed::Create,
        "delete file" | "remove file" => Deed::Delete,
        "move to" | "rename to" | "move file to" => Deed::MoveTo,
        "copy to" => Deed::CopyTo,
        // A verb that a newer tool may know: whatever it does, it does it there.
        verb if verb == "update file" || verb.ends_with(" file") || verb.ends_with(" to") => {
            Deed::Change
        }
        _ => return None,
    };
    Some(Marker::File(deed, name))
}

/// Returns what may be meant by a name: all of it, both sides of an arrow, and the path of an
/// address. Tools differ.
fn readings(name: Line<'_>) -> impl Iterator<Item = Line<'_>> {
    let at = |from: usize, to: usize| {
        let text = name.text.get(from..to).unwrap_or_default();
        Line { text, start: name.start + from }.trimmed()
    };
    let end = name.text.len();
    let sides = name.text.find(" -> ").map(|arrow| [at(0, arrow), at(arrow + 4, end)]);
    let whole = std::iter::once(name).chain(sides.into_iter().flatten());
    whole.flat_map(|name| {
        let path = name.text.strip_prefix("file://");
        let path = path.map(|path| Line { text: path, start: name.start + "file://".len() });
        std::iter::once(name).chain(path)
    })
}

/// What has been seen of the text in front of the first header.
#[derive(Clone, Copy)]
enum Front {
    Blank,
    Words,
    Over,
}

impl Front {
    /// Refuses a command around the patch that makes names in it mean something else: it is to be
    /// judged as a command. A here-document for a program that applies patches where it stands is
    /// as good as none.
    fn then(self, line: Line<'_>) -> Result<Self, Unreadable> {
        let text = line.text.trim_start();
        let heads = ["---", "***", "@@", "diff ", "Index:", "+", "<", ">"];
        match self {
            Self::Over => Ok(self),
            Self::Blank | Self::Words if heads.iter().any(|head| text.starts_with(head)) => {
                Ok(Self::Over)
            }
            Self::Blank if text.is_empty() => Ok(self),
            Self::Blank | Self::Words => match wrapper(text) {
                None => Ok(Self::Words),
                Some(Wrapper::Here) if matches!(self, Self::Blank) => Ok(Self::Over),
                Some(Wrapper::Here | Wrapper::Elsewhere) => {
                    let message = "the patch stands in a command that may say where it applies";
                    Err(Unreadable::new("patch-in-command", message, line.span()))
                }
            },
        }
    }
}

/// A command that is given a patch as a here-document.
enum Wrapper {
    /// It applies it to the folder it stands in.
    Here,
    /// It may do something else.
    Elsewhere,
}

fn wrapper(line: &str) -> Option<Wrapper> {
    let (command, _) = line.split_once("<<")?;
    let appliers = ["apply_patch", "applypatch", "patch", "apply"];
    let applies = |word: &str| appliers.iter().any(|name| word.ends_with(name));
    if !command.split_whitespace().any(applies) {
        return None;
    }
    let strange = command.split_whitespace().any(|word| {
        let is_level = word.strip_prefix("-p").is_some_and(|level| level.parse::<u8>().is_ok());
        let is_plain = word.chars().all(|c| c.is_alphanumeric() || "_{}.-".contains(c));
        let moves = matches!(word, "cd" | "pushd" | ".." | ".");
        moves || !is_plain || (word.starts_with('-') && !is_level)
    });
    Some(if strange { Wrapper::Elsewhere } else { Wrapper::Here })
}
