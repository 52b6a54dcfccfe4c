//! Reads what a machine told, and writes the page.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

/// What became of the suite on one kernel.
#[derive(Debug, Default)]
pub(super) struct Result {
    suite: String,
    kernel: String,
    modules: String,
    /// By person: how strongly each layer holds, as Palisade says.
    said: Vec<(String, Value)>,
    groups: Vec<Value>,
    attacks: Vec<Value>,
    /// How the runs ended.
    codes: Vec<String>,
}

impl Result {
    /// Reads the lines of the second console.
    pub(super) fn read(suite: &str, told: &str) -> Self {
        let mut result = Self { suite: suite.to_owned(), ..Self::default() };
        let mut person: Option<(String, String)> = None;
        for line in told.lines() {
            if let Some(word) = line.strip_prefix("said ") {
                if let Some((name, text)) = person.take() {
                    let said = serde_json::from_str(&text).unwrap_or(Value::Null);
                    result.said.push((name, said));
                }
                person = (word != "end").then(|| (word.to_owned(), String::new()));
            } else if let Some((_, text)) = &mut person {
                text.push_str(line);
                text.push('\n');
            } else if let Some(code) = line.strip_prefix("code ") {
                result.codes.push(code.to_owned());
            } else if let Some(kernel) = line.strip_prefix("kernel ") {
                kernel.clone_into(&mut result.kernel);
            } else if let Some(modules) = line.strip_prefix("lsm ") {
                modules.clone_into(&mut result.modules);
            } else if let Ok(value) = serde_json::from_str::<Value>(line) {
                let list = if value["claim"].is_string() {
                    &mut result.groups
                } else {
                    &mut result.attacks
                };
                list.push(value);
            }
        }
        result
    }

    /// Whether Palisade held everything, and all claims about control groups are true.
    pub(super) fn is_fine(&self) -> bool {
        let held = self.ours().all(|one| {
            !["let-through", "blunt", "failed"].iter().any(|bad| one["verdict"] == *bad)
        });
        // The runner itself demands that the control lets through what can be let through.
        let ran = self.ours().count() > 0 && !self.groups.is_empty() && self.codes == ["0", "0"];
        held && ran && self.groups.iter().all(|one| one["holds"] == true)
    }

    /// One line, for a terminal.
    pub(super) fn summary(&self) -> String {
        let count = |verdict: &str| self.ours().filter(|one| one["verdict"] == verdict).count();
        let broken = self.groups.iter().filter(|one| one["holds"] != true).count();
        format!(
            "{} held, {} let through, {} did not run; {} claims about control groups, {broken} broken",
            count("held"),
            count("let-through"),
            count("failed") + count("blunt"),
            self.groups.len(),
        )
    }

    fn ours(&self) -> impl Iterator<Item = &Value> {
        self.attacks.iter().filter(|one| one["engine"] == "palisade")
    }

    fn cell(&self, attack: &str) -> String {
        let told = |engine: &str| {
            let found = self.attacks.iter();
            let found = found.filter(|one| one["engine"] == engine && one["attack"] == attack);
            found.map(|one| shown(&one["verdict"])).collect::<BTreeSet<_>>()
        };
        let ours: Vec<_> = told("palisade").into_iter().collect();
        if ours.is_empty() { "not tried".to_owned() } else { ours.join(", ") }
    }
}

fn shown(verdict: &Value) -> &'static str {
    match verdict.as_str() {
        Some("held") => "held",
        Some("let-through") => "**let through**",
        Some("host") => "host refuses",
        Some("unsure") => "nothing to try",
        Some("blunt") => "lawful work refused",
        Some(_) | None => "did not run",
    }
}

/// The page.
pub(super) fn page(results: &[Result]) -> String {
    let mut page = String::from(
        "<!-- Written by `PALISADE_TEST_FULL=1 cargo xtask kernels`. Do not edit. -->\n\
         # Kernels\n\n\
         The [conformance suite](conformance.md) and bounds by control groups, on kernels of \
         Debian's in an emulated machine (qemu without KVM), with a static binary, as \
         root and as an ordinary user. All files there are in memory (tmpfs), which not every \
         kernel can map to another owner.\n\n\
         | Suite | Kernel | Security modules | Sum |\n| --- | --- | --- | --- |\n",
    );
    for Result { suite, kernel, modules, .. } in results {
        let sum = results.iter().find(|one| one.kernel == *kernel).map(Result::summary);
        page.push_str(&format!(
            "| {suite} | {kernel} | {modules} | {} |\n",
            sum.unwrap_or_default()
        ));
    }
    page.push_str("\n## What Palisade says of itself there\n\n");
    page.push_str(&table(results, "Layer", &layers(results)));
    page.push_str(
        "\n## Control groups\n\nA tree of version 2 is handed over, to an ordinary user by its owner \
         and to root by its mark. The policy has `limits: { processes: 64, memory: 256MiB }`.\n\n",
    );
    page.push_str(&table(results, "Claim", &claims(results)));
    page.push_str("\n## Escapes\n\n");
    page.push_str(&table(results, "Attack", &attacks(results)));
    page
}

