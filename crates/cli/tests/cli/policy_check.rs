//! `palisade policy check`.

use serde_json::json;

use crate::kit::World;

#[test]
fn a172_a_native_file_takes_the_five_names_of_the_runner_verbatim() {
    let world = World::new();
    world.write("sub/keep", "");
    world.write(
        "runner.yaml",
        "preset: runner\nproject_root: sub\nmax_output_bytes: 1024\ntimeout_seconds: 2.5\n\
         denylist: [mytool]\ninterpreter_block: [guile]\n",
    );
    let shown = world.json(&["policy", "show", "--json", "--policy", "runner.yaml"]);
    let policy = &shown["policy"];
    assert_eq!(shown["root"]["path"], "/home/dev/app/sub");
    assert_eq!(policy["limits"]["output"], "1KiB");
    assert_eq!(policy["limits"]["timeout"], "2s500ms");
    let has = |list: &str, name: &str| {
        policy["commands"][list].as_array().unwrap().contains(&json!(name))
    };
    assert!(has("deny", "mytool") && has("deny", "rm"), "denied names add up");
    assert!(has("interpreters", "guile") && has("interpreters", "python3"));

    #[rustfmt::skip]
    let refused = [
        // text                                            code             because
        ("timeout_seconds: 5\nlimits: { timeout: 9s }\n",  "alias-and-key", "both names of one key"),
        ("denylist: [a]\ncommands: { deny: [b] }\n",       "alias-and-key", "both names of one list"),
        ("timeout_seconds: soon\n",                        "wrong-type",    "a number of seconds"),
        ("timeout_seconds: -1\n",                          "wrong-type",    "time does not run backwards"),
        ("max_output_bytes: 1.5\n",                        "wrong-type",    "bytes are whole"),
        ("denylist: rm\n",                                 "wrong-type",    "a list, also of one"),
        ("deny_list: [rm]\n",                              "unknown-key",   "verbatim means verbatim"),
        ("limits: { timeout_seconds: 5 }\n",               "unknown-key",   "only at the top"),
    ];
    for (text, code, because) in refused {
        world.write("bad.yaml", text);
        let ran = world.run(&["policy", "check", "bad.yaml"]);
        assert_eq!(ran.code, Some(125), "{text:?}: {because}");
        assert!(ran.stderr.contains(&format!("error[{code}]")), "{because}: {}", ran.stderr);
    }
}

#[test]
fn a200_a_native_file_takes_no_unknown_key_and_no_foreign_section() {
    let world = World::new();
    #[rustfmt::skip]
    let cases = [
        // text                                             sound   because
        ("version: 1\nfiles: { hide: [keys] }\n",           true,   "native keys"),
        ("network: { mode: deny-all }\n",                   true,   "native keys"),
        ("netwrok: { mode: deny-all }\n",                   false,  "a slip of the pen"),
        ("network: { mdoe: deny-all }\n",                   false,  "a slip inside a section"),
        ("agents: { helper: { netwrok: {} } }\n",           false,  "a slip inside an agent's part"),
        ("permissions: { deny: [\"Read(./.env)\"] }\n",     false,  "another system's section"),
        ("sandbox: { enabled: true }\n",                    false,  "another system's section"),
        ("filesystem: { denyRead: [\"~/.ssh\"] }\n",        false,  "another system's section"),
        ("mcpServers: {}\n",                                false,  "another system's section"),
        ("hooks: {}\n",                                     false,  "another system's section"),
        ("model_list: []\n",                                false,  "another system's section"),
        ("network: { allowedDomains: [example.com] }\n",    false,  "another system's key"),
        ("root: .\nVersion: 1\n",                           false,  "case matters"),
    ];
    for (text, sound, because) in cases {
        world.write("p.yaml", text);
        let check = world.run(&["policy", "check", "--dialect", "native", "p.yaml"]);
        assert_eq!(check.code, Some(if sound { 0 } else { 125 }), "{text:?}: {because}");
        let show = world.run(&["policy", "show", "--policy", "native:p.yaml"]);
        assert_eq!(show.code, check.code, "{text:?}: {because}");
        if !sound {
            assert!(check.stderr.contains("error[unknown-key]"), "{because}: {}", check.stderr);
            assert!(check.stderr.contains("p.yaml:"), "{because}: {}", check.stderr);
            assert_eq!(show.stdout, "", "nothing is shown of a policy that cannot be used");
        }
    }
}

