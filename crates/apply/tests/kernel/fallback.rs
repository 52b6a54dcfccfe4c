//! Where namespaces cannot be had: the promises again, held by Landlock and the filter alone. What
//! these cannot hold is listed, or does not run.
//!
//! Each runs four times: namespaces are refused by a filter, and by a limit of a user namespace; as
//! root, without capabilities, and as an ordinary user.

use std::fs;
use std::os::linux::net::SocketAddrExt as _;
use std::os::unix::net::{SocketAddr, UnixDatagram, UnixListener};
use std::path::Path;
use std::time::{Duration, Instant};

use palisade_apply::{Bound, End, Host, Outcome, Survivors};
use palisade_plan::policy::policy::{NetworkMode, Require};
use palisade_plan::{Layer, Level, Strength, build};
use palisade_testkit::Project;
use palisade_testkit::hosts::{COUNTED, DROPPED, FILTERED};

use crate::hostile::prepared;
use crate::{Place, all, out, outside, pattern, permit};

/// Runs a body where namespaces of users are refused in one way, then in the other.
pub(crate) fn blocked(name: &str, body: impl Fn()) {
    prepared(name, &format!("{DROPPED}{FILTERED}"), &body);
    prepared(name, COUNTED, &body);
}

pub(crate) fn place() -> Place {
    accepting(Place::new())
}

pub(crate) fn accepting(mut place: Place) -> Place {
    place.order.require = Require::Landlock;
    place
}

pub(crate) fn held(outcome: &Outcome, layer: Layer) -> &Strength {
    &outcome.enforced.iter().find(|one| one.layer == layer).unwrap().strength
}

pub(crate) fn lacks(outcome: &Outcome, layer: Layer) -> String {
    match held(outcome, layer) {
        Strength::Kernel => String::new(),
        Strength::Window(list) | Strength::Partial(list) => list.join("; "),
        Strength::Absent(why) => why.clone(),
    }
}

#[test]
fn a064_full_is_refused_by_the_name_of_what_blocks_and_nothing_runs() {
    let name = "fallback::a064_full_is_refused_by_the_name_of_what_blocks_and_nothing_runs";
    blocked(name, || {
        let mut place = Place::new();
        place.order.argv = ["touch", "ran"].map(str::to_owned).into();
        let host = Host::probe();
        let facts = host.facts(&place.order.questions());
        let error = build(&permit(), &place.order, &facts).unwrap_err();
        let text = error.to_string();
        let is_counted = fs::read_to_string("/proc/sys/user/max_user_namespaces").unwrap() == "0\n";
        let expected =
            if is_counted { "user.max_user_namespaces" } else { "a seccomp filter around" };
        assert!(error.code() == "missing-wall" && text.contains(expected), "{text}");
        assert!(!text.contains("AppArmor"), "what is not there is not named: {text}");
        assert!(!place.project.path("ran").exists());
    });
}

#[test]
fn a048_without_namespaces_writes_in_the_workspace_work_and_outside_fail() {
    let name = "fallback::a048_without_namespaces_writes_in_the_workspace_work_and_outside_fail";
    blocked(name, || {
        let place = place();
        let (_kept, outside) = outside();
        fs::write(outside.join("theirs"), "theirs").unwrap();
        let script = format!(
            "echo new > made && mkdir -p deep/er && mv made deep/er/ && cat deep/er/made; \
             cd {0}; echo x > x; echo x >> theirs; truncate -s 0 theirs; rm -f theirs; mv theirs t; \
             ln theirs l; ln -s a b; mkdir d; mknod p p; echo x > /tmp/palisade-test-x; \
             echo x > /proc/sys/kernel/core_pattern; echo x > ~/x; echo x >> ~/notes; \
             cd -; mv {0}/theirs here; ln {0}/theirs here; ls",
            outside.display()
        );
        let outcome = place.sh(&script);
        assert_eq!(outcome.level, Level::Landlock);
        assert!(out(&outcome).starts_with("new\n"), "{}", all(&outcome));
        let project = place.project.root().display();
        let expected = format!("new\n{project}\ndeep\ninside\n");
        assert_eq!(out(&outcome), expected, "{}", all(&outcome));
        assert_eq!(fs::read(place.project.path("deep/er/made")).unwrap(), b"new\n");
        assert_eq!(fs::read(outside.join("theirs")).unwrap(), b"theirs");
        assert_eq!(fs::read_dir(&outside).unwrap().count(), 1);
        assert!(!Path::new("/tmp/palisade-test-x").exists() && !place.home.path("x").exists());
        assert_eq!(fs::read(place.home.path("notes")).unwrap(), b"plain\n");
        assert!(lacks(&outcome, Layer::Files).contains("modes, owners, times"), "what is not held");
        assert!(lacks(&outcome, Layer::Namespaces).contains("other processes"), "nor this");
    });
}

