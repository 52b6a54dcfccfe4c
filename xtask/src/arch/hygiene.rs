//! Words that belong to one machine and not to the project.

use std::env;
use std::path::Path;

use crate::finding::Finding;

/// A text that no file may hold, and why.
#[derive(Debug)]
pub(super) struct Needle {
    text: String,
    what: &'static str,
    fix: &'static str,
}

/// Returns what to look for: the places of this checkout and of this user's tools, and the host
/// names of package registries.
pub(super) fn needles(root: &Path) -> Vec<Needle> {
    let home = env::var_os("HOME");
    let tools = [".cargo", ".rustup"];
    let tools = home.iter().flat_map(|home| tools.map(|tool| Path::new(home).join(tool)));
    let mut places = vec![root.to_path_buf()];
    places.extend(root.parent().map(|parent| parent.join("shared")));
    places.extend(tools);
    let places = places.into_iter().filter(|place| place.components().count() > 2);
    let places = places.map(|place| Needle {
        text: place.to_string_lossy().into_owned(),
        what: "a path of this machine",
        fix: "use a relative path, or an example such as /home/dev",
    });
    places.chain(registries()).collect()
}

pub(super) fn check(file: &str, text: &str, needles: &[Needle]) -> Vec<Finding> {
    // Lock files name their sources; cargo writes them.
    if file.ends_with("Cargo.lock") {
        return Vec::new();
    }
    let mut findings = Vec::new();
    for (number, line) in text.lines().enumerate() {
        let lower = line.to_ascii_lowercase();
        for Needle { text, what, fix } in needles {
            if lower.contains(&text.to_ascii_lowercase()) {
                findings.push(Finding {
                    file: file.to_owned(),
                    line: number + 1,
                    rule: "hygiene",
                    what: format!("{what}: `{text}`"),
                    fix,
                });
            }
        }
    }
    findings
}

/// Built from halves, so that this file does not hold what it looks for.
fn registries() -> impl Iterator<Item = Needle> {
    let halves = [
        ("crates", "io"),
        ("pypi", "org"),
        ("pythonhosted", "org"),
        ("npmjs", "org"),
        ("npmjs", "com"),
        ("yarnpkg", "com"),
        ("rubygems", "org"),
        ("proxy.golang", "org"),
        ("packagist", "org"),
        ("nuget", "org"),
        ("maven.apache", "org"),
    ];
    halves.into_iter().map(|(name, top)| Needle {
        text: format!("{name}.{top}"),
        what: "the host name of a package registry",
        fix: "use registry.example.com",
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_of_the_checkout_and_registry_names_are_found() {
        let needles = needles(Path::new("/somewhere/checkout"));
        let registry = ["index.crates", "io/x"].join(".");
        let cases = [
            ("README.md", "see /home/dev/app", 0),
            ("Cargo.lock", registry.as_str(), 0),
            ("README.md", registry.as_str(), 1),
            ("src/a.rs", "let p = \"/somewhere/checkout/x\";", 1),
            ("src/a.rs", "/SOMEWHERE/Checkout", 1),
            ("src/a.rs", "/somewhere/shared/design", 1),
        ];
        for (file, text, expected) in cases {
            assert_eq!(check(file, text, &needles).len(), expected, "{file}: {text}");
        }
    }

    #[test]
    fn a_checkout_directly_below_the_root_is_too_common_a_word() {
        let needles = needles(Path::new("/src"));
        assert_eq!(check("a.md", "/src/main.rs", &needles), []);
    }
}
