//! `palisade eval`: tasks, whoever tries them, and what came out.

use std::fs;
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::{Value as Json, json};

use crate::kit::{PALISADE, Ran, World, as_both};

/// Opens the whole project to every sample, so that only what is hidden on purpose is.
fn open(world: World) -> World {
    let root = world.project.root().display().to_string();
    world.user_policy(&format!("files: {{ write: ['{root}'] }}\n"))
}

/// Runs `palisade eval` with room for samples in the project; returns what is left there.
fn eval(world: &World, arguments: &[&str]) -> (Ran, Vec<PathBuf>) {
    let room = world.project.path("room");
    fs::create_dir_all(&room).unwrap();
    let mut command = world.command(PALISADE);
    command.arg("eval").args(arguments).env("TMPDIR", &room).env("PATH", "/usr/bin:/bin");
    let ran = world.finish(&mut command);
    let left = fs::read_dir(&room).unwrap().map(|entry| entry.unwrap().path());
    (ran, left.collect())
}

fn told(ran: &Ran) -> Json {
    serde_json::from_str(&ran.stdout).unwrap_or_else(|_| panic!("{}{}", ran.stdout, ran.stderr))
}

fn task(world: &World, name: &str, verifier: Json) {
    let task = json!({ "id": name, "goal": format!("solve {name}"), "verifier": verifier });
    world.write(&format!("tasks/{name}/task.json"), task.to_string());
    world.write(&format!("tasks/{name}/buggy/file.txt"), "wrong\n");
}

fn one<'t>(told: &'t Json, id: &str) -> &'t Json {
    let mut tasks = told["tasks"].as_array().unwrap().iter();
    tasks.find(|task| task["task_id"] == id).unwrap_or_else(|| panic!("{id}: {told}"))
}

