//! The commands in files of build tools, and the files that code takes in.

use crate::command::{Arg, Language};
use crate::shell;

/// Most variables of a makefile that are followed.
const MOST_VARIABLES: usize = 64;

/// Scripts that a package runs when it is installed.
const AT_INSTALL: [&str; 5] = ["install", "postinstall", "preinstall", "prepare", "prepublish"];

/// Returns the recipes of a makefile or a justfile, as shell text.
pub(super) fn recipes(content: &str) -> Vec<String> {
    let content = content.replace("\\\n", " ");
    let mut variables: Vec<(&str, &str)> = Vec::new();
    let mut found = Vec::new();
    for line in content.lines() {
        let recipe = match line.strip_prefix(['\t', ' ']) {
            Some(recipe) => Some(recipe),
            // `all: ; command`
            None => line.split_once(':').and_then(|(_, rest)| rest.split_once(';')).map(|it| it.1),
        };
        if let Some(recipe) = recipe {
            let recipe = recipe.trim_start().trim_start_matches(['@', '-', '+']);
            found.push(expand(recipe, &variables));
        } else if let Some((name, value)) = line.split_once('=') {
            let name = name.trim_end_matches([':', '?', '!', '+']).trim();
            if variables.len() < MOST_VARIABLES {
                variables.push((name, value.trim()));
            }
        }
        // What `make` runs while it reads.
        for (at, mark) in line.match_indices("$(shell ") {
            let inner = line.get(at + mark.len()..).unwrap_or_default();
            found.push(inner.split(')').next().unwrap_or_default().to_owned());
        }
    }
    found.retain(|text| !text.trim().is_empty() && shell::parse(text).is_ok());
    found
}

/// Returns the scripts of a `package.json` that a package manager may run when called like that.
pub(super) fn scripts(content: &str, args: &[Arg<'_>]) -> Vec<String> {
    let Some(at) = content.find("\"scripts\"") else { return Vec::new() };
    let mut rest = content.get(at + "\"scripts\"".len()..).unwrap_or_default();
    let mut key: Option<String> = None;
    let mut found = Vec::new();
    let installs = |arg: &Arg<'_>| matches!(&*arg.text, "add" | "ci" | "i" | "install");
    while let Some(at) = rest.find(['"', '}']) {
        let Some(body) = rest.get(at..).and_then(|rest| rest.strip_prefix('"')) else { break };
        let (text, tail) = quoted(body);
        rest = tail;
        let Some(name) = key.take() else {
            key = Some(text);
            continue;
        };
        let plain = name.strip_prefix("pre").or_else(|| name.strip_prefix("post"));
        let named = args.iter().any(|arg| arg.text == name || Some(&*arg.text) == plain);
        let install =
            AT_INSTALL.contains(&&*name) && (args.is_empty() || args.iter().any(installs));
        if named || install {
            found.push(text);
        }
    }
    found.retain(|text| shell::parse(text).is_ok());
    found
}

/// Returns the files beside it that some code may take in.
pub(super) fn imports(language: Language, code: &str) -> Vec<String> {
    match language {
        Language::Python => {
            let statements = code.split(['\n', ';']).map(str::trim_start);
            let named = statements.filter_map(|statement| {
                let rest = statement.strip_prefix("import ");
                rest.or_else(|| statement.strip_prefix("from "))
            });
            let modules =
                named.flat_map(|rest| rest.split(" import ").next().unwrap_or("").split(','));
            let names = modules.filter_map(|module| module.split_whitespace().next());
            let paths = names.map(|name| name.replace('.', "/"));
            paths.flat_map(|path| [format!("{path}.py"), format!("{path}/__init__.py")]).collect()
        }
        Language::Node => {
            let texts = code.split(['"', '\'', '`']).skip(1).step_by(2);
            let files = texts.filter(|text| text.starts_with(['.', '/']));
            files
                .flat_map(|file| {
                    [file.to_owned(), format!("{file}.js"), format!("{file}/index.js")]
                })
                .collect()
        }
        Language::Shell
        | Language::Perl
        | Language::Ruby
        | Language::Php
        | Language::Awk
        | Language::Sed
        | Language::Sql
        | Language::Editor
        | Language::Patch
        | Language::Source
        | Language::Other => Vec::new(),
    }
}

/// Puts in what a makefile says its variables are; of others only that they are a word.
fn expand(recipe: &str, variables: &[(&str, &str)]) -> String {
    let mut text = String::new();
    let mut rest = recipe;
    while let Some(at) = rest.find(['$', '{']) {
        text.push_str(rest.get(..at).unwrap_or_default());
        let tail = rest.get(at..).unwrap_or_default();
        let inner = tail.get(2..).unwrap_or_default();
        let (close, len) = match tail.as_bytes() {
            [b'$', b'$', ..] => {
                text.push('$');
                rest = inner;
                continue;
            }
            [b'$', b'(', ..] => (")", 1),
            [b'$', b'{', ..] => ("}", 1),
            [b'{', b'{', ..] => ("}}", 2),
            [b'$', c, ..] if c.is_ascii_graphic() => {
                text.push('x');
                rest = inner;
                continue;
            }
            _ => {
                let first = tail.chars().next().map_or(0, char::len_utf8);
                text.push_str(tail.get(..first).unwrap_or_default());
                rest = tail.get(first..).unwrap_or_default();
                continue;
            }
        };
        let end = inner.find(close).unwrap_or(inner.len());
        let name = inner.get(..end).unwrap_or_default().trim();
        let value = variables.iter().rev().find(|(known, _)| *known == name);
        let value = value.map(|(_, value)| *value).filter(|value| !value.contains('$'));
        text.push_str(value.unwrap_or("x"));
        rest = inner.get(end + len..).unwrap_or_default();
    }
    text.push_str(rest);
    text
}

/// Reads a string of JSON whose opening quote was taken; returns it, and what follows.
fn quoted(body: &str) -> (String, &str) {
    let mut text = String::new();
    let mut chars = body.char_indices();
    while let Some((at, c)) = chars.next() {
        match c {
            '"' => return (text, body.get(at + 1..).unwrap_or_default()),
            '\\' => match chars.next() {
                Some((_, 'n')) => text.push('\n'),
                Some((_, 't')) => text.push('\t'),
                Some((_, escaped)) => text.push(escaped),
                None => break,
            },
            c => text.push(c),
        }
    }
    (text, "")
}
