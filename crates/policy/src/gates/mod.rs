//! The chain of gates in front of a tool: four cheap questions before anything is started.
//!
//! Gates stand in the order of their cost: the list of tools, refused patterns, recency, budget. The
//! first that says no ends the chain, and is the only one that says no. What a tool answered is
//! written into a [`Ledger`] by whoever ran it; a refusal never is, so an agent is not charged for
//! being stopped.

mod ledger;

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use crate::name::{Found, Pattern};
pub use ledger::{Ledger, Observation, tokens};

/// A call of a tool, as an agent makes it.
#[derive(Clone, Copy, Debug)]
pub struct ToolUse<'c> {
    /// The number of the agent's turn.
    pub turn: u64,
    /// The tool's name.
    pub tool: &'c str,
    /// Its arguments.
    pub argv: &'c [String],
    /// What else it is given.
    pub payload: &'c str,
}

/// What a chain allows. A gate that is not set lets everything pass, but the first, which always
/// stands: a tool that nobody listed is refused.
#[derive(Clone, Debug, Default)]
pub struct Gates {
    tools: BTreeSet<String>,
    refused: Vec<Pattern>,
    window: Option<u64>,
    budget: Option<u64>,
    budgets: BTreeMap<String, u64>,
}

/// One gate.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Gate {
    /// The tool is listed.
    Whitelist,
    /// No refused pattern is found in the arguments and the payload.
    Regex,
    /// The agent has looked at something lately.
    Recency,
    /// The agent may read more.
    Budget,
}

/// What one gate said.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Passage {
    /// The gate.
    pub gate: Gate,
    /// Why it refused; none if it let the call pass.
    pub refusal: Option<String>,
}

/// What the chain said: every gate that was asked, in order; the last may have refused.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Passages(Vec<Passage>);

/// How a call that went through the chain ended.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum Ending {
    /// It ran; this is what the tool answered, and it is in the ledger.
    Ran(String),
    /// It did not run.
    Refused(String),
}

impl Gates {
    /// Makes a chain that lets these tools pass.
    pub fn new<T: Into<String>>(tools: impl IntoIterator<Item = T>) -> Self {
        Self { tools: tools.into_iter().map(Into::into).collect(), ..Self::default() }
    }

    /// Refuses calls in whose arguments and payload a pattern is found.
    #[must_use]
    pub fn refuse(mut self, pattern: Pattern) -> Self {
        self.refused.push(pattern);
        self
    }

    /// Refuses calls of an agent that has observed nothing for more than `turns` turns.
    #[must_use]
    pub fn within(mut self, turns: u64) -> Self {
        self.window = Some(turns);
        self
    }

    /// Refuses calls once the agent has observed this many tokens.
    #[must_use]
    pub fn budget(mut self, tokens: u64) -> Self {
        self.budget = Some(tokens);
        self
    }

    /// Refuses calls of one tool once the agent has observed this many tokens of it.
    #[must_use]
    pub fn budget_of(mut self, tool: impl Into<String>, tokens: u64) -> Self {
        self.budgets.insert(tool.into(), tokens);
        self
    }

    /// Asks one gate after the other, until one refuses.
    pub fn ask(&self, call: &ToolUse<'_>, ledger: &Ledger) -> Passages {
        let mut passages = Vec::new();
        for gate in [Gate::Whitelist, Gate::Regex, Gate::Recency, Gate::Budget] {
            let refusal = match gate {
                Gate::Whitelist => self.unlisted(call),
                Gate::Regex => self.matching(call),
                Gate::Recency => self.stale(call, ledger),
                Gate::Budget => self.spent(call, ledger),
            };
            let ends = refusal.is_some();
            passages.push(Passage { gate, refusal });
            if ends {
                break;
            }
        }
        Passages(passages)
    }

    /// Runs a call if every gate lets it pass, and writes what it answered into the ledger.
    ///
    /// `run` is called after the last gate and not before; none from it is a tool that nobody
    /// implements, which counts as refused.
    pub fn run(
        &self,
        call: &ToolUse<'_>,
        ledger: &mut Ledger,
        run: impl FnOnce(&ToolUse<'_>) -> Option<String>,
    ) -> Ending {
        if let Some(refusal) = self.ask(call, ledger).denial() {
            return Ending::Refused(refusal);
        }
        let Some(answer) = run(call) else {
            return Ending::Refused(format!("[tool] `{}` has no implementation", call.tool));
        };
        ledger.observe(Observation::new(call.turn, call.tool, &answer));
        Ending::Ran(answer)
    }

    fn unlisted(&self, call: &ToolUse<'_>) -> Option<String> {
        let listed = self.tools.contains(call.tool);
        (!listed).then(|| format!("the tool `{}` is not in the allow set", call.tool))
    }

    fn matching(&self, call: &ToolUse<'_>) -> Option<String> {
        if self.refused.is_empty() {
            return None;
        }
        let text = format!("{} {}", call.argv.join(" "), call.payload);
        self.refused.iter().find_map(|pattern| match pattern.search(&text) {
            Found::No => None,
            Found::Yes => Some(format!("the call matches the refused pattern `{pattern}`")),
            Found::Undecided => {
                Some(format!("the refused pattern `{pattern}` takes too long on this call"))
            }
        })
    }

    fn stale(&self, call: &ToolUse<'_>, ledger: &Ledger) -> Option<String> {
        let (window, last) = (self.window?, ledger.last_turn()?);
        let age = call.turn.saturating_sub(last);
        (age > window)
            .then(|| format!("the last observation is {age} turns old, and {window} are allowed"))
    }

    fn spent(&self, call: &ToolUse<'_>, ledger: &Ledger) -> Option<String> {
        let all = self.budget.map(|budget| (budget, ledger.total(), "observed"));
        let own = self.budgets.get(call.tool);
        let own = own.map(|budget| (*budget, ledger.total_of(call.tool), "observed of this tool"));
        all.into_iter().chain(own).find_map(|(budget, spent, what)| {
            let over = spent >= budget;
            over.then(|| format!("{spent} tokens were {what}, and {budget} are allowed"))
        })
    }
}

impl Passages {
    /// Returns every gate that was asked, in order.
    pub fn all(&self) -> &[Passage] {
        &self.0
    }

    /// Returns `[gate] reason` of the gate that refused; none if all let the call pass.
    pub fn denial(&self) -> Option<String> {
        let Passage { gate, refusal } = self.0.last()?;
        refusal.as_ref().map(|reason| format!("[{gate}] {reason}"))
    }
}

impl fmt::Display for Gate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Whitelist => "whitelist",
            Self::Regex => "regex",
            Self::Recency => "recency",
            Self::Budget => "budget",
        })
    }
}

#[cfg(test)]
mod tests;
