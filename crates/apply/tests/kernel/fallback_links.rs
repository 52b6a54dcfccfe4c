//! New names for what is hidden or protected, and names of another kind, where namespaces cannot be
//! had: rights go with folders there, so a name in an open folder would open what lies behind it.

use std::fs;
use std::os::unix::fs::FileTypeExt as _;

use palisade_testkit::Project;

use crate::fallback::{accepting, blocked};
use crate::{Place, all, out, pattern};

/// Tries to give what lies at a path another name in a folder, in every way that there is.
const RENAMING: &str = "import ctypes, os\n\
    c = ctypes.CDLL(None, use_errno=True)\n\
    here = -100\n\
    def ways(what, to):\n\
    \x20   yield 'link', lambda name: os.link(what, name)\n\
    \x20   yield 'rename', lambda name: os.rename(what, name)\n\
    \x20   yield 'exchange', lambda name: exchange(what, name)\n\
    \x20   yield 'by number', lambda name: by_number(what, name, 0x1000, '')\n\
    \x20   yield 'by proc', lambda name: by_number(what, name, 0x400, None)\n\
    def checked(done):\n\
    \x20   if done: raise OSError(ctypes.get_errno(), '')\n\
    def exchange(what, name):\n\
    \x20   open(name, 'w').close()\n\
    \x20   try: checked(c.renameat2(here, what.encode(), here, name.encode(), 2))\n\
    \x20   except OSError: os.remove(name); raise\n\
    def by_number(what, name, flags, text):\n\
    \x20   fd = os.open(what, os.O_PATH | os.O_NOFOLLOW)\n\
    \x20   old = (fd, b'') if text == '' else (here, b'/proc/self/fd/%d' % fd)\n\
    \x20   try: checked(c.linkat(old[0], old[1], here, name.encode(), flags))\n\
    \x20   finally: os.close(fd)\n\
    def tried(what, to):\n\
    \x20   for number, (way, does) in enumerate(ways(what, to)):\n\
    \x20       name = f'{to}/new{number}'\n\
    \x20       try: does(name); print(what, to, way)\n\
    \x20       except OSError: pass\n";

#[test]
fn without_namespaces_what_is_hidden_or_protected_gets_no_other_name() {
    let name = "fallback_links::without_namespaces_what_is_hidden_or_protected_gets_no_other_name";
    blocked(name, || {
        let project = Project::new()
            .file("a/deep/token", "secret\n")
            .file("a/deep/beside", "beside\n")
            .file("a/open/plain", "plain\n")
            .file("a/.git/config", "config\n")
            .file("b/plain", "plain\n")
            .file("vault/key", "secret\n")
            .file("vault/in/key", "secret\n");
        let mut place = accepting(Place::with(project));
        let (root, home) = (place.project.root().to_owned(), place.home.root().to_owned());
        place.order.hide.push(pattern(&root, "**/token"));
        place.order.hide.push(pattern(&root, "vault"));
        let outcome = place.python(&format!(
            "{RENAMING}\
             held = ['a', 'a/deep', 'a/deep/token', 'a/.git', 'a/.git/config', 'vault', 'vault/in', \
             'vault/key', 'vault/in/key', '{0}/.ssh', '{0}/.ssh/id', '{0}/notes', '.']\n\
             for what in held:\n\
             \x20   for to in ('b', 'a/open', 'a', 'a/deep', '.', 'vault', os.environ['TMPDIR']):\n\
             \x20       tried(what, to)\n\
             os.link('b/plain', 'a/open/linked'); os.rename('b/plain', 'a/open/moved')\n\
             print(open('a/open/moved').read(), end='')\n",
            home.display()
        ));
        assert_eq!(out(&outcome), "plain\n", "{}", all(&outcome));
        let read = |path: &str| fs::read_to_string(root.join(path)).unwrap_or_default();
        for (path, text) in [
            ("a/deep/token", "secret\n"),
            ("a/.git/config", "config\n"),
            ("vault/key", "secret\n"),
            ("vault/in/key", "secret\n"),
            ("a/open/linked", "plain\n"),
        ] {
            assert_eq!(read(path), text, "{path}");
        }
        let names = |path: &str| fs::read_dir(root.join(path)).unwrap().count();
        assert_eq!((names("b"), names("a/open"), names("a"), names("a/deep")), (0, 3, 3, 2));
    });
}

#[test]
fn without_namespaces_no_socket_and_no_device_can_be_made_and_a_pipe_can() {
    let name =
        "fallback_links::without_namespaces_no_socket_and_no_device_can_be_made_and_a_pipe_can";
    blocked(name, || {
        let place = accepting(Place::with(Project::new().file("src/plain", "plain\n")));
        let outcome = place.python(
            "import errno, os, socket, stat\n\
             def tried(what, does):\n\
             \x20   try: does(); print(what, 'done')\n\
             \x20   except OSError as e: print(what, errno.errorcode[e.errno])\n\
             def made(kind, device=0): return lambda: os.mknod(f'src/{kind}', 0o600 | kind, device)\n\
             tried('bound', lambda: socket.socket(socket.AF_UNIX).bind('src/bound'))\n\
             tried('pair', lambda: socket.socketpair()[0].bind('src/pair'))\n\
             tried('pair here', lambda: socket.socketpair(type=socket.SOCK_SEQPACKET)[0].bind('here'))\n\
             tried('node', made(stat.S_IFSOCK))\n\
             tried('characters', made(stat.S_IFCHR))\n\
             tried('null', made(stat.S_IFCHR, os.makedev(1, 3)))\n\
             tried('blocks', made(stat.S_IFBLK, os.makedev(8, 0)))\n\
             tried('pipe', made(stat.S_IFIFO))\n",
        );
        let refused = |what: &str, how: &str| format!("{what} {how}\n");
        let text = out(&outcome);
        let lines: Vec<&str> = text.lines().collect();
        assert_eq!(lines.len(), 8, "{}", all(&outcome));
        assert_eq!(lines.first(), Some(&"bound EAFNOSUPPORT"), "{}", all(&outcome));
        for what in ["pair", "pair here", "node", "characters"] {
            assert!(text.contains(&refused(what, "EACCES")), "{what}: {}", all(&outcome));
        }
        for what in ["null", "blocks"] {
            assert!(!text.contains(&refused(what, "done")), "{what}: {}", all(&outcome));
        }
        assert!(text.ends_with("pipe done\n"), "{}", all(&outcome));
        let found = fs::read_dir(place.project.path("src")).unwrap().flatten();
        let odd = found.filter(|entry| !entry.file_type().unwrap().is_file());
        let odd: Vec<_> = odd.map(|entry| entry.file_type().unwrap().is_fifo()).collect();
        assert_eq!(odd, [true], "the pipe and nothing else");
    });
}
