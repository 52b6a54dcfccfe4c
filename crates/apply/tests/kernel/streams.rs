//! The standard descriptors: none of them leads around the walls.

use std::fs::{self, File};
use std::io::{Read as _, Seek as _, SeekFrom, Write as _};
#[expect(clippy::disallowed_types, reason = "the host's own sockets are what is tried here")]
use std::net::{Shutdown, TcpListener, TcpStream};
use std::os::fd::OwnedFd;
use std::time::Duration;

use palisade_apply::{End, Input, Output, Streams};

use crate::{Place, all, as_both, out, outside, started};

#[test]
fn input_is_read_to_its_end() {
    as_both("streams::input_is_read_to_its_end", || {
        let place = Place::new();
        let bytes: Vec<u8> = (0..300_000_u32).map(|n| n.to_le_bytes()[0]).collect();
        let outcome = place.with_input("wc -c", Input::Bytes(bytes)).unwrap();
        assert_eq!(out(&outcome).trim(), "300000", "{}", all(&outcome));
        let outcome = place.with_input("cat | wc -c", Input::Null).unwrap();
        assert_eq!(out(&outcome).trim(), "0");
        // A command that does not read must not block or kill the supervisor.
        let outcome =
            place.with_input("exec 0<&-; echo done", Input::Bytes(vec![0; 1 << 20])).unwrap();
        assert_eq!(out(&outcome), "done\n");
    });
}

#[test]
fn a_file_as_input_can_be_read_and_not_written() {
    as_both("streams::a_file_as_input_can_be_read_and_not_written", || {
        let place = Place::new();
        let (_kept, outside) = outside();
        let path = outside.join("file");
        fs::write(&path, "from outside\n").unwrap();
        let file = File::open(&path).unwrap();
        let outcome = place
            .with_input("cat; echo evil > /proc/self/fd/0; true", Input::From(file.into()))
            .unwrap();
        assert_eq!(out(&outcome), "from outside\n", "{}", all(&outcome));
        assert_eq!(fs::read(&path).unwrap(), b"from outside\n");
    });
}

#[test]
fn a_file_as_output_is_appended_to_and_not_reopened() {
    as_both("streams::a_file_as_output_is_appended_to_and_not_reopened", || {
        let place = Place::new();
        let (_kept, outside) = outside();
        let path = outside.join("log");
        let mut file = File::create(&path).unwrap();
        file.write_all(b"before\n").unwrap();
        let streams = Streams { stdout: Output::To(file.into()), ..Streams::default() };
        let script = "echo one; : > /proc/self/fd/1; echo two";
        let outcome = place.try_run(&["/bin/sh", "-c", script], streams).unwrap();
        assert_eq!(fs::read(&path).unwrap(), b"before\none\ntwo\n", "{}", all(&outcome));
    });
}

#[test]
fn folders_devices_and_bare_paths_are_refused() {
    as_both("streams::folders_devices_and_bare_paths_are_refused", || {
        let place = Place::new();
        let path = rustix::fs::OFlags::PATH;
        let bare = rustix::fs::open("/etc/passwd", path, rustix::fs::Mode::empty()).unwrap();
        let refused: [(OwnedFd, &str); 3] = [
            (File::open("/").unwrap().into(), "a folder"),
            (File::open("/dev/zero").unwrap().into(), "a device"),
            (bare, "a bare path"),
        ];
        for (fd, what) in refused {
            let error = place.with_input("echo ran > ran", Input::From(fd)).unwrap_err();
            assert_eq!(error.code(), "standard-descriptor");
            assert!(error.to_string().ends_with(what), "{error}");
        }
        assert!(!place.project.path("ran").exists(), "nothing was executed");
        let null = File::open("/dev/null").unwrap();
        assert_eq!(place.with_input("cat", Input::From(null.into())).unwrap().end, End::Exited(0));
    });
}

