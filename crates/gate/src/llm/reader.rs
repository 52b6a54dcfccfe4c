//! Holds calls, has them judged, and passes on what may pass.

use serde_json::Value;

use super::chat::Chat;
use super::frame::{Data, Form, Frame, Frames};
use super::gemini::Gemini;
use super::messages::Messages;
use super::order::Order;
use super::other::Other;
use super::responses::Responses;
use super::{Api, Asked, By, Call, Fault, Ruling, STATE, guard, kinds};

/// What is done about refused calls.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub enum OnRefusal {
    /// The client gets a text in place of the call.
    #[default]
    Answer,
    /// If all calls of an answer are refused, the model is told and asked again.
    Retry,
}

/// Reads one answer of a model, and the ones that follow when it is asked again.
#[derive(Debug)]
pub struct Reader {
    api: Api,
    frames: Frames,
    order: Order,
    assembler: Box<dyn Assembler>,
    on: OnRefusal,
    tally: Tally,
    /// What waits for the end of the answer, because all calls so far were refused.
    parked: Vec<(Piece, Vec<Ruling>)>,
    parked_bytes: usize,
    judged: Vec<(Call, Ruling)>,
    judged_bytes: usize,
}

/// A call that was refused, and what the model is told about it.
pub type Told = (Call, String);

/// How an answer ended.
#[derive(Debug)]
pub enum Ending {
    /// All of it was passed on.
    Done,
    /// Every call was refused, and the model can be asked again.
    Refused(Refused),
}

/// An answer of which every call was refused.
#[derive(Clone, Debug)]
pub struct Refused {
    /// The calls and what the model is told about each.
    pub calls: Vec<(Call, String)>,
    /// What the model said, as its API writes it.
    pub(super) turn: Value,
}

/// How many calls of an answer a client got, and how many not.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Tally {
    pub(super) released: usize,
    pub(super) refused: usize,
}

/// Messages that hold calls, and the calls.
#[derive(Debug)]
pub(super) struct Group {
    pub(super) frames: Vec<Frame>,
    pub(super) calls: Vec<Call>,
}

/// What an assembler makes of messages.
#[derive(Debug)]
pub(super) enum Piece {
    /// Nothing to be judged.
    Pass(Frame),
    /// Calls that are complete.
    Calls(Group),
    /// What ends the answer, and may say why.
    Close(Frame),
}

/// One API: what is a call, and what stands in its place.
pub(super) trait Assembler: std::fmt::Debug + Send {
    /// Takes a message, and adds what has become complete.
    fn take(&mut self, frame: Frame, out: &mut Vec<Piece>);
    /// Ends the answer. What is not complete is lost.
    fn end(&mut self, out: &mut Vec<Piece>);
    /// Writes messages without the calls that are refused.
    fn refuse(&self, group: Group, rulings: &[Ruling]) -> Vec<Frame>;
    /// Writes the end of an answer, now that calls may be missing.
    fn close(&self, frame: Frame, tally: Tally) -> Frame;
    /// How many bytes are held.
    fn held(&self) -> usize;
    /// Takes what the model said in this answer.
    fn turn(&mut self) -> Value;
    /// Names the answer and the conversation, where a server keeps them.
    fn kept_as(&self) -> Vec<String> {
        Vec::new()
    }
    /// Returns the name under which a client knows the answer, and the server's own, where these
    /// differ.
    fn known_as(&self) -> Option<(String, String)> {
        None
    }
    /// Is told that the client asked for a shell in the API's own containers, and for no other.
    fn has_hosted_shell(&mut self) {}
    /// Prepares for another answer, which a client reads as the rest of this one.
    fn resume(&mut self);
}

impl Reader {
    /// Makes a reader of one answer.
    pub fn new(api: Api, on: OnRefusal) -> Self {
        let assembler: Box<dyn Assembler> = match api {
            Api::Chat => Box::new(Chat::new(on)),
            Api::Responses => Box::new(Responses::new(on)),
            Api::Messages => Box::new(Messages::new(on)),
            Api::Gemini => Box::new(Gemini::new(on)),
            Api::Other => Box::new(Other),
        };
        Self {
            api,
            frames: Frames::default(),
            order: Order::default(),
            assembler,
            on,
            tally: Tally::default(),
            parked: Vec::new(),
            parked_bytes: 0,
            judged: Vec::new(),
            judged_bytes: 0,
        }
    }

    /// Goes by what a request asks for: whose shell is it?
    #[must_use]
    pub fn knowing(mut self, asked: Option<&Asked>) -> Self {
        if asked.is_some_and(Asked::has_hosted_shell) {
            self.assembler.has_hosted_shell();
        }
        self
    }

