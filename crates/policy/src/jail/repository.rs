//! What git keeps for itself.

/// Whether a path is one that a repository stands on, or that says where its parts lie. Messages
/// and what is to be ignored are anybody's to write.
pub(crate) fn is_kept_by_git(path: &str) -> bool {
    let Some((_, inside)) = path.split_once("/.git/") else { return path.ends_with("/.git") };
    let (first, rest) = inside.split_once('/').unwrap_or((inside, ""));
    match first {
        "HEAD" | "commondir" | "config.worktree" | "index" | "modules" | "objects"
        | "packed-refs" | "refs" | "shallow" | "worktrees" => !path.ends_with(".lock"),
        "info" => matches!(rest, "attributes" | "grafts"),
        _ => false,
    }
}

/// Whether a path lies in what git keeps; locks that were left behind are nobody's work.
pub(crate) fn of_repository(path: &str) -> bool {
    path.contains("/.git/") && !path.ends_with(".lock")
}
