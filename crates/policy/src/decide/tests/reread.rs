//! Texts that the shell reads once more, or otherwise than they look.

use super::*;

#[test]
fn what_an_array_is_given_in_quotes_is_read_again() {
    let judge = confined();
    assert_stopped(
        &judge,
        &[
            "declare -a a='($(cat ~/.ssh/id_rsa))'",
            "declare -a \"a=(\\$(cat ~/.ssh/id_rsa))\"",
            "declare -ga a='($(touch /etc/x))'",
            "declare -A a='($(touch /etc/x) b)'",
            "typeset -a a='(`touch /etc/x`)'",
            "readonly -a a='($(touch /etc/x))'",
            "export -a a='($(touch /etc/x))'",
            "declare -a a+='($(touch /etc/x))'",
            "declare -a a='(${x:-$(touch /etc/x)})'",
            "declare -a a='(<(touch /etc/x))'",
            "f() { local -a a='($(touch /etc/x))'; }; f",
            "a=(1); declare a='($(touch /etc/x))'",
            "a=(1); b='($(touch /etc/x))'; declare a=$b",
            "x='($(touch /etc/x))'; declare -a \"a=$x\"",
            "declare -a a; declare a='($(touch /etc/x))'",
            "read -a a <<< x; declare a='($(touch /etc/x))'",
            "mapfile a < README.md; typeset a='(`touch /etc/x`)'",
            "eval \"declare -a a='(\\$(touch /etc/x))'\"",
            "bash -c 'declare -a a=\"$1\"' _ '($(touch /etc/x))'",
            "declare -a a=\"($x)\"",
            "declare -a a; b='( $(touch /etc/x) )'; declare a=$b",
            "declare -a a='(~/.ssh/id_rsa)'; cat \"${a[0]}\"",
        ],
    );
    assert_allowed(
        &judge,
        &[
            "declare -a a='(x y)'",
            "declare -A a='([k]=v [l]=w)'",
            "declare -a a=(x y)",
            "declare -a a=($(git ls-files))",
            "declare -a a='($(git ls-files))'",
            "f() { local label=\"($x)\"; echo \"$label\"; }; f",
            "f() { local pattern='(a|b;c)'; echo \"$pattern\"; }; f",
            "export label='(none)'",
        ],
    );
}

#[test]
fn a_prompt_is_evaluated_whoever_names_it() {
    let judge = confined();
    assert_stopped(
        &judge,
        &[
            "x='$(touch /etc/x)'; y=x; echo \"${!y@P}\"",
            "x='$(touch /etc/x)'; y=x; : ${!y@P}",
            "x='$(touch /etc/x)'; y=x; echo ${!y[0]@P}",
        ],
    );
    assert_allowed(&judge, &["x=1; y=x; echo ${!y@Q}", "x=1; y=x; echo \"${!y}\""]);
}

#[test]
fn a_stream_that_is_copied_to_a_file_is_what_runs() {
    let judge = confined();
    assert_stopped(
        &judge,
        &[
            "cp /dev/stdin s <<< 'touch /etc/x'; sh s",
            "cp /dev/fd/0 s <<< 'touch /etc/x'; sh s",
            "cp /dev/stdin s.py <<< 'open(\"/etc/x\",\"w\")'; python3 s.py",
            "cp /dev/fd/3 s 3<<< 'touch /etc/x'; sh s",
            "install -m755 /dev/stdin s <<< 'touch /etc/x'; ./s",
            "cp <(echo 'touch /etc/x') s; sh s",
            "echo 'touch /etc/x' | cp /dev/stdin s; sh s",
        ],
    );
    assert_allowed(
        &judge,
        &[
            "cp /dev/stdin s <<< text",
            "cp /dev/stdin s <<< 'touch build/x'; sh s",
            "cp <(echo text) s",
            "cp src/a s; sh s",
        ],
    );
}

#[test]
fn time_is_a_program_to_a_shell_that_keeps_to_the_standard() {
    let judge = confined();
    assert_stopped(
        &judge,
        &[
            "bash --posix -c 'time -o /etc/x ls'",
            "bash -o posix -c 'time -o /etc/x ls'",
            "bash -eo posix -c 'time -o /etc/x ls'",
            "POSIXLY_CORRECT=1 bash -c 'time -o /etc/x ls'",
            "env POSIXLY_CORRECT=1 bash -c 'time -o /etc/x ls'",
            "export POSIXLY_CORRECT=1; bash -c 'time -o /etc/x ls'",
            "set -o posix\ntime -o /etc/x ls",
            "POSIXLY_CORRECT=1\ntime -o /etc/x ls",
            "set -o posix\na=(1)\ntime -o /etc/x ls",
        ],
    );
    assert_allowed(
        &judge,
        &[
            "time ls",
            "time -p ls",
            "bash --posix -c 'time ls'",
            "set -o posix\ntime -p ls",
            "find . -regextype posix-extended -regex '.*x'; time ls",
        ],
    );
}

