//! One path in the many ways in which a tool may read it.

use std::borrow::Cow;
use std::collections::BTreeSet;

use crate::jail::{Astray, WindowsRoot, behind_drive, is_on_windows};
use crate::shell::check_characters;

/// Why a text is no path that can be judged.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Flaw {
    /// There is nothing in it.
    Blank,
    /// It contains a NUL byte.
    Nul,
    /// It leads to another machine, or to a drive of Windows.
    Foreign,
    /// It starts with a variable that nobody here knows.
    Variable,
    /// It may be read in too many ways.
    Excess,
    /// A name in it stands for another file, or for a device.
    Alias,
    /// A character in it cannot be seen.
    Invisible,
}

impl Flaw {
    /// Returns a name that never changes.
    pub(super) fn code(self) -> &'static str {
        match self {
            Self::Blank => "path-blank",
            Self::Nul => "path-nul",
            Self::Foreign => "path-foreign",
            Self::Variable => "path-unknown",
            Self::Excess => "path-too-many",
            Self::Alias => "path-alias",
            Self::Invisible => "invisible-character",
        }
    }

    /// Returns what is wrong, to be put after the path.
    pub(super) fn message(self) -> &'static str {
        match self {
            Self::Blank => "is blank",
            Self::Nul => "contains a NUL byte",
            Self::Foreign => "lies on another machine or drive",
            Self::Variable => "starts with a variable that is only known at run time",
            Self::Excess => "holds too many paths",
            Self::Alias => "holds a name that Windows takes for another one",
            Self::Invisible => "contains a character that cannot be seen",
        }
    }
}

/// How many paths a text holds.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Count {
    One,
    /// Perhaps several, with commas between them.
    Several,
}

/// Returns every path that a tool may take `text` for, and what is wrong with it. All of them are
/// judged, and one outside is enough: nobody knows which reading the tool has.
pub(super) fn readings<'t>(
    text: &'t str,
    count: Count,
    windows: Option<&WindowsRoot>,
) -> (Vec<Cow<'t, str>>, Option<Flaw>) {
    let system = if windows.is_some() { System::Windows } else { System::Unix };
    let (paths, known) = (Vec::with_capacity(1), BTreeSet::new());
    let mut found = Readings { paths, known, visited: 0, flaw: None, system };
    if is_plain(text) && (count == Count::One || !text.contains(',')) {
        found.paths.push(Cow::Borrowed(text));
    } else {
        found.add(Cow::Borrowed(text), count, 0);
        let seen = |c: char| matches!(c, '\0' | '\t' | '\n' | '\r');
        if !text.is_ascii() && check_characters(&text.replace(seen, " ")).is_err() {
            found.flaw = worse(found.flaw, Flaw::Invisible);
        }
    }
    let Some(root) = windows else { return (found.paths, found.flaw) };
    let mut placed = Vec::with_capacity(found.paths.len());
    for path in &found.paths {
        match root.place(path) {
            Ok(path) if path.is_empty() => placed.push(Cow::Borrowed(".")),
            Ok(path) => placed.push(Cow::Owned(path)),
            Err(Astray::Elsewhere) => found.flaw = worse(found.flaw, Flaw::Foreign),
            Err(Astray::Alias) => found.flaw = worse(found.flaw, Flaw::Alias),
        }
    }
    (placed, found.flaw)
}

/// Returns whether a value that may be something else is a path: it is neither an address, nor an
/// image, nor code.
pub(super) fn looks_like_path(text: &str) -> bool {
    let text = text.trim();
    if is_uri(text, "file") {
        return true;
    }
    let climbs = || text.split(['/', '\\']).any(|name| name == "..");
    let scheme = text.split_once(':').map(|(scheme, _)| scheme).unwrap_or_default();
    let letters = |scheme: &str| {
        scheme.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"+-.".contains(&byte))
    };
    if scheme.len() > 1 && letters(scheme) {
        // A tool that takes it for a path all the same must not get out by it.
        return climbs() && !text.contains('\n');
    }
    if text.starts_with("/9j/") && text.len() > 100 && !text.contains('.') {
        return false; // a JPEG image in base64
    }
    let starts = text.starts_with(['/', '\\', '~', '$', '%']) || is_drive(text);
    let is_comment = text.starts_with("//") || text.starts_with("/*");
    if text.contains('\n') {
        let first = text.lines().next().unwrap_or_default();
        return starts && !is_comment && !first.contains([' ', '\t']);
    }
    let is_code = text.contains([';', '{', '}', '(', ')', '=', '<', '>', '"']);
    if is_code { starts && !is_comment || climbs() } else { !text.is_empty() }
}

