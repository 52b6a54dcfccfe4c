//! From expressions to rules.

use super::filter::{Filter, Test};
use super::operation::{COMMON, Operation, Part, operation};
use super::sexp::{Expr, Form};
use super::string::Known;
use crate::key::{Reader, nearest};
use crate::text::{Span, visible};

/// What a rule says.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Verdict {
    Allow,
    Deny,
}

/// A profile: what holds by default, and its rules in the order of the text.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Rules {
    pub(super) default: Verdict,
    pub(super) default_span: Span,
    pub(super) rules: Vec<Rule>,
}

/// One operation of a rule, with the rule's filter.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Rule {
    pub(super) verdict: Verdict,
    pub(super) operation: Operation,
    /// None means: whatever it is about.
    pub(super) filter: Option<Filter>,
    pub(super) span: Span,
}

/// Profiles that macOS brings. What they open there (its own services, caches and libraries) is
/// either absent here or always readable.
const APPLE: &[&str] = &[
    "application.sb",
    "appsandbox-common.sb",
    "bsd.sb",
    "com.apple.corefoundation.sb",
    "dyld-support.sb",
    "opendirectory.sb",
    "system-graphics.sb",
    "system.sb",
];

impl Rules {
    /// Reads a profile's expressions; problems and notes go to the reader.
    pub(super) fn read(exprs: &[Expr], known: Known<'_>, cx: &mut Reader<'_>) -> Self {
        let mut rules =
            Self { default: Verdict::Deny, default_span: Span::default(), rules: Vec::new() };
        if exprs.first().and_then(Expr::call).is_none_or(|(head, _)| head != "version") {
            let span = exprs.first().map_or_else(Span::default, |expr| expr.span);
            let problem = cx.complaint("version", "the profile names no version".into(), span);
            cx.report(problem.expected("expected (version 1)"));
        }
        for expr in exprs {
            match expr.call() {
                Some(("allow", rest)) => rules.take(Verdict::Allow, expr, rest, known, cx),
                Some(("deny", rest)) => rules.take(Verdict::Deny, expr, rest, known, cx),
                Some(("version", [Expr { form: Form::Number(number), .. }]))
                    if &**number == "1" => {}
                Some(("version", _)) => {
                    let message = "this version is not known".into();
                    let problem = cx.complaint("version", message, expr.span);
                    cx.report(problem.expected("expected (version 1)"));
                }
                Some(("debug", [what])) if what.symbol().is_some() => {
                    note(
                        cx,
                        "no-linux-meaning",
                        "`debug` has no meaning on Linux".into(),
                        expr.span,
                    );
                }
                Some(("import", [name])) if name.text().is_some() => {
                    import(name.text().unwrap_or_default(), expr, cx);
                }
                Some((head, _)) => {
                    let message =
                        format!("`{}` is not a statement that is read here", visible(head));
                    let problem = cx.complaint("unknown-statement", message, expr.span);
                    cx.report(problem.hint("known: version, allow, deny, debug, import"));
                }
                None => {
                    let message = format!("expected a statement, found {}", expr.kind());
                    let problem = cx.complaint("statement", message, expr.span);
                    cx.report(problem.expected("expected a list such as (deny default)"));
                }
            }
        }
        rules
    }

