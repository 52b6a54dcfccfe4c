//! What stands in the way of namespaces, and how it is lifted.

/// Something that was found to be in the way of namespaces.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Block {
    /// `user.max_user_namespaces`, here or in a namespace above.
    MostNamespaces,
    /// Debian's switch.
    UnprivilegedClone,
    /// Ubuntu's restriction by `AppArmor`.
    AppArmor,
    /// A filter of system calls around us.
    Filter,
    /// The root folder is not the root of its mounts: namespaces of users are refused in a chroot.
    Chroot,
    /// Parts of /proc are covered, so that it cannot be mounted anew.
    CoveredProc,
    /// There is no /proc.
    NoProc,
    /// Root without the capability to hand root on.
    Capabilities,
}

impl Block {
    /// Returns the word that programs read.
    pub fn word(self) -> &'static str {
        match self {
            Self::MostNamespaces => "max-user-namespaces",
            Self::UnprivilegedClone => "unprivileged-userns-clone",
            Self::AppArmor => "apparmor",
            Self::Filter => "seccomp",
            Self::Chroot => "chroot",
            Self::CoveredProc => "covered-proc",
            Self::NoProc => "no-proc",
            Self::Capabilities => "capabilities",
        }
    }

    /// Says what is in the way.
    pub fn why(self) -> &'static str {
        match self {
            Self::MostNamespaces => {
                "`user.max_user_namespaces` is 0 or used up, here or in a namespace above"
            }
            Self::UnprivilegedClone => "`kernel.unprivileged_userns_clone` is 0",
            Self::AppArmor => "AppArmor restricts user namespaces of unconfined programs",
            Self::Filter => {
                "a seccomp filter around this process, as containers have, refuses them"
            }
            Self::Chroot => {
                "this is a chroot, in which the kernel refuses user namespaces, or a security \
                 module refuses them"
            }
            Self::CoveredProc => {
                "parts of /proc are covered, as in containers, and so it cannot be mounted anew"
            }
            Self::NoProc => "/proc is not mounted",
            Self::Capabilities => {
                "this is root without CAP_SETFCAP, which may not be root in a user namespace"
            }
        }
    }

    /// Says how to lift it.
    pub fn remedy(self) -> &'static str {
        match self {
            Self::MostNamespaces => {
                "as root: `sysctl user.max_user_namespaces=15000`, and fewer sandboxes at once"
            }
            Self::UnprivilegedClone => "as root: `sysctl kernel.unprivileged_userns_clone=1`",
            Self::AppArmor => {
                "as root: `sysctl kernel.apparmor_restrict_unprivileged_userns=0`, or an AppArmor \
                 profile for palisade with the rule `userns,`"
            }
            Self::Filter => {
                "start the container with a seccomp profile that lets `clone3`, `unshare` and \
                 `mount` through (docker: `--security-opt seccomp=PROFILE`)"
            }
            Self::Chroot => {
                "for a chroot: enter the folder by pivot_root, as container engines do; for a security module: a rule for palisade"
            }
            Self::CoveredProc => {
                "start the container with /proc uncovered (docker: `--security-opt \
                 systempaths=unconfined`)"
            }
            Self::NoProc => "mount /proc",
            Self::Capabilities => {
                "start as an ordinary user, or with the capabilities of root (docker: `--user`, or \
                 `--cap-add SETFCAP`)"
            }
        }
    }
}
