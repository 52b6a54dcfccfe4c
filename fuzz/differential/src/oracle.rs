//! Asking bash.

use std::error::Error;
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use crate::tree::{MARKS, Tree};

const BUILTIN: [(&str, &str); 2] =
    [("oracle.c", include_str!("../oracle.c")), ("tree.h", include_str!("../tree.h"))];

/// Tells for each text whether `bash -n -c` reads it without complaint.
pub fn ask(texts: &[String]) -> Result<Vec<bool>, Box<dyn Error>> {
    Ok(ask_trees(texts)?.into_iter().map(|tree| tree.is_some()).collect())
}

/// Tells for each text that `bash -n -c` reads without complaint what bash makes of it.
pub fn ask_trees(texts: &[String]) -> Result<Vec<Option<Tree>>, Box<dyn Error>> {
    let folder = Folder::new()?;
    let library = folder.0.join("oracle.so");
    if !library.exists() {
        compile(&folder.0, &library)?;
    }
    let mut input = Vec::new();
    for text in texts {
        input.extend(text.bytes().filter(|&byte| byte != 0));
        input.push(0);
    }
    fs::write(folder.0.join("in"), input)?;
    run(&folder.0)?;
    let answers = fs::read(folder.0.join("out"))?;
    if answers.len() != texts.len() {
        return Err(format!("bash answered {} of {}", answers.len(), texts.len()).into());
    }
    let mut trees: Vec<_> =
        answers.into_iter().map(|answer| (answer == b'0').then(Tree::default)).collect();
    let notes = fs::read(folder.0.join("trees"))?;
    for note in String::from_utf8_lossy(&notes).split_terminator('\0') {
        let number = note.split(MARKS).next().unwrap_or_default();
        if let Some(Some(tree)) = trees.get_mut(number.parse::<usize>()?) {
            *tree = Tree::of_bash(note);
        }
    }
    Ok(trees)
}

/// Asks a fresh bash about one text.
pub fn ask_alone(text: &str) -> Result<bool, Box<dyn Error>> {
    let mut bash = Command::new("/bin/bash");
    bash.args(["--norc", "--noprofile", "-n", "-c", text]).env_clear().env("LC_ALL", "C.UTF-8");
    let output = bash.stdin(Stdio::null()).output()?;
    let notes = String::from_utf8_lossy(&output.stderr);
    Ok(output.status.success() && notes.lines().all(|line| line.contains("warning:")))
}

fn compile(folder: &Path, library: &Path) -> Result<(), Box<dyn Error>> {
    for (name, text) in BUILTIN {
        fs::write(folder.join(name), text)?;
    }
    let source = folder.join("oracle.c");
    let mut compiler = Command::new("cc");
    compiler.args(["-shared", "-fPIC", "-O1", "-w", "-o"]).args([library, &source]);
    match compiler.status()?.success() {
        true => Ok(()),
        false => Err("the builtin does not compile".into()),
    }
}

fn run(folder: &Path) -> Result<(), Box<dyn Error>> {
    let script = "enable -f ./oracle.so oracle && oracle 3<in 4>out 5>trees";
    let status = Command::new("/bin/bash")
        .args(["--norc", "--noprofile", "-c", script])
        .current_dir(folder)
        .env_clear()
        .stdin(Stdio::null())
        .env("LC_ALL", "C.UTF-8")
        .stderr(
            File::options()
                .read(true)
                .write(true)
                .create(true)
                .truncate(true)
                .open(folder.join("notes"))?,
        )
        .status()?;
    match status.success() {
        true => Ok(()),
        false => Err(format!("bash ended with {status}").into()),
    }
}

/// The folder of this process.
struct Folder(PathBuf);

impl Folder {
    fn new() -> Result<Self, Box<dyn Error>> {
        let path = std::env::temp_dir().join(format!("differential-{}", std::process::id()));
        fs::create_dir_all(&path)?;
        Ok(Self(path))
    }
}

/// Removes what asking left behind.
pub fn clean_up() -> Result<(), Box<dyn Error>> {
    Ok(fs::remove_dir_all(Folder::new()?.0)?)
}
