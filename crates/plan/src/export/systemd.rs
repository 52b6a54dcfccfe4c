//! systemd: a command that starts a service, and the same service as a unit.

use std::path::Path;

use super::lack::Lack;
use super::program::{make, program};
use super::scene::{Mount, Scene, What};
use super::shell::{Line, text};
use super::{Around, CannotExport, Engine, Export, File, litter, values};
use crate::plan::Plan;
use crate::seccomp::{Arch, Check, Groups, Nesting, Refusal, refused};
use crate::step::{Access, Limit, Namespace};

/// The file with the names of hosts.
const HOSTS: &str = "hosts";

/// The file with the same service as a unit.
const UNIT: &str = "palisade.service";

/// What holds in every service.
const ALWAYS: [(&str, &str); 15] = [
    ("NoNewPrivileges", "yes"),
    ("CapabilityBoundingSet", ""),
    ("AmbientCapabilities", ""),
    ("PrivateUsers", "yes"),
    ("PrivateIPC", "yes"),
    ("PrivateDevices", "yes"),
    ("ProtectHostname", "yes"),
    ("ProtectControlGroups", "yes"),
    ("ProtectSystem", "strict"),
    ("ProtectKernelTunables", "yes"),
    ("ProtectKernelModules", "yes"),
    ("ProtectKernelLogs", "yes"),
    ("ProtectProc", "invisible"),
    ("SystemCallArchitectures", "native"),
    // What a call checks by its mode is checked by this one.
    ("RestrictSUIDSGID", "yes"),
];

pub(super) fn export(
    plan: &Plan,
    mut scene: Scene<'_>,
    around: &Around<'_>,
) -> Result<Export, CannotExport> {
    let folder = around.folder.ok_or(CannotExport::NoFolder(Engine::Systemd))?;
    let mut made = Made { properties: Vec::new(), files: Vec::new(), folder };
    for (name, value) in ALWAYS {
        made.set(name, value);
    }
    if scene.namespaces.contains(&Namespace::Network) {
        made.set("PrivateNetwork", "yes");
    }
    if let Some((arch, nesting, groups)) = scene.filter {
        made.filter(arch, nesting, groups);
    }
    scene.mounts.iter().try_for_each(|mount| made.mount(mount))?;
    made.limits(&scene.limits, plan);
    made.set("WorkingDirectory", plain(scene.cwd)?);
    lacks(&mut scene);

    let mut line = Line::default();
    make(&mut line, &scene, around)?;
    line.raw(&program("systemd-run", &scene, around)?);
    // Others have a manager of their own.
    let is_root = scene.identity.is_some_and(|it| it.uid == 0 || it.outer_uid == 0);
    line.raw(if is_root { "" } else { "--user" });
    line.raw("--wait --pipe --collect --quiet");
    for (name, value) in &made.properties {
        line.word(&format!("--property={name}={value}"))?;
    }
    // The manager passes its own variables on, and reads `$` in words.
    let env = program("env", &scene, around)?;
    line.raw(&format!("-- {env} -i --"));
    scene.environment.iter().try_for_each(|it| variable(&mut line, it, around))?;
    if let Some(program) = scene.argv.first().filter(|program| program.contains('=')) {
        // It would be one more variable.
        return Err(CannotExport::NoText(program.clone()));
    }
    scene.argv.iter().try_for_each(|word| line.word(&word.replace('$', "$$")))?;

    let content = unit(&made.properties, &scene, &env).into_bytes();
    made.files.push(File { name: UNIT, content });
    let mut notes = litter(&scene);
    notes.push(values(UNIT));
    let missing = scene.missed.list();
    let text = format!("{}\n", line.done());
    Ok(Export { text, files: made.files, folders: Vec::new(), missing, notes })
}

/// Adds a variable: the caller's by its name, others with every `$` doubled. A `$` that only the
/// caller's shell sees cannot be doubled, and the manager would put something else in its place.
fn variable(
    line: &mut Line,
    variable: &(String, String),
    around: &Around<'_>,
) -> Result<(), CannotExport> {
    let (name, value) = variable;
    if !around.outside.contains(variable) {
        return line.word(&format!("{name}={value}").replace('$', "$$"));
    }
    if value.contains('$') {
        let why = "systemd would read the `$` in it";
        return Err(CannotExport::Value { name: name.clone(), why });
    }
    line.variables(std::slice::from_ref(variable), around.outside)
}

/// What has been written so far.
struct Made<'a> {
    properties: Vec<(&'static str, String)>,
    files: Vec<File>,
    folder: &'a Path,
}

