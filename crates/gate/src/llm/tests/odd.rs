//! Answers that are broken, or can be read in two ways.

use super::super::{Api, Call, Fault, OnRefusal, Reader, Ruling, STATE, calls};
use super::scripts::{APIS, answered, stream};

const BAD: (&str, &str) = ("write_file", r#"{"path":"/etc/passwd"}"#);
const GOOD: (&str, &str) = ("write_file", r#"{"path":"a.rs"}"#);

fn fault(api: Api, answer: &[u8]) -> Option<Fault> {
    let mut judge = |_: &Call| Ruling::Release;
    let mut reader = Reader::new(api, OnRefusal::Answer);
    reader.push(answer, &mut judge).err().or_else(|| reader.end(&mut judge).err())
}

#[test]
fn an_answer_that_is_cut_off_holds_no_call() {
    for api in APIS {
        let sent = stream(api, "hello", &[GOOD, GOOD]);
        for cut in 0..sent.len() {
            let mut judge = |_: &Call| Ruling::Release;
            let mut reader = Reader::new(api, OnRefusal::Answer);
            let mut out = reader.push(&sent.as_bytes()[..cut], &mut judge).unwrap();
            out.extend(reader.end(&mut judge).unwrap().0);
            assert!(out.len() <= cut);
            for call in calls(api, &out).unwrap() {
                assert_eq!((call.flaw, call.arguments.as_str()), (None, GOOD.1), "{api:?} {cut}");
            }
        }
    }
}

#[test]
fn arguments_that_are_no_complete_object_are_refused_whoever_allows_them() {
    for api in [Api::Chat, Api::Responses, Api::Messages] {
        for arguments in [r#"{"path":"a"#, "[1]", "x", r#"{"a":1}{"b":2}"#] {
            let out = answered(api, &stream(api, "", &[("write_file", arguments)]));
            assert!(calls(api, out.as_bytes()).unwrap().is_empty(), "{api:?} {arguments} {out}");
            assert!(out.contains("no complete JSON object"), "{out}");
        }
    }
}

#[test]
fn what_can_be_read_in_two_ways_is_refused() {
    let torn = [
        // One number, two calls, the first not complete.
        (
            Api::Chat,
            r#"data: {"choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"id":"a","function":{"name":"x","arguments":"{\"p"}}]}}]}

data: {"choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"id":"b","function":{"name":"x","arguments":"{}"}}]},"finish_reason":"tool_calls"}]}

"#,
        ),
        // The pieces and the item differ.
        (
            Api::Responses,
            r#"data: {"type":"response.output_item.added","output_index":0,"item":{"type":"function_call","id":"f","call_id":"c","name":"x","arguments":""}}

data: {"type":"response.function_call_arguments.delta","output_index":0,"delta":"{\"path\":\"/etc/x\"}"}

data: {"type":"response.output_item.done","output_index":0,"item":{"type":"function_call","id":"f","call_id":"c","name":"x","arguments":"{}"}}

"#,
        ),
        // The start has arguments, and pieces follow.
        (
            Api::Messages,
            r#"data: {"type":"content_block_start","index":0,"content_block":{"type":"tool_use","id":"t","name":"x","input":{"a":1}}}

data: {"type":"content_block_delta","index":0,"delta":{"type":"input_json_delta","partial_json":"{}"}}

data: {"type":"content_block_stop","index":0}

"#,
        ),
        // A piece of a call that nothing began.
        (
            Api::Gemini,
            r#"data: {"candidates":[{"content":{"parts":[{"functionCall":{"partialArgs":[{"jsonPath":"$.a","stringValue":"x"}],"willContinue":true}}]}}]}

data: {"candidates":[{"content":{"parts":[{"functionCall":{}}]}}]}

"#,
        ),
    ];
    for (api, sent) in torn {
        let out = answered(api, sent);
        let left = calls(api, out.as_bytes()).unwrap();
        assert!(left.iter().all(|call| call.id == "b"), "{api:?} {left:?}");
        assert!(left.iter().all(|call| call.flaw.is_none()), "{api:?} {out}");
    }
}

#[test]
fn what_is_no_json_to_everybody_ends_the_answer() {
    for api in APIS {
        for data in [r#"{"choices":1,"choices":2}"#, "{NaN}", "{\"a\":\u{1}}", "[1", "\"x"] {
            let sent = format!("data: {data}\n\n");
            assert_eq!(fault(api, sent.as_bytes()), Some(Fault::Unreadable), "{api:?} {data}");
        }
        assert_eq!(fault(api, b"data: {\"a\":\"\xff\"}\n\n"), Some(Fault::Unreadable));
        assert_eq!(fault(api, b"{\"a\":1"), Some(Fault::Unreadable));
        assert_eq!(fault(api, b": keep-alive\n\ndata: hello\n\nretry: 1\n\n"), None);
        assert_eq!(fault(api, b""), None);
    }
}

#[test]
fn no_more_is_held_than_may_be() {
    for api in APIS {
        let event = format!("data: {}\n", "x".repeat(1 << 16));
        let mut judge = |_: &Call| Ruling::Release;
        let mut reader = Reader::new(api, OnRefusal::Answer);
        let mut pushed = 0;
        let fault = loop {
            match reader.push(event.as_bytes(), &mut judge) {
                Err(fault) => break fault,
                Ok(_) => pushed += event.len(),
            }
            assert!(pushed <= STATE, "{api:?}");
        };
        assert_eq!(fault, Fault::TooLarge);
    }
    // A call that never ends.
    let mut judge = |_: &Call| Ruling::Release;
    let mut reader = Reader::new(Api::Messages, OnRefusal::Answer);
    let start = r#"data: {"type":"content_block_start","index":0,"content_block":{"type":"tool_use","id":"t","name":"x","input":{}}}"#;
    reader.push(format!("{start}\n\n").as_bytes(), &mut judge).unwrap();
    let piece = format!(
        r#"data: {{"type":"content_block_delta","index":0,"delta":{{"type":"input_json_delta","partial_json":"{}"}}}}"#,
        "1".repeat(1 << 16)
    );
    let piece = format!("{piece}\n\n");
    let ends = (0..200).find_map(|_| reader.push(piece.as_bytes(), &mut judge).err());
    assert_eq!(ends, Some(Fault::TooLarge));
}

#[test]
fn a_name_in_pieces_is_refused_and_the_same_name_again_is_one() {
    let sent = r#"data: {"choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"id":"a","function":{"name":"read_","arguments":"{}"}}]}}]}

data: {"choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"function":{"name":"file"}}]},"finish_reason":"tool_calls"}]}

"#;
    let call = calls(Api::Chat, sent.as_bytes()).unwrap().remove(0);
    assert_eq!((call.name.as_str(), call.flaw.is_some()), ("read_file", true));
    let same = sent.replace("read_", "file");
    let call = calls(Api::Chat, same.as_bytes()).unwrap().remove(0);
    assert_eq!((call.name.as_str(), call.flaw), ("file", None));
}

#[test]
fn text_does_not_wait_for_a_call() {
    let sent = stream(Api::Chat, "", &[BAD]);
    let begun = sent.find("call_0").unwrap();
    let end = begun + sent[begun..].find("\n\n").unwrap() + 2;
    let mut judge = |_: &Call| Ruling::Release;
    let mut reader = Reader::new(Api::Chat, OnRefusal::Answer);
    reader.push(&sent.as_bytes()[..end], &mut judge).unwrap();
    let text = "data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"hi\"}}]}\n\n";
    assert_eq!(reader.push(text.as_bytes(), &mut judge).unwrap(), text.as_bytes());
    // Text and a piece of a call in one message: the text goes at once, the piece later.
    let both = r#"data: {"choices":[{"index":0,"delta":{"content":"now","tool_calls":[{"index":0,"function":{"arguments":"{}"}}]}}]}"#;
    let out = reader.push(format!("{both}\n\n").as_bytes(), &mut judge).unwrap();
    let out = String::from_utf8(out).unwrap();
    assert!(out.contains("now") && !out.contains("tool_calls"), "{out}");
}
