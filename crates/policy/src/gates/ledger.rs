//! What an agent has read so far.

/// The observations of one agent, in order. Only what a tool really answered is in it.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct Ledger {
    observations: Vec<Observation>,
}

/// What a tool answered, measured.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Observation {
    /// The turn it was made in.
    pub turn: u64,
    /// The tool that answered.
    pub tool: String,
    /// How long the answer is.
    pub tokens: u64,
}

impl Observation {
    /// Measures an answer.
    pub fn new(turn: u64, tool: &str, answer: &str) -> Self {
        Self { turn, tool: tool.to_owned(), tokens: tokens(answer) }
    }
}

impl Ledger {
    /// Writes an observation down.
    pub fn observe(&mut self, observation: Observation) {
        self.observations.push(observation);
    }

    /// Returns every observation, in order.
    pub fn observations(&self) -> &[Observation] {
        &self.observations
    }

    /// Returns the turn of the latest observation; none before the first.
    pub fn last_turn(&self) -> Option<u64> {
        self.observations.iter().map(|observation| observation.turn).max()
    }

    /// Returns how many tokens were observed in all.
    pub fn total(&self) -> u64 {
        sum(self.observations.iter())
    }

    /// Returns how many tokens of one tool were observed.
    pub fn total_of(&self, tool: &str) -> u64 {
        sum(self.observations.iter().filter(|observation| observation.tool == tool))
    }
}

/// Estimates how many tokens a text is: a quarter of its characters, and one for a short text.
pub fn tokens(text: &str) -> u64 {
    if text.is_empty() {
        return 0;
    }
    let characters = text.chars().count();
    u64::try_from(characters / 4).unwrap_or(u64::MAX).max(1)
}

fn sum<'o>(observations: impl Iterator<Item = &'o Observation>) -> u64 {
    observations.fold(0, |sum, observation| sum.saturating_add(observation.tokens))
}
