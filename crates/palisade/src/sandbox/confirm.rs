//! Asking a person.

use std::time::Duration;

pub use palisade_audit::Answered;
use palisade_policy::decide::{Asked, Reason, Touch};
use palisade_policy::name::looks_secret;
use palisade_policy::text::visible;

use super::always::Always;

/// The longest question that is put to anybody: what cannot be read cannot be agreed to.
const LONGEST: usize = 8 << 10;

/// Somebody who can be asked.
pub trait Confirm: Send + Sync {
    /// Returns who that is, for the record: `terminal`, say.
    fn name(&self) -> &str;

    /// Asks. Whatever is not a yes means no.
    fn ask(&self, question: &Question<'_>) -> Answered;

    /// Whether that is a person. Others may be asked as often as there is something to ask.
    fn is_person(&self) -> bool {
        true
    }

    /// Asks about a host that a command wants to reach, while that runs and waits. It is called from
    /// another thread. Who does not know what to do with it says that there is nobody.
    fn ask_host(&self, _: &HostQuestion<'_>) -> Answered {
        Answered::Nobody
    }
}

/// What is asked about a host.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct HostQuestion<'a> {
    /// The host.
    pub host: &'a str,
    /// Its port.
    pub port: u16,
    /// The plain request, if that is what is asked about: its method and path.
    pub request: Option<&'a str>,
    /// The rule that has it asked.
    pub rule: Option<&'a str>,
    /// How long an answer may take; silence means no.
    pub time: Option<Duration>,
}

impl HostQuestion<'_> {
    /// Returns the question for a terminal, with everything spelled out that a terminal would act on.
    pub fn text(&self) -> String {
        let Self { host, port, request, rule, .. } = self;
        let mut text =
            format!("May this be reached?\n\n  {:<8} {}:{port}\n", "host", spelled(host));
        for (name, value) in [("request", request), ("because", rule)] {
            if let Some(value) = value {
                text.push_str(&format!("  {name:<8} {}\n", spelled(value)));
            }
        }
        text
    }
}

/// Nobody: every question is answered with no.
#[derive(Clone, Copy, Debug)]
pub struct Nobody;

/// Whoever named a program agreed to it by that; a denial stands all the same.
#[derive(Clone, Copy, Debug)]
pub struct Named;

/// What is asked: the very call that runs if the answer is yes.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct Question<'a> {
    /// The call.
    pub asked: Asked<'a>,
    /// The folder it runs in.
    pub cwd: &'a str,
    /// The project.
    pub root: &'a str,
    /// Variables that the caller adds.
    pub variables: &'a [(String, String)],
    /// The files and hosts that it names, redirections among them.
    pub touches: &'a [Touch],
    /// Why it is asked.
    pub reasons: &'a [Reason],
    /// The hash of the call, as it is recorded.
    pub hash: &'a str,
    /// How long an answer may take; silence means no.
    pub time: Option<Duration>,
    /// The rule that a yes for good would save; none if there is no such rule.
    pub always: Option<&'a Always>,
}

impl Confirm for Nobody {
    fn name(&self) -> &'static str {
        "nobody"
    }

    fn ask(&self, _: &Question<'_>) -> Answered {
        Answered::Nobody
    }
}

impl Confirm for Named {
    fn name(&self) -> &'static str {
        "command-line"
    }

    fn ask(&self, _: &Question<'_>) -> Answered {
        Answered::Yes
    }

    fn is_person(&self) -> bool {
        false
    }
}

