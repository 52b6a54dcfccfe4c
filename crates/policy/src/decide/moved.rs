//! Links of the disk that a text moves or copies, alone or with the tree that holds them.

use super::child::is_flag;
use super::disk::below;
use super::walk::Walk;
use crate::command::{Act, Arg};
use crate::jail::{Entry, Lookup};

impl Walk<'_> {
    /// Notes where a command puts what it moves, if links stay links on the way.
    pub(super) fn note_put(&mut self, name: &str, args: &[Arg<'_>], acts: &[Act<'_>]) {
        if !keeps_links(name, args) {
            return; // nearly always
        }
        let (mut from, mut to) = (Vec::new(), Vec::new());
        for act in acts {
            match act {
                Act::Read(path) | Act::Delete(path, _) | Act::Link { target: path, .. } => {
                    from.push(self.kept(path));
                }
                Act::Write(path) => to.push(self.kept(path)),
                Act::Enter(_)
                | Act::Connect(_)
                | Act::Mention(_)
                | Act::Send(_)
                | Act::Run(_)
                | Act::Raise(..) => {}
            }
        }
        // The rows of git's commands tell of no source.
        if let ("git", [_, sources @ .., target]) = (name, args) {
            let named = sources.iter().filter(|arg| !arg.text.starts_with('-'));
            from.extend(named.map(|arg| self.kept(arg)));
            to.push(self.kept(target));
        }
        for (from, to) in from.iter().flat_map(|from| to.iter().map(move |to| (from, to))) {
            // Both lie in the same working folder, whichever that is.
            for (from, to) in from.iter().zip(to) {
                self.disk.put(settled(from), to);
            }
        }
    }
}

/// Returns what lies at a path that something was put at: a link, or a folder that may hold some.
pub(super) fn put_there(
    moves: &[(String, String)],
    disk: &dyn Lookup,
    path: &str,
) -> Option<Entry> {
    moves.iter().rev().find_map(|(from, to)| {
        let rest = below(path, to)?;
        let name = from.rsplit('/').next().unwrap_or_default();
        // A folder that is there already takes it in.
        let inside = rest.strip_prefix('/').and_then(|rest| below(rest, name));
        [inside, Some(rest)].into_iter().flatten().find_map(|rest| {
            match disk.look(&format!("{from}{rest}")) {
                entry @ (Entry::Link(_) | Entry::Folder) => Some(entry),
                Entry::Absent | Entry::File | Entry::SharedFile | Entry::Other | Entry::Unknown => {
                    None
                }
            }
        })
    })
}

/// Returns the folder that holds all that a pattern matches.
fn settled(path: &str) -> &str {
    let wild = path.find(['*', '?', '[']).and_then(|at| path.get(..at)?.rsplit_once('/'));
    wild.map_or(path, |(folder, _)| folder)
}

fn keeps_links(name: &str, args: &[Arg<'_>]) -> bool {
    let short =
        |flags: &str| args.iter().any(|arg| flags.chars().any(|flag| is_flag(&arg.text, flag)));
    let long = |starts: &[&str]| {
        args.iter().any(|arg| starts.iter().any(|start| arg.text.starts_with(start)))
    };
    match name {
        "mv" => true,
        "git" => args.first().is_some_and(|command| command.text == "mv"),
        "cp" => short("adPRr") || long(&["--a", "--no-d", "--p", "--r"]),
        "rsync" => short("alr") || long(&["--archive", "--links", "--recursive"]),
        _ => false,
    }
}
