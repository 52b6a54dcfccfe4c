//! What is compared: no sandbox, ours, and those of others that are installed.

use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};

use super::clock::{Spread, interleaved, ms};
use crate::failure::Failure;
use crate::program;

/// A way to start a command.
#[derive(Clone, Debug)]
pub(super) struct Candidate {
    pub(super) name: &'static str,
    /// What stands in front of the command.
    pub(super) words: Vec<String>,
}

/// Sandboxes of others, and how each is asked for a read-only system with a writable folder (`WS`)
/// and no network. Those that are not installed are left out.
const OTHERS: [(&str, &str); 6] = [
    (
        "bwrap",
        "bwrap --ro-bind / / --dev /dev --proc /proc --bind WS WS --unshare-all --die-with-parent",
    ),
    ("firejail", "firejail --quiet --noprofile --net=none --read-only=/ --read-write=WS"),
    ("nsjail", "nsjail -Mo -Q --disable_rlimits -R / -B WS --cwd WS --"),
    ("minijail0", "minijail0 -U -v -p -l -e -n --"),
    ("landrun", "landrun --rox / --rw WS"),
    ("sandlock", "sandlock run --"),
];

/// Returns what can be compared here; the first is no sandbox at all, the second ours.
pub(super) fn found(folder: &Path) -> Vec<Candidate> {
    let ours = folder.join("palisade").to_string_lossy().into_owned();
    let ours = ["run", "--"].into_iter().map(str::to_owned).fold(vec![ours], |mut words, word| {
        words.push(word);
        words
    });
    let mut found = vec![
        Candidate { name: "bare", words: Vec::new() },
        Candidate { name: "palisade run", words: ours },
    ];
    let place = folder.join("project").to_string_lossy().into_owned();
    for (name, line) in OTHERS {
        let words = line.split(' ').map(|word| word.replace("WS", &place)).collect();
        let other = Candidate { name, words };
        if other.run(&["/bin/true"]).is_ok() {
            found.push(other);
        }
    }
    found.extend(with_our_mounts(folder).filter(|same| same.run(&["/bin/true"]).is_ok()));
    found
}

/// What bubblewrap does not carry of a plan, and we do.
const WITHOUT: &str = "absence,descriptors,first-process,landlock,late-mounts,orphans,self-test,\
    sockets,watch";

/// Returns bubblewrap with the namespaces and mounts of our own plan, in a project of its own: the
/// folders that it makes for protected names stay. Without our filter and bounds, which would need
/// other programs to hand them over.
fn with_our_mounts(folder: &Path) -> Option<Candidate> {
    let project = folder.join("project-of-bwrap");
    let mut plan = Command::new(folder.join("palisade"));
    plan.args(["plan", "--export", "bwrap", "--json", "--without", WITHOUT, "--to"]);
    // Once for each part of this bench.
    let files = folder.join("home").join(format!("bwrap-{}", std::process::id()));
    plan.arg(files).args(["--", "/bin/true"]).current_dir(project);
    let told: serde_json::Value = serde_json::from_str(&program::capture(&mut plan).ok()?).ok()?;
    let text = told.get("text")?.as_str()?;
    let (_, line) = text.split_once("/bwrap ")?;
    let (line, _) = line.split_once(" --seccomp ")?;
    let words = std::iter::once("bwrap").chain(line.split(' ')).map(str::to_owned);
    Some(Candidate { name: "bwrap, our mounts", words: words.collect() })
}

/// Returns ours with a network that is filtered by name.
fn with_a_network(folder: &Path) -> Result<Candidate, Failure> {
    let policy = folder.join("home/allow-list.yaml");
    fs::write(&policy, "network: { mode: allow-list, allow: [api.example.com] }\n")
        .map_err(|error| Failure::io("cannot write a policy", &error))?;
    let words = [&folder.join("palisade"), Path::new("run"), Path::new("--policy"), &policy];
    let words = words.into_iter().chain([Path::new("--")]);
    let words = words.map(|word| word.to_string_lossy().into_owned()).collect();
    Ok(Candidate { name: "palisade run, allow-list", words })
}

/// Starts `/bin/true` in each, in turn.
pub(super) fn starts(
    folder: &Path,
    candidates: &[Candidate],
    runs: usize,
) -> Result<String, Failure> {
    let mut candidates = candidates.to_vec();
    candidates.push(with_a_network(folder)?);
    let times = interleaved(&candidates, runs, |one| one.run(&["/bin/true"]))?;
    let mut page = String::from(
        "## Start\n\n`/bin/true`, from the start of the launcher to its end. \"bwrap\" has a read-only \
         system, a writable project and no network; \"bwrap, our mounts\" the namespaces and mounts \
         of our own plan (`palisade plan --export bwrap`), without our filter of system calls, \
         Landlock, bounds and clean-up; \"allow-list\" has a network that is filtered by name.\n\n\
         | What | median ms | p10 ms | p99 ms | × bare |\n| --- | ---: | ---: | ---: | ---: |\n",
    );
    let spreads: Vec<Spread> = times.into_iter().map(Spread::of).collect();
    let Some(base) = spreads.first() else { return Ok(page) };
    for (candidate, spread) in candidates.iter().zip(&spreads) {
        page.push_str(&format!(
            "| {} | {:.2} | {:.2} | {:.2} | {:.2} |\n",
            candidate.name,
            ms(spread.median),
            ms(spread.p10),
            ms(spread.p99),
            spread.ratio(base),
        ));
    }
    page.push('\n');
    Ok(page)
}

impl Candidate {
    /// Runs a command to its end; anything but success is a failure.
    pub(super) fn run(&self, argv: &[&str]) -> Result<(), Failure> {
        let mut command = self.command(argv)?;
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        match command.status() {
            Ok(status) if status.success() => Ok(()),
            Ok(status) => Err(Failure::new(format!("{}: {argv:?}: {status}", self.name))),
            Err(error) => Err(Failure::io(format!("cannot start {}", self.name), &error)),
        }
    }

    /// Prepares a command.
    pub(super) fn command(&self, argv: &[&str]) -> Result<Command, Failure> {
        let mut words = self.words.iter().map(String::as_str).chain(argv.iter().copied());
        let program = words.next().ok_or_else(|| Failure::new("there is nothing to start"))?;
        let mut command = Command::new(program);
        command.args(words);
        Ok(command)
    }
}
