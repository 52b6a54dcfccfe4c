//! `palisade proxy`: tool calls are judged on their way from a model to an agent.

use std::io::{self, Write as _};
use std::net::SocketAddr;
use std::path::PathBuf;
use std::time::Duration;

use clap::{ArgAction, ValueEnum};
use palisade::policy::interception::{AccessPolicies, DefaultAccess};
use palisade::proxy::{
    BadName, CONFIG, CannotServe, Names, Proxy, Upstreams, Wanted, prepare, read_access, read_token,
};
use palisade::{Request, Sandboxing, Session};
use serde_json::{Value as Json, json};

use crate::args::{Output, Selection};
use crate::exit::Exit;
use crate::failure::Failure;
use crate::ui::{Format, Ui};

/// Judge the tool calls of a model before an agent sees them
///
/// Stands between an agent and a model's API, as a reverse proxy: give the agent this address in
/// place of the API's. It speaks OpenAI's Chat Completions and Responses, Anthropic's Messages and
/// Gemini's generateContent, streaming or not. Text flows on; a tool call is held until all of it is
/// there, judged as `palisade check --proxy --tool` judges it, and passed on as it came or replaced
/// by a text that says why not. Keys pass through, and are kept and logged nowhere.
///
/// Calls are judged once `tools.enabled` says so, in a policy, in `config/config.yaml`, by
/// ENABLE_SANDBOXING=true or by --enable-sandboxing. `tools.on_violation: retry` has the model told
/// and asked again, three times at most. Runs until it is ended. `/healthz` and `/metrics` tell how
/// it is.
///
/// Exit codes: 125 it could not start.
///
/// Example: palisade proxy --enable-sandboxing --upstream anthropic=https://api.anthropic.com
#[derive(Debug, clap::Args)]
pub(crate) struct ProxyArgs {
    #[command(flatten)]
    selection: Selection,

    /// Where clients connect; beyond this machine only with --token-file
    #[arg(long, value_name = "ADDRESS", default_value = "127.0.0.1:8787")]
    listen: SocketAddr,

    /// Where requests go: `URL` for all APIs, or `openai=URL`, `anthropic=URL`, `gemini=URL`. May be
    /// repeated; the APIs' own addresses are the default
    #[arg(long, value_name = "[API=]URL")]
    upstream: Vec<String>,

    /// Judge tool calls, or with `=false` do not, whatever files and variables say
    #[arg(long, value_name = "BOOL", num_args = 0..=1, require_equals = true, default_missing_value = "true", action = ArgAction::Set)]
    enable_sandboxing: Option<bool>,

    /// File with a token that clients must show in the header `x-palisade-token`
    #[arg(long, value_name = "FILE")]
    token_file: Option<PathBuf>,

    /// Another name under which clients reach it, with or without a port. May be repeated; its own
    /// address and this machine's names are known
    #[arg(long, value_name = "HOST[:PORT]")]
    allow_host: Vec<String>,

    /// Origin of pages that may use it, such as `http://localhost:3000`. May be repeated; pages in a
    /// browser are refused otherwise
    #[arg(long, value_name = "ORIGIN")]
    allow_origin: Vec<String>,

    /// Certificates to show to clients, as PEM
    #[arg(long, value_name = "FILE", requires = "tls_key")]
    tls_cert: Option<PathBuf>,

    /// The key of the first of them, as PEM
    #[arg(long, value_name = "FILE", requires = "tls_cert")]
    tls_key: Option<PathBuf>,

    /// Authorities that certify upstreams, as PEM, instead of this machine's
    #[arg(long, value_name = "FILE")]
    upstream_ca: Option<PathBuf>,

    /// How many seconds an upstream may be silent
    #[arg(long, value_name = "SECONDS", default_value_t = 300, value_parser = clap::value_parser!(u64).range(1..=86_400))]
    timeout: u64,

    /// File with `access_policies`: which tools models and agents may use
    #[arg(long, value_name = "FILE")]
    access_policies: Option<PathBuf>,

    /// Tools that may be used, in place of all access policies: expressions with commas between
    #[arg(long, value_name = "LIST")]
    allowed_tools: Option<String>,

    /// Tools that may not be used, in place of all access policies
    #[arg(long, value_name = "LIST")]
    blocked_tools: Option<String>,

    /// What holds for tools that neither list names
    #[arg(long, value_name = "ANSWER")]
    default_policy: Option<DefaultAnswer>,

    #[command(flatten)]
    output: Output,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum DefaultAnswer {
    Allow,
    Deny,
}

impl ProxyArgs {
    pub(crate) fn format(&self) -> Format {
        self.output.format()
    }

