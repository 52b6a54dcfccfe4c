//! Everything at once: the project emptied or overwritten without being named, and what git keeps
//! written by programs that are not git.

use super::child::is_flag;
use super::feed::Spread;
use super::sought;
use super::verdict::{Axis, Reason};
use super::walk::Walk;
use crate::command::{Act, Arg, Certainty, Concern, Run};
use crate::jail::{Entry, Last, Place, Standing, is_any_name, is_kept_by_git};
use crate::name::Step;
use crate::text::{Span, byte};

/// Programs that make or mark a folder, and put nothing into it; git knows what it does.
const MAKE_FOLDERS: [&str; 8] =
    ["chgrp", "chmod", "chown", "git", "gmkdir", "mkdir", "mkfifo", "touch"];

/// Programs whose acts name every file that they write in a folder.
const NAME_FILES: [&str; 7] = ["cp", "gcp", "gmv", "install", "ln", "mv", "rsync"];

impl Walk<'_> {
    /// Judges what a tool does to all that lies in the project's root, where no act names it.
    #[inline(never)]
    pub(super) fn wholesale(&mut self, plain: &str, args: &[Arg<'_>], span: Span) {
        let has = |option: &str| args.iter().any(|arg| arg.text == option);
        let flags = |flag: char| {
            args.iter().any(|arg| {
                arg.text.starts_with('-') && !arg.text.starts_with("--") && arg.text.contains(flag)
            })
        };
        let lost = match plain {
            "find" | "gfind" => {
                if has("-delete") && (has("-L") || has("-follow")) {
                    self.deletes_behind_links(args, span);
                }
                let is_narrowed = || is_narrowed(args, &["-delete"]);
                has("-delete") && !is_narrowed() && self.starts_at_root(args)
            }
            "rsync" => {
                let deletes = args.iter().any(|arg| arg.text.starts_with("--del"));
                let tries = has("--dry-run") || flags('n');
                deletes && !tries && args.last().is_some_and(|last| self.is_root(last))
            }
            "rm" | "grm" | "unlink" | "shred" | "truncate" | "prename" | "trash" => {
                args.iter().any(|arg| self.is_everything(arg))
            }
            // These read patterns themselves.
            "rimraf" | "del" | "del-cli" => args.iter().any(|arg| {
                let certainty = Certainty::Pattern;
                self.is_everything(&Arg { certainty, ..arg.clone() })
            }),
            "mv" | "gmv" => {
                let leaves = args.last().is_some_and(|last| self.leaves_project(last));
                leaves && args.iter().any(|arg| self.is_everything(arg))
            }
            "virtualenv" => has("--clear") && self.names_root(args),
            "python" => {
                let module = args.windows(2).any(|pair| {
                    matches!(pair, [flag, module] if flag.text == "-m" && module.text == "venv")
                });
                module && has("--clear") && self.names_root(args)
            }
            "vite" => has("--emptyOutDir") && self.names_root(args),
            "gzip" | "bzip2" | "xz" | "pigz" => {
                let reads = has("--stdout") || flags('c') || flags('l') || flags('t');
                (flags('r') || has("--recursive")) && !reads && self.names_root(args)
            }
            "zstd" => has("--rm") && (flags('r') || has("--recursive")) && self.names_root(args),
            "chmod" => {
                let shut = args.iter().any(|arg| is_shut(&arg.text));
                (flags('R') || has("--recursive")) && shut && self.names_root(args)
            }
            _ => false,
        };
        if lost {
            self.raise(Concern::LosesWork, span);
        }
        let unpacks = match plain {
            "tar" | "bsdtar" | "gtar" => {
                // The first word may be a bundle of options without a dash.
                let bundle = args.first().filter(|first| !first.text.contains(['.', '/']));
                let has = |flag: char| {
                    flags(flag) || bundle.is_some_and(|bundle| bundle.text.contains(flag))
                };
                !has('O') && !has('t') && !has('c')
            }
            "unzip" => !flags('l') && !flags('p') && !flags('t') && !flags('v'),
            _ => false,
        };
        if unpacks {
            self.members(args);
        }
    }

    /// A search that follows links deletes what lies behind them, wherever that is. Links of which
    /// it finds the names themselves lead nowhere.
    fn deletes_behind_links(&mut self, args: &[Arg<'_>], span: Span) {
        let is_link = |test: &str, value: &Arg<'_>| test == "-type" && value.text == "l";
        if !sought::only(args, &["-delete"], is_link) {
            self.ask("pattern-may-climb", "deletes what links lead to", span);
        }
    }

    /// Judges what a tool writes, where it may be more than its acts name.
    pub(super) fn overwritten(&mut self, name: &str, args: &[Arg<'_>], acts: &[Act<'_>]) {
        let writes = acts.iter().any(|act| matches!(act, Act::Write(_)));
        if !writes || MAKE_FOLDERS.contains(&name) {
            return;
        }
        let replaces =
            args.iter().any(|arg| is_flag(&arg.text, 'T') || arg.text == "--no-target-directory");
        let named = NAME_FILES.contains(&name) && !replaces;
        for act in acts {
            if let Act::Write(path) = act {
                self.overwrites(path, if named { Reach::File } else { Reach::Folder });
            }
        }
    }

    /// Members of an archive that are named: they are written here, or below another folder.
    fn members(&mut self, args: &[Arg<'_>]) {
        for arg in args.iter().filter(|arg| !arg.text.starts_with('-')) {
            let text = arg.text.trim_start_matches('/').to_owned().into();
            let member = Arg { text, verbatim: None, ..arg.clone() };
            let is_kept =
                |place: &Place<'_>| place.protected().is_some() || is_kept_by_git(&place.path);
            if self.any_place(&member, Last::Follow, is_kept) {
                self.ask("protected-path", "unpacks what is protected", arg.span);
            }
        }
    }

    /// Leaves out acts that cannot be: a copy in a folder that is none, and a package's program
    /// that has the name of one of the machine's.
    #[inline(never)]
    pub(super) fn settle(&self, name: &str, args: &[Arg<'_>], acts: &mut Vec<Act<'_>>) {
        match name {
            "npx" | "bunx" | "pnpx" => acts.retain(|act| {
                let Act::Run(Run::Argv(argv)) = act else { return true };
                argv.first().is_none_or(|program| program.text != "init")
            }),
            "cp" | "gcp" | "mv" | "gmv" | "install" => {
                let Some(into) = args.last().filter(|into| self.is_no_folder(into)) else { return };
                let below = format!("{}/", into.text);
                acts.retain(|act| {
                    let Act::Write(path) = act else { return true };
                    path.span != into.span || !path.text.starts_with(&below)
                });
            }
            _ => {}
        }
    }

    /// Whether a name with an ending is no folder's: none is there, and nothing else in the text
    /// speaks of it.
    fn is_no_folder(&self, into: &Arg<'_>) -> bool {
        let name = into.text.rsplit('/').next().unwrap_or_default();
        let ending =
            name.rsplit_once('.').is_some_and(|(stem, end)| !stem.is_empty() && !end.is_empty());
        let once = self.written.matches(name).count() == 1;
        let absent = || {
            let is_there = |place: &Place<'_>| {
                !matches!(self.lookup.look(&place.path), Entry::Absent | Entry::File)
            };
            !self.any_place(into, Last::Follow, is_there)
        };
        ending && once && into.certainty == Certainty::Known && absent()
    }

    /// A stream that is written to a file from its start.
    pub(super) fn emptied(&mut self, file: &Arg<'_>) {
        if self.is_everything(file) {
            self.raise(Concern::LosesWork, file.span);
        }
    }

    /// Asks about a write to what git keeps, or into a folder that holds something protected.
    pub(super) fn overwrites(&mut self, path: &Arg<'_>, reach: Reach) {
        let mut found = None;
        let mut look = |place: &Place<'_>| {
            match place.standing {
                Standing::Inside | Standing::Granted => {}
                Standing::Root
                | Standing::Temp
                | Standing::Device
                | Standing::Outside(_)
                | Standing::Unknowable(_) => return,
            }
            if is_kept_by_git(&place.path) {
                found = Some(("loses-work", "writes a part of the repository itself"));
            } else if reach == Reach::Folder
                && path.certainty == Certainty::Known
                && place.holds_protected().is_some()
            {
                found =
                    Some(("holds-protected", "writes into a folder that holds what is protected"));
            }
        };
        for cwd in self.scope.cwds() {
            self.first_at(path, cwd, Last::Follow, &mut look);
        }
        let Some((code, message)) = found else { return };
        self.report(Reason {
            answer: self.asking(),
            code,
            axis: Axis::Path,
            message: message.to_owned(),
            span: path.span,
            origin: None,
            hint: Some("use git's own commands, or name the files".into()),
        });
    }

    /// Whether a pattern matches all that lies in the project's root.
    pub(super) fn is_everything(&self, path: &Arg<'_>) -> bool {
        path.certainty == Certainty::Pattern
            && path.text.contains('*')
            && !self.is_part(path)
            && self.any_place(path, Last::Keep, |place| self.empties(&place.path))
    }

    /// Whether a word stands for a part of the project that a search found.
    pub(super) fn is_part(&self, word: &Arg<'_>) -> bool {
        self.fed.as_ref().is_some_and(|fed| fed.is_part(&word.text))
    }

    /// Whether what a search finds for the programs it starts is a part of the project.
    pub(super) fn takes_part(&self, args: &[Arg<'_>]) -> bool {
        is_narrowed(args, &sought::STARTS) || !self.starts_at_root(args)
    }

    /// Returns how much of the project the names are that a command prints.
    pub(super) fn listed_of(&self, name: &str, args: &[Arg<'_>]) -> Spread {
        match name {
            "find" | "gfind" => {
                const PRINTS: [&str; 2] = ["-print", "-print0"];
                if is_narrowed(args, &PRINTS) { Spread::Part } else { Spread::Whole }
            }
            // These hand on what they are given, or less, unless they look elsewhere.
            "grep" | "head" | "sort" | "tail" | "uniq" if reads_input(name, args) => self.listed,
            _ => Spread::Whole,
        }
    }

    /// Whether a pattern, made absolute, matches all that lies in the project's root.
    pub(super) fn empties(&self, path: &str) -> bool {
        self.judge.ground().empties(path)
    }

    fn is_root(&self, path: &Arg<'_>) -> bool {
        self.any_place(path, Last::Follow, |place| place.standing == Standing::Root)
    }

    fn leaves_project(&self, path: &Arg<'_>) -> bool {
        self.any_place(path, Last::Follow, |place| place.standing == Standing::Temp)
    }

    /// Whether an operand, or the value in a word of an option, is the project's root.
    fn names_root(&self, args: &[Arg<'_>]) -> bool {
        args.iter().any(|arg| match (arg.text.starts_with('-'), arg.text.find('=')) {
            (true, Some(equals)) => arg.tail(equals + 1).is_some_and(|value| self.is_root(&value)),
            (true, None) => false,
            (false, _) => !arg.text.is_empty() && self.is_root(arg),
        })
    }

    fn starts_at_root(&self, args: &[Arg<'_>]) -> bool {
        let mut starts = sought::starts(args).peekable();
        if starts.peek().is_none() {
            return self.is_root(&Arg::known(".", Span::default()));
        }
        starts.any(|start| self.is_root(start) || self.is_everything(start))
    }
}

/// What a word says about where a program writes.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Reach {
    /// The file of that name.
    File,
    /// That, or anything below it.
    Folder,
}

/// `000`, `a-rwx`: modes that shut their owner out.
fn is_shut(mode: &str) -> bool {
    mode.len() >= 3 && mode.bytes().all(|byte| byte == b'0')
        || matches!(mode, "a-rwx" | "a=" | "ugo-rwx" | "u-rwx")
}

/// Whether a search does something only with what has a certain name, or with nothing in it.
fn is_narrowed(args: &[Arg<'_>], deeds: &[&str]) -> bool {
    sought::only(args, deeds, |test, value| {
        test == "-empty" || tests_name(test) && is_certain(&sought::pattern(test, &value.text))
    })
}

/// Whether a pattern of names in a search is not met by all of them, nor by git's folder.
fn is_certain(value: &str) -> bool {
    // Unlike a shell's, a wildcard of a search may be a dot.
    let may_be_git = |name| Step::matches(name, ".git") || Step::matches(name, "_git");
    let mut is_any = true;
    let mut rest = Some(value);
    while let Some(names) = rest {
        let (name, behind) =
            byte::split_once(names, b'/').map_or((names, None), |(name, rest)| (name, Some(rest)));
        if name != "." && !is_any_name(name) {
            if may_be_git(name) {
                return false;
            }
            is_any = false;
        }
        rest = behind;
    }
    let names_git = byte::has(value, b'g') && value.contains(".git");
    !is_any && !names_git
}

/// Tells the tests of a search that ask for a name.
fn tests_name(word: &str) -> bool {
    matches!(
        word,
        "-name"
            | "-iname"
            | "-path"
            | "-ipath"
            | "-wholename"
            | "-iwholename"
            | "-regex"
            | "-iregex"
    )
}

/// Whether a filter is given no file and no folder to read.
fn reads_input(name: &str, args: &[Arg<'_>]) -> bool {
    let is_operand = |arg: &&Arg<'_>| {
        !arg.text.starts_with('-') && !arg.text.bytes().all(|byte| byte.is_ascii_digit())
    };
    let recurses = |arg: &Arg<'_>| {
        ["--rec", "--der", "--di"].iter().any(|start| arg.text.starts_with(start)) || {
            arg.text.starts_with('-')
                && !arg.text.starts_with("--")
                && arg.text.contains(['r', 'R'])
        }
    };
    let own = usize::from(name == "grep");
    args.iter().filter(is_operand).count() <= own && !(own > 0 && args.iter().any(recurses))
}
