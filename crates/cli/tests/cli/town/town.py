"""A small world for one run: its own network, its own table of names, servers that tell who came.

Every address of the networks below is this machine's, but none of its interfaces has it: to whoever
dials they are hosts elsewhere. It is started in a mount and a network namespace of its own.
usage: town.py CONFIG COMMAND...
"""
import ctypes
import fcntl
import json
import os
import socket
import struct
import sys
import threading
import time

config = json.load(open(sys.argv[1]))
log = open(config["log"], "a", buffering=1)
lock = threading.Lock()


def tell(**what):
    with lock:
        log.write(json.dumps(what) + "\n")


def lead(family, network, length):
    """Makes a network local to the loopback (rtnetlink(7))."""
    address = socket.inet_pton(family, network)
    route = struct.pack("=BBBBBBBBI", family, length, 0, 0, 255, 4, 254, 2, 0)
    route += struct.pack("=HH", 4 + len(address), 1) + address
    route += struct.pack("=HHI", 8, 4, 1)
    message = struct.pack("=IHHII", 16 + len(route), 24, 0x405, 1, 0) + route
    ask_kernel(message)


def own(address):
    """Gives the loopback an address of its own."""
    body = struct.pack("=BBBBI", socket.AF_INET, 32, 0, 0, 1)
    body += struct.pack("=HH", 8, 2) + socket.inet_aton(address)
    ask_kernel(struct.pack("=IHHII", 16 + len(body), 20, 0x405, 1, 0) + body)


def ask_kernel(message):
    s = socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, 0)
    s.send(message)
    errno = struct.unpack("=i", s.recv(4096)[16:20])[0]
    assert errno == 0, os.strerror(-errno)


def up():
    s = socket.socket()
    fcntl.ioctl(s, 0x8914, struct.pack("16sh14x", b"lo", 1))
    lead(socket.AF_INET, "93.184.216.0", 24)
    lead(socket.AF_INET, "10.9.0.0", 16)
    lead(socket.AF_INET, "169.254.0.0", 16)
    lead(socket.AF_INET6, "2606:2800:220::", 48)
    own("93.184.217.1")


def cover(path, text):
    file = os.path.join(config["folder"], os.path.basename(path))
    with open(file, "w") as f:
        f.write(text)
    os.chmod(file, 0o644)
    mount(file, os.path.realpath(path), None, 4096)


def mount(what, at, kind, flags):
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.mount(what.encode(), at.encode(), kind, flags, None):
        raise OSError(ctypes.get_errno(), at)


def answer_at(path):
    """Listens where services of a desktop do that look names up."""
    os.makedirs(os.path.dirname(path), exist_ok=True)
    s = socket.socket(socket.AF_UNIX)
    s.bind(path)
    os.chmod(path, 0o666)
    s.listen()

    def loop():
        while True:
            c, _ = s.accept()
            tell(kind="unix", path=path)
            c.close()

    threading.Thread(target=loop, daemon=True).start()


def plain(address):
    return address[7:] if address.startswith("::ffff:") else address


def listener(port):
    at = ("::", port)
    return socket.create_server(at, family=socket.AF_INET6, dualstack_ipv6=True, backlog=512)


def serve(port):
    s = listener(port)

    def loop():
        while True:
            c, _ = s.accept()
            threading.Thread(target=attend, args=(c, port), daemon=True).start()

    threading.Thread(target=loop, daemon=True).start()


def attend(c, port):
    """Answers a request, or the first bytes of anything else."""
    to = plain(c.getsockname()[0])
    data = b""
    c.settimeout(20)
    try:
        while True:
            more = c.recv(65536)
            data += more
            done = b"\r\n\r\n" in data if port in config["web"] else bool(data)
            if not more or done:
                break
        tell(kind="tcp", port=port, to=to, data=data.decode("latin-1"))
        if port in config["web"] and data:
            c.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 6\r\nConnection: close\r\n\r\n")
        c.sendall(b"served")
        c.shutdown(socket.SHUT_WR)
        while more := c.recv(65536):
            tell(kind="tcp-more", port=port, to=to, data=more.decode("latin-1"))
    except OSError:
        pass
    c.close()


