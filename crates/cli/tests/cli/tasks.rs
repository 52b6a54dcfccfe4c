//! `palisade run --tasks`: side by side, and kept from each other.

use std::fs;
use std::process::Stdio;
use std::thread;
use std::time::{Duration, Instant};

use palisade_testkit::Home;
use serde_json::{Value as Json, json};

use crate::kit::{PALISADE, Person, Ran, World, as_both};
use crate::schema::assert_fits;

/// Reads what the others have, and says what it could.
const LOOKS: &str = "touch begun\n\
    for other in one two three; do\n\
    if cat ../$other/secret 2>/dev/null; then echo; fi\ndone\nls ..\n";

/// Makes a world whose project is in the home folder, where everything that is not hidden is seen.
fn world(person: Person, tasks: &str) -> World {
    let mut home = Home::new().file("t/tasks.yaml", tasks);
    for name in ["one", "two", "three"] {
        home = home.file(format!("t/{name}/secret"), format!("secret of {name}"));
        home = home.file(format!("t/{name}/look.sh"), LOOKS);
    }
    World { home, person, ..World::new() }
}

fn run(world: &World, arguments: &[&str]) -> Ran {
    let mut command = world.command(PALISADE);
    command.args(["run", "--tasks", "tasks.yaml"]).args(arguments);
    world.finish(command.current_dir(world.home.path("t")))
}

fn told(world: &World, arguments: &[&str]) -> Json {
    let ran = run(world, &[&["--json"], arguments].concat());
    let told: Json = serde_json::from_str(&ran.stdout)
        .unwrap_or_else(|_| panic!("{}{}", ran.stdout, ran.stderr));
    assert_fits(&told, "tasks.json");
    let outcomes = told["tasks"].as_array().unwrap().iter().map(|task| &task["outcome"]);
    outcomes.filter(|it| it.is_object()).for_each(|it| assert_fits(it, "outcome.json"));
    told
}

fn states(told: &Json) -> Vec<String> {
    let one = |task: &Json| format!("{} {}", task["task"], task["state"]).replace('"', "");
    told["tasks"].as_array().unwrap().iter().map(one).collect()
}

const THREE: &str = "tasks:
  - { id: one, agent_name: alpha, workspace: one, command: sh look.sh }
  - { id: two, agent_name: beta, workspace: two, command: [sh, look.sh] }
  - { id: three, agent_name: alpha, workspace: ~/t/three, command: sh look.sh }
";

#[test]
fn a201_tasks_run_side_by_side_and_none_reads_another_from_the_start() {
    as_both(|from| {
        let world = world(from.person, THREE);
        let told = told(&world, &[]);
        assert_eq!(states(&told), ["one ok", "two ok", "three ok"], "{told}");
        assert_eq!((&told["ok"], &told["exit_code"]), (&json!(true), &json!(0)));
        for task in told["tasks"].as_array().unwrap() {
            let name = task["task"].as_str().unwrap();
            let stdout = task["outcome"]["stdout"].as_str().unwrap();
            let secrets: Vec<&str> = stdout.lines().filter(|it| it.starts_with("secret")).collect();
            assert_eq!(secrets, [format!("secret of {name}")], "{stdout}");
            for other in ["one", "two", "three"].iter().filter(|other| **other != name) {
                assert!(!stdout.lines().any(|line| line == *other), "{name} lists {other}");
            }
        }
        // One alone does not read the others either, which do not run.
        let ran = run(&world, &["--task", "two"]);
        assert_eq!(ran.code, Some(0), "{}", ran.stderr);
        assert!(ran.stdout.contains("two| secret of two"), "{}", ran.stdout);
        assert!(!ran.stdout.contains("secret of one"), "{}", ran.stdout);
        // Without tasks they are seen: the probe works.
        let mut plain = world.command(PALISADE);
        plain.args(["run", "--", "sh", "look.sh"]).current_dir(world.home.path("t/one"));
        let plain = world.finish(&mut plain);
        assert_eq!(plain.stdout.matches("secret of").count(), 3, "{}", plain.stdout);
    });
}

