//! Who is told of a run's connections while it runs, and who is asked about hosts.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread::JoinHandle;
use std::time::{Duration, SystemTime};

use palisade_audit::{Connected, Event, What};
use palisade_gate::net::{Ask, Told};
use palisade_gate::traffic::{Connection, Wanted};
use palisade_policy::name::Period;
use palisade_policy::policy::{Action, Network};

use super::Sandbox;
use super::ask::Asking;
use super::confirm::{Answered, Confirm, HostQuestion};
use super::json::milliseconds;
use super::record::Recorder;

/// Connections that wait to be recorded; more are counted as lost.
const WAITING: usize = 4096;

/// Who stands beside a run.
#[derive(Clone)]
pub(super) struct Beside {
    asking: Arc<Asking>,
    confirmer: Arc<dyn Confirm>,
    /// How long an answer may take.
    time: Option<Duration>,
    recorder: Arc<Recorder>,
    /// The run's name in the record.
    run: String,
}

impl Beside {
    pub(super) fn new(sandbox: &Sandbox, run: &str) -> Self {
        let confirm = &sandbox.0.session.policy().confirm;
        Self {
            asking: Arc::clone(&sandbox.0.asking),
            confirmer: sandbox.0.asking.whom(confirm),
            time: confirm.timeout.value().0.map(Period::duration),
            recorder: Arc::clone(&sandbox.0.recorder),
            run: run.to_owned(),
        }
    }

    /// Returns what asks a person, if the policy has anything asked.
    pub(super) fn ask(&self, network: &Network) -> Option<Ask> {
        let mut rules = network.http_rules.lists().iter().flat_map(|list| &list.rules);
        if network.ask.entries().is_empty() && !rules.any(|it| it.value.action == Action::Ask) {
            return None;
        }
        let own = self.clone();
        Some(Box::new(move |wanted| own.put(wanted)))
    }

    fn put(&self, wanted: &Wanted) -> bool {
        let Wanted { host, port, request, rule } = wanted;
        let question = HostQuestion {
            host,
            port: *port,
            request: request.as_deref(),
            rule: rule.as_deref(),
            time: self.time,
        };
        let ask = || self.confirmer.ask_host(&question);
        let (answer, memory) = self.asking.put(&question.hash(), &*self.confirmer, ask);
        let by = memory.by(self.confirmer.name());
        self.recorder.host_confirmation(&self.run, wanted, answer, by);
        answer.is_yes()
    }

    /// Returns what writes connections down, if anything is: in a thread of its own, since nobody who
    /// carries them waits for a disk.
    pub(super) fn log(&self) -> Option<Log> {
        if !self.recorder.records() {
            return None;
        }
        let (sender, receiver) = sync_channel(WAITING);
        let own = self.clone();
        let name = std::thread::Builder::new().name("pal-log".into());
        let thread = name.spawn(move || own.write(&receiver)).ok();
        Some(Log { sender, lost: Arc::default(), thread })
    }

    fn write(&self, connections: &Receiver<Message>) {
        while let Ok(Some((at, connection))) = connections.recv() {
            self.recorder.connection(&self.run, at, &connection);
        }
    }
}

impl Recorder {
    /// Remembers what a person said about a host.
    fn host_confirmation(&self, run: &str, wanted: &Wanted, answer: Answered, by: &str) {
        let Wanted { host, port, request, rule: _ } = wanted;
        let (host, port, request) = (host.as_str(), *port, request.as_deref());
        let what = What::HostConfirmation { answer, by, host, port, request };
        self.append(&[Event { at: SystemTime::now(), run, what }]);
    }

    /// Remembers a connection that ended at some time.
    fn connection(&self, run: &str, at: SystemTime, one: &Connection) {
        let what = What::Connection(Connected {
            host: &one.host,
            port: one.port,
            address: one.address.map(|address| address.ip().to_string()),
            via: one.via.word(),
            verdict: one.verdict.word(),
            code: one.verdict.code(),
            rule: one.rule.as_deref(),
            sent: one.sent,
            received: one.received,
            duration_ms: milliseconds(one.duration),
            requests: one.requests.iter().map(String::as_str).collect(),
            more_requests: one.more_requests,
        });
        self.append(&[Event { at, run, what }]);
    }
}

/// A connection and when it ended; none at the end.
type Message = Option<(SystemTime, Box<Connection>)>;

/// The record of a run's connections.
pub(super) struct Log {
    sender: SyncSender<Message>,
    lost: Arc<AtomicU64>,
    thread: Option<JoinHandle<()>>,
}

impl Log {
    /// Returns what is told of each connection.
    pub(super) fn told(&self) -> Told {
        let (sender, lost) = (self.sender.clone(), Arc::clone(&self.lost));
        Arc::new(move |connection| {
            let message = Some((SystemTime::now(), Box::new(connection.clone())));
            if sender.try_send(message).is_err() {
                lost.fetch_add(1, Ordering::Relaxed);
            }
        })
    }

    /// Writes down what is left, and returns how many connections could not be.
    pub(super) fn end(self) -> u64 {
        if let Some(thread) = self.thread {
            self.sender.send(None).ok();
            thread.join().ok();
        }
        self.lost.load(Ordering::Relaxed)
    }
}