#[test]
fn e059_without_namespaces_limits_of_ours_cannot_be_changed_to_survive() {
    let name = "fallback::e059_without_namespaces_limits_of_ours_cannot_be_changed_to_survive";
    blocked(name, || {
        let outcome = place().python(
            "import ctypes, os, resource\n\
             c = ctypes.CDLL(None, use_errno=True)\n\
             none = (ctypes.c_ulong * 2)(0, 0)\n\
             for pid in (os.getppid(), os.getpid()):\n\
             \x20   for which in (resource.RLIMIT_NOFILE, resource.RLIMIT_CPU):\n\
             \x20       print(c.prlimit(pid, which, none, None), ctypes.get_errno())\n\
             resource.setrlimit(resource.RLIMIT_NOFILE, (64, 64))\n\
             print(resource.getrlimit(resource.RLIMIT_NOFILE))\n",
        );
        let expected = format!("{}(64, 64)\n", "-1 1\n".repeat(4));
        assert_eq!(out(&outcome), expected, "{}", all(&outcome));
    });
}

#[test]
fn without_namespaces_nobody_reads_in_temporary_folders_of_the_host() {
    let name = "fallback::without_namespaces_nobody_reads_in_temporary_folders_of_the_host";
    blocked(name, || {
        let place = place();
        let (_kept, outside) = outside();
        fs::write(outside.join("ticket"), "ticket").unwrap();
        let outcome = place.sh(&format!(
            "cat inside; cat ~/notes; cat {0}/ticket; ls {0} /tmp /var/tmp /run; \
             echo own > $TMPDIR/x && cat $TMPDIR/x",
            outside.display()
        ));
        assert_eq!(out(&outcome), "inside\nplain\nown\n", "{}", all(&outcome));
    });
}

#[test]
fn a047_without_namespaces_readonly_lets_nothing_be_written_but_the_scratch_folder() {
    let name =
        "fallback::a047_without_namespaces_readonly_lets_nothing_be_written_but_the_scratch_folder";
    blocked(name, || {
        let mut place = place();
        place.order.write.clear();
        let outcome = place
            .sh("cat inside; echo x > inside; echo x > new; rm -f inside; touch $HOME/x /tmp/x; \
             echo y > $TMPDIR/y && cat $TMPDIR/y; cat inside; echo $TMPDIR");
        let text = out(&outcome);
        assert!(text.starts_with("inside\ny\ninside\n/tmp/palisade-scratch-"), "{}", all(&outcome));
        assert!(!place.project.path("new").exists());
        let scratch = text.lines().last().unwrap();
        assert!(!Path::new(scratch).exists(), "it goes with the run");
    });
}

#[test]
fn a103_without_namespaces_a_hidden_path_cannot_be_read_by_any_name() {
    let name = "fallback::a103_without_namespaces_a_hidden_path_cannot_be_read_by_any_name";
    blocked(name, || {
        let mut place = accepting(Place::with(Project::new().file("inside", "inside\n")));
        let home = place.home.root().to_owned();
        fs::write(home.join(".netrc"), "secret\n").unwrap();
        std::os::unix::fs::symlink(home.join(".ssh"), home.join("keys")).unwrap();
        std::os::unix::fs::symlink(home.join(".ssh"), place.project.path("link")).unwrap();
        fs::write(place.project.path("token"), "secret\n").unwrap();
        place.order.hide.push(pattern(&home, ".netrc"));
        place.order.hide.push(pattern(place.project.root(), "token"));
        let home = home.display();
        let outcome = place.sh(&format!(
            "cat {home}/notes {home}/.config/other inside; \
             for p in {home}/.ssh/id {home}/keys/id link/id {home}/.config/gh/token {home}/.netrc \
                 /proc/self/root{home}/.ssh/id /proc/self/cwd/link/id token ./token; do \
                 cat $p; cp $p copied; ln $p linked; mv $p moved; done; \
             ls {home}/.ssh {home}/keys/ link/ {home}/.config/gh; cat /proc/self/fd/9 9< token"
        ));
        assert_eq!(out(&outcome), "plain\nplain\ninside\n", "{}", all(&outcome));
        assert!(!all(&outcome).contains("secret"), "{}", all(&outcome));
        for name in ["copied", "linked", "moved"] {
            assert!(!place.project.path(name).exists(), "{name}");
        }
        assert!(lacks(&outcome, Layer::Hide).contains("seen to be there"), "what is not held");
    });
}

