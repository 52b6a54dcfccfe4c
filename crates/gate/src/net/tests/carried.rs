//! Bytes, both ways.

use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};

use super::*;
use crate::net::carry::carry;
use crate::traffic::Via;

/// Far more than is copied before the kernel moves it by itself.
const MUCH: usize = 8 << 20;

fn bytes(seed: usize) -> Vec<u8> {
    (0..MUCH)
        .map(|place| u8::try_from((place.wrapping_mul(31) ^ place >> 9 ^ seed) & 255).unwrap())
        .collect()
}

#[tokio::test]
async fn everything_arrives_both_ways_and_each_side_may_end_first() {
    for pipes in [0, 16] {
        let ((mut client, stream), (upstream, mut server)) = (pair().await, pair().await);
        let outside = Outside { pipes, ..outside() };
        let shared =
            Arc::new(Shared::new(Rules::new(&network(), Own::default()), outside).unwrap());
        let own = Arc::clone(&shared);
        let carried = tokio::spawn(async move {
            let entry = own.book.entry(&"a.test".parse().unwrap(), 7, Via::Direct);
            carry(&stream, &upstream, &entry, &own).await
        });
        let (there, back) = (bytes(1), bytes(2));
        let asking = async {
            client.write_all(&there).await.unwrap();
            client.shutdown().await.unwrap();
            let mut got = Vec::new();
            client.read_to_end(&mut got).await.unwrap();
            got
        };
        let answering = async {
            let mut got = Vec::new();
            server.read_to_end(&mut got).await.unwrap();
            server.write_all(&back).await.unwrap();
            server.shutdown().await.unwrap();
            got
        };
        let (came_back, came_there) = tokio::join!(asking, answering);
        assert!(came_there == there && came_back == back, "{pipes}");
        assert_eq!(carried.await.unwrap(), Ok(()));
        let report = shared.book.report();
        let told = &report.connections[0];
        let much = u64::try_from(MUCH).unwrap();
        assert_eq!((told.sent, told.received, report.sent), (much, much, much));
    }
}

#[tokio::test]
async fn more_than_the_budget_is_cut() {
    let cases = [
        (budgeted(Some("1MiB"), None), "budget-upload"),
        (budgeted(None, Some("1MiB")), "budget-download"),
    ];
    for (budget, code) in cases {
        let network = Network { budget, ..network() };
        let ((client, stream), (upstream, server)) = (pair().await, pair().await);
        let shared = shared(&network);
        let carried = tokio::spawn(async move {
            let entry = shared.book.entry(&"a.test".parse().unwrap(), 7, Via::Direct);
            carry(&stream, &upstream, &entry, &shared).await
        });
        for mut side in [client, server] {
            tokio::spawn(async move { side.write_all(&bytes(0)).await.ok() });
        }
        // Who does not read slows only the other way.
        assert_eq!(carried.await.unwrap(), Err(code));
    }
}
