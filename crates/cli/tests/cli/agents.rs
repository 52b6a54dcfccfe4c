//! Agents: each has its own policy, its own login and its own place, at the same time.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::process::{Child, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use serde_json::{Value as Json, json};

use crate::kit::{PALISADE, Ran, World, as_both};

/// Tells of each path that stands in `paths` whether it can be read.
const READS: &str = "while read path; do\n\
    if cat \"$path\" >/dev/null 2>&1 || ls \"$path\" >/dev/null 2>&1\n\
    then echo \"yes $path\"; else echo \"no $path\"; fi\ndone < paths\n";

/// Makes workspaces in the home folder, where everybody sees what is not hidden.
fn workspaces(world: World, names: &[&str]) -> World {
    let mut home = world.home;
    for name in names {
        let file = |file: &str| format!("ws/{name}/{file}");
        home = home.file(file("Cargo.toml"), "[package]\n").file(file("secret"), name);
        home = home.file(file("reads.sh"), READS);
    }
    World { home, ..world }
}

/// Prepares `palisade run` for an agent in a workspace of the home folder.
fn start(world: &World, place: &str, arguments: &[&str]) -> std::process::Command {
    let mut command = world.command(PALISADE);
    command.arg("run").args(arguments).current_dir(world.home.path(format!("ws/{place}")));
    command
}

fn run_in(world: &World, place: &str, arguments: &[&str]) -> Ran {
    world.finish(&mut start(world, place, arguments))
}

/// Returns which of `paths` the agent can read from its workspace.
fn reads(world: &World, agent: &str, place: &str, paths: &[&str]) -> Vec<String> {
    let list: String = paths.iter().map(|path| format!("{path}\n")).collect();
    fs::write(world.home.path(format!("ws/{place}/paths")), list).unwrap();
    let who: &[&str] = if agent.is_empty() { &[] } else { &["--agent", agent] };
    let ran = run_in(world, place, &[who, &["--", "sh", "reads.sh"]].concat());
    assert_eq!(ran.code, Some(0), "{}", ran.stderr);
    ran.stdout.lines().map(str::to_owned).collect()
}

/// Waits until a file is there.
pub(crate) fn awaited(path: &std::path::Path) {
    let until = Instant::now() + Duration::from_secs(60);
    while !path.exists() {
        assert!(Instant::now() < until, "{} never came", path.display());
        thread::sleep(Duration::from_millis(10));
    }
}

/// Begins a run that goes on until the file `go` is in its workspace.
fn begin(world: &World, agent: &str, place: &str) -> Child {
    let script = "touch begun; while ! test -e go; do sleep 0.05; done\n";
    fs::write(world.home.path(format!("ws/{place}/wait.sh")), script).unwrap();
    let mut command = start(world, place, &["--agent", agent, "--", "sh", "wait.sh"]);
    let child = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    awaited(&world.home.path(format!("ws/{place}/begun")));
    child
}

fn end(world: &World, place: &str, mut child: Child) {
    fs::write(world.home.path(format!("ws/{place}/go")), "").unwrap();
    assert!(child.wait().unwrap().success());
}

#[test]
fn a106_different_agents_have_different_policies_at_the_same_time() {
    as_both(|world| {
        let world = world.user_policy(
            "agents:\n  alpha: { files: { hide: [~/notes], write: [., ~/out] } }\n  \
             beta: { env: { set: { WHO: beta } } }\n",
        );
        let world = workspaces(world, &["a", "b", "c"]);
        fs::write(world.home.path("notes"), "a note").unwrap();
        fs::create_dir(world.home.path("out")).unwrap();
        let script = "touch begun; while ! test -e go; do sleep 0.05; done\n\
                      cat ~/notes > seen 2>/dev/null; echo x > ~/out/$1 2>/dev/null; echo \"$WHO\" >> seen\n";
        let mut children = Vec::new();
        for (agent, place) in [("alpha", "a"), ("beta", "b"), ("gamma", "c")] {
            fs::write(world.home.path(format!("ws/{place}/do.sh")), script).unwrap();
            let run = ["--agent", agent, "--", "sh", "do.sh", agent];
            children.push(start(&world, place, &run).stderr(Stdio::null()).spawn().unwrap());
        }
        // All of them are under way before the first goes on.
        let path = |place: &str, file: &str| world.home.path(format!("ws/{place}/{file}"));
        ["a", "b", "c"].iter().for_each(|place| awaited(&path(place, "begun")));
        ["a", "b", "c"].iter().for_each(|place| fs::write(path(place, "go"), "").unwrap());
        children.iter_mut().for_each(|child| assert!(child.wait().unwrap().success()));
        let seen = |place: &str| fs::read_to_string(path(place, "seen")).unwrap();
        assert_eq!(seen("a"), "\n", "alpha does not see the notes");
        assert_eq!(seen("b"), "a notebeta\n");
        assert_eq!(seen("c"), "a note\n", "who has no entry has the base policy");
        let wrote = |agent: &str| world.home.path(format!("out/{agent}")).exists();
        assert_eq!(["alpha", "beta", "gamma"].map(wrote), [true, false, false]);
    });
}