#[test]
fn a201_tasks_are_under_way_at_the_same_time_and_jobs_bounds_how_many() {
    as_both(|from| {
        // Each goes on when all have begun, which it sees by a folder that all may write.
        let meet = "touch ../met/$(basename $PWD); for i in $(seq 100); do test $(ls ../met | wc -l) = 3 && exit 0; sleep 0.1; done; exit 9";
        let task =
            |name: &str| format!("  - {{ id: {name}, workspace: {name}, command: sh meet.sh }}\n");
        let tasks = format!("tasks:\n{}", ["one", "two", "three"].map(task).concat());
        let world = world(from.person, &tasks);
        for name in ["one", "two", "three"] {
            fs::write(world.home.path(format!("t/{name}/meet.sh")), meet).unwrap();
        }
        fs::create_dir(world.home.path("t/met")).unwrap();
        fs::write(world.home.path("t/p.yaml"), "files: { write: [., ~/t/met] }\n").unwrap();
        let with = ["--policy", "p.yaml"];
        assert_eq!(states(&told(&world, &with)), ["one ok", "two ok", "three ok"]);
        fs::remove_dir_all(world.home.path("t/met")).unwrap();
        fs::create_dir(world.home.path("t/met")).unwrap();
        fs::write(world.home.path("t/one/meet.sh"), meet.replace("seq 100", "seq 3")).unwrap();
        let alone = told(&world, &[&with[..], &["--jobs", "1"]].concat());
        assert_eq!(states(&alone)[0], "one exit 9", "nobody else had begun");
        assert_eq!(alone["exit_code"], 9);
    });
}

#[test]
fn tasks_wait_for_each_other_and_are_skipped_when_one_before_them_fails() {
    let world = world(
        Person::Ours,
        "tasks:
  - { id: last, workspace: one, depends_on: [first], command: test -e made }
  - { id: first, workspace: one, command: touch made }
  - { id: bad, workspace: two, command: exit 7 }
  - { id: after, workspace: two, depends_on: [bad], command: touch never }
  - { id: old, workspace: three, status: done, command: touch never }
  - { id: later, workspace: three, depends_on: [old], command: [rm, -rf, /etc] }
",
    );
    let told = told(&world, &[]);
    let mut found = states(&told);
    found.sort();
    assert_eq!(
        found,
        ["after skipped", "bad exit 7", "first ok", "last ok", "later denied", "old done before"]
    );
    assert_eq!(told["exit_code"], 7, "the first that failed");
    assert!(!world.home.path("t/two/never").exists());
    assert!(!world.home.path("t/three/never").exists());
    let shown = run(&world, &[]);
    assert_eq!(shown.code, Some(7));
    let sum = "2 of 5 tasks ended well; done before, and not run: 1\n";
    assert!(shown.stderr.contains(sum), "{}", shown.stderr);
    assert!(shown.stderr.contains("note: `after` was not run: a task before it failed"));
}

