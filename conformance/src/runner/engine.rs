//! How each engine is asked for the same: a read-only system, a writable workspace, no network, no
//! credentials, and bounds where it knows any.

use std::env;
use std::ffi::OsString;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use crate::person::Person;
use crate::stage::Stage;

/// A variable of the starter's environment that is not the command's.
pub(crate) const STARTER: &str = "CONFORMANCE_STARTER";

/// What our export to bubblewrap gives up, which the exporter wants to hear.
const WITHOUT: &str = "absence,descriptors,first-process,landlock,late-mounts,memory,orphans,\
    self-test,sockets,watch";

/// A sandbox, or none.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Engine {
    /// Nothing: every attack must get through.
    None,
    /// Palisade with all its walls.
    Palisade,
    /// Palisade where user namespaces are refused.
    Landlock,
    /// Bubblewrap as people call it.
    Bwrap,
    /// Bubblewrap with our plan.
    Export,
    /// Anthropic's sandbox-runtime.
    Srt,
    /// The sandbox of `codex`.
    Codex,
}

impl Engine {
    pub(crate) const ALL: [Self; 7] = [
        Self::None,
        Self::Palisade,
        Self::Landlock,
        Self::Bwrap,
        Self::Export,
        Self::Srt,
        Self::Codex,
    ];

    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::None => "none",
            Self::Palisade => "palisade",
            Self::Landlock => "palisade-landlock",
            Self::Bwrap => "bwrap",
            Self::Export => "bwrap-export",
            Self::Srt => "srt",
            Self::Codex => "codex",
        }
    }

    pub(crate) fn of(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|engine| engine.name() == name)
    }

    /// Returns how it is called, for the document.
    pub(crate) fn called(self) -> &'static str {
        match self {
            Self::None => "the command itself",
            Self::Palisade => "`palisade run --`, `require: full`",
            Self::Landlock => {
                "`palisade run --`, `require: landlock`, user namespaces refused by a filter and \
                 no capabilities"
            }
            Self::Bwrap => {
                "`bwrap --ro-bind / / --dev /dev --proc /proc --bind WS WS --unshare-all \
                 --die-with-parent`"
            }
            Self::Export => "the command of `palisade plan --export bwrap`",
            Self::Srt => {
                "`srt --settings`: `allowWrite` the workspace, `denyRead` `~/.ssh`, no domains"
            }
            Self::Codex => "`codex sandbox -P :workspace --`",
        }
    }

    /// Returns its version, or why it cannot be used.
    pub(crate) fn version(self, palisade: &Path) -> Result<String, String> {
        let program = match self {
            Self::None => return Ok(String::new()),
            Self::Palisade | Self::Landlock => palisade.to_owned(),
            Self::Bwrap | Self::Export => found("bwrap").ok_or("not installed")?,
            Self::Srt => found("srt").ok_or("not installed")?,
            Self::Codex => found("codex").ok_or("not installed")?,
        };
        let output = Command::new(program).arg("--version").output();
        let output = output.map_err(|error| format!("not installed: {error}"))?;
        let text = String::from_utf8_lossy(&output.stdout);
        let word = text.lines().next().unwrap_or_default().split_whitespace().last();
        if self == Self::Srt {
            // Its own answer is a number that stands still.
            return Ok(packaged("srt").unwrap_or_else(|| text.trim().to_owned()));
        }
        Ok(word.unwrap_or("of an unknown version").to_owned())
    }

    /// Returns the words that run the probe behind this engine's walls.
    pub(crate) fn words(self, stage: &Stage, attack: &str) -> io::Result<Vec<OsString>> {
        let probe = [stage.probe.as_os_str(), attack.as_ref(), stage.told.as_os_str()];
        let mut words: Vec<OsString> = match self {
            Self::None => plain(&["env", "-u", STARTER]),
            Self::Palisade | Self::Landlock => {
                let level = if self == Self::Palisade { "full" } else { "landlock" };
                policy(stage, level)?;
                let mut words = Vec::new();
                if self == Self::Landlock {
                    words = vec![stage.probe.clone().into(), "without-user-namespaces".into()];
                }
                words.push(stage.palisade.clone().into());
                words.extend(plain(&["run", "--"]));
                words
            }
            Self::Bwrap => bwrap(&stage.world.app),
            Self::Export => return export(stage, &probe),
            Self::Srt => srt(stage)?,
            Self::Codex => codex(stage)?,
        };
        words.extend(probe.map(OsString::from));
        Ok(words)
    }

    /// Returns the variables that the engine itself wants.
    pub(crate) fn variables(self, stage: &Stage) -> Vec<(&'static str, OsString)> {
        match self {
            Self::Codex => vec![("CODEX_HOME", stage.world.home.join("codex").into())],
            Self::None
            | Self::Palisade
            | Self::Landlock
            | Self::Bwrap
            | Self::Export
            | Self::Srt => Vec::new(),
        }
    }
}