#[test]
fn a_pipe_takes_what_is_written_and_gives_nothing_back() {
    as_both("streams::a_pipe_takes_what_is_written_and_gives_nothing_back", || {
        let place = Place::new();
        let (mut read, mut write) = std::io::pipe().unwrap();
        write.write_all(b"of others\n").unwrap();
        let both = write.try_clone().unwrap();
        let streams = Streams {
            stdout: Output::To(write.into()),
            stderr: Output::To(both.into()),
            ..Streams::default()
        };
        let script = "echo one; echo two >&2; echo three; \
                      timeout 1 head -c 9 < /proc/self/fd/1 > got; wc -c < got";
        let outcome = place.try_run(&["/bin/sh", "-c", script], streams).unwrap();
        let mut text = String::new();
        read.read_to_string(&mut text).unwrap();
        // Of its own it may read something; of what others wrote there is nothing.
        assert!(text.starts_with("of others\n"), "{text} {}", all(&outcome));
        let got = fs::read_to_string(place.project.path("got")).unwrap();
        assert!(!got.contains("others"), "{text}");
    });
}

#[test]
fn two_streams_into_one_pipe_stay_in_their_order() {
    as_both("streams::two_streams_into_one_pipe_stay_in_their_order", || {
        let place = Place::new();
        let (mut read, write) = std::io::pipe().unwrap();
        let both = write.try_clone().unwrap();
        let streams = Streams {
            stdout: Output::To(write.into()),
            stderr: Output::To(both.into()),
            ..Streams::default()
        };
        let script = "for i in 1 2 3 4 5 6 7 8 9; do echo out $i; echo err $i >&2; done";
        let outcome = place.try_run(&["/bin/sh", "-c", script], streams).unwrap();
        let mut text = String::new();
        read.read_to_string(&mut text).unwrap();
        let expected: String = (1..10).map(|i| format!("out {i}\nerr {i}\n")).collect();
        assert_eq!(text, expected, "{}", all(&outcome));
    });
}

