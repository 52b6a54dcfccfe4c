//! Who may use which tool, and who is asked first.

use super::*;
use Answer::{Allow, Deny};

#[test]
fn a168_security_comes_before_access_and_both_after_authentication() {
    let mut turns = vec![
        Turn { stage: Stage::Other, priority: 5000, who: "loud" },
        Turn::new(Stage::Access, "access"),
        Turn { stage: Stage::Files, priority: 80, who: "files" },
        Turn { stage: Stage::Files, priority: 85, who: "files, earlier" },
        Turn::new(Stage::Other, "other"),
        Turn::new(Stage::Danger, "danger"),
        Turn::new(Stage::Authentication, "authentication"),
    ];
    Turn::sort(&mut turns);
    let order: Vec<&str> = turns.iter().map(|turn| turn.who).collect();
    let expected =
        ["authentication", "danger", "files, earlier", "files", "access", "loud", "other"];
    assert_eq!(order, expected);
    assert_eq!(Stage::Files.priority(), 80, "the documented number");

    // The verdict is told in the same order.
    let world = World::proxy(true);
    let verdict = world.proxied("bash", json!({ "cwd": "/etc", "command": "git reset --hard" }));
    assert_eq!(verdict.findings[0].reason.code, "dangerous-command");
    assert_eq!(verdict.findings[1].pointer, "/cwd");
}

fn policies() -> AccessPolicies {
    AccessPolicies::read(&json!([
        {
            "name": "base",
            "model_pattern": ".*",
            "blocked_patterns": ["delete", "bash"],
            "allowed_patterns": ["delete_draft"],
            "default_policy": "allow",
            "block_message": "not here",
        },
        {
            "name": "small models",
            "model_pattern": "mini$",
            "allowed_patterns": ["read_.*"],
            "default_policy": "deny",
            "priority": 10,
        },
        {
            "name": "reviewer",
            "model_pattern": ".*",
            "agent_pattern": "review",
            "blocked_patterns": ["write"],
            "default_policy": "allow",
            "priority": 20,
        },
    ]))
    .unwrap()
}

#[test]
fn a169_access_is_allowed_over_blocked_over_default_by_the_highest_policy_that_fits() {
    let policies = policies();
    #[rustfmt::skip]
    let cases = [
        // tool           model         agent             answer  policy
        ("read_file",     "large",      None,             Allow,  "base"),
        ("delete_file",   "large",      None,             Deny,   "base"),
        ("Delete_File",   "large",      None,             Deny,   "base"),
        ("delete_draft",  "large",      None,             Allow,  "base"),
        ("run_bash_now",  "large",      None,             Deny,   "base"),
        ("read_file",     "x-mini",     None,             Allow,  "small models"),
        ("write_file",    "x-mini",     None,             Deny,   "small models"),
        ("delete_draft",  "x-mini",     None,             Deny,   "small models"),
        ("write_file",    "x-mini",     Some("reviewer"), Deny,   "reviewer"),
        ("delete_file",   "x-mini",     Some("Reviewer"), Allow,  "reviewer"),
        ("write_file",    "large",      Some("coder"),    Allow,  "base"),
    ];
    for (tool, model, agent, answer, policy) in cases {
        let access = policies.judge(tool, User { model, agent });
        assert_eq!((access.answer, access.policy), (answer, Some(policy)), "{tool} {model}");
    }
    let user = User { model: "large", agent: None };
    assert_eq!(policies.judge("bash", user).message, Some("not here"));
    assert_eq!(AccessPolicies::default().judge("bash", user).answer, Allow, "no policy");

    let mut tools = vec!["read_file", "delete_file", "bash", "write_file"];
    assert_eq!(policies.filter(&mut tools, user, |tool| tool), 2);
    assert_eq!(tools, ["read_file", "write_file"]);

    let only = AccessPolicies::overriding("read_.*, list", "", DefaultAccess::Deny).unwrap();
    for (tool, answer) in [("read_file", Allow), ("list_files", Allow), ("write_file", Deny)] {
        assert_eq!(only.judge(tool, user).answer, answer, "{tool}, by the command line");
    }
}

#[test]
fn a_policy_about_access_that_cannot_be_used_is_an_error() {
    let good = json!({ "name": "a", "model_pattern": ".*", "default_policy": "deny" });
    assert!(AccessPolicies::read(&json!([good])).is_ok());
    for (key, value) in [
        ("name", json!(null)),
        ("model_pattern", json!("(")),
        ("model_pattern", json!(null)),
        ("agent_pattern", json!(7)),
        ("blocked_patterns", json!("bash")),
        ("blocked_patterns", json!(["("])),
        ("default_policy", json!("maybe")),
        ("priority", json!("high")),
        ("unknown", json!(1)),
    ] {
        let mut entry = good.clone();
        entry[key] = value.clone();
        assert!(AccessPolicies::read(&json!([entry])).is_err(), "{key}: {value}");
    }
    assert!(AccessPolicies::read(&json!({})).is_err());
}
