//! What `policy show` prints is a policy file that means what was shown.

use proptest::prelude::*;

use crate::kit::World;

/// Statements that collide with each other and with the built-in ones.
const STATEMENTS: [&str; 24] = [
    "preset: runner",
    "preset: agentao:plan",
    "profile: readonly",
    "profile: workspace-write",
    "require: landlock",
    "files.write: []",
    "files.write: [\".\", \"~/it's \\\\[here\\\\]\", /var/a b]",
    "files.hide: [\"**/*.pem\", \"/x: y\", \"~/ü #1\"]",
    "files.unhide: [\"~/.ssh\"]",
    "files.allow_read: [\"~/.aws/config\"]",
    "files.caches: shared",
    "network.mode: allow-list",
    "network.mode: disabled",
    "network.allow: [example.com, \"*.example.com:443\", 192.0.2.0/24, \"[2001:db8::1]:80\"]",
    "network.deny: [\"*\"]",
    "network.host_ports: [8080, \"9090\"]",
    "network.http_rules: [{ host: example.com, methods: [GET], path: '^/a\\d', action: allow }]",
    "commands.rules: [{ tool: bash, args: { command: '^(?!rm)\"x' }, action: ask, justification: 'yes, no: 1' }]",
    "commands.rules: [{ tool: '*', domain: { hosts: [.example.com] }, action: deny }]",
    "tools.exclude: ['read_.*']",
    "limits.timeout: 1500ms",
    "limits.output: 65537",
    "env.set: { A: 'true', B: \"line\\nnext\\e[2K\", C: '', D: '08' }",
    "wrapper: [nice, -n, '5']",
];

/// Writes statements of one file: the later of two for the same key is left out.
fn policy(picked: &[usize]) -> String {
    let mut sections: Vec<(String, Vec<(String, String)>)> = Vec::new();
    for &at in picked {
        let (key, value) = STATEMENTS[at].split_once(": ").unwrap();
        let (section, key) = key.split_once('.').unwrap_or(("", key));
        let place = sections.iter().position(|(name, _)| name == section).unwrap_or_else(|| {
            sections.push((section.into(), Vec::new()));
            sections.len() - 1
        });
        if !sections[place].1.iter().any(|(known, _)| known == key) {
            sections[place].1.push((key.into(), value.into()));
        }
    }
    let mut text = String::from("version: 1\n");
    for (section, entries) in sections {
        let indent = if section.is_empty() { "" } else { "  " };
        if !section.is_empty() {
            text.push_str(&format!("{section}:\n"));
        }
        for (key, value) in entries {
            text.push_str(&format!("{indent}{key}: {value}\n"));
        }
    }
    text
}

fn any_policy() -> impl Strategy<Value = String> {
    prop::collection::vec(0..STATEMENTS.len(), 0..8).prop_map(|picked| policy(&picked))
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn shown_loaded_and_shown_again_is_the_same(user in any_policy(), project in any_policy()) {
        let world = World::with_policy(&project).user_policy(&user);
        let shown = world.run(&["policy", "show"]);
        prop_assert_eq!(shown.code, Some(0), "{}\n{}\n{}", shown.stderr, user, project);
        let before = world.json(&["policy", "show", "--json"]);

        // The text names the folders of the test by their stand-ins; give it the real ones back.
        let root = world.project.root().to_str().unwrap();
        let text = shown.stdout.replace("/home/dev/app", root);
        let text = text.replace("/home/dev", world.home.root().to_str().unwrap());
        world.write("shown.yaml", text);
        let check = world.run(&["policy", "check", "shown.yaml"]);
        prop_assert_eq!(check.code, Some(0), "{}", check.stderr);
        let mut after = world.json(&["policy", "show", "--json", "--policy", "shown.yaml"]);
        // It protects one file more: itself.
        let protected = after["policy"]["files"]["protect"].as_array_mut().unwrap();
        protected.retain(|path| path != "/home/dev/app/shown.yaml");
        prop_assert_eq!(&before["policy"], &after["policy"], "{}\n{}", user, project);
    }
}
