"""Names in other spellings."""
from inside import *

same = ["web.test", "WEB.Test", "web.test.", "xn--bcher-kva.test", "XN--Bcher-KVA.test"]
other = [
    "web.test..", ".web.test", "web..test", "web\u3002test", "\uff57eb.test", "web\uff0etest", "b\u00fccher.test",
    "web%2etest", "web.test%00.evil.test", "%77eb.test", "web.test@evil.test", "evil.test@web.test",
    "web.test:80@evil.test", "web.test\\evil.test", "web.test/evil.test", "web.test#evil.test",
    "web.test?evil.test", "evil.test/web.test", "web_test", "-web.test", "web.test\u200b", "web.test ",
    "xn--web-.test", "web.test.evil.test", "evilweb.test", "[web.test]", "",
]


def ways(host):
    raw = host.encode("utf-8")
    page = proxied(b"GET http://" + raw + b":8080/ HTTP/1.1\r\nHost: " + raw + b":8080\r\n\r\n")
    return [page, tunnel(raw + b":9000"), socks(raw, 9000)]


show(same={host: ways(host) for host in same}, other={host: ways(host) for host in other})
# Clients write other scripts and other dots as `xn--` and dots before they ask.
show(
    direct=[get(host, 8080) for host in same + ["web\u3002test", "\uff57eb.test"]],
    direct_other=[get(host, 8080) for host in ["web%2etest", "evilweb.test"]],
    sni=[tcp("web.test", 443, hello(name)) for name in [b"WEB.test", b"web.test.", b"web.test\0", b"web%2etest", b"web.test.evil.test"]],
)
finish()
