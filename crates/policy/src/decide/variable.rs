//! Variables that make other programs run or load something.

use super::Style;
use super::child::is_flag;
use super::scope::Value;
use super::speech::Manner;
use super::walk::{Input, Walk};
use crate::command::{Act, Arg, Certainty, Concern, HOLE, Language, SHELLS, tool};
use crate::jail::Standing;
use crate::text::Span;

/// What lies below the home for tools to keep what they fetch and build in.
const STORES: [&str; 12] = [
    ".bun",
    ".cache",
    ".cargo",
    ".ccache",
    ".deno",
    ".gradle",
    ".local",
    ".npm",
    ".nuget",
    ".pub-cache",
    ".rustup",
    "go",
];

/// What a variable's value is to the programs that read it.
enum Meaning {
    /// A command line that some program starts.
    Command,
    /// Folders from which programs or libraries are taken.
    Folders,
    /// Options, of which these words run or load something.
    Options(&'static [&'static str]),
    /// A file of commands, read at start.
    Startup,
    /// A prompt, whose substitutions run.
    Prompt,
    /// The shell that programs start for their commands.
    Shell,
    /// Who is given all that programs send.
    Proxy,
    /// A file or folder that programs write to.
    Written,
    /// Folders in which programs keep what they fetch and build, by default below the home.
    Stores,
    /// Never harmless.
    Always,
    /// What the table of tools says of it.
    Listed,
}

impl Walk<'_> {
    /// Judges one variable that a command is given, or that the shell keeps.
    pub(super) fn variable(&mut self, name: &str, value: &Value, span: Span) {
        // Whatever it is set to.
        if name == "POSIXLY_CORRECT" {
            self.habits.manner = Manner::Standard;
        }
        if value.text.is_empty() {
            return;
        }
        if name == "GLOBIGNORE" {
            self.habits.dots = true;
        }
        if name == "HISTFILE" {
            self.raise(Concern::Obfuscates, span);
        }
        if self.judge.style == Style::Runner {
            let text = value.text.as_str().into();
            self.jailed(&Arg { text, certainty: value.certainty, span, verbatim: None });
        }
        let harmful = match meaning(name) {
            Meaning::Listed => {
                let known = (value.certainty == Certainty::Known).then_some(&*value.text);
                tool::assignment(name, known).is_some()
            }
            Meaning::Command => {
                let text = value.text.trim_start_matches(['|', '!']).trim().to_owned();
                let certainty = value.certainty;
                let command = Arg { text: text.into(), certainty, span, verbatim: None };
                self.nested(&command, &Input::Inherited);
                return;
            }
            Meaning::Proxy => {
                let text = value.text.as_str().into();
                let proxy = Arg { text, certainty: value.certainty, span, verbatim: None };
                self.perform(&Act::Connect(proxy), &Input::Inherited);
                return;
            }
            Meaning::Written => {
                if value.text.contains('/') {
                    let text = value.text.as_str().into();
                    let file = Arg { text, certainty: value.certainty, span, verbatim: None };
                    self.perform(&Act::Write(file), &Input::Inherited);
                }
                return;
            }
            Meaning::Stores => {
                for folder in value.text.split(':') {
                    if self.is_store(folder) {
                        continue;
                    }
                    let text = folder.to_owned().into();
                    let file = Arg { text, certainty: value.certainty, span, verbatim: None };
                    self.perform(&Act::Write(file), &Input::Inherited);
                }
                name == "GOPATH" && value.text.split(':').any(|folder| self.foreign(folder))
            }
            Meaning::Folders => value.text.split(':').any(|folder| self.foreign(folder)),
            Meaning::Options(words) => {
                value
                    .text
                    .split_whitespace()
                    .any(|given| words.iter().any(|word| is_option(name, given, word)))
                    || value.certainty != Certainty::Known && value.text.starts_with(HOLE)
            }
            Meaning::Startup => {
                let text = value.text.as_str().into();
                let file = Arg { text, certainty: value.certainty, span, verbatim: None };
                if matches!(name, "BASH_ENV" | "ENV") {
                    self.rerun(Some(Language::Shell), &file);
                }
                self.run_taken(&file);
                value.text.contains(['/', HOLE, '$', '`']) && value.text != "/dev/null"
            }
            Meaning::Shell => {
                let name = value.text.rsplit('/').next().unwrap_or_default();
                !SHELLS.contains(&name)
            }
            Meaning::Prompt => value.text.contains("$(") || value.text.contains('`'),
            Meaning::Always => value.text != "/dev/null",
        };
        if harmful {
            self.raise(Concern::Environment, span);
        }
    }

    /// Whether programs or the shell run, load or find something by a variable.
    pub(super) fn is_obeyed(&self, name: &str) -> bool {
        match meaning(name) {
            Meaning::Listed => tool::variable(name).is_some(),
            Meaning::Written | Meaning::Stores | Meaning::Proxy => false,
            Meaning::Command
            | Meaning::Folders
            | Meaning::Options(_)
            | Meaning::Startup
            | Meaning::Prompt
            | Meaning::Shell
            | Meaning::Always => true,
        }
    }

    /// Whether a folder is one of those below the home that tools keep such things in, or nobody
    /// knows it.
    fn is_store(&self, folder: &str) -> bool {
        let below = self.judge.home().and_then(|home| folder.strip_prefix(home));
        let name = below.and_then(|below| below.strip_prefix('/')).unwrap_or_default();
        let first = name.split('/').next().unwrap_or_default();
        !folder.contains('/')
            || folder.starts_with(HOLE)
            || STORES.contains(&first) && !name.split('/').any(|name| name == "..")
    }

    /// Whether a folder of a search path may hold what a stranger put there.
    fn foreign(&self, folder: &str) -> bool {
        // `$PATH` itself, and nothing at all: what was there before.
        if folder.is_empty() || folder.starts_with(HOLE) {
            return false;
        }
        self.scope.cwds().iter().any(|cwd| {
            let place = self.judge.ground().place(folder, cwd, &self.sight());
            // What the text itself put there is found under any name.
            matches!(place.standing, Standing::Temp | Standing::Device)
                || !self.disk.is_empty() && self.disk.fills(&place.path)
        })
    }
}

