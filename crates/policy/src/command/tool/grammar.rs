//! The shape of the table: how a tool reads its words, and what each word means.
//!
//! Every value here is made at build time from `tools.txt`; nothing is parsed when a program
//! starts. `build.rs` writes the variants of these enums by name. The table holds no address, only
//! places in its own arrays: a program that starts has nothing to relocate, and pays for the rows
//! it reads alone.

use crate::command::{Concern, Extent, Language};

/// How one tool, or one subcommand of it, reads its words.
///
/// What it refers to is found with the functions in `table`.
#[derive(Debug)]
pub(super) struct Grammar {
    /// Habits, as bits of [`Habit`].
    pub(super) habits: u8,
    /// Every spelling of every option, sorted, with its place among `options`.
    pub(super) names: Run,
    pub(super) options: Run,
    /// What the first operands are, by position.
    pub(super) slots: Run,
    /// What the other operands are.
    pub(super) rest: Slot,
    /// What the last of two or more operands is, where that differs.
    pub(super) last: Option<Slot>,
    /// What stands behind `--`, where that differs.
    pub(super) after: Option<Slot>,
    pub(super) rules: Run,
    /// Subcommands, sorted by name, with the places of their grammars.
    pub(super) subs: Run,
    /// How a subcommand that is not listed is read; it is the first word then.
    pub(super) other: Option<u16>,
    /// Whether some option has one dash and more than a letter (`-oN`, `-TT`).
    pub(super) wide: bool,
}

/// Neighbours in one of the table's arrays.
#[derive(Clone, Copy, Debug)]
pub(super) struct Run {
    pub(super) from: u32,
    pub(super) len: u16,
}

/// A name, and the place of what it names.
#[derive(Clone, Copy, Debug)]
pub(super) struct Named {
    /// The name's first eight bytes: where two names differ, they nearly always differ here.
    pub(super) start: u64,
    /// Where the name stands in the table's text.
    pub(super) from: u32,
    pub(super) len: u8,
    pub(super) at: u16,
}

/// Ways of reading words in which tools differ.
#[derive(Debug)]
pub(super) struct Habit;

impl Habit {
    /// Every long option is listed: another one is a doubt.
    pub(super) const CLOSED: u8 = 1;
    /// Options end at the first operand.
    pub(super) const STOPS: u8 = 2;
    /// Long options have one dash, and short ones are not bundled.
    pub(super) const SINGLE: u8 = 4;
    /// The first word is a bundle of short options even without a dash (`tar xf`).
    pub(super) const OLD: u8 = 8;
    /// `NAME=value` words in front set variables (`env`).
    pub(super) const ASSIGNS: u8 = 16;
    /// Operands stand in front of the options, and later words are an expression (`find`).
    pub(super) const LEADING: u8 = 32;
    /// Options are not understood behind a subcommand.
    pub(super) const FRONT: u8 = 64;
    /// Some option runs something: a word that may turn into an option is a doubt.
    pub(super) const WARY: u8 = 128;
}

/// One option.
#[derive(Debug)]
pub(super) struct Opt {
    pub(super) value: Value,
    pub(super) slot: Slot,
    /// A bit that rules ask for; 0 if none does.
    pub(super) bit: u64,
}

/// Whether an option has a value.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Value {
    /// None.
    Absent,
    /// Only in the same word: `-ibak`, `--color=auto`.
    Glued,
    /// In the same word or the next.
    Required,
    /// In the same word or the next; no option follows it.
    Final,
    /// All words up to `;` or `+`, of which the first may be glued to the option.
    Until,
    /// Two words, of which the second counts (`jq --rawfile name file`).
    Pair,
}

/// What a word is, and what it raises by standing there.
#[derive(Clone, Copy, Debug)]
pub(super) struct Slot {
    pub(super) role: Role,
    pub(super) concern: Option<Concern>,
}

