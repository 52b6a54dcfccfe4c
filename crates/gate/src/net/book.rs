//! What went through the doors, and what did not.

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use palisade_policy::name::Host;

use super::report::{Connection, Report, Via};
use super::rules::Budget;

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
    /// Where a refused name stands.
    names: HashMap<String, usize>,
}

impl Book {
    pub(super) fn new(begun: Instant) -> Self {
        Self { begun, pages: Mutex::default() }
    }

    /// Begins an entry, which is noted when it ends.
    pub(super) fn entry(&self, host: &Host, port: u16, via: Via) -> Connection {
        Connection {
            at: self.begun.elapsed(),
            host: host.to_string(),
            port: Some(port),
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
        let place = pages.report.connections.len();
        if pages.names.contains_key(name) {
            return;
        }
        if place >= MOST {
            pages.report.more += 1;
            return;
        }
        pages.names.insert(name.to_owned(), place);
        pages.report.connections.push(Connection {
            at: self.begun.elapsed(),
            host: name.to_owned(),
            port: None,
            address: None,
            via: Via::Name,
            refused: Some(code),
            rule: None,
            sent: 0,
            received: 0,
            duration: Duration::ZERO,
            request: None,
        });
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
