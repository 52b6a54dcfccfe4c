//! Two tenants in one process: each has a policy and a root, and reads no other's.
#![cfg(target_os = "linux")]
#![expect(clippy::unwrap_used, reason = "a test that cannot be set up must stop at once")]

use std::fs;
use std::path::Path;
use std::thread;
use std::time::{Duration, Instant};

use palisade::{CannotShare, Job, Request, Sandbox, tenants};
use palisade_testkit::{Home, Turn, ordinary_user};

/// Reads what both have, and says what it could.
const LOOKS: &str = "for file in ../one/secret ../two/secret; do cat $file 2>/dev/null; done\n\
    ls .. | tr '\\n' ' '\n(echo x > ../one/made; echo x > ../two/made) 2>/dev/null\nexit 0\n";

fn home() -> Home {
    let mut home = Home::new();
    for name in ["one", "two"] {
        home = home.file(format!("t/{name}/secret"), format!("secret of {name}\n"));
        home = home.file(format!("t/{name}/look.sh"), LOOKS);
    }
    home.file("one.yaml", "env: { set: { WHO: one } }\n")
        .file("two.yaml", "env: { set: { WHO: two } }\nlimits: { processes: 50 }\n")
}

fn request(home: &Home, name: &str) -> Request {
    let mut request = Request::new(home.path(format!("t/{name}")), home.env().clone());
    request.root = Some(home.path(format!("t/{name}")));
    request.policies = vec![home.path(format!("{name}.yaml")).to_str().unwrap().to_owned()];
    request
}

fn looked(sandbox: &Sandbox) -> String {
    let outcome = sandbox.run(["sh", "look.sh"]).unwrap();
    assert!(outcome.ok(), "{}", outcome.stderr_text());
    outcome.stdout_text()
}

fn neither_reads_the_other() {
    let home = home();
    let both = tenants(vec![request(&home, "one"), request(&home, "two")]).unwrap();
    let [one, two] = &*both else { unreachable!("two were asked for") };
    // Nobody runs at the other's root.
    assert_eq!(looked(one), "secret of one\none ");
    assert_eq!(looked(two), "secret of two\ntwo ");
    assert!(home.path("t/one/made").exists() && home.path("t/two/made").exists());
    for place in ["t/one/made", "t/two/made"] {
        fs::remove_file(home.path(place)).unwrap();
    }
    // Both run, in one process and with two policies.
    let wait = "touch begun; until test -e go; do sleep 0.05; done; echo $WHO; sh look.sh";
    let go = |place: &Path| fs::write(place.join("go"), "").unwrap();
    thread::scope(|scope| {
        let runs = [one, two].map(|tenant| scope.spawn(|| tenant.run(Job::shell(wait)).unwrap()));
        // Neither goes on before both have begun.
        let until = Instant::now() + Duration::from_secs(60);
        while !["t/one/begun", "t/two/begun"].iter().all(|it| home.path(it).exists()) {
            assert!(Instant::now() < until, "they never ran at the same time");
            thread::sleep(Duration::from_millis(10));
        }
        ["t/one", "t/two"].iter().for_each(|place| go(&home.path(place)));
        let said = runs.map(|run| run.join().unwrap().stdout_text());
        assert_eq!(said, ["one\nsecret of one\none ", "two\nsecret of two\ntwo "]);
    });
    // A call that says so is denied before that.
    let asked = one.run(["cat", "../two/secret"]).unwrap();
    assert!(asked.denied(), "{:?}", asked.reason());
    // Nor does a policy open what is another's.
    let two = home.path("t/two");
    let two = two.to_str().unwrap();
    let greedy = format!(
        "files: {{ write: [., {two}], unhide: [{two}], allow_read: [{two}, {two}/secret] }}\n"
    );
    fs::write(home.path("one.yaml"), greedy).unwrap();
    let both = tenants(vec![request(&home, "one"), request(&home, "two")]).unwrap();
    fs::remove_file(home.path("t/two/made")).ok();
    assert_eq!(looked(&both[0]), "secret of one\none ");
    assert!(!home.path("t/two/made").exists());
    // Nor does one by a link of its own.
    std::os::unix::fs::symlink("../two", home.path("t/one/link")).unwrap();
    fs::write(home.path("one.yaml"), "files: { allow_read: [./link, ./link/secret] }\n").unwrap();
    let both = tenants(vec![request(&home, "one"), request(&home, "two")]).unwrap();
    assert_eq!(looked(&both[0]), "secret of one\none ");
    // Nor does a profile that a rule picks.
    let picks = "commands: { rules: [{ tool: Bash, profile: workspace-write }] }\n";
    fs::write(home.path("one.yaml"), picks).unwrap();
    let both = tenants(vec![request(&home, "one"), request(&home, "two")]).unwrap();
    let picked = both[0].run(Job::from(["sh", "look.sh"]).tool("Bash")).unwrap();
    let under = picked.json()["profile"]["name"].clone();
    assert_eq!(
        (under.as_str(), &*picked.stdout_text()),
        (Some("workspace-write"), "secret of one\none ")
    );
    // Without, they read each other: the probe works.
    let alone = Sandbox::new(&request(&home, "one")).unwrap();
    assert_eq!(looked(&alone), "secret of one\nsecret of two\none two ");
}

#[test]
fn a193_neither_of_two_tenants_in_one_process_reads_the_others_root() {
    neither_reads_the_other();
}

#[test]
fn a193_neither_of_two_tenants_of_an_ordinary_user_reads_the_others_root() {
    if ordinary_user("a193_neither_of_two_tenants_of_an_ordinary_user_reads_the_others_root")
        == Turn::Mine
    {
        neither_reads_the_other();
    }
}

#[test]
fn a193_tenants_that_cannot_be_kept_apart_are_not_opened() {
    let home = home();
    let code = |one: Request, two: Request| tenants(vec![one, two]).unwrap_err().code();
    assert_eq!(code(request(&home, "one"), request(&home, "one")), "workspaces-overlap");
    let mut above = request(&home, "two");
    above.root = Some(home.path("t"));
    assert_eq!(code(request(&home, "one"), above), "workspaces-overlap");
    let open = home.path("open.yaml");
    for accepts in ["require: none\n", "require: external\n"] {
        fs::write(&open, accepts).unwrap();
        let mut open_one = request(&home, "two");
        open_one.policies.push(open.to_str().unwrap().to_owned());
        let refused = tenants(vec![request(&home, "one"), open_one]).unwrap_err();
        assert!(matches!(refused, CannotShare::Unconfined { number: 1, .. }), "{refused}");
    }
    let mut gone = request(&home, "two");
    gone.root = Some(home.path("gone"));
    assert!(matches!(tenants(vec![gone]).unwrap_err(), CannotShare::Open { number: 0, .. }));
    assert_eq!(tenants(vec![]).unwrap().len(), 0);
}
