//! The tools that a request offers to a model.

use serde_json::{Value, json};

use super::request::map;
use super::{Api, Asked};

impl Asked {
    /// Takes tools out of the offer, and returns how many. A choice of one that is gone becomes the
    /// model's own.
    pub fn offer(&mut self, may: &mut dyn FnMut(&str) -> bool) -> usize {
        let api = self.api;
        let wrapped = self.body["request"].is_object() && api == Api::Gemini;
        let body = if wrapped { &mut self.body["request"] } else { &mut self.body };
        let mut taken = 0;
        for key in ["tools", "functions"] {
            let Some(list) = body[key].as_array_mut() else {
                if body[key].is_null() {
                    map(body).map(|map| map.remove(key));
                }
                continue;
            };
            let before = list.len();
            list.retain_mut(|tool| keeps(tool, may, &mut taken));
            taken += before - list.len();
            if list.is_empty() && before > 0 {
                for gone in [
                    key,
                    "tool_choice",
                    "toolConfig",
                    "tool_config",
                    "function_call",
                    "parallel_tool_calls",
                ] {
                    map(body).map(|map| map.remove(gone));
                }
            }
        }
        if taken > 0 {
            choose(api, body, may);
        }
        taken
    }

    /// Whether every shell on offer is one in the API's own containers, and there is one.
    pub fn has_hosted_shell(&self) -> bool {
        let tools = self.body["tools"].as_array().into_iter().flatten();
        let mut shells = tools.filter(|tool| tool["type"] == "shell").peekable();
        let hosted = |tool: &Value| {
            let kind = tool["environment"]["type"].as_str();
            matches!(kind, Some("container_auto" | "container_reference"))
        };
        self.api == Api::Responses && shells.peek().is_some() && shells.all(hosted)
    }
}

/// Whether a tool stays on offer. Gemini offers several in one.
fn keeps(tool: &mut Value, may: &mut dyn FnMut(&str) -> bool, taken: &mut usize) -> bool {
    for key in ["functionDeclarations", "function_declarations"] {
        if let Some(list) = tool.get_mut(key).and_then(Value::as_array_mut) {
            let before = list.len();
            list.retain(|function| function["name"].as_str().is_none_or(&mut *may));
            *taken += before - list.len();
            // It is counted by what was in it, not itself.
            if list.is_empty() && before > 0 {
                *taken -= 1;
                return false;
            }
        }
    }
    let names = [&tool["name"], &tool["function"]["name"], &tool["custom"]["name"], &tool["type"]];
    let name = names.into_iter().find_map(Value::as_str);
    name.is_none_or(may)
}

/// Lets the model choose where what was chosen is gone.
fn choose(api: Api, body: &mut Value, may: &mut dyn FnMut(&str) -> bool) {
    for key in ["tool_choice", "function_call"] {
        let Some(choice) = body.get_mut(key) else { continue };
        let names = [&choice["name"], &choice["function"]["name"], &choice["custom"]["name"]];
        let chosen = names.into_iter().find_map(Value::as_str).map(str::to_owned);
        if chosen.is_some_and(|name| !may(&name)) {
            *choice = if api == Api::Messages { json!({ "type": "auto" }) } else { "auto".into() };
        } else if let Some(list) = choice.get_mut("tools").and_then(Value::as_array_mut) {
            list.retain(|tool| {
                let name = tool["name"].as_str().or(tool["function"]["name"].as_str());
                name.is_none_or(&mut *may)
            });
        }
    }
    for (outer, inner, names) in [
        ("toolConfig", "functionCallingConfig", "allowedFunctionNames"),
        ("tool_config", "function_calling_config", "allowed_function_names"),
    ] {
        let list = body.get_mut(outer).and_then(|config| config.get_mut(inner));
        if let Some(Value::Array(list)) = list.and_then(|config| config.get_mut(names)) {
            list.retain(|name| name.as_str().is_none_or(&mut *may));
        }
    }
}
