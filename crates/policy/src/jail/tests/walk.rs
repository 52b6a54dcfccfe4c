//! Following paths: links, holes, patterns, and input that nobody would write.

use super::*;
use crate::command::HOLE;
use crate::jail::{Region, Side, Standing, judge_lexically};
use crate::key::Grants;

#[test]
fn each_place_is_in_one_part_of_the_machine() {
    let mut policy = policy();
    let out = said(&"/data/out".parse::<Folder>().unwrap());
    let app = policy.files.write.entries().to_vec();
    policy.files.write = Grants::new([app, vec![out]].concat());
    let ground = Ground::new(&policy, ROOT, Some(HOME), &NoLookup);
    #[rustfmt::skip]
    let cases = [
        // path                 standing                                write             delete
        (".",                   Standing::Root,                         "yes",            "root-itself"),
        ("src",                 Standing::Inside,                       "yes",            "yes"),
        ("/data/out",           Standing::Granted,                      "yes",            "root-itself"),
        ("/data/out/x",         Standing::Granted,                      "yes",            "yes"),
        ("/data/outer",         Standing::Outside(Region::Elsewhere),   "outside-root",   "outside-root"),
        ("/data",               Standing::Outside(Region::Elsewhere),   "outside-root",   "root-itself"),
        ("/tmp/x",              Standing::Temp,                         "yes",            "yes"),
        ("/tmp",                Standing::Temp,                         "yes",            "root-itself"),
        ("/var",                Standing::Outside(Region::System),      "outside-root",   "root-itself"),
        ("/",                   Standing::Outside(Region::System),      "outside-root",   "root-itself"),
        ("/usr/bin/env",        Standing::Outside(Region::System),      "outside-root",   "outside-root"),
        ("/dev/sda",            Standing::Outside(Region::Device),      "outside-root",   "outside-root"),
        ("/dev/shm/x",          Standing::Temp,                         "yes",            "yes"),
        ("~",                   Standing::Outside(Region::Home),        "outside-root",   "root-itself"),
        ("~bob/x",              Standing::Outside(Region::Home),        "outside-root",   "outside-root"),
        ("/home",               Standing::Outside(Region::Home),        "outside-root",   "root-itself"),
        ("~+/x",                Standing::Inside,                       "yes",            "yes"),
        ("~/.ssh/id_rsa",       Standing::Outside(Region::Home),        "hidden-path",    "hidden-path"),
        ("~/.bashrc",           Standing::Outside(Region::Home),        "protected-path", "protected-path"),
        (".git",                Standing::Inside,                       "yes",            "holds-protected"),
        ("sub/.GIT",            Standing::Inside,                       "yes",            "holds-protected"),
        (".claude",             Standing::Inside,                       "yes",            "holds-protected"),
        (".git/index",          Standing::Inside,                       "yes",            "yes"),
    ];
    for (path, standing, write, delete) in cases {
        let place = ground.place(path, ROOT, &NoLookup);
        let said = (place.standing, word(&place.may_write()), word(&place.may_delete()));
        assert_eq!(said, (standing, write, delete), "{path}");
    }
}

#[test]
fn a_project_that_may_only_be_read_is_not_written() {
    let mut policy = policy();
    policy.files.write = Grants::new(vec![said(&"/srv/app/target".parse::<Folder>().unwrap())]);
    let ground = Ground::new(&policy, ROOT, None, &NoLookup);
    #[rustfmt::skip]
    let cases = [
        // path       read   write          delete
        ("src",       "yes", "read-only",   "read-only"),
        ("target/x",  "yes", "yes",         "yes"),
        ("target",    "yes", "yes",         "root-itself"),
        ("~/x",       "yes", "outside-root", "outside-root"),
    ];
    for (path, read, write, delete) in cases {
        let place = ground.place(path, ROOT, &NoLookup);
        let said = (word(&place.may_read()), word(&place.may_write()), word(&place.may_delete()));
        assert_eq!(said, (read, write, delete), "{path}");
    }
}

