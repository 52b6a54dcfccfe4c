//! What a decision notes for rules and modes: which commands a text amounts to, and what no mode
//! allows. Nothing is noted where the policy has neither rules nor a mode.

use std::collections::BTreeSet;

use super::harm::only_lists;
use super::scope::Value;
use super::walk::{Input, Walk};
use crate::command::{Act, Arg, Certainty, Concern, Extent, Run};
use crate::shell;
use crate::text::Span;

/// Most commands that rules are asked about.
const MOST_PARTS: usize = 2_000;

/// What was noted about one call.
#[derive(Debug, Default)]
pub(crate) struct Notes {
    /// The commands, in the order of the text.
    pub(crate) parts: BTreeSet<Part>,
    /// What no mode allows, and where it stands.
    pub(crate) floor: BTreeSet<(Harm, Span)>,
    /// Where files are written that every login reads, or that hold passwords.
    pub(crate) sensitive: BTreeSet<Span>,
    /// Whether all of it was read.
    pub(crate) reading: Reading,
    /// Whether anything happens but reading files.
    pub(crate) effect: Effect,
    /// What a process substitution at hand prints, where that is known.
    stream: Option<String>,
    manner: Manner,
}

/// One command of a text.
#[derive(Clone, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub(crate) struct Part {
    /// Where it stands in the text that a person wrote.
    pub(crate) span: Span,
    /// Who starts it.
    pub(crate) rank: Rank,
    /// Its words; a hole stands for what is not known.
    pub(crate) argv: Vec<String>,
}

/// Who starts a command.
#[derive(Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub(crate) enum Rank {
    /// The shell: it stands in the text as a command.
    Written,
    /// Another command of the text.
    Launched,
}

/// Whether a text was read to its end.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub(crate) enum Reading {
    #[default]
    Whole,
    /// It is no shell text, or too much of it.
    Broken,
}

/// What a call does, as far as a mode for reading cares.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub(crate) enum Effect {
    #[default]
    Reads,
    /// It changes, runs, connects, or is worth a question.
    Does,
}

/// What cannot be undone, whoever wants it.
#[derive(Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub(crate) enum Harm {
    /// Deletes the system, or somebody's home.
    Delete,
    /// Deletes trees that only running names.
    FedDelete,
    /// Writes to a disk beneath its file system.
    Disk,
    /// Stops or restarts the machine.
    Power,
    /// Starts copies of itself without end.
    Exhausts,
    /// Ends every process.
    Broadcast,
}

/// How the command at hand goes about what it does.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub(super) struct Manner {
    delete: Delete,
    fed: Fed,
    disk: Disks,
    scan: Scan,
}

/// Whether deleting is told to go on whatever it meets. Without it `rm` asks before some files, if
/// it has a terminal to ask at.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
enum Delete {
    #[default]
    Forced,
    Gentle,
}

/// Who hands names to the command at hand.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
enum Fed {
    #[default]
    Nobody,
    /// A search, whose start is known.
    Search,
    /// Whatever arrives on the input.
    Input,
}

/// What a tool for disks is told to do with them.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
enum Disks {
    #[default]
    Changed,
    Listed,
}

/// Whether pieces of a broken text are being looked at.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
enum Scan {
    #[default]
    Whole,
    Pieces,
}

impl Notes {
    /// Whether a place lies in a command that stands in the text.
    pub(crate) fn is_about_a_command(&self, span: Span) -> bool {
        let written = self.parts.iter().filter(|part| part.rank == Rank::Written);
        let mut spans = written.map(|part| part.span);
        spans.any(|part| part.start() <= span.start() && span.end() <= part.end())
    }
}

