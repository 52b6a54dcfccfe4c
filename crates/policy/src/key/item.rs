//! Single values: how each is read, shown and described, and which of two is stricter.

use std::fmt;

use serde_json::{Value as Json, json};

use super::Reader;
use crate::text::{Node, Value};

/// A value that can stand behind a key or in a list.
pub trait Item: Clone + fmt::Debug + PartialEq {
    /// Reads the value; problems go to the reader.
    fn read(node: &Node, cx: &mut Reader<'_>) -> Option<Self>;
    /// Shows the value.
    fn json(&self) -> Json;
    /// Describes the value for the JSON Schema.
    fn schema() -> Json;
    /// Describes the value in a few words for messages and the manual.
    fn takes() -> String;
}

/// Which of two values lets less happen.
pub trait Strictness {
    /// Returns whether `self` lets nothing happen that `base` does not.
    fn within(&self, base: &Self) -> bool;
}

/// A kind of value of which one lets least happen; an unset key reads as that.
pub trait Strictest {
    /// Returns that value.
    fn strictest() -> Self;
}

/// A switch that protects: on is stricter than off.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Guard(pub bool);

/// A switch that opens something: off is stricter than on.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Opening(pub bool);

/// A number of things.
#[derive(Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub struct Count(pub u64);

/// A small number of folder levels.
#[derive(Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub struct Levels(pub u8);

/// One line of text without control characters.
#[derive(Clone, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub struct Line(pub Box<str>);

/// An upper bound, or the word `none`.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Limit<T>(pub Option<T>);

macro_rules! switch {
    ($Type:ident, $strict:literal) => {
        impl Item for $Type {
            fn read(node: &Node, cx: &mut Reader<'_>) -> Option<Self> {
                match node.value {
                    Value::Bool(on) => Some(Self(on)),
                    Value::List(_) | Value::Map(_) | Value::Null | Value::Number(_) | Value::Text(_) => {
                        cx.expected("true or false", node)
                    }
                }
            }
            fn json(&self) -> Json {
                json!(self.0)
            }
            fn schema() -> Json {
                json!({ "type": "boolean" })
            }
            fn takes() -> String {
                "true or false".into()
            }
        }
        impl Strictest for $Type {
            fn strictest() -> Self {
                Self($strict)
            }
        }
        impl Strictness for $Type {
            fn within(&self, base: &Self) -> bool {
                self.0 == $strict || self == base
            }
        }
    };
}

switch!(Guard, true);
switch!(Opening, false);

impl Item for Count {
    fn read(node: &Node, cx: &mut Reader<'_>) -> Option<Self> {
        whole(node).map(Self).or_else(|| cx.expected("a whole number", node))
    }
    fn json(&self) -> Json {
        json!(self.0)
    }
    fn schema() -> Json {
        json!({ "type": "integer", "minimum": 0 })
    }
    fn takes() -> String {
        "a whole number".into()
    }
}

impl Item for Levels {
    fn read(node: &Node, cx: &mut Reader<'_>) -> Option<Self> {
        let levels = whole(node).and_then(|n| u8::try_from(n).ok()).filter(|&n| n <= 8);
        levels.map(Self).or_else(|| cx.expected("a whole number from 0 to 8", node))
    }
    fn json(&self) -> Json {
        json!(self.0)
    }
    fn schema() -> Json {
        json!({ "type": "integer", "minimum": 0, "maximum": 8 })
    }
    fn takes() -> String {
        "a whole number from 0 to 8".into()
    }
}

impl Strictest for Levels {
    fn strictest() -> Self {
        Self(0)
    }
}

impl Strictness for Levels {
    fn within(&self, base: &Self) -> bool {
        self <= base
    }
}

impl Item for Line {
    fn read(node: &Node, cx: &mut Reader<'_>) -> Option<Self> {
        let text = cx.text("a line of text", node)?;
        if text.trim().is_empty() || text.chars().any(char::is_control) {
            return cx.expected("one line of text, not blank", node);
        }
        Some(Self(text.into()))
    }
    fn json(&self) -> Json {
        json!(self.0)
    }
    fn schema() -> Json {
        json!({ "type": "string", "minLength": 1 })
    }
    fn takes() -> String {
        "text".into()
    }
}

impl<T: Item> Item for Limit<T> {
    fn read(node: &Node, cx: &mut Reader<'_>) -> Option<Self> {
        if node.text() == Some("none") {
            Some(Self(None))
        } else {
            Some(Self(Some(T::read(node, cx)?)))
        }
    }
    fn json(&self) -> Json {
        self.0.as_ref().map_or_else(|| json!("none"), T::json)
    }
    fn schema() -> Json {
        json!({ "anyOf": [T::schema(), { "const": "none" }] })
    }
    fn takes() -> String {
        format!("{}, or `none`", T::takes())
    }
}

impl<T: Smallest> Strictest for Limit<T> {
    fn strictest() -> Self {
        Self(Some(T::smallest()))
    }
}

impl<T: Ord> Strictness for Limit<T> {
    fn within(&self, base: &Self) -> bool {
        match (&self.0, &base.0) {
            (_, None) => true,
            (None, Some(_)) => false,
            (Some(limit), Some(base)) => limit <= base,
        }
    }
}

/// A quantity that has a least value.
pub trait Smallest {
    /// Returns the least value.
    fn smallest() -> Self;
}

impl Smallest for Count {
    fn smallest() -> Self {
        Self(0)
    }
}

fn whole(node: &Node) -> Option<u64> {
    match &node.value {
        Value::Number(text) => text.parse().ok(),
        Value::Bool(_) | Value::List(_) | Value::Map(_) | Value::Null | Value::Text(_) => None,
    }
}

/// Reads a type through its one door, `FromStr`: from text, with `numbers` also from a number, and
/// with `regex` under the budget for regular expressions.
macro_rules! text_item {
    ($Type:ty, $takes:literal) => { $crate::key::text_item!(@ $Type, $takes, false, false); };
    ($Type:ty, $takes:literal, numbers) => { $crate::key::text_item!(@ $Type, $takes, true, false); };
    ($Type:ty, $takes:literal, regex) => { $crate::key::text_item!(@ $Type, $takes, false, true); };
    (@ $Type:ty, $takes:literal, $numbers:literal, $regex:literal) => {
        impl $crate::key::Item for $Type {
            fn read(node: &$crate::text::Node, cx: &mut $crate::key::Reader<'_>) -> Option<Self> {
                let text = match &node.value {
                    $crate::text::Value::Number(text) if $numbers => text,
                    _ => cx.text($takes, node)?,
                };
                let word = text.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_');
                if $regex && !word {
                    cx.count_regex(node)?;
                }
                text.parse().map_or_else(|invalid| cx.invalid(node, &invalid), Some)
            }
            fn json(&self) -> serde_json::Value {
                serde_json::Value::String(self.to_string())
            }
            fn schema() -> serde_json::Value {
                let types = if $numbers {
                    serde_json::json!(["string", "integer"])
                } else {
                    serde_json::json!("string")
                };
                serde_json::json!({ "type": types, "description": $takes })
            }
            fn takes() -> String {
                $takes.into()
            }
        }
    };
}
pub(crate) use text_item;

/// Defines a key that takes one of a few words, written from strict to wide.
macro_rules! choice {
    ($(#[doc = $about:literal])+ pub enum $Name:ident { $($(#[doc = $doc:literal])+ $Variant:ident = $word:literal,)+ }) => {
        $(#[doc = $about])+
        #[derive(Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd)]
        pub enum $Name { $($(#[doc = $doc])+ $Variant,)+ }

        impl $Name {
            /// Every choice, from strict to wide.
            pub const ALL: &'static [Self] = &[$(Self::$Variant),+];

            /// Returns the word for it.
            pub fn word(self) -> &'static str {
                match self { $(Self::$Variant => $word),+ }
            }
        }

        impl std::fmt::Display for $Name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str(self.word())
            }
        }

        impl std::str::FromStr for $Name {
            type Err = $crate::name::Invalid;
            fn from_str(text: &str) -> Result<Self, Self::Err> {
                match text {
                    $($word => Ok(Self::$Variant),)+
                    _ => Err($crate::key::unknown_word(text, &[$($word),+])),
                }
            }
        }

        impl $crate::key::Item for $Name {
            fn read(node: &$crate::text::Node, cx: &mut $crate::key::Reader<'_>) -> Option<Self> {
                let Some(text) = node.text() else {
                    let words = [$($word),+].join(", ");
                    cx.text(&format!("one of {words}"), node);
                    return None;
                };
                text.parse().map_or_else(|invalid| cx.invalid(node, &invalid), Some)
            }
            fn json(&self) -> serde_json::Value {
                serde_json::json!(self.word())
            }
            fn schema() -> serde_json::Value {
                serde_json::json!({ "oneOf": [$({ "const": $word, "description": concat!($($doc),+).trim() }),+] })
            }
            fn takes() -> String {
                [$(format!("`{}`: {}", $word, $crate::key::phrase(concat!($($doc),+)))),+].join("; ")
            }
        }

        impl $crate::key::Strictest for $Name {
            fn strictest() -> Self {
                Self::ALL[0]
            }
        }

        impl $crate::key::Strictness for $Name {
            fn within(&self, base: &Self) -> bool {
                self <= base
            }
        }
    };
}
pub(crate) use choice;
