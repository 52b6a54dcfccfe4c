//! `palisade acp`: between an editor and an agent that speaks the Agent Client Protocol.

use std::io::{self, BufReader, Write};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::Duration;

use palisade::acp::{Adapter, Noted, Said};
use palisade::policy::text::visible;
use palisade::rpc::{self, Line};
use palisade::{Answered, Guard, Sandbox, Stop};

use super::beside::{self, Beside};
use crate::args::Subject;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::ui::{Format, Ui};

/// Stand between an editor and an agent that speaks the Agent Client Protocol
///
/// Put it into the editor's settings in front of the agent's own command. The agent runs behind walls,
/// as under `palisade run`, and is spoken to on its standard input and output; --agent opens the hosts
/// and the folders that a well-known agent needs. When it asks for permission
/// (`session/request_permission`), the policy answers: what it allows or denies is answered at once,
/// what it leaves to a person goes on to the editor, without the answers that would have the agent ask
/// no more. The editor reads no files and starts no commands for the agent, since it would outside of
/// the walls; agents have tools of their own for both.
///
/// A question tells what the agent says it is about to do. Whether it asks at all, and whether it then
/// does that, is up to the agent: the walls do not depend on it.
///
/// Exit codes: those of the agent, 0 it was ended because its editor was gone, 125 it cannot be confined, 126 it is denied.
///
/// Example: palisade acp --agent gemini -- gemini --acp
#[derive(Debug, clap::Args)]
pub(crate) struct AcpArgs {
    #[command(flatten)]
    subject: Subject,

    /// The agent: a program and its arguments
    #[arg(last = true, required = true, value_name = "AGENT")]
    program: Vec<String>,
}

impl AcpArgs {
    pub(super) fn format(&self) -> Format {
        Format::Human
    }

    pub(super) fn run(&self, ui: &Ui) -> Result<Exit, Failure> {
        let request = self.subject.request()?;
        let sandbox = beside::sandbox(&request, ui)?;
        let Beside { run, to, from } = beside::start(&sandbox, &self.program)?;
        let stop = run.stop();
        let between = Arc::new(Between {
            sandbox: sandbox.clone(),
            ui: ui.clone(),
            adapter: Mutex::new(Adapter::new(Guard::new(sandbox.session()))),
            agent: Mutex::new(Some(to)),
            editor: Mutex::new(io::stdout()),
        });
        let (inwards, outwards) = (Arc::clone(&between), between);
        let reader = thread::spawn(move || outwards.hear_agent(&mut BufReader::new(from)));
        thread::spawn(move || inwards.hear_editor(stop.as_ref()));
        let outcome = run.wait()?;
        reader.join().ok();
        Ok(beside::ended(&outcome, "agent", ui))
    }
}

/// How long an agent may take to leave when its editor is gone.
const LEAVE: Duration = Duration::from_secs(2);

struct Between {
    sandbox: Sandbox,
    ui: Ui,
    adapter: Mutex<Adapter>,
    /// Until the editor is gone.
    agent: Mutex<Option<io::PipeWriter>>,
    editor: Mutex<io::Stdout>,
}

impl Between {
    fn hear_editor(&self, stop: Option<&Stop>) {
        let mut from = io::stdin().lock();
        while let Ok(Some(line)) = rpc::next_line(&mut from, rpc::MAX_MESSAGE) {
            let said = match line {
                Line::Whole(line) => self.with(|adapter| adapter.hear_editor(&line)),
                Line::TooLong => Some(Adapter::too_long()),
            };
            if self.say(said).is_err() {
                break;
            }
        }
        // The agent gets the end of its input, and a moment to leave.
        drop(self.agent.lock().unwrap_or_else(PoisonError::into_inner).take());
        thread::sleep(LEAVE);
        stop.iter().for_each(|stop| stop.now());
    }

    fn hear_agent(&self, from: &mut impl io::BufRead) {
        while let Ok(Some(line)) = rpc::next_line(from, rpc::MAX_MESSAGE) {
            // What is too long is dropped: who waits for it waits in vain, and is not flooded.
            let Line::Whole(line) = line else { continue };
            let said = self.with(|adapter| adapter.hear_agent(&line));
            self.say(said).ok();
        }
    }

    fn with(&self, does: impl FnOnce(&mut Adapter) -> Option<Said>) -> Option<Said> {
        let mut adapter = self.adapter.lock().unwrap_or_else(PoisonError::into_inner);
        let said = does(&mut adapter);
        for noted in adapter.noted() {
            self.record(noted);
        }
        said
    }

    fn record(&self, noted: Noted) {
        match noted {
            Noted::Judged { tool, call_id, answer, findings } => {
                self.sandbox.record_tool(tool, call_id.as_deref(), answer, &findings);
            }
            Noted::Answered { agreed, call } => {
                let said = if agreed { Answered::Yes } else { Answered::No };
                self.sandbox.answered_tool(said, "acp", &call);
            }
        }
        if let Some(trouble) = self.sandbox.not_recorded() {
            self.ui.say(&format!("warning: {}", visible(&trouble)));
        }
    }

    /// Sends a line. A side that does not read keeps only who speaks to it waiting.
    fn say(&self, said: Option<Said>) -> io::Result<()> {
        match said {
            None => Ok(()),
            Some(Said::ToEditor(line)) => {
                send(&mut *self.editor.lock().unwrap_or_else(PoisonError::into_inner), &line)
            }
            Some(Said::ToAgent(line)) => {
                let mut agent = self.agent.lock().unwrap_or_else(PoisonError::into_inner);
                agent.as_mut().map_or(Ok(()), |agent| send(agent, &line))
            }
        }
    }
}

fn send(to: &mut impl Write, line: &[u8]) -> io::Result<()> {
    to.write_all(line.trim_ascii())?;
    to.write_all(b"\n")?;
    to.flush()
}
