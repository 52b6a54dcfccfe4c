//! `palisade trust`.

use std::fs::{File, OpenOptions};
use std::io::Write as _;
use std::process::Stdio;

use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use serde_json::json;

use crate::kit::{PALISADE, World};

const PROJECT: &str = "\
version: 1
files: { hide: [secrets] }
limits: { timeout: 10s }
network:
  mode: allow-list
  allow: [example.com]
";

fn mode(world: &World) -> String {
    let shown = world.json(&["policy", "show", "--json"]);
    // What narrows holds whatever is trusted.
    let hide = shown["policy"]["files"]["hide"].as_array().unwrap().clone();
    assert!(hide.contains(&json!("/home/dev/app/secrets")));
    assert_eq!(shown["policy"]["limits"]["timeout"], "10s");
    shown["policy"]["network"]["mode"].as_str().unwrap().to_owned()
}

#[test]
fn a181_a_project_widens_only_when_its_exact_content_was_trusted() {
    let world = World::with_policy(PROJECT);
    assert_eq!(mode(&world), "deny-all", "never trusted");
    let warned = world.run(&["policy", "show"]).stderr;
    assert_eq!(warned.matches("warning:").count(), 1, "one warning: {warned}");
    assert!(warned.contains("network.mode: allow-list") && warned.contains("example.com"));
    assert!(!warned.contains("timeout"), "what narrows is not left out: {warned}");

    let asked = world.run(&["trust"]);
    assert_eq!(asked.code, Some(125), "nobody can answer without a terminal");
    assert!(asked.stderr.contains("network.mode: allow-list"), "{}", asked.stderr);
    assert_eq!(mode(&world), "deny-all", "asking is not agreeing");
    assert_eq!(world.run(&["trust", "--show"]).code, Some(3));

    let agreed = world.run(&["trust", "--yes"]);
    assert_eq!(agreed.code, Some(0), "{}", agreed.stderr);
    assert!(agreed.stdout.contains("network.allow: example.com"), "{}", agreed.stdout);
    assert_eq!(mode(&world), "allow-list");
    assert_eq!(world.run(&["policy", "show"]).stderr, "");
    assert_eq!(world.run(&["trust", "--show"]).code, Some(0));
    assert!(world.home.files_below(".local/state/palisade").len() == 1, "kept in the user's state");

    world.write(".palisade/policy.yaml", format!("{PROJECT}\n"));
    assert_eq!(mode(&world), "deny-all", "one byte more is another content");
    let changed = world.run(&["trust", "--show"]);
    assert_eq!(changed.code, Some(3));
    assert!(changed.stdout.contains("changed since you trusted it"), "{}", changed.stdout);
    world.write(".palisade/policy.yaml", PROJECT);
    assert_eq!(mode(&world), "allow-list", "the content that was agreed to is back");

    assert_eq!(world.run(&["trust", "--revoke"]).code, Some(0));
    assert_eq!(mode(&world), "deny-all", "revoked");
}

#[test]
fn a181_a_file_that_a_person_names_counts_as_theirs() {
    let world = World::with_policy(PROJECT);
    let named = ["policy", "show", "--json", "--policy", ".palisade/policy.yaml"];
    let shown = world.json(&named);
    assert_eq!(shown["policy"]["network"]["mode"], "allow-list");
    assert_eq!(shown["warnings"], json!([]));
    let file = "/home/dev/app/.palisade/policy.yaml";
    assert_eq!(shown["files"], json!([{ "layer": "command line", "path": file }]), "heard once");
    assert_eq!(mode(&world), "deny-all", "naming it once pins nothing");
}

#[test]
fn a_broken_or_missing_file_can_be_revoked() {
    for after in [Some("version: [\n"), None] {
        let world = World::with_policy(PROJECT);
        assert_eq!(world.run(&["trust", "--yes"]).code, Some(0));
        match after {
            Some(text) => world.write(".palisade/policy.yaml", text),
            None => std::fs::remove_file(world.project.path(".palisade/policy.yaml")).unwrap(),
        }
        let ran = world.run(&["trust", "--revoke"]);
        assert_eq!(ran.stdout, "/home/dev/app: no longer trusted\n", "{after:?}");
        world.write(".palisade/policy.yaml", PROJECT);
        assert_eq!(mode(&world), "deny-all", "{after:?}");
        let again = world.run(&["trust", "--revoke"]);
        assert_eq!((again.code, again.stdout.contains("was not trusted")), (Some(0), true));
    }
}

#[test]
fn what_is_said_for_other_agents_is_shown_before_it_is_trusted() {
    let text = "agents:\n  helper: { network: { mode: disabled } }\n\
                tasks:\n  deploy: { files: { write: [/srv] } }\n";
    let state = World::with_policy(text).json(&["trust", "--show", "--json"]);
    let keys: Vec<_> = state["widens"].as_array().unwrap().iter().map(|w| &w["key"]).collect();
    assert_eq!(keys, ["network.mode", "files.write"]);
    assert_eq!(state["state"], "not trusted");
}