#[test]
fn a108_where_an_agent_works_is_hidden_from_the_others_running_or_not() {
    as_both(|world| {
        let world = workspaces(world, &["a", "b", "c"]);
        let (a, b) = ("../a/secret", "../b/secret");
        assert_eq!(reads(&world, "", "a", &[b]), [format!("yes {b}")], "nobody works there");
        assert_eq!(
            reads(&world, "alpha", "a", &["secret", b]),
            ["yes secret".into(), format!("yes {b}")]
        );
        // alpha has ended, and is hidden all the same.
        assert_eq!(
            reads(&world, "beta", "b", &["secret", a, "../a", "../c/secret"]),
            ["yes secret", "no ../a/secret", "no ../a", "yes ../c/secret"]
        );
        assert_eq!(reads(&world, "alpha", "a", &["secret", b]), ["yes secret", "no ../b/secret"]);
        assert_eq!(reads(&world, "alpha", "c", &[a]), [format!("yes {a}")], "its own other place");
        let running = begin(&world, "alpha", "a");
        assert_eq!(reads(&world, "beta", "b", &[a]), [format!("no {a}")], "alpha runs");
        let listed = world.json(&["agents", "workspaces", "--json"]);
        assert_eq!(listed["workspaces"][0]["running"], true, "{listed}");
        end(&world, "a", running);

        // A person can take it back, for one agent or for good.
        let shown = world.run(&["agents", "workspaces", "--json"]);
        let shown: Json = serde_json::from_str(&shown.stdout).unwrap();
        let found = shown["workspaces"].as_array().unwrap();
        assert_eq!(found.len(), 3, "{shown}");
        assert_eq!(found[0]["running"], false, "{shown}");
        let place = world.home.path("ws/a");
        let forgot = world.run(&["agents", "forget", place.to_str().unwrap()]);
        assert_eq!(forgot.code, Some(0), "{}", forgot.stderr);
        assert_eq!(reads(&world, "beta", "b", &[a]), [format!("yes {a}")]);
        reads(&world, "alpha", "a", &["secret"]);
        assert_eq!(reads(&world, "beta", "b", &[a]), [format!("no {a}")], "alpha is back");
        let world = world.user_policy("files: { unhide: [~/ws/a] }\n");
        assert_eq!(reads(&world, "beta", "b", &[a]), [format!("yes {a}")]);
    });
}

#[test]
fn a108_who_began_before_a_place_was_known_is_told_of() {
    as_both(|world| {
        let world = workspaces(world, &["a", "b"]);
        let running = begin(&world, "alpha", "a");
        let run = ["--agent", "beta", "--json", "--", "true"];
        let first = run_in(&world, "b", &run);
        let first: Json = serde_json::from_str(&first.stdout).unwrap();
        let codes = |told: &Json| -> Vec<Json> {
            told["notes"].as_array().unwrap().iter().map(|note| note["code"].clone()).collect()
        };
        assert!(codes(&first).contains(&json!("agent-running")), "{first}");
        end(&world, "a", running);
        let again = run_in(&world, "b", &run);
        let again: Json = serde_json::from_str(&again.stdout).unwrap();
        assert!(!codes(&again).contains(&json!("agent-running")), "{again}");
        // Folders of which one lies in the other cannot be kept apart, and that is said.
        fs::create_dir(world.home.path("ws/a/inner")).unwrap();
        let inner = world.home.path("ws/a/inner");
        let nested = ["--root", inner.to_str().unwrap(), "--cwd", inner.to_str().unwrap()];
        let ran =
            run_in(&world, "a", &[&["--agent", "beta"], &nested[..], &["--", "true"]].concat());
        assert!(ran.stderr.contains("`alpha` works in"), "{}", ran.stderr);
    });
}

