//! The shell parser against the bash of this machine: the same texts are read and refused.
//!
//! `fuzz/differential` asks about many more, invented and from corpora.
#![expect(clippy::disallowed_types, reason = "the shell that is asked is another process")]

use std::process::{Command, Stdio};

use palisade_policy::shell::parse;

/// Bash reads these, and so do we.
const READ: &[&str] = &[
    "",
    "# only a comment",
    "ls -la | grep x; pwd & wait",
    "a &&\n\n b ||\n c |\n d",
    "a |& b &>c &>>d >|e 3<>f 4>&- <&3 {fd}>g",
    "if (a) then b; elif c\nthen d; else e; fi >f",
    "while a; do b; done < f; until c\ndo d\ndone",
    "for x in a b; do c; done; for x do c; done; for x\ndo c; done; for x; { c; }",
    "for ((;;)) do a; done; for (( i = 0 ; i < ${#a[@]} ; i++ )); { b; }",
    "select x in a; do b; break; done",
    "case a in esac; case a in b) ;; (c|d) e;; f) g;& h) i;;& *) j\nesac",
    "case in in in) a;; esac",
    "case a in if) b;; (esac) c;; esac",
    "f() { a; }; f () ( a ); function g { a; } >x; function g () { a; }; function h [[ a ]]",
    "f() if a; then b; fi",
    "{ { a; } }; ( ( a ) ); (a;); { a\n}",
    "time; time -p; time -p -- a; ! ; ! ! a; time ! time a; a | time b",
    "coproc a; coproc { a; }; coproc N { a; }; coproc N ( a ) >x",
    "[[ a ]]; [[ ! a ]]; [[ -f a ]]; [[ a == b && ( c != d || ! e ) ]]; [[ a < b ]]; [[ a -nt b ]]",
    "[[ a =~ ^(b|c d)+$ ]]; [[ a =~ [[:space:]]*(x)\\ y|z ]]; [[ a == @(b|c)* ]]; [[ a = !(*.o) ]]",
    "[[ a &&\n -f b\n]]; [[ <(a) ]]",
    "((1 + (2 * 3))); ((a) | b); ( (a) ); ((a); b); echo $((1 + (2))) $((a) | b) $( (a) )",
    "echo $[1 + 2] $((a[1] + $(b))) \"$((c))\"",
    "cat <<A\nb\nA\nc",
    "cat <<A <<-B; d\na\nA\n\tb\n\tB\nc",
    "cat <<'A B'\n$(if\nA B\n",
    "cat <<\\A\n`\nA",
    "cat <<A\nno end",
    "cat <<A",
    "(cat <<A\nb\nA\n); if cat <<A; then b; fi\nA",
    "echo $(cat <<A\nb)c\nA\n)",
    "echo $(cat <<A\nb\nA)",
    "echo `a \\`b\\`` \"`c \\\"d\\\"`\" $(a $(b \"$(c)\"))",
    "echo $(case a in a) b;; esac) $(case a in (a) b;; esac)",
    "echo $(# comment )\n)",
    "echo $() <() `` $(\n) $( a; ) $(a &)",
    "echo ${x} ${#x} ${#} ${x:-a b} ${x:=\"}\"} ${x:+'}'} ${x#*$(a)} ${x/\\}/b} ${x//a/${y}} ${!x}",
    "echo ${x@P} ${x[@]} ${x[1+2]} ${x:1:2} ${x^^} ${x,} ${!x@} \"${x:-\"a b\"}\"",
    "echo 'a' \"b $c\" $'d\\'e' $\"f\" \\g a\\\nb",
    "echo \"a 'b\" 'c \"d' \"#\" a#b",
    "a=1 b+=2 c[1 2]=3 d=(1 [2]=3 \"$4\" # x\n 5) e",
    "a=(); a=(b)c; declare -a a=(b) c; export a=(b); local x=(y); eval a=(b)",
    "a=$(b) c=`d` e=~/f:~g h={i,j}",
    "x\\\n=1; ec\\\nho a; i\\\nf a; then b; fi; a &\\\n& b; a >\\\n> b",
    "echo a=b in do then } { ! [[ ]]",
    "echo {a,b} {1..3} {a,{b,c}} {} ~ ~/a * ?[a-z] [!x]*",
    "2>a; >a b; a 2 >b; a >&2 2>&1-; >a b=1 c; >&-a",
    "a[1 2]; a[b]c",
    "echo $x$y$1$@$*$#$?$-$$$!$_ $ \"$\" $% a$",
];