#[test]
fn nothing_can_be_written_into_a_pipe_that_is_the_input() {
    as_both("streams::nothing_can_be_written_into_a_pipe_that_is_the_input", || {
        let place = Place::new();
        let (mut read, mut write) = std::io::pipe().unwrap();
        write.write_all(b"first\nsecond\n").unwrap();
        drop(write);
        let input = Input::From(read.try_clone().unwrap().into());
        // It reads one line, byte by byte as a shell does, and plants another.
        let script = "read line; echo got $line; python3 -c 'import os
os.write(os.open(\"/proc/self/fd/0\", os.O_WRONLY | os.O_NONBLOCK), b\"evil\")' 2> /dev/null; true";
        let outcome = place.with_input(script, input).unwrap();
        assert_eq!(out(&outcome), "got first\n", "{}", all(&outcome));
        let mut rest = String::new();
        read.read_to_string(&mut rest).unwrap();
        assert_eq!(rest, "second\n", "what it has not read is there for others, and nothing else");
    });
}

#[test]
fn input_comes_through_a_pipe_whole() {
    as_both("streams::input_comes_through_a_pipe_whole", || {
        let place = Place::new();
        let (read, mut write) = std::io::pipe().unwrap();
        let bytes: Vec<u8> = (0..700_001_u32).map(|n| n.to_le_bytes()[0]).collect();
        let expected: u64 = bytes.iter().map(|byte| u64::from(*byte)).sum();
        let writer = std::thread::spawn(move || {
            for piece in bytes.chunks(777) {
                write.write_all(piece).unwrap();
            }
        });
        let script = "python3 -c 'import sys; b = sys.stdin.buffer.read(); print(len(b), sum(b))'";
        let outcome = place.with_input(script, Input::From(read.into())).unwrap();
        writer.join().unwrap();
        assert_eq!(out(&outcome), format!("700001 {expected}\n"), "{}", all(&outcome));
    });
}

#[test]
fn of_a_file_only_what_was_read_is_taken() {
    as_both("streams::of_a_file_only_what_was_read_is_taken", || {
        let place = Place::new();
        let (_kept, outside) = outside();
        let path = outside.join("list");
        fs::write(&path, "zero\nfirst\nsecond\n").unwrap();
        let mut file = File::open(&path).unwrap();
        file.read_exact(&mut [0; 5]).unwrap();
        let input = Input::From(file.try_clone().unwrap().into());
        let outcome = place.with_input("read line; echo got $line", input).unwrap();
        assert_eq!(out(&outcome), "got first\n", "{}", all(&outcome));
        let mut rest = String::new();
        file.read_to_string(&mut rest).unwrap();
        assert_eq!(rest, "second\n");
        // However much it writes to its own input, no more goes back than was taken.
        file.seek(SeekFrom::Start(5)).unwrap();
        let script = "yes | timeout 1 dd bs=1k count=32 of=/proc/self/fd/0 2> /dev/null; true";
        place.with_input(script, Input::From(file.try_clone().unwrap().into())).unwrap();
        assert_eq!(file.stream_position().unwrap(), 5);
    });
}

#[test]
#[expect(clippy::disallowed_types, reason = "the host's own sockets are what is tried here")]
fn a_socket_is_read_and_written_and_not_handed_over() {
    as_both("streams::a_socket_is_read_and_written_and_not_handed_over", || {
        let place = Place::new();
        let served = TcpListener::bind("127.0.0.1:0").unwrap();
        let other = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = other.local_addr().unwrap().port();
        let mut near = TcpStream::connect(served.local_addr().unwrap()).unwrap();
        let (far, _) = served.accept().unwrap();
        near.write_all(b"asked\n").unwrap();
        near.shutdown(Shutdown::Write).unwrap();
        let script = format!(
            "import os, socket, sys
print(sys.stdin.readline().strip(), flush=True)
for number in (0, 1):
    try:
        own = socket.socket(fileno=os.dup(number))
        own.connect(('127.0.0.1', {port}))
        print('reached')
    except OSError as e: print(e.strerror)
"
        );
        let streams = Streams {
            stdin: Input::From(far.try_clone().unwrap().into()),
            stdout: Output::To(far.into()),
            ..Streams::default()
        };
        let outcome = place.try_run(&["python3", "-c", &script], streams).unwrap();
        let mut text = String::new();
        near.read_to_string(&mut text).unwrap();
        let refused = "Socket operation on non-socket\n".repeat(2);
        assert_eq!(text, format!("asked\n{refused}"), "{}", all(&outcome));
    });
}

#[test]
fn a_stream_that_somebody_keeps_does_not_keep_the_run() {
    as_both("streams::a_stream_that_somebody_keeps_does_not_keep_the_run", || {
        let mut place = Place::new();
        let argv = ["/bin/sh", "-c", "echo done; exec sleep 2.7182"];
        place.order.argv = argv.map(str::to_owned).to_vec();
        let started = started(&place, Streams::default());
        // A copy of the way out, as one that was given away.
        let kept = loop {
            let found = fs::read_dir("/proc").unwrap().flatten().find(|entry| {
                let line = fs::read(entry.path().join("cmdline")).unwrap_or_default();
                line == b"sleep\x002.7182\x00"
            });
            let open = |found: fs::DirEntry| {
                File::options().write(true).open(found.path().join("fd/1")).ok()
            };
            if let Some(kept) = found.and_then(open) {
                break kept;
            }
        };
        let outcome = started.wait().unwrap();
        assert_eq!((outcome.end, out(&outcome)), (End::Exited(0), "done\n".to_owned()));
        drop(kept);
    });
}

#[test]
fn whoever_does_not_read_holds_up_no_end() {
    as_both("streams::whoever_does_not_read_holds_up_no_end", || {
        let mut place = Place::new();
        place.order.bounds.time = Some(Duration::from_millis(500));
        let (read, write) = std::io::pipe().unwrap();
        let streams = Streams { stdout: Output::To(write.into()), ..Streams::default() };
        let outcome = place.try_run(&["yes"], streams).unwrap();
        assert_eq!(outcome.end, End::TimedOut, "{}", all(&outcome));
        drop(read);
    });
}

#[test]
fn a_command_whose_reader_is_gone_is_told() {
    as_both("streams::a_command_whose_reader_is_gone_is_told", || {
        let place = Place::new();
        let (read, write) = std::io::pipe().unwrap();
        drop(read);
        let streams = Streams { stdout: Output::To(write.into()), ..Streams::default() };
        let outcome = place.try_run(&["yes"], streams).unwrap();
        assert_eq!(outcome.end, End::Signalled(13), "{}", all(&outcome));
    });
}
