//! Where things lie: the policy files that are found by themselves, and the user's own state.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};

use crate::root::Caller;

/// The policy of the machine, below which no variable can reach.
const SYSTEM_POLICY: &str = "/etc/palisade/policy.yaml";

/// The folders of the user's state in which we keep what is nobody else's to read.
pub(crate) const OWN: [&str; 4] = ["audit", "placeholders", "trust", "workspaces"];

/// The places of one user, worked out from an environment that was handed in.
///
/// Two sessions with different environments have different places; nothing here is read from the
/// process. What cannot be placed, because no home is known, is absent rather than guessed.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Places {
    /// The user these places belong to.
    pub uid: u32,
    /// The home folder: `HOME` if it is absolute, else the one of the user table.
    pub home: Option<PathBuf>,
    /// The policy of the machine: `/etc/palisade/policy.yaml`.
    pub system_policy: PathBuf,
    /// The user's own policy: `$XDG_CONFIG_HOME/palisade/policy.yaml`.
    pub user_policy: Option<PathBuf>,
    /// The user's own state, where trust is kept: `$XDG_STATE_HOME/palisade`.
    pub state: Option<PathBuf>,
}

/// Returns the names in a folder. The C library would map memory for it, and unmap it again, which is
/// an interrupt to every processor that works in ours.
pub(crate) fn names_in(
    folder: &Path,
) -> rustix::io::Result<impl Iterator<Item = rustix::io::Result<OsString>> + use<>> {
    use rustix::fs::{Mode, OFlags};
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
    names_of(rustix::fs::open(folder, flags, Mode::empty())?)
}

/// Returns the names in a folder that was opened for that.
pub(crate) fn names_of(
    folder: OwnedFd,
) -> rustix::io::Result<impl Iterator<Item = rustix::io::Result<OsString>> + use<>> {
    let entries = rustix::fs::Dir::new(folder)?;
    let name = |entry: rustix::fs::DirEntry| match entry.file_name().to_bytes() {
        b"." | b".." => None,
        name => Some(OsStr::from_bytes(name).to_owned()),
    };
    Ok(entries.filter_map(move |entry| entry.map(name).transpose()))
}

impl Places {
    /// Works the places out from `vars`, for `uid` with the home `passwd_home` in the user table.
    ///
    /// A relative path in a variable is ignored, as the XDG base directory specification asks: it
    /// would mean another folder in each working directory, and so let a project choose.
    pub fn from_env(
        vars: &BTreeMap<OsString, OsString>,
        uid: u32,
        passwd_home: Option<PathBuf>,
    ) -> Self {
        let home = absolute(vars, "HOME").or(passwd_home.filter(|home| home.is_absolute()));
        let base = |name, below_home| {
            absolute(vars, name).or_else(|| home.as_ref().map(|home| home.join(below_home)))
        };
        Self {
            uid,
            system_policy: SYSTEM_POLICY.into(),
            user_policy: base("XDG_CONFIG_HOME", ".config")
                .map(|config| config.join("palisade/policy.yaml")),
            state: base("XDG_STATE_HOME", ".local/state").map(|state| state.join("palisade")),
            home,
        }
    }

    /// Returns where a project keeps its policy: `<root>/.palisade/policy.yaml`.
    pub fn project_policy(root: &Path) -> PathBuf {
        root.join(".palisade/policy.yaml")
    }

    /// Returns the user, as root detection wants to know them.
    pub fn caller(&self) -> Caller {
        Caller { uid: self.uid, home: self.home.clone() }
    }
}

/// Returns a path for a message: control, bidi and other invisible characters are spelled out.
pub(crate) fn shown(path: &Path) -> String {
    path.to_string_lossy().escape_debug().to_string()
}

fn absolute(vars: &BTreeMap<OsString, OsString>, name: &str) -> Option<PathBuf> {
    vars.get(OsStr::new(name)).map(PathBuf::from).filter(|path| path.is_absolute())
}

#[cfg(test)]
mod tests {
    use super::*;

    type Vars<'a> = &'a [(&'a str, &'a str)];

    fn places(vars: Vars<'_>, passwd: Option<&str>) -> Places {
        let vars = vars.iter().map(|(name, value)| (name.into(), value.into())).collect();
        Places::from_env(&vars, 1000, passwd.map(PathBuf::from))
    }

    #[test]
    fn only_absolute_variables_move_a_place() {
        let home = "/home/ann/.config/palisade/policy.yaml";
        #[rustfmt::skip]
        let cases: [(Vars<'_>, Option<&str>, &str); 8] = [
            // environment                                      user policy  because
            (&[("HOME", "/home/ann")],                          Some(home), "the default"),
            (&[("HOME", "/x"), ("XDG_CONFIG_HOME", "/c")],      Some("/c/palisade/policy.yaml"), "moved"),
            (&[],                                               Some(home), "no HOME: the user table"),
            (&[("HOME", "")],                                   Some(home), "an empty HOME is none"),
            (&[("HOME", "home/ann")],                           Some(home), "a relative HOME is none"),
            (&[("XDG_CONFIG_HOME", ".")],                       Some(home), "a project must not choose"),
            (&[("XDG_CONFIG_HOME", "../c")],                    Some(home), "nor by climbing"),
            (&[("XDG_CONFIG_HOME", "~/c")],                     Some(home), "no shell has expanded this"),
        ];
        for (vars, expected, because) in cases {
            let policy = places(vars, Some("/home/ann")).user_policy;
            assert_eq!(policy, expected.map(PathBuf::from), "{vars:?}: {because}");
        }
    }

    #[test]
    fn state_follows_its_own_variable_only() {
        let state = |vars: &[(&str, &str)]| places(vars, None).state;
        assert_eq!(state(&[("XDG_STATE_HOME", "/s")]), Some("/s/palisade".into()));
        assert_eq!(state(&[("HOME", "/h")]), Some("/h/.local/state/palisade".into()));
        let moved = state(&[("HOME", "/h"), ("XDG_CONFIG_HOME", "/c")]);
        assert_eq!(moved, Some("/h/.local/state/palisade".into()));
        let relative = state(&[("HOME", "/h"), ("XDG_STATE_HOME", "s")]);
        assert_eq!(relative, Some("/h/.local/state/palisade".into()));
    }

    #[test]
    fn without_a_home_nothing_is_guessed() {
        for passwd in [None, Some("relative"), Some("")] {
            let places = places(&[("HOME", "relative")], passwd);
            assert_eq!((places.home, places.user_policy, places.state), (None, None, None));
        }
    }

    #[test]
    fn no_variable_moves_the_policy_of_the_machine() {
        let places = places(&[("XDG_CONFIG_DIRS", "/x"), ("XDG_CONFIG_HOME", "/x")], None);
        assert_eq!(places.system_policy, Path::new("/etc/palisade/policy.yaml"));
        assert_eq!(Places::project_policy(Path::new("/p")), Path::new("/p/.palisade/policy.yaml"));
    }

    #[test]
    fn a_shown_path_hides_nothing() {
        assert_eq!(shown(Path::new("/a/b.yaml")), "/a/b.yaml");
        assert_eq!(shown(Path::new("/a\n\u{1b}[2Kb\u{202e}c")), "/a\\n\\u{1b}[2Kb\\u{202e}c");
    }
}