def broken(port):
    """Answers a few bytes with a few, and resets the connection."""
    s = listener(port)

    def loop():
        while True:
            c, _ = s.accept()
            c.recv(65536)
            c.sendall(b"half")
            time.sleep(0.2)
            c.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            c.close()

    threading.Thread(target=loop, daemon=True).start()


def sink(port):
    s = socket.socket(socket.AF_INET6, socket.SOCK_DGRAM)
    s.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 0)
    s.bind(("::", port))

    def loop():
        while True:
            data, at = s.recvfrom(65536)
            if port == 53:
                answer = resolve(data)
                if answer:
                    s.sendto(answer, at)
            else:
                tell(kind="udp", port=port, data=data.decode("latin-1"))

    threading.Thread(target=loop, daemon=True).start()


asked = {}


def resolve(data):
    """Answers for the names it was given; each question about one gets its next address."""
    labels, at = [], 12
    while data[at]:
        labels.append(data[at + 1 : at + 1 + data[at]].decode("latin-1").lower())
        at += 1 + data[at]
    name, kind = ".".join(labels), struct.unpack(">H", data[at + 1 : at + 3])[0]
    tell(kind="dns", name=name, type=kind)
    if name in config.get("silent", []):
        return None
    question, answers = data[12 : at + 5], b""
    known = config["dns"].get(name)
    for address in config.get("gains", {}).pop(name, []):
        own(address)
    count = 0
    if known and kind == 1:
        turn = asked[name] = asked.get(name, -1) + 1
        for address in known[min(turn, len(known) - 1)]:
            answers += struct.pack(">HHHIH", 0xC00C, 1, 1, 0, 4) + socket.inet_aton(address)
            count += 1
    code = 0x8180 if known else 0x8183
    return data[:2] + struct.pack(">HHHHH", code, 1, count, 0, 0) + question + answers


up()
hosts = "127.0.0.1 localhost\n::1 localhost\n" + "".join(line + "\n" for line in config["hosts"])
cover("/etc/hosts", hosts)
patience = 30 if config.get("silent") else 10
cover("/etc/resolv.conf", f"nameserver 127.0.0.1\noptions timeout:{patience} attempts:1\n")
for port in config["tcp"]:
    serve(port)
for port in config.get("resets", []):
    broken(port)
for port in config["udp"]:
    sink(port)
if config["unix"]:
    mount("tmpfs", "/run", b"tmpfs", 0)
for path in config["unix"]:
    answer_at(path)
child = os.fork()
if child == 0:
    if config["uid"]:
        os.setgroups([])
        os.setgid(config["uid"])
        os.setuid(config["uid"])
    os.execv(sys.argv[2], sys.argv[2:])


def beside(pid):
    """Returns the janitor of a supervisor, which would clean up after it."""
    for other in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open(f"/proc/{other}/stat") as file:
                name, _, rest = file.read().partition("(")[2].rpartition(")")
        except OSError:
            continue
        if name == "pal-janitor" and int(rest.split()[1]) == pid:
            yield int(other)


while config["kill"] and not os.path.exists(config["kill"]):
    time.sleep(0.02)
    ended = os.waitid(os.P_PID, child, os.WEXITED | os.WNOHANG | os.WNOWAIT)
    if ended:
        break
if config["kill"]:
    for one in [*beside(child), child]:
        os.kill(one, 9)
_, status = os.waitpid(child, 0)
if config["kill"]:
    # What was on its way has arrived by now.
    time.sleep(1)
    tell(kind="killed")
    time.sleep(1.5)
code = os.waitstatus_to_exitcode(status)
os._exit(code if code >= 0 else 128 - code)
