//! The patches of a call.

use std::collections::{BTreeMap, BTreeSet};

use super::super::What;
use super::super::arguments::{Arguments, Step, Value};
use super::super::parameter::Role;
use super::super::path::Count;
use super::super::tool::Sort;
use super::Walk;
use crate::decide::Answer;
use crate::patch::{self, Naming, Touched};

/// Where the parts of an operation on a file stand.
#[derive(Default)]
struct Operation {
    kind: Option<usize>,
    path: Option<usize>,
    diff: Option<usize>,
}

impl Walk<'_> {
    /// Judges operations on files, as OpenAI's own tool has them: `{type, path, diff}`. Returns the
    /// texts that are what a new file holds, and no patches.
    pub(super) fn operations(
        &mut self,
        arguments: &Arguments<'_>,
        prefix: &str,
    ) -> BTreeSet<usize> {
        let mut plain = BTreeSet::new();
        if self.sort() != Sort::Patch {
            return plain;
        }
        let mut found: BTreeMap<usize, Operation> = BTreeMap::new();
        for (at, node) in arguments.nodes.iter().enumerate() {
            let (Step::Key(key), Value::Text(_)) = (&node.step, &node.value) else { continue };
            match &**key {
                "type" => found.entry(node.parent).or_default().kind = Some(at),
                "path" => found.entry(node.parent).or_default().path = Some(at),
                "diff" => found.entry(node.parent).or_default().diff = Some(at),
                _ => {}
            }
        }
        let text = |at: Option<usize>| match &arguments.nodes.get(at?)?.value {
            Value::Text(text) => Some(&**text),
            Value::Map | Value::List | Value::Plain(_) => None,
        };
        for operation in found.values() {
            let (Some(kind), Some(path)) = (text(operation.kind), text(operation.path)) else {
                continue;
            };
            let verb = match kind {
                "create_file" => "Add",
                "update_file" => "Update",
                "delete_file" => "Delete",
                _ => continue,
            };
            let place = operation.path.map(|at| arguments.pointer(at)).unwrap_or_default();
            // What such a body would do to that file. The path is judged as it is written as well.
            let body = format!("*** Begin Patch\n*** {verb} File: {path}\n*** End Patch\n");
            self.patch(&body, format!("{prefix}{place}"), Naming::InPatch);
            if verb == "Add" && text(operation.diff).is_some_and(is_content) {
                plain.extend(operation.diff);
            }
        }
        plain
    }

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

/// Whether every line of a text is one that is added, whoever splits it.
fn is_content(text: &str) -> bool {
    let breaks =
        ['\r', '\u{b}', '\u{c}', '\u{1c}', '\u{1d}', '\u{1e}', '\u{85}', '\u{2028}', '\u{2029}'];
    !text.contains(breaks) && text.split('\n').all(|line| line.is_empty() || line.starts_with('+'))
}
