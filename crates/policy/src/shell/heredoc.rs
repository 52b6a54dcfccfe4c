//! Bodies of heredocs.

use super::ast::{CommandKind, List, Piece, RedirectionOperator, Word};
use super::cursor::{Origin, Parsed, Parser, Scope};
use super::pieces::Pieces;
use super::quote::Style;

/// A heredoc whose body was not read yet.
pub(super) struct Pending {
    /// Where its operator stands in the original text.
    pub(super) at: usize,
    pub(super) delimiter: String,
    /// A quoted delimiter makes the body plain text.
    pub(super) quoted: bool,
    pub(super) tabs: Tabs,
}

/// What happens to tabs in front of a line.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Tabs {
    Kept,
    /// `<<-`
    Removed,
}

impl<'t> Parser<'_, 't> {
    /// Reads the bodies of all heredocs that wait.
    pub(super) fn heredocs(&mut self) -> Parsed<()> {
        let mut waiting = std::mem::take(&mut self.pending).into_iter().peekable();
        while let Some(pending) = waiting.next() {
            let start = self.at;
            let stop = self.body_end(&pending);
            let inline = self.at == start || !self.raw(start, self.at).ends_with('\n');
            if inline && self.at < self.end && waiting.peek().is_some() {
                // Bash takes the rest of that line for the next body, and goes back to it.
                return Err(self.unsupported("two heredocs end on one line", start));
            }
            let next = self.at;
            let word = self.deferred(|parser| parser.body(&pending, start, stop))?;
            self.bodies.push((pending.at, word));
            self.at = next;
        }
        Ok(())
    }

    /// Returns where the body ends, and goes behind its delimiter. Without one it takes the rest
    /// of the text: bash only warns.
    fn body_end(&mut self, pending: &Pending) -> usize {
        loop {
            let start = self.at;
            if start >= self.end {
                return self.end;
            }
            let mut line = String::new();
            loop {
                let rest = self.raw(self.at, self.end);
                let length = rest.find('\n').unwrap_or(rest.len());
                let part = rest.get(..length).unwrap_or_default();
                self.at = (self.at + length + 1).min(self.end);
                let slashes = part.bytes().rev().take_while(|&byte| byte == b'\\').count();
                let continues = !pending.quoted && slashes % 2 == 1 && length < rest.len();
                line.push_str(part);
                if !continues {
                    break;
                }
                line.pop();
                if self.at == self.end {
                    break;
                }
            }
            let shown = match pending.tabs {
                Tabs::Kept => line.as_str(),
                Tabs::Removed => line.trim_start_matches('\t'),
            };
            if shown == pending.delimiter {
                return start;
            }
            // In `$(…)` the delimiter may stand right before the parenthesis.
            let behind = shown.strip_prefix(pending.delimiter.as_str());
            if self.scope.has(Scope::SUBSTITUTION)
                && behind.is_some_and(|behind| behind.contains(')'))
            {
                self.at = start;
                self.skip_delimiter(pending, line.len() - shown.len());
                return start;
            }
        }
    }

    /// Goes behind tabs and a delimiter that stand here; lines may continue in front of and in one
    /// that is not quoted.
    fn skip_delimiter(&mut self, pending: &Pending, tabs: usize) {
        if pending.quoted {
            self.at += tabs + pending.delimiter.len();
            return;
        }
        for _ in 0..tabs {
            self.take(b"\t");
        }
        self.take(pending.delimiter.as_bytes());
    }

    fn body(&mut self, pending: &Pending, start: usize, stop: usize) -> Parsed<Word<'t>> {
        let span = self.span(start, stop);
        let backslashes = self.raw(start, stop).bytes().rev().take_while(|byte| *byte == b'\\');
        if stop == self.end && !pending.quoted && backslashes.count() % 2 == 1 {
            // Bash puts the end of its input behind it.
            return Err(self.unsupported("a backslash at the end of a heredoc", stop));
        }
        let (text, offsets) = match pending.tabs {
            Tabs::Removed => self.without_tabs(start, stop, pending.quoted),
            Tabs::Kept if pending.quoted => {
                let pieces = Pieces::from(Piece::Quoted(self.slice(start, stop)));
                return Ok(Word { pieces, span });
            }
            Tabs::Kept => {
                let pieces = self.within(start, stop, |parser| {
                    parser.nested(|parser| parser.run(Style::Heredoc))
                })?;
                return Ok(Word { pieces, span });
            }
        };
        if pending.quoted {
            return Ok(Word { pieces: Pieces::from(Piece::Quoted(text.into())), span });
        }
        let mut inner = Parser::over(&text, Origin::Rewritten(&offsets), self.depth, self.commands);
        inner.grammar = self.grammar;
        let pieces = inner.nested(|parser| parser.run(Style::Heredoc))?;
        self.commands = inner.commands;
        self.deepest = self.deepest.max(inner.deepest);
        Ok(Word { pieces, span })
    }

    /// Removes tabs in front of each line; one that continues another keeps its own.
    fn without_tabs(&self, start: usize, stop: usize, quoted: bool) -> (String, Vec<usize>) {
        let mut text = String::new();
        let mut offsets = Vec::new();
        let mut at = start;
        let mut continued = false;
        for line in self.raw(start, stop).split_inclusive('\n') {
            let kept = if continued { line } else { line.trim_start_matches('\t') };
            let from = at + line.len() - kept.len();
            offsets.extend((from..from + kept.len()).map(|at| self.original(at)));
            text.push_str(kept);
            at += line.len();
            let body = line.trim_end_matches('\n');
            let slashes = body.bytes().rev().take_while(|&byte| byte == b'\\').count();
            continued = !quoted && slashes % 2 == 1;
        }
        offsets.push(self.original(stop));
        (text, offsets)
    }

    /// Puts the bodies that were read behind their operators. Lists inside words have theirs.
    pub(super) fn fill(&mut self, list: &mut List<'t>) {
        for item in &mut list.items {
            let rest = item.rest.iter_mut().map(|(_, pipeline)| pipeline);
            for pipeline in std::iter::once(&mut item.first).chain(rest) {
                for command in &mut pipeline.stages {
                    self.fill_command(command);
                }
            }
        }
    }

    fn fill_command(&mut self, command: &mut super::ast::Command<'t>) {
        for redirection in &mut command.redirections {
            if redirection.operator == RedirectionOperator::Heredoc {
                let at = redirection.target.span.start();
                if let Ok(found) = self.bodies.binary_search_by_key(&at, |(at, _)| *at)
                    && let Some((_, body)) = self.bodies.get_mut(found)
                {
                    redirection.target = std::mem::take(body);
                }
            }
        }
        match &mut command.kind {
            CommandKind::Simple(_) | CommandKind::Test(_) | CommandKind::Arithmetic(_) => {}
            CommandKind::Group(body)
            | CommandKind::Subshell(body)
            | CommandKind::For { body, .. }
            | CommandKind::ForArithmetic { body, .. } => self.fill(body),
            CommandKind::If { branches, otherwise } => {
                for (condition, body) in branches {
                    self.fill(condition);
                    self.fill(body);
                }
                if let Some(otherwise) = otherwise {
                    self.fill(otherwise);
                }
            }
            CommandKind::While { condition, body } => {
                self.fill(condition);
                self.fill(body);
            }
            CommandKind::Case { arms, .. } => {
                for arm in arms {
                    self.fill(&mut arm.body);
                }
            }
            CommandKind::Function { body, .. } | CommandKind::Coprocess { body } => {
                self.fill_command(body);
            }
        }
    }
}
