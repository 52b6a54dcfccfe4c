//! A network that is filtered by name, tried by a command that does nothing behind its doors.

use palisade_apply::Host;
use palisade_plan::Kernel;
use palisade_plan::network::Rung;

use crate::sandbox::{CannotRun, LOWER};
use crate::session::Request;

/// A filtered network that was tried.
#[derive(Debug)]
pub struct Filtered {
    /// How connections are led to us, or why there is none.
    pub rung: Result<Rung, CannotRun>,
    /// Whether the caller's environment asks for less than there may be.
    pub lowered: bool,
}

impl Filtered {
    pub(super) fn tried(host: &Host, kernel: &Kernel, request: &Request) -> Self {
        let mut kernel = kernel.clone();
        let best = kernel.network;
        if let Some(word) = request.var(LOWER) {
            kernel.network = best.lowered(&word.to_string_lossy());
        }
        Self { rung: led(host, &kernel, request), lowered: kernel.network != best }
    }

    /// Says what that means to whoever runs a command.
    pub fn about(&self) -> String {
        match &self.rung {
            Ok(Rung::Queue) => "queue: programs see the errors that they would see outside".into(),
            Ok(Rung::Redirect) => {
                "redirect: a refused connection seems to stand, and is then cut".into()
            }
            Ok(Rung::None) => "none: only programs that use the proxy reach anything".into(),
            Err(CannotRun::Plan(_)) => "there is none without namespaces".into(),
            Err(error) => format!("there is none: {error}"),
        }
    }

    /// Returns what lifts what is missing, when we know.
    pub fn remedy(&self) -> Option<String> {
        match &self.rung {
            Ok(Rung::Queue) => None,
            Ok(_) if self.lowered => Some(format!("`{LOWER}` asks for less: unset it")),
            Ok(Rung::Redirect) => Some(
                "a kernel with `xt_NFQUEUE` or `nft_queue`, and `nfnetlink_queue`; as modules: \
                 `modprobe nft_queue nfnetlink_queue`"
                    .into(),
            ),
            Ok(Rung::None) => Some(
                "a kernel with `nf_tables` and its `redir` and `reject`; as modules: `modprobe \
                 nf_tables nft_redir nft_reject_inet nft_chain_nat`"
                    .into(),
            ),
            // Without all walls there is no such network; what lifts that is told of the level.
            Err(error) => error.hint().filter(|_| !matches!(error, CannotRun::Plan(_))),
        }
    }
}

#[cfg(target_os = "linux")]
fn led(host: &Host, kernel: &Kernel, request: &Request) -> Result<Rung, CannotRun> {
    use std::sync::{Arc, Mutex, PoisonError};

    use palisade_apply::Streams;
    use palisade_policy::policy::{NetworkMode, Require};

    use super::levels;

    let (folder, mut order) = levels::trial(request, Require::Full)?;
    order.network = NetworkMode::AllowList;
    let plan = levels::planned((host, kernel), &order, &folder)?;
    let found: Arc<Mutex<Option<Rung>>> = Arc::default();
    let slot = Arc::clone(&found);
    let running = host.start(&plan, Streams::default())?;
    let running = running.with_inlets(move |inlets| {
        *slot.lock().unwrap_or_else(PoisonError::into_inner) = Some(inlets.rung);
    });
    levels::ended(&running.wait()?.end)?;
    let rung = found.lock().unwrap_or_else(PoisonError::into_inner).take();
    rung.ok_or_else(|| CannotRun::Trial("nothing was handed over".into()))
}

#[cfg(not(target_os = "linux"))]
fn led(_: &Host, _: &Kernel, _: &Request) -> Result<Rung, CannotRun> {
    let mode = palisade_policy::policy::NetworkMode::AllowList;
    Err(palisade_plan::CannotPlan::Network(mode).into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_missing_has_a_remedy_and_what_is_there_has_none() {
        let of = |rung| Filtered { rung: Ok(rung), lowered: false };
        for (rung, word) in
            [(Rung::Queue, "queue"), (Rung::Redirect, "redirect"), (Rung::None, "none")]
        {
            let it = of(rung);
            assert!(it.about().starts_with(&format!("{word}: ")), "{}", it.about());
            assert_eq!(it.remedy().is_none(), rung == Rung::Queue);
        }
        let asked = Filtered { rung: Ok(Rung::None), lowered: true };
        assert!(asked.remedy().is_some_and(|it| it.contains(LOWER)));
    }
}
