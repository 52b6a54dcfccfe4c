//! The standard descriptors: none of them leads around the walls.

use std::fs::{self, File};
use std::io::{Read as _, Write as _};
use std::os::fd::OwnedFd;

use palisade_apply::{End, Input, Output, Streams};

use crate::{Place, all, as_both, out, outside};

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
fn a_pipe_is_handed_over() {
    as_both("streams::a_pipe_is_handed_over", || {
        let place = Place::new();
        let (mut read, write) = std::io::pipe().unwrap();
        let streams = Streams { stdout: Output::To(write.into()), ..Streams::default() };
        let outcome = place.try_run(&["echo", "through"], streams).unwrap();
        let mut text = String::new();
        read.read_to_string(&mut text).unwrap();
        assert_eq!(text, "through\n", "{}", all(&outcome));
    });
}
