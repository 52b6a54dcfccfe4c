//! For every profile: what is enforced is what its rules say, by two definitions that share
//! nothing but the profile.

use fancy_regex::Regex;
use proptest::prelude::*;

use super::*;
use crate::key::{Grants, Refusals};
use crate::layer::Origin;
use crate::name::Folder;

/// Every path of up to four names of a small alphabet.
fn universe() -> Vec<String> {
    let mut paths = vec!["/r".to_owned()];
    let mut last = paths.clone();
    for _ in 0..3 {
        last = last.iter().flat_map(|p| ["a", "b", "c"].map(|n| format!("{p}/{n}"))).collect();
        paths.extend(last.clone());
    }
    paths
}

/// A filter, as the language defines it.
#[derive(Clone, Debug)]
enum Said {
    Literal(String),
    Subpath(String),
    Regex(String),
    But(String, String),
}

impl Said {
    fn text(&self) -> String {
        match self {
            Self::Literal(p) => format!("(literal \"{p}\")"),
            Self::Subpath(p) => format!("(subpath \"{p}\")"),
            Self::Regex(p) => format!("(regex #\"{p}\")"),
            Self::But(p, q) => {
                format!("(require-all (subpath \"{p}\") (require-not (subpath \"{q}\")))")
            }
        }
    }

    /// Returns the paths of the universe that it matches.
    fn matches(&self, universe: &[String]) -> Vec<bool> {
        let inside = |path: &str, p: &String| {
            path.strip_prefix(p.as_str())
                .is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
        };
        let regex = match self {
            Self::Regex(text) => Some(Regex::new(text).unwrap()),
            Self::Literal(_) | Self::Subpath(_) | Self::But(..) => None,
        };
        let found = universe.iter().map(|path| match self {
            Self::Literal(p) => path == p,
            Self::Subpath(p) => inside(path, p),
            Self::Regex(_) => regex.as_ref().unwrap().is_match(path).unwrap(),
            Self::But(p, q) => inside(path, p) && !inside(path, q),
        });
        found.collect()
    }
}

fn paths() -> impl Strategy<Value = String> {
    "/r(/[abc]){0,3}"
}

fn filters() -> impl Strategy<Value = Said> {
    prop_oneof![
        6 => paths().prop_map(Said::Subpath),
        1 => paths().prop_map(Said::Literal),
        2 => "\\^/r/\\(\\.\\*/\\)\\?[abc]\\(/\\|\\$\\)".prop_map(Said::Regex),
        2 => "\\^/r/\\[\\^/\\]\\*/[abc]\\(/\\|\\$\\)".prop_map(Said::Regex),
        1 => "\\^/r/\\(a\\|b\\)/c\\(/\\|\\$\\)".prop_map(Said::Regex),
        2 => (paths(), paths()).prop_map(|(p, q)| Said::But(p, q)),
    ]
}

fn profiles() -> impl Strategy<Value = Vec<(bool, Vec<Said>)>> {
    prop::collection::vec((any::<bool>(), prop::collection::vec(filters(), 0..3)), 0..6)
}

/// Returns how deep the names of a pattern match a path, by names; none if they do not.
fn deepest(pattern: &str, path: &str) -> Option<usize> {
    let names = |text: &str| -> Vec<String> {
        text.split('/').filter(|n| !n.is_empty()).map(str::to_owned).collect()
    };
    let (pattern, path) = (names(pattern), names(path));
    (0..=path.len()).rev().find(|&depth| exactly(&pattern, &path[..depth]))
}

fn exactly(pattern: &[String], path: &[String]) -> bool {
    match (pattern.split_first(), path.split_first()) {
        (None, None) => true,
        (Some((first, rest)), _) if first == "**" => {
            exactly(rest, path) || path.split_first().is_some_and(|(_, p)| exactly(pattern, p))
        }
        (Some((first, rest)), Some((name, path))) => {
            (first == "*" || first == name) && exactly(rest, path)
        }
        (Some(_), None) | (None, Some(_)) => false,
    }
}

/// The reading rule: of what matches deepest, and of two equals `allow_read`.
fn readable(policy: &Policy, path: &str) -> bool {
    let depth = |patterns: Vec<String>| patterns.iter().filter_map(|p| deepest(p, path)).max();
    let hidden = depth(shown(policy.files.hide.values()));
    let open = depth(shown(policy.files.allow_read.values()));
    hidden.is_none_or(|hidden| open.is_some_and(|open| open >= hidden))
}

/// The writing rule: what is protected stays as it is, and so does what is hidden.
fn writable(policy: &Policy, path: &str) -> bool {
    let any = |patterns: Vec<String>| patterns.iter().any(|p| deepest(p, path).is_some());
    any(shown(policy.files.write.values()))
        && !any(shown(policy.files.protect.values()))
        && readable(policy, path)
}

