//! What may follow what in a stream.
//!
//! Clients put blocks, items and choices together by their numbers, or by the order in which they
//! came. Both must lead to the same call. A piece whose number is missing or odd, that skips one, or
//! that belongs to something that has ended, ends the answer before anybody sees it. So does a second
//! message in the stream of a first: some clients add its blocks to those of the first, others begin
//! anew, and no server of the API sends one.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use super::frame::Frame;
use super::kinds::is_of_item;
use super::{Api, Fault, kinds, messages, responses};

/// The highest number of a block or an item. Real answers have a few.
const MOST: u64 = u32::MAX as u64;

/// What has begun and ended in an answer.
#[derive(Debug, Default)]
pub(super) struct Order {
    /// What has begun, and whether it is a call.
    live: BTreeMap<u64, bool>,
    /// What has ended.
    over: BTreeSet<u64>,
    /// How many blocks or items have begun.
    begun: u64,
    /// Whether the stream began with its beginning, and not where another broke off.
    counted: bool,
    /// Whether the message has ended.
    stopped: bool,
    /// Whether events have names.
    named: Option<bool>,
    /// Choices, by where each came first.
    choices: Vec<u64>,
    /// Whose ids are whose: some clients go by them, and not by numbers.
    ids: BTreeMap<(u64, String), u64>,
    ids_bytes: usize,
}

impl Order {
    /// Takes the next message of a stream.
    pub(super) fn take(&mut self, api: Api, frame: &Frame) -> Result<(), Fault> {
        let Some(value) = frame.json() else { return Ok(()) };
        let fits = match api {
            Api::Messages => self.name(frame, value).and_then(|()| self.block(value)),
            Api::Responses => self.name(frame, value).and_then(|()| self.item(value)),
            Api::Chat => self.choices(value),
            Api::Gemini | Api::Other => Some(()),
        };
        fits.ok_or(Fault::Unreadable)
    }

    /// How many bytes are held, roughly.
    pub(super) fn held(&self) -> usize {
        (self.live.len() + self.over.len() + self.choices.len()) * 32 + self.ids_bytes
    }

    /// Some clients pass over events without a name, so all have one or none has.
    fn name(&mut self, frame: &Frame, value: &Value) -> Option<()> {
        if matches!(value["type"].as_str(), Some("ping" | "error")) {
            return Some(());
        }
        let named = frame.named().is_some();
        (*self.named.get_or_insert(named) == named).then_some(())
    }

    fn block(&mut self, value: &Value) -> Option<()> {
        let kind = value["type"].as_str().unwrap_or_default();
        if self.stopped && !matches!(kind, "ping" | "error") {
            return None;
        }
        match kind {
            // Some gateways say it twice, and then nothing has begun yet.
            "message_start" if self.begun > 0 => return None,
            "message_start" => {
                let content = &value["message"]["content"];
                self.begun = content.as_array().map_or(0, Vec::len) as u64;
            }
            "message_delta" => self.live.clear(),
            "message_stop" => self.stopped = true,
            "content_block_start" => {
                let index = number(&value["index"]).filter(|index| *index == self.begun)?;
                self.begun += 1;
                self.live.insert(index, messages::is_call(&value["content_block"]));
            }
            "content_block_delta" => {
                let is_call = *self.live.get(&number(&value["index"])?)?;
                let delta = &value["delta"];
                let fits = if is_call { grows(delta) } else { delta["partial_json"].is_null() };
                return fits.then_some(());
            }
            "content_block_stop" => drop(self.live.remove(&number(&value["index"])?)?),
            _ => {}
        }
        Some(())
    }

