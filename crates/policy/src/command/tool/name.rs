//! One name for the many a tool goes by.

/// Answers with each name under which a tool may be listed, the most exact first: `python3.12`,
/// `python`; `g++-13`, `g++`; `mkfs.ext4`, `mkfs`.
pub(super) fn spellings(name: &str) -> impl Iterator<Item = &str> {
    let plain = name.strip_suffix(".exe").unwrap_or(name);
    // `prettier@3.1`, as package runners name a version.
    let plain = plain.split_once('@').map_or(plain, |(tool, _)| tool);
    let bare = without_version(plain);
    let family = plain.split_once('.').map_or(plain, |(family, _)| family);
    let family =
        if matches!(family, "fsck" | "mkfs" | "mount" | "umount") { family } else { plain };
    let loader = ["ld-linux", "ld-musl", "ld64.so"].iter().any(|start| plain.starts_with(start));
    let loader = if loader { "ld.so" } else { plain };
    // `x86_64-linux-gnu-gcc-13`: a cross compiler is the compiler.
    let target = ["-gnu-", "-musl-", "-gnueabihf-", "-eabi-", "-elf-", "-mingw32-"]
        .iter()
        .find_map(|system| bare.rsplit_once(system))
        .map_or(plain, |(_, tool)| tool);
    [plain, bare, family, loader, target].into_iter()
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
