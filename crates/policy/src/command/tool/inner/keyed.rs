//! Files that stand in a word behind a mark: `key=file`, `kind:file`, `a:b`.

use super::general;
use super::head;
use crate::command::{Act, Arg, Concern, HOLE, Run};

/// `key=file`, `kind:file`: files that are written.
pub(super) fn written<'t>(arg: &Arg<'t>, acts: &mut Vec<Act<'t>>) {
    each(arg, |_, file| acts.push(Act::Write(file)));
}

/// The same of files that are read.
pub(super) fn read<'t>(arg: &Arg<'t>, acts: &mut Vec<Act<'t>>) {
    each(arg, |_, file| acts.push(Act::Read(file)));
}

/// `key=value` of a builder: keys say what is written.
pub(super) fn property<'t>(arg: &Arg<'t>, acts: &mut Vec<Act<'t>>) {
    each(arg, |key, file| {
        acts.push(if is_place(key) { Act::Write(file) } else { Act::Read(file) });
    });
}

/// `/p:key=value`, `/bl:file`: options with a slash in place of a dash, or a file.
pub(super) fn switch<'t>(arg: &Arg<'t>, acts: &mut Vec<Act<'t>>) {
    let name = arg.text.strip_prefix('/').and_then(|rest| rest.split_once(':'));
    match name.map(|(name, _)| name).filter(|name| !name.contains('/')) {
        Some(name) if name.eq_ignore_ascii_case("p") || name.eq_ignore_ascii_case("property") => {
            property(arg, acts);
        }
        Some(_) => written(arg, acts),
        None => general::guess(arg, acts),
    }
}

/// `from:to`, or one of them alone.
pub(super) fn pair<'t>(arg: &Arg<'t>, acts: &mut Vec<Act<'t>>) {
    match arg.text.find(':').filter(|_| !general::is_url(&arg.text)) {
        Some(colon) => {
            acts.extend(head(arg, colon).map(Act::Read));
            acts.extend(arg.tail(colon + 1).map(Act::Write));
        }
        None => general::guess(arg, acts),
    }
}

/// Filters of a media tool, some of which write down what they find.
pub(super) fn media_filter<'t>(arg: &Arg<'t>, acts: &mut Vec<Act<'t>>) {
    each(arg, |key, file| {
        let writes = matches!(key, "file" | "f" | "stats_file" | "log_path" | "result");
        acts.push(if writes { Act::Write(file) } else { Act::Read(file) });
    });
}

/// A file that a media tool writes, or several: `[f=mp4]a|[f=flv]b`, `file:a`.
pub(super) fn media_target<'t>(arg: &Arg<'t>, acts: &mut Vec<Act<'t>>) {
    let mut at = 0;
    for part in arg.text.split('|') {
        let options = part.strip_prefix('[').and_then(|_| part.find(']')).map_or(0, |end| end + 1);
        let name = part.get(options..).unwrap_or_default();
        let skip = options + if name.starts_with("file:") { 5 } else { 0 };
        let file = head(arg, at + part.len()).and_then(|head| head.tail(at + skip));
        if let Some(file) = file.filter(|file| !matches!(&*file.text, "" | "-")) {
            match general::is_url(&file.text) {
                true => general::connect(&file, acts),
                false => acts.push(Act::Write(file)),
            }
        }
        at += part.len() + 1;
    }
}

/// An expression that says what files are called: the texts in it that lead elsewhere.
pub(super) fn split_names<'t>(arg: &Arg<'t>, acts: &mut Vec<Act<'t>>) {
    for text in arg.text.split(['"', '\'']).skip(1).step_by(2) {
        if text.starts_with(['/', '~']) || text.contains("..") {
            acts.push(Act::Write(named(text.to_owned(), arg)));
        }
    }
}

