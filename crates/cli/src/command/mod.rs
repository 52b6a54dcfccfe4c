//! One command, one file.

pub(crate) mod acp;
pub(crate) mod agents;
pub(crate) mod audit;
mod beside;
pub(crate) mod cache;
pub(crate) mod check;
pub(crate) mod completions;
pub(crate) mod demo;
pub(crate) mod doctor;
pub(crate) mod eval;
pub(crate) mod explain;
pub(crate) mod hook;
pub(crate) mod init;
pub(crate) mod learn;
pub(crate) mod man;
mod markdown;
pub(crate) mod mcp;
pub(crate) mod plan;
pub(crate) mod policy;
pub(crate) mod proxy;
pub(crate) mod run;
pub(crate) mod serve;
pub(crate) mod trust;
pub(crate) mod why;

use palisade::policy::interception::UnknownTool;
use palisade::policy::policy::Require;
use palisade::policy::text::visible;
use palisade::{Session, Warning};
use serde_json::{Value as Json, json};

use crate::args::{Cli, Command};
use crate::asking::Given;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::ui::{Color, Format, Ui};

/// Runs the command and reports its failure, if it has one.
pub(crate) fn run(cli: &Cli) -> Exit {
    let ui = Ui::new(cli.color);
    let (format, result) = match &cli.command {
        Command::Run(args) => (args.format(), args.run(&ui)),
        Command::Check(args) => (args.format(), apart(|| args.run(&ui))),
        Command::Plan(args) => (args.format(), apart(|| args.run(&ui))),
        Command::Explain(args) => (args.format(), apart(|| args.run(&ui))),
        Command::Why(args) => (args.format(), apart(|| args.run(&ui))),
        Command::Policy(command) => (command.format(), apart(|| command.run(&ui))),
        Command::Init(args) => (args.format(), apart(|| args.run(&ui))),
        Command::Learn(args) => (args.format(), apart(|| args.run(&ui))),
        Command::Trust(args) => (args.format(), apart(|| args.run(&ui))),
        Command::Cache(command) => (command.format(), apart(|| command.run(&ui))),
        Command::Agents(args) => (args.format(), apart(|| args.run(&ui))),
        Command::Hook(command) => (command.format(), apart(|| command.run(&ui))),
        Command::Serve(args) => (args.format(), apart(|| args.run(&ui))),
        Command::Acp(args) => (args.format(), apart(|| args.run(&ui))),
        Command::Mcp(command) => (command.format(), apart(|| command.run(&ui))),
        Command::Audit(command) => (command.format(), apart(|| command.run(&ui))),
        Command::Proxy(args) => (args.format(), apart(|| args.run(&ui))),
        Command::Eval(args) => (args.format(), apart(|| args.run(&ui))),
        Command::Demo(args) => (args.format(), apart(|| args.run(&ui))),
        Command::Doctor(args) => (args.format(), apart(|| args.run(&ui))),
        Command::Completions(args) => (Format::Human, apart(|| args.run(&ui))),
        Command::Man(args) => (Format::Human, apart(|| args.run(&ui))),
        Command::MarkdownHelp => (Format::Human, apart(|| markdown::run(&ui))),
    };
    result.unwrap_or_else(|failure| {
        ui.fail(&failure, format);
        Exit::Failed
    })
}

/// The least stack that we work with: what texts nest in each other is read in depth.
const STACK: u64 = 1 << 20;

/// Says that there is too little room to work in, if so: to run out of it would be an end without a
/// word, perhaps in the middle of a start.
pub(crate) fn without_room() -> Option<Exit> {
    let most = palisade::stack_limit().filter(|most| *most < STACK)?;
    let (has, needs) = (most >> 10, STACK >> 10);
    let message = format!("the stack may have {has} KiB, and {needs} are needed; nothing was run");
    let failure = Failure::new("stack", message).hint("raise it: `ulimit -s 8192`");
    Ui::new(Color::Auto).fail(&failure, Format::Human);
    Some(Exit::Failed)
}

/// Does something in a frame of its own: its variables are not on the stack of who waits elsewhere.
#[inline(never)]
fn apart<T>(does: impl FnOnce() -> T) -> T {
    does()
}