    /// Takes bytes and returns what may be passed on.
    ///
    /// # Errors
    ///
    /// When the answer cannot be read or holds back too much. Nothing more may be passed on.
    pub fn push(
        &mut self,
        bytes: &[u8],
        judge: &mut dyn FnMut(&Call) -> Ruling,
    ) -> Result<Vec<u8>, Fault> {
        let mut frames = Vec::new();
        let read = self.frames.push(bytes, &mut frames);
        let out = self.take(frames, judge)?;
        read?;
        let held = self.frames.held() + self.assembler.held() + self.order.held();
        let held = held + self.parked_bytes;
        if held + self.judged_bytes > STATE { Err(Fault::TooLarge) } else { Ok(out) }
    }

    /// Ends the answer: returns what may still be passed on, and how it ended.
    ///
    /// # Errors
    ///
    /// As [`Reader::push`].
    pub fn end(
        &mut self,
        judge: &mut dyn FnMut(&Call) -> Ruling,
    ) -> Result<(Vec<u8>, Ending), Fault> {
        let mut frames = Vec::new();
        self.frames.end(&mut frames)?;
        let mut out = self.take(frames, judge)?;
        let mut pieces = Vec::new();
        self.assembler.end(&mut pieces);
        self.settle(pieces, judge, &mut out);
        if self.parked.is_empty() {
            return Ok((out, Ending::Done));
        }
        let calls = self.refused();
        Ok((out, Ending::Refused(Refused { calls, turn: self.assembler.turn() })))
    }

    /// Forgets the refused end of an answer, and reads another one as the rest of it.
    pub fn resume(&mut self) {
        self.parked.clear();
        (self.parked_bytes, self.judged_bytes) = (0, 0);
        self.judged.clear();
        self.tally = Tally::default();
        self.frames = Frames::default();
        self.order = Order::default();
        self.assembler.resume();
    }

    /// Gives up asking: returns the refused end of an answer with texts in place of the calls, and
    /// `last` behind them.
    pub fn give_up(&mut self, last: &str) -> Vec<u8> {
        if let Some(text) =
            self.parked.iter_mut().flat_map(|(_, rulings)| rulings).rev().find_map(|ruling| {
                match ruling {
                    Ruling::Swallow(text) => Some(text),
                    Ruling::Release => None,
                }
            })
        {
            text.push_str("\n\n");
            text.push_str(last);
        }
        let mut out = Vec::new();
        self.unpark(&mut out);
        out
    }

    /// Returns under which names the server keeps this answer, and the calls in it that no client
    /// saw; none if there are none.
    pub fn missing(&self) -> Option<(Vec<String>, Vec<Told>)> {
        let names = self.assembler.kept_as();
        let calls = self.refused();
        (!names.is_empty() && !calls.is_empty()).then_some((names, calls))
    }

    /// Returns the name under which a client knows the last answer of a turn, and the server's own,
    /// where these differ.
    pub fn known_as(&self) -> Option<(String, String)> {
        self.assembler.known_as()
    }

    /// Whether the answer is one object, which is passed on as a whole or not at all.
    pub fn is_whole(&self) -> bool {
        self.frames.form() == Some(Form::Whole)
    }

    fn refused(&self) -> Vec<(Call, String)> {
        let refused = self.judged.iter().filter_map(|(call, ruling)| match ruling {
            Ruling::Swallow(text) => Some((call.clone(), text.clone())),
            Ruling::Release => None,
        });
        refused.collect()
    }

    fn take(
        &mut self,
        frames: Vec<Frame>,
        judge: &mut dyn FnMut(&Call) -> Ruling,
    ) -> Result<Vec<u8>, Fault> {
        let mut out = Vec::new();
        for frame in frames {
            guard::check(self.api, &frame)?;
            if !frame.is_whole() {
                self.order.take(self.api, &frame)?;
            }
            let mut pieces = Vec::new();
            self.assembler.take(frame, &mut pieces);
            self.settle(pieces, judge, &mut out);
        }
        Ok(out)
    }

    fn settle(
        &mut self,
        pieces: Vec<Piece>,
        judge: &mut dyn FnMut(&Call) -> Ruling,
        out: &mut Vec<u8>,
    ) {
        for piece in pieces {
            let rulings = match &piece {
                Piece::Calls(group) => self.rule(&group.calls, judge),
                Piece::Pass(_) | Piece::Close(_) => Vec::new(),
            };
            let refuses = rulings.iter().any(|ruling| *ruling != Ruling::Release);
            let waits = self.on == OnRefusal::Retry && self.tally.released == 0;
            // What keeps a connection alive need not wait.
            let idle = matches!(&piece, Piece::Pass(Frame { data: Data::Nothing, .. }));
            if waits && !idle && (refuses || !self.parked.is_empty()) {
                self.parked_bytes += piece.size();
                self.parked.push((piece, rulings));
                continue;
            }
            if !waits {
                self.unpark(out);
            }
            self.write(piece, &rulings, out);
        }
    }

