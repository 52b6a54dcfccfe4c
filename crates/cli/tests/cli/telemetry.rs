//! Spans, as a collector gets them, and numbers, as Prometheus does.

use std::fs;
use std::io::{BufRead as _, BufReader};
use std::net::TcpListener;
use std::process::{Child, ChildStdout, Command, Stdio};
use std::time::{Duration, Instant};

use palisade_testkit::{Fact, Need, need};
use serde_json::Value as Json;

use crate::kit::{PALISADE, World};

/// A collector that reads requests by the types of the official package and prints each span as JSON.
struct Collector {
    child: Child,
    lines: BufReader<ChildStdout>,
    url: String,
}

const COLLECTOR: &str = r#"
import json, sys
from http.server import BaseHTTPRequestHandler, HTTPServer
from google.protobuf import json_format
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import (
    ExportTraceServiceRequest, ExportTraceServiceResponse)

class Collector(BaseHTTPRequestHandler):
    def do_POST(self):
        body = self.rfile.read(int(self.headers['Content-Length']))
        kind = self.headers['Content-Type']
        request = ExportTraceServiceRequest()
        if kind == 'application/x-protobuf':
            request.ParseFromString(body)
            assert request.SerializeToString() == body, 'not as the package writes it'
        else:
            # OTLP has ids in hexadecimal digits where JSON of protobuf has base64.
            import base64
            told = json.loads(body)
            for resource in told['resourceSpans']:
                for scope in resource['scopeSpans']:
                    for span in scope['spans']:
                        for name in ('traceId', 'spanId', 'parentSpanId'):
                            if name in span:
                                span[name] = base64.b64encode(bytes.fromhex(span[name])).decode()
            json_format.ParseDict(told, request)
        for resource in request.resource_spans:
            service = resource.resource.attributes[0].value.string_value
            for scope in resource.scope_spans:
                for span in scope.spans:
                    value = lambda it: getattr(it, it.WhichOneof('value'))
                    print(json.dumps({
                        'path': self.path, 'kind_of_body': kind, 'service': service,
                        'trace': span.trace_id.hex(), 'span': span.span_id.hex(),
                        'parent': span.parent_span_id.hex(), 'name': span.name, 'kind': span.kind,
                        'took': span.end_time_unix_nano - span.start_time_unix_nano,
                        'status': span.status.code, 'message': span.status.message,
                        'attributes': {it.key: value(it.value) for it in span.attributes},
                        'events': [it.name for it in span.events],
                    }), flush=True)
        self.send_response(200)
        self.send_header('Content-Type', kind)
        self.end_headers()
        self.wfile.write(ExportTraceServiceResponse().SerializeToString())
    def log_message(self, *words):
        pass

server = HTTPServer(('127.0.0.1', 0), Collector)
print(server.server_port, flush=True)
server.serve_forever()
"#;

/// The Python that has the package; `PALISADE_TEST_PYTHON` names one of a virtual environment.
fn python() -> Option<String> {
    let named = std::env::var("PALISADE_TEST_PYTHON").ok();
    let has = |python: &String| {
        let mut trial = Command::new(python);
        trial.args(["-c", "import opentelemetry.proto"]).stderr(Stdio::null());
        trial.status().is_ok_and(|status| status.success())
    };
    if let Some(python) = named.filter(has) {
        return Some(python);
    }
    match need(Fact::Tools("/usr/bin/python3 -c 'import opentelemetry.proto'")) {
        Need::Run => Some("/usr/bin/python3".into()),
        Need::Skip => None,
    }
}

impl Collector {
    fn start() -> Option<Self> {
        let mut command = Command::new(python()?);
        command.args(["-c", COLLECTOR]).stdout(Stdio::piped());
        let mut child = command.spawn().unwrap();
        let mut lines = BufReader::new(child.stdout.take().unwrap());
        let mut port = String::new();
        lines.read_line(&mut port).unwrap();
        Some(Self { child, lines, url: format!("http://127.0.0.1:{}", port.trim()) })
    }

