"""Real servers for real clients: starts them, runs every client behind each way, and prints what
came of it. It stands in the town (`town.py`), as root.
usage: outside.py FOLDER PALISADE
"""
import base64
import glob
import hashlib
import io
import json
import os
import pwd
import shutil
import socket
import subprocess
import sys
import tarfile
import time
import zipfile
from concurrent.futures import ThreadPoolExecutor

FOLDER, PALISADE = sys.argv[1:3]
HERE = os.path.dirname(os.path.abspath(__file__))
LISTED, ADDRESS = "web.test", "93.184.216.40"
# How connections are led, and whether variables name the proxy: then programs that know none fail.
WAYS = {"queue": ("queue", False), "redirect": ("redirect", False), "proxy": ("none", True)}
PERSONS = {"root": 0, "user": 65534}
missing, children = {}, []


def at(*names):
    path = os.path.join(FOLDER, *names)
    os.makedirs(os.path.dirname(path), exist_ok=True)
    return path


def write(text, *names, mode="w"):
    with open(at(*names), mode) as file:
        file.write(text)
    return at(*names)


def run(*words, **more):
    done = subprocess.run(words, capture_output=True, text=True, **more)
    assert done.returncode == 0, f"{words}: {done.stdout}{done.stderr}"
    return done.stdout


def start(*words, **more):
    log = open(at("log-" + os.path.basename(words[0])), "w")
    children.append(subprocess.Popen(words, stdout=log, stderr=log, **more))


def found(tool, package):
    """Finds a program, or notes the package that would have it."""
    folders = ["/usr/local/bin", "/usr/bin", "/bin", "/usr/sbin", *glob.glob("/usr/lib/postgresql/*/bin")]
    path = shutil.which(tool, path=":".join(folders))
    if path is None:
        missing[tool] = package
    return path


def certificates():
    names = f"subjectAltName=DNS:{LISTED},DNS:other.test,IP:{ADDRESS}"
    ca, key = at("ca.pem"), at("ca.key")
    run("openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes",
        "-keyout", key, "-out", ca, "-days", "2", "-subj", "/CN=test authority")
    run("openssl", "req", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes",
        "-keyout", at("web.key"), "-out", at("web.csr"), "-subj", f"/CN={LISTED}")
    write(names + "\n", "web.ext")
    run("openssl", "x509", "-req", "-in", at("web.csr"), "-CA", ca, "-CAkey", key, "-CAcreateserial",
        "-out", at("web.pem"), "-days", "2", "-extfile", at("web.ext"))


def tar(files):
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w:gz") as archive:
        for name, text in files.items():
            entry = tarfile.TarInfo(name)
            entry.size = len(text)
            archive.addfile(entry, io.BytesIO(text.encode()))
    return out.getvalue()


def pages():
    """What the web server has: a page, a repository, and one package for each index."""
    write("served", "www", "index.html")
    env = dict(os.environ, HOME=FOLDER, GIT_CONFIG_NOSYSTEM="1")
    bare, work = at("www", "repo.git"), at("work")
    run("git", "init", "-q", work, env=env)
    write("served", "work", "file")
    run("git", "-C", work, "add", "file", env=env)
    run("git", "-C", work, "-c", "user.name=t", "-c", "user.email=t@web.test", "commit", "-qm", "one", env=env)
    run("git", "clone", "-q", "--bare", work, bare, env=env)
    run("git", "-C", bare, "update-server-info", env=env)
    # pip
    wheel = at("www", "simple", "thing", "thing-1.0-py3-none-any.whl")
    with zipfile.ZipFile(wheel, "w") as archive:
        archive.writestr("thing.py", "said = 'served'\n")
        meta = "thing-1.0.dist-info/"
        archive.writestr(meta + "METADATA", "Metadata-Version: 2.1\nName: thing\nVersion: 1.0\n")
        archive.writestr(meta + "WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n")
        archive.writestr(meta + "RECORD", "")
    link = '<a href="thing-1.0-py3-none-any.whl">thing-1.0-py3-none-any.whl</a>'
    write(f"<html><body>{link}</body></html>", "www", "simple", "thing", "index.html")
    # npm
    packed = tar({"package/package.json": '{"name":"thing","version":"1.0.0"}'})
    write(packed, "www", "npm", "thing-1.0.0.tgz", mode="wb")
    sum512 = "sha512-" + base64.b64encode(hashlib.sha512(packed).digest()).decode()
    about = {"name": "thing", "version": "1.0.0", "dist": {
        "tarball": f"https://{LISTED}/npm/thing-1.0.0.tgz", "integrity": sum512}}
    about = {"name": "thing", "dist-tags": {"latest": "1.0.0"}, "versions": {"1.0.0": about}}
    write(json.dumps(about), "www", "npm", "thing")
    # cargo
    crate = tar({"thing-1.0.0/Cargo.toml": '[package]\nname = "thing"\nversion = "1.0.0"\nedition = "2021"\n',
                 "thing-1.0.0/src/lib.rs": ""})
    write(crate, "www", "crates", "thing", "1.0.0", "download", mode="wb")
    write(json.dumps({"dl": f"https://{LISTED}/crates"}), "www", "index", "config.json")
    line = {"name": "thing", "vers": "1.0.0", "deps": [], "features": {}, "yanked": False,
            "cksum": hashlib.sha256(crate).hexdigest()}
    write(json.dumps(line) + "\n", "www", "index", "th", "in", "thing")


