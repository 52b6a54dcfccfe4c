//! What the doctor claims is what is so: its claims are compared with what a program of another
//! language finds, and with what `run` then does, on five hosts.

use palisade_testkit::hosts::{COUNTED, DROPPED, FILTERED};
use palisade_testkit::{Fact, Need, need};
use serde_json::{Value as Json, json};

use crate::kit::{PALISADE, Person, Ran, World, as_both};
use crate::levels::with_binary;
use crate::schema::assert_fits;

/// Asks the kernel what can be done here.
const ASK: &str = "import ctypes, json, os
c = ctypes.CDLL(None, use_errno=True)
def tried(does):
    pid = os.fork()
    if pid == 0: os._exit(0 if does() == 0 else 1)
    return os.waitpid(pid, 0)[1] == 0
c.syscall(435, 0, 0)
print(json.dumps({
    'user-namespace': tried(lambda: c.unshare(0x10000000)),
    'clone3': ctypes.get_errno() != 38,
    'landlock': c.syscall(444, 0, 0, 1) > 0,
}))
";

/// Runs something on a host, whose first words are these.
fn on(world: &World, host: &[String], program: &str, arguments: &[&str]) -> Ran {
    let words: Vec<&str> = host.iter().map(String::as_str).chain([program]).collect();
    let (first, rest) = words.split_first().unwrap();
    let mut command = world.command(first);
    world.finish(command.args(rest).args(arguments))
}

fn json(ran: &Ran) -> Json {
    serde_json::from_str(&ran.stdout).unwrap_or_else(|_| panic!("{}{}", ran.stdout, ran.stderr))
}

/// Compares every claim that can be; returns the report.
fn tells_the_truth(world: &World, host: &[String], palisade: &str) -> Json {
    let ran = on(world, host, palisade, &["doctor", "--json"]);
    let told = json(&ran);
    assert_fits(&told, "doctor.json");
    assert_eq!(ran.code, Some(if told["met"] == true { 0 } else { 125 }), "{told:#}");
    world.write("ask.py", ASK);
    let asked = json(&on(world, host, "/usr/bin/python3", &["ask.py"]));
    let claims = |list: &str, key: &str, name: &str| {
        let list = told[list].as_array().unwrap();
        list.iter().find(|it| it[key] == name).unwrap()["works"].as_bool().unwrap()
    };
    for (name, is) in asked.as_object().unwrap() {
        assert_eq!(claims("probes", "name", name), is.as_bool().unwrap(), "{name}: {told:#}");
    }
    world.write("full.yaml", "require: full\n");
    world.write("landlock.yaml", "require: landlock\n");
    for level in ["full", "landlock"] {
        let policy = format!("{level}.yaml");
        let ran = on(world, host, palisade, &["run", "--policy", &policy, "--json", "--", "true"]);
        let works = ran.code == Some(0);
        let claimed = claims("levels", "level", level) || claims("levels", "level", "full");
        assert_eq!(claimed, works, "{level}: {}{}\n{told:#}", ran.stdout, ran.stderr);
        if works {
            let ran = json(&ran);
            assert_eq!(ran["level"], told["strongest"], "{told:#}");
            // And of each layer what the run says, which protects the file of its policy, too.
            let told = json(&on(world, host, palisade, &["doctor", "--json", "--policy", &policy]));
            let mut levels = told["levels"].as_array().unwrap().iter();
            let strongest = levels.find(|it| it["level"] == ran["level"]).unwrap();
            assert_eq!(ran["enforced"], strongest["enforced"], "{ran:#}\n{told:#}");
        } else {
            let why = told["levels"][0]["why"].as_str().unwrap();
            assert!(ran.stdout.contains("missing-wall") && !why.is_empty(), "{}", ran.stdout);
        }
    }
    world.write("net.yaml", "network: { mode: allow-list, host_ports: [1] }\n");
    let ran = on(world, host, palisade, &["run", "--policy", "net.yaml", "--json", "--", "true"]);
    assert_eq!(json(&ran)["network"]["rung"], told["network"]["rung"], "{}\n{told:#}", ran.stdout);
    let is_full = claims("levels", "level", "full");
    // Another sandbox around us would judge these words, too.
    if !host.iter().any(|word| word == "run") {
        let asked = [&["PALISADE_NETWORK_RUNG=none", palisade], &["doctor", "--json"][..]].concat();
        let lower = json(&on(world, host, "/usr/bin/env", &asked));
        let expected = if told["network"]["rung"].is_null() { Json::Null } else { json!("none") };
        assert_eq!(
            lower["network"]["rung"], expected,
            "who asks for less is told of that: {lower:#}"
        );
    }
    assert!(told["network"]["rung"].is_null() || is_full, "it needs namespaces: {told:#}");
    let blocked = told["blocks"].as_array().unwrap();
    assert!(is_full || !blocked.is_empty(), "what is in the way is named: {told:#}");
    told
}

