//! A list that closes something, whose built-in part another system's file may put aside.

use serde_json::Value as Json;

use super::grants::{append, closing_list, list_doc, list_row, list_schema, read_list};
use super::setting::bare;
use super::{Field, Ignored, Item, KeyDoc, Reader, Row, Silence, Sourced};
use crate::layer::{Layer, Origin};
use crate::text::Node;

/// Things that are watched. Every layer may add; a system whose own list replaces ours says so,
/// and then what Palisade itself brings gives way, and nothing else does.
#[derive(Clone, Debug, PartialEq)]
pub struct Replaceable<T> {
    entries: Vec<Sourced<T>>,
    /// Who put the built-in entries aside.
    replaced: Option<Origin>,
}

impl<T> Replaceable<T> {
    /// Makes a list that adds to the built-in one, as a native layer would say it.
    pub fn new(entries: Vec<Sourced<T>>) -> Self {
        Self { entries, replaced: None }
    }

    /// Makes a list that stands in place of the built-in one.
    pub fn replacing(entries: Vec<Sourced<T>>, said: Origin) -> Self {
        Self { entries, replaced: Some(said) }
    }

    /// Returns the entries in force, each with its origin.
    pub fn entries(&self) -> &[Sourced<T>] {
        &self.entries
    }

    /// Returns the values in force.
    pub fn values(&self) -> impl Iterator<Item = &T> {
        self.entries.iter().map(|entry| &entry.value)
    }

    /// Returns who put the built-in entries aside, if somebody did.
    pub fn replaced(&self) -> Option<&Origin> {
        self.replaced.as_ref()
    }
}

impl<T> Default for Replaceable<T> {
    fn default() -> Self {
        Self { entries: Vec::new(), replaced: None }
    }
}

impl<T: Item> Field for Replaceable<T> {
    fn read(node: &Node, cx: &mut Reader<'_>) -> Option<Self> {
        read_list(node, cx).map(Self::new)
    }

    fn merge(&mut self, above: Self) {
        if above.replaced.is_some() {
            self.entries.retain(|entry| entry.origin.layer != Layer::BuiltIn);
            self.replaced = above.replaced;
        }
        append(&mut self.entries, above.entries);
    }

    fn into_default(self) -> Self {
        self
    }

    fn clamp(&mut self, base: &Self, key: &str, ignored: &mut Vec<Ignored>) {
        let known = |entry: &Sourced<T>| self.entries.contains(entry);
        let lost: Vec<String> = base
            .entries
            .iter()
            .filter(|entry| !known(entry))
            .map(|entry| bare(&entry.value.json()))
            .collect();
        if let Some(origin) = self.replaced.take().filter(|_| !lost.is_empty()) {
            let value = format!("a list without {}", lost.join(", "));
            ignored.push(Ignored { key: key.into(), value, origin });
        }
        let more = std::mem::replace(&mut self.entries, base.entries.clone());
        self.entries.extend(more.into_iter().filter(|entry| !base.entries.contains(entry)));
        self.replaced.clone_from(&base.replaced);
    }

    /// A list that adds to the built-in one means that one too.
    fn narrow(&mut self, other: &Self, _silence: Silence) {
        if other.replaced.is_none() && !other.entries.is_empty() {
            self.replaced = None;
        }
    }

    closing_list!();
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::key::Line;

    fn entries(layer: Layer, names: &[&str]) -> Vec<Sourced<Line>> {
        let entry =
            |name: &&str| Sourced { value: Line((*name).into()), origin: Origin::of(layer) };
        names.iter().map(entry).collect()
    }

    fn adding(layer: Layer, names: &[&str]) -> Replaceable<Line> {
        Replaceable::new(entries(layer, names))
    }

    fn replacing(layer: Layer, names: &[&str]) -> Replaceable<Line> {
        Replaceable::replacing(entries(layer, names), Origin::of(layer))
    }

    fn merged(lists: &[&Replaceable<Line>]) -> Replaceable<Line> {
        let mut whole = Replaceable::default();
        for list in lists {
            whole.merge((*list).clone());
        }
        whole
    }

    fn names(list: &Replaceable<Line>) -> String {
        list.values().map(|line| &*line.0).collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn layers_add_up_and_only_the_built_in_part_gives_way() {
        let ours = adding(Layer::BuiltIn, &["a", "b"]);
        let system = adding(Layer::System, &["s"]);
        let user = replacing(Layer::User, &["u"]);
        let above = adding(Layer::CommandLine, &["c"]);
        #[rustfmt::skip]
        let cases = [
            // lists                            in force    because
            (vec![&ours, &system],              "a b s",    "layers add up"),
            (vec![&ours, &system, &user],       "s u",      "what an administrator added stays"),
            (vec![&ours, &user, &above],        "u c",      "and what stands above it"),
            (vec![&ours, &above],               "a b c",    "adding puts nothing aside"),
        ];
        for (lists, expected, because) in cases {
            assert_eq!(names(&merged(&lists)), expected, "{because}");
        }
    }

    #[test]
    fn merging_is_associative() {
        let lists = [
            adding(Layer::BuiltIn, &["a"]),
            adding(Layer::User, &["u"]),
            replacing(Layer::User, &["r"]),
            replacing(Layer::Project, &["p"]),
        ];
        for [a, b, c] in (0..64).map(|n| [n % 4, n / 4 % 4, n / 16].map(|at| &lists[at])) {
            assert_eq!(merged(&[&merged(&[a, b]), c]), merged(&[a, &merged(&[b, c])]));
        }
    }

    #[test]
    fn a_project_that_was_not_trusted_shortens_nothing() {
        let ours = adding(Layer::BuiltIn, &["a", "b"]);
        let mut with = merged(&[&ours, &replacing(Layer::Project, &["b", "p"])]);
        let mut ignored = Vec::new();
        with.clamp(&ours, "tools.x", &mut ignored);
        assert_eq!(names(&with), "a b b p", "what it adds holds");
        assert_eq!(with.replaced(), None);
        let said: Vec<_> = ignored.iter().map(|part| (&*part.key, &*part.value)).collect();
        assert_eq!(said, [("tools.x", "a list without a, b")]);

        let base = merged(&[&ours, &replacing(Layer::User, &["u"])]);
        let mut with = merged(&[&base, &adding(Layer::Project, &["p"])]);
        let mut ignored = Vec::new();
        with.clamp(&base, "tools.x", &mut ignored);
        assert_eq!(
            (&*names(&with), ignored.len()),
            ("u p", 0),
            "the user may, and the project adds"
        );
        assert_eq!(with.replaced(), base.replaced());
    }
}
