//! The pieces of words, assignments and redirections.

use super::super::*;

/// Writes a word down: quoted text in `'…'`, each other piece with its kind.
fn shown(word: &Word<'_>) -> String {
    let list = |words: &[Word<'_>]| words.iter().map(shown).collect::<Vec<_>>().join(",");
    let piece = |piece: &Piece<'_>| match piece {
        Piece::Literal(text) => text.to_string(),
        Piece::Quoted(text) => format!("'{text}'"),
        Piece::Glob { text, parts } if parts.is_empty() => format!("<glob {text}>"),
        Piece::Glob { text, parts } => format!("<glob {text} {}>", list(parts)),
        Piece::Brace(words) => format!("<brace {}>", list(words)),
        Piece::Tilde(name) => format!("<tilde {name}>"),
        Piece::Parameter(parameter) => {
            let Parameter { name, subscript, operation, words, quoting } = &**parameter;
            let subscript = subscript.as_ref().map(|word| format!("[{}]", shown(word)));
            let subscript = subscript.unwrap_or_default();
            format!("<{operation:?} {name}{subscript} {} {quoting:?}>", list(words))
        }
        Piece::Command(list, quoting) => format!("<command {} {quoting:?}>", list.items.len()),
        Piece::Arithmetic(arithmetic, _) => {
            format!("<arithmetic {} {:?}>", shown(&arithmetic.expression), arithmetic.names)
        }
        Piece::Process(list) => format!("<process {}>", list.items.len()),
        Piece::Array(elements) => {
            let element = |element: &Assignment<'_>| match &element.subscript {
                Some(subscript) => format!("[{}]={}", shown(subscript), shown(&element.value)),
                None => shown(&element.value),
            };
            format!("<array {}>", elements.iter().map(element).collect::<Vec<_>>().join(" "))
        }
    };
    word.pieces.iter().map(piece).collect()
}

fn only(text: &str) -> Command<'_> {
    let script = parse(text).unwrap_or_else(|error| panic!("{text}: {error:?}"));
    let mut items = script.body.items;
    assert_eq!(items.len(), 1, "{text}");
    let mut pipeline = items.remove(0).first;
    assert_eq!(pipeline.stages.len(), 1, "{text}");
    pipeline.stages.remove(0)
}

fn simple(text: &str) -> Simple<'_> {
    let CommandKind::Simple(simple) = only(text).kind else { panic!("{text}") };
    simple
}

fn words(text: &str) -> Vec<String> {
    simple(text).words.iter().map(shown).collect()
}

#[test]
fn words_fall_into_their_pieces() {
    for (text, expected) in [
        ("abc", "abc"),
        ("a'b c'\"d\"e", "a'b c''d'e"),
        ("''", "''"),
        ("\"\"", "''"),
        ("a\\ b", "a' 'b"),
        ("a\\\nb", "ab"),
        ("$'\\x72m'", "'rm'"),
        ("$\"hi $x\"", "'hi '<Value x  Quoted>"),
        ("\"a\\\"b\\$c\\d\"", "'a\"b$c\\d'"),
        ("$x$1$@$$", "<Value x  Bare><Value 1  Bare><Value @  Bare><Value $  Bare>"),
        ("$ab\\\nc", "<Value abc  Bare>"),
        ("a$", "a$"),
        ("\"$\"", "'$'"),
        ("${x:-y z}", "<Default x y z Bare>"),
        ("${x-'$(a)'}", "<Default x '$(a)' Bare>"),
        ("\"${x:=a}\"", "<Default x 'a' Quoted>"),
        ("${x:+a}${x:?b}", "<Alternative x a Bare><Error x b Bare>"),
        ("${#x}${#}${#x[@]}", "<Length x  Bare><Value #  Bare><Length x['@']  Bare>"),
        ("${!x}${!x@}${!}", "<Indirect x  Bare><Indirect x @ Bare><Value !  Bare>"),
        ("${x@P}${x@Q}", "<Evaluated x  Bare><Changed x @Q Bare>"),
        ("${x/a/b}${x:1:2}", "<Changed x /a/b Bare><Changed x '1:2' Bare>"),
        ("${a[i+1]}", "<Value a['i+1']  Bare>"),
        ("*.rs", "<glob *>.rs"),
        ("a?[b-c]", "a<glob ?><glob [b-c]>"),
        ("[", "["),
        ("a[", "a["),
        ("{a,b}c", "<brace a,b>c"),
        ("x{a,{b,c}d}", "x<brace a,<brace b,c>d>"),
        ("{1..9}{a..e..2}", "<brace 1..9><brace a,c,e>"),
        ("{}", "{}"),
        ("{a}", "{a}"),
        ("{a,b", "{a,b"),
        ("a,b}", "a,b}"),
        ("{{a,b}", "{<brace a,b>"),
        ("{,x}", "<brace ,x>"),
        ("{\"a,b\"}", "{'a,b'}"),
        ("{1..a}", "{1..a}"),
        ("~", "<tilde >"),
        ("~/x", "<tilde >/x"),
        ("~root/x", "<tilde root>/x"),
        ("a~", "a~"),
        ("p=~/x:~", "p=<tilde >/x:<tilde >"),
        ("--p=~/x", "--p=~/x"),
        ("'~'", "'~'"),
        ("~\"a\"", "~'a'"),
        ("$((x + 0xff*y))", "<arithmetic 'x + 0xff*y' [\"x\", \"y\"]>"),
        ("$[z]", "<arithmetic 'z' [\"z\"]>"),
        ("`a`\"`b`\"", "<command 1 Bare><command 1 Quoted>"),
        ("a#b", "a#b"),
        ("<(a;b)c", "<process 2>c"),
    ] {
        let text = format!("x {text}");
        assert_eq!(words(&text).get(1).map(String::as_str), Some(expected), "{text}");
    }
}

