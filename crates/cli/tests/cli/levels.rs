//! What runs, and how, where not all walls can be had, or the policy wants none of ours.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::process::Command;

use palisade_testkit::hosts::{BARE, COUNTED, DROPPED, FILTERED};
use palisade_testkit::{Fact, Need, need};
use serde_json::Value as Json;

use crate::kit::{PALISADE, Person, Ran, World, as_both};
use crate::schema::assert_fits;

/// Runs `palisade` in a process that `shell` prepares.
pub(crate) fn prepared(world: &World, shell: &str, arguments: &[&str]) -> Ran {
    let palisade = world.command(PALISADE).get_program().to_owned();
    let mut command = world.command("/bin/sh");
    command.args(["-c", shell, "sh"]).arg(palisade).args(arguments);
    world.finish(&mut command)
}

fn json(ran: &Ran) -> Json {
    serde_json::from_str(&ran.stdout).unwrap_or_else(|_| panic!("{}{}", ran.stdout, ran.stderr))
}

/// Both ways in which namespaces are refused.
fn blocked() -> [String; 2] {
    [format!("{DROPPED}{FILTERED}"), COUNTED.to_owned()]
}

/// A script that writes outside: denied nowhere, and stopped by walls only.
fn with_script(world: World) -> World {
    world.write("out.sh", "echo inside > in; echo outside > ~/out\n");
    world
}

fn got_out(world: &World) -> bool {
    fs::remove_file(world.home.path("out")).is_ok()
}

#[test]
fn a188_external_decides_and_confines_nothing_and_says_so() {
    as_both(|it| {
        let world = with_script(it.user_policy("require: external\n"));
        let ran = world.run(&["run", "--json", "--", "sh", "out.sh"]);
        let outcome = json(&ran);
        assert_fits(&outcome, "outcome.json");
        assert_eq!(ran.code, Some(0), "{}", ran.stderr);
        assert_eq!(outcome["enforced"], "external", "{outcome:#}");
        assert_eq!(outcome["level"], "external");
        assert_eq!(outcome["survivors"], "none");
        assert!(outcome["notes"].as_array().unwrap().iter().any(|it| it["code"] == "external"));
        assert!(got_out(&world), "nothing of ours holds it");

        // It is decided, and asked, all the same.
        let denied = world.run(&["run", "--json", "--", "rm", "-rf", "/"]);
        assert_eq!((denied.code, &json(&denied)["denied"]), (Some(126), &true.into()));
        let asked = world.run(&["run", "--json", "--", "git", "push", "--force"]);
        assert_eq!((asked.code, &json(&asked)["code"]), (Some(126), &"unconfirmed".into()));
        // And a person is told.
        let ran = world.run(&["run", "--", "true"]);
        assert!(ran.stderr.contains("nothing is confined by palisade"), "{}", ran.stderr);
        let plan = world.run(&["plan", "--", "true"]);
        let told = plan.stderr.matches("nothing is confined by palisade").count();
        assert_eq!(told, 1, "once, and not as a note too: {}", plan.stderr);
    });
}

#[test]
fn a188_a_project_cannot_rely_on_what_is_around_trusted_or_not() {
    as_both(|it| {
        let world = with_script(it);
        world.write(".palisade/policy.yaml", "require: external\n");
        let outcome = json(&world.run(&["run", "--json", "--", "sh", "out.sh"]));
        assert_eq!(outcome["level"], "full", "{outcome:#}");
        assert!(!got_out(&world));
        let trusted = world.run(&["trust", "--yes"]);
        assert_eq!(trusted.code, Some(0), "{}", trusted.stderr);
        let outcome = json(&world.run(&["run", "--json", "--", "sh", "out.sh"]));
        assert_eq!(outcome["level"], "full", "{outcome:#}");
        assert!(!got_out(&world));
    });
}

#[test]
fn a064_what_blocks_is_named_with_its_remedy_and_nothing_is_run() {
    as_both(|it| {
        let world = with_script(it);
        let names = ["a seccomp filter", "user.max_user_namespaces"];
        let remedies = ["seccomp profile", "sysctl user.max_user_namespaces"];
        for (shell, (name, remedy)) in blocked().iter().zip(names.into_iter().zip(remedies)) {
            let ran = prepared(&world, shell, &["run", "--", "sh", "out.sh"]);
            assert_eq!(ran.code, Some(125), "{}", ran.stderr);
            assert!(ran.stderr.contains("requires `full`"), "{}", ran.stderr);
            assert!(ran.stderr.contains(name), "{}", ran.stderr);
            let hint = ran.stderr.split("hint: ").nth(1).unwrap_or_default();
            assert!(hint.contains(remedy) && hint.contains("require: landlock"), "{}", ran.stderr);
            assert!(!world.project.path("in").exists() && !got_out(&world), "nothing ran");
            let told = json(&prepared(&world, shell, &["run", "--json", "--", "sh", "out.sh"]));
            assert_eq!(told["error"]["code"], "missing-wall");
            assert_eq!(told["executed"], false);
        }
    });
}

