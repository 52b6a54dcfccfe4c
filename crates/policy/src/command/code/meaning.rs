//! What the functions of a language's library mean, whatever the language.

use crate::command::{Concern, Extent};

/// What a call of a function does. Numbers are places of arguments.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Meaning {
    /// Starts a program.
    Argv(Form),
    /// Reads an attribute by its name: `getattr(os, "system")`.
    Attribute,
    /// Builds objects from a text that names their classes, unless its loader is a safe one.
    Build,
    /// Evaluates code of the same language.
    Code(usize),
    /// Evaluates each argument that is a text.
    CodeAll,
    /// Evaluates code, and writes to a file what it took.
    CodeInto(usize, usize),
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
    /// Finds files by a pattern of their names.
    Find(usize),
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
    /// Reads a file if its name is a text: methods of other objects have the same name.
    ReadNamed(usize),
    /// Reads a file, this one if none is given.
    ReadOr(usize, &'static str),
    /// Reads files, or changes them if asked to.
    Rewrite(usize),
    /// Runs a file with code of the same language.
    Script(usize),
    /// Talks to a host, and counts as an upload.
    Send(usize),
    /// Runs shell text.
    Shell(usize),
    /// Opens a file of objects, whose classes are what the file says.
    Shelf(usize),
    /// Opens a connection that bytes can be piped through.
    Socket(usize),
    /// Reads a file or a URL.
    Source(usize),
    Write(usize),
    /// Writes every argument.
    WriteAll,
    /// Writes the argument with this name, or at this place.
    WriteKey(&'static str, usize),
    /// Writes a file if its name is a text.
    WriteNamed(usize),
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
    /// Returns the same for a method, whose object is the first of its arguments.
    pub(super) fn of_method(self) -> Self {
        match self {
            Self::Copy(from, to) => Self::Copy(from + 1, to + 1),
            Self::Delete(place, extent) => Self::Delete(place + 1, extent),
            Self::Link(target, link) => Self::Link(target + 1, link + 1),
            Self::Move(from, to) => Self::Move(from + 1, to + 1),
            Self::Open(place, mode) => Self::Open(place + 1, mode + 1),
            Self::Read(place) => Self::Read(place + 1),
            Self::Write(place) => Self::Write(place + 1),
            other @ (Self::Argv(_)
            | Self::Attribute
            | Self::Build
            | Self::Code(_)
            | Self::CodeAll
            | Self::CodeInto(..)
            | Self::Connect(_)
            | Self::DeleteAll(_)
            | Self::Dial(_)
            | Self::Enter(_)
            | Self::Fetch(..)
            | Self::Find(_)
            | Self::Fork
            | Self::Import(_)
            | Self::Load(_)
            | Self::Raise(_)
            | Self::ReadNamed(_)
            | Self::ReadOr(..)
            | Self::Rewrite(_)
            | Self::Script(_)
            | Self::Send(_)
            | Self::Shelf(_)
            | Self::Shell(_)
            | Self::Socket(_)
            | Self::Source(_)
            | Self::WriteAll
            | Self::WriteKey(..)
            | Self::WriteNamed(_)) => other,
        }
    }

    /// Returns what it is worth a person's look for when it is not called but handed on.
    pub(super) fn concern(self) -> Option<Concern> {
        match self {
            Self::Argv(_) | Self::Shell(_) | Self::Load(_) => Some(Concern::Spawns),
            Self::Build
            | Self::Code(_)
            | Self::CodeAll
            | Self::CodeInto(..)
            | Self::Import(_)
            | Self::Script(_)
            | Self::Shelf(_) => Some(Concern::Evaluates),
            Self::Raise(concern) => Some(concern),
            Self::Attribute
            | Self::Connect(_)
            | Self::Copy(..)
            | Self::Delete(..)
            | Self::DeleteAll(_)
            | Self::Dial(_)
            | Self::Enter(_)
            | Self::Fetch(..)
            | Self::Find(_)
            | Self::Fork
            | Self::Link(..)
            | Self::Move(..)
            | Self::Open(..)
            | Self::Read(_)
            | Self::ReadNamed(_)
            | Self::ReadOr(..)
            | Self::Rewrite(_)
            | Self::Send(_)
            | Self::Socket(_)
            | Self::Source(_)
            | Self::Write(_)
            | Self::WriteAll
            | Self::WriteKey(..)
            | Self::WriteNamed(_) => None,
        }
    }
}
