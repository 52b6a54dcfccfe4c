//! What the functions of Python's libraries mean.

use crate::command::code::meaning::{Form, Meaning};
use crate::command::{Concern, Extent};

pub(super) fn function(path: &str) -> Option<Meaning> {
    use Concern::{
        Backdoor, Container, Evaluates, Exfiltrates, Interactive, Privilege, Processes, Spawns,
    };
    use Meaning::{
        Argv, Attribute, Code, Connect, Fetch, Import, Load, Open, Raise, Script, Send, Shell,
        Socket,
    };
    let (module, name) = path.split_once('.').unwrap_or(("", path));
    Some(match (module, name) {
        ("", "eval" | "exec" | "compile") => Code(0),
        ("", "execfile") => Script(0),
        ("", "__import__") | ("importlib", "import_module" | "__import__") => Import(0),
        ("", "getattr") => Attribute,
        ("", "__builtins__" | "__loader__" | "__spec__" | "breakpoint") => Raise(Evaluates),
        ("", "open" | "file") => Open(0, 1),
        ("__builtins__", _) => Raise(Evaluates),
        ("os", name) => return os(name),
        ("subprocess", "getoutput" | "getstatusoutput") | ("commands" | "popen2", _) => Shell(0),
        ("subprocess", "run" | "call" | "check_call" | "check_output" | "Popen") => {
            Argv(Form::List)
        }
        ("subprocess", "PIPE" | "DEVNULL" | "STDOUT" | "CalledProcessError" | "TimeoutExpired") => {
            return None;
        }
        ("subprocess", "CompletedProcess" | "SubprocessError" | "list2cmdline") => return None,
        ("subprocess", _) => Raise(Spawns),
        ("pty", "spawn") => Argv(Form::List),
        ("pty", _) => Raise(Spawns),
        ("asyncio", "create_subprocess_shell" | "subprocess.create_subprocess_shell") => Shell(0),
        ("asyncio", "create_subprocess_exec" | "subprocess.create_subprocess_exec") => {
            Argv(Form::Plain)
        }
        ("invoke", "run" | "sudo") => Shell(0),
        ("send2trash", "send2trash") | ("", "send2trash") => Meaning::Delete(0, Extent::Tree),
        ("trace", "Trace") => Raise(Evaluates),
        ("pexpect", "spawn" | "run") | ("sh" | "plumbum" | "pipes", _) => Raise(Spawns),
        ("ctypes", "sizeof" | "alignment" | "addressof" | "byref" | "Structure" | "Union") => {
            return None;
        }
        ("ctypes", name) if name.starts_with("c_") || name.starts_with("util") => return None,
        ("ctypes", _) => Load(0),
        ("cffi" | "_posixsubprocess" | "_ctypes", _) => Raise(Spawns),
        (
            "pickle" | "cPickle" | "_pickle" | "cloudpickle" | "dill" | "marshal",
            "load" | "loads" | "Unpickler",
        ) => Raise(Evaluates),
        ("joblib", "load") | ("pandas", "read_pickle") | ("runpy", "run_module") => {
            Raise(Evaluates)
        }
        ("yaml", "unsafe_load" | "unsafe_load_all" | "full_load_all") => Raise(Evaluates),
        ("yaml", "load" | "load_all") => Meaning::Build,
        ("code", "interact" | "InteractiveConsole" | "InteractiveInterpreter") => {
            Raise(Interactive)
        }
        ("pdb", "set_trace" | "run" | "runeval" | "runcall" | "Pdb") => Raise(Interactive),
        ("timeit", "timeit" | "repeat" | "Timer" | "main") => Meaning::CodeAll,
        ("cProfile" | "profile" | "hotshot", "run") => Meaning::CodeInto(0, 1),
        ("cProfile" | "profile", "runctx") => Meaning::CodeInto(0, 3),
        ("trace" | "bdb", "run" | "runctx") => Code(0),
        ("runpy", "run_path") => Script(0),
        ("contextlib", "chdir") => Meaning::Enter(0),
        ("sys", "modules.get" | "modules.__getitem__" | "modules.pop") => Import(0),
        ("types", "FunctionType" | "CodeType" | "LambdaType")
        | ("site", "addsitedir" | "addpackage")
        | ("zipimport", _)
        | ("gc", "get_objects" | "get_referrers" | "get_referents")
        | ("doctest", "run_docstring_examples" | "testfile" | "debug_src")
        | ("logging", "config.fileConfig" | "config.dictConfig" | "config.listen") => {
            Raise(Evaluates)
        }
        ("platform", "popen") => Shell(0),
        ("pydoc", "pipepager") => Shell(1),
        ("webbrowser", "open" | "open_new" | "open_new_tab") | ("pip" | "ensurepip", _) => {
            Raise(Spawns)
        }
        ("distutils", "spawn.spawn") => Argv(Form::List),
        ("distutils", "dir_util.remove_tree") => Meaning::Delete(0, Extent::Tree),
        ("importlib", name) if name.contains("Loader") || name.contains("spec_from") => {
            Raise(Evaluates)
        }
        ("imp", _) | ("sys", "_getframe" | "settrace" | "setprofile" | "meta_path") => {
            Raise(Evaluates)
        }
        ("shutil", name) => return shutil(name),
        ("Path", "unlink") => Meaning::Delete(0, Extent::Single),
        ("socket", "create_connection") => Socket(0),
        ("socket", "socket" | "socketpair" | "create_server" | "fromfd") => Socket(9),
        ("urllib", "request.urlretrieve") | ("wget", "download") => Fetch(0, 1),
        ("urllib", "request.urlopen" | "request.Request" | "request.build_opener") => Connect(0),
        ("requests" | "httpx" | "aiohttp" | "urllib3", name) => return web(name),
        ("http", "client.HTTPConnection" | "client.HTTPSConnection") => Send(0),
        ("http", "server.SimpleHTTPRequestHandler") | ("SimpleHTTPServer", _) => Raise(Exfiltrates),
        ("ftplib", "FTP" | "FTP_TLS")
        | ("smtplib", "SMTP" | "SMTP_SSL")
        | ("telnetlib", "Telnet") => Send(0),
        ("paramiko" | "fabric", _) => Raise(Spawns),
        ("xmlrpc", "client.ServerProxy") => Connect(0),
        ("resource", "setrlimit") => Raise(Privilege),
        ("signal", "pthread_kill") => Raise(Processes),
        ("mmap", _) => return None,
        ("socketserver", _) => return None,
        ("rlcompleter" | "antigravity", _) => Raise(Backdoor),
        ("docker", "from_env" | "DockerClient") => Raise(Container),
        (module, name) => return files(module, name),
    })
}

