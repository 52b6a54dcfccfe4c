//! Variables that make programs run or load something.

use crate::command::Concern;

/// Answers whether a variable, by its name alone, makes other programs run or load something.
pub fn variable(name: &str) -> Option<Concern> {
    let known = EXACT.binary_search(&name).is_ok();
    let family = FAMILIES.iter().any(|family| name.starts_with(family))
        && !HARMLESS.iter().any(|start| name.starts_with(start));
    (known || family).then_some(Concern::Environment)
}

/// Answers the same for a variable that is set to `value`, `None` where that is not known.
///
/// `PAGER=cat`, `NODE_OPTIONS=--max-old-space-size=4096` and `PYTHONPATH=src` are what developers
/// write every day, and run nothing.
pub fn assignment(name: &str, value: Option<&str>) -> Option<Concern> {
    let concern = variable(name)?;
    let harmless = value.is_some_and(|value| value.is_empty() || is_harmless(name, value));
    (!harmless).then_some(concern)
}

/// Sorted.
const EXACT: &[&str] = &[
    "ANSIBLE_LIBRARY",
    "AUTOM4TE",
    "BASH_ENV",
    "BASH_FUNC",
    "BASH_XTRACEFD",
    "BROWSER",
    "BUNDLE_GEMFILE",
    "BUN_OPTIONS",
    "BYOBU_PREFIX",
    "CARGO_BUILD_RUSTC",
    "CARGO_BUILD_RUSTC_WRAPPER",
    "CARGO_HOME",
    "CC_WRAPPER",
    "CLASSPATH",
    "CMAKE_CUDA_COMPILER_LAUNCHER",
    "CMAKE_CXX_COMPILER_LAUNCHER",
    "CMAKE_C_COMPILER_LAUNCHER",
    "COMPOSER_HOME",
    "COVERAGE_FILE",
    "CVS_RSH",
    "DENO_V8_FLAGS",
    "DIFFPROG",
    "EDITOR",
    "ELECTRON_RUN_AS_NODE",
    "EMACSLOADPATH",
    "ENV",
    "ERL_AFLAGS",
    "ERL_FLAGS",
    "EXINIT",
    "FCEDIT",
    "FPATH",
    "FZF_DEFAULT_COMMAND",
    "FZF_DEFAULT_OPTS",
    "GCC_EXEC_PREFIX",
    "GCONV_PATH",
    "GCOV_PREFIX",
    "GEM_HOME",
    "GEM_PATH",
    "GETCONF_DIR",
    "GLIBC_TUNABLES",
    "GOBIN",
    "GOFLAGS",
    "GROFF_BIN_PATH",
    "GTK_MODULES",
    "GUILE_LOAD_PATH",
    "HISTFILE",
    "HOSTALIASES",
    "IFS",
    "JAVA_OPTS",
    "JAVA_TOOL_OPTIONS",
    "JDK_JAVA_OPTIONS",
    "JULIA_LOAD_PATH",
    "KUBE_EDITOR",
    "LESS",
    "LESSCLOSE",
    "LESSEDIT",
    "LESSKEYIN",
    "LESSKEY_CONTENT",
    "LESSOPEN",
    "LIBRARY_PATH_OVERRIDE",
    "LLVM_PROFILE_FILE",
    "LUA_CPATH",
    "LUA_INIT",
    "LUA_PATH",
    "MAKEFLAGS",
    "MANOPT",
    "MANPAGER",
    "MAVEN_OPTS",
    "MYSQL_HISTFILE",
    "NODE_OPTIONS",
    "NODE_REPL_EXTERNAL_MODULE",
    "NODE_V8_COVERAGE",
    "NPM_CONFIG_CACHE",
    "NPM_CONFIG_PREFIX",
    "NPM_CONFIG_SCRIPT_SHELL",
    "OPENSSL_CONF",
    "OPENSSL_ENGINES",
    "PAGER",
    "PERL5DB",
    "PERL5LIB",
    "PERL5OPT",
    "PERLLIB",
    "PHPRC",
    "PHP_INI_SCAN_DIR",
    "PIP_CONFIG_FILE",
    "PIP_LOG",
    "PIP_PREFIX",
    "PIP_ROOT",
    "PIP_SRC",
    "PIP_TARGET",
    "PROMPT_COMMAND",
    "PS0",
    "PS1",
    "PS4",
    "PSQLRC",
    "PYTHONBREAKPOINT",
    "PYTHONHOME",
    "PYTHONINSPECT",
    "PYTHONPATH",
    "PYTHONPYCACHEPREFIX",
    "PYTHONSTARTUP",
    "PYTHONUSERBASE",
    "PYTHONWARNINGS",
    "RESTIC_PASSWORD_COMMAND",
    "RSYNC_RSH",
    "RUBYLIB",
    "RUBYOPT",
    "RUSTC",
    "RUSTC_WORKSPACE_WRAPPER",
    "RUSTC_WRAPPER",
    "RUSTDOC",
    "RUSTFLAGS",
    "SHELLOPTS",
    "SSH_ASKPASS",
    "SSLKEYLOGFILE",
    "SUDO_ASKPASS",
    "SUDO_EDITOR",
    "SYSTEMD_EDITOR",
    "SYSTEMD_PAGER",
    "TAR_OPTIONS",
    "TERMINFO",
    "TEXEDIT",
    "TEXINPUTS",
    "VIMINIT",
    "VIMRUNTIME",
    "VISUAL",
    "XDG_CONFIG_DIRS",
    "ZDOTDIR",
    "ZIPOPT",
    "_JAVA_OPTIONS",
    "npm_config_cache",
    "npm_config_prefix",
    "npm_config_script_shell",
];

