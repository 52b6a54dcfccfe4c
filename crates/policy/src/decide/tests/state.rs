//! What a text does to the shell's own state: variables, working folder, functions, traps.

use super::*;

#[test]
fn e008_a_shell_knows_the_variables_it_is_given_and_no_others() {
    assert_stopped(
        &confined(),
        &[
            "x=src; sh -c 'rm -rf $x/'",
            "x=src; bash -c 'rm -rf $x/'",
            "x=src; sh <<'E'\nrm -rf $x/\nE",
            "x=src; echo 'rm -rf $x/' | sh",
            "x=src; echo 'rm -rf $x/' > s; sh s",
            "x=src; timeout 5 sh -c 'rm -rf $x/'",
            "x=src; nohup sh -c 'rm -rf $x/'",
            "f() { sh -c 'rm -rf $x/'; }; x=src; f",
            "export x=src; env -i sh -c 'rm -rf $x/'",
            "export x=src; env -u x sh -c 'rm -rf $x/'",
            "export x=src; x= sh -c 'rm -rf $x/'",
            "export x=src; x=/etc sh -c 'rm -rf $x'",
            "export x=src; env x=/etc sh -c 'rm -rf $x'",
            "export x=src; exec -c sh -c 'rm -rf $x/'",
            "export x=src; export -n x; sh -c 'rm -rf $x/'",
            "export x=src; declare +x x; sh -c 'rm -rf $x/'",
            "export x=src; sudo sh -c 'rm -rf $x/'",
            "d=/etc; env export d=src; rm -rf $d",
            "d=/etc; ./export d=src; rm -rf $d",
            "export x=src; env -i sh -c 'touch $TMPDIR/etc/x'",
        ],
    );
    assert_allowed(
        &confined(),
        &[
            "export x=src; sh -c 'rm -rf $x/a'",
            "x=src; export x; bash -c 'touch $x/a'",
            "declare -x x=src; bash -c 'touch $x/a'",
            "x=src bash -c 'touch $x/a'",
            "env x=src bash -c 'touch $x/a'",
            "x=src; sh -c \"rm -rf $x/a\"",
            "x=src; (rm -rf $x/a)",
            "FOO=1 sh -c 'echo $FOO > out.txt'",
            "export x=src; timeout 5 bash -c 'touch $x/a'",
        ],
    );
}

#[test]
fn e008_a_value_that_is_cut_is_what_is_left_of_it() {
    assert_stopped(
        &confined(),
        &[
            "x=a/etc; rm -rf ${x#a}",
            "x=src; rm -rf \"${x:3}\"/*",
            "x=src; rm -rf \"${x%src}\"/*",
            "x=src; rm -rf \"${x/src}\"/*",
            "x=src; rm -rf \"${x/src/}/\"",
            "x=src; rm -rf \"${x//?/}/\"",
            "x=src; rm -rf ${x/s*//etc}",
            "x=src; rm -rf ${x#[a-z]*}/etc",
            "x=src; rm -rf \"${x#[s]rc}\"/etc",
            "x=/etc/src; rm -rf ${x%/*}",
            "x=a-c; bash ${x#a} 'touch /etc/x'",
            "x='\\x72\\x6d'; ${x@E} -rf /",
            "x=RM; ${x,,} -rf /",
            "for f in src/*; do rm -rf \"${f#src}\"; done",
            "for f in src/*; do rm -rf \"${f/src/}\"; done",
            "find . | while read f; do rm -rf \"${f%%.*}\"/x; done",
            "x=$y; rm -rf ${x#a}",
            "x=abc; rm -rf ${x[0]#abc}/",
        ],
    );
    assert_allowed(
        &confined(),
        &[
            "for f in src/*.js; do mv -- \"$f\" \"${f/.js/.ts}\"; done",
            "for f in *.txt; do mv \"$f\" \"${f%.txt}.md\"; done",
            "for f in src/*.txt; do cp \"$f\" \"${f%.*}.bak\"; done",
            "for f in src/*.png; do cp \"$f\" \"out/${f##*/}\"; done",
            "find src -name '*.c' | while read -r f; do touch \"${f%.c}.o\"; done",
            "x=src/a.c; touch ${x%.c}.o ${x##*/} ${x%/*}/b",
            "x=build-a; rm -rf ${x#build-} ${x:0:5} ${x/a/b} ${x^^}",
        ],
    );
}

