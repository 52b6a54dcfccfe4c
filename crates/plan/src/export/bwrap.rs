//! bubblewrap: one command line, and the filter of system calls beside it.

use std::path::Path;

use super::lack::{Lack, Missed};
use super::program::{make, program};
use super::scene::{Mount, Scene, What};
use super::shell::{Line, named, text, word};
use super::{Around, CannotExport, Engine, Export, File, litter};
use crate::plan::Plan;
use crate::seccomp::{self, Instruction};
use crate::step::{Access, Limit, Namespace, Shape};

/// The file with the filter.
const FILTER: &str = "seccomp.bpf";

/// The file with the names of hosts.
const HOSTS: &str = "hosts";

pub(super) fn export(
    plan: &Plan,
    mut scene: Scene<'_>,
    around: &Around<'_>,
) -> Result<Export, CannotExport> {
    let folder = around.folder.ok_or(CannotExport::NoFolder(Engine::Bwrap))?;
    let mut made = Made { line: Line::default(), files: Vec::new(), folder };
    let line = &mut made.line;
    // What it holds is seen inside, in the first process: so it gets no variables but these.
    line.raw(&format!("{} -i --", program("env", &scene, around)?));
    let (loaders, others): (Vec<_>, Vec<_>) = scene.environment.iter().cloned().partition(loads);
    line.variables(&others, around.outside)?;
    line.raw(&program("bwrap", &scene, around)?);
    for variable @ (name, value) in &loaders {
        line.raw("--setenv");
        line.word(name)?;
        let theirs = around.outside.contains(variable);
        line.raw(&if theirs { named(name)? } else { word(value)? });
    }
    for namespace in scene.namespaces {
        line.raw(unshare(*namespace));
    }
    if let Some(identity) = scene.identity {
        line.raw(&format!("--uid {} --gid {}", identity.uid, identity.gid));
    }
    line.raw("--cap-drop ALL --new-session --die-with-parent");
    // Its own /dev has no bound: nothing can be written there.
    line.raw("--ro-bind / / --dev /dev --remount-ro /dev --proc /proc");
    for mount in &scene.mounts {
        made.mount(mount)?;
    }
    made.line.option("--chdir", &[scene.cwd])?;
    if let Some((arch, nesting, groups)) = scene.filter {
        made.line.raw("--seccomp 9");
        let content = bytes(&seccomp::compile(arch, nesting, seccomp::Sockets::Own, groups));
        made.files.push(File { name: FILTER, content });
    }
    made.line.raw("--");
    let inner = inner_limits(&scene.limits);
    if !inner.is_empty() {
        made.line.raw(&format!("{}{inner} --", program("prlimit", &scene, around)?));
    }
    scene.argv.iter().try_for_each(|word| made.line.word(word))?;
    made.line.raw(&format!("9<{}", word(text(&folder.join(FILTER))?)?));

    if let Some(time) = plan.bounds().time {
        scene.missed.add(Lack::Time, format!("it is not ended after {} s", time.as_secs()));
    }
    lacks(&mut scene.missed);
    let mut first = Line::default();
    make(&mut first, &scene, around)?;
    first.raw(&format!("({}exec {})", outer_limits(&scene.limits), made.line.done()));
    let text = format!("{}\n", first.done());
    let notes = litter(&scene);
    let missing = scene.missed.list();
    Ok(Export { text, files: made.files, folders: Vec::new(), missing, notes })
}

/// What has been written so far.
struct Made<'a> {
    line: Line,
    files: Vec<File>,
    folder: &'a Path,
}

