//! The supervisor is killed, at every step and at any time; nothing of it stays.
//!
//! `PALISADE_TEST_KILLS` says how often at random times, `PALISADE_TEST_FULL=1` a thousand times.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use palisade_apply::{Host, Streams, send_ahead};
use palisade_plan::build;
use palisade_testkit::Project;

use crate::{Place, as_both, pattern, permit};

/// Says to a test that it is the supervisor, and where its project lies.
pub(crate) const SUPERVISOR: &str = "PALISADE_TEST_KILLED";

/// How long everything may take to be gone: far more than it does on a busy machine.
pub(crate) const PATIENCE: Duration = Duration::from_secs(20);

/// A project that needs everything: placeholders in two folders, a protected file, a hidden one.
fn project() -> Project {
    Project::new().dir(".git/objects").file(".git/config", "[core]\n").file("secret", "x")
}

fn place(root: &Path) -> Place {
    let mut place = Place::new();
    (place.order.root, place.order.cwd) = (root.into(), root.into());
    place.order.write = vec![root.into()];
    let names = ["**/.git/hooks", "**/.git/config", "**/.bashrc", "**/.claude/commands"];
    place.order.protect = names.iter().map(|name| pattern(root, name)).collect();
    place.order.hide.push(pattern(root, "secret"));
    place
}

/// Runs sandboxes until it is killed, in a child of the test.
fn supervise(root: &Path) {
    let mut place = place(root);
    place.order.argv =
        ["/bin/sh", "-c", "setsid sleep 47.11 & sleep 0.02; exit 0"].map(str::to_owned).into();
    // In turn: with placeholders that are made and removed, and with spares.
    let spares = std::env::temp_dir().join("spares");
    let hosts = [Host::probe(), Host::probe().keeping_spares(Some(spares))];
    for (turn, host) in hosts.iter().cycle().enumerate() {
        // With namespaces that are made ahead, and with those of the start.
        if turn % 3 > 0 {
            send_ahead();
        }
        let facts = host.facts(&place.order.questions());
        let plan = build(&permit(), &place.order, &facts).unwrap();
        let outcome = host.start(&plan, Streams::default()).unwrap().wait().unwrap();
        assert_eq!(outcome.exit_code(), 0);
    }
}

/// Starts the test `name` once more, as a supervisor. `scratch` is where its own folders lie.
pub(crate) fn child(name: &str, root: &Path, scratch: &Project) -> Child {
    Command::new(std::env::current_exe().unwrap())
        .args([name, "--exact", "--test-threads=1"])
        .env("TMPDIR", scratch.root())
        .env(SUPERVISOR, root)
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap()
}

/// Processes that carry our mark in their environment or stand in the project, and reapers whose
/// supervisor is gone.
pub(crate) fn ours(root: &Path) -> Vec<String> {
    let mark = format!("{SUPERVISOR}={}", root.display());
    let processes = fs::read_dir("/proc").unwrap().flatten();
    let numbered = processes.filter(|entry| {
        entry.file_name().to_string_lossy().bytes().all(|byte| byte.is_ascii_digit())
    });
    let marked = numbered.filter_map(|entry| {
        let text = |name: &str| fs::read_to_string(entry.path().join(name)).unwrap_or_default();
        let block = fs::read(entry.path().join("environ")).unwrap_or_default();
        let cwd = fs::read_link(entry.path().join("cwd")).unwrap_or_default();
        let (name, status) = (text("comm"), text("status"));
        let is_marked = block.split(|byte| *byte == 0).any(|one| one == mark.as_bytes());
        let is_orphan = name == "pal-reaper\n" && status.contains("PPid:\t1\n");
        // One that has ended waits for the machine's own first process, which takes its time.
        let has_ended = status.contains("State:\tZ");
        let is_ours = !has_ended && (is_marked || is_orphan || cwd.starts_with(root));
        is_ours.then(|| format!("{} {}", entry.path().display(), name.trim()))
    });
    marked.collect()
}

/// What is in a folder, with the modes.
fn tree(root: &Path) -> BTreeMap<PathBuf, u32> {
    use std::os::unix::fs::MetadataExt as _;
    let mut found = BTreeMap::new();
    let mut folders = vec![root.to_owned()];
    while let Some(folder) = folders.pop() {
        // What is being removed just now is seen on the next look.
        let Ok(entries) = fs::read_dir(folder) else { continue };
        for entry in entries.flatten() {
            let Ok(stat) = fs::symlink_metadata(entry.path()) else { continue };
            if stat.is_dir() {
                folders.push(entry.path());
            }
            found.insert(entry.path(), stat.mode());
        }
    }
    found
}

