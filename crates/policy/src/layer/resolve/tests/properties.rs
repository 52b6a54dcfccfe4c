//! Random policies: merging is associative, and an untrusted project never widens.
//!
//! "Wider" is defined here a second time, by questions: may this path be written, this host be
//! reached, this variable be seen? The answers are worked out from the values alone, without any of
//! the code under test that compares, covers or clamps.

use std::path::Path;

use proptest::prelude::*;

use super::*;
use crate::key::{Field, Standing};
use crate::name::{ByteSize, Host};
use crate::policy::{Action, Backend, Caches, Reach, Reached};

/// A layer's text, from a small alphabet so that things collide.
fn any_text() -> impl Strategy<Value = String> {
    let path = prop::sample::select(vec![
        ".", "src", "src/deep", "/", "/data", "/data/in", "~", "~/.ssh", "~/x",
    ]);
    let host = prop::sample::select(vec![
        "a.test",
        "*.a.test",
        ".a.test",
        "b.a.test",
        "c.b.a.test:80",
        "a.test:80",
        "10.0.0.0/8",
        "10.1.0.0/16",
        "10.1.2.3",
    ]);
    let env = prop::sample::select(vec!["A", "AB", "AB*", "A*", "B", "AB_TOKEN"]);
    let list = |key: &'static str, item: BoxedStrategy<&'static str>| {
        prop::option::weighted(0.4, prop::collection::vec(item, 0..3))
            .prop_map(move |items| items.map(|items| format!("{key}: [{}]", quoted(&items))))
            .boxed()
    };
    let word = |key: &'static str, words: &[&'static str]| {
        prop::option::weighted(0.4, prop::sample::select(words.to_vec()))
            .prop_map(move |word| word.map(|word| format!("{key}: {word}")))
            .boxed()
    };
    let rule = prop::sample::select(vec![
        "{ tool: x, action: allow }",
        "{ tool: x, action: ask }",
        "{ tool: x, action: deny }",
        "{ tool: '*', action: allow }",
    ]);
    let rules = prop::option::weighted(0.3, prop::collection::vec(rule, 0..3))
        .prop_map(|rules| rules.map(|rules| format!("rules: [{}]", rules.join(", "))))
        .boxed();
    let top = vec![
        word("preset", &["runner", "confined", "'agentao:plan'", "'agentao:full-access'"]),
        word("profile", &Profile::NAMES),
        word("require", &["full", "landlock", "external"]),
    ];
    let files = vec![
        list("write", path.clone().boxed()),
        list("hide", path.clone().boxed()),
        list("protect", path.clone().boxed()),
        list("unhide", path.clone().boxed()),
        list("allow_read", path.boxed()),
        word("caches", &["off", "private", "shared"]),
    ];
    let network = vec![
        word("mode", &["deny-all", "allow-list", "monitor", "disabled"]),
        list("allow", host.clone().boxed()),
        list("deny", host.clone().boxed()),
        list("ask", prop_oneof![4 => host, 1 => Just("*"), 1 => Just("*:443")].boxed()),
        word("strict", &["true", "false"]),
        word("local_binding", &["true", "false"]),
        list("publish", prop::sample::select(vec!["80", "443"]).boxed()),
    ];
    let commands = vec![
        list("deny", prop::sample::select(vec!["git", "rm"]).boxed()),
        word("shell", &["never", "judged"]),
        rules,
    ];
    let limits = vec![
        word("timeout", &["1s", "2s", "none"]),
        word("processes", &["0", "7", "none"]),
        word("memory", &["1KiB", "none"]),
    ];
    let env = vec![list("pass", env.boxed()), word("set", &["{ A: x }", "{ A: y }"])];
    let confirm =
        vec![word("backend", &["deny", "web", "terminal"]), word("timeout", &["1s", "none"])];
    (
        top,
        section("files", files),
        section("network", network),
        section("commands", commands),
        section("limits", limits),
        section("env", env),
        section("confirm", confirm),
    )
        .prop_map(|(top, a, b, c, d, e, f)| {
            let lines = top.into_iter().flatten().chain([a, b, c, d, e, f].into_iter().flatten());
            format!("version: 1\n{}", lines.collect::<Vec<_>>().join("\n"))
        })
}

fn section(
    name: &'static str,
    keys: Vec<BoxedStrategy<Option<String>>>,
) -> impl Strategy<Value = Option<String>> {
    keys.prop_map(move |keys| {
        let keys: Vec<String> = keys.into_iter().flatten().collect();
        (!keys.is_empty()).then(|| format!("{name}: {{ {} }}", keys.join(", ")))
    })
}

