//! What is read, what is refused, and what is found in it.

mod refused;
mod shape;

use super::*;

/// The names of all commands in a text; `$` for what is not plain.
fn names(text: &str) -> Vec<String> {
    let script = parse(text).unwrap_or_else(|error| panic!("{text}: {error:?}"));
    let mut names = Vec::new();
    script.every_simple(&mut |simple| {
        names.extend(simple.words.first().map(|word| flat(word)));
    });
    names
}

fn flat(word: &Word<'_>) -> String {
    let part = |piece: &Piece<'_>| match piece {
        Piece::Literal(text) | Piece::Quoted(text) => text.to_string(),
        Piece::Glob { text, .. } => text.to_string(),
        Piece::Tilde(name) => format!("~{name}"),
        Piece::Brace(_)
        | Piece::Parameter(_)
        | Piece::Command(..)
        | Piece::Arithmetic(..)
        | Piece::Process(_)
        | Piece::Array(_) => "$".to_owned(),
    };
    word.pieces.iter().map(part).collect()
}

#[test]
fn e001_every_command_of_a_text_is_found() {
    for (text, expected) in [
        ("", ""),
        ("# nothing", ""),
        ("ls -l", "ls"),
        ("a; b & c && d || e | f |& g\nh", "a b c d e f g h"),
        ("( a; b ) && { c; d; }", "a b c d"),
        ("if a; then b; elif c; then d; else e; fi", "a b c d e"),
        ("while a; do b; done; until c; do d; done", "a b c d"),
        ("for x in $(a) `b`; do c; done", "a b c"),
        ("for x do a; done", "a"),
        ("for x; { a; }", "a"),
        ("for ((i=0; i<$(a); i++)); do b; done", "a b"),
        ("for ((i=${#x[@]}; i<${y##*-}; i+=2#1)); do a; done", "a"),
        ("for x; { for y in a; do b; done }", "b"),
        ("select x in 1 2; do a; done", "a"),
        ("case $(a) in b|c) d;; (e) f;& g) ;;& *) h; esac", "a d f h"),
        ("echo $(case x in x) a;; esac)", "echo a"),
        ("[[ -f $(a) && x == *(b|$(c)) ]]", "a c"),
        ("[[ $(a) =~ ^(b|$(c))$ ]] && d", "a c d"),
        ("(( x = $(a) )) && b", "a b"),
        ("((a) | b)", "a b"),
        ("echo $((a) | b)", "echo a b"),
        ("echo $(( $(a) + 1 ))", "echo a"),
        ("f() { a; }; function g { b; }; function h() ( c )", "a b c"),
        ("coproc { a; }; coproc N { b; }; coproc c d", "a b c"),
        ("coproc x+(a); coproc +(b); coproc x+ { c; }", "a b c"),
        ("time -p ! a; ! time b; time", "a b"),
        ("a | time b", "a time"),
        ("cat <<A <<'B'\n$(a)\nA\n$(b)\nB\nc", "cat a c"),
        ("cat <<-A | b\n\t$(a)\n\tA\n", "cat a b"),
        ("cat <<A\n`a` ${x:-$(b)} $((c[$(d)]))", "cat a b d"),
        ("cat <<-A <<B\n$(a)\n\tA\\\n\n$(b)\nB\\\n\\\n", "cat a b"),
        ("cat <(sort <<A\nx\nA) \"$$(\" x[$$]", "cat sort"),
        ("cat $(a <<A\nx\n\\\nA); b\nA", "cat a b A"),
        ("cat $(a <<-A\n\\\n\t\\\nA\\\n ); b\nA", "cat a b A"),
        ("cat $(a <<'A'\n\\\nA); b\nA", "cat a b A"),
        ("echo $[`a \\\\\\\n\nb`] $[`c \\\\\n\nd`]", "echo a c d"),
        ("a <<< \"$(b)\" > >(c)", "a b c"),
        ("diff <(a) <(b)", "diff a b"),
        ("echo `a \\`b\\` $(c)`", "echo a b c"),
        ("echo \"`a \\\"x\\\"`\"", "echo a"),
        ("echo ${ a; } ${| b; }", "echo a b"),
        ("echo \"${y:=`a`}\" ${x/$(b)/$(c)} ${z:$(d)} ${v[$(e)]}", "echo a b c d e"),
        ("x[$(a)]=1 y=($(b) [$(c)]=$(d)) e", "a b c d e"),
        ("declare -a x=($(a)) y; export z=$(b)", "declare a export b"),
        ("r\\\nm x; \\r'm' x; $'\\x72m' x; r\"\"m x", "rm rm rm rm"),
        ("echo \"${x:-'$(a)'}\" ${x:-'$(b)'}", "echo a"),
        ("echo $(( '$(a)' )) $[ $(b) ]", "echo a b"),
        ("{fd}>$(a) b 2>&1 >&- 3<>c &>d &>>e >|f", "b a"),
        ("{\\\nfd}>f rm; {f\\\nd\\\n}\\\n>f rm; {a\\\n[1]\\\n}>f rm", "rm rm rm"),
        ("{a[1]}>f rm; {a[}>f rm; {a[1}>f rm", "rm {a[} {a[1}"),
        ("if (a) then b; fi; { (c) }", "a b c"),
        ("$x y; ${z} w", "$ $"),
        ("echo if then; if=1 a", "echo a"),
        ("a$(b)c <(d)e", "a$c b d"),
        ("echo {a,$(b)}{1..3}", "echo b"),
        ("i\\\nf a; then b; f\\\ni", "a b"),
        ("a &\\\n& b |\\\n| c", "a b c"),
        ("echo $\\\n(a) \"$\\\n(b)\"", "echo a b"),
    ] {
        let mut expected: Vec<&str> = expected.split_whitespace().collect();
        let mut found = names(text);
        expected.sort_unstable();
        found.sort_unstable();
        assert_eq!(found, expected, "{text}");
    }
}

