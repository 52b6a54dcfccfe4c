//! What rules restrict themselves to.

use std::path::Path;

use super::endpoint::{self, Endpoint};
use super::place::{Place, Reach};
use super::regex;
use super::sexp::Expr;
use super::string::{Known, accept, complain, string};
use crate::key::{Reader, nearest};
use crate::text::{Span, visible};

/// A condition on what a rule is about.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Filter {
    pub(super) test: Test,
    pub(super) span: Span,
}

/// The kinds of conditions.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Test {
    /// Every one of these.
    All(Vec<Filter>),
    /// One of these.
    Any(Vec<Filter>),
    /// Something that only macOS has.
    Foreign,
    /// The other or the own end of a connection.
    Network(Endpoint),
    /// Not this.
    Not(Box<Filter>),
    /// One of these paths.
    Path(Vec<Place>),
    /// The kind of a file.
    Vnode,
}

/// Filters of operations that have no meaning here; what they say is not looked at.
const FOREIGN: &[&str] = &[
    "appleevent-destination",
    "control-name",
    "device-conforms-to",
    "device-major",
    "device-minor",
    "fsctl-command",
    "global-name",
    "global-name-prefix",
    "global-name-regex",
    "info-type",
    "ioctl-command",
    "iokit-connection",
    "iokit-property",
    "iokit-property-regex",
    "iokit-registry-entry-class",
    "iokit-registry-entry-class-prefix",
    "iokit-usb-interface-class",
    "iokit-user-client-class",
    "iokit-user-client-class-regex",
    "ipc-posix-name",
    "ipc-posix-name-prefix",
    "ipc-posix-name-regex",
    "local-name",
    "local-name-prefix",
    "local-name-regex",
    "mac-policy-name",
    "mach-message-number",
    "notification-name",
    "nvram-variable",
    "nvram-variable-regex",
    "preference-domain",
    "preference-domain-prefix",
    "preference-domain-regex",
    "right-name",
    "socket-domain",
    "socket-protocol",
    "socket-type",
    "syscall-number",
    "sysctl-name",
    "sysctl-name-prefix",
    "sysctl-name-regex",
    "target",
    "xpc-service-name",
    "xpc-service-name-prefix",
    "xpc-service-name-regex",
];

const OURS: &[&str] = &[
    "home-literal",
    "home-prefix",
    "home-subpath",
    "literal",
    "local",
    "path",
    "path-literal",
    "prefix",
    "regex",
    "remote",
    "require-all",
    "require-any",
    "require-not",
    "subpath",
    "target",
    "vnode-type",
];

const A_FILTER: &str = "a filter is a list such as (subpath \"/usr\")";

impl Filter {
    /// Reads a filter; problems go to the reader.
    pub(super) fn read(expr: &Expr, known: Known<'_>, cx: &mut Reader<'_>) -> Option<Self> {
        let Some((head, rest)) = expr.call() else {
            return complain(
                cx,
                "filter",
                format!("expected a filter, found {}", expr.kind()),
                A_FILTER,
                expr.span,
            );
        };
        let several = |cx: &mut Reader<'_>| -> Option<Vec<Self>> {
            let read: Vec<Option<Self>> =
                rest.iter().map(|part| Self::read(part, known, cx)).collect();
            read.into_iter().collect()
        };
        if rest.is_empty() && !matches!(head, "local" | "remote") {
            let message = format!("`{}` says nothing", visible(head));
            return complain(cx, "filter", message, A_FILTER, expr.span);
        }
        let test = match head {
            "require-all" => Test::All(several(cx)?),
            "require-any" => Test::Any(several(cx)?),
            "require-not" => match rest {
                [only] => Test::Not(Box::new(Self::read(only, known, cx)?)),
                _ => {
                    return complain(
                        cx,
                        "filter",
                        "`require-not` takes one filter".into(),
                        "put several into one (require-any …)",
                        expr.span,
                    );
                }
            },
            "literal" | "path" | "path-literal" => {
                Test::Path(paths(rest, Reach::Exact, known, cx)?)
            }
            "subpath" => Test::Path(paths(rest, Reach::Tree, known, cx)?),
            "prefix" => Test::Path(prefixes(rest, known, cx)?),
            "home-literal" | "home-prefix" | "home-subpath" => {
                Test::Path(at_home(head, expr, rest, known, cx)?)
            }
            "regex" => Test::Path(regexes(rest, known, cx)?),
            "local" | "remote" => Test::Network(endpoint::read(head, expr, rest, known, cx)?),
            "vnode-type" => Test::Vnode,
            _ if FOREIGN.contains(&head) => Test::Foreign,
            _ => return unknown(head, expr, cx),
        };
        Some(Self { test, span: expr.span })
    }

    /// Checks only that the language has such filters: what they say does not matter where the
    /// operation means nothing here.
    pub(super) fn skim(expr: &Expr, cx: &mut Reader<'_>) {
        match expr.call() {
            Some(("require-all" | "require-any" | "require-not", rest)) => {
                rest.iter().for_each(|part| Self::skim(part, cx));
            }
            Some((head, _)) if OURS.contains(&head) || FOREIGN.contains(&head) => {}
            Some((head, _)) => {
                unknown::<()>(head, expr, cx);
            }
            None => {
                let message = format!("expected a filter, found {}", expr.kind());
                complain::<()>(cx, "filter", message, A_FILTER, expr.span);
            }
        }
    }
}