#[test]
fn a178_an_agent_gets_the_variables_that_are_its_own_and_nobody_sees_their_values() {
    as_both(|world| {
        let world = world.user_policy(
            "audit: { path: ~/log/events.jsonl }\n\
             agents: { alpha: { env: { pass: [ALPHA_TOKEN] } }, beta: { env: { pass: [B_KEY] } } }\n",
        );
        world.write("token", "hunter2");
        world.write("same.sh", "test \"$ALPHA_TOKEN\" = \"$(cat token)\" && test -z \"$B_KEY\"\n");
        let palisade = |arguments: &[&str]| {
            let mut command = world.command(PALISADE);
            command.args(arguments).env("ALPHA_TOKEN", "hunter2").env("B_KEY", "hunter3");
            world.finish(&mut command)
        };
        let alpha = palisade(&["run", "--json", "--agent", "alpha", "--", "sh", "same.sh"]);
        assert_eq!(alpha.code, Some(0), "{}{}", alpha.stdout, alpha.stderr);
        for other in [&["--agent", "beta"][..], &["--agent", "nobody"], &[]] {
            let ran = palisade(&[&["run"], other, &["--", "sh", "same.sh"]].concat());
            assert_eq!(ran.code, Some(1), "{other:?} got it");
        }
        let plan = palisade(&["plan", "--agent", "alpha", "--", "sh", "same.sh"]);
        let told = palisade(&["plan", "--json", "--agent", "alpha", "--", "sh", "same.sh"]);
        assert!(plan.stdout.contains("ALPHA_TOKEN"), "{}", plan.stdout);
        let events = fs::read_to_string(world.home.path("log/events.jsonl")).unwrap();
        for text in [&alpha.stdout, &alpha.stderr, &plan.stdout, &told.stdout, &events] {
            assert!(!text.contains("hunter"), "{text}");
        }
    });
}

#[test]
fn a_known_agent_sees_its_own_login_and_keeps_its_state() {
    as_both(|world| {
        let mut home = world.home;
        for login in [
            ".claude/.credentials.json",
            ".claude.json",
            ".codex/auth.json",
            ".gemini/oauth_creds.json",
        ] {
            home = home.file(login, "token");
        }
        home =
            home.file(".codex/config.toml", "model = \"x\"\n").file(".claude/settings.json", "{}");
        let world = World { home, ..world };
        let script = "for file in ~/.claude/.credentials.json ~/.claude.json ~/.codex/auth.json ~/.gemini/oauth_creds.json\n\
                      do test -r $file && echo \"reads ${file#$HOME/}\"; done\n\
                      for file in .claude/state .codex/state .claude/settings.json .codex/config.toml .claude.json .claude/hooks/x\n\
                      do (echo x > ~/$file) 2>/dev/null && echo \"writes $file\"; done\n\
                      echo \"words $*\"\nexit 0\n";
        for program in ["claude", "codex", "other.sh"] {
            world.write(program, format!("#!/bin/sh\n{script}"));
            let mode = fs::Permissions::from_mode(0o755);
            fs::set_permissions(world.project.path(program), mode).unwrap();
        }
        let told = |arguments: &[&str]| {
            let ran = world.run(&[&["run"], arguments].concat());
            assert_eq!(ran.code, Some(0), "{}", ran.stderr);
            ran.stdout
        };
        assert_eq!(
            told(&["--agent", "claude", "--", "./claude", "-p", "hi"]).lines().collect::<Vec<_>>(),
            [
                "reads .claude/.credentials.json",
                "reads .claude.json",
                "writes .claude/state",
                r#"words --settings {"sandbox":{"enabled":false}} -p hi"#,
            ]
        );
        assert_eq!(
            told(&["--agent", "codex", "--", "./codex", "exec", "hi"]).lines().collect::<Vec<_>>(),
            [
                "reads .codex/auth.json",
                "writes .codex/state",
                "words -c sandbox_mode=danger-full-access exec hi",
            ]
        );
        // Nobody else sees any of it.
        assert_eq!(told(&["--", "./other.sh"]), "words \n");
        assert_eq!(told(&["--agent", "someone", "--", "./other.sh"]), "words \n");
        // A program that is another does not become the agent's.
        assert_eq!(told(&["--agent", "claude", "--", "./other.sh"]).lines().last(), Some("words "));
        // A policy that speaks of the agent says all of it.
        let world = World { home: world.home, ..world };
        let world = world.user_policy("agents: { claude: { limits: { processes: 99 } } }\n");
        let ran = world.run(&["run", "--agent", "claude", "--", "./claude"]);
        let off = "words --settings {\"sandbox\":{\"enabled\":false}}\n";
        assert_eq!(ran.stdout, off, "but for how it is started: {}", ran.stderr);
    });
}

