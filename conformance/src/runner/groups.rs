//! `conformance groups`: bounds that are held by control groups (cgroups(7), version 2).
//!
//! Root hands a part of the tree over, first to an ordinary user and then, by the mark that systemd
//! sets too, to root, and runs Palisade in it. Wants a machine of its own, such as `cargo xtask
//! kernels` starts: it switches controllers on at the top of the tree.

use std::fs;
use std::io;
use std::os::unix::fs::chown;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use serde::Serialize;
use serde_json::Value;

use crate::engine::search;
use crate::judge::Programs;
use crate::person::Person;

/// What became of one claim.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct Checked {
    pub(crate) claim: &'static str,
    pub(crate) person: &'static str,
    pub(crate) holds: bool,
    pub(crate) why: String,
}

/// Tries one claim.
type Claim = fn(&Tree<'_>) -> io::Result<()>;

/// Tries every claim as both, or says why none can be tried.
pub(crate) fn check(programs: Programs<'_>) -> Result<Vec<Checked>, String> {
    let top = mounted()?;
    let mut all = Vec::new();
    for person in Person::available(None)? {
        let tree = Tree::make(&top, person, programs)
            .map_err(|error| format!("a tree cannot be handed over: {error}"))?;
        let claims: [(&'static str, Claim); 8] = [
            ("the outcome says that a group holds the bounds", told),
            ("the kernel has the bounds of the policy, and ends all at once", written),
            ("what stays within its bounds is not touched", within),
            ("all processes together reach the bound of memory, and the outcome says so", memory),
            ("the bound of processes is exact", processes),
            ("nothing is left in the tree", nothing_left),
            (
                "a supervisor that is killed leaves nobody, and its group goes with the next run",
                killed,
            ),
            ("where nothing was handed over, sums are sampled and the outcome says so", sampled),
        ];
        for (claim, try_it) in claims {
            let tried = try_it(&tree);
            let (holds, why) =
                tried.map_or_else(|error| (false, error.to_string()), |()| (true, String::new()));
            all.push(Checked { claim, person: person.name(), holds, why });
        }
    }
    Ok(all)
}

/// Where the tree is mounted, if it has what is needed.
fn mounted() -> Result<PathBuf, String> {
    if !rustix::process::geteuid().is_root() {
        return Err("only root can hand a part of the tree over".to_owned());
    }
    let mounts = fs::read_to_string("/proc/self/mounts").map_err(|error| error.to_string())?;
    let mut points = mounts.lines().filter_map(|line| {
        let mut words = line.split(' ').skip(1);
        let (point, kind) = (words.next()?, words.next()?);
        (kind == "cgroup2").then(|| PathBuf::from(point))
    });
    let top = points.next().ok_or("no tree of the second version is mounted")?;
    let offers = fs::read_to_string(top.join("cgroup.controllers")).unwrap_or_default();
    if offers.contains("memory") && offers.contains("pids") {
        Ok(top)
    } else {
        Err(format!("{} does not offer memory and pids", top.display()))
    }
}

/// A part of the tree that was handed over, with this process in it.
struct Tree<'p> {
    top: PathBuf,
    folder: PathBuf,
    home: PathBuf,
    person: Person,
    programs: Programs<'p>,
}

impl<'p> Tree<'p> {
    fn make(top: &Path, person: Person, programs: Programs<'p>) -> io::Result<Self> {
        let above = top.join(format!("conformance-{}", std::process::id()));
        let folder = above.join("app");
        let shell = folder.join("shell");
        fs::create_dir_all(&shell)?;
        for group in [top, &above, &folder] {
            fs::write(group.join("cgroup.subtree_control"), "+memory +pids")?;
        }
        match person.uid() {
            Some(uid) => {
                let names = ["", "cgroup.procs", "cgroup.subtree_control", "cgroup.threads"];
                for group in [&folder, &shell] {
                    for name in names {
                        let path = if name.is_empty() { group.clone() } else { group.join(name) };
                        chown(path, Some(uid), Some(uid))?;
                    }
                }
            }
            None => {
                let flags = rustix::fs::XattrFlags::empty();
                rustix::fs::setxattr(&folder, "trusted.delegate", b"1", flags)?;
            }
        }
        let home = person.folder().join(format!("palisade-groups-{}", std::process::id()));
        fs::create_dir_all(home.join("app"))?;
        fs::create_dir_all(home.join(".config/palisade"))?;
        let policy = "version: 1\nlimits: { processes: 64, memory: 256MiB }\n";
        fs::write(home.join(".config/palisade/policy.yaml"), policy)?;
        person.own_all(&home)?;
        let tree = Self { top: top.to_owned(), folder, home, person, programs };
        enter(&shell)?;
        Ok(tree)
    }

    fn command(&self, words: &[&str]) -> Command {
        let mut command = Command::new(self.programs.palisade);
        command.args(["run", "--json", "--"]).arg(self.programs.probe).args(words);
        command.env_clear().env("HOME", &self.home).env("PATH", search());
        command.current_dir(self.home.join("app")).stdin(Stdio::null());
        self.person.becomes(&mut command);
        command
    }

    fn run(&self, words: &[&str]) -> io::Result<Value> {
        let output = self.command(words).stderr(Stdio::piped()).output()?;
        serde_json::from_slice(&output.stdout)
            .map_err(|_| io::Error::other(String::from_utf8_lossy(&output.stderr).into_owned()))
    }

    /// Groups that runs have made and not removed.
    fn left(&self) -> Vec<String> {
        let entries = fs::read_dir(&self.folder).into_iter().flatten().flatten();
        let names = entries.map(|entry| entry.file_name().to_string_lossy().into_owned());
        names.filter(|name| name.starts_with("palisade-")).collect()
    }
}

impl Drop for Tree<'_> {
    fn drop(&mut self) {
        enter(&self.top).ok();
        for group in self.left().iter().map(|name| self.folder.join(name)) {
            fs::remove_dir(group).ok();
        }
        for group in [self.folder.join("shell"), self.folder.clone()] {
            fs::remove_dir(group).ok();
        }
        self.folder.parent().map(fs::remove_dir);
        fs::remove_dir_all(&self.home).ok();
    }
}