fn meaning(name: &str) -> Meaning {
    match name {
        "PATH"
        | "LD_LIBRARY_PATH"
        | "DYLD_LIBRARY_PATH"
        | "DYLD_FALLBACK_LIBRARY_PATH"
        | "PYTHONPATH"
        | "NODE_PATH"
        | "PERL5LIB"
        | "PERLLIB"
        | "RUBYLIB"
        | "CLASSPATH"
        | "LUA_PATH"
        | "LUA_CPATH"
        | "PYTHONHOME"
        | "GEM_PATH"
        | "GEM_HOME"
        | "JULIA_LOAD_PATH"
        | "R_LIBS"
        | "QT_PLUGIN_PATH"
        | "GST_PLUGIN_PATH" => Meaning::Folders,
        "PAGER"
        | "GIT_PAGER"
        | "MANPAGER"
        | "EDITOR"
        | "VISUAL"
        | "GIT_EDITOR"
        | "BROWSER"
        | "GIT_SEQUENCE_EDITOR"
        | "GIT_SSH_COMMAND"
        | "GIT_SSH"
        | "GIT_EXTERNAL_DIFF"
        | "GIT_ASKPASS"
        | "SSH_ASKPASS"
        | "SUDO_ASKPASS"
        | "GIT_PROXY_COMMAND"
        | "LESSEDIT"
        | "RUSTC_WRAPPER"
        | "RUSTC_WORKSPACE_WRAPPER"
        | "RUSTC"
        | "RUSTDOC"
        | "CC"
        | "CXX"
        | "LD"
        | "AR"
        | "FC"
        | "CPP"
        | "RSYNC_RSH"
        | "CVS_RSH"
        | "SVN_SSH"
        | "HGEDITOR"
        | "SVN_EDITOR"
        | "FCEDIT"
        | "KUBECTL_EXTERNAL_DIFF"
        | "CCACHE_COMPILER"
        | "CCACHE_PREFIX"
        | "CCACHE_PREFIX_CPP"
        | "MAILER" => Meaning::Command,
        "NODE_OPTIONS" => Meaning::Options(&[
            "-r",
            "--require",
            "--import",
            "--loader",
            "--experimental-loader",
            "--inspect",
            "--env-file",
            "--eval",
            "-e",
        ]),
        "PYTEST_ADDOPTS" => Meaning::Options(&[
            "-p",
            "-c",
            "--basetemp",
            "--rootdir",
            "--junit",
            "-o",
            "--override-ini",
            "--log-file",
            "--debug",
        ]),
        "ALL_PROXY" | "FTP_PROXY" | "HTTPS_PROXY" | "HTTP_PROXY" | "all_proxy" | "ftp_proxy"
        | "http_proxy" | "https_proxy" => Meaning::Proxy,
        "RUBYOPT" => Meaning::Options(&["-r", "-I", "-e", "-x"]),
        "PERL5OPT" => Meaning::Options(&["-M", "-m", "-I", "-d"]),
        "JAVA_TOOL_OPTIONS" | "_JAVA_OPTIONS" | "JDK_JAVA_OPTIONS" | "JAVA_OPTS" | "MAVEN_OPTS"
        | "GRADLE_OPTS" | "SBT_OPTS" => Meaning::Options(&[
            "-javaagent",
            "-agentlib",
            "-agentpath",
            "-XX:OnError",
            "-XX:OnOutOfMemoryError",
            "-Xrunjdwp",
            "-Xbootclasspath",
            "@",
        ]),
        "GOFLAGS" => Meaning::Options(&[
            "-exec",
            "--exec",
            "-toolexec",
            "--toolexec",
            "-overlay",
            "-o=",
            "--o=",
            "-pkgdir",
            "--pkgdir",
        ]),
        "RUSTFLAGS" | "RUSTDOCFLAGS" | "CARGO_ENCODED_RUSTFLAGS" => {
            Meaning::Options(&["-Clinker", "linker=", "-Zcodegen-backend", "-Clink-arg=-fplugin"])
        }
        "CFLAGS" | "CXXFLAGS" | "LDFLAGS" | "CPPFLAGS" => {
            Meaning::Options(&["-fplugin", "-wrapper", "-specs", "-B"])
        }
        "MAKEFLAGS" | "GNUMAKEFLAGS" | "MFLAGS" => Meaning::Options(&["--eval", "SHELL=", "-f"]),
        "TAR_OPTIONS" => Meaning::Options(&[
            "--absolute-names",
            "--checkpoint-action",
            "--delete",
            "--directory",
            "--file",
            "--files-from",
            "--index-file",
            "--info-script",
            "--listed-incremental",
            "--new-volume-script",
            "--one-top-level",
            "--recursive-unlink",
            "--remove-files",
            "--rmt-command",
            "--rsh-command",
            "--to-command",
            "--transform",
            "--unlink-first",
            "--use-compress-program",
            "--volno-file",
            "--xform",
            "-C",
            "-F",
            "-I",
            "-P",
            "-T",
            "-U",
            "-f",
            "-g",
        ]),
        "GREP_OPTIONS" => Meaning::Options(&["-f", "--file"]),
        "RIPGREP_CONFIG_PATH"
        | "BASH_ENV"
        | "ENV"
        | "PYTHONSTARTUP"
        | "INPUTRC"
        | "ZDOTDIR"
        | "PYTHONUSERBASE"
        | "CURL_HOME"
        | "WGETRC"
        | "VIMINIT"
        | "EXINIT"
        | "GVIMINIT" => Meaning::Startup,
        "CARGO_BUILD_TARGET_DIR"
        | "GOCACHE"
        | "GOMODCACHE"
        | "GOTMPDIR"
        | "MALLOC_TRACE"
        | "CARGO_TARGET_DIR"
        | "NODE_V8_COVERAGE"
        | "PYTHONPYCACHEPREFIX"
        | "COVERAGE_FILE"
        | "TAPE"
        | "ANSIBLE_LOG_PATH"
        | "DESTDIR"
        | "TF_DATA_DIR"
        | "TF_LOG_PATH"
        | "TMPDIR"
        | "TMP"
        | "TEMP"
        | "GIT_TRACE"
        | "GIT_TRACE2"
        | "GIT_TRACE_PACKET"
        | "GIT_TRACE2_EVENT"
        | "GIT_TRACE2_PERF"
        | "GIT_TRACE_SETUP"
        | "GIT_TRACE_CURL" => Meaning::Written,
        "BUN_INSTALL"
        | "BUNDLE_PATH"
        | "CCACHE_DIR"
        | "CCACHE_LOGFILE"
        | "COMPOSER_CACHE_DIR"
        | "COMPOSER_VENDOR_DIR"
        | "COREPACK_HOME"
        | "CYPRESS_CACHE_FOLDER"
        | "DENO_DIR"
        | "DENO_INSTALL_ROOT"
        | "GOPATH"
        | "GRADLE_USER_HOME"
        | "HELM_CACHE_HOME"
        | "HELM_CONFIG_HOME"
        | "HELM_DATA_HOME"
        | "HF_HOME"
        | "MYPY_CACHE_DIR"
        | "NUGET_PACKAGES"
        | "PIP_CACHE_DIR"
        | "PLAYWRIGHT_BROWSERS_PATH"
        | "PNPM_HOME"
        | "POETRY_CACHE_DIR"
        | "PRE_COMMIT_HOME"
        | "PUB_CACHE"
        | "PUPPETEER_CACHE_DIR"
        | "RUFF_CACHE_DIR"
        | "RUSTUP_HOME"
        | "SCCACHE_DIR"
        | "TF_PLUGIN_CACHE_DIR"
        | "TORCH_HOME"
        | "UV_CACHE_DIR"
        | "UV_TOOL_BIN_DIR"
        | "UV_TOOL_DIR"
        | "XDG_CACHE_HOME"
        | "XDG_DATA_HOME"
        | "XDG_STATE_HOME"
        | "YARN_CACHE_FOLDER" => Meaning::Stores,
        "PROMPT_COMMAND" | "RSYNC_CONNECT_PROG" => Meaning::Command,
        "SHELL" | "CONFIG_SHELL" => Meaning::Shell,
        "PS0" | "PS1" | "PS2" | "PS4" => Meaning::Prompt,
        "LD_PRELOAD"
        | "LD_AUDIT"
        | "DYLD_INSERT_LIBRARIES"
        | "GCONV_PATH"
        | "GIT_EXEC_PATH"
        | "GIT_TEMPLATE_DIR"
        | "GIT_CONFIG"
        | "GIT_CONFIG_GLOBAL"
        | "GIT_CONFIG_SYSTEM"
        | "GIT_CONFIG_COUNT"
        | "GIT_CONFIG_PARAMETERS"
        | "OPENSSL_CONF"
        | "OPENSSL_MODULES"
        | "OPENSSL_ENGINES"
        | "NODE_EXTRA_CA_CERTS"
        | "BASH_FUNC_ls%%"
        | "GTK_MODULES"
        | "BASH_CMDS"
        | "BASH_ALIASES"
        | "CDPATH"
        | "MAKEFILES"
        | "PERL5DB"
        | "AWKPATH"
        | "HOSTALIASES"
        | "LOCPATH"
        | "NLSPATH"
        | "SHELLOPTS"
        | "BASHOPTS"
        | "GNUPGHOME" => Meaning::Always,
        _ => by_pattern(name),
    }
}

