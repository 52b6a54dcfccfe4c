//! Gets a kernel of Debian's, by apt and its signatures, without touching what is installed.

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::failure::Failure;
use crate::program;

/// A kernel, and the one module that the walls need of it.
#[derive(Clone, Debug)]
pub(super) struct Kernel {
    pub(super) name: String,
    pub(super) image: PathBuf,
    pub(super) overlay: Vec<u8>,
}

/// The package that depends on the newest kernel of a suite.
const PACKAGE: &str = "linux-image-amd64";

/// Downloads and unpacks the newest kernel of `suite` below `place`.
pub(super) fn kernel(suite: &str, place: &Path, out: &mut dyn Write) -> Result<Kernel, Failure> {
    let cannot = |error| Failure::io(format!("cannot use {}", place.display()), &error);
    for folder in ["lists/partial", "cache/archives/partial"] {
        fs::create_dir_all(place.join(folder)).map_err(cannot)?;
    }
    let sources = place.join("sources.list");
    fs::write(&sources, format!("{}\n", source(suite)?)).map_err(cannot)?;
    // Everything of apt's that would be written lies here.
    let apt = |program: &str| {
        let mut command = Command::new(program);
        command.arg("-o").arg(format!("Dir::Etc::sourcelist={}", sources.display()));
        command.args(["-o", "Dir::Etc::sourceparts=-"]);
        command.arg("-o").arg(format!("Dir::State::lists={}", place.join("lists").display()));
        command.arg("-o").arg(format!("Dir::Cache={}", place.join("cache").display()));
        command.args(["-o", "APT::Sandbox::User=root"]).current_dir(place);
        command
    };
    program::capture(apt("apt-get").args(["update", "-qq"]))?;
    let depends = program::capture(apt("apt-cache").args(["depends", PACKAGE]))?;
    let name = newest(&depends)
        .ok_or_else(|| Failure::new(format!("{suite} has no {PACKAGE}: {depends}")))?;
    let unpacked = place.join(name);
    if !unpacked.is_dir() {
        writeln!(out, "{name}: downloading")?;
        program::capture(apt("apt-get").args(["download", "-qq", name]))?;
        let package = entries(place)?.into_iter().find(|path| {
            let file = path.file_name().unwrap_or_default().to_string_lossy();
            file.starts_with(&format!("{name}_")) && file.ends_with(".deb")
        });
        let package = package.ok_or_else(|| Failure::new(format!("apt did not leave {name}")))?;
        let half = place.join("unpacking");
        fs::remove_dir_all(&half).ok();
        program::capture(Command::new("dpkg-deb").arg("-x").arg(&package).arg(&half))?;
        fs::rename(&half, &unpacked).map_err(cannot)?;
        fs::remove_file(package).map_err(cannot)?;
    }
    let release = name.strip_prefix("linux-image-").unwrap_or(name);
    let image = unpacked.join(format!("boot/vmlinuz-{release}"));
    let module = unpacked.join(format!("lib/modules/{release}/kernel/fs/overlayfs/overlay.ko"));
    Ok(Kernel { name: name.to_owned(), image, overlay: module_bytes(&module)? })
}

/// Returns the line for apt: the mirror that this machine has, and another suite of it.
fn source(suite: &str) -> Result<String, Failure> {
    let mut apt = Command::new("apt-get");
    let listed =
        program::capture(apt.args(["indextargets", "--format", "$(REPO_URI) $(CODENAME)"]))?;
    let mirror = mirror(&listed, suite)
        .ok_or_else(|| Failure::new("apt has no source of Debian 12 to take kernels from"))?;
    let keys = "/usr/share/keyrings/debian-archive-keyring.gpg";
    Ok(format!("deb [signed-by={keys}] {mirror} {suite} main"))
}

/// A suite and its backports are at the same place.
fn mirror<'l>(listed: &'l str, suite: &str) -> Option<&'l str> {
    let suite = suite.strip_suffix("-backports").unwrap_or(suite);
    let mut lines = listed.lines().filter_map(|line| line.split_once(' '));
    lines.find(|(_, name)| *name == suite).map(|(place, _)| place)
}

/// Returns the kernel that a package for all of them depends on.
fn newest(depends: &str) -> Option<&str> {
    let mut lines = depends.lines().filter_map(|line| line.trim().strip_prefix("Depends: "));
    lines.find(|name| name.starts_with("linux-image-"))
}

fn entries(folder: &Path) -> Result<Vec<PathBuf>, Failure> {
    let cannot = |error| Failure::io(format!("cannot list {}", folder.display()), &error);
    let entries = fs::read_dir(folder).map_err(cannot)?;
    Ok(entries.flatten().map(|entry| entry.path()).collect())
}

/// Newer kernels have their modules compressed.
fn module_bytes(path: &Path) -> Result<Vec<u8>, Failure> {
    if path.is_file() {
        let cannot = |error| Failure::io(format!("cannot read {}", path.display()), &error);
        return fs::read(path).map_err(cannot);
    }
    let compressed = path.with_extension("ko.xz");
    let output = program::output(Command::new("xz").arg("-dc").arg(&compressed))?;
    if output.status.success() {
        Ok(output.stdout)
    } else {
        Err(Failure::new(format!("cannot unpack {}", compressed.display())))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kernels_and_mirrors_are_read_from_what_apt_says() {
        let depends = "linux-image-amd64\n  Depends: linux-image-6.1.0-54-amd64\n";
        assert_eq!(newest(depends), Some("linux-image-6.1.0-54-amd64"));
        assert_eq!(newest("E: No packages found\n"), None);
        let listed = "http://a.test/security bookworm-security\nhttp://a.test/debian bookworm\n";
        assert_eq!(mirror(listed, "bookworm"), Some("http://a.test/debian"));
        assert_eq!(mirror(listed, "bookworm-backports"), Some("http://a.test/debian"));
        assert_eq!(mirror(listed, "trixie"), None);
    }
}
