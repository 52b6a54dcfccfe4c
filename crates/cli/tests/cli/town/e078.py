"""Port 22, by host, and the agent that holds a person's keys."""
from inside import *

LOGIN = b"SSH-2.0-client\r\n"
show(
    listed=[tcp("git.test", 22, LOGIN), tunnel("git.test:22", LOGIN), socks(b"git.test", 22, LOGIN)],
    other_port=[tcp("web.test", 22, LOGIN), tunnel("web.test:22", LOGIN), socks(b"web.test", 22, LOGIN)],
    other_host=[tcp("other.test", 22, LOGIN), tunnel("other.test:22", LOGIN), socks(b"other.test", 22, LOGIN)],
    address=[tcp("93.184.216.34", 22, LOGIN), tunnel("93.184.216.34:22", LOGIN)],
    only_22=[get("git.test"), tunnel("git.test:443", hello(b"git.test"))],
    variable=os.environ.get("SSH_AUTH_SOCK"),
)
with socket.socket(socket.AF_UNIX) as s:
    try:
        s.connect(sys.argv[1])
        show(agent="connected")
    except OSError:
        show(agent="no")
finish()
