//! A person in front of a command: two terminals, and what passes between them.

use std::fs;
use std::os::fd::{AsFd as _, OwnedFd};
use std::os::unix::fs::PermissionsExt as _;
use std::process::{Child, Command};
use std::time::{Duration, Instant};

use palisade_apply::{Host, Streams};
use palisade_plan::build;
use palisade_testkit::Project;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::process::{Pid, Signal, kill_process};
use rustix::pty::{OpenptFlags, ioctl_tiocgptpeer, openpt, unlockpt};
use rustix::termios::{LocalModes, OptionalActions, Winsize, tcgetattr, tcsetattr, tcsetwinsize};

use crate::{Place, as_both, permit};

/// Says to a test that it is the supervisor, and where to write what became of the command.
const SUPERVISOR: &str = "PALISADE_TEST_TERMINAL";

/// Longer than anything here takes, on the slowest machine.
const PATIENCE: Duration = Duration::from_secs(40);

/// A person: the other side of a terminal in front of which a supervisor runs.
struct Person {
    terminal: OwnedFd,
    supervisor: Child,
    seen: String,
    notes: Project,
}

impl Person {
    /// Starts the test `name` once more, as a supervisor with a terminal.
    fn before(name: &str) -> Self {
        let flags = OpenptFlags::RDWR | OpenptFlags::NOCTTY | OpenptFlags::CLOEXEC;
        let terminal = openpt(flags).unwrap();
        unlockpt(&terminal).unwrap();
        resize(&terminal, 30, 100);
        let theirs = || ioctl_tiocgptpeer(&terminal, flags).unwrap();
        let notes = Project::new();
        fs::set_permissions(notes.root(), fs::Permissions::from_mode(0o777)).unwrap();
        let supervisor = Command::new("setsid")
            .args(["--ctty", "--wait"])
            // Who started these tests may ignore it, and what is ignored stays so.
            .args(["env", "--default-signal=HUP"])
            .arg(std::env::current_exe().unwrap())
            .args([name, "--exact", "--nocapture", "--test-threads=1"])
            .env(SUPERVISOR, notes.path("outcome"))
            .stdin(theirs())
            .stdout(theirs())
            .stderr(theirs())
            .spawn()
            .unwrap();
        Self { terminal, supervisor, seen: String::new(), notes }
    }

    fn types(&self, keys: &str) {
        rustix::io::write(&self.terminal, keys.as_bytes()).unwrap();
    }

    /// Waits until `text` was shown, and forgets what came before it.
    fn sees(&mut self, text: &str) {
        let begun = Instant::now();
        while !self.seen.contains(text) {
            assert!(begun.elapsed() < PATIENCE, "no {text:?} in {:?}", self.seen);
            self.look();
        }
        let at = self.seen.find(text).unwrap() + text.len();
        self.seen.drain(..at);
    }

    fn look(&mut self) -> bool {
        let mut watched = [PollFd::from_borrowed_fd(self.terminal.as_fd(), PollFlags::IN)];
        poll(&mut watched, Some(&Timespec { tv_sec: 0, tv_nsec: 50_000_000 })).unwrap();
        let mut chunk = [0; 4096];
        if !watched[0].revents().contains(PollFlags::IN) {
            return false;
        }
        let Ok(read) = rustix::io::read(&self.terminal, &mut chunk) else { return false };
        self.seen += &String::from_utf8_lossy(&chunk[..read]);
        true
    }

    /// Returns whether keys are echoed and gathered into lines, as a shell leaves it.
    fn is_usual(&self) -> bool {
        let usual = LocalModes::ECHO | LocalModes::ICANON | LocalModes::ISIG;
        tcgetattr(&self.terminal).unwrap().local_modes.contains(usual)
    }

    fn until(&self, what: &str, holds: impl Fn(&Self) -> bool) {
        let begun = Instant::now();
        while !holds(self) {
            assert!(begun.elapsed() < PATIENCE, "never: {what}; {:?}", self.seen);
            std::thread::sleep(Duration::from_millis(10));
        }
    }

    fn state(&self) -> char {
        let stat = fs::read_to_string(format!("/proc/{}/stat", self.supervisor.id())).unwrap();
        stat.rsplit(") ").next().unwrap().chars().next().unwrap()
    }

    /// Waits for the end, and returns what the supervisor said of it.
    fn ends(&mut self) -> String {
        let begun = Instant::now();
        while self.supervisor.try_wait().unwrap().is_none() {
            assert!(begun.elapsed() < PATIENCE, "it does not end: {:?}", self.seen);
            self.look();
        }
        while self.look() {}
        assert!(self.is_usual(), "the terminal is as it was");
        fs::read_to_string(self.notes.path("outcome")).unwrap()
    }
}

impl Drop for Person {
    fn drop(&mut self) {
        self.supervisor.kill().ok();
        self.supervisor.wait().ok();
    }
}

