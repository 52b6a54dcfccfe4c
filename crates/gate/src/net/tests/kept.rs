//! What thousands of connections keep together that never say all.

use super::*;
use crate::net::incoming::{Incoming, Unread};
use crate::traffic::Via;

const MANY: usize = 600;

/// What may be kept by all: plenty, and a little for each.
const MOST: usize = (8 << 20) + MANY * (2 << 10) + (64 << 10);

/// Half a request, as long as one may be.
fn half() -> Vec<u8> {
    let mut words = b"GET / HTTP/1.1\r\nHost: a.test\r\nX: ".to_vec();
    words.resize(60 << 10, b'x');
    words
}

/// Half a first message of TLS, as long as one may be.
fn half_hello() -> Vec<u8> {
    let mut words = vec![22, 3, 1, 0x3F, 0xFF, 1, 0, 0x3F, 0xFB, 3, 3];
    words.resize(15 << 10, 0);
    words
}

/// Asks for as many descriptors as there may be: both ends of everything are here.
fn make_room() {
    use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
    let Rlimit { maximum, .. } = getrlimit(Resource::Nofile);
    setrlimit(Resource::Nofile, Rlimit { current: maximum, maximum }).unwrap();
}

#[tokio::test]
async fn half_requests_and_half_greetings_keep_no_more_than_there_is_room_for() {
    make_room();
    for is_tls in [false, true] {
        let shared = shared(&network());
        let words = if is_tls { half_hello() } else { half() };
        let mut all = Vec::new();
        for _ in 0..MANY {
            let (mut client, stream) = pair().await;
            let (own, words) = (Arc::clone(&shared), words.clone());
            let reading = tokio::spawn(async move {
                let host = "a.test".parse().unwrap();
                if is_tls {
                    return crate::net::first::look(&stream, &host, &own).await.map(drop);
                }
                let mut incoming = Incoming::new(&stream, own.hands.larder.keep());
                let wait = Duration::from_secs(20);
                incoming.head(wait, &own).await.map(drop).map_err(Unread::code)
            });
            client.write_all(&words).await.ok();
            all.push((client, reading));
            assert!(shared.hands.larder.held() <= MOST, "{}", shared.hands.larder.held());
        }
        tokio::time::sleep(Duration::from_millis(200)).await;
        assert!(shared.hands.larder.held() <= MOST, "{}", shared.hands.larder.held());
        let mut refused = 0;
        for (client, reading) in all {
            if reading.is_finished() {
                refused += 1;
                assert_eq!(reading.await.unwrap(), Err("first-bytes-full"));
            } else {
                reading.abort();
                drop((client, reading.await));
            }
        }
        assert!((1..MANY - 100).contains(&refused), "{refused}");
        assert_eq!(shared.hands.larder.held(), 0, "nothing is kept of what is gone");
    }
}

#[tokio::test]
async fn what_cannot_be_passed_on_keeps_no_more_either_and_nothing_of_it_is_lost() {
    make_room();
    let shared = shared(&network());
    let mut all = Vec::new();
    for _ in 0..MANY / 2 {
        let ((mut client, stream), (upstream, server)) = (pair().await, pair().await);
        let own = Arc::clone(&shared);
        let carried = tokio::spawn(async move {
            let entry = own.book.entry(&"a.test".parse().unwrap(), 7, Via::Direct);
            crate::net::carry::carry(&stream, &upstream, &entry, &own).await
        });
        // Nobody reads, so all that fits on the way is on its way, and the rest is kept.
        let pushing = async {
            let mut sent = 0;
            while sent < 240 << 10 {
                sent += client.write(&[7; 16 << 10]).await.unwrap();
            }
            sent
        };
        let sent = tokio::time::timeout(Duration::from_secs(20), pushing).await.unwrap();
        all.push((client, server, carried, sent));
    }
    assert!(shared.hands.larder.held() <= MOST, "{}", shared.hands.larder.held());
    for (mut client, mut server, carried, sent) in all {
        client.shutdown().await.unwrap();
        let mut got = Vec::new();
        server.read_to_end(&mut got).await.unwrap();
        assert_eq!(got.len(), sent);
        drop((client, server));
        carried.await.unwrap().unwrap();
    }
    assert_eq!(shared.hands.larder.held(), 0);
}
