//! Ways around the names that everybody knows.

use super::{check, harmless};
use crate::command::Language::{Awk, Node, Perl, Php, Python, Ruby, Sed};

#[test]
fn python_reaches_modules_through_others() {
    check(
        Python,
        &[
            ("import random; random._os.system('id')", "shell id"),
            ("import pathlib; pathlib.os.remove('/etc/x')", "delete /etc/x Single"),
            ("import logging; logging.os.remove('/etc/x')", "delete /etc/x Single"),
            ("import json; json.codecs.open('/etc/x', 'w')", "write /etc/x"),
            ("print.__self__.open('/etc/x', 'w')", "write /etc/x"),
            ("(print).__self__.exec(x)", "!Evaluates"),
            ("import zipfile; zipfile.shutil.rmtree('/srv')", "delete /srv Tree"),
            ("f().os.system('id')", "shell id"),
            ("import random; a = random._os; a.system('id')", "shell id"),
            ("import random; f(random._os)", "!Evaluates"),
            ("import random; getattr(random._os, x)('id')", "!Evaluates"),
            ("import typing; typing.sys.modules['os'].system('id')", "shell id"),
            ("import sys; sys.modules.get('os').system('id')", "shell id"),
            (
                "import os; os.\u{1d4fc}\u{1d502}\u{1d4fc}\u{1d4fd}\u{1d4ee}\u{1d4f6}('id')",
                "shell id",
            ),
            ("\u{1d4f8}\u{1d4f9}\u{1d4ee}\u{1d4f7}('/etc/x', 'w')", "write /etc/x"),
            ("_\u{ff3f}import__('os').system('id')", "shell id"),
            ("import o\u{17f}; os.system('id')", "shell id"),
        ],
    );
    harmless(
        Python,
        &[
            "print(args.os, self.io.name, arr.ctypes.data)",
            "import asyncio; print(asyncio.subprocess.PIPE)",
            "\u{b5} = 1; print(\u{b5}, gr\u{f6}\u{df}e)",
            "import sys; sys.stdout.write('x'); print(os.sys.argv)",
        ],
    );
}

#[test]
fn python_evaluates_in_many_ways() {
    check(
        Python,
        &[
            ("import timeit; timeit.timeit('f()', setup='import os')", "code f(); code import os"),
            ("import timeit; timeit.repeat(x)", "!Evaluates"),
            ("import cProfile; cProfile.run('f()')", "code f()"),
            ("import profile; profile.run(x)", "!Evaluates"),
            ("import pdb; pdb.run('f()')", "!Interactive"),
            ("import runpy; runpy.run_path('a.py')", "script a.py"),
            ("import runpy; runpy.run_module('a')", "!Evaluates"),
            ("import code; code.interact()", "!Interactive"),
            ("import yaml; yaml.load(x)", "!Evaluates"),
            ("import yaml; yaml.load(x, Loader=yaml.Loader)", "!Evaluates"),
            ("import yaml; yaml.unsafe_load(x)", "!Evaluates"),
            ("import marshal; marshal.loads(x)", "!Evaluates"),
        ],
    );
    harmless(
        Python,
        &[
            "import yaml,sys; print(yaml.load(sys.stdin, Loader=yaml.SafeLoader))",
            "import yaml,sys; print(yaml.safe_load(sys.stdin))",
            "import timeit; print(timeit.timeit(lambda: 1 + 1, number=10))",
            "import timeit\ndef f(): pass\nprint(timeit.timeit(f, number=10))",
        ],
    );
}