fn shell(text: &str) -> Vec<String> {
    ["/bin/sh", "-c", text, "sh"].map(str::to_owned).into()
}

#[test]
fn on_a_plain_host_and_where_namespaces_are_refused_in_two_ways() {
    as_both(|world| {
        let palisade = with_binary(&world);
        let plain = tells_the_truth(&world, &shell("exec \"$@\""), palisade);
        assert_eq!((&plain["met"], &plain["strongest"]), (&true.into(), &"full".into()));
        let filtered = tells_the_truth(&world, &shell(&format!("{DROPPED}{FILTERED}")), palisade);
        assert_eq!(filtered["blocks"], serde_json::json!(["seccomp"]), "{filtered:#}");
        assert_eq!(filtered["strongest"], "landlock");
        let counted = tells_the_truth(&world, &shell(COUNTED), palisade);
        assert_eq!(counted["blocks"], serde_json::json!(["max-user-namespaces"]), "{counted:#}");
        let remedy = counted["levels"][0]["remedy"].as_str().unwrap();
        assert!(remedy.contains("sysctl user.max_user_namespaces"), "{remedy}");
        // The screen contradicts neither the policy nor itself.
        let words = ["doctor", "--policy", "landlock.yaml"];
        let ran = on(&world, &shell(&format!("{DROPPED}{FILTERED}")), palisade, &words);
        assert_eq!(ran.code, Some(0), "{}{}", ran.stdout, ran.stderr);
        assert!(ran.stdout.contains("  no   full: a sandbox of namespaces"), "{}", ran.stdout);
        for wrong in ["requires `full`", "`palisade doctor` tells", "they cannot be had here"] {
            assert!(!ran.stdout.contains(wrong), "{wrong}: {}", ran.stdout);
        }
        let ran = world.run(&["doctor", "--task", "nosuch"]);
        assert_eq!(ran.code, Some(125), "{}", ran.stdout);
        assert!(!ran.stdout.contains("cannot be read"), "{}", ran.stdout);
        // Root, with its capabilities, needs no user namespace.
        if rustix::process::geteuid().is_root() && world.person == Person::Ours {
            let unaided = tells_the_truth(&world, &shell(FILTERED), palisade);
            assert_eq!(unaided["strongest"], "full", "{unaided:#}");
        }
    });
}

