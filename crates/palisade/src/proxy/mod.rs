//! The LLM proxy: tool calls are judged on their way from a model to an agent.
//!
//! [`Proxy::open`] opens a door that [`palisade_gate::proxy`] keeps. What it decides is what
//! `palisade check --proxy --tool` says: the same function is asked.

mod access;
mod judge;

use std::fmt;
use std::fs;
use std::io;
use std::net::{SocketAddr, TcpListener};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use palisade_gate::llm::{self, Api, OnRefusal};
use palisade_gate::proxy::{CannotOpen, Settings};
use palisade_policy::interception::AccessPolicies;
use palisade_policy::policy::OnViolation;
use serde_json::{Value as Json, json};

pub use access::read as read_access;
use judge::Desk;
pub use palisade_gate::proxy::{BadName, BadUpstream, Names, Upstreams};

use crate::read::{Place, ReadError, read_policy_file};
use crate::session::{OpenError, Request, Session};

/// Where the proxy's own configuration lies, below the folder it is started in.
pub const CONFIG: &str = "config/config.yaml";

/// What a proxy is to be.
pub struct Wanted {
    /// Where clients connect.
    pub listen: SocketAddr,
    /// Where requests go.
    pub upstreams: Upstreams,
    /// Under which other names clients reach it, and which pages may use it.
    pub names: Names,
    /// What clients must show; demanded where others than this machine can connect.
    pub token: Option<String>,
    /// Files with a certificate and its key, for TLS to clients.
    pub identity: Option<(PathBuf, PathBuf)>,
    /// A file with the authorities that certify upstreams, instead of the system's.
    pub authorities: Option<PathBuf>,
    /// How long an upstream may be silent.
    pub patience: Duration,
    /// Which tools models and agents may use.
    pub access: Option<AccessPolicies>,
    /// Who is told what happens, one line at a time, with details for programs.
    pub tell: Tell,
}

/// Who is told what happens.
pub type Tell = Box<dyn Fn(&str, &Json) + Send + Sync>;

impl fmt::Debug for Wanted {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // The token is nobody's business.
        f.debug_struct("Wanted").field("listen", &self.listen).finish_non_exhaustive()
    }
}

/// A proxy that is open. It closes when it is dropped.
#[derive(Debug)]
pub struct Proxy {
    open: palisade_gate::proxy::Proxy,
    scheme: &'static str,
}

