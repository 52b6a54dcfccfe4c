//! What must hold for every input, drawn from small alphabets so that things collide.

use std::fmt::{Debug, Display};
use std::path::Path;
use std::str::FromStr;

use proptest::prelude::*;

use super::*;

/// Parses `text`; if that works, checks that printing and parsing again changes nothing.
fn round_trip<T>(text: &str) -> Result<Option<T>, TestCaseError>
where
    T: FromStr<Err = Invalid> + Display + Debug + Eq,
{
    let Ok(value) = text.parse::<T>() else { return Ok(None) };
    let printed = value.to_string();
    let again = printed.parse::<T>();
    prop_assert_eq!(again.as_ref(), Ok(&value), "{} prints as {}", text, printed);
    Ok(Some(value))
}

fn names() -> impl Strategy<Value = String> {
    "([ab]\\.){0,3}(x|ax)\\.test"
}

fn hosts() -> impl Strategy<Value = Host> {
    let text =
        prop_oneof![3 => names(), 1 => "10\\.[01]\\.0\\.[0-3]", 1 => "\\[2001:db8::[0-3]\\]"];
    text.prop_map(|text| text.parse().unwrap())
}

fn host_patterns() -> impl Strategy<Value = String> {
    let target = prop_oneof![
        6 => ("(\\*?\\.)?", names()).prop_map(|(scope, name)| scope + &name),
        1 => "10\\.[01]\\.0\\.[0-3]",
        1 => "10\\.0\\.0\\.0/(8|16|24|30|31)",
        1 => "\\[2001:db8::[0-3]\\]",
        1 => "\\[2001:db8::/(32|126|127)\\]",
    ];
    (target, "(:1|:2)?").prop_map(|(target, port)| target + &port)
}

fn refusals() -> impl Strategy<Value = String> {
    prop_oneof![
        3 => host_patterns(),
        1 => "(\\*|\\*?\\.test)(:1|:2)?",
        1 => "0\\.0\\.0\\.0/0|\\[::/0\\]",
    ]
}

fn path_texts() -> impl Strategy<Value = String> {
    let component = prop_oneof![
        4 => "[ab]{1,2}",
        2 => "[ab*?]{1,3}",
        1 => "\\[[!^]?[ab]-?[bc]?\\]",
        2 => Just("**".to_owned()),
        1 => "\\.{1,2}",
    ];
    ("(/a/|~/|)", prop::collection::vec(component, 0..5))
        .prop_map(|(start, parts)| start + &parts.join("/"))
}

fn paths() -> impl Strategy<Value = String> {
    prop::collection::vec("[abc]{1,3}", 0..5).prop_map(|names| format!("/a/{}", names.join("/")))
}

fn anchored(text: &str) -> Option<PathPattern> {
    let anchors = Anchors { root: "/a".into(), home: Some("/a/b".into()) };
    text.parse::<PathPattern>().ok()?.anchored(&anchors).ok()
}

/// The matcher written a second time, as plainly as it can be: it tries everything.
fn plain_match(pattern: &[&str], names: &[&str]) -> bool {
    match (pattern, names) {
        ([], _) => true,
        (["**", rest @ ..], _) => (0..=names.len()).any(|n| plain_match(rest, &names[n..])),
        ([first, rest @ ..], [name, names @ ..]) => {
            let first: Vec<char> = first.chars().collect();
            let name: Vec<char> = name.chars().collect();
            plain_component(&first, &name) && plain_match(rest, names)
        }
        (_, []) => false,
    }
}

fn plain_component(pattern: &[char], name: &[char]) -> bool {
    match (pattern, name) {
        ([], []) => true,
        (['*', rest @ ..], _) => (0..=name.len()).any(|n| plain_component(rest, &name[n..])),
        (['?', rest @ ..], [_, name @ ..]) => plain_component(rest, name),
        (['[', '!', a, '-', b, ']', rest @ ..], [c, name @ ..]) => {
            !(a..=b).contains(&c) && plain_component(rest, name)
        }
        (['[', a, '-', b, ']', rest @ ..], [c, name @ ..]) => {
            (a..=b).contains(&c) && plain_component(rest, name)
        }
        ([a, rest @ ..], [b, name @ ..]) => a == b && plain_component(rest, name),
        (_, _) => false,
    }
}

