//! How the files of one dialect stand among the files of others.

use std::path::PathBuf;

use super::{Input, Surroundings};
use crate::layer::Layer;

/// How a dialect's files stand among the files of others.
#[derive(Clone, Copy, Debug)]
pub struct Manner {
    /// Whether they are understood together.
    pub files: FilesOf,
    /// What their lists that open mean for those of lower layers.
    pub lists: Lists,
    /// Whether they can name the project's root.
    pub root: RootKey,
    /// When they build walls.
    pub walls: Walls,
    /// Finds the folders in which they look profiles up by name, and who says so.
    pub profile_folders: FindFolders,
}

/// Finds folders, and who names each.
pub type FindFolders = fn(&[Input<'_>], &Surroundings<'_>) -> Vec<(PathBuf, Layer)>;

/// Whether the files of a dialect are understood together.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum FilesOf {
    /// Each stands for itself: they are ours.
    Ourselves,
    /// What one of them means may depend on another.
    OneSystem,
}

/// What the lists of a dialect that open something mean for those of lower layers.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Lists {
    /// They add to them.
    Add,
    /// A file is a whole policy: they stand in their place.
    Replace,
}

/// Whether the files of a dialect can name the project's root.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum RootKey {
    /// By a key at their top.
    AtTop,
    /// A key of that name is not about the project.
    None,
}

/// When a file builds walls.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Walls {
    /// Whenever it is loaded.
    Always,
    /// If it has a switch for them; another file of the system only decides about calls.
    WithSwitch,
}

impl Manner {
    /// How the files of most systems stand among others.
    pub(super) const USUAL: Self = Self {
        files: FilesOf::OneSystem,
        lists: Lists::Add,
        root: RootKey::None,
        walls: Walls::Always,
        profile_folders: |_, _| Vec::new(),
    };
}
