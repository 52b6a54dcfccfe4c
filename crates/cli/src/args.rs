//! The tree of commands. Its doc comments are the help texts.

mod quick;

use std::env;
use std::ffi::OsString;
use std::path::PathBuf;

use clap::error::{ContextKind, ContextValue, ErrorKind};
use clap::{Args, CommandFactory as _, Parser, Subcommand};
use palisade::{Request, Session, Speaker};

use crate::command::{
    acp, agents, audit, cache, check, completions, demo, doctor, eval, explain, hook, init, learn,
    man, mcp, plan, policy, proxy, run, serve, trust, why,
};
use crate::exit::Exit;
use crate::failure::Failure;
use crate::ui::{Color, Format};

/// Confine coding agents to a project
///
/// `palisade run -- COMMAND` decides whether a command may run, asks you where the policy says so,
/// and runs it behind walls that the kernel holds: it can write to the project alone, sees no
/// credentials, and has no network. No configuration is needed; policies of the machine, the user
/// and the project, and files of other systems, say otherwise. A project's own policy can only
/// narrow until you trust it. `palisade check` and `palisade explain` decide and run nothing.
///
/// Exit codes: 0 done or allowed, 2 wrong usage, 3 undecided, 125 failed and nothing was run, 126
/// declined or denied; those of `palisade run` are the command's own.
/// `palisade help COMMAND` says the same as `palisade COMMAND --help`.
/// Wrong usage is told in words, also with `--json`.
#[derive(Debug, Parser)]
#[command(name = "palisade", version, arg_required_else_help = true, max_term_width = 100)]
#[command(disable_help_subcommand = true, after_long_help = surroundings())]
pub(crate) struct Cli {
    /// When to use colour
    #[arg(long, global = true, value_name = "WHEN", default_value = "auto")]
    pub(crate) color: Color,

    #[command(subcommand)]
    pub(crate) command: Command,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    Run(Box<run::RunArgs>),
    Check(check::CheckArgs),
    Plan(plan::PlanArgs),
    Explain(explain::ExplainArgs),
    Why(why::WhyArgs),
    #[command(subcommand)]
    Policy(policy::PolicyCommand),
    Init(init::InitArgs),
    Learn(Box<learn::LearnArgs>),
    Trust(trust::TrustArgs),
    #[command(subcommand)]
    Cache(cache::CacheCommand),
    Agents(agents::AgentsArgs),
    #[command(subcommand)]
    Hook(hook::HookCommand),
    Serve(serve::ServeArgs),
    Acp(acp::AcpArgs),
    #[command(subcommand)]
    Mcp(mcp::McpCommand),
    #[command(subcommand)]
    Audit(audit::AuditCommand),
    Proxy(Box<proxy::ProxyArgs>),
    Eval(Box<eval::EvalArgs>),
    Demo(demo::DemoArgs),
    Doctor(doctor::DoctorArgs),
    Completions(completions::CompletionsArgs),
    Man(man::ManArgs),
    /// Print the manual of this command line as Markdown
    #[command(hide = true)]
    MarkdownHelp,
}

/// Which project is meant.
#[derive(Clone, Debug, Default, Args)]
pub(crate) struct Place {
    /// Project folder, instead of the one that is found
    #[arg(long, value_name = "DIR")]
    pub(crate) root: Option<PathBuf>,
}

/// What a person says on top of the files.
#[derive(Clone, Debug, Default, Args)]
pub(crate) struct Selection {
    #[command(flatten)]
    place: Place,

    #[command(flatten)]
    said: Said,
}

/// What a person says on top of the files, wherever the project is.
#[derive(Clone, Debug, Default, Args)]
pub(crate) struct Said {
    /// Policy file to add on top of those that are found; it counts as yours. May be repeated
    #[arg(long, value_name = "FILE")]
    policy: Vec<String>,

    /// How calls are decided, such as `confined` or `runner`
    #[arg(long, value_name = "NAME")]
    preset: Option<String>,

    /// How commands are confined, such as `readonly`, or a file
    #[arg(long, value_name = "NAME")]
    profile: Option<String>,
}

