//! Rows 141 to 144: which folder becomes the project, and which never does.

use std::os::unix::fs::symlink;

use palisade_testkit::{Fact, Home, Need, Project, Turn, need, ordinary_user};

use super::*;

/// A user other than the one who runs the tests.
const STRANGER: u32 = 65534;

fn me() -> Caller {
    Caller { uid: rustix::process::geteuid().as_raw(), home: Some("/home/of/nobody".into()) }
}

fn living_in(home: &Path) -> Caller {
    Caller { home: Some(home.into()), ..me() }
}

fn by(name: &str) -> Found {
    Found::Marker(name.into())
}

/// What was found from `cwd` inside the project: the folder relative to it, and how.
fn found(project: &Project, cwd: &str) -> (PathBuf, Found) {
    let root = detect(&project.path(cwd), &me()).unwrap();
    (root.path.strip_prefix(project.root()).unwrap().into(), root.how)
}

#[test]
fn a141_every_marker_is_found_by_climbing_from_the_working_folder() {
    let files = [
        "pyproject.toml",
        "setup.py",
        "package.json",
        "pnpm-workspace.yaml",
        "Cargo.toml",
        "go.mod",
        "App.sln",
        ".git/HEAD",
        ".hg/requires",
        ".svn/wc.db",
        ".palisade/policy.yaml",
    ];
    for file in files {
        let name = file.split('/').next().unwrap();
        let project = Project::new().file(format!("app/{file}"), "text").dir("app/src/deep");
        for cwd in ["app", "app/src", "app/src/deep"] {
            assert_eq!(found(&project, cwd), ("app".into(), by(name)), "{file} from {cwd}");
        }
        assert_eq!(found(&project, ""), ("".into(), Found::Cwd), "{file}: not downwards");
    }
}

#[test]
fn a141_the_nearest_marker_wins() {
    let project = Project::new()
        .file(".git/HEAD", "ref: x")
        .file("packages/web/package.json", "{}")
        .dir("packages/web/src")
        .dir("docs");
    let web: PathBuf = "packages/web".into();
    assert_eq!(found(&project, "packages/web/src"), (web, by("package.json")));
    assert_eq!(found(&project, "docs"), ("".into(), by(".git")));
    assert_eq!(found(&project, "packages"), ("".into(), by(".git")));
}

#[test]
fn a141_what_only_looks_like_a_marker_is_none() {
    type Fill = fn(Project, &Project) -> Project;
    let other = Project::new().file("package.json", "{}").dir("empty");
    #[rustfmt::skip]
    let cases: [(Fill, bool, &str); 14] = [
        // in the folder                                              marks  because
        (|p, _| p.file("app/.git", "gitdir: ../.git/worktrees/app"),  true,  "a worktree"),
        (|p, _| p.file("app/.git/HEAD", ""),                          true,  "a repository"),
        (|p, o| p.symlink("app/package.json", o.path("package.json")), true, "a link to a file of ours"),
        (|p, o| p.symlink("app/.palisade", o.path("empty")),          true,  "a link to a folder of ours"),
        (|p, _| p.dir("app/.git"),                                    false, "an empty .git"),
        (|p, o| p.dir("app").symlink("app/.git", o.path("empty")),    false, "a link to an empty folder"),
        (|p, _| p.file("app/.git", "hello"),                          false, "a file that names no repository"),
        (|p, _| p.file("app/.git", ""),                               false, "an empty file"),
        (|p, _| p.symlink("app/.git", "/absent"),                     false, "a link to nothing"),
        (|p, _| p.symlink("app/package.json", "package.json"),        false, "a link to itself"),
        (|p, _| p.symlink("app/.git", "/dev/zero"),                   false, "a device"),
        (|p, _| p.dir("app/package.json"),                            false, "a folder for a file"),
        (|p, _| p.file("app/.palisade", "x"),                         false, "a file for a folder"),
        (|p, _| p.file("app/.sln", "").file("app/x.sln.bak", ""),     false, "no solution"),
    ];
    for (fill, marks, because) in cases {
        let project = fill(Project::new().file("Cargo.toml", "").dir("app/src"), &other);
        let expected = if marks { "app" } else { "" };
        assert_eq!(found(&project, "app/src").0, Path::new(expected), "{because}");
    }
}

