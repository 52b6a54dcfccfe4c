//! Files, folders and environment variables.

use serde_json::{Value as Json, json};

use super::choice::Caches;
use crate::key::{Covers, Grants, Item, Reader, Refusals, Setting, Variables, section, text_item};
use crate::name::{EnvPattern, Folder, PathPattern};
use crate::text::Node;

section! {
    /// What may be read and written.
    pub struct Files {
        /// Folders and files that may be written; replaces the profile's default.
        write: Grants<Folder>,
        /// Paths inside writable folders that stay as they are; adds to the built-in list.
        protect: Refusals<PathPattern>,
        /// Paths that the command cannot read; adds to the built-in list. Outside of writable folders
        /// they do not exist for it; inside of them they are covered: names can be seen, and not
        /// opened, changed or removed.
        hide: Refusals<PathPattern>,
        /// Paths taken off the list of hidden ones.
        unhide: Grants<PathPattern>,
        /// Paths that stay readable inside hidden ones.
        allow_read: Grants<PathPattern>,
        /// What happens to the caches of build tools in the home folder, in projects with a build file.
        caches: Setting<Caches>,
    }
}

section! {
    /// Environment variables of confined commands.
    pub struct Env {
        /// Names handed over from outside, `LC_*` style endings allowed; adds to the preset's list.
        pass: Grants<EnvPattern>,
        /// Variables set for the command.
        set: Variables,
    }
}

text_item!(EnvPattern, "a variable's name, or its beginning and `*`");

impl Covers for EnvPattern {
    fn covers(&self, other: &Self) -> bool {
        Self::covers(self, other)
    }
}

/// Reads a path and anchors it at once: after reading, every path is absolute.
macro_rules! path_item {
    ($Type:ty, $takes:literal) => {
        impl Item for $Type {
            fn read(node: &Node, cx: &mut Reader<'_>) -> Option<Self> {
                let text = cx.text($takes, node)?;
                Self::read_at(text, cx.anchorage()).map_or_else(|invalid| cx.invalid(node, &invalid), Some)
            }
            fn json(&self) -> Json {
                json!(self.to_string())
            }
            fn schema() -> Json {
                json!({ "type": "string", "description": $takes })
            }
            fn takes() -> String {
                $takes.into()
            }
        }

        impl Covers for $Type {
            fn covers(&self, other: &Self) -> bool {
                Self::covers(self, other)
            }
        }
    };
}

path_item!(PathPattern, "a path, with `~` and the wildcards `* ** ? [set]`");
path_item!(Folder, "a path, with `~`");
