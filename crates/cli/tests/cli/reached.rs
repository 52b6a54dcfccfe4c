//! A program that the policy denies, reached all the same (Ruling 41): it does no more than any
//! other behind the walls.

use std::fs;
use std::net::TcpListener;
use std::thread;
use std::time::Duration;

use crate::kit::{World, as_both};

/// What the denied program is made to do. It says what it could, and leaves somebody behind.
const PROBE: &str = r"import os, socket, sys, time
home = os.environ['HOME']
def tried(what, act):
    try:
        act()
        print(what)
    except OSError:
        pass
tried('wrote home', lambda: open(home + '/out/made', 'w').close())
tried('wrote /etc', lambda: open('/etc/palisade-made', 'w').close())
tried('read a key', lambda: open(home + '/.ssh/key').read())
tried('connected', lambda: socket.create_connection(('127.0.0.1', int(open('port').read())), 2))
tried('ran', lambda: open('ran', 'w').close())
sys.stdout.flush()
if os.fork() == 0:
    os.setsid()
    if os.fork() == 0:
        time.sleep(2)
        open('late', 'w').close()
    os._exit(0)
";

/// Starts a copy of the program from memory, by its descriptor.
const MEMORY: &str = r"exec perl -e '
    open(my $in, q(<), $ARGV[0]) or die; binmode $in; local $/; my $image = <$in>;
    my $name = q(x); my $fd = syscall(MEMFD, $name, 0); die if $fd < 0;
    open(my $out, q(>&=), $fd) or die; binmode $out; print $out $image; $out->flush();
    exec { qq(/proc/self/fd/$fd) } q(x), @ARGV[1..$#ARGV]; die' $(readlink -f $(command -v python3)) probe.py";

/// Starts it by an empty path at a descriptor.
const AT_EMPTY: &str = r"exec perl -e '
    open(my $in, q(<), $ARGV[0]) or die; my $fd = fileno($in);
    my $empty = qq(\0); my @kept = map { qq($_\0) } (q(x), $ARGV[1]);
    my @set = map { qq($_=$ENV{$_}\0) } keys %ENV;
    my $argv = pack(q(P*) x @kept, @kept) . pack(q(Q), 0);
    my $env = pack(q(P*) x @set, @set) . pack(q(Q), 0);
    syscall(322, $fd, $empty, $argv, $env, 0x1000); die' $(readlink -f $(command -v python3)) probe.py";

const LOADER: &str =
    "$(ls /lib64/ld-linux-x86-64.so.2 /lib/ld-linux-aarch64.so.1 2>/dev/null | head -n 1)";

/// Reaches the denied program by `way`, which a script of the project does, and looks at what it
/// could do.
fn reached(name: &str, way: &str) {
    as_both(|world| {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        listener.set_nonblocking(true).unwrap();
        let world = world.user_policy("commands: { deny: [python3] }\n");
        let home = world.home.file(".ssh/key", "key").file("out/there", "");
        let world = World { home, ..world };
        world.write("probe.py", PROBE);
        world.write("port", listener.local_addr().unwrap().port().to_string());
        world.write("reach.sh", format!("{way}\n"));
        let direct = world.run(&["run", "--", "python3", "probe.py"]);
        assert_eq!(direct.code, Some(126), "{name}: it is denied: {}", direct.stderr);
        assert!(!world.project.path("ran").exists());

        let ran = world.run(&["run", "--", "sh", "reach.sh"]);
        assert_eq!(ran.stdout, "ran\n", "{name}: {:?} {}", ran.code, ran.stderr);
        assert!(world.project.path("ran").exists(), "{name}: the probe works");
        assert!(!world.home.path("out/made").exists(), "{name}");
        assert!(listener.accept().is_err(), "{name}: somebody connected");
        thread::sleep(Duration::from_millis(2500));
        assert!(!world.project.path("late").exists(), "{name}: somebody outlived it");
        assert!(fs::metadata("/etc/palisade-made").is_err(), "{name}");
    });
}

#[test]
fn e018_a_denied_program_under_another_name_gets_no_further() {
    let copy = "cp $(readlink -f $(command -v python3)) tool";
    for (name, way) in [
        ("a script", "python3 probe.py".to_owned()),
        ("another path", "/proc/self/root$(command -v python3) probe.py".into()),
        ("a copy", format!("{copy} && ./tool probe.py")),
        ("a copy elsewhere", format!("{copy} && mv tool /tmp/tool && /tmp/tool probe.py")),
        ("a rename", format!("{copy} && mv tool innocent && ./innocent probe.py")),
        ("a hard link", format!("{copy} && ln tool linked && ./linked probe.py")),
        ("a link", "ln -s $(command -v python3) short && ./short probe.py".into()),
    ] {
        reached(name, &way);
    }
}

#[test]
fn e019_a_denied_program_by_the_loader_or_a_first_line_gets_no_further() {
    reached("the loader", &format!("{LOADER} $(readlink -f $(command -v python3)) probe.py"));
    let line = "{ echo \"#!$(readlink -f $(command -v python3))\"; cat probe.py; } > p && chmod +x p && ./p";
    reached("a first line", line);
    let both = "cp $(readlink -f $(command -v python3)) tool && { echo \"#!$PWD/tool\"; cat probe.py; } > p && chmod +x p && ./p";
    reached("a first line that names a copy", both);
}

#[test]
fn e020_a_denied_program_from_memory_or_a_descriptor_gets_no_further() {
    let memfd = if cfg!(target_arch = "aarch64") { "279" } else { "319" };
    reached("memory", &MEMORY.replace("MEMFD", memfd));
    reached(
        "a descriptor",
        "exec 9< $(readlink -f $(command -v python3)); /proc/self/fd/9 probe.py",
    );
    if cfg!(target_arch = "x86_64") {
        reached("an empty path", AT_EMPTY);
    }
}
