//! What the record costs a run, and what a log can take.

use std::fs;
use std::path::Path;
use std::process::Command;

use super::candidate::Candidate;
use super::clock::{Spread, interleaved, ms};
use crate::failure::Failure;
use crate::program;

/// Starts `/bin/true` with and without a record, in turn, `rounds` times; then has the log's own bench
/// say how many events it takes.
pub(super) fn table(folder: &Path, rounds: usize) -> Result<String, Failure> {
    let candidates = candidates(folder)?;
    let times = interleaved(&candidates, rounds, |one| one.run(&["/bin/true"]))?;
    let spreads: Vec<Spread> = times.into_iter().map(Spread::of).collect();
    let mut page = format!(
        "## Recording\n\n`palisade run -- /bin/true` with and without `audit.path`: what is decided and \
         how it ended is appended to a chained log. n = {rounds}, in turn.\n\n\
         | What | median ms | p10 ms | p99 ms | × without |\n| --- | ---: | ---: | ---: | ---: |\n"
    );
    let Some(base) = spreads.first() else { return Ok(page) };
    for (candidate, spread) in candidates.iter().zip(&spreads) {
        page.push_str(&format!(
            "| {} | {:.3} | {:.3} | {:.3} | {:.3} |\n",
            candidate.name,
            ms(spread.median),
            ms(spread.p10),
            ms(spread.p99),
            spread.ratio(base),
        ));
    }
    let log = program::capture(&mut Command::new(folder.join("log")))?;
    Ok(format!("{page}\n{log}"))
}

fn candidates(folder: &Path) -> Result<[Candidate; 2], Failure> {
    let policy = |name: &str, text: &str| {
        let file = folder.join("home").join(name);
        fs::write(&file, text).map_err(|error| Failure::io("cannot write a policy", &error))?;
        let words = [&folder.join("palisade"), Path::new("run"), Path::new("--policy"), &file];
        let words = words.into_iter().chain([Path::new("--")]);
        Ok::<_, Failure>(words.map(|word| word.to_string_lossy().into_owned()).collect())
    };
    let log = folder.join("home/events.jsonl");
    let recorded = format!("audit: {{ path: {} }}\n", log.display());
    // Both read a policy file: only what it says differs.
    Ok([
        Candidate { name: "without", words: policy("plain.yaml", "audit: {}\n")? },
        Candidate { name: "recorded", words: policy("recorded.yaml", &recorded)? },
    ])
}
