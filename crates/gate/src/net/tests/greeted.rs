//! The start of a TLS connection.

use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;

use super::*;
use crate::net::open::Whom;
use crate::net::relay::through;
use crate::traffic::{Verdict, Via};

/// The random number by which a server asks again (RFC 8446).
const RETRY: [u8; 32] = [
    0xCF, 0x21, 0xAD, 0x74, 0xE5, 0x9A, 0x61, 0x11, 0xBE, 0x1D, 0x8C, 0x02, 0x1E, 0x65, 0xB8, 0x91,
    0xC2, 0xA2, 0x11, 0x16, 0x7A, 0xBB, 0x8C, 0x5E, 0x07, 0x9E, 0x09, 0xE2, 0xC8, 0xA8, 0x33, 0x9C,
];

fn long(bytes: &[u8]) -> Vec<u8> {
    [&u16::try_from(bytes.len()).unwrap().to_be_bytes(), bytes].concat()
}

fn record(kind: u8, bytes: &[u8]) -> Vec<u8> {
    [&[kind, 3, 3][..], &long(bytes)].concat()
}

/// A client's first message that names a host, with another extension.
pub(super) fn client(name: &str, extension: u16) -> Vec<u8> {
    let names = long(&[&[0][..], &long(name.as_bytes())].concat());
    let extensions = [&[0, 0][..], &long(&names), &extension.to_be_bytes(), &[0, 0]].concat();
    let start = [&[3, 3][..], &[7; 32], &[0], &long(&[19, 1]), &[1, 0]].concat();
    let body = [start, long(&extensions)].concat();
    record(22, &[&[1, 0][..], &long(&body)].concat())
}

pub(super) fn server(random: [u8; 32]) -> Vec<u8> {
    record(22, &[&[2, 0, 0, 40, 3, 3][..], &random, &[0; 6]].concat())
}

struct Greeted {
    client: TcpStream,
    server: TcpStream,
    end: tokio::task::JoinHandle<()>,
    shared: Arc<Shared>,
}

async fn greeted(network: &Network) -> Greeted {
    let ((client, stream), (upstream, server)) = (pair().await, pair().await);
    let shared = shared(network);
    let own = Arc::clone(&shared);
    let end = tokio::spawn(async move {
        let whom = Whom { host: "a.test".parse().unwrap(), port: 443 };
        let entry = own.book.entry(&whom.host, whom.port, Via::Direct);
        through(&stream, &upstream, &whom, &entry, &own).await;
    });
    Greeted { client, server, end, shared }
}

impl Greeted {
    async fn server_gets(&mut self, bytes: &[u8]) {
        let mut seen = vec![0; bytes.len()];
        let reading = self.server.read_exact(&mut seen);
        tokio::time::timeout(Duration::from_secs(20), reading).await.unwrap().unwrap();
        assert!(seen == bytes, "{}", seen.escape_ascii());
    }

    async fn client_gets(&mut self, bytes: &[u8]) {
        let mut seen = vec![0; bytes.len()];
        let reading = self.client.read_exact(&mut seen);
        tokio::time::timeout(Duration::from_secs(20), reading).await.unwrap().unwrap();
        assert!(seen == bytes, "{}", seen.escape_ascii());
    }

    /// Ends, and returns what is told of it.
    async fn told(self) -> (Verdict, u64, u64) {
        drop((self.client, self.server));
        self.end.await.unwrap();
        let told = self.shared.book.report().connections[0].clone();
        (told.verdict, told.sent, told.received)
    }
}