/// Whether a word of a variable is an option; tar takes it shortened, and among others (`-vC`).
fn is_option(name: &str, given: &str, option: &str) -> bool {
    if name != "TAR_OPTIONS" {
        return given.starts_with(option);
    }
    match (given.strip_prefix("--"), option.strip_prefix("--")) {
        (Some(given), Some(option)) => {
            let given = given.split('=').next().unwrap_or_default();
            !given.is_empty() && option.starts_with(given)
        }
        (None, None) => option.chars().nth(1).is_some_and(|flag| is_flag(given, flag)),
        (Some(_), None) | (None, Some(_)) => false,
    }
}

/// Names that are told by their beginning or their end.
fn by_pattern(name: &str) -> Meaning {
    let command = ["_COMMAND", "_PAGER", "_EDITOR", "_ASKPASS", "_WRAPPER", "_RUNNER", "_LINKER"];
    if command.iter().any(|end| name.ends_with(end)) {
        return Meaning::Command;
    }
    let always = ["LD_", "DYLD_", "GIT_CONFIG_KEY_", "GIT_CONFIG_VALUE_", "BASH_FUNC_", "LUA_INIT"];
    if always.iter().any(|start| name.starts_with(start)) {
        return Meaning::Always;
    }
    Meaning::Listed
}