/// Whose policy is meant.
#[derive(Clone, Debug, Default, Args)]
pub(crate) struct Subject {
    /// Agent the policy is for: one of `palisade agents`, or one that a policy speaks of
    #[arg(long, value_name = "NAME")]
    agent: Option<String>,

    /// Task the policy is for, by its name in a policy or in a file of tasks
    #[arg(long, value_name = "NAME")]
    pub(crate) task: Option<String>,

    #[command(flatten)]
    selection: Selection,
}

/// For whom a command prints.
#[derive(Debug, Default, Args)]
pub(crate) struct Output {
    /// Print JSON, also for errors; wrong usage is told in words
    #[arg(long)]
    json: bool,
}

/// The variables that are looked at, and what each says.
pub(crate) const VARIABLES: [(&str, &str); 4] = [
    ("PALISADE_POLICY", "a policy file to add; it counts as yours, and `--policy` stands above it"),
    ("PALISADE_PRESET", "how calls are decided; `--preset` stands above it"),
    ("PALISADE_PROFILE", "how commands are confined; `--profile` stands above it"),
    ("PALISADE_ROOT", "the project folder; `--root` stands above it"),
];

/// The places that are looked at without being named, and what lies there.
pub(crate) const FILES: [(&str, &str); 4] = [
    ("/etc/palisade/policy.yaml", "the policy of the machine"),
    ("~/.config/palisade/policy.yaml", "your own policy; XDG_CONFIG_HOME moves it"),
    (
        ".palisade/policy.yaml",
        "the policy of a project, in its root; it narrows until you trust it",
    ),
    (
        "~/.local/state/palisade",
        "what you trusted, caches of projects, where agents work, placeholders; XDG_STATE_HOME moves it",
    ),
];

impl Cli {
    /// Returns the version if nothing else is asked for. Building the tree of commands takes longer
    /// than all the rest of a start, and this answer does not need it.
    pub(crate) fn version_alone() -> Option<&'static str> {
        let mut arguments = env::args_os().skip(1);
        let first = arguments.next()?;
        let alone = (first == "--version" || first == "-V") && arguments.next().is_none();
        alone.then_some(concat!("palisade ", env!("CARGO_PKG_VERSION"), "\n"))
    }

    /// Reads the arguments; wrong ones end the process with 2, and with what to write instead. Under
    /// `run` they end it with 125: 2 is a number that commands end with (Ruling 11).
    pub(crate) fn read() -> Result<Self, Exit> {
        let arguments: Vec<OsString> = env::args_os().skip(1).collect();
        // What is wrong, or asks for help, is told by the tree of all commands.
        let read = match asked_about(&arguments) {
            Some(words) => Self::try_parse_from(words),
            None => Self::quick(&arguments).map_or_else(Self::try_parse, Ok),
        };
        read.or_else(|mut wrong| {
            let word = |kind| match wrong.get(kind) {
                Some(ContextValue::String(word)) => Some(word.clone()),
                Some(_) | None => None,
            };
            let asks = ["run", "check", "explain", "plan"].into_iter().any(first_word);
            let misplaced = wrong.kind() == ErrorKind::UnknownArgument
                && word(ContextKind::InvalidArg).is_some_and(|word| !word.starts_with('-'));
            let is_known = wrong.get(ContextKind::SuggestedSubcommand).is_some();
            let meant = word(ContextKind::InvalidSubcommand).filter(|_| !is_known);
            let meant = meant.and_then(|word| jumbled(&word));
            if asks && misplaced {
                let tip = "put the command after `--`, or give shell text with --shell";
                let tip = ContextValue::StyledStrs(vec![tip.into()]);
                wrong.insert(ContextKind::Suggested, tip);
            }
            if let Some(meant) = meant {
                let meant = ContextValue::Strings(vec![meant]);
                wrong.insert(ContextKind::SuggestedSubcommand, meant);
            }
            if first_word("run") && wrong.use_stderr() {
                wrong.print().ok();
                return Err(Exit::Failed);
            }
            wrong.exit()
        })
    }
}

/// Whether the process runs commands for others until it is ended, in many threads.
#[cfg(target_os = "linux")]
pub(crate) fn serves_many() -> bool {
    ["acp", "serve", "mcp", "proxy", "eval"].into_iter().any(first_word)
}

