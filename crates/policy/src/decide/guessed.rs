//! Paths of which a part is not known, and the rest is the name of something hidden.

use super::Style;
use super::builtin::LastWord;
use super::path::Deed;
use super::scope::Value;
use super::verdict::Reason;
use super::walk::Walk;
use crate::command::{Arg, Certainty, HOLE, Holed as _};
use crate::shell::{Operation, Parameter, Piece};

/// What stands for a name that has no `/`, where nobody knows it.
const TOKEN: &str = "/1000/";

impl Walk<'_> {
    /// Returns why a path is refused by the letters around what is not known: `$x/.ssh/id_rsa` is a
    /// key in somebody's home, whoever that is.
    pub(super) fn guessed(&self, path: &Arg<'_>, cwd: &str) -> Option<Reason> {
        let token = path.certainty == Certainty::Pattern && path.text.contains(TOKEN);
        if !path.text.has_hole() && !token && !self.habits.dots {
            return None; // nearly always
        }
        let refused = |text: String| {
            let certainty = Certainty::Pattern;
            let path = Arg { text: text.into(), certainty, span: path.span, verbatim: None };
            self.path_from(&path, Deed::Read, cwd)
        };
        let reason = match path.text.rsplit_once(HOLE) {
            Some((before, rest)) if before.chars().all(|c| matches!(c, HOLE | '/' | '~')) => {
                let home = self.judge.home().unwrap_or("/");
                let below = rest.find('/').and_then(|at| rest.get(at..));
                let in_home = below.filter(|below| below.len() > 1);
                in_home
                    .and_then(|below| refused(format!("{home}{below}")))
                    .or_else(|| refused(format!("/{}", Some(rest).filter(|r| r.contains('/'))?)))
                    .or_else(|| in_home.and_then(|below| refused(format!("/*{below}"))))
            }
            Some((before, rest)) if before.starts_with('/') && rest.len() > 1 => {
                rest.starts_with('/').then(|| refused(path.text.replace(HOLE, "*"))).flatten()
            }
            Some(_) => None,
            None if token => refused(path.text.replace(TOKEN, "/*/")),
            // `*` is any name here, with a dot or without.
            None if path.certainty == Certainty::Pattern => {
                refused(path.text.replace("/*", "/.*").replace("/?", "/.?"))
            }
            None => None,
        }?;
        Some(Reason { answer: reason.answer.min(self.asking()), ..reason })
    }

    /// Whether a piece begins a word with the working folder, of which there may be several: what
    /// follows is then judged in each of them.
    pub(super) fn is_here(
        &self,
        piece: &Piece<'_>,
        before: &str,
        next: Option<&Piece<'_>>,
    ) -> bool {
        let named = match piece {
            Piece::Parameter(parameter) => is_folder(parameter),
            Piece::Tilde(user) => user == "+",
            Piece::Literal(_)
            | Piece::Quoted(_)
            | Piece::Glob { .. }
            | Piece::Brace(_)
            | Piece::Command(..)
            | Piece::Arithmetic(..)
            | Piece::Process(_)
            | Piece::Array(_) => false,
        };
        let ends = match next {
            None => true,
            Some(Piece::Literal(text) | Piece::Quoted(text)) => text.starts_with('/'),
            Some(_) => false,
        };
        named
            && ends
            && before.is_empty()
            && self.judge.style == Style::Confined
            && self.scope.cwds().len() > 1
            && self.scope.variable("PWD").is_none()
    }

    /// Asks about the last word of a command where a later one takes it up again: `$_`.
    pub(super) fn heed_last(&mut self, args: &[Arg<'_>]) {
        if let (LastWord::Kept, Some(last)) = (self.habits.last, args.last()) {
            self.names_secret(&Value::from(last), last.span);
            self.hidden_subscript(&last.text, last.span);
        }
    }
}

fn is_folder(parameter: &Parameter<'_>) -> bool {
    &*parameter.name == "PWD"
        && parameter.operation == Operation::Value
        && parameter.subscript.is_none()
}
