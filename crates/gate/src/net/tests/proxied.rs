//! Programs that ask a proxy.

use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};

use super::*;
use crate::traffic::{Connection, Verdict, Wanted};

const OK: &str = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok";

fn get(host: &str, port: u16, path: &str) -> String {
    format!("GET http://{host}:{port}{path} HTTP/1.1\r\nHost: {host}:{port}\r\n\r\n")
}

fn told(report: &Report) -> Vec<(&str, Verdict)> {
    report.connections.iter().map(|it: &Connection| (&*it.host, it.verdict)).collect()
}

#[tokio::test]
async fn requests_follow_each_other_and_each_is_judged() {
    let (port, mut heard) = server(OK).await;
    let door = Door::open(&network(), outside());
    let mut client = door.connect().await;
    for (host, path) in [("a.test", "/1"), ("b.test", "/2"), ("a.test", "/3")] {
        client.write_all(get(host, port, path).as_bytes()).await.unwrap();
        assert_eq!(until(&mut client, "\r\n\r\nok").await, OK);
        let head = heard.recv().await.unwrap();
        let line =
            format!("GET {path} HTTP/1.1\r\nHost: {host}:{port}\r\nConnection: close\r\n\r\n");
        assert_eq!(head, line);
    }
    client.write_all(get("c.test", port, "/4").as_bytes()).await.unwrap();
    let answer = rest(&mut client).await;
    assert!(
        answer.starts_with("HTTP/1.1 403 Forbidden\r\nX-Proxy-Error: host-not-listed"),
        "{answer}"
    );
    let report = door.close();
    let refused = Verdict::Refused("host-not-listed");
    let fine = Verdict::Allowed;
    let all = [("a.test", fine), ("b.test", fine), ("a.test", fine), ("c.test", refused)];
    assert_eq!(told(&report), all);
    assert_eq!(report.connections[1].requests, ["GET /2"]);
    assert!(report.connections[1].received > 30 && report.connections[1].sent > 30);
}

#[tokio::test]
async fn a_listed_name_that_leads_to_an_address_that_is_not_is_told_so() {
    let (port, _heard) = server(OK).await;
    let allow = Grants::new(vec![sourced("a.test".parse().unwrap())]);
    let door = Door::open(&Network { allow, ..network() }, outside());
    let answer = door.say(&get("a.test", port, "/1")).await;
    assert!(answer.contains("\r\nX-Proxy-Error: address-loopback\r\n"), "{answer}");
    let why = format!(
        "the policy does not allow a.test:{port}: it leads to an address (loopback) that network.allow does not list"
    );
    assert!(answer.contains(&why), "{answer}");
}

#[tokio::test]
async fn what_comes_at_once_is_answered_one_by_one() {
    let (port, _heard) = server(OK).await;
    let door = Door::open(&network(), outside());
    let two = format!("{}{}", get("a.test", port, "/1"), get("elsewhere.test", port, "/2"));
    let answer = door.say(&two).await;
    assert!(answer.starts_with(&format!("{OK}HTTP/1.1 403 Forbidden")), "{answer}");
}

