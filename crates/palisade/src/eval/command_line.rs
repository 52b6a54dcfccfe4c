//! Any agent that has a command line.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use palisade_policy::text::visible;
use serde_json::Value as Json;

use super::candidate::{Attempt, Candidate, Sample};
use crate::sandbox::{Input, Job, Named, Outcome, Output, Sandbox};
use crate::session::Request;

/// How much of the end of an agent's output is looked at for what it cost.
const TAIL: usize = 256 << 10;

/// Where agents say what they cost: ours, and Claude Code.
const COSTS: [&str; 3] = ["cost_units", "cost", "total_cost_usd"];

/// An agent that is started behind walls for each sample, in its project.
///
/// It reads the goal from standard input, from the variable `EVAL_GOAL`, and wherever a word of its
/// command line says `{goal}`; `{task}` and `{sample}` are filled in as well.
pub struct CommandLine {
    argv: Vec<String>,
    request: Request,
    timeout: Option<Duration>,
}

impl CommandLine {
    /// Makes a candidate of a program and its arguments. `request` says whose policy holds for it.
    pub fn new(argv: Vec<String>, request: Request, timeout: Option<Duration>) -> Self {
        Self { argv, request, timeout }
    }

    fn tried(&self, sample: &Sample<'_>) -> Result<Attempt, String> {
        let task = sample.task;
        let index = sample.index.to_string();
        let parts = [("{goal}", &*task.goal), ("{task}", &*task.id), ("{sample}", &*index)];
        let tail = Arc::new(Mutex::new(VecDeque::new()));
        let told = Arc::clone(&tail);
        let mut job = Job::argv(filled(&self.argv, &parts)?)
            .call_id(format!("{}-{index}", task.id))
            .variable("EVAL_GOAL", &task.goal)
            .variable("EVAL_TASK", &task.id)
            .variable("EVAL_SAMPLE", index)
            .stdin(Input::Bytes(task.goal.clone().into_bytes()))
            .stdout(Output::Each(Box::new(move |piece| keep(&told, piece))))
            .brief();
        if let Some(time) = self.timeout {
            job = job.timeout(time);
        }
        let sandbox = Sandbox::new(&sample.request(&self.request));
        let sandbox = sandbox.map_err(|error| visible(&error.to_string()))?.confirmer(Named);
        let run = sandbox.start(job).map_err(|error| visible(&error.to_string()))?;
        let outcome = sample.stopping.wait(run);
        sandbox.flush();
        let left = self.forget(sample);
        let outcome = outcome.map_err(|error| visible(&error.to_string()))?;
        if !outcome.executed() {
            let why = outcome.reason().unwrap_or_default();
            let failed = Some(format!("the agent was not run: {}", visible(&why)));
            return Ok(Attempt { failed, denied: outcome.denied(), ..Attempt::default() });
        }
        let tail = tail.lock().unwrap_or_else(PoisonError::into_inner);
        let tail: Vec<u8> = tail.iter().copied().collect();
        let cost = cost(&String::from_utf8_lossy(&tail));
        let notes = notes(&outcome).into_iter().chain(left).collect();
        Ok(Attempt { cost, notes, ..Attempt::default() })
    }

    /// Forgets that an agent works in a folder that is about to go: others would hide it for good.
    fn forget(&self, sample: &Sample<'_>) -> Option<String> {
        let (agent, known) = (self.request.agent.as_deref()?, self.request.workspaces()?);
        let error = known.forget_one(agent, sample.folder).err()?;
        Some(format!(
            "that the agent worked there is not forgotten: {}",
            visible(&error.to_string())
        ))
    }
}

impl std::fmt::Debug for CommandLine {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("CommandLine").field("argv", &self.argv).finish_non_exhaustive()
    }
}

impl Candidate for CommandLine {
    fn attempt(&self, sample: &Sample<'_>) -> Attempt {
        self.tried(sample).unwrap_or_else(Attempt::impossible)
    }
}

