//! Acceptance and escape rows.

use super::*;
use crate::key::{Grants, Refusals};
use crate::layer::{Choice, Origin, Stack, Trust, resolve};
use crate::name::Folder;

fn fixture(name: &str) -> &'static str {
    match name {
        "readonly" => include_str!("../fixtures/readonly.sb"),
        "workspace-write-no-network" => include_str!("../fixtures/workspace-write-no-network.sb"),
        "workspace-write" => include_str!("../fixtures/workspace-write.sb"),
        "my-strict" => include_str!("../fixtures/my-strict.sb"),
        other => panic!("no fixture {other}"),
    }
}

fn said<T>(value: T) -> Sourced<T> {
    Sourced { value, origin: Origin::of(Layer::User) }
}

/// Resolves a user's file that says `profile: PROFILE`, with profiles in files read from fixtures.
fn resolved(profile: &str) -> Policy {
    let text = format!("version: 1\nprofile: {profile}\n");
    let document =
        Document::parse(&Source::new("policy.yaml", &text), Layer::User, &anchors()).unwrap();
    let mut stack = Stack::new(&anchors()).unwrap();
    stack.push(Layer::User, document);
    if let Some(name) = profile.strip_prefix("/profiles/").and_then(|p| p.strip_suffix(".sb")) {
        let (content, _) = read_text(fixture(name)).unwrap();
        stack.push_profile(profile.parse::<Folder>().unwrap(), content);
    }
    resolve(&stack, &Choice::default(), Trust::NotTrusted).unwrap().policy
}

#[test]
fn a056_the_strict_profile_limits_reads_writes_and_network() {
    let (policy, notes) = read_text(fixture("my-strict")).unwrap();
    let [hide, open, write, protect] = files(&policy);
    assert_eq!(hide, ["/"]);
    assert_eq!(open, ["/proj/app", "/usr", "/Library", "/dev/null"]);
    assert_eq!(write, ["/proj/app/tmp"]);
    assert_eq!(protect, [""; 0]);
    assert_eq!(policy.network.mode.value(), NetworkMode::DenyAll);
    assert_eq!(codes(&notes), ["opens-nothing"], "signal");
    let line = policy.files.write.entries()[0].origin.place.unwrap().line;
    assert_eq!(line, 12, "values know their line");

    let policy = resolved("/profiles/my-strict.sb");
    let writable = |path: &str| policy.files.write.values().any(|f| f.matches(path.as_ref()));
    assert!(writable("/proj/app/tmp/x"));
    for closed in ["/proj/app", "/proj/app/src", "/proj/app/tmpx", "/tmp/x", "/usr/bin/x"] {
        assert!(!writable(closed), "{closed}");
    }
    let open = |path: &str| policy.files.allow_read.values().any(|p| p.matches(path.as_ref()));
    assert!(open("/usr/bin/git") && open("/proj/app/src"));
    for closed in ["/etc/passwd", "/home/me/.ssh/id", "/proj/other", "/usrx", "/dev/sda"] {
        assert!(!open(closed), "{closed}");
    }
    assert_eq!(policy.network.mode.value(), NetworkMode::DenyAll);
}

#[test]
fn a060_a_profile_with_a_syntax_error_is_refused_at_every_door() {
    let broken = [
        ("(version 1)\n(deny default", "unclosed-list", 2, 1),
        ("(version 1)\n(deny default))", "stray-parenthesis", 2, 15),
        ("(version 1)\n(allow file-read* (subpath \"/usr))", "unclosed-string", 2, 28),
        ("(version 1)\n(allow file-read* (subpath \"/a\\q\"))", "escape", 2, 31),
        ("(version 1)\n'(deny default)", "notation", 2, 1),
        ("(version 1)\n(allow process*)\n  (alow file-read*)", "unknown-statement", 3, 3),
        ("(version 1)\n(allow process*)\n(allow file-raed*)", "unknown-operation", 3, 8),
    ];
    for (text, code, line, column) in broken {
        let source = Source::new("mine.sb", text);
        let health = with_world(|around| check(&source, Path::new(ROOT), around));
        let input = Input { source: &source, layer: Layer::User };
        let loading = with_world(|around| (SEATBELT.read)(&[input], around)).unwrap_err();
        let switching = read_text(text).unwrap_err();
        for problems in [&health, &loading, &switching] {
            let place = problems[0].place().unwrap();
            assert_eq!(
                (problems[0].code(), place.line, place.column),
                (code, line, column),
                "{text}"
            );
        }
    }
    for name in ["readonly", "workspace-write", "my-strict"] {
        let source = Source::new("good.sb", fixture(name));
        assert_eq!(with_world(|around| check(&source, Path::new(ROOT), around)), []);
    }
}

