//! Every example of the table, and what holds for all rows at once.

use super::*;
use crate::command::{Certainty, Concern, Extent, HOLE, Language, Run};

const TABLE: &str = include_str!("../../../tools.txt");

/// Splits an example's words: quotes as in a shell, `$name` is not known.
fn words(line: &str) -> Vec<Arg<'static>> {
    let mut args: Vec<Arg<'static>> = Vec::new();
    let mut text = String::new();
    let mut quote = None;
    let mut begun = false;
    let mut certainty = Certainty::Known;
    let mut letters = line.chars().chain([' ']).peekable();
    while let Some(letter) = letters.next() {
        match (letter, quote) {
            (' ', None) => {
                if begun {
                    let mut arg = Arg::known(std::mem::take(&mut text), Span::new(0, 0));
                    arg.certainty = std::mem::replace(&mut certainty, Certainty::Known);
                    args.push(arg);
                }
                begun = false;
            }
            ('\'' | '"', None) => {
                quote = Some(letter);
                begun = true;
            }
            (_, Some(open)) if open == letter => quote = None,
            ('$', None | Some('"')) if letters.peek().is_some_and(char::is_ascii_alphabetic) => {
                while letters.next_if(char::is_ascii_alphanumeric).is_some() {}
                text.push(HOLE);
                begun = true;
                certainty = if quote.is_none() { Certainty::Many } else { Certainty::Partial };
            }
            (letter, _) => {
                text.push(letter);
                begun = true;
            }
        }
    }
    args
}

fn read_line(line: &str, knowledge: Knowledge) -> (Familiarity, Vec<Act<'static>>) {
    let args = words(line);
    let (name, args) = args.split_first().unwrap();
    let mut found = Vec::new();
    let familiarity = acts(&name.text, Span::new(0, 0), args, knowledge, &mut found);
    (familiarity, found)
}

