//! Exports of a plan that is written down, for every engine.

use std::collections::BTreeMap;

use palisade_policy::dialect::seatbelt::{Params, read_profile};
use palisade_policy::dialect::{FileKind, Surroundings};
use palisade_policy::jail::Entry;
use palisade_policy::layer::Layer;
use palisade_policy::name::Anchors;
use palisade_policy::policy::NetworkMode;
use palisade_policy::text::Source;

use super::*;
use crate::build::build;
use crate::build::tests::{facts, order, permit};
use crate::facts::{Idmap, Kind, Privilege};
use crate::order::{Order, Walls};

/// A disk with what the plans here hide, and a few things of root's.
struct Disk;

impl Lookup for Disk {
    fn look(&self, path: &str) -> Entry {
        match path {
            "/etc/shadow" | "/proc/kcore" => Entry::File,
            "/usr/sbin/runc" | "/usr/local/bin/docker" => Entry::File,
            "/usr/bin/runc" | "/usr/bin/docker" | "/usr/sbin/docker" => Entry::Absent,
            "/bin" => Entry::Link("usr/bin".into()),
            "/sbin" => Entry::Link("usr/sbin".into()),
            _ if path.starts_with("/usr/bin/") => Entry::File,
            _ if path.starts_with("/proc/") || path.starts_with("/etc/") => Entry::Absent,
            _ if path.ends_with("config") => Entry::File,
            _ => Entry::Folder,
        }
    }
}

const FOLDER: &str = "/home/dev/engine";

fn around<'a>(outside: &'a [(String, String)], policies: &'a [PathBuf]) -> Around<'a> {
    let (folder, image) = (Some(Path::new(FOLDER)), Some("debian:12"));
    let ours = Ours::default();
    Around { lookup: &Disk, outside, folder, image, policies, ours }
}

fn planned(privilege: Privilege, change: impl FnOnce(&mut Order)) -> Plan {
    let mut order = order();
    change(&mut order);
    build(&permit(), &order, &facts(privilege)).unwrap()
}

/// Exports with everything accepted that is missing.
fn accepted(plan: &Plan, engine: Engine) -> Export {
    let outside = [("K".to_owned(), "secret".to_owned())];
    let policies = ["/home/dev/.config/palisade/policy.yaml".into()];
    export(plan, engine, &around(&outside, &policies), &Lack::ALL).unwrap()
}

/// Returns an export as one text, with one word of a command on each line.
fn shown(export: &Export) -> String {
    let mut shown = export.text.replace(" --", "\n  --").replace(" -D ", "\n  -D ");
    for file in &export.files {
        let text = String::from_utf8_lossy(&file.content).into_owned();
        // The filter is compared with our own elsewhere.
        let text = match file.name {
            "seccomp.bpf" => format!("{} bytes\n", file.content.len()),
            "seccomp.json" => "…\n".into(),
            "config.json" => {
                let mut config: serde_json::Value = serde_json::from_str(&text).unwrap();
                config["linux"]["seccomp"] = "…".into();
                format!("{config:#}\n")
            }
            _ => text,
        };
        shown.push_str(&format!("== {}\n{text}", file.name));
    }
    for missing in &export.missing {
        shown.push_str(&format!("without {}: {}\n", missing.lack.word(), missing.what));
    }
    shown
}

#[test]
fn every_engine_gets_the_same_plan() {
    let plan = planned(Privilege::Ordinary, |_| {});
    for engine in Engine::ALL {
        insta::assert_snapshot!(engine.word(), shown(&accepted(&plan, engine)));
    }
}

#[test]
fn what_root_loses_is_named_and_masked() {
    let plan = planned(Privilege::Root { idmap: Idmap::Works }, |_| {});
    for engine in Engine::ALL {
        let export = accepted(&plan, engine);
        assert!(export.missing.iter().any(|it| it.lack == Lack::Identity), "{engine}");
    }
    let export = accepted(&plan, Engine::Bwrap);
    for part in ["--ro-bind /proc/sys /proc/sys ", "--ro-bind /dev/null /etc/shadow "] {
        assert!(export.text.contains(part), "{part}: {}", export.text);
    }
    let bundle = String::from_utf8(accepted(&plan, Engine::Oci).files[1].content.clone()).unwrap();
    let config: serde_json::Value = serde_json::from_str(&bundle).unwrap();
    assert_eq!(config["linux"]["maskedPaths"], serde_json::json!(["/proc/kcore"]));
}

