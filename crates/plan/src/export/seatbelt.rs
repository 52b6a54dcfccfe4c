//! macOS: a profile for `sandbox-exec`, and the command that starts it.
//!
//! The last rule that matches counts, so rules stand from the top down, as mounts do. No path stands
//! in the text: each is a parameter that the command gives, and none can write rules of its own.

use std::path::Path;

use super::lack::Lack;
use super::scene::{Mount, Scene, What};
use super::shell::{Line, text};
use super::{Around, CannotExport, Engine, Export, File};
use crate::macos::Verbatim;
use crate::plan::Plan;
use crate::step::{Access, Limit, Namespace};

/// The file with the profile.
const PROFILE: &str = "profile.sb";

/// Services that programs ask for when they start. Those of keychains, of trust, of launching
/// applications and of preferences are not among them: they act for the caller outside.
const SERVICES: [&str; 7] = [
    "com.apple.FSEvents",
    "com.apple.bsd.dirhelper",
    "com.apple.logd",
    "com.apple.system.logger",
    "com.apple.system.notification_center",
    "com.apple.system.opendirectoryd.libinfo",
    "com.apple.system.opendirectoryd.membership",
];

/// What no program can start without, where reading is denied by default.
const SYSTEM: [&str; 4] =
    ["/System/Library", "/System/Volumes/Preboot/Cryptexes", "/private/var/db/dyld", "/usr/lib"];

pub(super) fn export(
    plan: &Plan,
    mut scene: Scene<'_>,
    around: &Around<'_>,
) -> Result<Export, CannotExport> {
    let folder = around.folder.ok_or(CannotExport::NoFolder(Engine::Seatbelt))?;
    let made = profile(&scene)?;

    let mut line = Line::default();
    // By their paths: others of these names in the search path would be no sandbox. Without a new
    // folder nothing runs, and above all nothing is removed.
    line.raw("(t=$(/usr/bin/mktemp -d) && t=$(CDPATH= cd -- \"${t:?}\" && pwd -P) &&");
    line.raw("trap '/bin/rm -rf -- \"$t\"' EXIT &&");
    line.raw(&limits(&scene.limits));
    line.option("cd", &[scene.cwd])?;
    line.raw("&& /usr/bin/env -i --");
    let environment: Vec<(String, String)> =
        scene.environment.iter().filter(|(name, _)| name != "TMPDIR").cloned().collect();
    line.variables(&environment, around.outside)?;
    line.raw("TMPDIR=\"$t\" /usr/bin/sandbox-exec -D \"_TMP=$t\"");
    for (name, path) in &made.parameters {
        line.raw("-D");
        line.word(&format!("{name}={path}"))?;
    }
    line.option("-f", &[&folder.join(PROFILE)])?;
    line.raw("--");
    scene.argv.iter().try_for_each(|word| line.word(word))?;
    line.raw(")");

    lacks(&mut scene, plan);
    let files = vec![File { name: PROFILE, content: made.text.into_bytes() }];
    let (missing, notes) = (scene.missed.list(), Vec::new());
    let text = format!("{}\n", line.done());
    Ok(Export { text, files, folders: Vec::new(), missing, notes })
}

/// Returns a profile of the user's own, as it is, and behind it rules that only deny.
pub(super) fn behind(scene: &Scene<'_>, own: Verbatim<'_>) -> Result<Made, CannotExport> {
    let mut made = Made { text: own.text.to_owned(), parameters: Vec::new() };
    made.parameter("_RW", own.workspace)?;
    if !made.text.ends_with('\n') {
        made.text.push('\n');
    }
    for mount in &scene.mounts {
        match mount.what {
            What::Cover(_) | What::Reserved | What::Sealed | What::Pin => made.mount(mount)?,
            What::Memory { .. } | What::Tree(_) | What::Text(_) => {}
        }
    }
    Ok(made)
}

/// Returns the profile of a plan, and what its parameters are.
pub(super) fn profile(scene: &Scene<'_>) -> Result<Made, CannotExport> {
    let mut made = Made::begin(scene.bare);
    // The project is the first of them, as in the profiles that others ship.
    let project = scene.trees.iter().find(|(tree, _)| scene.cwd.starts_with(tree));
    if let Some((tree, Access::Write)) = project {
        made.parameter("_RW", tree)?;
    }
    scene.mounts.iter().try_for_each(|mount| made.mount(mount))?;
    made.rule("allow", "file-read* file-write*", "(subpath (param \"_TMP\"))");
    if !scene.namespaces.contains(&Namespace::Network) {
        made.text.push_str("(allow network*)\n");
    }
    // Paths say nothing of sockets: connecting to one is no writing.
    made.text.push_str("(deny network-outbound (remote unix-socket))\n");
    made.text.push_str("(deny appleevent-send)\n(deny lsopen)\n");
    Ok(made)
}

/// What has been written so far.
pub(super) struct Made {
    pub(super) text: String,
    pub(super) parameters: Vec<(String, String)>,
}

