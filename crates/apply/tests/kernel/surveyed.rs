//! What another run has left for this one, or does while this one starts: the walls stand where the
//! survey saw things, or nothing runs.

use std::fs;
use std::os::unix::fs::{PermissionsExt as _, symlink};

use palisade_apply::cache::Store;
use palisade_apply::{CannotStart, Host, Outcome, Streams};
use palisade_plan::{Caches, build};
use palisade_testkit::Project;

use crate::{Place, all, as_both, out, pattern, permit};

#[test]
fn a_layer_that_leads_elsewhere_is_not_written() {
    as_both("surveyed::a_layer_that_leads_elsewhere_is_not_written", || {
        let project = Project::new().file("deno.json", "{}").file(".git/config", "").dir("w");
        let mut place = Place::with(project.dir(".git/hooks"));
        let state = Project::new();
        let store = Store::at(state.path("cache"));
        let held = store.take(place.project.root()).unwrap().unwrap();
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
