//! What is remembered of a call, and who is asked.

use std::fs;

use serde_json::Value as Json;

use crate::kit::{World, as_both};
use crate::schema::assert_fits;

const ASKS: &str = "\
audit: { path: ~/log/events.jsonl }
commands:
  rules:
    - { tool: run_shell_command, args: { command: '^git push' }, action: ask }
";

fn events(world: &World) -> Vec<Json> {
    let text = fs::read_to_string(world.home.path("log/events.jsonl")).unwrap();
    let events: Vec<Json> = text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    events.iter().for_each(|event| assert_fits(event, "event.json"));
    events
}

fn words(events: &[Json]) -> Vec<String> {
    let told = |event: &Json| {
        let name = event["event"].as_str().unwrap();
        let what = ["verdict", "answer", "exit_code"].iter().find_map(|it| event.get(it)).unwrap();
        format!("{name} {}", what.to_string().trim_matches('"'))
    };
    events.iter().map(told).collect()
}

#[test]
fn a042_it_is_decided_then_confirmed_then_confined_and_recorded_in_this_order() {
    as_both(|world| {
        let world = world.user_policy(ASKS);
        assert_eq!(world.run(&["run", "--", "true"]).code, Some(0));
        assert_eq!(words(&events(&world)), ["decision allow", "run 0"]);
        assert_eq!(world.run(&["run", "--", "rm", "-rf", "/etc"]).code, Some(126));
        assert_eq!(words(&events(&world)[2..]), ["decision deny", "run -100"]);
        let ran = world.run(&["run", "--shell", "git push; touch made"]);
        assert_eq!(ran.code, Some(126), "{}", ran.stderr);
        assert!(ran.stderr.contains("error[unconfirmed]"), "{}", ran.stderr);
        assert!(!world.project.path("made").exists());
        let asked = &events(&world)[4..];
        assert_eq!(words(asked), ["decision ask", "confirmation nobody", "run -100"]);
        assert_eq!(asked[0]["run"], asked[2]["run"], "events of one call belong together");
        assert_eq!(
            asked[0]["call"]["hash"], asked[1]["call"],
            "what was asked is what was decided"
        );
        assert_ne!(asked[0]["run"], events(&world)[0]["run"]);
    });
}

#[test]
fn a_log_that_cannot_be_written_is_told_once_and_stops_nothing() {
    as_both(|world| {
        let world = world.user_policy("audit: { path: /proc/no/such/log }\n");
        let ran = world.run(&["run", "--", "echo", "hello"]);
        assert_eq!((ran.code, ran.stdout.as_str()), (Some(0), "hello\n"), "{}", ran.stderr);
        let warned = ran.stderr.matches("warning: cannot record what happens").count();
        assert_eq!(warned, 1, "{}", ran.stderr);
        let told = world.json(&["run", "--json", "--", "true"]);
        assert_eq!(told["notes"][0]["code"], "audit", "{told}");
    });
}

#[test]
fn the_log_cannot_be_changed_by_what_it_tells_of() {
    as_both(|world| {
        world.write("log/events.jsonl", "");
        world.write("change.sh", "echo x >> log/events.jsonl; rm -f log/events.jsonl; exit 0\n");
        let world = world.user_policy("audit: { path: log/events.jsonl }\n");
        let ran = world.run(&["run", "--", "sh", "change.sh"]);
        assert_eq!(ran.code, Some(0), "{}", ran.stderr);
        let log = fs::read_to_string(world.project.path("log/events.jsonl")).unwrap();
        assert_eq!(log.lines().count(), 2, "{log}");
        assert!(!log.contains("x\n"), "{log}");
    });
}
