//! Asking a person about a host, while whoever wants to reach it waits.

use std::collections::HashMap;
use std::fmt;
use std::io;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::sync::{Mutex, MutexGuard, PoisonError};

use tokio::sync::watch;

use crate::traffic::Wanted;

/// Questions that wait for the one before them.
const WAITING: usize = 16;

/// Answers that are remembered; who asks for more is refused.
const MOST: usize = 1024;

/// Letters of a question about a request. Nobody could read a longer one.
const LONGEST: usize = 2048;

/// Asks a person; it may take its time. Whatever is not a yes means no.
pub type Ask = Box<dyn Fn(&Wanted) -> bool + Send>;

/// Who asks, and what was answered. An answer holds as long as the doors are open.
pub(super) struct Asking {
    queue: Option<SyncSender<(Wanted, watch::Sender<Option<bool>>)>>,
    answers: Mutex<HashMap<Wanted, watch::Receiver<Option<bool>>>>,
}

impl Asking {
    /// Makes room for questions; without somebody who asks, every answer is no.
    pub(super) fn new(ask: Option<Ask>) -> io::Result<Self> {
        let queue = match ask {
            None => None,
            Some(ask) => {
                let (queue, questions) = sync_channel(WAITING);
                // Nobody waits for its end: a person may be looking at a question.
                std::thread::Builder::new()
                    .name("pal-ask".into())
                    .spawn(move || put(&ask, &questions))?;
                Some(queue)
            }
        };
        Ok(Self { queue, answers: Mutex::default() })
    }

    /// Waits for the answer; an error is why it is no.
    pub(super) async fn ask(&self, wanted: Wanted) -> Result<(), &'static str> {
        let mut answer = self.question(wanted)?;
        let answered = answer.wait_for(Option::is_some).await;
        match answered.ok().and_then(|answer| *answer) {
            Some(true) => Ok(()),
            Some(false) | None => Err("ask-refused"),
        }
    }

    /// Puts a question, unless it was put before.
    fn question(&self, wanted: Wanted) -> Result<watch::Receiver<Option<bool>>, &'static str> {
        let Some(queue) = &self.queue else { return Err("ask-nobody") };
        if wanted.request.as_ref().is_some_and(|request| request.len() > LONGEST) {
            return Err("ask-long");
        }
        let mut answers = self.answers();
        if let Some(answer) = answers.get(&wanted) {
            return Ok(answer.clone());
        }
        if answers.len() >= MOST {
            return Err("ask-full");
        }
        let (sender, answer) = watch::channel(None);
        // What is not asked now may be asked later.
        queue.try_send((wanted.clone(), sender)).map_err(|_| "ask-full")?;
        answers.insert(wanted, answer.clone());
        Ok(answer)
    }

    fn answers(&self) -> MutexGuard<'_, HashMap<Wanted, watch::Receiver<Option<bool>>>> {
        self.answers.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Puts one question after the other.
fn put(ask: &Ask, questions: &Receiver<(Wanted, watch::Sender<Option<bool>>)>) {
    while let Ok((wanted, answer)) = questions.recv() {
        let said = ask(&wanted);
        // Who asked may have gone.
        answer.send(Some(said)).ok();
    }
}

impl fmt::Debug for Asking {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Asking").field("answers", &self.answers).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::sync::atomic::{AtomicUsize, Ordering};

    use super::*;

    fn wanted(host: &str) -> Wanted {
        Wanted { host: host.into(), port: 443, request: None, rule: None }
    }

    fn block_on<T>(future: impl Future<Output = T>) -> T {
        tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(future)
    }

    #[test]
    fn an_answer_holds_and_is_asked_for_once() {
        let count = Arc::new(AtomicUsize::new(0));
        let asked = Arc::clone(&count);
        let asking = Asking::new(Some(Box::new(move |wanted| {
            asked.fetch_add(1, Ordering::Relaxed);
            wanted.host == "yes.test"
        })));
        let asking = asking.unwrap();
        block_on(async {
            let both = tokio::join!(asking.ask(wanted("yes.test")), asking.ask(wanted("yes.test")));
            assert_eq!(both, (Ok(()), Ok(())));
            assert_eq!(asking.ask(wanted("no.test")).await, Err("ask-refused"));
            assert_eq!(asking.ask(wanted("no.test")).await, Err("ask-refused"));
        });
        assert_eq!(count.load(Ordering::Relaxed), 2);
    }

    #[test]
    fn where_nobody_can_be_asked_the_answer_is_no() {
        let asking = Asking::new(None).unwrap();
        assert_eq!(block_on(asking.ask(wanted("a.test"))), Err("ask-nobody"));
        // One who falls while asking has not agreed.
        let asking = Asking::new(Some(Box::new(|_| panic!("gone")))).unwrap();
        assert_eq!(block_on(asking.ask(wanted("a.test"))), Err("ask-refused"));
    }

    #[test]
    fn a_question_that_nobody_could_read_is_not_put() {
        let asking = Asking::new(Some(Box::new(|_| true))).unwrap();
        let about =
            |length: usize| Wanted { request: Some("x".repeat(length)), ..wanted("a.test") };
        assert_eq!(block_on(asking.ask(about(LONGEST))), Ok(()));
        assert_eq!(block_on(asking.ask(about(LONGEST + 1))), Err("ask-long"));
    }

    #[test]
    fn more_questions_than_anybody_would_answer_are_refused() {
        let (hold, held) = std::sync::mpsc::channel::<()>();
        let held = Mutex::new(held);
        let asking = Asking::new(Some(Box::new(move |_| {
            held.lock().unwrap().recv().ok();
            false
        })));
        let asking = asking.unwrap();
        let put = |number: usize| asking.question(wanted(&format!("n{number}.test"))).map(drop);
        let refused = (0..WAITING + 5).filter(|number| put(*number) == Err("ask-full")).count();
        assert!((4..=5).contains(&refused), "{refused}");
        drop(hold);
    }
}
