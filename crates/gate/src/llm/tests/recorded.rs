//! Answers that were recorded elsewhere, where they can be had.

use std::path::Path;

use super::super::{Api, By, Call, OnRefusal, Reader, Ruling, calls};
use serde_json::Value;

/// What nobody can read, and why.
const REFUSED: [(&str, &str); 2] = [
    ("tool:2acfb86fa549", "its first and its last event lack a bracket: it was written by hand"),
    (
        "tool:08f109c352a3",
        "a second message begins inside of a call of the first: a gateway lost its upstream and asked \
         again. The API's own client reads two calls out of it, and neither is the one that was \
         recorded: pieces of the second go to the block of the first that has the same number",
    ),
];

/// A recording: whose it is, what was sent, and all that is known of it.
type Recording = (Api, Vec<Vec<u8>>, Value);

/// Returns the recorded answers as a server would send them, of a recording one or several; none
/// where they are not at hand.
#[expect(clippy::disallowed_methods, reason = "a test reads what was recorded")]
fn recorded() -> Option<Vec<Recording>> {
    let file =
        Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/corpora/toolcalls.jsonl");
    let Ok(text) = std::fs::read_to_string(&file) else {
        println!("SKIPPED: there are no recorded answers beside the repository");
        return None;
    };
    let rows = text.lines().map(|line| {
        let row: Value = serde_json::from_str(line).unwrap();
        let api = match row["provider"].as_str().unwrap() {
            "openai-chat" => Api::Chat,
            "openai-responses" => Api::Responses,
            "anthropic" => Api::Messages,
            _ => Api::Gemini,
        };
        let raw = row["raw"].as_str().unwrap();
        let sent = if row["transport"].as_str().unwrap().starts_with("json-lines") {
            raw.split('\n')
                .filter(|line| !line.trim().is_empty())
                .map(|line| format!("data: {line}\n\n"))
                .collect()
        } else {
            raw.to_owned()
        };
        (api, answers(&sent), row)
    });
    Some(rows.collect())
}

/// Some recordings hold what several requests were answered: each ends with its own end.
fn answers(sent: &str) -> Vec<Vec<u8>> {
    let mut answers = vec![Vec::new()];
    for event in sent.split_inclusive("\n\n") {
        if let Some(last) = answers.last_mut() {
            last.extend_from_slice(event.as_bytes());
        }
        if event.contains(r#""type":"message_stop""#) {
            answers.push(Vec::new());
        }
    }
    answers.retain(|answer| !answer.trim_ascii().is_empty());
    answers
}

fn whole(api: Api, answer: &[u8], judge: &mut dyn FnMut(&Call) -> Ruling) -> Option<Vec<u8>> {
    let mut reader = Reader::new(api, OnRefusal::Answer);
    let mut out = reader.push(answer, judge).ok()?;
    out.extend(reader.end(judge).ok()?.0);
    Some(out)
}

fn sorted(answer: &[u8]) -> Vec<String> {
    let text = String::from_utf8_lossy(answer);
    let mut events: Vec<String> = text.split("\n\n").map(str::to_owned).collect();
    events.sort();
    events
}

fn normal(text: &str) -> String {
    serde_json::from_str::<Value>(text).map_or_else(|_| text.to_owned(), |value| value.to_string())
}

