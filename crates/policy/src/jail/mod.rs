//! The path jail: where a path leads, and what may be done there.
//!
//! A [`Ground`] is built once from a policy. [`Ground::place`] follows a path as the kernel would,
//! component by component: through links where a [`Lookup`] can see them, by text where nothing
//! exists, and never by comparing the beginnings of strings. The [`Place`] it returns answers
//! whether one may read, write or delete there, and who says so.
//!
//! | Module | Question it answers |
//! | --- | --- |
//! | `lookup` | What lies at a path? |
//! | `walk` | Where does a path lead? |
//! | `marks`, `keys`, `fold` | Which patterns of the policy name it, in any spelling? |
//! | `ground` | Which part of the machine is it in? |
//! | `place` | What may be done there? |
//! | `secret` | Does it hold secrets of the whole machine? |
//! | `windows` | Where does a path of Windows lead, below a root of Windows? |

mod fold;
mod ground;
mod keys;
mod lookup;
mod marks;
mod place;
mod repository;
mod secret;
mod text;
mod walk;
mod windows;

#[cfg(test)]
mod tests;

pub(crate) use ground::is_any_name;
pub use ground::{Ground, How};
pub use lookup::{Entry, Listing, Lookup, Named, NamedKind, NoLookup};
pub use marks::Spelling;
pub use place::{Answer, Doubt, Need, OWN_STATE, Place, Refusal, Refused, Region, Route, Standing};
pub(crate) use repository::{is_kept_by_git, of_repository};
pub use walk::Last;
pub use windows::{Astray, WindowsRoot};
pub(crate) use windows::{behind_drive, is_on_windows};

/// Whether a path stays in a project, by its text alone.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Side {
    /// It is the root or lies below it.
    Inside,
    /// It does not, or it cannot be told.
    Outside,
}

/// Judges `path`, used in the folder `root`, by its text alone.
///
/// # Examples
///
/// ```
/// use palisade_policy::jail::{Side, judge_lexically};
///
/// assert_eq!(judge_lexically("src/../README.md", "/srv/repo"), Side::Inside);
/// assert_eq!(judge_lexically("/srv/repo-2/README.md", "/srv/repo"), Side::Outside);
/// ```
pub fn judge_lexically(path: &str, root: &str) -> Side {
    match Ground::bare(root).place(path, root, &NoLookup).inside() {
        Answer::Yes => Side::Inside,
        Answer::No(_) | Answer::Unclear(_) | Answer::Shared => Side::Outside,
    }
}