/// Prints the version.
pub(crate) fn version(text: &str) -> Exit {
    let ui = Ui::new(Color::Auto);
    ui.data(text).map_or_else(
        |failure| {
            ui.fail(&failure, Format::Human);
            Exit::Failed
        },
        |()| Exit::Success,
    )
}

/// Says that a call is missing.
fn nothing_asked(ui: &Ui) -> Exit {
    ui.say("error: no command was given");
    ui.say("hint: put it after `--`, or give shell text with --shell");
    Exit::Usage
}

/// Says what a person should know of a session.
fn warn(ui: &Ui, session: &Session) {
    session.warnings().iter().for_each(|warning| ui.say(&screen(warning)));
}

/// Says what a person should know of a session in which something is going to run.
fn warn_running(ui: &Ui, session: &Session) {
    screens_running(session).iter().for_each(|text| ui.say(text));
}

/// Returns that, one by one.
fn screens_running(session: &Session) -> Vec<String> {
    let mut texts: Vec<String> = session.warnings().iter().map(screen).collect();
    texts.extend(accepts_nothing(session).map(|less| format!("warning: {less}")));
    let idle = session.without_effect().into_iter();
    texts.extend(idle.map(|idle| format!("warning: {}", visible(&idle.to_string()))));
    texts
}

/// Writes a warning for a person, with what to do about it.
fn screen(warning: &Warning) -> String {
    let text = if let Warning::Text(problem) = warning {
        format!("{problem}\n") // it has a heading of its own
    } else {
        format!("warning: {warning}")
    };
    match warning.hint() {
        Some(hint) => format!("{text}\nhint: {hint}"),
        None => text,
    }
}

/// Says that a tool was named that nobody knows, and adds that to what a program is told.
fn doubt_tool(tool: Option<&str>, session: &Session, warnings: &mut Json, say: Option<&Ui>) {
    let Some(unknown) = tool.and_then(|tool| UnknownTool::of(session.policy(), tool)) else {
        return;
    };
    if let Some(told) = warnings.as_array_mut() {
        told.push(json!({ "code": "unknown-tool", "message": unknown.to_string() }));
    }
    if let Some(ui) = say {
        ui.say(&format!("warning: {unknown}"));
        ui.say(&format!("hint: {}", visible(&unknown.hint())));
    }
}

/// Says that a policy goes without walls of ours, if it does.
fn accepts_nothing(session: &Session) -> Option<&'static str> {
    match session.policy().require.value() {
        Require::Full | Require::Landlock => None,
        Require::External => Some(
            "nothing is confined by palisade: the policy relies on what stands around it \
             (`require: external`)",
        ),
        Require::None => Some(
            "the policy accepts a run without any wall (`require: none`): the strongest that this \
             host offers are taken, and `palisade doctor` says which those are",
        ),
    }
}

/// Tells a program the same.
fn warnings_running(session: &Session) -> Json {
    let mut told = warnings(session);
    if let Some(told) = told.as_array_mut() {
        let less = accepts_nothing(session);
        told.extend(less.map(|message| json!({ "code": "accepts-nothing", "message": message })));
        let idle = session.without_effect().into_iter();
        told.extend(
            idle.map(|idle| json!({ "code": "without-effect", "message": idle.to_string() })),
        );
    }
    told
}

/// Says what else may have been meant.
fn doubt(ui: &Ui, command: &Given) {
    if let Some(doubt) = command.doubt() {
        ui.say(&format!("note: {doubt}"));
        ui.say("hint: did you mean --shell?");
    }
}

/// Tells a program the same as a person, of the session and of the command.
fn warnings_with(session: &Session, command: &Given) -> Json {
    let mut told = warnings(session);
    if let (Some(told), Some(doubt)) = (told.as_array_mut(), command.doubt()) {
        told.push(one_word(&doubt));
    }
    told
}

/// Tells a program that a shell may have been meant.
fn one_word(doubt: &str) -> Json {
    json!({ "code": "one-word", "message": doubt })
}

/// Tells a program what a person should know of a session.
fn warnings(session: &Session) -> Json {
    let warning =
        |warning: &Warning| json!({ "code": warning.code(), "message": warning.to_string() });
    session.warnings().iter().map(warning).collect()
}

/// Prints what a generator wrote.
fn print_generated(ui: &Ui, bytes: &[u8]) -> Result<Exit, Failure> {
    ui.data(&String::from_utf8_lossy(bytes))?;
    Ok(Exit::Success)
}
