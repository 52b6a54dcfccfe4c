//! What a request says, and the request that asks again.

use serde_json::{Map, Value, json};

use super::{Api, Call, Refused, json, kinds};

/// A request to a model.
#[derive(Clone, Debug)]
pub struct Asked {
    /// The API it speaks.
    pub api: Api,
    /// The model that is asked.
    pub model: String,
    pub(super) body: Value,
}

impl Asked {
    /// Reads the body of a request; none if it is no JSON object, and then nothing of it can be
    /// changed.
    pub fn read(api: Api, path: &str, body: &[u8]) -> Option<Self> {
        let body = json::read(body).filter(Value::is_object)?;
        let path = path.split('?').next().unwrap_or_default();
        let of_path = || Some(path.rsplit_once("models/")?.1.split(':').next()?.to_owned());
        let model = body["model"].as_str().map(str::to_owned).or_else(of_path).unwrap_or_default();
        Some(Self { api, model, body })
    }

    /// Returns the body as it is now.
    pub fn text(&self) -> Vec<u8> {
        self.body.to_string().into_bytes()
    }

    /// Returns the answer whose state this request builds on.
    pub fn previous(&self) -> Option<&str> {
        if self.api != Api::Responses {
            return None;
        }
        let conversation = &self.body["conversation"];
        let body = &self.body;
        body["previous_response_id"]
            .as_str()
            .or(conversation.as_str())
            .or(conversation["id"].as_str())
    }

    /// Builds on another answer instead.
    pub fn set_previous(&mut self, name: &str) {
        if self.body["previous_response_id"].is_string() {
            self.body["previous_response_id"] = name.into();
        }
    }

    /// Returns the request that tells a model what became of its calls, and asks it to go on.
    #[must_use]
    pub fn again(&self, refused: &Refused) -> Self {
        let mut again = self.clone();
        let (body, calls, turn) = (&mut again.body, &refused.calls, &refused.turn);
        match self.api {
            Api::Chat => append(&mut body["messages"], chat(calls, &turn["content"])),
            Api::Messages => {
                let results = calls.iter().map(|(call, error)| {
                    json!({ "type": "tool_result", "tool_use_id": call.id, "is_error": true, "content": error })
                });
                let results: Vec<Value> = results.collect();
                let said = json!({ "role": "assistant", "content": turn });
                append(
                    &mut body["messages"],
                    [said, json!({ "role": "user", "content": results })],
                );
            }
            Api::Gemini => {
                let body = if body["request"].is_object() { &mut body["request"] } else { body };
                let results = calls.iter().map(|(call, error)| {
                    let mut result = json!({ "name": call.name, "response": { "error": error } });
                    if !call.id.is_empty() {
                        result["id"] = call.id.as_str().into();
                    }
                    json!({ "functionResponse": result })
                });
                let results: Vec<Value> = results.collect();
                let said = json!({ "role": "model", "parts": turn });
                append(&mut body["contents"], [said, json!({ "role": "user", "parts": results })]);
            }
            Api::Other => {}
            Api::Responses => {
                let outputs = calls.iter().map(|(call, error)| output(call, error));
                if body["store"] != false && turn["id"].is_string() {
                    body["previous_response_id"] = turn["id"].clone();
                    body["input"] = outputs.collect();
                } else {
                    as_list(&mut body["input"]);
                    let items = turn["items"].as_array().cloned().unwrap_or_default();
                    append(&mut body["input"], items.into_iter().chain(outputs));
                }
            }
        }
        again
    }

    /// Adds the results of calls that an earlier answer had and no client ever saw.
    pub fn add_results(&mut self, missing: &[(Call, String)]) {
        as_list(&mut self.body["input"]);
        if let Some(input) = self.body["input"].as_array_mut() {
            let there = |call: &Call| {
                let names =
                    |item: &Value| [item["call_id"].clone(), item["approval_request_id"].clone()];
                input.iter().any(|item| names(item).iter().any(|name| *name == *call.id))
            };
            let new = missing.iter().filter(|(call, _)| !there(call));
            let new: Vec<Value> = new.map(|(call, error)| output(call, error)).collect();
            input.splice(0..0, new);
        }
    }

