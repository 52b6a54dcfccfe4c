# The menu. Anything longer than a line is Rust, in xtask.

# What CI runs
check: fmt lint test arch rows docs-check deny

fmt:
    cargo fmt --all --check

lint:
    cargo clippy --workspace --all-targets -- -D warnings

test:
    cargo test --workspace

# Edges between crates, purity, sizes, packages, hygiene
arch:
    cargo xtask arch

deny:
    cargo deny check bans licenses sources

# Write the generated documents
docs:
    cargo xtask docs

# Fail if a generated document is stale
docs-check:
    cargo xtask docs --check

# Which promises have a test
rows:
    cargo xtask rows --check

# Replay the change that turns each row's test red
red *rows:
    cargo xtask red {{rows}}

# Escapes behind this and other engines: docs/conformance.md
conformance *arguments:
    cargo xtask conformance {{arguments}}

# The same on other kernels, emulated: docs/kernels.md
kernels *arguments:
    cargo xtask kernels {{arguments}}

fuzz *arguments:
    cargo xtask fuzz {{arguments}}

# The static release binary
dist:
    cargo xtask dist

# The static binary beside no sandbox and others (docs/performance.md), then the benches
bench: dist
    cargo xtask startup
    cargo xtask bench
    cargo bench --workspace
