//! The mode `dontAsk`: what no rule of any file allows is refused, and nobody is asked.
//!
//! Between lists of rules the strictest wins, so a list that ends by refusing everything must also
//! know what the other files allow.

use super::super::Reading;
use crate::key::{RuleLists, Sourced};
use crate::layer::Layer;
use crate::policy::{Action, Rule};

/// Whether a person is asked.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Asks {
    /// What would be asked about is refused.
    Never,
    Sometimes,
}

impl Asks {
    /// Settles what holds for a file, if files of some layers say that nobody is asked.
    pub(super) fn settle(unasking: &[Layer], listener: Layer) -> Self {
        if unasking.iter().any(|layer| hears(listener, *layer)) {
            Self::Never
        } else {
            Self::Sometimes
        }
    }
}

/// Returns whether a file of one layer goes by what a file of another says: a project speaks for
/// itself alone, because nobody has trusted it yet.
fn hears(listener: Layer, speaker: Layer) -> bool {
    listener == speaker || speaker != Layer::Project
}

/// Puts what other files allow in front of a rule that refuses all the rest.
pub(super) fn allow_across(mut readings: Vec<Reading>) -> Vec<Reading> {
    let rules_of = |reading: &Reading| -> Vec<Sourced<Rule>> {
        let lists = reading.document.policy.commands.rules.lists();
        lists.iter().flat_map(|list| list.rules.iter().cloned()).collect()
    };
    let said: Vec<(Layer, Vec<Sourced<Rule>>)> =
        readings.iter().map(|reading| (reading.layer, rules_of(reading))).collect();
    for (at, reading) in readings.iter_mut().enumerate() {
        let mut rules = rules_of(reading);
        let Some(last) = rules.pop_if(|rule| refuses_all(&rule.value)) else { continue };
        let others = said.iter().enumerate().filter(|(other, _)| *other != at);
        for (_, (layer, theirs)) in others {
            let heard = hears(reading.layer, *layer);
            let allows = |rule: &&Sourced<Rule>| heard && rule.value.action == Some(Action::Allow);
            rules.extend(theirs.iter().filter(allows).cloned());
        }
        rules.push(last);
        reading.document.policy.commands.rules = RuleLists::new(rules);
    }
    readings
}

/// Tells the rule that the mode adds to a list.
fn refuses_all(rule: &Rule) -> bool {
    rule.tool.to_string() == "*"
        && rule.args.is_empty()
        && rule.domain.is_none()
        && rule.action == Some(Action::Deny)
}