impl Made<'_> {
    fn mount(&mut self, Mount { at, what }: &Mount) -> Result<(), CannotExport> {
        match what {
            What::Memory { size, mode } => {
                self.line.raw(&format!("--perms {mode:04o}"));
                if let Some(size) = size {
                    self.line.raw(&format!("--size {size}"));
                }
                self.line.option("--tmpfs", &[at])
            }
            What::Tree(Access::Write) | What::Pin => self.line.option("--bind", &[at, at]),
            What::Tree(Access::Read | Access::Device) | What::Sealed => {
                self.line.option("--ro-bind", &[at, at])
            }
            What::Text(text) => {
                self.files.push(File { name: HOSTS, content: text.clone().into_bytes() });
                self.line.option("--ro-bind", &[&self.folder.join(HOSTS), at])
            }
            What::Cover(Shape::Folder) => self.empty("0000", at),
            // A device on a mount without devices can be opened for nothing.
            What::Cover(Shape::File) => self.line.option("--ro-bind", &["/dev/null".as_ref(), at]),
            What::Reserved => self.empty("0555", at),
        }
    }

    /// Puts an empty folder at a path, in which nothing can be made.
    fn empty(&mut self, mode: &str, at: &Path) -> Result<(), CannotExport> {
        self.line.raw(&format!("--perms {mode} --size 4096"));
        self.line.option("--tmpfs", &[at])?;
        self.line.option("--remount-ro", &[at])
    }
}

fn unshare(namespace: Namespace) -> &'static str {
    match namespace {
        Namespace::User => "--unshare-user",
        // It always makes one.
        Namespace::Mount => "",
        Namespace::Process => "--unshare-pid",
        Namespace::Network => "--unshare-net",
        Namespace::Ipc => "--unshare-ipc",
        Namespace::Name => "--unshare-uts",
        Namespace::Cgroup => "--unshare-cgroup",
    }
}

/// Limits that every shell can set, in the same unit.
fn outer_limits(limits: &[Limit]) -> String {
    let told = limits.iter().filter_map(|limit| match limit {
        Limit::NoCores => Some("ulimit -c 0; ".to_owned()),
        Limit::Data(bytes) => Some(format!("ulimit -d {}; ", bytes / 1024)),
        Limit::CpuSeconds(seconds) => Some(format!("ulimit -t {seconds}; ")),
        Limit::OpenFiles(most) => Some(format!("ulimit -n {most}; ")),
        Limit::Processes(_) | Limit::FileSize(_) => None,
    });
    told.collect()
}

/// Limits that count inside, or that shells disagree about.
fn inner_limits(limits: &[Limit]) -> String {
    let told = limits.iter().filter_map(|limit| match limit {
        Limit::Processes(most) => Some(format!(" --nproc={most}")),
        Limit::FileSize(bytes) => Some(format!(" --fsize={bytes}")),
        Limit::NoCores | Limit::Data(_) | Limit::CpuSeconds(_) | Limit::OpenFiles(_) => None,
    });
    told.collect()
}

/// Returns whether a variable makes a program load others' code when it starts: bwrap itself must
/// not, outside of the walls.
fn loads((name, _): &(String, String)) -> bool {
    name.starts_with("LD_") || ["GCONV_PATH", "GLIBC_TUNABLES", "LOCPATH"].contains(&name.as_str())
}

/// What it never carries.
fn lacks(missed: &mut Missed) {
    missed.add(
        Lack::Descriptors,
        "descriptors that the caller left open are passed on, and standard ones are not looked at",
    );
    missed.add(Lack::FirstProcess, "programs inside can look into bwrap's own first process");
    missed.add(Lack::LateMounts, "what the host mounts while it runs appears inside, writable");
    missed.add(Lack::Orphans, "a bwrap that is killed at its start may leave processes");
}

/// Returns a filter as the kernel reads it: in the order of this machine's bytes, which both
/// processors we know share.
fn bytes(program: &[Instruction]) -> Vec<u8> {
    let instruction = |(code, yes, no, operand): &Instruction| {
        let ([c0, c1], [o0, o1, o2, o3]) = (code.to_le_bytes(), operand.to_le_bytes());
        [c0, c1, *yes, *no, o0, o1, o2, o3]
    };
    program.iter().flat_map(instruction).collect()
}
