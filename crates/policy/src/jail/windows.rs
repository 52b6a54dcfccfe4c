//! Paths of Windows, by their text: no disk of Windows is ever looked at from here.

use super::Side;
use super::text::{append, is_under};

/// The root of a project on Windows: on a drive, or in a share of a server.
///
/// Whoever judges paths below it does so in a tree of folders in which every drive and every share
/// is a folder of its own and every name has one spelling. [`folder`](Self::folder) is the root in
/// that tree, and [`place`](Self::place) puts other paths there.
///
/// # Examples
///
/// ```
/// use palisade_policy::jail::{Side, WindowsRoot};
///
/// let root = WindowsRoot::read(r"C:\Code\App").unwrap();
/// assert_eq!(root.folder(), "/c:/code/app");
/// assert_eq!(root.judge(r"c:/CODE/app/Src\main.rs"), Side::Inside);
/// assert_eq!(root.judge(r"\\?\C:\Code\App2\x"), Side::Outside);
/// ```
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct WindowsRoot {
    text: String,
    folder: String,
    /// The folder of its drive or share.
    volume: String,
}

/// Why a path of Windows has no place of its own.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Astray {
    /// It leads to a device, another namespace, or wherever a drive happens to stand.
    Elsewhere,
    /// A name in it is one that Windows takes for another: `PROGRA~1`, `aux.txt`, `...`.
    Alias,
}

impl WindowsRoot {
    /// Reads a root; none if it is not absolute, or has no place of its own.
    pub fn read(text: &str) -> Option<Self> {
        let unified = text.trim().replace('\\', "/");
        let (volume, rest) = match start(&unified) {
            Start::Volume(volume, rest) => (volume, rest),
            Start::Drive(..) | Start::Top(_) | Start::Here(_) | Start::Elsewhere => return None,
        };
        let mut folder = volume.clone();
        append(&mut folder, &names(&rest).ok()?);
        let is_below = is_under(&folder, &volume);
        is_below.then(|| Self { text: text.to_owned(), folder, volume })
    }

    /// Returns the root as it was written.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Returns the root in the tree of all drives and shares.
    pub fn folder(&self) -> &str {
        &self.folder
    }

    /// Returns where a path lies in the tree of all drives and shares: from its top, or, for a
    /// relative one and one below `~`, from wherever that starts.
    ///
    /// # Errors
    ///
    /// Says why it has no place there.
    pub fn place(&self, path: &str) -> Result<String, Astray> {
        let unified = path.replace('\\', "/");
        let (volume, rest) = match start(&unified) {
            Start::Here(rest) => return self.relative(&rest),
            // Every drive has a folder of its own to start from, and only this one is known.
            Start::Drive(drive, rest) if drive == self.volume => return self.relative(&rest),
            Start::Drive(..) | Start::Elsewhere => return Err(Astray::Elsewhere),
            Start::Top(rest) => (self.volume.clone(), rest),
            Start::Volume(volume, rest) => (volume, rest),
        };
        let mut tail = String::new();
        append(&mut tail, &names(&rest)?);
        Ok(format!("{volume}{tail}"))
    }

    /// Spells a relative path. One that would climb past the top of its drive is not followed:
    /// Windows stays there, and the tree of drives goes on.
    fn relative(&self, rest: &str) -> Result<String, Astray> {
        let names = names(rest)?;
        let depth = self.folder.matches('/').count() - self.volume.matches('/').count();
        let (mut level, mut highest) = (0_usize, 0_usize);
        for name in names.split('/') {
            match name {
                "" | "." => {}
                ".." if level == 0 => highest += 1,
                ".." => level -= 1,
                _ => level += 1,
            }
        }
        if highest > depth { Err(Astray::Elsewhere) } else { Ok(names) }
    }

    /// Judges a path, used in this root, by its text alone.
    pub fn judge(&self, path: &str) -> Side {
        if path.trim().is_empty() || path.contains('\0') || path.starts_with('~') {
            return Side::Outside;
        }
        let Ok(mut placed) = self.place(path) else { return Side::Outside };
        if !placed.starts_with('/') {
            let mut joined = self.folder.clone();
            append(&mut joined, &placed);
            placed = joined;
        }
        if is_under(&placed, &self.folder) { Side::Inside } else { Side::Outside }
    }
}

/// Returns what stands behind a drive of Windows: `\x` of `C:\x`, `x` of `C:x`; none without one.
pub(crate) fn behind_drive(text: &str) -> Option<&str> {
    let (drive, rest) = text.split_at_checked(2)?;
    matches!(drive.as_bytes(), [letter, b':'] if letter.is_ascii_alphabetic()).then_some(rest)
}

/// Whether a path can only be one of Windows: `C:\x`, `C:/x`, `\\host\x`.
pub(crate) fn is_on_windows(text: &str) -> bool {
    match text.as_bytes() {
        [letter, b':', b'/' | b'\\', ..] => letter.is_ascii_alphabetic(),
        [b'\\', b'\\', ..] | [b'\\', b'?', b'?', b'\\', ..] => true,
        _ => false,
    }
}

