//! Files that programs read by themselves, without being told, and run.

use std::rc::Rc;

use super::disk::Source;
use super::recipe;
use super::strict::versionless;
use super::walk::{Input, Walk};
use crate::command::{Arg, Language};
use crate::text::Span;

/// What is written in a file that a program reads by itself.
#[derive(Clone, Copy)]
enum Kind {
    Code(Language),
    /// Recipes of `make`, `just` and their like.
    Recipes,
    /// `package.json`.
    Scripts,
    /// Settings, or a language that is not read here.
    Other,
}

/// Programs, and the files that they read by themselves.
type Reads = (&'static [&'static str], &'static [(&'static str, Kind)]);

/// Programs, and the files that each of them reads.
const READERS: &[Reads] = &[
    (
        &["make", "gmake", "remake", "bmake", "pmake"],
        &[("GNUmakefile", Kind::Recipes), ("Makefile", Kind::Recipes), ("makefile", Kind::Recipes)],
    ),
    (&["just"], &[("justfile", Kind::Recipes), ("Justfile", Kind::Recipes)]),
    (
        &["bun", "npm", "npx", "pnpm", "yarn"],
        &[
            ("package.json", Kind::Scripts),
            (".npmrc", Kind::Other),
            (".pnpmfile.cjs", Kind::Code(Language::Node)),
            (".yarnrc", Kind::Other),
            (".yarnrc.yml", Kind::Other),
            ("bunfig.toml", Kind::Other),
        ],
    ),
    (
        &["cargo", "cross"],
        &[
            ("build.rs", Kind::Other),
            ("Cargo.toml", Kind::Other),
            (".cargo/config", Kind::Other),
            (".cargo/config.toml", Kind::Other),
        ],
    ),
    (
        &["py.test", "pytest"],
        &[
            ("conftest.py", Kind::Code(Language::Python)),
            ("tests/conftest.py", Kind::Code(Language::Python)),
            ("pytest.ini", Kind::Other),
            ("pyproject.toml", Kind::Other),
        ],
    ),
    (
        &["build", "hatch", "pdm", "pip", "poetry", "uv"],
        &[
            ("setup.py", Kind::Code(Language::Python)),
            ("pyproject.toml", Kind::Other),
            ("setup.cfg", Kind::Other),
        ],
    ),
    (&["tox"], &[("tox.ini", Kind::Other), ("setup.py", Kind::Code(Language::Python))]),
    (&["nox"], &[("noxfile.py", Kind::Code(Language::Python))]),
    (&["fab"], &[("fabfile.py", Kind::Code(Language::Python))]),
    (&["inv", "invoke"], &[("tasks.py", Kind::Code(Language::Python))]),
    (&["scons"], &[("SConstruct", Kind::Code(Language::Python))]),
    (&["waf"], &[("wscript", Kind::Code(Language::Python))]),
    (&["cmake", "ctest"], &[("CMakeLists.txt", Kind::Other), ("CMakePresets.json", Kind::Other)]),
    (&["meson"], &[("meson.build", Kind::Other)]),
    (&["ninja"], &[("build.ninja", Kind::Other)]),
    (
        &["rake"],
        &[
            ("Rakefile", Kind::Code(Language::Ruby)),
            ("rakefile", Kind::Code(Language::Ruby)),
            ("Rakefile.rb", Kind::Code(Language::Ruby)),
        ],
    ),
    (&["bundle", "bundler"], &[("Gemfile", Kind::Code(Language::Ruby))]),
    (&["vagrant"], &[("Vagrantfile", Kind::Code(Language::Ruby))]),
    (&["rspec"], &[(".rspec", Kind::Other), ("spec/spec_helper.rb", Kind::Code(Language::Ruby))]),
    (
        &["gradle"],
        &[
            ("build.gradle", Kind::Other),
            ("build.gradle.kts", Kind::Other),
            ("settings.gradle", Kind::Other),
            ("init.gradle", Kind::Other),
        ],
    ),
    (&["mvn"], &[("pom.xml", Kind::Other), (".mvn/extensions.xml", Kind::Other)]),
    (&["ant"], &[("build.xml", Kind::Other)]),
    (&["composer"], &[("composer.json", Kind::Other)]),
    (&["mix"], &[("mix.exs", Kind::Other)]),
    (&["sbt"], &[("build.sbt", Kind::Other)]),
    (&["task", "go-task"], &[("Taskfile.yml", Kind::Other), ("Taskfile.yaml", Kind::Other)]),
    (&["gulp"], &[("gulpfile.js", Kind::Code(Language::Node))]),
    (&["grunt"], &[("Gruntfile.js", Kind::Code(Language::Node))]),
    (&["jest"], &[("jest.config.js", Kind::Code(Language::Node))]),
    (&["webpack"], &[("webpack.config.js", Kind::Code(Language::Node))]),
    (&["vite", "vitest"], &[("vite.config.js", Kind::Code(Language::Node))]),
    (&["eslint"], &[(".eslintrc.js", Kind::Code(Language::Node))]),
    (&["docker-compose", "podman-compose"], &[("docker-compose.yml", Kind::Other)]),
    (&["tsc"], &[("tsconfig.json", Kind::Other)]),
    (&["pre-commit"], &[(".pre-commit-config.yaml", Kind::Other)]),
    (&["direnv"], &[(".envrc", Kind::Code(Language::Shell))]),
    (&["gdb"], &[(".gdbinit", Kind::Other)]),
    (&["ansible", "ansible-playbook"], &[("ansible.cfg", Kind::Other)]),
];