/// Waits until nothing is left of a killed supervisor.
fn gone(root: &Path, before: &BTreeMap<PathBuf, u32>, mounts: &str, round: &str) {
    let begun = Instant::now();
    loop {
        let (processes, now) = (ours(root), tree(root));
        if processes.is_empty() && now == *before {
            break;
        }
        assert!(
            begun.elapsed() < PATIENCE,
            "{round}: {processes:?} live on; {:?} lie about",
            now.keys().filter(|path| !before.contains_key(*path)).collect::<Vec<_>>()
        );
        std::thread::sleep(Duration::from_millis(2));
    }
    let after = fs::read_to_string("/proc/self/mountinfo").unwrap();
    assert_eq!(after, mounts, "{round}: mounts of the host");
}

/// The numbers of a sequence that looks random and is the same each time.
fn scattered(seed: u64) -> u64 {
    let mut x = seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) ^ 0x2545_F491_4F6C_DD1D;
    x ^= x >> 33;
    x = x.wrapping_mul(0xFF51_AFD7_ED55_8CCD);
    x ^ (x >> 33)
}

#[test]
fn a_supervisor_killed_at_any_time_leaves_nothing() {
    let name = "killed::a_supervisor_killed_at_any_time_leaves_nothing";
    if let Some(root) = std::env::var_os(SUPERVISOR) {
        return supervise(Path::new(&root));
    }
    as_both(name, || {
        let full = std::env::var_os("PALISADE_TEST_FULL").map_or(100, |_| 1000);
        let kills = std::env::var("PALISADE_TEST_KILLS").ok().and_then(|n| n.parse().ok());
        let (project, scratch) = (project(), Project::new());
        let (root, before) = (project.root().to_owned(), tree(project.root()));
        let mounts = fs::read_to_string("/proc/self/mountinfo").unwrap();
        for round in 0..kills.unwrap_or(full) {
            let mut supervisor = child(name, &root, &scratch);
            // A run takes a few tens of milliseconds here; the first few are the start of it all.
            let after = Duration::from_micros(scattered(round) % 90_000);
            std::thread::sleep(after);
            supervisor.kill().unwrap();
            supervisor.wait().unwrap();
            gone(&root, &before, &mounts, &format!("round {round}, killed after {after:?}"));
        }
    });
}

/// Runs a program, and kills it at the n-th system call that it or its children make after it has
/// entered a folder. Exit 3 says that it made fewer.
const TRACER: &str = "
import ctypes, os, sys
c = ctypes.CDLL(None, use_errno=True)
def trace(request, pid, address=0, data=0):
    return c.ptrace(request, pid, ctypes.c_void_p(address), ctypes.c_void_p(data))
wanted, root, program = int(sys.argv[1]), sys.argv[2], sys.argv[3:]
read, write = os.pipe()
pid = os.fork()
if pid == 0:
    os.read(read, 1)
    os.execv(program[0], program)
# Seized, not attached: nobody gets a stop signal that would outlast us.
trace(0x4206, pid, 0, 1 | 2 | 4 | 8)
trace(0x4207, pid)
os.waitpid(pid, 0)
trace(24, pid)
os.write(write, b'x')
seen, begun = 0, False
while True:
    who, status = os.waitpid(-1, 0x40000000)
    if not os.WIFSTOPPED(status):
        if who == pid: sys.exit(3)
        continue
    number, deliver = os.WSTOPSIG(status), 0
    if number == 0x85:
        begun = begun or os.readlink(f'/proc/{pid}/cwd') == root
        seen += begun
        if seen == wanted:
            os.kill(pid, 9)
            sys.exit(0)
    elif not status >> 16 and number != 5: deliver = number
    trace(24, who, 0, deliver)
";

