//! Calls that are made to keep the judge busy, or to use up its stack.

use super::*;
use crate::shell::{MAX_ARGV, MAX_DEPTH, MAX_TEXT};

/// As many of a piece as fit into a text, each with a number of its own in place of `N`.
fn numbered(piece: &str) -> String {
    let mut text = String::new();
    for number in 0.. {
        let next = piece.replace('N', &number.to_string());
        if text.len() + next.len() > MAX_TEXT - 64 {
            break;
        }
        text.push_str(&next);
    }
    text
}

#[test]
fn words_of_any_number_end_in_a_verdict() {
    let call = |head: &[&str], word: &str, tail: &str| {
        let mut words = head.to_vec();
        words.resize(head.len() + MAX_ARGV / (word.len() + 2), word);
        words.push(tail);
        of_argv(&confined(), &words).answer()
    };
    assert_eq!(call(&["poetry", "run"], "1", "ls"), Answer::Allow);
    assert_ne!(call(&["poetry", "run"], "1", "reboot"), Answer::Allow);
    assert_ne!(call(&["env"], "env", "reboot"), Answer::Allow);
    assert_ne!(call(&["xargs"], "nohup", "reboot"), Answer::Allow);
    // Whatever is said of these, it is said.
    let words = ["env", "nohup", "!", "(", "-", "-c", "a=b", "sudo", "xargs", "{}"];
    let heads = ["env", "xargs", "find", "parallel", "git"];
    let answers = words.iter().flat_map(|word| heads.map(|head| call(&[head], word, "ls")));
    assert_eq!(answers.count(), words.len() * heads.len());
}

#[test]
fn arguments_that_are_too_long_are_denied() {
    let long = "a".repeat(1 << 20);
    for words in [&["ls", &long][..], &["python3", "-c", &long], &["sh", "-c", &long]] {
        let verdict = of_argv(&confined(), words);
        assert_eq!((verdict.answer(), codes(&verdict)), (Answer::Deny, vec!["too-long"]));
    }
    let fits = "a".repeat(MAX_ARGV - "echo".len() - 2);
    assert_eq!(of_argv(&confined(), &["echo", &fits]).answer(), Answer::Allow);
    let longer = format!("{fits}a");
    assert_eq!(codes(&of_argv(&confined(), &["echo", &longer])), ["too-long"]);
    // Words without a letter take room too.
    let mut empty = vec![""; MAX_ARGV];
    empty[0] = "ls";
    assert_eq!(codes(&of_argv(&confined(), &empty)), ["too-long"]);
}

/// A hang is what fails here: the worst of these took minutes.
#[test]
fn no_text_keeps_the_judge_busy_with_its_names() {
    let case = format!("case a in {} esac", numbered("N) vN=x;; "));
    let texts = [
        case,
        numbered("vN=1;"),
        numbered("vN=1 || "),
        numbered("vN=1 && "),
        numbered("vN=1 || x="),
        numbered("if a;then vN=x;fi\n"),
        numbered("while a; do vN=x;done\n"),
        numbered("for vN in a b;do :;done\n"),
        numbered("readonly vN;"),
        numbered("export vN=1||"),
        numbered("read vN<f;"),
        numbered("vN=$(curl a.test)\n"),
        numbered("fN(){ :;};"),
        numbered("fN(){ :;};fN;"),
        format!("f(){{ {}:; }}; f", numbered("local vN=1||")),
        format!("{}{}", numbered("vN=1;").get(..1500).unwrap_or_default(), numbered(";x=N||y=N")),
        format!("set -- {}\n{}", "a ".repeat(9_000), "shift;".repeat(5_000)),
        format!("trap 'echo v {}' 0\n{}", "a ".repeat(15_000), "v=1;".repeat(5_000)),
        numbered("trap 'echo vN' 0\nvN=1\n"),
        numbered("(vN=1)||x=1\n"),
        numbered("vN=1 bash -c a\n"),
        numbered("bash -c 'vN=1;a'\n"),
        numbered("eval vN=1\n"),
        numbered("cd dN||"),
        numbered("ln -s dN lN;"),
        numbered("echo a > fN;"),
        numbered("cat fN | "),
    ];
    for text in texts {
        drop(of_shell(&confined(), &text));
    }
}

#[test]
fn more_names_than_are_followed_are_denied_and_many_are_not() {
    let set = |count: usize| (0..count).map(|at| format!("v{at}=1;")).collect::<String>();
    assert_eq!(of_shell(&confined(), &format!("{} ls $v7", set(200))).answer(), Answer::Allow);
    let verdict = of_shell(&confined(), &set(300));
    assert_eq!((verdict.answer(), codes(&verdict)), (Answer::Deny, vec!["too-much"]));
    // Wherever they are set.
    for text in [format!("({}:)", set(300)), format!("bash -c '{}:'", set(300))] {
        assert!(codes(&of_shell(&confined(), &text)).contains(&"too-much"), "{text}");
    }
    let functions: String = (0..300).map(|at| format!("f{at}() {{ :; }}\n")).collect();
    assert!(codes(&of_shell(&confined(), &functions)).contains(&"too-much"));
}

#[test]
fn findings_without_number_are_one_denial() {
    let few = of_shell(&confined(), &format!("rm {}", "$a ".repeat(200)));
    assert_eq!(few.answer(), Answer::Ask);
    let many = of_shell(&confined(), &format!("rm {}", "$a ".repeat(20_000)));
    assert_eq!(many.answer(), Answer::Deny);
    assert_eq!(codes(&many).first(), Some(&"too-much"));
}

#[test]
fn no_nesting_uses_up_the_stack() {
    let kinds = [
        ("( ", " )"),
        ("{ ", " ;}"),
        ("if a;then ", "\nfi"),
        ("case a in a) ", " ;; esac"),
        ("while a;do ", "\ndone"),
        ("echo $(", ")"),
        ("echo \"${a:-$(", ")}\""),
        ("echo $(( a[$(", ")] ))"),
        ("x=$(", ")"),
        ("cat <(", ")"),
    ];
    for (open, close) in kinds {
        let nested = |inner: &str, depth: usize| {
            format!("{}{inner}{}", open.repeat(depth), close.repeat(depth))
        };
        // Each text is as deep as one may be, and evaluates the next.
        let deepest =
            (1..=MAX_DEPTH).rev().find(|depth| shell::parse(&nested("a", *depth)).is_ok()).unwrap();
        let mut evaluates = String::from("v9='reboot'\n");
        let mut calls = String::from("f9() { reboot; }\n");
        for at in (0..9).rev() {
            let (eval, call) = (format!("eval \"$v{}\"", at + 1), format!("f{}", at + 1));
            evaluates.push_str(&format!("v{at}='{}'\n", nested(&eval, deepest)));
            calls.push_str(&format!("f{at}() {{ {}\n}}\n", nested(&call, deepest - 1)));
        }
        for text in [format!("{evaluates}eval \"$v0\""), format!("{calls}f0")] {
            assert_ne!(of_shell(&confined(), &text).answer(), Answer::Allow, "{open}");
        }
    }
    // Texts in texts that are not deep themselves are followed to their end.
    assert_shell(
        &confined(),
        &[
            (
                "a='( eval \"$b\" )';b='{ eval \"$c\" ;}';c='if a;then ls;fi';eval \"$a\"",
                Answer::Allow,
            ),
            ("f() { ( { ls; } ) }; g() { ( { f; } ) }; h() { ( { g; } ) }; h", Answer::Allow),
        ],
    );
}
