//! What brush-parser finds.

use brush_parser::ParserOptions;
use brush_parser::ast::{
    AndOr, AndOrList, Assignment, AssignmentName, AssignmentValue, Command,
    CommandPrefixOrSuffixItem as Item, CompoundCommand, CompoundList, ExtendedTestExpr,
    IoFileRedirectTarget, IoRedirect, Pipeline, RedirectList, SimpleCommand, Word,
};
use brush_parser::word::{self, WordPiece, WordPieceWithSource};

/// Returns the names of all simple commands in a form that can be compared; nothing if brush does
/// not read the text, or some word in it.
pub fn names(text: &str) -> Option<Vec<String>> {
    // It panics on some texts.
    let read = std::panic::catch_unwind(|| {
        let mut names = Names::default();
        names.text(text)?;
        Some(names.found)
    });
    read.ok().flatten()
}

/// Names are compared without the quoting that backticks add and take away.
pub fn comparable(raw: &str) -> String {
    raw.replace("\\\n", "").replace('\\', "")
}

#[derive(Default)]
struct Names {
    found: Vec<String>,
    depth: usize,
}

impl Names {
    fn text(&mut self, text: &str) -> Option<()> {
        self.depth += 1;
        if self.depth > 20 {
            return None;
        }
        let options = ParserOptions::default();
        let tokens =
            brush_parser::uncached_tokenize_str(text, &options.tokenizer_options()).ok()?;
        let program = brush_parser::parse_tokens(&tokens, &options).ok()?;
        for list in &program.complete_commands {
            self.list(list)?;
        }
        self.depth -= 1;
        Some(())
    }

    fn list(&mut self, list: &CompoundList) -> Option<()> {
        list.0.iter().try_for_each(|item| self.and_or(&item.0))
    }

    fn and_or(&mut self, list: &AndOrList) -> Option<()> {
        self.pipeline(&list.first)?;
        list.additional.iter().try_for_each(|next| match next {
            AndOr::And(pipeline) | AndOr::Or(pipeline) => self.pipeline(pipeline),
        })
    }

    fn pipeline(&mut self, pipeline: &Pipeline) -> Option<()> {
        pipeline.seq.iter().try_for_each(|command| self.command(command))
    }

    fn command(&mut self, command: &Command) -> Option<()> {
        match command {
            Command::Simple(simple) => self.simple(simple),
            Command::Compound(compound, redirects) => {
                self.compound(compound)?;
                self.redirects(redirects.as_ref())
            }
            Command::Function(function) => {
                self.compound(&function.body.0)?;
                self.redirects(function.body.1.as_ref())
            }
            Command::ExtendedTest(test, redirects) => {
                self.test(&test.expr)?;
                self.redirects(redirects.as_ref())
            }
        }
    }

    fn simple(&mut self, simple: &SimpleCommand) -> Option<()> {
        if let Some(word) = &simple.word_or_name {
            self.found.push(comparable(&word.value));
            self.word(word)?;
        }
        let prefix = simple.prefix.iter().flat_map(|prefix| &prefix.0);
        let suffix = simple.suffix.iter().flat_map(|suffix| &suffix.0);
        for item in prefix.chain(suffix) {
            match item {
                Item::IoRedirect(redirect) => self.redirect(redirect)?,
                Item::Word(word) => self.word(word)?,
                Item::AssignmentWord(assignment, _) => self.assignment(assignment)?,
                Item::ProcessSubstitution(_, subshell) => self.list(&subshell.list)?,
            }
        }
        Some(())
    }

    fn assignment(&mut self, assignment: &Assignment) -> Option<()> {
        if let AssignmentName::ArrayElementName(_, index) = &assignment.name {
            self.raw(index)?;
        }
        match &assignment.value {
            AssignmentValue::Scalar(word) => self.word(word),
            AssignmentValue::Array(elements) => elements.iter().try_for_each(|(key, value)| {
                key.iter().try_for_each(|key| self.word(key))?;
                self.word(value)
            }),
        }
    }

