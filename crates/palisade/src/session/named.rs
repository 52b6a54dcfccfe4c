//! Agents that nothing is known of: a name that cannot be one, or that may be a slip.

use palisade_policy::agent;
use palisade_policy::name::Invalid;
use palisade_policy::text::visible;

use super::error::{OpenError, Warning};
use super::request::Request;

/// Refuses what cannot be a name, and tells of one that may be a slip. `known` are the agents that
/// some file names.
pub(super) fn unknown(
    name: &str,
    known: Vec<String>,
    request: &Request,
) -> Result<Option<Warning>, OpenError> {
    let odd = |letter: char| letter.is_control() || matches!(letter, '/' | '\\');
    if name.trim() != name || name.is_empty() || name.starts_with('.') || name.contains(odd) {
        let invalid = Invalid::new("agent-name", format!("`{}` cannot be a name", visible(name)))
            .with_hint("`palisade agents` lists those that are known; a policy can name others");
        return Err(OpenError::Option { name: "the agent".into(), invalid });
    }
    // A file that confines everybody speaks for those that are known, too.
    if known.is_empty() && agent::meant(name, &[]) == Some(name) {
        return Ok(None);
    }
    let spoken: Vec<&str> = known.iter().map(String::as_str).collect();
    let meant = agent::meant(name, &spoken).filter(|meant| *meant != name).map(str::to_owned);
    // Files of tasks have agents of their own, and need not speak of them.
    let tell = !known.is_empty() || meant.is_some() || request.agent.is_some();
    let agent = name.to_owned();
    Ok(tell.then_some(Warning::NoSuchAgent { agent, known, meant }))
}
