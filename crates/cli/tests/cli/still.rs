//! `palisade run --tasks` when whoever reads its output stands still.

use std::fs;
use std::io::Read as _;
use std::path::Path;
use std::process::{Child, ExitStatus, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use palisade_testkit::Home;
use rustix::process::{Pid, Signal, kill_process};

use crate::kit::{PALISADE, World, as_both};

/// One prints without end, one waits; something that each has started beats in a file.
const TASKS: &str = "tasks:
  - { id: loud, workspace: loud, command: sh go.sh yes }
  - { id: calm, workspace: calm, command: sh go.sh }
  - { id: late, workspace: late, depends_on: [calm], command: touch begun }
";
const GO: &str = "sh beat.sh &\ntouch begun\n$1\nsleep 600\n";
const BEAT: &str = "for i in $(seq 6000); do echo $i > beat; sleep 0.05; done\n";

fn begun(from: World) -> (World, Child) {
    let mut home = Home::new().file("t/tasks.yaml", TASKS);
    for name in ["loud", "calm", "late"] {
        home = home.file(format!("t/{name}/go.sh"), GO).file(format!("t/{name}/beat.sh"), BEAT);
    }
    let world = World { home, ..from };
    let mut command = world.command(PALISADE);
    command.args(["run", "--tasks", "tasks.yaml"]).current_dir(world.home.path("t"));
    let child = command.stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
    for name in ["loud", "calm"] {
        let until = Instant::now() + Duration::from_secs(60);
        while !world.home.path(format!("t/{name}/begun")).exists() {
            assert!(Instant::now() < until, "{name} never began");
            thread::sleep(Duration::from_millis(10));
        }
    }
    // Until pipes and buffers are full.
    thread::sleep(Duration::from_secs(1));
    (world, child)
}

fn send(child: &Child, signal: Signal) {
    kill_process(Pid::from_child(child), signal).unwrap();
}

/// Waits for the end, and not for ever.
fn ended(child: &mut Child, within: Duration) -> Option<ExitStatus> {
    let until = Instant::now() + within;
    loop {
        match child.try_wait().unwrap() {
            None if Instant::now() < until => thread::sleep(Duration::from_millis(20)),
            ended => return ended,
        }
    }
}

/// Whether something goes on writing there.
fn beats(folder: &Path) -> bool {
    let look = || fs::read_to_string(folder.join("beat")).unwrap_or_default();
    let before = look();
    thread::sleep(Duration::from_millis(600));
    look() != before
}

#[test]
fn a_second_signal_ends_tasks_whose_reader_stands_still() {
    as_both(|from| {
        let (world, mut child) = begun(from);
        let places = ["t/loud", "t/calm"].map(|place| world.home.path(place));
        assert!(places.iter().all(|place| beats(place)), "both are at work");
        send(&child, Signal::TERM);
        thread::sleep(Duration::from_secs(1));
        let still = places.iter().any(|place| beats(place));
        send(&child, Signal::INT);
        let status = ended(&mut child, Duration::from_secs(20));
        if status.is_none() {
            child.kill().unwrap();
            child.wait().unwrap();
        }
        assert!(!still, "the first ends what runs");
        assert_eq!(status.expect("the second ends the command").code(), Some(143));
        assert!(!places.iter().any(|place| beats(place)), "nothing is left");
        assert!(!world.home.path("t/late/begun").exists());
    });
}

#[test]
fn who_reads_on_after_a_signal_gets_the_rest() {
    let (world, mut child) = begun(World::new());
    send(&child, Signal::TERM);
    assert!(ended(&mut child, Duration::from_secs(2)).is_none(), "somebody may still read");
    let mut out = child.stdout.take().unwrap();
    let reader = thread::spawn(move || {
        let mut bytes = Vec::new();
        out.read_to_end(&mut bytes).map(|_| bytes)
    });
    let status = ended(&mut child, Duration::from_secs(30));
    if status.is_none() {
        child.kill().unwrap();
    }
    assert_eq!(status.and_then(|status| status.code()), Some(143));
    let printed = reader.join().unwrap().unwrap();
    assert!(printed.starts_with(b"loud| y\nloud| y\n") && printed.ends_with(b"\n"));
    assert!(!beats(&world.home.path("t/loud")));
}
