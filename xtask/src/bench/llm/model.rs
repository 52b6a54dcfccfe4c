//! A model that answers with events, and writes into each when it left.

use std::io::{self, Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::thread;
use std::time::{Duration, Instant};

/// Pieces of text in an answer.
pub(super) const PIECES: u64 = 40;

/// Between two of them.
const PAUSE: Duration = Duration::from_millis(5);

/// Between two of them where there are many streams.
const LONG_PAUSE: Duration = Duration::from_millis(100);

/// Serves until this program ends; returns the port. Times are counted from `start`.
pub(super) fn start(start: Instant) -> io::Result<u16> {
    let listener = TcpListener::bind(("127.0.0.1", 0))?;
    let port = listener.local_addr()?.port();
    thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            let answer = move || answer(stream, start).ok();
            // A client whose stream cannot be carried sees it at its own end.
            thread::Builder::new().stack_size(64 * 1024).spawn(answer).ok();
        }
    });
    Ok(port)
}

/// Reads one request as HTTP/1.1 brings it: whether it wants long pauses.
fn question(stream: &mut TcpStream) -> io::Result<bool> {
    let mut text = Vec::new();
    let mut piece = [0; 4096];
    loop {
        let got = stream.read(&mut piece)?;
        if got == 0 {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        text.extend_from_slice(piece.get(..got).unwrap_or_default());
        // The body is one object, and the last thing in it tells that it is all there.
        let said = String::from_utf8_lossy(&text);
        if let Some((_, body)) = said.split_once("\r\n\r\n")
            && body.contains("\"end\":0}")
        {
            return Ok(body.contains("many"));
        }
    }
}

fn answer(mut stream: TcpStream, start: Instant) -> io::Result<()> {
    stream.set_nodelay(true)?;
    let pause = if question(&mut stream)? { LONG_PAUSE } else { PAUSE };
    stream.write_all(
        b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\nconnection: close\r\n\
          transfer-encoding: chunked\r\n\r\n",
    )?;
    let now = || start.elapsed().as_nanos();
    let mut say = |event: &str, rest: String| {
        let text =
            format!("event: {event}\ndata: {{\"type\":\"{event}\",\"sent\":{},{rest}}}\n\n", now());
        stream.write_all(format!("{:x}\r\n{text}\r\n", text.len()).as_bytes())
    };
    let message = r#""message":{"id":"m","type":"message","role":"assistant","content":[]}"#;
    say("message_start", message.into())?;
    say("content_block_start", r#""index":0,"content_block":{"type":"text","text":""}"#.into())?;
    for _ in 0..PIECES {
        thread::sleep(pause);
        let delta = r#""index":0,"delta":{"type":"text_delta","text":" some words of an answer"}"#;
        say("content_block_delta", delta.into())?;
    }
    say("content_block_stop", r#""index":0"#.into())?;
    thread::sleep(pause);
    let block = r#"{"type":"tool_use","id":"t","name":"write_file","input":{}}"#;
    say("content_block_start", format!(r#""index":1,"content_block":{block}"#))?;
    let input = r#"{\"path\":\"src/main.rs\",\"content\":\"fn main() {}\"}"#;
    let delta = format!(r#"{{"type":"input_json_delta","partial_json":"{input}"}}"#);
    say("content_block_delta", format!(r#""index":1,"delta":{delta}"#))?;
    thread::sleep(pause);
    // With this event the call is complete.
    say("content_block_stop", r#""index":1,"call":1"#.into())?;
    say("message_delta", r#""delta":{"stop_reason":"tool_use"}"#.into())?;
    say("message_stop", r#""last":1"#.into())?;
    stream.write_all(b"0\r\n\r\n")
}
