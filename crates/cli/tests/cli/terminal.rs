//! Questions at a terminal: what its size, other processes and the clock do to them.

use std::fs;

use crate::kit::{PALISADE, World, as_both};

const DRIVER: &str = include_str!("terminal.py");

const ASKS: &str = "\
commands:
  rules:
    - { tool: run_shell_command, args: { command: 'touch' }, action: ask }
confirm: { timeout: 3s }
";

/// Runs shell text at a terminal in which `palisade` is a word, and returns what was shown there.
fn shown(world: &World, size: (u32, u32), door: &str, text: &str, steps: &[&str]) -> String {
    let program = world.command(PALISADE).get_program().to_str().unwrap().to_owned();
    let text = format!("p() {{ '{program}' run \"$@\"; echo \"exit $?\"; }}\n{text}");
    let mut driver = world.command("/usr/bin/python3");
    let (columns, rows) = (size.0.to_string(), size.1.to_string());
    driver.args(["-c", DRIVER, &columns, &rows, door, &text]).args(steps);
    driver.env("PATH", "/usr/bin:/bin");
    let ran = world.finish(&mut driver);
    assert_eq!(ran.stderr, "");
    fs::remove_file(world.home.path(".local/state/palisade/audit/questions")).ok();
    ran.stdout
}

fn made(world: &World, name: &str) -> bool {
    world.project.path(name).exists()
}

/// Rows that a command fills exactly used to leave the next one to the command.
#[test]
fn e026_no_row_of_a_question_begins_with_what_is_asked_about() {
    let world = World::new().user_policy(ASKS);
    for filler in [' ', 'x', '\u{a0}'] {
        let pad = |text: &str, width: usize| {
            let length = text.chars().count();
            format!("{text}{}", filler.to_string().repeat(width - length))
        };
        let text = format!(
            "touch made #{}{}{}{}",
            pad("", 57),
            pad("", 80),
            pad("May this run?", 80),
            "  shell    echo hello"
        );
        let command = format!("p --shell '{text}'");
        let shown = shown(&world, (80, 24), "open", &command, &["see [n] no: ", "press n"]);
        let (_, question) = shown.split_once("May this run?\n").unwrap();
        let (question, _) = question.split_once("\n[y] this once").unwrap();
        let is_told = |row: &&str| !row.is_empty() && !row.starts_with("This is ");
        for row in question.lines().filter(is_told) {
            let label = row.get(..11).unwrap_or_default();
            let ours = label.starts_with("  ") && label.trim_start() != "";
            let ours = ours || label == "           ";
            assert!(ours && row.chars().count() < 80, "{filler:?}: {row:?} in {shown}");
            let forged = row.starts_with("  shell") && row.contains("echo hello");
            assert!(!forged || row.contains("touch made"), "{shown}");
        }
        assert!(!made(&world, "made"));
    }
}

#[test]
fn nobody_is_asked_at_a_terminal_that_is_too_small_to_read_on() {
    let world = World::new().user_policy(ASKS);
    for size in [(1, 1), (20, 24), (80, 3)] {
        let shown = shown(&world, size, "open", "p -- touch made", &["see exit", "press y"]);
        assert!(shown.contains("exit 126") && !shown.contains("this once"), "{size:?}: {shown}");
        assert!(!made(&world, "made"), "{size:?}");
    }
    // One that became narrower shows it again, and what was pressed before counts for nothing.
    let steps = ["see [n] no: ", "wide 50", "press y", "see [n] no: ", "press n"];
    let shown = shown(&world, (80, 24), "open", "p -- touch made", &steps);
    assert_eq!(shown.matches("May this run?").count(), 2, "{shown}");
    assert!(!made(&world, "made"));
}

#[test]
fn a086_two_questions_at_one_terminal_take_turns_whoever_owns_it() {
    as_both(|world| {
        let world = world.user_policy(ASKS);
        for door in ["open", "closed"] {
            let text = "p -- touch one & sleep 0.5; p -- touch two; wait";
            // A key that is meant for the first answers the first.
            let steps = ["see [n] no: ", "press n", "see [n] no: ", "press n"];
            let text = text.replace("p -- touch one &", "p -- touch zero; p -- touch one &");
            let shown = shown(&world, (80, 24), door, &text, &steps);
            let questions: Vec<usize> =
                shown.match_indices("May this run?").map(|(at, _)| at).collect();
            for pair in questions.windows(2) {
                let between = &shown[pair[0]..pair[1]];
                // Whoever is next asks once the one before was answered.
                let answered = between.contains("no: no") || between.contains("Nobody answered");
                assert!(answered, "{door}: two at once: {shown}");
            }
            assert!(questions.len() >= 2, "{door}: {shown}");
        }
    });
}

/// Whoever was stopped cannot see that time goes by; the answer is late all the same.
#[test]
fn a086_a_yes_that_comes_late_is_none() {
    let world = World::new().user_policy(ASKS);
    let steps = ["see [n] no: ", "stop 4", "press y"];
    let shown = shown(&world, (80, 24), "open", "p -- touch made; sleep 1", &steps);
    assert!(shown.contains("exit 126"), "{shown}");
    assert!(!made(&world, "made"), "{shown}");
}