#[tokio::test]
async fn a_message_that_is_asked_for_again_names_the_same_host() {
    let early = record(23, &[9; 3000]);
    let change = record(20, &[1]);
    for (second, verdict) in [
        (client("a.test", 9), Verdict::Allowed),
        (client("b.test", 9), Verdict::Cut("tls-other-name")),
        (record(22, &[16, 0, 0, 1, 7]), Verdict::Cut("tls-expected")),
    ] {
        let mut it = greeted(&network()).await;
        let first = [client("a.test", 8), early.clone()].concat();
        // Bit by bit: what is early goes on without waiting.
        for piece in first.chunks(100) {
            it.client.write_all(piece).await.unwrap();
            tokio::task::yield_now().await;
        }
        it.server_gets(&first).await;
        it.server.write_all(&server(RETRY)).await.unwrap();
        it.client_gets(&server(RETRY)).await;
        it.client.write_all(&[early.clone(), change.clone()].concat()).await.unwrap();
        it.server_gets(&[early.clone(), change.clone()].concat()).await;
        for piece in second.chunks(20) {
            it.client.write_all(piece).await.unwrap();
            tokio::task::yield_now().await;
        }
        if verdict == Verdict::Allowed {
            it.server_gets(&second).await;
            it.server.write_all(b"and so on").await.unwrap();
            it.client_gets(b"and so on").await;
            it.client.write_all(b"what nobody can read").await.unwrap();
            it.server_gets(b"what nobody can read").await;
        } else {
            assert_eq!(rest(&mut it.server).await, "", "{verdict:?}");
        }
        assert_eq!(it.told().await.0, verdict);
    }
}

#[tokio::test]
async fn a_message_that_comes_too_early_waits_for_what_the_server_says() {
    for (random, is_cut) in [([7; 32], false), (RETRY, true)] {
        let mut it = greeted(&network()).await;
        let (first, other) = (client("a.test", 8), client("b.test", 8));
        it.client.write_all(&[first.clone(), other.clone()].concat()).await.unwrap();
        it.server_gets(&first).await;
        let early = tokio::time::timeout(Duration::from_millis(50), it.server.read_u8()).await;
        assert!(early.is_err(), "it waits");
        it.server.write_all(&server(random)).await.unwrap();
        if is_cut {
            assert_eq!(rest(&mut it.server).await, "");
        } else {
            // To a server that did not ask it is nothing that could be understood.
            it.server_gets(&other).await;
        }
    }
}

#[tokio::test]
async fn what_hides_a_name_is_cut_under_strict_whichever_draft_it_is_of() {
    let strict =
        Network { strict: Setting::new(sourced(palisade_policy::key::Guard(true))), ..network() };
    for extension in [0xFE08, 0xFE09, 0xFE0C, 0xFE0D, 0xFFCE] {
        let mut it = greeted(&strict).await;
        it.client.write_all(&client("a.test", extension)).await.unwrap();
        assert_eq!(rest(&mut it.server).await, "");
        assert_eq!(it.told().await.0, Verdict::Refused("tls-hidden-name"), "{extension:x}");
    }
    // The second message as well as the first.
    let mut it = greeted(&strict).await;
    it.client.write_all(&client("a.test", 8)).await.unwrap();
    it.server_gets(&client("a.test", 8)).await;
    it.server.write_all(&server(RETRY)).await.unwrap();
    it.client_gets(&server(RETRY)).await;
    it.client.write_all(&client("a.test", 0xFE0D)).await.unwrap();
    assert_eq!(rest(&mut it.server).await, "");
    assert_eq!(it.told().await.0, Verdict::Cut("tls-hidden-name"));
}

#[tokio::test]
async fn each_side_may_end_at_any_time_and_bytes_are_counted_once() {
    let mut it = greeted(&network()).await;
    let first = client("a.test", 8);
    it.client.write_all(&first).await.unwrap();
    it.client.shutdown().await.unwrap();
    it.server_gets(&first).await;
    assert_eq!(rest(&mut it.server).await, "", "a half that is closed is closed there, too");
    it.server.write_all(&server([7; 32])).await.unwrap();
    it.server.shutdown().await.unwrap();
    it.client_gets(&server([7; 32])).await;
    let lengths = [first.len(), server([7; 32]).len()].map(|it| u64::try_from(it).unwrap());
    assert_eq!(it.told().await, (Verdict::Allowed, lengths[0], lengths[1]));
    // One that only looks whether somebody is there; one that the server leaves.
    let it = greeted(&network()).await;
    assert_eq!(it.told().await, (Verdict::Allowed, 0, 0));
    let mut it = greeted(&network()).await;
    it.client.write_all(&first).await.unwrap();
    it.server_gets(&first).await;
    it.server.shutdown().await.unwrap();
    assert_eq!(rest(&mut it.client).await, "");
}
