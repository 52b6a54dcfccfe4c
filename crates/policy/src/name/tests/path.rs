//! Path patterns and the folders that lists grant.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use super::*;

fn anchors() -> Anchors {
    Anchors { root: "/proj/app".into(), home: Some("/home/dev".into()) }
}

fn pattern(text: &str) -> PathPattern {
    text.parse::<PathPattern>().unwrap().anchored(&anchors()).unwrap()
}

#[test]
fn a129_globs_follow_the_shell_and_what_cannot_be_enforced_is_an_error() {
    #[rustfmt::skip]
    let cases = [
        // pattern              path                            matches because
        ("*.pem",               "/proj/app/server.pem",         true,   "`*` is any text"),
        ("*",                   "/proj/app/.env",               true,   "`*` sees hidden names"),
        ("a*b*c",               "/proj/app/axbxbc",             true,   "several stars"),
        ("?.txt",               "/proj/app/ä.txt",              true,   "`?` is one character"),
        ("[a-c]x",              "/proj/app/bx",                 true,   "a range"),
        ("[!a-c]x",             "/proj/app/dx",                 true,   "a negated range"),
        ("[^a-c]x",             "/proj/app/dx",                 true,   "negated the other way"),
        ("[]-]",                "/proj/app/]",                  true,   "`]` first is a member"),
        ("[]-]",                "/proj/app/-",                  true,   "`-` last is a member"),
        ("**/.env",             "/proj/app/.env",               true,   "`**` may be no folder"),
        ("**/.env",             "/proj/app/a/b/.env",           true,   "`**` may be many"),
        ("a/**/b/**/c",         "/proj/app/a/b/x/b/y/c",        true,   "several `**`"),
        ("src/*",               "/proj/app/src/a/b/c",          true,   "a match is a tree"),
        (r"\*.pem",             "/proj/app/*.pem",              true,   "an escaped star is a star"),
        ("~/.ssh/**",           "/home/dev/.ssh",               true,   "`folder/**` is the folder"),
        ("*.pem",               "/proj/app/tls/server.pem",     false,  "`*` stays in its folder"),
        ("?.txt",               "/proj/app/ab.txt",             false,  "`?` is one character"),
        ("[a-c]x",              "/proj/app/dx",                 false,  "outside the range"),
        ("[!a-c]x",             "/proj/app/bx",                 false,  "inside the negated range"),
        ("a?b",                 "/proj/app/a/b",                false,  "`?` is not a `/`"),
        ("a[!x]b",              "/proj/app/a/b",                false,  "a set is not a `/`"),
        (r"\*.pem",             "/proj/app/server.pem",         false,  "an escaped star is not any text"),
        ("**/.env",             "/proj/other/.env",             false,  "outside the anchor"),
        ("**/.env",             "/proj/app/a.env",              false,  "`**` is whole folders"),
        ("a/**/b",              "/proj/app/ab",                 false,  "`**` is whole folders"),
        ("src/*",               "/proj/app/src",                false,  "the folder is above its entries"),
        ("src",                 "/proj/app/srcs",               false,  "a prefix is not a parent"),
    ];
    for (text, path, expected, because) in cases {
        assert_eq!(pattern(text).matches(Path::new(path)), expected, "{text} {path}: {because}");
    }

    #[rustfmt::skip]
    let errors = [
        ("",                "path-empty"),
        ("a\0b",            "path-control"),
        ("a\nb",            "path-control"),
        ("~root/.ssh",      "path-user"),
        ("a/[b",            "path-set"),
        ("[]",              "path-set"),
        ("[!]",             "path-set"),
        ("[a/b]",           "path-set"),
        ("[a-",             "path-set"),
        ("[[:alpha:]]",     "path-class"),
        ("[z-a]",           "path-range"),
        ("a**",             "path-stars"),
        ("**.pem",          "path-stars"),
        ("a/***/b",         "path-stars"),
        ("a\\",             "path-backslash"),
        ("a\\/b",           "path-backslash"),
        ("[a\\",            "path-backslash"),
        ("a/*/../b",        "path-climb"),
        ("a/**/..",         "path-climb"),
        ("/**",             "path-reach"),
        ("/**/.env",        "path-reach"),
        ("/*/secret",       "path-reach"),
        ("/a/../[e]tc",     "path-reach"),
        ("~/**",            "path-reach"),
        ("~/**/.env",       "path-reach"),
    ];
    for (text, code) in errors {
        assert_eq!(text.parse::<PathPattern>().unwrap_err().code(), code, "{text:?}");
        assert_eq!(text.parse::<Folder>().unwrap_err().code(), code, "{text:?}");
    }
    let long = "a/".repeat(2049);
    assert_eq!(long.parse::<PathPattern>().unwrap_err().code(), "path-length");
}

