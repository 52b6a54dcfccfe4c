//! `cargo xtask order`: which functions lie together in the release binary.
//!
//! A start uses a tenth of the code, and code comes into memory by the page: functions that a start
//! calls lie side by side at the beginning. Which these are is counted by running some starts under
//! callgrind, and, as that does not know the system calls that walls are made of, by looking again and
//! again where real starts are. What is written is a script for the linker. One that is out of date
//! orders less and breaks nothing.

use std::collections::BTreeSet;
use std::fs;
use std::io::Write;
use std::path::Path;
use std::process::Command;

use crate::dist;
use crate::failure::Failure;
use crate::finding::Ending;
use crate::program;
use crate::tree::Tree;

/// The script, which the command's build script hands to the linker.
const SCRIPT: &str = "crates/cli/order.ld";

/// The starts that are counted.
const STARTS: [&[&str]; 2] = [&["run", "--", "/bin/true"], &["check", "--", "ls", "-la"]];

/// How often a real start is looked at, and how often in a second.
const RUNS: &str = "3000";
const RATE: &str = "20000";

/// Fewer functions than this were not found by looking, but for want of it.
const FEWEST: usize = 300;

/// What callgrind does not get to: modules, as mangled names have them. They stand in for what is
/// found by looking, where that cannot be done.
const BEHIND: [&str; 4] =
    ["14palisade_apply3run", "14palisade_apply3sys", "13palisade_plan5build", "8palisade7sandbox"];

pub(crate) fn run(arguments: &[String], out: &mut dyn Write) -> Result<Ending, Failure> {
    if let Some(unknown) = arguments.first() {
        return Err(Failure::argument("order", unknown));
    }
    let tree = Tree::open()?;
    let (binary, _) = dist::build(&tree, dist::Symbols::Kept, out)?;
    let folder = tree.root().join("target/order");
    fs::remove_dir_all(&folder).ok();
    let cannot = |error| Failure::io(format!("cannot use {}", folder.display()), &error);
    fs::create_dir_all(&folder).map_err(cannot)?;
    let mut called = BTreeSet::new();
    for (number, start) in STARTS.iter().enumerate() {
        let counted = folder.join(format!("calls.{number}"));
        let mut valgrind = Command::new("valgrind");
        valgrind.args(["--tool=callgrind", "--demangle=no"]);
        valgrind.arg(format!("--callgrind-out-file={}", counted.display()));
        valgrind.arg(&binary).args(*start).current_dir(&folder);
        // That it does not get to the end is no matter.
        program::output(&mut valgrind)?;
        called.extend(functions(&fs::read_to_string(&counted).map_err(cannot)?));
    }
    let seen = seen(&folder.join("seen"), &binary).unwrap_or_default();
    let is_seen = seen.len() >= FEWEST;
    if !is_seen {
        writeln!(
            out,
            "note: perf cannot look at starts here: whole modules are put first instead"
        )?;
    }
    called.extend(seen);
    let text = script(&called, if is_seen { &[] } else { &BEHIND });
    fs::write(tree.root().join(SCRIPT), text)
        .map_err(|error| Failure::io(format!("cannot write {SCRIPT}"), &error))?;
    writeln!(out, "{SCRIPT}: {} functions", called.len())?;
    Ok(Ending::Clean)
}

/// Returns the functions in which real starts are found.
fn seen(data: &Path, binary: &Path) -> Result<BTreeSet<String>, Failure> {
    let runs = "n=0; while [ $n -lt $1 ]; do \"$0\" run -- /bin/true; n=$((n + 1)); done";
    let mut record = Command::new("perf");
    record.args(["record", "-q", "-e", "cpu-clock:u", "-F", RATE, "-o"]).arg(data);
    record.args(["--", "sh", "-c", runs]).arg(binary).arg(RUNS);
    record.current_dir(data.parent().unwrap_or(data));
    program::output(&mut record)?;
    let mut script = Command::new("perf");
    script.args(["script", "--no-demangle", "-F", "ip,sym", "-i"]).arg(data);
    let text = program::capture(&mut script)?;
    let names = text.lines().filter_map(|line| line.split_whitespace().nth(1));
    Ok(names.filter(|name| name.starts_with("_R")).map(pattern).collect())
}

/// Returns the names of Rust's functions in what callgrind wrote.
fn functions(counted: &str) -> BTreeSet<String> {
    let named = counted.lines().filter_map(|line| {
        let (kind, rest) = line.split_once("=(")?;
        let (_, name) = rest.split_once(") ")?;
        ["fn", "cfn"].contains(&kind).then_some(name)
    });
    // Behind the apostrophe is the depth of a recursion.
    let named = named.map(|name| name.split('\'').next().unwrap_or(name));
    named.filter(|name| name.starts_with("_R")).map(pattern).collect()
}

/// Returns a pattern that stands for a function whatever the compiler's version: the name of each
/// crate has a number before it that changes with that.
fn pattern(name: &str) -> String {
    let name = name.split(".llvm.").next().unwrap_or(name);
    let mut pattern = String::with_capacity(name.len());
    let mut rest = name;
    while let Some(at) = rest.find("Cs") {
        let (before, crated) = rest.split_at(at + 2);
        pattern.push_str(before);
        let number = crated.find(|c: char| !c.is_ascii_alphanumeric()).unwrap_or(0);
        let behind = crated.get(number..).unwrap_or_default();
        let named = behind
            .strip_prefix('_')
            .filter(|name| number > 0 && name.starts_with(|c: char| c.is_ascii_digit()));
        match named {
            Some(named) => {
                pattern.push_str("*_");
                rest = named;
            }
            None => rest = crated,
        }
    }
    pattern + rest + "*"
}

fn script(called: &BTreeSet<String>, modules: &[&str]) -> String {
    let mut text = String::from(
        "/* Written by `cargo xtask order`. Do not edit. */\nSECTIONS\n{\n  .text.first :\n  {\n",
    );
    for name in called {
        text += &format!("    *(.text.{name})\n");
    }
    for module in modules {
        text += &format!("    *(.text.*{module}*)\n");
    }
    text += "    *(.text.main .text.memcpy .text.memmove .text.memcmp .text.bcmp)\n";
    text + "    *libc.a:*(.text .text.*)\n  }\n}\nINSERT BEFORE .text;\n"
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn functions_are_found_whatever_the_compiler() {
        let counted = "fl=(1) a.c\nfn=(1) main\nfn=(2) _RNvCsaz6eC2DG7lh_3std4exit'2\n1 2\n\
            cfn=(3) _RNvNtCs1_5alloc3vec.llvm.123\ncalls=1 2\nfn=(2)\n";
        let expected = ["_RNvCs*_3std4exit*", "_RNvNtCs*_5alloc3vec*"].map(str::to_owned);
        assert_eq!(functions(counted), BTreeSet::from(expected));
        assert_eq!(pattern("_RNvCs"), "_RNvCs*");
        assert_eq!(pattern("_RNvC4ours5aCs_b"), "_RNvC4ours5aCs_b*");
    }

    #[test]
    fn the_script_says_what_comes_first() {
        let called = BTreeSet::from(["_RNv1a*".to_owned()]);
        assert!(!script(&called, &[]).contains("14palisade_apply"));
        let text = script(&called, &BEHIND);
        assert!(text.contains("    *(.text._RNv1a*)\n"), "{text}");
        assert!(text.contains("*(.text.*14palisade_apply3run*)"), "{text}");
        assert!(text.ends_with("INSERT BEFORE .text;\n"), "{text}");
    }
}