type Rows = Vec<(String, Vec<String>)>;

fn table(results: &[Result], head: &str, rows: &Rows) -> String {
    let mut text = format!("| {head} |");
    results.iter().for_each(|one| text.push_str(&format!(" {} |", one.kernel)));
    text.push_str("\n| --- |");
    results.iter().for_each(|_| text.push_str(" --- |"));
    text.push('\n');
    for (name, cells) in rows {
        text.push_str(&format!("| {name} | {} |\n", cells.join(" | ")));
    }
    text
}

fn layers(results: &[Result]) -> Rows {
    let mut rows: BTreeMap<(String, String), Vec<String>> = BTreeMap::new();
    for (at, result) in results.iter().enumerate() {
        for (person, said) in &result.said {
            let why = said["error"]["message"].as_str().unwrap_or("no outcome");
            let none = serde_json::Map::new();
            let enforced = said["enforced"].as_object().unwrap_or(&none);
            if enforced.is_empty() {
                let cells = rows.entry((person.clone(), "start".to_owned())).or_default();
                cells.resize(at, "yes".to_owned());
                cells.push(format!("refused: {why}"));
            }
            for (layer, strength) in enforced {
                let cells = rows.entry((person.clone(), layer.clone())).or_default();
                cells.resize(at, String::new());
                cells.push(strength_of(strength));
            }
        }
    }
    rows.into_iter().map(|((person, layer), cells)| (format!("{layer}, {person}"), cells)).collect()
}

fn strength_of(strength: &Value) -> String {
    let is = strength["is"].as_str().unwrap_or("?");
    let lacks: Vec<_> =
        strength["lacks"].as_array().into_iter().flatten().filter_map(Value::as_str).collect();
    let why = strength["why"].as_str().map(str::to_owned);
    match why.or_else(|| (!lacks.is_empty()).then(|| lacks.join("; "))) {
        Some(more) => format!("{is}: {more}"),
        None => is.to_owned(),
    }
}

fn claims(results: &[Result]) -> Rows {
    let mut names = Vec::new();
    for one in results.iter().flat_map(|result| &result.groups) {
        let name =
            (one["claim"].as_str().unwrap_or_default(), one["person"].as_str().unwrap_or_default());
        if !names.contains(&name) {
            names.push(name);
        }
    }
    let cell = |result: &Result, (claim, person): (&str, &str)| {
        let mut found =
            result.groups.iter().filter(|one| one["claim"] == claim && one["person"] == person);
        found.next().map_or("not tried".to_owned(), |one| {
            if one["holds"] == true {
                "holds".to_owned()
            } else {
                format!("**broken**: {}", one["why"])
            }
        })
    };
    let row = |name: (&str, &str)| {
        let cells = results.iter().map(|result| cell(result, name)).collect();
        (format!("{}, {}", name.0, name.1), cells)
    };
    names.into_iter().map(row).collect()
}

fn attacks(results: &[Result]) -> Rows {
    let mut names = Vec::new();
    for one in results.iter().flat_map(|result| &result.attacks) {
        let name = one["attack"].as_str().unwrap_or_default();
        if !names.contains(&name) {
            names.push(name);
        }
    }
    names
        .into_iter()
        .map(|name| (name.to_owned(), results.iter().map(|result| result.cell(name)).collect()))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const TOLD: &str = r#"kernel 6.1.0
lsm landlock,yama
said root
{
  "enforced": { "files": { "is": "kernel" }, "limits": { "is": "partial", "lacks": ["a", "b"] } }
}
said end
{"claim":"it holds","person":"root","holds":true,"why":""}
{"attack":"e031-made","engine":"none","person":"root","verdict":"let-through"}
{"attack":"e031-made","engine":"palisade","person":"root","verdict":"held"}
code 0
code 0
end
"#;

    #[test]
    fn what_a_machine_told_is_read_and_shown() {
        let result = Result::read("bookworm", TOLD);
        assert!(result.is_fine(), "{result:?}");
        let page = page(&[result]);
        for line in [
            "| bookworm | 6.1.0 | landlock,yama | 1 held, 0 let through",
            "| limits, root | partial: a; b |",
            "| it holds, root | holds |",
            "| e031-made | held |",
        ] {
            assert!(page.contains(line), "{line}: {page}");
        }
    }

    #[test]
    fn a_broken_claim_an_escape_and_silence_are_findings() {
        let changed = |from: &str, to: &str| Result::read("s", &TOLD.replace(from, to)).is_fine();
        assert!(changed("yama", "bpf"));
        assert!(!changed("\"holds\":true", "\"holds\":false"));
        assert!(!changed("code 0\ncode 0", "code 0\ncode 1"), "the control proved nothing");
        assert!(!changed("\"verdict\":\"held\"", "\"verdict\":\"let-through\""));
        assert!(!changed("\"engine\":\"palisade\"", "\"engine\":\"other\""));
        assert!(!Result::read("s", "kernel 6.1.0\nend\n").is_fine());
    }
}
