//! The loop: one state after the other, one call in each.

use crate::mends;
use crate::tools::{Answered, Call, Tools};

/// Most steps of a session.
pub const STEPS: usize = 12;

/// Most tokens that are read in a session.
pub const BUDGET: u64 = 4000;

/// Where the agent is.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum State {
    /// It reads the tests.
    Survey,
    /// It runs them, to see them fail.
    RunTests,
    /// It reads the file that the goal speaks of.
    Inspect,
    /// It writes it anew.
    Fix,
    /// It runs the tests again.
    Verify,
}

/// A call that was made.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Step {
    /// Where the agent was.
    pub state: State,
    /// The tool it called.
    pub tool: &'static str,
}

/// Why it ended.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum Halt {
    /// The tests pass.
    Solved,
    /// A call was refused.
    Refused(String),
    /// It does not know what else to do.
    Stuck(String),
}

/// A session that has ended.
#[derive(Clone, Debug)]
pub struct Done {
    /// The calls, in order; a refused one is among them.
    pub steps: Vec<Step>,
    /// Why it ended.
    pub halt: Halt,
    /// How many tokens were read.
    pub tokens: u64,
}

pub(crate) struct Agent<'g> {
    tools: Tools,
    goal: &'g str,
    steps: Vec<Step>,
}

impl<'g> Agent<'g> {
    pub(crate) fn new(tools: Tools, goal: &'g str) -> Self {
        Self { tools, goal, steps: Vec::new() }
    }

    pub(crate) fn run(mut self) -> Done {
        let halt = self.solved().map_or_else(|halt| halt, |()| Halt::Solved);
        Done { steps: self.steps, halt, tokens: self.tools.tokens() }
    }

    fn solved(&mut self) -> Result<(), Halt> {
        let stuck = |why: &str| Halt::Stuck(why.to_owned());
        let path = mends::subject(self.goal);
        let path = path.ok_or_else(|| stuck("the goal names no file"))?.to_owned();
        let tests = Call::Read { path: "test.sh".to_owned() };
        self.step(State::Survey, &tests)?;
        if self.passes(State::RunTests)? {
            return Err(stuck("the tests pass before anything was done"));
        }
        loop {
            let Answered::Text(text) =
                self.step(State::Inspect, &Call::Read { path: path.clone() })?
            else {
                return Err(stuck("there was nothing to read"));
            };
            let content = mends::mended(&text);
            let content = content.ok_or_else(|| stuck("no mistake is known in that file"))?;
            self.step(State::Fix, &Call::Write { path: path.clone(), content })?;
            if self.passes(State::Verify)? {
                return Ok(());
            }
        }
    }

    fn passes(&mut self, state: State) -> Result<bool, Halt> {
        match self.step(state, &Call::Tests)? {
            Answered::Tests { pass } => Ok(pass),
            Answered::Text(_) | Answered::Refused(_) => Ok(false),
        }
    }

    /// Makes one call, unless there were too many.
    fn step(&mut self, state: State, call: &Call) -> Result<Answered, Halt> {
        if self.steps.len() >= STEPS {
            return Err(Halt::Stuck(format!("{STEPS} steps were not enough")));
        }
        self.steps.push(Step { state, tool: call.tool() });
        match self.tools.call(call) {
            Answered::Refused(why) => Err(Halt::Refused(why)),
            answer @ (Answered::Text(_) | Answered::Tests { .. }) => Ok(answer),
        }
    }
}
