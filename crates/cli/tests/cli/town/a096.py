"""What leaves by name, and what by address, with no variable that names a proxy."""
import urllib.request

from inside import *

for name in [name for name in os.environ if "proxy" in name.lower()]:
    del os.environ[name]
show(
    http=urllib.request.urlopen("http://web.test/").read().decode(),
    https=tcp("web.test", 443, hello(b"web.test")),
    other=get("other.test"),
    other_https=tcp("other.test", 443, hello(b"other.test")),
    below=get("a.web.test"),
)
for port in [22, 80, 443, 9000]:
    results[f"raw {port}"] = tcp("93.184.216.99", port, b"secret")
    results[f"raw six {port}"] = tcp("2606:2800:220::99", port, b"secret")
for port in [443, 9000]:
    results[f"udp {port}"] = udp("93.184.216.99", port, b"secret")
    results[f"udp six {port}"] = udp("2606:2800:220::99", port, b"secret", SIX)
# The address of a host that is listed by its name is not listed itself.
show(same=tcp("93.184.216.34", 80, b"GET / HTTP/1.1\r\nHost: web.test\r\n\r\n"))
# Bytes in the first packet, before any answer.
with socket.socket() as s:
    try:
        s.sendto(b"secret", 0x20000000, ("93.184.216.99", 9000))
        results["fast"] = s.recv(10).decode() or "silence"
    except OSError as e:
        results["fast"] = told(e)
finish()
