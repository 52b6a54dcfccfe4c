//! Those who are asked elsewhere: a program of the user's, or a service that signs what it says.

use std::ffi::OsString;
use std::fmt;
use std::io;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use palisade_audit::{Hash, Key, timestamp};
use palisade_policy::policy::Endpoint;
use serde::de::{Deserialize, Deserializer, Error as _, MapAccess, Visitor};
use serde_json::{Value, json};

use super::confirm::{Answered, Confirm, HostQuestion, Question};
use crate::http;

/// How long somebody is waited for if the policy says nothing.
const TIME: Duration = Duration::from_secs(120);

/// The longest answer.
const MOST: usize = 64 << 10;

/// A program that reads a question and writes an answer.
#[derive(Debug)]
pub(super) struct Program {
    pub(super) path: PathBuf,
    pub(super) environment: Vec<(OsString, OsString)>,
}

/// A service that answers signed questions with signed answers.
#[derive(Debug)]
pub(super) struct Webhook {
    pub(super) url: Endpoint,
    /// Where the key lies that both sides have.
    pub(super) key: Option<PathBuf>,
}

impl Confirm for Program {
    fn name(&self) -> &'static str {
        "program"
    }

    fn ask(&self, question: &Question<'_>) -> Answered {
        let Some(told) = question.json() else { return Answered::Nobody };
        self.put(&told, question.hash, question.time)
    }

    fn ask_host(&self, question: &HostQuestion<'_>) -> Answered {
        self.put(&question.json(), &question.hash(), question.time)
    }
}

impl Program {
    fn put(&self, told: &Value, hash: &str, time: Option<Duration>) -> Answered {
        let text = format!("{told}\n").into_bytes();
        let time = time.unwrap_or(TIME);
        let heard = palisade_apply::converse(&self.path, &self.environment, text, time, MOST);
        match heard {
            Ok(heard) => read(&heard, |value| value["hash"] == hash),
            Err(error) => failed(&error),
        }
    }
}

impl Confirm for Webhook {
    fn name(&self) -> &'static str {
        "webhook"
    }

    fn ask(&self, question: &Question<'_>) -> Answered {
        let Some(told) = question.json() else { return Answered::Nobody };
        self.put(told, question.hash, question.time)
    }

    fn ask_host(&self, question: &HostQuestion<'_>) -> Answered {
        self.put(question.json(), &question.hash(), question.time)
    }
}

impl Webhook {
    fn put(&self, told: Value, hash: &str, time: Option<Duration>) -> Answered {
        let Some(key) = self.key.as_deref().and_then(|key| Key::read(key).ok()) else {
            return Answered::Nobody;
        };
        self.asked(&key, told, hash, time.unwrap_or(TIME)).unwrap_or_else(|error| failed(&error))
    }

    fn asked(
        &self,
        key: &Key,
        mut told: Value,
        hash: &str,
        time: Duration,
    ) -> io::Result<Answered> {
        // Said once: an answer to another question, or to this one at another time, has another.
        let id = random()?;
        let now = SystemTime::now();
        told["id"] = id.as_str().into();
        told["time"] = timestamp(now).into();
        told["expires"] = timestamp(now + time).into();
        let body = told.to_string();
        let signed = format!("sha256={}", key.sign(&format!("palisade question 1\n{body}")));
        let headers =
            [("Content-Type", "application/json".to_owned()), ("X-Palisade-Signature", signed)];
        let answer = http::post(&self.url.to_string(), &headers, body.as_bytes(), time)?;
        let text = std::str::from_utf8(&answer.body).map_err(|_| io::Error::other("no text"))?;
        let expected = format!("sha256={}", key.sign(&format!("palisade answer 1\n{text}")));
        let signed = answer.header("x-palisade-signature").is_some_and(|it| same(it, &expected));
        if answer.status != 200 || !signed {
            return Ok(Answered::Nobody);
        }
        Ok(read(text.as_bytes(), |value| value["hash"] == hash && value["id"] == id.as_str()))
    }
}

/// Compares in a time that says nothing of where two texts differ.
fn same(one: &str, other: &str) -> bool {
    Hash::of(one.as_bytes()) == Hash::of(other.as_bytes())
}