struct Readings<'t> {
    paths: Vec<Cow<'t, str>>,
    /// The same again, to be found fast.
    known: BTreeSet<Cow<'t, str>>,
    /// How many texts were looked at, all alike or not.
    visited: usize,
    flaw: Option<Flaw>,
    system: System,
}

/// Most paths in one text.
const MOST: usize = 1_000;
/// Longest text that is taken for paths, in bytes.
const LONGEST: usize = 256 << 10;

/// Where the project lies.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum System {
    Unix,
    Windows,
}

impl<'t> Readings<'t> {
    fn add(&mut self, text: Cow<'t, str>, count: Count, depth: usize) {
        // Each level takes something off the text; this only bounds how much is decoded again.
        const DEEPEST: usize = 8;
        self.visited += 1;
        if self.paths.len() > MOST || self.visited > 4 * MOST || text.len() > LONGEST {
            self.flaw = worse(self.flaw, Flaw::Excess);
            return;
        }
        if text.trim().is_empty() {
            self.flaw = self.flaw.or(Some(Flaw::Blank));
            return;
        }
        if self.known.contains(&text) || depth > DEEPEST {
            return;
        }
        for other in others(&text, count, self.system) {
            match other {
                Ok(other) => self.add(Cow::Owned(other), Count::One, depth + 1),
                Err(flaw) => self.flaw = worse(self.flaw, flaw),
            }
        }
        if !text.contains('\0') {
            self.known.insert(text.clone());
            self.paths.push(text);
        }
    }
}

/// Of two flaws the one that fewer let pass; of equals the first.
fn worse(known: Option<Flaw>, flaw: Flaw) -> Option<Flaw> {
    let rank = |flaw| match flaw {
        Flaw::Blank | Flaw::Nul => 0,
        Flaw::Foreign | Flaw::Variable => 1,
        // Hidden files have such names as well.
        Flaw::Alias | Flaw::Invisible => 2,
        // Nobody knows what else is there.
        Flaw::Excess => 3,
    };
    known.filter(|known| rank(*known) >= rank(flaw)).or(Some(flaw))
}

/// Returns what else a text may mean.
fn others(text: &str, count: Count, system: System) -> Vec<Result<String, Flaw>> {
    let mut out = Vec::new();
    let trimmed = text.trim();
    if trimmed.len() != text.len() {
        out.push(Ok(trimmed.to_owned()));
    }
    if let Some((before, _)) = text.split_once('\0') {
        out.push(Err(Flaw::Nul));
        // What a program in C sees.
        if !before.is_empty() {
            out.push(Ok(before.to_owned()));
        }
    }
    let unquoted = ['"', '\'', '`']
        .into_iter()
        .find_map(|quote| trimmed.strip_prefix(quote).and_then(|rest| rest.strip_suffix(quote)));
    out.extend(unquoted.map(|inner| Ok(inner.to_owned())));
    if trimmed.contains('\n') {
        out.extend(pieces(trimmed, '\n'));
    }
    if count == Count::Several && trimmed.contains(',') {
        out.extend(pieces(trimmed, ','));
    }
    if is_uri(trimmed, "file") {
        uri(trimmed, &mut out);
    } else if trimmed.contains('%') {
        out.extend(decoded(trimmed).map(Ok));
    }
    if system == System::Unix {
        if is_drive(trimmed) || is_on_windows(trimmed) {
            out.push(Err(Flaw::Foreign));
        }
        if trimmed.contains('\\') {
            out.push(Ok(trimmed.replace('\\', "/")));
        }
    }
    out.extend(variable(trimmed));
    out
}