    /// Lists the folders that a client says it works in: in its metadata, and where agents tell
    /// their model.
    pub fn folders(&self) -> Vec<String> {
        const KEYS: [&str; 12] = [
            "cwd",
            "workdir",
            "workspace",
            "workspace_root",
            "workspace_path",
            "project_root",
            "project_dir",
            "project_directory",
            "project_path",
            "root_dir",
            "root_directory",
            "current_working_directory",
        ];
        let mut found: Vec<String> = Vec::new();
        let named = KEYS.iter().filter_map(|key| self.body["metadata"][*key].as_str());
        found.extend(named.map(str::to_owned));
        let mut texts = Vec::new();
        for key in ["system", "instructions", "systemInstruction", "system_instruction"] {
            collect(&self.body[key], &mut texts);
        }
        for key in ["messages", "input", "contents"] {
            let turns = || self.body[key].as_array().into_iter().flatten();
            let told = turns()
                .filter(|turn| matches!(turn["role"].as_str(), Some("system" | "developer")));
            told.for_each(|turn| collect(turn, &mut texts));
            if let Some(first) = turns().find(|turn| turn["role"] == "user") {
                collect(first, &mut texts);
            }
        }
        for text in texts {
            let line = |line: &str| {
                let line = line.trim().trim_start_matches(['-', '*', ' ']);
                let (name, value) = line.split_once(':')?;
                let name = name.to_ascii_lowercase();
                let is = matches!(
                    name.as_str(),
                    "working directory" | "primary working directory" | "current working directory"
                );
                is.then(|| value.trim().to_owned())
            };
            found.extend(text.lines().filter_map(line));
            let tag = text.split_once("<cwd>").and_then(|(_, rest)| rest.split_once("</cwd>"));
            found.extend(tag.map(|(folder, _)| folder.trim().to_owned()));
        }
        found.sort();
        found.dedup();
        found
    }
}

/// Collects the texts of a message, to some depth.
fn collect<'v>(value: &'v Value, texts: &mut Vec<&'v str>) {
    match value {
        Value::String(text) => texts.push(text),
        Value::Array(parts) => parts.iter().for_each(|part| collect(part, texts)),
        Value::Object(map) => {
            for key in ["content", "text", "parts"] {
                map.get(key).into_iter().for_each(|part| collect(part, texts));
            }
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

fn chat(calls: &[(Call, String)], said: &Value) -> Vec<Value> {
    let content = if said.as_str().is_none_or(str::is_empty) { &Value::Null } else { said };
    let mut turn = json!({ "role": "assistant", "content": content });
    let id = |at: usize, call: &Call| {
        if call.id.is_empty() { format!("call_{at}") } else { call.id.clone() }
    };
    let (mut asked, mut results) = (Vec::new(), Vec::new());
    for (at, (call, error)) in calls.iter().enumerate() {
        let function = json!({ "name": call.name, "arguments": call.arguments });
        if call.kind == "legacy" {
            turn["function_call"] = function;
            results.push(json!({ "role": "function", "name": call.name, "content": error }));
            continue;
        }
        let id = id(at, call);
        asked.push(if call.kind == "custom" {
            let custom = json!({ "name": call.name, "input": call.text });
            json!({ "id": id, "type": "custom", "custom": custom })
        } else {
            json!({ "id": id, "type": "function", "function": function })
        });
        results.push(json!({ "role": "tool", "tool_call_id": id, "content": error }));
    }
    if !asked.is_empty() {
        turn["tool_calls"] = asked.into();
    }
    std::iter::once(turn).chain(results).collect()
}

/// A picture of one dot.
const EMPTY: &str = "data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5ErkJggg==";

/// Writes the result of a call as an item of a request.
fn output(call: &Call, error: &str) -> Value {
    let mut item = json!({ "type": call.kind, "call_id": call.id, "output": error });
    match call.kind {
        "shell_call_output" => {
            let outcome = json!({ "type": "exit", "exit_code": 1 });
            item["output"] = json!([{ "stdout": "", "stderr": error, "outcome": outcome }]);
        }
        "apply_patch_call_output" => item["status"] = "failed".into(),
        "tool_search_output" => {
            return json!({ "type": call.kind, "call_id": call.id, "execution": "client",
                "status": "completed", "tools": [] });
        }
        "computer_call_output" => {
            // Nothing but a picture is taken for an answer.
            item["output"] = json!({ "type": "computer_screenshot", "image_url": EMPTY });
        }
        kinds::APPROVAL => {
            return json!({ "type": call.kind, "approval_request_id": call.id, "approve": false,
                "reason": error });
        }
        _ => {}
    }
    item
}

fn append(list: &mut Value, more: impl IntoIterator<Item = Value>) {
    if let Some(list) = list.as_array_mut() {
        list.extend(more);
    }
}

/// Turns an input that is one text into a list with one message.
fn as_list(input: &mut Value) {
    match input {
        Value::Array(_) => {}
        Value::String(text) => {
            *input = json!([{ "role": "user", "content": std::mem::take(text) }]);
        }
        other @ (Value::Null | Value::Bool(_) | Value::Number(_) | Value::Object(_)) => {
            *other = Value::Array(Vec::new());
        }
    }
}

/// A map that a request may lack.
pub(super) fn map(value: &mut Value) -> Option<&mut Map<String, Value>> {
    value.as_object_mut()
}
