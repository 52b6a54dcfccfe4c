//! What the build of the command tells the linker.

use std::path::Path;
use std::process::Command;

use palisade_testkit::Project;

#[test]
fn the_linkers_script_is_found_in_every_folder() {
    let folder = Project::new();
    let program = folder.path("build");
    let source = concat!(env!("CARGO_MANIFEST_DIR"), "/build.rs");
    let mut rustc = Command::new(Path::new(env!("CARGO")).with_file_name("rustc"));
    let built = rustc.args(["--edition=2024", source, "-o"]).arg(&program).output().unwrap();
    assert!(built.status.success(), "{}", String::from_utf8_lossy(&built.stderr));
    let told = |of: &str| {
        let mut build = Command::new(&program);
        build.env("CARGO_CFG_TARGET_ENV", "musl").env("CARGO_MANIFEST_DIR", of);
        let told = String::from_utf8(build.output().unwrap().stdout).unwrap();
        let words = told.lines().filter_map(|it| it.strip_prefix("cargo::rustc-link-arg-bins="));
        words.map(str::to_owned).collect::<Vec<String>>()
    };
    assert_eq!(told("/a,b c"), ["-Xlinker", "-T", "-Xlinker", "/a,b c/order.ld"]);
    assert!(told("/a\nb").is_empty(), "cargo reads lines: then it is linked without");
}
