//! Links the command at a fixed address: see ADR 0019.

fn main() {
    let is = |variable: &str, value: &str| std::env::var(variable).is_ok_and(|it| it == value);
    // The static release binary gets there by a flag of its own: `cargo xtask dist`.
    if is("CARGO_CFG_TARGET_OS", "linux") && is("CARGO_CFG_TARGET_ENV", "gnu") {
        announce("cargo::rustc-link-arg-bins=-no-pie");
    }
    announce("cargo::rerun-if-changed=build.rs");
}

/// Tells cargo, which reads a build script's standard output.
fn announce(line: &str) {
    println!("{line}");
}
