//! The promises as data: spec/acceptance.json, spec/escapes.json and spec/red.json.

use serde_json::Value;

use crate::failure::Failure;
use crate::tree::Tree;

pub(crate) const RED: &str = "spec/red.json";

/// One promise: `a097` of the acceptance list, or `e033` of the escapes.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(crate) struct Row {
    pub(crate) name: String,
    pub(crate) behaviour: String,
}

/// The one-line change of the code that turns a row's test red.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(crate) struct Red {
    pub(crate) row: String,
    pub(crate) test: String,
    pub(crate) package: String,
    pub(crate) file: String,
    pub(crate) from: String,
    pub(crate) to: String,
}

impl Red {
    /// Returns the function's own name, without its modules.
    pub(crate) fn function(&self) -> &str {
        self.test.rsplit("::").next().unwrap_or(&self.test)
    }
}

/// Returns all rows, acceptance first.
pub(crate) fn rows(tree: &Tree) -> Result<Vec<Row>, Failure> {
    let mut rows = list("spec/acceptance.json", &tree.read("spec/acceptance.json")?, |value| {
        row("a", &value["n"], value["behaviour"].as_str()?.to_owned())
    })?;
    rows.extend(list("spec/escapes.json", &tree.read("spec/escapes.json")?, |value| {
        let (mechanism, must_hold) = (value["mechanism"].as_str()?, value["must_hold"].as_str()?);
        row("e", &value["n"], format!("{mechanism}: {must_hold}"))
    })?);
    Ok(rows)
}

/// Returns the recorded changes.
pub(crate) fn reds(tree: &Tree) -> Result<Vec<Red>, Failure> {
    list(RED, &tree.read(RED)?, red)
}

fn red(value: &Value) -> Option<Red> {
    let text = |key: &str| value[key].as_str().map(str::to_owned);
    Some(Red {
        row: text("row")?,
        test: text("test")?,
        package: text("package")?,
        file: text("file")?,
        from: text("from")?,
        to: text("to")?,
    })
}

fn row(letter: &str, number: &Value, behaviour: String) -> Option<Row> {
    Some(Row { name: format!("{letter}{:03}", number.as_u64()?), behaviour })
}

fn list<T>(file: &str, text: &str, entry: impl Fn(&Value) -> Option<T>) -> Result<Vec<T>, Failure> {
    let values: Vec<Value> = serde_json::from_str(text)
        .map_err(|error| Failure::new(format!("{file} is not a list: {error}")))?;
    let entries = values.iter().enumerate().map(|(at, value)| {
        entry(value)
            .ok_or_else(|| Failure::new(format!("{file}: entry {at} lacks a field: {value}")))
    });
    entries.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_entry_that_lacks_a_field_is_named() {
        let good = r#"[{"row":"a1","test":"m::t","package":"p","file":"f","from":"x","to":"y"}]"#;
        let reds = list(RED, good, red).unwrap();
        assert_eq!(reds.first().map(Red::function), Some("t"));
        let failure = list(RED, r#"[{"row":"a1"}]"#, red).unwrap_err().to_string();
        assert!(failure.contains("spec/red.json: entry 0"), "{failure}");
        assert!(list(RED, "{}", red).is_err());
    }

    #[test]
    fn numbers_have_three_digits() {
        assert_eq!(row("e", &7.into(), String::new()).map(|row| row.name), Some("e007".to_owned()));
    }
}
