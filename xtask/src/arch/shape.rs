//! How large a file may be and what a module may not be called.

use crate::finding::Finding;

/// Lines of one Rust file, tests included; data belongs in data files.
const CEILING: usize = 500;

/// Names for things that have no name yet.
const HOMELESS: [&str; 7] = ["common", "core", "helper", "helpers", "types", "util", "utils"];

pub(super) fn check(file: &str, text: &str) -> Vec<Finding> {
    let mut findings = Vec::new();
    let lines = text.lines().count();
    if lines > CEILING {
        findings.push(Finding {
            file: file.to_owned(),
            line: CEILING + 1,
            rule: "size",
            what: format!("{lines} lines, the ceiling is {CEILING}"),
            fix: "split the file by what its parts do; move test tables to a `tests` module file",
        });
    }
    let parts = file.strip_suffix(".rs").unwrap_or(file).split('/');
    if let Some(name) = parts.into_iter().find(|part| HOMELESS.contains(part)) {
        findings.push(Finding {
            file: file.to_owned(),
            line: 1,
            rule: "name",
            what: format!("a module called `{name}` says nothing about what is in it"),
            fix: "name it after the thing it holds, or move each item to the room that uses it",
        });
    }
    findings
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn five_hundred_lines_pass_and_one_more_fails() {
        assert_eq!(check("a/src/b.rs", &"x\n".repeat(CEILING)), []);
        let found = check("a/src/b.rs", &"x\n".repeat(CEILING + 1));
        assert_eq!(found.first().map(|finding| finding.rule), Some("size"));
    }

    #[test]
    fn names_that_say_nothing_fail() {
        let cases = [
            ("crates/policy/src/host.rs", true),
            ("crates/policy/src/commons.rs", true),
            ("crates/policy/src/utils.rs", false),
            ("crates/policy/src/core/mod.rs", false),
            ("crates/cli/tests/common/mod.rs", false),
            ("crates/plan/src/types.rs", false),
        ];
        for (file, allowed) in cases {
            assert_eq!(check(file, "").is_empty(), allowed, "{file}");
        }
    }
}
