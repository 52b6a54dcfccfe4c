//! Calls in the arguments of a call.
//!
//! Models ask for several tools at once as one (`multi_tool_use.parallel`), and agents offer tools that
//! take a list of calls, or the name of a tool and its arguments. Whoever carries such a call out takes
//! it apart, so each call in it is judged like one that stands alone, and so are the calls in those,
//! wherever they stand and however their keys are spelt. More than can be judged is refused, and so is
//! what stands among calls and is none that anybody here can read.

use serde_json::{Map, Value};

use super::kinds::folded;
use super::{CUT, Call, NAMELESS, TORN, UNKNOWN, json};

/// Keys of lists of calls, without case, underscores and hyphens.
const LISTS: [&str; 12] = [
    "tooluses",
    "tooluse",
    "toolcalls",
    "toolcall",
    "functioncalls",
    "functioncall",
    "invocations",
    "invocation",
    "invokes",
    "calls",
    "call",
    "toolinvocations",
];
/// Those under which nothing else stands, whoever takes them.
const SURE: [&str; 7] = [
    "tooluses",
    "tooluse",
    "toolcalls",
    "toolcall",
    "functioncalls",
    "functioncall",
    "toolinvocations",
];
/// Keys of the name of a call. The last is one that many other things have, too.
const NAMES: [&str; 6] = ["recipientname", "toolname", "tool", "functionname", "function", COMMON];
const COMMON: &str = "name";
/// Keys of its arguments.
const BODIES: [&str; 12] = [
    "parameters",
    "params",
    "input",
    "inputs",
    "arguments",
    "args",
    "kwargs",
    "toolinput",
    "toolargs",
    "toolarguments",
    "toolparameters",
    "toolparams",
];

/// Deepest that calls may stand in calls, and most of them in one.
const DEEPEST: usize = 4;
const MOST: usize = 128;

const MANY: &str = "it holds more calls, or calls in calls deeper, than are judged";

impl Call {
    /// Returns the calls that stand in the arguments of this one, at every depth. Where there are
    /// more than are judged, the last of them says so and is flawed.
    pub fn inner(&self) -> Vec<Self> {
        let mut found = Vec::new();
        let mut outer = vec![self.clone()];
        for depth in 0.. {
            let next: Vec<Self> = outer.iter().flat_map(|call| call.listed(MOST + 1)).collect();
            if next.is_empty() {
                break;
            }
            if depth == DEEPEST || found.len() + next.len() > MOST {
                found.push(Self { flaw: Some(MANY), ..self.clone() });
                break;
            }
            found.extend(next.iter().cloned());
            outer = next;
        }
        found
    }

    /// Returns the calls that its own arguments hold, as far as `most`, and not those in these.
    fn listed(&self, most: usize) -> Vec<Self> {
        let Some(arguments) = json::read(self.arguments.as_bytes()) else {
            // A key that stands twice: which of both holds the calls?
            return if self.flaw.is_none() { vec![self.flawed(TORN)] } else { Vec::new() };
        };
        let mut walk = Walk { call: self, most, found: Vec::new() };
        walk.value(&arguments, Among::Anything);
        walk.found
    }

    fn flawed(&self, flaw: &'static str) -> Self {
        Self { flaw: Some(flaw), ..self.clone() }
    }
}

/// What a value stands among.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum Among {
    /// Whatever a tool takes.
    Anything,
    /// What may be calls.
    Calls,
    /// Calls, and nothing else.
    OnlyCalls,
}

struct Walk<'c> {
    call: &'c Call,
    most: usize,
    found: Vec<Call>,
}

