//! Lists of patterns.

use super::*;

fn hidden(hide: &[&str], allow: &[&str], path: &str) -> bool {
    let mut policy = Policy::default();
    policy.files.hide = Refusals::new(patterns(hide));
    policy.files.allow_read = crate::key::Grants::new(patterns(allow));
    let ground = Ground::new(&policy, ROOT, Some(HOME), &NoLookup);
    ground.place(path, ROOT, &NoLookup).hidden().is_some()
}

#[test]
fn the_deepest_pattern_counts_and_of_two_equals_the_one_that_opens() {
    #[rustfmt::skip]
    let cases: [(&[&str], &[&str], &str, bool); 10] = [
        // hide                 allow_read              path                    hidden
        (&["/k"],               &[],                    "/k/a",                 true),
        (&["/k"],               &["/k/pub"],            "/k/pub/a",             false),
        (&["/k"],               &["/k/pub"],            "/k/priv",              true),
        (&["/k"],               &["/k"],                "/k/a",                 false),
        (&["/k/pub/x"],         &["/k/pub"],            "/k/pub/x",             true),
        (&["/k/**/secret"],     &["/k/secret/pub"],     "/k/secret/pub/secret/x", true),
        (&["/k/**/secret"],     &["/k/secret/pub"],     "/k/secret/pub/x",      false),
        (&["/k/*.pem"],         &[],                    "/k/A.PEM",             true),
        (&["/k/*/x"],           &[],                    "/k/b/x/y",             true),
        (&["/k/*/x"],           &[],                    "/k/b",                 false),
    ];
    for (hide, allow, path, expected) in cases {
        assert_eq!(hidden(hide, allow, path), expected, "{path} under {hide:?} and {allow:?}");
    }
}

#[test]
fn a_refusal_names_who_said_it() {
    let ground = ground();
    let place = ground.place(".git/hooks", ROOT, &NoLookup);
    let Answer::No(refused) = place.may_write() else { panic!("hooks may be written") };
    let origin = refused.origin.unwrap();
    assert_eq!(origin.layer, Layer::BuiltIn);
    assert!(origin.place.is_some(), "{origin}");
}

#[test]
fn the_index_agrees_with_each_pattern_asked_alone() {
    let texts = ["/srv/app/**/.git/hooks", "/srv/app/a*/b", "/srv/app/**/x/**/y", "/srv/app/*.k"];
    let paths = [
        ".git/hooks",
        "s/.git/hooks/x",
        ".git",
        "ab/b",
        "a/c",
        "x/y",
        "x/q/y/z",
        "y/x",
        "s/x/a/y",
        "m.k",
        "m.k/z",
        "s/m.k",
        "b",
        "x",
        "hooks",
        "q/hooks",
    ];
    for path in paths {
        let path = format!("{ROOT}/{path}");
        let alone =
            texts.iter().any(|text| text.parse::<PathPattern>().unwrap().matches(path.as_ref()));
        let mut policy = policy();
        policy.files.protect = protecting(&texts);
        let ground = Ground::new(&policy, ROOT, None, &NoLookup);
        let place = ground.place(&path, ROOT, &NoLookup);
        assert_eq!(place.protected().is_some(), alone, "{path}");
    }
}

#[test]
fn a_pattern_of_the_shell_is_held_against_those_that_begin_as_it_does() {
    let how = How { spelling: Spelling::Pattern, ..How::default() };
    let mut policy = Policy::default();
    policy.files.hide = Refusals::new(patterns(&["/k/x", "/k/y/*", "/m/n", "/\u{e9}t/x"]));
    let ground = Ground::new(&policy, ROOT, Some(HOME), &NoLookup);
    let cases = [
        ("/k/*", true),
        ("/K/*", true),
        ("/k*/x", true),
        ("/*/n", true),
        ("/[km]/?", true),
        ("/e\u{301}t/*", true),
        ("/\u{e9}t/*", true),
        ("/m/*", true),
        ("/k/y/*", true),
        ("/j/*", false),
        ("/l*/x", false),
        ("/j", false),
        ("/et/*", false),
        ("/m/o*", false),
    ];
    for (path, expected) in cases {
        let place = ground.place_with(path, ROOT, &NoLookup, how);
        assert_eq!(place.hidden().is_some(), expected, "{path}");
    }
}
