//! Open containers: a bundle that runc or crun starts, and another for gVisor's runsc.
//!
//! The host's own root is the container's. For runc it is mounted over the empty folder of the
//! bundle, with all mounts below it read-only. runsc would write to the host there: it takes `/` for
//! the root, and sees everything below a mount as one.

use std::path::Path;

use serde_json::{Value, json};

use super::lack::Lack;
use super::program::{make, program};
use super::scene::{Mount, Scene, What};
use super::shell::{Line, text};
use super::{Around, CannotExport, Engine, Export, File, calls, litter, values};
use crate::plan::{Note, Plan};
use crate::step::{Access, Identity, Limit, Namespace, Shape};

/// The file with the names of hosts.
const HOSTS: &str = "hosts";

/// A folder that nobody can open, to cover others with: engines give a fresh one the permissions of
/// what it covers.
const SHUT: &str = "shut";

/// Whose bundle it is.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Runtime {
    /// That of runc and crun, which use the kernel of the host.
    Runc,
    /// That of runsc, which is a kernel itself.
    Runsc,
}

impl Runtime {
    fn engine(self) -> Engine {
        match self {
            Self::Runc => Engine::Oci,
            Self::Runsc => Engine::Gvisor,
        }
    }

    /// Returns how something is mounted, with what is mounted below it.
    fn options(self, access: Access) -> [&'static str; 5] {
        match (self, access) {
            (Self::Runc, Access::Write) => ["rbind", "rw", "rnosuid", "rnodev", "rprivate"],
            (Self::Runc, Access::Read | Access::Device) => {
                ["rbind", "rro", "rnosuid", "rnodev", "rprivate"]
            }
            (Self::Runsc, Access::Write) => ["rbind", "rw", "nosuid", "nodev", "rprivate"],
            (Self::Runsc, Access::Read | Access::Device) => {
                ["rbind", "ro", "nosuid", "nodev", "rprivate"]
            }
        }
    }
}

pub(super) fn export(
    plan: &Plan,
    mut scene: Scene<'_>,
    around: &Around<'_>,
    runtime: Runtime,
) -> Result<Export, CannotExport> {
    let folder = around.folder.ok_or(CannotExport::NoFolder(runtime.engine()))?;
    let mut made = Made::new(folder, runtime);
    scene.mounts.iter().try_for_each(|mount| made.mount(mount))?;
    let mut config = config(&scene, made.mounts, made.masked)?;
    if runtime == Runtime::Runsc {
        config["root"] = json!({ "path": "/", "readonly": true });
    }
    let content = format!("{config:#}\n").into_bytes();
    made.files.push(File { name: "config.json", content });

    let mut line = Line::default();
    // Its state lies in the bundle too: then it needs no folder that only root has.
    make(&mut line, &scene, around)?;
    match runtime {
        Runtime::Runc => line.raw(&program("runc", &scene, around)?),
        Runtime::Runsc => {
            let has_own = scene.namespaces.contains(&Namespace::Network);
            line.raw(&format!("{} --oci-seccomp", program("runsc", &scene, around)?));
            line.raw(if has_own { "--network=none" } else { "--network=host" });
            scene.missed.add(Lack::LateMounts, "what the host mounts while it runs may appear");
        }
    }
    line.option("--root", &[&folder.join("state")])?;
    line.option("run --bundle", &[folder])?;
    line.raw("\"palisade-$$\"");

    let mut notes = litter(&scene);
    notes.push(values("config.json"));
    if scene.identity.is_some_and(|it| it.uid != 0) {
        let message = "inside, the user is 0, who has your rights outside and no more".into();
        notes.push(Note { code: "user-zero", message });
    }
    if let Some(time) = plan.bounds().time {
        scene.missed.add(Lack::Time, format!("it is not ended after {} s", time.as_secs()));
    }
    let missed = &mut scene.missed;
    if let Some((_, processes)) = scene.group {
        missed.has(&[Lack::Memory]);
        missed.has(if processes.is_some() { &[Lack::Processes] } else { &[] });
    }
    missed.add(Lack::Descriptors, "standard descriptors are passed on and not looked at");
    missed.add(
        Lack::NewCalls,
        "system calls that are newer than our table, or than the engine's library, are let through",
    );
    missed.add(Lack::Orphans, "a container outlives an engine that is killed");
    missed.add(Lack::Reaper, "the command is the first process, and nobody reaps for it");
    let missing = scene.missed.list();
    let text = format!("{}\n", line.done());
    let folders = vec![("rootfs", 0o700), ("state", 0o700), (SHUT, 0)];
    Ok(Export { text, files: made.files, folders, missing, notes })
}

