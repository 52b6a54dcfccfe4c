//! The sandbox runner's rows: denylist, interpreters, metacharacters, path jail.

use super::*;
use crate::permission::Nature;

const NAMES: [&str; 24] = [
    "rm",
    "sudo",
    "mkfs",
    "mkfs.ext4",
    "mkfs.fat",
    "curl",
    "wget",
    "chmod",
    "dd",
    "kill",
    "pkill",
    "shutdown",
    "reboot",
    "halt",
    "poweroff",
    "eval",
    "exec",
    "base64",
    "nc",
    "ncat",
    "telnet",
    "su",
    "iptables",
    "ufw",
];

#[test]
fn a005_rm_is_denied_by_the_denylist() {
    let verdict = of_argv(&runner(), &["rm", "-rf", "."]);
    assert_eq!(verdict.answer(), Answer::Deny);
    assert!(why(&verdict).contains("denylist"), "{}", why(&verdict));
}

#[test]
fn a006_a_path_to_rm_is_rm() {
    for path in ["/bin/rm", "/usr/bin/rm", "../../bin/rm", "./rm", "/proc/self/root/bin/rm"] {
        let verdict = of_argv(&runner(), &[path, "x"]);
        assert!(codes(&verdict).contains(&"denylist"), "{path}: {:?}", codes(&verdict));
    }
    assert_eq!(of_argv(&runner(), &["echo", "rm"]).answer(), Answer::Allow);
}

#[test]
fn a007_each_default_name_is_denied_bare_and_with_a_path() {
    let runner = runner();
    for name in NAMES {
        for spelling in [name.to_owned(), format!("/usr/bin/{name}"), name.to_uppercase()] {
            let verdict = of_argv(&runner, &[&spelling]);
            assert_eq!(verdict.answer(), Answer::Deny, "{spelling}");
            assert!(codes(&verdict).contains(&"denylist"), "{spelling}");
        }
    }
    assert_eq!(of_argv(&runner, &["rmdir-like-tool"]).answer(), Answer::Allow);
}

#[test]
fn a008_the_five_named_dangers_are_denied() {
    for words in [
        &["sudo", "ls"][..],
        &["chmod", "-R", "777", "."],
        &["rm", "-rf", "x"],
        &["mkfs", "x"],
        &["dd", "if=x", "of=y"],
    ] {
        assert_eq!(of_argv(&runner(), words).answer(), Answer::Deny, "{words:?}");
    }
}

#[test]
fn a010_an_empty_argv_is_denied() {
    for judge in [runner(), confined()] {
        let verdict = of_argv(&judge, &[]);
        assert_eq!(verdict.answer(), Answer::Deny);
        assert!(why(&verdict).contains("empty argv"));
        assert_eq!(of_argv(&judge, &[""]).answer(), Answer::Deny);
        assert_eq!(of_argv(&judge, &["bin/"]).answer(), Answer::Deny);
    }
}

#[test]
fn a011_interpreters_with_inline_code_are_denied_by_name() {
    for (name, flag) in [("python3", "-c"), ("bash", "-c"), ("node", "-e"), ("perl", "-e")] {
        let verdict = of_argv(&runner(), &[name, flag, "1"]);
        assert_eq!(verdict.answer(), Answer::Deny, "{name}");
        assert!(
            why(&verdict).contains("interpreter") && why(&verdict).contains(name),
            "{verdict:?}"
        );
    }
}

#[test]
fn a012_glued_bundled_and_long_forms_of_inline_code_are_denied() {
    let runner = runner();
    for words in [
        &["python3", "-cimport os"][..],
        &["python3", "-Ic", "1"],
        &["python3.12", "-c", "1"],
        &["pypy3", "-c", "1"],
        &["bash", "-lc", "ls"],
        &["bash", "-ec", "ls"],
        &["dash", "-c", "ls"],
        &["node", "--eval=1"],
        &["node", "-p", "1"],
        &["nodejs", "-e", "1"],
        &["perl", "-E", "say 1"],
        &["perl", "-ne", "print"],
        &["php", "-r", "1"],
        &["deno", "eval", "1"],
        &["awk", "BEGIN{system}"],
        &["ruby", "-W0", "-e", "1"],
        &["env", "bash", "-c", "ls"],
        &["python3", "-m", "http.server"],
        &["bash"],
    ] {
        let verdict = of_argv(&runner, words);
        assert_eq!(verdict.answer(), Answer::Deny, "{words:?}");
    }
}

