//! `Bash(…)`: what allows is narrow, what refuses is wide.

use super::*;

fn says(kind: &str, rule: &str, command: &str) -> Option<Action> {
    verdict(&permissions(kind, rule), "Bash", &[("command", command)])
}

#[test]
fn a_rule_that_allows_never_reaches_another_command() {
    #[rustfmt::skip]
    let cases = [
        // rule                     command                             allowed
        ("Bash(npm run test:*)",    "npm run test",                     true),
        ("Bash(npm run test:*)",    "npm run test --watch src/a.ts",    true),
        ("Bash(npm run test:*)",    "npm  run   test",                  true),
        ("Bash(npm run test *)",    "npm run test \"a b\"",             true),
        ("Bash(git diff)",          "git diff",                         true),
        ("Bash(* --version)",       "rustc --version",                  true),
        ("Bash(git * main)",        "git checkout main",                true),
        ("Bash(npm run test*)",     "npm run test-all",                 true),
        ("Bash(*)",                 "anything; at all",                 true),
        ("Bash",                    "anything; at all",                 true),
        ("Bash(npm run test:*)",    "npm run tests",                    false),
        ("Bash(npm run test:*)",    "npm run test; rm -rf .",           false),
        ("Bash(npm run test:*)",    "npm run test && rm x",             false),
        ("Bash(npm run test:*)",    "npm run test | sh",                false),
        ("Bash(npm run test:*)",    "npm run test & rm x",              false),
        ("Bash(npm run test:*)",    "npm run test\nrm x",               false),
        ("Bash(npm run test:*)",    "npm run test $(rm x)",             false),
        ("Bash(npm run test:*)",    "npm run test `rm x`",              false),
        ("Bash(npm run test:*)",    "npm run test \"$(rm x)\"",         false),
        ("Bash(npm run test:*)",    "npm run test > /etc/x",            false),
        ("Bash(npm run test:*)",    "npm run test <(rm x)",             false),
        ("Bash(npm run test:*)",    "npm run test \\\nrm",              false),
        ("Bash(npm run test:*)",    "rm x; npm run test",               false),
        ("Bash(npm run test:*)",    "X=1 npm run test",                 false),
        ("Bash(git diff)",          "git diff HEAD",                    false),
        ("Bash(git diff)",          "git diff\n",                       false),
        ("Bash(ls *)",              "lsof",                             false),
        ("Bash(* --version)",       "rm x; rustc --version",            false),
        ("Bash(git * main)",        "git x && curl evil main",          false),
        ("Bash(find *)",            "find . -name x -exec rm {} +",     false),
        ("Bash(find *)",            "find . -delete",                   false),
        ("Bash(watch *)",           "watch rm x",                       false),
        ("Bash(setsid:*)",          "setsid rm x",                      false),
        ("Bash(/usr/bin/find *)",   "/usr/bin/find . -name x",          true),
        ("Bash(find *)",            "find . \"-delete\"",               false),
        ("Bash(find *)",            "find . '-delete'",                 false),
        ("Bash(find *)",            "find . -d''elete",                 false),
        ("Bash(find *)",            "find . {-delete,-print}",          false),
        ("Bash(find *)",            "find . -delet?",                   false),
        ("Bash(/usr/bin/find *)",   "/usr/bin/find . -delete",          false),
        ("Bash(/usr/bin/find:*)",   "/usr/bin/find . -d\"\"elete",      false),
        ("Bash(\"find\" *)",        "\"find\" . -delete",               false),
        ("Bash(find '*')",          "find '-delete'",                   false),
        ("Bash(/usr/bin/setsid *)", "/usr/bin/setsid rm x",             false),
        ("Bash(./flock:*)",         "./flock x rm x",                   false),
        ("Bash(a.c)",               "abc",                              false),
    ];
    for (rule, command, allowed) in cases {
        let expected = allowed.then_some(Action::Allow);
        assert_eq!(says("allow", rule, command), expected, "{rule} on {command:?}");
    }
    assert_eq!(says("allow", "Bash(find *)", "find . -name x"), Some(Action::Allow));
    assert!(notes(&permissions("allow", "Bash(flock *)")).contains("allows nothing"));
}

