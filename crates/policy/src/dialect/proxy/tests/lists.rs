//! Lists of tools and of parameters: what adds, what replaces, and what is said about it.

use super::*;
use crate::key::Ignored;

#[test]
fn a138_custom_patterns_add_and_exclusions_win_in_any_case() {
    let tools = policy(FULL).tools;
    #[rustfmt::skip]
    let cases = [
        // tool                 watched because
        ("deploy_now",          true,   "a pattern of its own"),
        ("DEPLOY_Now",          true,   "in any case"),
        ("company.upload_all",  true,   "an expression"),
        ("write_file",          true,   "the built-in list stays"),
        ("generate_image",      false,  "excluded, though built in"),
        ("Generate_Image",      false,  "excluded in any case"),
        ("redeploy_now",        true,   "looked for anywhere in the name, as the proxy does"),
        ("companyXupload",      false,  "a dot is a dot"),
    ];
    for (tool, watched, because) in cases {
        assert_eq!(tools.intercepts(tool), watched, "{tool}: {because}");
    }
    let both = "sandboxing: { custom_tool_patterns: [deploy], excluded_tools: [Deploy, '.*file'] }";
    let tools = policy(both).tools;
    assert!(!tools.intercepts("deploy") && !tools.intercepts("write_file"), "they win over both");
    assert!(tools.intercepts("apply_patch"), "and over nothing else");
}

#[test]
fn a138_an_exclusion_that_meant_a_part_of_a_name_is_pointed_out() {
    let notes = |list: &str| {
        let text = format!("sandboxing: {{ excluded_tools: [{list}] }}");
        codes(&readings(&text, &[])[0].notes).join(" ")
    };
    for list in ["deploy", r"'\bdeploy\b'", "'^mcp_'", "write_file, deploy"] {
        assert_eq!(notes(list), "whole-names", "{list}");
    }
    for list in ["write_file", "Execute", "'.*deploy.*'", "'^deploy$'", "'^(?:a|b)$'"] {
        assert_eq!(notes(list), "", "{list}");
    }
    let tools = policy("sandboxing: { custom_tool_patterns: ['^mcp_', deploy] }").tools;
    assert!(tools.intercepts("mcp_push") && tools.intercepts("my_deploy_2"), "found anywhere");
    assert!(!tools.intercepts("my_mcp_push"), "but for an anchor");
    let found = readings("sandboxing: { excluded_tools: [file] }", &[]);
    assert_eq!(codes(&found[0].notes), ["whole-names"]);
    assert!(policy("sandboxing: { excluded_tools: [file] }").tools.intercepts("write_file"));
}

#[test]
fn a139_the_list_of_parameters_is_replaced() {
    let tools = policy(REPLACED).tools;
    let names: Vec<&str> = tools.path_parameters.values().map(|name| &*name.0).collect();
    assert_eq!(names, ["path", "where"]);
    let origin = &tools.path_parameters.entries()[1].origin;
    assert_eq!(origin.to_string(), "user /srv/config/config.yaml:4:32");
}

#[test]
fn a206_default_patterns_replace_the_built_in_ones_and_what_is_dropped_is_named() {
    let found = readings(REPLACED, &[]);
    assert_eq!(codes(&found[0].notes), ["shortened", "shortened"]);
    let (tools, parameters) = (found[0].notes[0].message(), found[0].notes[1].message());
    assert!(tools.contains("apply_patch") && tools.contains("bash"), "{tools}");
    assert!(!tools.contains("write_file") && !tools.contains("edit_file"), "{tools}");
    assert!(parameters.contains("file_path") && parameters.contains("cwd"), "{parameters}");
    let tools = settled(found, None, Trust::NotTrusted).policy.tools;
    assert!(tools.intercepts("write_file") && !tools.intercepts("apply_patch"));

    let wide = "sandboxing: { default_tool_patterns: ['.*_.*', '[a-z]+', '.*\\..*'] }";
    let found = readings(wide, &[]);
    assert_eq!(codes(&found[0].notes), [""; 0], "what a wider pattern holds is not dropped");
}

#[test]
fn a206_a_project_that_was_not_trusted_shortens_nothing() {
    let project = || read_all(&[(Layer::Project, REPLACED)], &[]).unwrap();
    let resolved = settled(project(), None, Trust::NotTrusted);
    assert!(resolved.policy.tools.intercepts("apply_patch"));
    assert_eq!(resolved.policy.tools.path_parameters.values().count(), 23 + 2);
    let keys: Vec<&str> = resolved.ignored.iter().map(|Ignored { key, .. }| &**key).collect();
    assert_eq!(keys, ["tools.patterns", "tools.path_parameters"]);
    let trusted = settled(project(), None, Trust::Trusted);
    assert!(!trusted.policy.tools.intercepts("apply_patch"));
}