#[test]
fn what_cannot_be_kept_apart_or_run_is_refused_before_anything_is() {
    let made = "command: touch made";
    for (tasks, arguments, code, hint) in [
        (format!("[{{ id: one, {made} }}]"), &[][..], "workspace", "--workspaces DIR"),
        (
            format!("[{{ id: a, workspace: one, {made} }}, {{ id: b, workspace: one, {made} }}]"),
            &[],
            "workspaces-overlap",
            "depends_on",
        ),
        (
            format!("[{{ id: a, workspace: one, {made} }}, {{ id: b, workspace: ., {made} }}]"),
            &[],
            "workspaces-overlap",
            "beside",
        ),
        (format!("[{{ id: a, workspace: gone, {made} }}]"), &[], "workspace", "make it first"),
        (format!("[{{ id: a, workspace: '~/', {made} }}]"), &[], "workspace", "of its own"),
        (format!("[{{ id: a, workspace: /, {made} }}]"), &[], "workspace", "of its own"),
        (format!("[{{ id: a, workspace: ../.., {made} }}]"), &[], "workspace", "of its own"),
        (
            format!("[{{ id: a, workspace: .git/hooks, {made} }}]"),
            &[],
            "workspace",
            "do not start from",
        ),
        (format!("[{{ id: a, workspace: .git, {made} }}]"), &[], "workspace", "do not start from"),
        (
            format!("[{{ id: a, workspace: .git/inside, {made} }}]"),
            &[],
            "workspace",
            "do not start from",
        ),
        (
            "[{ id: a, agent_name: codex, workspace: one, instructions: '--help me' }]".into(),
            &[],
            "instructions",
            "begin with a word",
        ),
        ("[{ id: a, workspace: one }]".into(), &[], "no-command", "`instructions`"),
        (format!("[{{ id: ../up, {made} }}]"), &["--workspaces", "ws"], "workspace", "`workspace`"),
        (format!("[{{ id: a, workspace: one, {made} }}]"), &["--root", "."], "tasks", "workspace"),
        (format!("[{{ id: a, workspace: one, {made} }}]"), &["--task", "b"], "tasks", ""),
        (
            format!("[{{ id: a, workspace: one, sandbox: {{ enabled: false }}, {made} }}]"),
            &[],
            "task-unconfined",
            "run it alone",
        ),
        (
            format!("[{{ id: a, workspace: one, {made} }}]"),
            &["--policy", "external.yaml"],
            "task-unconfined",
            "require: full",
        ),
        (
            format!("[{{ id: a, workspace: one, {made} }}]"),
            &["--policy", "none.yaml"],
            "task-unconfined",
            "`require: none`",
        ),
        ("[{ id: a, depends_on: [a] }]".into(), &[], "tasks-in-a-circle", ""),
        (
            format!("[{{ id: a, {made} }}]"),
            &["--task", "a", "--workspaces", "ws", "--", "touch", "one/made"],
            "tasks",
            "leave the command out",
        ),
        (
            format!("[{{ id: a, workspace: one, {made} }}]"),
            &["--task", "a", "--jobs", "2", "--", "touch", "one/made"],
            "tasks",
            "leave the command out",
        ),
    ] {
        let world = world(Person::Ours, &format!("tasks: {tasks}\n"));
        fs::write(world.home.path("t/external.yaml"), "require: external\n").unwrap();
        fs::write(world.home.path("t/none.yaml"), "require: none\n").unwrap();
        fs::create_dir_all(world.home.path("t/.git/hooks")).unwrap();
        fs::create_dir_all(world.home.path("t/.git/inside")).unwrap();
        let ran = run(&world, arguments);
        assert_eq!(ran.code, Some(125), "{tasks}: {}", ran.stderr);
        let is = format!("error[{code}]");
        assert!(ran.stderr.contains(&is) && ran.stderr.contains(hint), "{tasks}: {}", ran.stderr);
        assert!(!world.home.path("t/one/made").exists(), "{tasks}");
    }
}

#[test]
fn a_workspace_to_which_a_command_could_have_made_a_link_is_refused() {
    as_both(|from| {
        let tasks = "tasks: [{ id: one, workspace: ws/one, command: touch made }]\n";
        let world = world(from.person, tasks);
        let place = |path: &str| world.home.path(path);
        fs::create_dir_all(place("t/ws/one")).unwrap();
        fs::create_dir_all(place("t/.git/objects")).unwrap();
        fs::create_dir_all(place(".config/own")).unwrap();
        assert_eq!(run(&world, &[]).code, Some(0), "it is a workspace");
        let mut plain = world.command(PALISADE);
        plain.args(["run", "--shell", "rm -r ws/one && ln -s ~/.config/own ws/one"]);
        assert_eq!(world.finish(plain.current_dir(place("t"))).code, Some(0));
        for arguments in [&[][..], &["--task", "one"]] {
            let ran = run(&world, arguments);
            assert_eq!(ran.code, Some(125), "{}", ran.stderr);
            assert!(ran.stderr.contains("through the link"), "{}", ran.stderr);
            assert!(!place(".config/own/made").exists());
        }
        fs::write(place("t/tasks.yaml"), "tasks: [{ id: one, command: touch made }]\n").unwrap();
        let ran = run(&world, &["--workspaces", "ws"]);
        assert!(ran.code == Some(125) && ran.stderr.contains("through the link"), "{}", ran.stderr);
        assert!(!place(".config/own/made").exists());
    });
}

