//! The proxy's environment variables.

use std::sync::Arc;

use super::{Interception, SWITCH_WORDS, switch_word};
use crate::dialect::{Reading, Surroundings};
use crate::key::{Guard, Levels, Setting, Sourced};
use crate::layer::{Layer, Origin};
use crate::policy::Document;
use crate::text::{Diagnostic, Source, Span, visible};

/// One of the three variables, as it is set.
#[derive(Debug)]
pub(super) struct Variable {
    name: Name,
    on: bool,
    source: Source,
}

#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum Name {
    AllowParent,
    Enabled,
    Strict,
}

impl Name {
    const ALL: [Self; 3] = [Self::Enabled, Self::Strict, Self::AllowParent];

    fn text(self) -> &'static str {
        match self {
            Self::AllowParent => "SANDBOXING_ALLOW_PARENT_ACCESS",
            Self::Enabled => "ENABLE_SANDBOXING",
            Self::Strict => "SANDBOXING_STRICT_MODE",
        }
    }
}

/// Reads the variables that are set; one that is no switch is a problem.
pub(super) fn read(around: &Surroundings<'_>) -> (Vec<Variable>, Vec<Diagnostic>) {
    let (mut found, mut problems) = (Vec::new(), Vec::new());
    for name in Name::ALL {
        let Some(value) = (around.var)(name.text()) else { continue };
        let source = Source::new("environment", &format!("{}={value}", name.text()));
        match switch_word(&value) {
            Some(on) => found.push(Variable { name, on, source }),
            None => {
                let message =
                    format!("`{}` is `{}`, which is no switch", name.text(), visible(&value));
                let problem = Diagnostic::new(&source, "switch", message).at(span(&source, name));
                problems.push(problem.expected(format!("expected one of {SWITCH_WORDS}")));
            }
        }
    }
    (found, problems)
}

/// Returns whether the variables switch interception on or off.
pub(super) fn switch(variables: &[Variable]) -> Option<bool> {
    variables.iter().find(|variable| variable.name == Name::Enabled).map(|variable| variable.on)
}

/// Says what the variables say, in the voice of `layer`; nothing if none is set.
pub(super) fn reading(
    variables: &[Variable],
    layer: Layer,
    interception: Interception,
) -> Option<Reading> {
    let mut document = Document::default();
    let mut notes = Vec::new();
    for Variable { name, on, source } in variables {
        let file = Some(Arc::from(name.text()));
        let origin = Origin { file, ..Origin::of(Layer::Environment) };
        let tools = &mut document.policy.tools;
        match name {
            Name::AllowParent => {
                let value = Levels(u8::from(*on));
                tools.allow_parent = Setting::new(Sourced { value, origin });
            }
            Name::Enabled => {
                tools.enabled = Setting::new(Sourced { value: Guard(*on), origin });
                continue;
            }
            Name::Strict => {
                tools.strict = Setting::new(Sourced { value: Guard(*on), origin });
            }
        }
        if *on && interception == Interception::Off {
            let message = format!("`{}` does nothing while sandboxing is off", name.text());
            let note = Diagnostic::new(source, "idle-switch", message).at(span(source, *name));
            notes.push(note.warning().hint("set ENABLE_SANDBOXING=true as well"));
        }
    }
    (!variables.is_empty()).then_some(Reading { layer, document, notes })
}

/// Returns where the value stands.
fn span(source: &Source, name: Name) -> Span {
    Span::new(name.text().len() + 1, source.text().len())
}