fn quoted(items: &[&str]) -> String {
    items.iter().map(|item| format!("'{item}'")).collect::<Vec<_>>().join(", ")
}

/// A text for everyone with, perhaps, another one for an agent.
pub(super) fn any_document() -> impl Strategy<Value = String> {
    (any_text(), prop::option::of(any_text())).prop_map(|(base, agent)| match agent {
        Some(agent) => {
            let agent = agent.replace("version: 1\n", "").replace('\n', "\n    ");
            if agent.trim().is_empty() {
                base
            } else {
                format!("{base}\nagents:\n  codex:\n    {agent}")
            }
        }
        None => base,
    })
}

/// What may happen, asked one thing at a time; each answer is a rank, a higher one is wider.
pub(super) fn answers(policy: &Policy) -> Vec<(String, i64)> {
    let mut answers = Vec::new();
    let below = |entry: &str, path: &str| Path::new(path).starts_with(entry);
    for path in [
        "/proj/app",
        "/proj/app/src/f",
        "/proj/app/src/deep/f",
        "/data/f",
        "/data/in/f",
        "/home/dev/f",
        "/home/dev/.ssh/k",
        "/home/dev/x/f",
        "/etc/f",
    ] {
        let writable = policy.files.write.values().any(|entry| below(&entry.to_string(), path));
        let closed = |entry: String| below(&entry, path);
        let protected = policy.files.protect.values().any(|entry| closed(entry.to_string()));
        let hidden = policy.files.hide.values().any(|entry| closed(entry.to_string()));
        let opened = policy.files.allow_read.values().any(|entry| closed(entry.to_string()));
        answers.push((format!("write {path}"), i64::from(writable && !protected && !hidden)));
        answers.push((format!("read {path}"), i64::from(!hidden || opened)));
    }
    for host in ["a.test", "b.a.test", "c.b.a.test", "x.test", "10.1.2.3", "10.9.9.9"] {
        for port in [80, 443] {
            let host: Host = host.parse().unwrap();
            let mode = policy.network.mode.value();
            let rank = match (mode, Reach::new(&policy.network).judge(&host, port)) {
                (NetworkMode::DenyAll, _) | (_, Reached::Denied(_)) => 0,
                (NetworkMode::Disabled, _) => 4,
                (_, Reached::Unlisted | Reached::NoOuterPort) => 0,
                (_, Reached::Asked(_)) => 1,
                (NetworkMode::AllowList, _) => 2,
                (NetworkMode::Monitor, _) => 3,
            };
            answers.push((format!("connect {host}:{port}"), rank));
        }
    }
    for name in ["A", "AB", "ABC", "AB_TOKEN", "B", "C", "PATH", "TZ"] {
        // A secret passes only when it is named in full.
        let secret = name.contains("TOKEN");
        let named = |entry: &str| match entry.strip_suffix('*') {
            Some(start) => name.starts_with(start) && !secret,
            None => name == entry,
        };
        let passed = policy.env.pass.values().any(|entry| named(&entry.to_string()));
        answers.push((format!("see {name}"), i64::from(passed)));
    }
    let set = policy.env.set.iter().map(|(name, value)| format!("{name}={}", value.value));
    answers.extend(set.map(|set| (format!("set {set}"), 1)));
    for name in ["git", "rm"] {
        let denied = policy.commands.deny.values().any(|entry| entry.as_str() == name);
        answers.push((format!("run {name}"), i64::from(!denied)));
    }
    answers.push(("rules".into(), rules(policy)));
    let limit = |limit: Option<u64>| limit.map_or(i64::MAX, |limit| i64::try_from(limit).unwrap());
    let limits = &policy.limits;
    answers.push(("time".into(), limit(limits.timeout.value().0.map(|t| t.duration().as_secs()))));
    answers.push(("processes".into(), limit(limits.processes.value().0.map(|count| count.0))));
    answers.push(("memory".into(), limit(limits.memory.value().0.map(ByteSize::bytes))));
    answers.push(("shell".into(), i64::from(policy.commands.shell.value() == ShellUse::Judged)));
    answers.push(("strict".into(), i64::from(!policy.network.strict.value().0)));
    answers.push(("bind".into(), i64::from(policy.network.local_binding.value().0)));
    for port in ["80", "443"] {
        let published = policy.network.publish.values().any(|open| open.to_string() == port);
        answers.push((format!("publish {port}"), i64::from(published)));
    }
    let log = policy.audit.path.sourced().map(|path| path.value.to_string());
    answers.push((format!("log to {}", log.unwrap_or_default()), 1));
    let roots = policy.tools.roots.values().map(|root| (format!("choose {root}"), 1));
    answers.extend(roots);
    answers.push(("intercept".into(), i64::from(!policy.tools.enabled.value().0)));
    answers.push((
        "published".into(),
        i64::try_from(
            policy.network.publish.values().collect::<std::collections::BTreeSet<_>>().len(),
        )
        .unwrap(),
    ));
    answers.push((
        "require".into(),
        match policy.require.value() {
            Require::Full => 0,
            Require::Landlock => 1,
            Require::External => 2,
            Require::None => 3,
        },
    ));
    answers.push((
        "caches".into(),
        match policy.files.caches.value() {
            Caches::Off => 0,
            Caches::Private => 1,
            Caches::Shared => 2,
        },
    ));
    answers.push(("asked".into(), i64::from(policy.confirm.backend.value() != Backend::Deny)));
    answers
}

