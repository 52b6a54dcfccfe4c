//! Prints verdicts: a line each, or a table with a row for each escape and a column for each engine.

use std::collections::BTreeSet;
use std::fs;

use palisade_conformance::{ATTACKS, NOT_PROBED};

use crate::engine::Engine;
use crate::judge::{Judged, Verdict};
use crate::person::Person;

/// Attacks that hosts may refuse without any engine: `none` need not let them through.
const REFUSED_BY_HOSTS: [&str; 10] = [
    "e046-typed",      // dev.tty.legacy_tiocsti=0
    "e047-poked",      // Yama
    "e048-ring",       // kernel.io_uring_disabled
    "e049-thirty-two", // no emulation of 32 bits
    "e050-entered",    // an ordinary user has nothing to enter
    "e050-mount",      // user namespaces are off
    "e050-namespace",  // the same
    "e054-queue",      // no queues in this kernel
    "e055-elevated",   // only root can make the program
    "e060-group",      // nothing was delegated to an ordinary user
];

fn word(verdict: Verdict) -> &'static str {
    match verdict {
        Verdict::Held => "held",
        Verdict::LetThrough => "LET THROUGH",
        Verdict::Unsure => "nothing to try",
        Verdict::Host => "host refuses",
        Verdict::Blunt => "lawful work refused",
        Verdict::Failed => "FAILED",
    }
}

/// One verdict, for a terminal.
pub(crate) fn line(judged: &Judged) -> String {
    let Judged { attack, engine, person, verdict, why, .. } = judged;
    format!("{:<14} {attack:<17} {engine:<17} {person}: {why}", word(*verdict))
}

/// Whether ours holds everything and `none` nothing, as far as it could be tried.
pub(crate) fn as_it_should_be(all: &[Judged]) -> bool {
    all.iter().all(|judged| match judged.engine {
        "palisade" => matches!(judged.verdict, Verdict::Held | Verdict::Unsure | Verdict::Host),
        "none" => {
            let may_refuse = REFUSED_BY_HOSTS.contains(&judged.attack);
            judged.verdict == Verdict::LetThrough
                || (may_refuse && judged.verdict != Verdict::Failed)
        }
        // It holds less, but it must have run.
        "palisade-landlock" => judged.verdict != Verdict::Failed,
        // Others are compared, not judged.
        _ => true,
    })
}

/// Returns one of our own engines that ran nothing at all: a table without it would say that it was
/// tried.
pub(crate) fn idle(all: &[Judged]) -> Option<&'static str> {
    ["palisade", "palisade-landlock", "bwrap-export"].into_iter().find(|engine| {
        let mut own = all.iter().filter(|one| one.engine == *engine).peekable();
        own.peek().is_some()
            && own.all(|one| matches!(one.verdict, Verdict::Failed | Verdict::Host))
    })
}

/// Returns the verdict as the table has it: where there is no engine, nothing is held, and what does
/// not work is refused by the host.
fn tabled(one: &Judged) -> Verdict {
    let refused = one.engine == "none" && one.verdict == Verdict::Held;
    if refused { Verdict::Host } else { one.verdict }
}

