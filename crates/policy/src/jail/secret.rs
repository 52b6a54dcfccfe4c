//! Files that hold the secrets of a whole machine: only its owner has a reason to read them, and a
//! sandbox that the owner starts could.

use super::marks::Spelling;
use crate::name::Step;

/// Their paths; `*` is any one name.
const SECRETS: [&[&str]; 17] = [
    &["Users", "*", ".ssh"],
    &["etc", "gshadow"],
    &["etc", "gshadow-"],
    &["etc", "krb5.keytab"],
    &["etc", "master.passwd"],
    &["etc", "security", "opasswd"],
    &["etc", "shadow"],
    &["etc", "shadow-"],
    &["etc", "ssh", "ssh_host_dsa_key"],
    &["etc", "ssh", "ssh_host_ecdsa_key"],
    &["etc", "ssh", "ssh_host_ed25519_key"],
    &["etc", "ssh", "ssh_host_rsa_key"],
    &["etc", "ssl", "private"],
    &["etc", "sudoers"],
    &["etc", "sudoers.d"],
    &["home", "*", ".ssh"],
    &["root", ".ssh"],
];

/// Returns whether a normal path is one of them, lies below one, or may match one.
pub(super) fn is_secret(path: &str, spelling: Spelling) -> bool {
    let near = ["/etc/", "/home/", "/root/", "/Users/"].iter().any(|top| path.starts_with(top));
    let is_wild = spelling == Spelling::Pattern && path.contains(['*', '?', '[']);
    if !near && !is_wild {
        return false;
    }
    SECRETS.iter().any(|secret| {
        let mut names = path.split('/').skip(1);
        secret.iter().all(|part| {
            names.next().is_some_and(|name| match spelling {
                Spelling::Plain => *part == "*" || name == *part,
                Spelling::Pattern => *part == "*" || Step::pattern(name).may_be(part),
            })
        })
    })
}
