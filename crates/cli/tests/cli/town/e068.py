"""Names around patterns."""
from inside import *

names = [
    "a.example.com", "b.a.example.com", "example.com", "evilexample.com", "evil-example.com",
    "example.com.evil.test", "a.example.com.evil.test", "example.org", "a.example.org", "evilexample.org",
    "bad.example.com", "a.bad.example.com", "xample.com", "com",
]
for name in names:
    results[name] = [get(name) == "served", tunnel(f"{name}:9000") == "served", socks(name.encode(), 9000) == "served"]
finish()
