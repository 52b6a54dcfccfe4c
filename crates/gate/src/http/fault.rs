//! What is wrong with a request.

use super::answer::Status;

/// What is wrong with a request.
#[derive(Clone, Copy, Debug, Eq, PartialEq, thiserror::Error)]
pub enum Fault {
    /// Its head is too long, or has too many headers.
    #[error("the head of the request is too long")]
    Long,
    /// A line does not end in CR LF, or has one of them inside.
    #[error("a line of the request has a stray CR or LF")]
    Line,
    /// There is a NUL or another control character.
    #[error("the request contains a control character")]
    Control,
    /// The first line is not a method, a target and a version with one blank between them.
    #[error("the request has no proper first line")]
    RequestLine,
    /// The version is neither 1.0 nor 1.1.
    #[error("the version of HTTP is unknown")]
    Version,
    /// The method would send the request back, with what was added to it on the way.
    #[error("the method is not allowed")]
    Method,
    /// The target is of no form that fits the method.
    #[error("the target of the request is malformed")]
    Target,
    /// The path is one that servers read differently.
    #[error("the path of the request has more than one reading")]
    Path,
    /// A header names another method or path than the first line, to some servers.
    #[error("a header may put another method or path in place of the request's")]
    Replaced,
    /// The target is not of plain HTTP.
    #[error("the target is not an http URL")]
    Scheme,
    /// A user stands before a host.
    #[error("a user name stands before the host")]
    User,
    /// A host is none, or is spelled to be overlooked.
    #[error("this is no host")]
    Host,
    /// A port is none.
    #[error("this is no port")]
    Port,
    /// There is no Host where one is needed.
    #[error("the request has no Host")]
    HostMissing,
    /// There is more than one.
    #[error("the request has more than one Host")]
    HostTwice,
    /// Host and target name different servers.
    #[error("the Host is not that of the target")]
    HostDiffers,
    /// A header goes on in the next line.
    #[error("a header is folded")]
    Folded,
    /// A header has no proper name.
    #[error("a header is malformed")]
    Header,
    /// Where the body ends is said in two ways, or in none that is certain.
    #[error("the length of the body is not certain")]
    Framing,
    /// Headers are to follow its body, where nobody could judge them in time.
    #[error("headers behind the body are not passed on")]
    Trailers,
    /// `Connection` names a header that must reach the server.
    #[error("the Connection header names one that cannot be removed")]
    Connection,
}

impl Fault {
    /// Returns a name that never changes, for logs, tests and the manual.
    pub fn code(self) -> &'static str {
        match self {
            Self::Long => "http-long",
            Self::Line => "http-line",
            Self::Control => "http-control",
            Self::RequestLine => "http-request-line",
            Self::Version => "http-version",
            Self::Method => "http-method",
            Self::Target => "http-target",
            Self::Path => "http-path",
            Self::Replaced => "http-replaced",
            Self::Scheme => "http-scheme",
            Self::User => "http-user",
            Self::Host => "http-host",
            Self::Port => "http-port",
            Self::HostMissing => "http-host-missing",
            Self::HostTwice => "http-host-twice",
            Self::HostDiffers => "http-host-differs",
            Self::Folded => "http-folded",
            Self::Header => "http-header",
            Self::Framing => "http-framing",
            Self::Trailers => "http-trailers",
            Self::Connection => "http-connection",
        }
    }

    /// Returns the status that tells the client.
    pub fn status(self) -> Status {
        match self {
            Self::Long => Status::TooLong,
            Self::Version => Status::VersionNotSupported,
            Self::Method => Status::MethodNotAllowed,
            Self::HostDiffers => Status::Misdirected,
            Self::Line
            | Self::Control
            | Self::RequestLine
            | Self::Target
            | Self::Path
            | Self::Replaced
            | Self::Scheme
            | Self::User
            | Self::Host
            | Self::Port
            | Self::HostMissing
            | Self::HostTwice
            | Self::Folded
            | Self::Header
            | Self::Framing
            | Self::Trailers
            | Self::Connection => Status::BadRequest,
        }
    }
}