impl Made {
    fn begin(bare: bool) -> Self {
        let mut text = "(version 1)\n(deny default)\n(allow process*)\n\
                        (allow signal (target same-sandbox))\n(allow sysctl-read)\n\
                        (allow pseudo-tty)\n(allow mach-lookup\n"
            .to_owned();
        for service in SERVICES {
            text.push_str(&format!("    (global-name \"{service}\")\n"));
        }
        text.push_str(")\n");
        if bare {
            text.push_str("(allow file-read-metadata)\n(allow file-read* (literal \"/\")");
            SYSTEM.iter().for_each(|folder| text.push_str(&format!(" (subpath \"{folder}\")")));
            text.push_str(")\n");
        } else {
            text.push_str("(allow file-read*)\n");
        }
        text.push_str("(allow file-write-data (literal \"/dev/null\") (literal \"/dev/tty\"))\n");
        Self { text, parameters: Vec::new() }
    }

    fn mount(&mut self, Mount { at, what }: &Mount) -> Result<(), CannotExport> {
        match what {
            // There is no such thing there, and names of hosts mean nothing without a network.
            _ if at.starts_with("/proc") || at.starts_with("/dev") => {}
            What::Text(_) => {}
            // It would be empty inside; what lies there is not to be read.
            What::Memory { .. } => {
                self.tree("deny", "file-read*", "_SHUT", at)?;
                // Where these two lead on macOS, which sees the end of links only.
                if at == Path::new("/tmp") || at == Path::new("/var/tmp") {
                    let filter = format!("(subpath \"/private{}\")", at.display());
                    self.rule("deny", "file-read*", &filter);
                }
            }
            What::Tree(Access::Write) => {
                self.tree("allow", "file-read* file-write*", "_RW", at)?;
            }
            What::Tree(Access::Read | Access::Device) => {
                self.tree("allow", "file-read*", "_RO", at)?;
            }
            What::Cover(_) => self.tree("deny", "file-read* file-write*", "_HIDE", at)?,
            What::Reserved | What::Sealed => self.tree("deny", "file-write*", "_KEEP", at)?,
            What::Pin => {
                let name = self.parameter("_PIN", at)?;
                self.rule("deny", "file-write-unlink", &format!("(literal (param \"{name}\"))"));
            }
        }
        Ok(())
    }

    fn tree(
        &mut self,
        verdict: &str,
        operations: &str,
        prefix: &str,
        at: &Path,
    ) -> Result<(), CannotExport> {
        let name = self.parameter(prefix, at)?;
        self.rule(verdict, operations, &format!("(subpath (param \"{name}\"))"));
        Ok(())
    }

    fn rule(&mut self, verdict: &str, operations: &str, filter: &str) {
        self.text.push_str(&format!("({verdict} {operations} {filter})\n"));
    }

    /// Gives a path a name: `_RW1`, `_RW2` and so on.
    fn parameter(&mut self, prefix: &str, at: &Path) -> Result<String, CannotExport> {
        let path = text(at)?;
        let had = self.parameters.iter().filter(|(name, _)| name.starts_with(prefix));
        if let Some((name, _)) = had.clone().find(|(_, known)| known == path) {
            return Ok(name.clone());
        }
        let name = format!("{prefix}{}", had.count() + 1);
        self.parameters.push((name.clone(), path.to_owned()));
        Ok(name)
    }
}

fn limits(limits: &[Limit]) -> String {
    let told = limits.iter().filter_map(|limit| match limit {
        Limit::NoCores => Some("ulimit -c 0 && ".to_owned()),
        Limit::CpuSeconds(seconds) => Some(format!("ulimit -t {seconds} && ")),
        Limit::OpenFiles(most) => Some(format!("ulimit -n {most} && ")),
        Limit::Processes(_) | Limit::FileSize(_) | Limit::Data(_) => None,
    });
    told.collect::<String>().trim_end().to_owned()
}

/// What it never carries.
pub(super) fn lacks(scene: &mut Scene<'_>, plan: &Plan) {
    let missed = &mut scene.missed;
    missed.has(&[Lack::Sockets]);
    for limit in &scene.limits {
        match limit {
            Limit::Processes(_) => missed.add(Lack::Processes, "they are not counted"),
            Limit::FileSize(_) => missed.add(Lack::FileSize, "files may get larger"),
            Limit::Data(_) => missed.add(Lack::Memory, "memory is not bounded"),
            Limit::CpuSeconds(_) | Limit::OpenFiles(_) | Limit::NoCores => {}
        }
    }
    if let Some(time) = plan.bounds().time {
        missed.add(Lack::Time, format!("it is not ended after {} s", time.as_secs()));
    }
    missed.add(
        Lack::Descriptors,
        "descriptors that the caller left open are passed on, and standard ones are not looked at",
    );
    missed.add(Lack::Devices, "devices of the host can be read as far as permissions go");
    missed.add(Lack::Orphans, "processes that leave the group outlive the command");
    missed.add(Lack::Privileges, "programs that run as their owner are left to macOS");
    missed.add(Lack::ProcessNamespace, "processes outside are seen");
    missed.add(Lack::SystemCalls, "there is no filter of system calls");
    missed.add(Lack::Terminals, "the terminal is the caller's own");
}
