//! What an outcome tells beside the command's own words: what it tried, touched, left and met.

use std::fs;
use std::path::PathBuf;
use std::time::Duration;

use palisade_apply::{Bound, End, Streams, Survivors, Used, Violations};
use palisade_plan::{Bounds, Trace};
use palisade_testkit::Project;
use rustix::process::{Pid, Signal};

use crate::{Place, all, as_both, out, started};

#[test]
fn writes_that_will_be_refused_are_told_with_their_rule_and_remedy() {
    as_both("outcome::writes_that_will_be_refused_are_told_with_their_rule_and_remedy", || {
        let mut place = Place::with(Project::new().file(".git/hooks/pre-commit", "#!/bin/sh\n"));
        place.order.trace = Trace::Writes;
        std::os::unix::fs::symlink("/etc", place.project.path("link")).unwrap();
        let home = place.home.root().display().to_string();
        let outcome = place.sh(
            "touch /etc/x; touch /etc/x; echo fine > made; cat made /etc/hostname >/dev/null; \
             mkdir ~/new; rm .git/hooks/pre-commit; echo x > link/y; echo x > /tmp/z; \
             cd /usr && touch ./here; echo x > ~/.ssh/id; (exec 3<>/dev/null); true",
        );
        assert_eq!(outcome.end, End::Exited(0), "{}", all(&outcome));
        let Violations::Predicted(found) = &outcome.violations else { panic!("not traced") };
        let told: Vec<_> = found
            .iter()
            .map(|one| (one.operation, one.path.to_str().unwrap(), one.rule, one.times))
            .collect();
        let hook = place.project.path(".git/hooks/pre-commit");
        let expected = [
            ("open", "/etc/x", "files.write", 2),
            ("mkdir", &format!("{home}/new"), "files.write", 1),
            ("remove", hook.to_str().unwrap(), "files.protect", 1),
            ("open", "/etc/y", "files.write", 1),
            ("open", "/usr/here", "files.write", 1),
            ("open", &format!("{home}/.ssh/id"), "files.hide", 1),
        ];
        for one in expected {
            assert!(told.contains(&one), "{one:?} in {told:#?}");
        }
        // Programs also try what they do without, like changing times after a failed open.
        let foreign = |path: &str| !expected.iter().any(|one| one.1 == path);
        assert!(!told.iter().any(|one| foreign(one.1)), "{told:#?}");
        assert!(found[0].remedy.ends_with("this is the system's"), "{}", found[0].remedy);
        assert!(!PathBuf::from("/etc/x").exists());
        let Used { written, programs, more } = &outcome.used;
        assert!(written.contains(&place.project.path("made")), "{written:#?}");
        let outside = |path: &PathBuf| path.starts_with("/etc") || path.starts_with("/usr");
        assert!(!written.iter().any(outside), "{written:#?}");
        let has = |name: &str| programs.iter().any(|path| path.ends_with(name));
        assert!(has("touch") && has("cat") && has("mkdir") && !has("true"), "{programs:#?}");
        assert!(!more);
        place.order.trace = Trace::Off;
        let outcome = place.sh("touch /etc/x");
        assert_eq!(outcome.violations, Violations::Unavailable);
    });
}

#[test]
fn tracing_changes_nothing_for_threads_forks_and_the_killed() {
    as_both("outcome::tracing_changes_nothing_for_threads_forks_and_the_killed", || {
        let mut place = Place::new();
        place.order.trace = Trace::Writes;
        let script = "import os, threading\n\
            def work(n):\n\
            \x20   for i in range(50):\n\
            \x20       open(f'{n}-{i}', 'w').write('x')\n\
            \x20       try: open('/etc/x', 'w')\n\
            \x20       except OSError as e: assert e.errno in (13, 30), e\n\
            threads = [threading.Thread(target=work, args=(n,)) for n in range(8)]\n\
            [t.start() for t in threads]; [t.join() for t in threads]\n\
            if os.fork() == 0: work(9); os._exit(0)\n\
            os.wait(); print(len(os.listdir('.')))\n";
        let outcome = place.python(script);
        assert_eq!(out(&outcome), "451\n", "{}", all(&outcome));
        let Violations::Predicted(found) = &outcome.violations else { panic!("not traced") };
        let etc: Vec<_> = found.iter().filter(|one| one.path.ends_with("x")).collect();
        assert_eq!(etc.iter().map(|one| one.times).sum::<u64>(), 450, "{found:?}");
        place.order.bounds.time = Some(Duration::from_secs(2));
        let outcome = place.sh("while :; do echo x > file; done");
        assert_eq!(outcome.end, End::TimedOut);
    });
}

