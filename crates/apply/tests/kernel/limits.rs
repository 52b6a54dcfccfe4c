//! Upper bounds. Every bomb has a second bound around it: the time of the run, and a shell's limit.

use std::time::{Duration, Instant};

use palisade_apply::End;
use palisade_plan::{Kept, Layer, Strength};
use palisade_testkit::{Turn, in_child, ordinary_user};

use crate::{Place, all, as_both, out};

#[test]
fn a024_running_past_the_time_is_told_and_what_was_written_is_kept() {
    as_both("limits::a024_running_past_the_time_is_told_and_what_was_written_is_kept", || {
        let mut place = Place::new();
        place.order.bounds.time = Some(Duration::from_secs(2));
        let outcome = place.sh("echo partial; sleep 100; echo never");
        assert_eq!((outcome.end, outcome.exit_code()), (End::TimedOut, -101), "{}", all(&outcome));
        assert!(outcome.timed_out());
        assert_eq!(out(&outcome), "partial\n");
    });
}

#[test]
fn a025_on_timeout_no_descendant_survives_and_the_call_returns() {
    as_both("limits::a025_on_timeout_no_descendant_survives_and_the_call_returns", || {
        let mut place = Place::new();
        place.order.bounds.time = Some(Duration::from_secs(2));
        let begun = Instant::now();
        let outcome = place.sh(
            "trap '' TERM; (setsid sh -c 'trap \"\" TERM HUP INT; sleep 29.97; echo x > late' &) ; \
             setsid nohup sleep 29.97 >/dev/null 2>&1 & wait; sleep 29.97",
        );
        assert_eq!(outcome.end, End::TimedOut, "{}", all(&outcome));
        assert!(begun.elapsed() < Duration::from_secs(15), "{:?}", begun.elapsed());
        assert!(!place.project.path("late").exists());
    });
}

#[test]
fn silence_for_too_long_ends_a_run_and_output_prolongs_it() {
    as_both("limits::silence_for_too_long_ends_a_run_and_output_prolongs_it", || {
        let mut place = Place::new();
        place.order.bounds.idle = Some(Duration::from_secs(3));
        let outcome = place.sh("for i in 1 2 3 4; do echo $i; sleep 1; done; sleep 100");
        assert_eq!(outcome.end, End::Idle, "{}", all(&outcome));
        assert_eq!(out(&outcome), "1\n2\n3\n4\n");
    });
}

#[test]
fn a026_output_over_the_cap_is_cut_marked_and_keeps_the_code() {
    as_both("limits::a026_output_over_the_cap_is_cut_marked_and_keeps_the_code", || {
        let mut place = Place::new();
        place.order.bounds.output = Some(10);
        let outcome = place.sh("printf 0123456789abcdef; exit 3");
        assert_eq!(outcome.end, End::Exited(3));
        assert_eq!(out(&outcome), "0123456789");
        assert!(outcome.truncated());
        assert_eq!(outcome.stdout.marker().unwrap(), "[palisade: 6 bytes of output not shown]");
        place.order.bounds.keep = Kept::Tail;
        assert_eq!(out(&place.sh("printf 0123456789abcdef")), "6789abcdef");
        let exact = place.sh("printf 0123456789");
        assert!(!exact.truncated() && exact.stdout.marker().is_none());
    });
}

#[test]
fn a027_each_stream_has_its_own_cap() {
    as_both("limits::a027_each_stream_has_its_own_cap", || {
        let mut place = Place::new();
        place.order.bounds.output = Some(8);
        let outcome = place.sh("printf 0123456789; printf few >&2");
        assert!(outcome.stdout.truncated() && !outcome.stderr.truncated());
        assert_eq!(outcome.stderr.bytes, b"few");
    });
}

#[test]
fn a028_memory_stays_bounded_while_a_child_writes_a_lot() {
    const NAME: &str = "limits::a028_memory_stays_bounded_while_a_child_writes_a_lot";
    // In a process of its own: what other tests use is none of its memory.
    if in_child(NAME, r#"exec "$@""#) == Turn::Done {
        if rustix::process::geteuid().is_root() {
            let _done = ordinary_user(NAME);
        }
        return;
    }
    let peak = || {
        let status = std::fs::read_to_string("/proc/self/status").unwrap();
        let line = status.lines().find(|line| line.starts_with("VmHWM")).unwrap();
        line.split_whitespace().nth(1).unwrap().parse::<u64>().unwrap()
    };
    let mut place = Place::new();
    let whole = std::env::var_os("PALISADE_TEST_FULL").is_some();
    let bytes: u64 = if whole { 10_000_000_000 } else { 300_000_000 };
    place.order.bounds.time = Some(Duration::from_secs(300));
    for keep in [Kept::Head, Kept::Tail] {
        place.order.bounds.keep = keep;
        let before = peak();
        let outcome = place.sh(&format!("head -c {bytes} /dev/zero; echo $? >&2"));
        assert_eq!(outcome.end, End::Exited(0), "{}", outcome.stderr.bytes.len());
        assert_eq!(outcome.stdout.bytes.len(), 64 << 10);
        assert_eq!(outcome.stdout.dropped, bytes - (64 << 10));
        assert!(peak() - before < 32 << 10, "{} KiB more", peak() - before);
    }
}

