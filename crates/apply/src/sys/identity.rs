//! Who is calling: the effective user, the home that the user table gives them, and the room they
//! leave us.

use std::ffi::OsStr;
use std::fs::File;
use std::io::Read as _;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};

/// The user table, and the most we read of it; only its beginning is looked at when it is longer.
const PASSWD: &str = "/etc/passwd";
const MAX_PASSWD: u64 = 1 << 20;

/// Returns the user whose rights this process has.
pub fn effective_uid() -> u32 {
    rustix::process::geteuid().as_raw()
}

/// Returns how large the stack of this process may become, if that is bounded (`ulimit -s`).
pub fn stack_limit() -> Option<u64> {
    rustix::process::getrlimit(rustix::process::Resource::Stack).current
}

/// Returns the home folder that this machine's user table names for `uid`, if it names one.
///
/// Users that live elsewhere (LDAP, systemd-homed) are not found: for them `HOME` must be set.
pub fn home_of(uid: u32) -> Option<PathBuf> {
    // Room for most of them: what grows is read in many small pieces.
    let mut text = Vec::with_capacity(8192);
    File::open(PASSWD).ok()?.take(MAX_PASSWD).read_to_end(&mut text).ok()?;
    home_in_passwd(&text, uid)
}

/// Returns the home folder of `uid` in the text of a user table (passwd(5)).
///
/// The first line of a user counts, as it does for getpwuid(3). A home that is not an absolute
/// path is none.
pub fn home_in_passwd(text: &[u8], uid: u32) -> Option<PathBuf> {
    let uid = uid.to_string();
    let line = text.split(|byte| *byte == b'\n').find(|line| {
        // `+` and `-` lines are compat entries for NIS, not users.
        !line.starts_with(b"+") && !line.starts_with(b"-") && field(line, 2) == uid.as_bytes()
    })?;
    let home = Path::new(OsStr::from_bytes(field(line, 5)));
    home.is_absolute().then(|| home.to_owned())
}

/// Returns the field at `index`, or nothing where the line is too short.
fn field(line: &[u8], index: usize) -> &[u8] {
    line.split(|byte| *byte == b':').nth(index).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_home_is_the_one_of_the_first_line_of_that_uid() {
        let text = b"root:x:0:0:root:/root:/bin/sh\n\
            +:x:7:7::/nis:/bin/sh\n\
            ann:x:1000:1000:Ann,,,:/home/ann:/bin/sh\n\
            twin:x:1000:1000::/home/twin:/bin/sh\n\
            rel:x:1001:1001::home/rel:/bin/sh\n\
            none:x:1002:1002:::/bin/sh\n\
            short:x:1003\n\
            latin:x:1004:1004::/home/\xE9:/bin/sh";
        #[rustfmt::skip]
        let cases: [(u32, Option<&[u8]>, &str); 9] = [
            // uid  home                    because
            (0,     Some(b"/root"),         "an ordinary line"),
            (1000,  Some(b"/home/ann"),     "the first line of a uid counts"),
            (1004,  Some(b"/home/\xE9"),    "bytes are kept, and the last newline may be missing"),
            (7,     None,                   "a compat line is not a user"),
            (10,    None,                   "a prefix of another uid is another user"),
            (1001,  None,                   "a relative home is none"),
            (1002,  None,                   "an empty home is none"),
            (1003,  None,                   "a line that is too short has no home"),
            (4242,  None,                   "nobody with that uid"),
        ];
        for (uid, expected, because) in cases {
            let expected = expected.map(|home| PathBuf::from(OsStr::from_bytes(home)));
            assert_eq!(home_in_passwd(text, uid), expected, "{uid}: {because}");
        }
    }

    #[test]
    fn any_bytes_are_survived() {
        for text in [&b""[..], b"\n\n", b":::::", b"\0\xFF:\n:", b"x:x:0:0::/r\0oot:"] {
            home_in_passwd(text, 0);
        }
    }
}
