//! A workspace that was prepared to break out of the sandbox, or to keep it from starting.

use std::fs;
use std::os::unix::fs::symlink;
use std::time::{Duration, Instant};

use palisade_apply::{Bound, End, Host};
use palisade_plan::{Idmap, Layer, Privilege, build};
use palisade_testkit::hosts::COUNTED;
use palisade_testkit::{Fact, Need, Project, Turn, in_child, need};

use crate::{Place, all, as_both, out, outside, pattern, permit};

#[test]
fn e035_a_hard_link_does_not_lead_out() {
    as_both("hostile::e035_a_hard_link_does_not_lead_out", || {
        let place = Place::with(Project::new().file(".git/config", "[core]\n"));
        let (_kept, outside) = outside();
        fs::write(outside.join("file"), "outside").unwrap();
        let outcome = place.python(&format!(
            "import os\n\
             for source in ('{0}/file', '/etc/passwd', '/usr/bin/env', '.git/config'):\n\
             \x20   try: os.link(source, 'link'); print('linked', source)\n\
             \x20   except OSError as e: print(e.errno)\n\
             open('own', 'w').close(); os.link('own', 'own2'); print(os.stat('own').st_nlink)\n",
            outside.display()
        ));
        // The first is under the private /tmp, and does not exist.
        assert_eq!(out(&outcome), "2\n18\n18\n18\n2\n", "{}", all(&outcome));
        assert!(!place.project.path("link").exists());
    });
}

#[test]
fn e041_what_was_planted_in_the_temporary_folder_is_not_there() {
    as_both("hostile::e041_what_was_planted_in_the_temporary_folder_is_not_there", || {
        let place = Place::new();
        let (_kept, target) = outside();
        let name = format!("/tmp/planted-{}", std::process::id());
        fs::write(target.join("victim"), "old").unwrap();
        symlink(target.join("victim"), &name).unwrap();
        let outcome =
            place.sh(&format!("echo new > {name}; cat {name}; stat -c '%a %F' /tmp; echo $TMPDIR"));
        fs::remove_file(&name).unwrap();
        assert_eq!(out(&outcome), "new\n1777 directory\n/tmp\n", "{}", all(&outcome));
        assert_eq!(fs::read(target.join("victim")).unwrap(), b"old");
    });
}

#[test]
fn e042_pipes_and_huge_files_do_not_hold_the_start_up() {
    as_both("hostile::e042_pipes_and_huge_files_do_not_hold_the_start_up", || {
        let place = Place::with(Project::new().dir(".git").dir("sub/.git"));
        let mode = rustix::fs::Mode::from_raw_mode(0o600);
        for pipe in [".git/config", "sub/.git", "pipe", ".bashrc"] {
            let path = place.project.path(pipe);
            fs::remove_dir(&path).ok();
            rustix::fs::mknodat(rustix::fs::CWD, &path, rustix::fs::FileType::Fifo, mode, 0)
                .unwrap();
        }
        let huge = fs::File::create(place.project.path("huge.pem")).unwrap();
        huge.set_len(1 << 40).unwrap();
        let begun = Instant::now();
        let outcome = place.sh("mkdir -p new/.git && mkfifo new/.git/config && echo fine");
        assert_eq!(
            (outcome.end, out(&outcome).as_str()),
            (End::Exited(0), "fine\n"),
            "{}",
            all(&outcome)
        );
        assert!(begun.elapsed() < Duration::from_secs(20), "{:?}", begun.elapsed());
        let codes: Vec<_> = outcome.notes.iter().map(|note| note.code).collect();
        assert_eq!(codes, ["set-aside"], "{:?}", outcome.notes);
    });
}

#[test]
fn e043_links_in_the_place_of_protected_and_hidden_paths_do_not_stop_the_start() {
    let name =
        "hostile::e043_links_in_the_place_of_protected_and_hidden_paths_do_not_stop_the_start";
    as_both(name, || {
        let project = Project::new()
            .dir(".git")
            .file("real", "old")
            .symlink(".git/hooks", "../nowhere")
            .symlink(".git/config", "config")
            .symlink(".bashrc", "real")
            .symlink(".zshrc", "/etc/passwd")
            .symlink("key", "key2")
            .symlink("key2", "key");
        let mut place = Place::with(project);
        let root = place.project.root().to_owned();
        symlink("/nonexistent", place.home.path(".netrc")).unwrap();
        symlink(".aws", place.home.path(".aws")).unwrap();
        for name in [".bashrc", ".zshrc"] {
            place.order.protect.push(pattern(&root, name));
        }
        let home = place.home.root().to_owned();
        place.order.hide.extend([
            pattern(&root, "key"),
            pattern(&home, ".netrc"),
            pattern(&home, ".aws"),
        ]);
        let outcome = place.sh(
            "echo evil > .bashrc; echo evil > real; rm .bashrc .zshrc .git/hooks .git/config; \
             ls -A ~ | tr '\\n' ' '; echo fine > made && cat made",
        );
        assert_eq!(out(&outcome), ".config notes fine\n", "{}", all(&outcome));
        assert_eq!(fs::read(root.join("real")).unwrap(), b"old");
        for link in [".bashrc", ".zshrc", ".git/hooks", ".git/config"] {
            assert!(root.join(link).is_symlink(), "{link}");
        }
    });
}