#[tokio::test]
async fn e076_a_request_with_two_readings_gets_an_error_and_no_server() {
    let (port, mut heard) = server(OK).await;
    let rules: [(&str, &[&str], Option<&str>, Action); 1] =
        [("a.test", &[], Some("/admin"), Action::Deny)];
    let door = Door::open(&ruled(&rules), outside());
    let host = format!("a.test:{port}");
    #[rustfmt::skip]
    let cases = [
        (format!("GET http://{host}/ HTTP/1.1\r\nHost: b.test:{port}\r\n\r\n"), "421", "http-host-differs"),
        (format!("GET http://{host}/ HTTP/1.1\r\nHost: {host}\r\nHost: {host}\r\n\r\n"), "400", "http-host-twice"),
        (format!("TRACE http://{host}/ HTTP/1.1\r\nHost: {host}\r\n\r\n"), "405", "http-method"),
        (format!("GET / HTTP/1.1\r\nHost: {host}\r\n\r\n"), "400", "proxy-form"),
        (format!("CONNECT {host} HTTP/1.1\r\n\r\nGET / HTTP/1.1\r\n\r\n"), "400", "proxy-early"),
        (format!("POST http://{host}/ HTTP/1.1\r\nHost: {host}\r\nTransfer-Encoding: chunked\r\nTrailer: Host\r\n\r\n0\r\n\r\n"), "400", "http-trailers"),
        (get("a.test", port, "//admin"), "403", "request-refused"),
        (get("a.test", port, "/x/%2e%2e/admin"), "403", "request-refused"),
        (get("a.test", port, "/x/..%2fadmin"), "400", "http-path"),
        (get("a.test", port, "/%252e%252e/admin"), "400", "http-path"),
        (get("a.test", port, "/;/admin"), "400", "http-path"),
        (get("a.test", port, "/%3b/admin"), "400", "http-path"),
        (get("a.test", port, "/x/..;/admin"), "400", "http-path"),
        (get("a.test", port, "/\\admin"), "400", "http-path"),
        (get("a.test", port, "/#/admin"), "400", "http-target"),
        (get("a.test", port, "/%23/../admin"), "400", "http-path"),
        (get("a.test", port, "/ADMIN;x/"), "403", "request-refused"),
        (format!("GET http://{host}/ HTTP/1.1\r\nHost: {host}\r\nX-Original-URL: /admin\r\n\r\n"), "400", "http-replaced"),
        (format!("GET http://{host}/ HTTP/1.1\r\nHost: {host}\r\nx_http_method-override: PUT\r\n\r\n"), "400", "http-replaced"),
    ];
    for (words, status, code) in cases {
        let answer = door.say(&words).await;
        assert!(answer.starts_with(&format!("HTTP/1.1 {status} ")), "{words}: {answer}");
        assert!(answer.contains(&format!("\r\nX-Proxy-Error: {code}\r\n")), "{words}: {answer}");
        assert!(heard.try_recv().is_err(), "{words}");
    }
    // The lawful one gets through, in one reading.
    let answer = door
        .say(&get("a.test", port, "/x/.//%79").replace("\r\n\r\n", "\r\nConnection: close\r\n\r\n"))
        .await;
    assert!(answer.ends_with("\r\n\r\nok"), "{answer}");
    assert!(heard.recv().await.unwrap().starts_with("GET /x/y HTTP/1.1\r\n"));
}

#[tokio::test]
async fn an_answer_of_pieces_or_without_an_end_is_passed_on_as_it_is() {
    let chunked = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nok\r\n0\r\n\r\n";
    let (port, _heard) = server(chunked).await;
    let door = Door::open(&network(), outside());
    let mut client = door.connect().await;
    for _ in 0..2 {
        client.write_all(get("a.test", port, "/").as_bytes()).await.unwrap();
        assert_eq!(until(&mut client, "0\r\n\r\n").await, chunked);
    }
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let port = listener.local_addr().unwrap().port();
    tokio::spawn(async move {
        let (mut stream, _) = listener.accept().await.unwrap();
        until(&mut stream, "\r\n\r\n").await;
        stream.write_all(b"HTTP/1.0 200 OK\r\n\r\nuntil the end").await.unwrap();
    });
    let answer = door.say(&get("a.test", port, "/")).await;
    assert_eq!(answer, "HTTP/1.0 200 OK\r\nConnection: close\r\n\r\nuntil the end");
}

