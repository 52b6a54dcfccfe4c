//! What the kernel's numbers mean, in words.

/// Names what the kernel said, as its manual does, with what that means where walls are made.
pub(crate) fn meaning(errno: i32) -> String {
    let known = KNOWN.iter().find(|(number, ..)| *number == errno);
    known.map_or_else(
        || format!("the kernel says error {errno}"),
        |(_, name, meaning)| format!("{meaning} ({name})"),
    )
}

/// The same numbers on every processor that we know.
const KNOWN: [(i32, &str, &str); 13] = [
    (1, "EPERM", "it is not permitted"),
    (2, "ENOENT", "it is not there"),
    (11, "EAGAIN", "there are too many processes"),
    (12, "ENOMEM", "there is not enough memory"),
    (13, "EACCES", "access is denied"),
    (16, "EBUSY", "it is in use"),
    (22, "EINVAL", "the kernel or the filesystem does not know how"),
    (23, "ENFILE", "too many files are open on this machine"),
    (24, "EMFILE", "too many files are open"),
    (28, "ENOSPC", "the limit of namespaces is reached, here or in what is around this"),
    (38, "ENOSYS", "the kernel has no such call, or a filter hides it"),
    (87, "EUSERS", "namespaces are nested too deeply"),
    (95, "EOPNOTSUPP", "the filesystem does not support it"),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_have_names_and_meanings() {
        assert!(meaning(28).ends_with("is reached, here or in what is around this (ENOSPC)"));
        assert_eq!(meaning(4095), "the kernel says error 4095");
        assert!(KNOWN.is_sorted_by_key(|(number, ..)| *number));
    }
}
