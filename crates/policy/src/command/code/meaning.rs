//! What the functions of a language's library mean, whatever the language.

use crate::command::{Concern, Extent};

/// What a call of a function does. Numbers are places of arguments.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Meaning {
    /// Starts a program.
    Argv(Form),
    /// Reads an attribute by its name: `getattr(os, "system")`.
    Attribute,
    /// Evaluates code of the same language.
    Code(usize),
    /// Talks to a host.
    Connect(usize),
    /// Copies a file to another.
    Copy(usize, usize),
    Delete(usize, Extent),
    /// Deletes every argument.
    DeleteAll(Extent),
    /// Connects a socket, if there is one.
    Dial(usize),
    Enter(usize),
    /// Fetches a URL into a file.
    Fetch(usize, usize),
    /// Makes another process of the same code.
    Fork,
    /// Names a module that is then used: `require("fs")`.
    Import(usize),
    /// Makes a link to a file.
    Link(usize, usize),
    /// Loads a library.
    Load(usize),
    /// Renames a file.
    Move(usize, usize),
    /// Opens a file with a mode.
    Open(usize, usize),
    Raise(Concern),
    Read(usize),
    /// Runs a file with code of the same language.
    Script(usize),
    /// Talks to a host, and counts as an upload.
    Send(usize),
    /// Runs shell text.
    Shell(usize),
    /// Opens a connection that bytes can be piped through.
    Socket(usize),
    Write(usize),
    /// Writes every argument.
    WriteAll,
}

/// How a function takes a program and its arguments.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Form {
    /// One list, or one string, and `shell=True` for shell text.
    List,
    /// The program, its own name, and its arguments, from this argument on.
    Named(usize),
    /// The program, and a list with its own name and its arguments, from this argument on.
    NamedList(usize),
    /// Every argument is a word.
    Plain,
    /// One list, or shell text.
    Popen,
    /// The program and a list of arguments.
    ProgramList,
    /// One argument is shell text, several are a program and its arguments.
    Words,
}

impl Meaning {
    /// Returns what it is worth a person's look for when it is not called but handed on.
    pub(super) fn concern(self) -> Option<Concern> {
        match self {
            Self::Argv(_) | Self::Shell(_) | Self::Load(_) => Some(Concern::Spawns),
            Self::Code(_) | Self::Import(_) | Self::Script(_) => Some(Concern::Evaluates),
            Self::Raise(concern) => Some(concern),
            Self::Attribute
            | Self::Connect(_)
            | Self::Copy(..)
            | Self::Delete(..)
            | Self::DeleteAll(_)
            | Self::Dial(_)
            | Self::Enter(_)
            | Self::Fetch(..)
            | Self::Fork
            | Self::Link(..)
            | Self::Move(..)
            | Self::Open(..)
            | Self::Read(_)
            | Self::Send(_)
            | Self::Socket(_)
            | Self::Write(_)
            | Self::WriteAll => None,
        }
    }
}
