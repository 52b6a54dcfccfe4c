//! From words to options and operands, by a tool's grammar.

use super::grammar::{Grammar, Habit, Opt, Value};
use super::hash;
use super::table::exact;
use crate::command::{Arg, Certainty, HOLE};
use crate::text::byte;

/// A grammar and the ones it is nested in, whose options it understands as well.
#[derive(Clone, Copy, Debug)]
pub(super) struct Chain<'c> {
    pub(super) grammar: &'static Grammar,
    pub(super) outer: Option<&'c Self>,
}

/// One thing found among the words.
#[derive(Clone, Copy, Debug)]
pub(super) enum Piece {
    /// An option; its value begins at a byte of a word, or stands in the words up to an end.
    Option { option: &'static Opt, at: usize, value: Option<Place> },
    /// An option that the grammar does not list, with a value if one is glued to it.
    Stranger { at: usize, value: Option<usize> },
    /// An operand.
    Operand(usize),
    /// An operand behind `--`.
    After(usize),
    /// `NAME=value` in front of the operands.
    Assignment(usize),
    /// A word that may turn out to be an option that runs something.
    Doubt(usize),
}

/// Where an option's value stands.
#[derive(Clone, Copy, Debug)]
pub(super) struct Place {
    pub(super) at: usize,
    pub(super) from: usize,
    /// The word behind the last one of it.
    pub(super) end: usize,
}

/// Reads words one after another.
#[derive(Debug)]
pub(super) struct Scan<'s, 't> {
    args: &'s [Arg<'t>],
    chain: Chain<'s>,
    next: usize,
    /// A bundle of short options that is being read: its word and the next byte.
    bundle: Option<(usize, usize)>,
    /// Whether that bundle is one without a dash: values stand in later words, never in it.
    old: bool,
    phase: Phase,
    doubted: bool,
    operands: usize,
}

#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum Phase {
    /// Options and operands.
    Mixed,
    /// Operands only.
    Operands,
    /// Behind `--`.
    After,
    /// An expression: no operands any more.
    Expression,
}

