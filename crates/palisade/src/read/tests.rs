//! What is read, and everything that is not.

use std::os::unix::net::UnixListener;
use std::time::{Duration, Instant};

use palisade_testkit::{Fact, Need, Project, Turn, need, ordinary_user};
use rustix::fs::{CWD, FileType as Kind, mknodat};

use super::*;

fn named(path: &Path) -> Result<String, ReadError> {
    read_policy_file(path, Place::Named)
}

fn found(project: &Project, path: &str) -> Result<String, ReadError> {
    let uid = rustix::process::geteuid().as_raw();
    let root = project.root();
    read_policy_file(&project.path(path), Place::InProject { root, uid })
}

fn code(result: Result<String, ReadError>) -> &'static str {
    result.map_or_else(|error| error.code(), |_| "read")
}

#[test]
fn only_a_text_file_that_says_something_is_read() {
    let max = usize::try_from(MAX_FILE).unwrap();
    #[rustfmt::skip]
    let cases: [(Vec<u8>, &str, &str); 12] = [
        // content                    code               because
        (b"version: 1\n".to_vec(),    "read",            "a policy"),
        (b"\xEF\xBB\xBFversion: 1".to_vec(), "read",     "with a byte order mark"),
        (vec![b'#'; max],             "read",            "as large as may be"),
        (vec![b'#'; max + 1],         "policy-too-large", "one byte more"),
        (b"".to_vec(),                "policy-empty",    "nothing"),
        (b" \t\r\n\n".to_vec(),       "policy-empty",    "only blanks"),
        (b"\xEF\xBB\xBF\n".to_vec(),  "policy-empty",    "only a byte order mark"),
        (b"a: \xFF".to_vec(),         "policy-not-utf8", "not UTF-8"),
        (b"\xFF\xFEa\0".to_vec(),     "policy-not-utf8", "UTF-16"),
        (b"a: \xE2\x82".to_vec(),     "policy-not-utf8", "cut in the middle of a character"),
        (b"a: \0".to_vec(),           "policy-nul-byte", "a NUL"),
        (vec![0; 4096],               "policy-nul-byte", "nothing but NULs is not empty"),
    ];
    for (content, expected, because) in cases {
        let project = Project::new().file("policy.yaml", &content);
        assert_eq!(code(named(&project.path("policy.yaml"))), expected, "named: {because}");
        assert_eq!(code(found(&project, "policy.yaml")), expected, "found: {because}");
    }
}

#[test]
fn a_bad_byte_is_named_by_its_line_and_offset() {
    let project =
        Project::new().file("a.yaml", b"one\ntwo\nth\xFFee\n").file("b.yaml", b"one\n\0two\n");
    let not_utf8 = named(&project.path("a.yaml")).unwrap_err();
    assert!(matches!(not_utf8, ReadError::NotUtf8 { line: 3, offset: 10, .. }), "{not_utf8:?}");
    assert!(not_utf8.to_string().ends_with("is not UTF-8: line 3, byte offset 10"));
    let nul = named(&project.path("b.yaml")).unwrap_err();
    assert_eq!((nul.line(), nul.code()), (Some(2), "policy-nul-byte"));
}

#[test]
fn what_is_not_a_file_is_refused_at_once() {
    let project = Project::new().dir("folder").symlink("lost", "nowhere").symlink("loop", "loop");
    mknodat(CWD, project.path("fifo"), Kind::Fifo, Mode::RUSR | Mode::WUSR, 0).unwrap();
    let socket = UnixListener::bind(project.path("socket")).unwrap();
    let huge = File::create(project.path("huge")).unwrap();
    huge.set_len(1 << 30).unwrap();

    let start = Instant::now();
    #[rustfmt::skip]
    let cases = [
        // path        named                   found in the project
        ("absent",     "policy-missing",       "policy-missing"),
        ("folder",     "policy-is-folder",     "policy-is-folder"),
        ("",           "policy-is-folder",     "policy-is-folder"),
        ("fifo",       "policy-is-fifo",       "policy-is-fifo"),
        ("socket",     "policy-is-socket",     "policy-is-socket"),
        ("huge",       "policy-too-large",     "policy-too-large"),
        ("lost",       "policy-dangling-link", "policy-outside-root"),
        ("loop",       "policy-unreadable",    "policy-outside-root"),
        ("huge/x",     "policy-unreadable",    "policy-unreadable"),
        ("/dev/zero",  "policy-is-device",     "policy-outside-root"),
        ("/dev/null",  "policy-is-device",     "policy-outside-root"),
    ];
    for (path, as_named, as_found) in cases {
        assert_eq!(code(named(&project.path(path))), as_named, "named: {path}");
        assert_eq!(code(found(&project, path)), as_found, "found: {path}");
    }
    assert!(start.elapsed() < Duration::from_secs(5), "something was waited for or read in full");
    drop(socket);
}

