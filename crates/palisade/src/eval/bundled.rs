//! Five small tasks, for a first try and as an example.

use std::fs::{self, OpenOptions};
use std::io::{self, Write as _};
use std::path::Path;

macro_rules! files {
    ($($path:literal),* $(,)?) => {
        [$(($path, include_str!(concat!("../../../../evals/", $path)))),*]
    };
}

/// Every file of the tasks in `evals/`.
const FILES: [(&str, &str); 22] = files![
    "exit-code/task.json",
    "exit-code/buggy/check.sh",
    "exit-code/buggy/test.sh",
    "exit-code/expected/check.sh",
    "greeting/task.json",
    "greeting/buggy/greeting.txt",
    "greeting/buggy/test.sh",
    "greeting/expected/greeting.txt",
    "off-by-one/task.json",
    "off-by-one/buggy/sum.sh",
    "off-by-one/buggy/test.sh",
    "off-by-one/expected/sum.sh",
    "off-by-one/verify/test.sh",
    "port/task.json",
    "port/buggy/server.ini",
    "port/buggy/test.sh",
    "port/expected/server.ini",
    "quoting/task.json",
    "quoting/buggy/count.sh",
    "quoting/buggy/test.sh",
    "quoting/expected/count.sh",
    "quoting/verify/hidden-test.sh",
];

/// Writes the tasks into a folder, which is made if need be.
///
/// # Errors
///
/// When a file is there already, or cannot be written.
pub fn write(folder: &Path) -> io::Result<()> {
    for (path, text) in FILES {
        let path = folder.join(path);
        path.parent().map_or(Ok(()), fs::create_dir_all)?;
        let mut file = OpenOptions::new().write(true).create_new(true).open(&path)?;
        file.write_all(text.as_bytes())?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;
    use std::path::PathBuf;

    use super::*;

    fn files(folder: &Path, found: &mut BTreeSet<PathBuf>) {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                files(&path, found);
            } else {
                found.insert(path);
            }
        }
    }

    #[test]
    fn every_file_of_the_tasks_is_bundled() {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../evals");
        let mut found = BTreeSet::new();
        files(&folder, &mut found);
        let bundled: BTreeSet<PathBuf> = FILES.iter().map(|(path, _)| folder.join(path)).collect();
        assert_eq!(found, bundled);
    }
}
