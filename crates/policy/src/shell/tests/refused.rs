//! Texts that are not read, each with its code; and limits.

use super::super::*;

fn code(text: &str) -> &'static str {
    match parse(text) {
        Ok(script) => panic!("{text}: {script:?}"),
        Err(error) => {
            assert!(text.get(error.span.start()..error.span.end()).is_some(), "{text}: {error:?}");
            error.code
        }
    }
}

#[test]
fn what_bash_refuses_is_refused() {
    for (text, expected) in [
        ("ls )", "unexpected-token"),
        ("ls ) ; rm x", "unexpected-token"),
        ("( ls", "unexpected-end"),
        ("{ ls; ", "unexpected-end"),
        ("{ ls }", "unexpected-end"),
        ("if a; then b", "unexpected-end"),
        ("if a; fi", "unexpected-token"),
        ("fi", "unexpected-token"),
        ("}", "unexpected-token"),
        ("; ls", "unexpected-token"),
        ("a ;; b", "unexpected-token"),
        ("a | | b", "unexpected-token"),
        ("a && ", "unexpected-end"),
        ("a | ! b", "unexpected-token"),
        ("a |&\ntime b", "unexpected-token"),
        ("a |\n\ntime b", "unexpected-token"),
        ("()", "unexpected-token"),
        ("{ }", "unexpected-token"),
        ("for x in a", "unexpected-end"),
        ("for x in a; b; done", "unexpected-token"),
        ("for ((a;b)); do c; done", "unexpected-token"),
        ("while a; { b; }", "unexpected-end"),
        ("case x in a) b esac", "unexpected-end"),
        ("case x a) b;; esac", "unexpected-token"),
        ("f() ls", "unexpected-token"),
        ("echo (a)", "unexpected-token"),
        ("echo a=(b)", "unexpected-token"),
        ("declare > f a=(b)", "unexpected-token"),
        ("[[ a", "unexpected-end"),
        ("[[ -f ]]", "unexpected-token"),
        ("[[ a b ]]", "unexpected-token"),
        ("[[ a == ]]", "unexpected-token"),
        ("[[ a ; b ]]", "unexpected-token"),
        ("ls >", "unexpected-end"),
        ("ls > > f", "unexpected-token"),
        ("ls <<", "unexpected-end"),
        ("echo 'a", "unterminated-quote"),
        ("echo \"a", "unterminated-quote"),
        ("echo `a", "unterminated-quote"),
        ("echo $'a\\'", "unterminated-quote"),
        ("echo $(a", "unexpected-end"),
        ("echo $((1", "unterminated-expansion"),
        ("echo ${x", "unterminated-expansion"),
        ("a[1", "unterminated-expansion"),
        ("echo $(if)", "unexpected-token"),
        ("echo *(a)", "unexpected-token"),
        ("ls *(.om[1])", "unexpected-token"),
        ("cat =(ls)", "unexpected-token"),
        ("case x in *(a)) b;; esac", "unexpected-token"),
        ("coproc", "unexpected-end"),
        ("function", "unexpected-end"),
        ("in a", "unexpected-token"),
        ("]] a", "unexpected-token"),
    ] {
        assert_eq!(code(text), expected, "{text}");
        assert_eq!(parse(text).unwrap_err().found, Found::Reading, "{text}");
    }
}

#[test]
fn what_bash_would_refuse_later_is_refused_at_once() {
    for text in ["echo `if`", "cat <<E\n$(if)\nE\n", "echo $((if) )", "echo ${ if; }"] {
        assert_eq!(parse(text).unwrap_err().found, Found::Running, "{text}");
    }
}

