"""A model's server that follows a script: it asks for one tool call, then says that it is done.

It speaks as much of four APIs as the agents need: Messages, Responses, Chat Completions and
generateContent. Usage: upstream.py CALL, where CALL is {"name": TOOL, "input": {...}} as JSON. It
prints its port, and each tool result that it is sent.
"""
import json
import sys
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

CALL = json.loads(sys.argv[1])
LOCK = threading.Lock()


def say(*words):
    with LOCK:
        print(*words, flush=True)


def results(value):
    """Every tool result in a request, whatever the API."""
    found = []
    if isinstance(value, dict):
        kind = value.get("type")
        if kind == "tool_result" or kind in ("function_call_output", "custom_tool_call_output"):
            found.append(value.get("content", value.get("output")))
        elif value.get("role") == "tool":
            found.append(value.get("content"))
        elif "functionResponse" in value:
            found.append(value["functionResponse"])
        for inner in value.values():
            found += results(inner)
    elif isinstance(value, list):
        for inner in value:
            found += results(inner)
    return found


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *_):
        pass

    def do_GET(self):
        self.answer({"data": [{"id": "scripted", "object": "model"}], "models": [], "object": "list"})

    def do_POST(self):
        length = int(self.headers.get("content-length") or 0)
        if self.headers.get("transfer-encoding") == "chunked":
            raw = b""
            while True:
                size = int(self.rfile.readline().strip() or b"0", 16)
                raw += self.rfile.read(size)
                self.rfile.readline()
                if size == 0:
                    break
        else:
            raw = self.rfile.read(length)
        try:
            body = json.loads(raw)
        except ValueError:
            body = {}
        seen = results(body)
        for result in seen:
            say("RESULT", json.dumps(result))
        path = self.path.split("?")[0]
        has_tools = bool(body.get("tools")) or "config" in body
        call = None if seen or not has_tools else CALL
        say("POST", path, "tools" if has_tools else "-", "")
        if path.endswith("/messages"):
            self.messages(call, body.get("stream"))
        elif path.endswith("/responses"):
            self.response_events(call)
        elif path.endswith("/chat/completions"):
            self.chat(call, body.get("stream"))
        elif "generateContent" in path.lower() or "GenerateContent" in path:
            self.gemini(call, "stream" in path)
        elif path.endswith("count_tokens"):
            self.answer({"input_tokens": 1})
        else:
            self.answer({})

    def answer(self, value):
        data = json.dumps(value).encode()
        self.send_response(200)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def events(self, events, named=True):
        out = b""
        for event in events:
            if named and isinstance(event, dict):
                out += b"event: " + event["type"].encode() + b"\n"
            text = event if isinstance(event, str) else json.dumps(event)
            out += b"data: " + text.encode() + b"\n\n"
        self.send_response(200)
        self.send_header("content-type", "text/event-stream")
        self.send_header("content-length", str(len(out)))
        self.end_headers()
        self.wfile.write(out)

    def messages(self, call, stream):
        block = {"type": "text", "text": "done"}
        if call:
            block = {"type": "tool_use", "id": "toolu_1", "name": call["name"], "input": call["input"]}
        whole = {"id": "msg_1", "type": "message", "role": "assistant", "model": "scripted", "content": [block],
                 "stop_reason": "tool_use" if call else "end_turn", "stop_sequence": None,
                 "usage": {"input_tokens": 1, "output_tokens": 1}}
        if not stream:
            return self.answer(whole)
        start = dict(whole, content=[], stop_reason=None)
        empty = dict(block, input={}) if call else {"type": "text", "text": ""}
        delta = {"type": "input_json_delta", "partial_json": json.dumps(call["input"])} if call else \
            {"type": "text_delta", "text": "done"}
        self.events([
            {"type": "message_start", "message": start},
            {"type": "content_block_start", "index": 0, "content_block": empty},
            {"type": "content_block_delta", "index": 0, "delta": delta},
            {"type": "content_block_stop", "index": 0},
            {"type": "message_delta", "delta": {"stop_reason": whole["stop_reason"], "stop_sequence": None},
             "usage": {"output_tokens": 1}},
            {"type": "message_stop"},
        ])

    def response_events(self, call):
        if call:
            item = {"type": "function_call", "id": "fc_1", "call_id": "call_1", "name": call["name"],
                    "arguments": json.dumps(call["input"]), "status": "completed"}
        else:
            item = {"type": "message", "id": "m_1", "role": "assistant", "status": "completed",
                    "content": [{"type": "output_text", "text": "done", "annotations": []}]}
        usage = {"input_tokens": 1, "input_tokens_details": None, "output_tokens": 1,
                 "output_tokens_details": None, "total_tokens": 2}
        whole = {"id": "resp_1", "object": "response", "status": "completed", "output": [item], "usage": usage}
        self.events([
            {"type": "response.created", "response": dict(whole, status="in_progress", output=[])},
            {"type": "response.output_item.added", "output_index": 0, "item": item},
            {"type": "response.output_item.done", "output_index": 0, "item": item},
            {"type": "response.completed", "response": whole},
        ])

    def chat(self, call, stream):
        message = {"role": "assistant", "content": "done"}
        if call:
            function = {"name": call["name"], "arguments": json.dumps(call["input"])}
            message = {"role": "assistant", "content": None,
                       "tool_calls": [{"index": 0, "id": "call_1", "type": "function", "function": function}]}
        end = "tool_calls" if call else "stop"
        whole = {"id": "c_1", "object": "chat.completion", "created": 1, "model": "scripted",
                 "usage": {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2}}
        if not stream:
            return self.answer(dict(whole, choices=[{"index": 0, "message": message, "finish_reason": end}]))
        chunk = dict(whole, object="chat.completion.chunk")
        self.events([
            dict(chunk, choices=[{"index": 0, "delta": message, "finish_reason": None}]),
            dict(chunk, choices=[{"index": 0, "delta": {}, "finish_reason": end}]),
            "[DONE]",
        ], named=False)

    def gemini(self, call, stream):
        part = {"text": "done"}
        if call:
            part = {"functionCall": {"name": call["name"], "args": call["input"]}}
        whole = {"candidates": [{"content": {"role": "model", "parts": [part]}, "finishReason": "STOP", "index": 0}],
                 "usageMetadata": {"promptTokenCount": 1, "candidatesTokenCount": 1, "totalTokenCount": 2}}
        if stream:
            self.events([whole], named=False)
        else:
            self.answer(whole)


server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
say(server.server_address[1])
server.serve_forever()