#[test]
fn tasks_of_one_file_know_each_other_and_who_ran_before_is_told_of() {
    // Each goes on when the other has begun, which it sees by a folder that both may write.
    let meet = "touch ../met/$(basename $PWD); for i in $(seq 300); do test $(ls ../met | wc -l) = 2 && exit 0; sleep 0.1; done; exit 9";
    let world = world(
        Person::Ours,
        "tasks:
  - { id: one, agent_name: alpha, workspace: one, command: sh meet.sh }
  - { id: two, agent_name: beta, workspace: two, command: sh meet.sh }
",
    );
    for name in ["one", "two"] {
        fs::write(world.home.path(format!("t/{name}/meet.sh")), meet).unwrap();
    }
    fs::create_dir(world.home.path("t/met")).unwrap();
    fs::write(world.home.path("t/p.yaml"), "files: { write: [., ~/t/met] }\n").unwrap();
    let ran = run(&world, &["--policy", "p.yaml"]);
    assert_eq!(ran.code, Some(0), "{}", ran.stderr);
    assert!(!ran.stderr.contains("was running"), "{}", ran.stderr);
    // Somebody else does not know of them.
    let wait = "touch begun; while ! test -e go; do sleep 0.05; done\n";
    fs::write(world.home.path("t/three/wait.sh"), wait).unwrap();
    for place in ["t/one", "t/two"] {
        let place = world.home.path(place);
        world.run(&["agents", "forget", place.to_str().unwrap()]);
    }
    let mut other = world.command(PALISADE);
    other.args(["run", "--root", ".", "--agent", "gamma", "--", "sh", "wait.sh"]);
    other.current_dir(world.home.path("t/three")).stdout(Stdio::null()).stderr(Stdio::null());
    let mut other = other.spawn().unwrap();
    let until = Instant::now() + Duration::from_secs(60);
    while !world.home.path("t/three/begun").exists() {
        assert!(Instant::now() < until, "it never began");
        thread::sleep(Duration::from_millis(10));
    }
    let ran = run(&world, &["--policy", "p.yaml"]);
    fs::write(world.home.path("t/three/go"), "").unwrap();
    other.wait().unwrap();
    assert_eq!(ran.code, Some(0), "{}", ran.stderr);
    let told: Vec<&str> = ran.stderr.lines().filter(|line| line.contains("was running")).collect();
    assert_eq!(told.len(), 2, "{}", ran.stderr);
    for part in ["`gamma` was running in `", "t/three`", "t/one` was known", "`alpha`"] {
        assert!(told[0].contains(part), "{part}: {told:?}");
    }
}

#[test]
fn a_key_of_a_task_that_is_nearly_one_of_ours_is_told_of() {
    let world = world(
        Person::Ours,
        "tasks:\n  - id: one\n    workspace: one\n    comand: touch made\n    estimate: 3\n    command: ls\n",
    );
    let ran = run(&world, &[]);
    assert_eq!(ran.code, Some(0), "{}", ran.stderr);
    for part in ["unknown key `tasks.comand`\n  --> tasks.yaml:4:5", "did you mean `command`?"] {
        assert_eq!(ran.stderr.matches(part).count(), 1, "{part}: {}", ran.stderr);
    }
    assert!(!ran.stderr.contains("estimate"), "{}", ran.stderr);
}

#[test]
fn a_command_or_an_agent_does_what_a_task_says() {
    let world = world(
        Person::Ours,
        "tasks:\n  - { id: one, agent_name: codex, workspace: one, instructions: 'say $(hi); {task}' }\n  \
         - { id: two, agent_name: beta, instructions: other }\n",
    );
    let given = ["--workspaces", ".", "--", "echo", "{task}", "{agent}:{instructions}"];
    let told = told(&world, &given);
    let out = |at: usize| told["tasks"][at]["outcome"]["stdout"].as_str().unwrap().to_owned();
    assert_eq!(out(0), "one codex:say $(hi); {task}\n", "no shell reads it, and it is filled once");
    assert_eq!(out(1), "two beta:other\n");
    let only = run(&world, &["--task", "one", "--json"]);
    let only: Json = serde_json::from_str(&only.stdout).unwrap();
    let argv = &only["tasks"][0]["outcome"]["argv"];
    let words = ["codex", "-c", "sandbox_mode=danger-full-access", "exec", "say $(hi); {task}"];
    assert_eq!(*argv, json!(words), "{only}");
}

