//! Reading shell text.

use divan::{Bencher, black_box};
use palisade_policy::shell::parse;

fn main() {
    divan::main();
}

const SHORT: &str = "git status --short";
const TYPICAL: &str = "cd crates/policy && cargo test --quiet -- shell:: 2>&1 | grep -v '^warning' | tail -n 20 > out.txt";
const QUOTED: &str = "git commit -m \"fix: do not \\\"rm -rf\\\" the $HOME of ${USER:-nobody}\" && \
                      echo \"$(git rev-parse --short HEAD)\" | tee -a 'release notes.md'";

#[divan::bench(args = [SHORT, TYPICAL, QUOTED])]
fn command(bencher: Bencher<'_, '_>, text: &str) {
    bencher.bench(|| parse(black_box(text)));
}

/// The longest text there may be, made to be read over and over.
#[divan::bench(args = ["((", "$((", "${x:-", "`", "[", "{a,", "a[", "$(", "<<A;", "\"${x#'", "a\n"])]
fn hostile(bencher: Bencher<'_, '_>, unit: &str) {
    let text = unit.repeat((64 << 10) / unit.len());
    bencher.bench(|| parse(black_box(&text)).is_ok());
}
