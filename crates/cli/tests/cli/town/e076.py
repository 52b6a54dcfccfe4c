"""Requests that two readers take for different ones."""
from inside import *

WEB, EVIL = "http://web.test/", "GET /evil HTTP/1.1\r\nHost: evil.test\r\n\r\n"
SENT = {
    "plain": "GET http://web.test/ok HTTP/1.1\r\nHost: web.test\r\n\r\n",
    "absolute and host": f"GET {WEB} HTTP/1.1\r\nHost: evil.test\r\n\r\n",
    "host and absolute": "GET http://evil.test/ HTTP/1.1\r\nHost: web.test\r\n\r\n",
    "two hosts": f"GET {WEB} HTTP/1.1\r\nHost: web.test\r\nHost: evil.test\r\n\r\n",
    "host in the name": f"GET {WEB} HTTP/1.1\r\nHost : evil.test\r\nHost: web.test\r\n\r\n",
    "folded": f"GET {WEB} HTTP/1.1\r\nHost: web.test\r\nX: a\r\n Host: evil.test\r\n\r\n",
    "no host": f"GET {WEB} HTTP/1.1\r\n\r\n",
    "origin": "GET //evil.test/ HTTP/1.1\r\nHost: web.test\r\n\r\n",
    "user": "GET http://web.test@evil.test/ HTTP/1.1\r\nHost: evil.test\r\n\r\n",
    "escaped": "GET http://web.test%2fevil.test/ HTTP/1.1\r\nHost: web.test\r\n\r\n",
    "backslash": "GET http://web.test\\evil.test/ HTTP/1.1\r\nHost: web.test\r\n\r\n",
    "scheme": "GET ftp://web.test/evil HTTP/1.1\r\nHost: web.test\r\n\r\n",
    "line feeds": f"GET {WEB} HTTP/1.1\nHost: web.test\n\n",
    "stray return": f"GET {WEB} HTTP/1.1\r\nHost: web.test\r\nX: a\rEvil: b\r\n\r\n",
    "blanks": f"GET  {WEB} HTTP/1.1\r\nHost: web.test\r\n\r\n",
    "version": f"GET {WEB} HTTP/1.2\r\nHost: web.test\r\n\r\n",
    "trace": f"TRACE {WEB}evil HTTP/1.1\r\nHost: web.test\r\n\r\n",
    "lower": f"get {WEB}evil HTTP/1.1\r\nHost: web.test\r\n\r\n",
    "both lengths": f"POST {WEB}evil HTTP/1.1\r\nHost: web.test\r\nContent-Length: 4\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n{EVIL}",
    "two lengths": f"POST {WEB}evil HTTP/1.1\r\nHost: web.test\r\nContent-Length: 0\r\nContent-Length: 60\r\n\r\n{EVIL}",
    "signed length": f"POST {WEB}evil HTTP/1.1\r\nHost: web.test\r\nContent-Length: +4\r\n\r\nabcd",
    "coding": f"POST {WEB}evil HTTP/1.1\r\nHost: web.test\r\nTransfer-Encoding: xchunked\r\n\r\n0\r\n\r\n{EVIL}",
    "connection": f"GET {WEB}evil HTTP/1.1\r\nHost: web.test\r\nConnection: host\r\n\r\n",
    "behind": f"GET {WEB}behind HTTP/1.1\r\nHost: web.test\r\n\r\n{EVIL}",
    "behind a body": f"POST {WEB}body HTTP/1.1\r\nHost: web.test\r\nContent-Length: 4\r\n\r\nbody{EVIL}",
    "connect early": f"CONNECT web.test:80 HTTP/1.1\r\nHost: web.test:80\r\n\r\n{EVIL}",
    "connect body": f"CONNECT web.test:80 HTTP/1.1\r\nHost: web.test:80\r\nContent-Length: 60\r\n\r\n{EVIL}",
    "connect host": "CONNECT web.test:80 HTTP/1.1\r\nHost: evil.test:80\r\n\r\n",
    "connect port": "CONNECT web.test HTTP/1.1\r\nHost: web.test\r\n\r\n",
    "connect url": "CONNECT http://web.test/ HTTP/1.1\r\nHost: web.test\r\n\r\n",
    "two": "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
    "paths": "GET http://web.test//a/%2e%2e/./b HTTP/1.1\r\nHost: web.test\r\n\r\n",
}
for name, words in SENT.items():
    results[name] = proxied(words)
# The same to the server itself, at the port where requests are looked at.
for name in ["line feeds", "two hosts", "folded", "both lengths", "trace", "two"]:
    words = SENT[name].replace("http://web.test/", "/")
    results["direct " + name] = tcp("web.test", 80, words.encode())
finish()
