//! The tools: what they are, whether a call may happen, and doing it.

use palisade::policy::decide::Answer;
use palisade::policy::interception::ToolVerdict;
use palisade::policy::text::visible;
use palisade::{Job, Stop};
use serde_json::{Map, Value as Json, json};

use super::files;
use super::server::Server;
use crate::command::check;

pub(super) const INSTRUCTIONS: &str = "Commands and files of one project, behind walls. \
    A refusal says why and what to do instead.";

/// What a tool says.
#[derive(Debug)]
pub(super) struct Told {
    pub(super) text: String,
    pub(super) structured: Option<Json>,
    pub(super) is_error: bool,
}

impl Told {
    pub(super) fn error(text: impl Into<String>) -> Self {
        Self { text: text.into(), structured: None, is_error: true }
    }

    fn text(text: impl Into<String>) -> Self {
        Self { text: text.into(), structured: None, is_error: false }
    }
}

/// Who has to be asked about a call.
#[derive(Debug)]
pub(super) enum Asks {
    Nobody,
    Somebody(String),
    Denied(String),
}

/// One of the tools.
struct Tool {
    name: &'static str,
    what: &'static str,
    /// Name, kind and meaning of each parameter.
    parameters: &'static [[&'static str; 3]],
    required: &'static [&'static str],
    reads: bool,
}

const TOOLS: [Tool; 7] = [
    Tool {
        name: "run_command",
        what: "Run a shell command behind walls: it can write to the project alone, sees no \
               credentials, and has the network that the policy gives it",
        parameters: &[
            ["command", "string", "shell text"],
            ["cwd", "string", "folder of the project to run in"],
            ["timeout_seconds", "number", "ends the command after this time"],
        ],
        required: &["command"],
        reads: false,
    },
    Tool {
        name: "read_file",
        what: "Read a text file of the project",
        parameters: &[["path", "string", "the file"]],
        required: &["path"],
        reads: true,
    },
    Tool {
        name: "write_file",
        what: "Write a text file of the project, with the folders above it",
        parameters: &[["path", "string", "the file"], ["content", "string", "its new text"]],
        required: &["path", "content"],
        reads: false,
    },
    Tool {
        name: "edit_file",
        what: "Replace one piece of a text file; the piece must stand there exactly once",
        parameters: &[
            ["path", "string", "the file"],
            ["old_string", "string", "the piece as it is"],
            ["new_string", "string", "what takes its place"],
        ],
        required: &["path", "old_string", "new_string"],
        reads: false,
    },
    Tool {
        name: "list_directory",
        what: "List a folder of the project",
        parameters: &[["path", "string", "the folder"]],
        required: &[],
        reads: true,
    },
    Tool {
        name: "search",
        what: "Search files of the project for a regular expression",
        parameters: &[
            ["pattern", "string", "extended regular expression"],
            ["path", "string", "folder or file"],
        ],
        required: &["pattern"],
        reads: true,
    },
    Tool {
        name: "explain_decision",
        what: "Say whether a command or a tool call would be allowed, and why not; runs nothing",
        parameters: &[
            ["command", "string", "shell text"],
            ["tool", "string", "name of a tool"],
            ["arguments", "object", "its arguments"],
        ],
        required: &[],
        reads: true,
    },
];

pub(super) fn is_known(name: &str) -> bool {
    TOOLS.iter().any(|tool| tool.name == name)
}

pub(super) fn list() -> Json {
    let told = |tool: &Tool| {
        let parameter = |[name, kind, what]: &[&str; 3]| {
            ((*name).to_owned(), json!({ "type": kind, "description": what }))
        };
        let properties: Map<String, Json> = tool.parameters.iter().map(parameter).collect();
        json!({
            "name": tool.name,
            "description": tool.what,
            "inputSchema": { "type": "object", "properties": properties,
                             "required": tool.required, "additionalProperties": false },
            "annotations": { "readOnlyHint": tool.reads, "destructiveHint": !tool.reads,
                             "openWorldHint": false },
        })
    };
    TOOLS.iter().map(told).collect()
}

/// Decides about a call.
pub(super) fn asks(server: &Server, name: &str, id: &str, arguments: &Map<String, Json>) -> Asks {
    let Some(tool) = TOOLS.iter().find(|tool| tool.name == name) else {
        return Asks::Denied("there is no such tool".to_owned());
    };
    for (key, value) in arguments {
        let Some([_, kind, _]) = tool.parameters.iter().find(|[name, ..]| name == key) else {
            return Asks::Denied(format!("{name} has no parameter `{}`", visible(key)));
        };
        let fits = match *kind {
            "string" => value.is_string(),
            "number" => value.is_number(),
            _ => value.is_object(),
        };
        if !fits {
            return Asks::Denied(format!("`{key}` is no {kind}"));
        }
    }
    if let Some(missing) = tool.required.iter().find(|key| !arguments.contains_key(**key)) {
        return Asks::Denied(format!("`{missing}` is missing"));
    }
    // It runs nothing and opens nothing.
    if name == "explain_decision" {
        return Asks::Nobody;
    }
    judged(server, name, Some(id), arguments)
}

