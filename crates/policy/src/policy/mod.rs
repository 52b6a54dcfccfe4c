//! The policy: every key there is.

mod choice;
mod commands;
mod confirm;
mod document;
mod files;
mod limits;
mod network;
mod reach;
mod tools;

pub use choice::{
    Caches, Keep, Nested, NetworkMode, OnViolation, OtlpFormat, Preset, Profile, Require, ShellUse,
    SpanNames,
};
pub use commands::{Action, Commands, DomainRule, Rule};
pub use confirm::{Audit, Backend, Confirm, Endpoint, Wrapper};
pub(crate) use document::{ALIASES, TOP_KEYS, schema as document_schema};
pub use document::{Document, Include, Task};
pub use files::{Env, Files};
pub use limits::Limits;
pub use network::{Budget, HttpRule, Network};
pub use reach::{OUTER, Reach, Reached, is_outer};
pub use tools::{ToolRegex, Tools};

use crate::key::{Field as _, Refusals, Setting, Sourced, section};
use crate::name::{Folder, PathPattern};

section! {
    /// What may happen, and by whom each part of it was said.
    ///
    /// The same type holds one file's statements and, after [`resolve`](crate::layer::resolve), what
    /// is in force. A key that nobody set reads as its strictest value.
    pub struct Policy {
        /// How calls are decided.
        preset: Setting<Preset>,
        /// How they are confined, where `files` and `network` do not say otherwise: a built-in name or a file.
        profile: Setting<Profile>,
        /// The least confinement to accept. The strongest that a host offers is always taken, but for
        /// `external`, which takes no wall of ours; where it offers less than this, nothing runs.
        require: Setting<Require>,
        /// The project root; relative paths in this file start there.
        root: Setting<Folder>,
        /// A command that every confined command is started through; it gets the rest as its arguments.
        wrapper: Setting<Wrapper>,
        /// Whether programs inside may make user namespaces of their own. Only the user, the command line or the library can set it.
        nested: Setting<Nested>,
        /// Files and folders.
        files: Files,
        /// What leaves the sandbox, and what enters it.
        network: Network,
        /// Which commands may run.
        commands: Commands,
        /// Interception of tool calls by the LLM proxy.
        tools: Tools,
        /// Upper bounds.
        limits: Limits,
        /// Environment variables.
        env: Env,
        /// Asking a person.
        confirm: Confirm,
        /// The record of what happened.
        audit: Audit,
    }
}

impl Policy {
    /// Hides a path whatever was said before: nothing in it stays readable.
    pub fn hide_for_good(&mut self, path: Sourced<PathPattern>) {
        let readable = self.files.allow_read.entries();
        if readable.iter().any(|open| path.value.covers(&open.value)) {
            let kept = readable.iter().filter(|open| !path.value.covers(&open.value));
            let kept = kept.cloned().collect();
            self.files.allow_read.replace(kept);
        }
        if !self.files.hide.values().any(|hidden| *hidden == path.value) {
            self.files.hide.merge(Refusals::new(vec![path]));
        }
    }

    /// Takes off the list of hidden paths what a higher layer unhides, and off the list of what
    /// stays readable in them what a higher layer hides.
    ///
    /// Between an `unhide` and a `hide` of the same layer the stricter wins, and an `unhide` never
    /// reaches what a higher layer hides.
    pub(crate) fn apply_unhide(&mut self) {
        self.files.protect.apply_lifts();
        let shut = |open: &Sourced<PathPattern>| {
            let hides = self.files.hide.entries().iter();
            let above = |hidden: &&Sourced<_>| hidden.origin.layer > open.origin.layer;
            hides.filter(above).any(|hidden| hidden.value.covers(&open.value))
        };
        let readable = self.files.allow_read.entries();
        if readable.iter().any(shut) {
            let kept = readable.iter().filter(|open| !shut(open)).cloned().collect();
            self.files.allow_read.replace(kept);
        }
        let unhide = self.files.unhide.clone();
        self.files.hide.retain(|hidden| {
            !unhide.entries().iter().any(|open| {
                open.origin.layer > hidden.origin.layer && open.value.covers(&hidden.value)
            })
        });
    }
}
