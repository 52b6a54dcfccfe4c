//! What a check found: a place, the rule that was broken, and how to mend it.

use std::fmt;

use serde_json::{Value, json};

/// How a task that gave an answer ended.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Ending {
    Clean,
    Findings,
}

impl Ending {
    pub(crate) fn of(findings: &[Finding]) -> Self {
        if findings.is_empty() { Self::Clean } else { Self::Findings }
    }
}

/// One broken rule. Printed as `file:line: rule: what`, with the fix below.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(crate) struct Finding {
    pub(crate) file: String,
    pub(crate) line: usize,
    pub(crate) rule: &'static str,
    pub(crate) what: String,
    pub(crate) fix: &'static str,
}

impl Finding {
    pub(crate) fn json(&self) -> Value {
        let Self { file, line, rule, what, fix } = self;
        json!({ "file": file, "line": line, "rule": rule, "what": what, "fix": fix })
    }
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { file, line, rule, what, fix } = self;
        write!(f, "{file}:{line}: {rule}: {what}\n    fix: {fix}")
    }
}
