//! `palisade learn` and hosts: exactly those that a command reached are proposed.

use std::fs;
use std::process::Command;

use palisade_testkit::Project;
use serde_json::{Value as Json, json};

use crate::kit::{NOBODY, Person, Ran, World, as_both};
use crate::town::{OUTSIDE, own};

/// Asks two hosts for a page; one of them is the person's to refuse.
const ASKS: &str = "import urllib.request as u\n\
    for name in ['web.test', 'bad.test']:\n\
    \x20   try: print(name, u.urlopen('http://' + name + '/', timeout=10).read())\n\
    \x20   except OSError as e: print(name, 'refused')\n";

/// Runs `palisade` where both names lead to a server.
fn run(world: &World, words: &[&str]) -> Ran {
    let outside = Project::new().file("town.py", OUTSIDE);
    fs::write(outside.path("log"), "").unwrap();
    let config = json!({
        "folder": outside.root(), "log": outside.path("log"),
        "hosts": ["93.184.216.34 web.test bad.test"], "dns": {}, "unix": [], "kill": null,
        "tcp": [80], "web": [80], "udp": [53],
        "uid": (world.person == Person::Nobody).then_some(NOBODY),
    });
    fs::write(outside.path("config"), config.to_string()).unwrap();
    let mut command = Command::new("/usr/bin/unshare");
    let is_root = rustix::process::geteuid().is_root();
    command.args(if is_root { &[][..] } else { &["--map-root-user"] });
    command.args(["--mount", "--net", "/usr/bin/python3"]);
    command.args([outside.path("town.py"), outside.path("config"), own(world)]).args(words);
    command.env_clear().envs(world.home.env()).current_dir(world.project.root());
    world.finish(&mut command)
}

#[test]
fn a_host_that_was_reached_is_proposed_alone_and_a_deny_stays() {
    as_both(|world| {
        let world = world.user_policy("network: { deny: [bad.test] }\n");
        world.write("asks.py", ASKS);
        let command = ["--", "/usr/bin/python3", "asks.py"];
        let ran = run(&world, &[&["learn", "--json"], &command[..]].concat());
        let told: Json = serde_json::from_str(&ran.stdout)
            .unwrap_or_else(|_| panic!("{}{}", ran.stdout, ran.stderr));
        assert_eq!(told["network"]["allow"], json!(["web.test:80"]), "{told:#}");
        assert_eq!(told["applied"], false, "{told:#}");

        let ran = run(&world, &[&["learn", "--apply"], &command[..]].concat());
        assert_eq!(ran.code, Some(0), "{}{}", ran.stdout, ran.stderr);
        assert!(ran.stderr.contains("`palisade trust`"), "{}", ran.stderr);
        let text = fs::read_to_string(world.project.path(".palisade/policy.yaml")).unwrap();
        assert!(text.contains("mode: allow-list"), "{text}");
        assert!(text.contains("web.test:80") && !text.contains("bad.test"), "{text}");
        // Until a person agrees, nothing is open.
        let ran = run(&world, &[&["run"], &command[..]].concat());
        assert!(ran.stdout.contains("web.test refused"), "{}{}", ran.stdout, ran.stderr);
        assert_eq!(world.run(&["trust", "--yes"]).code, Some(0));
        let ran = run(&world, &[&["run"], &command[..]].concat());
        assert!(ran.stdout.contains("web.test b'served'"), "{}{}", ran.stdout, ran.stderr);
        assert!(ran.stdout.contains("bad.test refused"), "{}{}", ran.stdout, ran.stderr);
    });
}