fn random() -> io::Result<String> {
    use std::io::Read as _;
    let mut bytes = [0; 32];
    std::fs::File::open(Path::new("/dev/urandom"))?.read_exact(&mut bytes)?;
    Ok(Hash::of(&bytes).to_string())
}

/// Reads an answer. Whatever is not clearly a yes to this very question is none.
fn read(text: &[u8], is_ours: impl Fn(&Value) -> bool) -> Answered {
    // Who says something twice says two things.
    let Ok(Once(value)) = serde_json::from_slice(text) else { return Answered::Nobody };
    if !is_ours(&value) {
        return Answered::Nobody;
    }
    match value["answer"].as_str() {
        Some("yes") => Answered::Yes,
        Some("run") => Answered::ForRun,
        Some("no") => Answered::No,
        Some(_) | None => Answered::Nobody,
    }
}

/// An object that has each of its keys once.
struct Once(Value);

impl<'de> Deserialize<'de> for Once {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(Keys)
    }
}

struct Keys;

impl<'de> Visitor<'de> for Keys {
    type Value = Once;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object that has each key once")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Once, A::Error> {
        let mut read = serde_json::Map::new();
        while let Some((key, value)) = map.next_entry::<String, Value>()? {
            if read.insert(key, value).is_some() {
                return Err(A::Error::custom("a key that is there twice"));
            }
        }
        Ok(Once(Value::Object(read)))
    }
}

fn failed(error: &io::Error) -> Answered {
    if error.kind() == io::ErrorKind::TimedOut { Answered::Timeout } else { Answered::Nobody }
}

impl Question<'_> {
    /// Returns the question for a program. None if it is too long for anybody to read.
    pub fn json(&self) -> Option<Value> {
        use palisade_policy::decide::Asked;
        let text = self.text()?;
        let (argv, shell) = match self.asked {
            Asked::Argv(argv) => (json!(argv), Value::Null),
            Asked::Shell(text) | Asked::Words(text) => (Value::Null, text.into()),
        };
        let variable = |(name, value): &(String, String)| json!({ "name": name, "value": super::confirm::told(name, value) });
        let touches = self.touches.iter().map(|it| json!({ "deed": it.deed, "what": it.what }));
        let reasons =
            self.reasons.iter().map(|it| json!({ "code": it.code, "message": it.message }));
        Some(json!({
            "version": 1,
            "kind": "call",
            "hash": self.hash,
            "argv": argv,
            "shell": shell,
            "cwd": self.cwd,
            "root": self.root,
            "variables": self.variables.iter().map(variable).collect::<Vec<_>>(),
            "touches": touches.collect::<Vec<_>>(),
            "reasons": reasons.collect::<Vec<_>>(),
            "text": text,
        }))
    }
}

impl HostQuestion<'_> {
    /// Returns the hash of the question.
    pub fn hash(&self) -> String {
        let Self { host, port, request, .. } = self;
        Hash::of(format!("host {host} {port} {}", request.unwrap_or_default()).as_bytes())
            .to_string()
    }

    /// Returns the question for a program.
    pub fn json(&self) -> Value {
        let Self { host, port, request, rule, .. } = self;
        json!({
            "version": 1,
            "kind": "host",
            "hash": self.hash(),
            "host": host,
            "port": port,
            "request": request,
            "rule": rule,
            "text": self.text(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_answer_that_says_two_things_says_nothing() {
        for (text, answer) in [
            (r#"{"hash":"a","answer":"yes"}"#, Answered::Yes),
            (r#"{"hash":"a","answer":"no","answer":"yes"}"#, Answered::Nobody),
            (r#"{"hash":"b","answer":"yes","hash":"a"}"#, Answered::Nobody),
            (r#"{"hash":"a","answer":"no","ans\u0077er":"yes"}"#, Answered::Nobody),
            (r#"{"hash":"a","answer":"yes"} x"#, Answered::Nobody),
            (r#"[{"hash":"a","answer":"yes"}]"#, Answered::Nobody),
        ] {
            assert_eq!(read(text.as_bytes(), |value| value["hash"] == "a"), answer, "{text}");
        }
    }
}
