"""Services on the loopback of the host."""
from inside import *

HOST = "host.palisade.internal"
for port in [6379, 9222]:
    results[str(port)] = {
        "loopback": [tcp("127.0.0.1", port), tcp("localhost", port), tcp("::1", port), tcp("127.0.0.9", port)],
        "own": [tcp("93.184.217.1", port), tcp("0.0.0.0", port)],
        "host": [tcp(HOST, port), tunnel(f"{HOST}:{port}"), socks(HOST.encode(), port)],
        "proxied": [tunnel(f"127.0.0.1:{port}"), tunnel(f"localhost:{port}"), socks("127.0.0.1", port), socks(b"localhost", port)],
    }
finish()