#[test]
fn a_command_that_is_run_once_for_a_task_is_filled_in_too() {
    let world = world(
        Person::Ours,
        "tasks:\n  - { id: one, agent_name: beta, workspace: one, instructions: 'say $(hi); {task}' }\n  \
         - { id: two }\n",
    );
    let once = |task: &str, command: &[&str]| {
        let ran = run(&world, &[&["--task", task], command].concat());
        assert_eq!(ran.code, Some(0), "{}", ran.stderr);
        ran.stdout
    };
    let words = ["--", "echo", "{task}", "{agent}:{instructions}", "{workspace}", "{other}"];
    assert_eq!(
        once("one", &words),
        "one beta:say $(hi); {task} /home/dev/t/one {other}\n",
        "no shell reads it, and it is filled once"
    );
    assert_eq!(once("two", &words), "two : /home/dev/t {other}\n");
    assert_eq!(once("one", &["--shell", "echo '{task}'"]), "{task}\n", "a shell reads it");
    let mut policy = world.command(PALISADE);
    policy.args(["run", "--policy", "bloom:tasks.yaml", "--task", "one", "--", "echo", "{task}"]);
    let policy = world.finish(policy.current_dir(world.home.path("t")));
    assert_eq!(policy.stdout, "{task}\n", "a policy fills nothing in: {}", policy.stderr);
}

#[test]
fn a_signal_ends_all_tasks_and_the_rest_are_not_begun() {
    let signals = [rustix::process::Signal::TERM, rustix::process::Signal::INT];
    as_both(|from| signals.iter().for_each(|signal| signalled(from.person, *signal)));
}

fn signalled(person: Person, signal: rustix::process::Signal) {
    let task = |name: &str| {
        format!(
            "  - {{ id: {name}, workspace: {name}, command: 'touch begun; sleep 60; touch late' }}\n"
        )
    };
    let tasks = format!("tasks:\n{}", ["one", "two", "three"].map(task).concat());
    let world = world(person, &tasks);
    // Whoever started the tests may have had it ignored.
    let mut command = world.command("env");
    command.arg("--default-signal=INT").arg(world.command(PALISADE).get_program());
    command.args(["run", "--tasks", "tasks.yaml", "--jobs", "2", "--json"]);
    command.current_dir(world.home.path("t")).stdout(Stdio::piped());
    let child = command.spawn().unwrap();
    let until = Instant::now() + Duration::from_secs(60);
    while !["one", "two"].iter().all(|it| world.home.path(format!("t/{it}/begun")).exists()) {
        assert!(Instant::now() < until, "they never began");
        thread::sleep(Duration::from_millis(20));
    }
    rustix::process::kill_process(rustix::process::Pid::from_child(&child), signal).unwrap();
    let begun = Instant::now();
    let output = child.wait_with_output().unwrap();
    assert!(begun.elapsed() < Duration::from_secs(30));
    let code = 128 + signal.as_raw();
    assert_eq!(output.status.code(), Some(code));
    let told: Json = serde_json::from_slice(&output.stdout).unwrap();
    let ended = |name: &str| format!("{name} exit {code}");
    assert_eq!(states(&told), [ended("one"), ended("two"), "three skipped".into()], "{told}");
    assert!(!world.home.path("t/one/late").exists());
}

#[test]
fn what_is_told_of_tasks_stands_in_the_order_in_which_it_happened() {
    let world = world(
        Person::Ours,
        "tasks:
  - { id: one, workspace: one, command: echo first }
  - { id: two, workspace: two, depends_on: [one], command: echo second }
",
    );
    let mut command = world.command("sh");
    command.args(["-c", "exec \"$@\" 2>&1", "sh", PALISADE, "run", "--tasks", "tasks.yaml"]);
    let ran = world.finish(command.current_dir(world.home.path("t")));
    let lines = [
        "one: begun in /home/dev/t/one",
        "one| first",
        "one: ended: ok",
        "two: begun in /home/dev/t/two",
        "two| second",
        "two: ended: ok",
        "2 of 2 tasks ended well",
    ];
    assert_eq!(ran.stdout.lines().collect::<Vec<_>>(), lines);
}