#[test]
fn e004_what_echo_and_printf_print_is_read_as_they_print_it() {
    assert_stopped(
        &confined(),
        &[
            "$(echo -e '\\x72\\x6d') -rf /",
            "echo -en '\\x72\\x6d -rf /' | bash",
            "eval \"$(echo -e '\\x72m -rf /')\"",
            "echo -e '#\\ntouch /etc/x' | sh",
            "echo -e '#\\ntouch /etc/x' > s; sh s",
            "/bin/echo -e '#\\ntouch /etc/x' | sh",
            "shopt -s xpg_echo; echo '#\\ntouch /etc/x' | bash",
            "printf '\\x74ouch /etc/x' > s; sh s",
            "printf '#\\ntouch /etc/x' | sh",
            "sh -c \"echo '# x\\ntouch /etc/x' | sh\"",
            "zsh -c \"echo '#\\ntouch /etc/x' | sh\"",
            "echo -nEe '#\\ntouch /etc/x' | bash",
            "echo() { printf 'touch /etc/x'; }; echo ls | sh",
        ],
    );
    assert_allowed(
        &confined(),
        &[
            "echo -e 'a\\nb' > notes.txt",
            "echo 'ls -l' | bash",
            "echo -e 'ls\\npwd' | bash",
            "printf 'ls\\npwd\\n' | sh",
            "printf '#!/bin/sh\\nls\\n' > s; sh s",
            "printf '%s\\n' 'a\\b' > out.txt",
            "echo '#!/bin/bash\nls' > s; chmod +x s; ./s",
        ],
    );
}

#[test]
fn e008_every_way_to_change_the_folder_is_followed() {
    assert_stopped(
        &confined(),
        &[
            "command cd / && rm -rf *",
            "builtin cd / && rm -rf *",
            "command -p cd / && rm -rf *",
            "command -- cd /etc && touch x",
            "builtin pushd /etc; touch x",
            "builtin popd; touch x",
            "command eval cd /etc; touch x",
            "x=1 command cd /etc; touch x",
            "f() { cd /etc; }; g() { f; }; g; touch x",
            "g() { f; }; f() { cd /etc; }; g; touch x",
            "f() { eval 'cd /etc'; }; f; touch x",
            "f() { cd /etc; }; eval f; touch x",
            "f() { cd /etc; return; }; f; touch x",
            "f() { cd \"$1\"; }; f /etc; touch x",
            "eval 'cd /etc'; touch x",
            ". /dev/stdin <<< 'cd /etc'; touch x",
            "echo 'cd /etc' > e; . ./e; touch x",
            "echo 'cd src' > e; echo 'cd ..' > e; . ./e; touch x",
            "trap 'cd /etc' DEBUG; touch y",
            "trap 'cd /etc' ERR; touch y",
            "trap 'cd /etc' USR1; cd src; touch y",
            "shopt -s cdable_vars; x=/etc; cd x; touch y",
            "cd() { :; }; builtin cd src; touch ../y",
            "env cd src; touch ../y",
            "nohup cd src && touch ../y",
            "f() { rm -rf build; }; cd /etc; f",
            "f() { d=src; } > no/where; d=/etc; f; rm -rf $d",
            "trap 'set -- /etc' DEBUG; set -- src; rm -rf $1",
            "if false; then die() { exit; }; fi; cd src || die; touch ../y",
        ],
    );
    assert_allowed(
        &confined(),
        &[
            "command cd src && touch y",
            "f() { cd src && touch a; }; f",
            "f() { cd src; }; (f); touch y",
            "eval 'cd src'; touch y",
            ". ./env.sh; touch y",
            "source venv/bin/activate && python3 -m pytest > log.txt",
            "trap 'echo done' EXIT; touch y",
            "trap 'echo bye' INT TERM; touch y",
            "die() { echo \"$1\" >&2; exit 1; }; cd src || die gone; touch ../y",
            "in_src() { pushd src > /dev/null && \"$@\"; popd > /dev/null; }; in_src make",
        ],
    );
}