#[test]
fn patterns_are_normalised_by_text() {
    #[rustfmt::skip]
    let cases = [
        // written              printed         anchored
        ("/",                   "/",            "/"),
        ("//etc//ssh/",         "/etc/ssh",     "/etc/ssh"),
        ("/etc/./ssh/../pki",   "/etc/pki",     "/etc/pki"),
        ("/../../etc",          "/etc",         "/etc"),
        ("~",                   "~",            "/home/dev"),
        ("~/",                  "~",            "/home/dev"),
        ("~/.ssh/**/",          "~/.ssh",       "/home/dev/.ssh"),
        ("~/../other",          "~/../other",   "/home/other"),
        (".",                   ".",            "/proj/app"),
        ("**",                  ".",            "/proj/app"),
        ("./a/../b/",           "b",            "/proj/app/b"),
        ("../../../../etc",     "../../../../etc", "/etc"),
        (r"a/\../b",            "b",            "/proj/app/b"),
        (r"\~",                 r"\~",          "/proj/app/~"),
        (r"\a\b",               "ab",           "/proj/app/ab"),
        ("a/**/**/b",           "a/**/b",       "/proj/app/a/**/b"),
        ("[^a-c]*",             "[!a-c]*",      "/proj/app/[!a-c]*"),
        ("a b",                 "a b",          "/proj/app/a b"),
    ];
    for (written, printed, anchored) in cases {
        let parsed: PathPattern = written.parse().unwrap();
        assert_eq!(parsed.to_string(), printed, "{written}");
        assert_eq!(pattern(written).to_string(), anchored, "{written}");
        assert!(pattern(written).is_absolute(), "{written}");
    }
}

#[test]
fn a_pattern_needs_anchors_it_can_trust() {
    let nowhere = Anchors { root: "/".into(), home: None };
    let shallow = Anchors { root: "/app".into(), home: None };
    let relative = Anchors { root: "app".into(), home: Some("dev".into()) };
    let foreign = Anchors { root: OsStr::from_bytes(b"/\xff").into(), home: None };
    #[rustfmt::skip]
    let cases = [
        ("~/.ssh",      &nowhere,   "path-home"),
        ("../../**/x",  &shallow,   "path-reach"),
        ("../*.pem",    &shallow,   "path-reach"),
        ("x",           &relative,  "path-anchor"),
        ("~/x",         &relative,  "path-anchor"),
        ("x",           &foreign,   "path-anchor"),
    ];
    for (text, anchors, code) in cases {
        let parsed: PathPattern = text.parse().unwrap();
        assert_eq!(parsed.anchored(anchors).unwrap_err().code(), code, "{text}");
    }
    assert!("/etc".parse::<PathPattern>().unwrap().anchored(&nowhere).is_ok());
    let hooks = "**/.git/hooks".parse::<PathPattern>().unwrap().anchored(&nowhere).unwrap();
    assert!(hooks.matches(Path::new("/a/b/.git/hooks/x")), "a person made `/` the project");

    let loose: PathPattern = "src".parse().unwrap();
    assert!(!loose.is_absolute());
    assert!(!loose.matches(Path::new("src")) && !loose.matches(Path::new("/src")));
    assert!(!loose.covers(&loose), "not before it is anchored");
    assert_eq!(loose.literal(), None);
}

