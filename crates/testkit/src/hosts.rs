//! Hosts that refuse something, as shell texts: each prepares a process and ends in `exec "$@"`.

/// Refuses user namespaces by a filter, as containers do: EPERM for unshare(2) and clone(2) with
/// `CLONE_NEWUSER`, ENOSYS for clone3(2).
pub const FILTERED: &str = r#"exec /usr/bin/python3 -c '
import ctypes, os, signal, struct, sys
signal.signal(signal.SIGXFSZ, signal.SIG_DFL)
signal.signal(signal.SIGPIPE, signal.SIG_DFL)
c = ctypes.CDLL(None, use_errno=True)
clone, unshare, seccomp = {"x86_64": (56, 272, 317), "aarch64": (220, 97, 277)}[os.uname().machine]
line = lambda code, yes, no, k: struct.pack("<HBBI", code, yes, no, k)
text = b"".join([line(0x20, 0, 0, 0), line(0x15, 5, 0, 435), line(0x15, 1, 0, clone),
    line(0x15, 0, 2, unshare), line(0x20, 0, 0, 16), line(0x45, 2, 0, 0x10000000),
    line(6, 0, 0, 0x7fff0000), line(6, 0, 0, 0x50000 | 38), line(6, 0, 0, 0x50000 | 1)])
code = ctypes.create_string_buffer(text)
program = ctypes.create_string_buffer(struct.pack("<HxxxxxxQ", len(text) // 8, ctypes.addressof(code)))
assert c.prctl(38, 1, 0, 0, 0) == 0
assert c.syscall(seccomp, 1, 0, program) == 0, ctypes.get_errno()
os.execvp(sys.argv[1], sys.argv[1:])' "$@""#;

/// Has no Landlock either: landlock_create_ruleset(2) answers ENOSYS.
pub const BARE: &str = r#"exec /usr/bin/python3 -c '
import ctypes, os, signal, struct, sys
signal.signal(signal.SIGPIPE, signal.SIG_DFL)
c = ctypes.CDLL(None, use_errno=True)
seccomp = {"x86_64": 317, "aarch64": 277}[os.uname().machine]
line = lambda code, yes, no, k: struct.pack("<HBBI", code, yes, no, k)
text = b"".join([line(0x20, 0, 0, 0), line(0x15, 0, 1, 444), line(6, 0, 0, 0x50000 | 38),
    line(6, 0, 0, 0x7fff0000)])
code = ctypes.create_string_buffer(text)
program = ctypes.create_string_buffer(struct.pack("<HxxxxxxQ", len(text) // 8, ctypes.addressof(code)))
assert c.prctl(38, 1, 0, 0, 0) == 0
assert c.syscall(seccomp, 1, 0, program) == 0, ctypes.get_errno()
os.execvp(sys.argv[1], sys.argv[1:])' "$@""#;

/// Refuses user namespaces by a limit: a user namespace of its own, in which no further ones may be
/// made. There are no capabilities.
pub const COUNTED: &str = r#"exec unshare -U -r sh -c 'echo 0 > /proc/sys/user/max_user_namespaces; exec setpriv --bounding-set=-all --inh-caps=-all -- "$@"' sh "$@""#;

/// Takes root's capabilities; it comes before another text.
pub const DROPPED: &str =
    r#"[ $(id -u) != 0 ] || set -- setpriv --bounding-set=-all --inh-caps=-all -- "$@"; "#;
