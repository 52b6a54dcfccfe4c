//! What is told of connections that never were.

use std::net::IpAddr;

use super::*;
use crate::net::open::Pair;
use crate::traffic::{Verdict, Via};

fn told(report: &Report) -> Vec<(&str, &str, Verdict)> {
    report.connections.iter().map(|it| (it.via.word(), &*it.host, it.verdict)).collect()
}

#[tokio::test]
async fn a_connection_that_was_still_to_be_made_is_not_told_as_one_that_was() {
    let ask = vec![sourced("c.test".parse().unwrap())];
    let network = Network { ask: Grants::new(ask), ..network() };
    let (_hold, held) = std::sync::mpsc::channel::<()>();
    let held = std::sync::Mutex::new(held);
    let ask = move |_: &crate::traffic::Wanted| held.lock().unwrap().recv().is_ok();
    let door = Door::open(&network, Outside { ask: Some(Box::new(ask)), ..outside() });
    let mut client = door.connect().await;
    client.write_all(b"CONNECT c.test:80 HTTP/1.1\r\n\r\n").await.unwrap();
    tokio::time::sleep(Duration::from_millis(100)).await;
    assert_eq!(told(&door.close()), [("connect", "c.test", Verdict::Failed("unfinished"))]);
}

#[tokio::test]
async fn one_that_was_made_and_said_nothing_is_not_told_as_allowed() {
    let (port, _heard) = server("").await;
    let rules: [(&str, &[&str], Option<&str>, Action); 1] =
        [("a.test", &[], Some("/x"), Action::Deny)];
    let door = Door::open(&ruled(&rules), outside());
    let mut client = door.connect().await;
    client.write_all(format!("CONNECT a.test:{port} HTTP/1.1\r\n\r\n").as_bytes()).await.unwrap();
    until(&mut client, "\r\n\r\n").await;
    client.write_all(b"GET / HT").await.unwrap();
    let report = door.close();
    assert_eq!(told(&report), [("connect", "a.test", Verdict::Untaken)]);
    assert_eq!((report.connections[0].sent, report.connections[0].received), (0, 0));
}

#[tokio::test]
async fn words_that_name_nobody_are_told_by_their_code() {
    let door = Door::open(&network(), outside());
    for words in ["GET / HTTP/1.1\r\nHost: a.test\r\n\r\n", "GET x y z\r\n\r\n", "\x05\x01\x02"] {
        door.say(words).await;
    }
    door.say("CONNECT a.test:443 HTTP/1.1\r\n\r\nearly").await;
    let refused = [
        ("http", "", Verdict::Refused("proxy-form")),
        ("http", "", Verdict::Refused("http-request-line")),
        ("socks", "", Verdict::Refused("socks-login")),
        ("connect", "a.test", Verdict::Refused("proxy-early")),
    ];
    assert_eq!(told(&door.close()), refused);
}

#[tokio::test]
async fn an_address_that_was_dialled_in_vain_is_told() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let port = listener.local_addr().unwrap().port();
    drop(listener);
    let door = Door::open(&network(), outside());
    door.say(&format!("CONNECT a.test:{port} HTTP/1.1\r\n\r\n")).await;
    let report = door.close();
    assert_eq!(told(&report), [("connect", "a.test", Verdict::Failed("connection-refused"))]);
    let dialled = Some(SocketAddr::from((Ipv4Addr::LOCALHOST, port)));
    assert_eq!(report.connections[0].address, dialled);
}

#[tokio::test]
async fn an_address_inside_that_stands_for_nobody_is_told() {
    let shared = shared(&network());
    let to: SocketAddr = "198.18.3.4:443".parse().unwrap();
    assert_eq!(shared.meant(to), None);
    let refused = Verdict::Refused("address-of-nobody");
    assert_eq!(told(&shared.book.report()), [(Via::Direct.word(), "198.18.3.4", refused)]);
    // One that leads elsewhere is judged like any other.
    assert!(shared.meant("192.0.2.1:443".parse().unwrap()).is_some());
}

#[tokio::test]
async fn what_a_budget_keeps_back_was_not_sent() {
    let (port, _heard) = server("").await;
    let budget = budgeted(Some("100B"), None);
    let door = Door::open(&Network { budget, ..network() }, outside());
    let mut client = door.connect().await;
    client.write_all(format!("CONNECT a.test:{port} HTTP/1.1\r\n\r\n").as_bytes()).await.unwrap();
    until(&mut client, "\r\n\r\n").await;
    client.write_all(&[b'x'; 60]).await.unwrap();
    tokio::time::sleep(Duration::from_millis(50)).await;
    client.write_all(&[b'x'; 60]).await.unwrap();
    rest(&mut client).await;
    let report = door.close();
    let one = &report.connections[0];
    assert_eq!((one.verdict, one.sent, report.sent), (Verdict::Cut("budget-upload"), 60, 60));
}

#[tokio::test]
async fn an_address_that_this_machine_gets_meanwhile_is_its_own() {
    let gained = Arc::new(std::sync::Mutex::new(Vec::new()));
    let known = Arc::clone(&gained);
    let rules = Rules::new(&network(), Own::asked(move || known.lock().unwrap().clone()));
    let address: IpAddr = "93.184.217.9".parse().unwrap();
    assert_eq!(rules.addresses.judge(address, 80), Ok(address));
    gained.lock().unwrap().push(address);
    assert_eq!(rules.addresses.judge(address, 80), Err(crate::address::Refusal::Own));
}

#[tokio::test]
async fn a_packet_that_is_sent_again_goes_on_once_its_connection_is_dialled() {
    use crate::net::hold::{Verdict as Packet, again};
    use crate::net::open::{Held, Ready};
    let shared = shared(&network());
    let pair = Pair { from: "10.0.0.1:1".parse().unwrap(), to: "10.0.0.2:80".parse().unwrap() };
    shared.held().insert(pair, Held::Dialling);
    assert_eq!(shared.held().get(&pair).map(again), Some(Packet::Drop));
    let (upstream, _server) = super::pair().await;
    let entry = shared.book.entry(&"a.test".parse().unwrap(), 80, Via::Direct);
    let permit = Arc::clone(&shared.room).try_acquire_owned().unwrap();
    let ready = Ready { upstream, entry, permit, since: std::time::Instant::now() };
    shared.held().insert(pair, Held::Ready(Box::new(ready)));
    assert_eq!(shared.held().get(&pair).map(again), Some(Packet::Pass(0)));
}

#[test]
fn who_is_refused_is_told_so_where_there_is_no_room() {
    use crate::net::DENIED;
    use crate::net::hold::{Verdict as Packet, without_room};
    let shared = shared(&network());
    let name = shared.names().give(&"a.test".parse().unwrap()).unwrap();
    let to = |address: IpAddr| Pair {
        from: "10.0.0.1:1".parse().unwrap(),
        to: SocketAddr::from((address, 80)),
    };
    assert_eq!(without_room(&shared, to(name.v4.into())), Packet::Drop);
    assert!(shared.book.report().connections.is_empty());
    assert_eq!(without_room(&shared, to("192.0.2.7".parse().unwrap())), Packet::Pass(DENIED));
    let expected = [("direct", "192.0.2.7", Verdict::Refused("host-not-listed"))];
    assert_eq!(told(&shared.book.report()), expected);
    assert_eq!(without_room(&shared, to("198.18.0.99".parse().unwrap())), Packet::Pass(DENIED));
}