fn resize(terminal: &OwnedFd, rows: u16, columns: u16) {
    let size = Winsize { ws_row: rows, ws_col: columns, ws_xpixel: 0, ws_ypixel: 0 };
    tcsetwinsize(terminal, size).unwrap();
}

/// Runs `argv` as the supervisor, if this process is one; `change` is made to the order before.
fn supervises(argv: &[&str], change: impl Fn(&mut Place)) -> bool {
    let Some(notes) = std::env::var_os(SUPERVISOR) else { return false };
    let mut place = Place::new();
    place.order.argv = argv.iter().map(|word| (*word).to_owned()).collect();
    place.order.environment.push(("TERM".into(), "xterm".into()));
    change(&mut place);
    let host = Host::probe();
    let plan = build(&permit(), &place.order, &host.facts(&place.order.questions())).unwrap();
    let running = host.start(&plan, inherited()).unwrap();
    let outcome = running.wait_attended().unwrap();
    fs::write(notes, format!("{:?}", outcome.end)).unwrap();
    true
}

#[expect(clippy::disallowed_methods, reason = "here we are whoever calls, and that one has them")]
fn inherited() -> Streams {
    let (one, two, three) = (std::io::stdin(), std::io::stdout(), std::io::stderr());
    Streams::over(one.as_fd(), two.as_fd(), three.as_fd()).unwrap()
}

fn sh(script: &str) -> bool {
    supervises(&["/bin/sh", "-c", script], |_| {})
}

#[test]
fn the_terminal_inside_is_its_own_and_follows_the_size() {
    const NAME: &str = "terminal::the_terminal_inside_is_its_own_and_follows_the_size";
    if sh(
        "tty; test -t 0 && test -t 1 && test -t 2 && echo three; stty size; ls -A /dev/pts | cat; \
           trap 'stty size' WINCH; echo ready; until read a; do :; done; \
           echo got \"$a\" > /dev/tty; exit 3",
    ) {
        return;
    }
    as_both(NAME, || {
        let mut person = Person::before(NAME);
        person.sees("/dev/pts/0\r\nthree\r\n30 100\r\n0\r\nptmx\r\nready\r\n");
        assert!(!person.is_usual(), "keys are handed over as they are");
        resize(&person.terminal, 41, 123);
        person.sees("41 123");
        person.types("a line\r");
        person.sees("a line\r\ngot a line");
        assert_eq!(person.ends(), "Exited(3)");
    });
}

#[test]
fn one_interrupt_is_the_commands_and_two_end_it() {
    const NAME: &str = "terminal::one_interrupt_is_the_commands_and_two_end_it";
    if sh("trap 'echo caught' INT; echo ready; while :; do sleep 0.05; done") {
        return;
    }
    as_both(NAME, || {
        let mut person = Person::before(NAME);
        person.sees("ready");
        person.types("\x03");
        person.sees("caught");
        std::thread::sleep(Duration::from_millis(2100));
        person.types("\x03");
        person.sees("caught");
        person.types("\x03");
        assert_eq!(person.ends(), "Stopped");
    });
}

#[test]
fn a_program_that_takes_every_key_takes_interrupts_too() {
    const NAME: &str = "terminal::a_program_that_takes_every_key_takes_interrupts_too";
    if sh("stty -isig -icanon -echo; echo ready; head -c 4 | od -An -c; stty sane; exit 5") {
        return;
    }
    as_both(NAME, || {
        let mut person = Person::before(NAME);
        person.sees("ready");
        person.types("\x03\x03\x1a\x03");
        person.sees("003 003 032 003");
        assert_eq!(person.ends(), "Exited(5)");
    });
}

#[test]
fn signals_to_the_supervisor_reach_the_command() {
    const NAME: &str = "terminal::signals_to_the_supervisor_reach_the_command";
    if sh("trap 'echo ended; exit 9' TERM; trap 'echo hung up' HUP; echo ready; \
           while :; do sleep 0.05; done")
    {
        return;
    }
    as_both(NAME, || {
        let mut person = Person::before(NAME);
        person.sees("ready");
        let pid = Pid::from_raw(person.supervisor.id().cast_signed()).unwrap();
        kill_process(pid, Signal::HUP).unwrap();
        person.sees("hung up");
        std::thread::sleep(Duration::from_millis(2100));
        kill_process(pid, Signal::TERM).unwrap();
        person.sees("ended");
        assert_eq!(person.ends(), "Exited(9)");
    });
}

#[test]
fn a_command_sleeps_and_wakes_with_its_supervisor() {
    const NAME: &str = "terminal::a_command_sleeps_and_wakes_with_its_supervisor";
    if sh("echo ready; read a; echo got $a; exit 6") {
        return;
    }
    as_both(NAME, || {
        let mut person = Person::before(NAME);
        person.sees("ready");
        person.types("\x1a");
        person.until("asleep", |person| person.state() == 'T');
        assert!(person.is_usual(), "the terminal is somebody else's meanwhile");
        let pid = Pid::from_raw(person.supervisor.id().cast_signed()).unwrap();
        kill_process(pid, Signal::CONT).unwrap();
        person.until("awake", |person| !person.is_usual());
        person.types("more\r");
        person.sees("got more");
        assert_eq!(person.ends(), "Exited(6)");
    });
}

