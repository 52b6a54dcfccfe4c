//! Tool calls.

mod addresses;
mod broken;
mod commands;
mod danger;
mod disguises;
mod patches;
mod paths;
mod property;
mod rows;
mod rules;
mod strictest;
mod users;
mod windows;

use serde_json::{Value as Json, json};

use super::*;
use crate::jail::{Entry, NoLookup};
use crate::layer::{Choice, Stack, Trust, resolve};
use crate::name::Anchors;
use crate::policy::Document;
use crate::text::Source as Text;

const ROOT: &str = "/srv/dev/app";
const HOME: &str = "/home/dev";

/// A policy in force, and what judges by it.
struct World {
    judge: Judge,
    interception: Interception,
}

impl World {
    /// What a user's own file says, on top of the built-in policy.
    fn new(yaml: &str) -> Self {
        Self::at(ROOT, yaml)
    }

    fn at(root: &str, yaml: &str) -> Self {
        Self::on(root, yaml, &NoLookup)
    }

    fn on(root: &str, yaml: &str, disk: &dyn Lookup) -> Self {
        let anchors = Anchors { root: root.into(), home: Some(HOME.into()) };
        let mut stack = Stack::new(&anchors).unwrap();
        let text = Text::new("user.yaml", &format!("version: 1\n{yaml}"));
        let document = Document::parse(&text, Layer::User, &anchors);
        stack.push(Layer::User, document.unwrap_or_else(|problems| panic!("{}", problems[0])));
        let policy = resolve(&stack, &Choice::default(), Trust::NotTrusted).unwrap().policy;
        Self {
            judge: Judge::new(&policy, root, Some(HOME), disk),
            interception: Interception::new(&policy, root, Some(HOME), disk),
        }
    }

    /// A proxy that intercepts; strictly or not. Made once: compiling all rules takes long.
    fn proxy(strict: bool) -> &'static Self {
        static WORLDS: OnceLock<[World; 2]> = OnceLock::new();
        let made = |strict| Self::new(&format!("tools: {{ enabled: true, strict: {strict} }}"));
        let [lenient, hard] = WORLDS.get_or_init(|| [made(false), made(true)]);
        if strict { hard } else { lenient }
    }

    fn text(&self, door: Door, tool: &str, arguments: &str) -> ToolVerdict {
        self.seen(door, tool, arguments, &NoLookup)
    }

    fn seen(&self, door: Door, tool: &str, arguments: &str, disk: &dyn Lookup) -> ToolVerdict {
        let cwd = self.judge.root();
        self.interception.judge(&Call { tool, arguments, cwd }, door, &self.judge, disk)
    }

    fn hook(&self, tool: &str, arguments: Json) -> ToolVerdict {
        self.text(Door::Hook, tool, &arguments.to_string())
    }

    fn proxied(&self, tool: &str, arguments: Json) -> ToolVerdict {
        self.text(Door::Proxy, tool, &arguments.to_string())
    }
}

/// What a hook says under the built-in policy.
fn hook(tool: &str, arguments: Json) -> ToolVerdict {
    World::proxy(true).hook(tool, arguments)
}

fn codes(verdict: &ToolVerdict) -> Vec<&str> {
    verdict.findings.iter().map(|finding| finding.reason.code).collect()
}

fn pointers(verdict: &ToolVerdict) -> Vec<&str> {
    verdict.findings.iter().map(|finding| finding.pointer.as_str()).collect()
}
