use super::{LANGUAGES, acts, shown};
use crate::command::{Act, Certainty, Concern, HOLE, Language, Run};
use crate::text::Span;

#[test]
fn acts_stand_where_their_text_stands() {
    let text = "python3 -c \"import os; os.system('ls -l'); eval(x)\"";
    let at = 12;
    let code = &text[at..text.len() - 1];
    let mut found = Vec::new();
    acts(Language::Python, code, Span::new(11, text.len()), Some(at), &mut found);
    let [Act::Run(Run::Shell(shell)), Act::Raise(Concern::Evaluates, span)] = &found[..] else {
        panic!("{found:?}")
    };
    assert_eq!(&text[shell.span.start()..shell.span.end()], "ls -l");
    assert_eq!(shell.verbatim, text.find("ls -l"));
    assert_eq!(&text[span.start()..span.end()], "eval");
}

#[test]
fn without_a_place_all_acts_stand_at_the_whole() {
    let mut found = Vec::new();
    let whole = Span::new(3, 9);
    acts(Language::Sed, "1e id", whole, None, &mut found);
    let [Act::Run(Run::Shell(shell))] = &found[..] else { panic!("{found:?}") };
    assert_eq!((shell.span, shell.verbatim), (whole, None));
}

#[test]
fn code_that_is_not_known_or_not_read_is_raised() {
    assert_eq!(shown(Language::Python, &format!("print({HOLE})")), "!Evaluates");
    assert_eq!(shown(Language::Other, "print(1)"), "!Unclear");
    assert_eq!(shown(Language::Shell, "ls"), "!Unclear");
}

#[test]
fn nesting_and_length_end_no_reader() {
    for piece in [
        "(",
        "[",
        "{",
        "f\"{",
        "`${",
        "\"#{",
        "\"@{[",
        "getattr(",
        "environ[",
        "a=",
        "x.y(",
        "<<A ",
        "\\x{",
        "require(",
        "s/",
        "Path(",
        "\"\".join([",
        "f'{",
        "|",
        "/",
        "%w[",
        "\n",
        "exec(",
        "open(",
        "lambda ",
        "import ",
    ] {
        let text = piece.repeat(8_000 / piece.len());
        for language in LANGUAGES {
            shown(language, &text);
        }
    }
}

#[test]
fn what_is_typed_with_a_hole_in_it_is_known_in_part() {
    for language in [Language::Sql, Language::Editor] {
        let mut found = Vec::new();
        let text = format!("!ls {HOLE}");
        acts(language, &text, Span::new(0, text.len()), Some(0), &mut found);
        let runs = found.iter().any(
            |act| matches!(act, Act::Run(Run::Shell(arg)) if arg.certainty == Certainty::Known),
        );
        assert!(!runs, "{language:?}: {found:?}");
    }
}

#[test]
fn a_pattern_stands_nowhere_byte_for_byte() {
    let mut found = Vec::new();
    let text = "BEGIN { print 1 > \"\u{fdd1}x\" }";
    acts(Language::Awk, text, Span::new(0, text.len()), Some(0), &mut found);
    let [Act::Write(file)] = &found[..] else { panic!("{found:?}") };
    assert_eq!((&*file.text, file.certainty, file.verbatim), ("*x", Certainty::Pattern, None));
}