/// How often a file is read for what its own recipes run.
const MOST_READINGS: usize = 3;

/// Options that say where those files lie.
const FOLDERS: [&str; 5] = ["-C", "--cwd", "--directory", "--prefix", "--project"];

impl Walk<'_> {
    /// Judges what the text put into files that a program now reads by itself.
    pub(super) fn implicit(&mut self, name: &str, args: &[Arg<'_>], span: Span) {
        let name = versionless(name);
        if let ("python", [flag, module, rest @ ..]) = (name, args)
            && flag.text == "-m"
            && let Some(module) = module.as_known()
        {
            let file = format!("{}.py", module.replace('.', "/"));
            let file = Arg::known(file, span);
            self.rerun(Some(Language::Python), &file);
            self.run_taken(&file);
            return self.implicit(module, rest, span);
        }
        let Some((_, files)) = READERS.iter().find(|(names, _)| names.contains(&name)) else {
            return;
        };
        let behind = args.windows(2).find_map(|pair| match pair {
            [flag, folder] if FOLDERS.contains(&&*flag.text) => folder.as_known(),
            _ => None,
        });
        let folder = behind.map(|folder| format!("{}/", folder.trim_end_matches('/')));
        let folder = folder.unwrap_or_default();
        for (file, kind) in *files {
            let file = Arg::known(format!("{folder}{file}"), span);
            let from = self.places(&file.text).iter().find_map(|path| self.disk.foreign(path));
            match from {
                // Who builds what was cloned or unpacked wants just that.
                Some(Source::Unpacked) | None => {}
                // Settings are made by programs every day.
                Some(Source::Running) if !matches!(kind, Kind::Recipes) => {}
                Some(Source::Running | Source::Elsewhere) => self.run_taken(&file),
            }
            match kind {
                Kind::Code(language) => self.rerun(Some(*language), &file),
                Kind::Recipes => self.recipes(&file, recipe::recipes),
                Kind::Scripts => {
                    self.recipes(&file, |content| recipe::scripts(content, args));
                }
                Kind::Other => {}
            }
        }
    }

    /// Judges what inline code takes in from files that the text itself took.
    pub(super) fn imports(&mut self, language: Language, code: &Arg<'_>) {
        if self.disk.is_empty() {
            return;
        }
        for file in recipe::imports(language, &code.text) {
            let file = Arg::known(file, code.span);
            self.rerun(Some(language), &file);
            self.run_taken(&file);
        }
    }

    /// Judges the shell text that a file holds, each piece in a shell of its own.
    fn recipes(&mut self, file: &Arg<'_>, read: impl Fn(&str) -> Vec<String>) {
        let before = Rc::clone(&self.scope);
        for path in self.places(&file.text) {
            // A recipe may run the same tool again: all of the file is being judged already.
            if self.reading.iter().filter(|open| **open == path).count() >= MOST_READINGS {
                continue;
            }
            self.reading.push(path.clone());
            for content in self.disk.written(&path) {
                for text in read(&content) {
                    let code = Arg::known(text, file.span);
                    self.within(&code, |walk| {
                        walk.code(Language::Shell, &code, &Input::Inherited);
                    });
                    self.scope = Rc::clone(&before);
                }
            }
            self.reading.pop();
        }
    }
}
