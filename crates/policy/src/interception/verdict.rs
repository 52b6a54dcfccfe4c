//! What was decided about a tool call, and how it is told.

use std::fmt;

use serde_json::{Value as Json, json};

use super::walk::reason;
use crate::decide::{Answer, Axis, Reason};
use crate::text::visible;

/// What was decided about a tool call.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct ToolVerdict {
    /// Whether it may happen.
    pub answer: Answer,
    /// How it came to that.
    pub outcome: Outcome,
    /// Why it is not allowed, the first reason first.
    pub findings: Vec<Finding>,
    /// What passed only because the policy is not strict, to be logged.
    pub passed: Vec<Finding>,
    pub(super) tool: String,
    pub(super) root: String,
}

/// How a tool call was dealt with.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Outcome {
    /// Interception is off.
    Disabled,
    /// The policy leaves this tool alone.
    Excluded,
    /// The tool is none of those whose arguments are judged.
    NotIntercepted,
    /// The arguments were judged, and there was nothing in them to judge.
    NothingFound,
    /// The arguments were judged.
    Judged,
}

/// One thing that was found in the arguments of a call.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Finding {
    /// What was found. Its place is one in `text`.
    pub reason: Reason,
    /// The JSON pointer of the parameter; empty for the arguments as a whole.
    pub pointer: String,
    /// The value of the parameter, as far as it was judged.
    pub text: String,
    /// The path, where the finding is about one that is outside.
    pub path: Option<String>,
}

/// What is told to a model and a client about a call that was refused: the documented fields, and
/// ours besides.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Violation {
    /// Whether the call is kept from the client.
    pub should_swallow: bool,
    /// What the model is told.
    pub error_to_model: String,
    /// The rest.
    pub metadata: Json,
}

impl ToolVerdict {
    /// The verdict about a call whose judging failed: an error of ours never lets a call pass.
    pub fn failed(tool: &str, root: &str) -> Self {
        let message = "judging the call failed, so it is refused".to_owned();
        let reason = reason("internal-error", Axis::Structure, message);
        let (pointer, text, path) = (String::new(), String::new(), None);
        Self {
            answer: Answer::Deny,
            outcome: Outcome::Judged,
            findings: vec![Finding { reason, pointer, text, path }],
            passed: Vec::new(),
            tool: tool.to_owned(),
            root: root.to_owned(),
        }
    }

    /// Returns what a model and a client are told; none if the call is not refused.
    pub fn violation(&self) -> Option<Violation> {
        if self.answer != Answer::Deny {
            return None;
        }
        let first = self.findings.first()?;
        let mut paths: Vec<&str> = Vec::new();
        for path in self.findings.iter().filter_map(|finding| finding.path.as_deref()) {
            if !paths.contains(&path) {
                paths.push(path);
            }
        }
        let findings: Vec<Json> = self.findings.iter().map(Finding::to_json).collect();
        Some(Violation {
            should_swallow: true,
            error_to_model: self.error(first, &paths),
            metadata: json!({
                "decision": "blocked",
                "path": paths.first(),
                "project_root": self.root,
                "paths": paths,
                "tool_name": self.tool,
                "code": first.reason.code,
                "pointer": first.pointer,
                "origin": first.reason.origin.as_ref().map(ToString::to_string),
                "findings": findings,
            }),
        })
    }

    /// Returns the line that is logged about a refused call; none if it is not refused.
    pub fn log_line(&self) -> Option<String> {
        let refused = self.answer == Answer::Deny;
        let tool = visible(&self.tool);
        refused.then(|| format!("File sandboxing violation detected for tool '{tool}'"))
    }

    fn error(&self, first: &Finding, paths: &[&str]) -> String {
        let root = visible(&self.root);
        let Some((path, more)) = paths.split_first().filter(|_| first.path.is_some()) else {
            let message = visible(&first.reason.message);
            return format!("Tool call blocked: {message}. Operation blocked for security.");
        };
        let mut text = format!(
            "File sandboxing violation: Path '{}' is outside project directory '{root}'. \
             Operation blocked for security.",
            visible(path)
        );
        if !more.is_empty() {
            let more: Vec<String> =
                more.iter().map(|path| format!("'{}'", visible(path))).collect();
            text.push_str(&format!(" Also outside: {}.", more.join(", ")));
        }
        text
    }
}

impl Finding {
    /// Returns what programs read.
    pub fn to_json(&self) -> Json {
        let Reason { answer, code, axis, message, span, origin, hint } = &self.reason;
        json!({
            "answer": answer.word(),
            "code": code,
            "axis": axis.word(),
            "message": message,
            "pointer": self.pointer,
            "span": { "start": span.start(), "end": span.end() },
            "excerpt": self.text.get(span.start()..span.end()),
            "path": self.path,
            "origin": origin.as_ref().map(ToString::to_string),
            "hint": hint,
        })
    }
}

impl Violation {
    /// Returns the documented object.
    pub fn to_json(&self) -> Json {
        json!({
            "should_swallow": self.should_swallow,
            "error_to_model": self.error_to_model,
            "metadata": self.metadata,
        })
    }
}

impl Outcome {
    /// Returns the word that programs read.
    pub fn word(self) -> &'static str {
        match self {
            Self::Disabled => "disabled",
            Self::Excluded => "excluded",
            Self::NotIntercepted => "not_intercepted",
            Self::NothingFound => "no_paths_found",
            Self::Judged => "judged",
        }
    }
}

impl fmt::Display for Outcome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.word())
    }
}