#[test]
fn what_has_no_end_is_capped_and_what_tells_no_size_is_read() {
    assert_eq!(read_capped(io::repeat(b'#')).unwrap(), None);
    // The kernel says 0 bytes for what it makes up.
    let text = named(Path::new("/proc/self/status")).unwrap();
    assert!(text.contains("Pid:"));
}

#[test]
fn links_are_believed_of_a_person_and_not_of_a_project() {
    let secret = Project::new().file("secret", "password: hunter2").dir("inner");
    let project = Project::new()
        .file("real.yaml", "version: 1")
        .file("folder/real.yaml", "version: 1")
        .symlink("to-inside", "real.yaml")
        .symlink("folder-inside", "folder")
        .symlink("to-secret", secret.path("secret"))
        .symlink("folder-outside", secret.root())
        .symlink("to-absent", secret.path("absent"))
        .symlink("up", "..");
    let climbing = format!("../{}/secret", secret.root().file_name().unwrap().to_str().unwrap());
    let through_up = format!("up/{}", &climbing[3..]);
    #[rustfmt::skip]
    let cases = [
        // path                        named                   found in the project
        ("to-inside",                  "read",                 "read"),
        ("folder-inside/real.yaml",    "read",                 "read"),
        ("folder/../real.yaml",        "read",                 "read"),
        ("to-secret",                  "read",                 "policy-outside-root"),
        ("folder-outside/secret",      "read",                 "policy-outside-root"),
        ("folder-outside/absent",      "policy-missing",       "policy-outside-root"),
        ("folder-outside/inner",       "policy-is-folder",     "policy-outside-root"),
        ("to-absent",                  "policy-dangling-link", "policy-outside-root"),
        (&climbing,                    "read",                 "policy-outside-root"),
        (&through_up,                  "read",                 "policy-outside-root"),
        ("../absent",                  "policy-missing",       "policy-outside-root"),
    ];
    for (path, as_named, as_found) in cases {
        assert_eq!(code(named(&project.path(path))), as_named, "named: {path}");
        let error = found(&project, path);
        let message = error.as_ref().map_or_else(ToString::to_string, |_| String::new());
        assert!(!message.contains("hunter2"), "{message}");
        assert_eq!(code(error), as_found, "found: {path}");
    }
}

#[test]
fn a_link_that_appears_after_the_look_is_not_followed() {
    let secret = Project::new().file("secret", "password: hunter2");
    let project = Project::new()
        .file("real/policy.yaml", "version: 1")
        .symlink("link", secret.path("secret"))
        .symlink("folder", secret.root());
    let open = |inside: &str| open_beneath(project.root(), Path::new(inside));
    assert!(open("real/policy.yaml").is_ok());
    assert!(open("link").is_err());
    assert!(open("folder/secret").is_err());
    assert!(open("").is_err());
}

#[test]
fn a_file_of_somebody_else_is_not_the_projects_policy() {
    if need(Fact::Root) == Need::Skip {
        return;
    }
    let project = Project::new().file("a.yaml", "version: 1").file("b.yaml", "version: 1");
    let project = project.owner("a.yaml", 65534);
    let error = found(&project, "a.yaml").unwrap_err();
    assert!(matches!(error, ReadError::ForeignOwner { owner: 65534, uid: 0, .. }), "{error:?}");
    assert!(named(&project.path("a.yaml")).is_ok(), "a person may name it");
    let as_other = Place::InProject { root: project.root(), uid: 65534 };
    let of_root = read_policy_file(&project.path("b.yaml"), as_other);
    assert!(of_root.is_ok(), "root's files are believed");
}

#[test]
fn an_unreadable_file_is_an_error_and_not_an_absent_one() {
    let name = "read::tests::an_unreadable_file_is_an_error_and_not_an_absent_one";
    if ordinary_user(name) == Turn::Done {
        return;
    }
    let project = Project::new().file("shut", "version: 1").file("closed/x", "version: 1");
    let project = project.mode("shut", 0).mode("closed", 0);
    for path in ["shut", "closed/x"] {
        assert_eq!(code(named(&project.path(path))), "policy-unreadable", "named: {path}");
        assert_eq!(code(found(&project, path)), "policy-unreadable", "found: {path}");
    }
    drop(project.mode("closed", 0o700));
}

#[test]
fn a_message_names_the_path_with_nothing_hidden_in_it() {
    let error = named(Path::new("/absent/\u{1b}[2Ja\u{202e}.yaml")).unwrap_err();
    assert_eq!(error.to_string(), "policy file `/absent/\\u{1b}[2Ja\\u{202e}.yaml` does not exist");
    assert!(error.hint().is_some());
    assert_eq!(error.path(), Path::new("/absent/\u{1b}[2Ja\u{202e}.yaml"));
}

#[test]
fn a_path_that_no_system_takes_is_an_error() {
    let long = "x/".repeat(5000);
    for path in ["", "a\0b", &long] {
        assert!(named(Path::new(path)).is_err(), "{path:?}");
    }
}
