//! What another run has left for this one, or does while this one starts: the walls stand where the
//! survey saw things, or nothing runs.

use std::fs;
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::{Path, PathBuf};

use palisade_apply::cache::Store;
use palisade_apply::{CannotStart, Host, Outcome, Streams};
use palisade_plan::{Caches, Layer, build};
use palisade_testkit::{Fact, Need, Project, Turn, in_child, need};

use crate::fallback::{accepting, blocked, lacks};
use crate::{Place, all, as_both, out, pattern, permit};

#[test]
fn a_layer_that_leads_elsewhere_is_not_written() {
    as_both("surveyed::a_layer_that_leads_elsewhere_is_not_written", || {
        let project = Project::new().file("deno.json", "{}").file(".git/config", "").dir("w");
        let mut place = Place::with(project.dir(".git/hooks"));
        let state = Project::new();
        let store = Store::at(state.path("cache"));
        let held = store.take(place.project.root(), None).unwrap().unwrap();
        place.order.caches = Caches::Private { store: Some(held.folder().into()) };
        // Where there is no home of the tool, its layer is a folder like any other.
        let outcome = place.sh("l=${DENO_DIR%/*}; rm -rf $l/upper $l/work; mv $l/upper $l/x; \
             ln -sT $PWD/.git $l/upper; ln -sT $PWD/w $l/work; \
             echo kept > $DENO_DIR/kept; cat $DENO_DIR/kept");
        assert_eq!(out(&outcome), "kept\n", "{}", all(&outcome));
        let layer = held.folder().join("deno");
        let is_folder = |name: &str| layer.join(name).symlink_metadata().unwrap().is_dir();
        assert!(is_folder("upper") && is_folder("work"), "{}", all(&outcome));
        // Once there is one, the layer lies over it.
        fs::create_dir(place.home.path(".deno")).unwrap();
        let script = "mkdir -p ~/.deno/hooks; echo evil > ~/.deno/hooks/pre-commit; ls ~/.deno";
        let outcome = place.sh(script);
        assert_eq!(out(&outcome), "hooks\nkept\n", "{}", all(&outcome));
        // However the links came to be there.
        for (name, to) in [("upper", ".git"), ("work", "w")] {
            fs::rename(layer.join(name), layer.join(format!("{name}-was"))).unwrap();
            symlink(place.project.path(to), layer.join(name)).unwrap();
            let argv = ["/bin/sh", "-c", script];
            place.try_run(&argv, Streams::default()).unwrap_err();
        }
        assert!(!place.project.path(".git/hooks/pre-commit").exists());
        assert_eq!(fs::read_dir(place.project.path("w")).unwrap().count(), 0);
    });
}

/// Plans a script, then does something, then runs it.
fn run_after(place: &Place, script: &str, meanwhile: impl Fn()) -> Result<Outcome, CannotStart> {
    let mut order = place.order.clone();
    order.argv = ["/bin/sh", "-c", script].map(str::to_owned).into();
    let host = Host::probe();
    let plan = build(&permit(), &order, &host.facts(&order.questions())).unwrap();
    meanwhile();
    host.start_awaited(&plan, Streams::default())?.wait()
}

#[test]
fn a_tree_that_is_another_since_the_survey_is_not_opened() {
    as_both("surveyed::a_tree_that_is_another_since_the_survey_is_not_opened", || {
        let begun = || {
            let project = Project::new().file("w/sub/deep/x", "").file("victim/deep/x", "");
            let mut place = Place::with(project);
            let root = place.project.path("w/sub/deep");
            (place.order.root, place.order.cwd) = (root.clone(), root.clone());
            place.order.write = vec![root];
            place
        };
        let script = "echo made > made";
        let place = begun();
        run_after(&place, script, || {}).unwrap();
        assert!(place.project.path("w/sub/deep/made").exists(), "the allowed thing works");
        for is_link in [true, false] {
            let place = begun();
            let path = |name: &str| place.project.path(name);
            let ended = run_after(&place, script, || {
                fs::rename(path("w/sub"), path("w/was")).unwrap();
                if is_link {
                    symlink(path("victim"), path("w/sub")).unwrap();
                } else {
                    fs::rename(path("victim"), path("w/sub")).unwrap();
                    symlink(path("w/sub"), path("victim")).unwrap();
                }
            });
            assert!(!path("victim/deep/made").exists(), "link: {is_link}");
            assert!(ended.is_err(), "link: {is_link}");
        }
    });
}

