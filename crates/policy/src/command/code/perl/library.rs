//! What the functions of Perl and its libraries mean.

use crate::command::code::meaning::{Form, Meaning};
use crate::command::{Concern, Extent};

/// What a function means, by its full name.
pub(super) fn function(path: &str) -> Option<Meaning> {
    use Meaning::{
        Argv, Connect, Copy, DeleteAll, Enter, Fork, Link, Load, Move, Raise, Read, Socket, Write,
        WriteAll,
    };
    Some(match path {
        "system" | "exec" => Argv(Form::Words),
        "readpipe" => Meaning::Shell(0),
        path if path.starts_with("POSIX::exec") => Raise(Concern::Spawns),
        "fork" => Fork,
        "kill" => Raise(Concern::Processes),
        "syscall" | "dump" | "IPC::Open3" | "IPC::Open2" | "open2" | "open3" | "IPC::Run"
        | "Inline::C" | "Inline" => Raise(Concern::Spawns),
        "DynaLoader::dl_load_file" | "XSLoader::load" | "DynaLoader::bootstrap" => Load(0),
        "unlink" => DeleteAll(Extent::Single),
        "rmdir" => DeleteAll(Extent::Single),
        "rmtree" | "remove_tree" | "File::Path::rmtree" | "File::Path::remove_tree" => {
            DeleteAll(Extent::Tree)
        }
        "mkdir" | "truncate" | "mkfifo" => Write(0),
        "chmod" => Write(1),
        "chown" | "utime" => Write(2),
        "mkpath" | "make_path" | "File::Path::make_path" => WriteAll,
        "rename" | "File::Copy::move" => Move(0, 1),
        "copy" | "File::Copy::copy" | "File::Copy::cp" | "cp" => Copy(0, 1),
        "mv" | "File::Copy::mv" => Move(0, 1),
        "write_file"
        | "File::Slurp::write_file"
        | "append_file"
        | "store"
        | "nstore"
        | "Storable::store" => Write(if path.ends_with("store") { 1 } else { 0 }),
        "read_file" | "File::Slurp::read_file" => Read(0),
        "dbmopen" => Write(1),
        "symlink" | "link" => Link(0, 1),
        "opendir" => Read(1),
        "chdir" => Enter(0),
        "chroot" | "setuid" | "setgid" => Raise(Concern::Privilege),
        "IO::Socket::INET.new"
        | "IO::Socket.new"
        | "IO::Socket::SSL.new"
        | "IO::Socket::IP.new" => Socket(0),
        "socket" => Socket(9),
        "IO::Socket::INET" | "IO::Socket::IP" | "IO::Socket::SSL" | "Socket" => Socket(9),
        "LWP::UserAgent" | "LWP::UserAgent.new" | "HTTP::Tiny.new" | "HTTP::Tiny"
        | "Net::FTP.new" | "Net::SMTP.new" | "LWP::Simple" => Connect(9),
        "getstore" | "mirror" => Meaning::Fetch(0, 1),
        "getprint" => Connect(0),
        "Storable::retrieve" | "Storable::thaw" => Raise(Concern::Evaluates),
        "sysopen" => Write(1),
        _ => return None,
    })
}