#[test]
fn a013_a_script_of_the_project_is_allowed() {
    assert_eq!(of_argv(&runner(), &["python3", "script.py"]).answer(), Answer::Allow);
    assert_eq!(of_argv(&runner(), &["sh", "tools/run.sh"]).answer(), Answer::Allow);
    assert_eq!(of_argv(&runner(), &["python3", "../script.py"]).answer(), Answer::Deny);
}

#[test]
fn a014_each_metacharacter_is_denied_by_name_without_a_shell() {
    let marks = [";", "|", "&", ">", "<", "`", "$(", "${", ")", "\n", "\r", "\0"];
    for mark in marks {
        for at in 0..2 {
            let mut words = ["echo".to_owned(), "b".to_owned()];
            words[at].push_str(mark);
            let words: Vec<&str> = words.iter().map(String::as_str).collect();
            let verdict = of_argv(&runner(), &words);
            assert_eq!(verdict.answer(), Answer::Deny, "{words:?}");
            let named = verdict.reasons().iter().any(|reason| {
                reason.code == "metacharacter"
                    && reason.message.contains(&mark.escape_default().to_string())
            });
            assert!(named, "{words:?}: {:?}", verdict.reasons());
        }
    }
    assert_eq!(of_argv(&runner(), &["echo", "clean", "$HOME"]).answer(), Answer::Allow);
    assert_eq!(of_argv(&confined(), &["echo", "a;b"]).answer(), Answer::Allow);
}

#[test]
fn a015_with_a_shell_every_simple_command_is_checked() {
    use Answer::{Allow, Deny};
    assert_shell(
        &runner(),
        &[
            ("echo a; echo b | grep b && ls > out.txt", Allow),
            ("echo hi; rm -rf .", Deny),
            ("echo hi | sudo tee x", Deny),
            ("echo $(curl example.com)", Deny),
            ("ls && python3 -c 'print(1)'", Deny),
            ("cat ../../etc/passwd", Deny),
            ("echo x > /etc/x", Deny),
            ("echo x > ../x", Deny),
            ("echo x > out 2>/dev/null", Allow),
            ("for f in a b; do wget $f; done", Deny),
            ("if true; then ls; else kill 1; fi", Deny),
            ("f() { rm x; }; f", Deny),
            ("echo 'rm -rf /'", Allow),
        ],
    );
}

#[test]
fn a016_paths_that_leave_the_root_are_denied() {
    for path in ["../../etc/passwd", "/etc/passwd"] {
        let verdict = of_argv(&runner(), &["cat", path]);
        assert_eq!(verdict.answer(), Answer::Deny, "{path}");
        assert!(why(&verdict).contains("outside project root"), "{}", why(&verdict));
    }
}

#[test]
fn a016_a_program_outside_the_root_is_denied_unless_the_machine_has_it() {
    let runner = runner();
    for path in ["../../x.sh", "/tmp/x.sh", "~/x.sh", "/proc/self/cwd/../x.sh", "/home/dev/.x/y"] {
        let verdict = of_argv(&runner, &[path]);
        assert!(codes(&verdict).contains(&"outside-root"), "{path}: {:?}", codes(&verdict));
    }
    for path in ["./run.sh", "tools/run.sh", "/usr/bin/env", "/proj/app/run.sh"] {
        assert_eq!(of_argv(&runner, &[path]).answer(), Answer::Allow, "{path}");
    }
}

#[test]
fn a010_a_first_word_that_is_no_program_is_denied() {
    for words in [&["A=b", "ls"][..], &[" ls"], &["ls "], &["-ls"]] {
        let verdict = of_argv(&runner(), words);
        assert_eq!(verdict.answer(), Answer::Deny, "{words:?}");
    }
    assert_eq!(of_argv(&runner(), &["ls", "A=b"]).answer(), Answer::Allow);
    let words = |text| {
        runner().decide(&Call { command: Asked::Words(text), cwd: ROOT }, &NoLookup).answer()
    };
    assert_eq!(words("ls \\"), Answer::Deny);
    assert_eq!(words("ls 'a b'"), Answer::Allow);
}