/// A program of jq: modules and data that it takes from where it says.
pub(super) fn query<'t>(arg: &Arg<'t>, acts: &mut Vec<Act<'t>>) {
    if !arg.text.contains("import") && !arg.text.contains("include") {
        return;
    }
    // A name and a folder are texts as they stand: nothing in them is computed.
    let texts = |word: &'static str| {
        arg.text.match_indices(word).filter_map(move |(at, _)| {
            let is_key = arg.text.get(..at)?.ends_with(|c: char| c == '.' || c.is_alphanumeric());
            let rest = arg.text.get(at + word.len()..)?.trim_start();
            let rest = rest.strip_prefix("\":").unwrap_or(rest).trim_start_matches([':', ' ']);
            let (text, _) = rest.strip_prefix('"').filter(|_| !is_key)?.split_once('"')?;
            Some(text)
        })
    };
    for name in texts("import").chain(texts("include")) {
        let folders = texts("search").map(|folder| format!("{folder}/{name}"));
        for path in folders.chain([name.to_owned()]) {
            let spelled = ["jq", "json"].map(|end| named(format!("{path}.{end}"), arg));
            acts.extend(spelled.map(Act::Read));
        }
        if arg.text.contains('\\') {
            acts.push(Act::Raise(Concern::Unclear, arg.span));
        }
    }
}

/// A folder of modules: what is taken from it, a program says by a name alone.
pub(super) fn library<'t>(arg: &Arg<'t>, acts: &mut Vec<Act<'t>>) {
    if arg.text.starts_with(['/', '~']) || arg.text.contains("..") {
        acts.push(Act::Raise(Concern::Unclear, arg.span));
    }
    acts.push(Act::Read(arg.clone()));
}

/// `merge file`, `. file` among the filters of rsync.
pub(super) fn rsync_filter<'t>(arg: &Arg<'t>, acts: &mut Vec<Act<'t>>) {
    let rule = arg.text.trim_start();
    if rule.starts_with(['.', ':']) || rule.starts_with("merge") || rule.starts_with("dir-merge") {
        let name = arg.text.len() - rule.len() + rule.find([' ', '_']).map_or(1, |at| at + 1);
        acts.extend(arg.tail(name).map(Act::Read));
    }
}

/// `#(command)` in a line that tmux shows.
pub(super) fn status<'t>(arg: &Arg<'t>, acts: &mut Vec<Act<'t>>) {
    if let Some(text) = arg.text.find("#(").and_then(|at| arg.tail(at + 2)) {
        let end = text.text.find(')').unwrap_or(text.text.len());
        acts.extend(head(&text, end).map(|text| Act::Run(Run::Shell(text))));
    }
}

/// Calls back with every path that stands behind a mark, and the key in front of it.
fn each<'t>(arg: &Arg<'t>, mut found: impl FnMut(&str, Arg<'t>)) {
    const MARKS: [char; 6] = ['=', ':', ',', ';', '|', ']'];
    for (at, _) in arg.text.match_indices(MARKS) {
        let rest = arg.text.get(at + 1..).unwrap_or_default();
        let end = rest.find([',', ';', '|']).unwrap_or(rest.len());
        let file = rest.get(..end).unwrap_or_default();
        let leads = file.starts_with(['/', '~', '.']) || file.starts_with(HOLE);
        if !leads || file.starts_with("//") {
            continue;
        }
        let before = arg.text.get(..at).unwrap_or_default();
        let key = before.rsplit(MARKS).next().unwrap_or_default();
        if let Some(file) = arg.tail(at + 1).and_then(|tail| head(&tail, end)) {
            found(key, file);
        }
    }
}

/// Tells properties whose value is written by their names: `outputDirectory`, `OutDir`, `cache_dir`.
fn is_place(key: &str) -> bool {
    const WORDS: [&str; 12] = [
        "artifactspath",
        "cache",
        "dest",
        "documentationfile",
        "dump",
        "extensionspath",
        "log_file",
        "logfile",
        "out",
        "packagespath",
        "publish",
        "report",
    ];
    let key = key.to_ascii_lowercase();
    let last = key.rsplit('.').next().unwrap_or_default();
    WORDS.iter().any(|word| last.contains(word))
        || matches!(last, "tmpdir" | "builddirectory" | "resultsdirectory")
        || key.ends_with("repo.local")
        || key.ends_with("build.directory")
}

fn named<'t>(text: String, arg: &Arg<'t>) -> Arg<'t> {
    Arg { text: text.into(), verbatim: None, ..arg.clone() }
}
