//! What Claude Code's settings become.

mod commands;
mod rules;

use super::*;
use crate::layer::{Choice, Resolved, Stack, Trust, resolve};
use crate::name::Found;
use crate::policy::{Action, NetworkMode, Profile, Require, Rule};
use crate::text::Severity;

pub(super) fn anchors() -> Anchors {
    Anchors { root: "/proj/app".into(), home: Some("/home/dev".into()) }
}

pub(super) fn around<T>(act: impl FnOnce(&Surroundings<'_>) -> T) -> T {
    act(&Surroundings {
        anchors: &anchors(),
        cwd: Path::new("/proj/app/sub"),
        var: &|_| None,
        kind: &|_| None,
        list: &|_| Vec::new(),
        read: &|_| Err("nothing is read".into()),
    })
}

pub(super) fn read_in(text: &str, layer: Layer) -> Result<Reading, Vec<Diagnostic>> {
    let base = if layer == Layer::User { "/home/dev" } else { "/proj/app" };
    let name = &format!("{base}/.claude/settings.json");
    let source = Source::new(name, text);
    let mut readings = around(|around| read(&[Input { source: &source, layer }], around))?;
    Ok(readings.remove(0))
}

pub(super) fn reading(text: &str) -> Reading {
    read_in(text, Layer::Project).unwrap_or_else(|problems| panic!("{}", problems[0]))
}

pub(super) fn errors(text: &str) -> Vec<&'static str> {
    let problems = read_in(text, Layer::Project).err().unwrap_or_default();
    let errors = problems.iter().filter(|problem| problem.severity() == Severity::Error);
    errors.map(Diagnostic::code).collect()
}

pub(super) fn notes(reading: &Reading) -> String {
    let note = |note: &Diagnostic| format!("{}: {}\n", note.code(), note.message());
    reading.notes.iter().map(note).collect()
}

pub(super) fn shown<T: ToString>(values: impl Iterator<Item = T>) -> Vec<String> {
    values.map(|value| value.to_string()).collect()
}

/// Reads rules of one kind.
pub(super) fn permissions(kind: &str, rule: &str) -> Reading {
    reading(&serde_json::json!({ "permissions": { kind: [rule] } }).to_string())
}

/// Returns what the first rule that matches says, as `decide` will.
pub(super) fn verdict(reading: &Reading, tool: &str, args: &[(&str, &str)]) -> Option<Action> {
    let matches = |rule: &Rule| {
        rule.tool.matches(tool) == Found::Yes
            && rule.args.iter().all(|(name, pattern)| {
                let given = args.iter().find(|(arg, _)| arg == name);
                given.is_some_and(|(_, text)| match pattern.search(text) {
                    Found::No => false,
                    Found::Undecided => rule.action != Some(Action::Allow),
                    Found::Yes => true,
                })
            })
            && rule.domain.as_ref().is_none_or(|domain| {
                let given = args.iter().find(|(arg, _)| *arg == &*domain.url_arg);
                given.and_then(|(_, host)| host.parse().ok()).is_some_and(|host| {
                    domain.hosts.iter().any(|pattern| pattern.matches(&host, 443))
                })
            })
    };
    let lists = reading.document.policy.commands.rules.lists();
    let mut rules = lists.iter().flat_map(|list| &list.rules);
    rules.find(|rule| matches(&rule.value)).and_then(|rule| rule.value.action)
}

fn resolved(documents: &[(Layer, &Document)], trust: Trust) -> Resolved {
    let mut stack = Stack::new(&anchors()).unwrap();
    for (layer, document) in documents {
        stack.push(*layer, (*document).clone());
    }
    resolve(&stack, &Choice::default(), trust).unwrap()
}

const PROJECT: &str = include_str!("fixtures/project.json");

#[test]
fn a_whole_file_is_read_and_what_opens_too_much_is_noted() {
    let reading = reading(PROJECT);
    let policy = &reading.document.policy;
    assert_eq!(policy.commands.rules.lists().len(), 1, "one list, so that deny comes first");
    assert_eq!(
        shown(policy.files.write.values()),
        ["/proj/app", "/proj/app/build", "/var/cache/x", "/proj/app/docs"]
    );
    assert_eq!(
        shown(policy.files.hide.values()),
        ["/home/dev/.tool", "/proj/app/sub/.env", "/etc/secrets"]
    );
    assert_eq!(
        shown(policy.files.protect.values()),
        ["/proj/app/build/locked", "/home/dev/.config"]
    );
    assert_eq!(policy.network.mode.value(), NetworkMode::AllowList);
    let denied = shown(policy.network.deny.values());
    assert_eq!(denied, ["upload.example.com", "bad.example.com"]);
    assert_eq!(policy.require.value(), Require::Full);
    let notes = notes(&reading);
    for word in ["excludedCommands", "allowUnsandboxedCommands", "autoAllowBash", "mode is not"] {
        assert!(notes.contains(word), "{word}: {notes}");
    }
    assert!(!notes.contains("hooks") && !notes.contains("model"), "not ours: {notes}");
}

