//! Commands that print what files, the repository or the environment hold, though they are not given
//! the files to print.

use super::kept::{is_filter, is_reader};
use crate::shell::Word;
use crate::text::byte;

/// Whether a command prints what should not leave: what its words say, as far as they are settled.
pub(super) fn tells(name: &str, args: &[Word<'_>], redirected: bool) -> bool {
    let words = || args.iter().map(|word| word.settled().unwrap_or_default());
    let is_bare = || !words().any(|word| !word.starts_with('-'));
    match name {
        "git" => repository(&words().collect::<Vec<_>>()),
        "env" => {
            let is_own = |word: &&str| word.starts_with('-') || word.contains('=');
            words().all(|word| is_own(&word)) || launches(args)
        }
        "printenv" | "set" => is_bare() && words().all(|word| !word.starts_with("-o")),
        "declare" | "export" | "readonly" | "typeset" => is_bare(),
        "compgen" => words().any(|word| word == "-v" || word == "-e"),
        "find" | "xargs" | "busybox" | "command" | "timeout" | "nice" | "nohup" | "sudo"
        | "stdbuf" | "toybox" => launches(args),
        _ if is_interpreter(name) => evaluates(name, args, redirected),
        _ => false,
    }
}

/// Whether a command that a launcher starts prints files.
#[cold]
fn launches(args: &[Word<'_>]) -> bool {
    let mut names = args.iter().take(args.len().saturating_sub(1));
    let prints = |word: &Word<'_>| {
        let name = word.settled().map(|path| byte::behind_last(path, b'/'));
        // Most words of a launcher are its options.
        name.is_some_and(|name| !name.starts_with('-') && (is_reader(name) || is_filter(name)))
    };
    // `xargs cat`: what it prints comes in.
    names.any(prints) || args.last().is_some_and(|last| args.len() == 1 && prints(last))
}

/// Whether `git` prints contents, and not names, numbers and messages alone.
#[cold]
fn repository(words: &[&str]) -> bool {
    let mut rest = words.iter();
    let sub = loop {
        match rest.next() {
            Some(&("-C" | "-c" | "--git-dir" | "--work-tree" | "--namespace")) => {
                _ = rest.next();
            }
            Some(word) if word.starts_with('-') => {}
            Some(word) => break *word,
            None => return false,
        }
    };
    let options: Vec<&str> = rest.copied().collect();
    let has = |names: &[&str]| options.iter().any(|word| names.contains(word));
    let starts = |start: &str| options.iter().any(|word| word.starts_with(start));
    let patch = has(&["-p", "-u", "--patch", "--patch-with-stat", "--patch-with-raw", "-L"])
        || starts("-U")
        || starts("--unified")
        || starts("--word-diff")
        || starts("-L");
    let brief = has(&[
        "--name-only",
        "--name-status",
        "--no-patch",
        "--numstat",
        "--quiet",
        "--raw",
        "--shortstat",
        "--summary",
        "-q",
        "-s",
    ]) || starts("--stat")
        || starts("--dirstat");
    match sub {
        "show" => patch || !brief || options.iter().any(|word| is_object(word)),
        "diff" | "range-diff" => patch || !brief,
        "log" | "whatchanged" | "reflog" | "diff-tree" | "diff-index" | "diff-files" | "stash" => {
            patch
        }
        "cat-file" => !has(&["-t", "-s", "-e", "--batch-check"]),
        "grep" => !has(&[
            "-l",
            "-L",
            "-c",
            "-q",
            "--count",
            "--quiet",
            "--name-only",
            "--files-with-matches",
            "--files-without-match",
        ]),
        "config" => has(&["-l", "--list", "list"]),
        "archive" | "blame" | "annotate" | "bundle" | "credential" | "fast-export" => true,
        "format-patch" => has(&["--stdout"]),
        _ => false,
    }
}

/// `HEAD:file`
fn is_object(word: &str) -> bool {
    !word.starts_with('-') && word.contains(':')
}

fn is_interpreter(name: &str) -> bool {
    let bare = name.trim_end_matches(|c: char| c.is_ascii_digit() || c == '.');
    matches!(bare, "bun" | "deno" | "node" | "perl" | "php" | "python" | "pypy" | "ruby")
}

/// Whether code on the command line reads files or the environment.
#[cold]
fn evaluates(name: &str, args: &[Word<'_>], redirected: bool) -> bool {
    const READS: [&str; 10] = [
        "open(",
        "open ",
        "read",
        "File.",
        "IO.",
        "environ",
        "ENV",
        "process.env",
        "file_get_contents",
        "getenv()",
    ];
    let words: Vec<&str> = args.iter().map(|word| word.settled().unwrap_or_default()).collect();
    // `-c code`, `-ne code`; `perl -pe code file` prints the file.
    let given = |word: &&str| {
        matches!(*word, "eval" | "--eval" | "--print" | "-c" | "-e" | "-E" | "-p" | "-r" | "-pe")
            || word.starts_with('-') && !word.starts_with("--") && word.ends_with(['c', 'e', 'E'])
    };
    let Some(at) = words.iter().position(given) else { return false };
    let loops = matches!(name, "perl" | "ruby")
        && words.iter().any(|word| {
            word.starts_with('-') && !word.starts_with("--") && word.contains(['n', 'p'])
        });
    let behind = words.get(at + 1..).unwrap_or_default();
    let code = behind.first().copied().unwrap_or_default();
    READS.iter().any(|word| code.contains(word)) || loops && (redirected || behind.len() > 1)
}
