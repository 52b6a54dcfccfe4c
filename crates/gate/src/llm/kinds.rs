//! What answers are made of: every kind of item, block, part and entry, and who acts on it.
//!
//! Who acts is told by the kind, which the API sets. Fields beside it that say where a call runs are
//! labels, and a label alone never makes a call somebody else's. A kind that nobody here knows and
//! that carries a call is refused: a newer client may act on it.

use serde_json::Value;

use super::Api;

/// Who acts on something.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Acts {
    /// Nobody: it tells what came of a call.
    Nobody,
    /// Nobody: it is said. It never carries a call, and what does is no such thing.
    Said,
    /// Whoever reads the answer.
    Client(Asks),
    /// The API's own servers: it is over when it is read.
    Server,
    /// Nobody knows.
    Unknown,
}

/// How a kind asks a client for something.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) struct Asks {
    /// The tool that it is judged as; empty where it names one.
    pub(super) tool: &'static str,
    /// The keys under which it says what to do.
    pub(super) body: &'static [&'static str],
    /// The kind of item that answers it.
    pub(super) answer: &'static str,
    /// Whether servers carry it out where the client asked for that.
    pub(super) hosted: bool,
}

const FUNCTION: &str = "function_call_output";
/// What answers a question whether a server may act.
pub(super) const APPROVAL: &str = "mcp_approval_response";

const fn asks(
    tool: &'static str,
    body: &'static [&'static str],
    answer: &'static str,
    hosted: bool,
) -> Acts {
    Acts::Client(Asks { tool, body, answer, hosted })
}

/// Items of OpenAI's Responses.
const ITEMS: &[(&str, Acts)] = &[
    ("function_call", asks("", &["arguments"], FUNCTION, false)),
    ("custom_tool_call", asks("", &["input"], "custom_tool_call_output", false)),
    ("local_shell_call", asks("local_shell", &["action"], "local_shell_call_output", false)),
    ("shell_call", asks("shell", &["action"], "shell_call_output", true)),
    ("apply_patch_call", asks("apply_patch", &["operation"], "apply_patch_call_output", false)),
    ("computer_call", asks("computer", &["action", "actions"], "computer_call_output", false)),
    ("tool_search_call", asks("tool_search", &["arguments"], "tool_search_output", false)),
    // The client says yes or no, and then a server acts in its name.
    ("mcp_approval_request", asks("", &["arguments"], APPROVAL, false)),
    ("web_search_call", Acts::Server),
    ("file_search_call", Acts::Server),
    ("code_interpreter_call", Acts::Server),
    ("image_generation_call", Acts::Server),
    ("mcp_call", Acts::Server),
    // A server's own program; what it asks a client for comes as items of their own.
    ("program", Acts::Nobody),
    ("message", Acts::Said),
    ("reasoning", Acts::Said),
    ("compaction", Acts::Said),
    ("mcp_list_tools", Acts::Nobody),
    (FUNCTION, Acts::Nobody),
    ("custom_tool_call_output", Acts::Nobody),
    ("local_shell_call_output", Acts::Nobody),
    ("shell_call_output", Acts::Nobody),
    ("apply_patch_call_output", Acts::Nobody),
    ("computer_call_output", Acts::Nobody),
    ("tool_search_output", Acts::Nobody),
    ("program_output", Acts::Nobody),
    (APPROVAL, Acts::Nobody),
];

/// Blocks of Anthropic's Messages. What ends with `_result` tells what came of a call.
const BLOCKS: &[(&str, Acts)] = &[
    ("tool_use", asks("", &["input"], "tool_result", false)),
    ("server_tool_use", Acts::Server),
    ("mcp_tool_use", Acts::Server),
    ("text", Acts::Said),
    ("thinking", Acts::Said),
    ("redacted_thinking", Acts::Said),
    ("container_upload", Acts::Nobody),
    ("compaction", Acts::Said),
    ("fallback", Acts::Nobody),
];

/// Keys of Gemini's parts.
const PARTS: &[(&str, Acts)] = &[
    ("functionCall", asks("", &["args", "partialArgs"], "functionResponse", false)),
    ("function_call", asks("", &["args", "partialArgs"], "functionResponse", false)),
    ("executableCode", Acts::Server),
    ("executable_code", Acts::Server),
    ("codeExecutionResult", Acts::Nobody),
    ("code_execution_result", Acts::Nobody),
    ("functionResponse", Acts::Nobody),
    ("function_response", Acts::Nobody),
    ("inlineData", Acts::Nobody),
    ("inline_data", Acts::Nobody),
    ("fileData", Acts::Nobody),
    ("file_data", Acts::Nobody),
    ("videoMetadata", Acts::Nobody),
    ("video_metadata", Acts::Nobody),
    ("partMetadata", Acts::Nobody),
    ("part_metadata", Acts::Nobody),
    ("mediaResolution", Acts::Nobody),
    ("media_resolution", Acts::Nobody),
];

/// Kinds of entries of `tool_calls` in OpenAI's Chat Completions, which are keys of them as well.
const ENTRIES: &[(&str, Acts)] = &[
    ("function", asks("", &["arguments"], "tool", false)),
    ("custom", asks("", &["input"], "tool", false)),
];

/// Keys under which something says what to do.
const BODIES: [&str; 15] = [
    "arguments",
    "args",
    "input",
    "action",
    "actions",
    "operation",
    "code",
    "command",
    "commands",
    "patch",
    "diff",
    "parameters",
    "params",
    "kwargs",
    "payload",
];

/// Keys by which something names a tool, without underscores.
const TOOLS: [&str; 6] =
    ["callid", "toolname", "toolinput", "functionname", "recipientname", "toolcallid"];

