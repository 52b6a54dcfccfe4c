//! What may leave.

use super::*;

fn claude(sandbox: &str) -> String {
    format!("agent: {{ claude: {{ sandbox: {{ enabled: true, {sandbox} }} }} }}")
}

#[test]
fn a090_four_network_policies_are_known_and_deny_all_is_the_default() {
    #[rustfmt::skip]
    let cases = [
        // written                      mode          because
        ("networkPolicy: deny-all",     "deny-all",   "as written"),
        ("networkPolicy: allow-list",   "allow-list", "as written"),
        ("networkPolicy: monitor",      "monitor",    "as written"),
        ("networkPolicy: disabled",     "disabled",   "as written"),
        ("",                            "deny-all",   "the default"),
        ("allowedDomains: [a.example]", "deny-all",   "a list alone opens nothing"),
        ("networkpolicy: disabled",     "deny-all",   "another key"),
    ];
    for (text, mode, because) in cases {
        // The documented default holds even where the user's own native file is open.
        let open = [(Layer::User, "version: 1\nnetwork: { mode: disabled }")];
        let resolved = resolved_beside(&[config(&claude(text))], &open, "claude", "");
        assert_eq!(shown(&resolved, "network.mode"), [mode], "{text}: {because}");
    }
    for word in ["allow-all", "Deny-All", "denyall", "\"\"", "none", "off"] {
        let text = claude(&format!("networkPolicy: {word}"));
        let problems = try_read(&[(CONFIG, Layer::User, &text)], &[]).unwrap_err();
        assert_eq!(problems[0].code(), "unknown-word", "{word}");
        let known = "deny-all, allow-list, monitor, disabled";
        assert!(problems[0].message().contains(known), "{}", problems[0]);
    }
}

#[test]
fn a093_domains_count_only_with_an_allow_list() {
    #[rustfmt::skip]
    let cases = [
        // written                                                    reached         notes
        ("networkPolicy: allow-list, allowedDomains: [a.example]",    "a.example",    ""),
        ("networkPolicy: deny-all, allowedDomains: [a.example]",      "",             "unused-domains"),
        ("networkPolicy: monitor, allowedDomains: [a.example]",       "",             "unused-domains"),
        ("networkPolicy: disabled, allowedDomains: [a.example]",      "",             "unused-domains"),
        ("allowedDomains: [a.example]",                               "",             "unused-domains"),
        ("networkPolicy: deny-all, allowedDomains: []",               "",             ""),
    ];
    for (text, reached, note) in cases {
        let reading = config(&claude(text));
        assert_eq!(codes(&reading).concat(), note, "{text}");
        // Not even another file that turns the mode around makes them count.
        let turned = [(Layer::CommandLine, "version: 1\nnetwork: { mode: allow-list }")];
        let resolved = resolved_beside(&[reading], &turned, "claude", "");
        assert_eq!(shown(&resolved, "network.allow").concat(), reached, "{text}");
    }
}

#[test]
fn a093_a_list_that_did_not_count_is_combined_once_a_task_wants_it() {
    let config = claude("networkPolicy: deny-all, allowedDomains: [a.example.com]");
    let tasks = "tasks:
      - { id: fetch, agent_name: claude, sandbox: { networkPolicy: allow-list, allowedDomains: [b.example.com] } }
      - { id: read, agent_name: claude, sandbox: { allowedDomains: [b.example.com] } }";
    let readings = readings(&[(CONFIG, Layer::User, &config), (TASKS, Layer::CommandLine, tasks)]);
    let of = |task, key| shown(&resolved(&readings, "", task), key);
    assert_eq!(of("fetch", "network.mode"), ["allow-list"]);
    assert_eq!(of("fetch", "network.allow"), ["a.example.com", "b.example.com"]);
    assert_eq!(of("read", "network.mode"), ["deny-all"], "where no list counts");
    assert_eq!(codes(&readings[0]), [""; 0]);
    assert_eq!(codes(&readings[1]), ["unused-domains"]);
}

#[test]
fn domains_are_bloom_s_own_spellings_or_refused() {
    #[rustfmt::skip]
    let cases = [
        // domain               code                 because
        ("example.com",         None,                "a name"),
        ("*.example.com",       None,                "everything below a name"),
        ("EXAMPLE.com.",        None,                "case and a trailing dot do not matter"),
        ("example.com:8443",    None,                "one port"),
        ("[2001:db8::1]",       None,                "an address in brackets"),
        (".example.com",        Some("bloom-domain"),    "ours, and wider than it looks"),
        ("10.0.0.0/8",          Some("bloom-domain"),    "a network"),
        ("[2001:db8::/32]",     Some("bloom-domain"),    "a network"),
        ("*",                   Some("host-everything"), "every host"),
        ("*.com",               Some("host-top-level"),  "a whole top-level domain"),
        ("a.*.example.com",     Some("host-wildcard"),   "a wildcard inside"),
        ("https://example.com", Some(""),            "a scheme"),
        ("example.com/path",    Some(""),            "a path"),
        ("",                    Some(""),            "nothing"),
    ];
    for (domain, code, because) in cases {
        let text = claude(&format!("networkPolicy: allow-list, allowedDomains: ['{domain}']"));
        let found = try_read(&[(CONFIG, Layer::User, &text)], &[]);
        match (found, code) {
            (Ok(_), None) => {}
            (Err(problems), Some(code)) => {
                assert!(code.is_empty() || problems[0].code() == code, "{}", problems[0]);
                assert_eq!(problems.len(), 1, "{domain}: {because}");
            }
            (found, _) => panic!("{domain}: {because}: {found:?}"),
        }
    }
}

#[test]
fn a_project_makes_no_list_of_the_user_s_count() {
    let config = claude("networkPolicy: deny-all, allowedDomains: [a.example.com]");
    let tasks = "tasks: { t: { agent: claude, sandbox: { networkPolicy: allow-list } } }";
    let readings = readings(&[(CONFIG, Layer::User, &config), (TASKS, Layer::Project, tasks)]);
    assert_eq!(codes(&readings[0]), ["unused-domains"]);
    let turned = [(Layer::CommandLine, "version: 1\nnetwork: { mode: allow-list }")];
    let resolved = resolved_beside(&readings, &turned, "", "t");
    assert_eq!(shown(&resolved, "network.allow"), [""; 0]);
}
