//! What the words of a command do, by the tool's grammar.

use smallvec::SmallVec;

use super::general;
use super::grammar::{Effect, Grammar, Habit, Inner, Opt, Rest, Role, Rule, Slot, Term, Value};
use super::inner;
use super::landing::Landing;
use super::parallel;
use super::scan::{Chain, Piece, Place, Scan};
use super::splice;
use super::table;
use super::variable;
use crate::command::{Act, Arg, Concern, Holed as _, Language, Run};
use crate::text::{Span, byte};

/// Adds what `args` do to `acts`. `at` is where the command's name stands.
pub(super) fn read<'t>(
    grammar: &'static Grammar,
    args: &[Arg<'t>],
    at: Span,
    acts: &mut Vec<Act<'t>>,
) {
    Reader { chain: Chain { grammar, outer: None }, args, at, depth: 0, aside: Vec::new() }
        .read(acts);
}

/// Deepest nesting of subcommands. The table has four levels; this only bounds what it could say.
const MAX_DEPTH: u8 = 8;

struct Reader<'r, 't> {
    chain: Chain<'r>,
    args: &'r [Arg<'t>],
    at: Span,
    depth: u8,
    /// Folders that are written if the working folder is.
    aside: Vec<Arg<'t>>,
}

/// What a first look at the words has found.
#[derive(Default)]
struct Seen {
    options: u64,
    operands: usize,
    /// Where the last option stands that a rule asks for.
    span: Option<Span>,
    /// What the rules do that hold: nearly always few.
    active: SmallVec<[&'static Effect; 4]>,
}

/// What a first look has read of the words.
type Ahead = SmallVec<[Piece; 12]>;

impl<'t> Reader<'_, 't> {
    fn read(mut self, acts: &mut Vec<Act<'t>>) {
        let grammar = self.chain.grammar;
        let needs_look = !grammar.rules().is_empty() || grammar.last.is_some();
        let mut scan = Scan::new(self.chain, self.args);
        let mut ahead = Ahead::new();
        let seen = if needs_look { self.look(&mut scan, &mut ahead) } else { Seen::default() };
        let mut index = 0;
        let mut landing = Landing::default();
        let mut known = ahead.iter().copied();
        while let Some(piece) = known.next().or_else(|| scan.next()) {
            match piece {
                Piece::Option { option, at, value } => {
                    let slot = Self::value_slot(&seen, option.bit, option.slot);
                    self.raise(slot.concern, at, acts);
                    if option.value == Value::Final {
                        index = index.max(grammar.slots().len());
                    }
                    if let Some(place) = value {
                        let value = || self.args.get(place.at)?.tail(place.from);
                        if slot.role == Role::Into {
                            landing.note_folder(value());
                        } else if slot.role == Role::Aside {
                            self.aside.extend(value());
                        }
                    }
                    if let Some(place) = value
                        && self.value(slot.role, place, acts)
                    {
                        break;
                    }
                }
                Piece::Stranger { at, value } => self.stranger(at, value, acts),
                Piece::Assignment(at) => self.assignment(at, acts),
                Piece::Doubt(at) => self.raise(Some(Concern::Unclear), at, acts),
                Piece::After(at) if grammar.after.is_some() => {
                    let slot = grammar.after.unwrap_or(grammar.rest);
                    self.raise(slot.concern, at, acts);
                    if self.word(slot.role, at, acts) {
                        break;
                    }
                }
                Piece::Operand(at) | Piece::After(at) => {
                    if index == 0 && self.sub(at, acts) {
                        break;
                    }
                    let slot = self.operand_slot(&seen, index);
                    self.raise(slot.concern, at, acts);
                    landing.note(slot.role, at, self.args);
                    self.beside(slot.role, at, acts);
                    if self.word(slot.role, at, acts) {
                        break;
                    }
                    index += 1;
                }
            }
        }
        // `capsh --`: nothing stands behind it, and a shell runs all the same.
        if let Some(after) = grammar.after
            && self.args.last().is_some_and(|arg| arg.text == "--")
        {
            self.raise(after.concern, self.args.len() - 1, acts);
        }
        landing.conclude(self.args, acts);
        self.conclude(&seen, acts);
    }

    /// Notes a database, which a later statement may change.
    fn beside(&mut self, role: Role, at: usize, acts: &mut Vec<Act<'t>>) {
        let Some(arg) = self.args.get(at) else { return };
        if role == Role::Aside {
            self.aside.push(arg.clone());
        } else if role == Role::Inner(Inner::Sql) && !inner::only_reads(&arg.text) {
            acts.extend(self.aside.iter().cloned().map(Act::Write));
        }
    }