/// Why a proxy is not open.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum CannotServe {
    /// Others could connect, and nothing would keep them out.
    #[error("{listen} can be reached from other machines, and no token is demanded of clients")]
    NoToken {
        /// The address.
        listen: SocketAddr,
    },
    /// A token that is none.
    #[error("the token is empty, or holds more than visible ASCII characters")]
    BadToken,
    /// The system refused the address.
    #[error("cannot listen at {listen}")]
    Listen {
        /// The address.
        listen: SocketAddr,
        /// What the system said.
        source: io::Error,
    },
    /// A file cannot be read.
    #[error("cannot read {}", path.display())]
    File {
        /// The file.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// There is nobody by whom an upstream could be certified.
    #[error("no file with authorities was found, and an upstream is reached by https")]
    NoAuthorities,
    /// The door cannot be opened.
    #[error(transparent)]
    Open(#[from] CannotOpen),
    /// The policy of a project cannot be used.
    #[error(transparent)]
    Policy(#[from] OpenError),
}

impl CannotServe {
    /// Returns a name that never changes, for programs and tests.
    pub fn code(&self) -> &'static str {
        match self {
            Self::NoToken { .. } => "no-token",
            Self::BadToken => "bad-token",
            Self::Listen { .. } => "listen",
            Self::File { .. } => "file",
            Self::NoAuthorities => "no-authorities",
            Self::Open(_) => "proxy",
            Self::Policy(error) => error.code(),
        }
    }

    /// Returns what to do about it.
    pub fn hint(&self) -> Option<String> {
        match self {
            Self::NoToken { .. } => Some(
                "listen at 127.0.0.1, or put a token into a file and name it with --token-file"
                    .into(),
            ),
            Self::BadToken => Some("for instance: openssl rand -hex 32 > token".into()),
            Self::Listen { .. } => Some("choose another port with --listen, or 0 for any".into()),
            Self::NoAuthorities => Some("name one with --upstream-ca".into()),
            Self::File { .. } | Self::Open(_) => None,
            Self::Policy(error) => error.hint(),
        }
    }
}

/// Prepares a request for the proxy's own policy: its configuration counts where it lies, and so do
/// its variables.
pub fn prepare(request: &mut Request) {
    let named = |policy: &String| policy.starts_with("proxy:");
    if request.cwd.join(CONFIG).symlink_metadata().is_ok() && !request.policies.iter().any(named) {
        // Weaker than what a person names.
        request.policies.insert(0, "proxy:".into());
    }
}

impl Proxy {
    /// Opens a proxy for the project of a session.
    ///
    /// # Errors
    ///
    /// Anything that would leave it open to more than was asked for, and anything unreadable.
    pub fn open(request: &Request, session: &Session, wanted: Wanted) -> Result<Self, CannotServe> {
        let Wanted {
            listen,
            upstreams,
            names,
            token,
            identity,
            authorities,
            patience,
            access,
            tell,
        } = wanted;
        demanded(listen, token.as_deref())?;
        let scheme = if identity.is_some() { "https" } else { "http" };
        let identity = identity
            .map(|(chain, key)| Ok::<_, CannotServe>((file(&chain)?, file(&key)?)))
            .transpose()?;
        let authorities = match authorities {
            Some(path) => file(&path)?,
            None if upstreams.any_tls() => {
                system_authorities(request).ok_or(CannotServe::NoAuthorities)?
            }
            None => Vec::new(),
        };
        let on = match session.policy().tools.on_violation.value() {
            OnViolation::Answer => OnRefusal::Answer,
            OnViolation::Retry => OnRefusal::Retry,
        };
        let desk = Desk::new(request, session, access, tell);
        desk.tell_start();
        let bound = TcpListener::bind(listen);
        let listener = bound.map_err(|source| CannotServe::Listen { listen, source })?;
        let settings =
            Settings { listener, upstreams, names, token, identity, authorities, patience, on };
        let workers = std::thread::available_parallelism().map_or(2, std::num::NonZero::get);
        let open = palisade_gate::proxy::Proxy::open(settings, Arc::new(desk), workers)?;
        Ok(Self { open, scheme })
    }

    /// Returns the address for clients.
    pub fn url(&self) -> String {
        format!("{}://{}", self.scheme, self.open.address())
    }

    /// Serves for ever.
    pub fn wait(&self) {
        self.open.wait();
    }
}

/// Lists the calls in a recorded answer of a model; none if it cannot be read. `provider` is
/// `openai-chat`, `openai-responses`, `anthropic` or `gemini`.
pub fn recorded_calls(provider: &str, answer: &[u8]) -> Option<Vec<Json>> {
    let api = match provider {
        "openai-chat" => Api::Chat,
        "openai-responses" => Api::Responses,
        "anthropic" => Api::Messages,
        "gemini" => Api::Gemini,
        _ => return None,
    };
    let calls = llm::calls(api, answer).ok()?;
    let told = calls.iter().map(|call| {
        json!({ "id": call.id, "name": call.name, "arguments": call.arguments, "flaw": call.flaw })
    });
    Some(told.collect())
}

fn file(path: &Path) -> Result<Vec<u8>, CannotServe> {
    fs::read(path).map_err(|source| CannotServe::File { path: path.into(), source })
}

/// Reads a token: a file with nothing else in it.
///
/// # Errors
///
/// When it cannot be read.
pub fn read_token(path: &Path) -> Result<String, ReadError> {
    read_policy_file(path, Place::Named).map(|text| text.trim().to_owned())
}

/// Whether nobody but this machine reaches an address, or a token is demanded that is one.
pub(crate) fn demanded(listen: SocketAddr, token: Option<&str>) -> Result<(), CannotServe> {
    let is_one = |token: &str| !token.is_empty() && token.bytes().all(|b| b.is_ascii_graphic());
    match token {
        Some(token) if is_one(token) => Ok(()),
        Some(_) => Err(CannotServe::BadToken),
        None if listen.ip().is_loopback() => Ok(()),
        None => Err(CannotServe::NoToken { listen }),
    }
}

/// Finds the authorities that this machine trusts.
pub(crate) fn system_authorities(request: &Request) -> Option<Vec<u8>> {
    let named = request.env.get(std::ffi::OsStr::new("SSL_CERT_FILE")).map(PathBuf::from);
    let usual = [
        "/etc/ssl/certs/ca-certificates.crt",
        "/etc/pki/tls/certs/ca-bundle.crt",
        "/etc/ssl/cert.pem",
        "/etc/ssl/ca-bundle.pem",
    ];
    let mut files = named.into_iter().chain(usual.map(PathBuf::from));
    files.find_map(|path| fs::read(path).ok())
}