const FAMILIES: &[&str] = &["LD_", "DYLD_", "GIT_", "BASH_FUNC_", "CARGO_TARGET_", "PALISADE_"];

/// Members of those families that only say who, when, where to and how much.
const HARMLESS: &[&str] = &[
    "CARGO_TARGET_DIR",
    "GIT_ADVICE",
    "GIT_AUTHOR_",
    "GIT_BRANCH",
    "GIT_CEILING_DIRECTORIES",
    "GIT_COMMIT",
    "GIT_DEFAULT_HASH",
    "GIT_DEPTH",
    "GIT_DISCOVERY_ACROSS_FILESYSTEM",
    "GIT_FLUSH",
    "GIT_LFS_SKIP_SMUDGE",
    "GIT_LITERAL_PATHSPECS",
    "GIT_MERGE_AUTOEDIT",
    "GIT_MERGE_VERBOSITY",
    "GIT_OPTIONAL_LOCKS",
    "GIT_PROGRESS_DELAY",
    "GIT_REF",
    "GIT_REFLOG_ACTION",
    "GIT_SHA",
    "GIT_SSL_NO_VERIFY",
    "GIT_TAG",
    "GIT_TERMINAL_PROMPT",
    "GIT_TOKEN",
    "GIT_TRACE",
    "GIT_URL",
    "GIT_USER",
    "GIT_VERSION",
];

/// Programs that show or edit a text and nothing else, when nobody types.
const VIEWERS: &[&str] = &[
    ":",
    "cat",
    "code --wait",
    "emacs",
    "false",
    "less",
    "less -FRX",
    "less -R",
    "more",
    "nano",
    "true",
    "vi",
    "vim",
];

fn is_harmless(name: &str, value: &str) -> bool {
    let lacks = |words: &[&str]| !words.iter().any(|word| value.contains(word));
    match name {
        "PAGER"
        | "MANPAGER"
        | "GIT_PAGER"
        | "SYSTEMD_PAGER"
        | "EDITOR"
        | "VISUAL"
        | "GIT_EDITOR"
        | "GIT_SEQUENCE_EDITOR"
        | "KUBE_EDITOR"
        | "BROWSER"
        | "GIT_ASKPASS"
        | "SSH_ASKPASS" => {
            let base = value.strip_prefix("/usr/bin/").or_else(|| value.strip_prefix("/bin/"));
            VIEWERS.contains(&base.unwrap_or(value)) || value == "echo" || value == "none"
        }
        "NODE_OPTIONS" | "BUN_OPTIONS" | "DENO_V8_FLAGS" => {
            lacks(&["-r", "--require", "--import", "loader", "--eval", "-e ", "--inspect", "--env"])
        }
        "GOFLAGS" => {
            lacks(&["exec", "overlay", "ldflags", "gcflags", "modfile", "-o=", "pkgdir", "profile"])
        }
        "RUSTFLAGS" => lacks(&["linker", "link-arg", "codegen-backend"]),
        "JAVA_TOOL_OPTIONS" | "JAVA_OPTS" | "JDK_JAVA_OPTIONS" | "MAVEN_OPTS" | "_JAVA_OPTIONS" => {
            lacks(&["agent", "OnError", "OnOutOf", "classpath", "@"])
        }
        "MAKEFLAGS" => lacks(&["eval", "SHELL", "-f", "--file"]),
        "RUBYOPT" | "PERL5OPT" => value.starts_with("-W") || value.starts_with("-w"),
        "PYTHONWARNINGS" => lacks(&["."]),
        "PYTHONINSPECT" | "PYTHONBREAKPOINT" => value == "0",
        "RUSTC_WRAPPER" | "CARGO_BUILD_RUSTC_WRAPPER" => value == "sccache",
        "CMAKE_CUDA_COMPILER_LAUNCHER"
        | "CMAKE_CXX_COMPILER_LAUNCHER"
        | "CMAKE_C_COMPILER_LAUNCHER" => matches!(value, "ccache" | "sccache" | "distcc"),
        // Commands at its start, a log of what it shows, other keys.
        "LESS" => lacks(&["!", "+", "-o", "-O", "-k", "--log", "--lesskey", "--LOG"]),
        "CARGO_HOME"
        | "COVERAGE_FILE"
        | "GCOV_PREFIX"
        | "GOBIN"
        | "LLVM_PROFILE_FILE"
        | "NODE_V8_COVERAGE"
        | "NPM_CONFIG_CACHE"
        | "NPM_CONFIG_PREFIX"
        | "PIP_LOG"
        | "PIP_PREFIX"
        | "PIP_ROOT"
        | "PIP_SRC"
        | "PIP_TARGET"
        | "PYTHONPYCACHEPREFIX"
        | "npm_config_cache"
        | "npm_config_prefix" => is_inside(value) || is_temporary(value),
        "IFS" | "PS1" | "PS4" | "PS0" => lacks(&["$(", "`", "/", "@P"]),
        "HISTFILE" => value == "/dev/null",
        "PYTHONPATH" | "RUBYLIB" | "PERL5LIB" | "CLASSPATH" | "GIT_DIR" | "GIT_WORK_TREE"
        | "GIT_INDEX_FILE" | "BUNDLE_GEMFILE" | "LUA_PATH" | "JULIA_LOAD_PATH" | "TEXINPUTS"
        | "GEM_HOME" | "GEM_PATH" => value.split(':').all(is_inside),
        "GIT_CONFIG_GLOBAL" | "GIT_CONFIG_SYSTEM" | "GIT_CONFIG" | "GIT_TEMPLATE_DIR" => {
            value == "/dev/null"
        }
        "GIT_CONFIG_NOSYSTEM" => true,
        _ => false,
    }
}