#[test]
fn a064_who_accepts_landlock_gets_it_and_is_told_what_it_lacks() {
    as_both(|it| {
        let world = with_script(it.user_policy("require: landlock\n"));
        for shell in &blocked() {
            let ran = prepared(&world, shell, &["run", "--json", "--", "sh", "out.sh"]);
            let outcome = json(&ran);
            assert_fits(&outcome, "outcome.json");
            assert_eq!(outcome["level"], "landlock", "{outcome:#}");
            assert_eq!(outcome["enforced"]["namespaces"]["is"], "absent");
            assert!(!got_out(&world), "{outcome:#}");
            assert!(fs::remove_file(world.project.path("in")).is_ok(), "{outcome:#}");
            let ran = prepared(&world, shell, &["run", "--", "true"]);
            assert!(ran.stderr.contains("`enforced` lists what they cannot"), "{}", ran.stderr);
            let plan = prepared(&world, shell, &["plan", "--", "true"]);
            assert!(plan.stdout.contains("landlock-alone abi="), "{}{}", plan.stdout, plan.stderr);
        }
        let outcome = json(&world.run(&["run", "--json", "--", "true"]));
        assert_eq!(outcome["level"], "full", "the strongest there is");
    });
}

#[test]
fn who_requires_nothing_gets_what_there_is_and_nothing_is_told_loudly() {
    as_both(|it| {
        let world = with_script(it.user_policy("require: none\n"));
        // Behind all walls nothing is shouted.
        let ran = world.run(&["run", "--", "true"]);
        assert!(ran.stderr.contains("`require: none`"), "{}", ran.stderr);
        assert!(!ran.stderr.contains("NOTHING"), "{}", ran.stderr);
        let shell = format!("{DROPPED}{FILTERED}");
        let outcome = json(&prepared(&world, &shell, &["run", "--json", "--", "sh", "out.sh"]));
        assert_eq!(outcome["level"], "landlock", "{outcome:#}");
        assert!(!got_out(&world));
        let bare = BARE.replace("exec ", "exec /bin/sh -c 'exec \"$@\"' sh ");
        let shell =
            format!("set -- /bin/sh -c '{}' sh \"$@\"; {bare}", FILTERED.replace('\'', r"'\''"));
        let shell = format!("{DROPPED}{shell}");
        let ran = prepared(&world, &shell, &["run", "--", "sh", "out.sh"]);
        assert!(ran.stderr.contains("NOTHING WAS CONFINED"), "{}", ran.stderr);
        assert!(got_out(&world));
        // Then an agent's own sandbox is all there is, and is not switched off.
        world.write("codex", "#!/bin/sh\necho \"words $*\"\n");
        let mode = fs::Permissions::from_mode(0o755);
        fs::set_permissions(world.project.path("codex"), mode).unwrap();
        let agent = ["run", "--agent", "codex", "--", "./codex", "x"];
        assert_eq!(prepared(&world, &shell, &agent).stdout, "words x\n");
        let walled = prepared(&world, &format!("{DROPPED}{FILTERED}"), &agent).stdout;
        assert_eq!(walled, "words -c sandbox_mode=danger-full-access x\n");
        let refused = world.user_policy("require: landlock\n");
        let ran = prepared(&refused, &shell, &["run", "--", "sh", "out.sh"]);
        assert_eq!(ran.code, Some(125), "{}", ran.stderr);
        assert!(ran.stderr.contains("Landlock as the only wall"), "{}", ran.stderr);
        assert!(!got_out(&refused));
    });
}

/// A host on which all user namespaces are taken for so many seconds, and then `last` is executed. Who
/// has taken them is awaited: until then, one that has ended still has its own.
fn crowded(seconds: &str, last: &str) -> String {
    format!(
        "exec unshare -U -r sh -c 'echo 6 > /proc/sys/user/max_user_namespaces; rm -f taken; \
         of() {{ readlink /proc/$1/ns/user; }}; \
         (for each in 1 2 3 4 5 6; do unshare -U sleep {seconds} & \
         until [ \"$(of $!)\" != \"$(of $$)\" ]; do sleep 0.01; done; done; \
         echo > taken; wait) < /dev/null > /dev/null 2>&1 & \
         until [ -e taken ]; do sleep 0.01; done; {last}' sh \"$@\""
    )
}

