//! The filter that tells the supervisor of writes before they happen (`--trace-writes`), and of
//! programs before they start.
//!
//! It refuses nothing: each call that it tells of goes on. What is told is a prediction.

use super::Arch;
use super::compile::{ALLOW, IF_ANY_BIT, IF_EQUAL, Instruction, LOAD, RETURN};

/// What a traced call would do, and where its path is.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Traced {
    /// The word that people read.
    pub operation: &'static str,
    /// Its number on x86-64, if it exists there.
    x86_64: Option<u32>,
    /// Its number on 64-bit ARM, if it exists there.
    aarch64: Option<u32>,
    /// Which argument is the folder that the path starts from, if one is.
    pub folder: Option<usize>,
    /// Which argument is the path.
    pub path: usize,
    /// Which argument says whether anything is written, if not every such call does.
    flags: Option<u8>,
    /// Whether a link at the end of the path is followed.
    pub last: Last,
}

/// What happens to a link at the end of a path.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Last {
    /// It is followed.
    Followed,
    /// It is meant itself.
    Itself,
}

/// Starting a program, which writes nothing and is told of for whoever wants to know which ones.
pub const EXECUTE: &str = "execute";

const fn traced(
    operation: &'static str,
    numbers: (Option<u32>, Option<u32>),
    folder: Option<usize>,
    path: usize,
    flags: Option<u8>,
    last: Last,
) -> Traced {
    Traced { operation, x86_64: numbers.0, aarch64: numbers.1, folder, path, flags, last }
}

/// The calls that are told of.
#[rustfmt::skip]
pub const TRACED: &[Traced] = &[
    //     operation      x86-64, arm64             folder   path flags    a link at the end
    traced("open",      (Some(2),   None),         None,    0, Some(1), Last::Followed),
    traced("open",      (Some(257), Some(56)),     Some(0), 1, Some(2), Last::Followed),
    traced("create",    (Some(85),  None),         None,    0, None,    Last::Followed),
    traced("truncate",  (Some(76),  Some(45)),     None,    0, None,    Last::Followed),
    traced("mkdir",     (Some(83),  None),         None,    0, None,    Last::Itself),
    traced("mkdir",     (Some(258), Some(34)),     Some(0), 1, None,    Last::Itself),
    traced("mknod",     (Some(133), None),         None,    0, None,    Last::Itself),
    traced("mknod",     (Some(259), Some(33)),     Some(0), 1, None,    Last::Itself),
    traced("remove",    (Some(84),  None),         None,    0, None,    Last::Itself),
    traced("remove",    (Some(87),  None),         None,    0, None,    Last::Itself),
    traced("remove",    (Some(263), Some(35)),     Some(0), 1, None,    Last::Itself),
    traced("rename",    (Some(82),  None),         None,    0, None,    Last::Itself),
    traced("rename",    (Some(82),  None),         None,    1, None,    Last::Itself),
    traced("rename",    (Some(264), Some(38)),     Some(0), 1, None,    Last::Itself),
    traced("rename",    (Some(264), Some(38)),     Some(2), 3, None,    Last::Itself),
    traced("rename",    (Some(316), Some(276)),    Some(0), 1, None,    Last::Itself),
    traced("rename",    (Some(316), Some(276)),    Some(2), 3, None,    Last::Itself),
    traced("link",      (Some(86),  None),         None,    1, None,    Last::Itself),
    traced("link",      (Some(265), Some(37)),     Some(2), 3, None,    Last::Itself),
    traced("symlink",   (Some(88),  None),         None,    1, None,    Last::Itself),
    traced("symlink",   (Some(266), Some(36)),     Some(1), 2, None,    Last::Itself),
    traced("chmod",     (Some(90),  None),         None,    0, None,    Last::Followed),
    traced("chmod",     (Some(268), Some(53)),     Some(0), 1, None,    Last::Followed),
    traced("chmod",     (Some(452), Some(452)),    Some(0), 1, None,    Last::Followed),
    traced("chown",     (Some(92),  None),         None,    0, None,    Last::Followed),
    traced("chown",     (Some(94),  None),         None,    0, None,    Last::Itself),
    traced("chown",     (Some(260), Some(54)),     Some(0), 1, None,    Last::Followed),
    traced(EXECUTE,     (Some(59),  Some(221)),    None,    0, None,    Last::Followed),
    traced(EXECUTE,     (Some(322), Some(281)),    Some(0), 1, None,    Last::Followed),
];

/// `O_WRONLY`, `O_RDWR`, `O_CREAT`, `O_TRUNC`: an open with none of them writes nothing.
const WRITES: u32 = 0o1 | 0o2 | 0o100 | 0o1000;

/// Asks whoever listens.
const TELL: Instruction = (RETURN, 0, 0, 0x7fc0_0000);

impl Traced {
    /// Returns the call's number on `arch`, if it exists there.
    pub const fn number(&self, arch: Arch) -> Option<u32> {
        match arch {
            Arch::X86_64 => self.x86_64,
            Arch::Aarch64 => self.aarch64,
        }
    }
}

/// Returns the filter that tells of writes on `arch`.
pub fn trace(arch: Arch) -> Vec<Instruction> {
    // Programs of other processors are the other filter's business.
    let mut program = vec![(LOAD, 0, 0, 4), (IF_EQUAL, 1, 0, arch.audit()), ALLOW, (LOAD, 0, 0, 0)];
    let mut done: Vec<u32> = Vec::new();
    for call in TRACED {
        let Some(number) = call.number(arch).filter(|number| !done.contains(number)) else {
            continue;
        };
        done.push(number);
        match call.flags {
            None => program.extend([(IF_EQUAL, 0, 1, number), TELL]),
            Some(place) => program.extend([
                (IF_EQUAL, 0, 4, number),
                (LOAD, 0, 0, 16 + 8 * u32::from(place)),
                (IF_ANY_BIT, 0, 1, WRITES),
                TELL,
                ALLOW,
            ]),
        }
    }
    program.push(ALLOW);
    program
}