#[test]
fn e033_without_namespaces_what_is_protected_stays_and_its_neighbours_can_be_written() {
    let name = "fallback::e033_without_namespaces_what_is_protected_stays_and_its_neighbours_can_be_written";
    blocked(name, || {
        let project = Project::new()
            .file(".git/config", "config\n")
            .file(".git/hooks/pre-commit", "hook\n")
            .file(".git/objects/00/x", "object\n")
            .file("src/main", "main\n")
            .file("top", "top\n");
        let place = accepting(Place::with(project));
        let outcome = place.sh("echo new > src/new; echo changed > src/main; echo changed > top; \
             echo x > .git/objects/00/y; cat .git/config .git/hooks/pre-commit; \
             echo x > .git/config; truncate -s 0 .git/config; rm -rf .git/config .git/hooks; \
             mv .git git; mv .git/hooks src/; mv .git/hooks .git/h; mv src/new .git/config; \
             mv src/new .git/hooks/post-commit; ln src/new .git/hooks/post-commit; \
             ln .git/config src/config; cp src/new .git/hooks/post-commit; ln -s x .git/hooks/y; \
             rm -rf .git");
        assert_eq!(out(&outcome), "config\nhook\n", "{}", all(&outcome));
        let read = |path: &str| fs::read_to_string(place.project.path(path)).unwrap();
        assert_eq!(read(".git/config"), "config\n");
        assert_eq!(read(".git/hooks/pre-commit"), "hook\n");
        let hooks = fs::read_dir(place.project.path(".git/hooks")).unwrap().count();
        assert_eq!(hooks, 1, "{}", all(&outcome));
        assert_eq!((read("src/main"), read("top")), ("changed\n".into(), "changed\n".into()));
        assert!(!place.project.path("src/config").exists());
        let codes: Vec<_> = outcome.notes.iter().map(|note| note.code).collect();
        assert!(codes.contains(&"fixed-folders"), "{codes:?}");
    });
}

#[test]
fn e031_without_namespaces_a_protected_name_that_is_made_is_set_aside_and_told() {
    let name =
        "fallback::e031_without_namespaces_a_protected_name_that_is_made_is_set_aside_and_told";
    blocked(name, || {
        let mut place = place();
        place.order.protect.push(pattern(place.project.root(), "**/.envrc"));
        let outcome = place.sh("echo x > .envrc; mkdir deep; echo x > deep/.envrc; echo x > ok");
        for path in [".envrc", "deep/.envrc"] {
            assert!(!place.project.path(path).exists(), "{path}: {}", all(&outcome));
        }
        let aside = outcome.notes.iter().filter(|note| note.code == "set-aside").count();
        assert_eq!(aside, 2, "{:?}", outcome.notes);
        assert!(place.project.path("ok").exists());
        assert!(lacks(&outcome, Layer::Protect).contains("do not exist yet"));
    });
}

