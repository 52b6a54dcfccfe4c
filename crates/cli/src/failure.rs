//! Why a command could not do what was asked.

use std::io;
use std::path::Path;

use palisade::OpenError;
use palisade::policy::text::{Diagnostic, visible};
use serde_json::{Value as Json, json};

/// What went wrong, for a person and for a program. Nothing was run.
#[derive(Debug)]
pub(crate) struct Failure(Box<Parts>);

#[derive(Debug, Default)]
struct Parts {
    code: &'static str,
    message: String,
    causes: Vec<String>,
    file: Option<String>,
    line: Option<u64>,
    hint: Option<String>,
    diagnostics: Vec<Diagnostic>,
}

impl Failure {
    /// States a fact; `code` never changes.
    pub(crate) fn new(code: &'static str, message: impl Into<String>) -> Self {
        Self(Box::new(Parts { code, message: message.into(), ..Parts::default() }))
    }

    /// Reports what the system refused.
    pub(crate) fn io(code: &'static str, message: impl Into<String>, error: &io::Error) -> Self {
        let mut failure = Self::new(code, message);
        failure.0.causes.push(error.to_string());
        failure
    }

    /// Adds what caused it, down to the first cause.
    #[must_use]
    pub(crate) fn caused_by(mut self, error: &dyn std::error::Error) -> Self {
        let mut cause = error.source();
        while let Some(inner) = cause {
            let text = inner.to_string();
            // Some messages have their cause in them: it is said once.
            let said = std::iter::once(&self.0.message).chain(&self.0.causes);
            if !said.into_iter().any(|said| said.ends_with(&text)) {
                self.0.causes.push(text);
            }
            cause = inner.source();
        }
        self
    }

    /// Adds what to do about it.
    #[must_use]
    pub(crate) fn hint(mut self, hint: impl Into<String>) -> Self {
        self.0.hint = Some(hint.into());
        self
    }

    /// Adds the file it is about.
    #[must_use]
    pub(crate) fn file(mut self, file: &Path) -> Self {
        self.0.file = Some(file.to_string_lossy().into());
        self
    }

    /// Adds the line it is in, if one is known.
    #[must_use]
    pub(crate) fn line(mut self, line: Option<u64>) -> Self {
        self.0.line = line;
        self
    }

    /// Returns the screen for a person, without a line end.
    pub(crate) fn screen(&self) -> String {
        if !self.0.diagnostics.is_empty() {
            let screens: Vec<String> = self.0.diagnostics.iter().map(ToString::to_string).collect();
            return screens.join("\n\n");
        }
        let mut screen = format!("error[{}]: {}", self.0.code, visible_lines(&self.0.message));
        for cause in &self.0.causes {
            screen.push_str(&format!("\n  because: {}", visible_lines(cause)));
        }
        if let Some(hint) = &self.0.hint {
            screen.push_str(&format!("\n\nhint: {}", visible_lines(hint)));
        }
        screen
    }

    /// Returns the object for a program (Ruling 12).
    pub(crate) fn json(&self) -> Json {
        let first = self.0.diagnostics.first();
        json!({
            "error": {
                "code": self.0.code,
                "message": first.map_or(self.0.message.as_str(), Diagnostic::message),
                "file": self.0.file,
                "line": self.0.line,
                "hint": first.map_or(self.0.hint.as_deref(), Diagnostic::advice),
            },
            "executed": false,
        })
    }

    /// Lists what is wrong, one object for each problem, as `policy check --json` shows it.
    pub(crate) fn problems(&self) -> Vec<Json> {
        if self.0.diagnostics.is_empty() {
            return vec![json!({
                "severity": "error", "code": self.0.code, "message": self.0.message,
                "file": self.0.file, "line": self.0.line, "column": null, "expected": null,
                "hint": self.0.hint,
            })];
        }
        self.0.diagnostics.iter().map(problem).collect()
    }
}

impl From<OpenError> for Failure {
    fn from(error: OpenError) -> Self {
        Self::from(&error)
    }
}

impl From<&OpenError> for Failure {
    fn from(error: &OpenError) -> Self {
        let mut failure = Self::new(error.code(), error.to_string()).caused_by(error);
        let parts = &mut *failure.0;
        parts.hint = error.hint();
        parts.diagnostics = error.diagnostics().to_vec();
        if let Some((file, line)) = error.place() {
            (parts.file, parts.line) = (Some(file), line);
        }
        failure
    }
}

/// Returns one problem of a text as an object.
pub(crate) fn problem(problem: &Diagnostic) -> Json {
    use palisade::policy::text::Severity;
    let place = problem.place();
    json!({
        "severity": match problem.severity() {
            Severity::Error => "error",
            Severity::Warning => "warning",
        },
        "code": problem.code(),
        "message": problem.message(),
        "file": problem.file(),
        "line": place.map(|place| place.line),
        "column": place.map(|place| place.column),
        "expected": problem.expectation(),
        "hint": problem.advice(),
    })
}

/// Makes every line visible, and keeps the lines.
fn visible_lines(text: &str) -> String {
    text.split('\n').map(visible).collect::<Vec<_>>().join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_failure_says_the_fact_the_cause_and_the_way_out() {
        let refused = io::Error::from(io::ErrorKind::PermissionDenied);
        let failure = Failure::io("stdout", "cannot write", &refused)
            .hint("look")
            .file(Path::new("/a\u{1b}[2Kb"));
        insta::assert_snapshot!(failure.screen(), @r"
        error[stdout]: cannot write
          because: permission denied

        hint: look
        ");
        assert_eq!(
            failure.json(),
            json!({
                "error": {
                    "code": "stdout", "message": "cannot write", "file": "/a\u{1b}[2Kb",
                    "line": null, "hint": "look",
                },
                "executed": false,
            })
        );
    }

    #[test]
    fn a_cause_is_said_once() {
        #[derive(Debug)]
        struct Failed(&'static str, Option<Box<Self>>);
        impl std::fmt::Display for Failed {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                match (&self.1, self.0.strip_suffix(": ")) {
                    (Some(cause), Some(text)) => write!(f, "{text}: {cause}"),
                    _ => f.write_str(self.0),
                }
            }
        }
        impl std::error::Error for Failed {
            fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
                self.1.as_deref().map(|cause| cause as _)
            }
        }
        let of = |text, cause: Failed| Failed(text, Some(Box::new(cause)));
        let refused = || Failed("refused", None);
        for (error, screen) in [
            (of("cannot read: ", refused()), "error[x]: cannot read: refused"),
            (
                of("nobody knows: ", of("cannot read: ", refused())),
                "error[x]: nobody knows: cannot read: refused",
            ),
            (of("cannot write", refused()), "error[x]: cannot write\n  because: refused"),
            (
                of("nobody knows: ", of("cannot write", refused())),
                "error[x]: nobody knows: cannot write\n  because: refused",
            ),
        ] {
            assert_eq!(Failure::new("x", error.to_string()).caused_by(&error).screen(), screen);
        }
    }

    #[test]
    fn text_of_others_cannot_repaint_the_terminal() {
        let failure = Failure::new("x", "a\u{1b}]0;title\u{7}b").hint("c\u{202e}d");
        let screen = failure.screen();
        assert!(!screen.contains(['\u{1b}', '\u{7}', '\u{202e}']), "{screen:?}");
    }
}