#[test]
fn what_is_not_known_of_agents_does_not_keep_tasks_without_one() {
    let task = "tasks: [{ id: one, workspace: one, command: touch made }]\n";
    let world = world(World::new().person, task);
    let broken = world.home.path(".local/state/palisade/workspaces/broken.workspace");
    fs::create_dir_all(broken.parent().unwrap()).unwrap();
    fs::write(broken, "nonsense").unwrap();
    let ran = run(&world, &[]);
    assert_eq!(ran.code, Some(0), "{}", ran.stderr);
    assert!(world.home.path("t/one/made").exists());
    fs::remove_file(world.home.path("t/one/made")).unwrap();
    let agent = task.replace("id: one,", "id: one, agent_name: codex,");
    fs::write(world.home.path("t/tasks.yaml"), agent).unwrap();
    let ran = run(&world, &[]);
    assert_eq!(ran.code, Some(125), "{}", ran.stderr);
    assert!(!world.home.path("t/one/made").exists());
}

#[test]
fn what_agents_and_programs_keep_and_what_is_everybodys_is_no_workspace() {
    let world = world(Person::Ours, "");
    let refused = |place: &str| {
        let tasks = format!("tasks: [{{ id: one, workspace: '{place}', command: touch made }}]\n");
        fs::write(world.home.path("t/tasks.yaml"), tasks).unwrap();
        let ran = run(&world, &[]);
        let told = ran.stderr.contains("error[workspace]") && ran.stderr.contains("hint: name a");
        assert_eq!(told, ran.code == Some(125), "{place}: {}", ran.stderr);
        told
    };
    let kept = [".claude/projects/x", ".codex", ".config/opencode", ".local/state/palisade/trust"];
    for folder in [&kept[..], &[".cache", "code/app", ".config/app", "t/link"]].concat() {
        fs::create_dir_all(world.home.path(folder)).unwrap();
    }
    for place in ["~", "~/..", "/", "/tmp", "/var/tmp", "/usr", "/etc", "/home", "/dev/shm"] {
        assert!(refused(place), "{place}");
    }
    for place in ["~/.claude", "~/.claude/projects/x", "~/.codex", "~/.config", "~/.local"] {
        assert!(refused(place), "{place}");
    }
    for place in ["~/.cache", "~/.local/state/palisade", "~/.local/state/palisade/trust"] {
        assert!(refused(place), "{place}");
    }
    fs::remove_dir(world.home.path("t/link")).unwrap();
    std::os::unix::fs::symlink("../.claude", world.home.path("t/link")).unwrap();
    assert!(refused("link"), "by what it is");
    for place in ["~/code/app", "one", "~/.config/app"] {
        assert!(!refused(place), "{place}");
        assert!(world.home.path("t").join(place.replace('~', "..")).join("made").exists());
    }
}

#[test]
fn what_a_file_says_is_no_option_of_a_command_unless_its_options_have_ended() {
    let world = world(
        Person::Ours,
        "tasks: [{ id: one, workspace: one, instructions: '--help me' }, { id: two, workspace: two }]\n",
    );
    for once in [&[][..], &["--task", "one"]] {
        for (command, printed) in [
            (&["echo", "{instructions}"][..], None),
            (&["echo", "-n", "{instructions}{task}"], None),
            (&["echo", "{task}", "{instructions}", "--"], None),
            (&["printf", "%s\n", "--", "{instructions}"], Some("--help me\n")),
            (&["echo", "do {instructions}"], Some("do --help me\n")),
            (&["echo", "-{instructions}"], Some("---help me\n")),
        ] {
            let ran = run(&world, &[once, &["--"], command].concat());
            let refused = ran.stderr.contains("error[instructions]: `{instructions}");
            assert_eq!(refused, printed.is_none(), "{command:?}: {}", ran.stderr);
            assert_eq!(ran.code == Some(125), refused, "{command:?}: {}", ran.stderr);
            assert!(
                !refused || ran.stderr.contains("hint: write `--` before it"),
                "{}",
                ran.stderr
            );
            let printed = printed.unwrap_or_default();
            assert!(ran.stdout.contains(printed), "{command:?}: {}", ran.stdout);
        }
    }
}