/// What becomes of a call of the tool `x`, as Ruling 2 has it: 0 denied, 1 asked, 2 allowed; 1 where
/// no rule says anything.
fn rules(policy: &Policy) -> i64 {
    let rank = |action| match action {
        Action::Deny => 0,
        Action::Ask => 1,
        Action::Allow => 2,
    };
    let verdict = |standing| {
        policy
            .commands
            .rules
            .lists()
            .iter()
            .filter(move |list| list.standing == standing)
            .filter_map(|list| list.rules.first().and_then(|rule| rule.value.action))
            .map(rank)
            .filter(move |&rank| standing == Standing::Full || rank < 2)
    };
    let without = verdict(Standing::Full).min().unwrap_or(1);
    verdict(Standing::NarrowOnly).min().unwrap_or(2).min(without)
}

fn widened(with: &Policy, without: &Policy) -> Vec<String> {
    let before = answers(without);
    let known = |question: &String| {
        before.iter().find(|(asked, _)| asked == question).map_or(0, |(_, rank)| *rank)
    };
    answers(with)
        .into_iter()
        .filter(|(question, rank)| *rank > known(question))
        .map(|(question, _)| question)
        .collect()
}

proptest! {
    /// Whatever a project writes, nothing becomes possible through it that was not without it.
    #[test]
    fn a181_an_untrusted_project_never_widens(
        system in any_document(), user in any_document(), project in any_document(),
        command_line in any_document(), agent in any::<bool>(),
    ) {
        let own = [(Layer::System, &*system), (Layer::User, &*user), (Layer::CommandLine, &*command_line)];
        let with = [own[0], own[1], (Layer::Project, &*project), own[2]];
        let choice = Choice { agent: agent.then(|| "codex".into()), task: None };
        let without = resolve(&stack(&own), &choice, Trust::NotTrusted).unwrap();
        let narrowed = resolve(&stack(&with), &choice, Trust::NotTrusted).unwrap();
        prop_assert_eq!(widened(&narrowed.policy, &without.policy), Vec::<String>::new());
    }

    /// What was left out is named: if trusting the project would widen anything, something is.
    #[test]
    fn what_would_widen_is_named(user in any_document(), project in any_document()) {
        let layers = [(Layer::User, &*user), (Layer::Project, &*project)];
        let narrowed = resolved(&layers, Trust::NotTrusted);
        let trusted = resolved(&layers, Trust::Trusted);
        let without = resolved(&layers[..1], Trust::NotTrusted);
        let wider = widened(&trusted.policy, &without.policy);
        prop_assert!(wider.is_empty() || !narrowed.ignored.is_empty(), "{wider:?}");
    }

    /// Three layers give the same, whichever two are merged first.
    #[test]
    fn merging_is_associative(a in any_text(), b in any_text(), c in any_text()) {
        let [a, b, c] = [(Layer::System, a), (Layer::User, b), (Layer::CommandLine, c)].map(|(layer, text)| {
            let document = Document::parse(&Source::new("x.yaml", &text), layer, &anchors()).unwrap();
            stack(&[]).with_profile(document.policy).unwrap()
        });
        let merged = |mut below: Policy, above: &Policy| { below.merge(above.clone()); below };
        let left = merged(merged(a.clone(), &b), &c);
        let right = merged(a, &merged(b, &c));
        prop_assert_eq!(left, right);
    }
}
