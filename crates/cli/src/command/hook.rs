//! `palisade hook`: what agents ask before each of their tools.

pub(super) mod install;

use std::io::{self, Read as _, Write as _};
use std::path::PathBuf;

use clap::Subcommand;
use palisade::hook::{Agent, Hook, MAX_INPUT, Reply};

use crate::args::Selection;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::ui::{Format, Ui};

/// Answer an agent's hook, in the agent's own format
///
/// An agent starts its hook before each tool, tells it of the call on standard input, and goes by the
/// answer. The call is judged as `palisade check --tool` judges it, in the project that the agent was
/// started in. What is denied is refused with the reason. What the policy asks about is asked by the
/// agent, or refused where the agent's hooks cannot ask. What is allowed is left to the agent's own
/// prompts, unless --auto-allow is given. Whatever goes wrong refuses the call.
///
/// `palisade hook install AGENT` puts the hook into the agent's settings.
#[derive(Debug, Subcommand)]
pub(crate) enum HookCommand {
    Install(install::InstallArgs),
    Uninstall(install::UninstallArgs),
    /// Answer a hook of Claude Code
    Claude(HookArgs),
    /// Answer a hook of Codex CLI
    Codex(HookArgs),
    /// Answer a hook of GitHub Copilot CLI
    Copilot(HookArgs),
    /// Answer a hook of Cursor
    Cursor(HookArgs),
    /// Answer a hook of Gemini CLI
    Gemini(HookArgs),
    /// Answer our own plugin for OpenCode
    #[command(name = "opencode")]
    OpenCode(HookArgs),
}

/// How a hook answers.
#[derive(Debug, Default, clap::Args)]
pub(crate) struct HookArgs {
    /// Let what is allowed pass without the agent's own prompts
    ///
    /// Codex has no word for it, and goes on by its own rules.
    #[arg(long)]
    pub(crate) auto_allow: bool,

    /// Have allowed shell commands run through `palisade run`
    ///
    /// The agent is handed another command in place of its own, which is judged again. Not for Codex
    /// and Cursor, whose hooks cannot do that, and not with --policy, --preset or --profile, which the
    /// other command would not know: put these into your policy file.
    #[arg(long, conflicts_with_all = ["policy", "preset", "profile"])]
    pub(crate) wrap: bool,

    #[command(flatten)]
    pub(crate) selection: Selection,
}

impl HookCommand {
    pub(super) fn format(&self) -> Format {
        Format::Human
    }

    pub(super) fn run(&self, ui: &Ui) -> Result<Exit, Failure> {
        let (agent, args) = match self {
            Self::Install(args) => return args.run(ui),
            Self::Uninstall(args) => return args.run(ui),
            Self::Claude(args) => (Agent::Claude, args),
            Self::Codex(args) => (Agent::Codex, args),
            Self::Copilot(args) => (Agent::Copilot, args),
            Self::Cursor(args) => (Agent::Cursor, args),
            Self::Gemini(args) => (Agent::Gemini, args),
            Self::OpenCode(args) => (Agent::OpenCode, args),
        };
        Ok(told(agent, args.reply(agent)))
    }

    /// Whether this is an answer to an agent, which must refuse when anything goes wrong.
    pub(crate) fn answers(word: &str) -> bool {
        word.parse::<Agent>().is_ok()
    }
}

impl HookArgs {
    fn reply(&self, agent: Agent) -> Reply {
        let wrap = match self.program(agent) {
            Ok(program) => program,
            Err(why) => return Reply::closed(agent, &why),
        };
        let request = match self.selection.request() {
            Ok(request) => request,
            Err(failure) => return Reply::closed(agent, &failure.screen()),
        };
        let mut told = Vec::new();
        let most = u64::try_from(MAX_INPUT).unwrap_or(u64::MAX).saturating_add(1);
        if let Err(error) = io::stdin().lock().take(most).read_to_end(&mut told) {
            return Reply::closed(agent, &format!("standard input cannot be read ({error})"));
        }
        Hook { agent, auto_allow: self.auto_allow, wrap }.answer(&told, request)
    }

    /// Returns our own program, if commands are to run through it.
    fn program(&self, agent: Agent) -> Result<Option<PathBuf>, String> {
        if !self.wrap {
            return Ok(None);
        }
        if !agent.wraps() {
            let title = agent.title();
            return Err(format!("hooks of {title} cannot replace commands: leave out --wrap"));
        }
        let program = std::env::current_exe();
        program.map(Some).map_err(|error| format!("our own program cannot be found ({error})"))
    }
}

/// Prints the answer. One that cannot be printed refuses.
fn told(agent: Agent, reply: Reply) -> Exit {
    let mut out = io::stdout().lock();
    let printed = out.write_all(reply.stdout.as_bytes()).and_then(|()| out.flush());
    let code = match printed {
        Ok(()) => reply.code,
        Err(_) => Reply::closed(agent, "").code,
    };
    let why = if printed.is_err() && reply.stderr.is_empty() {
        "palisade: the answer cannot be printed; the call is refused\n"
    } else {
        &reply.stderr
    };
    io::stderr().write_all(why.as_bytes()).ok();
    Exit::Ran(code)
}