#[test]
fn e051_without_namespaces_no_socket_leads_anywhere() {
    let name = "fallback::e051_without_namespaces_no_socket_leads_anywhere";
    blocked(name, || {
        let mut place = place();
        let (_kept, outside) = outside();
        let _stream = UnixListener::bind(outside.join("stream")).unwrap();
        let datagram = UnixDatagram::bind(outside.join("datagram")).unwrap();
        datagram.set_nonblocking(true).unwrap();
        let abstract_name = format!("palisade-fallback-{}", std::process::id());
        let address = SocketAddr::from_abstract_name(&abstract_name).unwrap();
        let _listening = UnixListener::bind_addr(&address).unwrap();
        let script = format!(
            "import socket, errno\n\
             def tried(what, does):\n\
             \x20   try: does(); print(what, 'done')\n\
             \x20   except OSError as e: print(what, errno.errorcode[e.errno])\n\
             tried('unix', lambda: socket.socket(socket.AF_UNIX).connect('{0}/stream'))\n\
             tried('abstract', lambda: socket.socket(socket.AF_UNIX).connect('\\0{1}'))\n\
             tried('datagrams', lambda: socket.socketpair(type=socket.SOCK_DGRAM)[0].sendto(b'x', '{0}/datagram'))\n\
             tried('raw', lambda: socket.socketpair(type=socket.SOCK_RAW)[0].sendto(b'x', '{0}/datagram'))\n\
             tried('again', lambda: socket.socketpair()[0].connect('{0}/stream'))\n\
             tried('inet', lambda: socket.socket())\n\
             tried('inet6', lambda: socket.socket(socket.AF_INET6, socket.SOCK_DGRAM))\n\
             tried('netlink', lambda: socket.socket(socket.AF_NETLINK, socket.SOCK_RAW))\n\
             tried('packet', lambda: socket.socket(socket.AF_PACKET, socket.SOCK_RAW))\n\
             a, b = socket.socketpair(); a.send(b'pair'); print(b.recv(4).decode())\n",
            outside.display(),
            abstract_name
        );
        let outcome = place.python(&script);
        let expected = "unix EAFNOSUPPORT\nabstract EAFNOSUPPORT\ndatagrams EPROTONOSUPPORT\n\
            raw EPROTONOSUPPORT\nagain EISCONN\ninet EAFNOSUPPORT\ninet6 EAFNOSUPPORT\n\
            netlink EAFNOSUPPORT\npacket EAFNOSUPPORT\npair\n";
        assert_eq!(out(&outcome), expected, "{}", all(&outcome));
        assert!(datagram.recv(&mut [0; 8]).is_err(), "nothing came");
        assert_eq!(held(&outcome, Layer::Network), &Strength::Kernel);

        place.order.network = NetworkMode::Disabled;
        let outcome = place.python(&script);
        let text = out(&outcome);
        assert!(text.contains("inet done\n"), "the host's network is there: {}", all(&outcome));
        for refused in ["unix EAFNOSUPPORT", "abstract EAFNOSUPPORT", "datagrams EPROTONOSUPPORT"] {
            assert!(text.contains(refused), "{}", all(&outcome));
        }
        assert!(matches!(held(&outcome, Layer::Network), Strength::Absent(_)));
    });
}

#[test]
fn e047_without_namespaces_other_processes_cannot_be_looked_into_nor_ended() {
    let name = "fallback::e047_without_namespaces_other_processes_cannot_be_looked_into_nor_ended";
    blocked(name, || {
        let own = std::process::id();
        let outcome = place().python(&format!(
            "import os\n\
             first = os.getppid()\n\
             for pid in ({own}, first):\n\
             \x20   for name in ('environ', 'mem', 'maps', 'fd', 'cwd', 'root', 'exe'):\n\
             \x20       path = f'/proc/{{pid}}/{{name}}'\n\
             \x20       try:\n\
             \x20           if name in ('cwd', 'root', 'exe'): os.readlink(path)\n\
             \x20           elif name == 'fd': [os.readlink(path + '/' + one) for one in os.listdir(path)]\n\
             \x20           else: open(path, 'rb').read(1)\n\
             \x20           print('saw', pid == first, name)\n\
             \x20       except OSError: pass\n\
             \x20   try: os.kill(pid, 0); print('reached', pid == first)\n\
             \x20   except PermissionError: pass\n\
             print('end', open('/proc/self/environ').read(1) != '')\n"
        ));
        assert_eq!(out(&outcome), "end True\n", "{}", all(&outcome));
    });
}

#[test]
fn e050_without_namespaces_the_filter_holds_and_memory_of_the_host_is_out_of_reach() {
    let name =
        "fallback::e050_without_namespaces_the_filter_holds_and_memory_of_the_host_is_out_of_reach";
    blocked(name, || {
        let outcome = place().python(
            "import ctypes, os\n\
             c = ctypes.CDLL(None, use_errno=True)\n\
             def call(n, *a):\n\
             \x20   r = c.syscall(n, *a); return ctypes.get_errno() if r < 0 else 'done'\n\
             if os.uname().machine == 'x86_64':\n\
             \x20   print([call(n, 0, 0, 0, 0, 0) for n in (165, 308, 428, 250, 310, 311, 304)])\n\
             \x20   print([call(n, 0, 0, 0, 0, 0) for n in (29, 30, 31, 64, 65, 66, 68, 69, 70, 71, 220, 240, 241)])\n\
             \x20   print([call(n, 0, 0, 0, 0, 0) for n in (425, 437, 435)], call(272, 0x10000000))\n\
             print(os.waitstatus_to_exitcode(os.system('exit 3')))\n\
             import threading; t = threading.Thread(target=print, args=('thread',)); t.start(); t.join()\n",
        );
        let expected = match std::env::consts::ARCH {
            "x86_64" => {
                "[1, 1, 1, 1, 1, 1, 1]\n[1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1]\n[38, 38, 38] 1\n3\nthread\n"
            }
            _ => "3\nthread\n",
        };
        assert_eq!(out(&outcome), expected, "{}", all(&outcome));
        assert_eq!(held(&outcome, Layer::SystemCalls), &Strength::Kernel);
    });
}

