//! Calls in the arguments of a call.
//!
//! Models ask for several tools at once as one (`multi_tool_use.parallel`), and agents offer tools that
//! take a list of calls. Whoever carries such a call out takes it apart, so each call in it is judged
//! like one that stands alone, and so are the calls in those. More than can be judged is refused.

use serde_json::{Map, Value};

use super::{Call, NAMELESS, TORN, json};

/// Keys of lists of calls.
const LISTS: [&str; 6] =
    ["tool_uses", "invocations", "tool_calls", "calls", "function_calls", "toolCalls"];
/// Keys of the name of one.
const NAMES: [&str; 6] =
    ["recipient_name", "tool_name", "toolName", "tool", "name", "function_name"];
/// Keys of its arguments.
const BODIES: [&str; 4] = ["parameters", "input", "arguments", "args"];

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

    /// Returns the calls that its own arguments list, as far as `most`.
    fn listed(&self, most: usize) -> Vec<Self> {
        let Some(Value::Object(arguments)) = json::read(self.arguments.as_bytes()) else {
            return Vec::new();
        };
        let lists = LISTS.iter().filter_map(|key| Some((*key, arguments.get(*key)?)));
        let calls = lists.flat_map(|(key, list)| {
            let parsed = list.as_str().and_then(|text| json::read(text.as_bytes()));
            let list = parsed.unwrap_or_else(|| list.clone());
            let entries = match list {
                Value::Array(entries) => entries,
                one @ Value::Object(_) => vec![one],
                Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => Vec::new(),
            };
            entries.into_iter().filter_map(move |entry| self.entry(key, &entry))
        });
        calls.take(most).collect()
    }

    /// Reads an entry of a list; none if it is no call.
    fn entry(&self, list: &str, entry: &Value) -> Option<Self> {
        let whole = entry.as_object()?;
        let function = whole.get("function").and_then(Value::as_object);
        let map = function.unwrap_or(whole);
        let (mut names, mut bodies) = (there(map, &NAMES), there(map, &BODIES));
        if function.is_some() {
            // What stands beside it is a call, too, to who does not know it.
            names.extend(there(whole, &NAMES));
            bodies.extend(there(whole, &BODIES));
        }
        // Any tool may take a list of calls of another sort; of the model's own wrapper all is known.
        if names.is_empty() || (bodies.is_empty() && list != "tool_uses") {
            return None;
        }
        let name = names.first().and_then(|name| name.as_str()).unwrap_or_default();
        let name = name.strip_prefix("functions.").unwrap_or(name);
        let arguments = bodies.first().copied().unwrap_or(&Value::Null);
        let arguments = arguments.as_str().map_or_else(|| arguments.to_string(), str::to_owned);
        let mut call = Self::new(&self.id, name, arguments, self.place);
        if name.is_empty() {
            call.flaw = Some(NAMELESS);
        } else if names.len() > 1 || bodies.len() > 1 {
            call.flaw = Some(TORN);
        }
        Some(call)
    }
}

fn there<'v>(map: &'v Map<String, Value>, keys: &[&str]) -> Vec<&'v Value> {
    keys.iter().filter_map(|key| map.get(*key)).filter(|value| !value.is_null()).collect()
}
