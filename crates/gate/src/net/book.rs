//! What went through the doors, and what did not.

use std::collections::{HashMap, HashSet};
use std::fmt;
use std::net::SocketAddr;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use palisade_policy::name::Host;

use super::rules::Budget;
use crate::traffic::{Connection, Report, Verdict, Via};

/// Connections that are told one by one, of those that came about and of those that did not; the others
/// are counted. Apart, so that nobody hides one behind a thousand names that are refused.
const MOST: usize = 1000;

/// Hosts whose bytes are counted one by one; the others share one count.
const HOSTS: usize = 4096;

/// The name of that count.
const OTHERS: &str = "others";

/// Letters of plain requests that are remembered, by all connections; more requests are counted.
const WORDS: usize = 4 << 20;

/// Somebody who hears of each connection when it has ended, and does not keep us waiting.
pub type Told = Arc<dyn Fn(&Connection) + Send + Sync>;

/// The book that is written while the doors are open.
pub(super) struct Book {
    begun: Instant,
    pages: Mutex<Pages>,
    /// Letters of requests that are remembered.
    words: AtomicUsize,
    told: Option<Told>,
}

/// A connection that is under way. However it ends, it is in the book then.
#[derive(Debug)]
pub(super) struct Entry {
    connection: Mutex<Connection>,
    host: String,
    sent: AtomicU64,
    received: AtomicU64,
    book: Arc<Book>,
}

#[derive(Debug, Default)]
struct Pages {
    report: Report,
    /// How many connections came about, and how many did not.
    came_about: usize,
    did_not: usize,
    /// Bytes that somebody wanted to send, to all.
    tried: u64,
    /// The same for each host.
    sent: HashMap<String, u64>,
    /// Names that were refused.
    names: HashSet<String>,
}

impl Book {
    pub(super) fn new(begun: Instant, told: Option<Told>) -> Self {
        Self { begun, pages: Mutex::default(), words: AtomicUsize::new(0), told }
    }

    /// Begins an entry, which is noted when it is dropped.
    pub(super) fn entry(self: &Arc<Self>, host: &Host, port: u16, via: Via) -> Entry {
        let connection = self.begin(host.to_string(), Some(port), via);
        let (sent, received) = (AtomicU64::new(0), AtomicU64::new(0));
        let host = connection.host.clone();
        Entry { connection: Mutex::new(connection), host, sent, received, book: Arc::clone(self) }
    }

    fn begin(&self, host: String, port: Option<u16>, via: Via) -> Connection {
        Connection {
            at: self.begun.elapsed(),
            host,
            port,
            address: None,
            via,
            // As long as nothing else is known of it, it has not come about.
            verdict: Verdict::Failed("unfinished"),
            rule: None,
            sent: 0,
            received: 0,
            duration: Duration::ZERO,
            requests: Vec::new(),
            more_requests: 0,
        }
    }

    /// Notes a connection that has ended, or never was.
    fn note(&self, mut connection: Connection) {
        connection.duration = self.begun.elapsed().saturating_sub(connection.at);
        if let Some(told) = &self.told {
            told(&connection);
        }
        let mut pages = self.pages();
        let told = match connection.verdict {
            Verdict::Allowed | Verdict::Cut(_) | Verdict::Untaken => &mut pages.came_about,
            Verdict::Refused(_) | Verdict::Failed(_) => &mut pages.did_not,
        };
        *told += 1;
        if *told <= MOST {
            pages.report.connections.push(connection);
        } else {
            pages.report.more += 1;
            self.words.fetch_sub(words(&connection), Ordering::Relaxed);
        }
    }

    /// Notes a name that may not be reached, once.
    pub(super) fn refused_name(&self, name: &str, code: &'static str, rule: Option<String>) {
        {
            let mut pages = self.pages();
            if pages.names.contains(name) {
                return;
            }
            if pages.names.len() >= MOST {
                pages.report.more += 1;
                return;
            }
            pages.names.insert(name.to_owned());
        }
        let entry = self.begin(name.to_owned(), None, Via::Name);
        self.note(Connection { verdict: Verdict::Refused(code), rule, ..entry });
    }