#[test]
fn in_containers_whose_root_is_an_ordinary_user() {
    as_both(|world| {
        let palisade = with_binary(&world);
        let told = tells_the_truth(&world, &shell("exec unshare -U -r \"$@\""), palisade);
        assert_eq!(told["strongest"], "full", "{told:#}");
        // As engines do: a part of /proc is covered, and so no other can be mounted in a namespace of
        // users. Who has the right to needs none.
        let covered = |users: &str, then: &str| {
            format!(
                "exec unshare -U {users} -m sh -c 'mount --bind /dev/null /proc/version && \
                 exec {then} \"$@\"' sh \"$@\""
            )
        };
        let told = tells_the_truth(&world, &shell(&covered("-r", "")), palisade);
        assert_eq!(told["strongest"], "full", "{told:#}");
        let drop = "setpriv --ambient-caps=-all --inh-caps=-all --bounding-set=-all --";
        let dropped = covered("-c --keep-caps", drop);
        let told = tells_the_truth(&world, &shell(&dropped), palisade);
        let is_root = rustix::process::geteuid().is_root() && world.person == Person::Ours;
        let expected = if is_root { "capabilities" } else { "covered-proc" };
        assert_eq!(told["blocks"], serde_json::json!([expected]), "{told:#}");
        assert_eq!(told["strongest"], "landlock", "{told:#}");
    });
}

#[test]
fn inside_a_sandbox() {
    as_both(|world| {
        let palisade = with_binary(&world);
        let mut host = vec![PALISADE.to_owned()];
        host[0] = world.command(PALISADE).get_program().to_str().unwrap().to_owned();
        host.extend(["run", "--"].map(str::to_owned));
        let told = tells_the_truth(&world, &host, palisade);
        assert_eq!((&told["host"]["container"], &told["met"]), (&"palisade".into(), &true.into()));
    });
}

#[test]
fn inside_a_root_folder_as_containers_without_an_engine_have() {
    if need(Fact::Root) == Need::Skip {
        return;
    }
    let world = World::new();
    let palisade = with_binary(&world);
    let root = world.home.path("root");
    std::fs::create_dir(&root).unwrap();
    let project = world.project.root().display();
    for drop in [
        "setpriv --reuid 65534 --regid 65534 --clear-groups",
        "setpriv --bounding-set=-all --inh-caps=-all",
    ] {
        let text = format!(
            "chmod -R a+rwX . ~; exec unshare -m sh -c 'mount --rbind / {0} && exec chroot {0} \
             sh -c \"cd {project} && exec {drop} -- \\\"\\$@\\\"\" sh \"$@\"' sh \"$@\"",
            root.display()
        );
        let told = tells_the_truth(&world, &shell(&text), palisade);
        assert_eq!(told["blocks"], serde_json::json!(["chroot"]), "{told:#}");
        assert_eq!((&told["strongest"], &told["met"]), (&"landlock".into(), &false.into()));
    }
}

#[test]
fn the_screen_names_levels_and_remedies_and_files_of_others() {
    as_both(|world| {
        world.write(".claude/settings.json", "{}\n");
        let ran = world.run(&["doctor"]);
        assert_eq!(ran.code, Some(0), "{}{}", ran.stdout, ran.stderr);
        for line in
            ["levels:", "  yes  full", "the policy requires full: met", ".claude/settings.json"]
        {
            assert!(ran.stdout.contains(line), "{line}: {}", ran.stdout);
        }
        // Other ways to the same walls are no faults where one works.
        let spare = ran.stdout.lines().find(|line| line.contains("a sandbox of palisade around"));
        assert!(spare.unwrap().starts_with("  -  "), "{}", ran.stdout);
        assert!(!ran.stdout.contains("  no   the same without a user"), "{}", ran.stdout);
        let usage = "palisade run --policy claude: -- COMMAND";
        assert!(ran.stdout.contains(usage), "{}", ran.stdout);
    });
}

#[test]
fn the_last_line_says_what_runs_get() {
    as_both(|it| {
        let world = it.user_policy("require: external\n");
        let ran = world.run(&["doctor"]);
        assert_eq!(ran.code, Some(0), "{}{}", ran.stdout, ran.stderr);
        let last = "the policy requires external: runs get no wall of ours, though full can be had \
            here\n";
        assert!(ran.stdout.ends_with(last), "{}", ran.stdout);
        let accepts = world.user_policy("require: none\n");
        let ran = accepts.run(&["doctor"]);
        let last = "the policy requires none: met; the strongest here is full\n";
        assert!(ran.stdout.ends_with(last), "{}", ran.stdout);
    });
}

