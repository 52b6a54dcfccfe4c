//! A command that runs for a client.

use std::collections::BTreeMap;
use std::io::{PipeWriter, Write as _};
use std::path::PathBuf;
use std::sync::mpsc::{SyncSender, TrySendError, sync_channel};
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::thread;
use std::time::Duration;

use palisade::policy::name::EnvName;
use palisade::{Input, Job, Output, Stop};
use serde::Deserialize;
use serde_json::{Value as Json, json};

use super::base64;
use crate::failure::Failure;

/// What is to run.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(super) struct Wanted {
    argv: Option<Vec<String>>,
    shell: Option<String>,
    cwd: Option<PathBuf>,
    tool: Option<String>,
    timeout_seconds: Option<f64>,
    env: BTreeMap<String, String>,
    stdin: Option<String>,
    stdin_base64: Option<String>,
    stdin_pipe: bool,
    pub(super) stream: bool,
    brief: bool,
}

/// A run that can be ended and spoken to.
#[derive(Debug, Default)]
pub(super) struct Running {
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    stop: Option<Stop>,
    cancelled: bool,
    stdin: Option<SyncSender<Vec<u8>>>,
}

/// How many pieces wait for a command to read them.
const QUEUED: usize = 16;

impl Wanted {
    /// Returns the job, and what feeds it if it has a pipe.
    pub(super) fn job(self, running: &Running) -> Result<Job, Failure> {
        let wrong = |message: &str| Failure::new("params", message);
        let mut job = match (self.argv, self.shell) {
            (Some(argv), None) => Job::argv(argv),
            (None, Some(text)) => Job::shell(text),
            _ => return Err(wrong("give either `argv` or `shell`")),
        };
        if let Some(cwd) = self.cwd {
            job = job.cwd(cwd);
        }
        if let Some(tool) = self.tool {
            job = job.tool(tool);
        }
        if let Some(seconds) = self.timeout_seconds {
            let time = Duration::try_from_secs_f64(seconds).ok().filter(|time| !time.is_zero());
            job = job.timeout(time.ok_or_else(|| wrong("`timeout_seconds` is no time to run in"))?);
        }
        for (name, value) in self.env {
            if let Err(invalid) = name.parse::<EnvName>() {
                return Err(wrong(&format!("`env`: {invalid}")));
            }
            job = job.variable(name, value);
        }
        let stdin = match (self.stdin, self.stdin_base64, self.stdin_pipe) {
            (None, None, false) => Input::Null,
            (Some(text), None, false) => Input::Bytes(text.into_bytes()),
            (None, Some(text), false) => Input::Bytes(
                base64::decode(&text).ok_or_else(|| wrong("`stdin_base64` is no base64"))?,
            ),
            (None, None, true) => running.pipe()?,
            _ => return Err(wrong("give one of `stdin`, `stdin_base64` and `stdin_pipe`")),
        };
        job = job.stdin(stdin);
        Ok(if self.brief { job.brief() } else { job })
    }
}

impl Running {
    /// Lets the client feed the command.
    fn pipe(&self) -> Result<Input, Failure> {
        let pipe = std::io::pipe();
        let (reader, writer) =
            pipe.map_err(|error| Failure::io("stdin", "no pipe can be had", &error))?;
        let (sender, pieces) = sync_channel::<Vec<u8>>(QUEUED);
        thread::spawn(move || feed(writer, &pieces));
        self.state().stdin = Some(sender);
        Ok(Input::From(reader.into()))
    }