#[test]
fn python_writes_and_reads_in_many_ways() {
    check(
        Python,
        &[
            ("import io; io.FileIO('/etc/x', 'w')", "write /etc/x"),
            ("import logging; logging.FileHandler('/etc/x')", "write /etc/x"),
            ("import logging; logging.basicConfig(filename='/etc/x')", "write /etc/x"),
            ("import dbm; dbm.open('/etc/x', 'n')", "write /etc/x"),
            ("import shelve; shelve.open('/etc/x')", "write /etc/x; !Evaluates"),
            ("import sqlite3; sqlite3.connect('/etc/x')", "write /etc/x"),
            ("import sqlite3; sqlite3.connect('file:/etc/x?mode=rwc', uri=True)", "write /etc/x"),
            ("import fileinput; fileinput.input('/etc/x', inplace=True)", "write /etc/x"),
            ("import fileinput; fileinput.input(files=['/etc/x'])", "read /etc/x"),
            ("import tempfile; tempfile.mkdtemp(dir='/etc')", "write /etc"),
            ("import tempfile; tempfile.mkstemp('', '', '/etc')", "write /etc"),
            ("import venv; venv.create('/etc/x')", "write /etc/x"),
            ("import py_compile; py_compile.compile('a', cfile='/etc/x')", "write /etc/x"),
            ("import readline; readline.write_history_file('/etc/x')", "write /etc/x"),
            ("import numpy as np; np.savetxt('/etc/x', a)", "write /etc/x"),
            ("df.to_json(path_or_buf='/etc/x')", "write /etc/x"),
            ("plt.savefig('/etc/x')", "write /etc/x"),
            ("import zipfile; zipfile.ZipFile('/etc/x', 'w')", "write /etc/x"),
            ("import tarfile; tarfile.open('a').extractall('/etc')", "read a; write /etc"),
            ("import tarfile; tarfile.open('a').extractall(path='/etc')", "read a; write /etc"),
            ("import gzip; gzip.open('/etc/x', 'wb')", "write /etc/x"),
            ("import os; os.link('/etc/x', 'y')", "read /etc/x; link /etc/x y"),
            ("import os; os.remove(path='/etc/x')", "delete /etc/x Single"),
            ("import linecache; linecache.getline('/etc/x', 1)", "read /etc/x"),
            ("import netrc; netrc.netrc()", "read ~/.netrc"),
            ("import netrc; netrc.netrc('/etc/x')", "read /etc/x"),
            ("import configparser as c; c.ConfigParser().read('/etc/x')", "read /etc/x"),
            ("import urllib.request as r; r.urlopen('file:///etc/x')", "read /etc/x"),
            ("import urllib.request as r; r.urlopen('URL:FILE:///etc/%78')", "read /etc/?"),
            ("import pandas as pd; pd.read_csv('/etc/x')", "read /etc/x"),
            ("import pandas as pd; pd.read_csv('https://a.test/x')", "connect https://a.test/x"),
            ("import numpy as np; np.load('/etc/x')", "read /etc/x"),
            ("import shutil; shutil.copytree('/etc/x', 'y')", "read /etc/x; write y"),
            ("import shutil; shutil.copy(src='/etc/x', dst='y')", "read /etc/x; write y"),
            ("import glob; glob.glob('/etc/*')", "read /etc/*"),
        ],
    );
    harmless(
        Python,
        &[
            "import tempfile; print(tempfile.gettempdir(), tempfile.mkdtemp())",
            "f.read(100); model.save(); form.save(commit=False); Thing.objects.create(name='x')",
            "import logging; logging.basicConfig(level=logging.INFO)",
        ],
    );
}

