//! Runs one attack behind one engine, and says what became of it.

use std::fs::File;
use std::io::{self, Read};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use palisade_conformance::{Attack, Evidence, Report};
use serde::Serialize;

use crate::engine::{Engine, STARTER, search};
use crate::eyes::{Before, Terminal};
use crate::person::Person;
use crate::stage::{Stage, start};

/// How long an engine may take for one attack.
const PATIENCE: Duration = Duration::from_secs(120);

/// Attacks that an engine may answer by ending everything.
const BOUNDS: [&str; 2] = ["e059-bomb", "e059-memory"];

/// What became of an attack.
#[derive(Clone, Copy, Debug, Eq, PartialEq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Verdict {
    /// It was tried and did not work.
    Held,
    /// It worked.
    LetThrough,
    /// It was not tried, because there is nothing to try it on.
    Unsure,
    /// The host refuses it without any engine, so nothing is proved.
    Host,
    /// It did not work, but neither did what any command may do: that is no wall.
    Blunt,
    /// The engine did not run the probe.
    Failed,
}

/// A verdict, and how it is known.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct Judged {
    pub(crate) attack: &'static str,
    pub(crate) row: u8,
    pub(crate) engine: &'static str,
    pub(crate) person: &'static str,
    pub(crate) verdict: Verdict,
    pub(crate) why: String,
    pub(crate) errno: Vec<i32>,
    /// Whether it looked from inside as if it had worked: nothing of it was left outside.
    pub(crate) seemed: bool,
}

/// Programs that every world gets a copy of.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Programs<'p> {
    pub(crate) probe: &'p Path,
    pub(crate) palisade: &'p Path,
}

/// Runs an attack.
pub(crate) fn judge(
    attack: &'static Attack,
    engine: Engine,
    person: Person,
    programs: Programs<'_>,
) -> Judged {
    let Told { verdict, why, errno, seemed } = match attempt(attack, engine, person, programs) {
        Ok(told) => told,
        Err(error) => Told::new(Verdict::Failed, error.to_string()),
    };
    let (name, row) = (attack.name, attack.row);
    let person = person.name();
    Judged { attack: name, row, engine: engine.name(), person, verdict, why, errno, seemed }
}

/// What is known of one attack.
#[derive(Debug)]
struct Told {
    verdict: Verdict,
    why: String,
    errno: Vec<i32>,
    seemed: bool,
}

impl Told {
    fn new(verdict: Verdict, why: String) -> Self {
        Self { verdict, why, errno: Vec::new(), seemed: false }
    }
}

fn attempt(
    attack: &Attack,
    engine: Engine,
    person: Person,
    Programs { probe, palisade }: Programs<'_>,
) -> io::Result<Told> {
    let mut stage = Stage::make(person, probe, palisade, attack.name)?;
    let terminal = if attack.name == "e046-typed" { Some(Terminal::open(&stage)?) } else { None };
    let words = engine.words(&stage, attack.name)?;
    let before = Before::of(&stage);
    let mut command = dressed(attack, &stage, &words, terminal.as_ref())?;
    command.env_clear().env("HOME", &stage.world.home).env("PATH", search());
    command.env("TERM", "dumb").env(STARTER, format!("starter {}", stage.world.mark));
    command.envs(engine.variables(&stage)).current_dir(&stage.world.app);
    person.becomes(&mut command);
    let mut ran = run(command)?;
    ran.was_lawful = stage.world.own("lawful-moved").exists();
    let seen = before.look(&mut stage, terminal.as_ref());
    let report = ran.out.lines().find_map(|line| serde_json::from_str::<Report>(line).ok());
    Ok(weigh(attack, report, seen, &ran))
}

