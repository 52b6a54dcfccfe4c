//! Texts that other shells than bash read.

use super::*;

#[test]
fn e010_text_for_another_shell_is_read_as_that_shell_reads_it() {
    let judge = confined();
    let stopped = [
        "sh -c '((rm -rf /srv/data))'",
        "dash -c '((sudo id))'",
        "echo '((rm -rf /srv/data))' | sh",
        "sh <<'E'\n((rm -rf /srv/data))\nE",
        "awk 'BEGIN { system(\"((rm -rf /srv/data))\") }'",
        "python3 -c 'import os; os.system(\"((rm -rf /srv/data))\")'",
        "find . -exec sh -c '((rm -rf /srv/data))' ';'",
        "sh -c '[[ a > /srv/x ]]'",
        "sh -c '[[ a || sudo ]]'",
        "sh -c \"echo \\$'a\\\\'; rm -rf /srv/data #'\"",
        "sh -c 'echo \"${x:-'\"'\"'}\"; rm -rf /srv/data; echo \"'\"'\"'}\"'",
        "sh -c 'x=/srv; let x=1; rm -rf $x'",
        "sh -c 'cat $(echo \"\\0057root/.ssh/id_rsa\")'",
        "dash -c 'chdir /; rm -rf srv'",
        "sh -c 'time -o /srv/x ls'",
        "sh -c 'true &> /dev/null; ((x)); ((rm -rf /srv/data))'",
    ];
    assert_stopped(&judge, &stopped);
    let allowed = [
        "sh -c 'cd src && npm test'",
        "sh -c '[ -f a ] && cat a'",
        "sh -c '[[ -f a ]] && cat a'",
        "sh -c 'if [[ $x == y* && -n $z ]]; then ls; fi'",
        "sh -c 'for i in 1 2; do ((n++)); done; echo $n'",
        "sh -c '((n > 3)) && ls'",
        "sh -c 'time make'",
        "sh -c 'make &> build.log'",
        "sh -c 'echo \"${x:-none}\" \"${y:-a b}\"'",
        "sh -c \"printf %s \\$'a\\n'\"",
        "sh -c 'echo \"\\033[31mred\\033[0m\"'",
        "sh -c 'chdir src; ls'",
        "bash -c '((rm -rf /srv/data))'",
        "bash -c '[[ a > /srv/x ]]'",
    ];
    assert_allowed(&judge, &allowed);
}

#[test]
fn e011_what_only_zsh_reads_so_is_asked_about() {
    let judge = confined();
    let stopped = [
        "zsh -c '=rm -rf /srv/data'",
        "zsh -c '- rm -rf /srv/data'",
        "zsh -c 'noglob rm -rf /srv/data'",
        "zsh -c 'repeat 3 rm -rf /srv/data'",
        "zsh -c 'ls >! /srv/x'",
        "zsh -c 'ls >>! /srv/x'",
        "zsh -c 'sched +1 rm -rf /srv/data'",
        "zsh -c 'setopt promptsubst; print -P \"\\$(rm -rf /srv/data)\"'",
        "zsh -o rcquotes -c \"echo 'a''; rm -rf /srv/data; '\"",
        "zsh -c 'zmv -C x /srv/y'",
        "zsh -c 'ls *(e:reply=x:)'",
        "zsh -c 'path=(./sub); ls'",
        "zsh -c 'TRAPEXIT() { rm -rf /srv/data; }'",
        "zsh -c 'x=\"rm -rf /srv/data\"; $=x'",
        "zsh -c 'x=/srv/x; touch $~x'",
        "zsh -c 'x=/srv/x; touch \"$=x\"'",
        "zsh -c 'functions[ls]=\"rm -rf /srv/data\"; ls'",
        "zsh -c 'functions+=(f \"rm -rf /srv/data\"); f'",
        "zsh -c 'aliases[ls]=\"rm -rf /srv/data\"; eval ls'",
        "zsh -c 'commands[ls]=/bin/rm; ls x'",
        "zsh -c 'hash ls=/bin/rm; ls x'",
        "zsh -c 'hash -d d=~/.ssh; cat ~d/id_rsa'",
        "zsh -c 'cat $HOME:q/.ssh/id_rsa'",
    ];
    assert_stopped(&judge, &stopped);
    let allowed = [
        "zsh -c 'ls | wc -l'",
        "zsh -c 'print -l a b'",
        "zsh -c 'echo x >| out'",
        "zsh -o errexit -c 'make test'",
        "zsh -c 'f() { ls; }; f'",
        "zsh -c 'x=1; echo $x ${x} $x:$y a=$x'",
        "zsh -c 'hash -r; ls'",
        "zsh -c 'command[1]=a; echo \"a = $x\"'",
        "zsh -c '[[ -f a ]] && (( n > 3 ))'",
    ];
    assert_allowed(&judge, &allowed);
}

