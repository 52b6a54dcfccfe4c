//! Code that is made to keep its reader busy.

use super::{LANGUAGES, harmless, shown};
use crate::command::Language;
use crate::shell::{MAX_ARGV, MAX_TEXT};

/// Reading ends soon, whatever the code repeats: a hang is what fails here.
#[test]
fn no_code_takes_long() {
    let units = [
        "x=",
        "a=b=",
        "p=p/",
        "(",
        "[",
        "{",
        "f(",
        "a[",
        "x=a[",
        "f(f(",
        "a.b.",
        "#{",
        "\"#{",
        "<<A ",
        "<<A\n",
        "1..",
        "\\N{",
        "\\u{",
        "#?><?",
        "print ",
        "p p ",
        "import ",
        "s/a/b/e;",
        "foo.open(",
        "os.environ[",
        "require(",
        "getattr(os,",
        "Path('a',",
        "'a'.join(",
        "'a'+",
        "lambda x:",
        "a,b=",
        "b}",
        "\\",
        "/",
        "%",
        "x='aaaa';y=x+x;",
    ];
    for unit in units {
        let body = unit.repeat(MAX_TEXT / 8 / unit.len());
        for code in [format!("x='{body}"), format!("<?php {body}")] {
            for language in LANGUAGES {
                drop(shown(language, &code));
            }
        }
    }
}

#[test]
fn a_text_that_doubles_with_every_name_is_not_held() {
    let names = (1..200).map(|at| format!("v{at}=v{}+v{};", at - 1, at - 1));
    let code = format!("v0='aaaaaaaa';{}open(v199)", names.collect::<String>());
    let told = shown(Language::Python, &code);
    assert!(told.starts_with("read ?") && told.len() < 100, "{told:.100}");
    assert_eq!(shown(Language::Python, "a='x';b=a+a;open(b)"), "read xx");
}

#[test]
fn replacements_in_replacements_are_read_once_each() {
    let code = format!("{}{}", "s{}{@{[".repeat(28), "]}}e".repeat(28));
    assert!(shown(Language::Perl, &code).contains("!Unclear"));
    harmless(Language::Perl, &["s/a/uc b/e; s{a}{@{[ 1 ]}}e"]);
}

#[test]
fn what_is_asked_too_often_is_not_understood() {
    let deep = |count: usize| format!("{}'a'{}", "str(".repeat(count), ")".repeat(count));
    assert_eq!(shown(Language::Python, &format!("open({})", deep(4))), "read a");
    let code = format!("import os\n{}", "x=os.a.b\nx.y(x.z(x.z))\n".repeat(2_000));
    let long = format!("os.{};{code}", "b.".repeat(8_000));
    assert!(!shown(Language::Python, "import os\nx=os.a.b\nx.y(x.z(x.z))\n").contains("!Unclear"));
    assert!(shown(Language::Python, &format!("y=x.{long}")).len() < MAX_TEXT);
    let calls = "print ".repeat(10_000);
    assert!(shown(Language::Awk, &format!("{{ {calls} }}")).contains("!Unclear"));
    harmless(Language::Awk, &["{ print print print }"]);
}

#[test]
fn a_function_that_is_handed_on_without_end_uses_up_no_stack() {
    for way in [".call", ".bind", ".apply"] {
        let code = format!("eval{}('x')", way.repeat(MAX_ARGV / way.len() - 8));
        assert_eq!(shown(Language::Node, &code), shown(Language::Node, "eval.call('x')"), "{way}");
        assert!(!shown(Language::Node, &code).is_empty(), "{way}");
    }
}

#[test]
fn code_that_is_too_long_is_not_read() {
    for language in LANGUAGES {
        assert!(shown(language, &" ".repeat(MAX_ARGV)).is_empty(), "{language:?}");
        assert!(!shown(language, &" ".repeat(MAX_ARGV + 1)).is_empty(), "{language:?}");
    }
}