#[test]
fn nothing_that_is_missing_is_accepted_by_another_name() {
    let plan = planned(Privilege::Ordinary, |_| {});
    for engine in Engine::ALL {
        let all: Vec<Lack> = accepted(&plan, engine).missing.iter().map(|it| it.lack).collect();
        assert!(all.contains(&Lack::Landlock), "{engine}");
        for one in &all {
            let others: Vec<Lack> = Lack::ALL.into_iter().filter(|lack| lack != one).collect();
            let refused = export(&plan, engine, &around(&[], &[]), &others).unwrap_err();
            let CannotExport::Weaker { missing, all: named, .. } = &refused else {
                panic!("{refused:?}");
            };
            assert_eq!(missing.iter().map(|it| it.lack).collect::<Vec<_>>(), [*one], "{engine}");
            assert_eq!(*named, all, "the hint names everything");
            assert!(refused.hint().contains(one.word()), "{}", refused.hint());
        }
    }
}

#[test]
fn values_of_the_callers_variables_are_in_no_command() {
    for secret in ["hushed", "hushed$HOME", "$hushed", "hushed$$", "=hushed", "a hushed'"] {
        let outside = [("K".to_owned(), secret.to_owned())];
        let plan = planned(Privilege::Ordinary, |order| {
            order.environment.retain(|(name, _)| name != "K");
            order.environment.extend(outside.clone());
        });
        for engine in Engine::ALL {
            let made = export(&plan, engine, &around(&outside, &[]), &Lack::ALL);
            // The manager would read it, and no shell can double it without printing it.
            if engine == Engine::Systemd && secret.contains('$') {
                let refused = made.unwrap_err();
                assert_eq!(refused.code(), "export-value");
                let told = format!("{refused} {}", refused.hint());
                assert!(told.contains("`K`") && !told.contains("hushed"), "{told}");
            } else {
                let text = made.unwrap().text;
                assert!(!text.contains("hushed"), "{engine}: {text}");
            }
        }
    }
}

#[test]
fn a_policys_dollars_mean_themselves_to_systemd() {
    let plan = planned(Privilege::Ordinary, |order| {
        order.environment.push(("SET".into(), "a$b".into()));
    });
    let text = accepted(&plan, Engine::Systemd).text;
    assert!(text.contains(" 'SET=a$$b' "), "{text}");
}

#[test]
fn programs_of_the_command_line_are_named_by_their_paths() {
    let plan = planned(Privilege::Ordinary, |order| order.bounds.file_size = Some(4096));
    #[rustfmt::skip]
    let cases: [(Engine, &[&str]); 6] = [
        (Engine::Bwrap,    &["exec /usr/bin/env -i -- ", " /usr/bin/bwrap --", " -- /usr/bin/prlimit --"]),
        (Engine::Oci,      &["/usr/sbin/runc --root "]),
        (Engine::Gvisor,   &["/usr/bin/runsc --oci-seccomp "]),
        (Engine::Docker,   &["/usr/local/bin/docker run "]),
        (Engine::Systemd,  &["/usr/bin/systemd-run --user ", " -- /usr/bin/env -i -- "]),
        (Engine::Seatbelt, &["(t=$(/usr/bin/mktemp -d)", "'/bin/rm -rf ", "/usr/bin/env -i -- ", "/usr/bin/sandbox-exec "]),
    ];
    for (engine, parts) in cases {
        let text = accepted(&plan, engine).text;
        for part in parts {
            assert!(text.contains(part), "{part}: {text}");
        }
    }
}

