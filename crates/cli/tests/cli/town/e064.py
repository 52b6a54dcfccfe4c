"""One host, by every way."""
from inside import *

show(
    name=get("web.test"),
    address=tcp("93.184.216.34", 9000),
    http=asked("http://web.test/"),
    connect=tunnel("web.test:9000"),
    socks=socks(b"web.test", 9000),
    socks_address=socks("93.184.216.34", 9000),
)
finish()
