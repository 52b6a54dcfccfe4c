//! What a model would say: mistakes that the agent knows, and how each is mended.

const MENDS: [(&str, &str); 5] = [
    ("while [ \"$i\" -lt \"$1\" ]", "while [ \"$i\" -le \"$1\" ]"),
    ("for name in $*;", "for name in \"$@\";"),
    ("exit 0\nfi", "exit 3\nfi"),
    ("Helo", "Hello"),
    ("port = 8008", "port = 8080"),
];

/// Returns a text without the first mistake that is known; none if there is none in it.
pub(crate) fn mended(text: &str) -> Option<String> {
    let (wrong, right) = MENDS.into_iter().find(|(wrong, _)| text.contains(wrong))?;
    Some(text.replacen(wrong, right, 1))
}

/// Returns the file that a goal speaks of: what stands first between backquotes, up to a blank.
pub(crate) fn subject(goal: &str) -> Option<&str> {
    let names = goal.split('`').skip(1).step_by(2);
    let mut names = names.filter_map(|name| name.split_whitespace().next());
    names.find(|name| name.contains('.'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_file_of_a_goal_is_found() {
        assert_eq!(subject("`sum.sh N` is wrong; `sh test.sh`"), Some("sum.sh"));
        assert_eq!(subject("in `server.ini` it must be 8080"), Some("server.ini"));
        assert_eq!(subject("mend it"), None);
    }
}
