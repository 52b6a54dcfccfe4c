//! What may follow what in a stream.
//!
//! Clients put blocks, items and choices together by their numbers. A piece whose number is missing
//! or odd, or that belongs to something that has ended, is put together by some clients and by
//! others not; so it ends the answer before anybody sees it.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use super::{Api, Fault, messages, responses};

/// The highest number of a block or an item. Real answers have a few.
const MOST: u64 = u32::MAX as u64;

/// What has begun and ended in an answer.
#[derive(Debug, Default)]
pub(super) struct Order {
    /// What has begun, and whether it is a call.
    live: BTreeMap<u64, bool>,
    /// What has ended.
    over: BTreeSet<u64>,
    /// The number of the last block.
    last: Option<u64>,
}

impl Order {
    /// Takes the next message of a stream.
    pub(super) fn take(&mut self, api: Api, value: &Value) -> Result<(), Fault> {
        let fits = match api {
            Api::Messages => self.block(value),
            Api::Responses => self.item(value),
            Api::Chat => self.choices(value),
            Api::Gemini | Api::Other => Some(()),
        };
        fits.ok_or(Fault::Unreadable)
    }

    /// How many bytes are held, roughly.
    pub(super) fn held(&self) -> usize {
        (self.live.len() + self.over.len()) * 32
    }

    fn block(&mut self, value: &Value) -> Option<()> {
        match value["type"].as_str().unwrap_or_default() {
            "message_start" => {
                self.last = None;
                self.live.is_empty().then_some(())
            }
            "message_delta" => {
                self.live.clear();
                Some(())
            }
            "content_block_start" => {
                let index = number(&value["index"])?;
                if self.last.is_some_and(|last| last >= index) {
                    return None;
                }
                self.last = Some(index);
                self.live.insert(index, messages::is_call(&value["content_block"]));
                Some(())
            }
            "content_block_delta" => {
                let is_call = *self.live.get(&number(&value["index"])?)?;
                (is_call || value["delta"]["partial_json"].is_null()).then_some(())
            }
            "content_block_stop" => self.live.remove(&number(&value["index"])?).map(|_| ()),
            _ => Some(()),
        }
    }

    fn item(&mut self, value: &Value) -> Option<()> {
        let kind = value["type"].as_str().unwrap_or_default();
        match kind {
            // Another answer, whose items are counted anew.
            "response.created" if self.live.is_empty() => self.over.clear(),
            "response.output_item.added" => {
                let index = number(&value["output_index"])?;
                let again = self.live.insert(index, true).is_some();
                if again || self.over.contains(&index) {
                    return None;
                }
            }
            "response.output_item.done" => {
                let index = number(&value["output_index"])?;
                self.live.remove(&index);
                if !self.over.insert(index) {
                    return None;
                }
            }
            kind if responses::is_of_call(kind) => {
                let index = number(&value["output_index"])?;
                return (!self.over.contains(&index)).then_some(());
            }
            _ => {}
        }
        Some(())
    }

    fn choices(&mut self, value: &Value) -> Option<()> {
        for choice in value["choices"].as_array().into_iter().flatten() {
            let number = number_or_none(&choice["index"])?.unwrap_or(0);
            for key in ["delta", "message"] {
                let entries = choice[key]["tool_calls"].as_array().into_iter().flatten();
                for entry in entries {
                    number_or_none(&entry["index"])?;
                    if self.over.contains(&number) {
                        return None;
                    }
                }
                if choice[key]["function_call"].is_object() && self.over.contains(&number) {
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

/// Reads a number that an API counts with.
fn number(value: &Value) -> Option<u64> {
    value.as_u64().filter(|number| *number <= MOST)
}

/// Reads a number that some servers leave out.
fn number_or_none(value: &Value) -> Option<Option<u64>> {
    if value.is_null() { Some(None) } else { number(value).map(Some) }
}