/// Judges a call. One that has an `id` is a client's own, and is recorded; others are parts of it.
pub(super) fn judged(
    server: &Server,
    name: &str,
    id: Option<&str>,
    arguments: &Map<String, Json>,
) -> Asks {
    let mut arguments = arguments.clone();
    if matches!(name, "list_directory" | "search") {
        arguments.entry("path").or_insert_with(|| ".".into());
    }
    // By the name that others give to what it does.
    let known = if name == "search" { "grep" } else { name };
    let (arguments, cwd) = (Json::from(arguments).to_string(), server.guard.root());
    let verdict = match id {
        Some(_) => server.sandbox.judge_tool_in(known, id, &arguments, cwd),
        None => server.guard.tool_call(known, &arguments, cwd),
    };
    match verdict.answer {
        Answer::Allow => Asks::Nobody,
        Answer::Ask => Asks::Somebody(because(&verdict)),
        Answer::Deny => Asks::Denied(because(&verdict)),
    }
}

/// Tells a model why.
pub(super) fn because(verdict: &ToolVerdict) -> String {
    let one = |finding: &palisade::policy::interception::Finding| {
        let hint = finding.reason.hint.as_deref().map(|hint| format!(" ({})", visible(hint)));
        let message = visible(&finding.reason.message);
        format!("{message} [{}]{}", finding.reason.code, hint.unwrap_or_default())
    };
    let told: Vec<String> = verdict.findings.iter().take(3).map(one).collect();
    format!("palisade: {}", told.join("; "))
}

/// Makes a call that may happen; what it starts can be stopped by what `begun` is handed.
pub(super) fn call(
    server: &Server,
    name: &str,
    arguments: &Map<String, Json>,
    begun: impl Fn(Option<Stop>),
) -> Told {
    let text = |key: &str| arguments.get(key).and_then(Json::as_str).unwrap_or_default();
    let path = arguments.get("path").and_then(Json::as_str).unwrap_or(".");
    match name {
        "run_command" => {
            let mut job = Job::shell(text("command")).tool(name).cwd(server.guard.root());
            if let Some(cwd) = arguments.get("cwd").and_then(Json::as_str) {
                job = job.cwd(std::path::Path::new(server.guard.root()).join(cwd));
            }
            if let Some(seconds) = arguments.get("timeout_seconds").and_then(Json::as_f64) {
                match std::time::Duration::try_from_secs_f64(seconds) {
                    Ok(time) if !time.is_zero() => job = job.timeout(time),
                    _ => return Told::error("`timeout_seconds` is no time to run in"),
                }
            }
            ran(server, job, begun)
        }
        "search" => {
            let place = match files::place(server, "search", path) {
                Ok(place) => place,
                Err(why) => return Told::error(why),
            };
            let words = ["grep", "-rnIE", "--exclude-dir=.git", "-e", text("pattern"), "--"];
            let place = if place.as_os_str().is_empty() { ".".into() } else { place };
            let place = format!("./{}", place.to_string_lossy());
            let job = Job::argv(words.into_iter().map(str::to_owned).chain([place]));
            let mut told = ran(server, job.cwd(server.guard.root()), begun);
            // It ends with 1 where nothing was found.
            told.is_error &= told.structured.as_ref().is_none_or(|it| it["exit_code"] != 1);
            told
        }
        "explain_decision" => explained(server, arguments),
        _ => files::done(server, name, path, &text).map_or_else(Told::error, Told::text),
    }
}

fn ran(server: &Server, job: Job, begun: impl Fn(Option<Stop>)) -> Told {
    let run = match server.sandbox.start(job) {
        Ok(run) => run,
        Err(error) => return Told::error(visible(&error.to_string())),
    };
    begun(run.stop());
    let outcome = match run.wait() {
        Ok(outcome) => outcome,
        Err(error) => return Told::error(visible(&error.to_string())),
    };
    begun(None);
    let all = outcome.json();
    let keys = [
        "exit_code",
        "stdout",
        "stderr",
        "stdout_base64",
        "stderr_base64",
        "truncated",
        "timed_out",
        "denied",
        "reason",
        "duration_ms",
        "level",
    ];
    let kept = keys.into_iter().filter_map(|key| Some((key.to_owned(), all.get(key)?.clone())));
    let structured = Json::Object(kept.collect());
    let mut text = format!("{}{}", outcome.stdout_text(), outcome.stderr_text());
    if let Some(reason) = outcome.reason() {
        text.push_str(&format!("\n[{}]", visible(&reason)));
    }
    if outcome.exit_code() != 0 {
        text.push_str(&format!("\n[exit code {}]", outcome.exit_code()));
    }
    Told { text, structured: Some(structured), is_error: !outcome.ok() }
}

fn explained(server: &Server, arguments: &Map<String, Json>) -> Told {
    use palisade::policy::decide::{Asked, Call};
    let cwd = server.guard.root();
    let told = match (arguments.get("command"), arguments.get("tool")) {
        (Some(Json::String(text)), None) => {
            let command = Asked::Shell(text);
            check::json(&server.guard.decide(command, cwd), &Call { command, cwd }.text())
        }
        (None, Some(Json::String(tool))) => {
            let arguments = arguments.get("arguments").cloned().unwrap_or_else(|| json!({}));
            check::told_tool(&server.guard.tool_call(tool, &arguments.to_string(), cwd))
        }
        _ => return Told::error("give either `command` or `tool`"),
    };
    Told { text: format!("{told:#}"), structured: Some(told), is_error: false }
}