#[test]
fn a017_a_path_that_comes_back_is_inside() {
    assert_eq!(of_argv(&runner(), &["cat", "src/../src/main.py"]).answer(), Answer::Allow);
    assert_eq!(of_argv(&runner(), &["cat", "/proj/app/f"]).answer(), Answer::Allow);
    assert_eq!(of_argv(&runner(), &["cat", "src/../../x"]).answer(), Answer::Deny);
}

#[test]
fn a018_a_link_that_leads_outside_is_denied_with_and_without_a_slash() {
    let tree = Tree::new(&[
        ("/proj", Entry::Folder),
        ("/proj/app", Entry::Folder),
        ("/proj/app/link", Entry::Link("/etc/passwd".into())),
        ("/proj/app/fine", Entry::Link("f".into())),
        ("/proj/app/f", Entry::File),
    ]);
    let runner = judge_at(ROOT, "version: 1\npreset: runner\n", &tree);
    for path in ["link", "./link", "/proj/app/link", "--file=link", "--file=./link"] {
        let verdict = of_argv_on(&runner, &["cat", path], &tree);
        assert_eq!(verdict.answer(), Answer::Deny, "{path}");
    }
    assert_eq!(of_argv_on(&runner, &["cat", "fine"], &tree).answer(), Answer::Allow);
    for (text, expected) in [("cat l*", Answer::Deny), ("cat f*", Answer::Allow)] {
        let verdict = runner.decide(&Call { command: Asked::Shell(text), cwd: ROOT }, &tree);
        assert_eq!(verdict.answer(), expected, "{text}");
    }
}

#[test]
fn a019_an_argument_that_names_an_existing_file_is_jailed() {
    let tree = Tree::new(&[
        ("/proj", Entry::Folder),
        ("/proj/app", Entry::Folder),
        ("/proj/app/name", Entry::Link("/etc".into())),
    ]);
    let runner = judge_at(ROOT, "version: 1\npreset: runner\n", &tree);
    assert_eq!(of_argv_on(&runner, &["frob", "name"], &tree).answer(), Answer::Deny);
    assert_eq!(of_argv_on(&runner, &["frob", "other"], &tree).answer(), Answer::Allow);
}

#[test]
fn a020_a_sibling_with_the_same_beginning_is_outside() {
    for path in ["/proj/app-secrets/x", "/proj/apple", "../app2/x"] {
        assert_eq!(of_argv(&runner(), &["cat", path]).answer(), Answer::Deny, "{path}");
    }
}

#[test]
fn a021_flags_are_no_paths_but_paths_in_flags_are_checked() {
    assert_eq!(of_argv(&runner(), &["head", "-n", "f"]).answer(), Answer::Allow);
    assert_eq!(of_argv(&runner(), &["frob", "--file=src/x", "-Isrc"]).answer(), Answer::Allow);
    for flag in
        ["--file=/etc/x", "-I../..", "-o/etc/x", "if=/etc/x", "file:///etc/x", "@/etc/x", "~/x"]
    {
        let verdict = of_argv(&runner(), &["frob", flag]);
        assert_eq!(verdict.answer(), Answer::Deny, "{flag}");
    }
}

#[test]
fn a022_a_working_folder_outside_the_root_is_denied() {
    let ls = argv(&["ls"]);
    let ask =
        |judge: &Judge, cwd| judge.decide(&Call { command: Asked::Argv(&ls), cwd }, &NoLookup);
    for judge in [runner(), confined()] {
        for cwd in ["/", "/proj", "/proj/app2", "/etc", "/proj/app/../x"] {
            let verdict = ask(&judge, cwd);
            assert_eq!(codes(&verdict), ["cwd-outside"], "{cwd}");
        }
        assert_eq!(ask(&judge, "/proj/app/src").answer(), Answer::Allow);
    }
}

#[test]
fn a023_a_root_given_through_a_link_is_its_real_path() {
    let tree = Tree::new(&[
        ("/proj", Entry::Folder),
        ("/proj/app", Entry::Link("/data/app".into())),
        ("/data", Entry::Folder),
        ("/data/app", Entry::Folder),
    ]);
    let runner = judge_at(ROOT, "version: 1\npreset: runner\n", &tree);
    assert_eq!(runner.root(), "/data/app");
    assert_eq!(of_argv_on(&runner, &["cat", "/data/app/f"], &tree).answer(), Answer::Allow);
    assert_eq!(of_argv_on(&runner, &["cat", "/proj/app/f"], &tree).answer(), Answer::Allow);
    assert_eq!(of_argv_on(&runner, &["cat", "/data/f"], &tree).answer(), Answer::Deny);
}

