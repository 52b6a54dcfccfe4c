//! A key with one value: the highest layer that sets it wins.

use serde_json::Value as Json;

use super::{
    Field, Ignored, Item, KeyDoc, Reader, Row, RowForm, Silence, Sourced, Strictest, Strictness,
};
use crate::layer::Layer;
use crate::text::Node;

/// One value. Unset reads as the strictest value of its kind, so nothing is open by omission.
#[derive(Clone, Debug, PartialEq)]
pub struct Setting<T> {
    // One room for both: what a layer says stands in place of what a profile supplies, and policies
    // are moved and copied many times at every start.
    said: Option<Sourced<T>>,
    by: By,
}

/// Who said a value.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum By {
    /// A layer.
    Layer,
    /// A profile, until a layer says otherwise.
    Profile,
}

impl<T> Setting<T> {
    /// Sets the value, as a layer would.
    pub fn new(value: Sourced<T>) -> Self {
        Self { said: Some(value), by: By::Layer }
    }

    /// Returns the value in force with its origin, if any layer or profile sets it.
    pub fn sourced(&self) -> Option<&Sourced<T>> {
        self.said.as_ref()
    }

    /// Returns whether a layer said something, rather than a profile or nobody.
    pub fn is_explicit(&self) -> bool {
        self.said.is_some() && self.by == By::Layer
    }
}

impl<T> Setting<T> {
    /// Puts the value into the mouth of another layer.
    pub(crate) fn said_by(&mut self, layer: Layer) {
        self.said.iter_mut().for_each(|value| value.origin.layer = layer);
    }
}

impl<T: Clone + Strictest> Setting<T> {
    /// Returns the value in force.
    pub fn value(&self) -> T {
        self.sourced().map_or_else(T::strictest, |sourced| sourced.value.clone())
    }
}

impl<T> Default for Setting<T> {
    fn default() -> Self {
        Self { said: None, by: By::Layer }
    }
}

impl<T: Item + Strictness> Field for Setting<T> {
    fn read(node: &Node, cx: &mut Reader<'_>) -> Option<Self> {
        let value = T::read(node, cx)?;
        Some(Self::new(Sourced { value, origin: cx.origin(node.span) }))
    }

    fn merge(&mut self, above: Self) {
        if above.said.is_some() {
            *self = above;
        }
    }

    fn into_default(self) -> Self {
        let by = if self.said.is_some() { By::Profile } else { By::Layer };
        Self { by, ..self }
    }

    fn clamp(&mut self, base: &Self, key: &str, ignored: &mut Vec<Ignored>) {
        let Some(sourced) = self.sourced() else { return };
        if !base.sourced().is_some_and(|base| sourced.value.within(&base.value)) {
            let Sourced { value, origin } = sourced.clone();
            ignored.push(Ignored { key: key.into(), value: bare(&value.json()), origin });
            *self = base.clone();
        }
    }

    fn narrow(&mut self, other: &Self, _silence: Silence) {
        if let (Some(own), Some(wanted)) = (self.sourced(), other.sourced())
            && wanted.value.within(&own.value)
            && !own.value.within(&wanted.value)
        {
            *self = other.clone();
        }
    }

    fn rows(&self, key: &str, out: &mut Vec<Row>) {
        let values = self
            .sourced()
            .map(|sourced| Sourced { value: sourced.value.json(), origin: sourced.origin.clone() });
        let values: Vec<_> = values.into_iter().collect();
        out.push(Row {
            key: key.into(),
            form: RowForm::One,
            stated: !values.is_empty(),
            said: None,
            values,
        });
    }

    fn schema() -> Json {
        T::schema()
    }

    fn docs(key: &str, about: &str, out: &mut Vec<KeyDoc>) {
        let merges = "the highest layer wins";
        out.push(KeyDoc { key: key.into(), takes: T::takes(), merges, about: about.into() });
    }
}

/// Prints a value without the quotes of JSON text.
pub(crate) fn bare(value: &Json) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}