#[test]
fn a105_processes_are_limited_and_without_a_limit_they_are_not() {
    as_both("limits::a105_processes_are_limited_and_without_a_limit_they_are_not", || {
        let mut place = Place::new();
        let script = "import os\n\
            n = 0\n\
            try:\n\
            \x20   while n < 60:\n\
            \x20       if os.fork() == 0: os.read(os.pipe()[0], 1)\n\
            \x20       n += 1\n\
            except BlockingIOError: pass\n\
            print(n)\n";
        place.order.bounds.processes = Some(20);
        let outcome = place.python(script);
        assert_eq!(out(&outcome), "19\n", "{}", all(&outcome));
        place.order.bounds.processes = None;
        let outcome = place.python(script);
        assert_eq!(out(&outcome), "60\n", "{}", all(&outcome));
    });
}

#[test]
fn e059_a_bomb_of_processes_ends_within_its_limit_and_leaves_nobody() {
    as_both("limits::e059_a_bomb_of_processes_ends_within_its_limit_and_leaves_nobody", || {
        let mut place = Place::new();
        // Shown to hold by the test above; the time is the second bound.
        place.order.bounds.processes = Some(24);
        place.order.bounds.time = Some(Duration::from_secs(3));
        let begun = Instant::now();
        let outcome = place.python(
            "import os\n\
             while True:\n\
             \x20   try: os.fork()\n\
             \x20   except OSError: pass\n",
        );
        assert_eq!(outcome.end, End::TimedOut, "{}", all(&outcome));
        assert!(begun.elapsed() < Duration::from_secs(30));
        assert_eq!(out(&place.sh("echo fine")), "fine\n");
    });
}

#[test]
fn the_host_stays_responsive_while_bombs_go_off() {
    as_both("limits::the_host_stays_responsive_while_bombs_go_off", || {
        let mut place = Place::new();
        // Each was shown to hold by a test of its own; the time is the bound around them.
        let bounds = &mut place.order.bounds;
        bounds.processes = Some(16);
        bounds.memory = Some(256 << 20);
        bounds.open_files = Some(64);
        bounds.file_size = Some(8 << 20);
        bounds.tmp = Some(8 << 20);
        bounds.time = Some(Duration::from_secs(4));
        let bomb = "import os, threading\n\
            def each(do):\n\
            \x20   while True:\n\
            \x20       try: do()\n\
            \x20       except (OSError, MemoryError): pass\n\
            kept = []\n\
            def files(): kept.append(open('/dev/null'))\n\
            def disk(): open('/tmp/big', 'ab').write(b'x' * 65536)\n\
            def flood(): os.write(1, b'x' * 65536)\n\
            for do in (files, disk, flood): threading.Thread(target=each, args=(do,)).start()\n\
            each(os.fork)\n";
        let begun = Instant::now();
        std::thread::scope(|scope| {
            let running = scope.spawn(|| place.python(bomb));
            let mut slowest = Duration::ZERO;
            while !running.is_finished() {
                let asked = Instant::now();
                let answer = std::process::Command::new("/bin/true").status().unwrap();
                assert!(answer.success());
                slowest = slowest.max(asked.elapsed());
                std::thread::sleep(Duration::from_millis(20));
            }
            let outcome = running.join().unwrap();
            assert!(outcome.limit.is_some(), "{:?} {:?}", outcome.end, outcome.limit);
            assert!(slowest < Duration::from_secs(5), "{slowest:?}");
        });
        assert!(begun.elapsed() < Duration::from_secs(40), "{:?}", begun.elapsed());
    });
}

