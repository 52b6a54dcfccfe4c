//! `palisade plan --export`: other engines hold what our own plan holds, or the export is refused.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::process::Output;
use std::sync::OnceLock;

use palisade_testkit::{Fact, Home, Need, Project, need};
use serde_json::Value as Json;

use crate::kit::{PALISADE, Person, World, as_both};

/// Tries what must work and what must not, and says of each whether it did. Nothing here changes
/// anything outside of the project should a wall be missing.
const TRIES: &str = r#"
t() { if "$@" >/dev/null 2>&1; then echo "yes $*"; else echo "no $*"; fi; }
t touch made
t test "$(cat made-before)" = before
t test -w /
t test -w /etc
t test -w "$HOME"
t sh -c ': >> "$HOME/notes"'
t cat "$HOME/notes"
t cat "$HOME/.ssh/id"
t ls "$HOME/.ssh"
t cat "$HOME/.netrc"
t ls "$HOME/.config/gh"
t cat .env
t cat deep/.env
t cat "$HOME/.config/app/settings"
t sh -c ': >> "$HOME/.config/app/settings"'
t cat "$HOME/.config/other"
t sh -c ': >> "$HOME/cache/x"'
t touch .git/hooks/pre-commit
t sh -c ': >> .git/config'
t mv .git other
t mkdir .vscode/tasks
t rmdir .vscode
t touch .bashrc
t sh -c ': > /dev/null'
t sh -c ': >> /proc/sys/kernel/core_pattern'
t touch /tmp/x /var/tmp/x /dev/shm/x
t test -e "$HOST_TMP"
t unshare -U true
t cat /etc/shadow
t test "$(cat /proc/net/dev | grep -c :)" -gt 4
t test -e "/proc/$OUTSIDE"
t test -n "$NOT_PASSED"
t grep -q 'CapEff:	0000000000000000' /proc/self/status
t grep -q 'NoNewPrivs:	1' /proc/self/status
t grep -q 'Seccomp:	2' /proc/self/status
t test "$(ulimit -c)" = 0
t test "$(pwd)" = "$PROJECT"
echo "$@"
"#;

/// Names of what bubblewrap does not carry.
pub(crate) const BWRAP: &str =
    "absence,descriptors,first-process,landlock,late-mounts,orphans,self-test,sockets,watch";

/// Names of what open containers do not carry.
const OCI: &str = "absence,descriptors,landlock,new-calls,orphans,reaper,self-test,sockets,watch";

/// Names of what docker does not carry.
const DOCKER: &str = "first-process,landlock,new-calls,orphans,self-test,user-namespace,watch";

/// Names of what systemd does not carry.
const SYSTEMD: &str = "absence,call-arguments,descriptors,landlock,late-mounts,new-calls,orphans,\
                       process-namespace,self-test,sockets,terminals,watch";

/// Names of what macOS does not carry.
pub(crate) const SEATBELT: &str = "absence,descriptors,devices,landlock,orphans,privileges,\
                        process-namespace,processes,self-test,system-calls,terminals,watch";

/// What root has to accept on top.
pub(crate) const ROOT: &str = ",identity,processes";

/// What most tests here say of files.
pub(crate) const HIDES: &str = "files: { hide: [./**/.env] }";

/// Other policies under which engines must hold the same.
const POLICIES: [&str; 5] = [
    HIDES,
    "files: { hide: [~/.config], allow_read: [~/.config/app], write: [., ~/cache] }",
    "profile: readonly",
    "profile: readonly\nfiles: { hide: [./**/.env] }",
    "network: { mode: disabled }\nlimits: { file_size: 1MiB, open_files: 64, cpu: 10s }",
];

