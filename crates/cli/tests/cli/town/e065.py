"""Programs that do not heed the variables which name a proxy."""
import subprocess
import urllib.error
import urllib.request

from inside import *


def opened(url, **handlers):
    try:
        opener = urllib.request.build_opener(*([urllib.request.ProxyHandler({})] if handlers else []))
        return opener.open(url, timeout=6).read().decode()
    except urllib.error.HTTPError as e:
        return str(e.code)
    except OSError:
        return "no"


def ran(*words, env=None):
    done = subprocess.run(words, env=env, capture_output=True, text=True)
    return done.stdout if done.returncode == 0 else "no"


bare = {name: value for name, value in os.environ.items() if "proxy" not in name.lower()}
fetch = [sys.executable, "-c", "import urllib.request as u; print(end=u.urlopen('%s').read().decode())"]
for host in ["web.test", "other.test", "93.184.216.99"]:
    url = f"http://{host}/"
    results[host] = [
        opened(url),
        opened(url, without=True),
        ran(*fetch[:2], fetch[2] % url, env=bare),
        ran(*fetch[:2], fetch[2] % url, env={**bare, "http_proxy": "http://93.184.216.34:8080"}),
        ran(*fetch[:2], fetch[2] % url, env={**os.environ, "NO_PROXY": "*", "no_proxy": "*"}),
    ]
finish()
