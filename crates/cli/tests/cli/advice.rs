//! What a person is told to do about a refusal, a slip, or something that is not there.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;

use serde_json::{Value as Json, json};

use crate::kit::{PALISADE, World, as_both};

fn script(world: &World, name: &str, text: &str) {
    world.write(name, text);
    fs::set_permissions(world.project.path(name), fs::Permissions::from_mode(0o755)).unwrap();
}

/// Returns the notes with a code.
fn notes(outcome: &Json, code: &str) -> Vec<String> {
    let notes = outcome["notes"].as_array().unwrap().iter();
    let notes = notes.filter(|it| it["code"] == code);
    notes.map(|it| it["message"].as_str().unwrap().to_owned()).collect()
}

#[test]
fn a_program_that_is_not_found_is_told_of_with_the_reason() {
    as_both(|world| {
        script(&world, "odd.sh", "#!/usr/bin/no-such-interpreter -x\n");
        let ran = world.run(&["run", "--", "./odd.sh"]);
        assert_eq!(ran.code, Some(127), "{}", ran.stderr);
        let why = "`/home/dev/app/odd.sh` is there; its first line names \
                   `/usr/bin/no-such-interpreter`, which is not";
        assert!(ran.stderr.ends_with(&format!("was not found\nhint: {why}\n")), "{}", ran.stderr);
        let outcome = world.json(&["run", "--json", "--", "./odd.sh"]);
        assert_eq!(notes(&outcome, "not-found"), [why], "{outcome}");

        let ran = world.run(&["run", "--", "ls -l"]);
        assert_eq!(ran.code, Some(127));
        assert!(ran.stderr.ends_with("hint: did you mean --shell?\n"), "{}", ran.stderr);
        let outcome = world.json(&["run", "--json", "--", "ls -l"]);
        assert_eq!(outcome["warnings"][0]["code"], "one-word", "{outcome}");

        // Where nothing is there, nothing is told.
        let outcome = world.json(&["run", "--json", "--", "no-such-program"]);
        assert_eq!(notes(&outcome, "not-found").len(), 0, "{outcome}");
        assert_eq!(outcome["warnings"], json!([]), "{outcome}");
    });
}

#[test]
fn what_is_hidden_is_not_told_of_by_a_program_that_is_not_found() {
    let world = World::new().user_policy("files: { hide: [~/tools] }\n");
    let tools = world.home.path("tools");
    fs::create_dir(&tools).unwrap();
    fs::write(tools.join("secret-tool"), "#!/usr/bin/secret-interpreter\n").unwrap();
    fs::set_permissions(tools.join("secret-tool"), fs::Permissions::from_mode(0o755)).unwrap();
    std::os::unix::fs::symlink(tools.join("secret-tool"), world.project.path("link")).unwrap();
    let mut command = world.command(PALISADE);
    command.args(["run", "--json", "--", "secret-tool"]);
    let ran = world.finish(command.env("PATH", format!("{}:/usr/bin:/bin", tools.display())));
    assert_eq!(ran.code, Some(127), "{}", ran.stdout);
    assert!(
        !ran.stdout.contains("is there") && !ran.stdout.contains("interpreter"),
        "{}",
        ran.stdout
    );
    let ran = world.run(&["run", "--json", "--", "./link"]);
    assert!(!ran.stdout.contains("secret-interpreter"), "{}", ran.stdout);
}

#[test]
fn refusals_say_what_to_do() {
    let world = World::new().user_policy("files: { protect: [kept] }\n");
    let hint = |arguments: &[&str]| {
        let ran = world.run(arguments);
        assert_eq!(ran.code, Some(126), "{arguments:?}: {}", ran.stderr);
        ran.stderr.lines().last().unwrap_or_default().trim().to_owned()
    };
    let others = "hint: others read orders or programs there: change it yourself, outside of the \
                  sandbox";
    assert_eq!(hint(&["run", "--", "mkdir", ".vscode"]), others);
    let said = "hint: change it yourself, outside of the sandbox, or take it out of files.protect";
    assert_eq!(hint(&["run", "--", "touch", "kept"]), said);
    let root = world.project.root().to_str().unwrap();
    let mut command = world.command(PALISADE);
    let ran = world.finish(command.args(["run", "--root", root, "--", "pwd"]).current_dir("/"));
    let cwd = "  hint: go to a folder of the project, or name one with --cwd\n";
    assert!(ran.stderr.ends_with(cwd), "{}", ran.stderr);
}

