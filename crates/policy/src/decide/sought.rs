//! What a search is for: the expression of `find`, read as it reads it.

use std::rc::Rc;
use std::slice::Iter;

use super::feed::Feed;
use super::walk::Walk;
use crate::command::Arg;
use crate::text::Span;

/// Words of a search that do something with what it found.
pub(super) const STARTS: [&str; 4] = ["-exec", "-execdir", "-ok", "-okdir"];
/// The same for all that hand on names, or files.
pub(super) const HANDS: [&str; 8] =
    ["-exec", "-execdir", "-ok", "-okdir", "-print", "-print0", "-printf", "-ls"];

/// Other words with which a search no longer prints what it finds unasked.
const PUTS: [&str; 5] = ["-delete", "-fls", "-fprint", "-fprint0", "-fprintf"];

/// Most parentheses within each other that are read.
const DEEPEST: usize = 32;

impl Walk<'_> {
    /// Judges a command that a search starts in the folder of what it found, where relative names
    /// are others: as if that were the folder it searches.
    pub(super) fn beside(&mut self, feed: &Feed, argv: &[Arg<'_>], span: Span) {
        let outer = Rc::clone(&self.scope);
        for folder in &feed.folders {
            let ground = self.judge.ground();
            let there = |cwd: &String| ground.place(folder, cwd, &self.sight()).path;
            let cwds: Vec<String> = outer.cwds().iter().map(there).collect();
            if cwds != outer.cwds() {
                Rc::make_mut(&mut self.scope).enter(cwds);
                self.fed_with(&feed.beside(), argv, span);
                self.scope = Rc::clone(&outer);
            }
        }
    }
}

/// Returns the folders that a search goes through, if it starts commands in them.
pub(super) fn folders(args: &[Arg<'_>]) -> Vec<String> {
    let has = |words: &[&str]| args.iter().any(|arg| words.contains(&&*arg.text));
    if !has(&["-execdir", "-okdir"]) {
        return Vec::new();
    }
    let known = starts(args).filter_map(Arg::as_known).map(str::to_owned);
    // What lies in git's folder is found from above as well.
    let enters_git = !has(&["-prune", "!", "-not"])
        && args.windows(2).any(|pair| match pair {
            [test, value] => {
                test.text.ends_with("path") && pattern("-ipath", &value.text).contains(".git/")
            }
            _ => false,
        });
    known.chain(enters_git.then(|| ".git".to_owned())).collect()
}

/// Returns where a search starts.
pub(super) fn starts<'a, 't>(args: &'a [Arg<'t>]) -> impl Iterator<Item = &'a Arg<'t>> {
    let mut rest = args;
    while let Some((first, behind)) = rest.split_first() {
        let skipped = match &*first.text {
            "-H" | "-L" | "-P" | "--" => behind,
            "-D" => behind.get(1..).unwrap_or_default(),
            text if text.starts_with("-O") => behind,
            _ => break,
        };
        rest = skipped;
    }
    rest.iter().take_while(|arg| !arg.text.starts_with(['-', '(', '!']))
}

/// Whether a search does these deeds only to what passed a test that counts. A search that says
/// nothing else prints what it finds.
pub(super) fn only<'a>(
    args: &'a [Arg<'a>],
    deeds: &[&str],
    counts: impl Fn(&str, &Arg<'_>) -> bool,
) -> bool {
    let mut search =
        Search { words: args.iter(), deeds, counts, depth: 0, strays: false, acts: false };
    let ends = search.list(false);
    let prints = !search.acts && deeds.contains(&"-print");
    let is_read = search.words.as_slice().is_empty();
    is_read && !search.strays && (!prints || ends.met)
}

/// A pattern of names as it is matched: in small letters where their case does not count, and a
/// backslash makes a letter only that letter.
pub(super) fn pattern(test: &str, value: &str) -> String {
    let plain = value.replace('\\', "");
    if test.starts_with("-i") { plain.to_lowercase() } else { plain }
}

/// Whether what gets past an expression passed a test: where it is true, and where it is not.
#[derive(Clone, Copy, Debug)]
struct Ends {
    met: bool,
    unmet: bool,
}

