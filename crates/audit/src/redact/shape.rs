//! Secrets that can be told by what they look like, whatever stands in front of them.

use super::GONE;

/// What well-known secrets begin with, and how many characters follow at least.
const BEGINNINGS: [(&str, usize); 32] = [
    ("AGE-SECRET-KEY-1", 40),
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
    ("hvb.", 30),
    ("hvs.", 30),
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
    ("ya29.", 30),
    ("sk_test_", 16),
];

/// What private keys begin and end with.
const KEY: &str = "-----BEGIN ";
const KEY_END: &str = "-----END ";

/// What stands above the lines of a private key.
const HEADERS: [&str; 6] =
    ["Proc-Type:", "DEK-Info:", "Version:", "Comment:", "Charset:", "Private-MAC:"];
const PUTTY: &str = "PuTTY-User-Key-File-";

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
        rest = after;
        if is_secret(word) {
            told.push_str(GONE);
            // The secret part of a pair stands right behind its name.
            rest = behind_pair(word, after);
        } else {
            told.push_str(&without_inner(word));
        }
    }
    told.push_str(rest);
    told
}

/// What such secrets are made of. A dot joins the parts of a signed token.
fn is_part(c: char) -> bool {
    c.is_ascii_alphanumeric() || "_-.".contains(c)
}

/// Two letters and 32 hexadecimal digits.
fn is_twilio(word: &str) -> bool {
    word.strip_prefix("SK").is_some_and(|rest| {
        rest.len() == 32 && rest.bytes().all(|it| matches!(it, b'0'..=b'9' | b'a'..=b'f'))
    })
}

/// Two parts of known lengths.
fn is_sendgrid(word: &str) -> bool {
    let parts = word.strip_prefix("SG.").and_then(|rest| rest.split_once('.'));
    parts.is_some_and(|(first, second)| first.len() >= 16 && second.len() >= 32)
}

/// Passes over what stands behind the name of a key and a colon.
fn behind_pair<'t>(word: &str, after: &'t str) -> &'t str {
    let Some(rest) = after.strip_prefix(':').filter(|_| is_key_name(word)) else { return after };
    let end = rest.find(|c: char| !(c.is_ascii_alphanumeric() || "/+=".contains(c)));
    let end = end.unwrap_or(rest.len());
    if end < 30 { after } else { rest.get(end..).unwrap_or_default() }
}

fn is_key_name(word: &str) -> bool {
    ["AKIA", "ASIA"].iter().any(|it| word.starts_with(it))
}

/// Returns a word without the name of a key that something is glued to.
fn without_inner(word: &str) -> String {
    for start in ["AKIA", "ASIA"] {
        let Some(at) = word.find(start).filter(|at| *at > 0) else { continue };
        let (before, rest) = word.split_at(at);
        let is_key = |it: u8| it.is_ascii_uppercase() || it.is_ascii_digit();
        let length = rest.bytes().take_while(|it| is_key(*it)).count();
        if length == 20 {
            return format!("{before}{GONE}{}", rest.get(20..).unwrap_or_default());
        }
    }
    word.to_owned()
}

fn is_secret(word: &str) -> bool {
    if is_twilio(word) || is_sendgrid(word) {
        return true;
    }
    BEGINNINGS.iter().any(|(beginning, least)| {
        word.strip_prefix(beginning).is_some_and(|rest| {
            // A name that only begins alike has words in it, and no digits.
            rest.len() >= *least && rest.bytes().any(|byte| byte.is_ascii_digit())
        })
    })
}

/// Returns what stands behind a private key that a text begins with. Only what a key is made of is
/// passed over: what stands between its lines is told.
pub(super) fn private_key(text: &str) -> Option<&str> {
    if let Some(rest) = text.strip_prefix(PUTTY) {
        let lines = rest.find("Private-Lines:").and_then(|at| rest.get(at..))?;
        return Some(behind_body(lines.split_once('\n').map_or("", |(_, body)| body)));
    }
    let rest = text.strip_prefix(KEY)?;
    let close = rest.find("-----")?;
    let line = rest.get(..close)?;
    if !line.ends_with("PRIVATE KEY") && !line.ends_with("PRIVATE KEY BLOCK") {
        return None;
    }
    let behind = behind_body(rest.get(close + "-----".len()..)?);
    let mut end = behind;
    loop {
        let next = end.trim_start();
        let next = next.strip_prefix("\\r").unwrap_or(next);
        let next = next.strip_prefix("\\n").unwrap_or(next);
        if next.len() == end.len() {
            break;
        }
        end = next;
    }
    let Some(end) = end.strip_prefix(KEY_END) else { return Some(behind) };
    let close = end.find("-----").map_or(end.len(), |at| at + "-----".len());
    end.get(close..)
}

/// Blanks, and the letters of `\n` in a text within a text.
fn is_break(c: char) -> bool {
    c.is_whitespace() || c == '\\'
}

/// Passes over the lines of a key. A short one is its last.
fn behind_body(text: &str) -> &str {
    let mut rest = text;
    loop {
        let line = rest.trim_start_matches(['\r', '\n', ' ', '\t']);
        let line = line.strip_prefix("\\n").unwrap_or(line);
        let line = line.strip_prefix("\\r\\n").unwrap_or(line);
        if let Some(header) = HEADERS.iter().find(|it| line.starts_with(**it)) {
            let end = line.find(['\n', '\\', ';', '|', '&']).unwrap_or(line.len());
            rest = line.get(end.max(header.len())..).unwrap_or_default();
            continue;
        }
        let end = line.find(|c: char| !(c.is_ascii_alphanumeric() || "+/=".contains(c)));
        let end = end.unwrap_or(line.len());
        let behind = line.get(end..).unwrap_or_default();
        let is_last = behind.trim_start_matches(is_break);
        let is_last = is_last.strip_prefix('n').unwrap_or(is_last).starts_with(KEY_END);
        if end == 0 || end < 16 && !is_last && !behind.is_empty() {
            return rest;
        }
        // What ends the text may be a word of a command as well.
        if end < 16 && behind.is_empty() && line.len() < rest.len() && !rest.starts_with('\n') {
            return rest;
        }
        rest = behind;
        if rest.is_empty() {
            return rest;
        }
    }
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
        let body = "MIIEowIBAAKCAQEAabcdef0123456789";
        for (text, told) in [
            ("a -----BEGIN RSA PRIVATE KEY-----; rm -rf src", "a [redacted]; rm -rf src"),
            ("-----BEGIN PRIVATE KEY-----\nB\nrm -rf src", "[redacted]\nrm -rf src"),
            ("-----BEGIN PRIVATE KEY-----\nB\nB", "[redacted]"),
            ("-----BEGIN PRIVATE KEY-----\\nB\\n-----END PRIVATE KEY-----\\n", "[redacted]\\n"),
            (
                "-----BEGIN PRIVATE KEY-----\nrm -rf src\n-----END PRIVATE KEY-----",
                "[redacted]\nrm -rf src\n-----END PRIVATE KEY-----",
            ),
        ] {
            assert_eq!(
                redact(
                    &text
                        .replace("\nB", &format!("\n{body}"))
                        .replace("nB\\", &format!("n{body}\\"))
                ),
                told
            );
        }
        for odd in ["-----BEGIN ", "-----BEGIN PRIVATE KEY", "-----BEGIN PRIVATE KEY-----"] {
            redact(odd);
        }
    }
}
