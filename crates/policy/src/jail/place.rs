//! Where a path was found to lead, and what may be done there.

use std::fmt;

use super::ground::Ground;
use super::marks::Spelling;
use crate::layer::{Layer, Origin};

/// Where a path leads, as far as the policy cares.
#[derive(Clone, Debug)]
pub struct Place<'g> {
    pub(super) ground: &'g Ground,
    /// The absolute path, free of `.`, `..` and of the links that could be seen. For
    /// [`Doubt::Tail`] it is the part that is known.
    pub path: String,
    /// Which part of the machine it lies in.
    pub standing: Standing,
    /// Whether a link was followed on the way.
    pub route: Route,
    pub(super) access: Access,
    pub(super) spelling: Spelling,
    pub(super) names: Names,
    /// The paths at which links were met; none where the path could not be followed at all.
    pub(super) crossed: Option<Vec<String>>,
}

/// Which part of the machine a path lies in.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Standing {
    /// It is the project root.
    Root,
    /// It lies below the project root.
    Inside,
    /// It lies in another folder that `files.write` lists.
    Granted,
    /// It lies in a temporary folder, which is private to each run.
    Temp,
    /// It is a device that anybody may use, or one of the command's own streams.
    Device,
    /// It lies elsewhere.
    Outside(Region),
    /// It cannot be told.
    Unknowable(Doubt),
}

/// What a path outside of everything that may be written belongs to.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Region {
    /// The user's home folder, something in it or above it, or another user's home.
    Home,
    /// The system: programs, settings, kernel files, `/` itself.
    System,
    /// A disk, a terminal of somebody else, or another device.
    Device,
    /// None of these.
    Elsewhere,
}

/// Why it cannot be told where a path leads.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Doubt {
    /// It contains a NUL byte, so no program could use it.
    Nul,
    /// It is empty, or longer than the kernel takes.
    Length,
    /// It starts with something that is only known at run time.
    Hole,
    /// It starts in a place that may be written, and what follows is only known at run time.
    Tail,
    /// It is relative, and the folder it is relative to is not known.
    Cwd,
    /// A name pattern may match `..`, as `.*` does in older shells.
    Wild,
    /// Links lead to links, without an end.
    Loop,
    /// What lies there may not be looked at.
    Unseen,
    /// It goes through another process, or through an open descriptor.
    Process,
    /// It holds secrets of the whole machine, such as everybody's password.
    Secret,
}

/// Whether links were followed.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Route {
    /// No link was met.
    Straight,
    /// At least one was followed.
    Linked,
}

/// Whether a place lies in something that may be written.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Access {
    Write,
    Read,
}

/// How many names a file has.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Names {
    One,
    Several,
}

/// Whether something may be done at a place.
#[derive(Clone, Debug, Eq, PartialEq)]
#[must_use]
pub enum Answer<'p> {
    /// It may.
    Yes,
    /// It may not.
    No(Refused<'p>),
    /// It cannot be told.
    Unclear(Doubt),
    /// The file has other names, perhaps outside of everything that may be written.
    Shared,
}

/// What is to be done at a place.
#[derive(Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub enum Need {
    /// See what lies there.
    Read,
    /// Create or change it.
    Write,
    /// Remove it or move it away, with all in it.
    Delete,
}

/// A refusal, with what a message needs.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Refused<'p> {
    /// Why.
    pub why: Refusal,
    /// Where the path leads.
    pub path: &'p str,
    /// Who said so, where a line of a policy did.
    pub origin: Option<&'p Origin>,
}

/// The origin of entries that hide what Palisade keeps for itself. No policy lifts these.
pub const OWN_STATE: &str = "state of Palisade";

impl Refused<'_> {
    /// Returns what one can do about it, where that is known.
    pub fn hint(&self) -> Option<&'static str> {
        let by = self.origin.and_then(|origin| origin.file.as_deref());
        if self.why == Refusal::Hidden && by == Some(OWN_STATE) {
            return Some("that is what Palisade keeps for itself, and no policy shows it");
        }
        let said = self.origin.is_some_and(|origin| origin.layer > Layer::Preset);
        if self.why == Refusal::Protected && said {
            return Some(
                "change it yourself, outside of the sandbox, or take it out of files.protect",
            );
        }
        self.why.hint()
    }
}

/// Why something may not be done at a place.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Refusal {
    /// It lies outside the project root, and nothing else opens it.
    OutsideRoot,
    /// A link leads there, out of the project root.
    LinkLeadsOutside,
    /// The policy protects it.
    Protected,
    /// The policy hides it.
    Hidden,
    /// The project may be read but not written.
    ReadOnly,
    /// It is, or holds, the project root or another folder that the sandbox stands on.
    Whole,
    /// It holds something that the policy protects.
    HoldsProtected,
    /// No program can use such a path.
    Impossible,
}

