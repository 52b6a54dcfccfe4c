//! Who the command is, what it starts with, and how it ends.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use palisade_apply::{End, Host, Streams};
use palisade_plan::build;
use palisade_testkit::Project;

use crate::hostile::prepared;
use crate::{Place, all, as_both, out, pattern, permit, started};

#[test]
fn a175_no_capability_in_any_set_no_new_privileges_and_a_filter() {
    as_both("launch::a175_no_capability_in_any_set_no_new_privileges_and_a_filter", || {
        let place = Place::new();
        let outcome = place.sh("grep -E '^(Cap|NoNewPrivs|Seccomp:)' /proc/self/status; id -u");
        let own = rustix::process::geteuid().as_raw();
        let sets: String = ["Inh", "Prm", "Eff", "Bnd", "Amb"]
            .iter()
            .map(|set| format!("Cap{set}:\t0000000000000000\n"))
            .collect();
        let expected = format!("{sets}NoNewPrivs:\t1\nSeccomp:\t2\n{own}\n");
        assert_eq!(out(&outcome), expected, "{}", all(&outcome));
    });
}

#[test]
fn e055_a_program_with_set_user_id_gains_nothing() {
    as_both("launch::e055_a_program_with_set_user_id_gains_nothing", || {
        let place = Place::new();
        fs::copy("/usr/bin/id", place.project.path("own")).unwrap();
        let mode = fs::Permissions::from_mode(0o4755);
        fs::set_permissions(place.project.path("own"), mode).unwrap();
        let outcome = place.sh("./own -u; ./own -r -u; \
             for p in /bin/su /usr/bin/passwd /bin/mount; do test -u $p && echo set; done; \
             grep -E '^(CapEff|NoNewPrivs)' /proc/self/status");
        let own = rustix::process::geteuid().as_raw();
        assert!(out(&outcome).starts_with(&format!("{own}\n{own}\n")), "{}", all(&outcome));
        assert!(out(&outcome).ends_with("CapEff:\t0000000000000000\nNoNewPrivs:\t1\n"));
    });
}

#[test]
fn e055_no_file_is_left_that_runs_as_its_owner() {
    as_both("launch::e055_no_file_is_left_that_runs_as_its_owner", || {
        let place = Place::new();
        let script = r#"
import ctypes, os, errno
libc = ctypes.CDLL(None, use_errno=True)
def told(number, *args):
    return errno.errorcode.get(ctypes.get_errno(), '0') if libc.syscall(number, *args) < 0 else 'done'
f = os.open('f', os.O_CREAT | os.O_RDWR, 0o755)
print(told(90, b'f', 0o4755), told(91, f, 0o4755), told(268, -100, b'f', 0o4755),
      told(452, -100, b'f', 0o4755, 0), told(85, b'g', 0o4755), told(133, b'h', 0o104755, 0),
      told(259, -100, b'h', 0o104755, 0), told(2, b'i', os.O_CREAT, 0o4755),
      told(257, -100, b'i', os.O_CREAT, 0o4755), told(437, -100, b'i', None, 24))
print(told(90, b'f', 0o700), told(257, -100, b'f', 0, 0o4755), told(257, -100, b'j', os.O_CREAT, 0o755))
"#;
        let outcome = place.run(&["/usr/bin/python3", "-c", script]);
        let refused = format!("{} ENOSYS\n", ["EPERM"; 9].join(" "));
        assert_eq!(out(&outcome), format!("{refused}done done done\n"), "{}", all(&outcome));
    });
}

/// A user's own group may be handed on by folders, and no filter sees what is a folder.
#[test]
fn no_file_is_left_that_runs_as_roots_group() {
    as_both("launch::no_file_is_left_that_runs_as_roots_group", || {
        let place = Place::new();
        let script = r#"
import ctypes, os, errno
libc = ctypes.CDLL(None, use_errno=True)
def told(number, *args):
    return errno.errorcode.get(ctypes.get_errno(), '0') if libc.syscall(number, *args) < 0 else 'done'
f = os.open('f', os.O_CREAT | os.O_RDWR, 0o755); os.mkdir('d', 0o2755)
print(told(85, b'g', 0o2755), told(133, b'h', 0o102755, 0), told(259, -100, b'h', 0o102755, 0),
      told(2, b'i', os.O_CREAT, 0o2755), told(257, -100, b'i', os.O_CREAT, 0o2755))
print(told(90, b'd', 0o2755), told(91, f, 0o2755), told(268, -100, b'f', 0o2755),
      told(452, -100, b'f', 0o2755, 0))
print(told(90, b'd', 0o755), told(91, f, 0o755))
"#;
        let outcome = place.run(&["/usr/bin/python3", "-c", script]);
        let is_root = rustix::process::geteuid().is_root();
        let marked = [if is_root { "EPERM" } else { "done" }; 4].join(" ");
        let made = ["EPERM"; 5].join(" ");
        assert_eq!(out(&outcome), format!("{made}\n{marked}\ndone done\n"), "{}", all(&outcome));
    });
}