impl<'s, 't> Scan<'s, 't> {
    pub(super) fn new(chain: Chain<'s>, args: &'s [Arg<'t>]) -> Self {
        Self {
            args,
            chain,
            next: 0,
            bundle: None,
            old: false,
            phase: Phase::Mixed,
            doubted: false,
            operands: 0,
        }
    }

    fn has(&self, habit: u8) -> bool {
        self.chain.grammar.habits & habit != 0
    }

    /// Reads a word that is not an option.
    #[inline(always)]
    fn operand(&mut self, at: usize, arg: &Arg<'t>) -> Option<Piece> {
        let text = &*arg.text;
        if self.operands == 0 && self.has(Habit::ASSIGNS) {
            // A lone dash is `-i`, and both may stand behind `--`.
            if text == "-" {
                return None;
            }
            if is_assignment(text) {
                return Some(Piece::Assignment(at));
            }
        }
        match self.phase {
            Phase::After => {
                self.operands += 1;
                return Some(Piece::After(at));
            }
            Phase::Expression => return None,
            Phase::Mixed | Phase::Operands => {}
        }
        if self.has(Habit::LEADING) && matches!(text, "(" | ")" | "!" | ",") {
            self.phase = Phase::Expression;
            return None;
        }
        if self.has(Habit::OLD) && at == 0 && !text.is_empty() {
            self.bundle = Some((at, 0));
            self.old = true;
            return None;
        }
        // Most operands have none.
        if byte::has(text, b'=')
            && let Some(equals) = byte::find(text, b'=')
            && let Some(option) = text.get(..=equals).and_then(|key| self.chain.exact(key))
        {
            let value = Some(Place { at, from: equals + 1, end: at + 1 });
            return Some(Piece::Option { option, at, value });
        }
        if self.phase == Phase::Mixed && self.may_be_option(arg) && !self.doubted {
            // The same word is read again, as an operand: it may be either.
            self.doubted = true;
            self.next = at;
            return Some(Piece::Doubt(at));
        }
        self.doubted = false;
        self.operands += 1;
        if self.has(Habit::STOPS) {
            self.phase = Phase::Operands;
        }
        Some(Piece::Operand(at))
    }

    /// Tells whether a word may begin with a dash once it is known. A quoted word may too, but
    /// asking at every `grep "$x"` would teach people to say yes.
    fn may_be_option(&self, arg: &Arg<'t>) -> bool {
        self.has(Habit::WARY) && arg.certainty == Certainty::Many && arg.text.starts_with(HOLE)
    }

    /// Reads a word that begins with two dashes.
    fn long(&mut self, at: usize, text: &str) -> Piece {
        let (name, value) = match byte::find(text, b'=') {
            Some(equals) => (text.get(..equals).unwrap_or(text), Some(equals + 1)),
            None => (text, None),
        };
        match self.chain.long(name) {
            Some(option) => self.option(option, at, value),
            None => Piece::Stranger { at, value },
        }
    }

    /// Finishes an option whose name has been read.
    fn option(&mut self, option: &'static Opt, at: usize, glued: Option<usize>) -> Piece {
        let here = |from| Place { at, from, end: at + 1 };
        let value = match (option.value, glued) {
            // `fd -xrm`: what is glued is the first word.
            (Value::Until, glued) => {
                let words = self.args.get(self.next..).unwrap_or_default();
                let length = words
                    .iter()
                    .position(|arg| matches!(&*arg.text, ";" | "+"))
                    .unwrap_or(words.len());
                let end = self.next + length;
                let (at, from) = glued.map_or((self.next, 0), |from| (at, from));
                let place = Place { at, from, end };
                self.next = (self.next + length + 1).min(self.args.len());
                Some(place)
            }
            (
                Value::Absent | Value::Glued | Value::Required | Value::Final | Value::Pair,
                Some(from),
            ) => Some(here(from)),
            (Value::Pair, None) => {
                let at = self.next + 1;
                self.next = (at + 1).min(self.args.len());
                (at < self.args.len()).then_some(Place { at, from: 0, end: at + 1 })
            }
            (Value::Absent | Value::Glued, None) => None,
            (Value::Required | Value::Final, None) => {
                let place = Place { at: self.next, from: 0, end: self.next + 1 };
                (self.next < self.args.len()).then(|| {
                    self.next += 1;
                    place
                })
            }
        };
        if option.value == Value::Final {
            self.phase = Phase::Operands;
            // Slots are for scripts and the like: behind an option that ends all, words are words.
            self.operands += self.chain.grammar.slots().len();
        }
        Piece::Option { option, at, value }
    }

    /// Reads a word with one dash where long options have one.
    fn single(&mut self, at: usize, text: &str) -> Piece {
        if self.has(Habit::LEADING) && !(text.len() == 2 && text.ends_with(char::is_uppercase)) {
            self.phase = Phase::Expression;
        }
        if let Some(option) = self.chain.exact(text) {
            return self.option(option, at, None);
        }
        let value = byte::find(text, b'=').map(|equals| equals + 1);
        if let Some(option) =
            value.and_then(|from| text.get(..from - 1)).and_then(|name| self.chain.exact(name))
        {
            return self.option(option, at, value);
        }
        // `-Idir`: the longest name that the word begins with and that has a value.
        let glued = (2..text.len())
            .rev()
            .filter_map(|end| Some((end, self.chain.exact(text.get(..end)?)?)))
            .find(|(_, option)| option.value != Value::Absent);
        match glued {
            Some((from, option)) => self.option(option, at, Some(from)),
            None => Piece::Stranger { at, value },
        }
    }

    /// Reads the next option of a bundle.
    fn bundled(&mut self, at: usize, from: usize) -> Option<Piece> {
        let text = &*self.args.get(at)?.text;
        let tail = text.get(from..)?;
        let letter = tail.chars().next()?;
        let end = from + letter.len_utf8();
        self.bundle = (end < text.len()).then_some((at, end));
        let mut name = [0; 8];
        name[0] = b'-';
        let length = letter.encode_utf8(name.get_mut(1..)?).len();
        let name = name.get(..=length).and_then(|name| std::str::from_utf8(name).ok())?;
        let Some(option) = self.chain.exact(name) else {
            return (letter == HOLE).then_some(Piece::Stranger { at, value: None });
        };
        let glued = match option.value {
            Value::Absent => None,
            Value::Glued | Value::Required | Value::Final | Value::Until | Value::Pair
                if self.old =>
            {
                None
            }
            Value::Glued | Value::Required | Value::Final | Value::Until | Value::Pair => {
                self.bundle.take().map(|_| end)
            }
        };
        Some(self.option(option, at, glued))
    }
}

impl Iterator for Scan<'_, '_> {
    type Item = Piece;

