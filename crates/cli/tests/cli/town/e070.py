"""Connections to a listed host that are meant for another behind the same server."""
from inside import *

ECH = struct.pack(">HH", 0xFE0D, 4) + b"\0\0\1\0"
hellos = {
    "same": hello(b"web.test"),
    "other": hello(b"evil.test"),
    "none": hello(None),
    "hidden": hello(b"web.test", ECH),
    "two": hello(b"web.test", struct.pack(">HH", 0, 14) + b"\0\x0c\0\0\x09evil.test"),
    "later": hello(None, struct.pack(">HH", 21, 300) + bytes(300) + hello(b"evil.test")[-25:]),
    "plain": b"GET / HTTP/1.1\r\nHost: web.test\r\n\r\n",
    "ssh": b"SSH-2.0-client\r\n",
}
for name, words in hellos.items():
    results[name] = [tcp("web.test", 443, words), tunnel("web.test:443", words), socks(b"web.test", 443, words)]
# In two pieces, of which the first does not say yet whom it is for.
for name in ["same", "other"]:
    words = hellos[name]
    with socket.create_connection(("web.test", 443), 6) as s:
        s.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        try:
            s.sendall(words[:60])
            import time
            time.sleep(0.1)
            s.sendall(words[60:])
            s.shutdown(socket.SHUT_WR)
            results["split " + name] = rest(s).decode("latin-1") or "silence"
        except OSError as e:
            results["split " + name] = told(e)
show(host=get("web.test", named="evil.test"))
finish()