/// Returns whether what is closed could be moved to where it is open: by itself, or with a folder
/// above it that no rule keeps in its place.
fn movable(profile: &str, policy: &Policy, path: &str) -> bool {
    let pinned = |above: &&str| {
        let pin = |line: &str| {
            let Some(rest) = line.strip_prefix("(deny file-write-unlink (") else { return false };
            let (kind, text) = rest.split_once(' ').unwrap();
            let text = text.trim_matches(|c| matches!(c, '"' | ')' | '('));
            match kind {
                "literal" => text == *above,
                _ => Regex::new(&text.replace("\\\\", "\\")).unwrap().is_match(above).unwrap(),
            }
        };
        profile.lines().any(pin)
    };
    // It must still lie in the folder that is moved, and be readable where that goes.
    let leaks = |above: &str| {
        let rest = &path[above.len()..];
        let mut targets = universe().into_iter().filter(|to| writable(policy, to));
        targets.any(|to| !to.starts_with(above) && readable(policy, &format!("{to}{rest}")))
    };
    let above = Path::new(path).ancestors().filter_map(Path::to_str);
    let mut above = above.take_while(|above| *above != "/");
    above.any(|above| writable(policy, above) && !pinned(&above) && leaks(above))
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn what_is_enforced_is_what_the_last_rule_says(rules in profiles(), open in any::<bool>()) {
        let mut text = format!("(version 1)({} default)(allow process*)", if open { "allow" } else { "deny" });
        for (allow, filters) in &rules {
            let filters: Vec<String> = filters.iter().map(Said::text).collect();
            let word = if *allow { "allow" } else { "deny" };
            text.push_str(&format!("\n({word} file-read* file-write* {})", filters.join(" ")));
        }
        let source = Source::new("x.sb", &text);
        let params = Params::of_root(Path::new(ROOT));
        let result = with_world(|around| {
            let around = Surroundings { kind: &|_| None, ..*around };
            read_profile(&source, &params, Layer::User, &around)
        });
        let Ok((policy, _)) = result else { return Ok(()) };
        let literal = |path: &str| {
            rules.iter().flat_map(|(_, filters)| filters).any(|filter| match filter {
                // Only of itself; and there is nothing below a file.
                Said::Literal(p) => path.starts_with(p.as_str()),
                Said::Subpath(_) | Said::Regex(_) | Said::But(..) => false,
            })
        };
        let universe = universe();
        let mut said = vec![open; universe.len()];
        for (allow, filters) in &rules {
            let each: Vec<Vec<bool>> = filters.iter().map(|f| f.matches(&universe)).collect();
            for (at, said) in said.iter_mut().enumerate() {
                if each.is_empty() || each.iter().any(|found| found[at]) {
                    *said = *allow;
                }
            }
        }
        for (path, said) in universe.iter().zip(said).filter(|(path, _)| !literal(path)) {
            prop_assert_eq!(readable(&policy, path), said, "reading {}\n{}\n{:?}", path, text, files(&policy));
            prop_assert_eq!(writable(&policy, path), said, "writing {}\n{}\n{:?}", path, text, files(&policy));
        }
    }

    #[test]
    fn a_written_policy_comes_back(
        hide in prop::collection::vec(patterns(), 0..4),
        open in prop::collection::vec(patterns(), 0..4),
        write in prop::collection::vec("/r(/[abc]){0,2}", 0..3),
        protect in prop::collection::vec(patterns(), 0..3),
        closed in any::<bool>(),
    ) {
        let said = |texts: &[String]| -> Vec<Sourced<PathPattern>> {
            let origin = Origin::of(Layer::User);
            texts.iter().map(|t| Sourced { value: t.parse().unwrap(), origin: origin.clone() }).collect()
        };
        let mut policy = Policy::default();
        policy.files.hide = Refusals::new(said(&hide));
        policy.files.allow_read = Grants::new(said(&open));
        policy.files.protect = Refusals::new(said(&protect));
        let origin = Origin::of(Layer::User);
        policy.files.write = Grants::new(
            write.iter().map(|t| Sourced { value: t.parse::<Folder>().unwrap(), origin: origin.clone() }).collect(),
        );
        let mode = if closed { NetworkMode::DenyAll } else { NetworkMode::Disabled };
        policy.network.mode = crate::key::Setting::new(Sourced { value: mode, origin });

        let written = with_world(|around| write::write(&policy, around));
        let again = read_text(&written.text);
        prop_assert!(again.is_ok(), "{}\n{:?}", written.text, again);
        let Ok((again, _)) = again else { return Ok(()) };
        prop_assert_eq!(again.network.mode.value(), mode);
        for path in universe() {
            let (before, after) = (readable(&policy, &path), readable(&again, &path));
            prop_assert!(before || !after, "{} became readable\n{}", path, written.text);
            // What cannot be said is listed, and only allowances are ever left out.
            prop_assert!(before == after || !written.lost.is_empty(), "{} {}\n{}", path, before, written.text);
            let (before, after) = (writable(&policy, &path), writable(&again, &path));
            prop_assert!(before || !after, "{} became writable\n{}", path, written.text);
            prop_assert!(before == after || !written.lost.is_empty(), "{}\n{}", path, written.text);
            let closed = !readable(&policy, &path);
            prop_assert!(
                !closed || !movable(&written.text, &again, &path) || written.lost.iter().any(|lost| lost.why.contains("moved")),
                "{} can be moved\n{}\n{:?}", path, written.text, written.lost
            );
        }
        let keys = ["files.allow_read", "files.write", "files.protect"];
        prop_assert!(written.lost.iter().all(|lost| keys.contains(&&*lost.key)));
    }
}

fn patterns() -> impl Strategy<Value = String> {
    prop_oneof![
        6 => "/r(/[abc]){0,3}",
        2 => "/r/\\*/[abc]",
        1 => "/r/[abc]/\\*",
        1 => "/r/\\*\\*/[abc]",
        1 => Just("/".to_owned()),
    ]
}
