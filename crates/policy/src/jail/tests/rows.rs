//! Acceptance and escape rows.

use super::*;

#[test]
fn a016_a_path_that_climbs_or_starts_elsewhere_is_outside_project_root() {
    let ground = ground();
    #[rustfmt::skip]
    let cases = [
        // path                           leads to
        ("../../etc/passwd",              "/etc/passwd"),
        ("/etc/passwd",                   "/etc/passwd"),
        ("..",                            "/srv"),
        ("src/../../app2/x",              "/srv/app2/x"),
        ("/srv/app/../other",             "/srv/other"),
        ("/",                             "/"),
        ("../../../../../../../..",       "/"),
        ("~",                             "/home/ann"),
        ("~/notes",                       "/home/ann/notes"),
    ];
    for (path, leads) in cases {
        let place = ground.place(path, ROOT, &NoLookup);
        let Answer::No(refused) = place.inside() else { panic!("{path} is inside") };
        assert_eq!(refused.path, leads, "{path}");
        assert_eq!(refused.why.to_string(), "is outside project root", "{path}");
        assert_eq!(word(&place.may_write()), "outside-root", "{path}");
    }
}

#[test]
fn a017_a_path_that_climbs_and_returns_is_inside() {
    let ground = ground();
    let paths = [
        "src/../src/main.py",
        "./src//main.py",
        "../app/src",
        "/srv/../srv/app/src/",
        "..hidden",
        "...",
        "a/b/../../c",
        ".",
        "/srv/app",
    ];
    for path in paths {
        let place = ground.place(path, ROOT, &NoLookup);
        assert_eq!(place.inside(), Answer::Yes, "{path}");
        assert_eq!(place.may_write(), Answer::Yes, "{path}");
    }
}

#[test]
fn a018_a_link_that_leads_outside_is_refused_with_and_without_a_slash() {
    let ground = ground();
    let disk = Disk::with(&[
        ("/srv/app/out", link("/etc/passwd")),
        ("/srv/app/up", link("..")),
        ("/srv/app/sub/rel", link("../../other")),
        ("/srv/app/far", link("near")),
        ("/srv/app/near", link("/data")),
        ("/srv/app/back", link("/srv/app/src/main.py")),
        ("/srv/app/side", link("src")),
        ("/srv/app/src/main.py", Entry::File),
    ]);
    #[rustfmt::skip]
    let cases = [
        // path             inside                  leads to
        ("out",             "link-leads-outside",   "/etc/passwd"),
        ("./out",           "link-leads-outside",   "/etc/passwd"),
        ("out/",            "link-leads-outside",   "/etc/passwd"),
        ("up/secret",       "link-leads-outside",   "/srv/secret"),
        ("sub/rel/x",       "link-leads-outside",   "/srv/other/x"),
        ("far",             "link-leads-outside",   "/data"),
        ("side/../out",     "link-leads-outside",   "/etc/passwd"),
        ("far/../x",        "link-leads-outside",   "/x"),
        ("back",            "yes",                  "/srv/app/src/main.py"),
        ("side/main.py",    "yes",                  "/srv/app/src/main.py"),
        ("up/app/src",      "yes",                  "/srv/app/src"),
    ];
    for (path, inside, leads) in cases {
        let place = ground.place(path, ROOT, &disk);
        assert_eq!((word(&place.inside()), &*place.path), (inside, leads), "{path}");
    }
}

#[test]
fn a019_a_bare_name_is_looked_at_like_any_path() {
    let ground = ground();
    let disk = Disk::with(&[("/srv/app/notes", link("/home/ann/notes"))]);
    assert_eq!(word(&ground.place("notes", ROOT, &disk).inside()), "link-leads-outside");
    assert_eq!(word(&ground.place("main", ROOT, &disk).inside()), "yes");
    // The same word in another folder is another file.
    assert_eq!(word(&ground.place("notes", "/srv/app/sub", &disk).inside()), "yes");
}

