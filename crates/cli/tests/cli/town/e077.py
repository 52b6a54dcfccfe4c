"""Other ways than TCP, and other families than the internet's."""
from inside import *

STREAM, PACKET, RAW = socket.SOCK_STREAM, socket.SOCK_DGRAM, socket.SOCK_RAW
show(
    tcp=[family(FOUR, STREAM), family(SIX, STREAM)],
    packets=[family(FOUR, PACKET), family(SIX, PACKET)],
    unix=family(socket.AF_UNIX, STREAM),
    routes=family(16, RAW, 0),
    ping=[family(FOUR, PACKET, 1), family(SIX, PACKET, 58)],
    raw=[family(FOUR, RAW, 1), family(FOUR, RAW, 255), family(FOUR, RAW, 6), family(SIX, RAW, 58)],
    protocols=[family(FOUR, STREAM, 132), family(FOUR, PACKET, 136), family(FOUR, 6, 33)],
    families={name: family(number, kind, protocol) for name, number, kind, protocol in [
        ("vsock", 40, STREAM, 0), ("alg", 38, 5, 0), ("packet", 17, RAW, 3), ("bluetooth", 31, RAW, 1),
        ("can", 29, RAW, 1), ("tipc", 30, PACKET, 0), ("rds", 21, 5, 0), ("key", 15, RAW, 2),
        ("xdp", 44, RAW, 0), ("smc", 43, STREAM, 0), ("qipcrtr", 42, PACKET, 0), ("kcm", 41, PACKET, 0),
        ("nothing", 0, STREAM, 0), ("unknown", 99, STREAM, 0),
    ]},
    netlink={name: family(16, RAW, number) for name, number in [
        ("sock_diag", 4), ("xfrm", 6), ("audit", 9), ("netfilter", 12), ("uevent", 15), ("generic", 16), ("crypto", 21),
    ]},
    quic=[udp("web.test", 443), udp("93.184.216.34", 443), udp("2606:2800:220::34", 443, family=SIX)],
    high=[udp("web.test", 9000), udp("93.184.216.34", 9000)],
)
# The number of a family is cut to what a kernel reads of it.
import ctypes

libc = ctypes.CDLL(None, use_errno=True)


def wide(number):
    made = libc.syscall(ctypes.c_long(41), ctypes.c_long(number), ctypes.c_long(1), ctypes.c_long(0))
    return "made" if made >= 0 else ctypes.get_errno()


if os.uname().machine == "x86_64":
    show(wide=[wide(40 | 1 << 32), wide(17 | 1 << 40)])
finish()
