//! Several tenants in one process: each has a policy and a root, and reads no other's.

use std::path::PathBuf;

use palisade_policy::policy::Require;

use crate::sandbox::Sandbox;
use crate::session::{OpenError, Request, Session, Warning};

/// Why several tenants cannot be kept apart.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum CannotShare {
    /// A project or its policy cannot be used.
    #[error("tenant {number} cannot be opened")]
    Open {
        /// Which request it was, from zero.
        number: usize,
        /// Why.
        #[source]
        because: OpenError,
    },
    /// Nothing confines a tenant, so nothing keeps it from the others.
    #[error("tenant {number} at `{}` is not confined", root.display())]
    Unconfined {
        /// Which request it was, from zero.
        number: usize,
        /// Its root.
        root: PathBuf,
    },
}

impl CannotShare {
    /// Returns a name that never changes, for programs and tests.
    pub fn code(&self) -> &'static str {
        match self {
            Self::Open { because, .. } => because.code(),
            Self::Unconfined { .. } => "tenant-unconfined",
        }
    }
}

/// Opens a sandbox for each request, from which the roots of all others are hidden, whether anything
/// runs there or not and whatever the policies say.
///
/// Tenants that come later are for another call, with all of them: what runs already was started
/// without knowing of them.
///
/// ```no_run
/// use palisade::{Request, tenants};
///
/// let one = Request::new("/srv/tenants/one", std::env::vars_os().collect());
/// let two = Request::new("/srv/tenants/two", std::env::vars_os().collect());
/// let sandboxes = tenants(vec![one, two])?;
/// for sandbox in &sandboxes {
///     println!("{}", sandbox.run(["make", "test"])?.exit_code());
/// }
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
///
/// When a request cannot be opened, when two roots overlap, and when a policy confines nothing or
/// accepts that: then no tenant is opened.
pub fn tenants(requests: Vec<Request>) -> Result<Vec<Sandbox>, CannotShare> {
    let mut roots = Vec::new();
    for (number, request) in requests.iter().enumerate() {
        // A policy that is named may say where the root is, so that the session is asked.
        let session =
            Session::open(request).map_err(|because| CannotShare::Open { number, because })?;
        let root = session.root().path.clone();
        let off = session.warnings().iter().any(|it| matches!(it, Warning::Unconfined { .. }));
        let accepts = match session.policy().require.value() {
            Require::Full | Require::Landlock => false,
            Require::External | Require::None => true,
        };
        if off || accepts {
            return Err(CannotShare::Unconfined { number, root });
        }
        roots.push(root);
    }
    let mut sandboxes = Vec::new();
    for (number, mut request) in requests.into_iter().enumerate() {
        let others = roots.iter().enumerate().filter(|(other, _)| *other != number);
        request.apart.extend(others.map(|(_, root)| root.clone()));
        let open =
            Sandbox::new(&request).map_err(|because| CannotShare::Open { number, because })?;
        sandboxes.push(open);
    }
    Ok(sandboxes)
}
