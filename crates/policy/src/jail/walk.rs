//! Following a path as the kernel would.

use super::lookup::{Entry, Lookup};
use super::marks::{Spelling, has_wildcard};
use super::place::{Doubt, Route};
use super::text;
use crate::name::Step;
use crate::text::byte;

/// What the kernel calls too many links (ELOOP).
const MOST_LINKS: u8 = 40;

/// What happens to a link at the end of a path.
#[derive(Clone, Copy, Debug, Default, Eq, Ord, PartialEq, PartialOrd)]
pub enum Last {
    /// It is followed, as open(2) does.
    #[default]
    Follow,
    /// It is the place, as for unlink(2) and rename(2). A slash after it follows it all the same.
    Keep,
}

/// A walk along a path, from `/` to where it leads.
pub(super) struct Walk<'a> {
    lookup: &'a dyn Lookup,
    cwd: &'a str,
    spelling: Spelling,
    /// Where the walk has got to: absolute and normal; empty stands for `/`.
    pub(super) path: String,
    pub(super) route: Route,
    pub(super) doubt: Option<Doubt>,
    pub(super) end: End,
    /// Every path that a link was met at, with the names that were still to come.
    pub(super) crossed: Vec<String>,
    /// Longer paths than this cannot be looked at: nothing lies there, or nobody may tell.
    blind: Option<usize>,
    links: u8,
}

/// What a walk ended at.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum End {
    /// Anything that has nothing to add.
    Plain,
    /// A file with several names.
    Shared,
    /// One of the command's own open files.
    Stream,
}

/// The names that come after those that are being walked, innermost first.
#[derive(Clone, Copy)]
struct Ahead<'r> {
    names: &'r str,
    then: Option<&'r Self>,
}

impl<'a> Walk<'a> {
    /// Starts at `start`, which is absolute and free of links.
    ///
    /// `room` is how many bytes of names are to come, if no link adds to them.
    pub(super) fn new(start: &str, cwd: &'a str, lookup: &'a dyn Lookup, room: usize) -> Self {
        let mut path = String::with_capacity(start.len() + room + 2);
        path.push_str(start.trim_end_matches('/'));
        Self {
            lookup,
            cwd,
            spelling: Spelling::Plain,
            path,
            route: Route::Straight,
            doubt: None,
            end: End::Plain,
            crossed: Vec::new(),
            blind: None,
            links: 0,
        }
    }

    /// Walks on along `names`.
    pub(super) fn along(&mut self, names: &str, last: Last, spelling: Spelling) {
        self.spelling = spelling;
        if !names.is_empty() {
            self.walk(names, last, None);
        }
    }

    fn walk(&mut self, names: &str, last: Last, then: Option<&Ahead<'_>>) {
        let mut rest = names;
        while !rest.is_empty() {
            let (name, after) =
                byte::split_once(rest, b'/').map_or((rest, None), |(n, a)| (n, Some(a)));
            rest = after.unwrap_or_default();
            match name {
                "" | "." => {}
                ".." => self.climb(),
                name => {
                    // Only a name that nothing follows, not even a slash, can be kept.
                    let kept = if after.is_none() { last } else { Last::Follow };
                    self.enter(name, kept, &Ahead { names: rest, then });
                }
            }
            if self.doubt == Some(Doubt::Loop) {
                return;
            }
        }
    }

    fn climb(&mut self) {
        self.path.truncate(self.path.rfind('/').unwrap_or_default());
        self.blind = self.blind.filter(|blind| *blind <= self.path.len());
        if self.end == End::Stream {
            self.doubt = Some(Doubt::Process);
        }
        self.end = End::Plain;
    }