/// Makes a project with something to hide, to protect and to keep from being made.
pub(crate) fn dressed(world: World, policy: &str) -> World {
    let home = Home::new()
        .file(".ssh/id", "secret")
        .file(".netrc", "secret")
        .file(".config/gh/hosts", "secret")
        .file(".config/app/settings", "settings")
        .file(".config/other", "secret")
        .file("cache/x", "x")
        .file("notes", "notes")
        .var("PATH", "/usr/local/bin:/usr/bin:/bin:/usr/sbin")
        .var("NOT_PASSED", "secret");
    let project = Project::new()
        .file(".git/HEAD", "ref: refs/heads/main\n")
        .file(".git/config", "[core]\n")
        .file(".git/hooks/README", "")
        .file(".env", "secret")
        .file("deep/.env", "secret")
        .file("made-before", "before")
        .file("tries.sh", TRIES);
    let pass = "env: { pass: [HOST_TMP, OUTSIDE, PROJECT] }";
    World { home, project, ..world }.user_policy(&format!("version: 1\n{policy}\n{pass}\n"))
}

/// Returns the words of a command that makes the tries.
fn tries() -> [&'static str; 5] {
    ["sh", "tries.sh", "it's", "a  b", "$HOME"]
}

/// Runs a program as the person does, with what the tries ask for.
pub(crate) fn run(world: &World, program: &str, arguments: &[&str]) -> Output {
    let mut command = world.command(program);
    let project = fs::canonicalize(world.project.root()).unwrap();
    command.env("PROJECT", project).env("OUTSIDE", std::process::id().to_string());
    // Something of the host in a folder that is private inside.
    static OTHER: OnceLock<Project> = OnceLock::new();
    command.env("HOST_TMP", OTHER.get_or_init(Project::new).root());
    command.args(arguments).output().unwrap()
}

pub(crate) fn text(bytes: &[u8]) -> String {
    String::from_utf8(bytes.to_vec()).unwrap()
}

/// Exports the tries, and returns the text.
pub(crate) fn exported(world: &World, engine: &str, lacks: &str, folder: &Path) -> String {
    let is_root = world.person == Person::Ours && rustix::process::geteuid().is_root();
    let lacks = if is_root { format!("{lacks}{ROOT}") } else { lacks.to_owned() };
    let mut words = vec!["plan", "--export", engine, "--without", &lacks];
    words.extend(["--image", "debian:12"].iter().filter(|_| engine == "docker"));
    words.extend(["--to", folder.to_str().unwrap(), "--"]);
    words.extend(tries());
    let output = run(world, PALISADE, &words);
    assert!(output.status.success(), "{}", text(&output.stderr));
    text(&output.stdout)
}

/// Returns what the tries say under our own walls.
fn ours(world: &World) -> String {
    let words = tries();
    let words: Vec<&str> = ["run", "--"].iter().chain(&words).copied().collect();
    let output = run(world, PALISADE, &words);
    assert!(output.status.success(), "{}", text(&output.stderr));
    text(&output.stdout)
}

/// Makes the tries under our own walls and under those of an engine: they must say the same.
fn holds_the_same(engine: &str, lacks: &str) {
    as_both(|world| {
        let person = world.person;
        for policy in POLICIES {
            let world = dressed(World { person, ..World::new() }, policy);
            let expected = ours(&world);
            let writes = if policy.starts_with("profile: readonly") { "no" } else { "yes" };
            assert!(expected.starts_with(&format!("{writes} touch made\n")), "{expected}");
            assert!(expected.contains("no touch .bashrc\n"), "{expected}");
            let reads = if policy.contains(".env") { "no" } else { "yes" };
            for file in [".env", "deep/.env"] {
                assert!(
                    expected.contains(&format!("{reads} cat {file}\n")),
                    "{policy}: {expected}"
                );
            }
            assert!(expected.ends_with("it's a  b $HOME\n"), "{expected}");
            let command = exported(&world, engine, lacks, &world.home.path("engine"));
            assert!(!command.contains("NOT_PASSED"), "{command}");
            let output = run(&world, "/bin/sh", &["-c", &command]);
            let said = text(&output.stderr);
            assert_eq!(text(&output.stdout), expected, "{policy}: {said}\n{command}");
            if writes == "yes" {
                let held = world.project.path(".bashrc");
                let mode = fs::metadata(&held).unwrap().permissions().mode();
                assert_eq!(mode & 0o7777, 0o1755, "it is marked as ours");
                ours(&world);
                assert!(!held.exists(), "the next run of ours takes it away");
            }
        }
    });
}