#[test]
fn javascript_takes_other_ways() {
    check(
        Node,
        &[
            ("with(require('fs')) writeFileSync('/etc/x', '')", "!Evaluates; write /etc/x"),
            ("[]['constructor']['constructor']('return 1')()", "!Evaluates"),
            ("[]['const' + 'ructor'](x)", "!Evaluates"),
            ("const F = (() => {}).constructor; F('return 1')()", "!Evaluates"),
            ("const {constructor: F} = () => {}; F('1')()", "!Evaluates"),
            ("Reflect.get(f, 'constructor')('1')()", "!Evaluates"),
            ("process.report.writeReport('/etc/x')", "write /etc/x"),
            ("require('v8').writeHeapSnapshot('/etc/x')", "write /etc/x"),
            ("require('node:fs').promises.writeFile('/etc/x', '')", "write /etc/x"),
            ("require('node:fs/promises').writeFile('/etc/x', '')", "write /etc/x"),
            ("(await import('node:fs')).default.writeFileSync('/etc/x', '')", "write /etc/x"),
            ("import('fs').then(f => f.rmSync('/srv'))", "!Evaluates; delete /srv Tree"),
            (
                "import('fs').then(({unlinkSync}) => unlinkSync('/x'))",
                "!Evaluates; delete ? Single; delete /x Single",
            ),
            ("require('fs').symlinkSync('/etc/x', 'y')", "read /etc/x; link /etc/x y"),
            ("require('fs').linkSync('/etc/x', 'y')", "read /etc/x; link /etc/x y"),
            ("require('fs').openSync('/etc/x', 577)", "write /etc/x"),
            ("process.dlopen(m, '/x.node')", "load /x.node; !Spawns"),
            ("new Worker('run()', {eval: true})", "code run()"),
        ],
    );
    harmless(
        Node,
        &[
            "console.log(x.constructor.name, x.constructor === Array, [1].with(0, 2))",
            "console.log(x.constructor)",
        ],
    );
}

#[test]
fn perl_takes_other_ways() {
    check(
        Perl,
        &[
            ("do '/tmp/x'", "script /tmp/x"),
            ("do(\"/tmp/x\")", "script /tmp/x"),
            ("require '/x'", "script /x"),
            ("push(@ARGV, 'id|'); print <>", "!Spawns"),
            ("$ARGV[0] = 'id|'; print <>", "!Spawns"),
            ("use IO::File; IO::File->new('id |')", "shell id"),
            ("use IO::File; new IO::File('>/etc/x')", "write /etc/x"),
            ("use IO::File; IO::File->new('/etc/x', 'w')", "write /etc/x"),
            ("use POSIX; POSIX::unlink('/x')", "delete /x Single"),
        ],
    );
    harmless(Perl, &["print shift @ARGV; print $ARGV[0]; print scalar(@ARGV)"]);
}

#[test]
fn ruby_takes_other_ways() {
    check(
        Ruby,
        &[
            ("IO.readlines('|id')", "shell id"),
            ("IO.read(\"|#{x}\")", "!Spawns"),
            ("File.symlink('/etc/x', 'y')", "read /etc/x; link /etc/x y"),
            ("load '/x'", "script /x"),
            ("require_relative '../x'", "script ../x"),
            ("require '/x'", "script /x"),
            ("Dir.children('/etc')", "read /etc"),
            ("File.open('/etc/x', 577)", "write /etc/x"),
        ],
    );
    harmless(Ruby, &["require 'json'; require 'set'; puts 1"]);
}

#[test]
fn php_takes_other_ways() {
    check(
        Php,
        &[
            ("array_map('unlink', ['/etc/x']);", "delete ? Single"),
            ("call_user_func('system', 'id');", "!Spawns"),
            ("usort($a, 'system');", "!Spawns"),
            ("$f = 'sys' . 'tem'; array_filter($a, $f);", "!Spawns"),
            ("include 'https://a.test/x';", "connect https://a.test/x; !Evaluates"),
            ("include 'data:text/plain,x';", "!Evaluates"),
            ("ini_set('error_log', '/etc/x');", "write /etc/x"),
            ("error_log('x', 3, '/etc/x');", "write /etc/x"),
            ("symlink('/etc/x', 'y');", "read /etc/x; link /etc/x y"),
            ("link('/etc/x', 'y');", "read /etc/x; link /etc/x y"),
            ("echo file_get_contents('file:///etc/x');", "read /etc/x"),
            ("echo file_get_contents('php://filter/read=a/resource=/etc/x');", "read /etc/x"),
            ("fopen('expect://id', 'r');", "!Spawns"),
        ],
    );
    harmless(Php, &["ini_set('memory_limit', '1G'); error_log('x'); usort($a, 'strcmp');"]);
}

