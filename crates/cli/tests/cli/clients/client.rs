use std::io::{Read, Write};
use std::net::TcpStream;

fn main() -> std::io::Result<()> {
    let host = std::env::args().nth(1).unwrap();
    let mut stream = TcpStream::connect((host.as_str(), 80))?;
    write!(stream, "GET / HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n\r\n")?;
    let mut text = String::new();
    stream.read_to_string(&mut text)?;
    println!("{text}");
    Ok(())
}
