//! A server of tools: for one client that started it, or for those that connect.

use std::io::{self, Write as _};
use std::sync::atomic::AtomicUsize;
use std::sync::{Arc, Mutex, PoisonError};

use palisade::policy::text::visible;
use palisade::rpc::{self, Line, Message};
use palisade::{Answered, Confirm, Guard, Question, Request, Sandbox};
use serde_json::Value as Json;

use super::peer::{AGREED, Peer};
use crate::exit::Exit;
use crate::failure::Failure;
use crate::ui::Ui;

/// Where messages for a client are said.
pub(super) type Out = Arc<dyn Fn(&Json) + Send + Sync>;

/// What all clients share.
pub(super) struct Server {
    pub(super) sandbox: Sandbox,
    pub(super) guard: Guard,
    pub(super) ongoing: AtomicUsize,
    ui: Ui,
}

/// Whoever agreed is known by the thread that runs the call.
struct Agreed;

impl Confirm for Agreed {
    fn name(&self) -> &'static str {
        "mcp"
    }

    fn ask(&self, _: &Question<'_>) -> Answered {
        if AGREED.get() { Answered::Yes } else { Answered::Nobody }
    }
}

impl Server {
    pub(super) fn new(request: &Request, ui: &Ui) -> Result<Arc<Self>, Failure> {
        let sandbox = Sandbox::new(request)?.confirmer(Agreed);
        crate::command::warn_running(ui, sandbox.session());
        let guard = Guard::new(sandbox.session());
        Ok(Arc::new(Self { sandbox, guard, ongoing: AtomicUsize::new(0), ui: ui.clone() }))
    }

    /// Tells whoever watches that something could not be recorded.
    pub(super) fn warn(&self) {
        if let Some(trouble) = self.sandbox.not_recorded() {
            self.ui.say(&format!("warning: {}", visible(&trouble)));
        }
    }
}

/// Serves the client that started us until it has nothing more to say.
pub(super) fn serve(request: &Request, ui: &Ui) -> Result<Exit, Failure> {
    let server = Server::new(request, ui)?;
    let peer = Peer::new(&server);
    let stdout = Mutex::new(io::stdout());
    let out: Out = Arc::new(move |message: &Json| {
        let mut out = stdout.lock().unwrap_or_else(PoisonError::into_inner);
        // Where nobody listens, the input ends as well.
        writeln!(out, "{message}").and_then(|()| out.flush()).ok();
    });
    let mut from = io::stdin().lock();
    while let Ok(Some(line)) = rpc::next_line(&mut from, rpc::MAX_MESSAGE) {
        let Line::Whole(line) = line else {
            let message = "the message is too long, and was skipped";
            out(&rpc::error(&Json::Null, rpc::INVALID_REQUEST, message, Json::Null));
            continue;
        };
        match Message::read(&line) {
            Ok(message) => peer.hear(message, &out),
            Err(fault) => out(&fault.answer()),
        }
    }
    peer.leave();
    server.sandbox.flush();
    Ok(Exit::Success)
}