#[test]
fn a029_only_the_environment_of_the_order_is_seen() {
    as_both("launch::a029_only_the_environment_of_the_order_is_seen", || {
        let place = Place::new();
        let outcome = place.run(&["env"]);
        let mut names: Vec<String> =
            out(&outcome).lines().filter_map(|line| Some(line.split_once('=')?.0.into())).collect();
        names.sort();
        assert_eq!(names, ["HOME", "PATH", "TMPDIR"], "{}", all(&outcome));
        // Cargo sets these for every test: they stand for the secrets of a caller.
        assert!(std::env::vars().count() > 3);
    });
}

#[test]
fn a030_a_missing_program_is_an_outcome() {
    as_both("launch::a030_a_missing_program_is_an_outcome", || {
        let place =
            Place::with(Project::new().file("not-executable", "x").mode("not-executable", 0o644));
        for program in ["no-such-program", "/no/such/program", "./absent"] {
            let outcome = place.run(&[program]);
            assert_eq!((outcome.end, outcome.exit_code()), (End::NotFound, 127), "{program}");
        }
        let outcome = place.run(&["./not-executable"]);
        assert_eq!((outcome.end, outcome.exit_code()), (End::NotStarted(13), 126));
    });
}

#[test]
fn a031_codes_are_reported_unchanged_and_signals_are_told_apart() {
    as_both("launch::a031_codes_are_reported_unchanged_and_signals_are_told_apart", || {
        let place = Place::new();
        for code in [0, 1, 42, 255] {
            let outcome = place.sh(&format!("exit {code}"));
            assert_eq!((outcome.end, outcome.exit_code()), (End::Exited(code), code));
        }
        for (name, number) in [("KILL", 9), ("TERM", 15), ("SEGV", 11), ("PIPE", 13)] {
            let outcome = place.sh(&format!("kill -{name} $$"));
            assert_eq!((outcome.end, outcome.exit_code()), (End::Signalled(number), 128 + number));
        }
        assert_eq!(place.sh("exit 143").end, End::Exited(143));
    });
}

#[test]
fn a065_texts_reach_the_shell_unchanged() {
    as_both("launch::a065_texts_reach_the_shell_unchanged", || {
        let place = Place::new();
        let outcome =
            place.sh("echo 'a \"b\"' && echo \"c'd\"\nprintf '%s|' e\\ f '$x' \"`echo g`\"");
        assert_eq!(out(&outcome), "a \"b\"\nc'd\ne f|$x|g|", "{}", all(&outcome));
    });
}

#[test]
fn a115_arguments_reach_the_program_unchanged() {
    as_both("launch::a115_arguments_reach_the_program_unchanged", || {
        let place = Place::new();
        let words = ["a b", "'", "\"", "$HOME", "*", ";", "&&", "\n", "", "é\u{202e}"];
        let mut argv = vec!["printf", "%s|"];
        argv.extend(words);
        let outcome = place.run(&argv);
        assert_eq!(out(&outcome), words.map(|word| format!("{word}|")).concat());
    });
}

#[test]
fn a130_everything_dies_with_the_command_and_the_status_is_its_own() {
    as_both("launch::a130_everything_dies_with_the_command_and_the_status_is_its_own", || {
        let place = Place::new();
        // Nobody else on the machine sleeps for just this long.
        let long = format!("sleep {}", 1_000_000 + std::process::id());
        let outcome = place.sh(&format!(
            "setsid sh -c 'trap \"\" TERM HUP; ({long}; echo late > late) & {long}' \
             >/dev/null 2>&1 & sleep 0.1; exit 7"
        ));
        assert_eq!(outcome.end, End::Exited(7), "{}", all(&outcome));
        assert!(outcome.duration < Duration::from_secs(50));
        assert!(!place.project.path("late").exists());
        assert!(!alive(&long), "a descendant survived");
    });
}

/// Returns whether any process of this user runs with these words.
fn alive(words: &str) -> bool {
    let words = words.replace(' ', "\0");
    let processes = fs::read_dir("/proc").unwrap().flatten();
    let lines = processes.filter_map(|entry| fs::read(entry.path().join("cmdline")).ok());
    lines.into_iter().any(|line| String::from_utf8_lossy(&line).trim_end_matches('\0') == words)
}

