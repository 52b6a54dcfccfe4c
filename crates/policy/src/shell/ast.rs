//! What a shell text says: every list, pipeline, command, assignment, redirection and word.
//!
//! Nothing is lost: whatever part of the text can run a program is reachable from [`Script`].
//! Texts are borrowed from the input where they stand there verbatim.

use std::borrow::Cow;

use super::pieces::Pieces;
use crate::text::Span;

/// A whole shell text.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Script<'t> {
    /// The text that was read.
    pub text: &'t str,
    /// What it runs, in order.
    pub body: List<'t>,
    /// How many levels deep it nests.
    pub depth: usize,
}

/// Commands that run one after the other.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct List<'t> {
    /// The parts between `;`, `&` and newlines.
    pub items: Vec<Item<'t>>,
}

/// Pipelines joined by `&&` and `||`.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Item<'t> {
    /// The pipeline that always runs.
    pub first: Pipeline<'t>,
    /// The ones that run if the one before succeeded or failed.
    pub rest: Vec<(Connector, Pipeline<'t>)>,
    /// Whether the shell waits for it.
    pub waiting: Waiting,
}

/// What stands between two pipelines.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Connector {
    /// `&&`
    And,
    /// `||`
    Or,
}

/// Whether the shell waits for a command to end.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Waiting {
    /// It ends before the next one starts.
    Foreground,
    /// `&`: it runs beside the next one.
    Background,
}

/// Commands that read each other's output. `!` and `time` in front change nothing about what runs.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Pipeline<'t> {
    /// The commands, first writer first; `|&` is an ordinary pipe with a redirection added.
    pub stages: Vec<Command<'t>>,
}

/// One command, simple or compound, with its redirections.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Command<'t> {
    /// What it is.
    pub kind: CommandKind<'t>,
    /// Where its input and output go.
    pub redirections: Vec<Redirection<'t>>,
    /// Where it stands.
    pub span: Span,
}

/// The kinds of command.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum CommandKind<'t> {
    /// Assignments, a name and its arguments.
    Simple(Simple<'t>),
    /// `{ …; }`
    Group(List<'t>),
    /// `( … )`
    Subshell(List<'t>),
    /// `if …; then …; elif …; else …; fi`
    If {
        /// Each condition with what runs if it holds.
        branches: Vec<(List<'t>, List<'t>)>,
        /// What runs if none holds.
        otherwise: Option<List<'t>>,
    },
    /// `while …; do …; done` and `until …`
    While {
        /// What is asked before each round.
        condition: List<'t>,
        /// What each round runs.
        body: List<'t>,
    },
    /// `for name in words; do …; done` and `select …`
    For {
        /// The variable that takes each value.
        name: Cow<'t, str>,
        /// The values; `None` stands for the positional parameters.
        words: Option<Vec<Word<'t>>>,
        /// What each round runs.
        body: List<'t>,
    },
    /// `for (( …; …; … )); do …; done`
    ForArithmetic {
        /// The three expressions.
        head: Arithmetic<'t>,
        /// What each round runs.
        body: List<'t>,
    },
    /// `case word in pattern) … ;; esac`
    Case {
        /// What is compared.
        subject: Word<'t>,
        /// The arms in order.
        arms: Vec<Arm<'t>>,
    },
    /// `[[ … ]]`: operands and operators as words.
    Test(Vec<Word<'t>>),
    /// `(( … ))`
    Arithmetic(Arithmetic<'t>),
    /// `name() …` and `function name …`
    Function {
        /// The name it can be called by.
        name: Word<'t>,
        /// What it runs.
        body: Box<Command<'t>>,
    },
    /// `coproc [name] command`
    Coprocess {
        /// What runs beside the shell.
        body: Box<Command<'t>>,
    },
}

/// Assignments, a name and its arguments. At least one of the two lists is not empty.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct Simple<'t> {
    /// `NAME=value` in front of the name.
    pub assignments: Vec<Assignment<'t>>,
    /// The name and the arguments. `declare a=(…)` and its kin keep the array in [`Piece::Array`].
    pub words: Vec<Word<'t>>,
}

/// One arm of a `case`.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Arm<'t> {
    /// What the subject is compared with.
    pub patterns: Vec<Word<'t>>,
    /// What then runs.
    pub body: List<'t>,
}

/// `name=value`, `name[subscript]=value`, `name+=value`, `name=(…)`
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Assignment<'t> {
    /// The variable.
    pub name: Cow<'t, str>,
    /// What stands between the brackets; subscripts are arithmetic and can run commands.
    pub subscript: Option<Word<'t>>,
    /// Whether the value replaces or follows the old one.
    pub mode: AssignmentMode,
    /// The new value.
    pub value: Word<'t>,
    /// Where it stands.
    pub span: Span,
}

/// What an assignment does with the old value.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum AssignmentMode {
    /// `=`
    Replace,
    /// `+=`
    Append,
}

