//! Commands in arguments.

use super::*;
use Answer::{Allow, Deny};

const SHELLS: [&str; 11] = [
    "bash",
    "Execute",
    "ShellTool",
    "exec_command",
    "execute_command",
    "run_shell_command",
    "run_terminal_command",
    "run_terminal_cmd",
    "shell",
    "local_shell",
    "container.exec",
];

#[test]
fn a154_a_command_is_judged_even_where_the_folder_is_inside() {
    for tool in SHELLS {
        for name in ["cwd", "workdir", "directory", "workingDirectory"] {
            let call = |command: &str, folder: &str| {
                hook(tool, json!({ "command": command, name: folder })).answer
            };
            assert_eq!(call("rm -rf /etc/x", "src"), Deny, "{tool} {name}");
            assert_eq!(call("rm -rf build", "src"), Allow, "{tool} {name}");
            assert_eq!(call("ls", "/etc"), Deny, "{tool} {name}");
            assert_eq!(call("touch ../../x", "src"), Deny, "{tool} {name}");
        }
    }
    #[rustfmt::skip]
    let cases = [
        // tool     name        folder                       command       answer  because
        ("shell",   "workdir",  "src",                       "touch ../x", Allow,  "it starts in src"),
        ("shell",   "cwd",      "src",                       "touch ../x", Deny,   "this tool has no such parameter"),
        ("bash",    "cwd",      "src",                       "touch ../x", Deny,   "nor has this"),
        ("bash",    "cwd",      "src",                       "touch a",    Allow,  "a file there is fine in both"),
        ("shell",   "workdir",  "file:///srv/dev/app/a/b/c", "touch ../x", Deny,   "a URI is no plain folder"),
        ("shell",   "workdir",  "a\\b\\c",               "touch ../x", Deny,   "nor is this"),
    ];
    for (tool, name, folder, command, answer, because) in cases {
        let verdict = hook(tool, json!({ "command": command, name: folder }));
        assert_eq!(verdict.answer, answer, "{tool} {name}={folder}: {because}");
    }
    let verdict = hook("bash", json!({ "cwd": "src", "note": "rm -rf /etc" }));
    assert_eq!(codes(&verdict), ["no-paths"], "a folder is no command");
}

#[test]
fn relative_paths_are_inside_wherever_the_tool_starts() {
    let world = World::new("");
    let judge = |arguments: Json| {
        let arguments = arguments.to_string();
        let call = Call { tool: "write_file", arguments: &arguments, cwd: "/srv/dev/app/a/b" };
        world.interception.judge(&call, Door::Hook, &world.judge, &NoLookup).answer
    };
    assert_eq!(judge(json!({ "path": "x" })), Allow);
    assert_eq!(judge(json!({ "path": "../x" })), Deny, "some tools start in the root");
    assert_eq!(judge(json!({ "path": "/srv/dev/app/x" })), Allow);
    let patch = "*** Begin Patch\n*** Add File: ../x\n+x\n*** End Patch\n";
    assert_eq!(judge(json!({ "patch": patch })), Deny);
}

#[test]
fn a155_a_redirection_to_the_system_is_blocked() {
    for tool in SHELLS {
        let verdict = hook(tool, json!({ "command": "echo x > /etc/passwd" }));
        assert_eq!(verdict.answer, Deny, "{tool}");
        let violation = verdict.violation().unwrap();
        assert_eq!(violation.metadata["path"], "/etc/passwd", "{tool}");
        let verdict = hook(tool, json!({ "command": "echo x > notes.txt" }));
        assert_eq!(verdict.answer, Allow, "{tool}");
    }
}

