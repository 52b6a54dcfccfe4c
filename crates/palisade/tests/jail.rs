//! The path jail on a real disk: judged through links, and worked on without following them out.
#![expect(clippy::unwrap_used, reason = "a test that cannot be set up must stop at once")]
#![expect(clippy::disallowed_methods, reason = "a skip is printed past the harness's capture")]

use std::fs;
use std::io::{self, Write as _};
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};

use palisade::policy::jail::{Answer, Ground};
use palisade::{Request, Session};
use palisade_apply::{HostLookup, Jail};
use palisade_testkit::{Home, Project};
use serde_json::Value as Json;

/// A project in a folder of its own, so that there is something beside it.
struct World {
    project: Project,
    root: PathBuf,
}

impl World {
    fn new() -> Self {
        let project = Project::new().dir("repo/.git").file("other/secret", "outside");
        Self { root: project.path("repo"), project }
    }

    fn ground(&self, root: &Path) -> Ground {
        let home = Home::new();
        let mut request = Request::new(&self.root, home.env().clone());
        request.root = Some(self.root.clone());
        let session = Session::open(&request).unwrap();
        Ground::new(session.policy(), root.to_str().unwrap(), None, &HostLookup)
    }

    /// Returns whether `path` is inside and may be written.
    fn takes(&self, path: &str) -> bool {
        let ground = self.ground(&self.root);
        let place = ground.place(path, self.root.to_str().unwrap(), &HostLookup);
        place.inside() == Answer::Yes && place.may_write() == Answer::Yes
    }
}

#[test]
fn a018_a_real_link_out_of_the_project_is_refused_and_one_inside_works() {
    let world = World::new();
    symlink("/etc/passwd", world.root.join("out")).unwrap();
    symlink("../other", world.root.join("beside")).unwrap();
    fs::create_dir(world.root.join("src")).unwrap();
    symlink("src", world.root.join("inside")).unwrap();
    for path in ["out", "./out", "out/", "beside/secret", "inside/../out", "beside/../other/new"] {
        assert!(!world.takes(path), "{path}");
    }
    for path in ["inside", "inside/new", "src/../inside/x", "beside/../repo/x"] {
        assert!(world.takes(path), "{path}");
    }
}

#[test]
fn a023_a_real_root_behind_a_link_is_compared_by_its_real_path() {
    let world = World::new();
    let link = world.project.path("link");
    symlink(&world.root, &link).unwrap();
    let ground = world.ground(&link);
    assert_eq!(Path::new(ground.root()), world.root);
    let cwd = link.to_str().unwrap();
    assert_eq!(ground.place("file", cwd, &HostLookup).may_write(), Answer::Yes);
    assert_ne!(ground.place("../other/x", cwd, &HostLookup).inside(), Answer::Yes);
}

/// Every row of the corpus of file system states: set up, judged, and worked on.
#[test]
fn the_corpus_of_file_system_states_is_judged_right() {
    let corpus =
        concat!(env!("CARGO_MANIFEST_DIR"), "/../../../shared/corpora/fs_state_paths.jsonl");
    let Ok(text) = fs::read_to_string(corpus) else {
        writeln!(io::stderr(), "SKIPPED the corpus of file system states: there is no ../shared")
            .ok();
        return;
    };
    for line in text.lines() {
        let row: Json = serde_json::from_str(line).unwrap();
        let world = World::new();
        let mapped = |text: &str| {
            text.replace("/srv/repo", world.root.to_str().unwrap())
                .replace("/srv/other", world.project.path("other").to_str().unwrap())
        };
        let mut races = false;
        for step in row["setup"].as_array().unwrap() {
            let step = mapped(step.as_str().unwrap());
            let (verb, rest) = step.split_once(' ').unwrap();
            let (name, target) = rest.split_once(" -> ").unwrap_or((rest, ""));
            let at = world.root.join(name);
            match verb {
                "mkdir" => fs::create_dir_all(&at).unwrap(),
                "file" => {
                    fs::create_dir_all(at.parent().unwrap()).unwrap();
                    fs::write(&at, "inside").unwrap();
                }
                "symlink" => symlink(target, &at).unwrap(),
                "hardlink" => fs::hard_link(target, &at).unwrap(),
                "race:" => races = true,
                // The root behind a link has a test of its own.
                "(root" => {}
                other => assert_eq!(other, "", "an unknown step: {step}"),
            }
        }
        let path = mapped(row["path"].as_str().unwrap());
        let is_allowed = if races {
            // Judged before the swap, used after it: only the jail can tell.
            let jail = Jail::open_root(&world.root).unwrap();
            assert!(world.takes(&path));
            fs::remove_dir(world.root.join("d")).unwrap();
            symlink("/etc", world.root.join("d")).unwrap();
            jail.read(path.as_ref(), 1 << 20).is_ok()
        } else {
            world.takes(&path)
        };
        assert_eq!(is_allowed, row["expect"] == "allow", "{line}");
    }
}