#[test]
fn what_shells_read_differently_is_refused() {
    for text in [
        "echo ${(e)x}",
        "cat <<$(a)\nb\n",
        "[[ ]]",
        "[[ a && ]]",
        "{a[$x]}>f rm",
        "{a[]}>f rm",
        "{a[1\\\n]}>f rm",
        "echo $'\\ufdd0'",
        "echo $(cat <<A)\nb\nA",
        "for ((;$(cat <<A\n\"\nA\n);)); do b; done",
        "[[ a =~ ]]() ]]",
        "for ((;$(( #));)); do b; done",
        "for ((;${[}];)); do b; done",
        "for ((;$((a)#\n);)); do b; done",
        "coproc a[1](b)",
        "coproc a[1]=2 b",
        "for x;{ <d in; }",
        "for x;{ for y in a in; do b; done }",
        "for x;{ case n in\nin) a;; esac }",
        "cat <<E\na\\",
        "a[\"$$(\"]",
        "a[\"$$(b)\"]=1",
        "echo a[\"x$\\\n$(\"]",
        "a=([\"$$(\"]=1)",
        "echo $(cat <<A <<B\nA)\nB\n)",
        "cat <(sort <<A <<B\nx\nA)",
    ] {
        assert_eq!(code(text), "unsupported", "{text}");
    }
}

#[test]
fn nesting_is_bounded_in_every_spelling() {
    for (open, close) in [
        ("( ", ")"),
        ("{ ", ";}"),
        ("$(", ")"),
        ("<(", ")"),
        ("${x:-", "}"),
        ("\"${x:-", "}\""),
        ("$((", "))"),
        ("$[", "]"),
        ("if ", ";then a;fi"),
        ("while ", ";do a;done"),
        ("f() { ", ";}"),
        ("! ( ", ")"),
        ("a=(", ")"),
        ("{a,", "}"),
        ("[[ ( ", " ) ]]"),
        ("coproc { ", ";}"),
        ("case x in x) ", ";;esac"),
    ] {
        for count in [65, 1_000, 8_000] {
            let text = format!("{}a{}", open.repeat(count), close.repeat(count));
            assert!(parse(&text).is_err(), "{open} {count}");
        }
        assert!(parse(&open.repeat(MAX_TEXT / open.len())).is_err(), "{open}");
    }
    let spaced = |count| format!("{}a{}", "( ".repeat(count), ")".repeat(count));
    assert!(parse(&spaced(MAX_DEPTH)).is_ok());
    assert_eq!(code(&spaced(MAX_DEPTH + 1)), "too-deep");
    let substituted = |count| format!("echo {}a{}", "$(".repeat(count), ")".repeat(count));
    assert!(parse(&substituted(MAX_DEPTH)).is_ok());
    assert_eq!(code(&substituted(MAX_DEPTH + 1)), "too-deep");
}

#[test]
fn e002_more_commands_than_the_limit_are_refused_not_skipped() {
    let commands = |count: usize| "a;".repeat(count);
    assert!(parse(&commands(MAX_COMMANDS)).is_ok());
    assert_eq!(code(&commands(MAX_COMMANDS + 1)), "too-many-commands");
    assert_eq!(code(&format!("{}rm x", "a;".repeat(MAX_COMMANDS))), "too-many-commands");
    assert!(parse(&"a".repeat(MAX_TEXT)).is_ok());
    assert_eq!(code(&"a".repeat(MAX_TEXT + 1)), "too-long");
}

/// Reading takes time in proportion to the text, whatever it is made of.
#[test]
fn no_text_takes_long() {
    let units = [
        "(",
        "((",
        "$((",
        "$(",
        "${x:-",
        "\"${x:-",
        "`",
        "\\`",
        "[",
        "{",
        "{a,",
        "a[",
        "a=(",
        "<<A ",
        "<<A;",
        "<<A\n",
        "[[ ",
        "[[ ( ",
        "$[",
        "'",
        "\"",
        "$'",
        "\\\n",
        "#",
        "~",
        "case x in ",
        "x) ",
        "coproc ",
        "f() ",
        "! ",
        "time ",
        "{fd}>",
        "$(cat <<A\n",
        "*(",
        "if ",
        "echo $(( ",
        "((a)",
        "a;",
        "\"${x#'",
        "<(",
        "$(( $(",
        "${a[",
        "${a[$(",
        "((`",
        "$((1) ",
        "${x:-$(($(",
        "<<A $(",
    ];
    for unit in units {
        for tail in ["", ")", "}", "]", "`", "\"", "\nA\n"] {
            let text = format!("{}{tail}", unit.repeat(60_000 / unit.len()));
            // A hang is what fails here.
            drop(parse(&text));
        }
    }
}