fn unknown<T>(head: &str, expr: &Expr, cx: &mut Reader<'_>) -> Option<T> {
    let message = format!("there is no filter `{}`", visible(head));
    let problem = cx.complaint("unknown-filter", message, expr.span);
    cx.report(match nearest(head, OURS) {
        Some(near) => problem.hint(format!("did you mean `{near}`?")),
        None => problem.hint(format!("known: {}", OURS.join(", "))),
    });
    None
}

/// Reads the paths of `literal` or `subpath`.
pub(super) fn paths(
    exprs: &[Expr],
    reach: Reach,
    known: Known<'_>,
    cx: &mut Reader<'_>,
) -> Option<Vec<Place>> {
    let mut found = Vec::new();
    for expr in exprs {
        let text = string(expr, known, cx)?;
        found.extend(accept(Place::written(&text, reach), expr.span, cx)?);
    }
    Some(found)
}

/// Reads the beginnings of paths; one that ends within a name is a wildcard.
fn prefixes(exprs: &[Expr], known: Known<'_>, cx: &mut Reader<'_>) -> Option<Vec<Place>> {
    let mut found = Vec::new();
    for expr in exprs {
        let text = string(expr, known, cx)?;
        found.extend(prefix(&text, expr.span, cx)?);
    }
    Some(found)
}

fn prefix(text: &str, span: Span, cx: &mut Reader<'_>) -> Option<Vec<Place>> {
    if text.chars().all(|c| c == '/') || text.ends_with('/') {
        let reach = if text == "/" { Reach::Tree } else { Reach::Below };
        return accept(Place::written(text, reach), span, cx);
    }
    // Read as a path first, for its errors; then with the wildcard.
    let exact = accept(Place::written(text, Reach::Tree), span, cx)?;
    let mut found = Vec::new();
    for place in exact {
        let glob = format!("{}*", place.pattern);
        let pattern = accept(glob.parse(), span, cx)?;
        found.push(Place { pattern, reach: Reach::Tree });
    }
    Some(found)
}

fn at_home(
    head: &str,
    expr: &Expr,
    rest: &[Expr],
    known: Known<'_>,
    cx: &mut Reader<'_>,
) -> Option<Vec<Place>> {
    let home = known.around.anchors.home.as_deref().and_then(Path::to_str);
    let Some(home) = home else {
        let message = format!("`{head}` needs a home folder, and there is none");
        let hint = "write the whole path with (subpath \"…\") or (literal \"…\")";
        return complain(cx, "path-home", message, hint, expr.span);
    };
    let mut found = Vec::new();
    for part in rest {
        let text = format!("{home}{}", string(part, known, cx)?);
        found.extend(match head {
            "home-prefix" => prefix(&text, part.span, cx)?,
            "home-literal" => accept(Place::written(&text, Reach::Exact), part.span, cx)?,
            _ => accept(Place::written(&text, Reach::Tree), part.span, cx)?,
        });
    }
    Some(found)
}

fn regexes(exprs: &[Expr], known: Known<'_>, cx: &mut Reader<'_>) -> Option<Vec<Place>> {
    let mut found = Vec::new();
    for expr in exprs {
        let text = string(expr, known, cx)?;
        match regex::places(&text) {
            Ok(places) => found.extend(places),
            Err(why) => {
                let message = format!(
                    "the regular expression `{}` cannot be enforced: {why}",
                    visible(&text)
                );
                let problem = cx.complaint("regex", message, expr.span);
                cx.report(
                    problem.hint(
                        "name the folder with (subpath \"…\") or the file with (literal \"…\")",
                    ),
                );
                return None;
            }
        }
    }
    Some(found)
}