    /// Counts operands and collects the options that rules ask for. What it reads of the words is
    /// kept in `ahead`: it need not be read again.
    fn look(&self, scan: &mut Scan<'_, 't>, ahead: &mut Ahead) -> Seen {
        let grammar = self.chain.grammar;
        let mut seen = Seen::default();
        for piece in scan {
            ahead.push(piece);
            match piece {
                Piece::Option { option, at, value } => {
                    seen.options |= option.bit | self.included(option, value);
                    if option.bit != 0 {
                        seen.span = self.args.get(at).map(|arg| arg.span);
                    }
                    let takes_rest = matches!(option.slot.role, Role::Sub)
                        || option.slot.role.rest().is_some_and(|rest| rest != Rest::Fed)
                            && value.is_some();
                    if takes_rest {
                        break;
                    }
                }
                Piece::Operand(at) | Piece::After(at) => {
                    seen.operands += 1;
                    let is_sub = seen.operands == 1
                        && self.args.get(at).is_some_and(|arg| grammar.sub(&arg.text).is_some());
                    if is_sub {
                        break;
                    }
                }
                Piece::Stranger { .. } | Piece::Assignment(_) | Piece::Doubt(_) => {}
            }
        }
        let active = grammar.rules().iter().filter(|rule| holds(rule, &seen));
        seen.active = active.map(|rule| &rule.effect).collect();
        seen
    }

    /// `gawk -f inplace` reads the same library as `-i inplace`: what it is told to read is written.
    fn included(&self, option: &Opt, value: Option<Place>) -> u64 {
        let is_library = option.slot.role == Role::Script(Language::Awk)
            && value.and_then(|place| self.args.get(place.at)?.text.get(place.from..)).is_some_and(
                |file| matches!(byte::behind_last(file, b'/'), "inplace" | "inplace.awk"),
            );
        let same = is_library.then(|| self.chain.exact("-i")).flatten();
        same.map_or(0, |option| option.bit)
    }

    fn operand_slot(&self, seen: &Seen, index: usize) -> Slot {
        let grammar = self.chain.grammar;
        let is_last = seen.operands >= 2 && index + 1 == seen.operands;
        let position = grammar.slots().get(index);
        let mut slot = match (grammar.last, position) {
            (Some(last), _) if is_last => last,
            (_, Some(slot)) => *slot,
            (_, None) => grammar.rest,
        };
        for effect in &seen.active {
            match effect {
                Effect::Slot(at, other) if *at == index => slot = *other,
                Effect::Last(other) if is_last => slot = *other,
                Effect::Rest(other)
                    if position.is_none() && !(is_last && grammar.last.is_some()) =>
                {
                    slot = *other;
                }
                Effect::Slot(..)
                | Effect::Last(_)
                | Effect::Rest(_)
                | Effect::Raise(_)
                | Effect::Input(_)
                | Effect::Send
                | Effect::Elsewhere
                | Effect::Here(_)
                | Effect::Value(..) => {}
            }
        }
        slot
    }

    fn value_slot(seen: &Seen, bit: u64, slot: Slot) -> Slot {
        if bit == 0 {
            return slot;
        }
        let other = seen.active.iter().find_map(|effect| match effect {
            Effect::Value(bits, other) if bits & bit != 0 => Some(*other),
            Effect::Value(..)
            | Effect::Slot(..)
            | Effect::Last(_)
            | Effect::Rest(_)
            | Effect::Raise(_)
            | Effect::Input(_)
            | Effect::Send
            | Effect::Elsewhere
            | Effect::Here(_) => None,
        });
        other.unwrap_or(slot)
    }

    /// Adds what rules say of the words as a whole.
    fn conclude(&self, seen: &Seen, acts: &mut Vec<Act<'t>>) {
        let span = seen.span.unwrap_or(self.at);
        for effect in &seen.active {
            match **effect {
                Effect::Raise(concern) => acts.push(Act::Raise(concern, span)),
                Effect::Input(language) => acts.push(Act::Run(Run::Input(language, span))),
                Effect::Send => acts.push(Act::Send(span)),
                Effect::Elsewhere => acts.push(Act::Run(Run::ElsewhereInput(span))),
                Effect::Here(role) => {
                    for folder in &self.aside {
                        apply(role, folder.clone(), acts);
                    }
                    apply(role, Arg::known(".", span), acts);
                }
                Effect::Slot(..) | Effect::Last(_) | Effect::Rest(_) | Effect::Value(..) => {}
            }
        }
    }

    fn raise(&self, concern: Option<Concern>, at: usize, acts: &mut Vec<Act<'t>>) {
        if let Some(concern) = concern {
            let span = self.args.get(at).map_or(self.at, |arg| arg.span);
            acts.push(Act::Raise(concern, span));
        }
    }

