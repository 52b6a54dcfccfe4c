//! Paths of which a part is not known, and the rest is the name of something hidden.

use super::Style;
use super::builtin::LastWord;
use super::path::Deed;
use super::scope::Value;
use super::verdict::Reason;
use super::walk::Walk;
use crate::command::{Arg, Certainty, HOLE, Holed as _};
use crate::shell::{Operation, Parameter, Piece};
use crate::text::byte;

/// What stands for a name that has no `/`, where nobody knows it.
const TOKEN: &str = "/1000/";

/// Most names of one path that are looked at as such.
const MOST_NAMES: usize = 4;

impl Walk<'_> {
    /// Returns why a path is refused by the letters around what is not known: `$x/.ssh/id_rsa` is a
    /// key in somebody's home, whoever that is.
    pub(super) fn guessed(&self, path: &Arg<'_>, cwd: &str) -> Option<Reason> {
        let is_pattern = path.certainty == Certainty::Pattern;
        let token = is_pattern && byte::has(&path.text, b'1') && path.text.contains(TOKEN);
        let wild =
            is_pattern && byte::has_either(&path.text, b'?', b'[') && begins_wild(&path.text);
        if !path.text.has_hole() && !token && !wild && !self.habits.dots {
            return None; // nearly always
        }
        let refused = |text: String| {
            let certainty = Certainty::Pattern;
            let path = Arg { text: text.into(), certainty, span: path.span, verbatim: None };
            self.path_from(&path, Deed::Read, cwd)
        };
        let beside =
            path.text.has_hole() && !path.text.starts_with(['/', '~']) && self.strays_from(cwd);
        let whole = beside.then(|| self.dotted_names(&format!("{cwd}/{}", path.text)));
        let reason = whole.and_then(|whole| whole.into_iter().find_map(refused));
        let reason = reason.or_else(|| match path.text.rsplit_once(HOLE) {
            Some((before, rest)) if before.chars().all(|c| matches!(c, HOLE | '/' | '~')) => {
                let home = self.judge.home().unwrap_or("/");
                let below = rest.find('/').and_then(|at| rest.get(at..));
                let in_home = below.filter(|below| below.len() > 1);
                in_home
                    .and_then(|below| refused(format!("{home}{below}")))
                    .or_else(|| refused(format!("/{}", Some(rest).filter(|r| r.contains('/'))?)))
                    .or_else(|| in_home.and_then(|below| refused(format!("/*{below}"))))
                    .or_else(|| {
                        let path = match path.text.strip_prefix('~') {
                            Some(rest) => format!("{home}{rest}"),
                            None => path.text.to_string(),
                        };
                        let names = path.starts_with('/').then(|| self.dotted_names(&path));
                        names?.into_iter().find_map(refused)
                    })
            }
            Some((before, rest)) if before.starts_with('/') => {
                let below = rest.len() > 1 && rest.starts_with('/');
                let named = below.then(|| refused(path.text.replace(HOLE, "*"))).flatten();
                named
                    .or_else(|| refused(vanished(&path.text, below)?))
                    .or_else(|| self.dotted_names(&path.text).into_iter().find_map(refused))
            }
            Some(_) => None,
            None if token => refused(path.text.replace(TOKEN, "/*/")),
            None if path.certainty == Certainty::Pattern => {
                refused(dotted(&path.text, self.habits.dots))
            }
            None => None,
        })?;
        Some(Reason { answer: reason.answer.min(self.asking()), ..reason })
    }

    /// Returns a path once for each of its names that begins with what is not known, with a dot
    /// there: `~/$x/id_rsa` is a key if `$x` is `.ssh`, wherever that comes from.
    #[cold]
    fn dotted_names(&self, path: &str) -> Vec<String> {
        let mut dotted = Vec::new();
        for (at, _) in path.match_indices(HOLE) {
            let Some((before, behind)) = path.split_at_checked(at) else { continue };
            // In hidden folders no name begins with a dot.
            let rest = behind.trim_start_matches(HOLE);
            let leads = rest.strip_prefix("/.").is_none_or(|name| name.starts_with('.'));
            if !before.ends_with('/') || !leads || dotted.len() > MOST_NAMES {
                continue;
            }
            dotted.push(format!("{before}.{behind}").replace(HOLE, "*"));
            // `/$x/id_rsa`: the way to such a name may be among what is not known.
            if before == "/" || before.ends_with("/../") {
                let home = self.judge.home().unwrap_or("/root");
                dotted.push(format!("{home}/.{behind}").replace(HOLE, "*"));
                dotted.push(format!("/etc{rest}").replace(HOLE, "*"));
            }
        }
        dotted
    }

    /// Whether a working folder is known and is none of the project.
    fn strays_from(&self, cwd: &str) -> bool {
        let rest = cwd.strip_prefix(self.judge.root());
        !cwd.has_hole() && !rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
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

/// Returns a path without those parts that are not known and may be nothing: `~/$x.ssh` is `~/.ssh`
/// where there is no such variable. `None` if there are none of them.
fn vanished(path: &str, below: bool) -> Option<String> {
    let mut rest = path.replace(&format!("/{HOLE}."), "/.");
    if below {
        rest = rest.replace(&format!("/{HOLE}/"), "/");
    }
    (rest.len() < path.len()).then(|| rest.replace(HOLE, "*"))
}

/// Whether a name of a path begins with what may match a dot.
fn begins_wild(path: &str) -> bool {
    path.split('/').any(|name| name.starts_with(['?', '[']))
}

/// Returns a pattern with a dot wherever a name of it may begin with one. Whether it does is a habit
/// of the shell that may come from anywhere; `*` is too common to count before the text says so.
fn dotted(pattern: &str, stars: bool) -> String {
    let mut path = String::with_capacity(pattern.len() + 1);
    for (at, name) in pattern.split('/').enumerate() {
        if at > 0 {
            path.push('/');
        }
        let rest = match name.as_bytes().first() {
            Some(b'?') => name.get(1..),
            Some(b'[') => behind_dot(name),
            Some(b'*') if stars && at > 0 => Some(name),
            Some(_) | None => None,
        };
        if rest.is_some() {
            path.push('.');
        }
        path.push_str(rest.unwrap_or(name));
    }
    path
}

/// Returns what stands behind the set that a name begins with, if a dot is in it.
fn behind_dot(name: &str) -> Option<&str> {
    let set = name.strip_prefix('[')?;
    let negated = set.starts_with(['!', '^']);
    let set = if negated { set.get(1..)? } else { set };
    // A bracket right at the beginning is one of the set.
    let from = usize::from(set.starts_with(']'));
    let classes = set.contains(":]");
    let to = if classes { set.rfind(']')? } else { set.get(from..)?.find(']')? + from };
    let (set, rest) = (set.get(..to)?, set.get(to + 1..)?);
    let spans = |range: &[u8]| matches!(range, [low, b'-', high] if (low..=high).contains(&&b'.'));
    let holds = set.contains('.') || classes || set.as_bytes().windows(3).any(spans);
    (holds != negated || classes).then_some(rest)
}
