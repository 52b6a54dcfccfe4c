use super::{check, harmless};
use crate::command::Language::Sed;

#[test]
fn harmless_sed_passes() {
    harmless(
        Sed,
        &[
            "",
            "1,20p",
            "s/a/b/g;s|/x|/y|2",
            "s/[/]/_/g; s/[[:space:]/]*$//",
            "/^#/d;/^$/d",
            "$!N;P;D",
            ":a;N;$!ba;s/\\n/ /g",
            "/a/,/b/{s/x/y/;p}",
            "1i\\\nsystem e w /etc/x",
            "$a last line ; e id",
            "s/\\(a\\)\\/b/\\1/p",
            "\\,/a,d",
            "y/abc/xyz/;s,x,y,w /dev/stdout",
            "2q;5!s/e/w/;0~3d;/x/I,+2d",
            "# e id\np",
            "s/[^\\]]*\\]/x/",
        ],
    );
}

#[test]
fn sed_that_does_more_says_what() {
    check(
        Sed,
        &[
            ("1e id", "shell id"),
            ("e", "!Spawns"),
            ("s/x/y/e", "!Spawns"),
            ("s,x,y,ge", "!Spawns"),
            ("sxaxbxe", "!Spawns"),
            ("s/x/y/;1e rm -rf /x", "shell rm -rf /x"),
            ("s/a\\/b/c/\n1e id", "shell id"),
            ("/[/]/e id", "shell id"),
            ("s/[[:alpha:]/]/x/e", "!Spawns"),
            ("/x/{e id\n}", "shell id"),
            ("w/etc/x", "write /etc/x"),
            ("s/a/b/w /etc/x", "write /etc/x"),
            ("s/a/b/gpw out", "write out"),
            ("W /etc/x", "write /etc/x"),
            ("r /etc/x", "read /etc/x"),
            ("$R a", "read a"),
            ("s/[\\]/x/;1e id;s/]/y/", "!Unclear"),
            ("s/a/b", "!Unclear"),
            ("k", "!Unclear"),
            ("p p", "!Unclear"),
        ],
    );
}