    fn span(&mut self) -> Json {
        let mut line = String::new();
        self.lines.read_line(&mut line).unwrap();
        serde_json::from_str(&line).unwrap()
    }
}

impl Drop for Collector {
    fn drop(&mut self) {
        self.child.kill().ok();
        self.child.wait().ok();
    }
}

const TRACE: &str = "0af7651916cd43dd8448eb211c80319c";
const PARENT: &str = "b7ad6b7169203331";

#[test]
fn a039_a_collector_gets_a_span_for_each_run_and_a_denial_is_an_error() {
    let Some(mut collector) = Collector::start() else { return };
    for (format, kind) in [("protobuf", "application/x-protobuf"), ("json", "application/json")] {
        let policy = format!("audit: {{ otlp: '{}', otlp_format: {format} }}\n", collector.url);
        let world = World::new().user_policy(&policy);
        let mut command = world.command(PALISADE);
        command.args(["run", "--tool", "Bash", "--", "/bin/true"]);
        command.env("TRACEPARENT", format!("00-{TRACE}-{PARENT}-01"));
        let ran = world.finish(&mut command);
        assert_eq!((ran.code, ran.stderr.as_str()), (Some(0), ""), "{format}");
        let span = collector.span();
        assert_eq!(span["kind_of_body"], kind);
        assert_eq!((&span["path"], &span["service"]), (&"/v1/traces".into(), &"palisade".into()));
        assert_eq!((&span["trace"], &span["parent"]), (&TRACE.into(), &PARENT.into()), "{span}");
        assert_eq!(span["span"].as_str().unwrap().len(), 16);
        assert_eq!((&span["name"], &span["kind"]), (&"gen_ai.tool.execution".into(), &1.into()));
        assert_eq!(span["status"], 1, "{span}");
        assert!(span["took"].as_u64().unwrap() > 0, "{span}");
        let attributes = &span["attributes"];
        assert_eq!(attributes["gen_ai.tool.name"], "Bash", "{span}");
        assert_eq!(attributes["palisade.decision"], "allow", "{span}");

        let ran = world.run(&["run", "--", "rm", "-rf", "/etc"]);
        assert_eq!(ran.code, Some(126), "{}", ran.stderr);
        let span = collector.span();
        assert_eq!((&span["status"], &span["parent"]), (&2.into(), &"".into()), "{span}");
        assert_eq!(span["trace"].as_str().unwrap().len(), 32);
        let attributes = &span["attributes"];
        assert_eq!(attributes["agent.harness.gate.decision"], "deny", "{span}");
        for name in ["error.type", "palisade.rule", "palisade.axis", "agent.harness.gate.reason"] {
            assert_ne!(attributes[name].as_str().unwrap_or_default(), "", "{name}: {span}");
        }
    }
    let policy = format!("audit: {{ otlp: '{}', span_names: convention }}\n", collector.url);
    let world = World::new().user_policy(&policy);
    world.run(&["run", "--", "/bin/true"]);
    assert_eq!(collector.span()["name"], "execute_tool run_shell_command");
}

#[test]
fn a_collector_that_hangs_or_is_not_there_stops_no_run_and_is_told() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let hangs = format!("http://{}", listener.local_addr().unwrap());
    for url in [hangs.as_str(), "http://127.0.0.1:1", "https://127.0.0.1:1"] {
        let world = World::new().user_policy(&format!("audit: {{ otlp: '{url}' }}\n"));
        let begun = Instant::now();
        let ran = world.run(&["run", "--", "/bin/echo", "ran"]);
        assert!(begun.elapsed() < Duration::from_secs(20), "{url}");
        assert_eq!((ran.code, ran.stdout.as_str()), (Some(0), "ran\n"), "{url}: {}", ran.stderr);
        assert_eq!(
            ran.stderr.matches("warning: cannot send spans").count(),
            1,
            "{url}: {}",
            ran.stderr
        );
    }
}

