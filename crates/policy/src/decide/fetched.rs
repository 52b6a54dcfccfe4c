//! Folders and files that a command brings in beside what it is told to write, and text that it
//! puts into scripts.

use super::disk::Source;
use super::walk::Walk;
use crate::command::{Arg, Certainty};
use crate::shell;

/// Endings of archives.
const ARCHIVES: [&str; 14] = [
    ".tar.gz", ".tar.xz", ".tar.bz2", ".tar.zst", ".tgz", ".txz", ".tbz2", ".tbz", ".tar", ".zip",
    ".7z", ".rar", ".jar", ".whl",
];

/// Words in a source text that start programs or delete files.
const STARTS: [&str; 12] = [
    "system(",
    "popen(",
    "execl",
    "execv",
    "posix_spawn",
    "unlink(",
    "remove(",
    "rmdir(",
    "Command::new",
    "remove_dir_all",
    "os/exec",
    "fork(",
];

impl Walk<'_> {
    /// Notes what a command brings in from elsewhere or makes of what the text wrote.
    #[inline(never)]
    pub(super) fn note_fetched(&mut self, name: &str, args: &[Arg<'_>]) {
        match name {
            "git" => self.cloned(args, 1),
            "gh" | "glab" | "hub" => {
                let words: Vec<&str> = args.iter().map(|arg| &*arg.text).take(2).collect();
                match *words {
                    ["repo", "clone"] => self.cloned(args, 2),
                    ["clone", _] => self.cloned(args, 1),
                    ["release" | "run" | "gist", "download" | "clone"] => self.downloaded(args),
                    _ => {}
                }
            }
            "aws" | "gsutil" | "gcloud" | "rclone" | "mc" | "s3cmd" => self.copied(args),
            "uudecode" | "unshar" if !has(args, &["-o", "--output-file"]) => {
                self.fill(".", Source::Elsewhere);
            }
            "tar" | "bsdtar" | "gtar" | "unzip" | "7z" | "7za" | "unrar" => self.unpacked(args),
            "cc" | "gcc" | "g++" | "c++" | "clang" | "clang++" | "tcc" | "rustc" | "gfortran" => {
                self.compiled(name, args);
            }
            "sed" | "gsed" if edits(args, &["-i", "-I", "--in-place"]) => self.edited(args),
            "perl" if args.iter().any(|arg| is_bundle(&arg.text, 'i')) => self.edited(args),
            _ => {}
        }
    }

    /// `git clone URL [FOLDER]`
    fn cloned(&mut self, args: &[Arg<'_>], skip: usize) {
        let Some(at) = args.iter().position(|arg| arg.text == "clone") else { return };
        if at + 1 < skip {
            return;
        }
        let rest = args.get(at + 1..).unwrap_or_default();
        let address = |arg: &Arg<'_>| !arg.text.starts_with('-') && arg.text.contains(['/', ':']);
        let Some(from) = rest.iter().position(address) else { return };
        let folder = rest.get(from + 1).filter(|arg| !arg.text.starts_with('-'));
        let folder = match (folder, rest.get(from)) {
            (Some(folder), _) => folder.text.to_string(),
            (None, Some(url)) => {
                let name = url.text.trim_end_matches('/');
                let name = name.strip_suffix(".git").unwrap_or(name);
                name.rsplit(['/', ':']).next().unwrap_or_default().to_owned()
            }
            (None, None) => return,
        };
        self.fill(&folder, Source::Unpacked);
    }

    /// `gh release download -p FILE`
    fn downloaded(&mut self, args: &[Arg<'_>]) {
        let behind = |flags: &[&str]| {
            args.windows(2).find_map(|pair| match pair {
                [flag, value] if flags.contains(&&*flag.text) => Some(value.text.to_string()),
                _ => None,
            })
        };
        let folder = behind(&["-D", "--dir", "-O", "--output"]);
        let file = behind(&["-p", "--pattern"]).filter(|name| !name.contains(['*', '?', '[']));
        let place = match (folder, file) {
            (Some(folder), Some(file)) => format!("{folder}/{file}"),
            (Some(place), None) | (None, Some(place)) => place,
            (None, None) => ".".to_owned(),
        };
        self.fill(&place, Source::Elsewhere);
    }

    /// `aws s3 cp s3://bucket/file FOLDER`
    fn copied(&mut self, args: &[Arg<'_>]) {
        let operands: Vec<&Arg<'_>> =
            args.iter().filter(|arg| !arg.text.starts_with('-')).collect();
        let [.., from, to] = *operands else { return };
        let is_remote = |arg: &Arg<'_>| arg.text.contains(':');
        if !is_remote(from) || is_remote(to) {
            return;
        }
        let name = from.text.trim_end_matches('/').rsplit(['/', ':']).next().unwrap_or_default();
        let whole = operands.iter().any(|arg| matches!(&*arg.text, "sync" | "mirror" | "copy"));
        let into = matches!(&*to.text, "." | "..") || to.text.ends_with('/');
        if into && !whole {
            self.fill(&format!("{}/{name}", to.text.trim_end_matches('/')), Source::Elsewhere);
        } else {
            self.fill(&to.text, Source::Elsewhere);
        }
    }

    /// What an archive of the project holds lies in a folder of its name.
    fn unpacked(&mut self, args: &[Arg<'_>]) {
        for arg in args {
            let name = arg.text.rsplit('/').next().unwrap_or_default();
            let stem = ARCHIVES.iter().find_map(|ending| name.strip_suffix(ending));
            if let Some(stem) = stem.filter(|stem| !stem.is_empty()) {
                self.fill(stem, Source::Unpacked);
            }
        }
        let behind = args.windows(2).filter_map(|pair| match pair {
            [flag, folder] if matches!(&*flag.text, "-C" | "-d" | "--directory") => Some(folder),
            _ => None,
        });
        for folder in behind.filter(|folder| !folder.text.trim_matches(['.', '/']).is_empty()) {
            self.fill(&folder.text, Source::Unpacked);
        }
    }

    /// What a compiler makes of its input, or of what the text wrote or took, is that.
    fn compiled(&mut self, name: &str, args: &[Arg<'_>]) {
        let mut from = args.iter().any(|arg| arg.text == "-").then_some(Source::Running);
        let mut stems = vec!["a.out".to_owned()];
        for arg in args.iter().filter(|arg| !arg.text.starts_with('-')) {
            for path in self.places(&arg.text) {
                let starts = |text: &String| STARTS.iter().any(|word| text.contains(word));
                from = from.or(self.disk.foreign(&path));
                if self.disk.written(&path).iter().any(starts) {
                    from = from.or(Some(Source::Running));
                }
            }
            if let ("rustc", Some((stem, "rs"))) = (name, arg.text.rsplit_once('.')) {
                stems.push(stem.rsplit('/').next().unwrap_or_default().to_owned());
            }
        }
        let Some(source) = from else { return };
        let mut rest = args.iter();
        while let Some(arg) = rest.next() {
            match arg.text.strip_prefix("-o") {
                Some("") => stems.extend(rest.next().map(|file| file.text.to_string())),
                Some(file) => stems.push(file.to_owned()),
                None => {}
            }
        }
        for stem in stems {
            self.fill(&stem, source);
        }
    }

    /// Keeps the text that an editor of streams puts into a script, as one that the script holds.
    fn edited(&mut self, args: &[Arg<'_>]) {
        let texts: Vec<String> = args
            .iter()
            .filter(|arg| arg.certainty == Certainty::Known)
            .flat_map(|arg| put_in(&arg.text))
            .filter(|text| text.contains(' ') && shell::parse(text).is_ok())
            .collect();
        let scripts = args.iter().filter(|arg| {
            let name = arg.text.rsplit('/').next().unwrap_or_default();
            let plain =
                name.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"._-".contains(&byte));
            let ending = name.rsplit_once('.').map_or("", |(_, ending)| ending);
            plain && !name.starts_with('-') && matches!(ending, "" | "sh" | "bash" | "zsh")
        });
        for path in scripts.flat_map(|file| self.places(&file.text)).collect::<Vec<_>>() {
            for text in &texts {
                self.disk.write(path.clone(), text.clone());
            }
        }
    }

    fn fill(&mut self, path: &str, source: Source) {
        for path in self.places(path) {
            self.disk.take(path, source);
        }
    }
}

/// Returns the text that commands of `sed` and substitutions of Perl put in.
fn put_in(script: &str) -> Vec<String> {
    let mut found = Vec::new();
    for command in script.lines() {
        let command = command.trim_start();
        // `1i text`, `$a text`, `/x/c\ text`
        let bare = match command.strip_prefix('/').and_then(|rest| rest.split_once('/')) {
            Some((_, rest)) => rest,
            None => command.trim_start_matches(|c: char| c.is_ascii_digit() || c == '$'),
        };
        if bare.len() < command.len()
            && let Some(text) = bare.trim_start().strip_prefix(['a', 'c', 'i'])
        {
            found.push(text.trim_start_matches(['\\', ' ', '\t']).replace("\\n", "\n"));
        }
        let Some(at) = command.find('s') else { continue };
        let mut rest = command.get(at + 1..).unwrap_or_default().chars();
        let Some(mark) = rest.next().filter(char::is_ascii_punctuation) else { continue };
        let mut parts = vec![String::new()];
        let mut escaped = false;
        for c in rest {
            match c {
                c if escaped => {
                    escaped = false;
                    if let Some(part) = parts.last_mut() {
                        part.push(if c == 'n' { '\n' } else { c });
                    }
                }
                '\\' => escaped = true,
                c if c == mark => parts.push(String::new()),
                c => parts.iter_mut().last().into_iter().for_each(|part| part.push(c)),
            }
        }
        found.extend(parts.into_iter().nth(1));
    }
    found
}

fn has(args: &[Arg<'_>], flags: &[&str]) -> bool {
    args.iter().any(|arg| flags.contains(&&*arg.text))
}

fn edits(args: &[Arg<'_>], flags: &[&str]) -> bool {
    args.iter().any(|arg| flags.iter().any(|flag| arg.text.starts_with(flag)))
        || args.iter().any(|arg| is_bundle(&arg.text, 'i'))
}

/// Whether a word is a bundle of short options with this one among them.
fn is_bundle(text: &str, letter: char) -> bool {
    text.strip_prefix('-').is_some_and(|letters| {
        !letters.starts_with('-')
            && letters.split(['.', '=']).next().is_some_and(|it| it.contains(letter))
    })
}