#[test]
fn e040_files_that_execute_elsewhere_are_told_when_they_were_touched() {
    as_both("outcome::e040_files_that_execute_elsewhere_are_told_when_they_were_touched", || {
        let place = Place::with(
            Project::new()
                .file("package.json", "{}")
                .file("Makefile", "all:\n")
                .file(".github/workflows/old.yml", "on: push\n"),
        );
        std::thread::sleep(Duration::from_millis(30));
        let quiet = place.sh("cat Makefile; echo x > plain.txt");
        assert_eq!(quiet.touched, [], "{}", all(&quiet));
        let outcome = place
            .sh("echo '{}' >> package.json; echo x > .github/workflows/new.yml; echo x > .envrc; \
             mkdir .husky; echo x > .husky/pre-push; echo x > other; \
             for f in .bashrc .ssh/authorized_keys .vscode/tasks.json .idea/run.xml conftest.py .npmrc \
               .venv/lib/python3.11/site-packages/a.pth .pyenv/shims/python .config/autostart/a.desktop \
               .config/systemd/user/a.service Makefile .git/rebase-merge/git-rebase-todo \
               .git/rebase-merge/done .git/sequencer/todo .venv/lib/python3.11/site-packages/plain.py; \
             do mkdir -p $(dirname $f); echo x >> $f; done");
        let mut told: Vec<_> = outcome
            .touched
            .iter()
            .map(|one| {
                (one.path.strip_prefix(place.project.root()).unwrap().to_str().unwrap(), one.why)
            })
            .collect();
        told.sort_unstable();
        let expected = [
            (".bashrc", "shell start-up"),
            (".config/autostart/a.desktop", "login"),
            (".config/systemd/user/a.service", "login"),
            (".envrc", "shell start-up"),
            (".git/rebase-merge/git-rebase-todo", "hook"),
            (".git/sequencer/todo", "hook"),
            (".github/workflows/new.yml", "ci"),
            (".husky/pre-push", "hook"),
            (".idea/run.xml", "editor"),
            (".npmrc", "package scripts"),
            (".pyenv/shims/python", "python"),
            (".ssh/authorized_keys", "login"),
            (".venv/lib/python3.11/site-packages/a.pth", "python"),
            (".vscode/tasks.json", "editor"),
            ("Makefile", "build"),
            ("conftest.py", "python"),
            ("package.json", "package scripts"),
        ];
        assert_eq!(told, expected, "{}", all(&outcome));
    });
}

#[test]
fn a197_what_is_left_in_tmp_is_listed_and_a_named_folder_there_is_the_hosts() {
    as_both(
        "outcome::a197_what_is_left_in_tmp_is_listed_and_a_named_folder_there_is_the_hosts",
        || {
            // A project below /tmp, another folder there that is writable, and one that is missing.
            let (mut place, build) = (Place::new(), Project::new());
            assert!(build.root().starts_with("/tmp"), "{}", build.root().display());
            place.order.write.push(build.root().into());
            place.order.write.push("/tmp/palisade-no-such-folder".into());
            let outcome = place.sh(&format!(
            "echo kept > {}/made; echo lost > /tmp/lost; mkdir -p /tmp/a/b; echo x > /tmp/a/b/c; \
             mkdir /tmp/empty",
            build.root().display()
        ));
            assert_eq!(fs::read(build.path("made")).unwrap(), b"kept\n", "{}", all(&outcome));
            assert!(!PathBuf::from("/tmp/lost").exists());
            let left = outcome.left_in_tmp.clone().unwrap();
            assert_eq!(left, ["/tmp/a/b/c", "/tmp/lost"].map(PathBuf::from), "{}", all(&outcome));
            assert!(outcome.notes.iter().any(|note| note.code == "write-absent"));
            assert_eq!(place.sh("true").left_in_tmp, Some(Vec::new()));
        },
    );
}