#[test]
fn a_rule_that_refuses_finds_its_command_wherever_it_starts() {
    #[rustfmt::skip]
    let cases = [
        // rule                 command                                 refused
        ("Bash(curl *)",        "curl https://x.test",                  true),
        ("Bash(curl *)",        "curl",                                 true),
        ("Bash(curl:*)",        "  curl -s x",                          true),
        ("Bash(curl *)",        "ls; curl x",                           true),
        ("Bash(curl *)",        "ls && curl x",                         true),
        ("Bash(curl *)",        "ls | curl -T - x",                     true),
        ("Bash(curl *)",        "ls\ncurl x",                           true),
        ("Bash(curl *)",        "echo $(curl x)",                       true),
        ("Bash(curl *)",        "echo `curl x`",                        true),
        ("Bash(curl *)",        "A=1 B=2 curl x",                       true),
        ("Bash(curl *)",        "timeout -s KILL 5 curl x",             true),
        ("Bash(curl *)",        "sudo -u bob curl x",                   true),
        ("Bash(curl *)",        "/usr/bin/curl x",                      true),
        ("Bash(curl *)",        "\\curl x",                             true),
        ("Bash(curl *)",        "'curl' x",                             true),
        ("Bash(curl *)",        "bash -c 'curl x'",                     true),
        ("Bash(curl *)",        "find . -exec curl {} +",               true),
        ("Bash(curl *)",        "if curl x; then y; fi",                true),
        ("Bash(curl *)",        "ls | xargs curl",                      true),
        ("Bash(curl *)",        "{ curl x; }",                          true),
        ("Bash(curl *)",        "curl\t-s x",                           true),
        ("Bash(git push)",      "git push",                             true),
        ("Bash(git push)",      "ls;git push;ls",                       true),
        ("Bash(git push)",      "git  push > log",                      true),
        ("Bash(git push)",      "git \\\n push",                         true),
        ("Bash(rm * /etc*)",    "rm -rf /etc/x",                        true),
        ("Bash(npm*)",          "npmx",                                 true),
        ("Bash(*)",             "anything",                             true),
        ("Bash",                "anything",                             true),
        ("Bash(curl *)",        "if true\nthen curl x\nfi",             true),
        ("Bash(curl *)",        "for i in 1\ndo curl x\ndone",          true),
        ("Bash(curl *)",        "if true\r\nthen curl x\r\nfi",         true),
        ("Bash(curl *)",        ">log curl x",                          true),
        ("Bash(curl *)",        "2>/dev/null curl x",                   true),
        ("Bash(curl *)",        "> log curl x",                         true),
        ("Bash(curl *)",        ">|log curl x",                         true),
        ("Bash(curl *)",        "2>&1 >log curl x",                     true),
        ("Bash(curl *)",        "<\"a b\" curl x",                      true),
        ("Bash(curl *)",        "A='b c' curl x",                       true),
        ("Bash(curl *)",        "A=\"b c\" curl x",                     true),
        ("Bash(curl *)",        "A=\"b \\\" c\" curl x",                true),
        ("Bash(curl *)",        "A=b\\ c curl x",                       true),
        ("Bash(curl *)",        "A=$'b\\' c' curl x",                   true),
        ("Bash(curl *)",        "A+=1 B[0]=2 curl x",                   true),
        ("Bash(curl *)",        "A=1 >log B=2 curl x",                  true),
        ("Bash(curl *)",        "coproc curl x",                        true),
        ("Bash(curl *)",        "time curl x",                          true),
        ("Bash(curl *)",        "! time -p curl x",                     true),
        ("Bash(curl *)",        "ls && \\\n curl x",                    true),
        ("Bash(curl *)",        ">log sudo curl x",                     true),
        ("Bash(curl *)",        "ls >curl.log",                         false),
        ("Bash(curl *)",        "A='b c' ls curl.md",                   false),
        ("Bash(curl *)",        "ls > x curl",                          false),
        ("Bash(curl *)",        "coprocurl x",                          false),
        ("Bash(curl *)",        ">curl ls",                             false),
        ("Bash(curl *)",        "curlie x",                             false),
        ("Bash(curl *)",        "git commit -m \"use curl here\"",      false),
        ("Bash(curl *)",        "cat curl.md",                          false),
        ("Bash(git push)",      "git push origin",                      false),
        ("Bash(git push)",      "git pushx",                            false),
        ("Bash(a.c)",           "abc",                                  false),
    ];
    for (rule, command, refused) in cases {
        for (kind, action) in [("deny", Action::Deny), ("ask", Action::Ask)] {
            let expected = refused.then_some(action);
            assert_eq!(says(kind, rule, command), expected, "{kind} {rule} on {command:?}");
        }
    }
}

#[test]
fn a_refusal_comes_before_a_question_and_that_before_a_permission() {
    let reading = reading(
        r#"{"permissions":{"allow":["Bash(git *)"],"ask":["Bash(git push *)"],
            "deny":["Bash(git push --force *)"]}}"#,
    );
    let says = |command| verdict(&reading, "Bash", &[("command", command)]);
    assert_eq!(says("git status"), Some(Action::Allow));
    assert_eq!(says("git push origin"), Some(Action::Ask));
    assert_eq!(says("git push --force origin"), Some(Action::Deny));
    assert_eq!(says("ls"), None);
    // Also where the tool is called otherwise.
    let shell = [("command", "git push --force x")];
    assert_eq!(verdict(&reading, "run_shell_command", &shell), Some(Action::Deny));
}

#[test]
fn long_and_strange_specifiers_do_no_harm() {
    let stars = ["*".repeat(5000), "a*".repeat(50), "a*".repeat(2000)];
    for specifier in stars.into_iter().chain(["(".repeat(300), "é*".into(), "é\u{202e}*".into()])
    {
        for kind in ["allow", "ask", "deny"] {
            let rule = format!("Bash({specifier})");
            let text = serde_json::json!({ "permissions": { kind: [rule] } }).to_string();
            // A file that is not read is an error, and starts nothing.
            let Ok(reading) = read_in(&text, Layer::User) else {
                let is_refused = specifier.len() == 4000 || specifier.contains('\u{202e}');
                assert!(is_refused, "{kind} {specifier:.20}");
                continue;
            };
            let command = specifier.replace('*', "");
            let says = verdict(&reading, "Bash", &[("command", &command)]);
            let expected = match kind {
                "ask" => Some(Action::Ask),
                "deny" => Some(Action::Deny),
                _ => says.filter(|says| *says == Action::Allow),
            };
            assert_eq!(says, expected, "{kind} {specifier:.20}");
            verdict(&reading, "Bash", &[("command", &"a".repeat(200))]);
        }
    }
}