/// An expression that is read.
struct Search<'s, 'a, C> {
    words: Iter<'a, Arg<'a>>,
    deeds: &'s [&'s str],
    counts: C,
    depth: usize,
    /// Whether a deed is done to what passed no test.
    strays: bool,
    /// Whether it says what is to be done.
    acts: bool,
}

impl<'a, C: Fn(&str, &Arg<'_>) -> bool> Search<'_, 'a, C> {
    fn peek(&self) -> Option<&'a str> {
        self.words.as_slice().first().map(|arg| &*arg.text)
    }

    fn take(&mut self, words: &[&str]) -> bool {
        let is_next = self.peek().is_some_and(|next| words.contains(&next));
        if is_next {
            self.words.next();
        }
        is_next
    }

    /// `A , B`: both are gone through, whatever the first says.
    fn list(&mut self, before: bool) -> Ends {
        let mut ends = self.either(before);
        while self.take(&[","]) {
            ends = self.either(before);
        }
        ends
    }

    fn either(&mut self, before: bool) -> Ends {
        let mut ends = self.both(before);
        while self.take(&["-o", "-or"]) {
            let next = self.both(ends.unmet);
            ends = Ends { met: ends.met && next.met, unmet: next.unmet };
        }
        ends
    }

    fn both(&mut self, before: bool) -> Ends {
        // Nothing is left over of an empty expression.
        let mut ends = Ends { met: before, unmet: true };
        loop {
            match self.peek() {
                None | Some("-o" | "-or" | "," | ")") => return ends,
                Some("-a" | "-and") => {
                    self.words.next();
                }
                Some(_) => {
                    let next = self.one(ends.met);
                    ends = Ends { met: next.met, unmet: ends.unmet && next.unmet };
                }
            }
        }
    }

    fn one(&mut self, before: bool) -> Ends {
        let mut is_turned = false;
        while self.take(&["!", "-not"]) {
            is_turned = !is_turned;
        }
        let ends = self.primary(before);
        if is_turned { Ends { met: ends.unmet, unmet: ends.met } } else { ends }
    }

    fn primary(&mut self, before: bool) -> Ends {
        let same = Ends { met: before, unmet: before };
        let Some(word) = self.words.next() else { return same };
        let text = &*word.text;
        if text == "(" {
            if self.depth == DEEPEST {
                self.strays = true;
                return same;
            }
            self.depth += 1;
            let ends = self.list(before);
            self.depth -= 1;
            self.words.next();
            return ends;
        }
        self.strays |= self.deeds.contains(&text) && !before;
        self.acts |= HANDS.contains(&text) || PUTS.contains(&text);
        if STARTS.contains(&text) {
            self.pass_command();
            return same;
        }
        let value = match values(text) {
            0 => word,
            1 => self.words.next().unwrap_or(word),
            _ => self.words.nth(1).unwrap_or(word),
        };
        Ends { met: before || (self.counts)(text, value), unmet: before }
    }

    /// Passes over the words of a program that is started: a `+` ends them only behind `{}`.
    fn pass_command(&mut self) {
        let mut before = "";
        for word in self.words.by_ref() {
            if word.text == ";" || word.text == "+" && before == "{}" {
                return;
            }
            before = &word.text;
        }
    }
}

/// Returns how many words a test or an action takes.
fn values(word: &str) -> usize {
    match word {
        "-fprintf" => 2,
        "-amin" | "-anewer" | "-atime" | "-cmin" | "-cnewer" | "-context" | "-ctime" | "-D"
        | "-files0-from" | "-fls" | "-fprint" | "-fprint0" | "-fstype" | "-gid" | "-group"
        | "-ilname" | "-iname" | "-inum" | "-ipath" | "-iregex" | "-iwholename" | "-links"
        | "-lname" | "-maxdepth" | "-mindepth" | "-mmin" | "-mtime" | "-name" | "-path"
        | "-perm" | "-printf" | "-regex" | "-regextype" | "-samefile" | "-size" | "-type"
        | "-uid" | "-used" | "-user" | "-wholename" | "-xtype" => 1,
        _ => usize::from(word.starts_with("-newer")),
    }
}