    /// Notes what somebody said to a proxy that names nobody who can be reached.
    pub(super) fn refused_words(&self, via: Via, code: &'static str) {
        let entry = self.begin(String::new(), None, via);
        self.note(Connection { verdict: Verdict::Refused(code), ..entry });
    }

    /// Counts bytes that are about to be sent; an error if that is too much. Then they are not sent,
    /// and the budget is spent all the same: nothing smaller slips through behind them.
    pub(super) fn sent(&self, host: &str, bytes: u64, budget: &Budget) -> Result<(), &'static str> {
        let mut pages = self.pages();
        pages.tried = pages.tried.saturating_add(bytes);
        let all = pages.tried;
        if budget.upload.is_some_and(|most| all > most) {
            return Err("budget-upload");
        }
        if let Some(most) = budget.per_host {
            // Those who come late are bounded together, and not one by one without end.
            let is_known = pages.sent.contains_key(host) || pages.sent.len() < HOSTS;
            let name = if is_known { host } else { OTHERS }.to_owned();
            let own = pages.sent.entry(name).or_default();
            *own = own.saturating_add(bytes);
            if *own > most {
                return Err("budget-per-host");
            }
        }
        pages.report.sent = pages.report.sent.saturating_add(bytes);
        Ok(())
    }

    /// Takes back what was counted and could not be sent.
    fn unsent(&self, bytes: u64) {
        let mut pages = self.pages();
        pages.report.sent = pages.report.sent.saturating_sub(bytes);
    }

    /// Counts bytes that were received; an error if that was too much.
    pub(super) fn received(&self, bytes: u64, budget: &Budget) -> Result<(), &'static str> {
        let mut pages = self.pages();
        pages.report.received = pages.report.received.saturating_add(bytes);
        let all = pages.report.received;
        if budget.download.is_some_and(|most| all > most) { Err("budget-download") } else { Ok(()) }
    }

    pub(super) fn trouble(&self, what: String) {
        const SHOWN: usize = 20;
        let mut pages = self.pages();
        if pages.report.trouble.len() < SHOWN {
            pages.report.trouble.push(what);
        }
    }

    pub(super) fn report(&self) -> Report {
        self.pages().report.clone()
    }

    fn pages(&self) -> MutexGuard<'_, Pages> {
        self.pages.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Entry {
    /// Says what became of it.
    pub(super) fn judged(&self, verdict: Verdict) {
        self.with(|connection| connection.verdict = verdict);
    }

    /// Says that an address is dialled.
    pub(super) fn dials(&self, address: SocketAddr) {
        self.with(|it| it.address = Some(address));
    }

    /// Says that there is a connection to it, which nothing has gone through yet.
    pub(super) fn dialled(&self) {
        self.judged(Verdict::Untaken);
    }

    /// Says that what the client said may go on, and that it does.
    pub(super) fn stands(&self) {
        self.judged(Verdict::Allowed);
    }

    /// Remembers a plain request, if there is room for its words.
    pub(super) fn saw(&self, method: &str, path: &str) {
        let held = self.book.words.load(Ordering::Relaxed);
        self.with(|it| {
            let before = words(it);
            match held < WORDS {
                true => it.saw(method, path),
                false => it.more_requests = it.more_requests.saturating_add(1),
            }
            self.book.words.fetch_add(words(it).saturating_sub(before), Ordering::Relaxed);
        });
    }

    /// Changes what is told of it.
    pub(super) fn with(&self, change: impl FnOnce(&mut Connection)) {
        change(&mut self.connection.lock().unwrap_or_else(PoisonError::into_inner));
    }

    /// Counts bytes that are about to go to the other side; an error if they may not.
    pub(super) fn sent(&self, bytes: usize, budget: &Budget) -> Result<(), &'static str> {
        let bytes = u64::try_from(bytes).unwrap_or(u64::MAX);
        self.book.sent(&self.host, bytes, budget)?;
        self.sent.fetch_add(bytes, Ordering::Relaxed);
        Ok(())
    }

    /// Takes back what did not get there.
    pub(super) fn unsent(&self, bytes: usize) {
        let bytes = u64::try_from(bytes).unwrap_or(u64::MAX);
        self.sent.fetch_sub(bytes, Ordering::Relaxed);
        self.book.unsent(bytes);
    }

    /// Counts bytes from there; an error if that was too much.
    pub(super) fn received(&self, bytes: usize, budget: &Budget) -> Result<(), &'static str> {
        let bytes = u64::try_from(bytes).unwrap_or(u64::MAX);
        self.received.fetch_add(bytes, Ordering::Relaxed);
        self.book.received(bytes, budget)
    }
}