/// Modules that read and write files.
fn files(module: &str, name: &str) -> Option<Meaning> {
    use Meaning::{Copy, Link, Open, Read, Source, Write, WriteKey};
    Some(match (module, name) {
        ("io", "open_code") | ("tokenize", "open") => Read(0),
        ("zipfile", "ZipFile" | "PyZipFile")
        | ("tarfile", "open" | "TarFile" | "TarFile.open")
        | ("gzip", "open" | "GzipFile")
        | ("bz2", "open" | "BZ2File")
        | ("lzma", "open" | "LZMAFile")
        | ("wave" | "aifc" | "sunau", "open")
        | ("dbm", "open" | "gnu.open" | "ndbm.open" | "dumb.open") => Open(0, 1),
        ("shelve", "open" | "DbfilenameShelf") => Meaning::Shelf(0),
        ("sqlite3", "connect" | "Connection")
        | ("venv", "create")
        | ("compileall", "compile_dir" | "compile_file")
        | ("readline", "write_history_file") => Write(0),
        ("readline", "append_history_file") | ("joblib" | "torch", "save" | "dump") => Write(1),
        ("py_compile", "compile") => WriteKey("cfile", 1),
        ("trace", "Trace") => WriteKey("outfile", 9),
        ("zipapp", "create_archive") => Copy(0, 1),
        ("mailbox", _) | ("hotshot", "Profile") => Write(0),
        ("http", "cookiejar.MozillaCookieJar" | "cookiejar.LWPCookieJar") => Write(0),
        ("pstats", "Stats") => Meaning::ReadNamed(0),
        ("logging", "basicConfig") => WriteKey("filename", 9),
        ("logging", name) if name.ends_with("FileHandler") => Write(0),
        ("tempfile", "mkstemp" | "mkdtemp" | "mktemp" | "TemporaryDirectory") => WriteKey("dir", 2),
        ("tempfile", _) => WriteKey("dir", 9),
        ("fileinput", "input" | "FileInput") => Meaning::Rewrite(0),
        ("linecache", "getline" | "getlines" | "updatecache" | "lazycache") => Read(0),
        ("readline", "read_history_file" | "read_init_file") => Read(0),
        ("netrc", "netrc") => Meaning::ReadOr(0, "~/.netrc"),
        ("glob", "glob" | "iglob" | "glob0" | "glob1") => Read(0),
        (
            "numpy" | "np",
            "save" | "savez" | "savez_compressed" | "savetxt" | "memmap" | "lib.format.open_memmap",
        )
        | ("cv2", "imwrite")
        | ("imageio", "imwrite" | "imsave") => Write(0),
        ("numpy" | "np", "load" | "loadtxt" | "genfromtxt" | "fromfile") | ("torch", "load") => {
            Source(0)
        }
        ("pandas" | "pd" | "polars" | "pl", name) if name.starts_with("read_") => Source(0),
        ("distutils", "file_util.copy_file" | "dir_util.copy_tree") => Copy(0, 1),
        ("distutils", "file_util.write_file" | "dir_util.mkpath") => Write(0),
        ("Path", "hardlink_to" | "symlink_to") => Link(1, 0),
        _ => return None,
    })
}