    fn take(
        &mut self,
        verdict: Verdict,
        whole: &Expr,
        rest: &[Expr],
        known: Known<'_>,
        cx: &mut Reader<'_>,
    ) {
        let mut operations = Vec::new();
        let mut filters = Vec::new();
        for part in rest {
            match (part.symbol(), part.call()) {
                (Some(name), _) if filters.is_empty() => match operation(name) {
                    Some(operation) => operations.push((operation, name, part.span)),
                    None => unknown_operation(name, part.span, cx),
                },
                (_, Some(("with", modifiers))) => check_modifiers(modifiers, part.span, cx),
                _ => filters.push(part),
            }
        }
        if operations.is_empty() {
            // An unknown operation has been complained about already.
            if !rest.iter().any(|part| part.symbol().is_some()) {
                let problem =
                    cx.complaint("rule", "the rule names no operation".into(), whole.span);
                cx.report(problem.expected("such as (allow file-read*)"));
            }
            return;
        }
        // Said twice is said once; a long list must not multiply with a long filter.
        operations.sort_by_key(|(_, name, _)| *name);
        operations.dedup_by_key(|(_, name, _)| *name);
        operations.sort_by_key(|(_, _, span)| span.start());
        let (ours, others): (Vec<_>, Vec<_>) =
            operations.into_iter().partition(|(operation, ..)| counts(verdict, *operation));
        for (operation, name, span) in others {
            let name = visible(name);
            if operation == Operation::Always && verdict == Verdict::Deny {
                let message = format!("`{name}` cannot be denied here");
                let problem = cx.complaint("not-expressible", message, span);
                cx.report(problem.hint("leave it out: no wall here can deny it"));
                continue;
            }
            let (code, message) = match (operation, verdict) {
                (Operation::Foreign, _) => {
                    ("no-linux-meaning", format!("`{name}` has no meaning on Linux"))
                }
                // Said in full: a rule that denies must not seem to deny more than the wall does.
                (Operation::Walled(wall), Verdict::Deny) => (
                    "walled",
                    format!("`{name}` is not a rule here: at level `full` {}", wall.holds()),
                ),
                (Operation::Walled(wall), Verdict::Allow) => {
                    ("opens-nothing", format!("`{name}` opens nothing here: {}", wall.holds()))
                }
                _ => ("opens-nothing", format!("`{name}` alone opens nothing here")),
            };
            note(cx, code, message, span);
        }
        if ours.is_empty() {
            filters.iter().for_each(|filter| Filter::skim(filter, cx));
            return;
        }
        let count = filters.len();
        let read: Vec<Filter> =
            filters.into_iter().filter_map(|filter| Filter::read(filter, known, cx)).collect();
        if read.len() < count {
            return; // complained about; the rule must not count without its filter
        }
        let filter = (count > 0).then_some(Filter { test: Test::Any(read), span: whole.span });
        for (operation, _, span) in ours {
            if operation == Operation::Default {
                (self.default, self.default_span) = (verdict, span);
                if filter.is_some() {
                    let message = "`default` takes no filter".into();
                    let problem = cx.complaint("rule", message, whole.span);
                    cx.report(problem.hint("name operations, such as file-read*, to use filters"));
                }
            } else {
                self.rules.push(Rule {
                    verdict,
                    operation,
                    filter: filter.clone(),
                    span: whole.span,
                });
            }
        }
    }
}

/// Files a note: the profile remains usable.
pub(super) fn note(cx: &mut Reader<'_>, code: &'static str, message: String, span: Span) {
    cx.report(cx.complaint(code, message, span).warning());
}

/// Returns whether a rule about an operation changes what is enforced.
fn counts(verdict: Verdict, operation: Operation) -> bool {
    match operation {
        Operation::Always | Operation::Foreign | Operation::Walled(_) => false,
        Operation::Read(Part::Detail) | Operation::Write(Part::Detail) => verdict == Verdict::Deny,
        Operation::Default
        | Operation::Exec
        | Operation::Files
        | Operation::Fork
        | Operation::Network(_)
        | Operation::Process
        | Operation::Read(_)
        | Operation::Write(_) => true,
    }
}

fn import(name: &str, expr: &Expr, cx: &mut Reader<'_>) {
    let file = ["/System/Library/Sandbox/Profiles/", "/usr/share/sandbox/"]
        .iter()
        .find_map(|folder| name.strip_prefix(folder))
        .unwrap_or(name);
    if APPLE.contains(&file) {
        let message = format!("`{file}` is a part of macOS; here it opens nothing");
        note(cx, "no-linux-meaning", message, expr.span);
    } else {
        let message = format!("there is no profile `{}` to import", visible(name));
        let problem = cx.complaint("import", message, expr.span);
        cx.report(problem.hint(format!("known: {}", APPLE.join(", "))));
    }
}

fn unknown_operation(name: &str, span: Span, cx: &mut Reader<'_>) {
    let message = format!("there is no operation `{}`", visible(name));
    let problem = cx.complaint("unknown-operation", message, span);
    cx.report(match nearest(name, COMMON) {
        Some(near) => problem.hint(format!("did you mean `{near}`?")),
        None => problem,
    });
}

/// Accepts modifiers that change what is logged, and refuses the others: `no-sandbox` would start
/// programs outside.
fn check_modifiers(modifiers: &[Expr], span: Span, cx: &mut Reader<'_>) {
    const KNOWN: [&str; 6] =
        ["no-log", "no-report", "report", "telemetry", "message", "send-signal"];
    let known = modifiers.first().and_then(Expr::symbol).is_some_and(|word| KNOWN.contains(&word));
    if !known {
        let message = "this modifier cannot be kept here".into();
        let problem = cx.complaint("modifier", message, span);
        cx.report(problem.hint(format!("known: {}", KNOWN.join(", "))));
    }
}
