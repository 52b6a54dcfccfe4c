//! Any bytes as an answer of Anthropic's Messages.
#![no_main]

use libfuzzer_sys::fuzz_target;
use palisade_gate::llm::Api;

#[path = "../shared/llm.rs"]
mod llm;

fuzz_target!(|bytes: &[u8]| llm::check(Api::Messages, bytes));