#[test]
fn a184_what_only_macos_has_is_noted_and_what_nobody_has_is_an_error() {
    let noted = [
        ("(allow mach-lookup)", "no-linux-meaning"),
        ("(allow mach-lookup (global-name \"com.example.x\"))", "no-linux-meaning"),
        ("(deny iokit-open)", "no-linux-meaning"),
        ("(debug deny)", "no-linux-meaning"),
        ("(import \"system.sb\")", "no-linux-meaning"),
        ("(allow sysctl-read)", "opens-nothing"),
        ("(allow ipc-posix-shm)", "opens-nothing"),
        ("(allow ipc-posix-shm*)", "opens-nothing"),
        ("(allow signal (target self))", "opens-nothing"),
        ("(allow process-info* (target others))", "opens-nothing"),
        ("(allow file-ioctl (regex #\"tty\"))", "opens-nothing"),
    ];
    for (rule, code) in noted {
        let (policy, notes) = read_rules(rule).unwrap();
        assert_eq!(codes(&notes), [code], "{rule}");
        let [hide, open, write, protect] = files(&policy);
        let nothing = [open.len(), write.len(), protect.len()];
        assert_eq!((hide.as_slice(), nothing), (["/".to_owned()].as_slice(), [0; 3]), "{rule}");
        assert_eq!(policy.network.mode.value(), NetworkMode::DenyAll, "{rule}");
    }
    let unknown = [
        ("(allow mach-looku)", "unknown-operation"),
        ("(allow file-reed*)", "unknown-operation"),
        ("(allow everything)", "unknown-operation"),
        ("(allow mach-lookup (global-nam \"x\"))", "unknown-filter"),
        ("(allow file-read* (subpaht \"/a\"))", "unknown-filter"),
        ("(allow file-read* (extension \"x\"))", "unknown-filter"),
        ("(import \"mine.sb\")", "import"),
        ("(import \"/etc/system.sb\")", "import"),
        ("(define x 1)", "unknown-statement"),
        ("(if (param \"A\") (allow file-write*))", "unknown-statement"),
        ("(trace \"/tmp/out\")", "unknown-statement"),
        ("(allow process-exec (with no-sandbox))", "modifier"),
    ];
    for (rule, code) in unknown {
        let problems = read_rules(rule).unwrap_err();
        assert_eq!(codes(&problems), [code], "{rule}");
        assert_eq!(problems[0].place().unwrap().line, 4, "{rule}");
    }
}

#[test]
fn a184_a_denial_that_linux_knows_is_held_by_a_wall_that_is_named_or_is_an_error() {
    #[rustfmt::skip]
    let walled = [
        // rule                                  what the note must own up to
        ("(deny signal)",                        "inside, processes signal each other"),
        ("(deny signal (target others))",        "no signal leaves the sandbox"),
        ("(deny sysctl-write)",                  "/proc/sys is read-only"),
        ("(deny ipc-posix-shm*)",                "the sandbox's own"),
        ("(deny ipc-posix-shm-write-data)",      "the sandbox's own"),
        ("(deny ipc-sysv*)",                     "the sandbox's own"),
        ("(deny ipc-sysv-shm)",                  "inside it they work"),
        ("(deny process-info*)",                 "no process outside is seen"),
        ("(deny file-mount)",                    "privilege"),
        ("(deny system-reboot)",                 "privilege"),
        ("(deny pseudo-tty)",                    "the sandbox has its own"),
    ];
    for (rule, says) in walled {
        let (_, notes) = read_rules(rule).unwrap();
        assert_eq!(codes(&notes), ["walled"], "{rule}");
        assert!(notes[0].message().contains(says), "{rule}: {}", notes[0].message());
    }
    for name in ["file-ioctl", "socket-ioctl", "socket-option-set", "sysctl-read", "sysctl*"] {
        let problems = read_rules(&format!("(deny {name})")).unwrap_err();
        assert_eq!(codes(&problems), ["not-expressible"], "{name}: nothing here refuses it");
        let (_, notes) = read_rules(&format!("(allow {name})")).unwrap();
        assert_eq!(codes(&notes), ["opens-nothing"], "{name}");
    }
}