/// The page.
pub(crate) fn document(
    columns: &[(Engine, Result<String, String>)],
    all: &[Judged],
    people: &[Person],
) -> String {
    let kernel = fs::read_to_string("/proc/sys/kernel/osrelease").unwrap_or_default();
    let people = people.iter().map(|person| person.name()).collect::<Vec<_>>().join(" and ");
    let mut page = format!(
        "<!-- Written by `cargo xtask conformance`. Do not edit. -->\n\
         # Conformance\n\n\
         Escapes of [spec/escapes.json](../spec/escapes.json), groups C and D and two rows of E \
         (73 and 77), tried behind this and other engines by [the same \
         probe](../conformance/README.md). Each attack has a lawful twin that must work beside it, and is judged from outside where it leaves a trace. \
         `none` has no sandbox: what fails there too is refused by this host, and proves nothing of \
         any engine.\n\n\
         Linux {}, started as {people}. *held*: the kernel or the engine refused it. \
         **let through**: it worked, by at least one way. *host refuses*: it fails without any \
         engine too. *lawful work refused*: it did not work, but neither did the twin, such as \
         committing to the repository. *did not run*: the engine refused to start. A cell with \
         \"root:\" differs for root. Of every engine the same is asked; one that has no way to say \
         it, such as bounds or hidden files, lets it through.\n\n",
        kernel.trim(),
    );
    page.push_str("| Engine | Version | Called as |\n| --- | --- | --- |\n");
    for (engine, version) in columns {
        let version = version.as_ref().unwrap_or_else(|why| why);
        page.push_str(&format!("| {} | {version} | {} |\n", engine.name(), engine.called()));
    }
    page.push_str("\n## By row\n\n| Row | Attack |");
    columns.iter().for_each(|(engine, _)| page.push_str(&format!(" {} |", engine.name())));
    page.push_str("\n| ---: | --- |");
    columns.iter().for_each(|_| page.push_str(" --- |"));
    page.push('\n');
    for attack in &ATTACKS {
        page.push_str(&format!("| {} | {} |", attack.row, attack.what));
        for (engine, version) in columns {
            let text = match version {
                Err(_) => "not installed".to_owned(),
                Ok(_) => cell(attack.name, engine.name(), all),
            };
            page.push_str(&format!(" {text} |"));
        }
        page.push('\n');
    }
    page.push_str("\nRows that no probe inside of an engine can judge:\n\n");
    for (row, why) in NOT_PROBED {
        page.push_str(&format!("- {row}: {why}\n"));
    }
    page.push_str(&sums(columns, all));
    page.push_str(&ways(all));
    page.push_str(&seemed(all));
    page
}

fn cell(attack: &str, engine: &str, all: &[Judged]) -> String {
    let found: Vec<_> =
        all.iter().filter(|one| one.attack == attack && one.engine == engine).collect();
    let shown = |verdict| match verdict {
        Verdict::LetThrough => "**let through**",
        Verdict::Failed => "did not run",
        Verdict::Held | Verdict::Unsure | Verdict::Host | Verdict::Blunt => word(verdict),
    };
    let words: BTreeSet<_> = found.iter().map(|one| shown(tabled(one))).collect();
    if let (1, Some(word)) = (words.len(), words.first()) {
        return (*word).to_owned();
    }
    let told = found.iter().rev().map(|one| match one.person {
        "root" => format!("root: {}", shown(tabled(one))),
        _ => shown(tabled(one)).to_owned(),
    });
    told.collect::<Vec<_>>().join(", ")
}

/// How many attacks each engine let through.
fn sums(columns: &[(Engine, Result<String, String>)], all: &[Judged]) -> String {
    let mut text = String::from(
        "\n## Sums\n\nAttacks that can be tried on this host, as each person who started them.\n\n\
         | Engine | held | let through | lawful work refused | did not run |\n\
         | --- | ---: | ---: | ---: | ---: |\n",
    );
    for (engine, version) in columns {
        if version.is_err() {
            text.push_str(&format!("| {} | not installed | | | |\n", engine.name()));
            continue;
        }
        let count = |verdict| {
            let same = |one: &&Judged| one.engine == engine.name() && tabled(one) == verdict;
            all.iter().filter(same).count()
        };
        let [held, through, blunt, failed] =
            [Verdict::Held, Verdict::LetThrough, Verdict::Blunt, Verdict::Failed].map(count);
        let name = engine.name();
        text.push_str(&format!("| {name} | {held} | {through} | {blunt} | {failed} |\n"));
    }
    text
}

/// By which ways attacks got through, but for those without an engine.
fn ways(all: &[Judged]) -> String {
    let mut text = String::from("\n## What got through, and what did not run\n\n");
    let mut told = BTreeSet::new();
    for one in all.iter().filter(|one| one.engine != "none") {
        let Judged { engine, attack, .. } = one;
        let (key, line) = match one.verdict {
            Verdict::LetThrough | Verdict::Blunt => (*attack, format!("{attack}: {}", one.why)),
            // An engine that does not start says the same of every attack.
            Verdict::Failed => (one.why.as_str(), format!("did not run: {}", one.why)),
            Verdict::Held | Verdict::Unsure | Verdict::Host => continue,
        };
        if told.insert((*engine, key)) {
            text.push_str(&format!("- {engine}, {}\n", line.replace('\n', " ")));
        }
    }
    if told.is_empty() {
        text.push_str("Nothing.\n");
    }
    text
}