/// Fills words in, once: what is put in is not looked at again. What a task says is no option of the
/// agent: a word that begins with it and then with `-` is refused, unless `--` stands before it.
fn filled(argv: &[String], parts: &[(&str, &str)]) -> Result<Vec<String>, String> {
    let mut done: Vec<String> = Vec::with_capacity(argv.len());
    for word in argv {
        let (mut text, mut rest) = (String::new(), word.as_str());
        while let Some(next) = rest.chars().next() {
            let found = parts.iter().find_map(|(name, it)| Some((rest.strip_prefix(name)?, it)));
            match found {
                Some((after, value)) => {
                    text.push_str(value);
                    rest = after;
                }
                None => {
                    text.push(next);
                    rest = rest.get(next.len_utf8()..).unwrap_or_default();
                }
            }
        }
        let is_ours = word.starts_with('-') || argv.iter().take(done.len()).any(|it| it == "--");
        if text.starts_with('-') && !is_ours {
            return Err(format!(
                "what stands for `{}` begins with `-`: the agent would take it for an option",
                visible(word)
            ));
        }
        done.push(text);
    }
    Ok(done)
}

fn keep(tail: &Mutex<VecDeque<u8>>, piece: &[u8]) {
    let mut tail = tail.lock().unwrap_or_else(PoisonError::into_inner);
    tail.extend(piece);
    let over = tail.len().saturating_sub(TAIL);
    tail.drain(..over);
}

/// Returns what an agent says that it cost: in all that it printed, or in the last line that is an
/// object.
fn cost(printed: &str) -> Option<f64> {
    let lines = printed.lines().rev();
    let mut objects = std::iter::once(printed).chain(lines).filter_map(|text| {
        let told: Json = serde_json::from_str(text.trim()).ok()?;
        told.is_object().then_some(told)
    });
    let told = objects.next()?;
    let cost = COSTS.into_iter().find_map(|name| told.get(name)?.as_f64());
    cost.filter(|cost| cost.is_finite() && *cost >= 0.0)
}

fn notes(outcome: &Outcome) -> Vec<String> {
    let ended = match (outcome.reason(), outcome.exit_code()) {
        (Some(reason), _) => Some(format!("the agent: {}", visible(&reason))),
        (None, 0) => None,
        (None, code) => Some(format!("the agent ended with {code}")),
    };
    let said = outcome.stderr_text();
    let said = said.lines().rev().find(|line| !line.trim().is_empty()).filter(|_| !outcome.ok());
    let said = said.map(|line| {
        let line: String = line.trim().chars().take(200).collect();
        format!("it said: {}", visible(&line))
    });
    ended.into_iter().chain(said).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_filled_in_once_and_become_no_options() {
        let words = |list: &[&str]| list.iter().map(|it| (*it).to_owned()).collect::<Vec<_>>();
        let parts = [("{goal}", "mend {task}"), ("{task}", "t1")];
        let argv = words(&["agent", "-p", "{goal}", "--id={task}", "{other}", "ä{task}"]);
        let done = words(&["agent", "-p", "mend {task}", "--id=t1", "{other}", "ät1"]);
        assert_eq!(filled(&argv, &parts), Ok(done));
        let sly = [("{goal}", "--yolo")];
        assert!(filled(&words(&["agent", "{goal}"]), &sly).is_err());
        assert!(filled(&words(&["agent", "--", "{goal}"]), &sly).is_ok());
        assert!(filled(&words(&["agent", "--goal={goal}"]), &sly).is_ok());
    }

    #[test]
    fn a_cost_is_a_number_in_the_last_object() {
        for (printed, found) in [
            ("", None),
            ("12", None),
            ("done\n", None),
            ("{\"cost\": 0.5}", Some(0.5)),
            ("{\n \"total_cost_usd\": 2\n}\n", Some(2.0)),
            ("{\"cost\": 1}\nnoise\n{\"cost_units\": 3}\nbye\n", Some(3.0)),
            ("{\"cost\": 1}\n{\"ended\": true}\n", None),
            ("{\"cost\": -1}", None),
            ("{\"cost\": \"1\"}", None),
            ("{\"cost\": 1e999}", None),
        ] {
            assert_eq!(cost(printed), found, "{printed}");
        }
    }
}