#[test]
fn where_there_is_nothing_to_trust_nothing_is_asked() {
    let ran = World::new().run(&["trust"]);
    assert_eq!(ran.code, Some(0));
    assert!(ran.stdout.contains("no policy file of its own"), "{}", ran.stdout);
    let narrow = World::with_policy("limits: { timeout: 10s }\n");
    let ran = narrow.run(&["trust"]);
    assert_eq!(ran.code, Some(0));
    assert!(ran.stdout.contains("open nothing"), "{}", ran.stdout);
    assert_eq!(narrow.home.files_below("").len(), 0, "and nothing is remembered");
    let broken = World::with_policy("version: [\n").run(&["trust", "--yes"]);
    assert_eq!((broken.code, broken.stdout.as_str()), (Some(125), ""));
}

#[test]
fn no_project_may_say_certain_things_even_when_trusted() {
    let world = World::with_policy(
        "require: none\nnested: userns\nroot: /srv\nnetwork: { mode: disabled }\n",
    );
    let looked = world.run(&["trust", "--show"]);
    let (open, never) = looked.stdout.split_once("No project may say, trusted or not").unwrap();
    assert!(open.contains("They would open:\n  network.mode: disabled"), "{open}");
    for said in ["require: none", "nested: userns", "root: /srv"] {
        assert!(!open.contains(said), "trust would not open it: {open}");
        assert!(never.contains(said), "{never}");
    }

    let ran = world.run(&["trust", "--yes"]);
    assert_eq!(ran.code, Some(0), "{}", ran.stderr);
    assert!(ran.stdout.contains("No project may say, trusted or not"), "{}", ran.stdout);
    let shown = world.json(&["policy", "show", "--json"]);
    assert_eq!(
        (&shown["require"], &shown["policy"]["network"]["mode"]),
        (&json!("full"), &json!("disabled"))
    );
    assert_eq!(shown["root"]["path"], "/home/dev/app");
}

#[test]
fn no_project_takes_every_wall_away_even_when_trusted() {
    let world = World::with_policy("require: external\nnetwork: { mode: disabled }\n");
    let looked = world.run(&["trust", "--show"]);
    let (open, never) = looked.stdout.split_once("No project may say, trusted or not").unwrap();
    assert!(!open.contains("require: external") && never.contains("require: external"), "{open}");
    assert_eq!(world.run(&["trust", "--yes"]).code, Some(0));
    assert_eq!(world.json(&["policy", "show", "--json"])["require"], "full");
    assert_eq!(world.json(&["run", "--json", "--", "true"])["level"], "full");

    let warned = World::with_policy("require: external\n").run(&["run", "--", "true"]).stderr;
    assert!(warned.contains("hint: no project may say that, trusted or not"), "{warned}");
    // A person may, and so may who set the machine up.
    let own = World::new().user_policy("require: external\n");
    assert_eq!(own.json(&["policy", "show", "--json"])["require"], "external");
}

#[test]
fn what_no_project_may_say_is_not_sent_to_trust() {
    let world = World::with_policy("require: none\n");
    let warned = world.run(&["run", "--", "true"]).stderr;
    assert!(warned.contains("hint: no project may say that, trusted or not"), "{warned}");
    assert!(!warned.contains("`palisade trust`"), "trust would not help: {warned}");
    let world = World::with_policy("require: none\nnetwork: { mode: disabled }\n");
    let warned = world.run(&["run", "--", "true"]).stderr;
    assert!(warned.contains("hint: `palisade trust`"), "for the rest it helps: {warned}");
}

#[test]
fn what_no_project_may_say_is_nothing_to_trust() {
    let world = World::with_policy("require: none\n");
    let state = world.json(&["trust", "--show", "--json"]);
    assert_eq!((&state["widens"], &state["never"][0]["key"]), (&json!([]), &json!("require")));
    assert_eq!(world.run(&["trust"]).code, Some(0), "there is nothing to ask");
    assert_eq!(world.home.files_below("").len(), 0, "and nothing is remembered");
}

#[test]
fn what_other_files_allow_already_is_shown_before_it_is_trusted_too() {
    let user = "network: { mode: allow-list, allow: [docs.example.com] }\n";
    let project = "network: { allow: [docs.example.com, evil.example.com] }\n";
    let world = World::with_policy(project).user_policy(user);
    let state = world.json(&["trust", "--show", "--json"]);
    assert_eq!(state["widens"][0]["value"], "evil.example.com");
    assert_eq!(state["later"][0]["value"], "docs.example.com");
    let looked = world.run(&["trust", "--show"]).stdout;
    let (open, later) = looked.split_once("Other files allow this already").unwrap();
    assert!(open.contains("evil.example.com") && !open.contains("docs.example.com"), "{open}");
    assert!(later.contains("docs.example.com") && !later.contains("evil.example.com"), "{later}");
}

#[test]
fn what_was_shown_with_the_question_is_not_shown_again() {
    let world = World::with_policy(PROJECT);
    let mut controller = File::from(openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).unwrap());
    grantpt(&controller).unwrap();
    unlockpt(&controller).unwrap();
    let terminal = ptsname(&controller, Vec::new()).unwrap();
    let terminal = OpenOptions::new().read(true).write(true).open(terminal.to_str().unwrap());
    let terminal = terminal.unwrap();
    controller.write_all(b"y\n").unwrap();
    let mut command = world.command(PALISADE);
    command.arg("trust").stdin(terminal.try_clone().unwrap());
    let output = command.stderr(terminal).stdout(Stdio::piped()).spawn().unwrap();
    let output = output.wait_with_output().unwrap();
    let root = world.project.root().display();
    assert_eq!(String::from_utf8_lossy(&output.stdout), format!("{root}: trusted\n"));
    assert_eq!(mode(&world), "allow-list");
}