/// Weighs what the probe says and what was seen outside.
fn weigh(attack: &Attack, report: Option<Report>, seen: Vec<String>, ran: &Ran) -> Told {
    // Whatever else happened: what was seen outside has happened.
    let through =
        (attack.evidence == Evidence::Outside && !seen.is_empty()).then(|| seen.join("; "));
    // What is said of another attack is no answer.
    let Some(report) = report.filter(|report| report.attack == attack.name) else {
        let said = ran.errors.lines().find(|line| !line.trim().is_empty()).unwrap_or("silent");
        let (verdict, why) = match (through, ran.in_time) {
            (Some(through), _) => (Verdict::LetThrough, through),
            // The bounds of an engine may end the probe with all others, once its twin is done.
            (None, true)
                if ran.code == Some(137) && ran.was_lawful && BOUNDS.contains(&attack.name) =>
            {
                (Verdict::Held, "all of it was ended".to_owned())
            }
            (None, true) => (Verdict::Failed, format!("{}: {said}", ran.ended())),
            (None, false) => (Verdict::Failed, format!("no end after two minutes: {said}")),
        };
        return Told::new(verdict, why);
    };
    // An engine that crashes or hangs once the probe has spoken holds nothing that can be relied on.
    // A bound may have ended it with the rest, and nothing else may.
    let is_ended = matches!(ran.code, None | Some(137)) && BOUNDS.contains(&attack.name);
    let is_whole = ran.in_time && (ran.code == Some(0) || is_ended);
    if through.is_none() && !is_whole {
        let how = if ran.in_time { ran.ended() } else { "no end after two minutes".to_owned() };
        return Told::new(Verdict::Failed, format!("{how}, after the probe had spoken"));
    }
    let errno = report.ways.iter().filter_map(|way| way.errno).collect();
    let (verdict, why) = match (through, &report.unlawful, report.verdict.as_str()) {
        (Some(through), ..) => (Verdict::LetThrough, through),
        (None, Some(why), _) => (Verdict::Blunt, format!("the lawful twin failed: {why}")),
        (None, None, "unsure") => (Verdict::Unsure, "there is nothing to try it on".to_owned()),
        (None, None, "escaped") if attack.evidence == Evidence::Word => {
            (Verdict::LetThrough, report.told())
        }
        (None, None, "held" | "escaped") => (Verdict::Held, report.told()),
        (None, None, other) => (Verdict::Failed, format!("the probe says `{other}`")),
    };
    let seemed = verdict == Verdict::Held && report.verdict == "escaped";
    Told { verdict, why, errno, seemed }
}

