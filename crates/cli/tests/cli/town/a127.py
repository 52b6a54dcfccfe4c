"""Asks and asks, and says when it was answered; a process of a session of its own asks too, and one
says only that it lives: who asks when nobody answers waits."""
import time

from inside import *

# If nobody ends them, they end themselves at last.
end = time.monotonic() + 20
if os.fork() == 0:
    while time.monotonic() < end:
        with open("alive", "a") as file:
            file.write("x")
        time.sleep(0.02)
    os._exit(0)
if os.fork() == 0:
    os.setsid()
while time.monotonic() < end:
    if get("web.test") == "served" and asked("http://web.test/") == "served":
        open("answered", "w").close()
    time.sleep(0.02)
