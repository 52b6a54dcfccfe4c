"""A name whose address changes between one question and the next."""
from inside import *

show(
    turning=[get("turning.test", 8080), get("turning.test", 8080), tunnel("turning.test:9000")],
    mixed=[get("mixed.test", 8080), socks(b"mixed.test", 9000)],
    metadata=get("metadata.test", 8080),
    again=get("metadata.test", 8080),
)
finish()
