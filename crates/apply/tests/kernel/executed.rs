//! The walls hold whatever is executed, and however it was reached (Ruling 41): nobody looks at the
//! words of what a program starts, and nobody has to.

use std::fs;
use std::time::{Duration, Instant};

use crate::network::Server;
use crate::{Place, all, as_both, out, outside};

/// Tries everything that must fail, and says what did not. It leaves somebody behind.
const PROBE: &str = r#"#!/bin/sh
(echo x > "$OUTSIDE/made") 2>/dev/null && [ "$OUTSIDE" = "${OUTSIDE#/tmp}" ] && echo wrote outside
(echo x > /etc/palisade-made) 2>/dev/null && echo wrote /etc
(echo x > ~/made) 2>/dev/null && echo wrote home
(cat ~/.ssh/id) 2>/dev/null | grep -q . && echo read hidden
/usr/bin/python3 -c "import socket; socket.create_connection(('127.0.0.1', $PORT), 2)" 2>/dev/null && echo connected
setsid sh -c 'trap "" TERM HUP; sleep 3; echo x > late' >/dev/null 2>&1 &
echo ran
"#;

/// Starts a file from memory, which no path leads to.
const MEMFD: &str = "import os; f = os.memfd_create('x', 0); \
    os.write(f, open('/bin/sh', 'rb').read()); \
    os.execve(f, ['sh', 'probe.sh'], os.environ)";

/// Each way to start the probe, by its name.
const WAYS: [(&str, &str); 15] = [
    ("a path", "./probe.sh"),
    ("bash -c", "bash -c './probe.sh'"),
    ("sh -lc", "sh -lc './probe.sh'"),
    ("eval", "eval \"$(printf '\\056/probe.sh')\""),
    ("xargs", "echo ./probe.sh | xargs sh -c"),
    ("find -exec", "find . -name probe.sh -exec sh {} \\;"),
    ("env -S", "env -S 'sh ./probe.sh'"),
    (
        "script",
        "command -v script >/dev/null || { ./probe.sh; exit; }; script -qec ./probe.sh /dev/null | tr -d '\\r'",
    ),
    ("a copy", "cp /bin/sh ./renamed && ./renamed probe.sh"),
    ("a rename", "cp probe.sh p2 && mv p2 innocent && ./innocent"),
    ("a hard link", "ln probe.sh linked && ./linked"),
    ("another path", "/proc/self/root$(command -v sh) probe.sh"),
    (
        "the loader",
        "$(ls /lib64/ld-linux-x86-64.so.2 /lib/ld-linux-aarch64.so.1 2>/dev/null | head -1) /bin/sh probe.sh",
    ),
    ("an interpreter", "/usr/bin/python3 -c \"import subprocess; subprocess.run(['./probe.sh'])\""),
    ("memory", "/usr/bin/python3 memfd.py"),
];

#[test]
fn e010_whatever_is_executed_and_however_the_walls_hold() {
    as_both("executed::e010_whatever_is_executed_and_however_the_walls_hold", || {
        let mut place = Place::new();
        let (_kept, outside) = outside();
        let server = Server::new();
        let port = server.1.to_string();
        for (name, value) in [("OUTSIDE", outside.to_str().unwrap()), ("PORT", port.as_str())] {
            place.order.environment.push((name.into(), value.into()));
        }
        let probe = place.project.path("probe.sh");
        fs::write(&probe, PROBE).unwrap();
        fs::set_permissions(&probe, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
        fs::write(place.project.path("memfd.py"), MEMFD).unwrap();
        let begun = Instant::now();
        for (way, script) in WAYS {
            let outcome = place.sh(script);
            assert_eq!(out(&outcome), "ran\n", "{way}: {}", all(&outcome));
        }
        assert_eq!(fs::read_dir(&outside).unwrap().count(), 0, "something was made outside");
        assert!(!place.home.path("made").exists());
        // Whoever was left behind would have written by now.
        std::thread::sleep(
            Duration::from_secs(4).saturating_sub(begun.elapsed().min(Duration::from_secs(1))),
        );
        assert!(!place.project.path("late").exists(), "somebody has survived");
    });
}

/// The other half: outside of the walls the probe does all of it.
#[test]
fn the_probe_of_what_is_executed_succeeds_where_there_are_no_walls() {
    let place = Place::new();
    let (_kept, outside) = outside();
    let server = Server::new();
    let port = server.1.to_string();
    let probe = PROBE
        .replace("[ \"$OUTSIDE\" = \"${OUTSIDE#/tmp}\" ] && ", "")
        .replace("/etc/palisade-made", "$OUTSIDE/etc");
    let output = std::process::Command::new("/bin/sh")
        .args(["-c", &probe])
        .current_dir(place.project.root())
        .env("HOME", place.home.root())
        .env("OUTSIDE", &outside)
        .env("PORT", port)
        .output()
        .unwrap();
    let text = String::from_utf8_lossy(&output.stdout);
    assert_eq!(text, "wrote outside\nwrote /etc\nwrote home\nread hidden\nconnected\nran\n");
    let begun = Instant::now();
    while !place.project.path("late").exists() {
        assert!(begun.elapsed() < Duration::from_secs(30), "nobody was left");
        std::thread::sleep(Duration::from_millis(50));
    }
}
