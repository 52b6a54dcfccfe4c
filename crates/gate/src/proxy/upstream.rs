//! Where requests go, and how they get there.

use std::io;
use std::sync::Arc;
use std::time::Duration;

use hyper::{HeaderMap, Request, Response, Uri, body::Incoming};
use hyper_rustls::{HttpsConnector, HttpsConnectorBuilder};
use hyper_util::client::legacy::Client;
use hyper_util::client::legacy::connect::HttpConnector;
use hyper_util::rt::{TokioExecutor, TokioTimer};
use rustls::pki_types::CertificateDer;
use rustls::pki_types::pem::PemObject as _;
use rustls::{ClientConfig, RootCertStore};

use super::body::Body;
use super::head::text;
use crate::llm::Api;

const CONNECT: Duration = Duration::from_secs(20);

/// The base addresses of the APIs.
#[derive(Clone, Debug)]
pub struct Upstreams {
    openai: Base,
    anthropic: Base,
    gemini: Base,
}

#[derive(Clone, Debug)]
struct Base {
    scheme: String,
    authority: String,
    path: String,
}

/// An upstream that cannot be one.
#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
#[error("`{text}` is no base address of an upstream: {why}")]
pub struct BadUpstream {
    text: String,
    why: &'static str,
}

impl Upstreams {
    /// The addresses that the APIs have.
    pub fn official() -> Self {
        let base = |host: &str| Base {
            scheme: "https".into(),
            authority: host.into(),
            path: String::new(),
        };
        Self {
            openai: base("api.openai.com"),
            anthropic: base("api.anthropic.com"),
            gemini: base("generativelanguage.googleapis.com"),
        }
    }

    /// Takes `URL` for all APIs, or `openai=URL`, `anthropic=URL`, `gemini=URL` for one.
    ///
    /// # Errors
    ///
    /// When it is no `http` or `https` address.
    pub fn set(&mut self, text: &str) -> Result<(), BadUpstream> {
        let (name, url) = match text.split_once('=') {
            Some((name, url)) if !name.contains([':', '/']) => (Some(name), url),
            Some(_) | None => (None, text),
        };
        let base = Base::read(url).map_err(|why| BadUpstream { text: text.into(), why })?;
        match name {
            Some("openai") => self.openai = base,
            Some("anthropic") => self.anthropic = base,
            Some("gemini") => self.gemini = base,
            Some(_) => {
                let why = "the APIs are `openai`, `anthropic` and `gemini`";
                return Err(BadUpstream { text: text.into(), why });
            }
            None => {
                (self.openai, self.anthropic, self.gemini) = (base.clone(), base.clone(), base);
            }
        }
        Ok(())
    }

    /// Whether any of them speaks TLS.
    pub fn any_tls(&self) -> bool {
        [&self.openai, &self.anthropic, &self.gemini].iter().any(|base| base.scheme == "https")
    }

    /// Returns where a request goes: by its path, or by what its client shows.
    fn uri(&self, asked: &Uri, api: Option<Api>, headers: &HeaderMap) -> Result<Uri, io::Error> {
        let path = asked.path();
        let anthropic = || text(headers, "anthropic-version").is_some();
        let google = text(headers, "x-goog-api-key").is_some() || path.starts_with("/v1beta");
        let base = match api {
            Some(Api::Messages) => &self.anthropic,
            Some(Api::Gemini) => &self.gemini,
            Some(Api::Chat | Api::Responses) => &self.openai,
            Some(Api::Other) => return self.uri(asked, None, headers),
            None if anthropic() => &self.anthropic,
            None if google => &self.gemini,
            None => &self.openai,
        };
        let target = asked.path_and_query().map_or("/", |target| target.as_str());
        Uri::builder()
            .scheme(base.scheme.as_str())
            .authority(base.authority.as_str())
            .path_and_query(format!("{}{target}", base.path))
            .build()
            .map_err(io::Error::other)
    }
}

impl Base {
    fn read(url: &str) -> Result<Self, &'static str> {
        let uri: Uri = url.parse().map_err(|_| "it is no address")?;
        let scheme = uri.scheme_str().ok_or("it has no scheme")?.to_owned();
        if scheme != "http" && scheme != "https" {
            return Err("its scheme is neither http nor https");
        }
        let authority = uri.authority().ok_or("it names no host")?.as_str().to_owned();
        if authority.contains('@') {
            return Err("keys come from clients, not in the address");
        }
        if uri.query().is_some() {
            return Err("it has a query");
        }
        let path = uri.path().trim_end_matches('/').to_owned();
        Ok(Self { scheme, authority, path })
    }
}

/// Carries requests to upstreams.
pub(super) struct Dialer {
    upstreams: Upstreams,
    client: Carrier,
}

impl std::fmt::Debug for Dialer {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.upstreams.fmt(f)
    }
}

impl Dialer {
    pub(super) fn new(upstreams: Upstreams, authorities: &[u8]) -> Result<Self, rustls::Error> {
        Ok(Self { upstreams, client: client(authorities)? })
    }

    /// Sends a request to where it belongs.
    pub(super) async fn send(
        &self,
        mut request: Request<Body>,
        api: Option<Api>,
    ) -> io::Result<Response<Incoming>> {
        *request.uri_mut() = self.upstreams.uri(request.uri(), api, request.headers())?;
        *request.version_mut() = hyper::Version::HTTP_11;
        self.client.request(request).await.map_err(io::Error::other)
    }
}

/// What carries requests.
pub(crate) type Carrier = Client<HttpsConnector<HttpConnector>, Body>;

/// Makes one, for which `authorities` certify who is reached by TLS. It follows no redirection.
pub(crate) fn client(authorities: &[u8]) -> Result<Carrier, rustls::Error> {
    let mut roots = RootCertStore::empty();
    let found = CertificateDer::pem_slice_iter(authorities).filter_map(Result::ok);
    roots.add_parsable_certificates(found);
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let config = ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()?
        .with_root_certificates(roots)
        .with_no_client_auth();
    let mut connector = HttpConnector::new();
    connector.enforce_http(false);
    connector.set_nodelay(true);
    connector.set_connect_timeout(Some(CONNECT));
    let connector = HttpsConnectorBuilder::new()
        .with_tls_config(config)
        .https_or_http()
        .enable_all_versions()
        .wrap_connector(connector);
    Ok(Client::builder(TokioExecutor::new())
        .pool_timer(TokioTimer::new())
        .pool_idle_timeout(Duration::from_secs(30))
        .build(connector))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_request_goes_to_its_api_below_the_base() {
        let mut all = Upstreams::official();
        all.set("anthropic=http://localhost:1/base/").unwrap();
        let go = |path: &str| {
            let uri: Uri = path.parse().unwrap();
            all.uri(&uri, Api::of_path(path).unwrap(), &HeaderMap::new()).unwrap().to_string()
        };
        assert_eq!(go("/v1/messages?beta=true"), "http://localhost:1/base/v1/messages?beta=true");
        assert_eq!(go("/v1/responses"), "https://api.openai.com/v1/responses");
        assert!(go("/v1beta/models/m:generateContent").starts_with("https://generativelanguage."));
        for bad in ["ftp://x", "x", "http://", "http://k@h", "http://h/?q", "bard=http://h"] {
            assert!(all.set(bad).is_err(), "{bad}");
        }
        all.set("http://h:8/x").unwrap();
        assert!(!all.any_tls());
    }
}