impl Made<'_> {
    fn set(&mut self, name: &'static str, value: impl Into<String>) {
        self.properties.push((name, value.into()));
    }

    fn mount(&mut self, Mount { at, what }: &Mount) -> Result<(), CannotExport> {
        let path = plain(at)?;
        let is_replaced = ["/tmp", "/var/tmp", "/run"].iter().any(|folder| at.starts_with(folder));
        match what {
            // The switches of the machine are protected above.
            What::Sealed if at.starts_with("/proc") => {}
            What::Memory { size, mode } => {
                let size = size.map(|size| format!(",size={size}")).unwrap_or_default();
                self.set("TemporaryFileSystem", format!("{path}:nosuid,nodev,mode={mode:o}{size}"));
            }
            What::Reserved => {
                self.set("TemporaryFileSystem", format!("{path}:ro,mode=555,size=4k"));
            }
            What::Tree(Access::Write) if is_replaced => self.set("BindPaths", path),
            What::Tree(Access::Write) | What::Pin => self.set("ReadWritePaths", path),
            What::Tree(Access::Read | Access::Device) => self.set("BindReadOnlyPaths", path),
            What::Sealed => self.set("ReadOnlyPaths", path),
            What::Cover(_) => self.set("InaccessiblePaths", path),
            What::Text(content) => {
                self.files.push(File { name: HOSTS, content: content.clone().into_bytes() });
                let hosts = self.folder.join(HOSTS);
                self.set("BindReadOnlyPaths", format!("{}:{path}", plain(&hosts)?));
            }
        }
        Ok(())
    }

    /// Refuses the same calls; what is refused by its arguments has settings of its own.
    fn filter(&mut self, arch: Arch, nesting: Nesting, groups: Groups) {
        let mut calls = Vec::new();
        for (_, rule) in refused(arch, nesting, groups) {
            if let Check::Always(refusal) = rule.check {
                calls.push(format!("{}:{}", rule.call, word(refusal)));
            }
        }
        self.set("SystemCallFilter", format!("~{}", calls.join(" ")));
        self.set("RestrictAddressFamilies", "AF_UNIX AF_INET AF_INET6 AF_NETLINK");
        if nesting == Nesting::Off {
            self.set("RestrictNamespaces", "yes");
        }
    }

    fn limits(&mut self, limits: &[Limit], plan: &Plan) {
        for limit in limits {
            match *limit {
                // The other one counts all processes of the user.
                Limit::Processes(most) => self.set("TasksMax", most.to_string()),
                Limit::Data(most) => self.set("LimitDATA", most.to_string()),
                Limit::CpuSeconds(most) => self.set("LimitCPU", most.to_string()),
                Limit::FileSize(most) => self.set("LimitFSIZE", most.to_string()),
                Limit::OpenFiles(most) => self.set("LimitNOFILE", most.to_string()),
                Limit::NoCores => self.set("LimitCORE", "0"),
            }
        }
        if let Some(memory) = plan.bounds().memory {
            self.set("MemoryMax", memory.to_string());
            self.set("MemorySwapMax", "0");
        }
        if let Some(time) = plan.bounds().time {
            self.set("RuntimeMaxSec", format!("{}ms", time.as_millis()));
        }
    }
}

fn word(refusal: Refusal) -> &'static str {
    match refusal {
        Refusal::NotPermitted => "EPERM",
        Refusal::Missing => "ENOSYS",
        Refusal::NoFamily => "EAFNOSUPPORT",
        Refusal::NoProtocol => "EPROTONOSUPPORT",
        Refusal::NotSupported => "EOPNOTSUPP",
    }
}

/// Returns a path that means itself to systemd, in a command and in a unit.
fn plain(path: &Path) -> Result<&str, CannotExport> {
    let path = text(path)?;
    let means = |c: char| c.is_whitespace() || c.is_control() || "\"'\\%:$".contains(c);
    if path.contains(means) { Err(CannotExport::NoText(path.into())) } else { Ok(path) }
}

/// Returns the service as a unit.
fn unit(properties: &[(&'static str, String)], scene: &Scene<'_>, env: &str) -> String {
    let mut unit = "[Unit]\nDescription=A command in the walls of a palisade plan\n\n\
                    [Service]\nType=oneshot\n"
        .to_owned();
    for (name, value) in properties {
        // A service that runs once has another name for it.
        let name = if *name == "RuntimeMaxSec" { "TimeoutStartSec" } else { name };
        unit.push_str(&format!("{name}={value}\n"));
    }
    unit.push_str(&format!("ExecStart={env} -i --"));
    let variables = scene.environment.iter().map(|(name, value)| format!("{name}={value}"));
    for word in variables.chain(scene.argv.iter().cloned()) {
        unit.push_str(&format!(" {}", quoted(&word)));
    }
    unit.push('\n');
    unit
}

/// Returns a word that a unit reads as `text`.
fn quoted(text: &str) -> String {
    let mut word = String::from("\"");
    for c in text.chars() {
        match c {
            '"' | '\\' => word.extend(['\\', c]),
            '%' | '$' => word.extend([c, c]),
            '\n' => word.push_str("\\n"),
            '\r' => word.push_str("\\r"),
            c => word.push(c),
        }
    }
    word.push('"');
    word
}

/// What it never carries.
fn lacks(scene: &mut Scene<'_>) {
    let missed = &mut scene.missed;
    // A control group counts and bounds everybody.
    missed.has(&[Lack::Processes, Lack::Memory]);
    missed.add(
        Lack::CallArguments,
        "ioctls of terminals, TCP_ULP and protocols of sockets are not looked at",
    );
    missed.add(Lack::Descriptors, "standard descriptors are passed on and not looked at");
    missed.add(Lack::LateMounts, "what the host mounts while it runs appears inside");
    missed.add(
        Lack::NewCalls,
        "system calls that are newer than our table, or than the engine's library, are let through",
    );
    missed.add(Lack::Orphans, "a service outlives the command that started it");
    missed.add(
        Lack::ProcessNamespace,
        "processes of the same user outside are seen, and can be ended",
    );
    missed.add(Lack::Terminals, "terminals of the host are in /dev/pts");
}
