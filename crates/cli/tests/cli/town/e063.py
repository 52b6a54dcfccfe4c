"""Names with a NUL in them, by every way that a name can be said."""
from inside import *

show(plain=socks(b"web.test", 9000))
for number, name in enumerate([b"web.test\0.evil.test", b"evil.test\0.web.test", b"web.test\0", b"\0web.test", b"web\0.test"]):
    results[f"socks {number}"] = socks(name, 9000)
    results[f"connect {number}"] = tunnel(name + b":9000")
    shown = name.decode()
    results[f"http {number}"] = asked(f"http://{shown}/")
    code = udp("93.184.216.53", 53, question(name))
    results[f"dns {number}"] = ord(code[3]) & 15 if isinstance(code, str) else code
# Other letters that are none of a host's.
for letter in [b"\n", b"\r", b" ", b"\t", b"\x7f", b"\xff", b"/", b"\\", b"_*", b"?", b"#", b":"]:
    results[f"letter {letter.hex()}"] = socks(b"evil.test" + letter + b".web.test", 9000)
finish()
