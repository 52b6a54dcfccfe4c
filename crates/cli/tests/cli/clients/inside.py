"""Runs real clients inside a sandbox: each asks for a host that is listed and for one that is not.
Prints what came of each: `works`, or the kind of its error."""
import json
import os
import re
import shutil
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

WAY = sys.argv[1]
HERE = os.getcwd()
PROXY = "http://127.0.0.1:1023"
BASE = dict(os.environ, SSL_CERT_FILE=HERE + "/ca.pem", NODE_EXTRA_CA_CERTS=HERE + "/ca.pem",
            REQUESTS_CA_BUNDLE=HERE + "/ca.pem", CURL_CA_BUNDLE=HERE + "/ca.pem", GIT_SSL_CAINFO=HERE + "/ca.pem",
            GIT_TERMINAL_PROMPT="0", NPM_CONFIG_CAFILE=HERE + "/ca.pem", NPM_CONFIG_FETCH_RETRIES="0",
            PIP_CERT=HERE + "/ca.pem", PIP_RETRIES="0", PIP_DISABLE_PIP_VERSION_CHECK="1",
            CARGO_HTTP_CAINFO=HERE + "/ca.pem", CARGO_NET_RETRY="0", CARGO_HOME="/tmp/cargo-home", NO_UPDATE_NOTIFIER="1")

PYTHON = "/usr/bin/python3"
URLLIB = "import sys, urllib.request as u; print(u.urlopen(sys.argv[1], timeout=20).read().decode())"
REQUESTS = "import sys, requests as r; a = r.get(sys.argv[1], timeout=20); a.raise_for_status(); print(a.text)"
AIOHTTP = """import asyncio, os, ssl, sys, aiohttp
async def main():
    trust = ssl.create_default_context(cafile=os.environ['SSL_CERT_FILE'])
    async with aiohttp.ClientSession(trust_env=True, connector=aiohttp.TCPConnector(ssl=trust)) as s:
        async with s.get(sys.argv[1]) as a:
            a.raise_for_status(); print(await a.text())
asyncio.run(main())"""
FETCH = "fetch(process.argv[1]).then(a => a.text().then(t => { console.log(a.status, t); process.exit(a.ok ? 0 : 1) }), e => { console.error(e.cause ?? e); process.exit(1) })"
# ssh has no proxy of its own; whoever wants one names a program that makes the connection.
CONNECT = """import os, socket, sys, threading
s = socket.create_connection(('127.0.0.1', 1023)); s.sendall(b'CONNECT %s:%s HTTP/1.1\\r\\n\\r\\n' % (sys.argv[1].encode(), sys.argv[2].encode()))
head = b''
while not head.endswith(b'\\r\\n\\r\\n'):
    more = s.recv(1)
    if not more: sys.exit('cut')
    head += more
if b' 200 ' not in head: sys.exit(head.decode().split('\\r\\n')[0])
def up():
    while data := os.read(0, 65536): s.sendall(data)
    s.shutdown(1)
threading.Thread(target=up, daemon=True).start()
while data := s.recv(65536): os.write(1, data)"""

# name: words, and what a success prints; HOST and FOLDER are filled in
CLIENTS = {
    "curl http": ("curl -sS -f http://HOST/", "served"),
    "curl https, HTTP/1.1": ("curl -sS -f --http1.1 https://HOST/", "served"),
    "curl https, HTTP/2": ("curl -sS -f --http2 -w %{http_version} https://HOST/", "served2"),
    "curl -6": ("curl -sS -f -6 https://HOST/", "served"),
    "curl, an address": ("curl -sS -v -f http://ADDRESS/", "served"),
    "wget": ("wget -nv -O - --tries=1 --ca-certificate=CA https://HOST/", "served"),
    "git clone": ("git clone -q https://HOST/repo.git FOLDER/clone", None),
    "ssh": ("ssh -i id -o BatchMode=yes -o StrictHostKeyChecking=no -o UserKnownHostsFile=/dev/null root@HOST", "served"),
    "psql": ("psql -h HOST -U t -d postgres -Atc select('served')", "served"),
    "dig, UDP": ("dig +time=5 +tries=1 HOST A", "status: NOERROR"),
    "dig, TCP": ("dig +tcp +time=5 +tries=1 HOST A", "status: NOERROR"),
    "Python urllib": ([PYTHON, "-c", URLLIB, "https://HOST/"], "served"),
    "Python requests": ([PYTHON, "-c", REQUESTS, "https://HOST/"], "served"),
    "Python aiohttp": ([PYTHON, "-c", AIOHTTP, "https://HOST/"], "served"),
    "Node fetch": (["node", "-e", FETCH, "https://HOST/"], "served"),
    "Go, static": ("bin/go-client https://HOST/", "served"),
    "Java HttpClient": ("java -Xshare:auto -XX:TieredStopAtLevel=1 -Djavax.net.ssl.trustStore=trust.p12 -Djavax.net.ssl.trustStorePassword=changeit -cp bin Client https://HOST/", "served"),
    "Rust std": ("bin/rust-client HOST", "served"),
    "cargo": ("/mnt/rust/bin/cargo fetch --manifest-path FOLDER/crate/Cargo.toml", None),
    "npm": ("npm install --prefix FOLDER/npm --cache FOLDER/npm-cache --no-audit --no-fund --registry https://HOST/npm/ thing", None),
    "pip": (f"{PYTHON} -m pip download -vv --no-deps -d FOLDER/pip --index-url https://HOST/simple/ thing", None),
}