impl Question<'_> {
    /// Returns the question for a terminal: every word on a line of its own, everything that a
    /// terminal would act on or not show spelled out. None if it is too long for anybody to read.
    pub fn text(&self) -> Option<String> {
        let mut text = String::from("May this run?\n\n");
        match self.asked {
            Asked::Argv(argv) => {
                for (number, word) in argv.iter().enumerate() {
                    let name = if number == 0 { "program" } else { "" };
                    text.push_str(&format!("  {name:<8} {}\n", quoted(word)));
                    if text.len() > LONGEST {
                        return None;
                    }
                }
            }
            Asked::Shell(script) | Asked::Words(script) => {
                for (number, line) in script.split('\n').enumerate() {
                    // A line of the text never stands where one of ours would.
                    let name = if number == 0 { "  shell    " } else { "         | " };
                    text.push_str(&format!("{name}{}\n", spelled(line)));
                }
            }
        }
        text.push_str(&format!("  {:<8} {}\n", "in", spelled(self.cwd)));
        text.push_str(&format!("  {:<8} {}\n", "length", self.length()));
        for (name, value) in self.variables {
            let value = told(name, value).map_or_else(|| "…".to_owned(), |value| quoted(&value));
            text.push_str(&format!("  {:<8} {}={value}\n", "with", spelled(name)));
        }
        for Touch { deed, what } in self.touches {
            text.push_str(&format!("  {deed:<8} {}\n", quoted(what)));
            if text.len() > LONGEST {
                return None;
            }
        }
        for reason in self.reasons {
            text.push_str(&format!(
                "  {:<8} {} [{}]\n",
                "because",
                spelled(&reason.message),
                reason.code
            ));
            if let Some(origin) = &reason.origin {
                text.push_str(&format!("  {:<8} said by {origin}\n", ""));
            }
        }
        text.push_str(&format!("  {:<8} {}\n", "sha256", self.hash));
        (text.len() <= LONGEST).then_some(text)
    }

    /// Says how long all of it is: what scrolled away is missed.
    fn length(&self) -> String {
        let plural = |count: usize, what: &str| {
            format!("{count} {what}{}", if count == 1 { "" } else { "s" })
        };
        match self.asked {
            Asked::Argv(argv) => {
                let bytes = argv.iter().map(String::len).sum();
                format!("{}, {}", plural(argv.len(), "word"), plural(bytes, "byte"))
            }
            Asked::Shell(text) | Asked::Words(text) => {
                let lines = text.split('\n').count();
                format!("{}, {}", plural(lines, "line"), plural(text.len(), "byte"))
            }
        }
    }
}

/// Returns the value of a variable, unless its name says that it is a secret.
pub(super) fn told(name: &str, value: &str) -> Option<String> {
    (!looks_secret(name)).then(|| value.to_owned())
}

/// Shows a word so that where it begins and ends, and what is in it, is beyond doubt.
fn quoted(word: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "/._-+=:@%,~".contains(c);
    if !word.is_empty() && word.chars().all(plain) {
        return word.to_owned();
    }
    let mut shown = String::from("\"");
    for c in word.chars() {
        match c {
            '"' | '\\' => shown.extend(['\\', c]),
            '\n' => shown.push_str("\\n"),
            '\t' => shown.push_str("\\t"),
            _ => shown.push(c),
        }
    }
    shown.push('"');
    spelled(&shown)
}

/// How many blanks are shown as they are.
const BLANKS: usize = 8;

/// Stands for blanks that are counted.
const BLANK: char = '\u{2420}';

/// Spells a text out for a person: what a terminal would act on or not show, and long rows of blanks,
/// behind which the rest of a command is not looked for.
pub(super) fn spelled(text: &str) -> String {
    let mut told = String::with_capacity(text.len());
    let mut blanks = 0;
    let flush = |told: &mut String, blanks: &mut usize| {
        match *blanks {
            0..=BLANKS => told.extend(std::iter::repeat_n(' ', *blanks)),
            many => told.push_str(&format!("{BLANK}\u{d7}{many} ")),
        }
        *blanks = 0;
    };
    for c in text.chars() {
        match c {
            ' ' | '\t' => {
                blanks += 1;
                continue;
            }
            _ => flush(&mut told, &mut blanks),
        }
        // Only we say that blanks were counted, and other blanks than the blank look like it.
        if c == BLANK || c.is_whitespace() {
            told.push_str(&format!("\\u{{{:x}}}", u32::from(c)));
        } else {
            told.push_str(&visible(c.encode_utf8(&mut [0; 4])));
        }
    }
    flush(&mut told, &mut blanks);
    told
}

#[cfg(test)]
mod tests {
    use palisade_policy::Origin;
    use palisade_policy::decide::{Answer, Axis};
    use palisade_policy::layer::Layer;
    use palisade_policy::text::Span;

    use super::*;

