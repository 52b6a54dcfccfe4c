"""Drives the proxy with the official clients: clients.py URL answer|retry."""
import sys
import anthropic, openai
from google import genai
from google.genai import types

URL, POLICY = sys.argv[1], sys.argv[2]
BAD = 'call write_file {"path": "/etc/passwd", "content": "x"}'
GOOD = 'call write_file {"path": "a.rs", "content": "x"}'
ERROR = "is outside project directory"
SCRIPTS = {"bad": (BAD, 0), "good": (GOOD, 1), "mixed": (BAD + "\n" + GOOD, 1), "none": ("hello", 0)}


def check(what, text, calls, expected, usage):
    assert len(calls) == expected, (what, calls, text)
    assert all(path == "a.rs" for path in calls), (what, calls)
    assert "I shall try." in text or POLICY == "retry", (what, text)
    bad = what.split()[-1] in ("bad", "mixed")
    assert (ERROR in text) == bad, (what, text)
    asked_again = POLICY == "retry" and what.split()[-1] == "bad"
    assert usage == (10 if asked_again else 5), (what, usage)


def chat(script, stream):
    client = openai.OpenAI(base_url=URL + "/v1", api_key="sk-x", max_retries=0)
    kwargs = dict(model="m-1", messages=[{"role": "user", "content": script}])
    if stream:
        with client.chat.completions.stream(**kwargs, stream_options={"include_usage": True}) as events:
            for _ in events:
                pass
            got = events.get_final_completion()
    else:
        got = client.chat.completions.create(**kwargs)
    message = got.choices[0].message
    import json
    calls = [json.loads(c.function.arguments)["path"] for c in message.tool_calls or []]
    assert got.choices[0].finish_reason == ("tool_calls" if calls else "stop")
    return message.content, calls, got.usage.completion_tokens


def responses(script, stream):
    import json
    client = openai.OpenAI(base_url=URL + "/v1", api_key="sk-x", max_retries=0)
    if stream:
        with client.responses.stream(model="m-1", input=[{"role": "user", "content": script}]) as events:
            for _ in events:
                pass
            got = events.get_final_response()
    else:
        got = client.responses.create(model="m-1", input=[{"role": "user", "content": script}])
    calls = [json.loads(i.arguments)["path"] for i in got.output if i.type == "function_call"]
    follow = [{"type": "function_call_output", "call_id": i.call_id, "output": "fine"} for i in got.output if i.type == "function_call"]
    # The server keeps the conversation, and misses no result.
    client.responses.create(model="m-1", previous_response_id=got.id, input=follow + [{"role": "user", "content": "go on"}])
    return got.output_text, calls, got.usage.output_tokens


def messages(script, stream):
    client = anthropic.Anthropic(base_url=URL, api_key="sk-x", max_retries=0)
    kwargs = dict(model="m-1", max_tokens=9, messages=[{"role": "user", "content": script}])
    if stream:
        with client.messages.stream(**kwargs) as events:
            got = events.get_final_message()
    else:
        got = client.messages.create(**kwargs)
    calls = [b.input["path"] for b in got.content if b.type == "tool_use"]
    assert got.stop_reason == ("tool_use" if calls else "end_turn")
    return "".join(b.text for b in got.content if b.type == "text"), calls, got.usage.output_tokens


def gemini(script, stream):
    client = genai.Client(api_key="x", http_options=types.HttpOptions(base_url=URL))
    if stream:
        chunks = list(client.models.generate_content_stream(model="m-1", contents=script))
    else:
        chunks = [client.models.generate_content(model="m-1", contents=script)]
    parts = [p for c in chunks for p in c.candidates[0].content.parts]
    calls = [p.function_call.args["path"] for p in parts if p.function_call]
    return "".join(p.text or "" for p in parts), calls, chunks[-1].usage_metadata.candidates_token_count


for api in (chat, responses, messages, gemini):
    for stream in (False, True):
        for name, (script, expected) in SCRIPTS.items():
            what = f"{api.__name__} {'streamed' if stream else 'whole'} {name}"
            text, calls, usage = api(script, stream)
            check(what, text or "", calls, expected, usage)
        print("ok", api.__name__, stream, "bad good")
        print("ok", api.__name__, stream, "mixed none")
