//! Rows 33 to 36.

use super::*;

fn call<'c>(turn: u64, tool: &'c str, argv: &'c [String], payload: &'c str) -> ToolUse<'c> {
    ToolUse { turn, tool, argv, payload }
}

fn argv(words: &[&str]) -> Vec<String> {
    words.iter().map(|word| (*word).to_owned()).collect()
}

fn seen(observations: &[(u64, &str, u64)]) -> Ledger {
    let mut ledger = Ledger::default();
    for (turn, tool, tokens) in observations {
        ledger.observe(Observation { turn: *turn, tool: (*tool).to_owned(), tokens: *tokens });
    }
    ledger
}

fn gates() -> Gates {
    Gates::new(["read", "shell"]).refuse("rm +-rf".parse().unwrap()).within(3).budget(80)
}

#[test]
fn a033_gates_are_asked_in_order_and_the_first_denial_is_the_only_one() {
    let dangerous = argv(&["rm", "-rf", "/"]);
    let stale = seen(&[(1, "read", 100)]);
    let order = [Gate::Whitelist, Gate::Regex, Gate::Recency, Gate::Budget];
    // Each call is wrong for every gate from the n-th on.
    let calls = [
        (call(9, "paint", &dangerous, ""), &stale, 1),
        (call(9, "shell", &dangerous, ""), &stale, 2),
        (call(9, "shell", &[], ""), &stale, 3),
        (call(1, "shell", &[], ""), &stale, 4),
    ];
    for (call, ledger, asked) in calls {
        let passages = gates().ask(&call, ledger);
        let found: Vec<Gate> = passages.all().iter().map(|passage| passage.gate).collect();
        assert_eq!(found, order[..asked], "{call:?}");
        let refused = passages.all().iter().filter(|passage| passage.refusal.is_some()).count();
        assert_eq!(refused, 1, "{call:?}");
        let denial = passages.denial().unwrap();
        assert!(denial.starts_with(&format!("[{}] ", order[asked - 1])), "{denial}");
    }
    let passages = gates().ask(&call(1, "read", &argv(&["a.txt"]), ""), &Ledger::default());
    assert_eq!((passages.all().len(), passages.denial()), (4, None));
}

#[test]
fn a034_each_gate_allows_and_denies_as_documented() {
    let none = Ledger::default();
    let denied = |gates: &Gates, call: &ToolUse<'_>, ledger: &Ledger| {
        gates.ask(call, ledger).denial().is_some()
    };
    // The list is exact.
    let tools = Gates::new(["read"]);
    for (tool, expected) in [("read", false), ("Read", true), ("read_all", true), ("", true)] {
        assert_eq!(denied(&tools, &call(1, tool, &[], ""), &none), expected, "{tool}");
    }
    assert!(denied(&Gates::default(), &call(1, "read", &[], ""), &none), "no list is no tool");
    // Patterns are searched in the words joined by blanks, a blank, and the payload.
    let patterns = Gates::new(["shell"]).refuse(r"a b c payload$".parse().unwrap());
    let words = argv(&["a", "b", "c"]);
    assert!(denied(&patterns, &call(1, "shell", &words, "payload"), &none));
    assert!(!denied(&patterns, &call(1, "shell", &words, "other"), &none));
    // A pattern that cannot be decided is a denial.
    let slow = Gates::new(["shell"]).refuse(r"(a+)+(?=b)$".parse().unwrap());
    assert!(denied(&slow, &call(1, "shell", &[], &"a".repeat(40)), &none));
    // Recency counts turns since the last observation, and lets the first call pass.
    let recent = Gates::new(["read"]).within(2);
    let ledger = seen(&[(3, "read", 1), (1, "read", 1)]);
    for (turn, expected) in [(3, false), (5, false), (6, true), (1, false)] {
        assert_eq!(denied(&recent, &call(turn, "read", &[], ""), &ledger), expected, "{turn}");
    }
    assert!(!denied(&recent, &call(99, "read", &[], ""), &none));
    // A tool may have a budget of its own.
    let own = Gates::new(["read", "list"]).budget_of("read", 20);
    let ledger = seen(&[(1, "read", 20), (2, "list", 90)]);
    assert!(denied(&own, &call(3, "read", &[], ""), &ledger));
    assert!(!denied(&own, &call(3, "list", &[], ""), &ledger));
}

#[test]
fn a035_refusals_never_enter_the_ledger_and_a_spent_budget_denies_the_next_call() {
    let answer = "x".repeat(160); // 40 tokens
    let mut ledger = Ledger::default();
    let gates = gates();
    for turn in [1, 2] {
        let ending = gates.run(&call(turn, "read", &[], ""), &mut ledger, |_| Some(answer.clone()));
        assert_eq!(ending, Ending::Ran(answer.clone()), "{turn}");
    }
    assert_eq!(ledger.total(), 80);
    let before = ledger.clone();
    let third = gates.run(&call(3, "read", &[], ""), &mut ledger, |_| Some(answer.clone()));
    assert!(matches!(&third, Ending::Refused(why) if why.starts_with("[budget] ")), "{third:?}");
    let unlisted = gates.run(&call(3, "paint", &[], ""), &mut ledger, |_| Some(answer.clone()));
    assert!(matches!(unlisted, Ending::Refused(_)));
    let missing = Gates::new(["read"]).run(&call(3, "read", &[], ""), &mut ledger, |_| None);
    assert!(matches!(&missing, Ending::Refused(why) if why.starts_with("[tool] ")), "{missing:?}");
    assert_eq!(ledger, before);
    assert_eq!(seen(&[(1, "a", 20), (2, "b", 30), (3, "a", 10)]).total(), 60);
    let lengths = [("", 0), ("a", 1), ("abcd", 1), ("abcdefgh", 2), ("äöüß", 1)];
    for (text, expected) in lengths {
        assert_eq!(tokens(text), expected, "{text}");
    }
}

#[test]
fn a036_the_runner_is_reached_only_after_every_gate() {
    let mut reached = 0;
    let mut ledger = seen(&[(1, "read", 1)]);
    let dangerous = argv(&["rm", "-rf", "/"]);
    for refused in [
        call(1, "paint", &[], ""),
        call(1, "shell", &dangerous, ""),
        call(1, "shell", &[], "rm  -rf x"),
        call(9, "read", &[], ""),
    ] {
        let ending = gates().run(&refused, &mut ledger, |_| {
            reached += 1;
            Some(String::new())
        });
        assert!(matches!(ending, Ending::Refused(_)), "{refused:?}");
    }
    assert_eq!(reached, 0);
    let ending = gates().run(&call(2, "read", &[], ""), &mut ledger, |call| {
        reached += 1;
        Some(call.tool.to_owned())
    });
    assert_eq!((ending, reached), (Ending::Ran("read".to_owned()), 1));
}
