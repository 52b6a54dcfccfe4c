//! `cargo xtask bench`: start, work, throughput and memory, side by side in one run (Ruling 35).
//!
//! Everything is measured as an ordinary user; root becomes uid 65534 for it. What is compared is
//! interleaved, so that a busy machine is busy for all of it.

mod candidate;
mod clock;
mod llm;
mod memory;
mod network;
mod record;
mod work;

use std::fs;
use std::io::Write;
use std::os::unix::fs::{PermissionsExt as _, chown};
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::dist;
use crate::failure::Failure;
use crate::finding::Ending;
use crate::program;
use crate::tree::Tree;

/// The page that is written.
const DOCUMENT: &str = "docs/performance.md";

/// Who owns nothing else.
const NOBODY: u32 = 65534;

pub(crate) fn run(arguments: &[String], out: &mut dyn Write) -> Result<Ending, Failure> {
    match arguments {
        [] => outside(200, out),
        [flag, number] if flag == "--runs" => match number.parse() {
            Ok(runs @ 1..) => outside(runs, out),
            Ok(_) | Err(_) => Err(Failure::new(format!("`--runs {number}` is not a count"))),
        },
        [flag] if flag == "--network" => alone(out),
        [flag] if flag == "--doors" => doors(out),
        // The second half of this command, as somebody else.
        [flag, folder, runs] if flag == "--inside" => {
            inside(Path::new(folder), runs.parse().unwrap_or(1), out)
        }
        [flag, folder] if flag == "--inside-network" => {
            write!(out, "{}", network::table(Path::new(folder), 0)?)?;
            Ok(Ending::Clean)
        }
        [flag, folder] if flag == "--inside-doors" => {
            let folder = Path::new(folder);
            let mut bench = Command::new(folder.join("doors"));
            let measured = program::capture(bench.arg(folder.join("palisade")).arg("500"))?;
            write!(out, "{measured}")?;
            Ok(Ending::Clean)
        }
        // One table alone, in a folder that holds a binary and a project.
        [flag, folder, runs] if flag == "--llm" => {
            write!(out, "{}", llm::table(Path::new(folder), runs.parse().unwrap_or(1))?)?;
            Ok(Ending::Clean)
        }
        // What runs inside, to reach a server outside.
        [flag, words @ ..] if flag == "--client" => network::client::run(words, out),
        [unknown, ..] => Err(Failure::argument("bench", unknown)),
    }
}

/// Prepares a folder, measures in it as an ordinary user, and writes the page.
fn outside(runs: usize, out: &mut dyn Write) -> Result<Ending, Failure> {
    let tree = Tree::open()?;
    let binary = tree.root().join(dist::BINARY);
    if !binary.is_file() {
        return Err(Failure::new(format!("{} is missing; run `cargo xtask dist`", dist::BINARY)));
    }
    let library = built(&tree, "palisade", "run")?;
    let log = built(&tree, "palisade-audit", "log")?;
    let programs = [("palisade", &*binary), ("library", &library), ("log", &log)];
    let place = Place::make(&programs)?;
    let mut command = place.command("--inside")?;
    let measured = program::capture(command.arg(runs.to_string()))?;
    let memory = memory::table(&place.0)?;
    let page = page(&tree, runs, &format!("{measured}{memory}"))?;
    fs::write(tree.root().join(DOCUMENT), &page)
        .map_err(|error| Failure::io(format!("cannot write {DOCUMENT}"), &error))?;
    write!(out, "{page}")?;
    Ok(Ending::Clean)
}

/// Measures the network alone, and prints its table.
fn alone(out: &mut dyn Write) -> Result<Ending, Failure> {
    let binary = Tree::open()?.root().join(dist::BINARY);
    let place = Place::make(&[("palisade", &binary)])?;
    out.write_all(program::capture(&mut place.command("--inside-network")?)?.as_bytes())?;
    Ok(Ending::Clean)
}

/// Measures hooks and servers alone, and prints their table.
fn doors(out: &mut dyn Write) -> Result<Ending, Failure> {
    let tree = Tree::open()?;
    let (binary, bench) = (tree.root().join(dist::BINARY), built(&tree, "palisade", "doors")?);
    let place = Place::make(&[("palisade", &binary), ("doors", &bench)])?;
    out.write_all(program::capture(&mut place.command("--inside-doors")?)?.as_bytes())?;
    let load = fs::read_to_string("/proc/loadavg").unwrap_or_default();
    writeln!(out, "Load {}.", load.split(' ').take(3).collect::<Vec<_>>().join(" "))?;
    Ok(Ending::Clean)
}

