//! A plan as text for people and as JSON for programs. Both say everything but the values of
//! environment variables.

use std::fmt;
use std::path::Path;

use serde_json::{Value, json};

use crate::plan::{Enforced, Plan, Strength};
use crate::seccomp::{Groups, Nesting, Sockets};
use crate::step::{
    Access, Alone, Depth, Identity, Keep, Limit, MappedBy, Namespace, Owner, Reached, Shape, Step,
    Tree,
};

impl fmt::Display for Plan {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for step in self.steps.iter() {
            let (name, words) = told(step);
            let line = format!("{name:<14} {}", words.join(" "));
            writeln!(f, "{}", line.trim_end())?;
        }
        if let Some(after) = &self.after {
            let trees: Vec<String> = after.trees.iter().map(|tree| shown(tree)).collect();
            writeln!(f, "{:<14} {}", "look-over", trees.join(" "))?;
        }
        writeln!(f, "# {:<12} {}", "level", self.level.word())?;
        for Enforced { layer, strength } in &self.enforced {
            write!(f, "# {:<12} {}", layer.word(), strength.word())?;
            match strength {
                Strength::Kernel => {}
                Strength::Window(lacks) | Strength::Partial(lacks) => {
                    write!(f, ": {}", lacks.join("; "))?;
                }
                Strength::Absent(why) => write!(f, ": {why}")?,
            }
            writeln!(f)?;
        }
        Ok(())
    }
}

impl fmt::Display for Step {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (name, words) = told(self);
        write!(f, "{name}")?;
        words.iter().try_for_each(|word| write!(f, " {word}"))
    }
}

impl Plan {
    /// Returns the plan for programs.
    pub fn json(&self) -> Value {
        let steps: Vec<Value> = self
            .steps
            .iter()
            .map(|step| {
                let (name, words) = told(step);
                json!({ "step": name, "is": words })
            })
            .collect();
        let notes: Vec<Value> = self
            .notes
            .iter()
            .map(|note| json!({ "code": note.code, "message": note.message }))
            .collect();
        let after: Vec<String> =
            self.after.iter().flat_map(|after| &after.trees).map(|tree| shown(tree)).collect();
        json!({ "level": self.level.word(), "steps": steps, "look_over": after, "enforced": enforced_json(&self.enforced), "notes": notes })
    }
}

/// Returns for programs what holds, layer by layer.
pub fn enforced_json(layers: &[Enforced]) -> Value {
    let layers = layers.iter().map(|Enforced { layer, strength }| {
        let value = match strength {
            Strength::Kernel => json!({ "is": "kernel" }),
            Strength::Window(lacks) | Strength::Partial(lacks) => {
                json!({ "is": strength.word(), "lacks": lacks })
            }
            Strength::Absent(why) => json!({ "is": "absent", "why": why }),
        };
        (layer.word().to_owned(), value)
    });
    Value::Object(layers.collect())
}

/// Returns a step's name and its words.
fn told(step: &Step) -> (&'static str, Vec<String>) {
    match step {
        Step::Namespaces(kinds) => {
            ("namespaces", kinds.iter().map(|kind| namespace(*kind).to_owned()).collect())
        }
        Step::Identity(identity) => ("identity", vec![told_identity(identity)]),
        Step::Group { folder, memory, processes } => {
            let mut list = vec![shown(folder), format!("memory={memory}")];
            list.extend(processes.map(|most| format!("processes={most}")));
            ("group", list)
        }
        Step::Keep(keep) => ("keep", told_keep(keep)),
        Step::SealRoot => ("seal-root", words(["read-only", "no-devices", "no-suid", "private"])),
        Step::EmptyRoot => ("empty-root", Vec::new()),
        Step::CloseRoot => ("close-root", words(["read-only", "no-devices", "no-suid"])),
        Step::Tmpfs { at, size, mode } => {
            let size = size.map_or("unbounded".to_owned(), |size| size.to_string());
            ("tmpfs", vec![shown(at), format!("size={size}"), format!("mode={mode:o}")])
        }
        Step::FreshProc => ("proc", words(["/proc"])),
        Step::FreshTerminals => ("terminals", words(["/dev/pts"])),
        Step::MakeFolder(path) => ("folder", vec![shown(path)]),
        Step::MakeFile(path) => ("file", vec![shown(path)]),
        Step::MakeLink { at, to } => ("link", vec![shown(at), quoted(to)]),
        Step::Attach { tree, at } => ("attach", vec![number(*tree), shown(at)]),
        Step::Hide { tree, at, mode, names, between } => {
            let mut list =
                vec![number(*tree), shown(at), format!("mode={mode:o}"), "without".into()];
            list.extend(names.iter().map(|name| shown(name)));
            let kept = between.iter().map(|(name, mode)| format!("({}:{mode:o})", shown(name)));
            list.extend(kept);
            ("hide", list)
        }
        Step::Cache { tree, at } => ("cache", vec![number(*tree), shown(at)]),
        Step::Cover { at, shape } => {
            let shape = match shape {
                Shape::Folder => "folder",
                Shape::File => "file",
            };
            ("cover", vec![shown(at), shape.into()])
        }
        Step::Mask(paths) => ("mask", paths.iter().map(|path| shown(path)).collect()),
        Step::Show { at, text } => ("show", vec![shown(at), quoted(text)]),
        Step::Reserve(paths) => ("reserve", paths.iter().map(|path| shown(path)).collect()),
        Step::Pin(path) => ("pin", vec![shown(path)]),
        Step::Protect(path) => ("protect", vec![shown(path)]),
        Step::Seatbelt { text, parameters } => {
            let given = parameters.iter().map(|(name, value)| quoted(&format!("{name}={value}")));
            ("seatbelt", given.chain([quoted(text)]).collect())
        }
        Step::LoopbackUp => ("loopback", Vec::new()),
        Step::Inlets(best) => ("inlets", words([best.word()])),
        Step::Publish(ports) => ("publish", ports.iter().map(ToString::to_string).collect()),
        Step::Undumpable => ("undumpable", Vec::new()),
        Step::NoCapabilities => ("no-capabilities", Vec::new()),
        Step::NoNewPrivileges => ("no-new-privs", Vec::new()),
        Step::Adopt => ("adopt", Vec::new()),
        Step::Landlock { version, write } => {
            let mut list = vec![format!("abi={version}"), "write".into()];
            list.extend(write.iter().map(|path| shown(path)));
            ("landlock", list)
        }
        Step::LandlockAlone(alone) => ("landlock-alone", told_alone(alone)),
        Step::Scratch(path) => ("scratch", vec![shown(path)]),
        Step::Seccomp { arch, nesting, sockets, groups } => {
            let nesting = match nesting {
                Nesting::Off => "nested=off",
                Nesting::UserNamespaces => "nested=userns",
            };
            let mut list = words([arch.word(), nesting]);
            list.extend(match sockets {
                Sockets::Own => None,
                Sockets::Internet => Some("sockets=internet".into()),
                Sockets::Pairs => Some("sockets=pairs".into()),
            });
            list.extend(match groups {
                Groups::Own => None,
                Groups::Roots => Some("groups=root".into()),
            });
            ("seccomp", list)
        }
        Step::Reaper => ("reaper", Vec::new()),
        Step::Session => ("session", Vec::new()),
        Step::Descriptors => ("descriptors", words(["0", "1", "2"])),
        Step::Limit(limit) => ("limit", vec![told_limit(*limit)]),
        Step::Enter(path) => ("enter", vec![shown(path)]),
        Step::Prove { sealed, network, nesting } => {
            let mut list: Vec<String> = vec!["no-write".into()];
            list.extend(sealed.iter().map(|path| shown(path)));
            list.extend(match network {
                Reached::Nothing => Some("no-network".into()),
                Reached::Inlets => Some("no-way-out".into()),
                Reached::World => None,
            });
            list.extend((*nesting == Nesting::Off).then(|| "no-namespaces".into()));
            ("prove", list)
        }
        Step::TraceWrites(arch) => ("trace-writes", words([arch.word()])),
        Step::Exec { argv, paths, environment } => {
            let mut list: Vec<String> = argv.iter().map(|word| quoted(word)).collect();
            list.push("from".into());
            list.extend(paths.iter().map(|path| shown(path)));
            list.push("with".into());
            list.extend(environment.iter().map(|(name, _)| quoted(name)));
            ("exec", list)
        }
    }
}