    /// Reads a subcommand and all behind it, if the word at `at` is one.
    fn sub(&self, at: usize, acts: &mut Vec<Act<'t>>) -> bool {
        let grammar = self.chain.grammar;
        let Some(arg) = self.args.get(at) else { return false };
        let (grammar, from) = match (grammar.sub(&arg.text), grammar.other()) {
            (Some(grammar), _) => (grammar, at + 1),
            (None, Some(other)) => (other, at),
            (None, None) => return false,
        };
        self.nested(grammar, from, acts);
        true
    }

    fn nested(&self, grammar: &'static Grammar, from: usize, acts: &mut Vec<Act<'t>>) {
        if self.depth < MAX_DEPTH {
            let chain = Chain { grammar, outer: Some(&self.chain) };
            let args = self.args.get(from..).unwrap_or_default();
            let aside = self.aside.clone();
            Reader { chain, args, at: self.at, depth: self.depth + 1, aside }.read(acts);
        }
    }

    /// Reads the words that one word becomes, and those behind it, as if they all stood there.
    fn spliced(&self, text: &Arg<'t>, from: usize, acts: &mut Vec<Act<'t>>) {
        let words = splice::words(text).filter(|_| self.depth < MAX_DEPTH);
        let Some(mut args) = words else {
            return acts.push(Act::Raise(Concern::Unclear, text.span));
        };
        args.extend_from_slice(self.args.get(from..).unwrap_or_default());
        let aside = self.aside.clone();
        Reader { chain: self.chain, args: &args, at: self.at, depth: self.depth + 1, aside }
            .read(acts);
    }

    /// Adds what an option's value does, and tells whether it took all words that follow.
    fn value(&self, role: Role, place: Place, acts: &mut Vec<Act<'t>>) -> bool {
        let Some(first) = self.args.get(place.at).and_then(|arg| arg.tail(place.from)) else {
            return false;
        };
        if role == Role::Sub {
            match self.chain.grammar.sub(&first.text) {
                Some(grammar) => self.nested(grammar, place.end, acts),
                // `python -m black` is `black`.
                None if let Some(grammar) = table::grammar(&first.text) => {
                    self.nested(grammar, place.end, acts);
                }
                None => {
                    if first.text.has_hole() {
                        acts.push(Act::Raise(Concern::Unclear, first.span));
                    }
                    for arg in self.args.get(place.end..).unwrap_or_default() {
                        general::guess(arg, acts);
                    }
                }
            }
            return true;
        }
        if role == Role::Splice {
            self.spliced(&first, place.end, acts);
            return true;
        }
        let Some(rest) = role.rest() else {
            apply(role, first, acts);
            return false;
        };
        // What `find -exec` runs ends where its value ends; other commands go on to the end.
        let end = if rest == Rest::Fed { place.end } else { self.args.len() };
        let words = self.args.get(place.at + 1..end).unwrap_or_default();
        run_words(rest, first, words, acts);
        rest != Rest::Fed
    }

    /// Adds what an operand does, and tells whether it took all words that follow.
    #[inline(always)]
    fn word(&self, role: Role, at: usize, acts: &mut Vec<Act<'t>>) -> bool {
        let Some(arg) = self.args.get(at) else { return false };
        if role == Role::Text {
            return false;
        }
        let Some(rest) = role.rest() else {
            apply(role, arg.clone(), acts);
            // `python manage.py …`, `sh configure …`: a tool that is known is read by its own row.
            if matches!(role, Role::Script(_))
                && let Some(grammar) = table::grammar(byte::behind_last(&arg.text, b'/'))
            {
                self.nested(grammar, at + 1, acts);
                return true;
            }
            return false;
        };
        let words = self.args.get(at + 1..).unwrap_or_default();
        run_words(rest, arg.clone(), words, acts);
        true
    }

    /// An option that the table does not list: its name may still say what it does.
    fn stranger(&self, at: usize, value: Option<usize>, acts: &mut Vec<Act<'t>>) {
        let Some(arg) = self.args.get(at) else { return };
        let habits = self.chain.grammar.habits;
        let name = value.and_then(|from| arg.text.get(..from - 1)).unwrap_or(&arg.text);
        let is_doubt = habits & Habit::CLOSED != 0 && name.len() > 2
            || habits & Habit::WARY != 0 && name.has_hole();
        if is_doubt {
            acts.push(Act::Raise(Concern::Unclear, arg.span));
        } else if let Some(value) = value.and_then(|from| arg.tail(from)) {
            general::option(name, &value, acts);
        } else if general::runs(name)
            && let Some(next) = self.args.get(at + 1).filter(|next| !next.text.starts_with('-'))
        {
            // Whether it has a value is not known; the word is read as an operand as well.
            general::option(name, next, acts);
        }
    }