/// Puts the engine's words behind what an attack wants of its start.
fn dressed(
    attack: &Attack,
    stage: &Stage,
    words: &[std::ffi::OsString],
    terminal: Option<&Terminal>,
) -> io::Result<Command> {
    let mut command = Command::new("env");
    command.stdin(Stdio::null());
    match (attack.name, terminal) {
        (_, Some(terminal)) => {
            command.arg(&stage.probe).arg("on-terminal").arg(&terminal.path);
            command.args(["env", "--"]).args(words);
        }
        ("e053-inherited", None) => {
            command.args(["sh", "-c", r#"exec "$@" 9<>"$0""#]).arg(&stage.world.file).args(words);
        }
        ("e053-reopened", None) => {
            command.stdin(File::open(&stage.world.file)?).args(words);
        }
        (_, None) => {
            command.args(words);
        }
    }
    Ok(command)
}

/// What an engine left behind.
#[derive(Debug)]
struct Ran {
    out: String,
    errors: String,
    code: Option<i32>,
    in_time: bool,
    was_lawful: bool,
}

impl Ran {
    fn ended(&self) -> String {
        let code = self.code.map_or("a signal".to_owned(), |code| code.to_string());
        format!("it ended with {code}")
    }
}

fn run(mut command: Command) -> io::Result<Ran> {
    command.stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = start(&mut command)?;
    let out = reader(child.stdout.take());
    let errors = reader(child.stderr.take());
    let in_time = ended(&mut child)?;
    if !in_time {
        child.kill()?;
    }
    let status = child.wait()?;
    let text = |reader: JoinHandle<String>| reader.join().unwrap_or_default();
    Ok(Ran {
        out: text(out),
        errors: text(errors),
        code: status.code(),
        in_time,
        was_lawful: false,
    })
}

fn ended(child: &mut Child) -> io::Result<bool> {
    let until = Instant::now() + PATIENCE;
    while Instant::now() < until {
        if child.try_wait()?.is_some() {
            return Ok(true);
        }
        thread::sleep(Duration::from_millis(5));
    }
    Ok(false)
}

/// Reads a stream to its end beside everything else.
fn reader(stream: Option<impl Read + Send + 'static>) -> JoinHandle<String> {
    thread::spawn(move || {
        let mut text = Vec::new();
        if let Some(stream) = stream {
            // A stream that breaks has said what it had to say.
            stream.take(1 << 20).read_to_end(&mut text).ok();
        }
        String::from_utf8_lossy(&text).into_owned()
    })
}

#[cfg(test)]
mod tests {
    use palisade_conformance::{Way, attack};

    use super::*;

    fn told(name: &str, done: bool, seen: &[&str], lawful: Result<(), String>) -> Verdict {
        let way = Way { way: "x".to_owned(), done, errno: None, why: String::new() };
        let report = Report::new(name, vec![way], lawful);
        let seen = seen.iter().map(|text| (*text).to_owned()).collect();
        let ran = Ran {
            out: String::new(),
            errors: String::new(),
            code: Some(0),
            in_time: true,
            was_lawful: true,
        };
        weigh(attack(name).unwrap(), Some(report), seen, &ran).verdict
    }

    #[test]
    fn what_is_seen_outside_outweighs_what_is_said_inside() {
        let broken = || Err("no file".to_owned());
        #[rustfmt::skip]
        let cases = [
            ("e031-made", false, &["made"][..], Ok(()),   Verdict::LetThrough),
            ("e031-made", true,  &[][..],       Ok(()),   Verdict::Held),
            ("e031-made", false, &[][..],       broken(), Verdict::Blunt),
            ("e031-made", false, &["made"][..], broken(), Verdict::LetThrough),
            ("e048-ring", true,  &[][..],       Ok(()),   Verdict::LetThrough),
            ("e048-ring", false, &[][..],       Ok(()),   Verdict::Held),
            ("e048-ring", true,  &[][..],       broken(), Verdict::Blunt),
        ];
        for (name, done, seen, lawful, expected) in cases {
            assert_eq!(
                told(name, done, seen, lawful.clone()),
                expected,
                "{name} {done} {seen:?} {lawful:?}"
            );
        }
    }

    #[test]
    fn an_engine_that_does_not_run_the_probe_has_held_nothing() {
        let ran = |code, was_lawful| Ran {
            out: String::new(),
            errors: "no such option\n".to_owned(),
            code: Some(code),
            in_time: true,
            was_lawful,
        };
        let told = |name, ran| weigh(attack(name).unwrap(), None, Vec::new(), &ran).verdict;
        assert_eq!(told("e048-ring", ran(1, true)), Verdict::Failed);
        assert_eq!(told("e048-ring", ran(137, true)), Verdict::Failed);
        // All of it was ended: the bound held, if anything lawful was done before.
        assert_eq!(told("e059-memory", ran(137, true)), Verdict::Held);
        assert_eq!(told("e059-memory", ran(137, false)), Verdict::Failed);
    }

    #[test]
    fn a_report_of_a_run_that_did_not_end_well_proves_nothing() {
        let way = Way { way: "x".to_owned(), done: false, errno: None, why: String::new() };
        let told = |name: &str, said: &str, code, in_time, seen: &[&str]| {
            let mut report = Report::new(said, vec![way.clone()], Ok(()));
            if said == "odd" {
                report = Report { attack: name.to_owned(), verdict: "fine".to_owned(), ..report };
            }
            let seen = seen.iter().map(|text| (*text).to_owned()).collect();
            let (out, errors) = (String::new(), String::new());
            let ran = Ran { out, errors, code, in_time, was_lawful: true };
            weigh(attack(name).unwrap(), Some(report), seen, &ran).verdict
        };
        let good = Some(0);
        #[rustfmt::skip]
        let cases = [
            ("e048-ring",   "e048-ring",   good,      true,  &[][..],     Verdict::Held),
            ("e048-ring",   "e048-ring",   None,      true,  &[],         Verdict::Failed),
            ("e048-ring",   "e048-ring",   Some(139), true,  &[],         Verdict::Failed),
            ("e048-ring",   "e048-ring",   Some(125), true,  &[],         Verdict::Failed),
            ("e048-ring",   "e048-ring",   None,      false, &[],         Verdict::Failed),
            ("e048-ring",   "e031-made",   good,      true,  &[],         Verdict::Failed),
            ("e048-ring",   "odd",         good,      true,  &[],         Verdict::Failed),
            ("e059-memory", "e059-memory", Some(137), true,  &[],         Verdict::Held),
            ("e059-memory", "e059-memory", None,      true,  &[],         Verdict::Held),
            ("e059-memory", "e059-memory", Some(139), true,  &[],         Verdict::Failed),
            ("e059-memory", "e059-memory", Some(125), true,  &[],         Verdict::Failed),
            ("e059-memory", "e059-memory", None,      false, &[],         Verdict::Failed),
            ("e031-made",   "e031-made",   None,      false, &["made"],   Verdict::LetThrough),
        ];
        for (name, said, code, in_time, seen, expected) in cases {
            let verdict = told(name, said, code, in_time, seen);
            assert_eq!(verdict, expected, "{name} {said} {code:?} {in_time} {seen:?}");
        }
    }
}
