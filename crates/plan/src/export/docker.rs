//! docker: a command line, and the filter of system calls beside it.
//!
//! The root is that of an image. Nothing of the host is in it but the project, what else can be
//! written, and the policy: so what is hidden elsewhere is not there at all.

use std::path::Path;

use super::lack::Lack;
use super::program::{make, program};
use super::scene::{Mount, Scene, What};
use super::shell::{Line, text};
use super::{Around, CannotExport, Engine, Export, File, calls, litter};
use crate::plan::{Note, Plan};
use crate::step::{Access, Limit, Namespace, Shape};

/// The file with the filter.
const FILTER: &str = "seccomp.json";

pub(super) fn export(
    plan: &Plan,
    mut scene: Scene<'_>,
    around: &Around<'_>,
) -> Result<Export, CannotExport> {
    let folder = around.folder.ok_or(CannotExport::NoFolder(Engine::Docker))?;
    let image = around.image.filter(|image| !image.is_empty() && !image.starts_with('-'));
    let image = image.ok_or(CannotExport::NoImage(Engine::Docker))?;
    let mut line = Line::default();
    make(&mut line, &scene, around)?;
    line.raw(&program("docker", &scene, around)?);
    line.raw("run --rm --interactive --init --read-only");
    let has_own = scene.namespaces.contains(&Namespace::Network);
    line.raw(if has_own { "--network none" } else { "--network host" });
    line.raw("--ipc private --cgroupns private --cap-drop ALL --security-opt no-new-privileges");
    let mut files = Vec::new();
    if let Some((arch, nesting, groups)) = scene.filter {
        let content = format!("{:#}\n", calls::profile(arch, nesting, groups)).into_bytes();
        files.push(File { name: FILTER, content });
        line.raw("--security-opt");
        line.word(&format!("seccomp={}", text(&folder.join(FILTER))?))?;
    }
    if let Some(identity) = scene.identity {
        line.raw(&format!("--user {}:{}", identity.uid, identity.gid));
    }
    limits(&mut line, &scene, plan);
    mounts(&mut line, &scene, around)?;
    line.option("--workdir", &[scene.cwd])?;
    for variable @ (name, value) in &scene.environment {
        let theirs = around.outside.contains(variable);
        line.raw("--env");
        line.word(&if theirs { name.clone() } else { format!("{name}={value}") })?;
    }
    // An image may have a program of its own, of which the command would be mere arguments.
    let mut arguments = scene.argv.iter();
    if let Some(program) = arguments.next() {
        line.raw("--entrypoint");
        line.word(program)?;
    }
    line.word(image)?;
    arguments.try_for_each(|word| line.word(word))?;

    let mut notes = litter(&scene);
    let message = format!("programs, libraries and homes are those of the image `{image}`");
    notes.push(Note { code: "image", message });
    let missing = lacks(&mut scene, plan);
    let text = format!("{}\n", line.done());
    Ok(Export { text, files, folders: Vec::new(), missing, notes })
}

fn limits(line: &mut Line, scene: &Scene<'_>, plan: &Plan) {
    for limit in &scene.limits {
        line.raw(&match *limit {
            Limit::Processes(most) => format!("--pids-limit {most}"),
            Limit::Data(most) => format!("--ulimit data={most}:{most}"),
            Limit::CpuSeconds(most) => format!("--ulimit cpu={most}:{most}"),
            Limit::FileSize(most) => format!("--ulimit fsize={most}:{most}"),
            Limit::OpenFiles(most) => format!("--ulimit nofile={most}:{most}"),
            Limit::NoCores => "--ulimit core=0:0".to_owned(),
        });
    }
    if let Some(memory) = plan.bounds().memory {
        // Without the second it may swap as much again.
        line.raw(&format!("--memory {memory} --memory-swap {memory}"));
    }
}