#[test]
fn e062_a_path_cannot_write_rules_of_its_own() {
    let names = [
        "/proj/app/x\")) (allow file-write* (subpath \"/",
        "/proj/app/\" ) (allow default) ; ",
        "/proj/app/back\\",
        "/proj/app/back\\\"quote",
        "/proj/app/;comment",
        "/proj/app/#\"raw",
        "/proj/app/(param _RW1)",
        "/proj/app/\u{202e}tset",
        "/proj/app/star*and?[set]",
        "/proj/app/plain",
    ];
    for name in names {
        let folder = Folder::literal(Path::new(name)).unwrap();
        let mut policy = Policy::default();
        policy.files.write = Grants::new(vec![said(folder.clone())]);
        let hide: PathPattern = format!("{}/h", folder.as_pattern()).parse().unwrap();
        policy.files.hide = Refusals::new(vec![said(hide.clone())]);
        let glob: PathPattern = format!("{}/**/x", folder.as_pattern()).parse().unwrap();
        policy.files.protect = Refusals::new(vec![said(glob.clone())]);

        let written = with_world(|around| write::write(&policy, around));
        assert_eq!(written.lost, [], "{name}");
        let (again, _) = read_text(&written.text).unwrap_or_else(|e| panic!("{name}: {e:?}"));
        assert_eq!(shown(again.files.write.values()), [folder.to_string()], "{name}");
        assert_eq!(shown(again.files.hide.values()), [hide.to_string()], "{name}");
        let protect = [glob.to_string(), hide.to_string()];
        assert_eq!(shown(again.files.protect.values()), protect, "{name}");
        assert_eq!(again.network.mode.value(), NetworkMode::DenyAll, "{name}");
        let plain = with_world(|around| write::write(&Policy::default(), around));
        let forms = |text: &str| sexp::parse(&Source::new("x.sb", text)).unwrap().len();
        assert_eq!(forms(&written.text), forms(&plain.text) + 5, "{name}: rules were added");
    }
    // The root's name is not even written.
    let mut policy = Policy::default();
    let root = Folder::literal(Path::new(ROOT)).unwrap();
    policy.files.write = Grants::new(vec![said(root)]);
    let written = with_world(|around| write::write(&policy, around));
    assert!(written.text.contains("(allow file-write* (subpath (param \"_RW1\")))"));
    assert!(!written.text.contains(ROOT), "{}", written.text);
}

#[test]
fn the_three_built_in_profiles_mean_what_ours_mean() {
    for name in ["readonly", "workspace-write-no-network", "workspace-write"] {
        let (ours, theirs) = (resolved(name), resolved(&format!("/profiles/{name}.sb")));
        assert_eq!(shown(theirs.files.write.values()), shown(ours.files.write.values()), "{name}");
        assert_eq!(theirs.network.mode.value(), ours.network.mode.value(), "{name}");
        assert_eq!(files(&theirs)[0], files(&ours)[0], "{name}: hide");
        assert_eq!(files(&theirs)[3], files(&ours)[3], "{name}: protect");
    }
    let (_, notes) = read_text(fixture("readonly")).unwrap();
    assert!(codes(&notes).contains(&"private-temp"), "{notes:?}");
}