    fn assignment(&self, at: usize, acts: &mut Vec<Act<'t>>) {
        let Some(arg) = self.args.get(at) else { return };
        let Some((name, value)) = arg.text.split_once('=') else { return };
        let value = arg.as_known().map(|_| value);
        if let Some(concern) = variable::assignment(name, value) {
            acts.push(Act::Raise(concern, arg.span));
        }
    }
}

fn holds(rule: &Rule, seen: &Seen) -> bool {
    rule.terms().iter().all(|term| match *term {
        Term::Has(bits) => seen.options & bits != 0,
        Term::Lacks(bits) => seen.options & bits == 0,
        Term::AtLeast(count) => seen.operands >= count,
        Term::Under(count) => seen.operands < count,
    })
}

/// Adds a command made of several words.
fn run_words<'t>(rest: Rest, first: Arg<'t>, words: &[Arg<'t>], acts: &mut Vec<Act<'t>>) {
    let (mut first, mut words) = (first, words);
    // `nvm exec 18 cmd`, `parallel --max-lines 1 cmd`: no program has a number for a name.
    while matches!(rest, Rest::Argv | Rest::Parallel)
        && is_version(&first.text)
        && let Some((next, behind)) = words.split_first()
    {
        (first, words) = (next.clone(), behind);
    }
    let span = first.span;
    if matches!(rest, Rest::Argv | Rest::ShellWords) && general::is_url(&first.text) {
        return fetched(first, acts);
    }
    let all = || {
        let mut all = Vec::with_capacity(words.len() + 1);
        all.push(first);
        all.extend_from_slice(words);
        all
    };
    acts.push(Act::Run(match rest {
        Rest::Elsewhere => Run::Elsewhere(span),
        Rest::Fed => Run::Fed(all()),
        Rest::Parallel => return parallel::read(&all(), acts),
        Rest::ShellWords => Run::ShellWords(all()),
        Rest::Argv => Run::Argv(all()),
    }));
}

/// Code from an address: it runs, and nobody has seen it.
fn fetched<'t>(address: Arg<'t>, acts: &mut Vec<Act<'t>>) {
    acts.push(Act::Raise(Concern::Spawns, address.span));
    general::connect(&address, acts);
}

fn is_version(text: &str) -> bool {
    let digits = text.strip_prefix('v').unwrap_or(text);
    digits.starts_with(|c: char| c.is_ascii_digit())
        && digits.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.')
}

/// Adds what a word with a role does.
fn apply<'t>(role: Role, arg: Arg<'t>, acts: &mut Vec<Act<'t>>) {
    let act = match role {
        // A link is made when all words are read.
        Role::Text | Role::Splice | Role::Sub | Role::Linked | Role::Symlinked => return,
        Role::Guess | Role::Aside => return general::guess(&arg, acts),
        Role::Inner(inner) => return inner::read(inner, &arg, acts),
        // A dash is standard input or output.
        Role::Script(language) if &*arg.text == "-" => Act::Run(Run::Input(language, arg.span)),
        Role::Read | Role::Write | Role::Into | Role::RemoteRead | Role::RemoteWrite
            if &*arg.text == "-" =>
        {
            return;
        }
        Role::Read => {
            general::listed(&arg, acts);
            Act::Read(arg)
        }
        Role::Write => Act::Write(arg),
        Role::Into | Role::RemoteWrite if general::is_remote(&arg) => {
            acts.push(Act::Raise(Concern::Exfiltrates, arg.span));
            Act::Connect(arg)
        }
        Role::Into => Act::Write(arg),
        Role::Delete(extent) => Act::Delete(arg, extent),
        Role::Enter => Act::Enter(arg),
        Role::Work => {
            // Where it is not known which folder that is, what is done there is not judged either.
            if !arg.text.has_hole() {
                acts.push(Act::Write(arg.clone()));
            }
            Act::Enter(arg)
        }
        Role::Connect => return general::connect(&arg, acts),
        Role::RemoteRead if general::is_remote(&arg) => Act::Connect(arg),
        Role::RemoteRead => Act::Read(arg),
        Role::RemoteWrite => Act::Write(arg),
        Role::Shell => Act::Run(Run::Shell(arg)),
        Role::ShellWords => Act::Run(Run::ShellWords(vec![arg])),
        Role::Program => Act::Run(Run::Program(arg)),
        Role::Argv => Act::Run(Run::Argv(vec![arg])),
        Role::Fed => Act::Run(Run::Fed(vec![arg])),
        Role::Parallel => return parallel::read(&[arg], acts),
        Role::Elsewhere => Act::Run(Run::Elsewhere(arg.span)),
        Role::Code(language) => Act::Run(Run::Code(language, arg)),
        Role::Script(_) if general::is_url(&arg.text) => return fetched(arg, acts),
        Role::Script(language) => Act::Run(Run::Script(language, arg)),
        Role::Load => Act::Run(Run::Load(arg)),
    };
    acts.push(act);
}