    fn question<'a>(asked: Asked<'a>, variables: &'a [(String, String)]) -> Question<'a> {
        let (cwd, root, hash) = ("/home/dev/app/\u{202e}x", "/home/dev/app", "00ff");
        let (reasons, touches) = (&[], &[]);
        Question { asked, cwd, root, variables, touches, reasons, hash, time: None, always: None }
    }

    #[test]
    fn a_question_shows_exactly_what_would_run() {
        let argv = ["git", "push", "", "a b", "\u{1b}[2K\u{202e}rm", "x\ny\"z"].map(str::to_owned);
        let variables = [("API_TOKEN", "hunter2"), ("LD_PRELOAD", "a b")];
        let variables = variables.map(|(name, value)| (name.to_owned(), value.to_owned()));
        let text = question(Asked::Argv(&argv), &variables).text().unwrap();
        assert_eq!(
            text,
            "May this run?\n\n  program  git\n           push\n           \"\"\n           \"a b\"\n           \
             \"\\u{1b}[2K\\u{202e}rm\"\n           \"x\\ny\\\"z\"\n  in       /home/dev/app/\\u{202e}x\n  \
             length   6 words, 24 bytes\n  with     API_TOKEN=…\n  with     \
             LD_PRELOAD=\"a b\"\n  sha256   00ff\n"
        );
    }

    #[test]
    fn a_question_names_the_line_that_asks() {
        let file = Some("/home/dev/\u{1b}.yaml".into());
        let origin = Origin { file, ..Origin::of(Layer::User) };
        let reasons = [Reason {
            answer: Answer::Ask,
            code: "rule",
            axis: Axis::Rule,
            message: "a rule of the policy says so".into(),
            span: Span::new(0, 1),
            origin: Some(origin),
            hint: None,
        }];
        let asked = Question { reasons: &reasons, ..question(Asked::Shell("ls"), &[]) };
        let text = asked.text().unwrap();
        let lines = "  because  a rule of the policy says so [rule]\n           said by user \
                     /home/dev/\\u{1b}.yaml\n";
        assert!(text.contains(lines), "{text}");
    }

    #[test]
    fn a_question_about_a_host_shows_whom_and_why() {
        let (request, rule) = (Some("GET /\u{1b}[2K"), Some("ask: a.test"));
        let question = HostQuestion { host: "a.test", port: 443, request, rule, time: None };
        assert_eq!(
            question.text(),
            "May this be reached?\n\n  host     a.test:443\n  request  GET /\\u{1b}[2K\n  \
             because  ask: a.test\n"
        );
        assert_eq!(Nobody.ask_host(&question), Answered::Nobody);
    }

    #[test]
    fn shell_text_keeps_its_lines_and_nothing_else() {
        let text = question(Asked::Shell("a\rb\nc\u{200b}"), &[]).text().unwrap();
        assert!(text.contains("  shell    a\\u{d}b\n         | c\\u{200b}\n"), "{text}");
    }

    #[test]
    fn blanks_that_would_hide_what_follows_are_counted() {
        let blanks = " ".repeat(80);
        let script = format!("true{blanks}; rm\u{a0}x\n \u{2420}\u{d7}9 {}", " ".repeat(8));
        let text = question(Asked::Shell(&script), &[]).text().unwrap();
        assert!(text.contains("  shell    true\u{2420}\u{d7}80 ; rm\\u{a0}x\n"), "{text}");
        assert!(text.contains("         |  \\u{2420}\u{d7}9\u{2420}\u{d7}9 \n"), "{text}");
        let argv = ["a".to_owned(), format!("b{blanks}c")];
        let text = question(Asked::Argv(&argv), &[]).text().unwrap();
        assert!(text.contains("\"b\u{2420}\u{d7}80 c\"\n"), "{text}");
    }

    #[test]
    fn what_nobody_can_read_is_not_asked() {
        let long = vec!["x".repeat(100); 100];
        assert_eq!(question(Asked::Argv(&long), &[]).text(), None);
        let long = "x\n".repeat(5000);
        assert_eq!(question(Asked::Shell(&long), &[]).text(), None);
        assert_eq!(Nobody.ask(&question(Asked::Shell("ls"), &[])), Answered::Nobody);
    }
}