#[test]
fn parts_of_a_pattern_can_be_asked_for() {
    assert_eq!(pattern("src/a").literal().unwrap(), Path::new("/proj/app/src/a"));
    assert_eq!(pattern("src/*").literal(), None);
    assert_eq!(pattern("src/*/b").fixed_prefix(), Path::new("/proj/app/src"));
    assert!(pattern("src").matches(Path::new("/proj/app/x/../src/./y")), "resolved by text");
    assert!(!pattern("src").matches(Path::new("/proj/app/src/../x")), "resolved by text");
    let odd = Path::new(OsStr::from_bytes(b"/proj/app/\xff.pem"));
    assert!(pattern("*.pem").matches(odd), "a name that is not UTF-8 is no way round a rule");
}

#[test]
fn covering_is_certain() {
    #[rustfmt::skip]
    let cases = [
        // outer        inner           covers
        ("src",         "src",          true),
        ("src",         "src/a/*.rs",   true),
        ("~",           "~/.ssh",       true),
        ("/",           "src",          true),
        ("src/*",       "src/*",        true),
        ("src/*",       "src/*/x",      true),
        ("src/*",       "src/a",        true),
        ("a/**/b",      "a/**/b/c",     true),
        ("src",         "srcs",         false),
        ("src",         ".",            false),
        ("src/a",       "src/*",        false),
        ("src/*",       "src",          false),
        ("src/*",       "src/**/x",     false),
        ("src/*.rs",    "src/*",        false),
        ("src",         "src/../x",     false),
    ];
    for (outer, inner, expected) in cases {
        assert_eq!(pattern(outer).covers(&pattern(inner)), expected, "{outer} {inner}");
    }
}

#[test]
fn a_folder_has_no_wildcard() {
    let folder: Folder = "~/build/**".parse().unwrap();
    let folder = folder.anchored(&anchors()).unwrap();
    assert_eq!(folder.path(), Path::new("/home/dev/build"));
    assert!(folder.matches(Path::new("/home/dev/build/x")));
    assert!(!folder.matches(Path::new("/home/dev/builds")));
    #[rustfmt::skip]
    let cases = [
        ("src/*",       "`src/*` has a wildcard, which cannot be enforced here",    "name the folder itself, like `src`"),
        ("*",           "`*` has a wildcard, which cannot be enforced here",        "name the folder itself, like `.`"),
        ("/tmp/[ab]",   "`/tmp/[ab]` has a wildcard, which cannot be enforced here", "name the folder itself, like `/tmp`"),
        ("~/?/x",       "`~/?/x` has a wildcard, which cannot be enforced here",    "name the folder itself, like `~`"),
    ];
    for (text, problem, hint) in cases {
        let invalid = text.parse::<Folder>().unwrap_err();
        assert_eq!(invalid.code(), "wildcard-not-enforceable", "{text}");
        assert_eq!((invalid.problem(), invalid.hint()), (problem, Some(hint)), "{text}");
    }
}

#[test]
fn names_in_any_folder_are_told_from_other_patterns() {
    #[rustfmt::skip]
    let cases = [
        ("/w/**/.git/hooks", Some(("/w", ".git/hooks"))),
        ("/w/**/.bashrc",    Some(("/w", ".bashrc"))),
        ("/w/.bashrc",       None),
        ("/w/**",            None),
        ("/w/*/**/a",        None),
        ("/w/**/a*",         None),
        ("/w/**/a/**/b",     None),
        ("**/a",             None),
    ];
    for (text, expected) in cases {
        let expected = expected.map(|(above, names)| (above.into(), names.into()));
        assert_eq!(text.parse::<PathPattern>().unwrap().anywhere_below(), expected, "{text}");
    }
}

#[test]
fn the_last_component_tells_what_a_pattern_cannot_name() {
    #[rustfmt::skip]
    let cases = [
        ("/w/**/.git/hooks",     "hooks",         true),
        ("/w/**/.git/hooks",     ".git",          false),
        ("/w/**/settings*.json", "settings.json", true),
        ("/w/**/settings*.json", "settings.yaml", false),
        ("/",                    "anything",      true),
    ];
    for (pattern, name, expected) in cases {
        let pattern: PathPattern = pattern.parse().unwrap();
        assert_eq!(pattern.may_end_in(name), expected, "{pattern} {name}");
    }
}