#[test]
fn memory_time_file_size_and_open_files_are_bounded() {
    as_both("limits::memory_time_file_size_and_open_files_are_bounded", || {
        let mut place = Place::new();
        place.order.bounds.memory = Some(256 << 20);
        place.order.bounds.cpu = Some(Duration::from_secs(1));
        place.order.bounds.file_size = Some(1 << 20);
        place.order.bounds.open_files = Some(32);
        let memory = place.python("x = bytearray(400 << 20); print('had it')");
        assert!(!out(&memory).contains("had"), "{}", all(&memory));
        assert!(all(&memory).contains("MemoryError"), "{}", all(&memory));
        assert_eq!(out(&place.python("x = bytearray(50 << 20); print('had it')")), "had it\n");
        let time = place.sh("while :; do :; done");
        // The soft and the hard limit are the same, and the hard one kills.
        assert!(matches!(time.end, End::Signalled(9 | 24)), "{}", all(&time));
        let file = place.sh("head -c 3000000 /dev/zero > big");
        assert!(
            std::fs::metadata(place.project.path("big")).unwrap().len() <= 1 << 20,
            "{}",
            all(&file)
        );
        let open = place.python("x = [open('/dev/null') for _ in range(100)]");
        assert!(all(&open).contains("Too many open files"), "{}", all(&open));
    });
}

#[test]
fn a_filled_temporary_folder_is_full_and_the_host_is_not() {
    as_both("limits::a_filled_temporary_folder_is_full_and_the_host_is_not", || {
        let mut place = Place::new();
        place.order.bounds.tmp = Some(4 << 20);
        place.order.bounds.file_size = Some(64 << 20);
        let outcome = place.sh("head -c 9000000 /dev/zero > /tmp/big; stat -c %s /tmp/big");
        assert!(all(&outcome).contains("No space left"), "{}", all(&outcome));
        assert_eq!(out(&outcome), "4194304\n");
    });
}

#[test]
fn a_bound_of_memory_says_what_holds_it_and_no_group_of_the_machine_is_touched() {
    let name =
        "limits::a_bound_of_memory_says_what_holds_it_and_no_group_of_the_machine_is_touched";
    as_both(name, || {
        let mut place = Place::new();
        place.order.bounds.memory = Some(512 << 20);
        let asked = palisade_apply::Host::probe().facts(&place.order.questions());
        let outcome = place.sh("cat /proc/self/cgroup | wc -l; echo fine");
        assert!(out(&outcome).ends_with("fine\n"), "{}", all(&outcome));
        let limits = outcome.enforced.iter().find(|one| one.layer == Layer::Limits).unwrap();
        let is_noted = outcome.notes.iter().any(|note| note.code == "control-group");
        match asked.delegated {
            None => {
                assert!(!is_noted, "{:?}", outcome.notes);
                let Strength::Partial(lacks) = &limits.strength else { panic!("{limits:?}") };
                assert!(lacks[0].contains("sampled"), "{lacks:?}");
            }
            Some(delegated) => {
                assert!(is_noted, "{:?}", outcome.notes);
                let left = std::fs::read_dir(delegated.folder).unwrap().flatten();
                let own = format!("palisade-{}-", std::process::id());
                let ours =
                    |it: &std::fs::DirEntry| it.file_name().to_str().unwrap().starts_with(&own);
                assert!(!left.into_iter().any(|it| ours(&it)), "a group was left");
            }
        }
    });
}

#[test]
fn no_file_grows_past_its_bound_by_what_is_put_into_its_middle_or_behind_its_end() {
    let name =
        "limits::no_file_grows_past_its_bound_by_what_is_put_into_its_middle_or_behind_its_end";
    as_both(name, || {
        let mut place = Place::new();
        place.order.bounds.file_size = Some(1 << 20);
        let outcome = place.python(
            "import ctypes, os, signal\n\
             signal.signal(signal.SIGXFSZ, signal.SIG_IGN)\n\
             c = ctypes.CDLL(None, use_errno=True)\n\
             f = os.open('f', os.O_RDWR | os.O_CREAT)\n\
             os.write(f, b'x' * (512 << 10))\n\
             def told(how, start, size):\n\
             \x20   ctypes.set_errno(0)\n\
             \x20   c.fallocate(f, how, ctypes.c_long(start), ctypes.c_long(size))\n\
             \x20   return ctypes.get_errno()\n\
             print([told(how, 4096, 8 << 20) for how in (0x20, 0x1, 0x11, 0x41)], told(0, 0, 8 << 20))\n\
             import fcntl, struct\n\
             def asked(request):\n\
             \x20   space = struct.pack('hhqqiI4I', 0, 0, 0, 4 << 20, 0, 0, 0, 0, 0, 0)\n\
             \x20   try: fcntl.ioctl(f, request, space); return 0\n\
             \x20   except OSError as e: return e.errno\n\
             print([asked(request) for request in (0x40305828, 0x4030582a, 0x40305839)])\n\
             print(told(0, 0, 600 << 10), told(3, 0, 4096))\n\
             s = os.fstat(f); print(s.st_size, s.st_blocks * 512 <= 2 << 20)\n",
        );
        let expected = "[95, 95, 95, 95] 27\n[1, 1, 1]\n0 0\n614400 True\n";
        assert_eq!(out(&outcome), expected, "{}", all(&outcome));
    });
}
