//! One test in a process of its own: as another user, with limits, or to be killed.

use std::env;
use std::fs;
use std::io;
use std::os::unix::fs::PermissionsExt as _;
use std::os::unix::process::{CommandExt as _, ExitStatusExt as _};
use std::path::Path;
use std::process::{Command, Stdio};
use std::thread;
use std::time::Duration;

use tempfile::TempDir;

use crate::need::missing;
use crate::{Fact, Need};

/// The uid and gid of "nobody", which owns nothing that a test makes.
const NOBODY: u32 = 65534;

/// Says that this process is the child; its value is the name of the test.
const CHILD: &str = "PALISADE_TEST_CHILD";

/// Whose turn it is in a test that runs in two processes.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
#[must_use]
pub enum Turn {
    /// This process runs the body of the test.
    Mine,
    /// The child has run it (or it was skipped, loudly): return.
    Done,
}

/// Makes sure that the rest of the test `name` runs as an ordinary user.
///
/// `name` is the full name within its binary, as `cargo test` prints it. Under root the test
/// binary starts once more as uid and gid 65534, for this one test; otherwise this process will do.
///
/// # Panics
///
/// When the test fails in the child, or does not exist under that name.
pub fn ordinary_user(name: &str) -> Turn {
    if !rustix::process::geteuid().is_root() {
        return Turn::Mine;
    }
    // The binary usually lies in a folder of root's that nobody else may enter.
    let place = TempDir::with_prefix("palisade-child-").expect("a temporary folder");
    let program = place.path().join("test");
    fs::copy(env::current_exe().expect("the test binary"), &program).expect("a copy of it");
    for path in [place.path(), &program] {
        fs::set_permissions(path, fs::Permissions::from_mode(0o755)).expect("a mode");
    }

    let mut command = for_one_test(&program, name);
    command.uid(NOBODY).gid(NOBODY).current_dir(place.path()).env_remove("HOME");
    match run(&mut command, name) {
        Ok(()) => {}
        Err(error) => {
            let because = format!("becoming uid {NOBODY} failed: {error}");
            assert_eq!(missing(Fact::OtherUser, &because), Need::Skip);
        }
    }
    Turn::Done
}

/// Runs the test `name` once more in a child that `shell` prepares: it must end in `exec "$@"`.
///
/// In the child this returns [`Turn::Mine`].
///
/// # Panics
///
/// When the test fails in the child, or does not exist under that name.
///
/// # Examples
///
/// ```no_run
/// use palisade_testkit::{Turn, in_child};
///
/// if in_child("tests::few_descriptors", r#"ulimit -n 16; exec "$@""#) == Turn::Done {
///     return;
/// }
/// ```
pub fn in_child(name: &str, shell: &str) -> Turn {
    if env::var_os(CHILD).is_some_and(|child| child == name) {
        return Turn::Mine;
    }
    let inner = for_one_test(&env::current_exe().expect("the test binary"), name);
    let mut command = Command::new("/bin/sh");
    command.args(["-c", shell, "sh"]).arg(inner.get_program()).args(inner.get_args());
    command.env(CHILD, name);
    run(&mut command, name).expect("a shell");
    Turn::Done
}

/// Runs the test `name` once more in a child with the variable `var`, and kills it after `time`.
///
/// The test must see by the variable that it is the child.
///
/// # Panics
///
/// When the child cannot be started, or ended by itself before its time.
pub fn killed_after(name: &str, var: (&str, &Path), time: Duration) {
    let program = env::current_exe().expect("the test binary");
    let mut command = for_one_test(&program, name);
    command.env(var.0, var.1).stdout(Stdio::null()).stderr(Stdio::null());
    let mut child = command.spawn().expect("a child");
    thread::sleep(time);
    child.kill().expect("a child to kill");
    let status = child.wait().expect("the end of the child");
    assert!(status.signal().is_some(), "`{name}` in a child ended by itself: {status}");
}

fn for_one_test(program: &Path, name: &str) -> Command {
    let mut command = Command::new(program);
    command.args([name, "--exact", "--nocapture", "--test-threads=1"]).env(CHILD, name);
    command
}

fn run(command: &mut Command, name: &str) -> io::Result<()> {
    let output = loop {
        match command.output() {
            // Another thread's child still holds the copy that was just written open; it is about
            // to execute, or to close it.
            Err(error) if error.kind() == io::ErrorKind::ExecutableFileBusy => {
                thread::sleep(Duration::from_millis(10));
            }
            outcome => break outcome?,
        }
    };
    let stdout = String::from_utf8_lossy(&output.stdout);
    let stderr = String::from_utf8_lossy(&output.stderr);
    // A name that matches nothing also ends with success, so success alone proves nothing.
    assert!(
        output.status.success() && stdout.contains("1 passed"),
        "`{name}` in a child: {}\n{stdout}\n{stderr}",
        output.status,
    );
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_ordinary_user_cannot_read_a_file_of_root() {
        if ordinary_user("child::tests::an_ordinary_user_cannot_read_a_file_of_root") == Turn::Done
        {
            return;
        }
        assert!(!rustix::process::geteuid().is_root());
        assert!(fs::read("/etc/passwd").is_ok());
        assert!(fs::read("/etc/shadow").is_err());
    }

    #[test]
    fn a_child_lives_under_the_limits_of_its_shell() {
        let name = "child::tests::a_child_lives_under_the_limits_of_its_shell";
        if in_child(name, r#"PREPARED=yes exec "$@""#) == Turn::Done {
            return;
        }
        assert_eq!(env::var("PREPARED").as_deref(), Ok("yes"));
    }

    #[test]
    fn a_child_that_would_run_on_is_killed() {
        if env::var_os("PALISADE_TEST_RUN_ON").is_some() {
            return thread::sleep(Duration::from_secs(60));
        }
        let name = "child::tests::a_child_that_would_run_on_is_killed";
        let var = ("PALISADE_TEST_RUN_ON", Path::new("yes"));
        killed_after(name, var, Duration::from_millis(50));
    }

    #[test]
    #[should_panic(expected = "in a child")]
    fn a_name_that_matches_no_test_is_a_failure() {
        assert_eq!(in_child("child::tests::no_such_test", r#"exec "$@""#), Turn::Done);
    }
}
