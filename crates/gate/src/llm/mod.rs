//! The wire of model APIs: what a model asks for is held until it is judged.
//!
//! An answer is read into messages ([`frame`]), and from these each API's assembler puts together
//! the tool calls. Text is passed on at once; the messages of a call wait until all of it is there
//! and somebody has judged it. Then they are passed on as they came, or an assistant's text stands in
//! their place. Nothing here opens a socket, and no byte is passed on but what came, unless a call
//! was refused.
//!
//! | Module | What it knows |
//! | --- | --- |
//! | `sse`, `elements` | where an event ends, and where an element of a list does |
//! | `frame` | the messages of an answer, whatever its form |
//! | `json` | JSON that all readers read alike |
//! | `chat`, `responses`, `messages`, `gemini` | one API each: what is a call, and what stands in its place |
//! | `kinds` | every kind of thing in an answer, and who acts on it |
//! | `inner` | calls in the arguments of calls |
//! | `partial` | arguments that Gemini sends piece by piece |
//! | `order`, `guard` | what no assembler would see, and a client might |
//! | `other` | answers of any other path |
//! | `path` | which API a path is of |
//! | `reader` | holds, has judged, passes on; and what to ask again |
//! | `request`, `offered` | what a request says and offers, and the request that asks again |
//! | `fault` | what is wrong, in each API's own words |

mod chat;
pub mod elements;
mod fault;
mod frame;
mod gemini;
mod guard;
mod inner;
mod json;
mod kinds;
mod messages;
mod offered;
mod order;
mod other;
mod partial;
mod path;
mod reader;
mod request;
mod responses;
pub mod sse;

#[cfg(test)]
mod tests;

pub use fault::{Fault, Problem};
pub use path::OddPath;
pub use reader::{Ending, OnRefusal, Reader, Refused, Told, calls};
pub use request::Asked;

/// Most bytes that are held for one answer (Ruling 30).
pub const STATE: usize = 8 << 20;

/// Which API a request speaks.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Api {
    /// OpenAI's Chat Completions.
    Chat,
    /// OpenAI's Responses.
    Responses,
    /// Anthropic's Messages.
    Messages,
    /// Gemini's generateContent and streamGenerateContent.
    Gemini,
    /// Anything else. No call may stand in its answers.
    Other,
}

/// A tool call, put together.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Call {
    /// What the API calls it by; may be empty.
    pub id: String,
    /// The tool's name, or the kind of call where it has none.
    pub name: String,
    /// The tool that is judged, where the API's own kind of call stands for a known one.
    pub tool: &'static str,
    /// Its arguments, as JSON.
    pub arguments: String,
    /// Who carries it out.
    pub by: By,
    /// Why it is refused without being judged.
    pub flaw: Option<&'static str>,
    /// The text that a tool is given which takes any.
    text: Option<String>,
    /// What its API calls such a call, where that has several kinds.
    kind: &'static str,
    /// Where it stands, as its API counts.
    place: (u64, u64),
}

/// Who carries a call out.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum By {
    /// Whoever reads the answer.
    Client,
    /// The API's own servers: it is over when it is read.
    Server,
}

/// What is to become of a call.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum Ruling {
    /// The client gets it as it came.
    Release,
    /// The client gets this text in its place.
    Swallow(String),
}

impl Call {
    /// Returns the name by which the call is judged.
    pub fn judged_as(&self) -> &str {
        if self.tool.is_empty() { &self.name } else { self.tool }
    }

    /// Whether another call is this one, told again.
    fn is(&self, other: &Self) -> bool {
        (&self.id, &self.name, self.tool, self.by, self.flaw, self.kind)
            == (&other.id, &other.name, other.tool, other.by, other.flaw, other.kind)
            && (&self.arguments, &self.text) == (&other.arguments, &other.text)
    }

    /// Makes a call of a tool that takes any text. Text that is JSON is judged as arguments are.
    fn of_text(id: &str, name: &str, text: String, place: (u64, u64)) -> Self {
        let arguments = if json::is_object(&text) {
            text.clone()
        } else {
            serde_json::json!({ "input": text }).to_string()
        };
        Self { text: Some(text), ..Self::new(id, name, arguments, place) }
    }

    fn new(id: &str, name: &str, arguments: String, place: (u64, u64)) -> Self {
        let arguments = if arguments.trim().is_empty() { "{}".to_owned() } else { arguments };
        let flaw = (!json::is_object(&arguments)).then_some(CUT);
        let flaw = if name.chars().any(is_unseen) { Some(UNSEEN) } else { flaw };
        Self {
            id: id.to_owned(),
            name: name.to_owned(),
            tool: "",
            arguments,
            by: By::Client,
            flaw,
            text: None,
            kind: "",
            place,
        }
    }
}

/// Whether a character is one that nobody sees, and that some clients leave out of a name.
fn is_unseen(c: char) -> bool {
    c.is_control()
        || matches!(c, '\u{ad}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}')
        || matches!(c, '\u{61c}' | '\u{180e}' | '\u{fe00}'..='\u{fe0f}' | '\u{feff}' | '\u{e0000}'..='\u{e0fff}')
}

const CUT: &str = "its arguments are no complete JSON object";
const NAMELESS: &str = "it names no tool";
const TORN: &str = "it is told in two ways that differ";
const UNSEEN: &str = "its name holds characters that nobody sees";
const UNKNOWN: &str = "nobody here knows this kind of call";

impl Api {
    /// Returns the word that logs and metrics use.
    pub fn word(self) -> &'static str {
        match self {
            Self::Chat => "chat",
            Self::Responses => "responses",
            Self::Messages => "messages",
            Self::Gemini => "gemini",
            Self::Other => "other",
        }
    }
}