#[test]
fn a020_a_sibling_whose_name_starts_like_the_root_is_outside() {
    let ground = ground();
    for path in ["/srv/app2", "/srv/app-evil/x", "../app.bak/x", "/srv/ap", "/srv/APP/x"] {
        let place = ground.place(path, ROOT, &NoLookup);
        assert_eq!(word(&place.inside()), "outside-root", "{path}");
    }
    assert_eq!(ground.place("/srv/app/2", ROOT, &NoLookup).inside(), Answer::Yes);
}

#[test]
fn a022_a_working_folder_outside_the_root_is_refused_and_so_is_what_it_holds() {
    let ground = ground();
    for cwd in ["/srv", "/srv/app2", "/srv/app/..", "/"] {
        assert_eq!(word(&ground.place(cwd, cwd, &NoLookup).inside()), "outside-root", "{cwd}");
        assert_eq!(word(&ground.place("x", cwd, &NoLookup).inside()), "outside-root", "{cwd}");
    }
    for cwd in ["/srv/app", "/srv/app/", "/srv/app/src", "/srv/app/src/.."] {
        assert_eq!(ground.place(cwd, cwd, &NoLookup).inside(), Answer::Yes, "{cwd}");
        assert_eq!(ground.place("x", cwd, &NoLookup).inside(), Answer::Yes, "{cwd}");
    }
    for cwd in ["", "src", "/srv/app/\u{FDD0}", "/srv/app\0"] {
        assert_eq!(word(&ground.place("x", cwd, &NoLookup).inside()), "cwd-unknown", "{cwd:?}");
        assert_eq!(ground.place("/srv/app/x", cwd, &NoLookup).inside(), Answer::Yes, "{cwd:?}");
    }
}

#[test]
fn a023_a_root_that_is_reached_by_a_link_is_compared_by_its_real_path() {
    let disk = Disk::with(&[
        ("/proj", link("/srv/app")),
        ("/home/ann", link("/data/ann")),
        ("/srv/app/src/main.py", Entry::File),
    ]);
    let anchors = Anchors { root: "/proj".into(), home: Some(HOME.into()) };
    let mut policy = policy();
    policy.files.write = crate::key::Grants::new(vec![said(
        &".".parse::<Folder>().unwrap().anchored(&anchors).unwrap(),
    )]);
    policy.files.protect = protecting(&["/proj/**/.git/hooks"]);
    let ground = Ground::new(&policy, "/proj", Some(HOME), &disk);
    assert_eq!(ground.root(), "/srv/app");
    #[rustfmt::skip]
    let cases = [
        // path                         cwd             write
        ("src/main.py",                 "/proj",        "yes"),
        ("src/main.py",                 "/srv/app",     "yes"),
        ("/proj/src/main.py",           "/",            "yes"),
        ("/srv/app/src/main.py",        "/",            "yes"),
        ("../app/x",                    "/proj",        "yes"),
        ("../x",                        "/proj",        "link-leads-outside"),
        ("/proj/.git/hooks/x",          "/",            "protected-path"),
        ("/srv/app/.git/hooks/x",       "/",            "protected-path"),
        ("~/.ssh/id",                   "/proj",        "hidden-path"),
        ("/data/ann/.ssh/id",           "/proj",        "hidden-path"),
    ];
    for (path, cwd, write) in cases {
        let place = ground.place(path, cwd, &disk);
        assert_eq!(word(&place.may_write()), write, "{path} in {cwd}: {place:?}");
    }
}

