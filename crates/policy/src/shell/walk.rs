//! Everything that a script holds, one by one.

use super::ast::{
    Arithmetic, Assignment, Command, CommandKind, List, Piece, Redirection, Script, Simple, Word,
};

/// Something that a script holds.
#[derive(Clone, Copy, Debug)]
pub enum Part<'a, 't> {
    /// A command of any kind.
    Command(&'a Command<'t>),
    /// An assignment, in front of a command or in an array.
    Assignment(&'a Assignment<'t>),
    /// A redirection.
    Redirection(&'a Redirection<'t>),
    /// A word anywhere.
    Word(&'a Word<'t>),
}

impl<'t> Script<'t> {
    /// Shows every simple command: in lists, substitutions, arithmetic, heredocs, arrays, patterns.
    pub fn every_simple<'a>(&'a self, see: &mut dyn FnMut(&'a Simple<'t>)) {
        self.every_part(&mut |part| {
            if let Part::Command(Command { kind: CommandKind::Simple(simple), .. }) = part {
                see(simple);
            }
        });
    }

    /// Shows every part, each before the parts in it.
    pub fn every_part<'a>(&'a self, see: &mut dyn FnMut(Part<'a, 't>)) {
        in_list(&self.body, see);
    }
}

impl Word<'_> {
    /// Returns its text if the shell changes nothing about it.
    pub fn settled(&self) -> Option<&str> {
        match &*self.pieces {
            [Piece::Literal(text) | Piece::Quoted(text)] => Some(text),
            _ => None,
        }
    }
}

impl<'t> Command<'t> {
    /// Shows every part of it, itself first.
    pub fn every_part<'a>(&'a self, see: &mut dyn FnMut(Part<'a, 't>)) {
        in_command(self, see);
    }

    /// Shows every simple command in it, itself among them.
    pub fn every_simple<'a>(&'a self, see: &mut dyn FnMut(&'a Simple<'t>)) {
        in_command(self, &mut |part| {
            if let Part::Command(Self { kind: CommandKind::Simple(simple), .. }) = part {
                see(simple);
            }
        });
    }
}

type See<'s, 'a, 't> = &'s mut dyn FnMut(Part<'a, 't>);

fn in_list<'a, 't>(list: &'a List<'t>, see: See<'_, 'a, 't>) {
    for item in &list.items {
        let rest = item.rest.iter().map(|(_, pipeline)| pipeline);
        for pipeline in std::iter::once(&item.first).chain(rest) {
            for command in &pipeline.stages {
                in_command(command, see);
            }
        }
    }
}

fn in_command<'a, 't>(command: &'a Command<'t>, see: See<'_, 'a, 't>) {
    see(Part::Command(command));
    match &command.kind {
        CommandKind::Simple(simple) => {
            for assignment in &simple.assignments {
                in_assignment(assignment, see);
            }
            in_words(&simple.words, see);
        }
        CommandKind::Group(list) | CommandKind::Subshell(list) => in_list(list, see),
        CommandKind::If { branches, otherwise } => {
            for (condition, body) in branches {
                in_list(condition, see);
                in_list(body, see);
            }
            if let Some(otherwise) = otherwise {
                in_list(otherwise, see);
            }
        }
        CommandKind::While { condition, body } => {
            in_list(condition, see);
            in_list(body, see);
        }
        CommandKind::For { words, body, .. } => {
            in_words(words.as_deref().unwrap_or_default(), see);
            in_list(body, see);
        }
        CommandKind::ForArithmetic { head, body } => {
            in_arithmetic(head, see);
            in_list(body, see);
        }
        CommandKind::Case { subject, arms } => {
            in_word(subject, see);
            for arm in arms {
                in_words(&arm.patterns, see);
                in_list(&arm.body, see);
            }
        }
        CommandKind::Test(words) => in_words(words, see),
        CommandKind::Arithmetic(arithmetic) => in_arithmetic(arithmetic, see),
        CommandKind::Function { name, body } => {
            in_word(name, see);
            in_command(body, see);
        }
        CommandKind::Coprocess { body } => in_command(body, see),
    }
    for redirection in &command.redirections {
        see(Part::Redirection(redirection));
        in_word(&redirection.target, see);
    }
}

fn in_assignment<'a, 't>(assignment: &'a Assignment<'t>, see: See<'_, 'a, 't>) {
    see(Part::Assignment(assignment));
    if let Some(subscript) = &assignment.subscript {
        in_word(subscript, see);
    }
    in_word(&assignment.value, see);
}

fn in_arithmetic<'a, 't>(arithmetic: &'a Arithmetic<'t>, see: See<'_, 'a, 't>) {
    in_word(&arithmetic.expression, see);
}

fn in_words<'a, 't>(words: &'a [Word<'t>], see: See<'_, 'a, 't>) {
    for word in words {
        in_word(word, see);
    }
}

fn in_word<'a, 't>(word: &'a Word<'t>, see: See<'_, 'a, 't>) {
    see(Part::Word(word));
    for piece in &word.pieces {
        match piece {
            Piece::Literal(_) | Piece::Quoted(_) | Piece::Tilde(_) => {}
            Piece::Glob { parts: words, .. } | Piece::Brace(words) => in_words(words, see),
            Piece::Parameter(parameter) => {
                if let Some(subscript) = &parameter.subscript {
                    in_word(subscript, see);
                }
                in_words(&parameter.words, see);
            }
            Piece::Command(list, _) | Piece::Process(list) => in_list(list, see),
            Piece::Arithmetic(arithmetic, _) => in_arithmetic(arithmetic, see),
            Piece::Array(elements) => {
                for element in elements {
                    in_assignment(element, see);
                }
            }
        }
    }
}
