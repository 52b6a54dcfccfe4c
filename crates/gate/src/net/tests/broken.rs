//! Sides that are gone: whoever is left sees it, and gets what was said before.

use std::io::ErrorKind;

use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};

use super::greeted::{client, server};
use super::*;
use crate::net::open::Whom;
use crate::net::relay::through;
use crate::traffic::{Verdict, Via};

/// What a side hears until its connection ends, and how it ends.
async fn heard(side: &mut TcpStream) -> (String, Result<(), ErrorKind>) {
    let mut bytes = Vec::new();
    let reading = side.read_to_end(&mut bytes);
    let ended = tokio::time::timeout(Duration::from_secs(20), reading).await.unwrap();
    let ended = ended.map(|_| ()).map_err(|error| error.kind());
    (String::from_utf8_lossy(&bytes).into_owned(), ended)
}

/// A connection at a port at which both have spoken, and who stands outside and inside.
async fn spoken(port: u16) -> (TcpStream, TcpStream, tokio::task::JoinHandle<Verdict>) {
    let ((mut inside, stream), (upstream, mut outside)) = (pair().await, pair().await);
    let shared = shared(&network());
    let carried = tokio::spawn(async move {
        let whom = Whom { host: "a.test".parse().unwrap(), port };
        let entry = shared.book.entry(&whom.host, whom.port, Via::Direct);
        through(&stream, &upstream, &whom, &entry, &shared).await;
        drop((stream, upstream, entry));
        shared.book.report().connections[0].verdict
    });
    let (words, answer) = match port {
        443 => (client("a.test", 9), server([0; 32])),
        _ => (
            b"POST / HTTP/1.1\r\nHost: a.test\r\nContent-Length: 99\r\n\r\n".to_vec(),
            b"so".into(),
        ),
    };
    inside.write_all(&words).await.unwrap();
    outside.read_exact(&mut vec![0; words.len()]).await.unwrap();
    outside.write_all(&answer).await.unwrap();
    inside.read_exact(&mut vec![0; answer.len()]).await.unwrap();
    (inside, outside, carried)
}

fn reset(side: TcpStream) {
    side.set_zero_linger().unwrap();
    drop(side);
}

const PORTS: [u16; 3] = [80, 443, 9000];

#[tokio::test]
async fn a_server_that_resets_a_connection_resets_the_clients() {
    for port in PORTS {
        let (mut inside, mut outside, carried) = spoken(port).await;
        outside.write_all(b"half").await.unwrap();
        assert_eq!(until(&mut inside, "half").await, "half", "{port}");
        reset(outside);
        let expected = (String::new(), Err(ErrorKind::ConnectionReset));
        assert_eq!(heard(&mut inside).await, expected, "{port}");
        assert_eq!(carried.await.unwrap(), Verdict::Allowed, "{port}");
    }
}

#[tokio::test]
async fn a_client_that_resets_a_connection_resets_the_servers() {
    for port in PORTS {
        let (mut inside, mut outside, carried) = spoken(port).await;
        inside.write_all(b"half").await.unwrap();
        assert_eq!(until(&mut outside, "half").await, "half", "{port}");
        reset(inside);
        let expected = (String::new(), Err(ErrorKind::ConnectionReset));
        assert_eq!(heard(&mut outside).await, expected, "{port}");
        assert_eq!(carried.await.unwrap(), Verdict::Allowed, "{port}");
    }
}

#[tokio::test]
async fn who_ends_well_is_not_cut() {
    for port in PORTS {
        let (mut inside, mut outside, carried) = spoken(port).await;
        outside.write_all(b"all").await.unwrap();
        drop(outside);
        assert_eq!(heard(&mut inside).await, ("all".into(), Ok(())), "{port}");
        drop(inside);
        assert_eq!(carried.await.unwrap(), Verdict::Allowed, "{port}");
        let (mut inside, mut outside, carried) = spoken(port).await;
        inside.write_all(b"all").await.unwrap();
        drop(inside);
        assert_eq!(heard(&mut outside).await, ("all".into(), Ok(())), "{port}");
        drop(outside);
        assert_eq!(carried.await.unwrap(), Verdict::Allowed, "{port}");
    }
}

#[tokio::test]
async fn what_a_server_says_before_it_refuses_to_hear_more_arrives() {
    for port in [443, 9000] {
        let (mut inside, mut outside, carried) = spoken(port).await;
        // It answers without reading, and closes: what is sent to it then is in vain.
        outside.write_all(b"too large").await.unwrap();
        inside.write_all(&[b'x'; 200_000]).await.unwrap();
        outside.readable().await.unwrap();
        drop(outside);
        inside.write_all(b"more").await.ok();
        let expected = ("too large".into(), Err(ErrorKind::ConnectionReset));
        assert_eq!(heard(&mut inside).await, expected, "{port}");
        assert_eq!(carried.await.unwrap(), Verdict::Allowed, "{port}");
    }
}