#[test]
fn a_cover_or_a_protection_is_not_led_elsewhere() {
    as_both("surveyed::a_cover_or_a_protection_is_not_led_elsewhere", || {
        for what in ["file", "folder", "hidden", "hidden-folder"] {
            let project = Project::new().file("a/file", "old").file("a/folder/file", "old");
            let project = project.file("a/hidden", "secret").file("a/hidden-folder/x", "secret");
            let project = project.file("b/file", "").file("b/folder/file", "");
            let project = project.file("b/hidden", "").file("b/hidden-folder/x", "");
            let mut place = Place::with(project);
            let only = vec![pattern(place.project.root(), &format!("a/{what}"))];
            let is_hidden = what.starts_with("hidden");
            let list = if is_hidden { &mut place.order.hide } else { &mut place.order.protect };
            *list = only;
            let path = |name: &str| place.project.path(name);
            let script = "echo new > c/file; echo new > c/folder/file; cat c/hidden \
                c/hidden-folder/x > seen";
            let ended = run_after(&place, script, || {
                fs::rename(path("a"), path("c")).unwrap();
                symlink("b", path("a")).unwrap();
            });
            let text = |name: &str| fs::read_to_string(path(name)).unwrap_or_default();
            match what {
                "file" | "folder" => {
                    let file = if what == "file" { "c/file" } else { "c/folder/file" };
                    assert_eq!(text(file), "old", "{what}: {ended:?}");
                }
                "hidden" => assert!(!text("seen").starts_with("secret"), "{ended:?}"),
                _ => assert!(!text("seen").ends_with("secret"), "{ended:?}"),
            }
        }
    });
}

/// More names than anybody searches.
fn crowded() -> Place {
    let mut place =
        Place::with(Project::new().file(".git/config", "").dir(".git/hooks").dir("many"));
    for number in 0..20_001 {
        fs::File::create(place.project.path(format!("many/{number}"))).unwrap();
    }
    let root = place.project.root().to_owned();
    let names = ["**/.git/hooks", "**/.git/config", "**/.git/commondir", "later"];
    place.order.protect = names.map(|name| pattern(&root, name)).into();
    place
}

fn set_aside(place: &Place) {
    let outcome = place.sh("echo evil > .git/commondir; mkdir -p new/.git && echo fine");
    assert_eq!(out(&outcome), "fine\n", "{}", all(&outcome));
    assert!(!place.project.path(".git/commondir").exists(), "{}", all(&outcome));
    assert!(place.project.path(".git/commondir.set-aside").exists(), "{}", all(&outcome));
    let codes: Vec<_> = outcome.notes.iter().map(|note| note.code).collect();
    assert!(codes.contains(&"set-aside") && codes.contains(&"not-looked-over"), "{codes:?}");
    assert!(lacks(&outcome, Layer::Protect).contains("too many"), "{:?}", outcome.enforced);
}

#[test]
fn among_more_names_than_are_searched_the_own_repository_is_looked_over() {
    let name = "surveyed::among_more_names_than_are_searched_the_own_repository_is_looked_over";
    as_both(name, || set_aside(&crowded()));
}

#[test]
fn without_namespaces_among_too_many_names_the_own_repository_is_looked_over() {
    let name =
        "surveyed::without_namespaces_among_too_many_names_the_own_repository_is_looked_over";
    blocked(name, || {
        let place = accepting(crowded());
        // Landlock gives no right to make something beside what is protected.
        let outcome = place.sh("echo evil > later; echo fine");
        assert_eq!(out(&outcome), "fine\n", "{}", all(&outcome));
        let codes: Vec<_> = outcome.notes.iter().map(|note| note.code).collect();
        assert!(codes.contains(&"not-looked-over"), "{codes:?}");
        assert!(!place.project.path("later").exists(), "{}", all(&outcome));
        assert!(lacks(&outcome, Layer::Protect).contains("too much"), "{:?}", outcome.enforced);
    });
}

/// Runs the rest of a test where the project `$APP` is mounted in itself once more, as root and as an
/// ordinary user.
fn mounted_twice(name: &str) -> Turn {
    if need(Fact::Root) == Need::Skip {
        return Turn::Done;
    }
    let shell = r#"d=$(mktemp -d); export APP=$d/app
        unshare -m --propagation private sh -c '
            set -e; mount -t tmpfs none ${APP%/app}; mkdir -p $APP/.git $APP/view $APP/hidden
            echo old > $APP/.git/config; echo secret > $APP/.env; echo secret > $APP/hidden/x
            mount --bind $APP $APP/view; "$@"
            cd $APP; chown 65534:65534 .. . .git .git/config .env hidden hidden/x
            exec setpriv --reuid=65534 --regid=65534 --clear-groups "$@"' sh "$@"
        code=$?; rmdir $d; exit $code"#;
    in_child(name, shell)
}

fn twice() -> Place {
    let mut place = Place::new();
    let root = PathBuf::from(std::env::var_os("APP").unwrap());
    (place.order.root, place.order.cwd) = (root.clone(), root.clone());
    place.order.protect = [".git/config", ".bashrc"].map(|name| pattern(&root, name)).into();
    place.order.hide = [".env", "hidden"].map(|name| pattern(&root, name)).into();
    place.order.write = vec![root];
    place
}

