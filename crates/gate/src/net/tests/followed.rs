//! Requests on a connection, one after the other.

use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;

use super::*;
use crate::net::open::Whom;
use crate::net::{first, follow};
use crate::traffic::{Verdict, Via};

/// A connection that is followed: who asks, who is asked, and what becomes of it.
struct Followed {
    client: TcpStream,
    server: TcpStream,
    end: tokio::task::JoinHandle<Result<(), Verdict>>,
    shared: Arc<Shared>,
}

async fn followed(network: &Network, is_ruled: bool) -> Followed {
    let ((client, stream), (upstream, server)) = (pair().await, pair().await);
    let shared = shared(network);
    let own = Arc::clone(&shared);
    let end = tokio::spawn(async move {
        let whom = Whom { host: "a.test".parse().unwrap(), port: 80 };
        let entry = own.book.entry(&whom.host, whom.port, Via::Direct);
        let ended = match is_ruled {
            true => follow::one(&stream, &upstream, &whom, &entry, &own).await,
            false => follow::follow(&stream, &upstream, &whom, &entry, &own).await,
        };
        ended.inspect_err(|verdict| entry.judged(*verdict))
    });
    Followed { client, server, end, shared }
}

const GET: &str = "GET /one HTTP/1.1\r\nHost: a.test\r\n\r\n";
const OTHER: &str = "GET /two HTTP/1.1\r\nHost: other.test\r\n\r\n";

#[tokio::test]
async fn every_request_of_a_connection_has_to_be_for_the_same_host() {
    let mut it = followed(&network(), false).await;
    // The first two come at once, the third when they are answered.
    it.client.write_all(format!("{GET}{GET}").as_bytes()).await.unwrap();
    let mut seen = vec![0; 2 * GET.len()];
    it.server.read_exact(&mut seen).await.unwrap();
    assert_eq!(String::from_utf8(seen).unwrap(), format!("{GET}{GET}"));
    it.server.write_all(b"answers").await.unwrap();
    assert_eq!(until(&mut it.client, "answers").await, "answers");
    it.client.write_all(OTHER.as_bytes()).await.unwrap();
    assert_eq!(it.end.await.unwrap(), Err(Verdict::Cut("http-other-host")));
    assert_eq!(rest(&mut it.server).await, "");
    let report = it.shared.book.report();
    assert_eq!(report.connections[0].requests, ["GET /one", "GET /one"]);
    assert_eq!(report.connections[0].verdict, Verdict::Cut("http-other-host"));
}

#[tokio::test]
async fn bodies_are_followed_to_their_end_and_no_further() {
    let bodies = [
        format!("Content-Length: {}\r\n\r\n{OTHER}", OTHER.len()),
        format!("Transfer-Encoding: chunked\r\n\r\n{:x}\r\n{OTHER}\r\n0\r\n\r\n", OTHER.len()),
    ];
    for body in bodies {
        let mut it = followed(&network(), false).await;
        let post = format!("POST / HTTP/1.1\r\nHost: a.test\r\n{body}");
        // Byte by byte, and what follows is a request again.
        for byte in post.as_bytes() {
            it.client.write_all(&[*byte]).await.unwrap();
        }
        let mut seen = vec![0; post.len()];
        it.server.read_exact(&mut seen).await.unwrap();
        assert_eq!(String::from_utf8(seen).unwrap(), post);
        it.client.write_all(OTHER.as_bytes()).await.unwrap();
        assert_eq!(it.end.await.unwrap(), Err(Verdict::Cut("http-other-host")));
        assert_eq!(rest(&mut it.server).await, "");
    }
}

#[tokio::test]
async fn headers_behind_a_body_are_not_passed_on() {
    for trailer in ["Host: other.test", "Content-Length: 5", "Authorization: x", "X: y"] {
        let mut it = followed(&network(), false).await;
        let start =
            "POST / HTTP/1.1\r\nHost: a.test\r\nTransfer-Encoding: chunked\r\n\r\n1\r\na\r\n";
        it.client.write_all(start.as_bytes()).await.unwrap();
        assert_eq!(until(&mut it.server, "1\r\na\r\n").await, start);
        it.client.write_all(format!("0\r\n{trailer}\r\n\r\n{GET}").as_bytes()).await.unwrap();
        assert_eq!(it.end.await.unwrap(), Err(Verdict::Cut("http-trailers")), "{trailer}");
        assert_eq!(rest(&mut it.server).await, "", "{trailer}");
    }
}