#[test]
fn a182_a_profile_is_run_live() {
    as_both(|world| {
        for profile in ["readonly", "workspace-write-no-network"] {
            let ran = world.run(&["doctor", "--profile", profile]);
            assert_eq!(ran.code, Some(0), "{}{}", ran.stdout, ran.stderr);
            assert!(ran.stdout.contains(&format!("yes  {profile} (level full)")), "{}", ran.stdout);
        }
        let ran = world.run(&["doctor", "--profile", "no-such-profile", "--json"]);
        assert_eq!(ran.code, Some(125), "{}{}", ran.stdout, ran.stderr);
        let told = json(&ran);
        assert_eq!((&told["profile"]["works"], &told["met"]), (&false.into(), &false.into()));
        assert!(told["profile"]["why"].as_str().unwrap().contains("no-such-profile"), "{told:#}");
        assert_fits(&told, "doctor.json");
        let ran = world.run(&["doctor", "--profile", "no-such-profile"]);
        // Which profiles there are, as `run` says it, and what it is that is not met.
        let run = world.run(&["run", "--profile", "no-such-profile", "--", "true"]);
        let hint = run.stderr.lines().find(|line| line.starts_with("hint: ")).unwrap();
        assert!(ran.stdout.contains(hint) && hint.contains("readonly"), "{}", ran.stdout);
        let last = "requires full: met; the strongest here is full; the profile `no-such-profile` \
            does NOT work\n";
        assert!(ran.stdout.ends_with(last), "{}", ran.stdout);
    });
}

#[test]
fn a_policy_that_cannot_be_read_does_not_keep_the_host_from_being_looked_at() {
    let world = World::with_policy("no: such key\n");
    let ran = world.run(&["doctor", "--json"]);
    assert_eq!(ran.code, Some(125), "{}", ran.stderr);
    let told = json(&ran);
    assert_fits(&told, "doctor.json");
    assert!(told["error"].is_string() && told["levels"][0]["works"] == true, "{told:#}");
    let problem = &told["problems"][0];
    assert_eq!((&problem["line"], problem["hint"].is_string()), (&1.into(), true), "{told:#}");
    assert!(problem["file"].as_str().unwrap().ends_with(".palisade/policy.yaml"), "{told:#}");
    let (ran, run) = (world.run(&["doctor"]), world.run(&["run", "--", "true"]));
    assert_eq!((ran.code, run.code), (Some(125), Some(125)));
    assert!(ran.stdout.contains(run.stderr.trim_end()), "{}\n{}", ran.stdout, run.stderr);
}

#[test]
fn a_trial_that_fails_behind_its_walls_is_no_level() {
    as_both(|world| {
        // A machine on which the command that does nothing fails.
        let shell = "exec unshare -U -r -m sh -c 'mount --bind /bin/false /usr/bin/true && \
                     exec \"$@\"' sh \"$@\"";
        let host: Vec<String> = ["sh", "-c", shell, "sh"].map(str::to_owned).into();
        let ran = on(&world, &host, PALISADE, &["doctor", "--json"]);
        let told = json(&ran);
        assert_fits(&told, "doctor.json");
        assert_eq!((ran.code, &told["met"]), (Some(125), &false.into()), "{told:#}");
        for name in ["full", "landlock"] {
            let mut levels = told["levels"].as_array().unwrap().iter();
            let level = levels.find(|it| it["level"] == name).unwrap();
            assert_eq!(level["works"], false, "{told:#}");
            assert!(level["why"].as_str().unwrap().contains("ended with 1"), "{told:#}");
        }
        // And where it cannot even be tried.
        let nowhere: Vec<String> = ["env", "TMPDIR=/nowhere"].map(str::to_owned).into();
        let ran = on(&world, &nowhere, PALISADE, &["doctor"]);
        assert_eq!(ran.code, Some(125), "{}", ran.stdout);
        assert!(ran.stdout.contains("a folder to try it in"), "{}", ran.stdout);
    });
}