#[test]
fn recorded_calls_are_put_together_and_pass_byte_for_byte() {
    let Some(rows) = recorded() else { return };
    let mut refused = Vec::new();
    for (api, answers, row) in rows {
        let id = row["id"].as_str().unwrap();
        let mut seen = Vec::new();
        let mut judge = |call: &Call| {
            seen.push(call.clone());
            Ruling::Release
        };
        let sent = answers.concat();
        let out: Option<Vec<_>> =
            answers.iter().map(|answer| whole(api, answer, &mut judge)).collect();
        let listed = calls(api, &sent).unwrap();
        if let Some(out) = &out {
            // A model that ran out of words in the middle of a call: nobody can carry it out.
            let cut = row["args_valid_json"] == false;
            assert_eq!(listed.iter().any(|call| call.flaw.is_some()), cut, "{id}: {listed:?}");
            // Text and what keeps a connection alive overtake a call, and nothing else moves.
            assert!(cut || sorted(&out.concat()) == sorted(&sent), "{id}: the bytes differ");
        } else {
            refused.push(id.to_owned());
        }
        let Some(expected) = row["tool_calls"].as_array() else { continue };
        let expected: Vec<(String, String)> = expected
            .iter()
            .map(|call| {
                (call["name"].as_str().unwrap().into(), normal(call["arguments"].as_str().unwrap()))
            })
            .collect();
        let found: Vec<(String, String)> =
            listed.iter().map(|call| (call.name.clone(), normal(&call.arguments))).collect();
        assert_eq!(found, expected, "{id}");
        for call in listed.iter().filter(|call| call.by == By::Client) {
            let times = seen.iter().filter(|seen| seen.id == call.id && seen.name == call.name);
            assert!(out.is_none() || times.count() >= 1, "{id}: {} is judged", call.name);
        }
    }
    refused.sort();
    let mut expected = REFUSED.map(|(id, _)| id);
    expected.sort_unstable();
    assert_eq!(refused, expected);
}

#[test]
fn what_nobody_can_read_is_so_by_its_bytes() {
    let Some(rows) = recorded() else { return };
    let events = |id: &str| -> Vec<Result<Value, serde_json::Error>> {
        let row = rows.iter().find(|(_, _, row)| row["id"] == id).unwrap();
        let sent = String::from_utf8(row.1.concat()).unwrap();
        let data = sent.lines().filter_map(|line| line.strip_prefix("data: "));
        data.map(serde_json::from_str).collect()
    };
    let [(unbalanced, _), (spliced, _)] = REFUSED;
    let read = events(unbalanced);
    let broken: Vec<usize> = (0..read.len()).filter(|at| read[*at].is_err()).collect();
    assert_eq!(broken, [0, read.len() - 1], "its first and its last event are no JSON");
    let (mut begun, mut open, mut inside) = (0, Vec::new(), false);
    for event in events(spliced).into_iter().map(Result::unwrap) {
        match event["type"].as_str().unwrap() {
            "message_start" => {
                begun += 1;
                inside |= begun == 2 && open == [1];
            }
            "content_block_start" => open.push(event["index"].as_u64().unwrap()),
            "content_block_stop" => open.retain(|index| event["index"] != *index),
            _ => {}
        }
    }
    assert!(begun == 2 && inside, "the second message begins while block 1 of the first is open");
}

#[test]
fn a_recorded_answer_comes_out_the_same_however_it_is_cut() {
    let Some(rows) = recorded() else { return };
    let full = std::env::var_os("PALISADE_TEST_FULL").is_some();
    let rows = rows.into_iter().flat_map(|(api, answers, row)| {
        answers.into_iter().map(move |answer| (api, answer, row.clone()))
    });
    for (api, sent, row) in rows {
        for refuse in [false, true] {
            let mut judge = |call: &Call| match refuse {
                true => Ruling::Swallow(format!("no {}", call.name)),
                false => Ruling::Release,
            };
            let Some(expected) = whole(api, &sent, &mut judge) else { continue };
            let step = if full { 1 } else { sent.len() / 13 + 1 };
            for cut in (0..=sent.len()).step_by(step) {
                let mut reader = Reader::new(api, OnRefusal::Answer);
                let mut out = reader.push(&sent[..cut], &mut judge).unwrap();
                out.extend(reader.push(&sent[cut..], &mut judge).unwrap());
                out.extend(reader.end(&mut judge).unwrap().0);
                assert!(out == expected, "{}: cut at {cut}", row["id"]);
            }
            let mut reader = Reader::new(api, OnRefusal::Answer);
            let mut out = Vec::new();
            for byte in sent.chunks(1) {
                out.extend(reader.push(byte, &mut judge).unwrap());
            }
            out.extend(reader.end(&mut judge).unwrap().0);
            assert!(out == expected, "{}: byte by byte", row["id"]);
            if refuse {
                let left = calls(api, &out).unwrap();
                let left = left.iter().filter(|call| call.by == By::Client).count();
                assert_eq!(left, 0, "{}: no call is left", row["id"]);
            }
        }
    }
}