/// Whether an agent's hook is answered: whatever goes wrong then must refuse the call, and agents take
/// only one number for that.
pub(crate) fn answers_hook() -> bool {
    let agent = env::args_os().nth(2);
    let answers = |agent: &OsString| agent.to_str().is_some_and(hook::HookCommand::answers);
    first_word("hook") && agent.as_ref().is_some_and(answers)
}

/// Turns `help COMMAND` into `COMMAND --help`. Only words before the first option are taken, so that
/// nothing behind `--` can become a command that runs.
fn asked_about(arguments: &[OsString]) -> Option<Vec<OsString>> {
    let (first, rest) = arguments.split_first()?;
    let words = rest.iter().take_while(|word| !word.as_encoded_bytes().starts_with(b"-")).cloned();
    let about = ["palisade".into()].into_iter().chain(words).chain(["--help".into()]);
    (first == "help").then(|| about.collect())
}

/// Returns the command that has the same letters in another order, which are typed too fast.
fn jumbled(word: &str) -> Option<String> {
    let sorted = |word: &str| {
        let mut letters: Vec<char> = word.chars().collect();
        letters.sort_unstable();
        letters
    };
    let tree = Cli::command();
    let mut names =
        tree.get_subcommands().filter(|it| !it.is_hide_set()).map(clap::Command::get_name);
    names.find(|name| sorted(name) == sorted(word)).map(str::to_owned)
}

/// Whether the first argument is this word.
fn first_word(word: &str) -> bool {
    env::args_os().nth(1).is_some_and(|first| first == word)
}

impl Place {
    /// Asks for the project around the working folder.
    pub(crate) fn request(&self) -> Result<Request, Failure> {
        let mut request = Request::from_process().map_err(|error| {
            Failure::io("cwd", "cannot find the working folder", &error)
                .hint("go to a folder that exists")
        })?;
        request.speaker = Speaker::CommandLine;
        request.root.clone_from(&self.root);
        Ok(request)
    }
}

impl Selection {
    /// Asks for the policy that these options choose.
    pub(crate) fn request(&self) -> Result<Request, Failure> {
        let mut request = self.place.request()?;
        self.said.put(&mut request);
        Ok(request)
    }
}

impl Said {
    /// Puts it into what is asked for.
    pub(crate) fn put(&self, request: &mut Request) {
        request.policies.clone_from(&self.policy);
        request.preset.clone_from(&self.preset);
        request.profile.clone_from(&self.profile);
    }
}

impl Subject {
    /// Whether a project folder was chosen.
    pub(crate) fn has_root(&self) -> bool {
        self.selection.place.root.is_some()
    }

    /// Asks for the policy that these options choose.
    pub(crate) fn request(&self) -> Result<Request, Failure> {
        let mut request = self.selection.request()?;
        request.agent.clone_from(&self.agent);
        request.task.clone_from(&self.task);
        Ok(request)
    }

    /// Opens the project, and returns what was asked for with it.
    pub(crate) fn open(&self) -> Result<(Request, Session), Failure> {
        let request = self.request()?;
        let session = Session::open(&request)?;
        Ok((request, session))
    }
}

impl Output {
    pub(crate) fn of(format: Format) -> Self {
        Self { json: format == Format::Json }
    }

    pub(crate) fn format(&self) -> Format {
        if self.json { Format::Json } else { Format::Human }
    }
}

/// Lists variables and files below the help.
fn surroundings() -> String {
    let list = |title: &str, entries: &[(&str, &str)]| {
        let lines = entries.iter().map(|(name, what)| format!("\n  {name}\n          {what}"));
        format!("{title}:{}", lines.collect::<String>())
    };
    format!("{}\n\n{}", list("Environment", &VARIABLES), list("Files", &FILES))
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory as _;

    #[test]
    fn letters_in_another_order_are_understood() {
        assert_eq!(super::jumbled("rnu").as_deref(), Some("run"));
        assert_eq!(super::jumbled("run!"), None);
        assert_eq!(super::jumbled("markdown-hepl"), None);
    }

    #[test]
    fn the_tree_of_commands_is_sound() {
        super::Cli::command().debug_assert();
    }
}