impl<'g> Place<'g> {
    /// Returns whether this place is the project root or lies below it: the question of the
    /// `runner` preset, which knows no other place.
    pub fn inside(&self) -> Answer<'_> {
        match self.standing {
            Standing::Root | Standing::Inside => Answer::Yes,
            Standing::Granted | Standing::Temp | Standing::Device | Standing::Outside(_) => {
                self.outside()
            }
            Standing::Unknowable(doubt) => self.doubted(doubt),
        }
    }

    /// Returns whether this place is one for those who work outside the walls, as tools and patches
    /// do: the project, or another folder that `files.write` lists. What is a private folder in a
    /// run is everybody's to them.
    pub fn granted(&self) -> Answer<'_> {
        match self.standing {
            Standing::Granted => Answer::Yes,
            Standing::Root
            | Standing::Inside
            | Standing::Temp
            | Standing::Device
            | Standing::Outside(_)
            | Standing::Unknowable(_) => self.inside(),
        }
    }

    /// Returns whether something may be done here by those whom walls hold.
    pub fn may(&self, need: Need) -> Answer<'_> {
        match need {
            Need::Read => self.may_read(),
            Need::Write => self.may_write(),
            Need::Delete => self.may_delete(),
        }
    }

    /// Returns whether something may be done here by those who work outside the walls.
    pub fn may_outside_walls(&self, need: Need) -> Answer<'_> {
        match self.granted() {
            Answer::Yes => self.may(need),
            outside @ (Answer::No(_) | Answer::Unclear(_) | Answer::Shared) => outside,
        }
    }

    /// Returns whether what lies here may be read. What is not hidden may (Ruling 1): walls and the
    /// rights of a person hold the rest, but for secrets of the machine that its owner could read.
    #[inline(always)]
    pub fn may_read(&self) -> Answer<'_> {
        if let Some(origin) = self.hidden() {
            return self.no(Refusal::Hidden, Some(origin));
        }
        match self.standing {
            Standing::Root
            | Standing::Inside
            | Standing::Granted
            | Standing::Temp
            | Standing::Device => Answer::Yes,
            Standing::Outside(_) if self.ground.is_secret(&self.path, self.spelling) => {
                Answer::Unclear(Doubt::Secret)
            }
            Standing::Outside(_) => Answer::Yes,
            Standing::Unknowable(doubt) => self.doubted(doubt),
        }
    }

    /// Returns whether what lies here may be created or changed.
    pub fn may_write(&self) -> Answer<'_> {
        match self.may_change() {
            Answer::Yes if self.names == Names::Several => Answer::Shared,
            answer @ (Answer::Yes | Answer::No(_) | Answer::Unclear(_) | Answer::Shared) => answer,
        }
    }

    /// Returns whether what lies here may be removed or moved away, with all in it.
    ///
    /// Ask this of a place found with [`Last::Keep`](super::Last): removing a link leaves alone
    /// what it leads to.
    pub fn may_delete(&self) -> Answer<'_> {
        let is_placed = self.path.starts_with('/');
        if is_placed && self.ground.stands_on(&self.path, self.spelling) {
            return self.no(Refusal::Whole, None);
        }
        match self.may_change() {
            answer @ (Answer::Yes | Answer::Unclear(_)) => match self.holds_protected() {
                Some(origin) => self.no(Refusal::HoldsProtected, Some(origin)),
                None => answer,
            },
            answer @ (Answer::No(_) | Answer::Shared) => answer,
        }
    }

    /// Returns who hides this place, if somebody does. A path that leads elsewhere by a link is
    /// still the path that the policy names.
    pub fn hidden(&self) -> Option<&'g Origin> {
        let crossed = self.crossed.as_ref()?;
        let mut paths = std::iter::once(&self.path).chain(crossed);
        paths.find_map(|path| self.ground.hides(path, self.spelling))
    }

    /// Returns who protects this place, if somebody does.
    pub fn protected(&self) -> Option<&'g Origin> {
        let crossed = self.crossed.as_ref()?;
        let mut paths = std::iter::once(&self.path).chain(crossed);
        paths.find_map(|path| self.ground.protects(path, self.spelling).0)
    }

    /// Returns who protects something below this place, if somebody does.
    pub fn holds_protected(&self) -> Option<&'g Origin> {
        self.crossed.as_ref()?;
        self.ground.protects(&self.path, self.spelling).1
    }

    fn may_change(&self) -> Answer<'_> {
        if let Some(origin) = self.hidden() {
            return self.no(Refusal::Hidden, Some(origin));
        }
        if let Some(origin) = self.protected() {
            return self.no(Refusal::Protected, Some(origin));
        }
        match (self.standing, self.access) {
            (Standing::Unknowable(doubt), _) => self.doubted(doubt),
            (Standing::Root | Standing::Inside, Access::Read) => self.no(Refusal::ReadOnly, None),
            (Standing::Root | Standing::Inside, Access::Write)
            | (Standing::Granted | Standing::Temp | Standing::Device, _) => Answer::Yes,
            (Standing::Outside(_), _) => self.outside(),
        }
    }

    fn outside(&self) -> Answer<'_> {
        match self.route {
            Route::Straight => self.no(Refusal::OutsideRoot, None),
            Route::Linked => self.no(Refusal::LinkLeadsOutside, None),
        }
    }

    fn doubted(&self, doubt: Doubt) -> Answer<'_> {
        match doubt {
            Doubt::Nul | Doubt::Length => self.no(Refusal::Impossible, None),
            Doubt::Hole
            | Doubt::Tail
            | Doubt::Cwd
            | Doubt::Wild
            | Doubt::Loop
            | Doubt::Unseen
            | Doubt::Process
            | Doubt::Secret => Answer::Unclear(doubt),
        }
    }

    fn no<'p>(&'p self, why: Refusal, origin: Option<&'p Origin>) -> Answer<'p> {
        Answer::No(Refused { why, path: &self.path, origin })
    }
}