/// One redirection.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Redirection<'t> {
    /// The descriptor named in front, if any.
    pub descriptor: Option<Descriptor<'t>>,
    /// What is done.
    pub operator: RedirectionOperator,
    /// The file, descriptor or text behind the operator; a heredoc's body for heredocs.
    pub target: Word<'t>,
    /// Where it stands; a heredoc's span covers the operator and its delimiter.
    pub span: Span,
}

/// A descriptor named in front of a redirection.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum Descriptor<'t> {
    /// `2>`
    Number(u32),
    /// `{name}>`
    Variable(Cow<'t, str>),
}

/// What a redirection does.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum RedirectionOperator {
    /// `<`
    Read,
    /// `>`
    Write,
    /// `>|`
    Clobber,
    /// `>>`
    Append,
    /// `<>`
    ReadWrite,
    /// `<&`: a descriptor, `-`, or (bash) a file.
    DuplicateInput,
    /// `>&`: a descriptor, `-`, or a file that gets both streams.
    DuplicateOutput,
    /// `&>`
    WriteBoth,
    /// `&>>`
    AppendBoth,
    /// `<<` and `<<-`
    Heredoc,
    /// `<<<`
    HereString,
}

/// A word: pieces that stand side by side.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct Word<'t> {
    /// What it consists of. An empty word (`''`) is one empty [`Piece::Quoted`].
    pub pieces: Pieces<'t>,
    /// Where it stands.
    pub span: Span,
}

/// A part of a word.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum Piece<'t> {
    /// Unquoted text without meaning to the shell; line continuations are taken out.
    Literal(Cow<'t, str>),
    /// Text that quoting made literal: `'…'`, `"…"` without expansions, `$'…'` decoded, `\x`.
    Quoted(Cow<'t, str>),
    /// An unquoted pattern: `*`, `?`, `[…]`, or an extended pattern with its parentheses, as
    /// written. What can run inside an extended pattern is in `parts`.
    Glob {
        /// The pattern as written.
        text: Cow<'t, str>,
        /// Words inside an extended pattern.
        parts: Vec<Word<'t>>,
    },
    /// `{a,b}`: the alternatives; `{a..e}` is `{a,b,c,d,e}`; `{1..9}` and `{a..a}`: one alternative
    /// as written, with `..`.
    Brace(Vec<Word<'t>>),
    /// `~`, `~user`, at the start of a word or after `:`/`=` in an assignment: the text after `~`.
    Tilde(Cow<'t, str>),
    /// `$name`, `${…}`
    Parameter(Box<Parameter<'t>>),
    /// `$(…)`, backticks, `${ …; }`, `${| …; }`
    Command(List<'t>, Quoting),
    /// `$((…))`, `$[…]`
    Arithmetic(Box<Arithmetic<'t>>, Quoting),
    /// `<(…)`, `>(…)`
    Process(List<'t>),
    /// `(…)` behind an assignment's `=`
    Array(Vec<Assignment<'t>>),
}

/// Whether an expansion stands in double quotes, and so cannot become several words.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Quoting {
    /// Its result is split into words and matched against file names.
    Bare,
    /// Its result is part of one word.
    Quoted,
}

/// A parameter expansion.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Parameter<'t> {
    /// The variable or special parameter: `HOME`, `1`, `@`, `?`.
    pub name: Cow<'t, str>,
    /// What stands between the brackets of `${name[…]}`.
    pub subscript: Option<Word<'t>>,
    /// What is done with the value.
    pub operation: Operation,
    /// The words behind the operator (`${x:-word}`, `${x/pattern/text}`, `${x:1:2}`).
    pub words: Vec<Word<'t>>,
    /// Whether it stands in double quotes.
    pub quoting: Quoting,
}

/// What a parameter expansion does with the value.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Operation {
    /// `$x`, `${x}`
    Value,
    /// `${#x}`
    Length,
    /// `${!x}`, `${!x*}`: the value names the variable.
    Indirect,
    /// `${x-w}`, `${x:-w}`, `${x=w}`, `${x:=w}`
    Default,
    /// `${x+w}`, `${x:+w}`
    Alternative,
    /// `${x?w}`, `${x:?w}`
    Error,
    /// `${x@P}`, `${x@A}` and `${!x@P}`, whose result is evaluated as a prompt or as a command.
    Evaluated,
    /// Everything else: cutting, replacing, changing case, `@Q`.
    Changed,
}

/// An arithmetic expression: what it holds that the shell expands before it computes.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct Arithmetic<'t> {
    /// The expression; expansions and subscripts are pieces of this word.
    pub expression: Word<'t>,
    /// Names that are read as variables, whose values are evaluated in turn.
    pub names: Vec<Cow<'t, str>>,
}