    fn item(&mut self, value: &Value) -> Option<()> {
        match value["type"].as_str().unwrap_or_default() {
            "response.created" => {
                if self.begun > 0 {
                    return None;
                }
                let output = &value["response"]["output"];
                self.begun = output.as_array().map_or(0, Vec::len) as u64;
                self.counted = true;
            }
            "response.output_item.added" => {
                let index = number(&value["output_index"])?;
                self.item_id(index, &value["item"]["id"], Sort::Item)?;
                let again = self.live.insert(index, true).is_some();
                let skips = self.counted && index != self.begun;
                if again || skips || self.over.contains(&index) {
                    return None;
                }
                self.begun = index + 1;
            }
            "response.output_item.done" => {
                let index = number(&value["output_index"])?;
                let is_call = responses::is_call(&value["item"]);
                let sort = if is_call { Sort::Call } else { Sort::Item };
                self.item_id(index, &value["item"]["id"], sort)?;
                self.live.remove(&index);
                self.begun = self.begun.max(index + 1);
                if !self.over.insert(index) {
                    return None;
                }
            }
            kind if is_of_item(kind) => {
                let index = number(&value["output_index"])?;
                self.item_id(index, &value["item_id"], Sort::Call)?;
                return (!self.over.contains(&index)).then_some(());
            }
            _ => {
                if let Some(index) = value["output_index"].as_u64() {
                    self.item_id(index, &value["item_id"], Sort::Piece)?;
                }
            }
        }
        Some(())
    }

    /// Checks that what an item is called and where it stands lead to the same one. What is said may
    /// be told under new names again and again, as some servers do; a call has one.
    fn item_id(&mut self, index: u64, id: &Value, sort: Sort) -> Option<()> {
        let Some(id) = id.as_str().filter(|id| !id.is_empty()) else { return Some(()) };
        let key = (0, id.to_owned());
        match (self.ids.get(&key), sort) {
            (Some(known), _) => return (*known == index).then_some(()),
            (None, Sort::Call) if self.ids.values().any(|known| *known == index) => return None,
            (None, Sort::Piece) => return Some(()),
            (None, Sort::Call | Sort::Item) => {}
        }
        self.ids_bytes += id.len() + 64;
        self.ids.insert(key, index);
        Some(())
    }

    fn choices(&mut self, value: &Value) -> Option<()> {
        let mut here = BTreeSet::new();
        for choice in value["choices"].as_array().into_iter().flatten() {
            let number = number_or_none(&choice["index"])?.unwrap_or(0);
            let place = self.choices.iter().position(|known| *known == number);
            let place = place.unwrap_or_else(|| {
                self.choices.push(number);
                self.choices.len() - 1
            });
            if !here.insert(number) {
                return None;
            }
            for key in ["delta", "message"] {
                let entries = choice[key]["tool_calls"].as_array().into_iter().flatten();
                let mut calls = choice[key]["function_call"].is_object();
                for entry in entries {
                    let index = number_or_none(&entry["index"])?;
                    if let (Some(index), Some(id)) = (index, entry["id"].as_str())
                        && !id.is_empty()
                        && key == "delta"
                    {
                        let known = self.ids.entry((number, id.to_owned())).or_insert_with(|| {
                            self.ids_bytes += id.len() + 64;
                            index
                        });
                        if *known != index {
                            return None;
                        }
                    }
                    calls = true;
                }
                if calls && (self.over.contains(&number) || place as u64 != number) {
                    return None;
                }
            }
            if !choice["finish_reason"].is_null() {
                self.over.insert(number);
            }
        }
        Some(())
    }
}

/// What has a name and a place.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum Sort {
    /// An item, whatever it is.
    Item,
    /// An item that is a call, or a piece of one.
    Call,
    /// A piece of what is said.
    Piece,
}

/// Whether a piece of a call is nothing but that. Clients may add what else it says to the call.
fn grows(delta: &Value) -> bool {
    let is_own = |(key, value): (&String, &Value)| match key.as_str() {
        "type" | "partial_json" => true,
        "name" | "text" | "thinking" | "id" => kinds::is_blank(value),
        key if kinds::says_what(key) => kinds::is_blank(value),
        _ => !(value.is_object() || value.is_array()),
    };
    delta["type"] == "input_json_delta"
        && delta.as_object().is_some_and(|map| map.iter().all(is_own))
}

/// Reads a number that an API counts with.
fn number(value: &Value) -> Option<u64> {
    value.as_u64().filter(|number| *number <= MOST)
}

/// Reads a number that some servers leave out.
fn number_or_none(value: &Value) -> Option<Option<u64>> {
    if value.is_null() { Some(None) } else { number(value).map(Some) }
}
