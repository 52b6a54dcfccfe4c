//! `conformance`: runs every attack behind every engine that is installed, and prints a table.
#![forbid(unsafe_code)]

mod engine;
mod eyes;
mod groups;
mod judge;
mod person;
mod stage;
mod table;

use std::env;
use std::io::{self, Write as _};
use std::path::PathBuf;
use std::process::ExitCode;

use palisade_conformance::{ATTACKS, Attack};

use engine::Engine;
use judge::{Judged, Programs, Verdict, judge};
use person::Person;

const USAGE: &str = "\
usage: conformance --palisade FILE --probe FILE [OPTIONS]
       conformance groups --palisade FILE --probe FILE [--json]

Tries every escape behind every engine that is installed. `none` is always tried first: what
succeeds nowhere proves nothing.

  --engine NAME    only this one, and `none` (repeatable): palisade, palisade-landlock, bwrap,
                   bwrap-export, srt, codex
  --attack NAME    only this one, or all of a row, as `e051` (repeatable)
  --person NAME    only `root` or only `ordinary`; root tries both
  --json           one object a line for each attack, engine and person
  --document       the table as Markdown

`groups` tries bounds by control groups instead, as root, and changes the machine's tree of groups
for it: on a machine of its own. Where there is no such tree it says so and ends with 3.

CONFORMANCE_PATH adds folders in which engines are looked for, CONFORMANCE_FOLDER says where
worlds are made. Ends with 0 if palisade held everything, palisade-landlock ran everything and
`none` held nothing, else with 1, and with 2 for wrong usage.
";

/// How the results are printed.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum Form {
    Lines,
    Json,
    Document,
}

/// What was asked for.
#[derive(Debug)]
struct Order {
    palisade: PathBuf,
    probe: PathBuf,
    engines: Vec<Engine>,
    attacks: Vec<&'static Attack>,
    people: Vec<Person>,
    form: Form,
    is_groups: bool,
}

fn main() -> ExitCode {
    let words: Vec<String> = env::args().skip(1).collect();
    if words.iter().any(|word| word == "--help" || word == "-h") {
        io::stdout().write_all(USAGE.as_bytes()).ok();
        return ExitCode::SUCCESS;
    }
    let order = match Order::read(&words) {
        Ok(order) => order,
        Err(error) => {
            writeln!(io::stderr(), "error: {error}\n\n{USAGE}").ok();
            return ExitCode::from(2);
        }
    };
    let done = if order.is_groups { groups(&order) } else { carry_out(&order) };
    match done {
        Ok(code) => ExitCode::from(code),
        Err(error) => {
            writeln!(io::stderr(), "error: {error}").ok();
            ExitCode::from(1)
        }
    }
}

impl Order {
    fn read(words: &[String]) -> Result<Self, String> {
        let (mut palisade, mut probe, mut person) = (None, None, None);
        let (mut engines, mut attacks, mut form) = (Vec::new(), Vec::new(), Form::Lines);
        let is_groups = words.first().is_some_and(|word| word == "groups");
        let mut words = words.iter().skip(usize::from(is_groups));
        while let Some(word) = words.next() {
            let mut value = || words.next().ok_or_else(|| format!("`{word}` wants a value"));
            match word.as_str() {
                "--palisade" => palisade = Some(PathBuf::from(value()?)),
                "--probe" => probe = Some(PathBuf::from(value()?)),
                "--person" => person = Some(value()?.clone()),
                "--json" => form = Form::Json,
                "--document" => form = Form::Document,
                "--engine" => {
                    let name = value()?;
                    engines.push(Engine::of(name).ok_or_else(|| format!("no engine `{name}`"))?);
                }
                "--attack" => {
                    let name = value()?;
                    let found = ATTACKS.iter().filter(|attack| {
                        attack.name == name || attack.name.split('-').next() == Some(name)
                    });
                    let before = attacks.len();
                    attacks.extend(found);
                    if attacks.len() == before {
                        return Err(format!("no attack `{name}`"));
                    }
                }
                other => return Err(format!("`{other}` is unknown")),
            }
        }
        if engines.is_empty() {
            engines = Engine::ALL.to_vec();
        } else if !engines.contains(&Engine::None) {
            engines.insert(0, Engine::None);
        }
        if attacks.is_empty() {
            attacks = ATTACKS.iter().collect();
        }
        let absolute = |path: Option<PathBuf>, name: &str| {
            let path = path.ok_or_else(|| format!("`{name}` is missing"))?;
            path.canonicalize().map_err(|error| format!("{}: {error}", path.display()))
        };
        Ok(Self {
            palisade: absolute(palisade, "--palisade")?,
            probe: absolute(probe, "--probe")?,
            people: Person::available(person.as_deref())?,
            engines,
            attacks,
            form,
            is_groups,
        })
    }
}

