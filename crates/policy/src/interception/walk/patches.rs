//! The patches of a call.

use super::super::What;
use super::super::parameter::Role;
use super::super::path::Count;
use super::Walk;
use crate::decide::Answer;
use crate::patch::{self, Naming, Touched};

impl Walk<'_> {
    pub(super) fn patch_or_path(
        &mut self,
        text: &str,
        pointer: &dyn Fn() -> String,
        naming: Naming,
    ) {
        let first = text.trim_start();
        let starts = ["---", "***", "diff ", "Index:", "@@"].iter().any(|it| first.starts_with(it));
        if starts || first.contains('\n') {
            self.patch(text, pointer(), naming);
        } else {
            self.path(text, Role::Source, Count::One, pointer);
        }
    }

    pub(super) fn patch(&mut self, text: &str, pointer: String, naming: Naming) {
        // One that is blank says nothing, as none does.
        self.patches += usize::from(!text.trim().is_empty());
        let outer = self.found.take();
        for cwd in self.all_folders() {
            // One folder in which it is denied is enough; one in which it is asked is not.
            if self.found == Some(Answer::Deny) || !self.effort.spend(16 + text.len() / 64) {
                break;
            }
            let ground = self.judge.ground();
            let verdict = patch::judge_within(self.effort, text, naming, ground, &cwd, self.lookup);
            // Blocks to search and replace name no file; another parameter does, and is judged.
            let is_other = verdict.reasons().iter().all(|reason| reason.code == "patch-unknown");
            if naming == Naming::InPatch || !is_other {
                self.take(&verdict, &pointer, text);
                self.judged += 1;
            }
        }
        if self.windows.is_some() {
            self.patched_on_windows(text, &pointer);
        }
        self.note(What::Patch, &pointer, text);
        self.found = self.found.max(outer);
    }

    /// Judges the names in a patch as Windows reads them, too.
    fn patched_on_windows(&mut self, text: &str, pointer: &str) {
        let touched = patch::read(text).map(|patch| patch.touched).unwrap_or_default();
        for path in touched.iter().flat_map(Touched::readings) {
            self.path(&path, Role::Target, Count::One, &|| pointer.to_owned());
        }
    }
}
