"""Shells at one terminal: what they show, and which keys are pressed when.

Arguments: columns and rows; whether the terminal can be opened by its name (`open` or `closed`); the
shell text; and steps: `see TEXT` waits for it, `press KEYS`, `stop SECONDS` stops all that runs there
and goes on, `wide COLUMNS` changes the terminal's width. Prints everything that was shown.
"""
import fcntl, os, pty, select, signal, struct, sys, termios, time

columns, rows, door, text, *steps = sys.argv[1:]


def resize(fd, rows, columns):
    fcntl.ioctl(fd, termios.TIOCSWINSZ, struct.pack("HHHH", int(rows), int(columns), 0, 0))


pid, fd = pty.fork()
if pid == 0:
    if door == "closed":
        os.chmod(os.ttyname(0), 0)
    resize(0, rows, columns)
    os.execv("/bin/sh", ["sh", "-c", text])

shown, ended, seen = b"", False, 0


def look(seconds):
    """Reads what is shown, for a moment."""
    global shown, ended
    due = time.monotonic() + seconds
    while not ended and time.monotonic() < due:
        if select.select([fd], [], [], 0.05)[0]:
            try:
                piece = os.read(fd, 65536)
            except OSError:
                piece = b""
            ended = not piece
            shown += piece


for step in steps:
    word, _, rest = step.partition(" ")
    if word == "see":
        due = time.monotonic() + 20
        while rest.encode() not in shown[seen:] and not ended and time.monotonic() < due:
            look(0.1)
        found = shown.find(rest.encode(), seen)
        seen = found + len(rest) if found >= 0 else seen
        # What comes before the question was looked at is thrown away.
        look(0.2)
    elif word == "press":
        os.write(fd, rest.encode())
        look(0.3)
    elif word == "stop":
        os.killpg(pid, signal.SIGSTOP)
        time.sleep(float(rest))
        os.killpg(pid, signal.SIGCONT)
    elif word == "wide":
        resize(fd, rows, rest)
        look(0.1)
look(0 if ended else 15)
sys.stdout.buffer.write(shown.replace(b"\r\n", b"\n"))