/// Returns the configuration of the container.
fn config(
    scene: &Scene<'_>,
    mounts: Vec<Value>,
    masked: Vec<Value>,
) -> Result<Value, CannotExport> {
    let environment: Vec<String> =
        scene.environment.iter().map(|(name, value)| format!("{name}={value}")).collect();
    let none: [&str; 0] = [];
    let mut linux = json!({
        "namespaces": scene.namespaces.iter().map(|it| namespace(*it)).collect::<Value>(),
        "maskedPaths": masked,
        // Inside, the user is 0, to whom some switches of its own namespaces belong.
        "readonlyPaths": ["/proc/sys"],
    });
    if let Some(Identity { uid, outer_uid, gid, outer_gid, .. }) = scene.identity {
        // Engines become 0 before they become anybody: it must be somebody outside. What swaps
        // owners is not carried, so that root stays root.
        let (user, group) = if uid == outer_uid { (outer_uid, outer_gid) } else { (uid, gid) };
        linux["uidMappings"] = json!([{ "containerID": 0, "hostID": user, "size": 1 }]);
        linux["gidMappings"] = json!([{ "containerID": 0, "hostID": group, "size": 1 }]);
    }
    if let Some((arch, nesting, groups)) = scene.filter {
        linux["seccomp"] = calls::profile(arch, nesting, groups);
    }
    if let Some((memory, processes)) = scene.group {
        linux["resources"] = json!({ "memory": { "limit": memory } });
        if let Some(processes) = processes {
            linux["resources"]["pids"] = json!({ "limit": processes });
        }
    }
    Ok(json!({
        "ociVersion": "1.0.2",
        "root": { "path": "rootfs", "readonly": false },
        "process": {
            "terminal": false,
            "user": { "uid": 0, "gid": 0 },
            "args": scene.argv,
            "env": environment,
            "cwd": text(scene.cwd)?,
            "noNewPrivileges": true,
            "capabilities": {
                "bounding": none, "effective": none, "inheritable": none,
                "permitted": none, "ambient": none,
            },
            "rlimits": scene.limits.iter().map(limit).collect::<Value>(),
        },
        "mounts": mounts,
        "linux": linux,
    }))
}

/// What has been written so far.
struct Made<'a> {
    mounts: Vec<Value>,
    masked: Vec<Value>,
    files: Vec<File>,
    folder: &'a Path,
    runtime: Runtime,
}

impl<'a> Made<'a> {
    fn new(folder: &'a Path, runtime: Runtime) -> Self {
        let mut mounts = match runtime {
            Runtime::Runc => vec![bind("/", "/", runtime.options(Access::Read))],
            Runtime::Runsc => Vec::new(),
        };
        mounts.extend([
            fresh("/proc", "proc", &["nosuid", "nodev", "noexec"]),
            fresh("/dev", "tmpfs", &["nosuid", "mode=755", "size=65536"]),
            fresh(
                "/dev/pts",
                "devpts",
                &["nosuid", "noexec", "newinstance", "ptmxmode=0666", "mode=0620"],
            ),
        ]);
        Self { mounts, masked: Vec::new(), files: Vec::new(), folder, runtime }
    }

    fn mount(&mut self, Mount { at, what }: &Mount) -> Result<(), CannotExport> {
        let path = text(at)?;
        let [sealed, open] = [Access::Read, Access::Write].map(|it| self.runtime.options(it));
        let mount = match what {
            // Engines refuse mounts in /proc, and have lists for it.
            What::Cover(_) if at.starts_with("/proc") => {
                self.masked.push(path.into());
                return Ok(());
            }
            What::Sealed if at == Path::new("/proc/sys") => return Ok(()),
            What::Memory { size, mode } => {
                let mut options =
                    vec!["nosuid".to_owned(), "nodev".into(), format!("mode={mode:o}")];
                options.extend(size.map(|size| format!("size={size}")));
                let options: Vec<&str> = options.iter().map(String::as_str).collect();
                fresh(path, "tmpfs", &options)
            }
            What::Tree(Access::Write) | What::Pin => bind(path, path, open),
            What::Tree(Access::Read | Access::Device) | What::Sealed => bind(path, path, sealed),
            What::Text(content) => {
                let content = content.clone().into_bytes();
                self.files.push(File { name: HOSTS, content });
                bind(text(&self.folder.join(HOSTS))?, path, sealed)
            }
            What::Cover(Shape::File) => bind("/dev/null", path, sealed),
            What::Cover(Shape::Folder) => bind(text(&self.folder.join(SHUT))?, path, sealed),
            What::Reserved => {
                fresh(path, "tmpfs", &["ro", "nosuid", "nodev", "mode=555", "size=4k"])
            }
        };
        self.mounts.push(mount);
        Ok(())
    }
}

fn bind(from: &str, at: &str, options: [&str; 5]) -> Value {
    json!({ "destination": at, "type": "bind", "source": from, "options": options })
}

fn fresh(at: &str, kind: &str, options: &[&str]) -> Value {
    json!({ "destination": at, "type": kind, "source": kind, "options": options })
}

fn namespace(namespace: Namespace) -> Value {
    let word = match namespace {
        Namespace::User => "user",
        Namespace::Mount => "mount",
        Namespace::Process => "pid",
        Namespace::Network => "network",
        Namespace::Ipc => "ipc",
        Namespace::Name => "uts",
        Namespace::Cgroup => "cgroup",
    };
    json!({ "type": word })
}

fn limit(limit: &Limit) -> Value {
    let (name, most) = match *limit {
        Limit::Processes(most) => ("RLIMIT_NPROC", most),
        Limit::Data(most) => ("RLIMIT_DATA", most),
        Limit::CpuSeconds(most) => ("RLIMIT_CPU", most),
        Limit::FileSize(most) => ("RLIMIT_FSIZE", most),
        Limit::OpenFiles(most) => ("RLIMIT_NOFILE", most),
        Limit::NoCores => ("RLIMIT_CORE", 0),
    };
    json!({ "type": name, "soft": most, "hard": most })
}
