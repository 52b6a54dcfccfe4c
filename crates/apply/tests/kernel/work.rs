//! What developers do all day, with nothing configured: cold, and warm from the project's caches.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use palisade_apply::cache::Store;
use palisade_apply::{End, Outcome};
use palisade_plan::Caches;
use palisade_testkit::{Fact, Need, Project, Turn, need, ordinary_user};

use crate::{Place, all, as_both, out, pattern};

/// A project, and where its caches are kept.
struct Work {
    place: Place,
    state: Project,
}

impl Work {
    fn on(project: Project) -> Self {
        let mut place = Place::with(project);
        place.order.bounds.time = Some(std::time::Duration::from_secs(300));
        Self { place, state: Project::new() }
    }

    fn store(&self) -> Store {
        Store::at(self.state.path("cache"))
    }

    /// Runs a script with the project's caches.
    fn sh(&mut self, script: &str) -> Outcome {
        let held = self.store().take(self.place.project.root(), None).unwrap().unwrap();
        self.place.order.caches = Caches::Private { store: Some(held.folder().into()) };
        self.place.sh(script)
    }

    /// Runs a script twice, cold and warm, and expects the same words.
    fn twice(&mut self, script: &str, words: &str) {
        for turn in ["cold", "warm"] {
            let outcome = self.sh(&format!("set -e\n{script}"));
            assert_eq!(outcome.end, End::Exited(0), "{turn}: {}", all(&outcome));
            assert!(out(&outcome).ends_with(words), "{turn}: {}", all(&outcome));
        }
    }

    /// Returns what is in the home folder outside.
    fn home(&self) -> Vec<PathBuf> {
        let mut seen = Vec::new();
        let mut folders = vec![self.place.home.root().to_owned()];
        while let Some(folder) = folders.pop() {
            for entry in fs::read_dir(folder).unwrap().flatten() {
                if entry.file_type().unwrap().is_dir() {
                    folders.push(entry.path());
                }
                seen.push(entry.path());
            }
        }
        seen.sort();
        seen
    }
}

#[test]
fn a_link_in_the_place_of_a_layer_leads_nobody_to_what_is_hidden() {
    as_both("work::a_link_in_the_place_of_a_layer_leads_nobody_to_what_is_hidden", || {
        let project = Project::new().file("Cargo.toml", "").file("vault/key", "secret\n");
        let mut work = Work::on(project);
        let root = work.place.project.root().to_owned();
        let vault = pattern(&root, "vault");
        work.place.order.hide.push(vault);
        // There is no home of the tool yet, so that the layer is where its variable says.
        let outcome = work.sh(&format!(
            "echo made > $CARGO_HOME/made; cd $CARGO_HOME/..; mv upper other; rmdir upper; \
             ln -sT {0}/vault upper; ln -sfT {0}/vault upper; cat $CARGO_HOME/made",
            root.display()
        ));
        assert_eq!(out(&outcome), "made\n", "{}", all(&outcome));
        fs::create_dir(work.place.home.path(".cargo")).unwrap();
        let outcome = work.sh("cat ~/.cargo/key; ls ~/.cargo");
        assert_eq!(out(&outcome), "made\n", "{}", all(&outcome));
    });
}

