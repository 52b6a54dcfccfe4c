//! Patches as people, tools and attackers write them.

mod bodies;
mod diffs;
mod judged;
mod lies;
mod property;

use super::{Deed, Lie, MAX_NAMES, Patch, Target, Unreadable, read};

/// Every path and what happens to it, once each, in the order of the text.
fn deeds(text: &str) -> Vec<(String, Deed)> {
    let mut found: Vec<(String, Deed)> = Vec::new();
    for touched in read(text).unwrap_or_else(|error| panic!("{error}: {text}")).touched {
        let written = text.get(touched.span.start()..touched.span.end()).unwrap();
        assert!(written == touched.path || written.starts_with('"'), "{written}: {touched:?}");
        let deed = (touched.path, touched.deed);
        if !found.contains(&deed) {
            found.push(deed);
        }
    }
    found
}

fn paths(text: &str) -> Vec<String> {
    let mut found: Vec<String> = Vec::new();
    for (path, _) in deeds(text) {
        if !found.contains(&path) {
            found.push(path);
        }
    }
    found
}

fn refused(text: &str) -> &'static str {
    match read(text) {
        Err(Unreadable { code, .. }) => code,
        Ok(Patch { touched, .. }) => panic!("{text}: {touched:?}"),
    }
}

fn link(target: &str) -> Deed {
    Deed::Link(Target::Text(target.into()))
}