fn joined(args: &[Arg<'_>]) -> String {
    args.iter().map(|arg| arg.text.replace(HOLE, "$")).collect::<Vec<_>>().join(" ")
}

fn language(language: Language) -> String {
    format!("{language:?}").to_lowercase()
}

fn shown(act: &Act<'_>) -> String {
    let one = |kind: &str, arg: &Arg<'_>| format!("{kind}:{}", joined(std::slice::from_ref(arg)));
    match act {
        Act::Read(arg) => one("read", arg),
        Act::Write(arg) => one("write", arg),
        Act::Delete(arg, Extent::Single) => one("delete", arg),
        Act::Delete(arg, Extent::Forced) => one("force", arg),
        Act::Delete(arg, Extent::Below) => one("below", arg),
        Act::Delete(arg, Extent::Tree) => one("tree", arg),
        Act::Enter(arg) => one("enter", arg),
        Act::Link { target, name } => format!("{} -> {}", one("link", target), name.text),
        Act::Connect(arg) => one("connect", arg),
        Act::Send(_) => "send".into(),
        Act::Mention(arg) => one("mention", arg),
        Act::Raise(concern, _) => format!("!{concern:?}"),
        Act::Run(run) => match run {
            Run::Argv(args) => format!("argv:{}", joined(args)),
            Run::Fed(args) => format!("fed:{}", joined(args)),
            Run::Shell(arg) => one("shell", arg),
            Run::ShellWords(args) => format!("words:{}", joined(args)),
            Run::Program(arg) => one("program", arg),
            Run::Code(spoken, arg) => one(&language(*spoken), arg),
            Run::Script(spoken, arg) => one(&format!("{}-file", language(*spoken)), arg),
            Run::Input(spoken, _) => format!("{}-input", language(*spoken)),
            Run::Load(arg) => one("load", arg),
            Run::Elsewhere(_) => "elsewhere".into(),
            Run::ElsewhereInput(_) => "elsewhere-input".into(),
        },
    }
}

/// Returns the examples: line number, whether something must be found, words, what is expected.
fn examples() -> impl Iterator<Item = (usize, bool, &'static str, Vec<&'static str>)> {
    TABLE.lines().enumerate().filter_map(|(at, line)| {
        let line = line.trim();
        let (expects, rest) = match line.strip_prefix("yes ") {
            Some(rest) => (true, rest),
            None => (false, line.strip_prefix("no ")?),
        };
        let (words, expected) = rest.split_once(" => ").unwrap_or((rest, ""));
        let expected = expected.split(" ; ").map(str::trim).filter(|act| !act.is_empty()).collect();
        Some((at + 1, expects, words.trim(), expected))
    })
}

#[test]
fn every_example_of_the_table_holds() {
    let mut wrong = Vec::new();
    let mut count = 0;
    for (line, expects, text, expected) in examples() {
        count += 1;
        let (familiarity, found) = read_line(text, Knowledge::Table);
        let found: Vec<String> = found.iter().map(shown).collect();
        let grave = found.iter().any(|act| {
            let kind = act.split(':').next().unwrap_or_default();
            !matches!(
                kind,
                "read"
                    | "write"
                    | "delete"
                    | "force"
                    | "below"
                    | "tree"
                    | "enter"
                    | "connect"
                    | "link"
            )
        });
        let holds = familiarity == Familiarity::Known
            && if expects {
                !expected.is_empty()
                    && expected.iter().all(|act| found.iter().any(|found| found == act))
            } else {
                !grave && (expected.is_empty() || expected == found)
            };
        if !holds {
            wrong.push(format!("tools.txt:{line}: {text}: found {found:?}"));
        }
    }
    assert!(wrong.is_empty(), "{} of {count} examples fail:\n{}", wrong.len(), wrong.join("\n"));
    assert!(count > 800, "{count} examples");
}

/// Tells whether something in `found` is run or raised.
fn is_grave(found: &[Act<'_>]) -> bool {
    let is_prompt =
        |act: &Act<'_>| matches!(act, Act::Run(Run::Input(language, _)) if language.is_prompt());
    found.iter().any(|act| matches!(act, Act::Run(_) | Act::Raise(..)) && !is_prompt(act))
}

fn check(lines: &[(&str, &str)], knowledge: Knowledge) {
    for (line, expected) in lines {
        let (_, found) = read_line(line, knowledge);
        let shown: Vec<String> = found.iter().map(shown).collect();
        match *expected {
            "" => assert!(!is_grave(&found), "{line}: {shown:?}"),
            expected => assert!(shown.iter().any(|act| act == expected), "{line}: {shown:?}"),
        }
    }
}

#[test]
fn e007_options_are_read_abbreviated_bundled_and_glued_and_unknown_ones_are_a_doubt() {
    #[rustfmt::skip]
    check(&[
        ("git clone --upload-p=id host:x",        "shell:id"),
        ("git fetch --upload-pac id host:x",      "shell:id"),
        ("ssh -oProxyCommand=id host",            "shell:id"),
        ("ssh -vNoProxyCommand=id host",          "shell:id"),
        ("tar -xvfa.tar --to-com=id",             "shell:id"),
        ("tar cfI a.tar id x",                    "shell:id"),
        ("sort --compress-pr=id x",               "program:id"),
        ("bash -exc id",                          "shell:id"),
        ("tar xf a.tar --brand-new=x",            "!Unclear"),
        ("tar xf a.tar $options",                 "!Unclear"),
        ("tar xf a.tar -- $names",                ""),
        ("git clone host:x",                      ""),
        ("tar -xvf a.tar --strip-comp=1",         ""),
    ], Knowledge::Table);
}

#[test]
fn e010_what_a_launcher_launches_is_found() {
    #[rustfmt::skip]
    check(&[
        ("env -i A=1 rm -rf x",               "argv:rm -rf x"),
        ("timeout -s KILL 5 rm -rf x",        "argv:rm -rf x"),
        ("xargs -0 -n1 sh -c 'rm $0'",        "fed:sh -c rm $0"),
        ("find . -name x -exec rm -rf {} ;",  "fed:rm -rf {}"),
        ("script -qec 'rm -rf x' log",        "shell:rm -rf x"),
        ("busybox rm -rf x",                  "argv:rm -rf x"),
        ("sh -lc 'rm -rf x'",                 "shell:rm -rf x"),
        ("eval rm -rf x",                     "words:rm -rf x"),
        ("sudo -u bob -- rm -rf x",           "argv:rm -rf x"),
        ("nice -n 5 nohup rm x",              "argv:nohup rm x"),
        ("fd . -xrm",                         "fed:rm"),
        ("fd --exec=rm x",                    "fed:rm x"),
        ("parallel 'rm {}' ::: x",            "words:rm x"),
        ("parallel ::: 'rm x'",               "shell:rm x"),
        ("podman unshare rm x",               "argv:rm x"),
        ("env A=1",                           ""),
        ("find . -name rm",                   ""),
    ], Knowledge::Table);
}

#[test]
fn e016_options_that_run_something_are_found_and_their_harmless_neighbours_pass() {
    #[rustfmt::skip]
    check(&[
        ("tar cf x y --checkpoint=1 --checkpoint-action=exec=id", "shell:id"),
        ("tar cf x y --checkpoint=1 --checkpoint-action=dot",     ""),
        ("rg --pre ./x a",                    "program:./x"),
        ("rg --pretty a",                     ""),
        ("fd x -x id",                        "fed:id"),
        ("man -P id ls",                      "shell:id"),
        ("vim -c ':!id'",                     "shell:id"),
        ("vim -c 'wq!' f",                    ""),
        ("git -c core.pager=id log",          "shell:id"),
        ("git -c core.quotepath=off log",     ""),
        ("git --exec-path=. log",             "!Spawns"),
        ("git clone ext::id x",               "shell:id"),
        ("rsync -e id a host:b",              "shell:id"),
        ("zip x y -T --unzip-command id",     "shell:id"),
        ("go test -exec id ./...",            "program:id"),
        ("tcpdump -z id -w x",                "program:id"),
        ("make SHELL=/tmp/x",                 "program:/tmp/x"),
        ("make CC=clang",                     ""),
        ("watch id",                          "words:id"),
    ], Knowledge::Table);
}

#[test]
fn e017_tools_that_read_are_caught_when_an_option_writes() {
    #[rustfmt::skip]
    check(&[
        ("git diff --output=/etc/x",    "write:/etc/x"),
        ("git show --output /etc/x",    "write:/etc/x"),
        ("sort -o /etc/x a",            "write:/etc/x"),
        ("sort -uo/etc/x a",            "write:/etc/x"),
        ("uniq a /etc/x",               "write:/etc/x"),
        ("tree -o /etc/x",              "write:/etc/x"),
        ("curl -so /etc/x example.com", "write:/etc/x"),
        ("jq -f /etc/x a",              "read:/etc/x"),
        ("sed -i s/a/b/ /etc/x",        "write:/etc/x"),
        ("date -f /etc/x",              "read:/etc/x"),
        ("cp evil/config .git/",        "write:.git/config"),
        ("git -C /srv reset",           "write:."),
        ("make -C /srv",                "write:/srv"),
        ("ln -s /etc/x y",              "link:/etc/x -> y"),
    ], Knowledge::Table);
    for line in ["git diff HEAD", "sort a", "uniq a", "tree src", "curl example.com", "date +%F"] {
        let (_, found) = read_line(line, Knowledge::Table);
        assert!(!found.iter().any(|act| matches!(act, Act::Write(_))), "{line}: {found:?}");
    }
}

#[test]
fn e019_the_loader_is_a_launcher() {
    #[rustfmt::skip]
    check(&[
        ("ld-linux-x86-64.so.2 /bin/rm x",           "argv:/bin/rm x"),
        ("ld-musl-aarch64.so.1 /bin/rm x",           "argv:/bin/rm x"),
        ("ld-linux.so.2 --preload ./x.so /bin/ls",   "load:./x.so"),
        ("ld-linux.so.2 --list /bin/ls",             ""),
    ], Knowledge::Table);
}

#[test]
fn e021_one_program_with_many_names_is_judged_by_the_name_it_is_called_for() {
    #[rustfmt::skip]
    check(&[
        ("busybox rm -r x", "argv:rm -r x"),
        ("toybox sh",       "argv:sh"),
        ("busybox ls",      "argv:ls"),
        ("busybox --list",  ""),
    ], Knowledge::Table);
}

#[test]
fn e023_guards_are_not_called_by_what_they_guard() {
    #[rustfmt::skip]
    check(&[
        ("fence --settings loose.json ls",         "!Guard"),
        ("nono --allow / ls",                      "!Guard"),
        ("srt -s x ls",                            "!Guard"),
        ("codex -c sandbox_mode=off exec x",       "!Guard"),
        ("palisade run --policy x -- ls",          "!Guard"),
        ("codex --version",                        ""),
        ("srt --version",                          ""),
    ], Knowledge::Table);
}

#[test]
fn a_tool_without_a_row_is_read_by_the_shape_of_its_words() {
    #[rustfmt::skip]
    check(&[
        ("newtool /bin/sh -p",                 "argv:/bin/sh -p"),
        ("newtool -n 3 -- sh -c id",           "argv:sh -c id"),
        ("newtool rbash -c id",                "argv:rbash -c id"),
        ("newtool pwsh -c id",                 "argv:pwsh -c id"),
        ("newtool --exec=rbash",               "!Spawns"),
        ("newtool --exec=list",                ""),
        ("newtool posh-theme x",               ""),
        ("newtool --exec='/bin/sh -s'",        "!Spawns"),
        ("newtool --pager 'id; id'",           "!Spawns"),
        ("newtool -x 'system(\"id\")'",        "!Spawns"),
        ("newtool exec:/bin/sh,pty",           "!Spawns"),
        ("newtool '!sh'",                      "!Spawns"),
        ("newtool --engine ./x.so",            "load:./x.so"),
        ("newtool --output=/etc/x",            "write:/etc/x"),
        ("newtool -o /etc/x",                  "write:/etc/x"),
        ("newtool https://example.com",        "connect:https://example.com"),
        ("newtool build --release",            ""),
        ("newtool install node python",        ""),
        ("newtool --command list",             ""),
    ], Knowledge::Shape);
    let (familiarity, _) = read_line("newtool x", Knowledge::Table);
    assert_eq!(familiarity, Familiarity::Unknown);
}

#[test]
fn rows_left_out_are_read_by_shape() {
    let (familiarity, found) = read_line("choom -n 0 /bin/sh", Knowledge::Shape);
    assert_eq!(familiarity, Familiarity::Unknown);
    assert_eq!(found.iter().map(shown).collect::<Vec<_>>(), ["argv:/bin/sh"]);
}

#[test]
fn the_list_of_shells_has_every_shell_of_the_table() {
    use crate::command::SHELLS;
    assert!(SHELLS.is_sorted());
    let shells = TABLE.split("\n\n").find(|row| row.starts_with("bash ")).unwrap();
    for name in shells.lines().next().unwrap().split(' ') {
        // `--lang es` is no shell.
        let listed = name::spellings(name).any(|name| SHELLS.contains(&name));
        assert_eq!(listed, name != "es", "{name}");
    }
    for name in SHELLS {
        assert!(table::grammar(name).is_some(), "{name}");
    }
}

#[test]
fn the_table_holds_several_hundred_tools() {
    let names = TABLE.lines().filter(|line| {
        !line.starts_with([' ', '#']) && !line.starts_with("set ") && !line.is_empty()
    });
    let count = names.flat_map(str::split_whitespace).count();
    assert!(count > 1000, "{count} names");
}

proptest::proptest! {
    /// Whatever the words are: an answer, never a panic.
    #[test]
    fn no_words_make_reading_fail(
        tool in proptest::sample::select(TABLE_NAMES.as_slice()),
        args in proptest::collection::vec(
            "(-|--|\\+|)[a-zA-Z@:=/!.,é\u{FDD0} -]{0,12}(=[a-z/=:!@é]{0,6})?", 0..6),
        many in proptest::prelude::any::<bool>(),
    ) {
        let args: Vec<Arg<'static>> = args
            .into_iter()
            .map(|text| {
                let mut arg = Arg::known(text, Span::new(0, 0));
                if arg.text.contains(HOLE) {
                    arg.certainty = if many { Certainty::Many } else { Certainty::Partial };
                }
                arg
            })
            .collect();
        let mut found = Vec::new();
        acts(tool, Span::new(0, 0), &args, Knowledge::Table, &mut found);
        acts(tool, Span::new(0, 0), &args, Knowledge::Shape, &mut found);
    }
}

static TABLE_NAMES: std::sync::LazyLock<Vec<&'static str>> = std::sync::LazyLock::new(|| {
    TABLE
        .lines()
        .filter(|line| !line.starts_with([' ', '#']) && !line.starts_with("set "))
        .filter_map(|line| line.split_whitespace().next())
        .collect()
});

#[test]
fn no_number_of_words_or_addresses_uses_up_the_stack() {
    let mut words = vec![Arg::known("run", Span::default())];
    words.resize(100_001, Arg::known("1", Span::default()));
    words.push(Arg::known("ls", Span::default()));
    let mut found = Vec::new();
    acts("poetry", Span::default(), &words, Knowledge::Table, &mut found);
    let last = found.last().map(shown);
    assert_eq!(last.as_deref(), Some("argv:ls"));
    for address in ["exec:a!!", "a!!", "!!", "tcp:h:1!!"] {
        let text = format!("{}exec:sh", address.repeat(100_000));
        let words = [Arg::known("-", Span::default()), Arg::known(text, Span::default())];
        let mut found = Vec::new();
        acts("socat", Span::default(), &words, Knowledge::Table, &mut found);
        assert!(found.len() < 100);
        let is_doubt = |act: &Act<'_>| matches!(act, Act::Raise(Concern::Unclear, _));
        assert!(found.iter().any(is_doubt), "{address}");
    }
}