#[test]
fn e008_a_function_is_judged_by_its_calls() {
    assert_stopped(
        &confined(),
        &[
            "run() { \"$@\"; }; run rm -rf /",
            "run() { \"$@\"; }; run make; run rm -rf /etc",
            "run() { $1; }; run 'rm -rf /'",
            "run() { eval \"$1\"; }; run 'touch /etc/x'",
            "run() { shift; \"$@\"; }; run make touch /etc/x",
            "x=src; f() { rm -rf $x; }; x=/etc; f",
            "f() { rm -rf \"$1\"; }; f /etc",
            "f() { rm -rf \"$1\"; }; f \"$x\"",
            "run() { \"$@\"; }",
            "run() { \"$@\"; }; export -f run; run ls; xargs bash -c 'run \"$@\"'",
            "f() { local d=$1; rm -rf \"$d\"; }; f /etc",
            "f() { (local x); x=/etc; }; x=src; f; rm -rf $x",
            "f() { g | g & }; g() { f | f & }; f",
            "f() { [ \"$1\" ] && f /etc; touch \"$1/a\"; }; f src",
        ],
    );
    assert_allowed(
        &confined(),
        &[
            "run() { \"$@\" || exit 1; }; run make; run make test",
            "log() { echo \"[$(date)] $*\"; }; log start; make; log end",
            "f() { local d=build; mkdir -p \"$d\"; }; f; f",
            "clean() { rm -rf \"$1\"; }; clean build; clean out",
            "f() { d=build; }; f; rm -rf \"$d\"",
            "tmp=$(mktemp -d); clean() { rm -rf \"$tmp\"; }; trap clean EXIT; touch \"$tmp/a\"",
            "walk() { for f in \"$1\"/*; do [ -d \"$f\" ] && walk \"$f\"; done; }; walk src",
        ],
    );
}

#[test]
fn e008_names_that_only_running_tells_leave_no_value_known() {
    assert_stopped(
        &confined(),
        &[
            "d=src; declare $(cat f); rm -rf $d",
            "d=src; export $(cat .env); rm -rf $d",
            "d=src; unset $1; rm -rf $d/",
            "d=src; read ${v} < f; rm -rf $d",
            "d=src; mapfile $v < f; rm -rf $d",
            "d=src; getopts a $v; rm -rf $d",
            "d=src; wait -p $v; rm -rf $d",
            "d=src; : ${!v:=/etc}; rm -rf $d",
            "d=; : ${d:=/etc}; rm -rf \"$d\"",
            "d=src; printf -v \"$1\" /etc; rm -rf $d",
            "f() { declare -g \"$1=$2\"; }; d=src; f d /etc; rm -rf $d",
            "f() { declare -g d=/etc; }; d=src; f; rm -rf $d",
            "d=src; trap 'd=/etc' DEBUG; rm -rf $d",
            "d=src; trap 'rm -rf $d' EXIT; d=/etc",
            "d=src; f() { rm -rf $d; }; trap f EXIT; d=/etc",
            "trap 'rm -rf build' EXIT; cd /etc",
            "d=build; trap 'rm -rf \"$d\"' EXIT; . ./env",
            "d=build; trap 'rm -rf \"$d\"' EXIT; export $(cat f)",
            "d=src; shopt -s lastpipe; echo /etc | read d; rm -rf $d",
            "d=/etc; { d=src; } < nowhere; rm -rf $d",
            "d=/etc; d=src > no/where; rm -rf $d",
            "let \"$x\"",
            "read \"$x\"",
            "printf -v \"$x\" a",
        ],
    );
    assert_allowed(
        &confined(),
        &[
            "export $(cat .env) && npm start",
            "export $(grep -v '^#' .env | xargs); node app.js > out.log",
            "d=src; export $(cat .env); touch a",
            "d=src; echo a | read x; touch $d/a",
            "d=src; { echo a; } > out.txt; touch $d/a",
            "d=src; trap 'rm -rf \"$d/tmp\"' EXIT; touch $d/a",
        ],
    );
}

#[test]
fn e008_variables_that_do_not_become_what_they_are_given_are_not_known() {
    assert_stopped(
        &confined(),
        &[
            "declare -l x=RM; $x -rf /",
            "declare -u x=src; rm -rf $x",
            "declare -i x=src; rm -rf $x/",
            "readonly d=/etc; d=src; rm -rf $d",
            "declare -r d=/etc; d=src; rm -rf $d",
            "d=/etc; local d=src; rm -rf $d",
            "sh -c 'd=/etc; declare d=src; rm -rf $d'",
            "dash -c 'd=/etc; typeset d=src; rm -rf $d'",
            "sh -c 'd=/; d+=proj/app/src; rm -rf $d'",
            "FUNCNAME=src; rm -rf /$FUNCNAME",
            "FUNCNAME=src; rm -rf $FUNCNAME/",
            "DIRSTACK=src; rm -rf $DIRSTACK",
            "BASH_REMATCH=src; rm -rf $BASH_REMATCH/",
            "PIPESTATUS=src; rm -rf $PIPESTATUS",
            "BASH_VERSION=src; rm -rf $BASH_VERSION",
            "PWD=src; cd /etc; rm -rf $PWD",
            "_=src; rm -rf $_",
        ],
    );
    assert_allowed(
        &confined(),
        &[
            "readonly d=src; touch $d/a",
            "declare -r d=src; touch $d/a",
            "declare d=src; touch $d/a",
            "declare -i n=3; echo $n",
            "f() { local d=src; touch $d/a; }; f",
            "bash -c 'd=src; d+=/a; touch $d'",
            "touch out.$RANDOM",
        ],
    );
}