#[test]
fn a187_bwrap_holds_what_our_own_walls_hold() {
    if need(Fact::Tools("command -v bwrap")) == Need::Run {
        holds_the_same("bwrap", BWRAP);
    }
}

#[test]
fn a189_runc_holds_what_our_own_walls_hold() {
    if need(Fact::Tools("PATH=$PATH:/usr/sbin; command -v runc")) == Need::Run {
        holds_the_same("oci", OCI);
    }
}

#[test]
fn a189_runsc_holds_what_our_own_walls_hold() {
    // It starts for root alone, and the tools of the other tries fail in it for reasons of its own.
    let is_root = rustix::process::geteuid().is_root();
    if need(Fact::Tools("command -v runsc")) == Need::Skip || !is_root {
        return;
    }
    let world = dressed(World::new(), HIDES);
    let folder = world.home.path("engine");
    let lacks = format!("{OCI},late-mounts");
    world.write(
        "tries.sh",
        r#"t() { if "$@" >/dev/null 2>&1; then echo "yes $*"; else echo "no $*"; fi; }
        t touch made
        t test -w /etc
        t test -w "$HOME"
        t test -s "$HOME/.ssh/id"
        t grep -q . "$HOME/.netrc"
        t grep -q . .env
        t touch .git/hooks/pre-commit
        t mkdir .bashrc/x
        t rmdir .bashrc
        t mv .git other
        t touch /tmp/x
        t test -e "$HOST_TMP"
        t test -e "/proc/$OUTSIDE"
        t unshare -U true
        t grep -q 'CapEff:	0000000000000000' /proc/self/status
        t grep -q gvisor /proc/version
        echo "$@"
        "#,
    );
    let expected = ours(&world);
    assert!(expected.contains("no rmdir .bashrc\n"), "{expected}");
    let command = exported(&world, "gvisor", &lacks, &folder);
    let output = run(&world, "/bin/sh", &["-c", &command]);
    assert_eq!(text(&output.stdout), expected, "{}", text(&output.stderr));
    let mode = fs::metadata(world.project.path(".bashrc")).unwrap().permissions().mode();
    assert_eq!(mode & 0o7777, 0o1755, "nobody else may write to what stays");
}

#[test]
fn a187_the_docker_form_has_all_that_is_promised() {
    as_both(|world| {
        let world = dressed(world, HIDES);
        let folder = world.home.path("engine");
        let command = exported(&world, "docker", DOCKER, &folder);
        let place = |path: &Path| fs::canonicalize(path).unwrap().to_str().unwrap().to_owned();
        let project = place(world.project.root());
        let policy = place(&world.home.path(".config/palisade/policy.yaml"));
        let hooks = format!("{project}/.git/hooks");
        let parts = [
            "/docker run --rm ".to_owned(),
            " --read-only ".into(),
            " --tmpfs /tmp:".into(),
            " --network none ".into(),
            " --cap-drop ALL ".into(),
            format!(
                " --mount type=bind,source={project},target={project},bind-propagation=rprivate "
            ),
            format!(
                " --mount type=bind,source={policy},target={policy},bind-propagation=rprivate,readonly,"
            ),
            format!(
                " --mount type=bind,source={hooks},target={hooks},bind-propagation=rprivate,readonly,"
            ),
            format!(" --mount type=bind,source=/dev/null,target={project}/.env,"),
            format!(" --workdir {project} "),
            " --entrypoint sh debian:12 tries.sh ".into(),
        ];
        for part in parts {
            assert!(command.contains(&part), "{part}: {command}");
        }
        assert!(!command.contains(".ssh"), "nothing of the home is there: {command}");
        let other = world.home.path("other");
        let words = ["plan", "--export", "docker", "--to", other.to_str().unwrap(), "--", "true"];
        let image = world.run(&words);
        assert!(image.stderr.contains("error[export-image]"), "{}", image.stderr);
    });
}