    fn enter(&mut self, name: &str, last: Last, ahead: &Ahead<'_>) {
        if self.end == End::Stream {
            self.doubt = Some(Doubt::Process);
        }
        self.end = End::Plain;
        let folder = self.path.len();
        self.path.push('/');
        self.path.push_str(name);
        if self.spelling == Spelling::Pattern && has_wildcard(name) {
            // `*` leaves `..` alone; `.*` may not.
            if Step::matches(name, "..") {
                self.doubt = self.doubt.or(Some(Doubt::Wild));
            }
            self.blind = self.blind.or(Some(folder + 1));
            return;
        }
        if self.enter_kernel_files(folder) || self.blind.is_some() {
            return;
        }
        match self.lookup.look(&self.path) {
            Entry::Absent => self.blind = Some(self.path.len()),
            Entry::Folder | Entry::File | Entry::Other => {}
            Entry::SharedFile => self.end = End::Shared,
            Entry::Unknown => {
                self.blind = Some(self.path.len());
                self.doubt = self.doubt.or(Some(Doubt::Unseen));
            }
            Entry::Link(_) if last == Last::Keep => {}
            Entry::Link(target) => {
                self.crossed.push(self.spelled(ahead));
                self.path.truncate(folder);
                self.follow(&target, ahead);
            }
        }
    }

    fn follow(&mut self, target: &str, ahead: &Ahead<'_>) {
        self.route = Route::Linked;
        self.links += 1;
        if self.links > MOST_LINKS {
            self.doubt = Some(Doubt::Loop);
            return;
        }
        if target.starts_with('/') {
            self.path.clear();
        }
        // A link's text is taken as it is.
        let spelling = std::mem::replace(&mut self.spelling, Spelling::Plain);
        self.walk(target, Last::Follow, Some(ahead));
        self.spelling = spelling;
    }

    /// Goes on from `target` instead of the name just entered.
    fn jump(&mut self, target: &str) {
        self.path.clear();
        self.blind = None;
        self.follow(target, &Ahead { names: "", then: None });
    }

    /// Understands the names in `/proc` and `/dev` that stand for something of the process that
    /// uses them. A look-up would answer for this process instead.
    fn enter_kernel_files(&mut self, folder: usize) -> bool {
        // Nearly every path lies elsewhere.
        if !matches!(self.path.as_bytes(), [b'/', b'd' | b'p', ..]) {
            return false;
        }
        let (above, name) = self.path.split_at(folder);
        let name = name.trim_start_matches('/');
        match (above, name) {
            ("/dev", "fd") => {
                self.jump("/proc/self/fd");
                return true;
            }
            ("/dev", "stdin" | "stdout" | "stderr") => {
                self.end = End::Stream;
                return true;
            }
            _ => {}
        }
        let Some(below) = self.path.strip_prefix("/proc/") else { return false };
        let mut parts = below.split('/');
        let process = parts.next().unwrap_or_default();
        let of_caller = matches!(process, "self" | "thread-self");
        if of_caller || text::is_number(process) {
            let mut key = parts.next();
            if key == Some("task") {
                key = parts.by_ref().nth(1);
            }
            match (key, parts.next(), of_caller) {
                (Some("root"), None, _) => {
                    self.jump("/");
                    return true;
                }
                (Some("cwd"), None, true) if text::is_settled(self.cwd) => {
                    self.jump(self.cwd);
                    return true;
                }
                (Some("cwd"), None, _) => self.doubt = Some(Doubt::Process),
                (Some("fd"), Some(_), true) => self.end = End::Stream,
                (Some("fd" | "map_files"), Some(_), _) => self.doubt = Some(Doubt::Process),
                (_, _, _) => {}
            }
        }
        self.blind = self.blind.or(Some("/proc".len()));
        true
    }

    /// Returns the path as it is spelled from here, without following anything more.
    fn spelled(&self, ahead: &Ahead<'_>) -> String {
        let mut spelled = self.path.clone();
        let mut next = Some(ahead);
        while let Some(ahead) = next {
            text::append(&mut spelled, ahead.names);
            next = ahead.then;
        }
        spelled
    }
}