/// What a path starts with, and the names behind it.
enum Start {
    /// A drive or a share.
    Volume(String, String),
    /// A drive, and the folder it happens to stand in.
    Drive(String, String),
    /// The top of the drive at hand.
    Top(String),
    /// Nothing: it is relative.
    Here(String),
    Elsewhere,
}

/// Reads what a path starts with; all its separators are `/`.
fn start(path: &str) -> Start {
    for prefix in ["//?/", "/??/", "//./"] {
        if let Some(rest) = path.strip_prefix(prefix) {
            return match (strip_word(rest, "unc/"), drive(rest)) {
                (Some(share), _) => self::share(share),
                (None, Some((drive, rest))) if rest.is_empty() || rest.starts_with('/') => {
                    Start::Volume(drive, rest.to_owned())
                }
                (None, _) => Start::Elsewhere,
            };
        }
    }
    if let Some(rest) = path.strip_prefix("//") {
        return share(rest);
    }
    // `/C:/x` is how addresses spell a drive.
    let slashed = path.strip_prefix('/');
    match (drive(slashed.unwrap_or(path)), slashed) {
        (Some((drive, rest)), _) if rest.starts_with('/') || rest.is_empty() => {
            Start::Volume(drive, rest.to_owned())
        }
        (Some((drive, rest)), None) => Start::Drive(drive, rest.to_owned()),
        (Some(_), Some(_)) => Start::Elsewhere,
        (None, Some(rest)) => Start::Top(rest.to_owned()),
        (None, None) => Start::Here(path.to_owned()),
    }
}

/// Reads `server/share/…`.
fn share(text: &str) -> Start {
    let mut parts = text.splitn(3, '/');
    let (Some(server), Some(share)) = (parts.next(), parts.next()) else { return Start::Elsewhere };
    let is_name = |name: &str| !name.is_empty() && !matches!(name, "." | ".." | "?");
    if !is_name(server) || !is_name(share) {
        return Start::Elsewhere;
    }
    let volume = format!("/unc:/{}/{}", lowered(server), lowered(share));
    Start::Volume(volume, parts.next().unwrap_or_default().to_owned())
}

/// Reads a drive, whose colon may be encoded as in an address.
fn drive(text: &str) -> Option<(String, &str)> {
    let letter = text.chars().next().filter(char::is_ascii_alphabetic)?;
    let rest = text.get(1..)?;
    let rest = rest.strip_prefix(':').or_else(|| strip_word(rest, "%3a"))?;
    Some((format!("/{}:", letter.to_ascii_lowercase()), rest))
}

fn strip_word<'t>(text: &'t str, word: &str) -> Option<&'t str> {
    let (head, rest) = text.split_at_checked(word.len())?;
    head.eq_ignore_ascii_case(word).then_some(rest)
}

/// Spells names as Windows compares them: without case, without dots and blanks at their ends, and
/// without the streams of a file, which are a part of it.
fn names(rest: &str) -> Result<String, Astray> {
    let mut out = Vec::new();
    for name in rest.split('/') {
        let file = name.split_once(':').map_or(name, |(file, _)| file);
        let plain = file.trim_end_matches(['.', ' ']);
        match file {
            "" | "." | ".." => out.push(file.to_owned()),
            _ if plain.is_empty() || is_device(plain) || is_short(plain) => {
                return Err(Astray::Alias);
            }
            _ => out.push(lowered(plain)),
        }
    }
    Ok(out.join("/"))
}

/// Returns whether a name, whatever it ends with, is that of a device.
fn is_device(name: &str) -> bool {
    const DEVICES: [&str; 6] = ["con", "prn", "aux", "nul", "conin$", "conout$"];
    let stem = name.split('.').next().unwrap_or_default().trim_end();
    let numbered = |kind: &str| {
        let mut number = strip_word(stem, kind).unwrap_or_default().chars();
        matches!((number.next(), number.next()), (Some('0'..='9' | '¹' | '²' | '³'), None))
    };
    let is_named = DEVICES.iter().any(|device| stem.eq_ignore_ascii_case(device));
    is_named || numbered("com") || numbered("lpt")
}

/// Returns whether a name may be the short one of a file with a longer name, as `GIT~1` is.
fn is_short(name: &str) -> bool {
    let stem = name.split('.').next().unwrap_or_default();
    let numbered = stem.rsplit_once('~').is_some_and(|(head, number)| {
        !head.is_empty() && !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit())
    });
    numbered && stem.chars().count() <= 8
}

/// Gives a name the case in which it is compared. A letter that only some disks take for one of
/// ASCII is left alone: it must not bring a path inside.
fn lowered(name: &str) -> String {
    let one = |c: char| {
        if c.is_ascii() {
            return c.to_ascii_lowercase();
        }
        let mut upper = c.to_uppercase();
        match (upper.next(), upper.next()) {
            (Some(upper), None) if !upper.is_ascii() => upper,
            (_, _) => c,
        }
    };
    name.chars().map(one).collect()
}
