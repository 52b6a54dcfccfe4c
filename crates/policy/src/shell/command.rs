//! One command: simple, or a function; compound ones stand in `compound`.

use super::array::ArrayAllowed;
use super::ast::{Command, CommandKind, Redirection, Simple, Word};
use super::cursor::{Before, Parsed, Parser, Scope};
use super::keyword::Keyword;
use super::word::Kind;

impl<'t> Parser<'_, 't> {
    pub(super) fn command(&mut self) -> Parsed<Command<'t>> {
        self.blanks();
        let start = self.at;
        let kind = match self.keyword() {
            Some((Keyword::Function, end)) => {
                self.at = end;
                self.function()?
            }
            Some((Keyword::Coproc, end)) => {
                self.at = end;
                self.coprocess()?
            }
            // After `|` this is the program of that name.
            Some((Keyword::Time, _)) => return self.simple(start),
            Some(_) => return self.compound_command(),
            None if self.peek() == b'(' => return self.compound_command(),
            None => return self.simple(start),
        };
        Ok(Command { kind, redirections: Vec::new(), span: self.span(start, self.at) })
    }

    /// Reads a compound command with its redirections.
    pub(super) fn compound_command(&mut self) -> Parsed<Command<'t>> {
        self.blanks();
        let start = self.at;
        let kind = self.nested(Self::compound)?;
        let mut redirections = Vec::new();
        self.before = Before::Separated;
        let mut end = self.at;
        loop {
            self.blanks();
            let Some(redirection) = self.redirection()? else { break };
            redirections.push(redirection);
            self.before = Before::Word;
            end = self.at;
        }
        Ok(Command { kind, redirections, span: self.span(start, end) })
    }

    /// Reads assignments, words and redirections in any order.
    pub(super) fn simple(&mut self, start: usize) -> Parsed<Command<'t>> {
        self.count_command(start)?;
        // Most commands have fewer words.
        let mut simple = Simple { words: Vec::with_capacity(16), ..Simple::default() };
        let mut redirections = Vec::new();
        let mut arrays = ArrayAllowed::No;
        let mut end = start;
        let mut lost = false;
        loop {
            self.blanks();
            if !simple.words.is_empty() && arrays == ArrayAllowed::No {
                end = self.static_arguments(&mut simple.words).unwrap_or(end);
            }
            // Nearly every word begins with none of these.
            let may_redirect = matches!(self.peek(), b'<' | b'>' | b'&' | b'{' | b'0'..=b'9');
            if may_redirect && let Some(redirection) = self.redirection()? {
                redirections.push(redirection);
                arrays = ArrayAllowed::No;
                // Behind an assignment and a redirection bash expects a plain word.
                lost = !simple.assignments.is_empty();
                end = self.at;
                continue;
            }
            if !self.word_begins() {
                break;
            }
            if simple.words.is_empty() {
                let at = self.at;
                if lost && self.byte(self.name_end(at)) == b'[' {
                    return Err(self.unsupported("an array behind a redirection", at));
                }
                if let Some(assignment) = self.assignment()? {
                    if lost && !assignment.is_plain() {
                        return Err(self.unsupported("an array behind a redirection", at));
                    }
                    simple.assignments.push(assignment);
                    end = self.at;
                    continue;
                }
                let word = self.name(if lost { Kind::Argument } else { Kind::Name })?;
                end = self.at;
                let alone = simple.assignments.is_empty() && redirections.is_empty();
                if alone && self.is_function()? {
                    return self.function_body(start, word);
                }
                if !lost && word.plain().is_some_and(declares) {
                    arrays = ArrayAllowed::Yes;
                }
                simple.words.push(word);
                continue;
            }
            let at = self.at;
            let word = self.argument(arrays)?;
            self.check_element(at)?;
            self.check_in(&word, at)?;
            simple.words.push(word);
            end = self.at;
        }
        self.before = Before::Word;
        if end == start {
            return Err(self.unexpected());
        }
        let kind = CommandKind::Simple(simple);
        Ok(Command { kind, redirections, span: self.span(start, end) })
    }

    /// Reads the word that names a command.
    fn name(&mut self, kind: Kind) -> Parsed<Word<'t>> {
        let at = self.at;
        if let Some(word) = self.static_argument() {
            return Ok(word);
        }
        let word = self.word(kind)?;
        self.check_element(at)?;
        self.check_in(&word, at)?;
        Ok(word)
    }

    /// Refuses a plain `in` where bash still waits for the one of a loop.
    #[inline]
    pub(super) fn check_in(&self, word: &Word<'_>, at: usize) -> Parsed<()> {
        if self.scope.has(Scope::AWAITS_IN) && word.plain() == Some("in") {
            return Err(self.unsupported("`in` behind a loop without one", at));
        }
        Ok(())
    }

    /// Tells whether a word begins here.
    #[inline(always)]
    pub(super) fn word_begins(&mut self) -> bool {
        match self.peek() {
            b'<' | b'>' => self.sees(b"<(") || self.sees(b">("),
            byte => !super::keyword::breaks(byte),
        }
    }

    /// Goes behind the parentheses of a function, if they stand here.
    fn is_function(&mut self) -> Parsed<bool> {
        let start = self.at;
        self.blanks();
        if self.peek() != b'(' {
            self.at = start;
            return Ok(false);
        }
        self.at += 1;
        self.blanks();
        match self.take(b")") {
            true => Ok(true),
            false => Err(self.unexpected()),
        }
    }

    fn function_body(&mut self, start: usize, name: Word<'t>) -> Parsed<Command<'t>> {
        self.newlines()?;
        let body = Box::new(self.compound_command()?);
        let span = self.span(start, self.at);
        let kind = CommandKind::Function { name, body };
        Ok(Command { kind, redirections: Vec::new(), span })
    }

    /// Reads what follows `function`.
    fn function(&mut self) -> Parsed<CommandKind<'t>> {
        self.blanks();
        if !self.word_begins() {
            return Err(self.unexpected());
        }
        let name = self.word(Kind::Argument)?;
        self.blanks();
        let start = self.at;
        if self.take(b"(") {
            self.blanks();
            if !self.take(b")") {
                self.at = start;
            }
        }
        self.newlines()?;
        let body = Box::new(self.compound_command()?);
        Ok(CommandKind::Function { name, body })
    }

    /// Reads what follows `coproc`: a compound command, perhaps with a name, or a simple one.
    fn coprocess(&mut self) -> Parsed<CommandKind<'t>> {
        self.scope.put(Scope::COPROC_SEEN);
        self.blanks();
        let start = self.at;
        if self.compound_begins() {
            return Ok(CommandKind::Coprocess { body: Box::new(self.compound_command()?) });
        }
        if matches!(self.keyword(), Some((keyword, _)) if keyword != Keyword::Time) {
            return Err(self.unexpected());
        }
        // An assignment is no name, but `a[1]+` is one.
        let assigns = self.assigns();
        if assigns && self.byte(self.name_end(start)) == b'[' {
            return Err(self.unsupported("a subscript behind `coproc`", start));
        }
        if let Some((_, end)) = self.bare_word(usize::MAX).filter(|_| !assigns) {
            self.at = end;
            self.blanks();
            if matches!(self.keyword(), Some((keyword, _)) if keyword != Keyword::Time)
                && !self.compound_begins()
            {
                return self.short_coprocess(start);
            }
            if self.assigns() {
                return Err(self.unsupported("an assignment behind a coprocess's name", start));
            }
            if self.compound_begins() {
                return Ok(CommandKind::Coprocess { body: Box::new(self.compound_command()?) });
            }
            self.at = start;
        }
        let body = self.simple(start)?;
        match &body.kind {
            CommandKind::Simple(simple) if takes_keyword(simple, &body.redirections) => {
                Err(self.unsupported("a reserved word behind a coprocess", start))
            }
            CommandKind::Function { .. } => Err(self.unexpected()),
            CommandKind::Simple(_)
            | CommandKind::Group(_)
            | CommandKind::Subshell(_)
            | CommandKind::If { .. }
            | CommandKind::While { .. }
            | CommandKind::For { .. }
            | CommandKind::ForArithmetic { .. }
            | CommandKind::Case { .. }
            | CommandKind::Test(_)
            | CommandKind::Arithmetic(_)
            | CommandKind::Coprocess { .. } => Ok(CommandKind::Coprocess { body: Box::new(body) }),
        }
    }

    /// Tells whether an assignment begins here, or a name with a subscript.
    fn assigns(&mut self) -> bool {
        let start = self.at;
        self.at = self.name_end(start);
        let named = self.at > start;
        let assigns = named && (matches!(self.peek(), b'=' | b'[') || self.sees(b"+="));
        self.at = start;
        assigns
    }

    /// Reads a coprocess of one word that a reserved word ends.
    fn short_coprocess(&mut self, start: usize) -> Parsed<CommandKind<'t>> {
        self.at = start;
        self.count_command(start)?;
        let words = vec![self.word(Kind::Name)?];
        let kind = CommandKind::Simple(Simple { assignments: Vec::new(), words });
        let body = Command { kind, redirections: Vec::new(), span: self.span(start, self.at) };
        self.before = Before::Separated;
        Ok(CommandKind::Coprocess { body: Box::new(body) })
    }
}

/// Tells whether the word behind the first is reserved: after `coproc name` bash knows those, and
/// the command may end there.
fn takes_keyword(simple: &Simple<'_>, redirections: &[Redirection<'_>]) -> bool {
    let [_, second, ..] = simple.words.as_slice() else { return false };
    let between = |redirection: &Redirection<'_>| redirection.span.start() < second.span.start();
    let keyword = second.plain().and_then(Keyword::of);
    simple.assignments.is_empty()
        && !redirections.iter().any(between)
        && keyword.is_some_and(|keyword| keyword != Keyword::Time)
}

/// Builtins whose arguments may be arrays.
fn declares(name: &str) -> bool {
    matches!(
        name,
        "alias" | "declare" | "eval" | "export" | "let" | "local" | "readonly" | "typeset"
    )
}
