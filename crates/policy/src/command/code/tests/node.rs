use super::{check, harmless};
use crate::command::Language::Node;

#[test]
fn harmless_javascript_passes() {
    harmless(
        Node,
        &[
            "require('./package.json').version",
            "console.log(process.version, process.argv[2])",
            "console.log(JSON.stringify({exec: 1, eval: 2, fork: 3}))",
            "const m = /(\\d+)\"/.exec('1\"'); console.log(m[1] / 2 / 3)",
            "JSON.parse(process.argv[1]).foo",
            "// eval('1')\n/* require('child_process') */ console.log(`a${1 + `${2}`}b`)",
            "import {a as b} from './lib.js'; console.log(b(1))",
            "const {join} = require('path'); console.log(join('a', 'b'))",
            "console.log(require('os').cpus().length)",
            "let s = ''; process.stdin.on('data', d => s += d).on('end', () => console.log(JSON.parse(s).x))",
            "const p = require(process.cwd() + '/package.json'); console.log(p.name)",
            "if (x) /'/.test(y); console.log('ok')",
            "console.log('child_process', \"eval(1)\")",
            "[3,1,2].sort((a, b) => a - b).map(x => x * 2).forEach(x => console.log(x))",
            "class A { constructor(x) { this.x = x } }; new A(1)",
            "console.log(x.constructor.name)",
            "import './setup.js'; import fs from 'fs'; const cp = require('child_process'), x = 1;",
        ],
    );
}

#[test]
fn javascript_that_starts_programs_says_which() {
    check(
        Node,
        &[
            ("require('child_process').execSync('ls')", "shell ls"),
            ("require('node:child_process').exec('ls', () => {})", "shell ls"),
            ("const cp = require('child_process'); cp.spawn('rm', ['-rf', '/x'])", "run rm -rf /x"),
            ("const {execSync: e, spawn} = require('child_process'); e('id')", "shell id"),
            ("import {exec} from 'child_process'; exec('id')", "shell id"),
            (
                "import * as c from 'node:child_process'; c.spawnSync('sh', ['-c', x])",
                "run sh -c ?",
            ),
            ("(await import('child_process')).exec('id')", "shell id"),
            ("require('child_' + 'process').exec('id')", "shell id"),
            ("require('child_process')['ex' + 'ec']('id')", "shell id"),
            ("process.mainModule.require('child_process').exec('id')", "shell id"),
            ("require('child_process').spawn('ls -l', {shell: true})", "shell ls -l"),
            ("require('child_process').exec(`rm ${x}`)", "!Spawns"),
            ("require('child_process').exec(atob('aWQ='))", "!Obfuscates"),
            ("const run = require('util').promisify(require('child_process').exec)", "!Spawns"),
            ("(require)('child_process').exec('id')", "!Evaluates"),
            ("const r = require; r('child_process').exec('id')", "!Evaluates; shell id"),
            ("import('child_process').then(c => c.exec('id'))", "!Spawns"),
            ("Reflect.get(require('child_process'), 'exec')('id')", "!Evaluates"),
            ("Object.values(require('child_process'))[3]('id')", "!Evaluates"),
            ("const {exec} = await import('child_process'); exec('id')", "shell id"),
            ("let c; c = require('child_process'); c.exec('id')", "shell id"),
            ("await $`rm -rf /x`", "shell rm -rf /x"),
            ("`${require('child_process').execSync('id')}`", "shell id"),
            ("Bun.spawn(['ls', '-l'])", "run ls -l"),
            ("new Deno.Command('ls', {args: ['-l']})", "run ls -l"),
            ("require?.('child_process')?.exec?.('id')", "shell id"),
        ],
    );
}

#[test]
fn javascript_that_evaluates_is_raised() {
    check(
        Node,
        &[
            ("eval('1+1')", "code 1+1"),
            ("eval(process.argv[1])", "!Evaluates"),
            ("\\u0065val(x)", "!Evaluates"),
            ("ev\\u{61}l(x)", "!Evaluates"),
            ("(0, eval)(x)", "!Evaluates"),
            ("globalThis['ev'+'al'](x)", "!Evaluates"),
            ("globalThis[k](x)", "!Evaluates"),
            ("new Function('return 1')()", "!Evaluates"),
            ("[].constructor.constructor('return 1')()", "!Evaluates"),
            ("process['binding']('spawn_sync')", "!Spawns"),
            ("process.binding('fs')", "!Spawns"),
            ("require('vm').runInThisContext(x)", "!Evaluates"),
            ("require(x).run()", "!Evaluates"),
            ("setTimeout('run()', 1)", "code run()"),
            ("x = {} / eval('1') / 2", "!Unclear"),
            ("'a", "!Unclear"),
            ("`a${", "!Unclear"),
        ],
    );
}

#[test]
fn javascript_names_files_and_hosts() {
    check(
        Node,
        &[
            ("require('fs').readFileSync('a', 'utf8')", "read a"),
            ("const fs = require('fs'); fs.writeFileSync('/etc/x', 'y')", "write /etc/x"),
            (
                "import fs from 'fs/promises'; await fs.rm('/srv', {recursive: true})",
                "delete /srv Tree",
            ),
            (
                "require('fs').promises.appendFile(process.env.HOME + '/.bashrc', 'x')",
                "write ~/.bashrc",
            ),
            ("const {writeFileSync: w} = require('fs'); w(`/etc/${x}`, '')", "write /etc/?"),
            ("require('fs').renameSync('a', 'b')", "delete a Single; write b"),
            ("fetch('https://a.test/x').then(r => r.text())", "connect https://a.test/x"),
            (
                "require('https').get('https://a.test', r => r.pipe(process.stdout))",
                "connect https://a.test",
            ),
            (
                "const s = require('net').connect(9, 'a.test'); require('child_process').spawn('sh', [])",
                "connect a.test; run sh; !Backdoor",
            ),
        ],
    );
}

#[test]
fn javascript_functions_called_by_their_methods_are_raised() {
    check(
        Node,
        &[
            ("require('fs').writeFileSync.apply(null, ['/etc/x', 'a'])", "!Evaluates"),
            ("require('child_process').execSync.call(null, 'id')", "!Spawns"),
            ("process.execve('/bin/sh', ['sh'])", "!Spawns"),
        ],
    );
}

#[test]
fn streams_databases_and_patterns_name_files() {
    check(
        Node,
        &[
            ("new fs.WriteStream('/etc/x')", "write /etc/x"),
            ("new fs.ReadStream('/etc/x')", "read /etc/x"),
            ("fs.glob('/a/.b*/c', (e, m) => m)", "read /a/.b*/c"),
            ("fs.globSync('.b*/c', {cwd: '/a'})", "read /a/.b*/c"),
            ("process.loadEnvFile('/etc/x')", "read /etc/x"),
            (
                "const {DatabaseSync} = require('node:sqlite'); new DatabaseSync('/etc/x')",
                "write /etc/x",
            ),
            ("require('child_process').fork('a.js', [], {execPath: 'x'})", "!Spawns"),
            ("require('child_process').fork('a.js', ['b'])", "script a.js"),
        ],
    );
    harmless(Node, &["new stream.PassThrough()", "console.log(process.report)"]);
}
