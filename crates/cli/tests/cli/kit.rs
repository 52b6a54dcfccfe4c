//! Runs the built binary in a project and a home that were made for one test.

use std::fs;
use std::io::{self, Write as _};
use std::os::unix::fs::{PermissionsExt as _, lchown};
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::sync::OnceLock;

use palisade_testkit::{Home, Project};
use serde_json::Value as Json;

/// A project, a person, and nothing of the developer's own.
pub(crate) struct World {
    pub(crate) home: Home,
    pub(crate) project: Project,
    pub(crate) person: Person,
}

/// Who runs the binary.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Person {
    /// Whoever runs the tests.
    Ours,
    /// An ordinary user, who owns the project and the home.
    Nobody,
}

/// The uid and gid of an ordinary user, who owns nothing else.
pub(crate) const NOBODY: u32 = 65534;

/// Tells a body of what whoever runs the tests sees and, if that is root, of what an ordinary user
/// does.
pub(crate) fn as_both(body: impl Fn(World)) {
    body(World::new());
    if rustix::process::geteuid().is_root() {
        body(World { person: Person::Nobody, ..World::new() });
    }
}

/// What a run of the binary left behind; paths of the test read as `/home/dev` and
/// `/home/dev/app`.
pub(crate) struct Ran {
    pub(crate) code: Option<i32>,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

impl World {
    pub(crate) fn new() -> Self {
        Self::of(Project::new().file("Cargo.toml", "[package]\n"))
    }

    pub(crate) fn of(project: Project) -> Self {
        Self { home: Home::new(), project, person: Person::Ours }
    }

    /// Makes a project whose own policy is `text`.
    pub(crate) fn with_policy(text: &str) -> Self {
        let world = Self::new();
        world.write(".palisade/policy.yaml", text);
        world
    }

    /// Gives the user a policy.
    pub(crate) fn user_policy(self, text: &str) -> Self {
        Self { home: self.home.file(".config/palisade/policy.yaml", text), ..self }
    }

    /// Writes a file of the project.
    pub(crate) fn write(&self, path: &str, text: impl AsRef<[u8]>) {
        let path = self.project.path(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    /// Prepares a program in the project, with the person's environment.
    pub(crate) fn command(&self, program: &str) -> Command {
        let mut command = Command::new(program);
        if self.person == Person::Nobody {
            // The folder of the binary is often one that only root may enter.
            static COPY: OnceLock<(Project, PathBuf)> = OnceLock::new();
            let (_, copy) = COPY.get_or_init(|| {
                let folder = Project::new().file("palisade", fs::read(PALISADE).unwrap());
                let copy = folder.path("palisade");
                for path in [folder.root(), &copy] {
                    fs::set_permissions(path, fs::Permissions::from_mode(0o755)).unwrap();
                }
                (folder, copy)
            });
            if program == PALISADE {
                command = Command::new(copy);
            }
            [self.home.root(), self.project.root()].into_iter().for_each(give_away);
            command.uid(NOBODY).gid(NOBODY);
        }
        command.env_clear().envs(self.home.env()).current_dir(self.project.root());
        command.stdin(Stdio::null());
        command
    }

    /// Runs `palisade` with `arguments`.
    pub(crate) fn run(&self, arguments: &[&str]) -> Ran {
        self.finish(self.command(PALISADE).args(arguments))
    }

    /// Runs `palisade` in a folder of the project.
    pub(crate) fn run_in(&self, folder: &str, arguments: &[&str]) -> Ran {
        let mut command = self.command(PALISADE);
        self.finish(command.args(arguments).current_dir(self.project.path(folder)))
    }

    /// Runs `palisade` with no more than 64 MiB of address space, which bounds its memory.
    pub(crate) fn run_in_64_mib(&self, arguments: &[&str]) -> Ran {
        let mut command = self.command("/bin/sh");
        command.args(["-c", r#"ulimit -v 65536; exec "$@""#, "sh", PALISADE]);
        self.finish(command.args(arguments))
    }

    /// Runs `palisade` and hands it `input`.
    pub(crate) fn run_with_input(&self, input: &[u8], arguments: &[&str]) -> Ran {
        let mut command = self.command(PALISADE);
        command.args(arguments).stdin(Stdio::piped());
        command.stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().unwrap();
        // It may have read enough before we have written everything.
        child.stdin.take().unwrap().write_all(input).ok();
        self.ran(&child.wait_with_output().unwrap())
    }

    /// Runs `palisade` and reads what it prints as JSON.
    pub(crate) fn json(&self, arguments: &[&str]) -> Json {
        let ran = self.run(arguments);
        serde_json::from_str(&ran.stdout).unwrap_or_else(|_| panic!("{}{}", ran.stdout, ran.stderr))
    }

    /// Runs a command to its end.
    pub(crate) fn finish(&self, command: &mut Command) -> Ran {
        self.ran(&command.output().unwrap())
    }

    fn ran(&self, output: &Output) -> Ran {
        let text = |bytes: &[u8]| {
            let place = |path: &Path| path.to_str().unwrap().to_owned();
            String::from_utf8_lossy(bytes)
                .replace(&place(self.project.root()), "/home/dev/app")
                .replace(&place(self.home.root()), "/home/dev")
        };
        Ran {
            code: output.status.code(),
            stdout: text(&output.stdout),
            stderr: text(&output.stderr),
        }
    }
}

/// Gives a folder and everything in it to the ordinary user. What goes meanwhile, as the placeholders
/// of a run that ends, is gone.
fn give_away(folder: &Path) {
    let is_gone = |error: &io::Error| error.kind() == io::ErrorKind::NotFound;
    let give = |path: &Path| match lchown(path, Some(NOBODY), Some(NOBODY)) {
        Err(error) if !is_gone(&error) => panic!("{}: {error}", path.display()),
        Ok(()) | Err(_) => {}
    };
    give(folder);
    let entries = match fs::read_dir(folder) {
        Err(error) if is_gone(&error) => return,
        entries => entries.unwrap(),
    };
    for entry in entries.flatten() {
        let path = entry.path();
        match entry.file_type() {
            Ok(kind) if kind.is_dir() => give_away(&path),
            Ok(_) | Err(_) => give(&path),
        }
    }
}

pub(crate) const PALISADE: &str = env!("CARGO_BIN_EXE_palisade");
