//! Servers inside that are reached from the host: each connection to a port here is led to one there.

use std::io::{self, ErrorKind};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, TcpListener as Listening};
use std::os::fd::OwnedFd;
use std::sync::Arc;
use std::thread::JoinHandle;
use std::time::Duration;

use tokio::net::{TcpListener, TcpSocket, TcpStream};
use tokio::runtime::Builder;
use tokio::sync::{Semaphore, oneshot};

use super::carry::{self, Hands, cut};

/// Makes a socket inside, by IPv6 or by IPv4, nonblocking and not connected.
pub type Make = Box<dyn Fn(bool) -> io::Result<OwnedFd> + Send + Sync>;

/// Ports of the host that lead inside. Dropping this closes them, and every connection.
#[derive(Debug)]
pub struct Published {
    end: Option<oneshot::Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

impl Published {
    /// Leads what arrives at `doors`, each with the port inside that it is for, to servers inside.
    ///
    /// # Errors
    ///
    /// When there is no thread for it. Then nothing is reached.
    pub fn open(doors: Vec<(Listening, u16)>, make: Make, flows: usize) -> io::Result<Self> {
        let (end, ended) = oneshot::channel();
        let thread = std::thread::Builder::new().name("pal-publish".into()).spawn(move || {
            // Without a runtime the doors are closed again.
            run(doors, Arc::new(make), Arc::new(Semaphore::new(flows)), ended).ok();
        })?;
        Ok(Self { end: Some(end), thread: Some(thread) })
    }
}

impl Drop for Published {
    fn drop(&mut self) {
        drop(self.end.take());
        if let Some(thread) = self.thread.take() {
            thread.join().ok();
        }
    }
}

fn run(
    doors: Vec<(Listening, u16)>,
    make: Arc<Make>,
    room: Arc<Semaphore>,
    ended: oneshot::Receiver<()>,
) -> io::Result<()> {
    /// Pipes between both ends, for connections through which much goes.
    const PIPES: usize = 32;
    let hands = Arc::new(Hands::new(PIPES));
    let runtime = Builder::new_current_thread().enable_io().enable_time().build()?;
    let outcome = runtime.block_on(async {
        for (door, port) in doors {
            door.set_nonblocking(true)?;
            let door = TcpListener::from_std(door)?;
            let (make, room, hands) = (Arc::clone(&make), Arc::clone(&room), Arc::clone(&hands));
            tokio::spawn(accept(door, port, make, room, hands));
        }
        // Either way somebody wants it to end.
        ended.await.ok();
        Ok(())
    });
    // Who makes sockets may be asked just now; nobody waits for the answer.
    runtime.shutdown_background();
    outcome
}

async fn accept(
    door: TcpListener,
    port: u16,
    make: Arc<Make>,
    room: Arc<Semaphore>,
    hands: Arc<Hands>,
) {
    loop {
        let Ok(permit) = Arc::clone(&room).acquire_owned().await else { return };
        let Ok((stream, _)) = door.accept().await else {
            // There is no descriptor for it: somebody has to end first.
            tokio::time::sleep(Duration::from_millis(10)).await;
            continue;
        };
        let (make, hands) = (Arc::clone(&make), Arc::clone(&hands));
        tokio::spawn(async move {
            match reach(port, make).await {
                Ok(server) => carry::uncounted(&stream, &server, &hands).await,
                // As if nobody listened here.
                Err(_) => cut(&stream),
            }
            drop(permit);
        });
    }
}

/// Connects to the server inside, by IPv4 or, if none listens there, by IPv6.
async fn reach(port: u16, make: Arc<Make>) -> io::Result<TcpStream> {
    let mut failed = io::Error::from(ErrorKind::ConnectionRefused);
    for by_v6 in [false, true] {
        let make = Arc::clone(&make);
        let made = tokio::task::spawn_blocking(move || make(by_v6)).await;
        let socket = TcpSocket::from_std_stream(made.map_err(io::Error::other)??.into());
        let own: IpAddr =
            if by_v6 { Ipv6Addr::LOCALHOST.into() } else { Ipv4Addr::LOCALHOST.into() };
        match socket.connect(SocketAddr::from((own, port))).await {
            Ok(stream) => {
                stream.set_nodelay(true).ok();
                return Ok(stream);
            }
            Err(error) => failed = error,
        }
    }
    Err(failed)
}

#[cfg(test)]
mod tests {
    use std::io::{Read as _, Write as _};
    use std::net::TcpStream;

    use rustix::net::{AddressFamily, SocketFlags, SocketType};

    use super::*;

    /// Makes sockets here: to a test, inside is where it is.
    fn make(by_v6: bool) -> io::Result<OwnedFd> {
        let family = if by_v6 { AddressFamily::INET6 } else { AddressFamily::INET };
        let flags = SocketFlags::CLOEXEC | SocketFlags::NONBLOCK;
        Ok(rustix::net::socket_with(family, SocketType::STREAM, flags, None)?)
    }

    fn served(address: &str) -> u16 {
        let server = Listening::bind(address).unwrap();
        let port = server.local_addr().unwrap().port();
        std::thread::spawn(move || {
            for mut one in server.incoming().flatten() {
                let mut text = Vec::new();
                // All that is asked first: a half that is closed is closed there, too.
                one.read_to_end(&mut text).unwrap();
                text.reverse();
                one.write_all(&text).unwrap();
            }
        });
        port
    }

    fn ask(port: u16) -> io::Result<Vec<u8>> {
        let mut stream = TcpStream::connect(("127.0.0.1", port))?;
        stream.write_all(b"abc")?;
        stream.shutdown(std::net::Shutdown::Write)?;
        let mut text = Vec::new();
        stream.read_to_end(&mut text)?;
        Ok(text)
    }

    fn door() -> (Listening, u16) {
        let door = Listening::bind("127.0.0.1:0").unwrap();
        let port = door.local_addr().unwrap().port();
        (door, port)
    }

    #[test]
    fn connections_are_led_to_servers_by_either_protocol_and_cut_where_nobody_listens() {
        let nobody = {
            let (closed, port) = door();
            drop(closed);
            port
        };
        let inside = [served("127.0.0.1:0"), served("[::1]:0"), nobody];
        let doors = inside.map(|port| (door(), port));
        let ports = doors.each_ref().map(|((_, port), _)| *port);
        let doors = doors.into_iter().map(|((door, _), port)| (door, port)).collect();
        let published = Published::open(doors, Box::new(make), 16).unwrap();
        let [by_v4, by_v6, to_nobody] = ports;
        for _ in 0..20 {
            assert_eq!(ask(by_v4).unwrap(), b"cba");
        }
        assert_eq!(ask(by_v6).unwrap(), b"cba");
        assert!(ask(to_nobody).is_err());
        drop(published);
        assert!(ask(by_v4).is_err(), "it ends with the run");
    }
}