fn is_held_twice(place: &Place) {
    let outcome = place.sh("echo evil > view/.git/config; mv view/.git view/g; \
         touch view/.bashrc/x && echo made; rmdir view/.bashrc && echo gone; \
         cat .env view/.env hidden/x view/hidden/x; echo fine; cat .git/config view/.git/config");
    assert_eq!(out(&outcome), "fine\nold\nold\n", "{}", all(&outcome));
}

#[test]
fn what_is_mounted_twice_in_a_tree_is_hidden_and_protected_twice() {
    let name = "surveyed::what_is_mounted_twice_in_a_tree_is_hidden_and_protected_twice";
    if mounted_twice(name) == Turn::Mine {
        is_held_twice(&twice());
    }
}

#[test]
fn a_folder_with_a_mark_is_a_placeholder_only_if_it_is_empty() {
    as_both("surveyed::a_folder_with_a_mark_is_a_placeholder_only_if_it_is_empty", || {
        for inside in [".git/objects/x", ".git/HEAD"] {
            let place = Place::with(Project::new().file(inside, ""));
            let first = place.sh("chmod 1755 .git");
            let mode = fs::metadata(place.project.path(".git")).unwrap().permissions().mode();
            assert_eq!(mode & 0o7777, 0o1755, "{}", all(&first));
            let outcome =
                place.sh("mkdir .git/hooks && echo made; touch .git/hooks/x && echo made");
            assert_eq!(out(&outcome), "", "{inside}: {}", all(&outcome));
            assert!(!place.project.path(".git/hooks").exists(), "{inside}: {}", all(&outcome));
        }
    });
}

#[test]
fn hidden_names_are_found_in_every_folder_that_is_searched_and_the_others_are_told() {
    let name =
        "surveyed::hidden_names_are_found_in_every_folder_that_is_searched_and_the_others_are_told";
    let project = || {
        let project = Project::new().file("src/objects/.env", "secret").file("plain", "plain\n");
        let project = project.file(".git/HEAD", "").dir(".git/refs").file(".git/objects/x", "");
        let mut place = Place::with(project);
        let root = place.project.root().to_owned();
        place.order.hide = vec![pattern(&root, "**/.env")];
        place
    };
    as_both(name, || {
        let place = project();
        let outcome = place.sh("cat src/objects/.env; cat plain");
        assert_eq!(out(&outcome), "plain\n", "{}", all(&outcome));
        assert_eq!(
            lacks(&outcome, Layer::Hide),
            "what the host replaces is hidden again once it is seen; what comes to match a hidden \
             pattern is hidden once it is seen"
        );
        fs::create_dir_all(place.project.path("node_modules/x")).unwrap();
        fs::write(place.project.path("node_modules/x/.env"), "told\n").unwrap();
        let outcome = place.sh("cat src/objects/.env; cat node_modules/x/.env");
        assert_eq!(out(&outcome), "told\n", "{}", all(&outcome));
        assert!(lacks(&outcome, Layer::Hide).contains("node_modules"), "{:?}", outcome.enforced);
    });
}

#[test]
fn pipes_of_the_host_that_can_be_written_are_told() {
    // In a folder that is as it is outside; only root can make one.
    let shared = Path::new("/var/lib/palisade-test-doors");
    if rustix::process::geteuid().is_root() {
        fs::create_dir_all(shared).unwrap();
        fs::set_permissions(shared, fs::Permissions::from_mode(0o777)).unwrap();
    } else if !shared.exists() && need(Fact::Root) == Need::Skip {
        return;
    }
    as_both("surveyed::pipes_of_the_host_that_can_be_written_are_told", || {
        use palisade_plan::seccomp::Nesting;
        use rustix::fs::{CWD, FileType, Mode, OFlags};
        let folder = tempfile::TempDir::new_in(shared).unwrap();
        fs::set_permissions(folder.path(), fs::Permissions::from_mode(0o777)).unwrap();
        let pipe = folder.path().join("pipe");
        rustix::fs::mknodat(CWD, &pipe, FileType::Fifo, Mode::from_raw_mode(0o666), 0).unwrap();
        fs::set_permissions(&pipe, fs::Permissions::from_mode(0o666)).unwrap();
        let _reader =
            rustix::fs::open(&pipe, OFlags::RDONLY | OFlags::NONBLOCK, Mode::empty()).unwrap();
        for (nesting, reached) in [(Nesting::Off, "no\n"), (Nesting::UserNamespaces, "yes\n")] {
            let mut place = Place::new();
            place.order.nesting = nesting;
            let outcome = place.python(&format!(
                "import os\n\
                 try: os.open({pipe:?}, os.O_WRONLY | os.O_NONBLOCK); print('yes')\n\
                 except OSError: print('no')\n"
            ));
            assert_eq!(out(&outcome), reached, "{}", all(&outcome));
            let told = lacks(&outcome, Layer::Files).contains("pipes");
            assert_eq!(told, reached == "yes\n", "{:?}", outcome.enforced);
        }
    });
}
