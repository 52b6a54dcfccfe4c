"""Sends more than it may, at once and by many small connections, by every way."""
from inside import *

show(little=tcp("web.test", 9000, b"x" * 1000))
way, much = sys.argv[1], b"x" * 400000
if way == "direct":
    show(much=tcp("web.test", 9000, much))
elif way == "connect":
    show(much=tunnel("web.test:9000", much))
elif way == "socks":
    show(much=socks(b"web.test", 9000, much))
elif way == "http":
    head = b"POST http://web.test:8080/ HTTP/1.1\r\nHost: web.test:8080\r\nContent-Length: 400000\r\n\r\n"
    show(much=proxied(head + much))
else:
    show(much=[tcp("web.test", 9000, b"x" * 8000) for _ in range(12)])
show(same=tcp("web.test", 9000, b"x" * 1000), other=tcp("other.test", 9000, b"x" * 1000))
finish()
