//! Paths: what may be written, what may not be read.

use super::{Lowered, Lowering, Out, Standing, Workspace};
use crate::dialect::bloom::credentials;
use crate::dialect::bloom::section::Listed;
use crate::key::{Grants, Refusals, Sourced};
use crate::layer::{Layer, Origin, Scope};
use crate::name::PathPattern;
use crate::text::Span;

impl Lowering<'_> {
    /// Lowers `writablePaths` and `workspaceWritable`. Lists that open add up, so that a workspace
    /// which is open below can only be closed by protecting it.
    pub(super) fn lower_write(
        &self,
        standing: Standing,
        below: &[Lowered],
        out: &mut Out<'_>,
    ) -> Workspace {
        let section = out.section;
        let written = section.workspace.map(|(writable, _)| writable);
        let inherited = match standing {
            Standing::First => Workspace::Writable,
            Standing::Above => below.last().map_or(Workspace::Writable, |last| last.workspace),
            Standing::Anywhere if self.closed => Workspace::NotOpened,
            Standing::Anywhere => Workspace::Writable,
        };
        let opened = standing == Standing::Anywhere
            || below.iter().any(|lowered| lowered.workspace == Workspace::Writable);
        let protected = below.iter().any(|lowered| lowered.workspace == Workspace::Protected);
        let workspace = match written {
            Some(true) if protected => Workspace::Protected,
            Some(true) => Workspace::Writable,
            Some(false) if opened => Workspace::Protected,
            Some(false) => Workspace::NotOpened,
            None => inherited,
        };
        let paths = section.writable.as_ref().map(|list| list.entries.clone());
        if paths.is_some() || written.is_some() || standing == Standing::First {
            let root = Sourced { value: self.root.clone(), origin: section.origin.clone() };
            let root = (workspace == Workspace::Writable).then_some(root);
            let paths = paths.into_iter().flatten();
            out.policy.files.write = Grants::new(root.into_iter().chain(paths).collect());
        }
        if let (Workspace::Protected, Some((writable, span))) = (workspace, section.workspace) {
            let value = self.root.as_pattern().clone();
            let root = Sourced { value, origin: section.origin.clone() };
            out.policy.files.protect = Refusals::new(vec![root]);
            let inner = out.policy.files.write.values().any(|path| self.root.covers(path));
            let message = if writable {
                "the workspace stays read-only: another section closed it"
            } else if inner {
                "the workspace is protected, and writable paths inside it stay read-only with it"
            } else {
                "the workspace is protected: a section below opened it, and lists add up"
            };
            out.note("workspace-closed", message.into(), span, None);
        }
        workspace
    }

    /// Lowers `denyReadPaths`. A list that stands alone replaces the documented default; above
    /// another section, and in a task, lists are combined.
    pub(super) fn lower_hide(&self, standing: Standing, out: &mut Out<'_>) {
        let section = out.section;
        let defaults = credentials(self.anchors);
        let said = |value| Sourced { value, origin: section.origin.clone() };
        let mut hidden: Vec<_> =
            section.hidden.as_ref().map(|list| list.entries.clone()).unwrap_or_default();
        let task = matches!(section.scope, Scope::Task(_));
        match &section.hidden {
            Some(Listed { span, .. }) if standing == Standing::First && !task => {
                let dropped: Vec<_> = defaults
                    .into_iter()
                    .filter(|(_, path)| !hidden.iter().any(|entry| entry.value.covers(path)))
                    .collect();
                out.drop_defaults(&dropped, *span);
            }
            _ if standing == Standing::First => {
                hidden.extend(defaults.into_iter().map(|(_, path)| said(path)));
            }
            Some(_) | None => {}
        }
        out.policy.files.hide = Refusals::new(hidden);
    }
}

impl Out<'_> {
    /// Takes documented defaults off what Palisade hides, and says so.
    fn drop_defaults(&mut self, dropped: &[(&str, PathPattern)], span: Span) {
        if dropped.is_empty() {
            return;
        }
        // It takes back a default, and no other file's word: its reach ends at what Palisade itself
        // brings. A project's is named as such, so that it is left out until it is trusted.
        let layer = if self.file.layer == Layer::Project { Layer::Project } else { Layer::Preset };
        let origin = Origin { layer, ..self.section.origin.clone() };
        let open = |path: &PathPattern| Sourced { value: path.clone(), origin: origin.clone() };
        self.policy.files.unhide =
            Grants::new(dropped.iter().map(|(_, path)| open(path)).collect());
        let names: Vec<&str> = dropped.iter().map(|(name, _)| *name).collect();
        let names = names.join(", ");
        let message = format!("`denyReadPaths` replaces the default: {names} can be read");
        let hint = format!("add {names} to the list");
        self.note("credentials-readable", message, span, Some(&hint));
    }
}
