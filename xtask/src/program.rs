//! Starting other programs.

use std::ffi::OsStr;
use std::process::{Command, Output, Stdio};

use crate::failure::Failure;

/// Returns what `command` wrote to standard output; anything but success is a failure.
pub(crate) fn capture(command: &mut Command) -> Result<String, Failure> {
    let output = output(command)?;
    if !output.status.success() {
        let name = describe(command);
        let status = output.status;
        let text = String::from_utf8_lossy(&output.stderr);
        return Err(Failure::new(format!("`{name}` ended with {status}:\n{text}")));
    }
    Ok(String::from_utf8_lossy(&output.stdout).into_owned())
}

/// Runs `command` to its end with both streams captured, whatever its exit code.
pub(crate) fn output(command: &mut Command) -> Result<Output, Failure> {
    command
        .stdin(Stdio::null())
        .output()
        .map_err(|error| Failure::io(format!("cannot start `{}`", describe(command)), &error))
}

/// Runs `command` with its output shown; anything but success is a failure.
pub(crate) fn succeed(command: &mut Command) -> Result<(), Failure> {
    let status = command
        .stdin(Stdio::null())
        .status()
        .map_err(|error| Failure::io(format!("cannot start `{}`", describe(command)), &error))?;
    if status.success() {
        Ok(())
    } else {
        Err(Failure::new(format!("`{}` ended with {status}", describe(command))))
    }
}

/// Whether the standard library of a compilation target is installed.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(crate) enum Target {
    Installed,
    Missing { why: String },
}

/// Installs `target` for the pinned toolchain where that is possible.
pub(crate) fn ensure_target(target: &str) -> Target {
    if installed(target) {
        return Target::Installed;
    }
    let why = match output(Command::new("rustup").args(["target", "add", target])) {
        Ok(output) if installed(target) => {
            drop(output);
            return Target::Installed;
        }
        Ok(output) => String::from_utf8_lossy(&output.stderr).trim().replace('\n', "; "),
        Err(failure) => failure.to_string(),
    };
    Target::Missing { why }
}

fn installed(target: &str) -> bool {
    let mut rustc = Command::new("rustc");
    rustc.args(["--print", "target-libdir", "--target", target]);
    // The folder alone proves nothing: an uninstalled target leaves it behind, empty.
    capture(&mut rustc).is_ok_and(|folder| {
        std::fs::read_dir(folder.trim()).is_ok_and(|mut entries| entries.next().is_some())
    })
}

fn describe(command: &Command) -> String {
    let words: Vec<_> = std::iter::once(command.get_program())
        .chain(command.get_args())
        .map(OsStr::to_string_lossy)
        .collect();
    words.join(" ")
}
