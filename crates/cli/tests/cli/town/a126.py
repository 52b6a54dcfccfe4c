"""Plain requests, through the proxy and without it."""
from inside import *

two = "GET http://web.test/1 HTTP/1.1\r\nHost: web.test\r\n\r\n"
two += "GET http://other.test/2 HTTP/1.1\r\nHost: other.test\r\n\r\n"
show(
    listed=asked("http://web.test/listed"),
    listed_port=asked("http://web.test:8080/listed"),
    posted=proxied("POST http://web.test/ HTTP/1.1\r\nHost: web.test\r\nContent-Length: 4\r\n\r\nbody"),
    other=asked("http://other.test/other"),
    other_connect=tunnel("other.test:80"),
    address=asked("http://93.184.216.99/other"),
    address_connect=tunnel("93.184.216.99:80"),
    denied=asked("http://bad.web.test/other"),
    denied_connect=tunnel("bad.web.test:80"),
    said_otherwise=asked("http://web.test/other", host="other.test"),
    second=proxied(two),
    direct=get("web.test"),
    direct_otherwise=get("web.test", named="other.test", path="/other"),
    direct_nameless=tcp("web.test", 80, b"GET /other HTTP/1.0\r\n\r\n"),
    direct_absolute=tcp("web.test", 80, b"GET http://other.test/ HTTP/1.1\r\nHost: web.test\r\n\r\n"),
    tunnel=tunnel("web.test:80", b"GET / HTTP/1.1\r\nHost: web.test\r\n\r\n")[-6:],
    tunnel_otherwise=tunnel("web.test:80", b"GET /other HTTP/1.1\r\nHost: other.test\r\n\r\n"),
)
finish()
