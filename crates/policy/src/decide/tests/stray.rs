//! Reading by a name that leads to a secret only from another folder, or by another way.

use super::*;

#[test]
fn a_relative_name_is_one_of_the_folder_that_was_entered() {
    assert_stopped(
        &confined(),
        &[
            "cd /etc; jq . shadow",
            "cd /etc; git diff --no-index /dev/null shadow",
            "cd /etc; some-tool shadow",
            "cd /etc; some-tool --in=shadow",
            "cd /etc && python3 -c 'import sys; print(open(sys.argv[1]).read())' shadow",
            "sh -c 'cd /etc; jq . shadow'",
            "cd ~; some-tool .ssh/id_rsa",
            "cd /etc; cd -; cd -; cat shadow",
            "trap 'cd /etc' DEBUG; cat shadow",
            "cd src; cd ..; cd ..; cd ..; cd ..; cat etc/shadow",
            "cd \"$x\"; cat .ssh/id_rsa",
        ],
    );
    assert_allowed(
        &confined(),
        &[
            "cd /etc; jq . hosts",
            "cd /etc; some-tool hosts",
            "cd /usr/share; ls shadow",
            "cd ~; ls notes",
            "cd src; some-tool shadow",
            "cd \"$x\"; cat README.md",
            "cd -; cat Makefile",
        ],
    );
}

#[test]
fn where_nobody_knows_the_folder_a_relative_write_is_asked() {
    assert_shell(
        &confined(),
        &[
            ("cd \"$x\"; echo a > b", Answer::Ask),
            ("cd -; rm b", Answer::Ask),
            ("trap 'cd /etc' DEBUG; echo a > b", Answer::Ask),
            ("cd src; echo a > b", Answer::Allow),
        ],
    );
}

#[test]
fn a_secret_is_named_however_its_name_is_put_together() {
    assert_stopped(
        &confined(),
        &[
            "cat /etc/shad$()ow",
            "cat /etc/shad``ow",
            "cat /etc/shad${x}ow",
            "cat ~/.ss$x\"h\"/id_rsa",
            "cat ${x:-/etc/shadow}",
            "x=1; cat ${x:+/etc/shadow}",
            ": ${x:=/etc/shadow}; cat $x",
            "m=(x /etc/shadow); cat \"${m[1]}\"",
            "declare -A m; m[a]=/etc/shadow; cat \"${m[a]}\"",
            "a=b; b=/etc/shadow; cat ${!a}",
            "read p <<< /etc/shadow; cat $p",
            "IFS=: read a b <<< x:/etc/shadow; cat $b",
            "mapfile -t a <<< /etc/shadow; cat \"${a[0]}\"",
            "f() { echo /etc/shadow; }; cat $(f)",
            "set -- a /etc/shadow; cat ${@: -1}",
            ": /etc/shadow; cat $_",
            "getopts a: o -a /etc/shadow; cat $OPTARG",
            "HOME=/etc; cat ~/shadow",
            "cat /{etc,a}/{shadow,b}{,c}{,d}{,e}{,f}{,g}{,h}",
        ],
    );
    assert_allowed(
        &confined(),
        &[
            "cat /etc/$x",
            "cat /etc/${x}.conf",
            "cat ${x:-/etc/hosts}",
            "m=(x /etc/hosts); cat \"${m[1]}\"",
            "read p <<< /etc/hosts; cat $p",
            "set -- a b; cat $1",
            "HOME=/srv/x; cat ~/shadow",
            "cat {a,b,c}.txt",
            "echo \"do not read /etc/shadow\"",
        ],
    );
}

#[test]
fn a_pattern_or_a_default_that_leads_to_something_hidden_is_asked_about() {
    let judge = judge_at("/home/dev/app", "version: 1\n", &NoLookup);
    let stopped = [
        "a=(~/.netr?); cat \"${a[0]}\"",
        "cat $(echo ~/.netr?)",
        "cat \"$(echo ~/.netr?)\"",
        "cat ${X:-../.netrc}",
        "cat ${X:-../.ssh/id_rsa}",
        "read x <<< ../.netrc; cat $x",
    ];
    assert_stopped(&judge, &stopped);
    let allowed = [
        "a=(src/*.py); cat \"${a[0]}\"",
        "a=(*.py); cat \"${a[0]}\"",
        "a=(~/*); echo ${#a[@]}",
        "cat $(echo src/*.py)",
        "for f in $(echo *.py); do cat $f; done",
        "cat ${X:-../other/a.txt}",
        "read x <<< ../other/a.txt; cat $x",
    ];
    assert_allowed(&judge, &allowed);
}
