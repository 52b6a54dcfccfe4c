//! Rules about paths, hosts and other tools.

use super::*;

#[test]
fn the_users_own_file_means_one_place_however_it_is_named() {
    let text = r#"{"permissions":{"deny":["Read(/notes)"]}}"#;
    #[rustfmt::skip]
    let cases = [
        // name                                     layer                 hidden
        ("/home/dev/.claude/settings.json",         Layer::User,          "/home/dev/.claude/notes"),
        ("/home/dev/.claude/settings.json",         Layer::CommandLine,   "/home/dev/.claude/notes"),
        ("/home/dev/.claude/settings.json",         Layer::Environment,   "/home/dev/.claude/notes"),
        ("/home/dev/x/../.claude/settings.json",    Layer::CommandLine,   "/home/dev/.claude/notes"),
        ("../../../home/dev/.claude/settings.json", Layer::CommandLine,   "/home/dev/.claude/notes"),
        ("/home/dev/my-settings.json",              Layer::User,          "/home/dev/.claude/notes"),
        ("/srv/other/.claude/settings.json",        Layer::User,          "/srv/other/notes"),
        ("/srv/other/.claude/settings.json",        Layer::CommandLine,   "/srv/other/notes"),
        ("/proj/app/.claude/settings.json",         Layer::Project,       "/proj/app/notes"),
        ("settings.json",                           Layer::CommandLine,   "/proj/app/notes"),
    ];
    for (name, layer, hidden) in cases {
        let source = Source::new(name, text);
        let readings = around(|around| read(&[Input { source: &source, layer }], around)).unwrap();
        let files = &readings[0].document.policy.files;
        assert_eq!(shown(files.hide.values()), [hidden], "{name} {layer}");
    }
}

#[test]
fn paths_start_where_claude_code_starts_them() {
    #[rustfmt::skip]
    let cases = [
        // rule                  layer           hidden
        ("Read(./.env)",         Layer::Project, "/proj/app/sub/.env"),
        ("Read(.env)",           Layer::Project, "/proj/app/sub/**/.env"),
        ("Read(secrets/**)",     Layer::Project, "/proj/app/sub/secrets"),
        ("Read(/secrets)",       Layer::Project, "/proj/app/secrets"),
        ("Read(/secrets)",       Layer::User,    "/home/dev/.claude/secrets"),
        ("Read(//srv/keys/**)",  Layer::Project, "/srv/keys"),
        ("Read(~/.tool/*.key)",  Layer::Project, "/home/dev/.tool/*.key"),
        ("Read(**/*.pem)",       Layer::Project, "/proj/app/sub/**/*.pem"),
        ("Grep(./x)",            Layer::Project, "/proj/app/sub/x"),
    ];
    for (rule, layer, hidden) in cases {
        let text = serde_json::json!({ "permissions": { "deny": [rule] } }).to_string();
        let policy = read_in(&text, layer).unwrap().document.policy;
        assert_eq!(shown(policy.files.hide.values()), [hidden], "{rule}");
        assert_eq!(policy.files.protect.entries(), [], "{rule}");
    }
    let edit = permissions("deny", "Edit(/locked/**)").document.policy;
    assert_eq!(shown(edit.files.protect.values()), ["/proj/app/locked"]);
    assert_eq!(edit.files.hide.entries(), [], "what may not be edited may be read");
    for kind in ["ask", "allow"] {
        let policy = permissions(kind, "Read(./x)").document.policy;
        assert_eq!(policy.files.hide.entries(), [], "{kind}");
    }
}