#[test]
fn a176_the_limit_that_ended_a_command_is_named() {
    as_both("outcome::a176_the_limit_that_ended_a_command_is_named", || {
        let mut place = Place::new();
        let bounds = &mut place.order.bounds;
        bounds.memory = Some(128 << 20);
        bounds.cpu = Some(Duration::from_secs(1));
        bounds.file_size = Some(1 << 20);
        bounds.open_files = Some(64);
        bounds.tmp = Some(1 << 20);
        // Touched page by page, by two that each stay below; the bound of each process is above.
        let outcome = place.python(
            "import os, time\n\
             for _ in range(2):\n\
             \x20   if os.fork() == 0:\n\
             \x20       x = []\n\
             \x20       for _ in range(40): x.append(b'x' * (2 << 20)); time.sleep(0.01)\n\
             \x20       time.sleep(30); os._exit(0)\n\
             os.wait(); print('never')\n",
        );
        assert_eq!(
            (outcome.limit, outcome.end),
            (Some(Bound::Memory), End::Signalled(9)),
            "{}",
            all(&outcome)
        );
        assert_eq!(outcome.survivors, Survivors::None);
        // One that the kernel refuses more ends in its own way, and the bound that it met is named.
        let outcome = place.python("x = []\nwhile True: x.append(b'x' * (1 << 20))\n");
        let named = (outcome.limit, &*outcome.reached);
        assert!(
            named == (None, &[Bound::Memory]) || named == (Some(Bound::Memory), &[]),
            "{named:?} {}",
            all(&outcome)
        );
        let outcome = place.sh("while :; do :; done");
        assert_eq!(
            (outcome.limit, outcome.end),
            (Some(Bound::Cpu), End::Signalled(24)),
            "{}",
            all(&outcome)
        );
        // Three that share the time; no one of them has used it up.
        place.order.bounds.cpu = Some(Duration::from_secs(2));
        let outcome = place.sh("for i in 1 2 3 4 5 6; do (while :; do :; done) & done; wait");
        assert_eq!(outcome.limit, Some(Bound::Cpu), "{}", all(&outcome));
        let outcome = place.run(&["head", "-c", "3000000", "/dev/zero"]);
        assert_eq!(outcome.limit, None, "a pipe is no file: {}", all(&outcome));
        assert_eq!(outcome.reached, [Bound::Output]);
        let outcome =
            place.run(&["dd", "if=/dev/zero", "of=big", "bs=1M", "count=3", "status=none"]);
        assert_eq!(
            (outcome.limit, outcome.end),
            (Some(Bound::FileSize), End::Signalled(25)),
            "{}",
            all(&outcome)
        );
        // The number that a shell makes of it, with and without such a file; and a program's own.
        let kept = "dd if=/dev/zero of=big2 bs=1M count=3 status=none; exit $?";
        let gone = "dd if=/dev/zero of=/tmp/big bs=1M count=3 status=none; exit $?";
        for (script, limit) in [("exit 153", None), (kept, Some(Bound::FileSize))] {
            fs::remove_file(place.project.path("big")).ok();
            let outcome = place.sh(script);
            assert_eq!((outcome.limit, outcome.end), (limit, End::Exited(153)), "{script}");
        }
        place.order.bounds.tmp = None;
        let outcome = place.sh(gone);
        assert_eq!((outcome.limit, outcome.end), (Some(Bound::FileSize), End::Exited(153)));
        let outcome = place.sh(&gone.replace("exit $?", "c=$?; rm /tmp/big; exit $c"));
        assert_eq!((outcome.limit, outcome.end), (None, End::Exited(153)), "nobody can tell");
        place.order.bounds.tmp = Some(1 << 20);
        let outcome = place.python(
            "import time\n\
             x = []\n\
             try:\n\
             \x20   while True: x.append(open('/dev/null'))\n\
             except OSError as e: time.sleep(0.5); raise SystemExit(e.errno)\n",
        );
        assert_eq!((outcome.limit, outcome.end), (None, End::Exited(24)), "{}", all(&outcome));
        assert_eq!(outcome.reached, [Bound::OpenFiles]);
        place.order.bounds.file_size = None;
        let outcome = place.sh("head -c 3000000 /dev/zero > /tmp/big");
        assert_eq!(outcome.reached, [Bound::Tmp], "{}", all(&outcome));
        // Alone too, and looked for less often.
        place.order.bounds = Bounds { processes: Some(5), ..Bounds::default() };
        let outcome = place.python(
            "import os, time\n\
             try:\n\
             \x20   while os.fork(): pass\n\
             except OSError: pass\n\
             time.sleep(1.5)\n",
        );
        assert_eq!(outcome.reached, [Bound::Processes], "{}", all(&outcome));
        place.order.bounds.time = Some(Duration::from_secs(1));
        assert_eq!(place.sh("sleep 100").limit, Some(Bound::Time));
        let fine = place.sh("echo fine");
        assert_eq!((fine.limit, fine.reached.len()), (None, 0), "{}", all(&fine));
    });
}

