//! Where the victims are, as the runner tells the probe.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

/// The victims of one attack. All of them exist on the host; the probe may not find them inside.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub struct World {
    /// A word that is new for each attack: whatever holds it afterwards was reached.
    pub mark: String,
    /// The home of the person who starts the engine.
    pub home: PathBuf,
    /// The workspace, which can be written. A repository.
    pub app: PathBuf,
    /// A file beside it that belongs to the same person and may not be written.
    pub file: PathBuf,
    /// A credential in the home that may not be read.
    pub secret: PathBuf,
    /// Sockets of the host: a stream, a datagram, and a stream within the workspace.
    pub stream: PathBuf,
    /// See `stream`.
    pub datagram: PathBuf,
    /// See `stream`.
    pub near: PathBuf,
    /// A socket of the host without a path, by its name.
    pub nameless: String,
    /// A port on the loopback of the host.
    pub port: u16,
    /// A process of the same person outside.
    pub victim: i32,
    /// Where in its memory a text lies that may be changed.
    pub address: u64,
    /// A file in the shared memory of the host.
    pub shared: PathBuf,
    /// A segment of shared memory, by its key.
    pub segment: i32,
    /// A queue of messages, by its name without a slash.
    pub queue: String,
    /// A link in the temporary folder that leads to `file`.
    pub planted: PathBuf,
    /// A program that runs as somebody else, if one could be made.
    pub elevated: Option<PathBuf>,
}

impl World {
    /// Returns a path in a folder of the workspace where nothing is protected, so that a command may
    /// do what it likes there: beside protected names an engine may have to be stricter.
    #[must_use]
    pub fn own(&self, name: &str) -> PathBuf {
        self.app.join("src").join(name)
    }
}