#[test]
fn a_path_is_allowed_only_where_its_text_leads_there() {
    #[rustfmt::skip]
    let cases = [
        // kind    rule                tool            argument         path                                 says
        ("allow", "Read(src/**)",      "Read",         "file_path",     "/proj/app/sub/src/a.rs",            true),
        ("allow", "Read(src/*.rs)",    "Read",         "file_path",     "/proj/app/sub/src/a.rs",            true),
        ("allow", "Read(src/**/a[0-9].rs)", "Read",    "file_path",     "/proj/app/sub/src/x/y/a1.rs",       true),
        ("allow", "Edit(src/**)",      "Write",        "file_path",     "/proj/app/sub/src/a.rs",            true),
        ("allow", "Edit(src/**)",      "NotebookEdit", "notebook_path", "/proj/app/sub/src/a.ipynb",         true),
        ("allow", "Read(src/**)",      "Read",         "file_path",     "/proj/app/sub/src/../../../etc/x",  false),
        ("allow", "Read(src/**)",      "Read",         "file_path",     "/proj/app/sub/srcs/a.rs",           false),
        ("allow", "Read(src/**)",      "Read",         "file_path",     "/etc/proj/app/sub/src/a.rs",        false),
        ("allow", "Read(src/*.rs)",    "Read",         "file_path",     "/proj/app/sub/src/x/a.rs",          false),
        ("allow", "Read(a.rs)",        "Read",         "file_path",     "/proj/app/sub/deep/a.rs",           false),
        ("allow", "Read(a.rs)",        "Read",         "file_path",     "/proj/app/sub/aXrs",                false),
        ("allow", "Read(src/**)",      "Write",        "file_path",     "/proj/app/sub/src/a.rs",            false),
        ("deny",  "Read(./.env)",      "Read",         "file_path",     "/proj/app/sub/.env",                true),
        ("deny",  "Read(./.env)",      "Read",         "file_path",     ".env",                              true),
        ("deny",  "Read(./.env)",      "Read",         "file_path",     "././.env",                          true),
        ("deny",  "Read(./.env)",      "Grep",         "path",          "/proj/app/sub/.env",                true),
        ("deny",  "Read(./.env)",      "Read",         "file_path",     "/proj/app/sub/x/../.env",           true),
        ("deny",  "Read(.env)",        "Read",         "file_path",     "/proj/app/sub/deep/er/.env",        true),
        ("deny",  "Read(//srv/k)",     "Read",         "file_path",     "/srv/k/below",                      true),
        ("deny",  "Edit(./x)",         "MultiEdit",    "file_path",     "/proj/app/sub/x",                   true),
        ("deny",  "Read(.env)",        "Read",         "file_path",     ".env",                              true),
        ("deny",  "Read(.env)",        "Read",         "file_path",     "sub/.env",                          true),
        ("deny",  "Read(.env)",        "Read",         "file_path",     "./sub/.//.env",                     true),
        ("deny",  "Read(.env)",        "Read",         "file_path",     "/proj/app/sub/.env",                true),
        ("deny",  "Read(**/*.pem)",    "Read",         "file_path",     "a.pem",                             true),
        ("deny",  "Read(**/*.pem)",    "Read",         "file_path",     "x/y/a.pem",                         true),
        ("deny",  "Read(/.env)",       "Read",         "file_path",     "/proj//app/.env",                   true),
        ("deny",  "Read(/sub/cfg)",    "Read",         "file_path",     "/proj/app/sub/./cfg",               true),
        ("deny",  "Read(/sub/cfg)",    "Read",         "file_path",     "//proj/./app/sub/cfg",              true),
        ("deny",  "Read(/sub/cfg)",    "Read",         "file_path",     "cfg",                               true),
        ("deny",  "Read(/sub/cfg)",    "Read",         "file_path",     ".//cfg/x",                          true),
        ("deny",  "Read(//proj/**/k)", "Read",         "file_path",     "x/k",                               true),
        ("deny",  "Read(//proj/*/sub/k)","Read",         "file_path",     "k",                                 true),
        ("deny",  "Read(//proj/app/**)","Read",         "file_path",     "any/thing",                         true),
        ("deny",  "Read(//proj/app/**)","Read",         "file_path",     ".",                                 true),
        ("deny",  "Read(d/**/k)",      "Read",         "file_path",     "d/k",                               true),
        ("deny",  "Read(d/**/k)",      "Read",         "file_path",     "d/./x//k",                          true),
        ("deny",  "Read(.env)",        "Read",         "file_path",     "a.env",                             false),
        ("deny",  "Read(.env)",        "Read",         "file_path",     "/etc/.env",                         false),
        ("deny",  "Read(/.env)",       "Read",         "file_path",     ".env",                              false),
        ("deny",  "Read(**/*.pem)",    "Read",         "file_path",     "a.pem.txt",                         false),
        ("deny",  "Read(//srv/k)",     "Read",         "file_path",     "k",                                 false),
        ("deny",  "Read(//proj/*/x/k)","Read",         "file_path",     "k",                                 false),
        ("allow", "Read(src/**)",      "Read",         "file_path",     "src/a.rs",                          false),
        ("allow", "Read(src/**)",      "Read",         "file_path",     "/proj/app/sub//src/a.rs",           false),
        ("allow", "Read(src/**)",      "Read",         "file_path",     "/proj/app/./sub/src/a.rs",          false),
        ("deny",  "Read(./.env)",      "Read",         "file_path",     "/proj/app/sub/.envrc",              false),
        ("deny",  "Read(./.env)",      "Write",        "file_path",     "/proj/app/sub/.env",                false),
    ];
    for (kind, rule, tool, argument, path, says) in cases {
        let found = verdict(&permissions(kind, rule), tool, &[(argument, path)]);
        assert_eq!(found.is_some(), says, "{kind} {rule}: {tool} {path}");
    }
}