/// A disk on which the programs of engines are links into the project.
struct Lured(&'static str);

impl Lookup for Lured {
    fn look(&self, path: &str) -> Entry {
        let is_program = Path::new(path).file_name().is_some_and(|name| name == self.0);
        match path {
            _ if path.starts_with("/home/dev/app/") => Entry::File,
            _ if path.starts_with("/usr/bin/") && is_program => {
                Entry::Link(format!("../../opt/{}", self.0))
            }
            "/opt" => Entry::Link("/home/dev/app/bin".into()),
            _ if path.starts_with("/usr/bin/") => Entry::File,
            _ if is_program => Entry::Absent,
            _ => Entry::Folder,
        }
    }
}

#[test]
fn programs_that_the_command_could_change_are_refused() {
    let plan = planned(Privilege::Ordinary, |_| {});
    #[rustfmt::skip]
    let cases = [
        (Engine::Bwrap, "bwrap"), (Engine::Bwrap, "env"), (Engine::Bwrap, "prlimit"),
        (Engine::Oci, "runc"), (Engine::Gvisor, "runsc"), (Engine::Docker, "docker"),
        (Engine::Systemd, "systemd-run"), (Engine::Systemd, "env"),
    ];
    for (engine, program) in cases {
        let around = Around { lookup: &Lured(program), ..around(&[], &[]) };
        let refused = export(&plan, engine, &around, &Lack::ALL).unwrap_err();
        assert_eq!(refused.code(), "export-program", "{engine} {program}");
        assert!(refused.to_string().contains(&format!("/{program}`")), "{refused}");
    }
}

#[test]
fn a_program_is_no_variable_and_no_option() {
    let plan = |word: &str| {
        planned(Privilege::Ordinary, |order| {
            order.environment = vec![("--split-string".into(), "x".into())];
            order.argv = vec![word.into(), "x".into()];
        })
    };
    let made = |engine, word| export(&plan(word), engine, &around(&[], &[]), &Lack::ALL);
    let refused = made(Engine::Systemd, "a=b").unwrap_err();
    assert_eq!(refused, CannotExport::NoText("a=b".into()));
    let text = made(Engine::Seatbelt, "-p").unwrap().text;
    assert!(text.contains(" -- -p x "), "{text}");
    for engine in [Engine::Bwrap, Engine::Systemd, Engine::Seatbelt] {
        let text = made(engine, "true").unwrap().text;
        assert!(text.contains("env -i -- --split-string=x "), "{text}");
    }
}

#[test]
fn what_the_loader_reads_is_set_inside() {
    let own = ("LD_AUDIT".to_owned(), "/home/dev/own".to_owned());
    let plan = planned(Privilege::Ordinary, |order| {
        order.environment.push(("LD_PRELOAD".into(), "/home/dev/app/x.so".into()));
        order.environment.push(own.clone());
    });
    let text = export(&plan, Engine::Bwrap, &around(&[own], &[]), &Lack::ALL).unwrap().text;
    let (outside, inside) = text.split_once("/bwrap ").unwrap();
    assert!(!outside.contains("LD_"), "{outside}");
    assert!(inside.contains("--setenv LD_PRELOAD /home/dev/app/x.so "), "{inside}");
    assert!(inside.contains(" --setenv LD_AUDIT \"$LD_AUDIT\" "), "{inside}");
}

#[test]
fn docker_is_given_no_path_that_it_would_split() {
    let mut line = shell::Line::default();
    let size = None;
    assert!(docker::memory(&mut line, Path::new("/a:b"), size, 0o755).is_err());
    assert!(docker::memory(&mut line, Path::new("/a"), size, 0o755).is_ok());
    assert_eq!(line.done(), "--tmpfs /a:rw,exec,nosuid,nodev,mode=755");
}

#[test]
fn bounds_are_carried_or_named() {
    let bounded = planned(Privilege::Ordinary, |order| {
        order.bounds.memory = Some(1 << 30);
        order.bounds.file_size = Some(4096);
        order.bounds.idle = Some(std::time::Duration::from_secs(5));
        order.bounds.streamed = Some(64);
    });
    #[rustfmt::skip]
    let cases: [(Engine, &[&str], &[Lack]); 6] = [
        (Engine::Bwrap,    &["ulimit -d 1048576;", "prlimit", "--fsize=4096"], &[Lack::Memory, Lack::Time]),
        (Engine::Oci,      &[], &[Lack::Memory, Lack::Time]),
        (Engine::Gvisor,   &[], &[Lack::Memory, Lack::Time]),
        (Engine::Docker,   &["--memory 1073741824", "--ulimit fsize=4096:4096"], &[Lack::Time]),
        (Engine::Systemd,  &["MemoryMax=1073741824", "LimitFSIZE=4096", "RuntimeMaxSec=30000ms"], &[]),
        (Engine::Seatbelt, &[], &[Lack::FileSize, Lack::Memory, Lack::Processes, Lack::Time]),
    ];
    for (engine, parts, lacks) in cases {
        let export = accepted(&bounded, engine);
        let has = |lack: Lack| export.missing.iter().any(|it| it.lack == lack);
        assert!(parts.iter().all(|part| export.text.contains(part)), "{}", export.text);
        for lack in [Lack::FileSize, Lack::Memory, Lack::Processes, Lack::Time] {
            assert_eq!(has(lack), lacks.contains(&lack), "{engine} {}", lack.word());
        }
        assert!(has(Lack::Idle) && has(Lack::Output), "{engine}");
    }
}

#[test]
fn what_is_done_around_a_run_is_missing_too() {
    let plan = planned(Privilege::Ordinary, |_| {});
    for engine in Engine::ALL {
        let ours = Ours { asks: true, records: true };
        let export =
            export(&plan, engine, &Around { ours, ..around(&[], &[]) }, &Lack::ALL).unwrap();
        for lack in [Lack::Confirmation, Lack::Record] {
            assert!(export.missing.iter().any(|it| it.lack == lack), "{engine} {}", lack.word());
        }
    }
}

#[test]
fn a_plan_without_walls_is_none_to_carry() {
    let plan = planned(Privilege::Ordinary, |order| order.walls = Walls::Down { by: "x".into() });
    for engine in Engine::ALL {
        let refused = export(&plan, engine, &around(&[], &[]), &Lack::ALL);
        assert_eq!(refused, Err(CannotExport::Unconfined(engine)));
    }
}

#[test]
fn engines_do_not_look_for_programs_in_the_current_folder() {
    let plan = planned(Privilege::Ordinary, |order| {
        order.environment = vec![("PATH".into(), ":/usr/bin:.:bin::/bin:".into())];
    });
    let export = accepted(&plan, Engine::Bwrap);
    assert!(export.text.contains(" PATH=/usr/bin:/bin "), "{}", export.text);
}

/// Returns the profile for a project at `root`, with its parameters.
fn profile(root: &str, network: NetworkMode) -> (String, BTreeMap<String, String>) {
    let mut order = order();
    order.network = network;
    order.root = root.into();
    order.cwd = root.into();
    order.write = vec![root.into()];
    order.protect = Vec::new();
    order.hide.push(format!("{}/secret", PatternText(root)).parse().unwrap());
    let mut facts = facts(Privilege::Ordinary);
    for name in ["", "/secret"] {
        let mut place = facts.place(Path::new("/home/dev/app")).unwrap().clone();
        let path = PathBuf::from(format!("{root}{name}"));
        place.path.clone_from(&path);
        place.at.clone_from(&path);
        (place.real, place.is) = (path, Kind::Folder);
        facts.places.push(place);
    }
    facts.places.sort_by(|a, b| a.path.as_os_str().cmp(b.path.as_os_str()));
    let plan = build(&permit(), &order, &facts).unwrap();
    let made = seatbelt::profile(&Scene::of(&plan, &Disk).unwrap()).unwrap();
    (made.text, made.parameters.into_iter().collect())
}

/// A path as a pattern that matches it alone.
struct PatternText<'a>(&'a str);