#[test]
fn a141_a_pipe_in_place_of_git_is_not_waited_for() {
    use rustix::fs::{CWD, FileType, Mode, mknodat};
    let project = Project::new().file("Cargo.toml", "").dir("app");
    mknodat(CWD, project.path("app/.git"), FileType::Fifo, Mode::RUSR, 0).unwrap();
    assert_eq!(found(&project, "app"), ("".into(), by("Cargo.toml")));
}

#[test]
fn a141_a_marker_where_others_can_put_files_does_not_count() {
    for mode in [0o1777, 0o777, 0o1755, 0o702] {
        let project = Project::new().file("shared/.git/HEAD", "").dir("shared/mine/src");
        let project = project.mode("shared", mode);
        let root = detect(&project.path("shared/mine/src"), &me()).unwrap();
        assert_eq!(root.path, project.path("shared/mine/src"), "{mode:o}");
        assert_eq!(root.how, Found::Cwd);
        let marker = project.path("shared/.git");
        let because = Unfit::OpenFolder;
        assert_eq!(root.warnings, [RootWarning::IgnoredMarker { marker, because }]);
    }
    let group = Project::new().file("app/.git/HEAD", "").mode("app", 0o775);
    assert_eq!(found(&group, "app"), ("app".into(), by(".git")), "a group is a team");
}

#[test]
fn a141_a_marker_of_somebody_else_does_not_count() {
    if need(Fact::Root) == Need::Skip {
        return;
    }
    let base =
        || Project::new().file("top/Cargo.toml", "").file("top/app/go.mod", "").dir("top/app/src");
    assert_eq!(found(&base(), "top/app/src"), ("top/app".into(), by("go.mod")));

    let planted = base().owner("top/app/go.mod", STRANGER);
    let root = detect(&planted.path("top/app/src"), &me()).unwrap();
    assert_eq!((root.path, root.how), (planted.path("top"), by("Cargo.toml")));
    let marker = planted.path("top/app/go.mod");
    let because = Unfit::ForeignMarker;
    assert_eq!(root.warnings, [RootWarning::IgnoredMarker { marker, because }]);

    let theirs = base().owner("top/app", STRANGER);
    let root = detect(&theirs.path("top/app/src"), &me()).unwrap();
    assert_eq!((root.path, root.how), (theirs.path("top"), by("Cargo.toml")));

    let target = Project::new().file("go.mod", "").owner("go.mod", STRANGER);
    let linked = Project::new().dir("app").symlink("app/package.json", target.path("go.mod"));
    assert_eq!(found(&linked, "app"), ("app".into(), Found::Cwd), "a link to their file");
}

#[test]
fn a141_an_ordinary_user_finds_their_own_project_and_not_roots() {
    let name = "root::tests::a141_an_ordinary_user_finds_their_own_project_and_not_roots";
    if ordinary_user(name) == Turn::Done {
        return;
    }
    let project = Project::new().file("app/.git/HEAD", "").dir("app/src");
    assert_eq!(found(&project, "app/src"), ("app".into(), by(".git")));
    let somebody = Caller { uid: 0, home: None };
    let root = detect(&project.path("app/src"), &somebody).unwrap();
    assert_eq!((root.path, root.how), (project.path("app/src"), Found::Cwd));
    let marker = project.path("app/.git");
    let because = Unfit::ForeignMarker;
    assert_eq!(root.warnings, [RootWarning::IgnoredMarker { marker, because }]);
}

#[test]
fn a142_an_explicit_folder_overrides_detection() {
    let project = Project::new().file(".git/HEAD", "").dir("src/deep");
    let root = explicit(&project.path("src")).unwrap();
    assert_eq!((root.path, root.how), (project.path("src"), Found::Given));
    assert_eq!(explicit(Path::new("/")).unwrap().path, Path::new("/"), "a person said so");
}

#[test]
fn a142_an_explicit_folder_that_is_none_is_an_error() {
    let project = Project::new()
        .file("file", "")
        .symlink("lost", "nowhere")
        .symlink("to-file", "file")
        .symlink("loop", "loop");
    #[rustfmt::skip]
    let cases = [
        // folder      code
        ("absent",     "root-missing"),
        ("lost",       "root-missing"),
        ("file",       "root-not-a-folder"),
        ("to-file",    "root-not-a-folder"),
        ("file/x",     "root-unreadable"),
        ("loop",       "root-unreadable"),
        ("a\0b",       "root-unreadable"),
    ];
    for (dir, code) in cases {
        let error = explicit(&project.path(dir)).unwrap_err();
        assert_eq!(error.code(), code, "{dir}");
        assert!(error.hint().is_some());
    }
    assert!(explicit(Path::new("")).is_err(), "an empty name is no folder");
}

