//! System calls that are refused, each asked of the kernel.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;

use palisade_apply::End;
use palisade_plan::seccomp::{Check, Nesting, RULES};

use crate::{Place, all, as_both, out};

#[test]
fn e048_io_uring_does_not_exist() {
    as_both("calls::e048_io_uring_does_not_exist", || {
        let outcome = Place::new().python(
            "import ctypes\n\
             c = ctypes.CDLL(None, use_errno=True)\n\
             for n in (425, 426, 427): print(c.syscall(n, 8, 0), ctypes.get_errno())\n",
        );
        assert_eq!(out(&outcome), "-1 38\n-1 38\n-1 38\n", "{}", all(&outcome));
    });
}

#[test]
fn e050_namespaces_mounts_and_handles_are_refused() {
    as_both("calls::e050_namespaces_mounts_and_handles_are_refused", || {
        let outcome = Place::new().python(
            "import ctypes, os\n\
             c = ctypes.CDLL(None, use_errno=True)\n\
             def call(n, *a):\n\
             \x20   r = c.syscall(n, *a); return ctypes.get_errno() if r < 0 else 'done'\n\
             print('user', call(272, 0x10000000), 'net', call(272, 0x40000000))\n\
             print('clone', call(56, 0x10000011, 0, 0, 0, 0), 'clone3', call(435, 0, 0))\n\
             print('setns', call(308, 0, 0), 'mount', call(165, b'x', b'/tmp', b'tmpfs', 0, 0))\n\
             print('new', [call(n, 0, 0, 0, 0, 0) for n in (428, 429, 430, 431, 432, 433, 442, 467)])\n\
             print('handles', call(303, 0, 0, 0, 0, 0), call(304, 0, 0, 0))\n\
             print('files', call(272, 0x400))\n\
             pid = os.fork()\n\
             if pid == 0: os._exit(5)\n\
             print('fork', os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))\n\
             import threading; t = threading.Thread(target=print, args=('thread',)); t.start(); t.join()\n",
        );
        let expected = "user 1 net 1\nclone 1 clone3 38\nsetns 1 mount 1\n\
            new [1, 1, 1, 1, 1, 1, 1, 1]\nhandles 1 1\nfiles done\nfork 5\nthread\n";
        assert_eq!(out(&outcome), expected, "{}", all(&outcome));
    });
}

#[test]
fn every_rule_of_the_table_is_effective() {
    as_both("calls::every_rule_of_the_table_is_effective", || {
        let always: Vec<_> = RULES
            .iter()
            .filter_map(|rule| match rule.check {
                Check::Always(refusal) => Some((rule.x86_64?, refusal.errno())),
                Check::AnyBit(..)
                | Check::OneOf(..)
                | Check::Both(..)
                | Check::BothBits(..)
                | Check::Socket(_) => None,
            })
            .collect();
        let list: Vec<_> =
            always.iter().map(|(number, errno)| format!("({number},{errno})")).collect();
        let outcome = Place::new().python(&format!(
            "import ctypes\n\
             c = ctypes.CDLL(None, use_errno=True)\n\
             for n, e in [{}]:\n\
             \x20   r = c.syscall(n, -1, -1, -1, -1, -1, -1)\n\
             \x20   if (r, ctypes.get_errno()) != (-1, e): print(n, r, ctypes.get_errno())\n\
             print('end')\n",
            list.join(",")
        ));
        assert_eq!(out(&outcome), "end\n", "{}", all(&outcome));
    });
}

#[test]
fn with_namespaces_inside_no_file_is_made_that_runs_as_its_owner() {
    as_both("calls::with_namespaces_inside_no_file_is_made_that_runs_as_its_owner", || {
        let mut place = Place::new();
        place.order.nesting = Nesting::UserNamespaces;
        // In the sandbox, and as root of a namespace made there.
        let outcome = place.python(
            "import ctypes, os, struct\n\
             c = ctypes.CDLL(None, use_errno=True)\n\
             def call(*a):\n\
             \x20   r = c.syscall(*a); return ctypes.get_errno() if r < 0 else 'done'\n\
             def tries(n):\n\
             \x20   how = struct.pack('QQQ', os.O_CREAT | os.O_WRONLY, 0o6755, 0)\n\
             \x20   print(call(437, -100, f'a{n}'.encode(), how, 24),\n\
             \x20         call(257, -100, f'b{n}'.encode(), os.O_CREAT | os.O_WRONLY, 0o6755),\n\
             \x20         call(257, -100, f'c{n}'.encode(), os.O_CREAT | os.O_WRONLY, 0o755),\n\
             \x20         call(90, f'c{n}'.encode(), 0o4755), call(85, f'd{n}'.encode(), 0o6755))\n\
             tries(0)\n\
             print(call(272, 0x10000000))\n\
             tries(1)\n",
        );
        let expected = "38 1 done 1 1\ndone\n38 1 done 1 1\n";
        assert_eq!(out(&outcome), expected, "{}", all(&outcome));
        for entry in fs::read_dir(place.project.root()).unwrap().flatten() {
            let mode = entry.metadata().unwrap().permissions().mode();
            assert_eq!(mode & 0o6000, 0, "{entry:?}");
        }
    });
}