/// What looked inside as if it had worked, and left nothing outside.
fn seemed(all: &[Judged]) -> String {
    let mut text = String::from(
        "\n## What only seemed to work\n\nInside these did something; outside nothing was left of \
         it, because it happened in a private place, or was undone at the end.\n\n",
    );
    let mut told = BTreeSet::new();
    for one in all.iter().filter(|one| one.seemed) {
        if told.insert((one.engine, one.attack)) {
            text.push_str(&format!("- {}, {}: {}\n", one.engine, one.attack, one.why));
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    fn one(attack: &'static str, engine: &'static str, verdict: Verdict) -> Judged {
        let person = "root";
        Judged {
            attack,
            row: 31,
            engine,
            person,
            verdict,
            why: "w".to_owned(),
            errno: Vec::new(),
            seemed: false,
        }
    }

    #[test]
    fn the_page_says_which_rows_it_has() {
        let rows = ATTACKS.iter().map(|it| it.row).chain(NOT_PROBED.iter().map(|(row, _)| *row));
        let rows: BTreeSet<_> = rows.collect();
        // C and D are the rows 31 to 62.
        let all: Vec<_> = (31..=62).chain([73, 77]).collect();
        assert_eq!(rows.into_iter().collect::<Vec<_>>(), all);
        let page = document(&[], &[], &[]);
        assert!(page.contains("groups C and D and two rows of E (73 and 77), tried"), "{page}");
    }

    #[test]
    fn ours_must_hold_and_none_must_not() {
        #[rustfmt::skip]
        let cases = [
            ("e031-made", "palisade", Verdict::Held,       true),
            ("e031-made", "palisade", Verdict::Host,       true),
            ("e031-made", "palisade", Verdict::LetThrough, false),
            ("e031-made", "palisade", Verdict::Blunt,      false),
            ("e031-made", "palisade", Verdict::Failed,     false),
            ("e031-made", "none",     Verdict::LetThrough, true),
            ("e031-made", "none",     Verdict::Held,       false),
            ("e031-made", "none",     Verdict::Failed,     false),
            ("e060-group", "none",    Verdict::Held,       true),
            ("e060-group", "none",    Verdict::Failed,     false),
            ("e031-made", "palisade-landlock", Verdict::Blunt,  true),
            ("e031-made", "palisade-landlock", Verdict::Failed, false),
            ("e031-made", "bwrap",    Verdict::LetThrough, true),
        ];
        for (attack, engine, verdict, fine) in cases {
            let all = [one(attack, engine, verdict)];
            assert_eq!(as_it_should_be(&all), fine, "{attack} {engine} {verdict:?}");
        }
    }

    #[test]
    fn an_engine_of_ours_that_ran_nothing_is_told() {
        let ran = one("e031-made", "palisade", Verdict::Held);
        let not = |engine| one("e031-made", engine, Verdict::Failed);
        assert_eq!(idle(&[]), None, "one that was not asked for");
        assert_eq!(idle(&[ran.clone(), not("palisade")]), None);
        assert_eq!(idle(&[ran.clone(), not("srt")]), None, "others are compared, not judged");
        assert_eq!(idle(&[ran, not("palisade-landlock")]), Some("palisade-landlock"));
    }

    #[test]
    fn without_an_engine_nothing_is_held() {
        let all = [one("e060-group", "none", Verdict::Held)];
        assert_eq!(cell("e060-group", "none", &all), "host refuses");
    }

    #[test]
    fn a_cell_says_when_root_differs() {
        let mut all = vec![one("e031-made", "bwrap", Verdict::Held)];
        assert_eq!(cell("e031-made", "bwrap", &all), "held");
        let person = "ordinary user";
        all.push(Judged { person, ..one("e031-made", "bwrap", Verdict::LetThrough) });
        assert_eq!(cell("e031-made", "bwrap", &all), "**let through**, root: held");
    }
}
