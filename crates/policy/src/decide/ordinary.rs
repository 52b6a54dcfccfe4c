//! Tools that most commands are of, and that little is to be said of.

/// Tells tools of which the passes by name know nothing: `settle`, `unseen`, `wholesale`, `carries`,
/// `whole_trees`, `git` and `note_fetched` need not be asked, one after the other, about each of
/// them.
pub(super) fn is_ordinary(name: &str) -> bool {
    matches!(
        name,
        "awk"
            | "basename"
            | "cat"
            | "cut"
            | "date"
            | "dirname"
            | "du"
            | "echo"
            | "head"
            | "ls"
            | "md5sum"
            | "printf"
            | "pwd"
            | "sort"
            | "stat"
            | "tail"
            | "tr"
            | "uniq"
            | "wc"
            | "which"
            | "xargs"
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns what stands from one text on, up to another.
    fn part<'s>(source: &'s str, from: &str, to: &str) -> &'s str {
        let (_, rest) = source.split_once(from).unwrap();
        rest.split_once(to).unwrap().0
    }

    #[test]
    fn no_pass_by_name_knows_an_ordinary_tool() {
        let own = part(include_str!("ordinary.rs"), "matches!(", ")");
        let names: Vec<&str> = own.split('"').skip(1).step_by(2).collect();
        assert!(names.len() > 20 && names.iter().all(|name| is_ordinary(name)));
        assert!(!is_ordinary("find") && !is_ordinary("git") && !is_ordinary(""));
        let bulk = include_str!("bulk.rs");
        let passes = [
            part(bulk, "fn wholesale(", "    /// Members of an archive"),
            part(bulk, "fn settle(", "    /// Whether a name with an ending"),
            include_str!("unseen.rs"),
            include_str!("sent.rs"),
            include_str!("tree.rs"),
            include_str!("fetched.rs"),
            include_str!("git.rs"),
        ];
        for (name, pass) in names.iter().flat_map(|name| passes.map(|pass| (name, pass))) {
            assert!(!pass.contains(&format!("\"{name}\"")), "{name} is known to a pass");
        }
    }
}
