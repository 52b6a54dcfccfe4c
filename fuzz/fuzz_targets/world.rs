//! What the targets of the dialects share: a world without files, and what a problem may look like.

use palisade_policy::dialect::{Dialect, Input, Reading, Surroundings, named, tell};
use palisade_policy::layer::Layer;
use palisade_policy::name::Anchors;
use palisade_policy::text::{Diagnostic, Source};

/// Hands a world in which nothing lies to `ask`.
pub fn with_world<T>(ask: impl FnOnce(&Surroundings<'_>) -> T) -> T {
    let anchors = Anchors { root: "/proj/app".into(), home: Some("/home/dev".into()) };
    ask(&Surroundings {
        anchors: &anchors,
        cwd: "/proj/app".as_ref(),
        var: &|_| None,
        kind: &|_| None,
        list: &|_| Vec::new(),
        read: &|_| Err("there are no other files".into()),
    })
}

/// Reads a text in a dialect; none if it is refused, with good reason and in plain letters.
pub fn readings(
    dialect: &str,
    source: &Source,
    layer: Layer,
    around: &Surroundings<'_>,
) -> Option<(&'static Dialect, Vec<Reading>)> {
    if let Err(problem) = tell(source) {
        check(&[problem]);
    }
    let dialect = named(dialect).expect("it is in the table");
    match (dialect.read)(&[Input { source, layer }], around) {
        Ok(readings) => {
            readings.iter().for_each(|reading| check(&reading.notes));
            Some((dialect, readings))
        }
        Err(problems) => {
            assert!(!problems.is_empty(), "refused without a reason");
            check(&problems);
            None
        }
    }
}

/// Checks that no problem can repaint the terminal.
pub fn check(problems: &[Diagnostic]) {
    for problem in problems {
        let shown = problem.to_string();
        assert!(!shown.contains(|c: char| c.is_control() && c != '\n'), "{shown:?}");
    }
}
