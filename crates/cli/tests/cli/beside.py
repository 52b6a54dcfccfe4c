"""Runs a server and, beside it, commands that ask it something, in a network of their own; prints
what each of them said, as JSON.
usage: beside.py CONFIG"""
import fcntl
import json
import os
import socket
import struct
import subprocess
import sys
import threading
import time

config = json.loads(sys.argv[1])
fcntl.ioctl(socket.socket(), 0x8914, struct.pack("16sh14x", b"lo", 1))


def lower():
    if config["uid"]:
        os.setgroups([])
        os.setgid(config["uid"])
        os.setuid(config["uid"])


def kept(server, lines):
    for line in server.stdout:
        lines.append(line)


both = {"stdout": subprocess.PIPE, "stderr": subprocess.STDOUT, "text": True, "preexec_fn": lower}
first, *others = config["commands"]
server, lines = subprocess.Popen(first, **both), []
threading.Thread(target=kept, args=(server, lines), daemon=True).start()
end = time.monotonic() + 60
while time.monotonic() < end and not any("listening" in line for line in lines):
    time.sleep(0.02)
results = []
for command in others:
    ran = subprocess.run(command, timeout=60, **both)
    results.append({"code": ran.returncode, "output": ran.stdout})
ended = server.poll()
server.kill()
server.wait()
time.sleep(0.1)
print(json.dumps([{"code": ended or 0, "output": "".join(lines)}, *results]))
