//! Words that stand in the text as what a variable may be.

use super::*;

#[test]
fn a_default_that_is_an_option_is_read_as_one() {
    let judge = confined();
    let stopped = [
        "sort ${X:--o/etc/x} a.py",
        "sort ${X:--o} /etc/x a.py",
        "sort ${X:=-o} /etc/x a.py",
        "sort ${X:+-o} /etc/x a.py",
        "sort ${X--o} /etc/x a.py",
        "sort ${X+-o} /etc/x a.py",
        "sort a.py \"${X:--o/etc/x}\"",
        "sort a.py ${X:---compress-program=sh}",
        "uniq ${X:-a.py /etc/x}",
        "find . ${X:--delete}",
        "find . ${X:--exec rm -rf ~ ;}",
        "find . ${X:--fprint} /etc/x",
        "X=${X:--delete}; find . $X",
        ": ${X:=-delete}; find . $X",
        "date ${X:--s2020}",
        "env find . ${X:--delete}",
    ];
    assert_stopped(&judge, &stopped);
    let allowed = [
        "sort $FLAGS a.py",
        "sort ${FLAGS:--u} a.py",
        "sort ${FLAGS:--t , -k 2} a.py",
        "find ${DIR:-.} -name '*.py'",
        "find . ${KIND:--type f} -name '*.py'",
        "find . -name \"${X:-*.py}\"",
        "date ${FORMAT:-+%F}",
        "uniq ${X:--c} a.py",
        "ls ${FLAGS:--l -a} src",
        "echo ${MESSAGE:-all is well}",
        "set ${X:--e}; ls",
        "cd ${X:-- src}; ls",
    ];
    assert_allowed(&judge, &allowed);
}

#[test]
fn an_option_that_another_command_says_is_read_as_one() {
    let judge = confined();
    let stopped = [
        "sort a.py $(printf -- -o) /etc/x",
        "find . $(printf -- -delete)",
        "read X <<< -delete; find . $X",
        "read -r -t 1 X <<< -delete; find . $X",
        "read A B <<< '. -delete'; find . $B",
        "read X <<< -o; sort a.py $X /etc/x",
    ];
    assert_stopped(&judge, &stopped);
    let allowed = [
        "sort $(printf -- -u) a.py",
        "read X <<< -u; sort $X a.py",
        "read A B <<< 'a.py b.py'; sort $A $B",
        "read X <<< -delete; X=-print; find . $X",
        "printf -- '-%s\\n' a b",
    ];
    assert_allowed(&judge, &allowed);
}
