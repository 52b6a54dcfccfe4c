//! What kind of machine this is: what people search for when something does not work.

use std::ffi::OsStr;
use std::fs;
use std::path::Path;

use palisade_apply::sys::identity::effective_uid;

use crate::session::Request;

/// What kind of machine this is.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Machine {
    /// The system, by its name in Rust.
    pub system: &'static str,
    /// The kernel's release.
    pub kernel: String,
    /// The processor.
    pub processor: &'static str,
    /// Who starts.
    pub user: u32,
    /// The container that this is in, if it looks like one.
    pub container: Option<&'static str>,
    /// Windows' subsystem for Linux, if this is one.
    pub subsystem: Option<Subsystem>,
    /// The service that runs this to test or build something, if there is one.
    pub ci: Option<&'static str>,
}

/// Which of Windows' subsystems for Linux.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Subsystem {
    /// The first, which has no Linux in it.
    Wsl1,
    /// The second, which is a Linux in a virtual machine.
    Wsl2,
}

/// Variables of services that build and test.
const SERVICES: [(&str, &str); 11] = [
    ("GITHUB_ACTIONS", "GitHub Actions"),
    ("GITLAB_CI", "GitLab CI"),
    ("CIRCLECI", "CircleCI"),
    ("BUILDKITE", "Buildkite"),
    ("JENKINS_URL", "Jenkins"),
    ("TF_BUILD", "Azure Pipelines"),
    ("TRAVIS", "Travis CI"),
    ("BITBUCKET_BUILD_NUMBER", "Bitbucket Pipelines"),
    ("CODEBUILD_BUILD_ID", "AWS CodeBuild"),
    ("TEAMCITY_VERSION", "TeamCity"),
    ("CI", "CI"),
];

impl Machine {
    /// Looks at this one.
    pub(super) fn look(request: &Request) -> Self {
        let read = |path: &str| fs::read_to_string(path).unwrap_or_default();
        let kernel = read("/proc/sys/kernel/osrelease").trim().to_owned();
        let has = |name: &str| request.env.get(OsStr::new(name)).is_some_and(|it| !it.is_empty());
        Self {
            system: std::env::consts::OS,
            processor: std::env::consts::ARCH,
            user: effective_uid(),
            container: container(&|path| Path::new(path).exists(), &read, &has),
            subsystem: Subsystem::of(&kernel),
            ci: SERVICES.iter().find(|(name, _)| has(name)).map(|(_, service)| *service),
            kernel,
        }
    }
}

impl Subsystem {
    /// Tells it by the kernel's release.
    pub fn of(release: &str) -> Option<Self> {
        let release = release.to_lowercase();
        if !release.contains("microsoft") {
            return None;
        }
        Some(if release.contains("wsl2") || release.contains("microsoft-standard") {
            Self::Wsl2
        } else {
            Self::Wsl1
        })
    }

    /// Returns what people call it.
    pub fn word(self) -> &'static str {
        match self {
            Self::Wsl1 => "WSL1",
            Self::Wsl2 => "WSL2",
        }
    }
}

/// Tells a container by what engines leave in it.
fn container(
    exists: &dyn Fn(&str) -> bool,
    read: &dyn Fn(&str) -> String,
    has: &dyn Fn(&str) -> bool,
) -> Option<&'static str> {
    if read("/proc/1/comm").trim_end() == "pal-reaper" {
        return Some("palisade");
    }
    if read("/proc/version").contains("gVisor") {
        return Some("gvisor");
    }
    if has("KUBERNETES_SERVICE_HOST") {
        return Some("kubernetes");
    }
    let marks = [("/.dockerenv", "docker"), ("/run/.containerenv", "podman")];
    if let Some((_, engine)) = marks.into_iter().find(|(path, _)| exists(path)) {
        return Some(engine);
    }
    let groups = read("/proc/1/cgroup");
    let words = [
        ("kubepods", "kubernetes"),
        ("docker", "docker"),
        ("libpod", "podman"),
        ("lxc", "lxc"),
        ("machine.slice", "systemd-nspawn"),
    ];
    let found = words.into_iter().find(|(word, _)| groups.contains(word));
    found.map(|(_, engine)| engine).or_else(|| has("container").then_some("container"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a191_windows_subsystems_are_told_apart_from_each_other_and_from_linux() {
        #[rustfmt::skip]
        let cases = [
            ("5.15.153.1-microsoft-standard-WSL2", Some(Subsystem::Wsl2)),
            ("6.6.36.3-microsoft-standard-WSL2+",  Some(Subsystem::Wsl2)),
            ("4.19.128-microsoft-standard",        Some(Subsystem::Wsl2)),
            ("4.4.0-19041-Microsoft",              Some(Subsystem::Wsl1)),
            ("6.1.0-18-amd64",                     None),
            ("",                                   None),
        ];
        for (release, expected) in cases {
            assert_eq!(Subsystem::of(release), expected, "{release}");
        }
    }

    #[test]
    fn containers_are_told_by_what_engines_leave() {
        let none = |_: &str| false;
        let nothing = |_: &str| String::new();
        assert_eq!(container(&none, &nothing, &none), None);
        let marked = |path: &str| path == "/.dockerenv";
        assert_eq!(container(&marked, &nothing, &none), Some("docker"));
        let grouped = |path: &str| match path {
            "/proc/1/cgroup" => "0::/kubepods/besteffort/pod1\n".to_owned(),
            _ => String::new(),
        };
        assert_eq!(container(&none, &grouped, &none), Some("kubernetes"));
        let ours = |path: &str| match path {
            "/proc/1/comm" => "pal-reaper\n".to_owned(),
            _ => String::new(),
        };
        assert_eq!(container(&marked, &ours, &none), Some("palisade"));
        assert_eq!(container(&none, &nothing, &|name| name == "container"), Some("container"));
    }
}