def web():
    nginx = found("nginx", "nginx-light")
    if nginx is None:
        return
    conf = f"""user root; pid {at('nginx.pid')}; error_log {at('nginx.log')}; worker_processes 1;
    events {{ }}
    http {{ access_log off; root {at('www')}; default_type text/html;
      client_body_temp_path {at('t1')}; proxy_temp_path {at('t2')}; fastcgi_temp_path {at('t3')};
      uwsgi_temp_path {at('t4')}; scgi_temp_path {at('t5')};
      server {{ listen 80; listen [::]:80; listen 443 ssl http2; listen [::]:443 ssl http2;
        ssl_certificate {at('web.pem')}; ssl_certificate_key {at('web.key')}; }} }}"""
    start(nginx, "-c", write(conf, "nginx.conf"), "-p", FOLDER, "-g", "daemon off;")


def shell():
    sshd = found("sshd", "openssh-server")
    if sshd is None:
        return
    run("ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", at("host_key"))
    run("ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", at("id"))
    run("mount", "-t", "tmpfs", "tmpfs", "/run")
    os.mkdir("/run/sshd")
    conf = f"""Port 22\nHostKey {at('host_key')}\nPidFile {at('sshd.pid')}\nUsePAM no
AuthorizedKeysFile {at('id.pub')}\nStrictModes no\nPermitRootLogin yes\nForceCommand echo served\n"""
    start(sshd, "-D", "-e", "-f", write(conf, "sshd_config"))


def database():
    postgres = found("postgres", "postgresql")
    found("psql", "postgresql-client")
    if postgres is None:
        return
    tools = os.path.dirname(os.path.realpath(postgres))
    try:
        owner = pwd.getpwnam("postgres")
    except KeyError:
        owner = pwd.getpwuid(65534)
    folder = at("db", "data")
    os.makedirs(folder, exist_ok=True)
    shutil.chown(folder, owner.pw_uid, owner.pw_gid)
    shutil.chown(at("db"), owner.pw_uid, owner.pw_gid)
    as_owner = dict(user=owner.pw_uid, group=owner.pw_gid, extra_groups=[], cwd="/")
    run(tools + "/initdb", "-D", folder, "-U", "t", "-A", "trust", "--no-sync", "--no-locale", "-E", "UTF8", **as_owner)
    with open(folder + "/pg_hba.conf", "a") as file:
        file.write("host all all all trust\n")
    start(tools + "/postgres", "-D", folder, "-c", "listen_addresses=*", "-c", "fsync=off",
          "-c", f"unix_socket_directories={at('db')}", **as_owner)