#[tokio::test]
async fn budgets_hold_for_plain_requests_and_the_client_is_told() {
    let (port, _heard) = server(OK).await;
    let budget = budgeted(Some("1KiB"), None);
    let door = Door::open(&Network { budget, ..network() }, outside());
    let mut client = door.connect().await;
    let head = format!(
        "POST http://a.test:{port}/ HTTP/1.1\r\nHost: a.test:{port}\r\nContent-Length: 9999\r\n\r\n"
    );
    client.write_all(format!("{head}{}", "x".repeat(9999)).as_bytes()).await.unwrap();
    let answer = rest(&mut client).await;
    // Either it was cut before the server spoke, and is told, or in its course.
    assert!(
        answer.is_empty() || answer.contains("budget-upload") || answer.contains("ok"),
        "{answer}"
    );
    let report = door.close();
    assert_eq!(told(&report), [("a.test", Verdict::Cut("budget-upload"))]);
    let budget = budgeted(None, Some("20B"));
    let door = Door::open(&Network { budget, ..network() }, outside());
    door.say(&get("a.test", port, "/")).await;
    assert_eq!(told(&door.close()), [("a.test", Verdict::Cut("budget-download"))]);
}

#[tokio::test]
async fn who_cannot_be_reached_has_failed_and_was_not_refused() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let port = listener.local_addr().unwrap().port();
    drop(listener);
    let door = Door::open(&network(), outside());
    let answer = door.say(&get("a.test", port, "/")).await;
    assert!(
        answer.starts_with("HTTP/1.1 502 Bad Gateway\r\nX-Proxy-Error: connection-refused"),
        "{answer}"
    );
    assert_eq!(told(&door.close()), [("a.test", Verdict::Failed("connection-refused"))]);
}

#[tokio::test]
async fn connections_by_both_protocols_are_carried_and_told() {
    let (port, _heard) = server(OK).await;
    let door = Door::open(&network(), outside());
    let plain = format!("GET / HTTP/1.1\r\nHost: a.test:{port}\r\n\r\n");
    let mut client = door.connect().await;
    client.write_all(format!("CONNECT a.test:{port} HTTP/1.1\r\n\r\n").as_bytes()).await.unwrap();
    until(&mut client, "\r\n\r\n").await;
    client.write_all(plain.as_bytes()).await.unwrap();
    assert_eq!(until(&mut client, "\r\n\r\nok").await, OK);
    drop(client);
    let mut client = door.connect().await;
    client.write_all(&[5, 1, 0]).await.unwrap();
    client.read_exact(&mut [0; 2]).await.unwrap();
    let request = [&[5, 1, 0, 3, 6][..], b"b.test", &port.to_be_bytes()].concat();
    client.write_all(&request).await.unwrap();
    let mut reply = [0; 10];
    client.read_exact(&mut reply).await.unwrap();
    assert_eq!(reply[1], 0);
    client.write_all(plain.as_bytes()).await.unwrap();
    assert_eq!(until(&mut client, "\r\n\r\nok").await, OK);
    // It is still under way when the doors are closed, and told all the same.
    let report = door.close();
    let mut all: Vec<_> =
        report.connections.iter().map(|it| (it.via.word(), &*it.host, it.received)).collect();
    all.sort_unstable();
    let length = u64::try_from(OK.len()).unwrap();
    assert_eq!(all, [("connect", "a.test", length), ("socks", "b.test", length)]);
    assert_eq!(report.trouble, Vec::<String>::new());
}

#[tokio::test]
async fn a_person_is_asked_once_about_a_host_while_programs_wait() {
    let (port, _heard) = server(OK).await;
    let ask = ["c.test", "b.test"].map(|host| sourced(host.parse().unwrap()));
    let network = Network { ask: Grants::new(ask.to_vec()), ..network() };
    let network =
        Network { allow: Grants::new(vec![sourced("127.0.0.1".parse().unwrap())]), ..network };
    let asked = Arc::new(std::sync::Mutex::new(Vec::new()));
    let heard = Arc::clone(&asked);
    let ask = move |wanted: &Wanted| {
        heard.lock().unwrap().push((wanted.host.clone(), wanted.port));
        std::thread::sleep(Duration::from_millis(50));
        wanted.host == "c.test"
    };
    let door = Door::open(&network, Outside { ask: Some(Box::new(ask)), ..outside() });
    let close = |host| get(host, port, "/").replace("\r\n\r\n", "\r\nConnection: close\r\n\r\n");
    let (yes, no) = (close("c.test"), close("b.test"));
    let (one, two, three) = tokio::join!(door.say(&yes), door.say(&yes), door.say(&no));
    assert!(one.ends_with("ok") && two.ends_with("ok"), "{one} {two}");
    assert!(three.contains("X-Proxy-Error: ask-refused"), "{three}");
    let mut asked = asked.lock().unwrap().clone();
    asked.sort();
    assert_eq!(asked, [("b.test".to_owned(), port), ("c.test".to_owned(), port)]);
    let report = door.close();
    let rules: Vec<_> = report.connections.iter().filter_map(|it| it.rule.as_deref()).collect();
    assert_eq!(rules.len(), 3);
    assert!(rules.contains(&"ask: c.test"), "{rules:?}");
}