#[test]
fn a_project_that_is_not_trusted_opens_nothing() {
    let document = reading(PROJECT).document;
    let without = resolved(&[], Trust::NotTrusted).policy;
    let with = resolved(&[(Layer::Project, &document)], Trust::NotTrusted);
    let inside = ["/proj/app", "/proj/app/build", "/proj/app/docs"];
    assert_eq!(shown(with.policy.files.write.values()), inside, "and not /var/cache/x");
    assert_eq!(with.policy.network.mode.value(), without.network.mode.value());
    assert!(with.ignored.iter().any(|part| part.key == "network.mode"));
    assert!(with.policy.files.hide.values().any(|path| path.matches("/etc/secrets/x".as_ref())));
    let trusted = resolved(&[(Layer::Project, &document)], Trust::Trusted).policy;
    assert_eq!(trusted.network.mode.value(), NetworkMode::AllowList);
}

#[test]
fn the_sandbox_of_a_file_switches_nothing_off() {
    let text = r#"{"sandbox":{"enabled":false,"filesystem":{"disabled":true}},
        "permissions":{"deny":["Read(./.env)"],"defaultMode":"bypassPermissions"}}"#;
    let user = read_in(text, Layer::User).unwrap();
    let noted = notes(&user);
    for word in ["walls stay", "never honoured", "sandbox.filesystem.disabled"] {
        assert!(noted.contains(word), "{word}: {noted}");
    }
    let resolved = resolved(&[(Layer::User, &user.document)], Trust::NotTrusted);
    assert_eq!(resolved.unconfined, None);
    assert_eq!(resolved.policy.require.value(), Require::Full);
    assert_eq!(verdict(&user, "Read", &[("file_path", "/proj/app/sub/.env")]), Some(Action::Deny));
    assert_eq!(verdict(&user, "Read", &[("file_path", "/proj/app/sub/a.rs")]), None);
}

#[test]
fn modes_that_restrict_are_kept() {
    let plan = reading(
        r#"{"permissions":{"defaultMode":"plan","additionalDirectories":["/x"]},
            "sandbox":{"filesystem":{"allowWrite":["/y"]}}}"#,
    );
    assert_eq!(plan.document.policy.profile.value(), Profile::Readonly);
    let policy = resolved(&[(Layer::User, &plan.document)], Trust::NotTrusted).policy;
    assert_eq!(shown(policy.files.write.values()), Vec::<String>::new());

    // Nor does another file undo it, before it or after it, of the same layer or not.
    let planning = r#"{"permissions":{"defaultMode":"plan"}}"#;
    let more = [
        r#"{"permissions":{"additionalDirectories":["/x"]}}"#,
        r#"{"sandbox":{"filesystem":{"allowWrite":["/y"]}}}"#,
        r#"{"permissions":{"defaultMode":"acceptEdits","additionalDirectories":["/x"]}}"#,
    ];
    for (more, other) in more.iter().flat_map(|more| [(more, Layer::User), (more, Layer::System)]) {
        let [plan, more] = [planning, more].map(|text| Source::new("/s.json", text));
        let plan = Input { source: &plan, layer: Layer::User };
        let more = Input { source: &more, layer: other };
        let writable = |inputs: &[Input<'_>]| {
            let readings = around(|around| read(inputs, around)).unwrap();
            let said: Vec<_> = readings.iter().map(|one| (one.layer, &one.document)).collect();
            let policy = resolved(&said, Trust::NotTrusted).policy;
            shown(policy.files.write.values())
        };
        assert_eq!(writable(&[plan, more]), Vec::<String>::new(), "{more:?}");
        assert_eq!(writable(&[more, plan]), Vec::<String>::new(), "{more:?}");
        assert_eq!(writable(&[more]).len(), 2, "{more:?}");
    }

    let text = r#"{"permissions":{"defaultMode":"dontAsk","allow":["Read"]}}"#;
    let quiet = reading(text);
    assert_eq!(verdict(&quiet, "Read", &[]), Some(Action::Allow));
    assert_eq!(verdict(&quiet, "Bash", &[("command", "ls")]), Some(Action::Deny));
}