#[test]
fn hosts_and_tools_are_matched_by_their_whole_names() {
    #[rustfmt::skip]
    let cases = [
        // kind    rule                                 tool                 url                   says
        ("allow", "WebFetch(domain:example.com)",       "WebFetch",          "example.com",        true),
        ("allow", "WebFetch(domain:*.example.com)",     "WebFetch",          "a.b.example.com",    true),
        ("deny",  "WebFetch(domain:*)",                 "WebFetch",          "any.test",           true),
        ("allow", "mcp__notes__list",                   "mcp__notes__list",  "",                   true),
        ("allow", "mcp__notes__*",                      "mcp__notes__read",  "",                   true),
        ("allow", "mcp__notes",                         "mcp__notes__read",  "",                   true),
        ("deny",  "mcp__*",                             "mcp__shop__buy",    "",                   true),
        ("deny",  "*",                                  "Anything",          "",                   true),
        ("deny",  "Read",                               "Glob",              "",                   true),
        ("ask",   "Edit",                               "NotebookEdit",      "",                   true),
        ("deny",  "Unheard(of this)",                   "Unheard",           "",                   true),
        ("allow", "WebFetch(domain:example.com)",       "WebFetch",          "evil-example.com",   false),
        ("allow", "WebFetch(domain:example.com)",       "WebFetch",          "example.com.evil.test", false),
        ("allow", "WebFetch(domain:*)",                 "WebFetch",          "any.test",           false),
        ("allow", "mcp__notes__list",                   "mcp__notes__lists", "",                   false),
        ("allow", "mcp__notes",                         "mcp__notesx__read", "",                   false),
        ("allow", "mcp__*",                             "mcp__shop__buy",    "",                   false),
        ("allow", "*",                                  "Anything",          "",                   false),
        ("allow", "Unheard(of this)",                   "Unheard",           "",                   false),
        ("deny",  "Re.d",                               "Read",              "",                   false),
    ];
    for (kind, rule, tool, url, says) in cases {
        let found = verdict(&permissions(kind, rule), tool, &[("url", url)]);
        assert_eq!(found.is_some(), says, "{kind} {rule}: {tool} {url}");
    }
    let denied = permissions("deny", "WebFetch(domain:bad.example.com)").document.policy;
    assert_eq!(shown(denied.network.deny.values()), ["bad.example.com"], "for commands as well");
}

#[test]
fn parameters_and_agents_are_matched_whole() {
    let agent = permissions("deny", "Agent(Explore)");
    assert_eq!(verdict(&agent, "Task", &[("subagent_type", "Explore")]), Some(Action::Deny));
    assert_eq!(verdict(&agent, "Task", &[("subagent_type", "Explorer")]), None);
    let parameter = permissions("ask", "Deploy(target:prod*)");
    assert_eq!(verdict(&parameter, "Deploy", &[("target", "production")]), Some(Action::Ask));
    assert_eq!(verdict(&parameter, "Deploy", &[("target", "preprod")]), None);
    let allowed = permissions("allow", "Deploy(target:test)");
    assert_eq!(verdict(&allowed, "Deploy", &[("target", "test")]), None);
    assert!(notes(&allowed).contains("allows nothing"));
}