#[test]
fn a_folder_given_through_a_link_is_its_real_path() {
    let project = Project::new().file("real/.git/HEAD", "").dir("real/src").symlink("link", "real");
    assert_eq!(explicit(&project.path("link")).unwrap().path, project.path("real"));
    let detected = detect(&project.path("link/src"), &me()).unwrap();
    assert_eq!(detected.path, project.path("real"));
}

#[test]
fn a143_without_a_marker_the_working_folder_is_reported_as_such() {
    let project = Project::new().dir("src");
    let root = detect(&project.path("src"), &me()).unwrap();
    assert_eq!((&root.path, &root.how), (&project.path("src"), &Found::Cwd));
    assert_eq!(root.warnings, []);

    let shared = project.mode("src", 0o1777);
    let root = detect(&shared.path("src"), &me()).unwrap();
    assert_eq!(root.warnings, [RootWarning::OpenFolder { folder: shared.path("src") }]);
}

#[test]
fn a143_the_home_what_lies_above_it_and_the_top_are_refused() {
    let home = Home::new().file("ann/.git/HEAD", "").dir("ann/app").file("package.json", "{}");
    let ann = living_in(&home.path("ann"));
    let linked = home.path("link");
    symlink(home.path("ann"), &linked).unwrap();

    let app = detect(&home.path("ann/app"), &ann).unwrap();
    assert_eq!((app.path, app.how), (home.path("ann/app"), Found::Cwd), "below the home");
    let above: Vec<_> = home.root().ancestors().collect();
    for folder in [&*home.path("ann"), &linked].into_iter().chain(above) {
        let error = detect(folder, &ann).unwrap_err();
        assert_eq!(error.code(), "root-too-wide", "{folder:?}");
        assert!(error.hint().unwrap().contains("--root DIR"));
    }
    let through_link = detect(&home.path("ann"), &living_in(&linked)).unwrap_err();
    assert_eq!(through_link.code(), "root-too-wide", "the home is compared by its real path");
    let nobody = Caller { home: None, ..me() };
    assert_eq!(detect(Path::new("/"), &nobody).unwrap_err().code(), "root-too-wide");
    assert_eq!(explicit(&home.path("ann")).unwrap().how, Found::Given, "unless a person says so");
}

#[test]
fn a143_a_working_folder_that_is_gone_is_an_error() {
    let project = Project::new().file("file", "");
    assert_eq!(detect(&project.path("absent"), &me()).unwrap_err().code(), "root-missing");
    assert_eq!(detect(&project.path("file"), &me()).unwrap_err().code(), "root-not-a-folder");
}

#[test]
fn a144_sessions_have_independent_roots() {
    let one = Project::new().file("Cargo.toml", "").dir("src");
    let two = Project::new().file("go.mod", "").dir("src");
    let before = std::env::current_dir().unwrap();

    let first = detect(&one.path("src"), &me()).unwrap();
    let second = detect(&two.path("src"), &me()).unwrap();
    assert_eq!((&first.path, &second.path), (&one.root().into(), &two.root().into()));
    assert_eq!(detect(&one.path("src"), &me()).unwrap(), first, "the second changed nothing");

    // The same folder is a project for one caller and too wide for another.
    let at_home = detect(&one.path("src"), &living_in(one.root())).unwrap();
    assert_eq!((at_home.path, at_home.how), (one.path("src"), Found::Cwd));
    assert_eq!(std::env::current_dir().unwrap(), before);

    std::thread::scope(|scope| {
        let looks: Vec<_> = (0..8)
            .map(|n| if n % 2 == 0 { &one } else { &two })
            .map(|project| scope.spawn(|| (project.root(), detect(&project.path("src"), &me()))))
            .collect();
        for look in looks {
            let (expected, root) = look.join().unwrap();
            assert_eq!(root.unwrap().path, expected);
        }
    });
}

#[test]
fn warnings_say_what_was_ignored_with_nothing_hidden() {
    let marker = PathBuf::from("/tmp/a\u{1b}/.git");
    let warning = RootWarning::IgnoredMarker { marker, because: Unfit::OpenFolder };
    assert_eq!(
        warning.to_string(),
        "`/tmp/a\\u{1b}/.git` does not mark a project: others can put files into its folder"
    );
}
