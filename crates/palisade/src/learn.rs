//! The smallest change of a policy that would have let a run pass, read off what it did.
//!
//! It opens what the run was refused for want of a list: folders to write, hosts to reach. What a
//! policy forbids outright (`hide`, `protect`, `deny`) and what is the system's stays forbidden, and is
//! told apart.

mod edit;

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use palisade_plan::is_system;
use palisade_policy::text::visible;
use serde_json::{Value as Json, json};

use crate::sandbox::{Outcome, Suggestion, Traffic};
use crate::session::Session;

pub use edit::{CannotEdit, Edited};

/// What a run was seen to do, and what it would need.
#[derive(Clone, Debug, Default)]
pub struct Learned {
    /// Entries that `files.write` would need.
    pub write: Vec<String>,
    /// Hosts that it reached or wanted to reach.
    pub hosts: Suggestion,
    /// What stays refused: the path, and the rule.
    pub forbidden: Vec<(PathBuf, &'static str)>,
    /// Programs that it started.
    pub programs: Vec<PathBuf>,
    /// Folders that it wrote in, with how many names in each.
    pub written: Vec<(PathBuf, usize)>,
    /// Whether more happened than was kept.
    pub more: bool,
}

/// Folders of a home in which logins and keys lie, which no project may ask for.
const CREDENTIALS: [&str; 14] = [
    ".ssh",
    ".gnupg",
    ".aws",
    ".azure",
    ".kube",
    ".docker",
    ".password-store",
    ".config/gh",
    ".config/gcloud",
    ".config/glab-cli",
    ".config/op",
    ".config/sops",
    ".local/share/keyrings",
    ".local/state/palisade",
];

impl Learned {
    /// Reads it off an outcome for which writes were traced.
    pub fn of(outcome: &Outcome, session: &Session) -> Self {
        let (mut write, mut forbidden) = (BTreeSet::new(), BTreeSet::new());
        for one in outcome.violations() {
            match (one.rule, needed(&one.path, session.home())) {
                ("files.write", Some(folder)) => drop(write.insert(folder)),
                (rule, _) => drop(forbidden.insert((one.path.clone(), rule))),
            }
        }
        let used = outcome.used();
        let mut written: BTreeMap<PathBuf, usize> = BTreeMap::new();
        for path in used.into_iter().flat_map(|used| &used.written) {
            *written.entry(path.parent().unwrap_or(path).to_owned()).or_default() += 1;
        }
        // What lies below another entry needs none of its own.
        let all: Vec<PathBuf> = write.into_iter().collect();
        let above = |path: &PathBuf| !all.iter().any(|it| it != path && path.starts_with(it));
        let write = all.iter().filter(|path| above(path));
        Self {
            write: write.map(|path| spelled(path, session.home())).collect(),
            hosts: outcome.traffic.as_ref().map(Traffic::suggestion).unwrap_or_default(),
            forbidden: forbidden.into_iter().collect(),
            programs: used.map(|used| used.programs.iter().cloned().collect()).unwrap_or_default(),
            written: written.into_iter().collect(),
            more: used.is_some_and(|used| used.more),
        }
    }

    /// Leaves out what the policy in force allows already.
    #[must_use]
    pub fn beyond(mut self, session: &Session) -> Self {
        let listed = |key: &str| -> Vec<String> {
            let rows = session.rows().into_iter().filter(|row| row.key == key);
            let values = rows.flat_map(|row| row.values);
            values.filter_map(|value| value.value.as_str().map(str::to_owned)).collect()
        };
        let (write, allow) = (listed("files.write"), listed("network.allow"));
        self.write.retain(|entry| !write.contains(entry));
        self.hosts.allow.retain(|host| !allow.contains(host));
        self
    }

    /// Returns whether nothing is needed.
    pub fn is_empty(&self) -> bool {
        self.write.is_empty() && self.hosts.allow.is_empty() && self.hosts.host_ports.is_empty()
    }

    /// Returns the text of a policy file with what is needed added to it, comments and order kept.
    ///
    /// # Errors
    ///
    /// When the file says it in a way that we do not change by ourselves.
    pub fn edited(&self, before: &str) -> Result<Edited, CannotEdit> {
        let mut after =
            if before.trim().is_empty() { "version: 1\n".into() } else { before.to_owned() };
        if !self.write.is_empty() {
            // A list replaces the profile's, which has the project in it.
            let project: &[&str] = if edit::has(&after, "files", "write") { &[] } else { &["."] };
            after = edit::add(&after, "files", "write", &[project, &*texts(&self.write)].concat())?;
        }
        if !self.hosts.allow.is_empty() || !self.hosts.host_ports.is_empty() {
            after = edit::set(&after, "network", "mode", "allow-list")?;
        }
        if !self.hosts.allow.is_empty() {
            after = edit::add(&after, "network", "allow", &texts(&self.hosts.allow))?;
        }
        if !self.hosts.host_ports.is_empty() {
            let ports: Vec<String> = self.hosts.host_ports.iter().map(u16::to_string).collect();
            after = edit::add_plain(&after, "network", "host_ports", &texts(&ports))?;
        }
        Ok(Edited { before: before.to_owned(), after })
    }