    pub(crate) fn run(&self, ui: &Ui) -> Result<Exit, Failure> {
        let format = self.format();
        let mut request = self.selection.request()?;
        request.sandboxing = Some(match self.enable_sandboxing {
            None => Sandboxing::NotSaid,
            Some(true) => Sandboxing::On,
            Some(false) => Sandboxing::Off,
        });
        prepare(&mut request);
        let session = Session::open(&request)?;
        if format == Format::Human {
            super::warn(ui, &session);
        }
        let wanted = self.wanted(&request, format)?;
        for doubt in doubts(&session, &wanted) {
            tell(format, &format!("WARNING: {doubt}"), &Json::Null);
        }
        let proxy = Proxy::open(&request, &session, wanted).map_err(failure)?;
        let url = proxy.url();
        match format {
            Format::Human => ui.data(&format!("listening at {url}\n"))?,
            Format::Json => ui.data(&format!("{}\n", told(&session, &url)))?,
        }
        proxy.wait();
        Ok(Exit::Success)
    }

    fn wanted(&self, request: &Request, format: Format) -> Result<Wanted, Failure> {
        let mut upstreams = Upstreams::official();
        for upstream in &self.upstream {
            upstreams.set(upstream).map_err(|error| {
                Failure::new("upstream", error.to_string())
                    .hint("write it as https://host[:port][/path], or anthropic=https://…")
            })?;
        }
        let token = match &self.token_file {
            None => None,
            Some(path) => Some(read_token(path).map_err(|error| {
                Failure::new(error.code(), error.to_string()).caused_by(&error).file(path)
            })?),
        };
        let mut names = Names::default();
        let wrong = |error: BadName| Failure::new("name", error.to_string());
        for host in &self.allow_host {
            names.add_host(host).map_err(wrong)?;
        }
        for origin in &self.allow_origin {
            names.add_origin(origin).map_err(wrong)?;
        }
        Ok(Wanted {
            listen: self.listen,
            upstreams,
            names,
            token,
            identity: self.tls_cert.clone().zip(self.tls_key.clone()),
            authorities: self.upstream_ca.clone(),
            patience: Duration::from_secs(self.timeout),
            access: self.access(request)?,
            tell: Box::new(move |line, details| tell(format, line, details)),
        })
    }

    fn access(&self, request: &Request) -> Result<Option<AccessPolicies>, Failure> {
        let given = self.allowed_tools.is_some() || self.blocked_tools.is_some();
        if given || self.default_policy.is_some() {
            let default = match self.default_policy {
                Some(DefaultAnswer::Deny) => DefaultAccess::Deny,
                Some(DefaultAnswer::Allow) | None => DefaultAccess::Allow,
            };
            let list = |list: &Option<String>| list.clone().unwrap_or_default();
            let policies = AccessPolicies::overriding(
                &list(&self.allowed_tools),
                &list(&self.blocked_tools),
                default,
            );
            let wrong = |error: palisade::policy::name::Invalid| {
                Failure::new(error.code(), error.to_string())
            };
            return policies.map(Some).map_err(wrong);
        }
        let config = request.cwd.join(CONFIG);
        let configured = config.is_file().then_some(config);
        match self.access_policies.clone().or(configured) {
            Some(path) => Ok(read_access(&path)?),
            None => Ok(None),
        }
    }
}

/// Says loudly what a person may not have meant.
fn doubts(session: &Session, wanted: &Wanted) -> Vec<&'static str> {
    let tools = &session.policy().tools;
    let mut doubts = Vec::new();
    if !tools.enabled.value().0 {
        doubts.push(
            "tool calls are not judged: interception is off (--enable-sandboxing turns it on)",
        );
    } else if !tools.strict.value().0 && !wanted.listen.ip().is_loopback() {
        doubts.push("calls in which nothing is found to judge pass (tools.strict is off), and other machines can connect");
    }
    doubts
}

fn told(session: &Session, url: &str) -> Json {
    let tools = &session.policy().tools;
    let origin = tools.enabled.sourced().map(|sourced| sourced.origin.to_string());
    json!({
        "listening": url,
        "project_root": session.root().path,
        "enabled": tools.enabled.value().0,
        "enabled_by": origin,
        "strict": tools.strict.value().0,
        "warnings": super::warnings(session),
    })
}

/// Writes a line to the log, which is the error stream.
fn tell(format: Format, line: &str, details: &Json) {
    let line = match format {
        Format::Human => match details["error"].as_str() {
            Some(error) => format!("{line}\n  {error}"),
            None => line.to_owned(),
        },
        Format::Json => json!({ "message": line, "details": details }).to_string(),
    };
    writeln!(io::stderr(), "{line}").ok();
}

fn failure(error: CannotServe) -> Failure {
    if let CannotServe::Policy(error) = error {
        return error.into();
    }
    let failure = Failure::new(error.code(), error.to_string()).caused_by(&error);
    match error.hint() {
        Some(hint) => failure.hint(hint),
        None => failure,
    }
}
