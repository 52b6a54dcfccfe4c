//! Hosts of fetching tools.

use serde_json::json;

use super::*;
use Answer::{Allow, Ask, Deny};

fn fetch(judge: &Judge, url: &str) -> Answer {
    of_tool(judge, "web_fetch", json!({ "url": url })).answer
}

#[test]
fn a084_this_machine_and_its_network_are_not_fetched_from() {
    let judge = mode("workspace-write", "");
    #[rustfmt::skip]
    let closed = [
        "http://localhost/x", "https://127.0.0.1:8080", "http://0.0.0.0", "http://[::1]/", "::1",
        "http://169.254.169.254/latest/meta-data", "http://db.internal", "http://printer.local./",
        "localhost:3000", "LOCALHOST",
        // Odd spellings of the same.
        "http://2130706433/", "http://0x7f.1/", "http://0177.0.0.1/", "http://127.1/",
        "http://[::ffff:127.0.0.1]/", "http://[::ffff:a9fe:a9fe]/", "http://user@127.0.0.1/",
        "http://localhost./", "http://ⓛocalhost/", "http://10.0.0.8/", "http://192.168.1.1/",
        "http://example.com\\@127.0.0.1/", "http://127.0.0.1\\@example.com/", "http://127.0.0.1.nip.io/",
    ];
    for url in closed {
        assert_eq!(fetch(&judge, url), Deny, "{url}");
    }
    #[rustfmt::skip]
    let cases = [
        ("https://github.com/a/b",              Allow,  "listed"),
        ("https://raw.github.com:443/a",        Allow,  "below it"),
        ("GitHub.com/a",                        Allow,  "no scheme, and capitals"),
        ("https://github.com./a",               Allow,  "a final dot"),
        ("https://notgithub.com/",              Ask,    "another name"),
        ("https://github.com.x.example/",       Ask,    "not at the end"),
        ("https://github.com@x.example/",       Ask,    "a user's name"),
        ("https://x.example#@github.com/",      Ask,    "a fragment"),
        ("https://example.com/",                Ask,    "not listed"),
        ("ftp://github.com/",                   Ask,    "not of the web"),
        ("file:///etc/passwd",                  Ask,    "no host"),
        ("",                                    Ask,    "nothing"),
    ];
    for (url, answer, because) in cases {
        assert_eq!(fetch(&judge, url), answer, "{url}: {because}");
    }
    assert_eq!(fetch(&mode("plan", ""), "http://localhost/"), Deny);
    assert_eq!(fetch(&mode("full-access", ""), "http://localhost/"), Allow);
}

#[test]
fn a084_a_users_rule_can_lift_it_for_its_host() {
    let rule = "{ tool: web_fetch, domain: { hosts: [127.0.0.1, dev.internal] }, action: allow }";
    let judge = mode("workspace-write", rule);
    assert_eq!(fetch(&judge, "http://127.0.0.1:3000/"), Allow);
    assert_eq!(fetch(&judge, "http://dev.internal/"), Allow);
    assert_eq!(fetch(&judge, "http://127.0.0.2/"), Deny);
    assert_eq!(fetch(&judge, "http://x.dev.internal/"), Deny);
    assert_eq!(fetch(&judge, "http://127.0.0.1\\@10.0.0.1/"), Deny, "two readings, one listed");
}

#[test]
fn a_rule_about_hosts_looks_at_its_own_argument_and_at_nothing_else() {
    let rules = r#"{"rules":[
        {"tool":"open","domain":{"url_arg":"link","blocklist":[".bad.example"]},"args":{"x":"never"},"action":"deny"},
        {"tool":"open","action":"allow"}]}"#;
    let judge = agentao("workspace-write", rules);
    let open = |args| of_tool(&judge, "open", args).answer;
    assert_eq!(open(json!({ "link": "https://a.BAD.example./x" })), Deny);
    assert_eq!(open(json!({ "link": "bad.example:8080/x" })), Deny);
    assert_eq!(open(json!({ "link": "https://bad.example\\@good.example/" })), Deny);
    assert_eq!(open(json!({ "link": "https://notbad.example/" })), Allow);
    assert_eq!(open(json!({ "url": "https://bad.example/" })), Allow, "another argument");
    assert_eq!(open(json!({ "link": ["https://bad.example/"] })), Deny, "one of several");
    assert_eq!(open(json!({ "link": { "to": "https://bad.example/" } })), Deny, "further down");
    assert_eq!(open(json!({ "link": 7 })), Allow, "no host");
}
