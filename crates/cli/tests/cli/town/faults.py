"""What becomes of connections to listed hosts whose side, or whose way, is broken."""
import threading
import time

from inside import *


def half(connect):
    """What is heard of a server that resets its connection, and how it ends."""
    try:
        with connect() as s:
            s.sendall(b"hello")
            text = b""
            while True:
                more = s.recv(4096)
                if not more:
                    return [text.decode(), "end"]
                text += more
    except OSError as e:
        return [text.decode(), told(e)]


def direct():
    return socket.create_connection(("web.test", 9001), 8)


def by_connect():
    s = socket.create_connection(PROXY, 8)
    s.sendall(b"CONNECT web.test:9001 HTTP/1.1\r\n\r\n")
    answer = b""
    while b"\r\n\r\n" not in answer:
        answer += s.recv(1)
    return s


def ways(host, port):
    return [tcp(host, port), asked(f"http://{host}:{port}/"), tunnel(f"{host}:{port}"), socks(host.encode(), port)]


def drip(to, words):
    """Says a little at a time, and never all of it."""
    try:
        with socket.create_connection(to, 8) as s:
            s.settimeout(0.5)
            for byte in words * 100:
                s.send(bytes([byte]))
                try:
                    return s.recv(100).decode() or "end"
                except TimeoutError:
                    pass
    except OSError as e:
        return told(e)
    return "still there"


def patient(host):
    """The same as ways, for one that takes its time."""
    url = f"GET http://{host}/ HTTP/1.1\r\nHost: {host}\r\n\r\n"
    return [tcp(host, 80, patience=60), proxied(url, 60), socks(host.encode(), 80, patience=60)]


later = {}


def begin(name, what, *words):
    def run():
        later[name] = what(*words)

    one = threading.Thread(target=run)
    one.start()
    return one


waiting = [
    begin("silent", patient, "silent.test"),
    begin("slow_request", drip, ("web.test", 80), b"GET /abcdefghijklmnop"),
    begin("slow_proxy", drip, PROXY, b"GET http://web.test/abcdefgh"),
    begin("slow_greeting", drip, ("web.test", 443), hello(b"web.test")[:60]),
]
time.sleep(1)
# Others are served meanwhile.
show(
    served=get("web.test"),
    six=[tcp("six.test", 9000), asked("http://six.test:8080/"), tunnel("six.test:9000"), socks(b"six.test", 9000)],
    closed=ways("web.test", 9002),
    far=ways("far.test", 9000),
    nowhere=ways("nowhere.test", 9000),
    reset=[half(direct), half(by_connect)],
    reset_request=get("web.test", 8081),
    resolvers=[line for line in open("/etc/resolv.conf").read().split("\n") if line],
    own=[name in open("/etc/hosts").read() for name in ["localhost", "web.test"]],
)
for one in waiting:
    one.join()
show(after=get("web.test"), **later)
finish()
