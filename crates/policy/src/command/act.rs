//! What a command does, as far as its words tell.
//!
//! The table of tools and the readers of inline code both answer in these terms, and deciding is
//! done on them alone: no other part needs to know what `tar --checkpoint-action` is.

use super::arg::Arg;
use crate::text::Span;

/// One thing that a command does.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum Act<'t> {
    /// Reads a file or a folder.
    Read(Arg<'t>),
    /// Creates or changes a file or a folder.
    Write(Arg<'t>),
    /// Removes a file, or a folder with all in it.
    Delete(Arg<'t>, Extent),
    /// Gives a file or folder another name, by a symbolic or a hard link.
    Link {
        /// What the new name leads to.
        target: Arg<'t>,
        /// The new name.
        name: Arg<'t>,
    },
    /// Makes a folder the working folder of what it runs.
    Enter(Arg<'t>),
    /// Talks to a host, named by a URL, a host name or `user@host:path`.
    Connect(Arg<'t>),
    /// Sends what arrives on its standard input to another machine.
    Send(Span),
    /// Runs something else.
    Run(Run<'t>),
    /// Names a file in code, and nothing tells what for.
    Mention(Arg<'t>),
    /// Does something that a person should know of, or that nobody should do.
    Raise(Concern, Span),
}

/// How much a deletion takes.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Extent {
    /// Single files, each of them named.
    Single,
    /// Single files, and without a question about write protection.
    Forced,
    /// Some of what lies below a folder, and not the folder.
    Below,
    /// Folders with all in them.
    Tree,
}

/// What a command runs.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum Run<'t> {
    /// A program with its arguments.
    Argv(Vec<Arg<'t>>),
    /// A program with these arguments and more that come from its input or from files found.
    Fed(Vec<Arg<'t>>),
    /// Shell text.
    Shell(Arg<'t>),
    /// Shell text made of several arguments, joined by blanks.
    ShellWords(Vec<Arg<'t>>),
    /// A program named by its path or name in one argument, perhaps with arguments after blanks.
    Program(Arg<'t>),
    /// Code of a language.
    Code(Language, Arg<'t>),
    /// A file with code of a language.
    Script(Language, Arg<'t>),
    /// Code of a language that arrives on standard input.
    Input(Language, Span),
    /// A library, plug-in or module that is loaded into the program.
    Load(Arg<'t>),
    /// Something on another machine or in another container: nothing here tells what it does.
    Elsewhere(Span),
    /// Commands for another machine that arrive on standard input.
    ElsewhereInput(Span),
}

/// Languages whose code is read.
#[derive(Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub enum Language {
    /// POSIX shell and bash.
    Shell,
    /// Python.
    Python,
    /// JavaScript and TypeScript on Node, Deno or Bun.
    Node,
    /// Perl.
    Perl,
    /// Ruby.
    Ruby,
    /// PHP.
    Php,
    /// awk.
    Awk,
    /// sed.
    Sed,
    /// Statements of SQL, and the commands of a client's prompt (`psql`, `ftp`).
    Sql,
    /// Commands of an editor's prompt (`ex`).
    Editor,
    /// A patch: the files that it names are changed.
    Patch,
    /// Source for a compiler or an assembler: it is not run, but the files it includes are read.
    Source,
    /// Any other: its code is not read.
    Other,
}

impl Act<'_> {
    /// Returns whom it connects to, if it does.
    pub(crate) fn host(&self) -> Option<&str> {
        match self {
            Self::Connect(host) => Some(&*host.text),
            Self::Read(_)
            | Self::Write(_)
            | Self::Delete(..)
            | Self::Link { .. }
            | Self::Enter(_)
            | Self::Send(_)
            | Self::Run(_)
            | Self::Mention(_)
            | Self::Raise(..) => None,
        }
    }
}

impl Language {
    /// Answers whether programs that read it are mostly started with nothing on their input.
    pub const fn is_prompt(self) -> bool {
        matches!(self, Self::Sql | Self::Editor | Self::Patch)
    }
}

/// What a person should know of.
#[derive(Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub enum Concern {
    /// Discards work in the project that no one can bring back (`git reset --hard`).
    LosesWork,
    /// Replaces or removes what others share (`git push --force`, `npm unpublish`).
    ChangesShared,
    /// Acts as another user, or asks for more rights (`sudo`, setuid bits).
    Privilege,
    /// Leaves the sandbox's own namespaces, or starts containers (`nsenter`, `docker run`).
    Container,
    /// Starts something that outlives the command (`at`, `crontab`, services).
    Persists,
    /// Changes accounts, services, packages or settings of the machine.
    System,
    /// Ends or signals processes that it did not start.
    Processes,
    /// Writes to a device or a disk, or makes a file system.
    Device,
    /// Loads code into the kernel or changes its settings.
    Kernel,
    /// Stops or restarts the machine.
    Power,
    /// Uses up the machine (fork bombs).
    Exhausts,
    /// Sends files or secrets to another machine.
    Exfiltrates,
    /// Opens a way in: a shell that listens or calls back.
    Backdoor,
    /// Waits for others to connect.
    Listens,
    /// Sends another machine as many requests as it can bear, or more (`ab`).
    Floods,
    /// Evaluates text that is built at run time.
    Evaluates,
    /// Hides what it does (encoded code, odd spellings).
    Obfuscates,
    /// Starts programs, and which ones cannot be told.
    Spawns,
    /// Opens a prompt at which anything can be typed, with a way to a shell.
    Interactive,
    /// Sets a variable that makes other programs run or load something.
    Environment,
    /// Runs the guard itself, with settings of its own.
    Guard,
    /// Cannot be understood: an option that is not known, code that is not read.
    Unclear,
}
