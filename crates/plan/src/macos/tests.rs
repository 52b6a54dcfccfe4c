//! Plans for macOS: the text, what it means to our own reader, and what is owned up to.

use palisade_policy::Policy;
use palisade_policy::dialect::seatbelt::{Params, read_profile};
use palisade_policy::dialect::{FileKind, Surroundings};
use palisade_policy::jail::Entry;
use palisade_policy::layer::Layer as Voice;
use palisade_policy::name::Anchors;
use palisade_policy::policy::NetworkMode;
use palisade_policy::text::Source;

use super::*;
use crate::build::build;
use crate::build::tests::{facts, order, pattern, permit};
use crate::facts::Privilege;
use crate::order::{Order, Walls};

/// A disk on which everything that is asked for is a folder.
struct Disk;

impl Lookup for Disk {
    fn look(&self, _: &str) -> Entry {
        Entry::Folder
    }
}

fn planned(change: impl FnOnce(&mut Order), own: Option<Verbatim<'_>>) -> Plan {
    let mut order = order();
    change(&mut order);
    let plan = build(&permit(), &order, &facts(Privilege::Ordinary)).unwrap();
    on_macos(&plan, &Disk, own).unwrap()
}

fn profile(plan: &Plan) -> (&str, &[(String, String)]) {
    let found = plan.steps().iter().find_map(|step| {
        let Step::Seatbelt { text, parameters } = step else { return None };
        Some((text.as_str(), parameters.as_slice()))
    });
    found.unwrap()
}

/// Reads a profile as one that somebody wrote.
fn read(text: &str, parameters: &[(String, String)]) -> Policy {
    let mut params = Params::default().with("_TMP", Path::new("/scratch/t"));
    for (name, path) in parameters {
        params = params.with(name, Path::new(path));
    }
    let anchors = Anchors { root: "/home/dev/app".into(), home: Some("/home/dev".into()) };
    let around = Surroundings {
        anchors: &anchors,
        cwd: Path::new("/home/dev/app"),
        var: &|_| None,
        kind: &|_| Some(FileKind::Folder),
        list: &|_| Vec::new(),
        read: &|_| Err("no files here".into()),
    };
    let source = Source::new("profile.sb", text);
    let read = read_profile(&source, &params, Voice::User, &around);
    read.unwrap_or_else(|problems| panic!("{problems:?}\n{text}")).0
}

fn word(plan: &Plan, layer: Layer) -> &'static str {
    plan.enforced().iter().find(|it| it.layer == layer).unwrap().strength.word()
}