/// Tries bounds by control groups; returns how this ends.
fn groups(order: &Order) -> io::Result<u8> {
    let programs = Programs { probe: &order.probe, palisade: &order.palisade };
    let all = match groups::check(programs) {
        Ok(all) => all,
        Err(why) => {
            writeln!(io::stderr(), "SKIPPED groups: {why}")?;
            return Ok(3);
        }
    };
    let mut out = io::stdout().lock();
    for one in &all {
        match order.form {
            Form::Json => writeln!(out, "{}", serde_json::to_string(one)?)?,
            Form::Lines | Form::Document => {
                let word = if one.holds { "holds" } else { "BROKEN" };
                writeln!(out, "{word:<7} {}: {} {}", one.person, one.claim, one.why)?;
            }
        }
    }
    Ok(u8::from(!all.iter().all(|one| one.holds)))
}

/// Runs everything, prints it, and returns how this ends.
fn carry_out(order: &Order) -> io::Result<u8> {
    let programs = Programs { probe: &order.probe, palisade: &order.palisade };
    let mut out = io::stdout().lock();
    let mut all: Vec<Judged> = Vec::new();
    let mut columns = Vec::new();
    for engine in &order.engines {
        let version = engine.version(&order.palisade);
        if let Err(why) = &version {
            writeln!(io::stderr(), "SKIPPED {}: {why}", engine.name())?;
        }
        columns.push((*engine, version));
    }
    for person in &order.people {
        for (engine, version) in &columns {
            if version.is_err() {
                continue;
            }
            for attack in &order.attacks {
                let mut judged = judge(attack, *engine, *person, programs);
                // Whatever an engine lets through is its own, also where the control could not.
                let is_held = [Verdict::Held, Verdict::Blunt, Verdict::Unsure];
                if *engine != Engine::None && is_held.contains(&judged.verdict) {
                    judged = beside(control(&all, &judged), judged);
                }
                match order.form {
                    Form::Json => writeln!(out, "{}", serde_json::to_string(&judged)?)?,
                    Form::Lines => writeln!(out, "{}", table::line(&judged))?,
                    Form::Document => {}
                }
                all.push(judged);
            }
        }
    }
    if order.form == Form::Document {
        if let Some(engine) = table::idle(&all) {
            let why = "ran nothing, so there is no table; try it alone with --engine";
            writeln!(io::stderr(), "error: `{engine}` {why}")?;
            return Ok(1);
        }
        write!(out, "{}", table::document(&columns, &all, &order.people))?;
    }
    // An engine that was asked for and is not there proves nothing; ours is.
    let is_there = columns.iter().all(|(engine, version)| {
        version.is_ok() || !matches!(engine, Engine::None | Engine::Palisade)
    });
    Ok(u8::from(!is_there || !table::as_it_should_be(&all)))
}

/// Returns what became of the same attack where there is no engine.
fn control(all: &[Judged], judged: &Judged) -> Option<Verdict> {
    let control = all.iter().find(|other| {
        other.engine == Engine::None.name()
            && other.attack == judged.attack
            && other.person == judged.person
    });
    control.map(|control| control.verdict)
}

/// What an engine seems to hold counts only beside a control that was tried.
fn beside(control: Option<Verdict>, judged: Judged) -> Judged {
    match control {
        Some(Verdict::LetThrough) => judged,
        Some(Verdict::Held | Verdict::Blunt | Verdict::Unsure | Verdict::Host) => {
            Judged { verdict: Verdict::Host, ..judged }
        }
        Some(Verdict::Failed) | None => {
            let why = "without an engine it did not run either".to_owned();
            Judged { verdict: Verdict::Failed, why, ..judged }
        }
    }
}