#[test]
fn a_profile_that_stands_above_the_users_own_list_is_named() {
    let world = World::new().user_policy("files:\n  write: [., ~/build]\n");
    for command in ["check", "explain", "run"] {
        let ran = world.run(&[command, "--profile", "readonly", "--", "touch", "made"]);
        let told = format!("{}{}", ran.stdout, ran.stderr);
        let hint = "the profile `readonly` (command line) stands above files.write of user \
                    /home/dev/.config/palisade/policy.yaml:2:";
        assert!(told.contains(hint), "{command}: {told}");
    }
    // Without the option it is what the hint said before.
    let ran = world.run(&["check", "--", "touch", "/srv/made"]);
    assert!(ran.stdout.contains("list it in files.write beside `.`"), "{}", ran.stdout);
    // A project is not named: that would be to trust it.
    let world = World::with_policy("files:\n  write: [., ~/build]\n");
    let ran = world.run(&["check", "--profile", "readonly", "--", "touch", "made"]);
    assert!(!ran.stdout.contains("stands above"), "{}", ran.stdout);
}

#[test]
fn a_profile_wider_than_a_file_of_another_system_is_told_of_with_that_file() {
    let world = World::new();
    world.write(
        ".srt-settings.json",
        r#"{ "filesystem": { "denyRead": ["~"], "allowWrite": ["."], "denyWrite": [] },
             "network": { "allowedDomains": ["example.com"], "deniedDomains": [] } }"#,
    );
    let show = |profile: &str| {
        let policy = ["policy", "show", "--settings", ".srt-settings.json", "--profile", profile];
        world.run(&policy)
    };
    let wider = show("workspace-write");
    let warning = "warning: the profile `workspace-write` does not hold: command line \
                   /home/dev/app/.srt-settings.json:2:";
    assert!(wider.stderr.contains(warning), "{}", wider.stderr);
    assert!(wider.stderr.contains("leave one of them out"), "{}", wider.stderr);
    assert!(!wider.stderr.contains("builtin.yaml"), "{}", wider.stderr);
    assert!(wider.stdout.contains("mode: allow-list"), "{}", wider.stdout);
    assert!(!show("readonly").stderr.contains("does not hold"));
}