#[test]
fn e047_the_first_process_shows_nothing_of_the_supervisor() {
    as_both("launch::e047_the_first_process_shows_nothing_of_the_supervisor", || {
        let place = Place::new();
        let outcome = place.sh("for f in environ mem maps exe cwd root fd stack; do \
               cat /proc/1/$f 2>/dev/null | head -c 1; ls -l /proc/1/$f/ 2>/dev/null; done; \
             readlink /proc/1/exe /proc/1/cwd /proc/1/root; \
             grep -c . /proc/self/environ; ls -d /proc/[0-9]* | wc -l");
        let lines: Vec<_> = out(&outcome).lines().map(str::to_owned).collect();
        assert_eq!(lines.len(), 2, "{}", all(&outcome));
        let seen: usize = lines[1].trim().parse().unwrap();
        assert!(seen <= 4, "only this sandbox is seen: {seen}");
        let outcome = place.python(
            "import ctypes\n\
             c = ctypes.CDLL(None, use_errno=True)\n\
             for pid in (1,):\n\
             \x20   r = c.ptrace(16, pid, 0, 0); print(r, ctypes.get_errno())\n\
             b = ctypes.create_string_buffer(8)\n\
             print(c.process_vm_readv(1, b, 1, b, 1, 0), ctypes.get_errno())\n",
        );
        assert_eq!(out(&outcome), "-1 1\n-1 1\n", "{}", all(&outcome));
    });
}

#[test]
fn e047_nor_does_it_show_the_environment_of_the_supervisor_to_root() {
    as_both("launch::e047_nor_does_it_show_the_environment_of_the_supervisor_to_root", || {
        let mut place = Place::new();
        place.order.argv = ["sh", "-c", "echo up; sleep 20"].map(str::to_owned).into();
        let (mut read, write) = std::io::pipe().unwrap();
        let stdout = palisade_apply::Output::Pipe(write);
        let running = started(&place, Streams { stdout, ..Streams::default() });
        std::io::Read::read_exact(&mut read, &mut [0; 3]).unwrap();
        // It gets ready to reap as the command starts.
        let begun = Instant::now();
        let mut reapers = reapers();
        while reapers.is_empty() && begun.elapsed() < Duration::from_secs(10) {
            reapers = self::reapers();
        }
        assert!(!reapers.is_empty());
        for reaper in reapers {
            let block = fs::read(reaper.join("environ")).unwrap_or_default();
            assert!(block.iter().all(|byte| *byte == 0), "{:?}", String::from_utf8_lossy(&block));
        }
        drop(running);
    });
}

/// Returns the reapers of this process.
fn reapers() -> Vec<std::path::PathBuf> {
    let child = format!("PPid:\t{}\n", std::process::id());
    let processes = fs::read_dir("/proc").unwrap().flatten().map(|entry| entry.path());
    let is = |path: &std::path::PathBuf| {
        let text = |name: &str| fs::read_to_string(path.join(name)).unwrap_or_default();
        text("comm") == "pal-reaper\n" && text("status").contains(&child)
    };
    processes.filter(is).collect()
}

#[test]
fn e053_no_descriptor_of_the_caller_is_inherited() {
    as_both("launch::e053_no_descriptor_of_the_caller_is_inherited", || {
        use std::os::fd::AsFd as _;
        let place = Place::new();
        let secret = fs::File::open("/etc/passwd").unwrap();
        // One that does not close at execve, as a careless host has them.
        let leaked = rustix::io::fcntl_dupfd_cloexec(secret.as_fd(), 40).unwrap();
        rustix::io::fcntl_setfd(&leaked, rustix::io::FdFlags::empty()).unwrap();
        let outcome =
            place.python("import os; print(sorted(map(int, os.listdir('/proc/self/fd'))))");
        // The fourth is the folder that is being listed.
        assert_eq!(out(&outcome), "[0, 1, 2, 3]\n", "{}", all(&outcome));
        drop(leaked);
    });
}

#[test]
fn a_killed_supervisor_takes_its_sandbox_with_it() {
    let name = "launch::a_killed_supervisor_takes_its_sandbox_with_it";
    let mark = "31.4159265";
    if std::env::var_os("PALISADE_TEST_SUPERVISOR").is_some() {
        drop(Place::new().sh(&format!("setsid sleep {mark} & sleep {mark}")));
        return;
    }
    as_both(name, || {
        for round in 0..12_u64 {
            let program = std::env::current_exe().unwrap();
            let mut supervisor = Command::new(program)
                .args([name, "--exact"])
                .env("PALISADE_TEST_SUPERVISOR", std::process::id().to_string())
                .stdout(Stdio::null())
                .spawn()
                .unwrap();
            let begun = Instant::now();
            // Some rounds kill while the walls are being built, some once the command runs.
            if round > 8 {
                while !alive(&format!("sleep {mark}")) && begun.elapsed() < Duration::from_secs(20)
                {
                    std::thread::sleep(Duration::from_millis(5));
                }
            } else {
                std::thread::sleep(Duration::from_millis(3 * round));
            }
            supervisor.kill().unwrap();
            supervisor.wait().unwrap();
            let killed = Instant::now();
            while alive(&format!("sleep {mark}")) {
                assert!(killed.elapsed() < Duration::from_secs(20), "round {round}: it lives on");
                std::thread::sleep(Duration::from_millis(5));
            }
            // Nor is any helper of ours left, at whatever step it was killed.
            while copies_of_this_test() > 0 {
                assert!(
                    killed.elapsed() < Duration::from_secs(20),
                    "round {round}: a helper lives"
                );
                std::thread::sleep(Duration::from_millis(5));
            }
        }
    });
}