/// Bash refuses these, and so do we.
const REFUSED: &[&str] = &[
    "(",
    ")",
    "{",
    "}",
    "fi",
    "done",
    "esac",
    "then",
    "do",
    "in",
    "]]",
    "|",
    "&",
    ";",
    ";;",
    "&&",
    "<",
    "a |",
    "a &&",
    "a ||",
    "a ; ; b",
    "a & ; b",
    "a | ! b",
    "()",
    "( )",
    "{ }",
    "{}}; }",
    "(a",
    "{ a }",
    "if a; then; fi",
    "if a; b; fi",
    "if a; then b; else; fi",
    "if a then b; fi",
    "while a; done",
    "while; do a; done",
    "while a; { b; }",
    "for",
    "for x",
    "for x in a",
    "for x in a do b; done",
    "for x { a; }",
    "for ((a;b)) do c; done",
    "for ((a;b;c;d)) do e; done",
    "for x in (a); do b; done",
    "case a",
    "case a in",
    "case a in b",
    "case a in b c) d;; esac",
    "case a in b) c d esac",
    "case a in *(b)) c;; esac",
    "select x { a; }",
    "f() a",
    "f(a) { b; }",
    "f( { a; }",
    "f() g() { a; }",
    "function",
    "function f",
    "coproc",
    "coproc f() { a; }",
    "coproc a !",
    "[[ a",
    "[[ -f ]]",
    "[[ a b ]]",
    "[[ a == ]]",
    "[[ ( a ]]",
    "[[ a ; b ]]",
    "[[ 1<2 ]]",
    "[[ a >> b ]]",
    "[[ a = (b) ]]",
    "((1)",
    "((1",
    "echo $((1)",
    "echo $(",
    "echo $(a",
    "echo $(if)",
    "echo $(a))",
    "echo <(a",
    "echo 'a",
    "echo \"a",
    "echo `a",
    "echo ${a",
    "echo $'a\\'",
    "echo \"$(a\"",
    "echo \"${a:-'}\"",
    "a >",
    "a > > b",
    "a <<",
    "a <<<",
    "a 2>",
    "a > (b)",
    ">1>2",
    ">{a}>b",
    "echo (a)",
    "echo a=(b)",
    "a= (b)",
    "a=(b",
    "a=(b;c)",
    "a=(1>b)",
    "a=(b=(c))",
    "a[1",
    "declare >a b=(c)",
    "command declare a=(b)",
    "echo *(a)",
    "echo ?(a)",
    "ls *(.om[1])",
    "cat =(a)",
    "echo a(b)",
    "if (a) >b then c; fi",
    "{ (a) >b }",
    "ls ) ; rm x",
    "echo a\n)\nb",
];

#[test]
fn bash_and_we_read_the_same_texts() -> std::io::Result<()> {
    if !bash_answers() {
        println!("SKIPPED: there is no /bin/bash that answers `-n -c`");
        return Ok(());
    }
    let mut wrong = Vec::new();
    for (texts, expected) in [(READ, true), (REFUSED, false)] {
        for text in texts {
            let ours = parse(text);
            if ours.is_ok() != expected {
                wrong.push(format!("we: {text:?}: {:?}", ours.err()));
            }
            if bash_reads(text)? != expected {
                wrong.push(format!("bash: {text:?}"));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    Ok(())
}

/// Tells whether bash reads a text. Some errors do not show in its exit code, only in what it says.
fn bash_reads(text: &str) -> std::io::Result<bool> {
    let mut bash = Command::new("/bin/bash");
    bash.args(["--norc", "--noprofile", "-n", "-c", text]).env_clear().stdin(Stdio::null());
    let output = bash.output()?;
    let notes = String::from_utf8_lossy(&output.stderr);
    Ok(output.status.success() && notes.lines().all(|line| line.contains("warning:")))
}

fn bash_answers() -> bool {
    Command::new("/bin/bash").args(["-n", "-c", ":"]).status().is_ok_and(|status| status.success())
}