/// Measures, and prints tables.
fn inside(folder: &Path, runs: usize, out: &mut dyn Write) -> Result<Ending, Failure> {
    let candidates = candidate::found(folder);
    write!(out, "{}", candidate::starts(folder, &candidates, runs)?)?;
    write!(out, "{}", library_table(folder, runs)?)?;
    write!(out, "{}", record::table(folder, runs.saturating_mul(10))?)?;
    write!(out, "{}", work::table(folder, &candidates, runs.div_ceil(20))?)?;
    write!(out, "{}", network::table(folder, runs.div_ceil(40))?)?;
    write!(out, "{}", llm::table(folder, runs.div_ceil(2))?)?;
    Ok(Ending::Clean)
}

/// What the library's own bench says, which is a program that embeds it.
fn library_table(folder: &Path, runs: usize) -> Result<String, Failure> {
    let mut bench = Command::new(folder.join("library"));
    program::capture(bench.arg(runs.to_string()))
}

/// Builds a bench of a crate, and returns where it is.
fn built(tree: &Tree, package: &str, bench: &str) -> Result<PathBuf, Failure> {
    let mut cargo = Command::new("cargo");
    cargo.args(["bench", "--no-run", "-p", package, "--bench", bench]);
    cargo.args(["--message-format", "json"]).current_dir(tree.root());
    let messages = program::capture(&mut cargo)?;
    let messages = messages.lines().filter_map(|line| serde_json::from_str(line).ok());
    let mut built = messages.filter_map(|message: serde_json::Value| {
        let own = message["target"]["name"] == bench;
        message["executable"].as_str().filter(|_| own).map(PathBuf::from)
    });
    let missing = || Failure::new(format!("cargo built no bench `{bench}` of {package}"));
    built.next().ok_or_else(missing)
}

fn page(tree: &Tree, runs: usize, tables: &str) -> Result<String, Failure> {
    let mut git = Command::new("git");
    git.args(["-c", "safe.directory=*", "describe", "--always", "--dirty"]);
    let commit = program::capture(git.current_dir(tree.root())).unwrap_or_default();
    let load = fs::read_to_string("/proc/loadavg").unwrap_or_default();
    let load = load.split(' ').take(3).collect::<Vec<_>>().join(" ");
    let kernel = fs::read_to_string("/proc/sys/kernel/osrelease").unwrap_or_default();
    let cores = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
    Ok(format!(
        "<!-- Written by `cargo xtask bench`, after `cargo xtask dist`. Do not edit. -->\n\
         # Performance\n\n\
         Measured side by side in one run, as an ordinary user, with the static release binary: \
         compare within a table, and ratios rather than times. \"Bare\" is the same command \
         without any sandbox. n = {runs} starts, {cores} cores, Linux {}, load {load} at the \
         end, commit {}.\n\n{tables}",
        kernel.trim(),
        commit.trim(),
    ))
}

fn is_root() -> Result<bool, Failure> {
    use std::os::unix::fs::MetadataExt as _;
    let own = fs::metadata("/proc/self");
    own.map(|own| own.uid() == 0).map_err(|error| Failure::io("cannot read /proc", &error))
}

/// A temporary folder that an ordinary user owns, with programs, a project and a home in it.
struct Place(PathBuf);

impl Place {
    fn make(programs: &[(&str, &Path)]) -> Result<Self, Failure> {
        let folder = std::env::temp_dir().join(format!("palisade-bench-{}", std::process::id()));
        let place = Self(folder);
        place.fill(programs).map_err(|error| Failure::io("cannot make a folder", &error))?;
        Ok(place)
    }

    fn fill(&self, programs: &[(&str, &Path)]) -> std::io::Result<()> {
        let owner = fs::metadata("/proc/self").map(|own| {
            use std::os::unix::fs::MetadataExt as _;
            if own.uid() == 0 { NOBODY } else { own.uid() }
        })?;
        let own = std::env::current_exe()?;
        fs::create_dir(&self.0)?;
        for (name, from) in programs.iter().copied().chain([("xtask", own.as_path())]) {
            let copy = self.0.join(name);
            fs::copy(from, &copy)?;
            fs::set_permissions(&copy, fs::Permissions::from_mode(0o755))?;
        }
        for name in ["project", "project-of-bwrap", "home"] {
            fs::create_dir(self.0.join(name))?;
            chown(self.0.join(name), Some(owner), None)?;
        }
        // Whoever runs it would be asked about a program from elsewhere.
        fs::copy(own, self.0.join(network::CLIENT))?;
        fs::set_permissions(&self.0, fs::Permissions::from_mode(0o755))
    }

    /// Returns the second half of this command, as an ordinary user.
    fn command(&self, part: &str) -> Result<Command, Failure> {
        let mut command = Command::new(self.0.join("xtask"));
        command.args(["bench", part]).arg(&self.0);
        command.current_dir(self.0.join("project")).env_clear();
        command.env("HOME", self.0.join("home")).env("PATH", "/usr/local/bin:/usr/bin:/bin");
        if is_root()? {
            command.uid(NOBODY).gid(NOBODY);
        }
        Ok(command)
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        // What is left lies in the temporary folder, and is nothing of value.
        fs::remove_dir_all(&self.0).ok();
    }
}
