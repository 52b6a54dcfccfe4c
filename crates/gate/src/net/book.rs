//! What went through the doors, and what did not.

use std::collections::{HashMap, HashSet};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use palisade_policy::name::Host;

use super::rules::Budget;
use crate::traffic::{Connection, Report, Via};

/// Connections that are told one by one; the others are counted.
const MOST: usize = 1000;

/// The book that is written while the doors are open.
#[derive(Debug)]
pub(super) struct Book {
    begun: Instant,
    pages: Mutex<Pages>,
}

#[derive(Debug, Default)]
struct Pages {
    report: Report,
    /// Bytes sent to each host.
    sent: HashMap<String, u64>,
    /// Names that were refused.
    names: HashSet<String>,
}

impl Book {
    pub(super) fn new(begun: Instant) -> Self {
        Self { begun, pages: Mutex::default() }
    }

    /// Begins an entry, which is noted when it ends.
    pub(super) fn entry(&self, host: &Host, port: u16, via: Via) -> Connection {
        self.begin(host.to_string(), Some(port), via)
    }

    fn begin(&self, host: String, port: Option<u16>, via: Via) -> Connection {
        Connection {
            at: self.begun.elapsed(),
            host,
            port,
            address: None,
            via,
            refused: None,
            rule: None,
            sent: 0,
            received: 0,
            duration: Duration::ZERO,
            request: None,
        }
    }

    /// Notes a connection that has ended, or never was.
    pub(super) fn note(&self, mut connection: Connection) {
        connection.duration = self.begun.elapsed().saturating_sub(connection.at);
        let mut pages = self.pages();
        if pages.report.connections.len() < MOST {
            pages.report.connections.push(connection);
        } else {
            pages.report.more += 1;
        }
    }

    /// Notes a name that may not be reached, once.
    pub(super) fn refused_name(&self, name: &str, code: &'static str) {
        let mut pages = self.pages();
        if pages.names.contains(name) {
            return;
        }
        if pages.report.connections.len() >= MOST {
            pages.report.more += 1;
            return;
        }
        pages.names.insert(name.to_owned());
        let entry = self.begin(name.to_owned(), None, Via::Name);
        pages.report.connections.push(Connection { refused: Some(code), ..entry });
    }

    /// Counts bytes that were sent; returns whether that was too much.
    pub(super) fn sent(&self, host: &str, bytes: u64, budget: &Budget) -> Result<(), &'static str> {
        let mut pages = self.pages();
        pages.report.sent += bytes;
        let all = pages.report.sent;
        if budget.upload.is_some_and(|most| all > most) {
            return Err("budget-upload");
        }
        let Some(most) = budget.per_host else { return Ok(()) };
        let own = pages.sent.entry(host.to_owned()).or_default();
        *own += bytes;
        if *own > most { Err("budget-per-host") } else { Ok(()) }
    }

    /// Counts bytes that were received; returns whether that was too much.
    pub(super) fn received(&self, bytes: u64, budget: &Budget) -> Result<(), &'static str> {
        let mut pages = self.pages();
        pages.report.received += bytes;
        let all = pages.report.received;
        if budget.download.is_some_and(|most| all > most) { Err("budget-download") } else { Ok(()) }
    }

    pub(super) fn trouble(&self, what: String) {
        self.pages().report.trouble.push(what);
    }

    pub(super) fn report(&self) -> Report {
        self.pages().report.clone()
    }

    fn pages(&self) -> MutexGuard<'_, Pages> {
        self.pages.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