    /// Returns it for programs.
    pub fn json(&self) -> Json {
        let text = |path: &PathBuf| path.to_string_lossy().into_owned();
        let forbidden = self.forbidden.iter();
        let written = self.written.iter();
        json!({
            "write": self.write,
            "network": self.hosts.json(),
            "forbidden": forbidden.map(|(path, rule)| json!({ "path": text(path), "rule": rule }))
                .collect::<Vec<_>>(),
            "programs": self.programs.iter().map(text).collect::<Vec<_>>(),
            "written": written.map(|(path, names)| json!({ "folder": text(path), "names": names }))
                .collect::<Vec<_>>(),
            "more": self.more,
        })
    }
}

fn texts(list: &[String]) -> Vec<&str> {
    list.iter().map(String::as_str).collect()
}

/// Returns what would have to be listed for a path to be written: the folder it lies in, or itself
/// where that folder is the home or above it, or a dot folder of the home, which has the settings of
/// other programs in it. None if no project may ask for it.
fn needed(path: &Path, home: Option<&Path>) -> Option<PathBuf> {
    let folder = path.parent()?;
    // A name that could be read in two ways is left to a person.
    let is_odd = visible(&path.to_string_lossy()) != path.to_string_lossy();
    let has_mark = path.to_string_lossy().contains(['*', '?', '[', '"', '\\']);
    if folder.parent().is_none() || is_system(path) || is_odd || has_mark {
        return None;
    }
    match home {
        Some(home) if home.starts_with(folder) => {
            (path != home && !is_dotted(path)).then(|| path.to_owned())
        }
        Some(home) if CREDENTIALS.iter().any(|name| path.starts_with(home.join(name))) => None,
        Some(home) if folder.parent() == Some(home) && is_dotted(folder) => Some(path.to_owned()),
        _ => Some(folder.to_owned()),
    }
}

fn is_dotted(path: &Path) -> bool {
    path.file_name().is_some_and(|name| name.as_encoded_bytes().starts_with(b"."))
}

/// Writes a path as people do.
fn spelled(path: &Path, home: Option<&Path>) -> String {
    match home.and_then(|home| path.strip_prefix(home).ok()) {
        Some(rest) => format!("~/{}", rest.display()),
        None => path.display().to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_project_may_ask_for_the_system_or_a_whole_home() {
        let home = Some(Path::new("/home/dev"));
        let cases = [
            ("/etc/x", None),
            ("/x", None),
            ("/home/dev", None),
            ("/lib32/x/y", None),
            ("/libx32/x/y", None),
            ("/home/dev/.bashrc", None),
            ("/home/dev/.newtool", None),
            ("/home/dev/.newtool/state", Some("/home/dev/.newtool/state")),
            ("/home/dev/.cache/tool/x/y", Some("/home/dev/.cache/tool/x")),
            ("/home/dev/.config/tool.toml", Some("/home/dev/.config/tool.toml")),
            ("/home/dev/.config/gh/x", None),
            ("/home/dev/.ssh/a/b", None),
            ("/home/dev/new", Some("/home/dev/new")),
            ("/home/dev/build/out/a.o", Some("/home/dev/build/out")),
            ("/srv/data/a", Some("/srv/data")),
            ("/srv/da*ta/a", None),
            ("/srv/\u{202e}a/b", None),
        ];
        for (path, expected) in cases {
            assert_eq!(needed(Path::new(path), home), expected.map(PathBuf::from), "{path}");
        }
        assert_eq!(spelled(Path::new("/home/dev/build"), home), "~/build");
    }

    #[test]
    fn what_is_needed_is_added_to_what_is_there() {
        let hosts = Suggestion { allow: vec!["example.com:443".into()], ..Suggestion::default() };
        let learned = Learned { write: vec!["~/build".into()], hosts, ..Learned::default() };
        let edited = learned.edited("").unwrap();
        assert_eq!(
            edited.after,
            "version: 1\nfiles:\n  write: [\".\", \"~/build\"]\nnetwork:\n  mode: allow-list\n  \
             allow: [\"example.com:443\"]\n"
        );
        assert_eq!(learned.edited(&edited.after).unwrap().after, edited.after);
        let narrow = learned.edited("files:\n  write: [src]\n").unwrap().after;
        assert!(narrow.contains("write: [src, \"~/build\"]"), "{narrow}");
    }
}