#[test]
fn what_is_shown_of_an_agent_does_the_same_in_a_policy() {
    as_both(|world| {
        let mut home = world.home.file(".codex/auth.json", "token");
        for kept in [".codex/config.toml", ".codex/sessions/old", ".claude/projects/old"] {
            home = home.file(kept, "old");
        }
        let world = World { home, ..world };
        let script = "#!/bin/sh\ncat ~/.codex/auth.json ~/.claude/projects/old 2>/dev/null\necho\n\
                      for file in ~/.codex/sessions/new ~/.codex/config.toml ~/.codex/rules/x made\n\
                      do (echo x > $file) 2>/dev/null && echo \"writes ${file#$HOME/}\"; done\n\
                      echo \"words $*\"\n";
        stand_in(&world, "codex");
        world.write("codex", script);
        let run = |world: &World| {
            let ran = world.run(&["run", "--agent", "codex", "--", "./codex", "exec", "hi"]);
            assert_eq!(ran.code, Some(0), "{}", ran.stderr);
            ran.stdout
        };
        let first = run(&world);
        let words = "words -c sandbox_mode=danger-full-access exec hi\n";
        assert_eq!(first, format!("token\nwrites .codex/sessions/new\nwrites made\n{words}"));
        let shown = world.run(&["agents", "show", "codex"]).stdout;
        fs::remove_file(world.home.path(".codex/sessions/new")).unwrap();
        let world = world.user_policy(&shown);
        assert_eq!(world.json(&["agents", "show", "codex", "--json"])["holds"], false);
        assert_eq!(run(&world), first, "{shown}");
    });
}

#[test]
fn a_second_agent_in_the_same_folder_is_told_of_the_first() {
    let world = workspaces(World::new(), &["a"]);
    let run = |agent: &str| run_in(&world, "a", &["--agent", agent, "--", "true"]).stderr;
    let said = "`alpha` works in `";
    let first = run("alpha");
    assert!(!first.contains("works in"), "{first}");
    let second = run("beta");
    assert!(second.contains(said) && second.contains("palisade agents forget"), "{second}");
    assert!(run("alpha").contains("`beta` works in"), "each is told of the other");
    let world = world.user_policy("files: { unhide: [~/ws/a] }\n");
    let lifted = run_in(&world, "a", &["--agent", "beta", "--", "true"]).stderr;
    assert!(!lifted.contains("works in"), "{lifted}");
}

