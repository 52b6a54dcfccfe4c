//! What a proxy says itself.

/// What a client gets when the connection that it asked for stands.
pub const ESTABLISHED: &[u8] = b"HTTP/1.1 200 Connection established\r\n\r\n";

/// How a request ended that no server answered.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Status {
    /// 400: it cannot be read.
    BadRequest,
    /// 403: the policy refuses it.
    Forbidden,
    /// 405: nobody does that here.
    MethodNotAllowed,
    /// 421: it is not for whom it says.
    Misdirected,
    /// 431: its head is too long.
    TooLong,
    /// 502: the server cannot be reached.
    BadGateway,
    /// 503: there is too much to do.
    Unavailable,
    /// 504: the server did not answer in time.
    GatewayTimeout,
    /// 505: it is of another version.
    VersionNotSupported,
}

/// Writes a refusal: its code in a header for programs, and why in a line for people.
///
/// `reason` may name what the client sent: it is escaped and cut.
pub fn refuse(status: Status, code: &'static str, reason: &str) -> Vec<u8> {
    const SHOWN: usize = 500;
    let mut body = String::from("palisade: ");
    for c in reason.chars().take(SHOWN) {
        if c.is_control() { body.extend(c.escape_debug()) } else { body.push(c) }
    }
    body.push('\n');
    let (line, length) = (status.line(), body.len());
    let allow = match status {
        Status::MethodNotAllowed => {
            "Allow: CONNECT, DELETE, GET, HEAD, OPTIONS, PATCH, POST, PUT\r\n"
        }
        Status::BadRequest
        | Status::Forbidden
        | Status::Misdirected
        | Status::TooLong
        | Status::BadGateway
        | Status::Unavailable
        | Status::GatewayTimeout
        | Status::VersionNotSupported => "",
    };
    let answer = format!(
        "HTTP/1.1 {line}\r\n\
         X-Proxy-Error: {code}\r\n\
         {allow}\
         Content-Type: text/plain; charset=utf-8\r\n\
         X-Content-Type-Options: nosniff\r\n\
         Content-Length: {length}\r\n\
         Connection: close\r\n\r\n\
         {body}"
    );
    answer.into_bytes()
}

impl Status {
    fn line(self) -> &'static str {
        match self {
            Self::BadRequest => "400 Bad Request",
            Self::Forbidden => "403 Forbidden",
            Self::MethodNotAllowed => "405 Method Not Allowed",
            Self::Misdirected => "421 Misdirected Request",
            Self::TooLong => "431 Request Header Fields Too Large",
            Self::BadGateway => "502 Bad Gateway",
            Self::Unavailable => "503 Service Unavailable",
            Self::GatewayTimeout => "504 Gateway Timeout",
            Self::VersionNotSupported => "505 HTTP Version Not Supported",
        }
    }
}
