//! The doors, against servers in this process.

mod broken;
mod carried;
mod followed;
mod greeted;
mod kept;
mod proxied;
mod told;

use std::collections::BTreeMap;
use std::net::{Ipv4Addr, SocketAddr};
use std::os::fd::OwnedFd;
use std::sync::Arc;
use std::time::Duration;

use palisade_policy::key::{Grants, Limit, RuleLists, Setting, Sourced};
use palisade_policy::layer::{Layer, Origin};
use palisade_policy::policy::{Action, Budget, HttpRule, Network, NetworkMode};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};

use super::open::Shared;
use super::{Gate, Outside, Rules, Sockets};
use crate::address::Own;
use crate::traffic::Report;

fn sourced<T>(value: T) -> Sourced<T> {
    Sourced { value, origin: Origin::of(Layer::User) }
}

/// A policy that lists `a.test` and `b.test`, which lead to this machine's loopback.
fn network() -> Network {
    let hosts = ["a.test", "b.test", "127.0.0.1"];
    Network {
        mode: Setting::new(sourced(NetworkMode::AllowList)),
        allow: Grants::new(hosts.iter().map(|host| sourced(host.parse().unwrap())).collect()),
        // What nobody says is nothing.
        budget: budgeted(None, None),
        ..Network::default()
    }
}

fn ruled(rules: &[(&str, &[&str], Option<&str>, Action)]) -> Network {
    let rule = |(host, methods, path, action): &(&str, &[&str], Option<&str>, Action)| {
        sourced(HttpRule {
            host: host.parse().unwrap(),
            methods: methods.iter().map(ToString::to_string).collect(),
            path: path.map(|path| path.parse().unwrap()),
            action: *action,
        })
    };
    let http_rules = RuleLists::new(rules.iter().map(rule).collect());
    Network { http_rules, ..network() }
}

fn budgeted(upload: Option<&str>, download: Option<&str>) -> Budget {
    let limit =
        |text: Option<&str>| Setting::new(sourced(Limit(text.map(|text| text.parse().unwrap()))));
    Budget { upload: limit(upload), download: limit(download), per_host: limit(None) }
}

fn outside() -> Outside {
    let here = vec![Ipv4Addr::LOCALHOST.into()];
    let names = ["a.test", "b.test", "c.test"].map(|name| (name.parse().unwrap(), here.clone()));
    Outside { hosts: BTreeMap::from(names), flows: 64, pipes: 16, ..Outside::default() }
}

fn shared(network: &Network) -> Arc<Shared> {
    Arc::new(Shared::new(Rules::new(network, Own::default()), outside()).unwrap())
}

/// Both ends of a connection.
async fn pair() -> (TcpStream, TcpStream) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let (one, other) = tokio::join!(TcpStream::connect(address), listener.accept());
    (one.unwrap(), other.unwrap().0)
}

/// A gate whose proxy is at an address of this machine; nothing else of it is reached.
struct Door(Gate, SocketAddr);

impl Door {
    fn open(network: &Network, outside: Outside) -> Self {
        Self::with_queue(network, outside, None)
    }

    fn with_queue(network: &Network, outside: Outside, queue: Option<OwnedFd>) -> Self {
        let listener = || {
            let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
            listener.set_nonblocking(true).unwrap();
            listener
        };
        let packets = || {
            let socket = std::net::UdpSocket::bind("127.0.0.1:0").unwrap();
            socket.set_nonblocking(true).unwrap();
            OwnedFd::from(socket)
        };
        let proxy = listener();
        let address = proxy.local_addr().unwrap();
        let sockets = Sockets {
            relay: [listener().into(), listener().into()],
            names: [packets(), packets(), listener().into(), listener().into()],
            proxy: proxy.into(),
            queue,
        };
        Self(Gate::open(sockets, Rules::new(network, Own::default()), outside).unwrap(), address)
    }

    async fn connect(&self) -> TcpStream {
        TcpStream::connect(self.1).await.unwrap()
    }

    /// Says something and returns everything that comes back.
    async fn say(&self, words: &str) -> String {
        let mut stream = self.connect().await;
        stream.write_all(words.as_bytes()).await.unwrap();
        rest(&mut stream).await
    }

    fn close(self) -> Report {
        self.0.close()
    }
}

/// Returns everything that comes, until it ends or is cut.
async fn rest(stream: &mut TcpStream) -> String {
    let mut bytes = Vec::new();
    let mut piece = [0; 4096];
    let reading = async {
        while let Ok(length @ 1..) = stream.read(&mut piece).await {
            bytes.extend(&piece[..length]);
        }
    };
    tokio::time::timeout(Duration::from_secs(20), reading).await.unwrap();
    String::from_utf8_lossy(&bytes).into_owned()
}

/// Reads until a text ends in something.
async fn until(stream: &mut TcpStream, end: &str) -> String {
    let mut bytes = Vec::new();
    let reading = async {
        while !bytes.ends_with(end.as_bytes()) {
            bytes.push(stream.read_u8().await.unwrap());
        }
    };
    tokio::time::timeout(Duration::from_secs(20), reading).await.unwrap();
    String::from_utf8_lossy(&bytes).into_owned()
}

/// A server that answers each connection with these words once it has heard an empty line, and says
/// what it heard.
async fn server(answer: &'static str) -> (u16, tokio::sync::mpsc::UnboundedReceiver<String>) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let port = listener.local_addr().unwrap().port();
    let (heard, hears) = tokio::sync::mpsc::unbounded_channel();
    tokio::spawn(async move {
        while let Ok((mut stream, _)) = listener.accept().await {
            let heard = heard.clone();
            tokio::spawn(async move {
                let head = until(&mut stream, "\r\n\r\n").await;
                heard.send(head).ok();
                stream.write_all(answer.as_bytes()).await.ok();
                // One that closes with unread bytes would be reset.
                rest(&mut stream).await;
            });
        }
    });
    (port, hears)
}