#[test]
fn a_plan_is_a_session_bounds_a_folder_a_profile_and_the_command() {
    let plan = planned(|order| order.bounds.cpu = Some(std::time::Duration::from_secs(5)), None);
    let names: Vec<String> = plan
        .steps()
        .iter()
        .map(|step| step.to_string().split(' ').next().unwrap_or_default().to_owned())
        .collect();
    assert_eq!(names, ["session", "limit", "limit", "enter", "seatbelt", "exec"]);
    let (text, parameters) = profile(&plan);
    insta::assert_snapshot!(text, @r#"
    (version 1)
    (deny default)
    (allow process*)
    (allow signal (target same-sandbox))
    (allow sysctl-read)
    (allow pseudo-tty)
    (allow mach-lookup
        (global-name "com.apple.FSEvents")
        (global-name "com.apple.bsd.dirhelper")
        (global-name "com.apple.logd")
        (global-name "com.apple.system.logger")
        (global-name "com.apple.system.notification_center")
        (global-name "com.apple.system.opendirectoryd.libinfo")
        (global-name "com.apple.system.opendirectoryd.membership")
    )
    (allow file-read*)
    (allow file-write-data (literal "/dev/null") (literal "/dev/tty"))
    (deny file-read* (subpath (param "_SHUT1")))
    (deny file-read* (subpath "/private/tmp"))
    (deny file-read* (subpath (param "_SHUT2")))
    (deny file-read* (subpath (param "_SHUT3")))
    (deny file-read* (subpath "/private/var/tmp"))
    (allow file-read* file-write* (subpath (param "_RW1")))
    (deny file-read* file-write* (subpath (param "_HIDE1")))
    (deny file-write-unlink (literal (param "_PIN1")))
    (deny file-read* file-write* (subpath (param "_HIDE2")))
    (deny file-write* (subpath (param "_KEEP1")))
    (deny file-write* (subpath (param "_KEEP2")))
    (allow file-read* file-write* (subpath (param "_TMP")))
    (deny network-outbound (remote unix-socket))
    (deny appleevent-send)
    (deny lsopen)
    "#);
    let given = parameters.iter().map(|(name, path)| {
        format!(
            "{name}={path}
"
        )
    });
    insta::assert_snapshot!(given.collect::<String>(), @r"
    _RW1=/home/dev/app
    _SHUT1=/tmp
    _SHUT2=/run
    _SHUT3=/var/tmp
    _HIDE1=/home/dev/.ssh
    _PIN1=/home/dev/app/.git
    _HIDE2=/home/dev/.config/gh
    _KEEP1=/home/dev/app/.git/config
    _KEEP2=/home/dev/app/.git/hooks
    ");
}

#[test]
fn the_text_means_to_our_reader_what_the_plan_means() {
    for (network, mode) in [
        (NetworkMode::DenyAll, NetworkMode::DenyAll),
        (NetworkMode::Disabled, NetworkMode::Disabled),
    ] {
        let plan = planned(|order| order.network = network, None);
        let (text, parameters) = profile(&plan);
        let policy = read(text, parameters);
        let mut write: Vec<String> = policy.files.write.values().map(ToString::to_string).collect();
        write.sort();
        assert_eq!(write, ["/home/dev/app", "/scratch/t"]);
        let hides = |path: &str| policy.files.hide.values().any(|it| it.matches(Path::new(path)));
        assert!(hides("/home/dev/.ssh/id") && hides("/tmp/x") && !hides("/usr/bin/ls"), "{text}");
        assert_eq!(policy.network.mode.value(), mode, "{text}");
        assert_eq!(
            word(&plan, Layer::Network),
            if mode == NetworkMode::DenyAll { "kernel" } else { "absent" }
        );
    }
}

#[test]
fn what_seatbelt_does_not_give_is_owned_up_to() {
    let plan = planned(
        |order| {
            order.bounds.processes = Some(9);
            order.bounds.memory = Some(1 << 20);
        },
        None,
    );
    for layer in [Layer::Namespaces, Layer::SystemCalls, Layer::Landlock, Layer::Devices] {
        assert_eq!(word(&plan, layer), "absent", "{layer:?}");
    }
    assert_eq!(word(&plan, Layer::Files), "kernel");
    let lacks = |layer: Layer| {
        let held = plan.enforced().iter().find(|it| it.layer == layer).unwrap();
        let Strength::Partial(list) = &held.strength else { panic!("{held:?}") };
        list.join("; ")
    };
    assert!(lacks(Layer::Hide).contains("can be seen, and not read"));
    assert!(lacks(Layer::Privileges).contains("outlive the command"));
    assert!(lacks(Layer::Limits).contains("they are not counted"));
    assert!(lacks(Layer::Limits).contains("the sum of all processes is not bounded"));
}

#[test]
fn a_profile_of_the_users_own_stands_as_it_is_and_denials_come_behind_it() {
    let text = "; mine\n(version 1)\n(deny default)\n(allow process*)\n(allow file-read*)\n\
        (allow file-write* (subpath (param \"_RW1\")))";
    let own = Verbatim { text, workspace: Path::new("/data/w") };
    let plan = planned(|_| {}, Some(own));
    let (made, parameters) = profile(&plan);
    let behind = made.strip_prefix(text).unwrap();
    assert!(behind.lines().skip(1).all(|rule| rule.starts_with("(deny ")), "{behind}");
    assert!(behind.contains("(deny file-read* file-write* "), "{behind}");
    assert_eq!(parameters[0], ("_RW1".to_owned(), "/data/w".to_owned()));
    let policy = read(made, parameters);
    let write: Vec<String> = policy.files.write.values().map(ToString::to_string).collect();
    assert_eq!(write, ["/data/w"]);
    assert!(policy.files.hide.values().any(|it| it.matches(Path::new("/home/dev/.ssh"))));
}

#[test]
fn where_reading_is_denied_by_default_only_what_is_named_and_the_system_is_read() {
    let plan = planned(
        |order| {
            order.hide = vec![pattern("/")];
            order.readable = vec![pattern("/home/dev/app")];
        },
        None,
    );
    let (text, _) = profile(&plan);
    assert!(!text.contains("(allow file-read*)\n"), "{text}");
    assert!(text.contains("(subpath \"/usr/lib\")"), "{text}");
    assert!(!text.contains("\"/Users\"") && !text.contains("\"/etc\""), "{text}");
}

#[test]
fn what_is_not_confined_stays_so_and_is_told() {
    let plan = planned(|order| order.walls = Walls::Down { by: "a test".into() }, None);
    assert!(!plan.is_confined());
    assert!(plan.steps().iter().all(|step| !matches!(step, Step::Seatbelt { .. })));
    assert_eq!(word(&plan, Layer::Files), "absent");
}

#[test]
fn what_is_not_open_there_is_told() {
    let plan = planned(
        |order| {
            order.publish = vec![3000];
            order.unix = vec![pattern("/home/dev/x")];
        },
        None,
    );
    let codes: Vec<_> = plan.notes().iter().map(|note| note.code).collect();
    assert!(codes.contains(&"not-published") && codes.contains(&"socket-absent"), "{codes:?}");
    assert!(!plan.steps().iter().any(|step| matches!(step, Step::Publish(_))));
    assert!(profile(&plan).0.contains("(deny network-outbound (remote unix-socket))"));
}