#[test]
fn a_folder_of_another_agent_is_named_before_anything_starts() {
    as_both(|world| {
        let world = workspaces(world, &["a"]);
        let inner = world.home.path("ws/a/inner");
        fs::create_dir(&inner).unwrap();
        let there = inner.to_str().unwrap();
        let at = ["--root", there, "--cwd", there, "--", "true"];
        let first = run_in(&world, "a", &[&["--agent", "alpha"], &at[..]].concat());
        assert_eq!(first.code, Some(0), "{}", first.stderr);
        let run = ["--agent", "beta", "--cwd", there, "--", "touch", "made"];
        let second = run_in(&world, "a", &run);
        assert_eq!(second.code, Some(125), "{}", second.stderr);
        for part in ["error[other-workspace]", "workspace of `alpha`", "palisade agents forget /"] {
            assert!(second.stderr.contains(part), "{part}: {}", second.stderr);
        }
        let plan = world
            .command(PALISADE)
            .current_dir(&inner)
            .args(["plan", "--agent", "beta", "--", "true"])
            .output();
        assert_eq!(plan.unwrap().status.code(), Some(125));
        // What is refused there says whose it is.
        let read = run_in(&world, "a", &["--agent", "beta", "--", "cat", "inner/x"]);
        assert_eq!(read.code, Some(126), "{}", read.stderr);
        assert!(
            read.stderr.contains("workspace of another agent (agent alpha)"),
            "{}",
            read.stderr
        );
        let forgot = world.run(&["agents", "forget", there]);
        assert_eq!(forgot.code, Some(0), "{}", forgot.stderr);
        let third = run_in(&world, "a", &run);
        assert_eq!(third.code, Some(0), "{}", third.stderr);
    });
}

#[test]
fn a_name_that_nobody_knows_is_told_and_one_that_cannot_be_is_refused() {
    let world = World::new();
    let run = |name: &str| world.run(&["run", "--agent", name, "--", "touch", "made"]);
    let slip = run("claud");
    assert_eq!(slip.code, Some(0), "{}", slip.stderr);
    assert!(slip.stderr.contains("did you mean `claude`?"), "{}", slip.stderr);
    let other = run("somebody");
    assert!(other.stderr.contains("nothing is known of it"), "{}", other.stderr);
    assert!(!run("claude").stderr.contains("nothing is known"));
    fs::remove_file(world.project.path("made")).unwrap();
    for odd in ["", " ", "../x", "a/b", ".hidden", "a\nb", " claude"] {
        let ran = run(odd);
        assert_eq!(ran.code, Some(125), "{odd:?}: {}", ran.stderr);
        assert!(ran.stderr.contains("error[agent-name]"), "{odd:?}: {}", ran.stderr);
        assert!(ran.stderr.contains("`palisade agents` lists"), "{odd:?}: {}", ran.stderr);
    }
    assert!(!world.project.path("made").exists());
    let known = world.run(&["agents", "workspaces"]).stdout;
    assert_eq!(known.lines().count(), 3, "{known}");
    let shown = world.run(&["agents", "show", "claud"]);
    assert!(shown.stderr.contains("hint: did you mean `claude`?"), "{}", shown.stderr);
}

#[test]
fn that_there_is_no_network_is_said_where_something_closes_it() {
    let world = World::new();
    let offline = "`claude` does not reach its model";
    let ran = world.run(&["run", "--agent", "claude", "--", "true"]);
    assert!(ran.stderr.contains(offline), "{}", ran.stderr);
    let world = world.user_policy("require: external\n");
    let ran = world.run(&["run", "--agent", "claude", "--", "true"]);
    assert_eq!(ran.code, Some(0), "{}", ran.stderr);
    assert!(ran.stderr.contains("require: external"), "{}", ran.stderr);
    assert!(!ran.stderr.contains(offline), "{}", ran.stderr);
}

/// Makes a stand-in for an agent, which tells how it was started.
fn stand_in(world: &World, program: &str) {
    let script = "#!/bin/sh\necho \"words $*\"\necho \"sandbox $GEMINI_SANDBOX\"\n";
    world.write(program, script);
    let mode = fs::Permissions::from_mode(0o755);
    fs::set_permissions(world.project.path(program), mode).unwrap();
}

