//! Names of files that stand in code and are perhaps read.

use super::Style;
use super::path::Deed;
use super::verdict::Reason;
use super::walk::Walk;
use crate::command::{Arg, Certainty, HOLE};

impl Walk<'_> {
    /// Asks about the name of something hidden: by whatever way it is used, it is there to be read.
    /// Behind a part that is not known it may lie in the home folder.
    pub(super) fn mentioned(&mut self, path: &Arg<'_>) {
        if self.judge.style == Style::Runner {
            return;
        }
        let path = match path.text.rsplit_once(HOLE) {
            Some((_, rest)) if rest.starts_with('/') => {
                let certainty =
                    if rest.contains('*') { Certainty::Pattern } else { Certainty::Known };
                Arg { text: format!("~{rest}").into(), certainty, verbatim: None, ..path.clone() }
            }
            Some(_) => return,
            None => path.clone(),
        };
        if let Some(reason) = self.path_from(&path, Deed::Read, "/") {
            let answer = reason.answer.min(self.asking());
            self.report(Reason { answer, ..reason });
        }
    }
}
