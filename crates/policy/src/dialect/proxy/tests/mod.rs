//! The proxy's section, its variables and its flag.

mod broken;
mod lists;
mod round_trip;

use super::*;
use crate::dialect::{self, Reading};
use crate::layer::{Choice, Resolved, Stack, Trust, resolve};
use crate::name::Anchors;
use crate::policy::{Policy, Require};
use crate::text::Diagnostic;

const FULL: &str = include_str!("../fixtures/full.yaml");
const DEFAULTS: &str = include_str!("../fixtures/defaults.yaml");
const REPLACED: &str = include_str!("../fixtures/replaced.yaml");

fn anchors() -> Anchors {
    Anchors { root: "/proj/app".into(), home: Some("/home/dev".into()) }
}

/// Calls `use_it` with surroundings in which only these variables are set.
fn among<T>(vars: &[(&str, &str)], use_it: impl FnOnce(&Surroundings<'_>) -> T) -> T {
    let anchors = anchors();
    let var = |name: &str| {
        vars.iter().find(|(known, _)| *known == name).map(|(_, value)| (*value).to_owned())
    };
    use_it(&Surroundings {
        anchors: &anchors,
        cwd: "/proj/app/src".as_ref(),
        var: &var,
        kind: &|_| None,
        list: &|_| Vec::new(),
        read: &|_| Err("there are no other files".into()),
    })
}

fn read_all(texts: &[(Layer, &str)], vars: &[(&str, &str)]) -> Readings {
    let sources: Vec<Source> =
        texts.iter().map(|(_, text)| Source::new("/srv/config/config.yaml", text)).collect();
    let inputs: Vec<Input<'_>> = sources
        .iter()
        .zip(texts)
        .map(|(source, (layer, _))| Input { source, layer: *layer })
        .collect();
    among(vars, |around| (PROXY.read)(&inputs, around))
}

fn readings(text: &str, vars: &[(&str, &str)]) -> Vec<Reading> {
    let readings = read_all(&[(Layer::User, text)], vars);
    readings.unwrap_or_else(|problems| panic!("{}", problems[0]))
}

fn settled(readings: Vec<Reading>, flag: Option<Document>, trust: Trust) -> Resolved {
    let mut stack = Stack::new(&anchors()).unwrap();
    for reading in readings {
        stack.push(reading.layer, reading.document);
    }
    if let Some(document) = flag {
        stack.push(Layer::CommandLine, document);
    }
    resolve(&stack, &Choice::default(), trust).unwrap()
}

fn policy(text: &str) -> Policy {
    settled(readings(text, &[]), None, Trust::NotTrusted).policy
}

fn codes(problems: &[Diagnostic]) -> Vec<&str> {
    problems.iter().map(Diagnostic::code).collect()
}

/// Whether calls are intercepted, and who said so.
fn enabled(text: &str, vars: &[(&str, &str)], flag: Option<Option<&str>>) -> (bool, String) {
    let flag = flag.map(|value| from_flag(value).unwrap());
    let policy = settled(readings(text, vars), flag, Trust::NotTrusted).policy;
    let sourced = policy.tools.enabled.sourced().unwrap();
    (sourced.value.0, sourced.origin.to_string())
}

#[test]
fn a133_a_bare_section_has_the_documented_defaults() {
    let tools = policy(DEFAULTS).tools;
    assert!(!tools.enabled.value().0, "off by default");
    assert!(!tools.strict.value().0);
    assert_eq!(tools.allow_parent.value().0, 0);
    assert_eq!(tools.exclude.values().count(), 0);
    let patterns: Vec<String> = tools.patterns.values().map(ToString::to_string).collect();
    assert_eq!(patterns, PATTERNS, "the documented ones first, then those of its code");
    for tool in ["read_file", "list_files", "containerXexec", "write_file_2"] {
        assert!(!tools.intercepts(tool), "{tool} is not");
    }
    let parameters: Vec<&str> = tools.path_parameters.values().map(|name| &*name.0).collect();
    assert_eq!(parameters, PARAMETERS, "the documented ones first, then those of its code");
}

/// The documented patterns, and then the names of shell tools that the proxy's code knows.
#[rustfmt::skip]
const PATTERNS: [&str; 31] = [
    "write_to_file", "write_file", "fsWrite", "replace_in_file", "str_replace", "strReplace",
    "edit_file", "patch_file", "apply_diff", "apply_patch", "delete_file", "deleteFile",
    "remove_file", "create_file", "move_file", "rename_file", "copy_file", "insert_content",
    "search_and_replace", "generate_image",
    "execute", "execute_command", "run_shell_command", "run_terminal_command", "run_terminal_cmd",
    "exec_command", "bash", "shell", "ShellTool", "local_shell", r"container\.exec",
];

#[rustfmt::skip]
const PARAMETERS: [&str; 23] = [
    "path", "file_path", "filepath", "file", "target", "target_file", "destination", "dest",
    "source", "src", "fileName", "filePath", "image", "patch", "diff", "paths", "files",
    "file_list", "targets",
    "cwd", "workdir", "directory", "dir",
];

#[test]
fn a133_a_full_section_is_read_and_the_other_sections_are_not() {
    let mut readings = readings(FULL, &[]);
    assert_eq!(codes(&readings[0].notes), [""; 0]);
    let rest = Policy {
        tools: std::mem::take(&mut readings[0].document.policy.tools),
        ..Policy::default()
    };
    assert_eq!(readings[0].document, Document::default(), "nothing but tools is said");
    assert!(rest.tools.enabled.value().0 && rest.tools.strict.value().0);
    assert_eq!(rest.tools.allow_parent.value().0, 1);
}

#[test]
fn a134_the_flag_switches_on_and_its_value_off() {
    let (off, on) = ("sandboxing: { enabled: false }", "sandboxing: { enabled: true }");
    #[rustfmt::skip]
    let cases = [
        // file         flag                    on     said by
        (off,           Some(None),             true,  "command line --enable-sandboxing"),
        (DEFAULTS,      Some(Some("true")),     true,  "command line --enable-sandboxing"),
        (on,            Some(Some("false")),    false, "command line --enable-sandboxing"),
        (on,            Some(Some("OFF")),      false, "command line --enable-sandboxing"),
        (on,            None,                   true,  "user /srv/config/config.yaml:1:24"),
        (off,           None,                   false, "user /srv/config/config.yaml:1:24"),
    ];
    for (text, flag, on, said) in cases {
        assert_eq!(enabled(text, &[], flag), (on, said.into()), "{text} {flag:?}");
    }
    for value in ["", "maybe", "2", "true ", "falsé", "\u{1b}[2J"] {
        let invalid = from_flag(Some(value)).unwrap_err();
        assert_eq!(invalid.code(), "switch", "{value:?}");
        assert!(!invalid.problem().contains('\u{1b}'));
    }
}

#[test]
fn a135_the_flag_beats_the_variable_and_that_the_file_and_each_is_named() {
    let (off, on) = ("sandboxing: { enabled: false }", "sandboxing: { enabled: true }");
    #[rustfmt::skip]
    let cases = [
        // file  variable       flag                    on     said by
        (off,    Some("true"),  None,                   true,  "environment ENABLE_SANDBOXING"),
        (off,    Some("On"),    None,                   true,  "environment ENABLE_SANDBOXING"),
        (on,     Some("no"),    None,                   false, "environment ENABLE_SANDBOXING"),
        (on,     Some("0"),     Some(None),             true,  "command line --enable-sandboxing"),
        (on,     Some("yes"),   Some(Some("false")),    false, "command line --enable-sandboxing"),
        (on,     None,          None,                   true,  "user /srv/config/config.yaml:1:24"),
    ];
    for (text, variable, flag, on, said) in cases {
        let vars: Vec<_> = variable.map(|value| ("ENABLE_SANDBOXING", value)).into_iter().collect();
        assert_eq!(enabled(text, &vars, flag), (on, said.into()), "{text} {variable:?} {flag:?}");
    }
}

#[test]
fn a135_the_variable_also_beats_a_file_named_on_the_command_line() {
    let texts = [(Layer::CommandLine, "sandboxing: { enabled: true }")];
    let readings = read_all(&texts, &[("ENABLE_SANDBOXING", "false")]).unwrap();
    let policy = settled(readings, None, Trust::NotTrusted).policy;
    assert!(!policy.tools.enabled.value().0);
    let alone = read_all(&[], &[("ENABLE_SANDBOXING", "true")]).unwrap();
    assert_eq!(alone.len(), 1, "the variable counts where there is no file");
    assert!(settled(alone, None, Trust::NotTrusted).policy.tools.enabled.value().0);
    assert_eq!(read_all(&[], &[]), Ok(Vec::new()));
}

#[test]
fn a136_strictness_and_the_parent_folder_have_variables_too() {
    let text = "sandboxing: { enabled: true, strict_mode: true }";
    let vars = [("SANDBOXING_STRICT_MODE", "off"), ("SANDBOXING_ALLOW_PARENT_ACCESS", "1")];
    let tools = settled(readings(text, &vars), None, Trust::NotTrusted).policy.tools;
    assert!(!tools.strict.value().0, "the variable beats the file");
    assert_eq!(tools.allow_parent.value().0, 1);
    let said = |origin: &Origin| origin.to_string();
    assert_eq!(said(&tools.strict.sourced().unwrap().origin), "environment SANDBOXING_STRICT_MODE");
    assert_eq!(
        said(&tools.allow_parent.sourced().unwrap().origin),
        "environment SANDBOXING_ALLOW_PARENT_ACCESS"
    );
    for name in ["ENABLE_SANDBOXING", "SANDBOXING_STRICT_MODE", "SANDBOXING_ALLOW_PARENT_ACCESS"] {
        for value in ["", "maybe", "2", " true", "\u{7}"] {
            let problems = read_all(&[(Layer::User, text)], &[(name, value)]).unwrap_err();
            assert_eq!(codes(&problems), ["switch"], "{name}={value:?}");
            assert!(problems[0].message().contains(name));
            let shown = problems[0].to_string();
            assert!(!shown.contains(|c: char| c.is_control() && c != '\n'), "{shown:?}");
        }
    }
}

#[test]
fn a136_switches_that_do_nothing_are_pointed_out() {
    let strict = "sandboxing: { strict_mode: true, allow_parent_access: true }";
    let file = |text, vars: &[_]| codes(&readings(text, vars)[0].notes).join(" ");
    assert_eq!(file(strict, &[]), "idle-switch idle-switch");
    assert_eq!(file(strict, &[("ENABLE_SANDBOXING", "true")]), "", "the variable switches it on");
    assert_eq!(file("sandboxing: { strict_mode: false }", &[]), "", "nothing is asked for");
    let on = "sandboxing: { enabled: true }";
    let variable = |text| {
        let readings = readings(text, &[("SANDBOXING_STRICT_MODE", "true")]);
        codes(&readings[1].notes).join(" ")
    };
    assert_eq!((variable(DEFAULTS).as_str(), variable(on).as_str()), ("idle-switch", ""));
}

#[test]
fn a205_the_file_is_found_where_it_is_documented_as_the_operators() {
    let places = among(&[], |around| (PROXY.places)(around));
    let path = "/proj/app/src/config/config.yaml".into();
    assert_eq!(places, [DocumentedPlace { path, layer: Layer::Project }], "in the project");
    let outside = among(&[], |around| {
        let cwd = Path::new("/srv/proxy");
        (PROXY.places)(&Surroundings { cwd, ..*around })
    });
    let path = "/srv/proxy/config/config.yaml".into();
    assert_eq!(outside, [DocumentedPlace { path, layer: Layer::User }], "the operator's");
    let likeness = |name: &str, text: &str| {
        let source = Source::new(name, text);
        detect(&source, text::parse(&source).ok().as_ref())
    };
    assert_eq!(likeness("/srv/config/config.yaml", DEFAULTS), Likeness::Name);
    assert_eq!(likeness("/srv/config/config.yaml", "port: 1"), Likeness::Shape);
    assert_eq!(likeness("/srv/proxy.yaml", DEFAULTS), Likeness::Shape);
    assert_eq!(likeness("/srv/myconfig/config.yaml", "port: 1"), Likeness::No);
    let source = Source::new("/srv/config/config.yaml", FULL);
    assert_eq!(dialect::tell(&source).unwrap().name, "proxy");
    assert_eq!(dialect::named("proxy").map(|dialect| dialect.name), Some("proxy"));
}

#[test]
fn a205_a_section_that_is_off_lifts_no_other_confinement() {
    let resolved = settled(readings("sandboxing: { enabled: false }", &[]), None, Trust::Trusted);
    assert_eq!(resolved.policy.require.value(), Require::Full);
    assert_eq!(resolved.unconfined, None);
    let without = readings("port: 8000", &[]);
    assert_eq!(codes(&without[0].notes), ["no-section"]);
    assert_eq!(without[0].document, Document::default());
}
