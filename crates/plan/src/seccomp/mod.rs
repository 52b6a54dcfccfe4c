//! Which system calls are refused, as data, and the filter that says so to the kernel.
//!
//! Everything that is not in the table is allowed: namespaces and mounts are the first wall, this
//! one takes away what reaches parts of the kernel that no build or test needs.

mod compile;
mod table;
#[cfg(test)]
pub(crate) mod tests;
mod trace;

pub(crate) use compile::refused;
pub use compile::{Instruction, compile};
pub use table::{NEWEST, ROOTS, RULES, UNSHARED};
pub use trace::{EXECUTE, Last, TRACED, Traced, trace};

/// A processor whose system call numbers are known.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Arch {
    /// 64-bit x86; its 32-bit and x32 calls are refused.
    X86_64,
    /// 64-bit ARM; its 32-bit calls are refused.
    Aarch64,
}

/// How a refused call fails.
#[derive(Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub enum Refusal {
    /// `EPERM`: it is not permitted.
    NotPermitted,
    /// `ENOSYS`: as if the kernel did not have it, so that callers take their older way.
    Missing,
    /// `EOPNOTSUPP`: as on a filesystem that cannot do it.
    NotSupported,
    /// `EAFNOSUPPORT`: no such family of sockets.
    NoFamily,
    /// `EPROTONOSUPPORT`: no such protocol.
    NoProtocol,
}

/// When a call is refused.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Check {
    /// Always.
    Always(Refusal),
    /// When the low half of an argument has one of these bits.
    AnyBit(u8, u32, Refusal),
    /// When the low half of an argument is one of these values.
    OneOf(u8, &'static [u32], Refusal),
    /// When one argument is the first value and another the second.
    Both((u8, u32), (u8, u32), Refusal),
    /// When one argument has one of the first bits and another one of the second.
    BothBits((u8, u32), (u8, u32), Refusal),
    /// A socket of another family or protocol than those allowed.
    Socket(&'static [Family]),
}

/// A family of sockets that may be opened, and with which protocols.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Family {
    /// What people call it.
    pub name: &'static str,
    /// Its number (`AF_*`).
    pub number: u32,
    /// The protocols allowed; all when empty.
    pub protocols: &'static [u32],
}

/// One line of the table.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Rule {
    /// The call's name.
    pub call: &'static str,
    /// Its number on x86-64, if it exists there.
    pub x86_64: Option<u32>,
    /// Its number on 64-bit ARM, if it exists there.
    pub aarch64: Option<u32>,
    /// When it is refused.
    pub check: Check,
    /// Why nobody inside needs it, or what it would open.
    pub why: &'static str,
}

/// Whether programs inside may make user namespaces of their own (Ruling 22).
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Nesting {
    /// They may not.
    Off,
    /// They may: `clone`, `unshare` and the mount family are left to the kernel's own checks.
    UserNamespaces,
}

/// Which sockets may be opened.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Sockets {
    /// All of the table's families: the network is the sandbox's own, and so is what lies in it.
    Own,
    /// Those of the host's network, and pairs that are connected from the start. None leads to a
    /// program of the host by a path.
    Internet,
    /// Pairs that are connected from the start, and no others.
    Pairs,
}

/// Whose group the files have that are made inside.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Groups {
    /// The starting user's. Folders may hand it on to what is made in them (`chmod g+s`), as shared
    /// repositories do; no filter sees whether it is a folder.
    Own,
    /// Root's, or that of whom root starts it for: nothing may be made to run as it.
    Roots,
}

impl Arch {
    /// Returns the number that the kernel gives this processor in a filter (`AUDIT_ARCH_*`).
    pub const fn audit(self) -> u32 {
        match self {
            Self::X86_64 => 0xc000_003e,
            Self::Aarch64 => 0xc000_00b7,
        }
    }

    /// Returns the word that people and programs read.
    pub const fn word(self) -> &'static str {
        match self {
            Self::X86_64 => "x86_64",
            Self::Aarch64 => "aarch64",
        }
    }
}

impl Refusal {
    /// Returns the kernel's number for it, which is the same on every processor we know.
    pub const fn errno(self) -> u16 {
        match self {
            Self::NotPermitted => 1,
            Self::Missing => 38,
            Self::NoProtocol => 93,
            Self::NotSupported => 95,
            Self::NoFamily => 97,
        }
    }
}

impl Rule {
    /// Returns the call's number on `arch`, if it exists there.
    pub const fn number(&self, arch: Arch) -> Option<u32> {
        match arch {
            Arch::X86_64 => self.x86_64,
            Arch::Aarch64 => self.aarch64,
        }
    }
}