#[test]
fn a_supervisor_killed_at_each_step_leaves_nothing() {
    let name = "killed::a_supervisor_killed_at_each_step_leaves_nothing";
    if let Some(root) = std::env::var_os(SUPERVISOR) {
        let place = place(Path::new(&root));
        std::env::set_current_dir(&root).unwrap();
        assert_eq!(place.sh("exit 0").exit_code(), 0);
        return;
    }
    as_both(name, || {
        let stride = std::env::var_os("PALISADE_TEST_FULL").map_or(61, |_| 2);
        let (project, scratch) = (project(), Project::new());
        let (root, before) = (project.root().to_owned(), tree(project.root()));
        let mounts = fs::read_to_string("/proc/self/mountinfo").unwrap();
        let program = std::env::current_exe().unwrap();
        let mut rounds = 0;
        for at in (1..).step_by(stride) {
            let traced = Command::new("/usr/bin/python3")
                .args(["-c", TRACER, &at.to_string()])
                .args([&root, &program])
                .args([name, "--exact", "--test-threads=1"])
                .env(SUPERVISOR, &root)
                .env("TMPDIR", scratch.root())
                .output()
                .unwrap();
            gone(&root, &before, &mounts, &format!("at system call {at}"));
            match traced.status.code() {
                Some(0) => rounds += 1,
                Some(3) => break,
                other => panic!("{other:?}: {}", String::from_utf8_lossy(&traced.stderr)),
            }
        }
        // The walls alone are some hundreds of calls, seen at their beginning and their end.
        assert!(rounds * stride > 400, "{rounds} rounds");
    });
}

#[test]
fn a_doubly_killed_run_is_swept_by_the_next() {
    let name = "killed::a_doubly_killed_run_is_swept_by_the_next";
    if let Some(root) = std::env::var_os(SUPERVISOR) {
        return supervise(Path::new(&root));
    }
    as_both(name, || {
        let (project, scratch) = (project(), Project::new());
        let (root, before) = (project.root().to_owned(), tree(project.root()));
        let mounts = fs::read_to_string("/proc/self/mountinfo").unwrap();
        for round in 0..5 {
            let mut supervisor = child(name, &root, &scratch);
            let begun = Instant::now();
            let janitor = loop {
                assert!(begun.elapsed() < PATIENCE, "round {round}: no janitor");
                let there = project.path(".bashrc").exists().then(|| janitor_of(supervisor.id()));
                if let Some(pid) = there.flatten() {
                    break pid;
                }
            };
            // The janitor first: afterwards nobody is left to clean up.
            rustix::process::kill_process(janitor, rustix::process::Signal::KILL).unwrap();
            supervisor.kill().unwrap();
            supervisor.wait().unwrap();
            while !ours(&root).is_empty() {
                assert!(begun.elapsed() < PATIENCE, "round {round}: {:?}", ours(&root));
            }
            let outcome = place(&root).sh("echo evil > .bashrc; echo fine");
            assert_eq!(outcome.exit_code(), 0, "{}", crate::all(&outcome));
            gone(&root, &before, &mounts, &format!("round {round}"));
        }
    });
}

#[test]
fn a_janitor_outlives_the_thread_that_started_it() {
    let name = "killed::a_janitor_outlives_the_thread_that_started_it";
    if let Some(root) = std::env::var_os(SUPERVISOR) {
        // Larger than what the C library keeps of ended threads: its memory is gone with it.
        let thread = std::thread::Builder::new().stack_size(64 << 20).spawn(move || {
            let mut place = place(Path::new(&root));
            place.order.argv = ["/bin/sleep", "47.12"].map(str::to_owned).into();
            let host = Host::probe();
            let plan = build(&permit(), &place.order, &host.facts(&place.order.questions()));
            (host.start(&plan.unwrap(), Streams::default()).unwrap(), place)
        });
        let (running, place) = thread.unwrap().join().unwrap();
        fs::write(std::env::temp_dir().join("started"), "").unwrap();
        running.wait().unwrap();
        drop(place);
        return;
    }
    as_both(name, || {
        let (project, scratch) = (project(), Project::new());
        let (root, before) = (project.root().to_owned(), tree(project.root()));
        let mounts = fs::read_to_string("/proc/self/mountinfo").unwrap();
        let mut supervisor = child(name, &root, &scratch);
        let begun = Instant::now();
        while !scratch.path("started").exists() {
            assert!(begun.elapsed() < PATIENCE, "it never started");
            std::thread::sleep(Duration::from_millis(1));
        }
        assert!(project.path(".bashrc").exists(), "a name is kept");
        supervisor.kill().unwrap();
        supervisor.wait().unwrap();
        gone(&root, &before, &mounts, "after the end of the thread");
    });
}

