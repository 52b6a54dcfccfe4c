//! Strings of profiles, and the parameters in them.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use super::sexp::Expr;
use crate::dialect::Surroundings;
use crate::key::Reader;
use crate::name::Invalid;
use crate::text::{Span, visible};

/// The values of a profile's parameters: `_RW1` is where the project lies.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct Params {
    values: BTreeMap<String, PathBuf>,
}

impl Params {
    /// Gives `_RW1` its value, the project's root.
    pub fn of_root(root: &Path) -> Self {
        Self::default().with("_RW1", root)
    }

    /// Gives a parameter its value, an absolute path.
    #[must_use]
    pub fn with(mut self, name: &str, path: &Path) -> Self {
        self.values.insert(name.into(), path.into());
        self
    }
}

/// What reading a filter needs to know.
#[derive(Clone, Copy)]
pub(super) struct Known<'a> {
    pub(super) params: &'a Params,
    pub(super) around: &'a Surroundings<'a>,
}

/// Longest string that is read; no longer path can be opened.
const LONGEST: usize = 4096;

const SHORTER: &str = "no path is longer than 4096 bytes; name a folder further up";

/// Works out a string: one that is written, a parameter, or several put together.
pub(super) fn string(expr: &Expr, known: Known<'_>, cx: &mut Reader<'_>) -> Option<String> {
    if let Some(text) = expr.text() {
        if text.len() > LONGEST {
            return complain(
                cx,
                "path-length",
                "the string is too long".into(),
                SHORTER,
                expr.span,
            );
        }
        return Some(text.into());
    }
    match expr.call() {
        Some(("param", [name])) if name.text().is_some() => {
            let name = name.text().unwrap_or_default();
            let value = known.params.values.get(name).and_then(|path| path.to_str());
            if let Some(value) = value.filter(|value| value.starts_with('/')) {
                return Some(value.into());
            }
            let names: Vec<&str> = known.params.values.keys().map(String::as_str).collect();
            let message = format!("the parameter `{}` has no value", visible(name));
            let problem = cx.complaint("parameter", message, expr.span);
            cx.report(problem.hint(format!("known: {}", names.join(", "))));
            None
        }
        Some(("string-append", parts)) => {
            let mut text = String::new();
            for part in parts {
                text.push_str(&string(part, known, cx)?);
                if text.len() > LONGEST {
                    return complain(
                        cx,
                        "path-length",
                        "the string is too long".into(),
                        SHORTER,
                        expr.span,
                    );
                }
            }
            Some(text)
        }
        _ => {
            let message = format!("expected a string, found {}", expr.kind());
            let problem = cx.complaint("wrong-type", message, expr.span);
            cx.report(problem.expected("a string, (param \"NAME\") or (string-append …)"));
            None
        }
    }
}

/// Files a complaint if a path cannot be used.
pub(super) fn accept<T>(result: Result<T, Invalid>, span: Span, cx: &mut Reader<'_>) -> Option<T> {
    result
        .map_err(|invalid| {
            let problem = cx.complaint(invalid.code(), invalid.problem().to_owned(), span);
            cx.report(match invalid.hint() {
                Some(hint) => problem.hint(hint),
                None => problem,
            });
        })
        .ok()
}

/// Files a complaint, and what to do about it.
pub(super) fn complain<T>(
    cx: &mut Reader<'_>,
    code: &'static str,
    message: String,
    hint: &'static str,
    span: Span,
) -> Option<T> {
    cx.report(cx.complaint(code, message, span).hint(hint));
    None
}