#[test]
fn links_are_followed_as_the_kernel_would() {
    let ground = ground();
    let disk = Disk::with(&[
        ("/srv/app/loop", link("pool")),
        ("/srv/app/pool", link("loop")),
        ("/srv/app/here", link(".")),
        ("/srv/app/git", link(".git")),
        ("/srv/app/out", link("/etc")),
        ("/srv/app/dead", link("gone/../x")),
        ("/srv/app/empty", link("")),
        ("/srv/app/shut/x", Entry::Unknown),
        ("/srv/app/twin", Entry::SharedFile),
        ("/srv/app/twins", link("twin")),
        ("/home/ann/.ssh", link("/data/keys")),
        ("/home/ann/.config", link("/data/config")),
        ("/srv/app/keys", link("/home/ann/.ssh")),
        ("/srv/app/.cursor", link("rules")),
        ("/root/x", Entry::Unknown),
    ]);
    #[rustfmt::skip]
    let cases = [
        // path                 read                write                   delete
        ("loop",                "link-loop",        "link-loop",            "yes"),
        ("loop/x",              "link-loop",        "link-loop",            "link-loop"),
        ("here/here/here/x",    "yes",              "yes",                  "yes"),
        ("git/hooks/x",         "yes",              "protected-path",       "protected-path"),
        ("out",                 "yes",              "link-leads-outside",   "yes"),
        ("out/",                "yes",              "link-leads-outside",   "link-leads-outside"),
        ("out/x",               "yes",              "link-leads-outside",   "link-leads-outside"),
        ("gone/../out/x",       "yes",              "link-leads-outside",   "link-leads-outside"),
        ("dead",                "yes",              "yes",                  "yes"),
        ("empty",               "yes",              "yes",                  "yes"),
        ("shut/x/y",            "path-unseen",      "path-unseen",          "path-unseen"),
        ("/root/x/y",           "yes",              "outside-root",         "outside-root"),
        ("twin",                "yes",              "shared",               "yes"),
        ("twins",               "yes",              "shared",               "yes"),
        ("~/.ssh/id",           "hidden-path",      "hidden-path",          "hidden-path"),
        ("~/.config/gh/x",      "hidden-path",      "hidden-path",          "hidden-path"),
        ("keys/id",             "hidden-path",      "hidden-path",          "hidden-path"),
        (".cursor/x",           "yes",              "protected-path",       "protected-path"),
        (".cursor",             "yes",              "protected-path",       "protected-path"),
    ];
    for (path, read, write, delete) in cases {
        let place = ground.place(path, ROOT, &disk);
        assert_eq!((word(&place.may_read()), word(&place.may_write())), (read, write), "{path}");
        let place = removed(&ground, path, &disk);
        assert_eq!(word(&place.may_delete()), delete, "{path}: {place:?}");
    }
}

#[test]
fn what_is_only_known_at_run_time_is_not_guessed() {
    let ground = ground();
    #[rustfmt::skip]
    let cases = [
        // path           write                     because
        ("$",             "path-unknown",           "anything"),
        ("$/x",           "path-unknown",           "anything"),
        ("build/$/x",     "path-partly-unknown",    "the hole may climb"),
        ("build$",        "path-partly-unknown",    "the hole may climb"),
        ("..$",           "path-partly-unknown",    "a name that starts with dots, or a climb"),
        ("../$",          "outside-root",           "it starts outside"),
        ("/etc/$",        "outside-root",           "it starts outside"),
        ("/$",            "outside-root",           "it starts outside"),
        ("~/$",           "outside-root",           "it starts outside"),
        ("~/.ssh/$",      "hidden-path",            "it starts in what is hidden"),
        (".git/hooks/$",  "protected-path",         "it starts in what is protected"),
        ("/tmp/$",        "path-partly-unknown",    "the hole may climb"),
        ("/srv/$",        "outside-root",           "the root is not the only thing in there"),
    ];
    for (path, write, because) in cases {
        let path = path.replace('$', &HOLE.to_string());
        let place = ground.place(&path, ROOT, &NoLookup);
        assert_eq!(word(&place.may_write()), write, "{path}: {because}");
    }
}