fn plain(words: &[&str]) -> Vec<OsString> {
    words.iter().map(OsString::from).collect()
}

fn policy(stage: &Stage, level: &str) -> io::Result<()> {
    let text =
        format!("version: 1\nrequire: {level}\nlimits: {{ processes: 64, memory: 256MiB }}\n");
    let folder = stage.world.home.join(".config/palisade");
    fs::create_dir_all(&folder)?;
    fs::write(folder.join("policy.yaml"), text)?;
    stage.person.own_all(&stage.world.home.join(".config"))
}

fn bwrap(app: &Path) -> Vec<OsString> {
    let mut words = plain(&["bwrap", "--ro-bind", "/", "/", "--dev", "/dev", "--proc", "/proc"]);
    words.extend(["--bind".into(), app.into(), app.into()]);
    words.extend(plain(&["--unshare-all", "--die-with-parent", "--unsetenv", STARTER]));
    words
}

/// Has our plan printed for bubblewrap; what is printed is run by a shell.
fn export(stage: &Stage, probe: &[&std::ffi::OsStr]) -> io::Result<Vec<OsString>> {
    policy(stage, "full")?;
    let mut without = WITHOUT.to_owned();
    if stage.person == Person::Root {
        without.push_str(",identity,processes");
    }
    let mut plan = Command::new(&stage.palisade);
    plan.args(["plan", "--export", "bwrap", "--json", "--without", &without, "--to"]);
    plan.arg(stage.world.home.join("engine")).arg("--").args(probe);
    plan.current_dir(&stage.world.app).stdin(Stdio::null());
    plan.env_clear().env("HOME", &stage.world.home).env("PATH", search());
    stage.person.becomes(&mut plan);
    let output = plan.output()?;
    let told: serde_json::Value = serde_json::from_slice(&output.stdout)
        .map_err(|_| io::Error::other(String::from_utf8_lossy(&output.stderr).into_owned()))?;
    let text = told["text"].as_str().map(str::to_owned);
    let text = text.ok_or_else(|| io::Error::other(told.to_string()))?;
    Ok(vec!["sh".into(), "-c".into(), text.into()])
}

fn srt(stage: &Stage) -> io::Result<Vec<OsString>> {
    let world = &stage.world;
    let settings = serde_json::json!({
        "network": { "allowedDomains": [], "deniedDomains": [] },
        "filesystem": {
            "denyRead": [world.home.join(".ssh")],
            "allowWrite": [world.app],
            "denyWrite": [world.app.join(".claude/settings.json")],
        },
    });
    let file = world.home.join("srt.json");
    fs::write(&file, serde_json::to_vec(&settings)?)?;
    stage.person.own(&file)?;
    let mut words = plain(&["srt", "--settings"]);
    words.push(file.into());
    words.extend(plain(&["env", "-u", STARTER]));
    Ok(words)
}

fn codex(stage: &Stage) -> io::Result<Vec<OsString>> {
    let home = stage.world.home.join("codex");
    fs::create_dir_all(&home)?;
    stage.person.own_all(&home)?;
    Ok(plain(&["codex", "sandbox", "-P", ":workspace", "--", "env", "-u", STARTER]))
}

/// Where programs are looked for: the usual folders, and those that `CONFORMANCE_PATH` adds.
pub(crate) fn search() -> OsString {
    let usual = "/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin";
    match env::var_os("CONFORMANCE_PATH") {
        Some(more) => {
            let mut both = more;
            both.push(":");
            both.push(usual);
            both
        }
        None => usual.into(),
    }
}

fn found(name: &str) -> Option<PathBuf> {
    env::split_paths(&search()).map(|folder| folder.join(name)).find(|path| path.is_file())
}

/// Returns the version that stands in the package of a program of Node's.
fn packaged(name: &str) -> Option<String> {
    let program = fs::canonicalize(found(name)?).ok()?;
    program.ancestors().find_map(|folder| {
        let text = fs::read(folder.join("package.json")).ok()?;
        let package: serde_json::Value = serde_json::from_slice(&text).ok()?;
        package["version"].as_str().map(str::to_owned)
    })
}