/// What a word is to the tool.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Role {
    /// Nothing but text.
    Text,
    /// A path or an address if it looks like one.
    Guess,
    Read,
    Write,
    Delete(Extent),
    /// A file that is written, or a folder in which the operands get a name.
    Into,
    /// What gets another name.
    Linked,
    /// The same, by a link that is followed from where it stands.
    Symlinked,
    Enter,
    /// A folder that is entered to change what is in it.
    Work,
    /// A folder that is written if the working folder is (`git --git-dir`).
    Aside,
    Connect,
    /// `host:path`, or a path that is read.
    RemoteRead,
    /// `host:path`, or a path that is written.
    RemoteWrite,
    Shell,
    /// Shell text made of this word and all that follow.
    ShellWords,
    Program,
    /// This word and all that follow are a command.
    Argv,
    /// Such a command, with words added to it.
    Fed,
    /// Such a command, up to `:::` and the words that are added to it.
    Parallel,
    /// This word and all that follow run on another machine or in another container.
    Elsewhere,
    Code(Language),
    Script(Language),
    Load,
    /// Words of the tool's own, all in one (`env -S`).
    Splice,
    /// The name of a subcommand (`python -m`).
    Sub,
    /// A word with a meaning of its own inside.
    Inner(Inner),
}

/// What becomes of words that are taken together.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Rest {
    ShellWords,
    Argv,
    Fed,
    Parallel,
    Elsewhere,
}

/// Words with a small language of their own.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Inner {
    /// `@file`, or text (`curl -d`).
    AtFile,
    /// `name=@file` or `name=<file` (`curl -F`).
    FormFile,
    /// A file mode (`chmod`).
    Mode,
    /// `key=value` of git's settings.
    GitSetting,
    /// The key of one of git's settings; the value follows (`git config`).
    GitKey,
    /// Where a git repository is.
    GitUrl,
    /// What is pushed where (`git push`).
    GitRef,
    /// A path that git takes from the index, or a branch (`git checkout`).
    GitTree,
    /// A setting of ssh.
    SshSetting,
    /// What tar does at a checkpoint.
    TarAction,
    /// A process id or `-1` (`kill`).
    Process,
    /// A statement of SQL, or a command of a database's prompt.
    Sql,
    /// A command of an editor's prompt (`vim -c`).
    Editor,
    /// A setting of cargo (`--config`).
    CargoSetting,
    /// An address of socat.
    Socat,
    /// A volume of a container (`-v`).
    Volume,
    /// A file that is written, or a device.
    Target,
    /// A text of TeX.
    Tex,
    /// `VAR=value` of make.
    MakeVariable,
    /// A setting of the kernel, written if it has a value.
    Sysctl,
    /// A word that may name a deletion (`delete-bucket`).
    Verb,
    /// Anything that may hold a command of a program's own language (`!cmd`, `system(…)`).
    Hidden,
    /// A file that is written, or a command behind `|` (`strace -o`).
    Output,
    /// `@file`, or text: no name stands before it (`curl -H`).
    Header,
    /// A file with cookies, or the cookies (`curl -b`).
    Cookie,
    /// What is printed, perhaps to a file (`curl -w`).
    WriteOut,
    /// `key=value` of php.
    PhpSetting,
    /// The ending of a backup's name, or the folder it goes to (`sed -i`).
    Backup,
    /// How names are changed on their way (`tar --transform`).
    Renaming,
    /// `kind=file` (`rustc --emit`), or `type=local,dest=folder` (`docker build --output`).
    Products,
    /// Text in which the shell expands (`compgen -W`).
    Expanded,
    /// An expression that may load files (`yq`).
    Loading,
    /// What stands behind `cargo` (`cargo watch -x`).
    CargoWords,
    /// The name of a script of the project, a file with code, or `-` (`bun run`).
    NodeScript,
    /// An option of the shell (`shopt -s`).
    ShellOption,
    /// A setting of wget (`-e`).
    WgetSetting,
    /// A statement for a database whose prompt speaks JavaScript.
    Mongo,
    /// A word for the compiler (`cargo rustc --`).
    Compiler,
    /// A library that a compiler loads, or text (`clang -Xclang`).
    Plugin,
    /// What is installed: a name, a path or an address (`pip install`).
    Package,
    /// `kind:folder` (`pytest --cov-report`).
    Report,
    /// `key=value` of a package (`npm pkg set`).
    NpmSetting,
    /// A module of Perl (`perl -M`).
    PerlModule,
    /// A library of Ruby (`ruby -r`).
    RubyLibrary,
    /// A command of a debugger (`gdb -ex`).
    Debugger,
    /// Words for another stage of a compiler, with commas between them (`gcc -Wl,-o,file`).
    Passed,
    /// What lines are split at, which is code between slashes or quotes (`perl -F`).
    Splitting,
    /// A file beside which its product is written (`tsc`), or `@file`.
    Compiled,
    /// A task of a builder, which may publish what was built (`mvn deploy`).
    Task,
    /// `key=file` or `kind:file`: files that are written (`java -Xlog:gc:file`).
    Keyed,
    /// The same of files that are read (`objcopy --add-section`).
    KeyedRead,
    /// `key=value` of a builder, where keys say what is written (`mvn -D`).
    Property,
    /// A file, or an option with a slash (`dotnet build /p:OutDir=out`).
    Switch,
    /// `from:to` (`sass`).
    Pair,
    /// Filters of a media tool (`ffmpeg -vf`).
    MediaFilter,
    /// What a media tool writes (`ffmpeg`).
    MediaTarget,
    /// An expression that says what files are called (`yq --split-exp`).
    SplitNames,
    /// A program of jq.
    Query,
    /// A folder of modules (`jq -L`).
    Library,
    /// A rule of rsync's (`--filter`).
    RsyncFilter,
    /// A line that tmux shows.
    Status,
    /// A number, and a file that is written (`vim -V9file`).
    Verbosity,
    /// A source text, or `-` (`as`).
    Sourced,
    /// `file://path`, whose content is sent, or text (`aws`).
    Posted,
    /// What is printed, or the time that the clock is set to (`date`).
    Clock,
    /// A program that packs and unpacks (`sort --compress-program`).
    Compressor,
}