#[test]
fn a_default_counts_together_with_what_follows_it() {
    let judge = confined();
    assert_stopped(
        &judge,
        &[
            "cat ${XDG_CONFIG_HOME:-$HOME/.config}/gh/hosts.yml",
            "cat ${x:-/home/dev/.config}/gh/hosts.yml",
            "cat ${x:-~/.config}/gh/hosts.yml",
            "cat \"${XDG_CONFIG_HOME:-$HOME/.config}/gh/hosts.yml\"",
            "cat \"${XDG_CONFIG_HOME:-$HOME/.config}\"/gcloud/credentials.db",
            "cat ${CARGO_HOME-~/.cargo}/credentials.toml",
            "cat ${x:-$HOME/.config/}gh/hosts.yml",
            "cat ${x:-$HOME/.c}onfig/gh/hosts.yml",
            "cat ${x:-${y:-$HOME/.config}}/gh/hosts.yml",
            "cat ${x:+$HOME/.config}/gh/hosts.yml",
            "cat $HOME/${x:-.config}/${y:-gh}/hosts.yml",
            "cat < \"${x:-~/.config}/gh/hosts.yml\"",
            "cp -r \"${XDG_CONFIG_HOME:-$HOME/.config}/gh\" k",
            "d=${XDG_CONFIG_HOME:-$HOME/.config}; cat $d/gh/hosts.yml",
            "d=${x:-$HOME}; e=$d/.config; cat \"$e/gh/hosts.yml\"",
            "export d=\"${x:-$HOME/.config}\"; cat $d/gh/hosts.yml",
            "f() { local d=${x:-$HOME/.config}; cat $d/gh/hosts.yml; }; f",
        ],
    );
    assert_allowed(
        &judge,
        &[
            "cat \"${XDG_CACHE_HOME:-$HOME/.cache}/x\"",
            "cat \"${XDG_CONFIG_HOME:-$HOME/.config}/tool/settings.toml\"",
            "ls ${CARGO_HOME:-$HOME/.cargo}/bin",
            "d=${XDG_CONFIG_HOME:-$HOME/.config}; cat $d/tool/x",
            "d=${x:-$HOME/.config}; d=src; cat $d/gh/hosts.yml",
            "echo ${1:-main} ${2:-src}/lib.rs",
        ],
    );
}

#[test]
fn a_variable_that_is_not_there_leaves_the_dot_behind_it() {
    let judge = confined();
    assert_stopped(
        &judge,
        &[
            "cat /home/dev/$z.ssh/id_rsa",
            "cat ~/$z.aws/credentials",
            "cat \"$HOME/${z}.ssh/id_rsa\"",
            "cat ~/${z}/.ssh/id_rsa",
            "cat ~/$1.netrc",
            "cat ~/$z.config/gh/hosts.yml",
            "cat ~/$z.ssh/$k",
        ],
    );
    assert_allowed(
        &judge,
        &["cat ~/$z.txt", "cat ~/$z/.bashrc", "cat src/$z.rs", "cat \"$HOME/src/$z/.gitignore\""],
    );
}

#[test]
fn a_wildcard_may_be_the_dot_that_a_name_begins_with() {
    let judge = confined();
    assert_stopped(
        &judge,
        &[
            "shopt -s dotglob; cat /home/dev/[.]ssh/id_rsa",
            "shopt -s dotglob; cat ~/?ssh/id_rsa",
            "GLOBIGNORE=:\ncat ~/?ssh/*",
            "env BASHOPTS=dotglob bash -c 'cat ~/?ssh/id_rsa'",
            "shopt -s dotglob; tar cf k ~/?ss*",
            "bash -O dotglob -c 'cat ~/?ssh/id_rsa'",
            "cat ~/[!a]ssh/id_rsa",
            "cat ~/[+-9]ssh/id_rsa",
            "cat ~/[[:punct:]]ssh/id_rsa",
            "cd ~; cat ?ssh/id_rsa",
        ],
    );
    assert_allowed(
        &judge,
        &[
            "cat ~/[a-z]ssh/x",
            "cat ~/[!.]ssh/x",
            "cat src/?.rs",
            "ls ?.txt [ab]*",
            "shopt -s dotglob; ls *",
        ],
    );
}
