//! `palisade run --monitor` and `--suggest`: which hosts a command needs.

use palisade::policy::policy::NetworkMode;
use palisade::policy::text::visible;
use palisade::{Outcome, Session, Suggestion, Traffic};
use serde_json::Value as Json;

use super::{RunArgs, told};
use crate::failure::Failure;
use crate::ui::Ui;

/// Most hosts that are named to a person.
const REFUSED: usize = 8;

impl RunArgs {
    /// Complains where somebody is to be watched, and more than one would be.
    pub(super) fn no_tasks_watched(&self) -> Result<(), Failure> {
        if !self.monitor && !self.suggest {
            return Ok(());
        }
        let message = "--monitor and --suggest are for one command, not for the tasks of a file";
        Err(Failure::new("tasks", message).hint("name one with --task, and a command behind `--`"))
    }

    /// Complains where the network will not be what was asked for.
    pub(super) fn check_network(&self, session: &Session) -> Result<(), Failure> {
        let mode = session.policy().network.mode.sourced();
        let is = mode.map_or(NetworkMode::DenyAll, |mode| mode.value);
        let by = mode.map_or_else(|| "nobody".into(), |mode| mode.origin.to_string());
        if self.monitor && is != NetworkMode::Monitor {
            let message = format!("--monitor: the mode stays `{is}`, as {by} says");
            return Err(Failure::new("monitor", message).hint("take that mode out of the policy"));
        }
        if self.suggest && !matches!(is, NetworkMode::AllowList | NetworkMode::Monitor) {
            let message = format!("--suggest: nothing is watched in mode `{is}`");
            return Err(Failure::new("suggest", message).hint("add --monitor"));
        }
        Ok(())
    }

    /// Returns the list that was asked for.
    pub(super) fn suggestion(&self, outcome: &Outcome) -> Option<Suggestion> {
        outcome.traffic.as_ref().filter(|_| self.suggest).map(Traffic::suggestion)
    }

    /// Names hosts that were refused: a program often says only that something is not there.
    pub(super) fn tell_refused(&self, ui: &Ui, outcome: &Outcome) {
        let connections = outcome.traffic.iter().flat_map(|traffic| &traffic.report.connections);
        let (mut hosts, mut hints): (Vec<String>, Vec<&str>) = Default::default();
        for one in connections.filter(|one| one.verdict.word() == "refused") {
            let port = one.port.map(|port| format!(":{port}")).unwrap_or_default();
            let code = one.verdict.code().unwrap_or_default();
            let rule = one.rule.as_ref().map(|rule| format!(" by `{}`", visible(rule)));
            let host = format!("{}{port} ({code}{})", visible(&one.host), rule.unwrap_or_default());
            if !hosts.contains(&host) {
                hosts.push(host);
            }
            hints.extend(remedy(code).filter(|hint| !hints.contains(hint)));
        }
        // The list that --suggest prints tells the same.
        if hosts.is_empty() || self.suggest {
            return;
        }
        let more = hosts.len().saturating_sub(REFUSED);
        hosts.truncate(REFUSED);
        let more = if more > 0 { format!(" and {more} more") } else { String::new() };
        ui.say(&format!("warning: the network refused {}{more}", hosts.join(", ")));
        for hint in hints {
            ui.say(&format!("hint: {hint}"));
        }
    }

    /// Returns the outcome for programs, with that list in it.
    pub(super) fn told(&self, outcome: &Outcome, warnings: Json) -> Json {
        let mut told = told(outcome, warnings);
        if let Some(suggestion) = self.suggestion(outcome) {
            told["network"]["suggest"] = suggestion.json();
        }
        told
    }
}

/// Says what would let a host be reached, if anything that can be written would.
fn remedy(code: &str) -> Option<&'static str> {
    match code {
        "host-denied" | "name-denied" | "address-denied" => {
            Some("what network.deny refuses stays refused, whatever network.allow lists")
        }
        code if code.ends_with("-not-listed") => {
            Some("`--suggest` prints what network.allow in a policy of yours would have to list")
        }
        code if code.starts_with("address-") => {
            Some("an address that is not public is reached if network.allow lists it, too")
        }
        _ => None,
    }
}