#[test]
fn commands_are_found_in_every_shape() {
    #[rustfmt::skip]
    let cases = [
        json!({ "command": "rm -rf /etc" }),
        json!({ "cmd": "rm -rf /etc" }),
        json!({ "script": "cd src\nrm -rf /etc" }),
        json!({ "code": "rm -rf /etc" }),
        json!({ "code": "import shutil; shutil.rmtree('/etc')", "language": "python" }),
        json!({ "input": "rm -rf /etc" }),
        json!({ "args": "rm -rf /etc" }),
        json!({ "command": ["rm", "-rf", "/etc"] }),
        json!({ "command": ["bash", "-lc", "rm -rf /etc"] }),
        json!({ "command": ["rm -rf /etc"] }),
        json!({ "command": ["ls", "&&", "rm", "-rf", "/etc"] }),
        json!({ "commands": ["cd /etc", "rm -rf x"] }),
        json!({ "commands": [["ls"], ["rm", "-rf", "/etc"]] }),
        json!({ "commands": [{ "command": "rm -rf /etc" }] }),
        json!({ "command": "rm", "args": ["-rf", "/etc"] }),
        json!({ "command": "rm", "args": "-rf /etc" }),
        json!({ "command": "sudo rm", "args": ["-rf", "/etc"] }),
        json!({ "action": { "type": "exec", "command": ["rm", "-rf", "/etc"] } }),
        json!({ "command": ["rm", ["-rf"]] }),
        json!({ "code": "rm", "language": "brainfuck" }),
        json!({ "command": "ls", "commandLine": "rm -rf /etc" }),
    ];
    for arguments in cases {
        let verdict = hook("shell", arguments.clone());
        assert_eq!(verdict.answer, Deny, "{arguments}: {:?}", codes(&verdict));
    }
    for arguments in [
        json!({ "command": "ls", "args": ["-l"] }),
        json!({ "command": ["ls", "-l"], "timeout_ms": 1000, "env": null }),
        json!({ "commands": ["cd src", "ls"] }),
        json!({ "command": "ls", "env": { "CI": "1" } }),
        json!({ "code": "print(1)", "language": "python" }),
    ] {
        let verdict = hook("shell", arguments.clone());
        assert_eq!(verdict.answer, Allow, "{arguments}: {:?}", codes(&verdict));
    }
    let verdict = hook("shell", json!({ "command": "ls", "env": { "LD_PRELOAD": "./a.so" } }));
    assert_ne!(verdict.answer, Allow, "variables run things too");
    let verdict = World::new("").text(Door::Hook, "shell", "rm -rf /etc");
    assert_eq!(verdict.answer, Deny, "plain text");
    let many = json!({ "commands": vec![json!({ "command": "ls" }); 300] });
    assert_eq!(codes(&hook("shell", many)), ["arguments-too-many"]);
}

#[test]
fn an_editor_tells_what_to_do_by_a_command_too() {
    let verdict = hook("str_replace_editor", json!({ "command": "create", "path": "a" }));
    assert_eq!(verdict.answer, Allow);
    let verdict = hook("str_replace_editor", json!({ "command": "rm -rf /etc", "path": "a" }));
    assert_eq!(verdict.answer, Deny);
}

#[test]
fn what_was_looked_at_can_be_told() {
    let world = World::new("");
    let arguments = r#"{"command":"ls","cwd":"src"}"#;
    let call = Call { tool: "bash", arguments, cwd: ROOT };
    let (verdict, seen) = world.interception.explain(&call, Door::Hook, &world.judge, &NoLookup);
    assert_eq!(verdict.answer, Allow);
    let seen: Vec<(&str, &str)> = seen.iter().map(|it| (it.what.word(), &*it.pointer)).collect();
    assert_eq!(seen, [("path", "/cwd"), ("command", "/command")]);
}

#[test]
fn a_command_goes_by_many_names_and_so_do_its_surroundings() {
    for call in [
        json!({ "program": "rm", "args": ["-rf", "/etc"] }),
        json!({ "executable": "rm", "args": ["-rf", "/etc"] }),
        json!({ "file": "rm", "args": ["-rf", "/etc"] }),
        json!({ "command": "rm", "params": ["-rf", "/etc"] }),
        json!({ "command": "rm", "extra_args": ["-rf", "/etc"] }),
        json!({ "command": "ls", "post_command": "rm -rf /etc" }),
        json!({ "command": "ls", "env": "LD_PRELOAD=/home/u/x" }),
        json!({ "command": "ls", "env": [{ "name": "LD_PRELOAD", "value": "/home/u/x" }] }),
        json!({ "command": "ls", "envVars": { "LD_PRELOAD": "/home/u/x" } }),
        json!({ "command": "touch x", "chdir": "/etc" }),
        json!({ "command": "touch x", "wd": "/etc" }),
    ] {
        assert_ne!(hook("bash", call.clone()).answer, Allow, "{call}");
    }
    for call in [
        json!({ "program": "ls", "args": ["-l", "src"] }),
        json!({ "command": "cargo", "params": ["test"] }),
        json!({ "command": "ls", "env": "CI=1 NO_COLOR=1" }),
        json!({ "command": "ls", "env": [{ "name": "CI", "value": "1" }] }),
        json!({ "command": "touch x", "chdir": "src" }),
    ] {
        assert_eq!(hook("bash", call.clone()).answer, Allow, "{call}");
    }
}

