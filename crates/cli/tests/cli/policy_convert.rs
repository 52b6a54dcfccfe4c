//! `palisade policy import` and `export`, and telling dialects apart.

use serde_json::json;

use crate::kit::World;

const SRT: &str = r#"{
  "filesystem": { "denyRead": ["~/.ssh", "~/.aws", "~/.gnupg"], "allowWrite": ["."], "denyWrite": [".env"] },
  "network": { "allowedDomains": ["example.com"], "deniedDomains": [] }
}"#;

#[test]
fn a200_the_dialect_is_told_by_name_then_by_shape_and_doubt_asks() {
    let world = World::new();
    #[rustfmt::skip]
    let cases = [
        // file                 text                                                             told
        ("policy.yaml",         "network: { mode: deny-all }",                                   "native"),
        ("p.yaml",              "version: 1\nfiles: { hide: [x] }",                              "native"),
        (".srt-settings.json",  SRT,                                                             "srt"),
        ("whatever.json",       SRT,                                                             "srt"),
        ("sandbox.json",        r#"{ "enabled": true }"#,                                        "agentao"),
        ("a.json",              r#"{ "default_profile": "readonly" }"#,                          "agentao"),
        ("b.yaml",              "agent: { claude: { sandbox: { enabled: true } } }",             "bloom"),
        ("c.yaml",              "sandboxing: { enabled: true }",                                 "proxy"),
        ("settings.json",       r#"{ "permissions": { "deny": ["Read(./.env)"] }, "model": "x" }"#, "claude"),
        ("r.json",              r#"{ "denylist": ["rm"], "timeout_seconds": 5 }"#,               "runner"),
        ("s.sb",                "(version 1)(allow default)",                                    "seatbelt"),
    ];
    for (file, text, told) in cases {
        world.write(file, text);
        let report = world.json(&["policy", "check", "--json", file]);
        assert_eq!(
            (&report[0]["ok"], &report[0]["dialect"]),
            (&json!(true), &json!(told)),
            "{report}"
        );
    }
    // Two systems could have written this.
    world.write(
        "d.yaml",
        "sandboxing: { enabled: true }\nagent: { a: { sandbox: { enabled: true } } }\n",
    );
    let doubt = world.run(&["policy", "check", "d.yaml"]);
    assert_eq!(doubt.code, Some(125));
    assert!(doubt.stderr.contains("error[ambiguous-dialect]"), "{}", doubt.stderr);
    for dialect in ["proxy", "bloom"] {
        let named = world.run(&["policy", "check", "--dialect", dialect, "d.yaml"]);
        assert_eq!(named.code, Some(0), "{dialect}: {}", named.stderr);
    }
}

#[test]
fn a181_agentaos_file_in_a_project_only_narrows() {
    let world = World::new();
    world.write(
        ".agentao/sandbox.json",
        r#"{ "enabled": true, "default_profile": "workspace-write" }"#,
    );
    let show = |world: &World| world.json(&["policy", "show", "--json", "--policy", "agentao:"]);
    let before = show(&world);
    assert_eq!(before["policy"]["network"]["mode"], "deny-all", "not trusted");
    assert!(before["ignored"].to_string().contains("workspace-write"), "{}", before["ignored"]);
    world.write(".agentao/sandbox.json", r#"{ "enabled": false }"#);
    assert_eq!(show(&world)["require"], "full", "and cannot switch anything off");
    world.write(".agentao/sandbox.json", r#"{ "enabled": true, "default_profile": "readonly" }"#);
    assert_eq!(show(&world)["policy"]["files"]["write"], json!([]), "what narrows holds");
}

#[test]
fn a181_each_example_of_each_system_loads_in_a_project_and_widens_nothing() {
    let shown = |world: &World| {
        let ran = world.run(&["policy", "show", "--json"]);
        assert_eq!(ran.code, Some(0), "{}", ran.stderr);
        serde_json::from_str::<serde_json::Value>(&ran.stdout).unwrap()
    };
    let base = shown(&World::with_policy("version: 1\n"));
    let dialects = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../policy/src/dialect");
    let mut tried = 0;
    for dialect in ["agentao", "bloom", "claude", "proxy", "runner", "seatbelt", "srt"] {
        for fixture in std::fs::read_dir(dialects.join(dialect).join("fixtures")).unwrap() {
            let path = fixture.unwrap().path();
            let name = path.file_name().unwrap().to_str().unwrap();
            // A profile of Agentao's is a Seatbelt one.
            let dialect = if name.ends_with(".sb") { "seatbelt" } else { dialect };
            let include = format!("version: 1\ninclude: ['{dialect}:../{name}']\n");
            let world = World::with_policy(&include);
            world.write(name, std::fs::read(&path).unwrap());
            let strict = std::fs::read(dialects.join("agentao/fixtures/strict.sb")).unwrap();
            world.write("sandbox-profiles/strict.sb", &strict);
            world.write("profiles/strict.sb", strict);
            let found = shown(&world);
            let list = |policy: &serde_json::Value, section: &str, key: &str| {
                policy["policy"][section][key].as_array().unwrap().clone()
            };
            for (section, key) in [
                ("files", "write"),
                ("files", "unhide"),
                ("network", "allow"),
                ("network", "unix"),
                ("tools", "exclude"),
                ("env", "pass"),
            ] {
                let before = list(&base, section, key);
                let inside = |value: &serde_json::Value| {
                    key == "write" && value.as_str().unwrap().starts_with("/home/dev/app")
                };
                for value in list(&found, section, key) {
                    let known = before.contains(&value) || inside(&value) || dialect == "runner";
                    assert!(known, "{dialect} {name}: {section}.{key} opens {value}");
                }
            }
            for (section, key) in [
                ("files", "hide"),
                ("files", "protect"),
                ("commands", "deny"),
                ("tools", "patterns"),
            ] {
                for value in list(&base, section, key) {
                    let kept = list(&found, section, key).contains(&value);
                    assert!(kept, "{dialect} {name}: {section}.{key} lost {value}");
                }
            }
            assert_eq!(found["policy"]["network"]["mode"], "deny-all", "{dialect} {name}");
            assert_eq!(found["require"], "full", "{dialect} {name}");
            tried += 1;
        }
    }
    assert!(tried > 20, "only {tried} examples were found");
}

#[test]
fn a182_checking_sandbox_json_checks_the_profiles_it_names() {
    let world = World::new();
    world.write("profiles/mine.sb", "(version 1)(deny default)(allow process*)(allow file-read*)");
    world.write("profiles/broken.sb", "(version 1)(deny default");
    let check = |profile: &str| {
        let text =
            json!({ "enabled": true, "profiles_dir": "./profiles", "default_profile": profile });
        world.write(".agentao/sandbox.json", text.to_string());
        world.run(&["policy", "check", ".agentao/sandbox.json"])
    };
    assert_eq!(check("mine").code, Some(0), "{}", check("mine").stderr);
    let broken = check("broken");
    assert_eq!(broken.code, Some(125));
    assert!(broken.stderr.contains("broken.sb:1:"), "{}", broken.stderr);
    let unknown = check("nobody");
    assert_eq!(unknown.code, Some(125));
    assert!(unknown.stderr.contains("workspace-write-no-network"), "{}", unknown.stderr);
}

#[test]
fn what_is_imported_means_the_same() {
    let world = World::new();
    world.write("s.json", SRT);
    let imported = world.run(&["policy", "import", "s.json"]);
    assert_eq!(imported.code, Some(0), "{}", imported.stderr);
    world.write("native.yaml", &imported.stdout);
    let with = |file: &str| world.json(&["policy", "show", "--json", "--policy", file]);
    let (theirs, ours) = (with("s.json"), with("native.yaml"));
    for key in ["network", "limits", "env"] {
        assert_eq!(theirs["policy"][key], ours["policy"][key], "{key}");
    }
    for key in ["write", "allow_read"] {
        assert_eq!(theirs["policy"]["files"][key], ours["policy"]["files"][key], "{key}");
    }
    // What the built-in list hides stays hidden in the translation, and that is said.
    let hides =
        |shown: &serde_json::Value| shown["policy"]["files"]["hide"].as_array().unwrap().clone();
    assert!(hides(&theirs).iter().all(|path| hides(&ours).contains(path)));
    assert!(imported.stderr.contains("stays hidden"), "{}", imported.stderr);
}

#[test]
fn what_an_export_cannot_say_is_listed() {
    let world = World::new()
        .user_policy("version: 1\nnetwork: { mode: monitor }\nlimits: { timeout: 5s }\n");
    let export = world.run(&["policy", "export", "--to", "srt"]);
    assert_eq!(export.code, Some(0), "{}", export.stderr);
    assert!(export.stderr.contains("limits.timeout: 5s"), "{}", export.stderr);
    let strict = world.run(&["policy", "export", "--to", "srt", "--deny-warnings"]);
    assert_eq!(strict.code, Some(125));
    let native = world.run(&["policy", "export", "--to", "native"]);
    assert_eq!((native.code, native.stderr.as_str()), (Some(0), ""), "ours says everything");
    let object = world.json(&["policy", "export", "--to", "bloom", "--json"]);
    assert!(object["lost"].as_array().is_some_and(|lost| !lost.is_empty()), "{object}");
}

#[test]
fn import_reports_the_switches_that_are_off_and_no_others() {
    let world = World::new();
    let on = "agent: { claude: { sandbox: { enabled: true } }, codex: { sandbox: { enabled: true } } }\n";
    #[rustfmt::skip]
    let cases = [
        // text                                                                      off  because
        (on.to_owned(),                                                              0,   "every agent is confined"),
        (on.replace("codex: { sandbox: { enabled: true", "codex: { sandbox: { enabled: false"), 1, "one is not"),
        (format!("sandbox: {{ enabled: false, networkPolicy: deny-all }}\n{on}"),    1,   "everybody else is let out by name"),
        ("sandbox: { enabled: false }\n".into(),                                     1,   "nobody is confined"),
        ("agent: { claude: { sandbox: { networkPolicy: deny-all } } }\n".into(),     1,   "off by default"),
    ];
    for (text, off, because) in cases {
        world.write("bloom.yaml", &text);
        let report = world.json(&["policy", "import", "--json", "bloom:bloom.yaml"]);
        assert_eq!(report["switched_off"].as_array().unwrap().len(), off, "{because}: {report}");
    }
}

#[test]
fn export_lists_the_shared_folders_for_temporary_files() {
    let world = World::new().user_policy("version: 1\nfiles: { write: [., /tmp] }\n");
    for to in ["srt", "agentao"] {
        let report = world.json(&["policy", "export", "--json", "--to", to]);
        let lost = report["lost"].as_array().unwrap();
        let temp = |lost: &serde_json::Value| {
            lost["key"] == "files.write" && lost["value"].as_str().unwrap().starts_with("/tmp")
        };
        assert!(lost.iter().any(temp), "{to}: {report}");
    }
}
