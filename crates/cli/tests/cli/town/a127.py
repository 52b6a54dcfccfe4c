"""Asks and asks, and says when it was answered; a process of a session of its own asks too."""
import time

from inside import *

if os.fork() == 0:
    os.setsid()
# If nobody ends it, it ends itself at last.
end = time.monotonic() + 20
while time.monotonic() < end:
    if get("web.test") == "served" and asked("http://web.test/") == "served":
        open("answered", "w").close()
    with open("alive", "a") as file:
        file.write("x")
    time.sleep(0.02)