/// Mends one task always, one in every other sample, and tries to find the other solutions.
const AGENT: &str = r#"
read -r goal
[ "$goal" = "$EVAL_GOAL" ] || exit 9
[ -e marker ] && exit 9
touch marker
for name in TASKS/*/expected/* ../../*/project/*; do
    case $name in ../../"$(basename "$(dirname "$PWD")")"/*) continue ;; esac
    cat "$name" 2>/dev/null && cp "$name" .
done
case $EVAL_TASK-$EVAL_SAMPLE in
port-*) echo "port = 8080" >server.ini ;;
off-by-one-0) sed -i s/-lt/-le/ sum.sh ;;
exit-code-*) printf 'exit 0\n' >test.sh ;;
esac
echo '{"cost": 0.25}'
"#;

#[test]
fn a037_tasks_are_tried_afresh_verified_and_reported() {
    as_both(|world| {
        let world = open(world);
        let (ran, _) = eval(&world, &["--write", "tasks"]);
        assert_eq!(ran.code, Some(0), "{}", ran.stderr);
        let tasks = world.project.path("tasks").display().to_string();
        world.write("agents/agent.sh", AGENT.replace("TASKS", &tasks));
        let script = world.project.path("agents/agent.sh").display().to_string();
        let words = ["tasks", "-k", "2", "--jobs", "3", "--json", "--", "/bin/sh", &script];
        let (ran, left) = eval(&world, &words);
        assert_eq!((ran.code, left), (Some(1), Vec::new()), "{}", ran.stderr);
        let report = told(&ran);
        let numbers = |task: &Json| {
            let number = |key: &str| task[key].as_f64().unwrap();
            (number("passes"), number("pass_rate"), number("pass_at_k"), number("mean_cost"))
        };
        assert_eq!(numbers(one(&report, "port")), (2.0, 1.0, 1.0, 0.25), "{report}");
        assert_eq!(numbers(one(&report, "off-by-one")), (1.0, 0.5, 0.75, 0.25), "{report}");
        for id in ["exit-code", "greeting", "quoting"] {
            assert_eq!(numbers(one(&report, id)), (0.0, 0.0, 0.0, 0.25), "{report}");
        }
        assert_eq!((&report["k"], &report["pass_at_1"]), (&2.into(), &0.3.into()), "{report}");
        assert_eq!((&report["pass_at_k"], &report["total_cost"]), (&0.35.into(), &2.5.into()));
        let latency = |task: &Json| {
            let (mean, p95) = (&task["mean_latency_ms"], &task["p95_latency_ms"]);
            (mean.as_f64().unwrap(), p95.as_f64().unwrap())
        };
        for task in report["tasks"].as_array().unwrap().iter().chain([&report]) {
            let (mean, p95) = latency(task);
            assert!(mean > 0.0 && p95 > 0.0, "{task}");
        }
        let samples = one(&report, "greeting")["samples"].as_array().unwrap();
        assert_eq!(samples.len(), 2);
        assert_eq!((&samples[1]["sample_index"], &samples[1]["notes"]), (&1.into(), &json!([])));
        let detail = samples[0]["detail"].as_str().unwrap();
        assert_eq!(detail, "`greeting.txt` differs from what is expected in line 1");
        // A person gets a table, and sees how far it is.
        let (ran, _) = eval(&world, &["tasks", "--only", "port", "--", "/bin/sh", &script]);
        assert_eq!(ran.code, Some(0), "{}", ran.stderr);
        assert!(ran.stdout.starts_with("task  passed  pass@1  pass@1"), "{}", ran.stdout);
        assert!(ran.stderr.contains("[1/1] port #0 passed"), "{}", ran.stderr);
    });
}

#[test]
fn a037_the_solutions_pass_and_nothing_does_not() {
    let world = World::new();
    for (option, share) in [("--reference", 1.0), ("--no-op", 0.0)] {
        let (ran, left) = eval(&world, &[option, "--json"]);
        assert_eq!((ran.code, left), (Some(0), Vec::new()), "{option}: {}", ran.stdout);
        assert_eq!(told(&ran)["pass_at_1"], share, "{option}");
        assert_eq!(told(&ran)["tasks"].as_array().unwrap().len(), 5);
    }
}

#[test]
fn a038_a_verifiers_command_is_confined_and_its_code_compared() {
    as_both(|world| {
        let shell = |argv: Json| json!({ "name": "shell_exit_zero", "args": argv });
        let probe = format!("echo x >{}/escaped\nexit 3\n", world.home.root().display());
        task(
            &world,
            "three",
            shell(json!({ "argv": ["sh", "probe.sh"], "expected_exit_code": 3 })),
        );
        task(&world, "zero", shell(json!({ "argv": ["sh", "probe.sh"] })));
        task(&world, "plain", shell(json!({ "argv": ["true"] })));
        task(&world, "slow", shell(json!({ "argv": ["sleep", "60"], "timeout_seconds": 0.5 })));
        task(&world, "denied", shell(json!({ "argv": ["rm", "-rf", "/etc"] })));
        let absent = json!({ "argv": ["no-such-program"], "expected_exit_code": 127 });
        task(&world, "absent", shell(absent));
        for name in ["three", "zero"] {
            world.write(&format!("tasks/{name}/buggy/probe.sh"), &probe);
        }
        let (ran, _) = eval(&world, &["tasks", "--json", "--", "true"]);
        let report = told(&ran);
        for (id, passes, detail) in [
            ("three", 1, "`sh probe.sh` ended with 3"),
            ("zero", 0, "`sh probe.sh` ended with 3 and not with 0"),
            ("plain", 1, "`true` ended with 0"),
            ("slow", 0, "`sleep 60`: timed out"),
            ("denied", 0, "outside project root"),
            ("absent", 0, "`no-such-program`: `no-such-program` was not found"),
        ] {
            let task = one(&report, id);
            assert_eq!(task["passes"], passes, "{task}");
            let found = task["samples"][0]["detail"].as_str().unwrap();
            assert!(found.contains(detail), "{id}: {found}");
        }
        assert!(!world.home.path("escaped").exists(), "the verifier got out");
    });
}

#[test]
fn whoever_tries_cannot_lead_the_verifier_astray() {
    as_both(|world| {
        let world = open(world);
        let victim = world.home.path("victim");
        fs::write(&victim, "mine\n").unwrap();
        let equals = json!({ "name": "file_equals", "args": { "path": "file.txt" } });
        for name in ["planted", "pipe", "away", "shut", "folder"] {
            task(&world, name, equals.clone());
            world.write(&format!("tasks/{name}/expected/file.txt"), "mine");
        }
        // A link where the verifier's own file goes: the link is replaced, and not what it leads to.
        world.write("tasks/planted/verify/file.txt", "from the verifier\n");
        let agent = format!(
            "case $EVAL_TASK in\nplanted | away) ln -sf {0} file.txt ;;\n\
             pipe) rm file.txt; mkfifo file.txt ;;\n\
             shut) mkdir -p deep/er; chmod 0 deep/er deep ;;\n\
             folder) rm file.txt; mkdir -p file.txt/in ;;\nesac\n",
            victim.display()
        );
        world.write("agents/agent.sh", agent);
        let script = world.project.path("agents/agent.sh").display().to_string();
        let (ran, left) = eval(&world, &["tasks", "--json", "--", "/bin/sh", &script]);
        assert_eq!((ran.code, left), (Some(1), Vec::new()), "{}", ran.stderr);
        let report = told(&ran);
        for task in report["tasks"].as_array().unwrap() {
            assert_eq!(task["passes"], 0, "{task}");
            assert_ne!(task["samples"][0]["detail"], "", "{task}");
        }
        assert_eq!(fs::read_to_string(&victim).unwrap(), "mine\n");
    });
}

#[test]
fn what_is_no_task_is_told_before_anything_runs() {
    let world = World::new();
    let agent = ["--", "touch", "ran"];
    let with = |arguments: &[&str]| eval(&world, &[arguments, &agent].concat()).0;
    assert_eq!(eval(&world, &["tasks"]).0.code, Some(2), "nobody tries");
    assert_eq!(with(&["no-such-folder"]).code, Some(125));
    world.write("empty/readme", "");
    assert!(with(&["empty"]).stderr.contains("error[eval-empty]"));
    for (text, code, what) in [
        ("{\n\"id\": }", "eval-task", "line 2"),
        ("[]", "eval-task", "`id` is missing"),
        (r#"{"id": "a"}"#, "eval-task", "`goal` is missing"),
        (r#"{"id": "a", "goal": 3}"#, "eval-task", "`goal` is no text"),
        (r#"{"id": "a", "goal": "b"}"#, "eval-task", "no folder `buggy`"),
    ] {
        world.write("wrong/a/task.json", text);
        let ran = with(&["wrong"]);
        assert_eq!(ran.code, Some(125), "{text}");
        let fits = ran.stderr.contains(&format!("error[{code}]")) && ran.stderr.contains(what);
        assert!(fits, "{text}: {}", ran.stderr);
    }
    // A verifier that cannot be asked fails its task, and nobody is started for it.
    for verifier in [
        json!(null),
        json!({ "name": "vibes" }),
        json!({ "name": "file_equals", "args": {} }),
        json!({ "name": "file_equals", "args": { "path": "../../etc/passwd" } }),
        json!({ "name": "regex_match", "args": { "path": "a", "pattern": "(" } }),
        json!({ "name": "shell_exit_zero", "args": { "argv": [] } }),
        json!({ "name": "shell_exit_zero", "args": { "argv": ["a"], "timeout_seconds": -1 } }),
        json!({ "name": "shell_exit_zero", "args": { "argv": ["a"], "expected_exit_code": 256 } }),
    ] {
        task(&world, "odd", verifier.clone());
        let ran = with(&["tasks", "--json"]);
        assert_eq!(ran.code, Some(125), "{verifier}");
        let detail = told(&ran)["tasks"][0]["samples"][0]["detail"].clone();
        assert!(detail.as_str().unwrap().starts_with("the verifier is wrong: "), "{detail}");
    }
    task(&world, "odd", json!({ "name": "file_equals", "args": { "path": "file.txt" } }));
    let unknown = with(&["tasks", "--only", "other"]);
    assert!(unknown.stderr.contains("there are: odd"), "{}", unknown.stderr);
    let denied = eval(&world, &["tasks", "--", "rm", "-rf", "/etc"]).0;
    assert_eq!(denied.code, Some(126), "{}", denied.stdout);
    let among = eval(&world, &["tasks", "--", "tasks/odd/buggy/file.txt"]).0;
    assert!(among.stderr.contains("lies among the tasks"), "{}", among.stderr);
    assert!(!world.project.path("ran").exists());
}

#[test]
fn files_are_kept_if_somebody_wants_to_look() {
    let world = World::new();
    task(
        &world,
        "one",
        json!({ "name": "regex_match", "args": { "path": "file.txt", "pattern": "^m.ne$" } }),
    );
    let words = ["tasks", "--keep", "kept", "--", "sh", "-c", "echo mine >>file.txt"];
    let (ran, _) = eval(&world, &words);
    assert_eq!(ran.code, Some(0), "{}{}", ran.stdout, ran.stderr);
    let kept = fs::read_to_string(world.project.path("kept/one-0/file.txt")).unwrap();
    assert_eq!(kept, "wrong\nmine\n");
}

#[test]
fn a_signal_ends_everything_and_leaves_nothing() {
    let verifier = json!({ "name": "file_equals", "args": { "path": "file.txt" } });
    ends_at_a_signal(&verifier, &["--", "sh", "-c", "echo >begun; sleep 600"]);
}

#[test]
fn a_signal_ends_verifiers_too() {
    let argv = ["sh", "-c", "echo >begun; sleep 600"];
    let args = json!({ "argv": argv, "timeout_seconds": 600 });
    let verifier = json!({ "name": "shell_exit_zero", "args": args });
    for who in [&["--", "true"][..], &["--reference"], &["--no-op"]] {
        ends_at_a_signal(&verifier, who);
    }
}

/// Evaluates until something has begun, and interrupts it.
fn ends_at_a_signal(verifier: &Json, who: &[&str]) {
    let world = World::new();
    task(&world, "one", verifier.clone());
    world.write("tasks/one/expected/file.txt", "right\n");
    let room = world.project.path("room");
    fs::create_dir_all(&room).unwrap();
    let mut command = world.command(PALISADE);
    command.args(["eval", "tasks"]).args(who);
    command.env("TMPDIR", &room).env("PATH", "/usr/bin:/bin").stdout(Stdio::null());
    let mut child = command.stderr(Stdio::null()).spawn().unwrap();
    let begun = || {
        let mut runs = fs::read_dir(&room).unwrap().map(|entry| entry.unwrap().path());
        runs.any(|run| run.join("0/project/begun").exists())
    };
    for _ in 0..600 {
        if begun() {
            break;
        }
        std::thread::sleep(Duration::from_millis(100));
    }
    assert!(begun());
    let id = child.id().to_string();
    let clock = Instant::now();
    assert!(Command::new("kill").args(["-INT", &id]).status().unwrap().success());
    assert_eq!(child.wait().unwrap().code(), Some(130), "{who:?}");
    assert!(clock.elapsed() < Duration::from_secs(30), "{who:?}: {:?}", clock.elapsed());
    assert_eq!(fs::read_dir(&room).unwrap().count(), 0);
}

#[test]
fn an_agent_is_remembered_nowhere_that_is_gone() {
    let world = World::new();
    task(&world, "one", json!({ "name": "file_equals", "args": { "path": "file.txt" } }));
    world.write("tasks/one/expected/file.txt", "wrong\n");
    let words = ["tasks", "-k", "3", "--agent", "codex", "--json", "--", "true"];
    let (ran, _) = eval(&world, &words);
    assert_eq!(ran.code, Some(0), "{}{}", ran.stdout, ran.stderr);
    assert_eq!(told(&ran)["tasks"][0]["samples"][2]["notes"], json!([]));
    let known = fs::read_dir(world.home.path(".local/state/palisade/workspaces")).unwrap();
    let known = known.map(|entry| entry.unwrap().file_name().into_string().unwrap());
    let left: Vec<String> = known.filter(|name| name.ends_with(".workspace")).collect();
    assert_eq!(left, [""; 0]);
}
