"""What a program inside a sandbox tries. Each try returns what came of it: the text that a server
sent, the number of an error, or a word."""
import json
import os
import socket
import struct
import sys

FOUR, SIX = socket.AF_INET, socket.AF_INET6
PROXY = ("127.0.0.1", 1023)


def told(error):
    if isinstance(error, socket.gaierror):
        return "no name"
    if isinstance(error, TimeoutError) or error.errno is None:
        return "late"
    # Whether one that is cut is noticed while speaking or before is a matter of moments.
    return 104 if error.errno in (32, 107) else error.errno


def rest(s):
    text = b""
    while True:
        more = s.recv(65536)
        if not more:
            return text
        text += more


def tcp(host, port, words=b"hello", patience=6):
    """Connects to a name or an address, says something, and returns the answer."""
    try:
        with socket.create_connection((host, port), patience) as s:
            s.sendall(words)
            s.shutdown(socket.SHUT_WR)
            return rest(s).decode("latin-1") or "silence"
    except OSError as e:
        return told(e)


def get(host, port=80, path="/", named=None, more=""):
    """Asks a server for a page, and returns its text."""
    named = named or host
    words = f"GET {path} HTTP/1.1\r\nHost: {named}\r\n{more}\r\n"
    answer = tcp(host, port, words.encode("utf-8"))
    return answer.split("\r\n\r\n", 1)[-1] if isinstance(answer, str) else answer


def udp(host, port, words=b"hello", family=FOUR, patience=2):
    """Sends a packet, and returns the answer."""
    with socket.socket(family, socket.SOCK_DGRAM) as s:
        s.settimeout(patience)
        try:
            s.connect((host, port))
            s.send(words)
            return s.recv(65536).decode("latin-1")
        except OSError as e:
            return told(e)


def proxied(words, patience=8):
    """Says something to the proxy; returns the status and code, or the page."""
    if isinstance(words, str):
        words = words.encode("latin-1")
    try:
        with socket.create_connection(PROXY, patience) as s:
            s.sendall(words)
            # The proxy waits for another request otherwise.
            s.shutdown(socket.SHUT_WR)
            answer = rest(s).decode("latin-1")
    except OSError as e:
        return told(e)
    if not answer:
        return "silence"
    # What is said at once is answered one by one.
    return ", ".join(one_answer("HTTP/1." + one) for one in answer.split("HTTP/1.")[1:])


def one_answer(answer):
    head, _, page = answer.partition("\r\n\r\n")
    lines = head.split("\r\n")
    status = lines[0].split(" ")[1]
    code = [line[15:] for line in lines if line.startswith("X-Proxy-Error: ")]
    return page if status == "200" and page else " ".join([status] + code)


def asked(url, host=None, method="GET", more=""):
    """Asks the proxy for a URL."""
    host = url.split("//", 1)[-1].split("/")[0] if host is None else host
    return proxied(f"{method} {url} HTTP/1.1\r\nHost: {host}\r\n{more}\r\n")


def tunnel(target, words=b"hello", patience=8):
    """Asks the proxy for a connection, and speaks through it."""
    if isinstance(target, str):
        target = target.encode("utf-8")
    try:
        with socket.create_connection(PROXY, patience) as s:
            s.sendall(b"CONNECT " + target + b" HTTP/1.1\r\nHost: " + target + b"\r\n\r\n")
            answer = b""
            while b"\r\n\r\n" not in answer:
                more = s.recv(4096)
                if not more:
                    return "silence"
                answer += more
            lines = answer.decode("latin-1").split("\r\n")
            status = lines[0].split(" ")[1]
            if status != "200":
                code = [line[15:] for line in lines if line.startswith("X-Proxy-Error: ")]
                return " ".join([status] + code)
            s.sendall(words)
            s.shutdown(socket.SHUT_WR)
            return rest(s).decode("latin-1") or "silence"
    except OSError as e:
        return told(e)


def socks(host, port, words=b"hello", patience=8):
    """The same by SOCKS5: `host` is bytes of a name, or text of an address."""
    if isinstance(host, bytes):
        where = b"\3" + bytes([len(host)]) + host
    elif ":" in host:
        where = b"\4" + socket.inet_pton(SIX, host)
    else:
        where = b"\1" + socket.inet_pton(FOUR, host)
    try:
        with socket.create_connection(PROXY, patience) as s:
            s.sendall(b"\5\1\0")
            if s.recv(2) != b"\5\0":
                return "no greeting"
            s.sendall(b"\5\1\0" + where + struct.pack(">H", port))
            reply = s.recv(10)
            if not reply:
                return "silence"
            if reply[1]:
                return f"socks {reply[1]}"
            s.sendall(words)
            s.shutdown(socket.SHUT_WR)
            return rest(s).decode("latin-1") or "silence"
    except OSError as e:
        return told(e)


def hello(name, extra=b""):
    """The first message of TLS for a name; `extra` are more extensions."""
    def extension(kind, body):
        return struct.pack(">HH", kind, len(body)) + body

    extensions = b""
    if name is not None:
        entry = b"\0" + struct.pack(">H", len(name)) + name
        extensions += extension(0, struct.pack(">H", len(entry)) + entry)
    extensions += extension(43, b"\2\3\4") + extra
    body = b"\3\3" + bytes(32) + b"\0" + b"\0\2\x13\1" + b"\1\0"
    body += struct.pack(">H", len(extensions)) + extensions
    message = b"\1" + struct.pack(">I", len(body))[1:] + body
    return b"\x16\3\1" + struct.pack(">H", len(message)) + message


def question(name, kind=1):
    """A question about a name, as it is sent to a resolver."""
    labels = b"".join(bytes([len(part)]) + part for part in name.split(b"."))
    return b"\x12\x34\1\0\0\1\0\0\0\0\0\0" + labels + b"\0" + struct.pack(">HH", kind, 1)


def family(number, kind, protocol=0):
    """Makes a socket; returns the error."""
    try:
        socket.socket(number, kind, protocol).close()
        return "made"
    except OSError as e:
        return e.errno


results = {}


def show(**tries):
    results.update(tries)


def finish():
    print(json.dumps(results))
