//! What is missing only for a moment. A wall that cannot be had for want of it was not refused, and
//! nobody is to be held by less because of it.

use std::fs;
use std::thread::sleep;
use std::time::Duration;

use palisade_plan::Trial;
use rustix::io::Errno;

/// How long is waited before each further try.
const WAITS: [Duration; 6] = [
    Duration::from_millis(20),
    Duration::from_millis(40),
    Duration::from_millis(80),
    Duration::from_millis(160),
    Duration::from_millis(320),
    Duration::from_millis(640),
];

/// Does something, again and again for a little while as long as it fails for want of something.
pub(super) fn waited<T, E>(
    mut does: impl FnMut() -> Result<T, E>,
    errno: impl Fn(&E) -> Errno,
) -> Result<T, E> {
    let mut done = does();
    for wait in WAITS {
        match &done {
            Err(error) if is_one(errno(error)) => sleep(wait),
            Ok(_) | Err(_) => break,
        }
        done = does();
    }
    done
}

/// Tells what a failed trial amounts to.
pub(super) fn told(what: &'static str, errno: Errno) -> Trial {
    let (what, number) = (what.into(), errno.raw_os_error());
    match is_one(errno) {
        true => Trial::Short { what, errno: number },
        false => Trial::Refused { what, errno: number },
    }
}

/// Returns whether the kernel said so for want of something: processes, memory, descriptors, or
/// namespaces where they are counted and not forbidden.
pub(super) fn is_one(errno: Errno) -> bool {
    match errno {
        Errno::AGAIN | Errno::NOMEM | Errno::MFILE | Errno::NFILE => true,
        Errno::NOSPC => !is_none_allowed(&|path| fs::read_to_string(path).ok()),
        _ => false,
    }
}

/// Returns whether a count of namespaces is 0 (namespaces(7)): then there never is one.
fn is_none_allowed(read: &dyn Fn(&str) -> Option<String>) -> bool {
    ["user", "mnt", "pid", "net", "ipc", "uts", "cgroup"].iter().any(|kind| {
        let most = read(&format!("/proc/sys/user/max_{kind}_namespaces"));
        most.is_some_and(|most| most.trim() == "0")
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_shortage_is_told_apart_from_a_refusal() {
        for errno in [Errno::AGAIN, Errno::NOMEM, Errno::MFILE, Errno::NFILE] {
            assert!(matches!(told("x", errno), Trial::Short { .. }), "{errno}");
        }
        for errno in [Errno::PERM, Errno::NOSYS, Errno::ACCESS, Errno::INVAL, Errno::USERS] {
            assert!(matches!(told("x", errno), Trial::Refused { .. }), "{errno}");
        }
        let one = |kind: &'static str, most: &'static str| {
            move |path: &str| path.contains(kind).then(|| most.to_owned())
        };
        assert!(is_none_allowed(&one("max_user_", "0\n")), "nobody may have any");
        assert!(is_none_allowed(&one("max_net_", "0\n")));
        assert!(!is_none_allowed(&one("max_user_", "6\n")), "all are taken");
        assert!(!is_none_allowed(&|_| None), "nobody knows, and nothing weaker is taken");
    }

    #[test]
    fn a_shortage_is_waited_for_and_a_refusal_is_not() {
        let mut tries = 0;
        let mut later = |works_at: u32, errno: Errno| {
            tries = 0;
            let done = waited(
                || {
                    tries += 1;
                    if tries >= works_at { Ok(()) } else { Err(errno) }
                },
                |errno| *errno,
            );
            (done, tries)
        };
        assert_eq!(later(3, Errno::AGAIN), (Ok(()), 3));
        assert_eq!(later(9, Errno::AGAIN), (Err(Errno::AGAIN), 7));
        assert_eq!(later(3, Errno::PERM), (Err(Errno::PERM), 1));
    }
}