    /// Hands a piece to the command; none ends its input.
    pub(super) fn feed(&self, piece: Option<Vec<u8>>) -> Result<(), &'static str> {
        let mut state = self.state();
        let Some(piece) = piece else {
            state.stdin = None;
            return Ok(());
        };
        match state.stdin.as_ref().map(|stdin| stdin.try_send(piece)) {
            None => Err("the run has no pipe for input, or it is closed"),
            Some(Ok(())) => Ok(()),
            Some(Err(TrySendError::Full(_))) => Err("the command does not read: try again"),
            Some(Err(TrySendError::Disconnected(_))) => Err("the command reads no more"),
        }
    }

    /// Says that it has begun; ends it if that was asked for already.
    pub(super) fn began(&self, stop: Option<Stop>) {
        let mut state = self.state();
        if let Some(stop) = stop.as_ref().filter(|_| state.cancelled) {
            stop.now();
        }
        state.stop = stop;
    }

    /// Whether it was ended before it began.
    pub(super) fn is_cancelled(&self) -> bool {
        self.state().cancelled
    }

    /// Ends it.
    pub(super) fn cancel(&self) {
        let mut state = self.state();
        state.cancelled = true;
        state.stdin = None;
        if let Some(stop) = &state.stop {
            stop.now();
        }
    }

    fn state(&self) -> std::sync::MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn feed(mut writer: PipeWriter, pieces: &std::sync::mpsc::Receiver<Vec<u8>>) {
    while let Ok(piece) = pieces.recv() {
        if writer.write_all(&piece).is_err() {
            return;
        }
    }
}

/// Has each piece of an output told as text, or as base64 where it is none.
pub(super) fn told(
    tell: impl Fn(Json) + Send + 'static,
    run: Json,
    stream: &'static str,
) -> Output {
    let mut kept: Vec<u8> = Vec::new();
    Output::Each(Box::new(move |piece| {
        kept.extend_from_slice(piece);
        let whole = whole(&kept);
        let rest = kept.split_off(whole);
        let piece = std::mem::replace(&mut kept, rest);
        if piece.is_empty() {
            return;
        }
        tell(match String::from_utf8(piece) {
            Ok(text) => json!({ "run": run, "stream": stream, "text": text }),
            Err(bytes) => {
                let bytes = base64::encode(bytes.as_bytes());
                json!({ "run": run, "stream": stream, "base64": bytes })
            }
        });
    }))
}

/// Returns how many bytes end with a whole letter, if what follows could still become one.
fn whole(bytes: &[u8]) -> usize {
    match std::str::from_utf8(bytes) {
        Err(error) if error.error_len().is_none() => error.valid_up_to(),
        Ok(_) | Err(_) => bytes.len(),
    }
}

/// How many commands run at the same time; the others wait for their turn.
#[derive(Debug)]
pub(super) struct Slots {
    free: Mutex<u64>,
    freed: Condvar,
}

/// A slot that is taken.
#[derive(Debug)]
pub(super) struct Slot(Arc<super::connection::Server>);

impl Slots {
    /// Makes as many as there are descriptors for.
    pub(super) fn new(descriptors: u64) -> Self {
        const EACH: u64 = 16;
        const MOST: u64 = 1024;
        let free = (descriptors.saturating_sub(64) / EACH).clamp(1, MOST);
        Self { free: Mutex::new(free), freed: Condvar::new() }
    }
}

impl Slot {
    /// Waits for one.
    pub(super) fn take(server: &Arc<super::connection::Server>) -> Self {
        let slots = &server.slots;
        let mut free = slots.free.lock().unwrap_or_else(PoisonError::into_inner);
        while *free == 0 {
            free = slots.freed.wait(free).unwrap_or_else(PoisonError::into_inner);
        }
        *free -= 1;
        Self(Arc::clone(server))
    }
}

impl Drop for Slot {
    fn drop(&mut self) {
        let slots = &self.0.slots;
        *slots.free.lock().unwrap_or_else(PoisonError::into_inner) += 1;
        slots.freed.notify_one();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_letter_is_not_cut() {
        let text = "aé€😀".as_bytes();
        for (length, expected) in
            [(0, 0), (1, 1), (2, 1), (3, 3), (4, 3), (5, 3), (6, 6), (9, 6), (10, 10)]
        {
            assert_eq!(whole(&text[..length]), expected, "{length}");
        }
        assert_eq!(whole(&[0xff, b'a']), 2, "what never becomes a letter does not wait");
    }
}
