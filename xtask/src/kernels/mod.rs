//! `cargo xtask kernels`: the suite and the control groups on kernels that this machine does not run.
//!
//! Each kernel of Debian's is started in an emulated machine, with a file system in memory that
//! holds the static binary, the probe, the runner and busybox. Takes minutes, and downloads some
//! hundred megabytes: without `PALISADE_TEST_FULL=1` it only says what it would do.

mod cpio;
mod fetch;
mod machine;
mod page;

use std::env;
use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::thread;

use crate::elf::{self, Linking};
use crate::failure::Failure;
use crate::finding::Ending;
use crate::tree::Tree;
use crate::{conformance, dist};

/// The page that is written.
const DOCUMENT: &str = "docs/kernels.md";

/// Suites whose newest kernel is started.
const SUITES: [&str; 2] = ["bookworm", "bookworm-backports"];

/// Programs that this needs, and the packages that have them.
const NEEDED: [(&str, &str); 5] = [
    ("/usr/bin/qemu-system-x86_64", "qemu-system-x86"),
    ("/bin/busybox", "busybox-static"),
    ("/usr/bin/dpkg-deb", "dpkg"),
    ("/usr/bin/apt-get", "apt"),
    ("/usr/bin/xz", "xz-utils"),
];

pub(crate) fn run(arguments: &[String], out: &mut dyn Write) -> Result<Ending, Failure> {
    let tree = Tree::open()?;
    let palisade = match arguments {
        [] => tree.root().join(dist::BINARY),
        [flag, file] if flag == "--palisade" => PathBuf::from(file),
        [unknown, ..] => return Err(Failure::argument("kernels", unknown)),
    };
    if env::var_os("PALISADE_TEST_FULL").is_none_or(|value| value != "1") {
        writeln!(
            out,
            "would download the kernels of {}, start each in qemu without KVM, run the \
             conformance suite and the control groups there with {}, and write {DOCUMENT}; \
             PALISADE_TEST_FULL=1 does it",
            SUITES.join(" and "),
            palisade.display(),
        )?;
        return Ok(Ending::Clean);
    }
    let missing: Vec<_> = NEEDED
        .iter()
        .filter(|(path, _)| !Path::new(path).exists())
        .map(|(_, name)| *name)
        .collect();
    if !missing.is_empty() {
        return Err(Failure::new(format!("please install {}", missing.join(" "))));
    }
    is_static(&palisade)?;
    is_static(Path::new("/bin/busybox"))?;
    let suite = conformance::build(&tree, out)?;
    let folder = tree.root().join("target/kernels");
    let mut machines = Vec::new();
    for suite_name in SUITES {
        let place = folder.join(suite_name);
        let kernel = fetch::kernel(suite_name, &place, out)?;
        let programs = [
            ("palisade", palisade.clone()),
            ("conformance", suite.join("conformance")),
            ("conformance-probe", suite.join("conformance-probe")),
        ];
        let image = machine::image(&kernel, &programs)?;
        writeln!(out, "{}: started", kernel.name)?;
        machines.push((suite_name, place, kernel, image));
    }
    // Side by side: much of what they do is waiting.
    let told: Vec<_> = thread::scope(|scope| {
        let mut running = Vec::new();
        for (_, place, kernel, image) in &machines {
            running.push(scope.spawn(move || machine::run(kernel, image, place)));
        }
        running.into_iter().map(thread::ScopedJoinHandle::join).collect()
    });
    let mut results = Vec::new();
    for ((suite_name, _, kernel, _), told) in machines.iter().zip(told) {
        let told = told.map_err(|_| Failure::new("a thread has panicked"))??;
        let result = page::Result::read(suite_name, &told);
        writeln!(out, "{}: {}", kernel.name, result.summary())?;
        results.push(result);
    }
    let page = page::page(&results);
    fs::write(tree.root().join(DOCUMENT), &page)
        .map_err(|error| Failure::io(format!("cannot write {DOCUMENT}"), &error))?;
    let fine = results.iter().all(page::Result::is_fine);
    Ok(if fine { Ending::Clean } else { Ending::Findings })
}

fn is_static(path: &Path) -> Result<(), Failure> {
    let bytes = fs::read(path)
        .map_err(|error| Failure::io(format!("cannot read {}", path.display()), &error))?;
    match elf::linking(&bytes) {
        Linking::Static => Ok(()),
        Linking::Dynamic | Linking::Unknown => {
            let path = path.display();
            Err(Failure::new(format!("{path} is not static: `cargo xtask dist` makes one that is")))
        }
    }
}
