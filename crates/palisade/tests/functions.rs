//! What programs of this machine can be made to do, on its disk and in the corpora.
#![expect(clippy::disallowed_methods, reason = "a corpus that is not there is said aloud")]

use std::fs;
use std::io::{self, Write as _};
use std::os::unix::fs::symlink;

use palisade::policy::decide::{Answer, Asked};
use palisade::{Guard, Judges, Request, Session};
use palisade_testkit::{Home, Project};
use serde_json::Value as Json;

fn request(home: &Home, project: &Project) -> Request {
    let mut request =
        Request::new(project.root().to_path_buf(), home.env().clone().into_iter().collect());
    request.root = Some(project.root().to_path_buf());
    request
}

#[test]
fn e018_a_second_name_of_a_denied_program_on_the_disk_is_that_program() {
    let policy = "version: 1\ncommands: { deny: [uname] }\n";
    let (home, project) = (Home::new(), Project::new().file(".palisade/policy.yaml", policy));
    let guard = Guard::new(&Session::open(&request(&home, &project)).unwrap());
    let cwd = project.root().to_str().unwrap();
    let answer = |text: &str| guard.decide(Asked::Shell(text), cwd).answer();
    let program = ["/usr/bin/uname", "/bin/uname"].into_iter().find(|it| fs::metadata(it).is_ok());
    let program = program.unwrap();
    assert_eq!(answer(program), Answer::Deny);
    symlink(program, project.path("soft")).unwrap();
    assert_eq!(answer("./soft -a"), Answer::Deny, "a symbolic link");
    fs::copy("/usr/bin/env", project.path("own")).unwrap();
    assert_eq!(answer("./own"), Answer::Allow, "a program of the project");
    // Another disk, or a kernel that lets nobody link what is not theirs: then there is no such way.
    match fs::hard_link(program, project.path("hard")) {
        Ok(()) => assert_eq!(answer("./hard -a"), Answer::Deny, "a hard link"),
        Err(error) => assert!(
            matches!(error.kind(), io::ErrorKind::CrossesDevices | io::ErrorKind::PermissionDenied),
            "{error}"
        ),
    }
}

#[test]
fn e016_every_row_of_the_corpus_of_functions_is_stopped() {
    let corpus = concat!(env!("CARGO_MANIFEST_DIR"), "/../../../shared/corpora/cmd_gtfobins.jsonl");
    let Ok(text) = fs::read_to_string(corpus) else {
        writeln!(io::stderr(), "SKIPPED the corpus of functions: there is no ../shared").ok();
        return;
    };
    // A home in a temporary folder could be written.
    let (home, project) = (Home::new().var("HOME", "/home/dev"), Project::new());
    let mut judges = Judges::new(request(&home, &project));
    let mut allowed = Vec::new();
    let mut count = 0;
    for line in text.lines() {
        let row: Json = serde_json::from_str(line).unwrap();
        // What is typed at a prompt stands in no command.
        if row["label"] == "interactive" {
            continue;
        }
        count += 1;
        let (tool, function) = (row["binary"].as_str().unwrap(), row["function"].as_str().unwrap());
        let command = Asked::Shell(row["cmd"].as_str().unwrap());
        let verdict = judges.command(command, row["root"].as_str().unwrap()).unwrap();
        if verdict.answer() == Answer::Allow {
            allowed.push(format!("{tool}: {function}"));
        }
    }
    assert!(count > 400, "{count} rows");
    assert!(allowed.is_empty(), "{allowed:#?}");
}
