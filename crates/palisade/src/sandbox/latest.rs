//! Plans that were made before.
//!
//! A plan follows from an order and the facts of the host, and from nothing else. What is run again in
//! the same way is looked up again, since the disk may have changed, and planned again only if it has.

use std::sync::{Arc, Mutex, PoisonError};

use palisade_plan::{Facts, Order, Plan, Questions};

/// How many are remembered: whoever runs two at once may see the names that the other keeps, or not,
/// and so has plans of two kinds.
const MOST: usize = 4;

/// The latest plans, the last one first.
#[derive(Debug, Default)]
pub(super) struct Latest(Mutex<Vec<Arc<Made>>>);

/// A plan, and everything it follows from.
#[derive(Debug)]
pub(super) struct Made {
    pub(super) order: Order,
    pub(super) questions: Arc<Questions>,
    pub(super) facts: Facts,
    pub(super) plan: Plan,
}

impl Latest {
    /// Returns what was made of the same order.
    pub(super) fn of(&self, order: &Order) -> Vec<Arc<Made>> {
        let all = self.0.lock().unwrap_or_else(PoisonError::into_inner).clone();
        all.into_iter().filter(|made| made.order == *order).collect()
    }

    /// Remembers a plan, and forgets the oldest.
    pub(super) fn keep(&self, made: Made) {
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        all.insert(0, Arc::new(made));
        let most = MOST.min(all.len());
        let oldest = all.split_off(most);
        drop(all);
        // Outside of the lock: there is much to free.
        drop(oldest);
    }
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use palisade_testkit::{Home, Project};

    use super::MOST;
    use crate::{Job, Request, Sandbox};

    #[test]
    fn a_few_plans_are_remembered_and_none_with_variables_of_a_jobs_own() {
        let (project, home) = (Project::new(), Home::new());
        let sandbox = Sandbox::new(&Request::new(project.root(), home.env().clone())).unwrap();
        let known = || sandbox.0.latest.as_ref().map_or(0, |latest| latest.0.lock().unwrap().len());
        sandbox.plan(Job::from(["true"]).variable("TOKEN", "secret")).unwrap();
        assert_eq!(known(), 0);
        sandbox.plan(Job::from(["true"])).unwrap();
        assert_eq!(known(), 1);
        for number in 0..2 * MOST {
            sandbox.plan(Job::from(["true", &number.to_string()])).unwrap();
        }
        assert_eq!(known(), MOST);
        let once = Sandbox::new(&Request::new(project.root(), home.env().clone())).unwrap().once();
        once.plan(Job::from(["true"])).unwrap();
        assert!(once.0.latest.is_none());
    }
}
