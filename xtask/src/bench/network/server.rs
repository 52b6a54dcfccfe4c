//! The host that is reached: it sends and takes as many bytes as it is asked to.

use std::io::{self, Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::thread;

/// What a client asks for: a letter, and how many bytes.
pub(super) const HEAD: usize = 9;

/// How much is sent and taken at once.
pub(super) const PIECE: usize = 256 * 1024;

/// Who serves: all are there before anybody asks, so that nobody has to wait for one.
const SERVERS: usize = 256;

/// Serves until this program ends; returns the port.
pub(super) fn start() -> io::Result<u16> {
    let listener = TcpListener::bind(("127.0.0.1", 0))?;
    for _ in 0..SERVERS {
        let listener = listener.try_clone()?;
        thread::Builder::new().stack_size(128 * 1024).spawn(move || {
            for stream in listener.incoming().flatten() {
                // A client that goes away early is measured at its own end.
                serve(stream).ok();
            }
        })?;
    }
    Ok(listener.local_addr()?.port())
}

fn serve(mut stream: TcpStream) -> io::Result<()> {
    stream.set_nodelay(true)?;
    let mut head = [0; HEAD];
    stream.read_exact(&mut head)?;
    let [kind, count @ ..] = head;
    let count = u64::from_le_bytes(count);
    match kind {
        b'd' => give(&mut stream, count),
        _ => {
            take(&mut stream, count)?;
            stream.write_all(b".")
        }
    }
}

/// Sends as many bytes.
pub(super) fn give(stream: &mut TcpStream, mut count: u64) -> io::Result<()> {
    let piece = vec![b'x'; PIECE];
    while count > 0 {
        let most = usize::try_from(count).unwrap_or(PIECE).min(PIECE);
        stream.write_all(piece.get(..most).unwrap_or_default())?;
        count -= most as u64;
    }
    Ok(())
}

/// Takes as many bytes.
pub(super) fn take(stream: &mut TcpStream, mut count: u64) -> io::Result<()> {
    let mut piece = vec![0; PIECE];
    while count > 0 {
        let most = usize::try_from(count).unwrap_or(PIECE).min(PIECE);
        let room = piece.get_mut(..most).unwrap_or_default();
        match stream.read(room)? {
            0 => return Err(io::ErrorKind::UnexpectedEof.into()),
            got => count -= got as u64,
        }
    }
    Ok(())
}