    fn unpark(&mut self, out: &mut Vec<u8>) {
        self.parked_bytes = 0;
        for (piece, rulings) in std::mem::take(&mut self.parked) {
            self.write(piece, &rulings, out);
        }
    }

    fn write(&self, piece: Piece, rulings: &[Ruling], out: &mut Vec<u8>) {
        match piece {
            Piece::Pass(frame) => out.extend_from_slice(&frame.raw),
            Piece::Close(frame) => {
                out.extend_from_slice(&self.assembler.close(frame, self.tally).raw);
            }
            Piece::Calls(group) if rulings.iter().all(|ruling| *ruling == Ruling::Release) => {
                group.frames.iter().for_each(|frame| out.extend_from_slice(&frame.raw));
            }
            Piece::Calls(group) => {
                let frames = self.assembler.refuse(group, rulings);
                frames.iter().for_each(|frame| out.extend_from_slice(&frame.raw));
            }
        }
    }

    /// Rules on calls. One that is told twice in an answer is judged once.
    fn rule(&mut self, calls: &[Call], judge: &mut dyn FnMut(&Call) -> Ruling) -> Vec<Ruling> {
        let mut rulings = Vec::new();
        for call in calls {
            let same = |known: &Call| known.is(call) && known.place != call.place;
            let known = self.judged.iter().find(|(known, _)| same(known));
            let ruling = match (call.by, known) {
                (By::Server, _) => Ruling::Release,
                (By::Client, Some((_, ruling))) => ruling.clone(),
                (By::Client, None) => {
                    let ruling = match (judge(call), call.flaw) {
                        (Ruling::Release, Some(flaw)) => Ruling::Swallow(format!(
                            "Tool call blocked: {flaw}. Operation blocked for security."
                        )),
                        (ruling, _) => ruling,
                    };
                    match ruling {
                        Ruling::Release => self.tally.released += 1,
                        Ruling::Swallow(_) => self.tally.refused += 1,
                    }
                    self.judged_bytes += call.name.len() + call.arguments.len();
                    self.judged.push((call.clone(), ruling.clone()));
                    ruling
                }
            };
            rulings.push(ruling);
        }
        rulings
    }
}

impl Piece {
    fn size(&self) -> usize {
        match self {
            Self::Pass(frame) | Self::Close(frame) => frame.size(),
            Self::Calls(group) => group.frames.iter().map(Frame::size).sum(),
        }
    }
}

/// Lists the calls of a recorded answer, whoever carries them out, in the order in which they became complete.
///
/// # Errors
///
/// When it cannot be read.
pub fn calls(api: Api, answer: &[u8]) -> Result<Vec<Call>, Fault> {
    let mut calls: Vec<Call> = Vec::new();
    let mut frames = Vec::new();
    let mut reader = Frames::default();
    let read = reader.push(answer, &mut frames);
    // Events that cannot be read are passed over: nothing is passed on here, and recordings have some.
    if reader.form() != Some(Form::Events) || read == Err(Fault::TooLarge) {
        read?;
    }
    reader.end(&mut frames)?;
    let mut assembler = Reader::new(api, OnRefusal::Answer).assembler;
    let mut pieces = Vec::new();
    frames.into_iter().for_each(|frame| assembler.take(frame, &mut pieces));
    assembler.end(&mut pieces);
    for piece in pieces {
        if let Piece::Calls(group) = piece {
            // Whether a server may make a call is a question about one, and no call yet.
            for call in group.calls.into_iter().filter(|call| call.kind != kinds::APPROVAL) {
                let same = |known: &Call| {
                    (&known.id, &known.name, &known.arguments)
                        == (&call.id, &call.name, &call.arguments)
                        && known.place != call.place
                };
                if calls.iter().any(same) {
                    continue;
                }
                // Recordings hold several answers in a row: a client that goes by the numbers of
                // blocks keeps the last block of each.
                let at = |known: &Call| api == Api::Messages && known.place == call.place;
                match calls.iter().position(at) {
                    Some(at) => calls[at] = call,
                    None => calls.push(call),
                }
            }
        }
    }
    Ok(calls)
}