#[tokio::test]
async fn what_is_no_plain_request_for_the_host_is_refused() {
    #[rustfmt::skip]
    let cases: [(&[u8], &str); 9] = [
        (OTHER.as_bytes(),                                                  "http-other-host"),
        (b"GET / HTTP/1.1\r\nHost: a.test:81\r\n\r\n",                      "http-other-host"),
        (b"GET http://other.test/ HTTP/1.1\r\nHost: other.test\r\n\r\n",    "http-other-host"),
        (b"GET http://a.test/ HTTP/1.1\r\nHost: other.test\r\n\r\n",        "http-host-differs"),
        (b"CONNECT a.test:22 HTTP/1.1\r\nHost: a.test:22\r\n\r\n",          "http-connect"),
        (b"TRACE / HTTP/1.1\r\nHost: a.test\r\n\r\n",                       "http-method"),
        (b"SSH-2.0-x\r\n\r\n",                                              "http-request-line"),
        (b"\x16\x03\x01\x00\x05hello",                                      "http-tls"),
        (b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",                               "http-unseen"),
    ];
    for (words, code) in cases {
        let mut it = followed(&network(), false).await;
        it.client.write_all(words).await.unwrap();
        let ended = it.end.await.unwrap();
        assert_eq!(ended, Err(Verdict::Refused(code)), "{}", words.escape_ascii());
        assert_eq!(rest(&mut it.server).await, "", "{}", words.escape_ascii());
    }
}

const SWITCH: &str = "GET /chat HTTP/1.1\r\nHost: a.test\r\nConnection: Upgrade, keep-alive\r\n\
                      Upgrade: websocket\r\n\r\n";

#[tokio::test]
async fn only_a_server_that_agrees_ends_the_following() {
    for agrees in [true, false] {
        let mut it = followed(&network(), false).await;
        it.client.write_all(SWITCH.as_bytes()).await.unwrap();
        assert_eq!(until(&mut it.server, "\r\n\r\n").await, SWITCH);
        let answer = match agrees {
            true => {
                "HTTP/1.1 103 Hints\r\n\r\nHTTP/1.1 101 Switching\r\nUpgrade: websocket\r\n\r\n"
            }
            false => "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n",
        };
        it.server.write_all(answer.as_bytes()).await.unwrap();
        let mut seen = vec![0; answer.len()];
        it.client.read_exact(&mut seen).await.unwrap();
        assert_eq!(String::from_utf8(seen).unwrap(), answer);
        it.client.write_all(OTHER.as_bytes()).await.unwrap();
        if agrees {
            assert_eq!(until(&mut it.server, "\r\n\r\n").await, OTHER);
            drop((it.client, it.server));
            assert_eq!(it.end.await.unwrap(), Ok(()));
        } else {
            assert_eq!(it.end.await.unwrap(), Err(Verdict::Cut("http-other-host")));
            assert_eq!(rest(&mut it.server).await, "");
        }
    }
}

#[tokio::test]
async fn what_could_not_be_followed_is_not_asked_for() {
    let mut it = followed(&network(), false).await;
    let h2c = "GET / HTTP/1.1\r\nHost: a.test\r\nConnection: Upgrade, HTTP2-Settings, keep-alive\r\n\
               Upgrade: h2c\r\nHTTP2-Settings: AAMAAABk\r\n\r\n";
    it.client.write_all(h2c.as_bytes()).await.unwrap();
    let plain = "GET / HTTP/1.1\r\nHost: a.test\r\nConnection: keep-alive\r\n\r\n";
    assert_eq!(until(&mut it.server, "\r\n\r\n").await, plain);
    // Later on nobody would see whether the server agrees.
    it.client.write_all(SWITCH.as_bytes()).await.unwrap();
    let plain = "GET /chat HTTP/1.1\r\nHost: a.test\r\nConnection: keep-alive\r\n\r\n";
    assert_eq!(until(&mut it.server, "\r\n\r\n").await, plain);
}

#[tokio::test]
async fn one_side_may_have_said_all_while_the_other_goes_on() {
    let mut it = followed(&network(), false).await;
    it.client.write_all(GET.as_bytes()).await.unwrap();
    it.client.shutdown().await.unwrap();
    assert_eq!(rest(&mut it.server).await, GET);
    it.server.write_all(b"later").await.unwrap();
    drop(it.server);
    assert_eq!(rest(&mut it.client).await, "later");
    assert_eq!(it.end.await.unwrap(), Ok(()));
}

#[tokio::test]
async fn rules_for_requests_hold_on_a_connection_of_its_own() {
    let rules: [(&str, &[&str], Option<&str>, Action); 2] =
        [("a.test", &[], Some("/admin"), Action::Deny), ("a.test", &["GET"], None, Action::Allow)];
    let network = ruled(&rules);
    #[rustfmt::skip]
    let cases = [
        ("GET",   "/x//y/../z?q",       Ok("GET /x/z?q")),
        ("GET",   "/admin",             Err("403 request-refused")),
        ("GET",   "//admin",            Err("403 request-refused")),
        ("GET",   "/x/%2e%2e/admin",    Err("403 request-refused")),
        ("GET",   "/%61dmin/",          Err("403 request-refused")),
        ("GET",   "/x%2fadmin",         Err("400 http-path")),
        ("GET",   "/;/admin",           Err("400 http-path")),
        ("GET",   "/x;y/../admin;z",    Err("403 request-refused")),
        ("GET",   "/x;y/z",             Ok("GET /x;y/z")),
        ("GET",   "http://a.test/admin", Err("403 request-refused")),
        ("POST",  "/x",                 Err("403 request-refused")),
        ("TRACE", "/x",                 Err("405 http-method")),
    ];
    for (method, target, expected) in cases {
        let mut it = followed(&network, true).await;
        let words = format!("{method} {target} HTTP/1.1\r\nHost: a.test\r\n\r\n{OTHER}");
        it.client.write_all(words.as_bytes()).await.unwrap();
        match expected {
            Ok(line) => {
                let head = until(&mut it.server, "\r\n\r\n").await;
                let whole = format!("{line} HTTP/1.1\r\nHost: a.test\r\nConnection: close\r\n\r\n");
                assert_eq!(head, whole);
                it.server
                    .write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")
                    .await
                    .unwrap();
                let answer = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\nConnection: close\r\n\r\nok";
                assert_eq!(until(&mut it.client, "ok").await, answer);
                assert_eq!(it.end.await.unwrap(), Ok(()));
            }
            Err(expected) => {
                let (status, code) = expected.split_once(' ').unwrap();
                it.end.await.unwrap().ok();
                let told = rest(&mut it.client).await;
                assert!(told.starts_with(&format!("HTTP/1.1 {status} ")), "{target}: {told}");
                assert!(told.contains(&format!("X-Proxy-Error: {code}\r\n")), "{target}: {told}");
                let report = it.shared.book.report();
                let verdict = report.connections[0].verdict;
                assert_eq!(verdict.code(), Some(code), "{target}");
            }
        }
        // Nothing behind it reaches anybody.
        assert_eq!(rest(&mut it.server).await, "", "{target}");
    }
}

#[tokio::test]
async fn a_host_with_rules_for_requests_is_not_reached_by_tls() {
    let rules: [(&str, &[&str], Option<&str>, Action); 1] =
        [("a.test", &[], Some("/x"), Action::Deny)];
    let mut it = followed(&ruled(&rules), true).await;
    it.client.write_all(b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03").await.unwrap();
    assert!(rest(&mut it.client).await.contains("X-Proxy-Error: http-tls"));
    drop(it.client);
    it.end.await.unwrap().unwrap();
    assert_eq!(it.shared.book.report().connections[0].verdict, Verdict::Refused("http-tls"));
    assert_eq!(rest(&mut it.server).await, "");
}

#[tokio::test]
async fn first_bytes_of_tls_have_to_name_the_host() {
    let (mut client, stream) = pair().await;
    client.write_all(b"GET / HTTP/1.1\r\n\r\n").await.unwrap();
    let host = "a.test".parse().unwrap();
    let shared = shared(&network());
    assert_eq!(first::look(&stream, &host, &shared).await.map(drop), Err("tls-expected"));
    let (mut client, stream) = pair().await;
    client.write_all(b"\x16\x03\x01\x02\x00\x01").await.unwrap();
    let ends = async {
        tokio::time::sleep(Duration::from_millis(30)).await;
        client.shutdown().await.unwrap();
    };
    let (seen, ()) = tokio::join!(first::look(&stream, &host, &shared), ends);
    assert_eq!(seen.map(drop), Err("tls-unfinished"));
}