#[test]
fn e012_values_from_elsewhere_are_no_names_and_no_numbers() {
    let judge = confined();
    let stopped = [
        "mapfile -C eval -c 1 a <<< '; rm -rf /srv/data'",
        "readarray -t -C eval lines < README.md",
        "read x <<< 'a[$(rm -rf /srv/data)]'; echo $((x))",
        "x=$(curl -s http://localhost:8080/n); (( x > 3 ))",
        "x=$(curl -s http://localhost:8080/n); y=$x; echo $((y + 1))",
        "echo $(( $(curl -s http://localhost:8080/n) + 1 ))",
        "curl -s http://localhost:8080/n | while read x; do (( n += x )); done",
        "x=$(curl -s http://localhost:8080/n); [[ $x -eq 1 ]]",
        "x=$(curl -s http://localhost:8080/n); [[ 3 -lt x ]]",
        "x=$(curl -s http://localhost:8080/n); [ -v \"$x\" ]",
        "x=$(curl -s http://localhost:8080/n); unset \"$x\"",
        "x=$(curl -s http://localhost:8080/n); a[$x]=1",
        "x=$(curl -s http://localhost:8080/n); declare -i n=\"$x\"",
    ];
    assert_stopped(&judge, &stopped);
    let allowed = [
        "n=$(wc -l < README.md); (( n > 3 )) && ls",
        "n=$(grep -c x README.md); [[ $n -gt 3 ]] && ls",
        "for i in 1 2 3; do (( s += i )); done",
        "x=$(curl -s http://localhost:8080/n); echo \"$x\"",
        "x=$(curl -s http://localhost:8080/n); [ \"$x\" = ok ]",
        "x=$(curl -s http://localhost:8080/n); [[ $x == ok ]] && echo ${#x}",
        "x=$(curl -s http://localhost:8080/n | wc -l); (( x > 3 ))",
        "x=$(curl -s http://localhost:8080/n); export BODY=\"$x\"",
        "cat list | while read f; do (( n++ )); echo \"$f\"; done",
        "while read -r a b; do echo \"$a\"; done < README.md",
        "mapfile -t lines < README.md; echo ${#lines[@]}",
        "[[ $# -gt 0 ]] && (( $# > 1 ))",
    ];
    assert_allowed(&judge, &allowed);
}

#[test]
fn e008_variables_that_programs_obey_are_asked_about_however_they_are_set() {
    let judge = confined();
    let stopped = [
        "printf -v PATH ./sub; ls",
        "printf -vPATH ./sub; ls",
        "read PATH < README.md; ls",
        "read -r LD_PRELOAD < README.md; ls",
        "mapfile -t PATH < README.md; ls",
        "x=$(curl -s http://localhost:8080/n); export \"$x\"; ls",
        "x=$(curl -s http://localhost:8080/n); declare \"$x\"",
        "xargs --process-slot-var=PATH ls",
    ];
    assert_stopped(&judge, &stopped);
    let allowed = [
        "printf -v line '%s' a; echo \"$line\"",
        "read -r name < README.md; echo \"$name\"",
        "export $(grep -v '^#' settings.env | xargs)",
        "xargs -n1 echo",
    ];
    assert_allowed(&judge, &allowed);
}

#[test]
fn e010_a_text_that_makes_bash_keep_to_the_standard_is_read_in_both_ways() {
    let judge = confined();
    let hides = "echo \"${x:-'}\"; rm -rf /srv/data; echo \"'}\"";
    let switches = [
        "set -o posix",
        "set -eo posix",
        "set -o po''six",
        "p=po; set -o ${p}six",
        "shopt -so posix",
        "shopt -s -o posix",
        "POSIXLY_CORRECT=1",
        "export POSIXLY_CORRECT=y",
        "export POSIXLY_CORRECT",
        "declare POSIXLY_CORRECT=",
        "read POSIXLY_CORRECT <<< 1",
        "for POSIXLY_CORRECT in 1; do :; done",
        "((POSIXLY_CORRECT = 1))",
        "eval 'set -o posix'",
        "f() { set -o posix; }; f",
        // Only one of the two ways ends here.
        ": \"${x:-'}'}\"; set -o posix",
    ];
    let texts: Vec<String> = switches.iter().map(|switch| format!("{switch}\n{hides}")).collect();
    assert_stopped(&judge, &texts.iter().map(String::as_str).collect::<Vec<_>>());
    let quoted = hides.replace('\'', "'\\''");
    let texts = ["bash --posix -c", "env POSIXLY_CORRECT=1 bash -c"]
        .map(|shell| format!("{shell} 'a=(1); {quoted}'"));
    assert_stopped(&judge, &texts.each_ref().map(String::as_str));
    let stopped =
        ["set -o posix\neval \"echo \\\"\\${x:-'}\\\"; rm -rf /srv/data; echo \\\"'}\\\"\""];
    assert_stopped(&judge, &stopped);
    let allowed = [
        hides,
        "set -euo pipefail; echo \"${x:-'none'}\"",
        "set -o posix; make test",
        "set -o posix; echo \"${x:-none}\" 'a b'",
        "set -eo posix; [[ -f a ]] && echo ${x#'a'}",
        "POSIXLY_CORRECT=1 df -k . | awk '{ print $4 }'",
        "export POSIXLY_CORRECT=1; ls -l 'a b' \"${dir:-src}\"",
        "sh -c 'echo \"${x:-'\"'\"'none'\"'\"'}\"'",
    ];
    assert_allowed(&judge, &allowed);
}

#[test]
fn a_shell_that_expands_aliases_is_told_none() {
    let judge = confined();
    let stopped = [
        "bash -O expand_aliases -c $'alias x=rm\\nx -rf ~'",
        "bash -ic $'alias x=rm\\nx -rf ~'",
        "bash -i -c $'alias x=rm\\nx -rf ~'",
    ];
    assert_stopped(&judge, &stopped);
    let allowed =
        ["bash -ic 'npm test'", "bash -O extglob -c 'ls src'", "bash -ic 'alias ll'", "alias x=ls"];
    assert_allowed(&judge, &allowed);
}