/// Returns how many supervisors and helpers of the test above there are.
fn copies_of_this_test() -> usize {
    let mark = format!("PALISADE_TEST_SUPERVISOR={}", std::process::id());
    let processes = fs::read_dir("/proc").unwrap().flatten();
    let blocks = processes.filter_map(|entry| fs::read(entry.path().join("environ")).ok());
    blocks
        .filter(|block| block.split(|byte| *byte == 0).any(|entry| entry == mark.as_bytes()))
        .count()
}

#[test]
fn a_dropped_run_and_a_stopped_one_leave_nothing() {
    as_both("launch::a_dropped_run_and_a_stopped_one_leave_nothing", || {
        let mut place = Place::new();
        place.order.argv = ["sleep", "27.1828"].map(str::to_owned).into();
        let host = Host::probe();
        let plan = build(&permit(), &place.order, &host.facts(&place.order.questions())).unwrap();
        drop(host.start(&plan, Streams::default()).unwrap());
        assert!(!alive("sleep 27.1828"));

        let running = host.start(&plan, Streams::default()).unwrap();
        let stop = running.stop();
        let stopper = std::thread::spawn(move || {
            std::thread::sleep(Duration::from_millis(50));
            stop.now();
        });
        let outcome = running.wait().unwrap();
        stopper.join().unwrap();
        assert_eq!(outcome.end, End::Stopped);
        assert!(!alive("sleep 27.1828"));
    });
}

#[test]
fn many_threads_start_sandboxes_at_once() {
    as_both("launch::many_threads_start_sandboxes_at_once", || {
        let place = Place::new();
        std::thread::scope(|scope| {
            for number in 0..8 {
                let place = &place;
                scope.spawn(move || {
                    let outcome = place.run(&["echo", &number.to_string()]);
                    assert_eq!(out(&outcome), format!("{number}\n"), "{}", all(&outcome));
                });
            }
        });
    });
}

#[test]
fn descriptors_on_their_way_keep_nobody_from_starting_or_telling_the_truth() {
    let name = "launch::descriptors_on_their_way_keep_nobody_from_starting_or_telling_the_truth";
    let fewer = r#"ulimit -n 200; exec "$@""#;
    prepared(name, fewer, || {
        // More than this user may have on their way, for as long as the command runs.
        let fill = "import array, socket, sys, time\n\
            held = []\n\
            try:\n\
            \x20   for _ in range(40):\n\
            \x20       pair = socket.socketpair(); held.append(pair)\n\
            \x20       fds = array.array('i', [0] * 50)\n\
            \x20       pair[0].sendmsg([b'x'], [(socket.SOL_SOCKET, socket.SCM_RIGHTS, fds)])\n\
            except OSError as error: print(error.errno, flush=True)\n\
            sys.stdin.read(); sys.exit(7)\n";
        let mut place = Place::new();
        place.order.argv = ["python3", "-c", fill].map(str::to_owned).into();
        let (mut told, writes) = std::io::pipe().unwrap();
        let (reads, waits) = std::io::pipe().unwrap();
        let streams = Streams {
            stdin: palisade_apply::Input::From(reads.into()),
            stdout: palisade_apply::Output::Pipe(writes),
            ..Streams::default()
        };
        let running = started(&place, streams);
        let mut word = [0; 4];
        std::io::Read::read_exact(&mut told, &mut word).unwrap();
        assert_eq!(&word, b"109\n", "too many references");
        // Another run of the same user.
        let mut other = Place::new();
        other.order.protect = vec![pattern(other.project.root(), ".bashrc")];
        let outcome = other.sh("cat inside; exit 3");
        assert_eq!((out(&outcome).as_str(), outcome.end), ("inside\n", End::Exited(3)));
        assert!(!other.project.path(".bashrc").exists());
        drop(waits);
        assert_eq!(running.wait().unwrap().end, End::Exited(7));
    });
}