/// Those of them that name it, or say what it is given.
const NAMES: [&str; 4] = ["toolname", "toolinput", "functionname", "recipientname"];

/// Returns who acts on something of a kind.
pub(super) fn of(api: Api, kind: &str, value: &Value) -> Acts {
    let table = match api {
        Api::Chat => ENTRIES,
        Api::Responses => ITEMS,
        Api::Messages => BLOCKS,
        Api::Gemini => PARTS,
        Api::Other => &[],
    };
    let known = table.iter().find(|(known, _)| *known == kind).map(|(_, acts)| *acts);
    let tells = api == Api::Messages && kind.ends_with("_result");
    let odd = |kind: &str| is_call(kind) || carries(value) || holds(value);
    match known {
        Some(Acts::Said) if carries(value) => Acts::Unknown,
        None if !tells && odd(kind) => Acts::Unknown,
        Some(Acts::Said) | None => Acts::Nobody,
        Some(acts) => acts,
    }
}

/// Whether an event of a Responses stream is about an item that a client acts on.
pub(super) fn is_of_item(event: &str) -> bool {
    let event = event.strip_prefix("response.").unwrap_or(event);
    let known = ITEMS.iter().filter(|(kind, _)| event.starts_with(kind));
    match known.max_by_key(|(kind, _)| kind.len()) {
        Some((_, Acts::Client(_))) => true,
        Some(_) => false,
        None => event.split(['.', ' ']).next().is_some_and(|word| word.contains("_call")),
    }
}

/// Whether something that calls itself so is a call, in any API.
pub(super) fn is_call(kind: &str) -> bool {
    let kind = kind_as_read(kind);
    let ends = ["_call", "_calls", "tool_use", "_approval_request", "toolcall", "tooluse"];
    ends.iter().chain(&["functioncall"]).any(|end| kind.ends_with(end))
}

/// Whether a kind is one that a client acts on, in another spelling: some clients read it so.
pub(super) fn is_misspelt(kind: &str) -> bool {
    let folded = kind_as_read(kind);
    let known = ITEMS.iter().chain(BLOCKS);
    let mut acted = known.filter(|(_, acts)| matches!(acts, Acts::Client(_)));
    acted.any(|(known, _)| *known == folded && *known != kind)
}

/// Whether something says what to do, whatever it calls itself.
pub(super) fn carries(value: &Value) -> bool {
    let Some(map) = value.as_object() else { return false };
    map.iter().any(|(key, inner)| {
        let key = plain(key);
        let names = || TOOLS.contains(&&*key.replace(['_', '-'], ""));
        !inner.is_null() && (BODIES.contains(&key.as_str()) || names())
    })
}

/// Whether something of which nobody here knows what it is names anything and says more of it.
fn holds(value: &Value) -> bool {
    match value {
        Value::Array(list) => list.iter().any(|inner| carries(inner) || holds(inner)),
        Value::Object(map) => {
            let is_named =
                map.keys().any(|key| matches!(&*plain(key), "name" | "tool" | "function"));
            is_named && map.values().any(|inner| inner.is_object() || inner.is_array())
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => false,
    }
}

/// Returns what says what to do, by the keys of a kind; none if anything else says so as well.
pub(super) fn body<'v>(
    value: &'v Value,
    keys: &[&'static str],
) -> Option<Vec<(&'static str, &'v Value)>> {
    let is_there = |key: &&&str| !value[**key].is_null();
    let others = BODIES.iter().filter(|key| !keys.contains(key));
    let own = keys.iter().filter(is_there).map(|key| (*key, &value[*key]));
    (others.filter(is_there).count() == 0).then(|| own.collect())
}

/// Whether a key is one under which something says what to do, or names a tool.
pub(super) fn says_what(key: &str) -> bool {
    let key = plain(key);
    BODIES.contains(&key.as_str()) || NAMES.contains(&&*folded(&key))
}

/// Whether something says what to do, or names a tool, under other keys than its own, or holds
/// something that does.
pub(super) fn is_beside(value: &Value, own: &[&str]) -> bool {
    let stray = |(key, inner): (&String, &Value)| {
        !own.contains(&key.as_str()) && (says_what(key) && !is_blank(inner) || carries(inner))
    };
    value.as_object().is_some_and(|map| map.iter().any(stray))
}

/// Whether a value says nothing.
pub(super) fn is_blank(value: &Value) -> bool {
    match value {
        Value::Null => true,
        Value::String(text) => text.is_empty(),
        Value::Array(list) => list.is_empty(),
        Value::Object(map) => map.is_empty(),
        Value::Bool(_) | Value::Number(_) => false,
    }
}

/// Leaves out of a key what its spellings differ by: case, what joins words, and what nobody sees.
/// Some clients take blanks and marks off.
pub(super) fn folded(key: &str) -> String {
    seen(key).filter(|c| !matches!(c, '_' | '-')).collect()
}

/// Folds the case of a text as the most lenient readers of JSON do.
pub(super) fn plain(text: &str) -> String {
    text.chars().map(fold).collect()
}

fn fold(c: char) -> char {
    match c {
        '\u{17f}' => 's',
        '\u{212a}' => 'k',
        c => c.to_ascii_lowercase(),
    }
}

/// Returns what anybody sees of a text, without its case.
fn seen(text: &str) -> impl Iterator<Item = char> {
    text.chars().filter(|c| !c.is_whitespace() && !super::is_unseen(*c)).map(fold)
}

/// Returns a kind as its readers may take it.
fn kind_as_read(kind: &str) -> String {
    seen(kind).map(|c| if c == '-' { '_' } else { c }).collect()
}
