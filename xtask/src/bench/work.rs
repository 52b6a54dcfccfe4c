//! Work inside: what a command takes once it runs, with and without walls.

use std::cell::RefCell;
use std::fs;
use std::path::Path;
use std::process::Command;
use std::time::Duration;

use super::candidate::Candidate;
use super::clock::{Spread, interleaved, ms};
use crate::failure::Failure;
use crate::program;

/// How often each is done in one sandbox: it is the work that is measured, not the start.
const TIMES: usize = 10;

/// What is done: a name, and a line of shell.
const WORKS: [(&str, &str); 4] = [
    ("git status, 20,000 files", "git -C repository status --porcelain"),
    ("find, 20,000 files", "find repository -type f"),
    ("gcc, one file", "gcc -O1 -c program.c -o program.o"),
    ("python, twelve imports", "python3 imports.py"),
];

const PROGRAM: &str = "#include <stdio.h>\n#include <stdlib.h>\n#include <string.h>\n\
    int main(void) { char *s = malloc(9); strcpy(s, \"hello\"); puts(s); free(s); return 0; }\n";

const IMPORTS: &str = "import argparse, asyncio, collections, csv, dataclasses, datetime, email, \
    http, json, logging, re, unittest\n";

pub(super) fn table(
    folder: &Path,
    candidates: &[Candidate],
    rounds: usize,
) -> Result<String, Failure> {
    prepare(&folder.join("project"))?;
    let compared: Vec<&Candidate> = candidates
        .iter()
        .filter(|one| ["bare", "palisade run", "bwrap"].contains(&one.name))
        .collect();
    let names = compared.iter().map(|one| format!(" {} ms | × bare | whole × bare |", one.name));
    let mut page = format!(
        "## Work inside\n\nEach {TIMES} times in one sandbox, n = {rounds}: the time of one, by a \
         clock inside; and of all, with the start and the end of the sandbox.\n\n\
         | What |{}\n| --- |{}\n",
        names.collect::<String>(),
        " ---: | ---: | ---: |".repeat(compared.len()),
    );
    for (name, line) in WORKS {
        let script = format!(
            "date +%s%N > began; i=0\n\
             while [ $i -lt {TIMES} ]; do {line} || exit 1; i=$((i+1)); done\n\
             date +%s%N > ended\n"
        );
        fs::write("work.sh", script)
            .map_err(|error| Failure::io("cannot write work.sh", &error))?;
        let inside = RefCell::new(vec![Vec::new(); compared.len()]);
        let numbered: Vec<(usize, &Candidate)> = compared.iter().copied().enumerate().collect();
        let whole = interleaved(&numbered, rounds, |(number, one)| {
            one.run(&["/bin/sh", "work.sh"])?;
            let took = noted("ended")?.saturating_sub(noted("began")?);
            if let Some(times) = inside.borrow_mut().get_mut(*number) {
                times.push(took);
            }
            Ok(())
        })?;
        // The first of each warmed caches.
        let inside = inside.into_inner().into_iter().map(|times| times.into_iter().skip(1));
        let inside: Vec<Spread> = inside.map(|times| Spread::of(times.collect())).collect();
        let whole: Vec<Spread> = whole.into_iter().map(Spread::of).collect();
        let (Some(base), Some(all)) = (inside.first(), whole.first()) else { continue };
        page.push_str(&format!("| {name} |"));
        for (inside, whole) in inside.iter().zip(&whole) {
            let once = inside.median / u32::try_from(TIMES).unwrap_or(1);
            let (work, ratio) = (inside.ratio(base), whole.ratio(all));
            page.push_str(&format!(" {:.2} | {work:.2} | {ratio:.2} |", ms(once)));
        }
        page.push('\n');
    }
    page.push('\n');
    Ok(page)
}

/// Reads a time that a script has noted, in nanoseconds.
fn noted(name: &str) -> Result<Duration, Failure> {
    let text = fs::read_to_string(name)
        .map_err(|error| Failure::io(format!("cannot read {name}"), &error))?;
    let nanos = text.trim().parse().map_err(|_| Failure::new(format!("{name}: no time")))?;
    Ok(Duration::from_nanos(nanos))
}

/// Makes a repository of 200 folders with 100 files each, and something to compile and import.
fn prepare(project: &Path) -> Result<(), Failure> {
    let made = (0..200).try_for_each(|folder| {
        let folder = project.join(format!("repository/d{folder}"));
        fs::create_dir_all(&folder)?;
        (0..100).try_for_each(|file| fs::write(folder.join(format!("f{file}")), b"text\n"))
    });
    let made = made
        .and_then(|()| fs::write(project.join("program.c"), PROGRAM))
        .and_then(|()| fs::write(project.join("imports.py"), IMPORTS));
    made.map_err(|error| Failure::io("cannot make a repository", &error))?;
    let lines: [&[&str]; 3] = [
        &["init", "-q"],
        &["add", "."],
        &["-c", "user.name=b", "-c", "user.email=b@example.com", "commit", "-qm", "All of it"],
    ];
    for arguments in lines {
        let mut git = Command::new("git");
        program::succeed(git.args(arguments).current_dir(project.join("repository")))?;
    }
    Ok(())
}
