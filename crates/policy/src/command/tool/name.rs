//! One name for the many a tool goes by.

use crate::text::byte;

/// Answers with each name under which a tool may be listed, the most exact first: `python3.12`,
/// `python`; `g++-13`, `g++`; `mkfs.ext4`, `mkfs`.
pub(super) fn spellings(name: &str) -> impl Iterator<Item = &str> {
    let plain = name.strip_suffix(".exe").unwrap_or(name);
    // `prettier@3.1`, as package runners name a version.
    let plain = byte::split_once(plain, b'@').map_or(plain, |(tool, _)| tool);
    // The first is nearly always the one: the others are worked out when it is not.
    let others: [fn(&str) -> Option<&str>; 4] =
        [|name| Some(without_version(name)), family, loader, cross_tool];
    std::iter::once(plain).chain(others.into_iter().filter_map(move |other| other(plain)))
}

/// `mkfs.ext4`: a member of a family is told by its first name.
fn family(name: &str) -> Option<&str> {
    let (family, _) = name.split_once('.')?;
    matches!(family, "fsck" | "mkfs" | "mount" | "umount").then_some(family)
}

fn loader(name: &str) -> Option<&str> {
    let starts = ["ld-linux", "ld-musl", "ld64.so"];
    starts.iter().any(|start| name.starts_with(start)).then_some("ld.so")
}

/// `x86_64-linux-gnu-gcc-13`: a cross compiler is the compiler.
fn cross_tool(name: &str) -> Option<&str> {
    let systems = ["-gnu-", "-musl-", "-gnueabihf-", "-eabi-", "-elf-", "-mingw32-"];
    let bare = without_version(name);
    systems.iter().find_map(|system| bare.rsplit_once(system)).map(|(_, tool)| tool)
}

fn without_version(name: &str) -> &str {
    let bare = name.trim_end_matches(|c: char| c.is_ascii_digit() || c == '.');
    let bare = bare.strip_suffix('-').unwrap_or(bare);
    if bare.is_empty() { name } else { bare }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_and_targets_are_not_part_of_a_name() {
        let cases = [
            ("python3.12", "python"),
            ("g++-13", "g++"),
            ("mkfs.ext4", "mkfs"),
            ("ld-linux-x86-64.so.2", "ld.so"),
            ("aarch64-linux-gnu-gcc-12", "gcc"),
            ("node.exe", "node"),
            ("prettier@3.1.0", "prettier"),
            ("7", "7"),
        ];
        for (name, expected) in cases {
            assert!(spellings(name).any(|spelling| spelling == expected), "{name}: {expected}");
        }
        assert!(!spellings("foo-gcc").any(|spelling| spelling == "gcc"), "not a target's name");
    }
}
