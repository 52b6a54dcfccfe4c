//! `palisade demo`: legal and adversarial calls, really made, as a table.

use std::collections::BTreeMap;
use std::fs::{self, DirBuilder};
use std::io;
use std::os::unix::fs::{DirBuilderExt as _, symlink};
use std::path::{Path, PathBuf};
use std::time::Duration;

use palisade::policy::text::visible;
use palisade::{Job, Outcome, Request, RunnerConfig, Sandbox};
use serde_json::{Value as Json, json};

use crate::exit::Exit;
use crate::failure::Failure;
use crate::ui::{Format, Ui};

/// Make legal and adversarial calls in a project of their own, and show what becomes of each
///
/// The calls are decided by the preset `runner`, and those that may run do, behind walls, in a
/// temporary folder that is gone afterwards. Prints one JSON object: a table with a row for each
/// call, what was expected, and what came out. With --human that is one line for each, and a sum.
///
/// Exit codes: 0 everything came out as expected, 125 something did not.
///
/// Example: palisade demo --human
#[derive(Debug, clap::Args)]
pub(crate) struct DemoArgs {
    /// Print a line for each call, for people
    #[arg(long)]
    human: bool,

    /// Print JSON, which is what happens anyway
    #[arg(long, conflicts_with = "human")]
    json: bool,
}

/// What is expected of a call.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum Expected {
    /// It runs and ends with this code.
    Ends(i32),
    /// It is denied, for a reason in which this stands.
    Denied(&'static str),
    /// It runs, and more is written than is kept.
    Truncated,
    /// It runs for too long.
    TimedOut,
    /// A signal ends it.
    Signalled(i32),
}

/// One call of the table.
struct Row {
    what: &'static str,
    job: Job,
    expected: Expected,
}

/// The most that is kept of a stream.
const CAP: u64 = 256;

impl DemoArgs {
    pub(super) fn format(&self) -> Format {
        // Said or not, it is JSON unless a person asks: the runner's demo prints that.
        match self.human && !self.json {
            true => Format::Human,
            false => Format::Json,
        }
    }

    pub(super) fn run(&self, ui: &Ui) -> Result<Exit, Failure> {
        let place = Place::make().map_err(|error| {
            Failure::io("demo", "cannot make a temporary folder", &error)
                .hint("TMPDIR names the folder it is made in")
        })?;
        let sandbox = Sandbox::new(&place.request())?;
        let mut rows = Vec::new();
        for Row { what, job, expected } in battery() {
            let outcome = sandbox.run(job)?;
            rows.push(told(what, expected, &outcome));
        }
        let passed = rows.iter().filter(|row| row["as_expected"] == true).count();
        let all = passed == rows.len();
        match self.format() {
            Format::Json => {
                ui.json(&json!({ "calls": rows.len(), "as_expected": passed, "table": rows }))?;
            }
            Format::Human => {
                let lines: String = rows.iter().map(line).collect();
                ui.data(&format!("{lines}{passed} of {} as expected\n", rows.len()))?;
            }
        }
        Ok(if all { Exit::Success } else { Exit::Failed })
    }
}

/// The calls of the sandbox runner's documents.
fn battery() -> Vec<Row> {
    use Expected::{Denied, Ends, Signalled, TimedOut, Truncated};
    let row = |what, words: &[&str], expected| Row { what, job: Job::from(words), expected };
    let shell = |what, text: &str, expected| Row { what, job: Job::shell(text), expected };
    vec![
        row("a plain command", &["echo", "hello"], Ends(0)),
        row("a listing", &["ls"], Ends(0)),
        row("a file of the project", &["cat", "notes.txt"], Ends(0)),
        row("a path that stays inside", &["cat", "src/../src/main.txt"], Ends(0)),
        row("a flag is no path", &["head", "-n", "1", "notes.txt"], Ends(0)),
        row("a script of the project", &["sh", "script.sh"], Ends(0)),
        row("a code of its own", &["sh", "fails.sh"], Ends(7)),
        row("an end by signal", &["sh", "killed.sh"], Signalled(15)),
        row("no such program", &["no-such-program-anywhere"], Ends(127)),
        shell("a pipe in shell text", "echo hello | cat", Ends(0)),
        row("a denied program", &["rm", "-rf", "."], Denied("denylist")),
        row("the same by its path", &["/bin/rm", "notes.txt"], Denied("denylist")),
        row("more rights", &["sudo", "ls"], Denied("denylist")),
        row("a disk", &["dd", "if=/dev/zero", "of=notes.txt"], Denied("denylist")),
        shell("a denied program behind a pipe", "echo hello | rm notes.txt", Denied("denylist")),
        row("inline code, bash", &["bash", "-c", "echo hello"], Denied("interpreter")),
        row("inline code, python", &["python3", "-c", "print(1)"], Denied("interpreter")),
        row("inline code, node", &["node", "-e", "1"], Denied("interpreter")),
        row("inline code, glued", &["perl", "-eprint"], Denied("interpreter")),
        row("a separator in an argument", &["echo", "a;"], Denied(";")),
        row("a pipe in an argument", &["echo", "a|grep"], Denied("|")),
        row("a way up", &["cat", "../../etc/passwd"], Denied("outside project root")),
        row("an absolute path", &["cat", "/etc/passwd"], Denied("outside project root")),
        row("a link that leads outside", &["cat", "link"], Denied("outside project root")),
        row("a path in a flag", &["head", "--lines=1", "--x=/etc/passwd"], Denied("outside")),
        row("nothing", &[], Denied("")),
        Row {
            what: "a folder outside",
            job: Job::from(["ls"]).cwd("/"),
            expected: Denied("outside project root"),
        },
        row("a write outside, by a script", &["sh", "outside.sh"], Ends(0)),
        row("a secret of the environment", &["sh", "secret.sh"], Ends(0)),
        row("too much output", &["sh", "loud.sh"], Truncated),
        Row {
            what: "too much time",
            job: Job::from(["sleep", "20"]).timeout(Duration::from_millis(300)),
            expected: TimedOut,
        },
    ]
}

