//! What a text itself does to the disk, as far as later parts of it depend on that.
//!
//! Files outlive subshells and branches: what may have happened is kept for the rest of the text.

/// Files that were written, taken or linked.
#[derive(Clone, Debug, Default)]
pub(super) struct Disk {
    written: Vec<(String, String)>,
    foreign: Vec<String>,
    links: Vec<(String, String)>,
}

impl Disk {
    /// Notes what a file may hold from here on.
    pub(super) fn write(&mut self, path: String, content: String) {
        let entry = (path, content);
        if !self.written.contains(&entry) {
            self.written.push(entry);
        }
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

    /// Notes a file whose content comes from elsewhere.
    pub(super) fn take(&mut self, path: String) {
        if !self.foreign.contains(&path) {
            self.foreign.push(path);
        }
    }

    /// Whether a file, or a folder above it, was taken from elsewhere.
    pub(super) fn is_foreign(&self, path: &str) -> bool {
        self.foreign.iter().any(|taken| {
            let below = path.strip_prefix(taken.as_str());
            below.is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
        })
    }

    /// Notes a link.
    pub(super) fn link(&mut self, name: String, target: String) {
        let entry = (name, target);
        if !self.links.contains(&entry) {
            self.links.push(entry);
        }
    }

    /// Returns every link that was made.
    pub(super) fn links(&self) -> &[(String, String)] {
        &self.links
    }
}
