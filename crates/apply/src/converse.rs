//! A program of the user's own that is asked something: it reads one text and writes one.

use std::ffi::OsString;
use std::io::{self, Read as _, Write as _};
use std::os::unix::process::CommandExt as _;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::process::{Pid, Signal, kill_process_group};

/// Starts a program, hands it `input`, and returns what it writes, if it ends well and in time. It is
/// not confined. Whatever it started in its group is ended with it.
///
/// # Errors
///
/// When it cannot be started, takes too long, writes more than `most`, or ends with another code
/// than 0.
pub fn converse(
    program: &Path,
    environment: &[(OsString, OsString)],
    input: Vec<u8>,
    time: Duration,
    most: usize,
) -> io::Result<Vec<u8>> {
    let due = Instant::now() + time;
    let mut command = Command::new(program);
    command.env_clear().envs(environment.iter().map(|(name, value)| (name, value)));
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null()).process_group(0);
    let mut child = command.current_dir("/").spawn()?;
    // It may read nothing, and then nobody waits for it.
    if let Some(mut stdin) = child.stdin.take() {
        std::thread::spawn(move || stdin.write_all(&input).ok());
    }
    let answer = heard(&mut child, due, most);
    end(&mut child);
    answer
}

fn heard(child: &mut Child, due: Instant, most: usize) -> io::Result<Vec<u8>> {
    let late = || io::Error::new(io::ErrorKind::TimedOut, "it took too long");
    let mut bytes = Vec::new();
    if let Some(mut stdout) = child.stdout.take() {
        loop {
            let left = due.saturating_duration_since(Instant::now());
            let wait = Timespec {
                tv_sec: i64::try_from(left.as_secs()).unwrap_or(i64::MAX),
                tv_nsec: left.subsec_nanos().into(),
            };
            match poll(&mut [PollFd::new(&stdout, PollFlags::IN)], Some(&wait)) {
                Ok(0) => return Err(late()),
                Ok(_) => {}
                Err(rustix::io::Errno::INTR) => continue,
                Err(errno) => return Err(errno.into()),
            }
            let mut piece = [0; 4096];
            let read = stdout.read(&mut piece)?;
            bytes.extend(piece.into_iter().take(read));
            if read == 0 {
                break;
            }
            if bytes.len() > most {
                return Err(io::Error::new(io::ErrorKind::InvalidData, "it says too much"));
            }
        }
    }
    loop {
        match child.try_wait()? {
            Some(status) if status.success() => return Ok(bytes),
            Some(status) => return Err(io::Error::other(format!("it ended with {status}"))),
            None if Instant::now() >= due => return Err(late()),
            None => std::thread::sleep(Duration::from_millis(1)),
        }
    }
}

/// Ends it and its group.
fn end(child: &mut Child) {
    if let Some(group) = i32::try_from(child.id()).ok().and_then(Pid::from_raw) {
        kill_process_group(group, Signal::KILL).ok();
    }
    child.kill().ok();
    child.wait().ok();
}

#[cfg(test)]
mod tests {
    use super::*;

    fn asked(script: &str, time: Duration) -> io::Result<String> {
        let folder = palisade_testkit::Project::new().file("ask", format!("#!/bin/sh\n{script}\n"));
        let path = folder.path("ask");
        let mode = std::os::unix::fs::PermissionsExt::from_mode(0o700);
        std::fs::set_permissions(&path, mode).unwrap();
        let environment = [("PATH".into(), "/usr/bin:/bin".into())];
        let heard = converse(&path, &environment, b"question".to_vec(), time, 1000)?;
        Ok(String::from_utf8(heard).unwrap())
    }

    #[test]
    fn only_a_program_that_ends_well_and_in_time_has_said_something() {
        let second = Duration::from_secs(20);
        assert_eq!(asked("cat; echo", second).unwrap(), "question\n");
        assert_eq!(asked("echo yes", second).unwrap(), "yes\n", "whether it reads or not");
        assert!(asked("echo yes; exit 1", second).is_err());
        assert!(asked("echo yes; kill -9 $$", second).is_err());
        assert!(asked("yes", second).is_err(), "too much");
        let short = Duration::from_millis(300);
        assert_eq!(asked("echo yes; sleep 60", short).unwrap_err().kind(), io::ErrorKind::TimedOut);
        assert_eq!(
            asked("exec >&-; sleep 60", short).unwrap_err().kind(),
            io::ErrorKind::TimedOut,
            "who closes its output has not ended"
        );
        assert!(converse(Path::new("/no/such"), &[], Vec::new(), second, 9).is_err());
    }
}
