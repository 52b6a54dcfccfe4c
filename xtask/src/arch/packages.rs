//! How many packages the binary is made of. Raising the ceiling is allowed, not noticing is not.

use std::collections::BTreeSet;
use std::path::Path;
use std::process::Command;

use crate::failure::Failure;
use crate::finding::Finding;
use crate::program;

/// Packages in `cargo tree -e normal -p palisade-cli`, ours included.
pub(super) const CEILING: usize = 250;

pub(super) fn count(root: &Path) -> Result<usize, Failure> {
    let mut cargo = Command::new("cargo");
    cargo.args(["tree", "-e", "normal", "-p", "palisade-cli", "--prefix", "none"]);
    Ok(distinct(&program::capture(cargo.current_dir(root))?))
}

pub(super) fn check(packages: usize) -> Option<Finding> {
    (packages > CEILING).then(|| Finding {
        file: "Cargo.lock".to_owned(),
        line: 1,
        rule: "packages",
        what: format!("{packages} packages, the ceiling is {CEILING}"),
        fix: "drop a dependency, or raise the ceiling and say why in the commit",
    })
}

fn distinct(listing: &str) -> usize {
    let lines = listing.lines().map(|line| line.trim_end_matches(" (*)").trim());
    lines.filter(|line| !line.is_empty()).collect::<BTreeSet<_>>().len()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_repeated_package_counts_once_and_two_versions_count_twice() {
        assert_eq!(distinct("a v1.0.0\nb v1.0.0\na v1.0.0 (*)\nb v2.0.0\n\n"), 3);
    }

    #[test]
    fn the_ceiling_itself_passes() {
        assert_eq!(check(CEILING), None);
        assert!(check(CEILING + 1).is_some());
    }
}