/// Tells paths that stay below the working folder.
fn is_inside(path: &str) -> bool {
    !path.starts_with(['/', '~']) && !path.split('/').any(|part| part == "..")
}

/// Tells paths below the folder for temporary files.
fn is_temporary(path: &str) -> bool {
    path.strip_prefix("/tmp/").is_some_and(is_inside)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_are_sorted() {
        let mut sorted = EXACT.to_vec();
        sorted.sort_unstable();
        assert_eq!(sorted, EXACT);
    }

    #[test]
    fn e009_variables_that_run_or_load_something_are_told_from_the_daily_ones() {
        let bad = [
            "LD_PRELOAD",
            "LD_AUDIT",
            "DYLD_INSERT_LIBRARIES",
            "GIT_SSH_COMMAND",
            "GIT_EXTERNAL_DIFF",
            "BASH_ENV",
            "ENV",
            "PROMPT_COMMAND",
            "PS4",
            "NODE_OPTIONS",
            "PYTHONSTARTUP",
            "PYTHONPATH",
            "PERL5OPT",
            "RUBYOPT",
            "JAVA_TOOL_OPTIONS",
            "GCONV_PATH",
            "EDITOR",
            "PAGER",
            "VISUAL",
            "LESSOPEN",
            "GOFLAGS",
            "RUSTC_WRAPPER",
            "PALISADE_POLICY",
            "PSQLRC",
        ];
        for name in bad {
            assert_eq!(variable(name), Some(Concern::Environment), "{name}");
            assert_eq!(assignment(name, None), Some(Concern::Environment), "{name}");
            assert_eq!(
                assignment(name, Some("/tmp/x -r y.so -javaagent:x linker -toolexec $(id)")),
                Some(Concern::Environment)
            );
        }
        for name in ["FOO", "CI", "RUST_LOG", "GIT_AUTHOR_NAME", "NODE_ENV", "CARGO_TARGET_DIR"] {
            assert_eq!(variable(name), None, "{name}");
        }
        let daily = [
            ("PAGER", "cat"),
            ("GIT_PAGER", ""),
            ("GIT_EDITOR", "true"),
            ("NODE_OPTIONS", "--max-old-space-size=4096"),
            ("PYTHONPATH", "src:."),
            ("GOFLAGS", "-mod=mod"),
            ("RUSTFLAGS", "-D warnings"),
            ("GOBIN", "bin"),
            ("CARGO_HOME", ".cargo-home"),
            ("npm_config_cache", ".npm"),
            ("LLVM_PROFILE_FILE", "target/x.profraw"),
            ("LESS", "-FRX"),
            ("CMAKE_CXX_COMPILER_LAUNCHER", "ccache"),
        ];
        for (name, value) in daily {
            assert_eq!(assignment(name, Some(value)), None, "{name}={value}");
        }
        for (name, value) in [
            ("PYTHONPATH", "../evil"),
            ("NODE_OPTIONS", "--require ./x.js"),
            ("GOBIN", "/etc"),
            ("GOFLAGS", "-o=/etc/x"),
            ("CARGO_HOME", "/etc/x"),
            ("npm_config_prefix", "/etc"),
            ("PIP_TARGET", "../x"),
            ("LLVM_PROFILE_FILE", "/tmp/../etc/x"),
            ("LESS", "+!id"),
        ] {
            assert_eq!(assignment(name, Some(value)), Some(Concern::Environment));
        }
    }
}
