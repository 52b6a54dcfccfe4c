//! Texts that are understood together.

use std::path::{Path, PathBuf};

use palisade_policy::dialect::{Dialect, FilesOf, RootKey};
use palisade_policy::layer::Layer;
use palisade_policy::text::Source;

use super::error::OpenError;
use super::load::{Loader, read_if_there, same_file};
use super::switched;
use super::world::with_surroundings;
use crate::read::Place;

/// A text that was read, but not yet understood.
#[derive(Clone)]
pub(super) struct Text {
    pub(super) layer: Layer,
    pub(super) path: PathBuf,
    pub(super) source: Source,
}

/// Texts of one dialect that are understood together.
pub(super) enum Group {
    /// These texts.
    Texts(&'static Dialect, Vec<Text>),
    /// Whatever lies at the places that the system documents, for a voice as strong as this.
    Places(&'static Dialect, Layer),
}

impl Group {
    pub(super) fn texts(&self) -> &[Text] {
        match self {
            Self::Texts(_, texts) => texts,
            Self::Places(..) => &[],
        }
    }

    /// Returns the texts that can name the project's root.
    pub(super) fn rooted(&self) -> &[Text] {
        match self {
            Self::Texts(dialect, texts) if dialect.manner.root == RootKey::AtTop => texts,
            Self::Texts(..) | Self::Places(..) => &[],
        }
    }
}

impl Loader<'_> {
    /// Joins what belongs to one system, at the place of its first file: a dialect reads all its
    /// files at once, because what one of them means may depend on another. Native files stand for
    /// themselves. Each group comes with the number of its first part.
    pub(super) fn joined(&self, groups: Vec<Group>) -> Result<Vec<(usize, Group)>, OpenError> {
        let mut joined: Vec<(usize, &'static Dialect, Vec<Text>)> = Vec::new();
        for (at, group) in groups.into_iter().enumerate() {
            let (dialect, mut more) = self.expanded(group)?;
            let same = |(_, known, _): &&mut (_, &Dialect, _)| *known == dialect;
            let together = dialect.manner.files == FilesOf::OneSystem;
            match joined.iter_mut().find(same).filter(|_| together) {
                Some((_, _, texts)) => {
                    texts.append(&mut more);
                    texts.sort_by_key(|text| text.layer); // stable
                    *texts = said_once(std::mem::take(texts));
                }
                None => joined.push((at, dialect, more)),
            }
        }
        let groups = joined.into_iter();
        Ok(groups.map(|(at, dialect, texts)| (at, Group::Texts(dialect, texts))).collect())
    }

    /// Reads the texts that a group stands for.
    pub(super) fn expanded(
        &self,
        group: Group,
    ) -> Result<(&'static Dialect, Vec<Text>), OpenError> {
        Ok(match group {
            Group::Texts(dialect, texts) => (dialect, texts),
            Group::Places(dialect, layer) => (dialect, self.documented(dialect, layer)?),
        })
    }

    /// Reads the files that lie where a system documents them. A project's voice reaches only the
    /// files of the project.
    fn documented(&self, dialect: &'static Dialect, voice: Layer) -> Result<Vec<Text>, OpenError> {
        let mut places = with_surroundings(self.request, self.anchors, Place::Named, |around| {
            (dialect.places)(around)
        });
        // What a person switched off is not even read: it may be broken.
        let off = |path: &Path| switched::is_silenced(self.request, dialect, path);
        let silenced = places.iter().any(|place| off(&place.path));
        places.retain(|place| !off(&place.path));
        let mut texts = Vec::new();
        for place in &places {
            // A file that lies in the project is the project's, unless a person names the system
            // for this run: an `include` in a file of theirs has not looked at it.
            let inside = place.path.starts_with(&self.anchors.root) && voice <= Layer::Project;
            let layer = if inside { Layer::Project } else { place.layer };
            if voice != Layer::Project || layer == Layer::Project {
                // Whose voice it has is one thing, where its path may lead another.
                let lies_in = place.path.starts_with(&self.anchors.root);
                let reach = if lies_in { self.in_project } else { self.place(layer) };
                texts.extend(read_if_there(layer, &place.path, reach)?);
            }
        }
        if texts.is_empty() && !silenced {
            let looked = places.into_iter().map(|place| place.path).collect();
            return Err(OpenError::NoDocumentedFile { dialect: dialect.name, looked });
        }
        Ok(texts)
    }
}

/// Leaves every file out that also speaks with a stronger voice.
fn said_once(texts: Vec<Text>) -> Vec<Text> {
    let mut kept: Vec<Text> = Vec::new();
    for text in texts.into_iter().rev() {
        if !kept.iter().any(|known| same_file(&known.path, &text.path)) {
            kept.push(text);
        }
    }
    kept.reverse();
    kept
}