#[test]
fn a187_docker_has_every_option_that_is_written() {
    if need(Fact::Tools("command -v docker")) == Need::Skip {
        return;
    }
    let world = dressed(World::new(), HIDES);
    let command = exported(&world, "docker", DOCKER, &world.home.path("engine"));
    let help = run(&world, "docker", &["run", "--help"]);
    let help = text(&help.stdout);
    let (_, words) = command.split_once("docker run ").unwrap();
    let options = words.split(' ').filter(|word| word.starts_with("--"));
    for option in options {
        assert!(help.split_whitespace().any(|word| word == option), "{option}");
    }
}

#[test]
fn a187_systemd_reads_the_unit_that_is_written() {
    as_both(|world| {
        let world = dressed(world, HIDES);
        let folder = world.home.path("engine");
        let command = exported(&world, "systemd", SYSTEMD, &folder);
        let unit = fs::read_to_string(folder.join("palisade.service")).unwrap();
        for (property, value) in [
            ("ProtectSystem", "strict"),
            ("PrivateNetwork", "yes"),
            ("NoNewPrivileges", "yes"),
            ("CapabilityBoundingSet", ""),
            ("LimitCORE", "0"),
        ] {
            assert!(command.contains(&format!(" --property={property}={value} ")), "{command}");
            assert!(unit.contains(&format!("\n{property}={value}\n")), "{unit}");
        }
        assert!(unit.contains(r#" "it's" "a  b" "$$HOME""#), "{unit}");
        assert!(command.trim_end().ends_with(r"'it'\''s' 'a  b' '$$HOME'"), "{command}");
        if need(Fact::Tools("command -v systemd-analyze")) == Need::Skip {
            return;
        }
        let path = folder.join("palisade.service");
        let verified = run(&world, "systemd-analyze", &["verify", path.to_str().unwrap()]);
        // It knows no calls that are younger than it: that is what `new-calls` accepts.
        let said = text(&verified.stderr);
        let other = said.lines().find(|line| !line.contains("Failed to parse system call"));
        assert_eq!((verified.status.success(), other), (true, None), "{said}");
    });
}

#[test]
fn a187_the_seatbelt_form_is_a_profile_with_parameters() {
    as_both(|world| {
        let world = dressed(world, HIDES);
        let folder = world.home.path("engine");
        let command = exported(&world, "seatbelt", SEATBELT, &folder);
        let project = fs::canonicalize(world.project.root()).unwrap();
        let project = project.to_str().unwrap();
        assert!(command.contains(" /usr/bin/sandbox-exec "), "{command}");
        assert!(command.contains(&format!(" -D _RW1={project} ")), "{command}");
        let profile = fs::read_to_string(folder.join("profile.sb")).unwrap();
        assert!(!profile.contains(project), "{profile}");
        assert!(profile.contains("(allow file-read* file-write* (subpath (param \"_RW1\")))"));
        assert!(profile.contains("(deny file-read* file-write* (subpath (param \"_HIDE1\")))"));
    });
}

#[test]
fn what_an_engine_lacks_is_refused_unless_it_is_accepted_by_name() {
    as_both(|world| {
        let world = dressed(world, HIDES);
        let folder = world.home.path("engine");
        let folder = folder.to_str().unwrap();
        let words = ["plan", "--export", "bwrap", "--to", folder, "--", "true"];
        let ran = world.run(&words);
        assert_eq!((ran.code, ran.stdout.as_str()), (Some(125), ""), "{}", ran.stderr);
        for name in BWRAP.split(',') {
            assert!(ran.stderr.contains(&format!("\n  {name}: ")), "{name}: {}", ran.stderr);
        }
        assert!(!Path::new(folder).exists(), "nothing was written");
        let all_but_one = BWRAP.replace("landlock,", "");
        let words = ["plan", "--export", "bwrap", "--to", folder, "--without", &all_but_one];
        let ran = world.run(&[&words[..], &["--json", "--", "true"]].concat());
        let told: Json = serde_json::from_str(&ran.stdout).unwrap();
        assert_eq!(told["error"]["code"], "export-weaker", "{told}");
        assert!(told["error"]["message"].as_str().unwrap().contains("landlock"), "{told}");
        assert_eq!((ran.code, &told["executed"]), (Some(125), &Json::from(false)));
        assert!(!Path::new(folder).exists(), "nothing was written");
    });
}

#[test]
fn an_export_is_data_too() {
    let world = World { person: Person::Ours, ..dressed(World::new(), HIDES) };
    let folder = world.home.path("engine");
    let names = format!("{BWRAP}{ROOT}");
    let words = ["plan", "--json", "--export", "bwrap", "--without", &names, "--to"];
    let told = world.json(&[&words[..], &[folder.to_str().unwrap(), "--", "true"]].concat());
    assert_eq!((&told["engine"], &told["denied"]), (&"bwrap".into(), &false.into()));
    assert!(told["text"].as_str().unwrap().contains("/bwrap --unshare-user "), "{told}");
    assert!(told["missing"].as_array().unwrap().iter().any(|it| it["name"] == "landlock"));
    assert_eq!(told["notes"][0]["code"], "litter");
    for file in told["files"].as_array().unwrap() {
        assert!(folder.join(file.as_str().unwrap()).is_file(), "{file}");
    }
}

#[test]
fn exports_that_make_no_sense_are_refused() {
    let world = dressed(World::new(), HIDES);
    let names = format!("{BWRAP}{ROOT}");
    let inside = world.project.path("engine");
    let full = world.home.path(".ssh");
    let gone = world.home.path("no/such");
    let is = |to: &Path, code: &str| {
        let to = to.to_str().unwrap();
        let words = ["plan", "--export", "bwrap", "--without", &names, "--to", to, "--", "true"];
        let ran = world.run(&words);
        assert_eq!((ran.code, ran.stdout.as_str()), (Some(125), ""), "{to}");
        assert!(ran.stderr.contains(&format!("error[{code}]")), "{}", ran.stderr);
    };
    is(&inside, "export-folder");
    assert!(!inside.exists());
    is(&full, "export-folder");
    is(&gone, "export-folder");
    let alone = ["plan", "--export", "bwrap", "--without", &names, "--", "true"];
    let ran = world.run(&alone);
    assert!(ran.code == Some(125) && ran.stderr.contains("--to"), "{}", ran.stderr);
    let wrong: [&[&str]; 4] = [
        &["plan", "--export", "chroot", "--", "true"],
        &["plan", "--export", "bwrap", "--without", "everything", "--", "true"],
        &["plan", "--without", "landlock", "--", "true"],
        &["plan", "--to", "x", "--", "true"],
    ];
    for words in wrong {
        assert_eq!(world.run(words).code, Some(2), "{words:?}");
    }
    let asks = "commands: { rules: [{ tool: run_shell_command, action: ask }] }";
    let asked = dressed(World::new(), asks);
    let to = asked.home.path("engine");
    let words = ["plan", "--export", "bwrap", "--to", to.to_str().unwrap(), "--without", &names];
    let ran = asked.run(&[&words[..], &["--", "true"]].concat());
    assert!(ran.code == Some(125) && ran.stderr.contains("\n  confirmation: "), "{}", ran.stderr);
    let denied = ["plan", "--export", "bwrap", "--", "rm", "-rf", "/etc"];
    assert_eq!(world.run(&denied).code, Some(126), "what may not run is not exported");
}

#[test]
fn a190_a_wrapper_receives_the_words_as_they_are() {
    as_both(|world| {
        let policy = "version: 1\nwrapper: [sh, wrap.sh, 'the  first']\n";
        let world = world.user_policy(policy);
        world.write("wrap.sh", r#"for word in "$@"; do printf '[%s]' "$word"; done"#);
        let words = ["echo", "a  b", "it's", "\"q\"", "", "$HOME", "*", "new\nline", "--", "-x"];
        let ran = world.run(&[&["run", "--"][..], &words].concat());
        let expected: String =
            ["the  first"].iter().chain(&words).map(|word| format!("[{word}]")).collect();
        assert_eq!((ran.stdout, ran.code), (expected, Some(0)), "{}", ran.stderr);
        let shell = world.run(&["run", "--shell", "echo 'a  b' && true"]).stdout;
        assert!(shell.ends_with("[-c][echo 'a  b' && true]"), "{shell}");
    });
}