#[test]
fn e008_habits_of_the_shell_that_change_how_it_reads_are_asked_about() {
    assert_stopped(
        &confined(),
        &[
            "set -k; git log PAGER='touch /etc/x'",
            "set -o keyword",
            "bash -k -c 'git log'",
            "read PAGER <<< 'touch /etc/x'; export PAGER; git log",
            "printf -v PAGER 'touch /etc/x'; export PAGER; git log",
            "for PAGER in 'touch /etc/x'; do export PAGER; git log; done",
            ": ${PAGER:=touch /etc/x}; export PAGER; git log",
            "enable -n export; d=/etc; export d=src; rm -rf $d",
        ],
    );
    assert_allowed(
        &confined(),
        &[
            "set -euo pipefail; make",
            "set -ex; cargo build",
            "shopt -s nullglob; for f in *.txt; do echo \"$f\"; done",
            "read -r NAME < f; echo \"$NAME\"",
            "echo ${EDITOR:-vim}",
        ],
    );
}

#[test]
fn e008_a_folder_that_a_text_says_it_is_in_is_what_it_says() {
    assert_stopped(
        &confined(),
        &[
            "PWD=/; rm -rf ~+/home",
            "PWD=/etc; touch ~+/x",
            "PWD=/etc; echo x > ~+/y",
            "PWD=/etc; cp a ~+",
            "PWD=/home/dev; echo k >> ~+/.ssh/authorized_keys",
            "PWD=~; cat ~+/.ssh/id_rsa",
            "PWD=/etc; cat ~+/shadow",
            "declare PWD=/etc; touch ~+/x",
            "read PWD <<< /etc; touch ~+/x",
            "printf -v PWD /etc; touch ~+/x",
            "mapfile -t PWD <<< /etc; touch ~+/x",
            "for PWD in /etc; do touch ~+/x; done",
            "f() { local PWD=/etc; touch ~+/x; }; f",
            "PWD=/etc; d=~+; touch $d/x",
            "PWD=/etc eval 'touch ~+/x'",
            "OLDPWD=/etc; touch ~-/x",
        ],
    );
    assert_allowed(
        &confined(),
        &[
            "touch ~+/x",
            "cp a ~+/src",
            "cd src; touch ~+/x",
            "d=~+; touch $d/x",
            "PWD=/etc; touch x",
            "PWD=/etc; cat ~+/README.md",
            "f() { local PWD=/etc; }; f; touch ~+/x",
        ],
    );
}

#[test]
fn e008_a_loop_over_who_knows_how_many_may_climb_as_far() {
    assert_stopped(
        &confined(),
        &[
            "for i in {1..9}; do cd ..; done; cat home/dev/.ssh/id_rsa",
            "for i in {1..9}; do pushd ..; done; cat home/dev/.ssh/id_rsa",
            "for i in {a..k}; do cd ..; done; cat etc/shadow",
            "for i in 1 {1..9}; do cd ..; done; cat etc/shadow",
            "for f in *; do cd ..; done; cat etc/shadow",
            "for i in {1..9}; do cd ..; done; echo x > etc/y",
            "for i in {1..9}; do cd ..; done; rm -rf home",
            "for i in {1..9}; do x+=../; done; cat ${x}home/dev/.ssh/id_rsa",
            "x=.; for i in {1..9}; do cat $x/home/dev/.ssh/id_rsa; x+=/..; done",
            "x=; for i in {1..3}; do cat ~/.${x}h/id_rsa; x+=s; done",
            "f() { cd ..; }; for i in {1..9}; do f; done; cat etc/shadow",
        ],
    );
    assert_allowed(
        &confined(),
        &[
            "for i in {1..9}; do mkdir -p out/$i; done; touch out/a",
            "for i in {1..3}; do touch file$i.txt; done; cat file1.txt",
            "for f in *.txt; do n=$(basename $f .txt); cp $f out/; echo $n; done",
            "for d in */; do (cd $d && make); done; touch done",
            "for i in {1..9}; do echo $i; sleep 1; done; cat README.md",
            "n=0; for f in *.c; do n=$((n+1)); done; echo $n > count",
        ],
    );
}