/// What holds when certain options and operands are there.
#[derive(Debug)]
pub(super) struct Rule {
    pub(super) terms: Run,
    pub(super) effect: Effect,
}

/// One condition of a rule.
#[derive(Clone, Copy, Debug)]
pub(super) enum Term {
    /// One of these options is there.
    Has(u64),
    /// None of these options is there.
    Lacks(u64),
    /// At least so many operands are there.
    AtLeast(usize),
    /// Fewer operands than this are there.
    Under(usize),
}

/// What a rule does.
#[derive(Clone, Copy, Debug)]
pub(super) enum Effect {
    Raise(Concern),
    /// Code of a language comes from standard input.
    Input(Language),
    /// What comes from standard input is sent to another machine.
    Send,
    /// What comes from standard input are commands for another machine.
    Elsewhere,
    /// The working folder has this role.
    Here(Role),
    /// The operand at this position is something else than usual.
    Slot(usize, Slot),
    /// The operands without a position are.
    Rest(Slot),
    /// The last operand is.
    Last(Slot),
    /// The values of these options are.
    Value(u64, Slot),
}

impl Role {
    /// Returns what becomes of this word and all that follow, if the role takes them.
    pub(super) fn rest(self) -> Option<Rest> {
        match self {
            Self::ShellWords => Some(Rest::ShellWords),
            Self::Argv => Some(Rest::Argv),
            Self::Fed => Some(Rest::Fed),
            Self::Parallel => Some(Rest::Parallel),
            Self::Elsewhere => Some(Rest::Elsewhere),
            Self::Text
            | Self::Guess
            | Self::Read
            | Self::Write
            | Self::Delete(_)
            | Self::Into
            | Self::Linked
            | Self::Symlinked
            | Self::Enter
            | Self::Work
            | Self::Aside
            | Self::Connect
            | Self::RemoteRead
            | Self::RemoteWrite
            | Self::Shell
            | Self::Program
            | Self::Code(_)
            | Self::Script(_)
            | Self::Load
            | Self::Splice
            | Self::Sub
            | Self::Inner(_) => None,
        }
    }

    /// Orders roles by what harm they can do: an abbreviation means the worst it can mean.
    pub(super) const fn weight(self) -> u8 {
        match self {
            Self::Text => 0,
            Self::Guess | Self::Sub => 1,
            Self::Read | Self::Enter | Self::Aside => 2,
            Self::RemoteRead | Self::Connect | Self::Elsewhere => 3,
            Self::Write
            | Self::RemoteWrite
            | Self::Work
            | Self::Into
            | Self::Linked
            | Self::Symlinked => 4,
            Self::Delete(_) => 5,
            Self::Inner(_) => 6,
            Self::Shell
            | Self::ShellWords
            | Self::Program
            | Self::Argv
            | Self::Fed
            | Self::Parallel
            | Self::Code(_)
            | Self::Script(_)
            | Self::Load
            | Self::Splice => 7,
        }
    }
}
