"""Which hosts are reached, and which places are written and read."""
from inside import *


def write(path):
    try:
        with open(os.path.expanduser(path), "w") as file:
            file.write("made")
    except OSError:
        pass


def read(path):
    try:
        with open(os.path.expanduser(path)) as file:
            return file.read() == "text"
    except OSError:
        return False


hosts = ["git.example.com", "api.example.com", "evil.example.com", "packages.example.org"]
hosts += ["a.b.raw.example.com", "raw.example.com", "www.search.example.com"]
hosts += ["packages.example.org.evil.test", "evilsearch.example.com"]
for path in ["made", "~/made", "~/.cache/packages/made"]:
    write(path)
show(
    reached=[host for host in hosts if get(host) == "served"],
    proxied=[host for host in hosts if asked(f"http://{host}/") == "served"],
    address=tcp("93.184.216.34", 9000) == "served",
    read=[path for path in ["~/.ssh/id", "~/.gnupg/key", "~/Documents/x", "~/notes"] if read(path)],
)
finish()
