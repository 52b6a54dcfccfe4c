//! Files that hold the secrets of a whole machine: only its owner has a reason to read them, and a
//! sandbox that the owner starts could.

use super::marks::{Spelling, is_unsettled};
use crate::name::Step;
use crate::text::byte;

/// Their paths below each folder of `/`; `*` is any one name.
const SECRETS: [(&str, &[&[&str]]); 7] = [
    ("Users", &[&["*", ".ssh"]]),
    (
        "etc",
        &[
            &["gshadow"],
            &["gshadow-"],
            &["krb5.keytab"],
            &["master.passwd"],
            &["security", "opasswd"],
            &["shadow"],
            &["shadow-"],
            &["ssh", "ssh_host_dsa_key"],
            &["ssh", "ssh_host_ecdsa_key"],
            &["ssh", "ssh_host_ed25519_key"],
            &["ssh", "ssh_host_rsa_key"],
            &["ssl", "private"],
            &["sudoers"],
            &["sudoers.d"],
        ],
    ),
    ("home", &[&["*", ".ssh"]]),
    // What the first process holds: in a container, the keys it was started with. And all of memory.
    ("proc", &[&["1", "environ"], &["1", "mem"], &["kcore"]]),
    ("root", &[&[".ssh"]]),
    ("run", &[&["secrets", "kubernetes.io"]]),
    ("var", &[&["run", "secrets", "kubernetes.io"]]),
];

/// Folders of the machine that are copied or searched whole, and hold such files.
const SEARCHED: [&str; 4] = ["Users", "etc", "home", "root"];

/// Returns whether one of them lies below a folder, given by its normal path.
pub(super) fn holds_secret(folder: &str) -> bool {
    let mut names = folder.split('/').filter(|name| !name.is_empty());
    let Some(top) = names.next() else { return true };
    let rest: Vec<&str> = names.collect();
    let near = SECRETS.iter().filter(|(name, _)| *name == top && SEARCHED.contains(name));
    near.flat_map(|(_, secrets)| secrets.iter()).any(|secret| {
        let mut parts = secret.iter();
        rest.iter().all(|name| parts.next().is_some_and(|part| *part == "*" || part == name))
            && parts.next().is_some()
    })
}

/// Returns whether a normal path is one of them, lies below one, or may match one.
pub(super) fn is_secret(path: &str, spelling: Spelling) -> bool {
    let Some(names) = path.strip_prefix('/') else { return false };
    let (top, rest) = byte::split_once(names, b'/').unwrap_or((names, ""));
    // Nearly every path is told by its first letter.
    let first = |name: &str| name.bytes().next();
    let may_begin = SECRETS.iter().any(|(folder, _)| first(folder) == first(top));
    if !may_begin && (spelling == Spelling::Plain || !is_unsettled(top)) {
        return false;
    }
    let may_be = |name: &str, part: &str| match spelling {
        Spelling::Pattern if is_unsettled(name) => Step::matches(name, part),
        Spelling::Pattern | Spelling::Plain => name == part,
    };
    let near = SECRETS.iter().filter(|(folder, _)| may_be(top, folder));
    // Here, too, the first letter tells nearly always.
    let is_settled = spelling == Spelling::Plain || !is_unsettled(rest);
    let begins = |secret: &&&[&str]| {
        let part = secret.first().copied().unwrap_or_default();
        !is_settled || part == "*" || first(part) == first(rest)
    };
    near.flat_map(|(_, secrets)| secrets.iter()).filter(begins).any(|secret| {
        let mut names = rest;
        secret.iter().all(|part| {
            let (name, behind) = byte::split_once(names, b'/').unwrap_or((names, ""));
            names = behind;
            !name.is_empty() && (*part == "*" || may_be(name, part))
        })
    })
}
