//! Links the command at a fixed address (ADR 0019), with what a start needs side by side (ADR 0026).

fn main() {
    let is = |variable: &str, value: &str| std::env::var(variable).is_ok_and(|it| it == value);
    // The static release binary gets there by a flag of its own: `cargo xtask dist`.
    if is("CARGO_CFG_TARGET_OS", "linux") && is("CARGO_CFG_TARGET_ENV", "gnu") {
        announce("cargo::rustc-link-arg-bins=-no-pie");
    }
    if is("CARGO_CFG_TARGET_ENV", "musl") {
        let folder = std::env::var("CARGO_MANIFEST_DIR").unwrap_or_default();
        // Word by word: `-Wl` would split a path at its commas. Cargo reads lines, so that a path
        // with a line break cannot be told: the order is for speed, and is left out then.
        if !folder.contains(['\n', '\r']) {
            for word in ["-Xlinker", "-T", "-Xlinker", &format!("{folder}/order.ld")] {
                announce(&format!("cargo::rustc-link-arg-bins={word}"));
            }
        }
    }
    announce("cargo::rerun-if-changed=build.rs");
    announce("cargo::rerun-if-changed=order.ld");
}

/// Tells cargo, which reads a build script's standard output.
fn announce(line: &str) {
    println!("{line}");
}