proptest! {
    #[test]
    fn printing_and_parsing_changes_nothing(text in "[-aB1.*?:/\\[\\]~\\\\!^ xn√ü%]{0,8}") {
        round_trip::<CommandName>(&text)?;
        round_trip::<WideHost>(&text)?;
        round_trip::<EnvPattern>(&text)?;
        round_trip::<Folder>(&text)?;
        round_trip::<Host>(&text)?;
        round_trip::<HostName>(&text)?;
        round_trip::<HostPattern>(&text)?;
        round_trip::<PathPattern>(&text)?;
        round_trip::<Pattern>(&text)?;
        round_trip::<ToolPattern>(&text)?;
    }

    #[test]
    fn no_text_at_all_makes_a_parser_panic(text in any::<String>()) {
        round_trip::<ByteSize>(&text)?;
        round_trip::<WideHost>(&text)?;
        round_trip::<EnvName>(&text)?;
        round_trip::<Host>(&text)?;
        round_trip::<PathPattern>(&text)?;
        round_trip::<Pattern>(&text)?;
        round_trip::<Period>(&text)?;
        round_trip::<Port>(&text)?;
    }

    #[test]
    fn international_names_have_one_spelling(text in "[aßüéСİ。.-]{1,6}(xn--[a-z]{1,5})?") {
        round_trip::<HostName>(&text)?;
    }

    #[test]
    fn amounts_survive_printing(bytes: u64, nanos: u64, seconds: u64, size in "[0-9]{1,3}(\\.[05])? ?[kmgKMG]?[iI]?[bB]?") {
        prop_assert_eq!(ByteSize::new(bytes).to_string().parse(), Ok(ByteSize::new(bytes)));
        for duration in [std::time::Duration::from_nanos(nanos), std::time::Duration::from_secs(seconds)] {
            let period = Period::from(duration);
            prop_assert_eq!(period.to_string().parse(), Ok(period));
        }
        round_trip::<ByteSize>(&size)?;
    }

    #[test]
    fn patterns_survive_printing(host in refusals(), grant in host_patterns(), path in path_texts()) {
        prop_assert!(round_trip::<WideHost>(&host)?.is_some());
        round_trip::<HostPattern>(&grant)?;
        round_trip::<PathPattern>(&path)?;
        if let Some(pattern) = anchored(&path) {
            round_trip::<PathPattern>(&pattern.to_string())?;
            prop_assert_eq!(pattern.to_string().parse(), Ok(pattern));
        }
    }

    #[test]
    fn a_wildcard_never_leaves_its_domain(base in names(), host in hosts(), port in 0_u16..3) {
        let pattern: HostPattern = format!("*.{base}").parse().unwrap();
        let below = host.to_string().ends_with(&format!(".{base}"));
        prop_assert_eq!(pattern.matches(&host, port), below);
    }

    #[test]
    fn covering_hosts_is_sound_and_complete(
        outer in refusals(),
        inner in refusals(),
        hosts in prop::collection::vec(hosts(), 1..20),
        port in 1_u16..4,
    ) {
        let (outer, inner): (WideHost, WideHost) = (outer.parse().unwrap(), inner.parse().unwrap());
        if outer.covers(&inner) {
            for host in hosts {
                prop_assert!(!inner.matches(&host, port) || outer.matches(&host, port), "{}", host);
            }
        } else {
            // Then some witness escapes: the least of what `inner` names, at its port or any.
            let text = inner.to_string();
            let (target, port) = match text.rsplit_once(':') {
                Some((target, port)) if !port.contains(']') => (target, port.parse().unwrap()),
                _ => (text.as_str(), 3),
            };
            let base = target.trim_start_matches(['*', '.', '[']).trim_end_matches(']');
            let witnesses = [
                base.to_owned(), format!("z.{base}"), "other.example".into(), "203.0.113.1".into(),
                "[2001:db9::1]".into(), format!("[{base}]"),
                "10.0.0.0".into(), "10.0.0.1".into(), "10.0.0.3".into(), "10.0.0.255".into(),
                "10.0.255.255".into(), "10.255.255.255".into(), "255.255.255.255".into(),
                "[2001:db8::]".into(), "[2001:db8::1]".into(), "[2001:db8::3]".into(), "[2001:db8:ff::]".into(),
            ];
            let escapes = witnesses.iter().filter_map(|text| text.parse::<Host>().ok())
                .any(|host| inner.matches(&host, port) && !outer.matches(&host, port));
            prop_assert!(escapes, "{} does not cover {}, but nothing escapes", outer, inner);
        }
    }

    #[test]
    fn a_set_equals_the_plain_scan(
        patterns in prop::collection::vec(refusals(), 0..12),
        hosts in prop::collection::vec(hosts(), 1..12),
        port in 0_u16..3,
    ) {
        let patterns: Vec<WideHost> = patterns.iter().map(|text| text.parse().unwrap()).collect();
        let set = HostSet::of_wide(&patterns);
        for host in hosts {
            let plain = patterns.iter().position(|pattern| pattern.matches(&host, port));
            prop_assert_eq!(set.find(&host, port), plain, "{}", host);
        }
    }

    #[test]
    fn globs_agree_with_the_plain_matcher(
        parts in prop::collection::vec("([ab*?]|\\[!?[ab]-c\\]){1,3}|\\*\\*", 0..5),
        path in paths(),
    ) {
        let Some(pattern) = anchored(&format!("/a/{}", parts.join("/"))) else { return Ok(()) };
        let mut parts: Vec<&str> = ["a"].into_iter().chain(parts.iter().map(String::as_str)).collect();
        parts.retain(|part| !part.is_empty());
        let names: Vec<&str> = path.split('/').filter(|name| !name.is_empty()).collect();
        prop_assert_eq!(pattern.matches(Path::new(&path)), plain_match(&parts, &names));
    }

    #[test]
    fn covering_paths_is_sound(
        outer in path_texts(),
        inner in path_texts(),
        paths in prop::collection::vec(paths(), 1..20),
    ) {
        let (Some(outer), Some(inner)) = (anchored(&outer), anchored(&inner)) else { return Ok(()) };
        if outer.covers(&inner) {
            for path in paths.iter().map(Path::new) {
                prop_assert!(!inner.matches(path) || outer.matches(path), "{}", path.display());
            }
        }
    }

    #[test]
    fn covering_variables_is_sound(outer in "[AB]{1,2}\\*?", inner in "[AB]{1,3}\\*?", name in "[AB]{1,4}") {
        let (outer, inner): (EnvPattern, EnvPattern) = (outer.parse().unwrap(), inner.parse().unwrap());
        if outer.covers(&inner) && inner.matches(&name) {
            prop_assert!(outer.matches(&name));
        }
    }
}