#[test]
fn what_an_administrator_reserves_no_other_file_opens() {
    let managed = r#"{"allowManagedPermissionRulesOnly":true,"sandbox":{
        "network":{"allowManagedDomainsOnly":true,"allowedDomains":["ok.example.com"]},
        "filesystem":{"allowManagedReadPathsOnly":true,"allowRead":["/ok"]}}}"#;
    let own = r#"{"permissions":{"allow":["Bash"],"deny":["Read(./x)"]},"sandbox":{
        "network":{"allowedDomains":["own.example.com"]},"filesystem":{"allowRead":["/own"]}}}"#;
    let sources = [Source::new("/etc/m.json", managed), Source::new("/u.json", own)];
    let inputs = [(&sources[0], Layer::System), (&sources[1], Layer::User)]
        .map(|(source, layer)| Input { source, layer });
    let readings = around(|around| read(&inputs, around)).unwrap();
    let (admin, user) = (&readings[0].document.policy, &readings[1].document.policy);
    assert_eq!(shown(admin.network.allow.values()), ["ok.example.com"]);
    assert_eq!(shown(admin.files.allow_read.values()), ["/ok"]);
    assert_eq!(user.network.allow.entries(), []);
    assert_eq!(user.files.allow_read.entries(), []);
    assert_eq!(verdict(&readings[1], "Bash", &[("command", "ls")]), None);
    let path = [("file_path", "/proj/app/sub/x")];
    assert_eq!(verdict(&readings[1], "Read", &path), Some(Action::Deny), "a refusal stays");
    assert_eq!(readings[1].notes.len(), 3);
    // The same words in a file of one's own reserve nothing.
    let alone = around(|around| read(&[Input { source: &sources[0], layer: Layer::User }], around));
    assert_eq!(shown(alone.unwrap()[0].document.policy.network.allow.values()), ["ok.example.com"]);
}

#[test]
fn the_dialect_is_told_by_name_and_shape() {
    #[rustfmt::skip]
    let cases = [
        ("/p/.claude/settings.json",       "{}",                                     Likeness::Name),
        ("/p/settings.local.json",         r#"{"permissions":{"deny":[]}}"#,         Likeness::Name),
        ("/p/other.json",                  r#"{"permissions":{"allow":[]}}"#,        Likeness::Shape),
        ("/p/other.json",                  r#"{"sandbox":{"network":{}}}"#,          Likeness::Shape),
        ("/p/settings.json",               r#"{"editor.tabSize":4}"#,                Likeness::No),
        ("/p/x.json",                      r#"{"sandbox":{"enabled":true}}"#,        Likeness::No),
        ("/p/.claude/other.json",          "{}",                                     Likeness::No),
    ];
    for (name, text, expected) in cases {
        let source = Source::new(name, text);
        let node = json::parse(&source).unwrap();
        assert_eq!(detect(&source, Some(&node)), expected, "{name} {text}");
    }
    let places = around(places);
    let layers: Vec<Layer> = places.iter().map(|place| place.layer).collect();
    assert_eq!(layers, [Layer::System, Layer::User, Layer::Project, Layer::Project]);
}

#[test]
fn unknown_keys_warn_and_wrong_types_are_errors() {
    let odd = reading(r#"{"permissions":{"denny":[]},"sandbox":{"network":{"x":1}},"y":2}"#);
    let notes = notes(&odd);
    assert!(notes.contains("`permissions.denny`") && notes.contains("`sandbox.network.x`"));
    assert!(notes.contains("`y`"));
    assert_eq!(odd.notes.len(), 3);
    #[rustfmt::skip]
    let cases = [
        ("",                                                             "empty"),
        ("[]",                                                           "wrong-type"),
        (r#"{"permissions":[]}"#,                                        "wrong-type"),
        (r#"{"permissions":{"deny":"Bash"}}"#,                           "wrong-type"),
        (r#"{"permissions":{"deny":[1]}}"#,                              "wrong-type"),
        (r#"{"permissions":{"defaultMode":"yolo"}}"#,                    "wrong-type"),
        (r#"{"permissions":{"deny":["Bash(rm"]}}"#,                      "claude-rule"),
        (r#"{"permissions":{"deny":["rm -rf *"]}}"#,                     "claude-rule"),
        (r#"{"permissions":{"allow":[""]}}"#,                            "claude-rule"),
        (r#"{"permissions":{"deny":["Read(//**/x)"]}}"#,                 "path-reach"),
        (r#"{"permissions":{"deny":["Edit(!x)"]}}"#,                     "claude-path"),
        (r#"{"permissions":{"deny":["WebFetch(domain:*.com)"]}}"#,       "srt-domain"),
        (r#"{"permissions":{"additionalDirectories":["a/*"]}}"#,         "wildcard-not-enforceable"),
        (r#"{"sandbox":true}"#,                                          "wrong-type"),
        (r#"{"sandbox":{"enabled":"yes"}}"#,                             "wrong-type"),
        (r#"{"sandbox":{"network":{"deniedDomains":["a/b"]}}}"#,         "srt-domain"),
        (r#"{"sandbox":{"filesystem":{"denyRead":["/**/x"]}}}"#,         "path-reach"),
        (r#"{"sandbox":{"filesystem":{"denyRead":[{"literal":true}]}}}"#, "missing-key"),
        (r#"{"sandbox":{"filesystem":{"denyWrite":[{}]}}}"#,             "missing-key"),
    ];
    for (text, code) in cases {
        assert_eq!(errors(text), [code], "{text}");
    }
}
