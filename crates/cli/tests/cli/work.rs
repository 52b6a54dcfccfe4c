//! What developers do all day, by `palisade run` with nothing configured: cold, and warm.

use palisade_testkit::{Fact, Home, Need, Project, need};

use crate::kit::{World, as_both};

/// Runs each command twice in a project of its own, which must end well.
fn works(tools: &'static str, project: fn(Project) -> Project, commands: &[&[&str]]) {
    if need(Fact::Tools(tools)) == Need::Skip {
        return;
    }
    as_both(|world| {
        let home = Home::new().var("PATH", "/usr/local/bin:/usr/bin:/bin");
        let world = World { home, project: project(Project::new()), ..world };
        for turn in ["cold", "warm"] {
            for command in commands {
                let words: Vec<&str> = ["run"].iter().chain(*command).copied().collect();
                let ran = world.run(&words);
                assert_eq!(ran.code, Some(0), "{turn} {words:?}: {}{}", ran.stdout, ran.stderr);
                assert!(!ran.stderr.contains("warning"), "{turn} {words:?}: {}", ran.stderr);
            }
        }
    });
}

#[test]
fn make_works_with_nothing_configured() {
    let project = |it: Project| {
        it.file("main.c", "int main(void) { return 0; }\n")
            .file("Makefile", "app: main.c\n\tcc -o app main.c\nclean:\n\trm -f app\n")
    };
    works(
        "command -v make && command -v cc",
        project,
        &[&["--", "make"], &["--", "./app"], &["--", "make", "clean"]],
    );
}

#[test]
fn git_works_with_nothing_configured() {
    let signed = ["--env", "GIT_AUTHOR_NAME=Dev", "--env", "GIT_AUTHOR_EMAIL=dev@example.com"];
    let other = ["--env", "GIT_COMMITTER_NAME=Dev", "--env", "GIT_COMMITTER_EMAIL=dev@example.com"];
    let commit: Vec<&str> = signed.into_iter().chain(other).collect();
    let commit: Vec<&str> =
        commit.into_iter().chain(["--", "git", "commit", "-q", "-m", "work"]).collect();
    works(
        "command -v git",
        |it| it.file("file", "x\n").file(".gitignore", "tree*\n").file("branch.sh", BRANCH),
        &[
            &["--shell", "[ -d .git ] || git init -q"],
            &["--shell", "date +%N >> file"],
            &["--", "git", "add", "file"],
            &commit,
            &["--", "sh", "branch.sh"],
            &["--", "git", "log", "--oneline"],
        ],
    );
}

#[test]
fn npm_works_with_nothing_configured() {
    let project = |it: Project| {
        let lock = r#"{"name":"app","version":"1.0.0","lockfileVersion":3,"requires":true,"packages":
            {"":{"name":"app","version":"1.0.0","dependencies":{"dep":"file:dep"}},
            "dep":{"version":"1.0.0"},"node_modules/dep":{"resolved":"dep","link":true}}}"#;
        let app = r#"{"name":"app","version":"1.0.0","scripts":{"test":"node main.js"},
            "dependencies":{"dep":"file:dep"}}"#;
        it.file("package.json", app)
            .file("package-lock.json", lock)
            .file("dep/package.json", r#"{"name":"dep","version":"1.0.0"}"#)
            .file("dep/index.js", "module.exports = 'local'\n")
            .file("main.js", "console.log(require('dep'))\n")
    };
    let ci: &[&str] = &["--", "npm", "ci", "--no-audit", "--no-fund"];
    works("command -v npm && command -v node", project, &[ci, &["--", "npm", "test"]]);
}

#[test]
fn go_works_with_nothing_configured() {
    let project = |it: Project| {
        it.file("go.mod", "module example.com/app\n\ngo 1.19\n")
            .file("main.go", "package main\n\nfunc main() {}\n")
    };
    works("command -v go", project, &[&["--", "go", "build", "-o", "app", "."], &["--", "./app"]]);
}

#[test]
fn python_works_with_nothing_configured() {
    let project = |it: Project| {
        it.file("pyproject.toml", "[project]\nname = \"app\"\nversion = \"1\"\n")
            .file("wheel.py", WHEEL)
            .file("test_it.py", "def test_it(tmp_path):\n    (tmp_path / 'x').write_text('x')\n")
    };
    let install = "v/bin/pip install -q --no-index --disable-pip-version-check --force-reinstall \
        ./dep-1.0-py3-none-any.whl";
    works(
        "/usr/bin/python3 -c 'import ensurepip, pytest'",
        project,
        &[
            &["--", "/usr/bin/python3", "wheel.py"],
            &["--", "/usr/bin/python3", "-m", "venv", "v"],
            &["--shell", install],
            &["--", "v/bin/python", "-c", "import dep"],
            &["--", "/usr/bin/python3", "-m", "pytest", "-q", "test_it.py"],
        ],
    );
}

/// Goes to a new branch, and makes a worktree with another.
const BRANCH: &str = "set -e; n=$(git rev-list --count HEAD); git branch b$n; git switch -q b$n\n\
    git worktree add -q tree$n -b t$n; git -C tree$n status --short; git worktree list\n";

/// Makes a package, as a build would.
const WHEEL: &str = "import zipfile\n\
    z = zipfile.ZipFile('dep-1.0-py3-none-any.whl', 'w')\n\
    i = 'dep-1.0.dist-info/'\n\
    z.writestr('dep.py', '')\n\
    z.writestr(i + 'METADATA', 'Metadata-Version: 2.1\\nName: dep\\nVersion: 1.0\\n')\n\
    z.writestr(i + 'WHEEL', 'Wheel-Version: 1.0\\nRoot-Is-Purelib: true\\nTag: py3-none-any\\n')\n\
    z.writestr(i + 'RECORD', 'dep.py,,\\n' + i + 'METADATA,,\\n' + i + 'WHEEL,,\\n' + i + 'RECORD,,\\n')\n\
    z.close()\n";