/// Files of the project: scripts check what the walls should do, and end with 0 if they did.
const FILES: [(&str, &str); 8] = [
    ("notes.txt", "a note\n"),
    ("src/main.txt", "inside\n"),
    ("script.sh", "echo from a script\n"),
    ("fails.sh", "exit 7\n"),
    ("killed.sh", "kill -TERM $$\n"),
    ("outside.sh", "if touch /etc/palisade-demo ~/palisade-demo; then exit 1; fi\nexit 0\n"),
    ("secret.sh", "test -z \"$PALISADE_DEMO_SECRET\"\n"),
    ("loud.sh", "for i in 1 2 3 4 5 6 7 8; do echo $i; head -c 512 /dev/zero | tr '\\0' x; done\n"),
];

/// A temporary folder with a project and a home in it. It is gone when this is.
struct Place(PathBuf);

impl Place {
    fn make() -> io::Result<Self> {
        let name = format!("palisade-demo-{}", std::process::id());
        let folder = std::env::temp_dir().join(name);
        DirBuilder::new().mode(0o700).create(&folder)?;
        let place = Self(folder.canonicalize()?);
        for name in ["home", "project/src"] {
            fs::create_dir_all(place.0.join(name))?;
        }
        for (name, text) in FILES {
            fs::write(place.project().join(name), text)?;
        }
        symlink("/etc/passwd", place.project().join("link"))?;
        Ok(place)
    }

    fn project(&self) -> PathBuf {
        self.0.join("project")
    }

    /// Asks for the runner's policy: no file of the person who watches has a say.
    fn request(&self) -> Request {
        let home = self.0.join("home").into_os_string();
        let path = std::env::var_os("PATH").unwrap_or_else(|| "/usr/bin:/bin".into());
        let secret = ("PALISADE_DEMO_SECRET".into(), "not for the command".into());
        let env = BTreeMap::from([("HOME".into(), home), ("PATH".into(), path), secret]);
        let mut request = Request::new(self.project(), env);
        request.root = Some(self.project());
        request.runner =
            Some(RunnerConfig { max_output_bytes: Some(CAP), ..RunnerConfig::default() });
        request
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        remove(&self.0);
    }
}

fn remove(folder: &Path) {
    // What cannot be removed lies in the temporary folder, and is nothing of value.
    fs::remove_dir_all(folder).ok();
}

impl Expected {
    fn fits(self, outcome: &Outcome) -> bool {
        let reason = outcome.reason().unwrap_or_default();
        match self {
            Self::Ends(code) => outcome.exit_code() == code && !outcome.truncated(),
            Self::Denied(why) => outcome.denied() && reason.contains(why) && !reason.is_empty(),
            Self::Truncated => outcome.truncated() && outcome.exit_code() == 0,
            Self::TimedOut => outcome.timed_out() && outcome.exit_code() == Outcome::TIMED_OUT,
            Self::Signalled(signal) => outcome.signal() == Some(signal),
        }
    }

    fn told(self) -> String {
        match self {
            Self::Ends(code) => format!("ends with {code}"),
            Self::Denied("") => "denied".to_owned(),
            Self::Denied(why) => format!("denied: {why}"),
            Self::Truncated => "truncated".to_owned(),
            Self::TimedOut => "timed out".to_owned(),
            Self::Signalled(signal) => format!("ended by signal {signal}"),
        }
    }
}

/// Returns a row of the table as a line: what was tried, what was expected, and what came out where
/// that is something else.
fn line(row: &Json) -> String {
    let text = |name: &str| row[name].as_str().unwrap_or_default();
    let (mark, came) = match row["as_expected"] == true {
        true => ("ok", String::new()),
        false => ("NOT", format!(", came out as {}: {}", row["exit_code"], text("reason"))),
    };
    format!("{mark:3}  {:32}{}{}\n", text("what"), text("expected"), visible(&came))
}

/// Returns a row of the table. As in the runner's documents, streams are counted and not shown.
fn told(what: &str, expected: Expected, outcome: &Outcome) -> Json {
    let mut row = json!({
        "what": what,
        "kind": match expected {
            Expected::Denied(_) | Expected::TimedOut | Expected::Truncated => "adversarial",
            Expected::Ends(_) | Expected::Signalled(_) => "legal",
        },
        "expected": expected.told(),
        "as_expected": expected.fits(outcome),
    });
    let whole = outcome.json();
    for name in [
        "argv",
        "exit_code",
        "signal",
        "denied",
        "reason",
        "code",
        "timed_out",
        "truncated",
        "duration_ms",
        "ok",
    ] {
        row[name] = whole[name].clone();
    }
    row["stdout_bytes"] = outcome.stdout().len().into();
    row["stderr_bytes"] = outcome.stderr().len().into();
    row
}
