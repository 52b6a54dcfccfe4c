//! Hosts as srt spells them, translated to ours and back (Ruling 17).

use std::net::IpAddr;

use crate::name::{HostPattern, Invalid, WideHost};
use crate::text::visible;

/// Reads an entry of `allowedDomains`.
pub(in crate::dialect) fn granted(text: &str) -> Result<HostPattern, Invalid> {
    check(text)?;
    text.parse()
}

/// Reads an entry of `deniedDomains`, where `*` and `*:port` are welcome too.
pub(in crate::dialect) fn denied(text: &str) -> Result<WideHost, Invalid> {
    if text != "*" && !text.starts_with("*:") {
        check(text)?;
    }
    text.parse()
}

/// Reads an entry of `deniedResolvedAddresses`: an address or a network, IPv6 without brackets.
pub(super) fn address(text: &str) -> Result<WideHost, Invalid> {
    let (address, bits) = text.split_once('/').unwrap_or((text, "0"));
    match address.parse() {
        Ok(IpAddr::V4(_)) if is_number(bits) => text.parse(),
        Ok(IpAddr::V6(_)) if is_number(bits) => format!("[{text}]").parse(),
        Ok(_) | Err(_) => {
            let problem = format!("`{}` is neither an address nor a network", visible(text));
            Err(Invalid::new("srt-address", problem)
                .with_hint("write it like `192.0.2.1`, `10.0.0.0/8` or `2001:db8::/32`"))
        }
    }
}

/// A port has no place here; our own notation would take one.
fn is_number(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit())
}

/// Spells a host that is let through for `allowedDomains`; none if srt has no words for it.
pub(super) fn spell_granted(pattern: &HostPattern) -> Option<Vec<String>> {
    let spellings = spellings(&pattern.to_string());
    spellings.iter().all(|text| granted(text).is_ok()).then_some(spellings)
}

/// Spells a host that is refused for `deniedDomains`; none if srt has no words for it.
pub(super) fn spell_denied(pattern: &WideHost) -> Option<Vec<String>> {
    let spellings = spellings(&pattern.to_string());
    spellings.iter().all(|text| denied(text).is_ok()).then_some(spellings)
}

/// Spells a network that is refused for `deniedResolvedAddresses`.
pub(super) fn spell_address(pattern: &WideHost) -> Option<String> {
    let text = pattern.to_string();
    let bare = text.strip_prefix('[').and_then(|text| text.strip_suffix(']')).unwrap_or(&text);
    address(bare).is_ok_and(|again| again == *pattern).then(|| bare.to_owned())
}

/// srt has no word for "the name and all below it", but two for its halves.
fn spellings(text: &str) -> Vec<String> {
    match text.strip_prefix('.') {
        Some(name) => vec![name.to_owned(), format!("*{text}")],
        None => vec![text.to_owned()],
    }
}

/// Refuses what srt refuses, though we would have a meaning for some of it.
fn check(text: &str) -> Result<(), Invalid> {
    let refusal = |problem: &str, hint: &str| {
        let problem = format!("`{}` {problem}", visible(text));
        Err(Invalid::new("srt-domain", problem).with_hint(hint))
    };
    if text.contains('/') {
        return refusal("is more than a host", "leave out scheme and path: `example.com`");
    }
    if text.starts_with('[') {
        return Ok(()); // the parser knows all about brackets
    }
    let body = text.split_once(':').map_or(text, |(body, _)| body);
    if text.matches(':').count() > 1 {
        return refusal("looks like IPv6 without brackets", "write `[2001:db8::1]:443`");
    }
    if body.starts_with('.') || body.ends_with('.') {
        return refusal(
            "begins or ends with a dot",
            "write `example.com`, `*.example.com`, or both",
        );
    }
    let name = body.strip_prefix("*.").unwrap_or(body);
    if name.contains('*') {
        return refusal("has a `*` in the wrong place", "write `*.example.com`");
    }
    if !name.contains('.') && (name != "localhost" || name.len() != body.len()) {
        return refusal("has no dot in it", "write a full name, such as `host.example.com`");
    }
    Ok(())
}
