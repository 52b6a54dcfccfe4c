//! Agentao's sandbox switched on, off and to another profile while commands run in it, as root and
//! as an ordinary user.
#![cfg(target_os = "linux")]
#![expect(clippy::unwrap_used, reason = "a test that cannot be set up must stop at once")]

use std::fs;

use palisade::agentao::{SandboxSession, State};
use palisade::policy::layer::Trust;
use palisade::{Job, Outcome, Request, Sandbox, Warning};
use palisade_testkit::{Home, Project, ordinary_user};
use serde_json::Value as Json;

/// Writes into the project and beside it.
const WRITES: &str = "echo x > inside; echo x > \"$HOME\"/outside; true";

struct World {
    home: Home,
    project: Project,
}

impl World {
    fn new(sandbox: &str) -> Self {
        let project = Project::new().file("Cargo.toml", "").file("writes.sh", WRITES);
        Self { home: Home::new().file(".agentao/sandbox.json", sandbox), project }
    }

    fn session(&self) -> SandboxSession {
        SandboxSession::open(self.project.root(), Some(self.home.root()), Trust::NotTrusted)
    }

    fn request(&self) -> Request {
        let mut env = self.home.env().clone();
        env.insert("PATH".into(), "/usr/local/bin:/usr/bin:/bin".into());
        Request::new(self.project.root(), env)
    }

    fn sandbox(&self, session: &SandboxSession) -> Sandbox {
        session.sandbox(&self.request()).unwrap()
    }

    /// Runs the script; tells whether it could write in the project, and beside it.
    fn writes(&self, session: &SandboxSession) -> (bool, bool) {
        let outcome = self.sandbox(session).run(["sh", "writes.sh"]).unwrap();
        assert_eq!(outcome.exit_code(), 0, "{}", outcome.stderr_text());
        let gone = |path: std::path::PathBuf| fs::remove_file(path).is_ok();
        (gone(self.project.path("inside")), gone(self.home.path("outside")))
    }
}

/// Runs a body as whoever runs the tests and, if that is root, as an ordinary user too.
fn as_both(name: &str, body: impl Fn()) {
    body();
    if rustix::process::geteuid().is_root() {
        let _done = ordinary_user(name);
    }
}

const ON: &str = r#"{"enabled": true}"#;

fn is_loud(sandbox: &Sandbox) -> bool {
    sandbox.session().warnings().iter().any(|warning| {
        matches!(warning, Warning::Unconfined { .. })
            && warning.to_string().contains("NOTHING IS CONFINED: it was switched off")
    })
}

#[test]
fn a054_switches_hold_at_once_in_every_project_and_are_written_nowhere() {
    as_both("a054_switches_hold_at_once_in_every_project_and_are_written_nowhere", || {
        let world = World::new(ON);
        let before = fs::read(world.home.path(".agentao/sandbox.json")).unwrap();
        let mut session = world.session();
        assert_eq!(world.writes(&session), (true, false));
        session.set_default_profile("readonly").unwrap();
        assert_eq!(world.writes(&session), (false, false), "another profile");
        session.set_enabled(Some(false));
        assert_eq!(world.writes(&session), (true, true), "off");
        session.set_enabled(Some(true));
        assert_eq!(world.writes(&session), (false, false), "the profile is still chosen");

        let other = Project::new().file("Cargo.toml", "").file("writes.sh", WRITES);
        session.set_project(other.root(), Trust::NotTrusted);
        let elsewhere = World { home: world.home, project: other };
        assert_eq!(elsewhere.writes(&session), (false, false), "in another project too");
        session.set_enabled(Some(false));
        let again = Project::new().file("Cargo.toml", "").file("writes.sh", WRITES);
        session.set_project(again.root(), Trust::NotTrusted);
        let elsewhere = World { home: elsewhere.home, project: again };
        assert_eq!(elsewhere.writes(&session), (true, true), "and so is off");

        assert_eq!(fs::read(elsewhere.home.path(".agentao/sandbox.json")).unwrap(), before);
        assert_eq!(elsewhere.writes(&elsewhere.session()), (true, false), "a new session");
    });
}

#[test]
fn a062_a_persons_off_gets_past_broken_files_loudly_and_is_recorded() {
    as_both("a062_a_persons_off_gets_past_broken_files_loudly_and_is_recorded", || {
        for broken in ["{", r#"{"enabled": 1}"#, r#"{"enabled": true, "default_profile": "gone"}"#]
        {
            let World { home, project } = World::new(broken);
            let log = format!("audit: {{ path: {:?} }}\n", home.path("events.jsonl"));
            let home = home.file(".config/palisade/policy.yaml", log);
            let world = World { home, project };
            let mut session = world.session();
            assert_eq!(session.status().state, State::Broken);
            for enabled in [None, Some(true)] {
                session.set_enabled(enabled);
                let refused = session.sandbox(&world.request()).unwrap_err().to_string();
                assert!(refused.contains("nothing was executed"), "{broken}: {refused}");
            }
            session.set_enabled(Some(false));
            assert!(is_loud(&world.sandbox(&session)), "{broken}");
            assert_eq!(world.writes(&session), (true, true), "{broken}");
            let events = fs::read_to_string(world.home.path("events.jsonl")).unwrap();
            let decided = events.lines().map(|line| serde_json::from_str::<Json>(line).unwrap());
            let decided = decided.filter(|event| event["event"] == "decision");
            assert!(
                decided.clone().count() > 0 && decided.clone().all(|it| it["unconfined"] == true)
            );
            session.set_enabled(Some(true));
            assert!(session.sandbox(&world.request()).is_err(), "{broken}: on is fail-closed");
        }
    });
}

#[test]
fn a062_off_lifts_no_other_file_and_neither_project_nor_command_can_say_it() {
    as_both("a062_off_lifts_no_other_file_and_neither_project_nor_command_can_say_it", || {
        // What the user requires elsewhere holds.
        let World { home, project } = World::new(ON);
        let home = home.file(".config/palisade/policy.yaml", "require: full\n");
        let world = World { home, project };
        let mut session = world.session();
        session.set_enabled(Some(false));
        assert!(!is_loud(&world.sandbox(&session)));
        assert_eq!(world.writes(&session), (true, false));

        // A project's file switches nothing off, and a person's off is no project's.
        let World { home, project } = World::new(ON);
        let project = project.file(".agentao/sandbox.json", r#"{"enabled": false}"#);
        let world = World { home, project };
        assert_eq!(world.writes(&world.session()), (true, false));
        // Nor does anything a command or the variables around it say.
        let mut request = world.request();
        for name in ["AGENTAO_SANDBOX", "PALISADE_ENABLED", "PALISADE_SANDBOX"] {
            request.env.insert(name.into(), "off".into());
        }
        let job = Job::shell("/sandbox off; sh writes.sh").variable("SANDBOX", "off");
        let outcome: Outcome = world.session().sandbox(&request).unwrap().run(job).unwrap();
        assert!(!world.home.path("outside").exists(), "{}", outcome.stderr_text());
        // A file that says off is on once a person has said so.
        let world = World::new(r#"{"enabled": false, "default_profile": "readonly"}"#);
        let mut session = world.session();
        assert_eq!(world.writes(&session), (true, true), "the user's own file");
        session.set_enabled(Some(true));
        assert_eq!(world.writes(&session), (false, false));
    });
}