fn mounts(line: &mut Line, scene: &Scene<'_>, around: &Around<'_>) -> Result<(), CannotExport> {
    for (tree, access) in &scene.trees {
        bind(line, tree, tree, *access)?;
    }
    let is_inside = |path: &Path| scene.trees.iter().any(|(tree, _)| path.starts_with(tree));
    for Mount { at, what } in &scene.mounts {
        match what {
            What::Memory { size, .. } if at == Path::new("/dev/shm") => {
                if let Some(size) = size {
                    line.raw(&format!("--shm-size {size}"));
                }
            }
            What::Memory { size, mode } => memory(line, at, *size, *mode)?,
            // The rest of the host is not there.
            _ if !is_inside(at) => {}
            What::Tree(_) | What::Text(_) => {}
            What::Pin => bind(line, at, at, Access::Write)?,
            What::Sealed => bind(line, at, at, Access::Read)?,
            What::Cover(Shape::File) => bind(line, "/dev/null".as_ref(), at, Access::Read)?,
            What::Cover(Shape::Folder) => empty(line, at, "0000")?,
            What::Reserved => empty(line, at, "0555")?,
        }
    }
    for policy in around.policies.iter().filter(|policy| !is_inside(policy)) {
        bind(line, policy, policy, Access::Read)?;
    }
    Ok(())
}

/// Puts a folder in memory at a path, which ends at the first colon.
pub(super) fn memory(
    line: &mut Line,
    at: &Path,
    size: Option<u64>,
    mode: u32,
) -> Result<(), CannotExport> {
    let path = text(at)?;
    if path.contains(':') {
        return Err(CannotExport::NoText(path.into()));
    }
    let size = size.map(|size| format!(",size={size}")).unwrap_or_default();
    line.raw("--tmpfs");
    line.word(&format!("{path}:rw,exec,nosuid,nodev,mode={mode:o}{size}"))
}

fn bind(line: &mut Line, from: &Path, at: &Path, access: Access) -> Result<(), CannotExport> {
    let (source, target) = (field("source", from)?, field("target", at)?);
    let access = match access {
        Access::Write | Access::Device => "",
        // What is mounted below it too.
        Access::Read => ",readonly,bind-recursive=readonly",
    };
    line.raw("--mount");
    line.word(&format!("type=bind,{source},{target},bind-propagation=rprivate{access}"))
}

/// Puts an empty folder at a path, in which nothing can be made.
fn empty(line: &mut Line, at: &Path, mode: &str) -> Result<(), CannotExport> {
    line.raw("--mount");
    let target = field("target", at)?;
    line.word(&format!("type=tmpfs,{target},readonly,tmpfs-mode={mode},tmpfs-size=4096"))
}

/// Returns one field of a mount, which are read as lines of a table with commas.
fn field(name: &str, path: &Path) -> Result<String, CannotExport> {
    let path = text(path)?;
    if path.contains([',', '"', '\n', '\r']) {
        return Ok(format!("\"{name}={}\"", path.replace('"', "\"\"")));
    }
    Ok(format!("{name}={path}"))
}

fn lacks(scene: &mut Scene<'_>, plan: &Plan) -> Vec<super::Missing> {
    let missed = &mut scene.missed;
    // No home of the host is there, and a control group counts and bounds everybody.
    missed.has(&[Lack::Absence, Lack::Sockets, Lack::Processes, Lack::Memory]);
    if let Some(time) = plan.bounds().time {
        missed.add(Lack::Time, format!("it is not ended after {} s", time.as_secs()));
    }
    missed.add(Lack::FirstProcess, "programs inside can look into docker's own first process");
    missed.add(
        Lack::NewCalls,
        "system calls that are newer than our table, or than the engine's library, are let through",
    );
    missed.add(Lack::Orphans, "a container outlives a client that is killed");
    missed
        .add(Lack::UserNamespace, "users inside are those outside, unless the daemon remaps them");
    std::mem::take(missed).list()
}