impl Drop for Entry {
    fn drop(&mut self) {
        let mut connection = self.connection.lock().unwrap_or_else(PoisonError::into_inner).clone();
        connection.sent = self.sent.load(Ordering::Relaxed);
        connection.received = self.received.load(Ordering::Relaxed);
        self.book.note(connection);
    }
}

/// Counts the letters of the requests that are remembered of a connection.
fn words(connection: &Connection) -> usize {
    connection.requests.iter().map(String::len).sum()
}

impl fmt::Debug for Book {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Book").field("pages", &self.pages).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn book() -> Arc<Book> {
        Arc::new(Book::new(Instant::now(), None))
    }

    fn host(text: &str) -> Host {
        text.parse().unwrap()
    }

    #[test]
    fn the_first_connections_are_told_and_the_others_counted() {
        let book = book();
        for _ in 0..MOST + 5 {
            drop(book.entry(&host("a.test"), 80, Via::Direct));
        }
        let report = book.report();
        assert_eq!((report.connections.len(), report.more), (MOST, 5));
    }

    #[test]
    fn a_name_that_is_refused_is_told_once() {
        let book = book();
        for name in ["a.test", "b.test", "a.test"] {
            book.refused_name(name, "name-not-listed", None);
        }
        let report = book.report();
        let told: Vec<_> = report.connections.iter().map(|it| (&*it.host, it.verdict)).collect();
        let refused = Verdict::Refused("name-not-listed");
        assert_eq!(told, [("a.test", refused), ("b.test", refused)]);
        (0..2 * MOST)
            .for_each(|it| book.refused_name(&format!("n{it}.test"), "name-not-listed", None));
        let report = book.report();
        assert_eq!((report.connections.len(), report.more), (MOST, 1002));
    }

    #[test]
    fn nothing_hides_behind_names_that_are_refused() {
        let book = book();
        (0..2 * MOST)
            .for_each(|it| book.refused_name(&format!("n{it}.test"), "name-not-listed", None));
        book.entry(&host("a.test"), 80, Via::Direct).judged(Verdict::Allowed);
        let last = book.report().connections.last().map(|one| one.host.clone());
        assert_eq!(last.as_deref(), Some("a.test"));
    }

    #[test]
    fn bytes_beyond_a_budget_are_an_error() {
        let book = book();
        let budget = Budget { upload: Some(10), download: Some(5), per_host: Some(6) };
        assert_eq!(book.sent("a", 6, &budget), Ok(()));
        assert_eq!(book.sent("a", 1, &budget), Err("budget-per-host"));
        assert_eq!(book.sent("b", 3, &budget), Ok(()));
        assert_eq!(book.sent("b", 1, &budget), Err("budget-upload"));
        assert_eq!(book.received(5, &budget), Ok(()));
        assert_eq!(book.received(1, &budget), Err("budget-download"));
        let report = book.report();
        assert_eq!((report.sent, report.received), (9, 6), "what is kept back is not sent");
        book.unsent(2);
        assert_eq!(book.report().sent, 7, "nor is what did not get there");
        assert_eq!(book.sent("c", u64::MAX, &Budget::default()), Ok(()));
    }

    #[test]
    fn an_entry_is_in_the_book_however_it_ends() {
        let book = book();
        let entry = book.entry(&host("a.test"), 80, Via::Socks);
        entry.judged(Verdict::Cut("budget-upload"));
        (0..40).for_each(|_| entry.saw("GET", &format!("/{}", "x".repeat(500))));
        let budget = Budget { upload: Some(3), ..Budget::default() };
        assert_eq!(entry.sent(3, &budget), Ok(()));
        assert_eq!(entry.sent(3, &budget), Err("budget-upload"));
        assert_eq!(entry.received(7, &budget), Ok(()));
        assert!(book.report().connections.is_empty());
        drop(entry);
        let report = book.report();
        let [told] = &*report.connections else { panic!("{report:?}") };
        assert_eq!((told.sent, told.received, told.verdict.word()), (3, 7, "cut"));
        assert_eq!((told.requests.len(), told.more_requests), (32, 8));
        assert_eq!(told.requests[0].chars().count(), 257);
    }

    #[test]
    fn requests_beyond_a_number_of_letters_are_counted() {
        let book = book();
        let long = format!("/{}", "x".repeat(250));
        let mut all: Vec<_> =
            (0..600).map(|_| book.entry(&host("a.test"), 80, Via::Direct)).collect();
        for entry in &all {
            (0..32).for_each(|_| entry.saw("GET", &long));
        }
        let held = book.words.load(Ordering::Relaxed);
        assert!((WORDS..WORDS + 300).contains(&held), "{held}");
        all[599].with(|it| assert_eq!((it.requests.len(), it.more_requests), (0, 32)));
        // Those that are not told give their room back.
        (0..MOST).for_each(|_| drop(book.entry(&host("b.test"), 80, Via::Direct)));
        all.clear();
        assert_eq!(book.words.load(Ordering::Relaxed), 0);
    }

    #[test]
    fn until_something_else_is_known_nothing_has_come_about() {
        let book = book();
        let entry = || book.entry(&host("a.test"), 80, Via::Direct);
        drop(entry());
        let (dialled, stands) = (entry(), entry());
        dialled.dialled();
        stands.dialled();
        stands.stands();
        drop((dialled, stands));
        let words: Vec<_> = book.report().connections.iter().map(|it| it.verdict).collect();
        assert_eq!(words, [Verdict::Failed("unfinished"), Verdict::Untaken, Verdict::Allowed]);
    }

    #[test]
    fn hosts_beyond_a_number_share_one_count() {
        let book = book();
        let budget = Budget { per_host: Some(10), ..Budget::default() };
        for number in 0..HOSTS {
            assert_eq!(book.sent(&number.to_string(), 1, &budget), Ok(()));
        }
        for number in 0..10 {
            assert_eq!(book.sent(&format!("late{number}"), 1, &budget), Ok(()));
        }
        assert_eq!(book.sent("late10", 1, &budget), Err("budget-per-host"));
        assert_eq!(book.sent("0", 9, &budget), Ok(()));
        assert_eq!(book.pages().sent.len(), HOSTS + 1);
    }

    #[test]
    fn whoever_wants_to_hear_of_connections_does() {
        let heard = Arc::new(Mutex::new(Vec::new()));
        let ear = Arc::clone(&heard);
        let told: Told = Arc::new(move |it| ear.lock().unwrap().push(it.host.clone()));
        let book = Arc::new(Book::new(Instant::now(), Some(told)));
        drop(book.entry(&host("a.test"), 80, Via::Direct));
        book.refused_name("b.test", "name-not-listed", None);
        assert_eq!(*heard.lock().unwrap(), ["a.test", "b.test"]);
    }
}
