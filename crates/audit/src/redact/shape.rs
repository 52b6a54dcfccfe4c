//! Secrets that can be told by what they look like, whatever stands in front of them.

use super::GONE;

/// What well-known secrets begin with, and how many characters follow at least.
const BEGINNINGS: [(&str, usize); 27] = [
    ("AIza", 30),
    ("AKIA", 16),
    ("ASIA", 16),
    ("dckr_pat_", 20),
    ("dop_v1_", 40),
    ("eyJ", 60),
    ("gho_", 30),
    ("ghp_", 30),
    ("ghr_", 30),
    ("ghs_", 30),
    ("ghu_", 30),
    ("github_pat_", 30),
    ("glpat-", 16),
    ("hf_", 30),
    ("npm_", 30),
    ("pypi-", 40),
    ("rk_live_", 16),
    ("shpat_", 30),
    ("sk-", 20),
    ("sk_live_", 16),
    ("xapp-", 20),
    ("xoxa-", 20),
    ("xoxb-", 20),
    ("xoxe.", 20),
    ("xoxp-", 20),
    ("xoxr-", 20),
    ("xoxs-", 20),
];

/// What private keys begin and end with.
const KEY: &str = "-----BEGIN ";
const KEY_END: &str = "-----END ";

/// Returns a text without such secrets.
pub(super) fn redact(text: &str) -> String {
    let mut told = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find(|c: char| is_part(c)) {
        let (before, from) = rest.split_at(at);
        told.push_str(before);
        if let Some(after) = private_key(from) {
            told.push_str(GONE);
            rest = after;
            continue;
        }
        let end = from.find(|c: char| !is_part(c)).unwrap_or(from.len());
        let (word, after) = from.split_at(end);
        told.push_str(if is_secret(word) { GONE } else { word });
        rest = after;
    }
    told.push_str(rest);
    told
}

/// What such secrets are made of. A dot joins the parts of a signed token.
fn is_part(c: char) -> bool {
    c.is_ascii_alphanumeric() || "_-.".contains(c)
}

fn is_secret(word: &str) -> bool {
    BEGINNINGS.iter().any(|(beginning, least)| {
        word.strip_prefix(beginning).is_some_and(|rest| {
            // A name that only begins alike has words in it, and no digits.
            rest.len() >= *least && rest.bytes().any(|byte| byte.is_ascii_digit())
        })
    })
}

/// Returns what stands behind a private key that a text begins with.
fn private_key(text: &str) -> Option<&str> {
    let rest = text.strip_prefix(KEY)?;
    let line = rest.get(..rest.find("-----")?)?;
    if !line.ends_with("PRIVATE KEY") && !line.ends_with("PRIVATE KEY BLOCK") {
        return None;
    }
    // One that does not end goes on to the end of the text.
    let Some(end) = rest.find(KEY_END) else { return Some("") };
    let behind = rest.get(end + KEY_END.len()..)?;
    let close = behind.find("-----").map_or(behind.len(), |at| at + "-----".len());
    behind.get(close..)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_secret_is_told_by_its_shape_and_a_name_is_not() {
        let token = |beginning: &str, length: usize| format!("{beginning}{}", "a1".repeat(length));
        for secret in [
            token("ghp_", 18),
            token("github_pat_", 30),
            token("sk-proj-", 20),
            token("xoxb-1-", 12),
            token("xoxs-1-", 12),
            token("xapp-1-A", 12),
            token("AKIA", 8),
            format!("eyJ{0}.eyJ{0}.{0}", "a1".repeat(20)),
        ] {
            let text = format!("x '{secret}'; y={secret}");
            assert_eq!(redact(&text), "x '[redacted]'; y=[redacted]", "{secret}");
        }
        for name in [
            "sk-learn-contrib-examples-for-everybody",
            "ghp_short1",
            "npm_config_registry_of_the_whole_company",
            "AKIA",
            "eyJ0",
            "a sk-",
        ] {
            assert_eq!(redact(name), name);
        }
    }

    #[test]
    fn a_private_key_goes_and_what_stands_behind_it_stays() {
        let key = |kind: &str| format!("-----BEGIN {kind}-----\nabc\n-----END {kind}-----");
        assert_eq!(redact(&format!("a {} b", key("RSA PRIVATE KEY"))), "a [redacted] b");
        assert_eq!(redact("a -----BEGIN PRIVATE KEY-----\nabc"), "a [redacted]");
        let public = key("CERTIFICATE");
        assert_eq!(redact(&public), public);
        for odd in ["-----BEGIN ", "-----BEGIN PRIVATE KEY", "-----BEGIN PRIVATE KEY-----"] {
            redact(odd);
        }
    }
}