def programs():
    """Clients that are compiled: before, and outside."""
    keep = os.environ["CLIENTS_CACHE"]

    def build(name, source, *words, env=None):
        shutil.copy(f"{HERE}/{source}", at("build", source))
        text = open(at("build", source), "rb").read()
        kept = f"{keep}/{name}-{hashlib.sha256(text).hexdigest()[:16]}"
        if not os.path.exists(kept):
            run(*words, cwd=at("build"), env=env and dict(os.environ, **env))
            shutil.copy(at("build", name), kept)
        os.makedirs(at("bin"), exist_ok=True)
        shutil.copy(kept, at("bin", name))

    os.makedirs(keep, exist_ok=True)
    if found("go", "golang-go"):
        go = {"CGO_ENABLED": "0", "GOCACHE": keep + "/go-cache", "GOFLAGS": "-mod=mod", "HOME": FOLDER}
        build("go-client", "client.go", "go", "build", "-o", "go-client", "client.go", env=go)
    rustc = os.environ["CLIENTS_RUSTC"]
    build("rust-client", "client.rs", rustc, "-O", "-o", "rust-client", "client.rs")
    if found("javac", "default-jdk-headless"):
        build("Client.class", "Client.java", "javac", "Client.java")
        run("keytool", "-importcert", "-noprompt", "-alias", "test", "-file", at("ca.pem"),
            "-keystore", at("trust.p12"), "-storetype", "PKCS12", "-storepass", "changeit")


def toolchain():
    """Shows cargo to everybody, in this mount namespace only."""
    root = os.path.dirname(os.path.dirname(os.environ["CLIENTS_RUSTC"]))
    if os.path.exists(root + "/bin/cargo"):
        run("mount", "-t", "tmpfs", "tmpfs", "/mnt")
        os.mkdir("/mnt/rust")
        run("mount", "--bind", root, "/mnt/rust")


def behind(way, person):
    """Runs all clients behind one way, as one person; returns what came of it."""
    rung, proxy = WAYS[way]
    uid = PERSONS[person]
    place = at("runs", f"{way}-{person}", "")
    os.makedirs(place + "home/.config/palisade", exist_ok=True)
    os.makedirs(place + "app")
    for name in ["inside.py"]:
        shutil.copy(f"{HERE}/{name}", place + "app")
    for name in ["ca.pem", "trust.p12", "id"]:
        if os.path.exists(at(name)):
            shutil.copy(at(name), place + "app")
    if os.path.isdir(at("bin")):
        shutil.copytree(at("bin"), place + "app/bin")
    policy = f"network: {{ mode: allow-list, allow: [{LISTED}, {ADDRESS}], proxy_env: {str(proxy).lower()} }}\n"
    with open(place + "home/.config/palisade/policy.yaml", "w") as file:
        file.write(policy)
    for folder, folders, files in os.walk(place):
        for name in folders + files + ["."]:
            os.chown(os.path.join(folder, name), uid, uid)
    env = {"HOME": place + "home", "PATH": "/usr/local/bin:/usr/bin:/bin", "PALISADE_NETWORK_RUNG": rung, "LANG": "C.UTF-8"}
    words = [PALISADE, "run", "--json", "--", "/usr/bin/python3", "inside.py", way]
    more = dict(user=uid, group=uid, extra_groups=[]) if uid else {}
    done = subprocess.run(words, cwd=place + "app", env=env, capture_output=True, text=True, **more)
    try:
        told = json.loads(done.stdout)
        return {"rung": told["network"]["rung"], "cells": json.loads(told["stdout"]), "stderr": told["stderr"]}
    except (ValueError, KeyError, TypeError):
        return {"failed": done.stdout + done.stderr}


os.chmod(FOLDER, 0o755)
try:
    found("dig", "bind9-dnsutils")
    certificates()
    pages()
    web()
    shell()
    database()
    programs()
    toolchain()
    # The servers are up when they answer.
    for port in [80, 22, 5432]:
        for _ in range(100):
            try:
                socket.create_connection(("127.0.0.1", port), 1).close()
                break
            except OSError:
                time.sleep(0.1)
    with ThreadPoolExecutor(2) as pool:
        runs = {f"{way} {person}": pool.submit(behind, way, person) for way in WAYS for person in PERSONS}
        print(json.dumps({"missing": missing, "runs": {name: run.result() for name, run in runs.items()}}))
finally:
    for child in children:
        child.terminate()
    for child in children:
        child.wait()