fn pieces(text: &str, between: char) -> impl Iterator<Item = Result<String, Flaw>> {
    // More than are visited, so that whoever visits them notices.
    let pieces = text.split(between).map(str::trim).filter(|piece| !piece.is_empty());
    pieces.take(4 * MOST + 1).map(|piece| Ok(piece.to_owned()))
}

/// Reads `file:` URIs: with a host or without, with a query or without, decoded.
fn uri(text: &str, out: &mut Vec<Result<String, Flaw>>) {
    let rest = text.get("file:".len()..).unwrap_or_default();
    let path = match rest.strip_prefix("//").or_else(|| rest.strip_prefix("\\\\")) {
        None => rest,
        Some(rest) => {
            let start = rest.find(['/', '\\']).unwrap_or(rest.len());
            let (host, path) = rest.split_at(start);
            if !host.is_empty() && !host.eq_ignore_ascii_case("localhost") {
                // `file://~/x` and `file://src/x` are written by those who mean a path.
                out.push(Ok(rest.to_owned()));
                out.push(Err(Flaw::Foreign));
            }
            path
        }
    };
    // `/C:/x` is a drive.
    let drive = path.strip_prefix('/').filter(|path| is_drive(path));
    out.extend(drive.map(|drive| Ok(drive.to_owned())));
    out.push(Ok(path.to_owned()));
    if let Some(end) = path.find(['?', '#']) {
        out.extend(path.get(..end).map(|path| Ok(path.to_owned())));
    }
}

/// Undoes percent-encoding; none if there is none.
fn decoded(text: &str) -> Option<String> {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    let mut changed = false;
    while let Some((first, after)) = rest.split_first() {
        let hex = after.get(..2).and_then(|digits| std::str::from_utf8(digits).ok());
        let code = hex.filter(|_| *first == b'%').and_then(|hex| u8::from_str_radix(hex, 16).ok());
        bytes.push(code.unwrap_or(*first));
        changed |= code.is_some();
        rest = if code.is_some() { after.get(2..).unwrap_or_default() } else { after };
    }
    changed.then(|| String::from_utf8_lossy(&bytes).into_owned())
}

/// Reads a variable that a path starts with, as a shell or Windows would.
fn variable(text: &str) -> Option<Result<String, Flaw>> {
    let (name, rest) = if let Some(braced) = text.strip_prefix("${") {
        braced.split_once('}')?
    } else if let Some(rest) = text.strip_prefix('$') {
        let rest = rest.strip_prefix("env:").unwrap_or(rest);
        let end = rest.find(|c: char| !c.is_ascii_alphanumeric() && c != '_');
        rest.split_at(end.unwrap_or(rest.len()))
    } else {
        let (name, rest) = text.strip_prefix('%')?.split_once('%')?;
        let is_name = |c: char| c.is_ascii_alphanumeric() || "_()".contains(c);
        let is_byte = name.len() == 2 && name.bytes().all(|byte| byte.is_ascii_hexdigit());
        if name.eq_ignore_ascii_case("USERPROFILE") {
            return Some(Ok(format!("~{rest}")));
        }
        return (!name.is_empty() && name.chars().all(is_name) && !is_byte)
            .then_some(Err(Flaw::Variable));
    };
    match name {
        "HOME" | "USERPROFILE" => Some(Ok(format!("~{rest}"))),
        "PWD" => Some(Ok(format!("./{rest}"))),
        // Names with small letters are more often names of files, as `$id.tsx`.
        _ if name.is_empty() || name.bytes().any(|byte| byte.is_ascii_lowercase()) => None,
        _ => Some(Err(Flaw::Variable)),
    }
}

/// Whether a text can only be read in one way.
fn is_plain(text: &str) -> bool {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"_-./+@,=#~".contains(&byte);
    !text.is_empty() && text.bytes().all(plain)
}

fn is_uri(text: &str, scheme: &str) -> bool {
    text.split_once(':').is_some_and(|(before, _)| before.eq_ignore_ascii_case(scheme))
}

/// Whether a text starts with a drive of Windows.
fn is_drive(text: &str) -> bool {
    let Some(rest) = behind_drive(text) else { return false };
    rest.is_empty()
        || rest.starts_with(['/', '\\'])
        || rest.contains('\\')
        || rest.starts_with("..")
}
