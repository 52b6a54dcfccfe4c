//! Which API a path is of.
//!
//! Servers read paths leniently: they decode them, and some care for no case. So a path is compared
//! decoded and folded, and one that could still be read in two ways is no path here.

use super::Api;

/// A path that can be read in two ways.
#[derive(Clone, Copy, Debug, Eq, PartialEq, thiserror::Error)]
#[error(
    "the path can be read in two ways: it is encoded twice, or holds `;`, a backslash or dots; write it plainly"
)]
pub struct OddPath;

impl Api {
    /// Tells the API by the path of a request; none for what is known to answer without calls.
    ///
    /// # Errors
    ///
    /// When the path can be read in two ways.
    ///
    /// ```
    /// use palisade_gate::llm::Api;
    ///
    /// assert_eq!(Api::of_path("/v1/chat/completion%73"), Ok(Some(Api::Chat)));
    /// assert_eq!(Api::of_path("/v1/models"), Ok(None));
    /// assert_eq!(Api::of_path("/v1/threads/t/runs"), Ok(Some(Api::Other)));
    /// ```
    pub fn of_path(path: &str) -> Result<Option<Self>, OddPath> {
        let path = path.split(['?', '#']).next().unwrap_or_default();
        let path = decoded(path)?.to_ascii_lowercase();
        let words: Vec<&str> = path.split('/').filter(|word| !word.is_empty()).collect();
        if words.iter().any(|word| matches!(*word, "." | "..")) {
            return Err(OddPath);
        }
        Ok(of_words(&words))
    }
}

fn of_words(words: &[&str]) -> Option<Api> {
    // What stands behind a colon, as far as it is letters: servers differ in what they make of the rest.
    let verbs = words.iter().flat_map(|word| word.split(':').skip(1));
    let verbs: Vec<&str> =
        verbs.map(|verb| verb.trim_matches(|c: char| !c.is_ascii_alphanumeric())).collect();
    for verb in &verbs {
        match *verb {
            "generatecontent" | "streamgeneratecontent" => return Some(Api::Gemini),
            "rawpredict" | "streamrawpredict" => return Some(Api::Messages),
            _ => {}
        }
    }
    let is_known = |verb: &&str| {
        matches!(*verb, "embedcontent" | "batchembedcontents" | "counttokens" | "computetokens")
    };
    let ends = words
        .last()
        .is_some_and(|last| last.rsplit_once(':').is_some_and(|(_, verb)| is_known(&verb)));
    match of_names(words, !verbs.is_empty()) {
        _ if ends && verbs.len() == 1 => None,
        // What an API answers below its own path may be an answer of it.
        None if !verbs.is_empty() || is_below(words) => Some(Api::Other),
        api => api,
    }
}

/// Whether a path goes on behind one that is answered with calls.
fn is_below(words: &[&str]) -> bool {
    let counts =
        matches!(words, [.., "messages", "count_tokens"] | [.., "responses", "input_tokens"]);
    let asks = |word: &&str| matches!(*word, "completions" | "responses" | "messages");
    let above = if counts { words.len().saturating_sub(2) } else { words.len() };
    words.iter().take(above).any(asks)
}

fn of_names(words: &[&str], has_verb: bool) -> Option<Api> {
    match words {
        [.., "messages", "count_tokens"] | [.., "responses", "input_tokens"] => None,
        [.., "chat", "completions"] => Some(Api::Chat),
        [.., "responses"] => Some(Api::Responses),
        [.., "messages"] if !words.contains(&"threads") => Some(Api::Messages),
        // What was answered before is read again.
        [.., "responses", _] => Some(Api::Responses),
        [.., "chat", "completions", _] => Some(Api::Chat),
        [.., "models" | "embeddings" | "uploads"] => None,
        ["v1" | "v1beta", "models", _] if !has_verb => None,
        [.., "images", "generations" | "edits" | "variations"] => None,
        [.., "audio", "speech" | "transcriptions" | "translations"] => None,
        _ => Some(Api::Other),
    }
}

/// Decodes a path once.
fn decoded(path: &str) -> Result<String, OddPath> {
    let mut out = Vec::new();
    let mut bytes = path.bytes();
    while let Some(byte) = bytes.next() {
        out.push(if byte == b'%' {
            let mut digit = || bytes.next().and_then(|digit| char::from(digit).to_digit(16));
            let (high, low) = (digit().ok_or(OddPath)?, digit().ok_or(OddPath)?);
            u8::try_from(high * 16 + low).map_err(|_| OddPath)?
        } else {
            byte
        });
    }
    let odd = |byte: &u8| matches!(byte, b'%' | b';' | b'\\' | b'?' | b'#') || *byte <= b' ';
    if out.iter().any(odd) {
        return Err(OddPath);
    }
    String::from_utf8(out).map_err(|_| OddPath)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_is_told_however_it_is_written() {
        for (path, api) in [
            ("/v1/chat/completion%73", Api::Chat),
            ("/v1/chat%2fcompletions", Api::Chat),
            ("/V1/Chat/Completions", Api::Chat),
            ("//v1//chat/completions/", Api::Chat),
            ("/v1/message%73", Api::Messages),
            ("/v1/%72esponses", Api::Responses),
            ("/v1/responses/r", Api::Responses),
            ("/v1beta/models/g%3AgenerateContent", Api::Gemini),
            ("/v1beta/models/g:GenerateContent", Api::Gemini),
            ("/v1beta/models/g:streamGenerateContent:countTokens", Api::Gemini),
            ("/v1beta/models/g:streamGenerateContent:$", Api::Gemini),
            ("/v1beta/models/g:streamGenerateContent$", Api::Gemini),
            ("/v1beta/models/g:$streamGenerateContent", Api::Gemini),
            ("/v1beta/models/g:streamGenerateContent/models", Api::Gemini),
        ] {
            assert_eq!(Api::of_path(path), Ok(Some(api)), "{path}");
        }
    }

    #[test]
    fn what_can_be_read_in_two_ways_is_no_path() {
        for path in [
            "/v1/messages;v=1",
            "/v1/message%2573",
            "/v1\\messages",
            "/v1/x/../messages",
            "/v1/x/%2e%2e/messages",
            "/v1/messages%3b",
            "/v1/messages%3Fx",
            "/v1/messages%0a",
            "/v1/messages%",
            "/v1/messages%ff",
        ] {
            assert_eq!(Api::of_path(path), Err(OddPath), "{path}");
        }
    }

    #[test]
    fn what_is_not_known_to_hold_no_calls_is_judged_by_its_shape() {
        for path in [
            "/v1/threads/t/runs",
            "/v1/threads/t/messages",
            "/v1/messages/batches/b/results",
            "/v1/responses/r/input_items",
            "/v1/files/f/content",
            "/v1/files/f",
            "/v1/files",
            "/v1beta/files/f",
            "/v1/moderations",
            "/v1/conversations/c/items",
            "/v1beta/interactions",
            "/v1beta/models/g:batchGenerateContent",
            "/model/m/invoke",
            "/v1/complete",
            "/v1/chat/completions/c/models",
            "/v1/messages/m/files",
            "/v1beta/models/g:answer:countTokens",
            "/v1beta/models/g:answer/models",
            "/",
        ] {
            assert_eq!(Api::of_path(path), Ok(Some(Api::Other)), "{path}");
        }
        for path in ["/v1/models/m", "/v1/embeddings", "/v1/messages/count_tokens", "/v1/uploads"] {
            assert_eq!(Api::of_path(path), Ok(None), "{path}");
        }
    }
}
