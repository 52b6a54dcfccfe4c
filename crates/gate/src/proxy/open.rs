//! Opens the door: a listener, TLS, connections.

use std::convert::Infallible;
use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use hyper::service::service_fn;
use hyper_util::rt::{TokioExecutor, TokioIo, TokioTimer};
use hyper_util::server::conn::auto::Builder;
use rustls::ServerConfig;
use rustls::pki_types::pem::PemObject as _;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::{TcpListener, TcpStream};
use tokio::runtime::{self, Runtime};
use tokio::sync::Semaphore;
use tokio::time::{sleep, timeout};
use tokio_rustls::TlsAcceptor;

use super::door::Door;
use super::handle::handle;
use super::upstream::Dialer;
use super::{Decides, Settings, Shared, counters, missing};

/// Most connections at once; others wait.
const CONNECTIONS: usize = 4096;
/// How long a client may take to begin.
const BEGIN: Duration = Duration::from_secs(30);

/// A proxy that is open. It closes when it is dropped.
#[derive(Debug)]
pub struct Proxy {
    address: SocketAddr,
    runtime: Option<Runtime>,
}

/// Why a proxy is not open.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum CannotOpen {
    /// The system refused.
    #[error("cannot listen for clients")]
    Io(#[from] io::Error),
    /// A certificate or a key cannot be used.
    #[error("the certificate or its key cannot be used")]
    Identity(#[source] Box<dyn std::error::Error + Send + Sync>),
    /// TLS to the upstream cannot be set up.
    #[error("TLS to the upstream cannot be set up")]
    Tls(#[source] rustls::Error),
}

impl Proxy {
    /// Opens a proxy. `workers` threads carry its connections.
    ///
    /// # Errors
    ///
    /// When the listener, the certificate or the key cannot be used.
    pub fn open(
        settings: Settings,
        decides: Arc<dyn Decides>,
        workers: usize,
    ) -> Result<Self, CannotOpen> {
        let Settings { listener, upstreams, names, token, identity, authorities, patience, on } =
            settings;
        let acceptor = identity.map(|(chain, key)| acceptor(&chain, &key)).transpose()?;
        let runtime = runtime::Builder::new_multi_thread()
            .worker_threads(workers.max(1))
            .thread_name("pal-proxy")
            .enable_all()
            .build()?;
        listener.set_nonblocking(true)?;
        let address = listener.local_addr()?;
        let door = Door::new(address, acceptor.is_some(), names);
        let shared = {
            let _entered = runtime.enter();
            let upstreams = Dialer::new(upstreams, &authorities).map_err(CannotOpen::Tls)?;
            let (counters, missing) = (counters::Counters::default(), missing::Missing::default());
            Arc::new(Shared { upstreams, door, token, patience, on, decides, counters, missing })
        };
        let listener = {
            let _entered = runtime.enter();
            TcpListener::from_std(listener)?
        };
        runtime.spawn(accept(listener, shared, acceptor));
        Ok(Self { address, runtime: Some(runtime) })
    }

    /// Returns where clients connect.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Waits for ever.
    pub fn wait(&self) {
        if let Some(runtime) = &self.runtime {
            runtime.block_on(std::future::pending::<()>());
        }
    }
}

impl Drop for Proxy {
    fn drop(&mut self) {
        if let Some(runtime) = self.runtime.take() {
            runtime.shutdown_background();
        }
    }
}

async fn accept(listener: TcpListener, shared: Arc<Shared>, acceptor: Option<TlsAcceptor>) {
    let room = Arc::new(Semaphore::new(CONNECTIONS));
    loop {
        let Ok(permit) = room.clone().acquire_owned().await else { return };
        let Ok((stream, _)) = listener.accept().await else {
            // Out of descriptors, perhaps: others end, and then there is room again.
            sleep(Duration::from_millis(50)).await;
            continue;
        };
        let (shared, acceptor) = (shared.clone(), acceptor.clone());
        tokio::spawn(async move {
            shared.counters.open.fetch_add(1, Ordering::Relaxed);
            connection(stream, &shared, acceptor).await;
            shared.counters.open.fetch_sub(1, Ordering::Relaxed);
            drop(permit);
        });
    }
}

async fn connection(stream: TcpStream, shared: &Arc<Shared>, acceptor: Option<TlsAcceptor>) {
    stream.set_nodelay(true).ok();
    match acceptor {
        None => serve(stream, shared).await,
        Some(acceptor) => {
            if let Ok(Ok(stream)) = timeout(BEGIN, acceptor.accept(stream)).await {
                serve(stream, shared).await;
            }
        }
    }
}

async fn serve<S>(stream: S, shared: &Arc<Shared>)
where
    S: AsyncRead + AsyncWrite + Send + Unpin + 'static,
{
    let mut builder = Builder::new(TokioExecutor::new());
    builder.http1().timer(TokioTimer::new()).header_read_timeout(BEGIN);
    builder.http2().timer(TokioTimer::new()).max_concurrent_streams(1024);
    let service = service_fn(|request| {
        let shared = shared.clone();
        async move { Ok::<_, Infallible>(handle(shared, request).await) }
    });
    // How a connection ends is its client's business.
    builder.serve_connection(TokioIo::new(stream), service).await.ok();
}

fn acceptor(chain: &[u8], key: &[u8]) -> Result<TlsAcceptor, CannotOpen> {
    let chain: Result<Vec<_>, _> = CertificateDer::pem_slice_iter(chain).collect();
    let chain = chain.map_err(|error| CannotOpen::Identity(Box::new(error)))?;
    let key = PrivateKeyDer::from_pem_slice(key)
        .map_err(|error| CannotOpen::Identity(Box::new(error)))?;
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let config =
        ServerConfig::builder_with_provider(provider).with_safe_default_protocol_versions();
    let config = config.map_err(|error| CannotOpen::Identity(Box::new(error)))?;
    let config = config.with_no_client_auth().with_single_cert(chain, key);
    let mut config = config.map_err(|error| CannotOpen::Identity(Box::new(error)))?;
    config.alpn_protocols = vec![b"h2".to_vec(), b"http/1.1".to_vec()];
    Ok(TlsAcceptor::from(Arc::new(config)))
}