#[test]
fn a_pattern_stands_for_everything_it_may_match() {
    let ground = ground();
    #[rustfmt::skip]
    let cases = [
        // path             read           delete               because
        ("src/*.rs",        "yes",         "yes",               "a star stays in its folder"),
        ("*",               "yes",         "yes",               "and leaves dot names alone"),
        ("./*",             "yes",         "yes",               "the same"),
        ("../*",            "yes",         "root-itself",       "the project is one of them"),
        ("../a*/src",       "yes",         "outside-root",      "it starts outside"),
        ("/*",              "yes",         "root-itself",       "everything"),
        (".*",              "pattern-may-climb", "protected-path", "old shells match `..`"),
        ("src/.*",          "pattern-may-climb", "protected-path", "also in other folders"),
        (".??*",            "yes",         "protected-path",   "`..` is not in it, `.cursor` is"),
        (".env*",           "yes",         "yes",               "cannot be `..`"),
        (".g*",             "yes",         "protected-path",   "`.gitconfig` is one"),
        (".gi[t]",          "yes",         "holds-protected",   "`.git` is one"),
        (".git/h*",         "yes",         "protected-path",    "`hooks` is one"),
        (".GIT/h*/x",       "yes",         "protected-path",    "in any letters"),
        ("~/.s*/id_rsa",    "hidden-path", "hidden-path",       "`.ssh` is one"),
        ("~/*/id_rsa",      "yes",         "outside-root",      "`.ssh` is none"),
        ("app/[lang]/x",    "yes",         "yes",               "a set is one letter"),
        ("/tmp/*",          "yes",         "yes",               "the private folder's content"),
        ("[",               "yes",         "yes",               "no pattern at all"),
    ];
    for (path, read, delete, because) in cases {
        let place = globbed(&ground, path);
        let said = (word(&place.may_read()), word(&place.may_delete()));
        assert_eq!(said, (read, delete), "{path}: {because}");
    }
    let ground = Ground::new(&policy(), "/tmp/app", None, &NoLookup);
    assert_eq!(word(&globbed(&ground, "/tmp/*").may_delete()), "root-itself");
    assert_eq!(word(&globbed(&ground, "/tmp/b*").may_delete()), "yes");
}

#[test]
fn odd_input_is_refused_and_never_a_panic() {
    let ground = ground();
    let long = "a/".repeat(3000);
    for path in ["", "a\0b", "\0", &long] {
        assert_eq!(word(&ground.place(path, ROOT, &NoLookup).may_read()), "impossible-path");
    }
    for path in [
        "~-/x",
        "~/\u{FDD0}",
        "/",
        "//",
        "///..",
        "é/ü",
        "\u{202E}",
        "a\nb",
        "\u{FEFF}",
        "~\u{FDD0}",
    ] {
        for lookup in [&NoLookup as &dyn Lookup, &Disk::with(&[("/srv/app/é", link("ü/../é"))])]
        {
            for spelling in [Spelling::Plain, Spelling::Pattern] {
                let how = How { last: Last::Keep, spelling };
                let place = ground.place_with(path, ROOT, lookup, how);
                let answers = [place.may_read(), place.may_write(), place.may_delete()];
                assert!(answers.iter().all(|answer| !word(answer).is_empty()));
            }
        }
    }
    assert_eq!(judge_lexically("a\nb", ROOT), Side::Inside);
    assert_eq!(judge_lexically("/etc", "/"), Side::Inside);
    assert_eq!(judge_lexically("x", "relative"), Side::Outside);
}