#[test]
fn a_home_of_tools_is_written_in_a_layer_of_the_project() {
    as_both("work::a_home_of_tools_is_written_in_a_layer_of_the_project", || {
        let mut work = Work::on(Project::new().file("Cargo.toml", ""));
        let cargo = work.place.home.path(".cargo");
        fs::create_dir_all(cargo.join("bin")).unwrap();
        fs::write(cargo.join("config.toml"), "real\n").unwrap();
        fs::write(cargo.join("credentials.toml"), "secret\n").unwrap();
        let hidden = pattern(work.place.home.root(), ".cargo/credentials.toml");
        work.place.order.hide.push(hidden);
        let before = work.home();
        let outcome = work.sh(
            "cat ~/.cargo/config.toml; echo planted > ~/.cargo/bin/tool; echo own >> ~/.cargo/config.toml; \
             rm -f ~/.cargo/nothing; mkdir ~/.cargo/registry && echo x > ~/.cargo/registry/y; \
             cat ~/.cargo/credentials.toml; echo x > ~/other; ls -A ~/.cargo | tr '\\n' ' '",
        );
        assert_eq!(out(&outcome), "real\nbin config.toml registry ", "{}", all(&outcome));
        let warm = work.sh("cat ~/.cargo/config.toml ~/.cargo/bin/tool ~/.cargo/registry/y");
        assert_eq!(out(&warm), "real\nown\nplanted\nx\n", "{}", all(&warm));
        assert_eq!(work.home(), before, "nothing reaches the real one");
        assert_eq!(fs::read(cargo.join("config.toml")).unwrap(), b"real\n");
        // Another project has a layer of its own, and without a marker there is none.
        let mut other = Work::on(Project::new());
        other.place.home = std::mem::replace(&mut work.place.home, Project::new());
        other.place.order.home = Some(other.place.home.root().into());
        other
            .place
            .order
            .environment
            .push(("HOME".into(), other.place.home.root().to_str().unwrap().into()));
        other.state = std::mem::replace(&mut work.state, Project::new());
        let outcome = other.sh(&format!("cat {0}/config.toml; echo x > {0}/new", cargo.display()));
        assert!(out(&outcome).starts_with("real\n"), "{}", all(&outcome));
        assert!(all(&outcome).contains("Read-only file system"), "{}", all(&outcome));
        let shown = other.store().show().unwrap();
        assert_eq!(shown.len(), 2, "{shown:?}");
        assert!(other.store().clear(None).unwrap() > 0);
        assert_eq!(other.store().show().unwrap(), []);
    });
}

#[test]
fn make_and_git_work() {
    if need(Fact::Tools("command -v make && command -v cc")) == Need::Skip {
        return;
    }
    as_both("work::make_and_git_work", || {
        let project = Project::new()
            .file("main.c", "#include <stdio.h>\nint main(void) { puts(\"made\"); return 0; }\n")
            .file("Makefile", "app: main.c\n\tcc -o app main.c\n");
        let mut work = Work::on(project);
        work.twice("make >/dev/null; ./app", "made\n");
        let git = Command::new("git")
            .args(["init", "-q", "-b", "main"])
            .current_dir(work.place.project.root())
            .env("HOME", work.place.home.root())
            .status()
            .unwrap();
        assert!(git.success());
        let environment = &mut work.place.order.environment;
        for (name, value) in [("NAME", "Dev"), ("EMAIL", "dev@example.com")] {
            environment.push((format!("GIT_AUTHOR_{name}"), value.into()));
            environment.push((format!("GIT_COMMITTER_{name}"), value.into()));
        }
        work.twice(
            "echo >> main.c; git add main.c; git commit -q -m work; n=$(git rev-list --count HEAD); \
             git branch b$n; git worktree add -q tree$n b$n; git -C tree$n log --oneline; \
             git -C tree$n commit -q --allow-empty -m inside; git branch --list | wc -l; echo done",
            "done\n",
        );
    });
}

#[test]
fn python_works() {
    if need(Fact::Tools("/usr/bin/python3 -c 'import ensurepip, pytest'")) == Need::Skip {
        return;
    }
    as_both("work::python_works", || {
        let project = Project::new()
            .file("pyproject.toml", "[project]\nname = \"app\"\nversion = \"1\"\n")
            .file("wheel.py", WHEEL)
            .file(
                "test_it.py",
                "import os\ndef test_it(tmp_path):\n    (tmp_path / 'x').write_text('x')\n",
            );
        let mut work = Work::on(project);
        work.twice(
            "/usr/bin/python3 wheel.py; /usr/bin/python3 -m venv v; \
             v/bin/pip install -q --no-index --disable-pip-version-check --force-reinstall \
             ./dep-1.0-py3-none-any.whl; v/bin/python -c 'import dep; print(dep.word)'",
            "wheel\n",
        );
        work.twice(
            "/usr/bin/python3 -m pytest -q -p no:warnings test_it.py | tail -1 | cut -c1-8",
            "1 passed\n",
        );
    });
}

/// Makes a package, as a build would.
const WHEEL: &str = "import zipfile\n\
    z = zipfile.ZipFile('dep-1.0-py3-none-any.whl', 'w')\n\
    i = 'dep-1.0.dist-info/'\n\
    z.writestr('dep.py', 'word = \"wheel\"\\n')\n\
    z.writestr(i + 'METADATA', 'Metadata-Version: 2.1\\nName: dep\\nVersion: 1.0\\n')\n\
    z.writestr(i + 'WHEEL', 'Wheel-Version: 1.0\\nRoot-Is-Purelib: true\\nTag: py3-none-any\\n')\n\
    z.writestr(i + 'RECORD', 'dep.py,,\\n' + i + 'METADATA,,\\n' + i + 'WHEEL,,\\n' + i + 'RECORD,,\\n')\n\
    z.close()\n";