#[test]
fn a_list_of_words_is_also_read_as_the_text_that_a_tool_may_make_of_it() {
    for arguments in [
        json!({ "command": ["rm -rf /etc", "ls"] }),
        json!({ "command": ["ls;rm", "-rf", "/etc"] }),
        json!({ "command": ["echo", "x", ">/etc/x"] }),
        json!({ "command": ["echo", "x>/etc/x"] }),
        json!({ "command": ["ls", "&&rm", "-rf", "/etc"] }),
        json!({ "command": ["ls", "; rm -rf /etc"] }),
        json!({ "command": ["$(rm -rf /etc)", "x"] }),
        json!({ "command": ["`rm", "-rf", "/etc`"] }),
        json!({ "command": ["echo", "$(rm -rf /etc)"] }),
        json!({ "command": ["echo", "\"$(rm", "-rf", "/etc)\""] }),
        json!({ "command": ["echo\trm;rm", "-rf", "/etc"] }),
        json!({ "command": ["echo", "'a';rm", "-rf", "/etc"] }),
        json!({ "command": ["echo", "it's", "';rm", "-rf", "/etc;echo", "'x'"] }),
        json!({ "command": "ls;rm", "args": ["-rf", "/etc"] }),
        json!({ "command": "ls", "args": ["&&rm", "-rf", "/etc"] }),
        json!({ "program": "rm -rf /etc", "args": ["ls"] }),
    ] {
        let verdict = hook("bash", arguments.clone());
        assert_eq!(verdict.answer, Deny, "{arguments}: {:?}", codes(&verdict));
    }
    for arguments in [
        json!({ "command": ["git", "commit", "-m", "do not rm -rf /; ok"] }),
        json!({ "command": ["git", "commit", "-m", "keep $(x) > /etc/x & co"] }),
        json!({ "command": ["git", "commit", "-m", "fix: `rm -rf /etc` is refused"] }),
        json!({ "command": "git", "args": ["commit", "-m", "do not rm -rf /; ok"] }),
        json!({ "command": ["bash", "-lc", "ls | wc -l"] }),
        json!({ "command": ["bash", "-lc", "ls;pwd"] }),
        json!({ "command": ["grep", "-E", "a|b", "src"] }),
        json!({ "command": ["echo", "'a;b'", "\"x>/etc/y\"", "a\\;b"] }),
        json!({ "command": ["curl", "https://example.com/?a=1&b=2"] }),
        json!({ "command": ["git", "log", "--format=%an(%ae)"] }),
        json!({ "command": ["pip", "install", "example>=1.0"] }),
        json!({ "command": ["find", ".", "-name", "x", "-exec", "cat", "{}", ";"] }),
    ] {
        let verdict = hook("bash", arguments.clone());
        assert_eq!(verdict.answer, Allow, "{arguments}: {:?}", codes(&verdict));
    }
}

#[test]
fn variables_that_a_call_sets_are_values_in_its_command() {
    #[rustfmt::skip]
    let denied = [
        json!({ "command": "cat $X", "env": { "X": "/home/dev/.ssh/id_rsa" } }),
        json!({ "command": "cat $X/id_rsa", "environment": { "X": "/home/dev/.ssh" } }),
        json!({ "command": "cat ${X}/id_rsa", "env": [{ "name": "X", "value": "/home/dev/.ssh" }] }),
        json!({ "command": "cat $X", "env": ["X=/home/dev/.ssh/id_rsa"] }),
        json!({ "command": "cat $X", "env": "X=/home/dev/.ssh/id_rsa" }),
        json!({ "command": "rm -r \"$X\"", "options": { "env": { "X": "/etc" } } }),
        json!({ "command": ["bash", "-c", "cat $X"], "env": { "X": "/home/dev/.ssh/id_rsa" } }),
        json!({ "command": "cat ~/home/dev/.ssh/id_rsa", "env": { "HOME": "/" } }),
        json!({ "command": "cd .ssh; cat id_rsa", "env": { "CDPATH": "/home/dev" } }),
        json!({ "command": "cat $X", "env": { "X": "a" }, "environment": { "X": "/home/dev/.ssh/id_rsa" } }),
    ];
    for call in denied {
        assert_ne!(hook("Bash", call.clone()).answer, Allow, "{call}");
    }
    let allowed = [
        json!({ "command": "cat $X", "env": { "X": "README.md" } }),
        json!({ "command": "npm test", "env": { "CI": "1", "NODE_ENV": "test" } }),
        json!({ "command": "npm test", "env": { "HOME": "/tmp/h" } }),
        json!({ "command": "echo \"$CI it's\"", "env": { "CI": "it's" } }),
        json!({ "command": ["bash", "-c", "cat $X"], "env": { "X": "a.txt" } }),
        json!({ "command": "echo $X", "env": "X=1" }),
    ];
    for call in allowed {
        let verdict = hook("Bash", call.clone());
        assert_eq!(verdict.answer, Allow, "{call}: {:?}", codes(&verdict));
    }
}
