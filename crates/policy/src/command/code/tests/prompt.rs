use super::check;
use crate::command::Language::{Editor, Patch, Sql};

#[test]
fn lines_for_a_prompt_say_what_they_do_one_by_one() {
    check(
        Sql,
        &[
            ("select 1;\n.shell id\nselect 2;", "shell id"),
            ("\\! id\n\\! ls", "shell  id; shell  ls"),
            ("!id", "shell id"),
            (".output /etc/x", "write /etc/x"),
            ("select 1 from t where a = '!';", ""),
        ],
    );
    check(
        Editor,
        &[
            ("%s/a != b/c/g\nw", ""),
            ("w! /etc/x\nq", "write /etc/x"),
            ("!id\nw /etc/x", "shell id; write /etc/x"),
            ("g/x/w >> /etc/x", "write /etc/x"),
            ("r!id", "shell id"),
        ],
    );
    check(
        Patch,
        &[
            ("*** Begin Patch\n*** Add File: /etc/x\n+a\n*** End Patch", "write /etc/x"),
            ("not a patch", "!Unclear"),
        ],
    );
}

#[test]
fn lines_without_end_are_read_in_a_moment() {
    let mut acts = Vec::new();
    for text in ["g//".repeat(20_000), "!a\n".repeat(20_000), "w x|".repeat(15_000)] {
        for language in [Editor, Sql, Patch] {
            let span = crate::text::Span::new(0, text.len());
            let mut found = Vec::new();
            super::acts(language, &text, span, Some(0), &mut found);
            acts.push(found.len());
        }
    }
    assert_eq!(acts.len(), 9);
}