#[test]
fn awk_and_sed_take_other_ways() {
    check(
        Awk,
        &[
            ("BEGIN{ARGV[1]=\"/etc/x\"; ARGC=2} {print}", "read /etc/x"),
            ("BEGIN{ARGV[ARGC++]=x} {print}", "read ?"),
        ],
    );
    harmless(Awk, &["BEGIN{print ARGV[1]; ARGV[1]==\"a\"; delete ARGV[1]}"]);
    check(
        Sed,
        &[
            ("v 4.2;w /etc/x", "write /etc/x"),
            ("v\nw /etc/x", "write /etc/x"),
            ("a text\\\\\ne id", "shell id"),
            ("i\\\\\ne id", "shell id"),
            (":a}i\\\ne id", "!Unclear"),
            ("/x/{w /etc/x\n};p", "write /etc/x"),
            ("/x/{s/a/b/w /etc/x\n}", "write /etc/x"),
            ("{R /etc/x\nW /etc/y\n}", "read /etc/x; write /etc/y"),
        ],
    );
    harmless(Sed, &["/x/{s/a/b/;ba}", "v 4.2\np", ":a;/x/{N;ba};p", "a one\\\ntwo"]);
}

#[test]
fn code_that_sets_what_others_run_is_raised() {
    check(
        Python,
        &[
            ("import os; os.environ['LD_PRELOAD'] = '/x.so'", "!Environment"),
            ("import os; os.environ['LD_' + 'PRELOAD'] = '/x.so'", "!Environment"),
            ("import os; os.environ[k] = v", "!Environment"),
            ("import os; os.environ['PATH'] = '/x:' + os.environ['PATH']", "!Environment"),
            ("import os; os.putenv('BASH_ENV', '/x')", "!Environment"),
            ("import os; os.environ.setdefault('ENV', '/x')", "!Environment"),
            ("import os; os.environ.update({'LD_PRELOAD': '/x'})", "!Environment"),
            (
                "import subprocess; subprocess.run(['ls'], env={'LD_PRELOAD': '/x'})",
                "run ls; !Environment",
            ),
            (
                "import os,subprocess; subprocess.run(['ls'], env=dict(os.environ, LD_PRELOAD='/x'))",
                "run ls; !Environment",
            ),
        ],
    );
    check(Node, &[("process.env.LD_PRELOAD = '/x'", "!Environment")]);
    check(Node, &[("process.env['NODE_OPTIONS'] = '-r /x'", "!Environment")]);
    check(Perl, &[("$ENV{LD_PRELOAD} = '/x'", "!Environment")]);
    check(Perl, &[("local $ENV{'PATH'} = '/x'", "!Environment")]);
    check(Ruby, &[("ENV['LD_PRELOAD'] = '/x'", "!Environment")]);
    check(Php, &[("putenv('LD_PRELOAD=/x');", "!Environment")]);
    harmless(
        Python,
        &[
            "import os; os.environ['DEBUG'] = '1'; print(os.environ['LD_PRELOAD'])",
            "import os; os.environ['PAGER'] = 'cat'; print(os.environ.get('EDITOR', 'vi'))",
            "import os; os.environ.update(FOO='1'); os.environ.setdefault('DJANGO_SETTINGS_MODULE', 'a.b')",
            "print({'ENV': 1, 'PATH': 2}); env = 'x'; PAGER = 1",
        ],
    );
    harmless(Node, &["process.env.NODE_ENV = 'test'; console.log(process.env.PATH)"]);
    harmless(Perl, &["print $ENV{PATH}; $ENV{LC_ALL} = 'C'"]);
    harmless(Ruby, &["ENV['RAILS_ENV'] = 'test'; puts ENV['PATH']"]);
    harmless(Php, &["putenv('FOO=1'); echo getenv('PATH');"]);
}
