//! Tool calls in a project that is there.
#![expect(clippy::unwrap_used, reason = "a test that cannot be set up must stop at once")]

use std::fs;
use std::os::unix::fs::symlink;
use std::time::{Duration, Instant};

use palisade::policy::decide::Answer;
use palisade::policy::interception::{Call, Door, Outcome};
use palisade::{Guard, Request, Session};
use palisade_testkit::{Home, Project};

fn guard(home: &Home, project: &Project) -> Guard {
    let mut request =
        Request::new(project.root().to_path_buf(), home.env().clone().into_iter().collect());
    request.root = Some(project.root().to_path_buf());
    Guard::new(&Session::open(&request).unwrap())
}

#[test]
fn a149_a_link_on_the_disk_that_leads_outside_is_blocked() {
    let (home, project) = (Home::new(), Project::new().file("src/a.rs", ""));
    symlink("/etc", project.path("out")).unwrap();
    symlink("src", project.path("in")).unwrap();
    let guard = guard(&home, &project);
    let cwd = project.root().to_str().unwrap();
    let answer = |path: &str| {
        let arguments = format!(r#"{{"path":"{path}"}}"#);
        guard.tool_call("write_file", &arguments, cwd).answer
    };
    for (path, expected) in [
        ("out/x", Answer::Deny),
        ("out", Answer::Deny),
        ("in/a.rs", Answer::Allow),
        ("in/new.rs", Answer::Allow),
    ] {
        assert_eq!(answer(path), expected, "{path}");
    }
    // Nothing is remembered: what was inside a moment ago may lead outside now.
    fs::remove_file(project.path("in")).unwrap();
    symlink("/etc", project.path("in")).unwrap();
    assert_eq!(answer("in/a.rs"), Answer::Deny);
}

#[test]
fn a165_judging_a_call_takes_less_than_a_millisecond() {
    let (home, project) = (Home::new(), Project::new().file("src/a.rs", ""));
    let guard = guard(&home, &project);
    let cwd = project.root().to_str().unwrap();
    let paths: Vec<String> = (0..10).map(|n| format!("\"src/file_{n}.rs\"")).collect();
    let arguments = format!(r#"{{"paths":[{}]}}"#, paths.join(","));
    let mut times = Vec::new();
    for _ in 0..200 {
        let start = Instant::now();
        let verdict = guard.tool_call("write_file", &arguments, cwd);
        times.push(start.elapsed());
        assert_eq!((verdict.answer, verdict.outcome), (Answer::Allow, Outcome::Judged));
    }
    // Not the mean: other programs run on this machine too.
    times.sort_unstable();
    assert!(times[times.len() / 4] < Duration::from_millis(1), "{:?}", times[times.len() / 4]);
}

#[test]
fn a_proxy_that_does_not_intercept_looks_at_nothing() {
    let (home, project) = (Home::new(), Project::new());
    let guard = guard(&home, &project);
    let arguments = format!(r#"{{"path":"/etc/x","content":"{}"}}"#, "x".repeat(1 << 20));
    let call = Call { tool: "write_file", arguments: &arguments, cwd: "/" };
    let start = Instant::now();
    for _ in 0..1000 {
        assert_eq!(guard.tool_call_at(Door::Proxy, &call).outcome, Outcome::Disabled);
    }
    assert!(start.elapsed() < Duration::from_secs(1), "a thousand calls of a megabyte each");
    assert_eq!(guard.tool_call_at(Door::Hook, &call).answer, Answer::Deny);
}