fn os(name: &str) -> Option<Meaning> {
    use Meaning::{Argv, Copy, Delete, Enter, Fork, Link, Move, Raise, Read, Shell, Write};
    Some(match name {
        "system" | "popen" | "popen2" | "popen3" | "popen4" => Shell(0),
        "execl" | "execle" | "execlp" | "execlpe" => Argv(Form::Named(0)),
        "execv" | "execve" | "execvp" | "execvpe" | "posix_spawn" | "posix_spawnp" => {
            Argv(Form::NamedList(0))
        }
        "spawnl" | "spawnle" | "spawnlp" | "spawnlpe" => Argv(Form::Named(1)),
        "spawnv" | "spawnve" | "spawnvp" | "spawnvpe" => Argv(Form::NamedList(1)),
        "startfile" | "memfd_create" | "fexecve" => Raise(Concern::Spawns),
        "fork" | "forkpty" => Fork,
        "dup2" => Raise(Concern::Unclear),
        "kill" | "killpg" => Raise(Concern::Processes),
        "setuid" | "setgid" | "seteuid" | "setegid" | "setreuid" | "setresuid" | "setresgid"
        | "setregid" | "initgroups" | "setgroups" => Raise(Concern::Privilege),
        "chroot" | "unshare" | "setns" => Raise(Concern::Container),
        "remove" | "unlink" | "rmdir" => Delete(0, Extent::Single),
        "removedirs" => Delete(0, Extent::Tree),
        "rename" | "replace" | "renames" => Move(0, 1),
        "symlink" | "link" => Link(0, 1),
        "mkdir" | "makedirs" | "mkfifo" | "mknod" | "chmod" | "lchmod" | "chown" | "lchown"
        | "truncate" | "utime" | "setxattr" | "removexattr" => Write(0),
        "open" => Write(0),
        "listdir" | "scandir" | "walk" | "fwalk" | "readlink" => Read(0),
        "chdir" => Enter(0),
        "sendfile" | "copy_file_range" => Copy(9, 9),
        "__dict__" | "__getattribute__" => Raise(Concern::Evaluates),
        _ => return None,
    })
}

fn shutil(name: &str) -> Option<Meaning> {
    use Meaning::{Copy, Delete, Move, Write};
    Some(match name {
        "rmtree" => Delete(0, Extent::Tree),
        "move" => Move(0, 1),
        "copy" | "copy2" | "copyfile" | "copytree" => Copy(0, 1),
        "copymode" | "copystat" => Copy(0, 1),
        "chown" => Write(0),
        "make_archive" => Copy(2, 0),
        "unpack_archive" => Copy(0, 1),
        _ => return None,
    })
}

fn web(name: &str) -> Option<Meaning> {
    use Meaning::{Connect, Send};
    let name = name.rsplit('.').next().unwrap_or_default();
    Some(match name {
        "get" | "head" | "options" | "urlopen" => Connect(0),
        "post" | "put" | "patch" | "delete" => Send(0),
        "request" | "stream" => Send(1),
        "Session" | "session" | "Client" | "AsyncClient" | "ClientSession" | "PoolManager" => {
            Connect(9)
        }
        _ => return None,
    })
}

pub(super) fn method(name: &str) -> Option<Meaning> {
    use Meaning::{Code, Copy, Delete, Dial, Link, Open, Raise, Read, Socket, Write};
    Some(match name {
        "write_text" | "write_bytes" | "touch" | "mkdir" => Write(0),
        "symlink_to" | "hardlink_to" | "link_to" => Link(1, 0),
        "unlink" | "rmdir" => Delete(0, Extent::Single),
        "rmtree" => Delete(0, Extent::Tree),
        "read_text" | "read_bytes" | "iterdir" | "rglob" => Read(0),
        "to_csv" | "to_json" | "to_excel" | "to_parquet" | "to_pickle" | "to_hdf"
        | "to_feather" | "to_html" | "to_xml" | "to_stata" | "write_csv" | "write_parquet"
        | "savefig" | "extractall" | "tofile" | "dump_stats" => Write(1),
        // Others have methods of these names too: theirs are given no text.
        "save" | "create" | "write_image" | "write_html" | "imsave" => Meaning::WriteNamed(1),
        "extract" => Meaning::WriteNamed(2),
        "read" | "loadtxt" => Meaning::ReadNamed(1),
        "connect" => Dial(1),
        "connect_ex" | "sendto" => Socket(1),
        "copyfile" => Copy(1, 2),
        "__subclasses__" | "__globals__" | "__getattribute__" | "__mro__" | "__bases__"
        | "__base__" | "__builtins__" | "func_globals" | "f_globals" | "f_builtins"
        | "gi_frame" | "__reduce__" | "__code__" | "__closure__" | "load_module"
        | "exec_module" | "__loader__" => Raise(Concern::Evaluates),
        "create_subprocess_exec"
        | "create_subprocess_shell"
        | "subprocess_exec"
        | "subprocess_shell"
        | "exec_command" => Raise(Concern::Spawns),
        "runcode" | "runsource" => Code(1),
        "open" => Open(0, 1),
        _ => return None,
    })
}