impl std::fmt::Display for PatternText<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let folder = palisade_policy::name::Folder::literal(Path::new(self.0)).unwrap();
        folder.as_pattern().fmt(f)
    }
}

#[test]
fn e061_a_profile_opens_no_socket_no_keychain_and_no_other_application() {
    for network in [NetworkMode::DenyAll, NetworkMode::Disabled] {
        let (text, _) = profile("/home/dev/x", network);
        let rules: Vec<&str> = text.lines().collect();
        let place = |rule: &str| rules.iter().position(|it| *it == rule);
        assert_eq!(place("(deny default)"), Some(1), "{text}");
        let sockets = place("(deny network-outbound (remote unix-socket))").unwrap();
        let opens = place("(allow network*)");
        assert_eq!(opens.is_some(), network == NetworkMode::Disabled);
        assert!(opens < Some(sockets), "the last rule counts");
        for refused in ["(deny appleevent-send)", "(deny lsopen)"] {
            assert!(place(refused).is_some(), "{refused}");
        }
        assert!(!text.contains("(allow mach-lookup)"), "not every service");
        let services = ["Security", "security", "trustd", "launchservices", "coreservices", "tccd"];
        for service in services.into_iter().chain(["pasteboard", "cfprefsd", "AppleEvents"]) {
            assert!(!text.contains(service), "{service}");
        }
    }
}

