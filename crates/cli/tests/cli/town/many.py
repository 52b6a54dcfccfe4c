"""Ten thousand connections at once: half to a listed host, half to an address that is not."""
import select
import time

from inside import *

PROCESSES, EACH = 10, 1000
address = socket.gethostbyname("web.test")


def work(write):
    ends, left = {}, {}
    poll = select.poll()
    for number in range(EACH):
        listed = number % 2 == 0
        s = socket.socket()
        s.setblocking(False)
        s.connect_ex((address if listed else "93.184.216.99", 9000))
        left[s.fileno()] = s, listed
        poll.register(s, select.POLLOUT)
    until = time.time() + 40

    def end(fd, what):
        s, listed = left.pop(fd)
        poll.unregister(fd)
        s.close()
        key = f"{'listed' if listed else 'other'} {what}"
        ends[key] = ends.get(key, 0) + 1

    while left and time.time() < until:
        for fd, event in poll.poll(1000):
            s, _ = left[fd]
            try:
                if event & select.POLLOUT and not event & (select.POLLERR | select.POLLHUP):
                    s.send(b"hello")
                    poll.modify(fd, select.POLLIN)
                    continue
                end(fd, s.recv(100).decode() or "silence")
            except OSError as e:
                end(fd, e.errno)
    for fd in list(left):
        end(fd, "late")
    os.write(write, (json.dumps(ends) + "\n").encode())
    os._exit(0)


read, write = os.pipe()
for _ in range(PROCESSES):
    if os.fork() == 0:
        work(write)
os.close(write)
for line in os.fdopen(read):
    for what, count in json.loads(line).items():
        results[what] = results.get(what, 0) + count
show(after=[get("web.test", 8080), tcp("93.184.216.99", 9000), get("other.test")])
finish()