#[test]
fn e004_every_spelling_of_a_name_reads_the_same() {
    for spelling in [
        "rm",
        "r\\\nm",
        "\\rm",
        "r\\m",
        "'rm'",
        "r\"\"m",
        "\"r\"'m'",
        "$'\\x72m'",
        "$'\\162\\155'",
        "$'r\\u006d'",
        "$\"rm\"",
        "r''\\\nm",
        "\\\nrm",
    ] {
        assert_eq!(names(&format!("{spelling} -rf x")), ["rm"], "{spelling}");
    }
    // What is only known at run time is not mistaken for text.
    for spelling in ["r${x}m", "r$(x)m", "r`x`m", "r$@m", "{r,m}", "$'rm'$x"] {
        let script = format!("{spelling} -rf x");
        let script = parse(&script).unwrap();
        let mut open = 0;
        script.every_simple(&mut |simple| {
            open += usize::from(simple.words.first().is_some_and(|word| flat(word).contains('$')));
        });
        assert_eq!(open, 1, "{spelling}");
    }
}

#[test]
fn e011_forms_of_another_shell_are_refused() {
    for text in [
        "cat =(ls)",
        "ls *(.om[1])",
        "ls *(e:'rm x':)",
        "echo ${(e)x}",
        "for x (a b) echo $x",
        "if [[ a ]] { b }",
    ] {
        assert!(parse(text).is_err(), "{text}");
    }
    // Bash shares these, and what they run is found.
    assert_eq!(names("[[ x =~ $(a) ]]; x[$(b)]=1; c >| d"), ["a", "b", "c"]);
}

#[test]
fn e012_commands_in_arithmetic_and_subscripts_are_found() {
    for text in [
        "[[ -v a[$(id)] ]]",
        "[[ a[$(id)] -eq 1 ]]",
        "echo $(( a[$(id)] ))",
        "(( a[`id`]++ ))",
        "echo $[ $(id) ]",
        "echo ${a[$(id)]}",
        "echo ${a:$(id)}",
        "echo \"${a[$(id)]}\"",
        "a[$(id)]=1",
        "a=([$(id)]=1)",
        "declare a[$(id)]=1",
        "for (( i = $(id); i < 3; i++ )); do :; done",
        "echo $(( '$(id)' ))",
        "a['$(id)']=1",
        "unset a[$(id)]",
    ] {
        assert!(names(text).contains(&"id".to_owned()), "{text}");
    }
    let script = parse("echo ${x@P} $((y)) ${z@A} ${w@Q}").unwrap();
    let mut evaluated = Vec::new();
    script.every_part(&mut |part| {
        let Part::Word(word) = part else { return };
        for piece in &word.pieces {
            if let Piece::Parameter(parameter) = piece
                && parameter.operation == Operation::Evaluated
            {
                evaluated.push(parameter.name.to_string());
            }
            if let Piece::Arithmetic(arithmetic, _) = piece {
                evaluated.extend(arithmetic.names.iter().map(ToString::to_string));
            }
        }
    });
    assert_eq!(evaluated, ["x", "y", "z"]);
}