#[test]
fn e062_paths_are_parameters_and_write_no_rules() {
    let (plain, _) = profile("/home/dev/x", NetworkMode::DenyAll);
    let names = [
        "/home/dev/x\")) (allow file-write* (subpath \"/",
        "/home/dev/\" ) (allow default) ; ",
        "/home/dev/back\\",
        "/home/dev/;comment",
        "/home/dev/#\"raw",
        "/home/dev/star*and?[set]",
        "/home/dev/\u{202e}tset",
    ];
    for name in names {
        let name = name.trim_end_matches('/');
        let (text, parameters) = profile(name, NetworkMode::DenyAll);
        assert_eq!(text, plain, "{name}");
        assert_eq!(parameters["_RW1"], name);
        assert!(parameters.values().any(|path| *path == format!("{name}/secret")), "{name}");
    }
}

#[test]
fn the_project_is_the_first_parameter() {
    let plan = planned(Privilege::Ordinary, |order| order.write.push("/home/dev".into()));
    let made = seatbelt::profile(&Scene::of(&plan, &Disk).unwrap()).unwrap();
    assert!(made.parameters.contains(&("_RW1".into(), "/home/dev".into())), "it holds the project");
    let plan = planned(Privilege::Ordinary, |order| order.write.push("/tmp".into()));
    let made = seatbelt::profile(&Scene::of(&plan, &Disk).unwrap()).unwrap();
    assert!(made.parameters.contains(&("_RW1".into(), "/home/dev/app".into())));
    assert!(made.parameters.contains(&("_RW2".into(), "/tmp".into())));
}

#[test]
fn a_profile_means_what_the_plan_means() {
    let (text, parameters) = profile("/home/dev/x", NetworkMode::DenyAll);
    let mut params = Params::default().with("_TMP", Path::new("/scratch/t"));
    for (name, path) in &parameters {
        params = params.with(name, Path::new(path));
    }
    let anchors = Anchors { root: "/home/dev/x".into(), home: Some("/home/dev".into()) };
    let around = Surroundings {
        anchors: &anchors,
        cwd: Path::new("/home/dev/x"),
        var: &|_| None,
        kind: &|_| Some(FileKind::Folder),
        list: &|_| Vec::new(),
        read: &|_| Err("no files here".into()),
    };
    let source = Source::new("profile.sb", text.as_str());
    let (policy, _) = read_profile(&source, &params, Layer::User, &around)
        .unwrap_or_else(|problems| panic!("{problems:?}\n{text}"));
    let list = |values: Vec<String>| -> Vec<String> {
        let mut values = values;
        values.sort();
        values
    };
    let files = &policy.files;
    let write = list(files.write.values().map(ToString::to_string).collect());
    assert_eq!(write, ["/home/dev/x", "/scratch/t"]);
    let hide = list(files.hide.values().map(ToString::to_string).collect());
    for hidden in ["/home/dev/.config/gh", "/home/dev/.ssh", "/home/dev/x/secret", "/tmp"] {
        assert!(hide.iter().any(|it| it == hidden), "{hidden}: {hide:?}");
    }
    assert_eq!(policy.network.mode.value(), NetworkMode::DenyAll);
}