#[test]
fn problems_are_told_the_way_a_compiler_does() {
    let world = World::new();
    world.write("good.yaml", "version: 1\n");
    world.write("bad.yaml", "version: 1\nnetwrok:\n  mode: deny-all\nlimits: { timeout: often }\n");
    let ran = world.run(&["policy", "check", "bad.yaml", "good.yaml", "gone.yaml"]);
    assert_eq!(ran.code, Some(125));
    insta::assert_snapshot!(ran.stdout, @"good.yaml: ok (native)");
    insta::assert_snapshot!(ran.stderr, @r"
    error[unknown-key]: unknown key `netwrok`
      --> bad.yaml:2:1
       |
     2 | netwrok:
       | ^^^^^^^

    hint: did you mean `network`?

    error[period]: `often` is not a length of time
      --> bad.yaml:4:20
       |
     4 | limits: { timeout: often }
       |                    ^^^^^

    hint: write numbers and units from large to small, like `30s` or `1h30m`

    error[policy-missing]: policy file `/home/dev/app/gone.yaml` does not exist

    hint: check the spelling
    ");
    let report = world.json(&["policy", "check", "--json", "good.yaml", "bad.yaml"]);
    assert_eq!(
        report[0],
        json!({ "file": "good.yaml", "dialect": "native", "ok": true, "problems": [] })
    );
    assert_eq!(report[1]["problems"].as_array().unwrap().len(), 2);
    let first = &report[1]["problems"][0];
    assert_eq!((&first["code"], &first["line"]), (&json!("unknown-key"), &json!(2)));
    assert_eq!(first["severity"], "error");
}

#[test]
fn standard_input_is_checked_like_a_file() {
    let world = World::new();
    let long = vec![b'#'; (1 << 20) + 1];
    #[rustfmt::skip]
    let cases: [(&[u8], i32, &str); 6] = [
        // input                 code  says
        (b"version: 1\n",        0,    "<stdin>: ok (native)"),
        (b"",                    125,  "error[policy-empty]"),
        (b"vresion: 1\n",        125,  "<stdin>:1:1"),
        (b"a: \xff\n",           125,  "error[policy-not-utf8]"),
        (b"a: \0\n",             125,  "error[policy-nul-byte]"),
        (&long,                  125,  "error[policy-too-large]"),
    ];
    for (input, code, says) in cases {
        let ran = world.run_with_input(input, &["policy", "check", "-"]);
        assert_eq!(ran.code, Some(code), "{says}: {}{}", ran.stdout, ran.stderr);
        assert!(format!("{}{}", ran.stdout, ran.stderr).contains(says), "{says}: {}", ran.stderr);
    }
}

#[test]
fn a_file_can_be_checked_where_there_is_no_project() {
    let world = World::new();
    world.write("p.yaml", "files: { hide: [keys] }\n");
    let file = world.project.path("p.yaml");
    let mut command = world.command(env!("CARGO_BIN_EXE_palisade"));
    command.args(["policy", "check"]).arg(file).current_dir(world.home.root());
    assert_eq!(world.finish(&mut command).code, Some(0));
    // A file that lies beside the project is a person's to name.
    std::fs::write(world.home.path("beside.yaml"), "version: 1\n").unwrap();
    let folder = world.home.root().file_name().unwrap().to_str().unwrap();
    let up = format!("../{folder}/beside.yaml");
    for command in ["check", "import"] {
        let ran = world.run(&["policy", command, &up]);
        assert_eq!(ran.code, Some(0), "{up}: {}", ran.stderr);
    }
    let ran = world.run(&["policy", "check", "p.yaml", "--root", "gone"]);
    assert!(ran.stderr.contains("error[root-missing]"), "{}", ran.stderr);
    assert_eq!(ran.code, Some(125));
}

#[test]
fn a203_a_bloom_file_is_looked_over_for_each_agent_it_names() {
    let world = World::new();
    let codes = |text: &str| -> Vec<String> {
        world.write("bloom.yaml", text);
        let report = world.json(&["policy", "check", "--json", "--dialect", "bloom", "bloom.yaml"]);
        let problems = report[0]["problems"].as_array().unwrap().clone();
        for lint in problems.iter().filter(|it| it["code"].as_str().unwrap().starts_with('L')) {
            assert!(lint["explanation"].as_str().is_some_and(|text| !text.is_empty()), "{lint}");
            assert!(
                lint["file"].as_str().is_some_and(|file| file.ends_with("bloom.yaml")),
                "{lint}"
            );
        }
        problems.iter().map(|it| it["code"].as_str().unwrap()[..4].to_owned()).collect()
    };
    let agent =
        |keys: &str| format!("agent: {{ claude: {{ sandbox: {{ enabled: true{keys} }} }} }}\n");
    assert_eq!(codes(&agent("")), [""; 0], "a sound file");
    #[rustfmt::skip]
    let cases = [
        // keys                                                          code    because
        (", networkPolicy: disabled",                                    "L006", "the network is open"),
        (", writablePaths: [/]",                                         "L004", "the whole disk"),
        (", writablePaths: ['~']",                                       "L004", "the home folder"),
        (", denyReadPaths: ['~/.aws', '~/.gnupg']",                      "L013", "keys can be read"),
        (", networkPolicy: allow-list, allowedDomains: ['*.a.test']",    "L009", "not the name itself"),
    ];
    for (keys, code, because) in cases {
        let found = codes(&agent(keys));
        assert!(found.iter().any(|it| it == code), "{keys}: {because}: {found:?}");
        assert!(!found.iter().any(|it| it == "L012"), "{keys}: nobody is let out: {found:?}");
    }
    let two = "agent:\n  claude: { sandbox: { enabled: true, networkPolicy: disabled } }\n  codex: { sandbox: { enabled: true } }\n";
    assert_eq!(codes(two), ["L006"], "told once, for the agent it is about");
    let off = "agent: { claude: { sandbox: { enabled: false } } }\n";
    assert!(codes(off).iter().any(|it| it == "L012"), "an agent that is let out");
    let task = "tasks: [{ id: t, agent_name: claude, sandbox: { enabled: true, networkPolicy: disabled } }]\n";
    assert!(codes(task).iter().any(|it| it == "L006"), "a task's");
}
