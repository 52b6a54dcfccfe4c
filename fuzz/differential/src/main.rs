//! The shell parser against bash and brush-parser: the same texts are read, outside words the same
//! commands with the same words are found, and every command that brush finds is found.
//!
//! ```text
//! cargo run --release -- inputs COUNT [SEED]     invented texts
//! cargo run --release -- corpora FOLDER          the `cmd` fields of all .jsonl files there
//! cargo run --release -- alone COUNT [SEED]      only ours, and what it takes
//! ```

mod brush;
mod explain;
mod generate;
mod minimize;
mod oracle;
mod tree;

use std::collections::{BTreeMap, HashSet};
use std::error::Error;
use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::process::ExitCode;
use std::time::{Duration, Instant};
use std::{env, fs, iter};

use explain::explain;
use generate::Generator;
use palisade_policy::shell;
use tree::Tree;

/// Prints a line. Where nobody reads any more there is nobody to tell.
macro_rules! say {
    ($($what:tt)*) => {{
        use std::io::Write as _;
        writeln!(std::io::stdout(), $($what)*).ok();
    }};
}

/// Texts that bash is asked about at a time.
const BATCH: usize = 20_000;

fn main() -> Result<ExitCode, Box<dyn Error>> {
    std::panic::set_hook(Box::new(|_| {})); // brush's panics are many
    let arguments: Vec<String> = env::args().skip(1).collect();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let mut report = Report::default();
    match arguments.as_slice() {
        ["inputs", count, seed @ ..] => {
            let seed = seed.first().map_or(Ok(1), |seed| seed.parse())?;
            let mut generator = Generator::new(seed);
            let mut seen = HashSet::new();
            let mut left: usize = count.parse()?;
            while left > 0 {
                let batch = left.min(BATCH);
                left -= batch;
                // Each text once.
                let texts = iter::repeat_with(|| generator.text());
                let texts = texts.filter(|text| seen.insert(hash(text)));
                report.compare(&texts.take(batch).collect::<Vec<_>>())?;
            }
        }
        ["alone", count, seed @ ..] => {
            let seed = seed.first().map_or(Ok(1), |seed| seed.parse())?;
            return alone(count.parse()?, seed);
        }
        ["corpora", folder] => {
            for entry in fs::read_dir(folder)? {
                let path = entry?.path();
                if path.extension().is_some_and(|end| end == "jsonl") {
                    report.compare(&commands(&fs::read_to_string(path)?))?;
                }
            }
        }
        _ => return Err("expected `inputs`, `corpora` or `alone`".into()),
    }
    report.print();
    oracle::clean_up()?;
    Ok(if report.unexplained == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

fn hash(text: &str) -> u64 {
    let mut hasher = DefaultHasher::new();
    text.hash(&mut hasher);
    hasher.finish()
}

/// Reads invented texts and tells the longest time that one took.
fn alone(count: usize, seed: u64) -> Result<ExitCode, Box<dyn Error>> {
    let mut generator = Generator::new(seed);
    let mut longest = (Duration::ZERO, String::new());
    for _ in 0..count {
        let text = generator.text();
        let start = Instant::now();
        drop(shell::parse(&text));
        longest = longest.max((start.elapsed(), text));
    }
    say!("{count} texts, the longest took {:?}: {:?}", longest.0, longest.1);
    Ok(ExitCode::SUCCESS)
}

fn commands(text: &str) -> Vec<String> {
    let rows = text.lines().filter_map(|line| serde_json::from_str(line).ok());
    let command = |row: serde_json::Value| row.get("cmd")?.as_str().map(str::to_owned);
    rows.filter_map(command).filter(|text| !text.contains('\0')).collect()
}

/// What was seen.
#[derive(Default)]
struct Report {
    texts: usize,
    both_read: usize,
    both_refuse: usize,
    explained: BTreeMap<String, usize>,
    /// Bash said otherwise when it was asked alone.
    withdrawn: usize,
    unexplained: usize,
    /// Simple commands outside words that bash found.
    tree_commands: usize,
    /// Texts whose words were only counted.
    tree_counted: usize,
    brush_read: usize,
    brush_skipped: usize,
    brush_opaque: usize,
    names: usize,
}

impl Report {
    fn compare(&mut self, texts: &[String]) -> Result<(), Box<dyn Error>> {
        let trees = oracle::ask_trees(texts)?;
        for (text, tree) in texts.iter().zip(trees) {
            self.texts += 1;
            let bash = tree.is_some();
            let ours = shell::parse(text);
            match (&ours, bash) {
                (Ok(_), true) => self.both_read += 1,
                (Err(_), false) => self.both_refuse += 1,
                _ => match explain(&ours) {
                    Some(reason) => *self.explained.entry(reason).or_default() += 1,
                    None if oracle::ask_alone(text)? == ours.is_ok() => self.withdrawn += 1,
                    None => {
                        let text = minimize::minimize(text, bash)?;
                        let ours = shell::parse(&text).err();
                        self.complain("bash", &text, &format!("bash reads: {bash}; {ours:?}"));
                    }
                },
            }
            if let (Ok(script), Some(tree)) = (&ours, tree) {
                self.compare_trees(text, script, tree);
                self.compare_names(text, script);
            }
        }
        Ok(())
    }

    /// Outside words bash and we must find the same.
    fn compare_trees(&mut self, text: &str, script: &shell::Script<'_>, theirs: Tree) {
        let mut trees = (Tree::of_ours(script), theirs);
        // Bash decodes these when it reads them.
        let joined = text.replace("\\\n", "");
        if joined.contains("$'") || joined.contains("$\"") {
            trees = (trees.0.counts(), trees.1.counts());
            self.tree_counted += 1;
        }
        let (ours, theirs) = trees;
        self.tree_commands += theirs.commands();
        if ours != theirs {
            self.complain("tree", text, &format!("bash: {theirs:?}\n    ours: {ours:?}"));
        }
    }

    /// Every command that brush finds must be found.
    fn compare_names(&mut self, text: &str, script: &shell::Script<'_>) {
        if explain::brush_differs(text) {
            self.brush_skipped += 1;
            return;
        }
        let Some(theirs) = brush::names(text) else { return };
        self.brush_read += 1;
        let mut ours = Vec::new();
        script.every_simple(&mut |simple| {
            if let Some(word) = simple.words.first() {
                let raw = text.get(word.span.start()..word.span.end()).unwrap_or_default();
                ours.push(brush::comparable(raw));
            }
        });
        self.names += ours.len();
        for name in theirs {
            match ours.iter().position(|ours| *ours == name) {
                Some(at) => {
                    ours.swap_remove(at);
                }
                None if explain::is_opaque(&name) => self.brush_opaque += 1,
                None => {
                    self.complain("brush", text, &format!("brush finds {name:?}"));
                    return;
                }
            }
        }
    }

    fn complain(&mut self, whom: &str, text: &str, what: &str) {
        self.unexplained += 1;
        if self.unexplained <= 40 {
            say!("--- {whom}: {text:?}\n    {what:.600}");
        }
    }

    fn print(&self) {
        let Self { texts, both_read, both_refuse, unexplained, .. } = self;
        say!("{texts} texts: {both_read} read by both, {both_refuse} refused by both");
        for (reason, count) in &self.explained {
            say!("  {count} refused by us only: {reason}");
        }
        say!("  {} answers that bash took back", self.withdrawn);
        let Self { tree_commands, tree_counted, .. } = self;
        say!("{tree_commands} commands outside words, as bash has them");
        say!("  {tree_counted} texts whose words were only counted");
        let Self { brush_read, names, brush_skipped, brush_opaque, .. } = self;
        say!("{brush_read} of them read by brush, {names} commands");
        say!("  {brush_skipped} not shown to brush, {brush_opaque} names that it leaves whole");
        say!("{unexplained} disagreements that nothing explains");
    }
}