fn enter(group: &Path) -> io::Result<()> {
    fs::write(group.join("cgroup.procs"), std::process::id().to_string())
}

fn expect(holds: bool, told: &Value) -> io::Result<()> {
    if holds { Ok(()) } else { Err(io::Error::other(told.to_string())) }
}

fn has_note(told: &Value) -> bool {
    let notes = told["notes"].as_array();
    notes.is_some_and(|notes| notes.iter().any(|note| note["code"] == "control-group"))
}

fn told(tree: &Tree<'_>) -> io::Result<()> {
    let told = tree.run(&["nothing"])?;
    let held = &told["enforced"]["limits"]["is"];
    expect(told["exit_code"] == 0 && *held == "kernel" && has_note(&told), &told)
}

/// Looks into the group while a command is in it.
fn written(tree: &Tree<'_>) -> io::Result<()> {
    let mut child = tree.command(&["wait", "3000"]).stdout(Stdio::null()).spawn()?;
    let group = || tree.left().first().map(|name| tree.folder.join(name));
    patiently(|| group().is_some_and(|group| members(&group) >= 2));
    let read = |name: &str| {
        let path = group().map(|group| group.join(name)).unwrap_or_default();
        fs::read_to_string(path).map(|text| text.trim().to_owned())
    };
    // One more process than the policy says: the first one, which collects the others.
    let wanted = [("memory.max", "268435456"), ("memory.oom.group", "1"), ("pids.max", "65")];
    let found = wanted.map(|(name, wanted)| (name, read(name), wanted));
    child.wait()?;
    for (name, found, wanted) in found {
        let found = found?;
        if found != wanted {
            return Err(io::Error::other(format!("{name} is {found}, not {wanted}")));
        }
    }
    Ok(())
}

/// How many processes are in a group.
fn members(group: &Path) -> usize {
    fs::read_to_string(group.join("cgroup.procs")).map_or(0, |list| list.lines().count())
}

fn within(tree: &Tree<'_>) -> io::Result<()> {
    let told = tree.run(&["many", "4", "40"])?;
    expect(told["exit_code"] == 0 && told["limit"].is_null(), &told)
}

fn memory(tree: &Tree<'_>) -> io::Result<()> {
    // Each of them stays far below what one process may have.
    let told = tree.run(&["many", "6", "100"])?;
    expect(told["exit_code"] == 137 && told["limit"] == "memory", &told)
}

fn processes(tree: &Tree<'_>) -> io::Result<()> {
    let told = tree.run(&["many", "63", "0"])?;
    expect(told["exit_code"] == 0, &told)?;
    let told = tree.run(&["many", "64", "0"])?;
    expect(told["exit_code"] == libc::EAGAIN, &told)
}

fn nothing_left(tree: &Tree<'_>) -> io::Result<()> {
    let left = tree.left();
    if left.is_empty() { Ok(()) } else { Err(io::Error::other(left.join(" "))) }
}

fn killed(tree: &Tree<'_>) -> io::Result<()> {
    let mut command = tree.command(&["wait", "30000"]);
    let mut child = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn()?;
    let members = || tree.left().iter().map(|name| members(&tree.folder.join(name))).sum::<usize>();
    let started = patiently(|| members() >= 2);
    child.kill()?;
    child.wait()?;
    if !started {
        return Err(io::Error::other("the command was never in a group"));
    }
    if !patiently(|| members() == 0) {
        return Err(io::Error::other(format!("{} processes go on", members())));
    }
    let told = tree.run(&["nothing"])?;
    expect(told["exit_code"] == 0, &told)?;
    nothing_left(tree)
}

fn sampled(tree: &Tree<'_>) -> io::Result<()> {
    enter(&tree.top)?;
    let told = tree.run(&["nothing"])?;
    enter(&tree.folder.join("shell"))?;
    let held = &told["enforced"]["limits"]["is"];
    expect(told["exit_code"] == 0 && *held == "partial" && !has_note(&told), &told)
}

fn patiently(done: impl Fn() -> bool) -> bool {
    let until = Instant::now() + Duration::from_secs(20);
    while Instant::now() < until {
        if done() {
            return true;
        }
        thread::sleep(Duration::from_millis(20));
    }
    false
}
