//! Which files a patch touches, and whether it may.
//!
//! Nobody knows which program will apply a patch: `patch`, `git apply`, an agent's own tool. They
//! read the same text differently, so [`read`] returns what *any* of them would touch: every name
//! that a header gives, however many leading folders are left out, and both readings of a hunk
//! that lies about its length. Reading is linear in the text, and knows neither disk nor policy;
//! [`judge`] holds what was read against the ground of a policy.
//!
//! A patch that is applied in reverse makes the links it takes away; that is not looked at.
//!
//! | Module | Question it answers |
//! | --- | --- |
//! | `line` | Where do lines start, whoever splits them? |
//! | `envelope` | What does an `apply_patch` body name? |
//! | `diff`, `section`, `hunk`, `git` | What does a diff name? |
//! | `name` | Which path is meant by a name in a header? |
//! | `planted` | Where do paths lead once the patch has made its links? |
//! | `judge` | May it? |

mod diff;
mod envelope;
mod git;
mod hunk;
mod judge;
mod line;
mod name;
mod planted;
mod section;

#[cfg(test)]
mod tests;

pub(crate) use judge::{LIES, judge_within};
pub use judge::{Naming, judge};

use crate::text::Span;

/// Longest patch that is read, in bytes.
pub const MAX_TEXT: usize = 16 << 20;
/// Most names that are taken from one patch. Each is judged in several readings.
pub const MAX_NAMES: usize = 50_000;

/// What a patch would do.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct Patch {
    /// Every path that it touches, in the order of the text. The same path may come again.
    pub touched: Vec<Touched>,
    /// The first change that names no file: whoever applies it is told the file another way.
    pub unnamed: Option<Span>,
    /// The first place where it promises what it does not keep. Nothing hides there, as both
    /// readings are made, but whoever wrote it knows less than it says.
    pub lie: Option<Lie>,
}

/// A place where a patch is not what its own headers say.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Lie {
    /// What is wrong, in one line.
    pub message: &'static str,
    /// Where.
    pub span: Span,
}

/// A path that a patch touches.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Touched {
    /// The path, as it is written and free of quotes.
    pub path: String,
    /// What happens to it.
    pub deed: Deed,
    /// Where it is written.
    pub span: Span,
    /// Whether leading folders may be left out of it.
    pub form: Form,
}

/// What happens to a path.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum Deed {
    /// A file is made.
    Create,
    /// A file is read and written.
    Change,
    /// A file is removed.
    Delete,
    /// A symbolic link is removed.
    Unlink,
    /// A file is moved away from here. The next path is where it goes.
    MoveFrom,
    /// A file is moved here.
    MoveTo,
    /// A file is read. The next path is where its copy goes.
    CopyFrom,
    /// A copy is written here.
    CopyTo,
    /// Only the permissions change.
    Mode,
    /// A symbolic link is made here.
    Link(Target),
}

/// Where a link that a patch makes leads.
#[derive(Clone, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub enum Target {
    /// To this path, as the link will hold it.
    Text(String),
    /// The patch does not say it in clear text.
    Unknown,
}

/// How a path is written down.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Form {
    /// As it is used: the names in `apply_patch` bodies.
    Whole,
    /// Perhaps with folders in front that are left out when it is used: the names in diffs.
    Prefixed,
    /// With a folder in front that stands for a side, as `a/` and `b/` do: the names in git's diffs.
    Git,
}

/// Why a patch is not read.
#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
#[error("{message}")]
pub struct Unreadable {
    /// A name that never changes: `patch-too-long`, `patch-too-many-names`, `patch-unknown`,
    /// `patch-ed-script`, `patch-encoded`, `patch-in-command`, `patch-confused`, `patch-name`.
    pub code: &'static str,
    /// What is wrong, in one line.
    pub message: &'static str,
    /// Where.
    pub span: Span,
}

/// Reads a patch: unified, context and git diffs, `apply_patch` bodies, several of them in one
/// text, and whatever stands around them.
///
/// # Errors
///
/// Says why it cannot be told what the text would touch. Such a text must not be applied.
///
/// # Examples
///
/// ```
/// use palisade_policy::patch::{self, Deed};
///
/// let patch = patch::read("--- a/old.txt\n+++ b/old.txt\n@@ -1 +1 @@\n-x\n+y\n")?;
/// assert_eq!(patch.touched[0].path, "a/old.txt");
/// assert_eq!(patch.touched[0].deed, Deed::Change);
/// assert!(patch.touched[0].readings().contains(&"old.txt".to_owned()));
/// # Ok::<(), patch::Unreadable>(())
/// ```
pub fn read(text: &str) -> Result<Patch, Unreadable> {
    if text.len() > MAX_TEXT {
        let span = Span::new(MAX_TEXT, text.len());
        return Err(Unreadable::new("patch-too-long", "the patch is too long to be read", span));
    }
    let body = envelope::read(text)?;
    let is_body = body.is_some();
    let body = body.unwrap_or_default();
    let diff = diff::read(text, &body)?;
    let lie = [diff.lie, body.lie].into_iter().flatten().min_by_key(|lie| lie.span.start());
    let mut touched = body.touched;
    touched.extend(diff.touched);
    // Stable: what one line says stays in its order.
    touched.sort_by_key(|touched| touched.span.start());
    let unnamed = diff.unnamed.filter(|_| !is_body);
    if touched.is_empty() && unnamed.is_none() && !is_body {
        let message = "the text is no patch of a known kind";
        return Err(Unreadable::new("patch-unknown", message, Span::new(0, text.len())));
    }
    within_bounds(touched.len(), Span::new(0, text.len()))?;
    Ok(Patch { touched, unnamed, lie })
}

/// Refuses more names than are judged, as soon as they are seen.
fn within_bounds(names: usize, span: Span) -> Result<(), Unreadable> {
    if names > MAX_NAMES {
        let message = "the patch names too many files";
        return Err(Unreadable::new("patch-too-many-names", message, span));
    }
    Ok(())
}

impl Touched {
    /// Returns every path that a program may take this one for: as it is written, without its
    /// first folder or first two, its last name alone, and with `\` for `/`.
    ///
    /// A link's text depends on the folder it lies in, and only git's diffs make links: there the
    /// folder that stands for a side is left out, and no other.
    pub fn readings(&self) -> Vec<String> {
        let strips = match (&self.deed, self.form) {
            (_, Form::Whole) => name::Strips::None,
            // Git puts no folder in front of these.
            (Deed::MoveFrom | Deed::MoveTo | Deed::CopyFrom | Deed::CopyTo, _) => {
                name::Strips::Climbing
            }
            (Deed::Link(_), Form::Git) => name::Strips::One,
            (_, Form::Prefixed | Form::Git) => name::Strips::Any,
        };
        name::readings(&self.path, strips)
    }
}

impl Unreadable {
    fn new(code: &'static str, message: &'static str, span: Span) -> Self {
        Self { code, message, span }
    }
}