#[test]
fn a_whole_tool_given_a_star_is_the_whole_tool() {
    for rule in ["Read", "Read(*)", "Read(**)"] {
        let reading = permissions("deny", rule);
        assert_eq!(verdict(&reading, "Read", &[("file_path", "/x")]), Some(Action::Deny), "{rule}");
        assert_eq!(reading.document.policy.files.hide.entries(), [], "{rule}");
    }
}

#[test]
fn a_misspelt_section_is_pointed_out_and_other_peoples_keys_are_not() {
    #[rustfmt::skip]
    let cases = [
        // key                    the hint
        ("permision",             "did you mean `permissions`?"),
        ("Permissions",           "did you mean `permissions`?"),
        ("sandbx",                "did you mean `sandbox`?"),
        ("allowManagedPermissionRuleOnly", "did you mean `allowManagedPermissionRulesOnly`?"),
        ("deny",                  "`deny` belongs to `permissions`"),
        ("filesystem",            "`filesystem` belongs to `sandbox`"),
        ("modell",                "did you mean `model`?"),
        ("somethingElse",         "Claude Code documents no such key"),
    ];
    for (key, hint) in cases {
        let text = serde_json::json!({ key: {}, "model": "x", "hooks": {} }).to_string();
        let reading = reading(&text);
        let [note] = reading.notes.as_slice() else { panic!("{key}: {}", notes(&reading)) };
        assert_eq!((note.code(), note.severity()), ("unknown-key", Severity::Warning), "{key}");
        assert!(note.to_string().contains(hint), "{note}");
    }
    let known = r#"{"$schema":"x","env":{},"hooks":{},"model":"m","statusLine":{},"theme":"x"}"#;
    assert_eq!(notes(&reading(known)), "", "sections that are not ours");
    let ours = r#"{"permissions":{"deny":["Bash(rm:*)"]},"sandbox":{"network":{"deniedDomains":["a.test"]}}}"#;
    assert_eq!(notes(&reading(ours)), "");
}

#[test]
fn nobody_is_asked_in_any_file_once_one_says_so() {
    let user = r#"{"permissions":{"defaultMode":"dontAsk","allow":["Bash(ls)"]}}"#;
    let other = r#"{"permissions":{"allow":["Bash(pwd)"],"ask":["WebSearch"]}}"#;
    let read = |layers: [Layer; 2]| {
        let sources = [("/home/dev/.claude/settings.json", user), ("/etc/x/settings.json", other)]
            .map(|(name, text)| Source::new(name, text));
        let inputs = [0, 1].map(|at| Input { source: &sources[at], layer: layers[at] });
        around(|around| read(&inputs, around)).unwrap()
    };
    let both = read([Layer::User, Layer::CommandLine]);
    let run = |reading, command| verdict(reading, "Bash", &[("command", command)]);
    assert_eq!(run(&both[0], "ls"), Some(Action::Allow));
    assert_eq!(run(&both[0], "pwd"), Some(Action::Allow), "the other file allows it");
    assert_eq!(run(&both[0], "id"), Some(Action::Deny), "nobody does");
    assert_eq!(run(&both[1], "id"), None, "one file refuses the rest");
    assert_eq!(verdict(&both[1], "WebSearch", &[]), Some(Action::Deny), "nobody is asked");
    // A project adds nothing to what a person's own file allows, and asks of them what it likes.
    let project = read([Layer::User, Layer::Project]);
    assert_eq!(run(&project[0], "pwd"), Some(Action::Deny));
    let project = read([Layer::Project, Layer::User]);
    assert_eq!(run(&project[0], "pwd"), Some(Action::Allow), "the user's word is not refused");
    assert_eq!(verdict(&project[1], "WebSearch", &[]), Some(Action::Ask));
}
