//! The policy in force for programs.

use palisade::Session;
use palisade::agentao::Status;
use palisade::policy::Origin;
use palisade::policy::key::{Row, RowForm, Sourced};
use palisade::policy::layer::Scope;
use palisade::root::Found;
use serde_json::{Map, Value as Json, json};

use super::{Origins, word};

/// Returns everything `policy show` knows as one object.
pub(super) fn render(session: &Session, rows: &[Row], origins: Origins) -> Json {
    let root = session.root();
    let files: Vec<Json> = session
        .files()
        .iter()
        .map(|file| json!({ "layer": file.layer.word(), "path": file.path.to_string_lossy() }))
        .collect();
    let ignored: Vec<Json> = session
        .ignored()
        .iter()
        .map(|part| {
            json!({
                "key": part.key,
                "value": part.value,
                "file": part.origin.file.as_deref(),
                "line": part.origin.place.map(|place| place.line),
            })
        })
        .collect();
    json!({
        "root": { "path": root.path.to_string_lossy(), "found": found(&root.how) },
        "preset": word(session, "preset"),
        "profile": word(session, "profile"),
        "require": word(session, "require"),
        "agent": session.agent(),
        "task": session.task(),
        "files": files,
        "agentao": session.agentao_status().as_ref().map(agentao),
        "policy": policy(rows, origins),
        "ignored": ignored,
        "warnings": crate::command::warnings(session),
    })
}

fn agentao(status: &Status) -> Json {
    let shadow = status
        .shadowed_by
        .as_ref()
        .map(|rule| json!({ "profile": rule.profile, "origin": origin(&rule.origin) }));
    json!({
        "state": status.state.word(),
        "default_profile": status.default_profile,
        "workspace_root": status.workspace_root.to_string_lossy(),
        "profiles": status.profiles,
        "shadowed_by": shadow,
    })
}

fn found(how: &Found) -> String {
    match how {
        Found::Marker(name) => format!("marker:{name}"),
        Found::Cwd => "cwd".into(),
        Found::Given => "given".into(),
    }
}

/// Nests the rows by their keys.
fn policy(rows: &[Row], origins: Origins) -> Map<String, Json> {
    let mut top = Map::new();
    for row in rows {
        nest(&mut top, &row.key, value(row, origins));
    }
    top
}

fn nest(here: &mut Map<String, Json>, key: &str, value: Json) {
    match key.split_once('.') {
        None => drop(here.insert(key.into(), value)),
        Some((section, rest)) => {
            if let Json::Object(inner) = here.entry(section).or_insert_with(|| json!({})) {
                nest(inner, rest, value);
            }
        }
    }
}

fn value(row: &Row, origins: Origins) -> Json {
    let mut each = row.values.iter().map(|value| sourced(&value.value, value, origins));
    match row.form {
        RowForm::List => each.collect(),
        RowForm::One => each.next_back().unwrap_or(Json::Null),
        RowForm::Map => {
            let named = row.values.iter().filter_map(|value| {
                let (name, inner) = value.value.as_object()?.iter().next()?;
                Some((name.clone(), sourced(inner, value, origins)))
            });
            Json::Object(named.collect())
        }
    }
}

fn sourced(value: &Json, from: &Sourced<Json>, origins: Origins) -> Json {
    match origins {
        Origins::Hidden => value.clone(),
        Origins::Shown => json!({ "value": value, "origin": origin(&from.origin) }),
    }
}

fn origin(origin: &Origin) -> Json {
    let mut json = json!({
        "layer": origin.layer.word(),
        "file": origin.file.as_deref(),
        "line": origin.place.map(|place| place.line),
        "column": origin.place.map(|place| place.column),
    });
    match &origin.scope {
        Scope::Base => {}
        Scope::Agent(name) => json["agent"] = Json::from(&**name),
        Scope::Task(name) => json["task"] = Json::from(&**name),
    }
    json
}