#[test]
fn an_agent_by_a_slip_can_be_forgotten_as_the_hint_says() {
    let world = World::new();
    let ran = world.run(&["run", "--agent", "claud", "--", "true"]);
    let hint = "if it is a slip, `palisade agents forget --agent claud`";
    assert!(ran.stderr.contains(hint), "{}", ran.stderr);
    let forgotten = world.run(&["agents", "forget", "--agent", "claud"]);
    assert_eq!(forgotten.stdout, "/home/dev/app is no workspace of `claud`\n");
    // What is pasted into a shell is no name of somebody's choice.
    let ran = world.run(&["policy", "show", "--agent", "a`id`"]);
    assert!(ran.stderr.contains("forget --agent NAME`"), "{}", ran.stderr);
    // One that is known is no slip, even where a file speaks for everybody.
    world.write(".srt-settings.json", r#"{ "filesystem": { "denyRead": ["~"] } }"#);
    let ran =
        world.run(&["policy", "show", "--agent", "claude", "--settings", ".srt-settings.json"]);
    assert!(!ran.stderr.contains("did you mean"), "{}", ran.stderr);
}

#[test]
fn agents_that_share_a_folder_are_told_of_in_one_line() {
    let world = World::new();
    for agent in ["claude", "codex", "gemini"] {
        assert_eq!(world.run(&["run", "--agent", agent, "--", "true"]).code, Some(0));
    }
    let ran = world.run(&["run", "--agent", "goose", "--", "true"]);
    let line =
        "warning: `claude`, `codex`, `gemini` work in `/home/dev/app` too: that is not hidden\n";
    assert!(ran.stderr.contains(line), "{}", ran.stderr);
    assert_eq!(ran.stderr.matches("agents forget").count(), 1, "{}", ran.stderr);
}

#[test]
fn refused_writes_are_told_once_and_nobody_is_told_to_open_the_system() {
    as_both(|world| {
        fs::create_dir(world.home.path("data")).unwrap();
        world.write("try.sh", "echo x > /etc/made; echo x > ~/made; echo x > ~/data/made\n");
        let ran = world.run(&["run", "--trace-writes", "--", "sh", "try.sh"]);
        let told: Vec<_> = ran.stderr.lines().filter(|it| it.contains("files.write`")).collect();
        let [system, home, data] = &*told else { panic!("{}", ran.stderr) };
        assert!(system.ends_with("write below what files.write lists: this is the system's"));
        assert!(home.ends_with("make `/home/dev/made` yourself and add it to files.write, alone"));
        assert!(data.ends_with("or add `/home/dev/data` to files.write"), "{data}");
    });
}

#[test]
fn a_variable_that_is_not_there_is_told_of() {
    let world = World::new();
    let ran = world.run(&["run", "--env", "NO_SUCH_KEY", "--env", "SET=1", "--", "true"]);
    assert_eq!(ran.stderr, "warning: --env: there is no `NO_SUCH_KEY` here to pass on\n");
    let outcome = world.json(&["run", "--json", "--env", "NO_SUCH_KEY", "--", "true"]);
    assert_eq!(outcome["warnings"][0]["code"], "env-unset", "{outcome}");
}

#[test]
fn slips_in_names_are_understood() {
    let world = World::new();
    let ran = world.run(&["rnu"]);
    assert!(ran.stderr.contains("a similar subcommand exists: 'run'"), "{}", ran.stderr);
    let ran = world.run(&["run", "--tasks", "nofile.yaml"]);
    let told = "error[tasks]: there is no tasks file `nofile.yaml`\n\nhint: check the spelling\n";
    assert_eq!((ran.code, &*ran.stderr), (Some(125), told));
}

#[test]
fn what_is_in_force_is_checked_without_a_name() {
    let world = World::new();
    let ran = world.run(&["policy", "check"]);
    assert_eq!((ran.code, &*ran.stdout), (Some(0), ""));
    assert_eq!(ran.stderr, "no policy file; the built-in default holds\n");
    let world = World::with_policy("limits: { timeout: 5s }\n").user_policy("preset: confined\n");
    let ran = world.run(&["policy", "check"]);
    let files = "/home/dev/.config/palisade/policy.yaml: ok (native)\n\
                 /home/dev/app/.palisade/policy.yaml: ok (native)\n";
    assert_eq!((ran.code, &*ran.stdout), (Some(0), files), "{}", ran.stderr);
    world.write(".palisade/policy.yaml", "limits: { timeout: often }\n");
    let ran = world.run(&["policy", "check"]);
    assert_eq!(ran.code, Some(125));
    assert!(ran.stderr.starts_with("error[period]"), "{}", ran.stderr);
}

#[test]
fn each_command_has_a_page_with_its_options() {
    let world = World::new();
    let run = world.run(&["man", "run"]).stdout;
    assert!(run.contains(".TH palisade-run 1") && run.contains("trace\\-writes"), "{run}");
    let show = world.run(&["man", "policy", "show"]).stdout;
    assert!(show.contains(".TH palisade-policy-show 1"), "{show}");
    let ran = world.run(&["man", "markdown-help"]);
    assert_eq!(ran.code, Some(125), "it is nobody's to use");
    assert!(ran.stderr.contains("there is no command `markdown-help`"), "{}", ran.stderr);
}

#[test]
fn hosts_that_were_refused_are_named_at_the_end() {
    as_both(|world| {
        world.write("net.yaml", "network: { mode: allow-list, allow: [listed.test] }\n");
        let ask = ["getent", "hosts", "refused.test"];
        let ran = world.run(&[&["run", "--policy", "net.yaml", "--"], &ask[..]].concat());
        assert_eq!(
            ran.stderr,
            "warning: the network refused refused.test (name-not-listed)\nhint: `--suggest` prints \
             what network.allow in a policy of yours would have to list\n"
        );
        world.write("deny.yaml", "network: { mode: allow-list, deny: [.test] }\n");
        let ran = world.run(&[&["run", "--policy", "deny.yaml", "--"], &ask[..]].concat());
        assert!(
            ran.stderr.ends_with(
                "warning: the network refused refused.test (name-denied by `.test`)\nhint: what \
                 network.deny refuses stays refused, whatever network.allow lists\n"
            ),
            "{}",
            ran.stderr
        );
        let ran =
            world.run(&[&["run", "--policy", "net.yaml", "--suggest", "--"], &ask[..]].concat());
        assert!(!ran.stderr.contains("warning"), "{}", ran.stderr);
        let ran = world.run(&[&["run", "--policy", "net.yaml", "--json", "--"], &ask[..]].concat());
        assert_eq!(ran.stderr, "");
        let ran = world.run(&["run", "--policy", "net.yaml", "--", "true"]);
        assert_eq!(ran.stderr, "", "nothing was refused");
    });
}
