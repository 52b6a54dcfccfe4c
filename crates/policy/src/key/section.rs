//! Sections: fields with names.

/// Defines a section of the policy: a struct whose fields are keys, and the [`Field`] that they
/// make together.
///
/// The doc comment of a field is its line in the schema and in the manual.
///
/// [`Field`]: crate::key::Field
macro_rules! section {
    ($(#[doc = $about:literal])+ pub struct $Name:ident { $($(#[doc = $doc:literal])+ $key:ident: $Type:ty,)+ }) => {
        $(#[doc = $about])+
        #[derive(Debug, Default, PartialEq)]
        pub struct $Name { $($(#[doc = $doc])+ pub $key: $Type,)+ }

        impl Clone for $Name {
            fn clone(&self) -> Self {
                let mut copy = Self::default();
                $($crate::key::section::copy(&mut copy.$key, &self.$key);)+
                copy
            }
        }

        impl $Name {
            /// The keys of this section.
            pub const KEYS: &'static [&'static str] = &[$(stringify!($key)),+];

            /// Reads one entry into its field; false if no field has that name.
            pub(crate) fn take(&mut self, entry: &$crate::text::Entry, cx: &mut $crate::key::Reader<'_>) -> bool {
                match &*entry.key {
                    $(stringify!($key) => {
                        if let Some(field) = $crate::key::Field::read(&entry.value, cx) {
                            $crate::key::Field::merge(&mut self.$key, field);
                        }
                    })+
                    _ => return false,
                }
                true
            }

            /// Describes the keys one by one, for a schema that adds others beside them.
            pub(crate) fn properties() -> serde_json::Map<String, serde_json::Value> {
                let mut properties = serde_json::Map::new();
                $(
                    let mut schema = <$Type as $crate::key::Field>::schema();
                    schema["description"] = concat!($($doc),+).trim().into();
                    properties.insert(stringify!($key).into(), schema);
                )+
                properties
            }
        }

        impl $crate::key::Field for $Name {
            fn read(node: &$crate::text::Node, cx: &mut $crate::key::Reader<'_>) -> Option<Self> {
                let mut section = Self::default();
                for entry in cx.map(node)? {
                    if !section.take(entry, cx) {
                        cx.unknown_key(entry, Self::KEYS);
                    }
                }
                Some(section)
            }

            fn merge(&mut self, above: Self) {
                $($crate::key::Field::merge(&mut self.$key, above.$key);)+
            }

            fn into_default(self) -> Self {
                Self { $($key: $crate::key::Field::into_default(self.$key),)+ }
            }

            fn clamp(&mut self, base: &Self, key: &str, ignored: &mut Vec<$crate::key::Ignored>) {
                $($crate::key::Field::clamp(&mut self.$key, &base.$key, &$crate::key::below(key, stringify!($key)), ignored);)+
            }

            fn narrow(&mut self, other: &Self, silence: $crate::key::Silence) {
                $($crate::key::Field::narrow(&mut self.$key, &other.$key, silence);)+
            }

            fn rows(&self, key: &str, out: &mut Vec<$crate::key::Row>) {
                $($crate::key::Field::rows(&self.$key, &$crate::key::below(key, stringify!($key)), out);)+
            }

            fn schema() -> serde_json::Value {
                serde_json::json!({
                    "type": "object",
                    "properties": Self::properties(),
                    "additionalProperties": false,
                })
            }

            fn docs(key: &str, _about: &str, out: &mut Vec<$crate::key::KeyDoc>) {
                $(<$Type as $crate::key::Field>::docs(&$crate::key::below(key, stringify!($key)), concat!($($doc),+).trim(), out);)+
            }
        }
    };
}
pub(crate) use section;

/// Copies a field to its place. Were all fields of a policy copied in one function, that would have a
/// hundred kilobytes of variables, each page of which the kernel hands out at every start.
#[inline(never)]
pub(crate) fn copy<T: Clone>(to: &mut T, from: &T) {
    to.clone_from(from);
}