impl Refusal {
    /// Returns a name that never changes, for logs, tests and the manual.
    pub fn code(self) -> &'static str {
        match self {
            Self::OutsideRoot => "outside-root",
            Self::LinkLeadsOutside => "link-leads-outside",
            Self::Protected => "protected-path",
            Self::Hidden => "hidden-path",
            Self::ReadOnly => "read-only",
            Self::Whole => "root-itself",
            Self::HoldsProtected => "holds-protected",
            Self::Impossible => "impossible-path",
        }
    }

    /// Returns what is wrong, to be put after the path: "`../x` is outside project root".
    pub fn text(self) -> &'static str {
        match self {
            Self::OutsideRoot => "is outside project root",
            Self::LinkLeadsOutside => "is a link that leads outside project root",
            Self::Protected => "is protected",
            Self::Hidden => "is hidden",
            Self::ReadOnly => "may only be read",
            Self::Whole => "is a folder that the sandbox stands on, or holds one",
            Self::HoldsProtected => "holds something that is protected",
            Self::Impossible => "is no path that a program could open",
        }
    }

    fn hint(self) -> Option<&'static str> {
        match self {
            Self::OutsideRoot | Self::LinkLeadsOutside => {
                Some("work inside the project, or list it in files.write beside `.`")
            }
            Self::ReadOnly => Some("the profile, or files.write, lets nothing here be written"),
            Self::Hidden => Some("your own policy can show it with files.unhide"),
            Self::Whole => Some("name what is in it"),
            Self::Protected => Some(
                "others read orders or programs there: change it yourself, outside of the sandbox",
            ),
            Self::HoldsProtected => Some("name what is in it, but for what is protected"),
            Self::Impossible => None,
        }
    }
}

impl Doubt {
    /// Returns a name that never changes, for logs, tests and the manual.
    pub fn code(self) -> &'static str {
        match self {
            Self::Nul => "path-nul",
            Self::Length => "path-length",
            Self::Hole => "path-unknown",
            Self::Tail => "path-partly-unknown",
            Self::Cwd => "cwd-unknown",
            Self::Wild => "pattern-may-climb",
            Self::Loop => "link-loop",
            Self::Unseen => "path-unseen",
            Self::Process => "path-through-process",
            Self::Secret => "machine-secret",
        }
    }
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.text())
    }
}

/// What cannot be told, to be put after the path.
impl fmt::Display for Doubt {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Nul => "contains a NUL byte",
            Self::Length => "is empty or longer than the kernel takes",
            Self::Hole => "is only known at run time",
            Self::Tail => "ends in something that is only known at run time",
            Self::Cwd => "is relative to a folder that is not known",
            Self::Wild => "is a pattern that may match `..`",
            Self::Loop => "leads through too many links",
            Self::Unseen => "lies where nobody may look",
            Self::Process => "leads through a process or an open file",
            Self::Secret => "holds secrets of the whole machine",
        })
    }
}