#[test]
fn a_command_that_has_itself_traced_has_not_ended() {
    as_both("outcome::a_command_that_has_itself_traced_has_not_ended", || {
        let place = Place::new();
        // Its parent, the first process, is told of each of its stops, and lets it go on.
        let traced = "import ctypes, os, signal\nctypes.CDLL(None).ptrace(0, 0, 0, 0)\n";
        let ends = [
            ("os.kill(os.getpid(), signal.SIGTRAP); print('on')", End::Exited(0)),
            ("os.execlp('echo', 'echo', 'on')", End::Exited(0)),
            ("os.kill(os.getpid(), signal.SIGTERM); print('never')", End::Signalled(15)),
            ("signal.signal(15, lambda *_: print('on')); os.kill(os.getpid(), 15)", End::Exited(0)),
        ];
        for (then, end) in ends {
            let outcome = place.python(&format!("{traced}{then}\n"));
            assert_eq!(outcome.end, end, "{then}: {}", all(&outcome));
            let is_on = out(&outcome) == "on\n";
            assert_eq!(is_on, end == End::Exited(0), "{then}: {}", all(&outcome));
        }
    });
}

#[test]
fn who_ends_the_first_process_does_not_make_it_look_as_if_nothing_had_run() {
    let name = "outcome::who_ends_the_first_process_does_not_make_it_look_as_if_nothing_had_run";
    as_both(name, || {
        let mut place = Place::new();
        let script = "echo said; echo made > made; while :; do sleep 1; done";
        place.order.argv = ["/bin/sh", "-c", script].map(str::to_owned).into();
        let running = started(&place, Streams::default());
        let first = || {
            let own = fs::read_to_string("/proc/thread-self/children").unwrap();
            let is_first = |pid: &&str| {
                fs::read_to_string(format!("/proc/{pid}/comm")).is_ok_and(|it| it == "pal-reaper\n")
            };
            let pid = own.split_whitespace().find(is_first)?.parse().ok()?;
            Pid::from_raw(pid).filter(|_| place.project.path("made").exists())
        };
        let first = loop {
            if let Some(first) = first() {
                break first;
            }
            std::thread::sleep(Duration::from_millis(5));
        };
        rustix::process::kill_process(first, Signal::KILL).unwrap();
        let outcome = running.wait().unwrap();
        assert_eq!((outcome.end, out(&outcome).as_str()), (End::Signalled(9), "said\n"));
    });
}

#[test]
fn files_that_execute_elsewhere_are_told_wherever_they_lie() {
    as_both("outcome::files_that_execute_elsewhere_are_told_wherever_they_lie", || {
        let project = Project::new()
            .file("web/package.json", "{}")
            .file("web/Makefile", "all:\n")
            .file("node_modules/.bin/old", "#!/bin/sh\n")
            .file(".venv/bin/activate", "x");
        let place = Place::with(project);
        std::thread::sleep(Duration::from_millis(30));
        let quiet = place.sh("cat web/Makefile; echo x > web/plain.txt; echo x > plain.sh");
        assert_eq!(quiet.touched, [], "{}", all(&quiet));
        let made = [
            (".buildkite/pipeline.yml", "ci"),
            (".cirrus.yml", "ci"),
            (".devcontainer.json", "container"),
            (".dir-locals.el", "editor"),
            (".exrc", "editor"),
            (".gdbinit", "editor"),
            (".github/actions/setup", "ci"),
            (".github/actions/setup/action.yml", "ci"),
            (".hg/hgrc", "hook"),
            (".mise.toml", "shell start-up"),
            (".nvim.lua", "editor"),
            (".venv/bin/activate", "python"),
            (".windsurfrules", "agent"),
            (".woodpecker/a.yml", "ci"),
            ("Gemfile", "package scripts"),
            ("Taskfile.yml", "build"),
            ("Vagrantfile", "container"),
            ("a/b/run.sh", "script"),
            ("configure", "build"),
            ("flake.nix", "build"),
            ("gradlew", "build"),
            ("meson.build", "build"),
            ("node_modules/.bin/new", "package scripts"),
            ("pom.xml", "build"),
            ("run.sh", "script"),
            ("sitecustomize.py", "python"),
            ("web/Makefile", "build"),
            ("web/package.json", "package scripts"),
        ];
        let files = made.iter().map(|(path, _)| *path).filter(|path| !path.ends_with("/setup"));
        let script = format!(
            "for f in {}; do mkdir -p $(dirname $f); echo x >> $f; done; chmod +x run.sh a/b/run.sh; \
             touch other.sh; mkdir target; echo x > target/run.sh; chmod +x target/run.sh",
            files.collect::<Vec<_>>().join(" ")
        );
        let outcome = place.sh(&script);
        let root = place.project.root();
        let told = |one: &palisade_apply::Touched| {
            (one.path.strip_prefix(root).unwrap().to_str().unwrap().to_owned(), one.why)
        };
        let mut told: Vec<_> = outcome.touched.iter().map(told).collect();
        told.sort_unstable();
        assert_eq!(told, made.map(|(path, why)| (path.to_owned(), why)), "{}", all(&outcome));
    });
}
