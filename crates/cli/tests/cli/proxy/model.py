"""A model that does what the first text of a conversation says, in four APIs.

Lines: `call NAME JSON` asks for a tool; `stubborn` asks again whatever it is told; `status N` fails;
`cut` breaks off in the middle; `gzip` compresses though nobody asked. Told the result of a tool, it
says what it was told. Usage: model.py LOG [CERTIFICATE KEY]; prints its port.
"""
import gzip, json, ssl, sys, threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

LOG, LOCK, KEPT = open(sys.argv[1], "a"), threading.Lock(), {}
SCRIPTS = {}


def texts(value):
    if isinstance(value, str):
        return [value]
    if isinstance(value, list):
        return [t for v in value for t in texts(v)]
    if isinstance(value, dict):
        return [t for k in ("text", "content", "parts", "input", "error", "response", "output") for t in texts(value.get(k))]
    return []


def results(value):
    if isinstance(value, list):
        return [r for v in value for r in results(v)]
    if not isinstance(value, dict):
        return []
    if value.get("role") == "tool" or value.get("type") in ("tool_result", "function_call_output"):
        return texts(value)
    if "functionResponse" in value:
        return texts(value["functionResponse"])
    return [r for v in value.values() for r in results(v)]


class Model(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *_):
        pass

    def do_GET(self):
        self.note(b"")
        self.whole(200, {"path": self.path})

    def note(self, raw):
        with LOCK:
            LOG.write(json.dumps({"path": self.path, "headers": dict(self.headers.items()), "body": raw.decode("latin-1")}) + "\n")
            LOG.flush()

    def do_POST(self):
        raw = self.rfile.read(int(self.headers.get("content-length", 0)))
        if self.headers.get("transfer-encoding") == "chunked":
            while (size := int(self.rfile.readline(), 16)):
                raw += self.rfile.read(size)
                self.rfile.readline()
            self.rfile.readline()
        self.note(raw)
        body = json.loads(raw)
        turns = body.get("messages") or body.get("contents") or body.get("input") or []
        if isinstance(turns, str):
            turns = [{"role": "user", "content": turns}]
        script = [t for turn in turns if turn.get("role") == "user" and not results(turn) for t in texts(turn)]
        told = results(turns)
        if body.get("previous_response_id"):
            wanted = KEPT.get(body["previous_response_id"], set())
            given = {t.get("call_id") for t in turns}
            if wanted - given:
                return self.whole(400, {"error": {"message": "No tool output found for function call " + sorted(wanted - given)[0]}})
            script = script or SCRIPTS.get(body["previous_response_id"], [])
        self.script = script
        lines = "\n".join(script).split("\n")
        stubborn = "stubborn" in lines
        for line in lines:
            if line.startswith("status "):
                return self.whole(int(line[7:]), {"error": {"message": "as it was asked"}, "odd": 1.50})
        calls = [line.split(" ", 2)[1:] for line in lines if line.startswith("call ")]
        if told and not stubborn:
            calls = []
        text = "I was told: " + " | ".join(told) if told else "I shall try."
        stream = body.get("stream") or "stream" in self.path.rsplit(":", 1)[-1].lower()
        pieces = getattr(self, "say_" + self.path.split("?")[0].rsplit("/", 1)[-1].split(":")[-1].lower().replace("stream", "s_"))(text, calls, stream, body)
        if not stream:
            return self.whole(200, pieces, "gzip" in lines)
        self.send_response(200)
        self.send_header("content-type", "text/event-stream")
        self.send_header("x-odd", "kept as it is")
        self.send_header("transfer-encoding", "chunked")
        self.end_headers()
        if "cut" in lines:
            pieces = pieces[:-3]
        for piece in pieces:
            self.piece(piece)
        if "cut" in lines:
            self.wfile.flush()
            self.connection.shutdown(2)
            self.close_connection = True
            return
        self.wfile.write(b"0\r\n\r\n")

    def piece(self, text):
        raw = text.encode()
        self.wfile.write(b"%x\r\n" % len(raw) + raw + b"\r\n")
        self.wfile.flush()

    def whole(self, status, value, small=False):
        raw = json.dumps(value).encode()
        self.send_response(status)
        if small:
            raw = gzip.compress(raw)
            self.send_header("content-encoding", "gzip")
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(raw)))
        self.end_headers()
        self.wfile.write(raw)

    def say_completions(self, text, calls, stream, body):
        usage = {"prompt_tokens": 10, "completion_tokens": 5, "total_tokens": 15}
        tools = [{"id": f"call_{n}", "type": "function", "function": {"name": name, "arguments": args}} for n, (name, args) in enumerate(calls)]
        reason = "tool_calls" if calls else "stop"
        head = {"id": "chatcmpl-1", "created": 1, "model": body.get("model", "m")}
        if not stream:
            message = {"role": "assistant", "content": text, **({"tool_calls": tools} if tools else {})}
            return {**head, "object": "chat.completion", "choices": [{"index": 0, "message": message, "finish_reason": reason}], "usage": usage}
        def chunk(delta, end=None, **more):
            return "data: " + json.dumps({**head, "object": "chat.completion.chunk", "choices": [{"index": 0, "delta": delta, "finish_reason": end}], **more}) + "\n\n"
        out = [chunk({"role": "assistant", "content": ""}), chunk({"content": text})]
        for n, tool in enumerate(tools):
            args = tool["function"]["arguments"]
            out.append(chunk({"tool_calls": [{**tool, "index": n, "function": {"name": tool["function"]["name"], "arguments": ""}}]}))
            out += [chunk({"tool_calls": [{"index": n, "function": {"arguments": part}}]}) for part in (args[: len(args) // 2], args[len(args) // 2 :])]
        out.append(chunk({}, reason))
        out.append("data: " + json.dumps({**head, "object": "chat.completion.chunk", "choices": [], "usage": usage}) + "\n\n")
        return out + ["data: [DONE]\n\n"]

    def say_messages(self, text, calls, stream, body):
        blocks = [{"type": "text", "text": text}] + [{"type": "tool_use", "id": f"toolu_{n}", "name": name, "input": json.loads(args)} for n, (name, args) in enumerate(calls)]
        reason = "tool_use" if calls else "end_turn"
        head = {"id": "msg_1", "type": "message", "role": "assistant", "model": body.get("model", "m"), "stop_sequence": None}
        if not stream:
            return {**head, "content": blocks, "stop_reason": reason, "usage": {"input_tokens": 10, "output_tokens": 5}}
        def event(value):
            return f"event: {value['type']}\ndata: {json.dumps(value)}\n\n"
        out = [event({"type": "message_start", "message": {**head, "content": [], "stop_reason": None, "usage": {"input_tokens": 10, "output_tokens": 1}}})]
        for n, block in enumerate(blocks):
            if block["type"] == "text":
                parts = [{"type": "text_delta", "text": block["text"]}]
                block = {"type": "text", "text": ""}
            else:
                args = json.dumps(block["input"])
                parts = [{"type": "input_json_delta", "partial_json": part} for part in (args[:7], args[7:])]
                block = {**block, "input": {}}
            out.append(event({"type": "content_block_start", "index": n, "content_block": block}))
            out += [event({"type": "content_block_delta", "index": n, "delta": part}) for part in parts]
            out.append(event({"type": "content_block_stop", "index": n}))
        out.append(event({"type": "message_delta", "delta": {"stop_reason": reason, "stop_sequence": None}, "usage": {"output_tokens": 5}}))
        return out + [event({"type": "message_stop"})]

    def say_responses(self, text, calls, stream, body):
        with LOCK:
            name = f"resp_{len(KEPT)}"
            SCRIPTS[name] = self.script
            KEPT[name] = {f"call_{name}_{n}" for n in range(len(calls))}
        part = {"type": "output_text", "text": text, "annotations": []}
        output = [{"id": f"msg_{name}", "type": "message", "role": "assistant", "status": "completed", "content": [part]}]
        output += [{"id": f"fc_{name}_{n}", "type": "function_call", "status": "completed", "call_id": f"call_{name}_{n}", "name": tool, "arguments": args} for n, (tool, args) in enumerate(calls)]
        whole = {"id": name, "object": "response", "created_at": 1, "status": "completed", "model": body.get("model", "m"), "output": output, "parallel_tool_calls": True, "tool_choice": "auto", "tools": [],
                 "usage": {"input_tokens": 10, "output_tokens": 5, "total_tokens": 15, "input_tokens_details": {"cached_tokens": 0}, "output_tokens_details": {"reasoning_tokens": 0}}}
        if not stream:
            return whole
        out = []
        def event(kind, **value):
            value = {"type": kind, "sequence_number": len(out), **value}
            out.append(f"event: {kind}\ndata: {json.dumps(value)}\n\n")
        event("response.created", response={**whole, "status": "in_progress", "output": [], "usage": None})
        for n, item in enumerate(output):
            if item["type"] == "message":
                event("response.output_item.added", output_index=n, item={**item, "status": "in_progress", "content": []})
                event("response.content_part.added", output_index=n, item_id=item["id"], content_index=0, part={**part, "text": ""})
                event("response.output_text.delta", output_index=n, item_id=item["id"], content_index=0, delta=text, logprobs=[])
                event("response.output_text.done", output_index=n, item_id=item["id"], content_index=0, text=text, logprobs=[])
                event("response.content_part.done", output_index=n, item_id=item["id"], content_index=0, part=part)
            else:
                event("response.output_item.added", output_index=n, item={**item, "status": "in_progress", "arguments": ""})
                event("response.function_call_arguments.delta", output_index=n, item_id=item["id"], delta=item["arguments"])
                event("response.function_call_arguments.done", output_index=n, item_id=item["id"], name=item["name"], arguments=item["arguments"])
            event("response.output_item.done", output_index=n, item=item)
        event("response.completed", response=whole)
        return out

    def say_generatecontent(self, text, calls, stream, body):
        parts = [{"text": text}] + [{"functionCall": {"name": name, "args": json.loads(args)}} for name, args in calls]
        usage = {"promptTokenCount": 10, "candidatesTokenCount": 5, "totalTokenCount": 15}
        def chunk(parts, end=None):
            return {"candidates": [{"content": {"role": "model", "parts": parts}, "index": 0, **({"finishReason": end} if end else {})}], "usageMetadata": usage}
        if not stream:
            return chunk(parts, "STOP")
        chunks = [chunk([p]) for p in parts[:-1]] + [chunk(parts[-1:], "STOP")]
        if "alt=sse" in self.path:
            return ["data: " + json.dumps(c) + "\r\n\r\n" for c in chunks]
        return [("[" if n == 0 else ",\r\n") + json.dumps(c) for n, c in enumerate(chunks)] + ["]"]

    say_s_generatecontent = say_generatecontent


class Server(ThreadingHTTPServer):
    request_queue_size = 1024
    daemon_threads = True

    def handle_error(self, *_):
        pass


server = Server(("127.0.0.1", 0), Model)
if len(sys.argv) > 2:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(sys.argv[2], sys.argv[3])
    server.socket = context.wrap_socket(server.socket, server_side=True)
print(server.server_address[1], flush=True)
server.serve_forever()
