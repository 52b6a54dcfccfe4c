//! What the probe says, in one line.

use serde::{Deserialize, Serialize};

/// One way in which an attack was tried.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
pub struct Way {
    /// What was done, in a few words.
    pub way: String,
    /// Whether it was done.
    pub done: bool,
    /// The kernel's answer, where it was a number.
    pub errno: Option<i32>,
    /// What else there is to say.
    pub why: String,
}

/// What became of an attack and of its lawful twin.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
pub struct Report {
    /// The attack's name.
    pub attack: String,
    /// `held`, `escaped` or `unsure`: what it looks like from inside.
    pub verdict: String,
    /// Each way that was tried.
    pub ways: Vec<Way>,
    /// Why the lawful twin failed, if it did. Then nothing is proved.
    pub unlawful: Option<String>,
}

impl Report {
    /// Sums up what was tried: one way that worked is an escape.
    #[must_use]
    pub fn new(attack: &str, ways: Vec<Way>, lawful: Result<(), String>) -> Self {
        let verdict = if ways.iter().any(|way| way.done) {
            "escaped"
        } else if ways.is_empty() {
            "unsure"
        } else {
            "held"
        };
        let (attack, verdict) = (attack.to_owned(), verdict.to_owned());
        Self { attack, verdict, ways, unlawful: lawful.err() }
    }

    /// Returns the ways that worked, or else those that did not, for a person.
    #[must_use]
    pub fn told(&self) -> String {
        let worked: Vec<_> = self.ways.iter().filter(|way| way.done).collect();
        let shown = if worked.is_empty() { self.ways.iter().collect() } else { worked };
        let shown = shown.iter().map(|way| match (way.done, way.why.as_str()) {
            (true, "") => way.way.clone(),
            (_, why) => format!("{}: {why}", way.way),
        });
        shown.collect::<Vec<_>>().join("; ")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn way(name: &str, done: bool) -> Way {
        Way { way: name.to_owned(), done, errno: None, why: "EPERM".to_owned() }
    }

    #[test]
    fn one_way_out_is_enough_and_none_tried_proves_nothing() {
        let report = |ways| Report::new("e031-made", ways, Ok(()));
        assert_eq!(report(vec![way("a", false), way("b", true)]).verdict, "escaped");
        assert_eq!(report(vec![way("a", false), way("b", true)]).told(), "b: EPERM");
        assert_eq!(report(vec![way("a", false)]).verdict, "held");
        assert_eq!(report(Vec::new()).verdict, "unsure");
    }
}
