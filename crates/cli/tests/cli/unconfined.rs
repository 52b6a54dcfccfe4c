//! Files of other systems that switch the sandbox off, or that cannot be used: what runs then.

use std::fs;
use std::os::unix::process::CommandExt as _;
use std::path::Path;
use std::process::{Child, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process, kill_process_group};

use crate::kit::{PALISADE, Ran, World, as_both};

/// A project with a script that writes outside it: denied nowhere, and stopped by walls only.
fn world(world: World) -> World {
    world.write("out.sh", "echo x > ~/out\n");
    world
}

/// Runs the script under a file of another system, with these variables.
fn run(world: &World, policy: &str, variables: &[(&str, &str)]) -> Ran {
    let mut command = world.command(PALISADE);
    command.args(["run", "--policy", policy, "--agent", "claude", "--", "sh", "out.sh"]);
    world.finish(command.envs(variables.iter().copied()))
}

/// Returns whether the script got out, and takes back what it did.
fn got_out(world: &World) -> bool {
    fs::remove_file(world.home.path("out")).is_ok()
}

#[track_caller]
fn is_let_out(world: &World, ran: &Ran) {
    assert_eq!(ran.code, Some(0), "{}", ran.stderr);
    assert!(ran.stderr.contains("NOTHING IS CONFINED"), "{}", ran.stderr);
    assert!(got_out(world), "{}", ran.stderr);
}

#[track_caller]
fn is_kept_in(world: &World, ran: &Ran) {
    assert!(ran.stderr.contains("Read-only file system"), "{}", ran.stderr);
    assert!(!ran.stderr.contains("NOTHING IS CONFINED") && !got_out(world), "{}", ran.stderr);
}

#[test]
fn a043_agentaos_sandbox_runs_nothing_confined_until_it_is_switched_on() {
    as_both(|it| {
        let world = world(it);
        for (text, is_on) in [("{}", false), (r#"{"enabled": true}"#, true)] {
            world.write("sandbox.json", text);
            let ran = run(&world, "agentao:sandbox.json", &[]);
            if is_on { is_kept_in(&world, &ran) } else { is_let_out(&world, &ran) }
        }
    });
}

#[test]
fn a089_blooms_agents_run_unconfined_until_they_are_confined() {
    as_both(|it| {
        let world = world(it);
        for (text, is_on) in [("{}", false), ("{ enabled: true }", true)] {
            world.write("bloom.yaml", format!("agent: {{ claude: {{ sandbox: {text} }} }}\n"));
            let ran = run(&world, "bloom:bloom.yaml", &[]);
            if is_on { is_kept_in(&world, &ran) } else { is_let_out(&world, &ran) }
        }
    });
}

#[test]
fn a111_a_variable_lets_blooms_agents_run_unconfined_loudly() {
    as_both(|it| {
        let world = world(it);
        world.write("bloom.yaml", "agent: { claude: { sandbox: { enabled: true } } }\n");
        is_kept_in(&world, &run(&world, "bloom:bloom.yaml", &[]));
        let ran = run(&world, "bloom:bloom.yaml", &[("BLOOM_SANDBOX_DISABLED", "1")]);
        is_let_out(&world, &ran);
        assert!(ran.stderr.contains("BLOOM_SANDBOX_DISABLED"), "{}", ran.stderr);
    });
}

#[test]
fn a057_nothing_runs_under_a_file_that_cannot_be_read() {
    as_both(|it| {
        let world = world(it);
        world.write("sandbox.json", r#"{"enabled": false"#);
        let ran = run(&world, "agentao:sandbox.json", &[]);
        assert_eq!(ran.code, Some(125), "{}", ran.stderr);
        assert!(ran.stderr.contains("sandbox.json") && !got_out(&world), "{}", ran.stderr);
    });
}

#[test]
fn a059_nothing_runs_under_a_profile_that_there_is_not() {
    as_both(|it| {
        let world = world(it);
        world.write("sandbox.json", r#"{"enabled": true, "default_profile": "nosuch"}"#);
        let ran = run(&world, "agentao:sandbox.json", &[]);
        assert_eq!(ran.code, Some(125), "{}", ran.stderr);
        let told = ["nosuch", "readonly", "workspace-write"];
        assert!(told.iter().all(|name| ran.stderr.contains(name)), "{}", ran.stderr);
        assert!(!got_out(&world), "{}", ran.stderr);
    });
}

/// Runs a script that starts somebody who gets away, lets `then` happen once it has, and waits until
/// nobody is left.
fn gets_away(world: &World, options: &[&str], script: &str, then: impl Fn(&Child)) {
    world.write("sandbox.json", "{}");
    let script = format!("setsid sleep 61.9 & echo $! > pid; {script} mv pid away; sleep 61.9\n");
    world.write("away.sh", script);
    let away = world.project.path("away");
    fs::remove_file(&away).ok();
    let mut command = world.command(PALISADE);
    command.args(["run", "--policy", "agentao:sandbox.json"]).args(options);
    command.args(["--", "sh", "away.sh"]).stdout(Stdio::null()).stderr(Stdio::null());
    let mut supervisor = command.process_group(0).spawn().unwrap();
    let soon = Instant::now() + Duration::from_secs(30);
    let until = |is: &dyn Fn() -> bool| {
        while !is() {
            assert!(Instant::now() < soon);
            thread::sleep(Duration::from_millis(5));
        }
    };
    until(&|| away.exists());
    then(&supervisor);
    supervisor.wait().unwrap();
    let away = fs::read_to_string(away).unwrap();
    until(&|| !Path::new("/proc").join(away.trim()).exists());
}

#[test]
fn a195_an_unconfined_command_ends_with_its_supervisor() {
    as_both(|it| {
        let world = world(it);
        gets_away(&world, &[], "", |supervisor| {
            kill_process(Pid::from_child(supervisor), Signal::KILL).unwrap();
        });
        // As harnesses do: the whole group.
        gets_away(&world, &[], "", |supervisor| {
            kill_process_group(Pid::from_child(supervisor), Signal::KILL).unwrap();
        });
    });
}

#[test]
fn a195_who_puts_the_first_process_to_sleep_gains_no_time() {
    as_both(|it| {
        let world = world(it);
        gets_away(&world, &["--timeout", "1s"], "kill -STOP $PPID;", |_| {});
    });
}
