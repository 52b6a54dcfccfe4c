//! Addresses: what proves in them who asks.

use super::name::is_parameter;
use super::value::gone;

/// What stands in front of the secret in the path of an address.
const SECRET_PATHS: [(&str, usize); 3] = [
    ("hooks.slack.com/services/", 2),
    ("discord.com/api/webhooks/", 1),
    ("discordapp.com/api/webhooks/", 1),
];

/// Returns an address without what proves who asks for it.
pub(super) fn address(scheme: &str, rest: &str) -> String {
    let (place, path) = rest.split_at(rest.find(['/', '?', '#']).unwrap_or(rest.len()));
    let place = match place.rsplit_once('@') {
        None => place.to_owned(),
        Some((user, host)) => match user.split_once(':') {
            Some((user, password)) => format!("{user}:{}@{host}", gone(password)),
            // There it is a name; elsewhere it may be all there is.
            None if scheme.ends_with("ssh") || scheme.ends_with("sftp") => format!("{user}@{host}"),
            None => format!("{}@{host}", gone(user)),
        },
    };
    let mut told = format!("{scheme}://{place}");
    let path = without_hook(&place, path);
    for part in path.split_inclusive(['?', '&', '#', ';']) {
        match part.split_once('=') {
            Some((name, value)) if is_parameter(name) && !value.starts_with("[redacted]") => {
                let ends = ['?', '&', '#', ';', '\'', '"', '`', ')', '|', '<', '>'];
                let end = value.find(ends).unwrap_or(value.len());
                let (value, behind) = value.split_at(end);
                told.push_str(&format!("{name}={}{behind}", gone(value)));
            }
            Some(_) | None => match part.split_once("://") {
                Some((scheme, rest)) => told.push_str(&address(scheme, rest)),
                None => told.push_str(part),
            },
        }
    }
    told
}

/// Returns the path of an address that lets whoever knows it in, without what does.
fn without_hook(place: &str, path: &str) -> String {
    for (known, shown) in SECRET_PATHS {
        let known = known.strip_prefix(place);
        let Some((known, rest)) = known.and_then(|it| Some((it, path.strip_prefix(it)?))) else {
            continue;
        };
        let kept = rest.split_inclusive('/').take(shown).map(str::len).sum();
        let (kept, secret) = rest.split_at(kept);
        let end = secret.find(['?', '#', '\'', '"', ';', '/']).unwrap_or(secret.len());
        let (secret, behind) = secret.split_at(end);
        return format!("{known}{kept}{}{behind}", gone(secret));
    }
    // A bot of Telegram: its number and its token.
    if place == "api.telegram.org"
        && let Some((bot, rest)) = path.split_once(':')
    {
        let end = rest.find(['/', '?', '\'', '"', ';']).unwrap_or(rest.len());
        let (token, behind) = rest.split_at(end);
        return format!("{bot}:{}{behind}", gone(token));
    }
    path.to_owned()
}

/// Returns a word without the password of a user at a host: `me:secret@example.com/x`.
pub(super) fn user_at_host(word: &str) -> String {
    let place = word.split('/').next().unwrap_or_default();
    let Some((user, host)) = place.rsplit_once('@') else { return word.to_owned() };
    let Some((user, password)) = user.split_once(':') else { return word.to_owned() };
    let is_name = |c: char| c.is_ascii_alphanumeric() || "_-.".contains(c);
    let host = host.split(':').next().unwrap_or_default();
    let last = host.rsplit_once('.').map_or("", |(_, last)| last);
    // A version, as in `npm:react@18.2.0`, is no host.
    let is_host = !last.is_empty() && last.bytes().all(|it| it.is_ascii_alphabetic());
    if !is_host || user.is_empty() || password.is_empty() || !user.chars().all(is_name) {
        return word.to_owned();
    }
    let behind = word.get(user.len() + 1 + password.len()..).unwrap_or_default();
    format!("{user}:{}{behind}", gone(password))
}
