//! Which crate may depend on which. The table is the one of ARCHITECTURE.md, and it is complete.

use serde_json::Value;

use crate::finding::Finding;

/// A crate, and the members it may depend on when it is built for users.
const EDGES: [(&str, &[&str]); 11] = [
    ("palisade-policy", &[]),
    ("palisade-plan", &["palisade-policy"]),
    ("palisade-apply", &["palisade-plan"]),
    ("palisade-audit", &["palisade-policy"]),
    ("palisade-gate", &["palisade-policy", "palisade-audit"]),
    (
        "palisade",
        &["palisade-policy", "palisade-plan", "palisade-apply", "palisade-gate", "palisade-audit"],
    ),
    ("palisade-cli", &["palisade"]),
    ("palisade-testkit", &[]),
    ("palisade-example-agent", &["palisade"]),
    // It knows every engine by its command line only, ours too.
    ("palisade-conformance", &[]),
    ("xtask", &["palisade-policy"]),
];

const TESTKIT: &str = "palisade-testkit";

/// Judges the output of `cargo metadata --no-deps`.
pub(super) fn check(metadata: &Value) -> Vec<Finding> {
    let mut findings = Vec::new();
    for package in metadata["packages"].as_array().into_iter().flatten() {
        let name = package["name"].as_str().unwrap_or_default();
        let file = manifest(metadata, package);
        let Some((_, allowed)) = EDGES.iter().find(|(known, _)| *known == name) else {
            findings.push(Finding {
                file,
                line: 1,
                rule: "edges",
                what: format!("the table of edges does not know `{name}`"),
                fix: "give the crate a row in xtask/src/arch/edges.rs and in ARCHITECTURE.md",
            });
            continue;
        };
        for dependency in package["dependencies"].as_array().into_iter().flatten() {
            let to = dependency["name"].as_str().unwrap_or_default();
            let is_member = EDGES.iter().any(|(known, _)| *known == to);
            let kind = dependency["kind"].as_str().unwrap_or("normal");
            // `policy` is tested with its arguments alone: a test that needs a folder is not a
            // test of `policy`.
            let for_tests = kind == "dev" && to == TESTKIT && name != "palisade-policy";
            if is_member && !allowed.contains(&to) && !for_tests {
                findings.push(Finding {
                    file: file.clone(),
                    line: 1,
                    rule: "edges",
                    what: format!("{name} -> {to} ({kind}) is not an allowed edge"),
                    fix: "move the code to the room that may know both, or write an ADR",
                });
            }
        }
    }
    findings
}

fn manifest(metadata: &Value, package: &Value) -> String {
    let root = metadata["workspace_root"].as_str().unwrap_or_default();
    let path = package["manifest_path"].as_str().unwrap_or("Cargo.toml");
    path.strip_prefix(root).unwrap_or(path).trim_start_matches('/').to_owned()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn one(name: &str, to: &str, kind: Option<&str>) -> Vec<String> {
        let metadata = json!({
            "workspace_root": "/src",
            "packages": [{
                "name": name,
                "manifest_path": "/src/crates/x/Cargo.toml",
                "dependencies": [{ "name": to, "kind": kind }],
            }],
        });
        check(&metadata).into_iter().map(|finding| finding.to_string()).collect()
    }

    #[test]
    fn edges_of_the_table_pass_and_all_others_fail() {
        #[rustfmt::skip]
        let cases = [
            // from             to                  kind         allowed
            ("palisade-plan",   "palisade-policy",  None,        true),
            ("palisade-cli",    "palisade",         None,        true),
            ("palisade-gate",   "palisade-audit",   None,        true),
            ("palisade-apply",  "palisade-testkit", Some("dev"), true),
            ("palisade-policy", "serde",            None,        true),
            ("xtask",           "palisade-policy",  None,        true),
            ("palisade-policy", "palisade-plan",    None,        false),
            ("palisade-policy", "palisade-testkit", Some("dev"), false),
            ("palisade-apply",  "palisade-policy",  None,        false),
            ("palisade-gate",   "palisade-apply",   None,        false),
            ("palisade-cli",    "palisade-policy",  None,        false),
            ("palisade-cli",    "palisade-policy",  Some("dev"), false),
            ("palisade",        "palisade-testkit", None,        false),
            ("palisade",        "palisade-testkit", Some("build"), false),
            ("palisade",        "xtask",            None,        false),
            ("palisade-conformance", "palisade",     None,        false),
            ("palisade-extra",  "serde",            None,        false),
        ];
        for (from, to, kind, allowed) in cases {
            let found = one(from, to, kind);
            assert_eq!(found.is_empty(), allowed, "{from} -> {to} {kind:?}: {found:?}");
        }
    }

    #[test]
    fn a_finding_names_the_manifest() {
        let found = one("palisade-cli", "palisade-plan", None).concat();
        assert!(found.starts_with("crates/x/Cargo.toml:1: edges: palisade-cli -> palisade-plan"));
    }
}