# The first that is found is what came of it.
KINDS = [
    ("403", r"\b403\b|Forbidden|Tunnel connection failed|CONNECT tunnel failed|Unable to tunnel"),
    ("no such name", r"NXDOMAIN|resolve|not known|ENOTFOUND|EAI_AGAIN|no such host|UnresolvedAddress|Name or service|Temporary failure|nodename|getaddrinfo|failed to lookup|UnknownHost"),
    ("unreachable", r"No route|unreachable|EHOSTUNREACH|Permission denied \(os error 13\)|Host is unreach"),
    ("cut", r"reset|ECONNRESET|closed|EOF|Empty reply|Connection terminated|Broken pipe|\bcut\b"),
    ("no connection", r"Couldn't connect to server"),
    ("refused", r"refused|ECONNREFUSED|ConnectException"),
]


def tried(name, listed):
    words, wanted = CLIENTS[name]
    folder = f"/tmp/{re.sub('[^a-z0-9]', '-', name.lower())}-{listed}"
    os.makedirs(folder)
    host = "web.test" if listed else "other.test"
    address = "93.184.216.40" if listed else "93.184.216.41"
    env = dict(BASE)
    words = words.split() if isinstance(words, str) else words
    words = [w.replace("HOST", host).replace("ADDRESS", address).replace("FOLDER", folder).replace("CA", HERE + "/ca.pem") if w is not CONNECT and w not in (URLLIB, REQUESTS, AIOHTTP, FETCH) else w for w in words]
    if shutil.which(words[0]) is None:
        return "missing"
    if words[0] == PYTHON and words[1] == "-c":
        module = {REQUESTS: "requests", AIOHTTP: "aiohttp"}.get(words[2])
        if module and subprocess.run([PYTHON, "-c", "import " + module], capture_output=True).returncode:
            return "missing"
    if words[0] == "ssh" and WAY == "proxy":
        with open(folder + "/connect.py", "w") as file:
            file.write(CONNECT)
        words[1:1] = ["-o", f"ProxyCommand={PYTHON} {folder}/connect.py %h %p"]
    if name == "cargo":
        os.makedirs(folder + "/crate/src")
        os.makedirs(folder + "/crate/.cargo")
        with open(folder + "/crate/src/lib.rs", "w"):
            pass
        with open(folder + "/crate/Cargo.toml", "w") as file:
            file.write('[package]\nname = "own"\nversion = "0.1.0"\nedition = "2021"\n[dependencies]\nthing = { version = "1", registry = "test" }\n')
        env["CARGO_REGISTRIES_TEST_INDEX"] = f"sparse+https://{host}/index/"
        env["CARGO_HOME"] = folder + "/home"
        env["PATH"] = "/mnt/rust/bin:" + env["PATH"]
        if WAY == "proxy":
            env["CARGO_HTTP_PROXY"] = PROXY
    if name == "Java HttpClient" and WAY == "proxy":
        words[1:1] = ["-Dhttps.proxyHost=127.0.0.1", "-Dhttps.proxyPort=1023"]
    try:
        done = subprocess.run(words, env=env, capture_output=True, text=True, timeout=60, stdin=subprocess.DEVNULL)
    except subprocess.TimeoutExpired:
        return "hangs"
    said = done.stdout + done.stderr
    if done.returncode == 0 and (wanted is None or wanted in done.stdout):
        return "works"
    if listed:
        print(name, done.returncode, said[-600:], file=sys.stderr)
    for kind, pattern in KINDS:
        if re.search(pattern, said):
            return kind
    print(name, listed, done.returncode, said[-600:], file=sys.stderr)
    return f"exit {done.returncode}"


with ThreadPoolExecutor(3) as pool:
    cells = {name: [pool.submit(tried, name, listed) for listed in (True, False)] for name in CLIENTS}
    print(json.dumps({name: [cell.result() for cell in pair] for name, pair in cells.items()}))
