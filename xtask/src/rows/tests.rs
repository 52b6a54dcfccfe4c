use super::*;

fn row(name: &str) -> Row {
    Row { name: name.to_owned(), behaviour: format!("what {name} \\| promises, `*` and *") }
}

fn red(row: &str, test: &str) -> Red {
    Red {
        row: row.to_owned(),
        test: test.to_owned(),
        package: "p".to_owned(),
        file: "crates/p/src/lib.rs".to_owned(),
        from: "a == b".to_owned(),
        to: "a != b".to_owned(),
    }
}

#[test]
fn only_functions_with_three_digits_and_a_sentence_name_a_row() {
    #[rustfmt::skip]
    let cases = [
        ("fn a097_wildcards_match() {}",      Some("a097")),
        ("async fn e033_rename_fails() {}",   Some("e033")),
        ("// fn a097_in_a_comment() {}",      None),
        ("const A: &str = \"fn a097_x()\";",  None),
        ("fn a97_two_digits() {}",            None),
        ("fn a0970_four_digits() {}",         None),
        ("fn b097_other_letter() {}",         None),
        ("fn a097_() {}",                     None),
        ("fn a097() {}",                      None),
        ("let a097_x = 1;",                   None),
    ];
    for (text, expected) in cases {
        let found = named("f.rs", text);
        assert_eq!(found.first().map(|test| test.row.as_str()), expected, "{text}");
    }
}

#[test]
fn a_test_needs_a_row_and_a_recorded_failure() {
    let rows = [row("a001"), row("a002")];
    let cases: [(&str, &[Red], &[&str]); 6] = [
        ("fn a001_x() {}", &[red("a001", "m::a001_x")], &[]),
        ("fn a001_x() {} fn a001_y() {}", &[red("a001", "a001_y")], &["red"]),
        ("fn a001_x() {}", &[], &["red"]),
        ("fn a999_x() {}", &[], &["row"]),
        ("", &[red("a001", "m::a001_x")], &["red"]),
        ("fn a002_x() {}", &[red("a001", "m::a002_x")], &["red", "red"]),
    ];
    for (text, reds, expected) in cases {
        let found: Vec<_> =
            check(&rows, &named("f.rs", text), reds).iter().map(|finding| finding.rule).collect();
        assert_eq!(found, expected, "{text}");
    }
}

#[test]
fn a_change_must_fit_the_file_exactly_once() {
    let change = red("a001", "a001_x");
    assert_eq!(is_applicable(&change, "if a == b {}"), None);
    assert!(is_applicable(&change, "if a == b && a == b {}").is_some());
    assert!(is_applicable(&change, "if a != b {}").is_some());
    let nothing = Red { from: String::new(), ..change.clone() };
    assert!(is_applicable(&nothing, "x").is_some());
    let same = Red { to: "a == b".to_owned(), ..change };
    assert!(is_applicable(&same, "if a == b {}").is_some());
}

#[test]
fn the_document_says_each_promise_once_with_its_tests_and_changes() {
    let mut with_marks = red("a001", "m::a001_x");
    with_marks.from = "a || `b`".to_owned();
    let tests = named("f.rs", "fn a001_y() {} fn a001_x() {}");
    let rows = [row("a001"), row("a002"), row("e001")];
    let reds = [red("a001", "n::a001_x"), with_marks];
    let text = document::markdown(&rows, &ByRow::new(&tests), &reds);
    assert!(text.contains("acceptance 1/2, escapes 0/1"), "{text}");
    let (_, sections) = text.split_once("\n## ").unwrap();
    assert_eq!(
        sections,
        "a001\n\nwhat a001 | promises, `*` and \\*\n\n\
         - `a001_x` in `f.rs`\n  \
           - `crates/p/src/lib.rs`: `a == b` becomes `a != b`\n  \
           - `crates/p/src/lib.rs`: `` a || `b` `` becomes `a != b`\n\
         - `a001_y` in `f.rs`\n",
        "a row without a test has no section"
    );
}

#[test]
fn the_summary_counts_rows_and_not_tests() {
    let rows = [row("a001"), row("a002"), row("e001")];
    let tests = named("f.rs", "fn a001_x() {} fn a001_y() {}");
    assert_eq!(ByRow::new(&tests).summary(&rows), "acceptance 1/2, escapes 0/1");
}