#[tokio::test]
async fn a_name_is_no_way_around_a_question_about_its_address() {
    let (port, _heard) = server(OK).await;
    for agrees in [false, true] {
        let ask = vec![sourced("127.0.0.0/8".parse().unwrap())];
        let network = Network { ask: Grants::new(ask), ..network() };
        let asked = Arc::new(std::sync::Mutex::new(Vec::new()));
        let heard = Arc::clone(&asked);
        let ask = move |wanted: &Wanted| {
            heard.lock().unwrap().push((wanted.host.clone(), wanted.rule.clone()));
            agrees
        };
        let door = Door::open(&network, Outside { ask: Some(Box::new(ask)), ..outside() });
        let words = get("a.test", port, "/").replace("\r\n\r\n", "\r\nConnection: close\r\n\r\n");
        let got = door.say(&words).await;
        assert_eq!(got.ends_with("ok"), agrees, "{got}");
        assert_eq!(got.contains("X-Proxy-Error: ask-refused"), !agrees, "{got}");
        let rule = Some("ask: 127.0.0.0/8".to_owned());
        assert_eq!(*asked.lock().unwrap(), [("127.0.0.1".to_owned(), rule)]);
        door.close();
    }
}

#[tokio::test]
async fn many_at_once_neither_end_the_doors_nor_lose_anybody() {
    let (port, _heard) = server(OK).await;
    let door = Arc::new(Door::open(&network(), Outside { flows: 16, ..outside() }));
    let all = (0..200).map(|_| {
        let door = Arc::clone(&door);
        let words = get("a.test", port, "/").replace("\r\n\r\n", "\r\nConnection: close\r\n\r\n");
        tokio::spawn(async move { door.say(&words).await.ends_with("\r\n\r\nok") })
    });
    for one in all.collect::<Vec<_>>() {
        assert!(one.await.unwrap());
    }
    let report = Arc::into_inner(door).unwrap().close();
    assert_eq!((report.connections.len(), report.trouble.len()), (200, 0));
}

#[tokio::test]
async fn a_door_that_fails_closes_all_of_them_and_is_told() {
    let (port, _heard) = server(OK).await;
    // What is no socket cannot be asked for packets.
    let (queue, mut packets) = std::io::pipe().unwrap();
    let door = Door::with_queue(&network(), outside(), Some(queue.into()));
    let mut client = door.connect().await;
    client.write_all(format!("CONNECT a.test:{port} HTTP/1.1\r\n\r\n").as_bytes()).await.unwrap();
    until(&mut client, "\r\n\r\n").await;
    std::io::Write::write_all(&mut packets, b"x").unwrap();
    // Who was connected is cut, and nobody else gets in.
    assert_eq!(rest(&mut client).await, "");
    let again = async {
        while TcpStream::connect(door.1).await.is_ok() {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    };
    tokio::time::timeout(Duration::from_secs(10), again).await.unwrap();
    let report = door.close();
    assert!(report.trouble.iter().any(|it| it.contains("the network was closed")), "{report:?}");
    assert_eq!(told(&report), [("a.test", Verdict::Allowed)]);
}