#[test]
fn the_sandbox_of_an_agent_stays_as_it_is_where_nothing_of_ours_stands() {
    as_both(|world| {
        let run = |world: &World, more: &[&str], program: &str| {
            stand_in(world, program);
            let path = format!("./{program}");
            let words = [&["run", "--agent", program], more, &["--", &path, "x"]].concat();
            let ran = world.run(&words);
            assert_eq!(ran.code, Some(0), "{}", ran.stderr);
            ran.stdout
        };
        let off = "words -c sandbox_mode=danger-full-access x\nsandbox \n";
        assert_eq!(run(&world, &[], "codex"), off);
        assert_eq!(run(&world, &[], "gemini"), "words x\nsandbox false\n");
        let set = ["--env", "GEMINI_SANDBOX=docker"];
        assert_eq!(run(&world, &set, "gemini"), "words x\nsandbox docker\n");
        let accepted = World { home: world.home, ..world }.user_policy("require: none\n");
        assert_eq!(run(&accepted, &[], "codex"), off, "walls can be had here");
        let world = accepted.user_policy("require: external\n");
        assert_eq!(run(&world, &[], "codex"), "words x\nsandbox \n");
        assert_eq!(run(&world, &[], "gemini"), "words x\nsandbox \n");
        assert_eq!(run(&world, &set, "gemini"), "words x\nsandbox docker\n", "said by a person");
        stand_in(&world, "codex");
        let told = world.json(&["run", "--json", "--agent", "codex", "--", "./codex", "x"]);
        assert_eq!(told["argv"], json!(["./codex", "x"]), "{told}");
        let own = world.user_policy("require: external\nenv: { set: { GEMINI_SANDBOX: runsc } }\n");
        assert_eq!(run(&own, &[], "gemini"), "words x\nsandbox runsc\n");
    });
}

#[test]
fn what_a_policy_passes_of_an_agents_sandbox_is_there_where_nothing_of_ours_stands() {
    as_both(|world| {
        let sandbox = |world: &World| {
            stand_in(world, "gemini");
            let words = ["run", "--agent", "gemini", "--", "./gemini", "x"];
            let mut command = world.command(PALISADE);
            let ran = world.finish(command.args(words).env("GEMINI_SANDBOX", "docker"));
            assert_eq!(ran.code, Some(0), "{}", ran.stderr);
            ran.stdout
        };
        let (passed, off) = ("words x\nsandbox docker\n", "words x\nsandbox false\n");
        let pass = "env: { pass: [PATH, GEMINI_SANDBOX] }";
        let world = world.user_policy(&format!("{pass}\n"));
        assert_eq!(sandbox(&world), off, "behind walls it is off");
        let world = world.user_policy(&format!("require: external\n{pass}\n"));
        assert_eq!(sandbox(&world), passed);
        let spoken_of = format!("require: external\nagents: {{ gemini: {{ {pass} }} }}\n");
        let world = world.user_policy(&spoken_of);
        assert_eq!(sandbox(&world), passed, "where a policy speaks of it");
    });
}

#[test]
fn agents_are_listed_and_shown() {
    let world = World::new();
    let list = world.run(&["agents"]);
    assert_eq!(list.stdout, world.run(&["agents", "list"]).stdout);
    for name in ["aider", "claude", "codex", "copilot", "cursor", "gemini", "goose", "opencode"] {
        assert!(list.stdout.lines().any(|line| line.starts_with(name)), "{name}");
        let shown = world.json(&["agents", "show", name, "--json"]);
        assert_eq!((&shown["agent"], &shown["holds"]), (&json!(name), &json!(true)), "{shown}");
        for key in ["state", "logins", "hosts", "pass", "programs", "headless"] {
            assert!(!shown[key].as_array().unwrap().is_empty(), "{name}: {key}");
        }
    }
    let all = world.json(&["agents", "--json"]);
    assert!(all["agents"].as_array().unwrap().len() >= 8);
    assert!(world.run(&["agents", "show", "codex"]).stdout.contains("- \"~/.codex/rules\""));
    let nobody = world.run(&["agents", "show", "nobody"]);
    assert_eq!(nobody.code, Some(125));
    assert!(nobody.stderr.contains("hint: known: aider,"), "{}", nobody.stderr);
    let none = world.run(&["agents", "workspaces"]);
    assert_eq!((none.code, none.stderr.as_str()), (Some(0), "no agent has worked anywhere\n"));
    let world = world.user_policy("agents: { codex: { profile: readonly } }\n");
    assert_eq!(world.json(&["agents", "show", "codex", "--json"])["holds"], false);
    let spoken = world.run(&["agents", "show", "codex"]).stderr;
    assert!(spoken.contains("a policy of yours speaks of this agent"), "{spoken}");
    let plain = world.run(&["run", "--", "claude", "--version"]);
    assert!(plain.stderr.contains("--agent claude"), "{}", plain.stderr);
}
