//! In which order those stand who have a say about a call.

use std::cmp::Reverse;

/// Whose turn it is. A stage comes before the next whatever the numbers in it are, so that no
/// number puts a check in front of those that keep the machine safe.
#[derive(Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub enum Stage {
    /// Who is asking?
    Authentication,
    /// Dangerous commands.
    Danger,
    /// Files and commands outside the project.
    Files,
    /// Which tools this model and this agent may use.
    Access,
    /// Everything else.
    Other,
}

/// One of those who have a say.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Turn<T> {
    /// When it is asked.
    pub stage: Stage,
    /// Within a stage the highest comes first.
    pub priority: i32,
    /// Who it is.
    pub who: T,
}

impl Stage {
    /// The documented number of a stage.
    pub fn priority(self) -> i32 {
        match self {
            Self::Authentication => 1000,
            Self::Danger => 100,
            Self::Access => 90,
            Self::Files => 80,
            Self::Other => 0,
        }
    }
}

impl<T> Turn<T> {
    /// Places somebody at the documented number of a stage.
    pub fn new(stage: Stage, who: T) -> Self {
        Self { stage, priority: stage.priority(), who }
    }

    /// Sorts into the order in which they are asked; of equals the first stays first.
    pub fn sort(turns: &mut [Self]) {
        turns.sort_by_key(|turn| (turn.stage, Reverse(turn.priority)));
    }
}