#[test]
fn a_shortage_that_may_pass_never_makes_the_walls_weaker() {
    let dropped = r#"exec setpriv --bounding-set=-all --inh-caps=-all -- "$@""#;
    let kept = r#"exec "$@""#;
    for require in ["landlock", "none"] {
        as_both(|it| {
            let world = with_script(it.user_policy(&format!("require: {require}\n")));
            let all = [dropped, kept];
            for last in if require == "none" { &all[..1] } else { &all[..] } {
                let shell = crowded("6", last);
                let ran = prepared(&world, &shell, &["run", "--", "sh", "out.sh"]);
                assert_eq!(ran.code, Some(125), "{require}: {}{}", ran.stdout, ran.stderr);
                assert!(ran.stderr.contains("at the moment"), "{}", ran.stderr);
                assert!(ran.stderr.contains("ENOSPC"), "{}", ran.stderr);
                assert!(ran.stderr.contains("hint: try again"), "{}", ran.stderr);
                assert!(!world.project.path("in").exists() && !got_out(&world), "nothing ran");
            }
            // Who asks what can be had here is told the same.
            let told = json(&prepared(&world, &crowded("8", dropped), &["doctor", "--json"]));
            let levels = told["levels"].as_array().unwrap();
            let landlock = levels.iter().find(|it| it["level"] == "landlock").unwrap();
            assert_eq!(landlock["works"], false, "{told:#}");
            assert!(landlock.to_string().contains("at the moment"), "{landlock:#}");
        });
    }
}

#[test]
fn a_shortage_that_passes_at_once_is_waited_for() {
    as_both(|it| {
        let world = with_script(it.user_policy("require: landlock\n"));
        let shell = crowded("0.35", r#"readlink /proc/self/ns/user > users; exec "$@""#);
        let which = ["run", "--json", "--", "readlink", "/proc/self/ns/user"];
        let outcome = json(&prepared(&world, &shell, &which));
        assert_eq!(outcome["level"], "full", "{outcome:#}");
        let outside = fs::read_to_string(world.project.path("users")).unwrap();
        let inside = outcome["stdout"].as_str().unwrap_or_default();
        assert!(inside.starts_with("user:"), "{outcome:#}");
        assert_ne!(inside, outside, "the users are its own: {outcome:#}");
    });
}

/// Puts the binary where sandboxes see it, by a name that nobody denies.
pub(crate) fn with_binary(world: &World) -> &'static str {
    // By another process: while one of ours has it open to write, nobody can execute it.
    let to = world.project.path("bin/tool");
    fs::create_dir(world.project.path("bin")).unwrap();
    let copied = Command::new("/bin/cp").arg(PALISADE).arg(&to).status().unwrap();
    assert!(copied.success());
    fs::set_permissions(to, fs::Permissions::from_mode(0o755)).unwrap();
    "bin/tool"
}

#[test]
fn inside_a_sandbox_another_narrows_it_and_that_is_full() {
    as_both(|it| {
        let world = with_script(it);
        let palisade = with_binary(&world);
        fs::create_dir(world.project.path("src")).unwrap();
        world.write("secret", "secret\n");
        world.write("inner.yaml", "files: { write: [src], hide: [secret] }\n");
        world.write("inner.sh", "echo x > src/made; echo x > top; cat secret; echo ran\n");
        let inner = ["run", "--", palisade, "run", "--json", "--policy", "inner.yaml"];
        let ran = world.run(&[&inner[..], &["--", "sh", "inner.sh"]].concat());
        let outcome = json(&ran);
        assert_fits(&outcome, "outcome.json");
        assert_eq!(outcome["level"], "full", "{outcome:#}");
        assert_eq!(outcome["stdout"], "ran\n", "{outcome:#}");
        assert!(world.project.path("src/made").exists() && !world.project.path("top").exists());
        assert!(outcome["notes"].as_array().unwrap().iter().any(|it| it["code"] == "nested"));
        // It cannot widen: what is outside stays outside.
        world.write("inner.yaml", "files: { write: ['~', '.'] }\n");
        let ran = world.run(&[&inner[..], &["--", "sh", "out.sh"]].concat());
        assert!(!got_out(&world), "{}{}", ran.stdout, ran.stderr);
    });
}

#[test]
fn a_name_alone_is_no_sandbox_around_us() {
    // As an ordinary user: a first process with the name of ours, and nothing behind it.
    if need(Fact::Root) == Need::Skip {
        return;
    }
    let world = World { person: Person::Nobody, ..World::new() };
    let claims = world.project.path("pal-reaper");
    fs::copy("/bin/sh", claims).unwrap();
    let shell = format!(
        "exec unshare -U -r -p -f --mount-proc ./pal-reaper -c '{}' sh \"$@\"",
        format!("{DROPPED}{FILTERED}").replace("exec /usr", "/usr").replace('\'', r"'\''")
    );
    let told = json(&prepared(&world, &shell, &["doctor", "--json"]));
    assert_eq!(told["host"]["container"], "palisade", "it looks like one: {told:#}");
    let around = told["probes"].as_array().unwrap().iter();
    let around = around.clone().find(|it| it["name"] == "sandbox-around").unwrap();
    assert_eq!(around["works"], false, "{told:#}");
    assert_eq!(told["met"], false, "{told:#}");
    let ran = prepared(&world, &shell, &["run", "--", "true"]);
    assert_eq!(ran.code, Some(125), "{}", ran.stderr);
}