#[test]
fn a_shell_inside_has_jobs_of_its_own() {
    const NAME: &str = "terminal::a_shell_inside_has_jobs_of_its_own";
    if supervises(&["/bin/bash", "--norc", "--noprofile", "-i"], |place| {
        place.order.environment.push(("PS1".into(), "prompt> ".into()));
    }) {
        return;
    }
    as_both(NAME, || {
        let mut person = Person::before(NAME);
        person.sees("prompt> ");
        person.types("sleep 100\r");
        std::thread::sleep(Duration::from_millis(500));
        person.types("\x1a");
        person.sees("Stopped");
        assert_ne!(person.state(), 'T', "only the job sleeps");
        person.types("fg\r");
        std::thread::sleep(Duration::from_millis(500));
        person.types("\x03");
        person.sees("prompt> ");
        person.types("kill %1; exit 4\r");
        assert_eq!(person.ends(), "Exited(4)");
    });
}

#[test]
fn what_reaches_beyond_the_screen_is_not_shown_and_time_gives_the_terminal_back() {
    const NAME: &str =
        "terminal::what_reaches_beyond_the_screen_is_not_shown_and_time_gives_the_terminal_back";
    let script = "printf 'a\\033]52;c;ZXZpbA==\\007b\\033]0;title\\007c\\033[21td\\033[1me\\n'; \
        sleep 100";
    if supervises(&["/bin/sh", "-c", script], |place| {
        place.order.bounds.time = Some(Duration::from_secs(2));
    }) {
        return;
    }
    as_both(NAME, || {
        let mut person = Person::before(NAME);
        person.sees("abcd\x1b[1me");
        assert_eq!(person.ends(), "TimedOut");
        assert!(!person.seen.contains("title"), "{:?}", person.seen);
    });
}

#[test]
fn only_what_is_a_terminal_outside_is_one_inside() {
    const NAME: &str = "terminal::only_what_is_a_terminal_outside_is_one_inside";
    if let Some(notes) = std::env::var_os(SUPERVISOR) {
        let place = Place::new();
        let streams = Streams { stdin: inherited().stdin, ..Streams::default() };
        let script = "test -t 0 && ! test -t 1 && ! test -t 2 && read a && echo \"$a\" && seq 9999 \
                      && cat";
        let outcome = place.try_run(&["/bin/sh", "-c", script], streams).unwrap();
        let text = String::from_utf8_lossy(&outcome.stdout.bytes);
        let (first, last) = (text.lines().next().unwrap(), text.lines().last().unwrap());
        fs::write(notes, format!("{first} {} {last}", text.lines().count())).unwrap();
        return;
    }
    as_both(NAME, || {
        let mut person = Person::before(NAME);
        // Where output goes elsewhere, somebody else may use the terminal: it stays as it is.
        person.types("typed\rlast\r\x04");
        assert_eq!(person.ends(), "typed 10001 last");
    });
}

#[test]
fn a_pager_behind_a_command_keeps_its_keys() {
    const NAME: &str = "terminal::a_pager_behind_a_command_keeps_its_keys";
    if let Some(notes) = std::env::var_os(SUPERVISOR) {
        let place = Place::new();
        let Streams { stdin, stderr, .. } = inherited();
        let streams = Streams { stdin, stderr, ..Streams::default() };
        let script = "echo ready >&2; read a; echo \"$a\"; echo done >&2; sleep 1";
        let outcome = place.try_run(&["/bin/sh", "-c", script], streams).unwrap();
        fs::write(notes, outcome.stdout.bytes).unwrap();
        return;
    }
    as_both(NAME, || {
        let mut person = Person::before(NAME);
        person.sees("ready\r\n");
        assert!(person.is_usual());
        let modes = tcgetattr(&person.terminal).unwrap();
        let mut keys = modes.clone();
        keys.local_modes.remove(LocalModes::ICANON);
        tcsetattr(&person.terminal, OptionalActions::Now, &keys).unwrap();
        person.types("q");
        std::thread::sleep(Duration::from_millis(300));
        let flags = OpenptFlags::RDWR | OpenptFlags::NOCTTY | OpenptFlags::CLOEXEC;
        let pager = ioctl_tiocgptpeer(&person.terminal, flags).unwrap();
        let mut key = [0; 1];
        assert_eq!(rustix::io::read(&pager, &mut key), Ok(1), "it is there");
        assert_eq!(&key, b"q");
        tcsetattr(&person.terminal, OptionalActions::Now, &modes).unwrap();
        person.types("a line\r");
        person.sees("a line\r\n");
        person.sees("done\r\n");
        assert_eq!(person.ends(), "a line\n");
    });
}