#[test]
fn assignments_stand_apart_from_words() {
    let shown_all = |text: &str| {
        let one = |a: &Assignment<'_>| {
            let subscript = a.subscript.as_ref().map(|word| format!("[{}]", shown(word)));
            let append = if a.mode == AssignmentMode::Append { "+" } else { "" };
            format!("{}{}{append}={}", a.name, subscript.unwrap_or_default(), shown(&a.value))
        };
        let simple = simple(text);
        let assignments: Vec<String> = simple.assignments.iter().map(one).collect();
        (assignments.join(" "), simple.words.len())
    };
    for (text, expected, words) in [
        ("A=1 B= c", "A=1 B=", 1),
        ("A+=x", "A+=x", 0),
        ("A[1 2]=x c", "A['1 2']=x", 1),
        ("A=(a [b]=c \"$d\") e", "A=<array a ['b']=c <Value d  Quoted>>", 1),
        ("A=~/x:~y", "A=<tilde >/x:<tilde y>", 0),
        ("A={a,b}", "A={a,b}", 0),
        ("LONG\\\nNAME=1", "LONGNAME=1", 0),
        ("> f A=1 c", "A=1", 1),
        ("c A=1", "", 2),
        ("\"A\"=1", "", 1),
        ("A'='1", "", 1),
        ("1A=1", "", 1),
        ("declare -a A=(x y)", "", 3),
    ] {
        assert_eq!(shown_all(text), (expected.to_owned(), words), "{text}");
    }
}

#[test]
fn e014_every_redirection_form_is_read_as_bash_does() {
    use RedirectionOperator as Operator;
    for (text, descriptor, operator, target) in [
        ("c < f", None, Operator::Read, "f"),
        ("c 2> f", Some(Descriptor::Number(2)), Operator::Write, "f"),
        ("c >>f", None, Operator::Append, "f"),
        ("c >|f", None, Operator::Clobber, "f"),
        ("c 3<>f", Some(Descriptor::Number(3)), Operator::ReadWrite, "f"),
        ("c 2>&1", Some(Descriptor::Number(2)), Operator::DuplicateOutput, "1"),
        ("c >&-", None, Operator::DuplicateOutput, "-"),
        ("c <& 3", None, Operator::DuplicateInput, "3"),
        ("c &>f", None, Operator::WriteBoth, "f"),
        ("c &>> f", None, Operator::AppendBoth, "f"),
        ("c <<<w", None, Operator::HereString, "w"),
        ("c {fd}>f", Some(Descriptor::Variable("fd".into())), Operator::Write, "f"),
        ("{fd[1]}>f c", Some(Descriptor::Variable("fd[1]".into())), Operator::Write, "f"),
        ("c >\\\n> f", None, Operator::Append, "f"),
        ("{ c; } 2>f", Some(Descriptor::Number(2)), Operator::Write, "f"),
        ("c <<E\nx $y\nE\n", None, Operator::Heredoc, "'x '<Value y  Quoted>'\n'"),
        ("c <<\\E\nx $y\nE\n", None, Operator::Heredoc, "'x $y\n'"),
        ("c <<-E\n\tx\n\t\ty\n\tE\n", None, Operator::Heredoc, "'x\ny\n'"),
        ("c <<E\na\\\nb\nE", None, Operator::Heredoc, "'ab\n'"),
        ("c <<E\na\nE x", None, Operator::Heredoc, "'a\nE x'"),
        ("c <<E\na\nE\\\n", None, Operator::Heredoc, "'a\n'"),
        ("c <<E\na\nE\\\n\\\n", None, Operator::Heredoc, "'a\n'"),
        ("c <<E\nE\\\nE\nE", None, Operator::Heredoc, "'EE\n'"),
    ] {
        let command = only(text);
        let [redirection] = command.redirections.as_slice() else { panic!("{text}") };
        assert_eq!(redirection.descriptor, descriptor, "{text}");
        assert_eq!(redirection.operator, operator, "{text}");
        assert_eq!(shown(&redirection.target), target, "{text}");
    }
}

#[test]
fn a_number_that_is_no_descriptor_is_a_word() {
    for (text, count) in [("c 2 >f", 2), ("c a2>f", 2), ("c 99999999999>f", 2), ("c {2}>f", 2)] {
        assert_eq!(words(text).len(), count, "{text}");
    }
}

#[test]
fn spans_mark_the_original_text() {
    let text = "a \"$(b \\\"c\\\")\" `d \\`e f\\`` <<-X\n\t$(g)\n\tX\nh";
    let script = parse(text).unwrap();
    let mut seen = Vec::new();
    script.every_simple(&mut |simple| {
        let span = simple.words[0].span;
        seen.push(text[span.start()..span.end()].to_owned());
    });
    assert_eq!(seen, ["a", "b", "d", "e", "g", "h"]);
}