#[test]
fn a_janitor_gives_names_back_in_folders_that_were_shut() {
    let name = "killed::a_janitor_gives_names_back_in_folders_that_were_shut";
    if let Some(root) = std::env::var_os(SUPERVISOR) {
        let mut place = place(Path::new(&root));
        let script = "chmod 111 .git; chmod 555 .; exec sleep 47.13";
        place.order.argv = ["/bin/sh", "-c", script].map(str::to_owned).into();
        drop(crate::started(&place, Streams::default()).wait());
        return;
    }
    as_both(name, || {
        use std::os::unix::fs::PermissionsExt as _;
        let (project, scratch) = (project(), Project::new());
        let root = project.root().to_owned();
        let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o7777;
        let mut supervisor = child(name, &root, &scratch);
        let begun = Instant::now();
        while mode(&root) != 0o555 {
            assert!(begun.elapsed() < PATIENCE, "it never started");
            std::thread::sleep(Duration::from_millis(1));
        }
        assert!(project.path(".bashrc").exists(), "a name is kept");
        supervisor.kill().unwrap();
        supervisor.wait().unwrap();
        let begun = Instant::now();
        while !ours(&root).is_empty() {
            assert!(begun.elapsed() < PATIENCE, "{:?} live on", ours(&root));
            std::thread::sleep(Duration::from_millis(1));
        }
        assert_eq!([mode(&root), mode(&project.path(".git"))], [0o555, 0o111], "as it was left");
        for folder in [&root, &project.path(".git")] {
            fs::set_permissions(folder, fs::Permissions::from_mode(0o755)).unwrap();
        }
        let found: Vec<_> = tree(&root).into_keys().collect();
        let expected = [".git", ".git/config", ".git/objects", "secret"];
        assert_eq!(found, expected.map(|path| project.path(path)), "nothing else lies about");
    });
}

#[test]
fn a_janitor_sets_aside_what_nothing_kept_from_being_made() {
    let name = "killed::a_janitor_sets_aside_what_nothing_kept_from_being_made";
    if let Some(root) = std::env::var_os(SUPERVISOR) {
        let mut place = place(Path::new(&root));
        let names = ["**/.git/commondir", "**/.git/config.worktree"];
        let patterns = names.map(|name| pattern(Path::new(&root), name));
        place.order.protect.extend(patterns);
        let script = "echo ../evil > .git/commondir; mkdir .git/config.worktree; \
                      for n in '' -2 -3 -4 -5 -6 -7 -8 -9 -10 -11; do \
                      echo mine > .git/commondir.set-aside$n; done; \
                      chmod 111 .git; exec sleep 47.14";
        place.order.argv = ["/bin/sh", "-c", script].map(str::to_owned).into();
        drop(crate::started(&place, Streams::default()).wait());
        return;
    }
    as_both(name, || {
        use std::os::unix::fs::PermissionsExt as _;
        let (project, scratch) = (project(), Project::new());
        let root = project.root().to_owned();
        let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o7777;
        let mut supervisor = child(name, &root, &scratch);
        let begun = Instant::now();
        while mode(&project.path(".git")) != 0o111 {
            assert!(begun.elapsed() < PATIENCE, "it never started");
            std::thread::sleep(Duration::from_millis(1));
        }
        supervisor.kill().unwrap();
        supervisor.wait().unwrap();
        let begun = Instant::now();
        while !ours(&root).is_empty() {
            assert!(begun.elapsed() < PATIENCE, "{:?} live on", ours(&root));
            std::thread::sleep(Duration::from_millis(1));
        }
        fs::set_permissions(project.path(".git"), fs::Permissions::from_mode(0o755)).unwrap();
        let is = |path: &str| fs::read_to_string(project.path(path)).unwrap();
        assert!(!project.path(".git/commondir").exists());
        assert!(!project.path(".git/config.worktree").exists());
        let names = fs::read_dir(project.path(".git")).unwrap().map(|it| it.unwrap().path());
        let aside = names.filter(|path| fs::read(path).is_ok_and(|text| text == b"../evil\n"));
        assert_eq!(aside.count(), 1, "also where other names were taken");
        assert_eq!(is(".git/commondir.set-aside"), "mine\n", "nothing is lost");
        assert!(project.path(".git/config.worktree.set-aside").is_dir());
    });
}

/// Returns the janitor among the children of a supervisor.
pub(crate) fn janitor_of(supervisor: u32) -> Option<rustix::process::Pid> {
    let threads = fs::read_dir(format!("/proc/{supervisor}/task")).ok()?.flatten();
    let lists = threads.filter_map(|one| fs::read_to_string(one.path().join("children")).ok());
    let children: Vec<String> = lists
        .flat_map(|list| list.split_whitespace().map(str::to_owned).collect::<Vec<_>>())
        .collect();
    let is_janitor = |pid: &&String| {
        fs::read_to_string(format!("/proc/{pid}/comm"))
            .is_ok_and(|name| name.trim() == "pal-janitor")
    };
    let pid = children.iter().find(is_janitor)?.parse().ok()?;
    rustix::process::Pid::from_raw(pid)
}