#[test]
fn npm_works() {
    if need(Fact::Tools("command -v npm && command -v node")) == Need::Skip {
        return;
    }
    as_both("work::npm_works", || {
        let lock = r#"{"name":"app","version":"1.0.0","lockfileVersion":3,"requires":true,"packages":
            {"":{"name":"app","version":"1.0.0","dependencies":{"dep":"file:dep"}},
            "dep":{"version":"1.0.0"},"node_modules/dep":{"resolved":"dep","link":true}}}"#;
        let project = Project::new()
            .file(
                "package.json",
                r#"{"name":"app","version":"1.0.0","dependencies":{"dep":"file:dep"}}"#,
            )
            .file("package-lock.json", lock)
            .file("dep/package.json", r#"{"name":"dep","version":"1.0.0"}"#)
            .file("dep/index.js", "module.exports = 'local'\n");
        let mut work = Work::on(project);
        work.twice(
            "npm ci --no-audit --no-fund >/dev/null; node -e \"console.log(require('dep'))\"",
            "local\n",
        );
    });
}

#[test]
fn go_works() {
    if need(Fact::Tools("command -v go")) == Need::Skip {
        return;
    }
    as_both("work::go_works", || {
        let project = Project::new().file("go.mod", "module example.com/app\n\ngo 1.19\n").file(
            "main.go",
            "package main\n\nimport \"fmt\"\n\nfunc main() { fmt.Println(\"gone\") }\n",
        );
        let mut work = Work::on(project);
        work.twice("go build -o app .; ./app", "gone\n");
        let cached = work.store().show().unwrap();
        assert!(cached[0].bytes > 1 << 20, "what was built is kept: {cached:?}");
        // In memory where there is no store: cold, and it works.
        work.place.order.caches = Caches::Private { store: None };
        let outcome = work.place.sh("rm app; go build -o app . && ./app");
        assert_eq!(out(&outcome), "gone\n", "{}", all(&outcome));
    });
}

/// The toolchain of whoever runs the tests, at a place that everybody can read.
const TOOLCHAIN: &str = "PALISADE_TEST_TOOLCHAIN";

#[test]
fn cargo_works() {
    let name = "work::cargo_works";
    if let Some(toolchain) = std::env::var_os(TOOLCHAIN) {
        if ordinary_user(name) == Turn::Mine {
            build(&PathBuf::from(toolchain).join("bin"), None);
        }
        return;
    }
    let (Some(cargo), Some(home)) = (std::env::var_os("CARGO"), std::env::var_os("HOME")) else {
        return;
    };
    let programs = PathBuf::from(cargo).parent().unwrap().to_owned();
    build(&programs, Some(home.into()));
    // A toolchain below a home is for its owner: others see it by a mount that they alone have.
    if rustix::process::geteuid().is_root() {
        let output = Command::new("/usr/bin/unshare")
            .args(["-m", "/bin/sh", "-c", r#"mount --bind "$0" /srv && exec "$@""#])
            .arg(programs.parent().unwrap())
            .arg(std::env::current_exe().unwrap())
            .args([name, "--exact", "--nocapture", "--test-threads=1"])
            .env(TOOLCHAIN, "/srv")
            .output()
            .unwrap();
        let said = String::from_utf8_lossy(&output.stdout);
        let errors = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success() && said.contains("1 passed"), "{said}{errors}");
    }
}

/// Builds with the programs of a folder, cold and warm, in a home that is real or has nothing in it.
fn build(programs: &Path, home: Option<PathBuf>) {
    let project = Project::new()
        .file("Cargo.toml", "[package]\nname = \"app\"\nversion = \"0.1.0\"\nedition = \"2021\"\n")
        .file("src/main.rs", "fn main() { println!(\"built\") }\n");
    let mut work = Work::on(project);
    if let Some(home) = home {
        work.place.order.home = Some(home);
    }
    let home = work.place.order.home.as_ref().and_then(|home| home.to_str()).unwrap().to_owned();
    let path = format!("{}:/usr/bin:/bin", programs.display());
    work.place.order.environment = vec![("PATH".into(), path), ("HOME".into(), home)];
    work.twice("touch src/main.rs; cargo build -q; ./target/debug/app", "built\n");
}