#[test]
fn a175_without_namespaces_there_is_no_capability_and_nothing_to_gain() {
    let name = "fallback::a175_without_namespaces_there_is_no_capability_and_nothing_to_gain";
    blocked(name, || {
        let outcome = place()
            .sh("grep -E '^(CapInh|CapPrm|CapEff|CapAmb|NoNewPrivs|Seccomp:)' /proc/self/status; \
             ls /dev; echo x > /dev/null && echo null; cat /etc/shadow; : < /dev/ptmx");
        let none = ["CapInh", "CapPrm", "CapEff", "CapAmb"]
            .map(|set| format!("{set}:\t0000000000000000\n"))
            .concat();
        let expected = format!("{none}NoNewPrivs:\t1\nSeccomp:\t2\nnull\n");
        assert_eq!(out(&outcome), expected, "{}", all(&outcome));
        assert!(all(&outcome).contains("/dev/ptmx"), "no terminals: {}", all(&outcome));
    });
}

/// Starts two processes that get away as far as they can, and says their numbers.
const RUNAWAYS: &str = "setsid sleep 61.7 & echo $! > away; (setsid sh -c 'sleep 61.7 & echo $! >> away; \
    sleep 61.7' </dev/null >/dev/null 2>&1 &); until [ $(wc -l < away) = 2 ]; do sleep 0.01; done; ";

#[test]
fn a130_without_namespaces_everything_dies_with_the_command() {
    let name = "fallback::a130_without_namespaces_everything_dies_with_the_command";
    blocked(name, || {
        let gone = |place: &Place| {
            let away = fs::read_to_string(place.project.path("away")).unwrap();
            assert_eq!(away.lines().count(), 2, "{away}");
            let deadline = Instant::now() + Duration::from_secs(20);
            let is_there = || away.lines().any(|pid| Path::new("/proc").join(pid).exists());
            while is_there() && Instant::now() < deadline {
                std::thread::sleep(Duration::from_millis(5));
            }
            !is_there()
        };
        let mut place = place();
        let outcome = place.sh(&format!("{RUNAWAYS} exit 7"));
        assert_eq!((outcome.exit_code(), outcome.survivors), (7, Survivors::None));
        assert!(gone(&place), "{}", all(&outcome));

        fs::remove_file(place.project.path("away")).unwrap();
        place.order.bounds.time = Some(Duration::from_secs(2));
        let outcome = place.sh(&format!("{RUNAWAYS} sleep 61.7"));
        assert_eq!((outcome.end, outcome.survivors), (End::TimedOut, Survivors::None));
        assert!(gone(&place), "{}", all(&outcome));
    });
}

#[test]
fn a105_without_namespaces_processes_and_files_are_limited() {
    let name = "fallback::a105_without_namespaces_processes_and_files_are_limited";
    blocked(name, || {
        let mut place = place();
        place.order.bounds.processes = Some(20);
        let outcome = place.python(
            "import os, time\n\
             for _ in range(100):\n\
             \x20   if os.fork() == 0: time.sleep(20); os._exit(0)\n\
             time.sleep(20)\n",
        );
        assert_eq!(outcome.limit, Some(Bound::Processes), "{}", all(&outcome));
        assert_eq!(outcome.survivors, Survivors::None);
        assert!(lacks(&outcome, Layer::Limits).contains("processes: they are sampled"));
        place.order.bounds.processes = None;
        place.order.bounds.file_size = Some(4096);
        let outcome = place.sh("head -c 8192 /dev/zero > big");
        assert_eq!(outcome.limit, Some(Bound::FileSize), "{}", all(&outcome));
    });
}