#[test]
fn a171_the_runner_preset_decides_as_source_one_does() {
    let (runner, confined) = (runner(), confined());
    for words in
        [&["cat", "/usr/include/stdio.h"][..], &["python3", "-c", "print(1)"], &["echo", "a;b"]]
    {
        assert_eq!(of_argv(&runner, words).answer(), Answer::Deny, "{words:?}");
        assert_eq!(of_argv(&confined, words).answer(), Answer::Allow, "{words:?}");
    }
}

#[test]
fn a173_every_broken_axis_is_listed_in_order_and_callable_alone() {
    let words = argv(&["rm", "-rf", "/etc", "a;b"]);
    let call = Call { command: Asked::Argv(&words), cwd: ROOT };
    let runner = runner();
    let verdict = runner.decide(&call, &NoLookup);
    assert_eq!(verdict.axes(), [Axis::Name, Axis::Structure, Axis::Path]);
    assert_eq!(verdict.reasons()[0].axis, Axis::Name);
    let shapes = argv(&["sudo", "python3", "-c", "x;", "../.."]);
    let call = Call { command: Asked::Argv(&shapes), cwd: ROOT };
    let verdict = runner.decide(&call, &NoLookup);
    assert_eq!(verdict.axes(), [Axis::Name, Axis::Argv, Axis::Structure, Axis::Path]);
    for axis in Axis::ALL {
        let alone = runner.axis(axis, &call, &NoLookup);
        assert_eq!(!alone.is_empty(), verdict.axes().contains(&axis), "{axis}");
        assert!(alone.iter().all(|reason| reason.axis == axis));
    }
    // What would only have been asked about is not denied.
    let mixed = of_shell(&confined(), "git reset --hard; rm -rf /etc");
    assert_eq!((mixed.answer(), mixed.axes()), (Answer::Deny, vec![Axis::Path]));
    assert_eq!(mixed.reasons()[0].axis, Axis::Path);
    assert!(mixed.reasons().iter().any(|reason| reason.axis == Axis::Argv), "still told");
}

#[test]
fn a174_shell_never_refuses_text_and_shell_like_tools() {
    let never = judge("version: 1\ncommands: { shell: never }\n");
    assert_eq!(codes(&of_shell(&never, "ls")), ["shell-never"]);
    for words in [&["bash", "x.sh"][..], &["/bin/sh"], &["zsh", "x"], &["env", "dash", "x"]] {
        let verdict = of_argv(&never, words);
        assert_eq!(verdict.answer(), Answer::Deny, "{words:?}");
        assert!(codes(&verdict).contains(&"shell-never"), "{words:?}");
    }
    assert_eq!(of_argv(&never, &["ls"]).answer(), Answer::Allow);
    let (shy, list) = (confined(), serde_json::json!({ "command": ["ls"] }));
    for (judge, answer) in [(&never, Answer::Deny), (&shy, Answer::Allow)] {
        let args = list.as_object().unwrap();
        let call = ToolCall { tool: "bash", args, nature: Nature::of("bash") };
        assert_eq!(judge.decide_tool(&call, ROOT, &NoLookup).answer, answer);
    }
}

/// The 32 shapes that were tried against source 1, with our verdict.
#[test]
fn shapes_that_pass_source_one_do_not_pass_here() {
    let tree = Tree::new(&[
        ("/proj", Entry::Folder),
        ("/proj/app", Entry::Folder),
        ("/proj/app/link", Entry::Link("/etc/passwd".into())),
    ]);
    let runner = judge_at(ROOT, "version: 1\npreset: runner\n", &tree);
    for words in [
        &["cat", "link"][..],
        &["grep", "--file=/etc/passwd", "x"],
        &["tar", "-C/etc", "x"],
        &["x", "if=/etc/passwd"],
        &["busybox", "rm", "-rf", "."],
        &["find", ".", "-delete"],
        &["xargs", "rm"],
        &["git", "clean", "-xdf"],
        &["timeout", "5", "rm", "-rf", "."],
        &["mkfs.xfs", "x"],
        &["RM", "-rf", "."],
        &["nohup", "curl", "x"],
        &["ssh", "h", "rm"],
    ] {
        assert_eq!(of_argv_on(&runner, words, &tree).answer(), Answer::Deny, "{words:?}");
    }
}
