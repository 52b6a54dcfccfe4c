//! What a text itself does to the disk, as far as later parts of it depend on that.
//!
//! Files outlive subshells and branches: what may have happened is kept for the rest of the text.

/// Most texts that one file may hold before nobody keeps count.
const MOST_TEXTS: usize = 8;

/// Most places to which things are moved that are kept apart: each is looked at for every path.
const MOST_MOVES: usize = 32;

/// Most files and links that are kept apart.
const MOST_ENTRIES: usize = 256;

/// Files that were written, taken or linked.
#[derive(Clone, Debug, Default)]
pub(super) struct Disk {
    written: Vec<(String, String)>,
    foreign: Vec<(String, Source)>,
    links: Vec<(String, String)>,
    moves: Vec<(String, String)>,
    full: bool,
}

/// Where content comes from that nobody has seen.
#[derive(Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub(super) enum Source {
    /// From a repository or an archive that a person chose: fine to look at and to build.
    Unpacked,
    /// From the text itself, but only running tells what it is.
    Running,
    /// From another machine, or decoded.
    Elsewhere,
}

impl Disk {
    /// Whether the text has done nothing yet.
    pub(super) fn is_empty(&self) -> bool {
        self.written.is_empty() && self.foreign.is_empty() && self.links.is_empty()
    }

    /// Whether more was done than is kept: any file may be any other.
    pub(super) fn is_full(&self) -> bool {
        self.full
    }

    /// Notes what a file may hold from here on.
    pub(super) fn write(&mut self, path: String, content: String) {
        if self.written(&path).len() >= MOST_TEXTS {
            return self.take(path, Source::Running);
        }
        let entry = (path, content);
        if !self.written.contains(&entry) {
            self.full |= self.written.len() >= MOST_ENTRIES;
            self.written.push(entry);
            self.written.truncate(MOST_ENTRIES);
        }
    }

    /// Notes what is added to a file that may hold something already.
    pub(super) fn append(&mut self, path: String, content: &str) {
        for before in self.written(&path) {
            self.write(path.clone(), format!("{before}\n{content}"));
        }
        self.write(path, content.to_owned());
    }

    /// Returns every text that was written to a file.
    pub(super) fn written(&self, path: &str) -> Vec<String> {
        let same = self.written.iter().filter(|(known, _)| known == path);
        same.map(|(_, content)| content.clone()).collect()
    }

    /// Returns every text that was written to any file.
    pub(super) fn contents(&self) -> impl Iterator<Item = &str> {
        self.written.iter().map(|(_, content)| &**content)
    }

    /// Notes a file whose content nobody has seen.
    pub(super) fn take(&mut self, path: String, source: Source) {
        let entry = (path, source);
        if !self.foreign.contains(&entry) {
            self.full |= self.foreign.len() >= MOST_ENTRIES;
            self.foreign.push(entry);
            self.foreign.truncate(MOST_ENTRIES);
        }
    }

    /// Returns where a file's content comes from, if nobody has seen it: its own, or that of a
    /// folder above it.
    pub(super) fn foreign(&self, path: &str) -> Option<Source> {
        let found = self.foreign.iter().filter(|(taken, _)| below(path, taken).is_some());
        let worst = found.map(|(_, source)| *source).max();
        worst.or(self.full.then_some(Source::Running))
    }

    /// Whether the text put a file into a folder, or below it.
    pub(super) fn fills(&self, folder: &str) -> bool {
        let written = self.written.iter().map(|(path, _)| path);
        let taken = self.foreign.iter().map(|(path, _)| path);
        written.chain(taken).any(|path| below(path, folder).is_some())
    }

    /// Notes a link.
    pub(super) fn link(&mut self, name: String, target: String) {
        let entry = (name, target);
        if !self.links.contains(&entry) {
            self.full |= self.links.len() >= MOST_ENTRIES;
            self.links.push(entry);
            self.links.truncate(MOST_ENTRIES);
        }
    }

    /// Returns every link that was made.
    pub(super) fn links(&self) -> &[(String, String)] {
        &self.links
    }

    /// Notes that what lies at `from` on the disk is put at `to`, its links as links.
    pub(super) fn put(&mut self, from: &str, to: &str) {
        if from == to {
            return;
        }
        let mut put = vec![(from.to_owned(), to.to_owned())];
        // What was put there before is put elsewhere with it.
        for (first, then) in &self.moves {
            let above = below(from, then).map(|rest| (format!("{first}{rest}"), to.to_owned()));
            let inside = below(then, from).map(|rest| (first.clone(), format!("{to}{rest}")));
            put.extend(above.into_iter().chain(inside));
        }
        put.retain(|entry| !self.moves.contains(entry));
        self.moves.extend(put);
        self.full |= self.moves.len() > MOST_MOVES;
        self.moves.truncate(MOST_MOVES);
    }

    /// Returns what was put where, in order.
    pub(super) fn moves(&self) -> &[(String, String)] {
        &self.moves
    }

    /// Notes that what lies at `from` lies at `to` as well.
    pub(super) fn carry(&mut self, from: &str, to: &str) {
        // No folder is put into itself, and nothing need be known of what may be anything.
        if self.full || below(to, from).is_some() || below(from, to).is_some() {
            return;
        }
        let moved = |path: &str| below(path, from).map(|rest| format!("{to}{rest}"));
        let written: Vec<_> = self
            .written
            .iter()
            .filter_map(|(path, content)| Some((moved(path)?, content.clone())))
            .collect();
        for (path, content) in written {
            self.write(path, content);
        }
        let links: Vec<_> = self
            .links
            .iter()
            .filter_map(|(name, target)| Some((moved(name)?, target.clone())))
            .collect();
        for (name, target) in links {
            self.link(name, target);
        }
        if let Some(source) = self.foreign(from) {
            self.take(to.to_owned(), source);
        }
        let foreign: Vec<_> = self
            .foreign
            .iter()
            .filter_map(|(path, source)| Some((moved(path)?, *source)))
            .collect();
        for (path, source) in foreign {
            self.take(path, source);
        }
    }
}

/// Returns what follows in `path` behind `folder`, if it is that folder or lies below it.
pub(super) fn below<'p>(path: &'p str, folder: &str) -> Option<&'p str> {
    let rest = path.strip_prefix(folder)?;
    (rest.is_empty() || rest.starts_with('/') || folder.ends_with('/')).then_some(rest)
}