#[test]
fn e045_nothing_is_moved_into_or_out_of_a_writable_tree() {
    as_both("hostile::e045_nothing_is_moved_into_or_out_of_a_writable_tree", || {
        let place = Place::new();
        let outcome = place.python(
            "import os\n\
             home = os.environ['HOME']\n\
             for a, b in ((home + '/notes', 'stolen'), ('inside', home + '/moved'), ('inside', '/etc/moved'),\n\
             \x20            ('/etc/passwd', 'p'), ('inside', '/tmp/x')):\n\
             \x20   try: os.rename(a, b); print('moved')\n\
             \x20   except OSError as e: print(e.errno)\n\
             os.mkdir('a'); os.rename('inside', 'a/inside'); print('within')\n",
        );
        assert_eq!(out(&outcome), "18\n18\n18\n18\n18\nwithin\n", "{}", all(&outcome));
        assert!(place.home.path("notes").exists() && place.project.path("a/inside").exists());
    });
}

#[test]
fn e060_the_tree_of_control_groups_cannot_be_written() {
    as_both("hostile::e060_the_tree_of_control_groups_cannot_be_written", || {
        let place = Place::new();
        let outcome =
            place.sh("for d in /sys/fs/cgroup /sys/fs/cgroup/*; do [ -d $d ] || continue; \
               mkdir $d/palisade-test && echo made $d; \
               for f in $d/cgroup.procs $d/tasks $d/memory.limit_in_bytes; do \
                 [ -e $f ] && (echo 0 > $f) && echo wrote $f; done; done 2>/dev/null; \
             awk '$5 ~ \"^/sys\" && $6 !~ /^ro/ { print $5, $6 }' /proc/self/mountinfo; \
             echo 1 > /sys/kernel/mm/ksm/run; echo 1 > /proc/sys/kernel/core_pattern; \
             grep -c . /proc/self/cgroup");
        let lines: Vec<String> = out(&outcome).lines().map(str::to_owned).collect();
        assert_eq!(lines.len(), 1, "{}", all(&outcome));
    });
}

/// Runs a body in a process that `shell` prepares, which ends in `exec "$@"`: as whoever runs the
/// tests and, if that is root, as an ordinary user.
pub(crate) fn prepared(name: &str, shell: &str, body: impl Fn()) {
    const PREPARED: &str = "PALISADE_TEST_PREPARED";
    if std::env::var_os(PREPARED).is_some() {
        return body();
    }
    as_both(name, || {
        let output = std::process::Command::new("/bin/sh")
            .args(["-c", shell, "sh"])
            .arg(std::env::current_exe().unwrap())
            .args([name, "--exact", "--nocapture", "--test-threads=1"])
            .env(PREPARED, "yes")
            .output()
            .unwrap();
        let text = String::from_utf8_lossy(&output.stdout);
        let errors = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success() && text.contains("1 passed"), "{text}{errors}");
    });
}