    #[inline(always)]
    fn next(&mut self) -> Option<Piece> {
        loop {
            if let Some((at, from)) = self.bundle {
                match self.bundled(at, from) {
                    Some(piece) => return Some(piece),
                    None if self.bundle == Some((at, from)) => self.bundle = None,
                    None => {}
                }
                continue;
            }
            self.old = false;
            let at = self.next;
            let arg = self.args.get(at)?;
            self.next += 1;
            let text = &*arg.text;
            let first = text.bytes().next();
            let reads_options = match self.phase {
                Phase::Mixed => true,
                Phase::Expression => self.has(Habit::SINGLE),
                Phase::Operands | Phase::After => false,
            };
            let piece = if !reads_options {
                self.operand(at, arg)
            } else if text == "--" {
                self.phase = Phase::After;
                None
            } else if self.has(Habit::SINGLE) && text.len() > 1 && first == Some(b'-') {
                Some(self.single(at, text))
            } else if first == Some(b'-') && text.starts_with("--") {
                Some(self.long(at, text))
            } else if text.len() > 1 && first == Some(b'-') {
                // Some short names are longer than a letter (`-oN`, `-TT`).
                let equals = byte::find(text, b'=').filter(|end| *end > 2);
                let name = equals.and_then(|end| text.get(..end)).unwrap_or(text);
                let may_be_one = name.len() == 2 || self.chain.is_wide();
                match may_be_one.then(|| self.chain.exact(name)).flatten() {
                    Some(option) => Some(self.option(option, at, equals.map(|end| end + 1))),
                    None => {
                        self.bundle = Some((at, 1));
                        None
                    }
                }
            } else if first == Some(b'+')
                && let Some(option) = self.chain.exact("+")
            {
                let value = Some(Place { at, from: 1, end: at + 1 });
                Some(Piece::Option { option, at, value })
            } else {
                self.operand(at, arg)
            };
            if piece.is_some() {
                return piece;
            }
        }
    }
}

impl Chain<'_> {
    /// Finds an option by its full name.
    pub(super) fn exact(&self, name: &str) -> Option<&'static Opt> {
        let mut chain = self;
        loop {
            let found = exact(chain.grammar.names(), name);
            if let Some(option) = found.and_then(|name| chain.grammar.option(name)) {
                return Some(option);
            }
            chain = chain.enclosing()?;
        }
    }

    /// Returns whether a word with one dash may be one option and not a bundle.
    fn is_wide(&self) -> bool {
        self.grammar.wide || self.enclosing().is_some_and(Self::is_wide)
    }

    /// Finds a long option by its name or the beginning of it: the worst it can mean.
    fn long(&self, name: &str) -> Option<&'static Opt> {
        if let Some(option) = self.exact(name) {
            return Some(option);
        }
        if name.len() < 3 {
            return None;
        }
        let names = self.grammar.names();
        let start = hash::start(name);
        let first = names.partition_point(|known| known.order(name, start).is_lt());
        names
            .get(first..)
            .unwrap_or_default()
            .iter()
            .take_while(|known| known.text().starts_with(name))
            .filter_map(|known| self.grammar.option(known))
            .max_by_key(|option| {
                // One that leaves the next word alone does not hide what that word is.
                let leaves = matches!(option.value, Value::Absent | Value::Glued);
                (option.slot.concern.is_some(), option.slot.role.weight(), leaves)
            })
            .or_else(|| self.enclosing()?.long(name))
    }

    fn enclosing(&self) -> Option<&Self> {
        self.outer.filter(|outer| outer.grammar.habits & Habit::FRONT == 0)
    }
}

/// Tells `NAME=value` from other words.
///
/// `env` takes any name, even none: a shell's exported functions have names that no variable has.
fn is_assignment(text: &str) -> bool {
    byte::find(text, b'=').is_some()
}
