//! What bash and we make of a text outside its words: simple commands, and the words that other
//! commands hold. Bash keeps the words as they are written, but for the substitutions in them.

use palisade_policy::shell::{
    Command, CommandKind, List, Redirection, RedirectionOperator, Script, Word,
};
use palisade_policy::text::Span;

/// What stands before a command, before a word of it, and before another word.
pub const MARKS: [char; 3] = ['\u{1c}', '\u{1d}', '\u{1e}'];

/// Commands and other words, in no order that would mean anything.
#[derive(Debug, Default, Eq, PartialEq)]
pub struct Tree {
    commands: Vec<Vec<String>>,
    words: Vec<String>,
}

impl Tree {
    /// Reads what the builtin wrote down.
    pub fn of_bash(note: &str) -> Self {
        let mut tree = Self::default();
        let mut rest = note;
        while let Some(at) = rest.find(MARKS) {
            let mark = rest.as_bytes()[at];
            rest = &rest[at + 1..];
            let end = rest.find(MARKS).unwrap_or(rest.len());
            let word = comparable(&rest[..end]);
            match mark {
                0x1c => tree.commands.push(Vec::new()),
                0x1d => {
                    tree.commands.last_mut().into_iter().for_each(|last| last.push(word.clone()))
                }
                _ => tree.words.push(word),
            }
        }
        tree.sorted()
    }

    /// Takes down what we read.
    pub fn of_ours(script: &Script<'_>) -> Self {
        let mut tree = Self::default();
        tree.list(script.text, &script.body);
        tree.sorted()
    }

    pub fn commands(&self) -> usize {
        self.commands.len()
    }

    /// Leaves only how many words there are, for texts some of whose words bash writes anew.
    pub fn counts(self) -> Self {
        let blank = |words: Vec<String>| vec![String::new(); words.len()];
        let commands = self.commands.into_iter().map(blank).collect();
        Self { commands, words: blank(self.words) }.sorted()
    }

    fn sorted(mut self) -> Self {
        // A lone `time` is a command without words, and a descriptor need not be a word.
        self.commands.retain(|words| !words.is_empty());
        self.words
            .retain(|word| word.is_empty() || !word.bytes().all(|byte| byte.is_ascii_digit()));
        self.commands.sort();
        self.words.sort();
        self
    }

    fn list(&mut self, text: &str, list: &List<'_>) {
        for item in &list.items {
            let rest = item.rest.iter().map(|(_, pipeline)| pipeline);
            for pipeline in std::iter::once(&item.first).chain(rest) {
                pipeline.stages.iter().for_each(|command| self.command(text, command));
            }
        }
    }

    fn command(&mut self, text: &str, command: &Command<'_>) {
        command.redirections.iter().for_each(|redirection| self.redirection(text, redirection));
        match &command.kind {
            CommandKind::Simple(simple) => {
                let assignments = simple.assignments.iter().map(|assignment| assignment.span);
                let words = simple.words.iter().map(|word| word.span);
                let words = assignments.chain(words).map(|span| written(text, span));
                self.commands.push(words.collect());
            }
            CommandKind::Group(list) | CommandKind::Subshell(list) => self.list(text, list),
            CommandKind::If { branches, otherwise } => {
                for (condition, body) in branches {
                    self.list(text, condition);
                    self.list(text, body);
                }
                otherwise.iter().for_each(|list| self.list(text, list));
            }
            CommandKind::While { condition, body } => {
                self.list(text, condition);
                self.list(text, body);
            }
            CommandKind::For { words, body, .. } => {
                match words {
                    Some(words) => self.words(text, words),
                    None => self.words.push("\"$@\"".to_owned()),
                }
                self.list(text, body);
            }
            CommandKind::ForArithmetic { body, .. } => self.list(text, body),
            CommandKind::Case { subject, arms } => {
                self.words.push(written(text, subject.span));
                for arm in arms {
                    self.words(text, &arm.patterns);
                    self.list(text, &arm.body);
                }
            }
            CommandKind::Test(_) | CommandKind::Arithmetic(_) => {}
            CommandKind::Function { body, .. } | CommandKind::Coprocess { body } => {
                self.command(text, body);
            }
        }
    }

    fn words(&mut self, text: &str, words: &[Word<'_>]) {
        self.words.extend(words.iter().map(|word| written(text, word.span)));
    }

    fn redirection(&mut self, text: &str, redirection: &Redirection<'_>) {
        let span = redirection.target.span;
        let target = text.get(span.start()..span.end()).unwrap_or_default();
        let moves = matches!(
            redirection.operator,
            RedirectionOperator::DuplicateInput | RedirectionOperator::DuplicateOutput
        );
        // `>&3-` moves a descriptor, and `>&-` closes one.
        let kept = target.strip_suffix('-').filter(|_| moves).unwrap_or(target);
        if !moves || !kept.bytes().all(|byte| byte.is_ascii_digit()) {
            self.words.push(comparable(kept));
        }
    }
}

fn written(text: &str, span: Span) -> String {
    comparable(text.get(span.start()..span.end()).unwrap_or_default())
}

/// Leaves of a word what bash keeps as it is written: it joins lines and drops tabs in heredocs, and
/// writes commands, arrays and some quotes anew.
fn comparable(raw: &str) -> String {
    let mut raw = raw.replace('\t', "");
    // What bash joined already may leave `\` before another line's end.
    while raw.contains("\\\n") {
        raw = raw.replace("\\\n", "");
    }
    let anew = ["$(", "<(", ">(", "=(", "${ ", "${|"];
    let cut = anew.iter().filter_map(|part| raw.find(part)).min();
    let kept = cut.map_or(raw.as_str(), |cut| &raw[..cut]);
    // A backslash at the very end stands for itself.
    kept.trim_end_matches(['\n', '\\']).to_owned()
}