#[test]
fn e058_a_host_whose_one_listener_is_taken_makes_no_difference() {
    let name = "hostile::e058_a_host_whose_one_listener_is_taken_makes_no_difference";
    // A filter of the host's that lets everything through and has taken the only listener there is.
    let shell = "exec /usr/bin/python3 -c '
import ctypes, os, struct, sys
c = ctypes.CDLL(None, use_errno=True)
code = ctypes.create_string_buffer(struct.pack(\"<HBBI\", 6, 0, 0, 0x7fff0000))
program = ctypes.create_string_buffer(struct.pack(\"<HxxxxxxQ\", 1, ctypes.addressof(code)))
c.prctl(38, 1, 0, 0, 0)
number = {\"x86_64\": 317, \"aarch64\": 277}[os.uname().machine]
listener = c.syscall(number, 1, 8, program)
assert listener > 0, ctypes.get_errno()
os.set_inheritable(listener, True)
os.execv(sys.argv[1], sys.argv[1:])' \"$@\"";
    prepared(name, shell, || {
        assert_eq!(out(&Place::new().sh("echo fine; echo x > /etc/x")), "fine\n");
    });
}

#[test]
fn a_host_that_ignores_its_children_makes_no_difference() {
    let name = "hostile::a_host_that_ignores_its_children_makes_no_difference";
    if in_child(name, "trap '' CHLD; exec \"$@\"") == Turn::Done {
        return;
    }
    assert_eq!(Place::new().sh("exit 7").exit_code(), 7);
}

#[test]
fn a114_where_the_kernel_refuses_namespaces_nothing_is_started() {
    let name = "hostile::a114_where_the_kernel_refuses_namespaces_nothing_is_started";
    prepared(name, COUNTED, || {
        let mut place = Place::new();
        place.order.argv = ["touch", "ran"].map(str::to_owned).into();
        let host = Host::probe();
        let facts = host.facts(&place.order.questions());
        let error = build(&permit(), &place.order, &facts).unwrap_err();
        assert_eq!(error.code(), "missing-wall", "{error}");
        let why = "making namespaces fails, the limit of namespaces is reached, here or in what is \
                   around this (ENOSPC)";
        assert!(error.to_string().contains(why), "{error}");
        assert!(!place.project.path("ran").exists());
    });
}

#[test]
fn a063_without_an_enforcer_the_command_is_refused() {
    as_both("hostile::a063_without_an_enforcer_the_command_is_refused", || {
        let mut place = Place::new();
        place.order.argv = ["touch", "ran"].map(str::to_owned).into();
        let host = Host::probe();
        let mut facts = host.facts(&place.order.questions());
        assert!(build(&permit(), &place.order, &facts).is_ok());
        facts.kernel.arch = None;
        assert_eq!(build(&permit(), &place.order, &facts).unwrap_err().code(), "missing-wall");
    });
}

#[test]
fn root_on_filesystems_that_cannot_change_owners_has_masks() {
    if need(Fact::Root) == Need::Skip {
        return;
    }
    let mut place = Place::new();
    let script = "echo x > made; for f in /proc/sys/kernel/core_pattern /proc/sysrq-trigger; do \
        (echo x > $f) && echo wrote $f; done 2>/dev/null; \
        for f in /proc/kcore /proc/kmsg /proc/keys /etc/shadow; do head -c 1 $f 2>/dev/null | wc -c; done; \
        ls /proc/bus /sys/firmware 2>/dev/null; cat /proc/self/uid_map | tr -s ' '";
    place.order.argv = ["sh", "-c", script].map(str::to_owned).into();
    let host = Host::probe();
    let mut facts = host.facts(&place.order.questions());
    facts.privilege = Privilege::Root { idmap: Idmap::Refused(22) };
    let plan = build(&permit(), &place.order, &facts).unwrap();
    let outcome = host.start(&plan, palisade_apply::Streams::default()).unwrap().wait().unwrap();
    assert_eq!(out(&outcome), "0\n0\n0\n0\n 0 0 1\n", "{}", all(&outcome));
    assert!(place.project.path("made").exists());
    let held = outcome.enforced.iter().find(|one| one.layer == Layer::Privileges).unwrap();
    assert_eq!(held.strength.word(), "partial");
}

#[test]
fn processes_of_root_are_counted_by_us_where_the_kernel_does_not() {
    if need(Fact::Root) == Need::Skip {
        return;
    }
    let mut place = Place::new();
    let script = "import os, time\n\
        for _ in range(300):\n\
        \x20   if os.fork() == 0: time.sleep(20); os._exit(0)\n\
        time.sleep(20)\n";
    place.order.argv = ["/usr/bin/python3", "-c", script].map(str::to_owned).into();
    place.order.bounds.processes = Some(50);
    let host = Host::probe();
    let mut facts = host.facts(&place.order.questions());
    facts.privilege = Privilege::Root { idmap: Idmap::Refused(22) };
    let plan = build(&permit(), &place.order, &facts).unwrap();
    let outcome = host.start(&plan, palisade_apply::Streams::default()).unwrap().wait().unwrap();
    assert_eq!(outcome.limit, Some(Bound::Processes), "{}", all(&outcome));
    assert_eq!((outcome.end, outcome.reached.len()), (End::Signalled(9), 0), "named once");
}
