//! An outcome for programs in other languages.

use std::path::Path;

use palisade_apply::{Bound, Stream, Violations};
use palisade_plan::{Kept, Level, enforced_json};
use palisade_policy::decide::{Axis, Reason};
use serde_json::{Map, Value, json};

use super::hint::Under;
use super::network::Traffic;
use super::outcome::{Outcome, marked, whole};

impl Outcome {
    /// Returns the outcome for programs (Ruling 12, `schema/outcome.json`).
    pub fn json(&self) -> Value {
        let mut told = Map::new();
        let mut put = |name: &str, value: Value| drop(told.insert(name.to_owned(), value));
        put("version", 1.into());
        put("executed", self.executed().into());
        put("ok", self.ok().into());
        put("exit_code", self.exit_code().into());
        put("signal", self.signal().into());
        put("timed_out", self.timed_out().into());
        put("denied", self.denied().into());
        put("reason", self.reason().into());
        put("code", self.code().into());
        put("axes", self.axes().into_iter().map(Axis::word).collect());
        put("reasons", self.reasons().iter().map(reason).collect());
        let (empty, keep) = (Stream::default(), self.keep());
        let streams = self.seen().map(|seen| [&seen.stdout, &seen.stderr]);
        let streams = streams.unwrap_or([&empty, &empty]);
        for (name, stream) in ["stdout", "stderr"].into_iter().zip(streams) {
            match std::str::from_utf8(whole(stream, keep)) {
                Ok(text) => put(name, marked(stream, text, keep).into()),
                Err(_) => put(&format!("{name}_base64"), base64(&stream.bytes).into()),
            }
        }
        put("truncated", self.truncated().into());
        for (name, stream) in ["stdout_truncated", "stderr_truncated"].into_iter().zip(streams) {
            put(name, stream.truncated().into());
        }
        put("duration_ms", milliseconds(self.duration()).into());
        put("argv", self.argv.clone().into());
        put("shell", self.shell.into());
        put("root", self.root.to_string_lossy().into());
        put("cwd", self.cwd.to_string_lossy().into());
        put("level", self.level().map(Level::word).into());
        let under = |under: &Under| json!({ "name": under.profile, "by": under.chosen_by });
        put("profile", self.under.as_ref().map_or(Value::Null, under));
        put("enforced", self.enforced());
        put("limit", self.limit().map(Bound::word).into());
        let reached = self.seen().map_or(&[][..], |seen| &seen.reached);
        put("limits_reached", reached.iter().map(|bound| bound.word()).collect());
        put(
            "violations",
            self.seen().map_or("unavailable".into(), |it| violations(&it.violations)),
        );
        put("hints", self.hints().into());
        let touched = self.seen().map_or(&[][..], |seen| &seen.touched);
        put(
            "touched",
            touched.iter().map(|it| json!({ "path": shown(&it.path), "why": it.why })).collect(),
        );
        let left = self.seen().and_then(|seen| seen.left_in_tmp.as_ref());
        put(
            "left_in_tmp",
            left.map(|left| left.iter().map(|path| shown(path)).collect::<Vec<_>>()).into(),
        );
        put("network", self.traffic.as_ref().map_or(Value::Null, Traffic::json));
        put("survivors", self.seen().map_or("none", |seen| seen.survivors.word()).into());
        put("usage", self.seen().map_or(Value::Null, |seen| usage(&seen.usage)));
        let notes = self.notes.iter();
        put("notes", notes.map(|it| json!({ "code": it.code, "message": it.message })).collect());
        Value::Object(told)
    }

    /// Returns what held while it ran, layer by layer; a word if that is not for us to say.
    pub(super) fn enforced(&self) -> Value {
        if self.level() == Some(Level::External) {
            return Level::External.word().into();
        }
        enforced_json(self.seen().map_or(&[][..], |seen| &seen.enforced))
    }
}

/// Returns a time in milliseconds, to two decimals.
pub(crate) fn milliseconds(time: std::time::Duration) -> f64 {
    (time.as_secs_f64() * 100_000.0).round() / 100.0
}

fn shown(path: &Path) -> String {
    path.to_string_lossy().into_owned()
}

fn violations(violations: &Violations) -> Value {
    let Violations::Predicted(list) = violations else { return "unavailable".into() };
    let told = list.iter().map(|one| {
        json!({
            "operation": one.operation,
            "path": shown(&one.path),
            "rule": one.rule,
            "remedy": one.remedy,
            "times": one.times,
            "predicted": true,
        })
    });
    told.collect()
}

fn usage(usage: &palisade_apply::Usage) -> Value {
    json!({
        "user_ms": milliseconds(usage.user),
        "system_ms": milliseconds(usage.system),
        "peak_memory": usage.peak_memory,
    })
}

fn reason(reason: &Reason) -> Value {
    json!({
        "answer": reason.answer.word(),
        "code": reason.code,
        "axis": reason.axis.word(),
        "message": reason.message,
        "origin": reason.origin.as_ref().map(ToString::to_string),
        "hint": reason.hint,
    })
}

/// Writes bytes in the alphabet of RFC 4648.
fn base64(bytes: &[u8]) -> String {
    const ALPHABET: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut text = String::with_capacity(bytes.len().div_ceil(3) * 4);
    for chunk in bytes.chunks(3) {
        let at = |place: usize| u32::from(chunk.get(place).copied().unwrap_or(0));
        let bits = at(0) << 16 | at(1) << 8 | at(2);
        for place in 0..4_usize {
            let digit = usize::try_from(bits >> (18 - 6 * place) & 0x3f).unwrap_or(0);
            let letter = ALPHABET.get(digit).copied().unwrap_or(b'=');
            text.push(if place > chunk.len() { '=' } else { letter.into() });
        }
    }
    text
}

impl Outcome {
    fn keep(&self) -> Kept {
        match &self.result {
            super::outcome::Done::Ran { keep, .. } => *keep,
            super::outcome::Done::Denied { .. } | super::outcome::Done::Unconfirmed { .. } => {
                Kept::Head
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_are_written_as_the_rfc_says() {
        for (bytes, text) in [
            ("", ""),
            ("f", "Zg=="),
            ("fo", "Zm8="),
            ("foo", "Zm9v"),
            ("foob", "Zm9vYg=="),
            ("fooba", "Zm9vYmE="),
            ("foobar", "Zm9vYmFy"),
        ] {
            assert_eq!(base64(bytes.as_bytes()), text);
        }
        assert_eq!(base64(&[0xff, 0xfe, 0x00]), "//4A");
    }

    #[test]
    fn times_have_two_decimals() {
        assert_eq!(milliseconds(std::time::Duration::from_nanos(1_234_567)).to_string(), "1.23");
    }
}