#[test]
fn a040_numbers_are_counted_from_the_record() {
    let world = World::new().user_policy("audit: { path: ~/log/events.jsonl }\n");
    world.run(&["run", "--tool", "Bash", "--", "/bin/true"]);
    world.run(&["run", "--", "rm", "-rf", "/etc"]);
    let ran = world.run(&["audit", "metrics"]);
    assert_eq!(ran.code, Some(0), "{}", ran.stderr);
    for line in [
        "tools_called_total{tool=\"Bash\"} 1",
        "tools_called_total{tool=\"run_shell_command\"} 1",
        "tool_latency_ms_bucket{le=\"+Inf\",tool=\"Bash\"} 1",
        "tool_latency_ms_count{tool=\"Bash\"} 1",
        "palisade_decisions_total{axis=\"none\",verdict=\"allow\"} 1",
        "palisade_sandboxes_started_total 1",
        "palisade_start_latency_ms_count 1",
        "palisade_connections_total 0",
    ] {
        assert!(ran.stdout.lines().any(|it| it == line), "{line}:\n{}", ran.stdout);
    }
    assert!(ran.stdout.contains("verdict=\"deny\"} 1"), "{}", ran.stdout);
    assert!(fs::metadata(world.home.path("log/events.jsonl")).is_ok());
}

/// A collector that keeps what it was sent, and answers or does not.
fn plain_collector(answers: bool) -> (String, std::sync::mpsc::Receiver<String>) {
    use std::io::{Read as _, Write as _};
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    let (sender, receiver) = std::sync::mpsc::channel();
    std::thread::spawn(move || {
        let mut kept = Vec::new();
        while let Ok((mut stream, _)) = listener.accept() {
            stream.set_read_timeout(Some(Duration::from_millis(200))).unwrap();
            let (mut text, mut piece) = (Vec::new(), [0; 8192]);
            while let Ok(length @ 1..) = stream.read(&mut piece) {
                text.extend(&piece[..length]);
                if String::from_utf8_lossy(&text).ends_with("]}]}") {
                    break;
                }
            }
            if answers {
                stream.write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}").ok();
            }
            sender.send(String::from_utf8_lossy(&text).into_owned()).ok();
            kept.push(stream);
        }
    });
    (url, receiver)
}

#[test]
fn a039_a_hook_sends_a_span_for_what_it_judged_and_waits_for_nobody() {
    for answers in [true, false] {
        let (url, sent) = plain_collector(answers);
        let policy = format!("audit: {{ otlp: '{url}', otlp_format: json }}\n");
        let world = World::new().user_policy(&policy);
        for (number, (command, decision)) in
            [("true", "allow"), ("rm -rf /etc", "deny")].into_iter().enumerate()
        {
            let call = serde_json::json!({
                "session_id": "x", "cwd": world.project.root(), "hook_event_name": "PreToolUse",
                "tool_name": "Bash", "tool_input": { "command": command },
                "tool_use_id": format!("id{number} token=abc"),
            });
            world.write("call.json", call.to_string());
            let mut hook = world.command(PALISADE);
            hook.args(["hook", "claude"]);
            hook.stdin(fs::File::open(world.project.path("call.json")).unwrap());
            let begun = Instant::now();
            let ran = world.finish(&mut hook);
            assert!(begun.elapsed() < Duration::from_secs(5));
            assert_eq!(
                ran.stderr.contains("there was no answer in time"),
                !answers,
                "{}",
                ran.stderr
            );
            let span = sent.recv_timeout(Duration::from_secs(5)).unwrap();
            assert!(span.contains(&format!("\"{decision}\"")), "{span}");
            assert!(span.contains(&format!("id{number}")) && !span.contains("abc"), "{span}");
        }
    }
}