fn told_identity(identity: &Identity) -> String {
    let Identity { uid, outer_uid, gid, outer_gid, mapped_by } = identity;
    let by = match mapped_by {
        MappedBy::Itself => "itself",
        MappedBy::Supervisor => "supervisor",
        MappedBy::Nobody => "nobody",
    };
    format!("uid {uid}={outer_uid} gid {gid}={outer_gid} by {by}")
}

fn told_keep(keep: &Keep) -> Vec<String> {
    let Keep { tree, path, access, depth, owner, id: _ } = keep;
    let access = match access {
        Access::Read => "read",
        Access::Write => "write",
        Access::Device => "device",
    };
    let depth = match depth {
        Depth::All => "deep",
        Depth::One => "alone",
    };
    let owner = match owner {
        Owner::Same => "owner=same".to_owned(),
        Owner::Swapped { uid, gid } => format!("owner=swapped({uid}:{gid})"),
    };
    let mut list = vec![number(*tree), shown(path)];
    list.extend(words([access, depth, &owner]));
    list
}

fn told_alone(alone: &Alone) -> Vec<String> {
    let Alone { version, hidden, shut, readable, write, fixed, devices } = alone;
    let mut list = vec![format!("abi={version}")];
    let parts = [
        ("without", hidden),
        ("shut", shut),
        ("read", readable),
        ("write", write),
        ("fixed", fixed),
        ("devices", devices),
    ];
    for (word, paths) in parts.into_iter().filter(|(_, paths)| !paths.is_empty()) {
        list.push(word.into());
        list.extend(paths.iter().map(|path| shown(path)));
    }
    list
}

fn told_limit(limit: Limit) -> String {
    match limit {
        Limit::Processes(most) => format!("processes={most}"),
        Limit::Data(most) => format!("data={most}"),
        Limit::CpuSeconds(most) => format!("cpu={most}s"),
        Limit::FileSize(most) => format!("file-size={most}"),
        Limit::OpenFiles(most) => format!("open-files={most}"),
        Limit::NoCores => "cores=0".into(),
    }
}

fn namespace(kind: Namespace) -> &'static str {
    match kind {
        Namespace::User => "user",
        Namespace::Mount => "mount",
        Namespace::Process => "pid",
        Namespace::Network => "net",
        Namespace::Ipc => "ipc",
        Namespace::Name => "uts",
        Namespace::Cgroup => "cgroup",
    }
}

fn words<const N: usize>(list: [&str; N]) -> Vec<String> {
    list.map(str::to_owned).into()
}

fn number(tree: Tree) -> String {
    format!("%{}", tree.0)
}

/// Shows a path: plain where that is clear, quoted and escaped otherwise.
fn shown(path: &Path) -> String {
    quoted(&path.to_string_lossy())
}

fn quoted(text: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "/._-+=:@%,~".contains(c);
    if !text.is_empty() && text.chars().all(plain) { text.into() } else { format!("{text:?}") }
}
