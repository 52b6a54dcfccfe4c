//! Files of several systems in one layer.

use super::*;

/// Works out what two files of the user's say, each in its dialect.
fn beside(files: [(&'static str, &str); 2]) -> Policy {
    let mut stack = Stack::new(&anchors()).unwrap();
    for (dialect, text) in files {
        let source = Source::new("x.yaml", text);
        let document = Document::parse(&source, Layer::User, &anchors()).unwrap();
        stack.push(Layer::User, Document { dialect: Some(dialect), ..document });
    }
    resolve(&stack, &Choice::default(), Trust::NotTrusted).unwrap().policy
}

#[test]
fn of_two_systems_that_speak_with_one_voice_the_stricter_holds() {
    let (tight, offline, loose) =
        ("profile: readonly", "profile: workspace-write-no-network", "profile: workspace-write");
    let moved = "profile: workspace-write\nfiles: { write: [/data] }";
    let listed = "files: { write: [.] }\nnetwork: { mode: allow-list, allow: [a.test, b.test] }";
    let other = "files: { write: [., /data] }\nnetwork: { mode: allow-list, allow: [b.test] }";
    use NetworkMode::{AllowList, DenyAll, Disabled};
    #[rustfmt::skip]
    let cases = [
        // earlier                later                   writes                 mode        profile
        (("native", tight),       ("agentao", loose),     vec![],                DenyAll,    "readonly"),
        (("agentao", tight),      ("native", loose),      vec![],                DenyAll,    "readonly"),
        (("agentao", loose),      ("native", tight),      vec![],                DenyAll,    "readonly"),
        (("native", loose),       ("agentao", offline),   vec!["/proj/app"],     DenyAll,    "workspace-write-no-network"),
        (("agentao", offline),    ("native", loose),      vec!["/proj/app"],     DenyAll,    "workspace-write-no-network"),
        (("native", tight),       ("agentao", moved),     vec![],                DenyAll,    "readonly"),
        // Within one system the later file counts.
        (("agentao", tight),      ("agentao", loose),     vec!["/proj/app"],     Disabled,   "workspace-write"),
        (("native", tight),       ("native", loose),      vec!["/proj/app"],     Disabled,   "workspace-write"),
        // A native file's own lists are no profile (Ruling 1).
        (("agentao", tight),      ("native", moved),      vec!["/data"],         DenyAll,    "readonly"),
        // Systems that say it in lists.
        (("agentao", tight),      ("srt", listed),        vec![],                DenyAll,    "readonly"),
        (("srt", listed),         ("agentao", loose),     vec!["/proj/app"],     AllowList,  "workspace-write-no-network"),
        (("srt", listed),         ("bloom", other),       vec!["/proj/app"],     AllowList,  "workspace-write-no-network"),
    ];
    for (earlier, later, write, mode, profile) in cases {
        let policy = beside([earlier, later]);
        assert_eq!(writes(&policy), write, "{earlier:?} {later:?}");
        assert_eq!(policy.network.mode.value(), mode, "{earlier:?} {later:?}");
        assert_eq!(policy.profile.value().to_string(), profile, "{earlier:?} {later:?}");
    }
    let allow: Vec<String> = beside([("srt", listed), ("bloom", other)])
        .network
        .allow
        .values()
        .map(ToString::to_string)
        .collect();
    assert_eq!(allow, ["b.test"], "what both allow");
}

#[test]
fn rules_beside_a_switch_that_is_off_hold_and_confine_nothing() {
    let off = || {
        let origin = Origin::of(Layer::User);
        [(Scope::Base, Sourced { value: false, origin })].into()
    };
    let rules = "commands: { rules: [{ tool: x, action: deny }] }";
    let parse = |text: &str| {
        Document::parse(&Source::new("x.yaml", text), Layer::User, &anchors()).unwrap()
    };
    let with = |dialect| {
        let mut stack = Stack::new(&anchors()).unwrap();
        stack.push(
            Layer::User,
            Document { enabled: off(), dialect: Some("agentao"), ..parse("{}") },
        );
        stack.push(Layer::User, Document { dialect: Some(dialect), ..parse(rules) });
        resolve(&stack, &Choice::default(), Trust::NotTrusted).unwrap()
    };
    let Resolved { policy, unconfined, .. } = with("agentao");
    assert!(unconfined.is_some(), "`permissions.json` builds no walls");
    assert_eq!(policy.require.value(), Require::None);
    assert!(policy.commands.rules.lists().iter().any(|list| !list.rules.is_empty()));
    assert!(with("native").unconfined.is_none(), "a file of ours does");
}
