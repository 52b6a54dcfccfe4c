//! `palisade hook install` and `uninstall`: what becomes of settings.

use std::fs;
use std::os::unix::fs::symlink;

use serde_json::Value as Json;

use crate::hook::AGENTS;
use crate::kit::{World, as_both};

/// Where each agent's settings are, from the home and from the project.
const FILES: [(&str, &str, &str); 6] = [
    ("claude", ".claude/settings.json", ".claude/settings.json"),
    ("codex", ".codex/hooks.json", ".codex/hooks.json"),
    ("copilot", ".copilot/hooks/palisade.json", ".github/hooks/palisade.json"),
    ("cursor", ".cursor/hooks.json", ".cursor/hooks.json"),
    ("gemini", ".gemini/settings.json", ".gemini/settings.json"),
    ("opencode", ".config/opencode/plugins/palisade.js", ".opencode/plugins/palisade.js"),
];

#[test]
fn a_hook_comes_once_and_goes_without_a_trace() {
    as_both(|world| {
        for (agent, user, project) in FILES {
            for (scope, file) in
                [("--user", world.home.path(user)), ("--project", world.project.path(project))]
            {
                let looked = world.run(&["hook", "install", agent, scope, "--dry-run"]);
                assert_eq!(looked.code, Some(0), "{agent} {}", looked.stderr);
                assert!(looked.stdout.contains("+ ") && !file.exists(), "{agent}");
                let unasked = world.run(&["hook", "install", agent, scope]);
                assert_eq!(unasked.code, Some(125), "nobody can be asked here");
                assert!(!file.exists());
                assert_eq!(world.run(&["hook", "install", agent, scope, "--yes"]).code, Some(0));
                let text = fs::read_to_string(&file).unwrap();
                assert!(text.contains("hook") && text.contains(agent), "{agent} {text}");
                let again = world.run(&["hook", "install", agent, scope, "--yes"]);
                assert!(again.stdout.contains("nothing changes"), "{agent} {}", again.stdout);
                assert_eq!(fs::read_to_string(&file).unwrap(), text);
                let gone = world.run(&["hook", "uninstall", agent, scope, "--yes"]);
                assert_eq!(gone.code, Some(0), "{agent} {}", gone.stderr);
                assert!(!file.exists(), "{agent} {scope}");
                let none = world.run(&["hook", "uninstall", agent, scope, "--yes"]);
                assert_eq!(none.code, Some(0), "{}", none.stderr);
            }
        }
    });
}

/// What a person may have written.
const SETTINGS: [&str; 6] = [
    "{}",
    "{\"model\":\"x\"}",
    "// mine\n{\n    /* kept */ \"model\": \"x\", // why\n    \"hooks\": {\n        // others\n    }, // end\n}\n",
    "{\r\n\t\"b\": 1,\r\n\t\"a\": { \"z\": [1, 2] }\r\n}\r\n",
    "{\n  \"hooks\": {\n    \"PreToolUse\": [\n      { \"matcher\": \"Bash\", \"hooks\": [{ \"type\": \"command\", \"command\": \"true\" }] } // theirs\n    ],\n    \"Stop\": []\n  }\n}",
    "\n",
];

#[test]
fn settings_come_back_byte_for_byte() {
    for settings in SETTINGS {
        let world = World::new();
        let file = world.home.path(".claude/settings.json");
        fs::create_dir_all(file.parent().unwrap()).unwrap();
        fs::write(&file, settings).unwrap();
        let ran = world.run(&["hook", "install", "claude", "--yes"]);
        assert_eq!(ran.code, Some(0), "{settings:?} {}", ran.stderr);
        let text = fs::read_to_string(&file).unwrap();
        for line in settings.lines().map(|line| line.trim().trim_end_matches(',')) {
            let comment = line.split("//").nth(1).unwrap_or(line);
            let is_kept = text.contains(comment.trim().trim_end_matches('}'));
            assert!(is_kept, "{comment:?} is not in {text}");
        }
        // Other options take the place of the first, and the way back is the same.
        assert_eq!(world.run(&["hook", "install", "claude", "--wrap", "--yes"]).code, Some(0));
        let wrapped = fs::read_to_string(&file).unwrap();
        assert_eq!(wrapped.matches("hook claude").count(), 1, "{wrapped}");
        assert!(wrapped.contains("hook claude --wrap || exit 2"), "{wrapped}");
        assert_eq!(world.run(&["hook", "uninstall", "claude", "--yes"]).code, Some(0));
        assert_eq!(fs::read_to_string(&file).unwrap(), settings);
    }
}

#[test]
fn what_a_person_wrote_meanwhile_stays() {
    let world = World::new();
    let file = world.home.path(".claude/settings.json");
    world.run(&["hook", "install", "claude", "--yes"]);
    let text = fs::read_to_string(&file).unwrap();
    fs::write(&file, text.replacen('{', "{ \"model\": \"x\", // mine\n", 1)).unwrap();
    assert_eq!(world.run(&["hook", "uninstall", "claude", "--yes"]).code, Some(0));
    let left = fs::read_to_string(&file).unwrap();
    assert!(left.contains("// mine") && !left.contains("palisade"), "{left}");
    let plain: String = left.lines().map(|line| line.split("//").next().unwrap()).collect();
    let plain: Json = serde_json::from_str(&plain.replace(",}", "}")).unwrap();
    assert_eq!(plain["model"], "x");
}

#[test]
fn settings_that_cannot_be_understood_are_left_alone() {
    for (settings, code) in [
        ("{", 125),
        ("[]", 125),
        ("{\"hooks\": 7}", 125),
        ("{\"hooks\": {\"PreToolUse\": {}}}", 125),
    ] {
        let world = World::new();
        let file = world.home.path(".claude/settings.json");
        fs::create_dir_all(file.parent().unwrap()).unwrap();
        fs::write(&file, settings).unwrap();
        let ran = world.run(&["hook", "install", "claude", "--yes"]);
        assert_eq!(ran.code, Some(code), "{settings}");
        assert!(
            ran.stderr.contains("settings.json") && ran.stderr.contains("hint"),
            "{}",
            ran.stderr
        );
        assert_eq!(fs::read_to_string(&file).unwrap(), settings);
    }
    let ran = World::new().run(&["hook", "install", "codex", "--wrap", "--yes"]);
    assert_eq!(ran.code, Some(125));
    assert!(ran.stderr.contains("--wrap"), "{}", ran.stderr);
    assert_eq!(World::new().run(&["hook", "install", "nobody"]).code, Some(2));
}

#[test]
fn a_link_to_settings_stays_a_link() {
    let world = World::new();
    let (link, file) = (world.home.path(".claude/settings.json"), world.home.path("dotfiles.json"));
    fs::create_dir_all(link.parent().unwrap()).unwrap();
    fs::write(&file, "{}").unwrap();
    symlink(&file, &link).unwrap();
    assert_eq!(world.run(&["hook", "install", "claude", "--yes"]).code, Some(0));
    assert!(link.symlink_metadata().unwrap().is_symlink());
    assert!(fs::read_to_string(&file).unwrap().contains("palisade"));
    assert_eq!(world.run(&["hook", "uninstall", "claude", "--yes"]).code, Some(0));
    assert_eq!(fs::read_to_string(&file).unwrap(), "{}");
    assert_eq!(AGENTS.len(), FILES.len());
}
