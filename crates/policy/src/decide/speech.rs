//! What other shells than bash read differently.

use super::child::Speech;
use super::walk::{Input, Walk};
use crate::command::Concern;
use crate::shell::{self, Command, CommandKind, Grammar, Part, Piece, Script, Simple, Word};
use crate::text::Span;

/// Commands of zsh that run the words behind them in an odd way, or change how zsh reads.
const ZSH_COMMANDS: [&str; 11] = [
    "-",
    "autoload",
    "emulate",
    "foreach",
    "nocorrect",
    "noglob",
    "repeat",
    "sched",
    "setopt",
    "zmodload",
    "zmv",
];

/// Variables that zsh ties to those that say where programs and functions are found.
const ZSH_PATHS: [&str; 5] = ["cdpath", "fpath", "module_path", "mailpath", "path"];

/// Tables of zsh: what is put into one is a function, an alias, a program or a folder from then on.
const ZSH_TABLES: [&str; 9] = [
    "aliases",
    "builtins",
    "commands",
    "dis_aliases",
    "dis_functions",
    "functions",
    "galiases",
    "nameddirs",
    "saliases",
];

/// How bash reads.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub(super) enum Manner {
    #[default]
    Own,
    /// As the standard says, since the text told it so.
    Standard,
}

impl Walk<'_> {
    /// Judges what a text is to the shell that reads it, where that is not bash.
    pub(super) fn read_otherwise(&mut self, script: &Script<'_>, input: &Input) {
        match self.speech {
            // `time -o file` is a program's option once bash keeps to the standard.
            Speech::Bash if script.text.contains("time") && turns_posix(script.text) => {}
            Speech::Bash => return,
            Speech::Posix => {}
            Speech::Zsh => {
                let mut odd = Vec::new();
                script.every_part(&mut |part| odd.extend(of_zsh(part)));
                for span in odd {
                    self.raise(Concern::Obfuscates, span);
                }
            }
        }
        // Most texts are the same to all. What such a shell would refuse runs nothing there.
        let other = shell::parse_as(script.text, Grammar::Posix);
        if let Ok(other) = &other
            && other.body != script.body
        {
            self.aside(|walk| walk.list(other.text, &other.body, input));
        }
        // Unless it is bash by another name, which reads all of it but this.
        if other.is_err() && script.text.contains("time -") {
            self.raise(Concern::Obfuscates, Span::new(0, script.text.len()));
        }
    }

    /// Judges a text as bash reads it once it keeps to the standard, where it may do so.
    #[inline]
    pub(super) fn read_by_standard(&mut self, script: &Script<'_>, input: &Input) {
        let may = || match self.speech {
            Speech::Bash => self.habits.manner == Manner::Standard || turns_posix(script.text),
            Speech::Posix | Speech::Zsh => true,
        };
        if script.text.contains("${") && script.text.contains('\'') && may() {
            self.read_again(script, input);
        }
    }

    #[cold]
    fn read_again(&mut self, script: &Script<'_>, input: &Input) {
        let other = shell::parse_as(script.text, Grammar::Standard);
        if other.as_ref().is_ok_and(|other| other.body == script.body) {
            return; // nearly always
        }
        // Which line is read in which way only running tells, and those before a mistake run.
        if self.speech == Speech::Bash || other.is_err() || turns_posix(script.text) {
            self.raise(Concern::Obfuscates, Span::new(0, script.text.len()));
        }
        if let Ok(other) = &other {
            self.aside(|walk| walk.list(other.text, &other.body, input));
        }
    }
}

/// Whether a text may say that bash is to keep to the standard.
fn turns_posix(text: &str) -> bool {
    text.contains("posix") || text.contains("POSIXLY_CORRECT")
}

/// Returns where something stands that zsh takes for something else than bash does.
fn of_zsh(part: Part<'_, '_>) -> Option<Span> {
    match part {
        Part::Command(Command { kind: CommandKind::Simple(simple), span, .. }) => {
            is_odd(simple).then_some(*span)
        }
        // Functions that zsh calls by itself.
        Part::Command(Command { kind: CommandKind::Function { name, .. }, span, .. }) => {
            let called = name.settled().is_none_or(|name| {
                name.starts_with("TRAP") || matches!(name, "chpwd" | "precmd" | "zshexit")
            });
            called.then_some(*span)
        }
        Part::Command(_) => None,
        Part::Assignment(assignment) => {
            let name = &&*assignment.name;
            (ZSH_PATHS.contains(name) || ZSH_TABLES.contains(name)).then_some(assignment.span)
        }
        // `>! file`
        Part::Redirection(redirection) => {
            let bang = redirection.target.settled().is_some_and(|text| text.starts_with('!'));
            bang.then_some(redirection.span)
        }
        // `*(e:cmd:)`
        Part::Word(word) => {
            let qualified = word
                .pieces
                .iter()
                .any(|piece| matches!(piece, Piece::Glob { text, .. } if text.contains('(')));
            (qualified || is_flagged(word)).then_some(word.span)
        }
    }
}

/// `$=x`, `$~x`, `$x:q`, `$x[1,4]`: values that bash takes for text, or for other values.
fn is_flagged(word: &Word<'_>) -> bool {
    let flagged = |text: &str| {
        text.split('$').skip(1).any(|rest| {
            let name = rest.trim_start_matches(['=', '~', '^', '+']);
            name.len() < rest.len()
                && name.starts_with(|c: char| c.is_alphabetic() || "_{".contains(c))
        })
    };
    let modifies = |text: &str| {
        text.starts_with('[')
            || text.strip_prefix(':').is_some_and(|rest| rest.starts_with(char::is_alphabetic))
    };
    let text = |piece: &Piece<'_>, is: &dyn Fn(&str) -> bool| {
        let (Piece::Literal(text) | Piece::Quoted(text) | Piece::Glob { text, .. }) = piece else {
            return false;
        };
        is(text)
    };
    word.pieces.iter().any(|piece| text(piece, &flagged))
        || word
            .pieces
            .windows(2)
            .any(|pair| matches!(pair, [Piece::Parameter(_), next] if text(next, &modifies)))
}

fn is_odd(simple: &Simple<'_>) -> bool {
    let mut words = simple.words.iter().filter_map(|word| word.settled());
    let Some(name) = words.next() else { return false };
    let expands = name == "print" && words.any(|word| word.starts_with('-') && word.contains('P'));
    // `hash ls=path` and `hash -d name=folder`
    let renames =
        name == "hash" && simple.words.iter().skip(1).any(|word| word.settled() != Some("-r"));
    expands || name.starts_with('=') || renames || ZSH_COMMANDS.contains(&name)
}
