"""Listed names that lead to places which nobody listed."""
from inside import *

for name in sys.argv[1:]:
    host = name + ".test"
    ways = [get(host), asked(f"http://{host}/"), tunnel(f"{host}:9000"), socks(host.encode(), 9000)]
    results[name] = ways
finish()