#[test]
fn e022_a_protected_name_in_other_letters_is_the_protected_name() {
    let mut policy = policy();
    let mut protect = policy.files.protect.entries().to_vec();
    protect.extend(patterns(&["/srv/app/Schlüssel"]));
    policy.files.protect = Refusals::new(protect);
    let ground = Ground::new(&policy, ROOT, Some(HOME), &NoLookup);
    let paths = [
        ".git/hooks/pre-commit",
        ".GIT/HOOKS/pre-commit",
        ".Git/Config",
        ".CURSOR/mcp.json",
        "sub/.cursor/MCP.json",
        ".claude/SETTINGS.local.JSON",
        // Long s, Kelvin sign, full-width letters, a joiner that some disks leave out.
        ".git/hook\u{17F}",
        ".git/hoo\u{212A}s",
        ".git/\u{FF48}ooks",
        ".g\u{200C}it/hooks",
        // One letter or a letter and its dots.
        "Schl\u{FC}ssel",
        "schlu\u{308}ssel",
    ];
    for path in paths {
        let place = ground.place(path, ROOT, &NoLookup);
        assert_eq!(word(&place.may_write()), "protected-path", "{path}");
        assert_eq!(word(&removed(&ground, path, &NoLookup).may_delete()), "protected-path");
        assert!(place.protected().is_some());
        assert_eq!(place.may_read(), Answer::Yes, "{path}");
    }
    for path in ["git/hooks", ".git/hooks2", ".git/HEAD", ".github/config", "cursor", ".gitignore"]
    {
        assert_eq!(ground.place(path, ROOT, &NoLookup).may_write(), Answer::Yes, "{path}");
    }
}

#[test]
fn e036_other_spellings_of_a_refused_path_are_refused() {
    let ground = ground();
    #[rustfmt::skip]
    let cases = [
        // path                                     leads to                    write
        ("/proc/self/root/etc/passwd",              "/etc/passwd",              "link-leads-outside"),
        ("/proc/thread-self/root/etc/passwd",       "/etc/passwd",              "link-leads-outside"),
        ("/proc/1/root/etc/passwd",                 "/etc/passwd",              "link-leads-outside"),
        ("/proc/self/task/7/root/etc/passwd",       "/etc/passwd",              "link-leads-outside"),
        ("/proc/self/cwd/../x",                     "/srv/x",                   "link-leads-outside"),
        ("/proc/self/cwd/.git/hooks/x",             "/srv/app/.git/hooks/x",    "protected-path"),
        ("/proc/self/root/srv/app/.git/config",     "/srv/app/.git/config",     "protected-path"),
        ("/proc/self/root/home/ann/.ssh/id",        "/home/ann/.ssh/id",        "hidden-path"),
        ("/proc/self/root/proc/self/root/etc/x",    "/etc/x",                   "link-leads-outside"),
        (".git//hooks/./x",                         "/srv/app/.git/hooks/x",    "protected-path"),
        (".git/x/../hooks/",                        "/srv/app/.git/hooks",      "protected-path"),
        ("//etc//passwd/",                          "/etc/passwd",              "outside-root"),
        ("/./etc/../etc/passwd",                    "/etc/passwd",              "outside-root"),
        ("/proc/17/cwd/x",                          "/proc/17/cwd/x",           "path-through-process"),
        ("/proc/17/fd/3",                           "/proc/17/fd/3",            "path-through-process"),
        ("/dev/fd/3/../x",                          "/proc/self/fd/x",          "path-through-process"),
        ("/dev/fd/3/x",                             "/proc/self/fd/3/x",        "path-through-process"),
        // What a program needs passes.
        ("/proc/self/cwd/src/x",                    "/srv/app/src/x",           "yes"),
        ("/dev/fd/2",                               "/proc/self/fd/2",          "yes"),
        ("/proc/self/fd/1",                         "/proc/self/fd/1",          "yes"),
        ("/dev/stderr",                             "/dev/stderr",              "yes"),
        ("/dev/null",                               "/dev/null",                "yes"),
    ];
    for (path, leads, write) in cases {
        let place = ground.place(path, ROOT, &NoLookup);
        assert_eq!((&*place.path, word(&place.may_write())), (leads, write), "{path}");
    }
}