impl Walk<'_> {
    fn value(&mut self, value: &Value, among: Among) {
        if self.found.len() >= self.most {
            return;
        }
        match value {
            Value::Array(entries) => entries.iter().for_each(|entry| self.value(entry, among)),
            Value::Object(map) => self.map(map, among),
            // A list or an entry that is written as a text; elsewhere a text is what it is.
            Value::String(text) if among != Among::Anything => match json::read(text.as_bytes()) {
                Some(inner @ (Value::Array(_) | Value::Object(_))) => self.value(&inner, among),
                Some(_) => {}
                None if text.contains(['{', '[']) => self.found.push(self.call.flawed(CUT)),
                None => {}
            },
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
        }
    }

    fn map(&mut self, map: &Map<String, Value>, among: Among) {
        let before = self.found.len();
        self.found.extend(self.entry(map, among));
        // Its arguments are looked through when it is judged itself; what stands beside them, now.
        let is_call = self.found.len() > before;
        for (key, inner) in map {
            let key = folded(key);
            if is_call && (BODIES.contains(&&*key) || key == "function") {
                continue;
            }
            let among = match among {
                _ if SURE.contains(&&*key) => Among::OnlyCalls,
                _ if LISTS.contains(&&*key) => Among::Calls,
                // An entry may hold a call under a key of its own.
                Among::Calls | Among::OnlyCalls if !is_call => Among::Calls,
                Among::Anything | Among::Calls | Among::OnlyCalls => Among::Anything,
            };
            self.value(inner, among);
        }
        if among == Among::OnlyCalls && self.found.len() == before {
            self.found.push(self.call.flawed(UNKNOWN));
        }
    }

    /// Reads an object; none if it is no call.
    fn entry(&self, whole: &Map<String, Value>, among: Among) -> Option<Call> {
        let function = there(whole, &["function"]).into_iter().find_map(|(_, it)| it.as_object());
        let map = function.unwrap_or(whole);
        let (mut names, mut bodies) = (there(map, &NAMES), there(map, &BODIES));
        if function.is_some() {
            // What stands beside it is a call, too, to who does not know it.
            names.extend(there(whole, &NAMES));
            bodies.extend(there(whole, &BODIES));
        }
        names.retain(|(_, name)| !name.is_object());
        let is_sure = names.iter().any(|(key, _)| key != COMMON);
        let is_one = match among {
            Among::Anything => names.iter().any(|(_, name)| name.is_string()) && is_plain(&bodies),
            Among::Calls => !names.is_empty() && (is_sure || !bodies.is_empty()),
            Among::OnlyCalls => !names.is_empty() || !bodies.is_empty(),
        };
        if !is_one {
            return None;
        }
        let name = names.first().and_then(|(_, name)| name.as_str()).unwrap_or_default();
        let name = name.strip_prefix("functions.").unwrap_or(name);
        let arguments = match bodies.first() {
            Some((_, Value::String(text))) => text.clone(),
            Some((_, value)) => value.to_string(),
            // What stands beside the name may be the arguments themselves.
            None if among == Among::Calls => {
                let beside = map.iter().filter(|(key, _)| !NAMES.contains(&&*folded(key)));
                let beside = beside.map(|(key, value)| (key.clone(), value.clone()));
                Value::Object(beside.collect()).to_string()
            }
            None => Value::Null.to_string(),
        };
        let mut call = Call::new(&self.call.id, name, arguments, self.call.place);
        if name.is_empty() {
            call.flaw = Some(NAMELESS);
        } else if names.len() > 1 || bodies.len() > 1 {
            call.flaw = Some(TORN);
        }
        Some(call)
    }
}

/// Whether what stands anywhere beside a name is what a tool is given: an object, or one as a text.
fn is_plain(bodies: &[(String, &Value)]) -> bool {
    let is_body = |(key, body): &(String, &Value)| match body {
        Value::Object(_) => true,
        Value::String(text) => !key.starts_with("input") && json::is_object(text),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::Array(_) => false,
    };
    bodies.iter().any(is_body)
}

/// Returns what an object has under some keys, however they are spelt.
fn there<'v>(map: &'v Map<String, Value>, keys: &[&str]) -> Vec<(String, &'v Value)> {
    let spelt = map.iter().filter(|(_, value)| !value.is_null());
    let spelt = spelt.map(|(key, value)| (folded(key), value));
    let mut found: Vec<_> = spelt.filter(|(key, _)| keys.contains(&&**key)).collect();
    found.sort_by_key(|(key, _)| keys.iter().position(|known| known == key));
    found
}