    fn compound(&mut self, compound: &CompoundCommand) -> Option<()> {
        match compound {
            CompoundCommand::Arithmetic(command) => self.raw(&command.expr.value),
            CompoundCommand::ArithmeticForClause(command) => {
                let parts = [&command.initializer, &command.condition, &command.updater];
                parts.into_iter().flatten().try_for_each(|part| self.raw(&part.value))?;
                self.list(&command.body.list)
            }
            CompoundCommand::BraceGroup(group) => self.list(&group.list),
            CompoundCommand::Subshell(subshell) => self.list(&subshell.list),
            CompoundCommand::ForClause(clause) => {
                clause.values.iter().flatten().try_for_each(|word| self.word(word))?;
                self.list(&clause.body.list)
            }
            CompoundCommand::CaseClause(clause) => {
                self.word(&clause.value)?;
                clause.cases.iter().try_for_each(|case| {
                    case.patterns.iter().try_for_each(|pattern| self.word(pattern))?;
                    case.cmd.iter().try_for_each(|list| self.list(list))
                })
            }
            CompoundCommand::IfClause(clause) => {
                self.list(&clause.condition)?;
                self.list(&clause.then)?;
                clause.elses.iter().flatten().try_for_each(|branch| {
                    branch.condition.iter().try_for_each(|list| self.list(list))?;
                    self.list(&branch.body)
                })
            }
            CompoundCommand::WhileClause(clause) | CompoundCommand::UntilClause(clause) => {
                self.list(&clause.0)?;
                self.list(&clause.1.list)
            }
            CompoundCommand::Coprocess(coprocess) => self.command(&coprocess.body),
        }
    }

    fn test(&mut self, test: &ExtendedTestExpr) -> Option<()> {
        match test {
            ExtendedTestExpr::And(left, right) | ExtendedTestExpr::Or(left, right) => {
                self.test(left)?;
                self.test(right)
            }
            ExtendedTestExpr::Not(test) | ExtendedTestExpr::Parenthesized(test) => self.test(test),
            ExtendedTestExpr::UnaryTest(_, word) => self.word(word),
            ExtendedTestExpr::BinaryTest(_, left, right) => {
                self.word(left)?;
                self.word(right)
            }
        }
    }

    fn redirects(&mut self, redirects: Option<&RedirectList>) -> Option<()> {
        redirects.iter().flat_map(|list| &list.0).try_for_each(|redirect| self.redirect(redirect))
    }

    fn redirect(&mut self, redirect: &IoRedirect) -> Option<()> {
        match redirect {
            IoRedirect::File(_, _, IoFileRedirectTarget::Fd(_)) => Some(()),
            IoRedirect::File(_, _, IoFileRedirectTarget::ProcessSubstitution(_, subshell)) => {
                self.list(&subshell.list)
            }
            IoRedirect::File(
                _,
                _,
                IoFileRedirectTarget::Filename(word) | IoFileRedirectTarget::Duplicate(word),
            )
            | IoRedirect::HereString(_, word)
            | IoRedirect::OutputAndError(word, _) => self.word(word),
            IoRedirect::HereDocument(_, document) if document.requires_expansion => {
                let pieces = word::parse_heredoc(&document.doc.value, &ParserOptions::default());
                self.pieces(&pieces.ok()?)
            }
            IoRedirect::HereDocument(..) => Some(()),
        }
    }

    fn word(&mut self, word: &Word) -> Option<()> {
        self.raw(&word.value)
    }

    fn raw(&mut self, text: &str) -> Option<()> {
        let pieces = word::parse(text, &ParserOptions::default()).ok()?;
        self.pieces(&pieces)
    }

    fn pieces(&mut self, pieces: &[WordPieceWithSource]) -> Option<()> {
        pieces.iter().try_for_each(|piece| match &piece.piece {
            WordPiece::DoubleQuotedSequence(pieces)
            | WordPiece::GettextDoubleQuotedSequence(pieces) => self.pieces(pieces),
            WordPiece::CommandSubstitution(text)
            | WordPiece::BackquotedCommandSubstitution(text) => self.text(text),
            WordPiece::ArithmeticExpression(expression) => self.raw(&expression.value),
            WordPiece::Text(_)
            | WordPiece::SingleQuotedText(_)
            | WordPiece::AnsiCQuotedText(_)
            | WordPiece::TildeExpansion(_)
            | WordPiece::ParameterExpansion(_)
            | WordPiece::EscapeSequence(_) => Some(()),
        })
    }
}