/// Moves files in all ways; the one that leaves a device behind moves nothing.
pub(crate) const MOVES: &str = "import ctypes, os\n\
    c = ctypes.CDLL(None, use_errno=True)\n\
    def move(one, two, how):\n\
    \x20   return c.renameat2(-100, one, -100, two, how) and ctypes.get_errno()\n\
    os.mkdir('d'); os.chdir('d'); open('one', 'w'); open('two', 'w')\n\
    print(move(b'one', b'three', 4), move(b'one', b'three', 5), sorted(os.listdir('.')))\n\
    print(move(b'one', b'three', 0), move(b'two', b'three', 2), move(b'two', b'three', 1))\n\
    print(sorted(os.listdir('.')))\n";
pub(crate) const MOVED: &str = "1 1 ['one', 'two']\n0 0 17\n['three', 'two']\n";

#[test]
fn moving_a_file_leaves_no_device_behind() {
    as_both("calls::moving_a_file_leaves_no_device_behind", || {
        let outcome = Place::new().python(MOVES);
        assert_eq!(out(&outcome), MOVED, "{}", all(&outcome));
    });
}

#[test]
fn e046_nothing_can_be_typed_into_a_terminal() {
    as_both("calls::e046_nothing_can_be_typed_into_a_terminal", || {
        let outcome = Place::new().python(
            "import fcntl, os, pty, termios\n\
             print(os.getsid(0) == os.getpid())\n\
             a, b = pty.openpty()\n\
             for r in (0x5412, 0x541c, 0x5423):\n\
             \x20   try: fcntl.ioctl(b, r, b'x'); print('done')\n\
             \x20   except OSError as e: print(e.errno)\n\
             termios.tcgetattr(b); print('own terminal')\n\
             try: open('/dev/tty')\n\
             except OSError as e: print('tty', e.errno)\n",
        );
        assert_eq!(out(&outcome), "True\n1\n1\n1\nown terminal\ntty 6\n", "{}", all(&outcome));
    });
}

#[test]
fn e054_keyrings_are_refused_and_shared_memory_is_its_own() {
    as_both("calls::e054_keyrings_are_refused_and_shared_memory_is_its_own", || {
        let place = Place::new();
        let mark = format!("palisade-{}", std::process::id());
        fs::write(format!("/dev/shm/{mark}"), "host").unwrap();
        let outcome = place.python(&format!(
            "import ctypes, os\n\
             c = ctypes.CDLL(None, use_errno=True)\n\
             for n in (248, 249, 250): print(c.syscall(n, 0, 0, 0, 0), ctypes.get_errno())\n\
             print(os.path.exists('/dev/shm/{mark}'))\n\
             open('/dev/shm/own', 'w').write('x'); print(os.listdir('/dev/shm'))\n\
             print(c.shmget(0x5eed, 4096, 0o1600) >= 0, c.msgget(0x5eed, 0o1600) >= 0)\n"
        ));
        fs::remove_file(format!("/dev/shm/{mark}")).unwrap();
        let expected = "-1 1\n-1 1\n-1 1\nFalse\n['own']\nTrue True\n";
        assert_eq!(out(&outcome), expected, "{}", all(&outcome));
        let tables = fs::read_to_string("/proc/sysvipc/shm").unwrap();
        assert!(!tables.contains(&0x5eed.to_string()), "{tables}");
    });
}

#[test]
fn sockets_are_those_of_the_table() {
    as_both("calls::sockets_are_those_of_the_table", || {
        let outcome = Place::new().python(
            "import socket\n\
             def t(*a):\n\
             \x20   try: socket.socket(*a).close(); return 0\n\
             \x20   except OSError as e: return e.errno\n\
             print(t(1,1,0), t(2,1,0), t(2,2,17), t(10,1,6), t(16,3,0))\n\
             print(t(2,2,1), t(2,1,132), t(16,3,12), t(16,3,9), t(40,1,0), t(17,3,0), t(38,5,0))\n",
        );
        assert_eq!(out(&outcome), "0 0 0 0 0\n93 93 93 93 97 97 97\n", "{}", all(&outcome));
    });
}

/// `mov eax, 20; int 0x80` (getpid by the 32-bit way), then `mov edi, eax; mov eax, 60; syscall`
/// to end with what it gave: a whole program in one segment.
#[test]
fn e049_the_ways_of_32_bits_are_closed() {
    if !cfg!(target_arch = "x86_64") {
        return;
    }
    as_both("calls::e049_the_ways_of_32_bits_are_closed", || {
        let place = Place::new();
        // x32: getpid with bit 30.
        let outcome = place.python(
            "import ctypes\n\
             c = ctypes.CDLL(None, use_errno=True)\n\
             print(c.syscall(0x40000000 | 39), ctypes.get_errno())\n",
        );
        assert_eq!(out(&outcome), "-1 38\n", "{}", all(&outcome));
        let outcome = place.python(
            "import ctypes, mmap\n\
             m = mmap.mmap(-1, 4096, prot=7)\n\
             m.write(bytes.fromhex('b814000000cd80c3'))\n\
             f = ctypes.CFUNCTYPE(ctypes.c_long)(ctypes.addressof(ctypes.c_char.from_buffer(m)))\n\
             print('before', flush=True); print(f())\n",
        );
        assert_eq!(out(&outcome), "before\n", "{}", all(&outcome));
        assert_eq!(outcome.end, End::Signalled(31), "SIGSYS");
    });
}
