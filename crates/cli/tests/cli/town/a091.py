"""Every kind of connection there is, and one to a server of its own."""
import threading

from inside import *

own = socket.create_server(("127.0.0.1", 8099))


def answer():
    c, _ = own.accept()
    c.sendall(b"own")
    c.close()


threading.Thread(target=answer, daemon=True).start()
show(
    own=tcp("127.0.0.1", 8099, b""),
    name=get("web.test"),
    address=tcp("93.184.216.34", 80),
    six=tcp("2606:2800:220::34", 80),
    port_22=tcp("93.184.216.34", 22),
    udp=udp("93.184.216.34", 443),
    udp_six=udp("2606:2800:220::34", 443, family=SIX),
    dns=udp("93.184.216.53", 53, question(b"web.test")),
    host=tcp("127.0.0.1", 6379),
    own_of_host=tcp("93.184.217.1", 6379),
    metadata=tcp("169.254.169.254", 80),
    proxy=proxied("GET http://web.test/ HTTP/1.1\r\nHost: web.test\r\n\r\n"),
    raw=family(FOUR, socket.SOCK_RAW, 1),
    ping=family(FOUR, socket.SOCK_DGRAM, 1),
)
finish()