impl Harm {
    /// Returns what is said about it.
    pub(crate) fn message(self) -> &'static str {
        match self {
            Self::Delete => "deletes the system, or a home folder",
            Self::FedDelete => "deletes whatever trees it is handed",
            Self::Disk => "writes to a disk beneath its file system, or makes one",
            Self::Power => "stops or restarts the machine",
            Self::Exhausts => "starts copies of itself without end",
            Self::Broadcast => "ends every process it can",
        }
    }
}

impl Walk<'_> {
    /// Notes a command.
    pub(super) fn note_part(&mut self, argv: &[Arg<'_>], span: Span) {
        let rank = if self.is_nested() { Rank::Launched } else { Rank::Written };
        let (written, span) = (span, self.place(span));
        let Some(notes) = &mut self.notes else { return };
        let argv = argv.iter().map(|arg| arg.text.to_string()).collect();
        notes.parts.insert(Part { span, rank, argv });
        if notes.parts.len() > MOST_PARTS {
            notes.parts.pop_last();
            notes.reading = Reading::Broken;
            // Whatever a rule says of the rest, nobody asks it.
            self.exhaust(written, "commands", MOST_PARTS);
        }
    }

    /// Notes how a command goes about what it does; returns how the one around it does.
    pub(super) fn note_manner(
        &mut self,
        name: &str,
        args: &[Arg<'_>],
        acts: &[Act<'_>],
        input: &Input,
        span: Span,
    ) -> Manner {
        let Some(notes) = &mut self.notes else { return Manner::default() };
        let outer = notes.manner;
        let removal = Removal::of(name, args.iter().map(|arg| &*arg.text));
        let gentle = removal.is_some_and(|removal| !removal.force);
        notes.manner.delete = if gentle { Delete::Gentle } else { Delete::Forced };
        notes.manner.disk = if only_lists(name, args) { Disks::Listed } else { Disks::Changed };
        if acts.iter().any(|act| matches!(act, Act::Run(Run::Fed(_)))) {
            let search = matches!(name, "find" | "gfind" | "fd" | "fdfind");
            notes.manner.fed = if search { Fed::Search } else { Fed::Input };
        }
        if outer.fed == Fed::Input && removal.is_some_and(|removal| removal.force && removal.tree) {
            self.note_harm(Harm::FedDelete, span);
        }
        // The first word may be a signal; any other that says so is everybody.
        let is_everybody = |arg: &Arg<'_>| arg.text.trim().parse() == Ok(-1_i64);
        if name == "kill" && args.iter().skip(1).any(is_everybody) {
            self.note_harm(Harm::Broadcast, span);
        }
        self.note_unusual(name, args, acts, input);
        outer
    }

    /// Notes that the command around is at hand again.
    pub(super) fn note_outer(&mut self, outer: Manner) {
        if let Some(notes) = &mut self.notes {
            notes.manner = outer;
        }
    }

    /// Notes what no mode allows about one act.
    pub(super) fn note_act(&mut self, act: &Act<'_>) {
        let Some(notes) = &mut self.notes else { return };
        if !matches!(act, Act::Read(_) | Act::Mention(_)) {
            notes.effect = Effect::Does;
        }
        let manner = notes.manner;
        match act {
            Act::Delete(path, extent) => {
                let whole = match extent {
                    Extent::Tree | Extent::Below => manner.delete == Delete::Forced,
                    Extent::Single | Extent::Forced => false,
                };
                // Names that a search found are below where it began, one as good as all.
                let found = match manner.fed {
                    Fed::Nobody => false,
                    Fed::Search => true,
                    Fed::Input => path.certainty != Certainty::Known,
                };
                if (whole || found) && self.is_precious(path) {
                    self.note_harm(Harm::Delete, path.span);
                }
                if self.is_on_disk(path) {
                    self.note_harm(Harm::Disk, path.span);
                }
            }
            Act::Write(path) | Act::Link { name: path, .. } => self.note_written_path(path),
            Act::Read(_)
            | Act::Enter(_)
            | Act::Connect(_)
            | Act::Send(_)
            | Act::Run(_)
            | Act::Mention(_)
            | Act::Raise(..) => {}
        }
    }

    /// Notes a concern that is on the floor.
    pub(super) fn note_concern(&mut self, concern: Concern, span: Span) {
        let lists = self.notes.as_ref().is_some_and(|notes| notes.manner.disk == Disks::Listed);
        let harm = match concern {
            Concern::Device if lists => return,
            Concern::Device => Harm::Disk,
            Concern::Power => Harm::Power,
            Concern::Exhausts => Harm::Exhausts,
            Concern::LosesWork
            | Concern::ChangesShared
            | Concern::Privilege
            | Concern::Container
            | Concern::Persists
            | Concern::System
            | Concern::Processes
            | Concern::Kernel
            | Concern::Exfiltrates
            | Concern::Backdoor
            | Concern::Listens
            | Concern::Floods
            | Concern::Evaluates
            | Concern::Obfuscates
            | Concern::Spawns
            | Concern::Interactive
            | Concern::Environment
            | Concern::Guard
            | Concern::Unclear => return,
        };
        self.note_harm(harm, span);
    }

    /// Notes that a pipeline begins.
    pub(super) fn note_pipeline(&mut self) {
        if let Some(notes) = &mut self.notes {
            notes.stream = None;
        }
    }

    /// Notes what a process substitution prints.
    pub(super) fn note_stream(&mut self, printed: Value) {
        if let Some(notes) = self.notes.as_mut().filter(|_| printed.certainty == Certainty::Known) {
            notes.stream = Some(printed.text);
        }
    }

    /// Follows what a process substitution prints: a shell runs it.
    pub(super) fn note_run_stream(&mut self, span: Span) {
        let stream = self.notes.as_ref().and_then(|notes| notes.stream.clone());
        if let Some(text) = stream {
            self.aside_of(&Arg::known(text, span));
        }
    }

    /// Notes that a text could not be read, and looks at what can be read of it.
    pub(super) fn note_broken(&mut self, text: &str) {
        let Some(notes) = &mut self.notes else { return };
        notes.reading = Reading::Broken;
        if std::mem::replace(&mut notes.manner.scan, Scan::Pieces) == Scan::Pieces {
            return;
        }
        let mut at = 0;
        for piece in text.split(['\n', ';', '|', '&']) {
            if !piece.trim().is_empty() && shell::parse(piece).is_ok() {
                let known = Arg::known(piece, Span::new(at, at + piece.len()));
                self.aside_of(&Arg { verbatim: Some(at), ..known });
            }
            at += piece.len() + 1;
        }
        if let Some(notes) = &mut self.notes {
            notes.manner.scan = Scan::Whole;
        }
    }

    pub(super) fn note_harm(&mut self, harm: Harm, span: Span) {
        let span = self.place(span);
        if let Some(notes) = &mut self.notes {
            notes.floor.insert((harm, span));
        }
    }
}

/// How `rm` is told to go about it.
#[derive(Clone, Copy)]
pub(crate) struct Removal {
    pub(crate) tree: bool,
    pub(crate) force: bool,
}

impl Removal {
    /// Reads the flags of `rm`; none if the command is another.
    pub(crate) fn of<'a>(name: &str, args: impl Iterator<Item = &'a str> + Clone) -> Option<Self> {
        if !matches!(name, "rm" | "grm" | "srm") {
            return None;
        }
        let flags = || args.clone().take_while(|arg| *arg != "--");
        let short = |letters: [char; 2]| {
            flags()
                .any(|arg| arg.starts_with('-') && !arg.starts_with("--") && arg.contains(letters))
        };
        // The long names may be cut short as far as they stay apart.
        let long = |name: &str| flags().any(|arg| arg.len() > 2 && name.starts_with(arg));
        Some(Self {
            tree: short(['r', 'R']) || long("--recursive"),
            force: short(['f', 'f']) || long("--force"),
        })
    }
}
