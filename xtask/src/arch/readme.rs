//! The command that the README promises is the command that CI runs.

use crate::finding::Finding;

const COMMAND: &str = "cargo test";

pub(super) fn check(readme: &str, ci: &str) -> Vec<Finding> {
    let promised: Vec<_> = commands(readme).collect();
    let report = |line, what| {
        vec![Finding {
            file: "README.md".to_owned(),
            line,
            rule: "readme",
            what,
            fix: "give the README one line `cargo test ...` in a code block, and .ci/run the same",
        }]
    };
    match promised.as_slice() {
        [(line, command)] if !ci.lines().any(|run| runs(run, command)) => {
            report(*line, format!("CI does not run the test command `{command}`"))
        }
        [_] => Vec::new(),
        [] => report(1, format!("no code block holds a line `{COMMAND} ...`")),
        [_, (line, _), ..] => report(*line, "two test commands are promised".to_owned()),
    }
}

/// Returns the test commands inside fenced blocks, with their lines.
fn commands(readme: &str) -> impl Iterator<Item = (usize, &str)> {
    let mut fenced = false;
    readme.lines().enumerate().filter_map(move |(at, line)| {
        let line = line.trim();
        if line.starts_with("```") {
            fenced = !fenced;
        }
        let command = line.trim_start_matches("$ ").split(" #").next().unwrap_or(line).trim();
        (fenced && command.starts_with(COMMAND)).then_some((at + 1, command))
    })
}

/// A line of the script runs the command when the command is all that follows the step's name.
fn runs(line: &str, command: &str) -> bool {
    line.trim()
        .strip_suffix(command)
        .is_some_and(|before| before.is_empty() || before.ends_with(' '))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ci_must_run_the_very_command_of_the_readme() {
        let readme = "# P\n\n```sh\ncargo test --workspace   # all tests\n```\n";
        #[rustfmt::skip]
        let cases = [
            (readme,                              "step test cargo test --workspace",        true),
            (readme,                              "cargo test --workspace",                  true),
            (readme,                              "step test cargo test --workspace --lib",  false),
            (readme,                              "step test cargo test -p palisade",        false),
            (readme,                              "",                                        false),
            ("no block: cargo test --workspace",  "cargo test --workspace",                  false),
            ("```\ncargo test\ncargo test x\n```", "cargo test",                             false),
        ];
        for (readme, ci, fine) in cases {
            let found = check(readme, ci);
            assert_eq!(found.is_empty(), fine, "{ci}: {found:?}");
        }
    }
}
