use super::{check, harmless};
use crate::command::Language::Php;

#[test]
fn harmless_php_passes() {
    harmless(
        Php,
        &[
            "echo PHP_VERSION;",
            "echo 'system(\"id\")', \"exec $x {$y['a']}\";",
            "<?php echo 1 ?> text with 'quotes' <?= 2 ?>",
            "$f = function($x) { return $x * 2; }; echo $f(2);",
            "// system('id')\n# exec('x')\n/* `id` */ echo 1;",
            "echo json_encode(array_map('strtoupper', ['a']));",
            "print_r(json_decode(stream_get_contents(STDIN), true)['a']);",
            "echo <<<EOT\nsystem('id') `id`\nEOT;\n",
            "$o->exec('select 1'); $db->query('x'); Foo::system('y');",
            "foreach ([1,2] as $i) { echo $i; }",
        ],
    );
}

#[test]
fn php_that_does_more_says_what() {
    check(
        Php,
        &[
            ("system('ls');", "shell ls"),
            ("SyStEm('id');", "shell id"),
            ("\\system('id');", "shell id"),
            ("<?php passthru('id');", "shell id"),
            ("echo `id`;", "shell id"),
            ("echo 'a' . shell_exec('id');", "shell id"),
            ("/* x */ exec /* y */ ('id');", "shell id"),
            ("$f = 'system'; $f('id');", "shell id"),
            ("$f = 'sys' . 'tem'; $f('id');", "shell id"),
            ("$_GET['f']('x');", "!Evaluates"),
            ("('sys' . 'tem')('id');", "!Evaluates"),
            ("'system'('id');", "shell id"),
            ("$f($x);", "!Evaluates"),
            ("array_map('system', ['id']);", "!Spawns"),
            ("call_user_func($f, 'id');", "!Evaluates"),
            ("eval($_POST['x']);", "!Evaluates"),
            ("eval('echo 1;');", "code echo 1;"),
            ("eval(base64_decode('x'));", "!Obfuscates"),
            ("assert($x);", "!Evaluates"),
            ("preg_replace('/a/e', $x, $y);", "!Evaluates"),
            ("include $x;", "!Evaluates"),
            ("require 'a.php';", "script a.php"),
            ("pcntl_exec('/bin/sh', ['-c', 'id']);", "run /bin/sh -c id"),
            ("proc_open(['ls', '-l'], [], $p);", "run ls -l"),
            ("system($x);", "!Spawns"),
            ("// ?> <?php system('id');", "!Unclear; shell id"),
            ("echo <<<E\n{$x->y(system('id'))}\nE;\n", "shell id"),
            ("echo 'a", "!Unclear"),
            ("file_put_contents('/etc/x', 'y');", "write /etc/x"),
            ("fopen('a', 'w');", "write a"),
            ("echo file_get_contents('a');", "read a"),
            ("echo file_get_contents('https://a.test/x');", "connect https://a.test/x"),
            ("echo file_get_contents('php://stdin');", ""),
            ("unlink(\"/etc/$x\");", "delete /etc/? Single"),
            ("$s = fsockopen('a.test', 9); exec('sh');", "connect a.test; shell sh; !Backdoor"),
            ("echo \"{$x->y(system('id'))}\";", "shell id"),
            ("new PDO('sqlite:/etc/x');", "write /etc/x"),
            ("new PDO('mysql:host=db');", ""),
            ("$z = new ZipArchive; $z->open('/etc/x', 1);", "write /etc/x"),
        ],
    );
}

#[test]
fn what_a_program_prints_goes_where_its_descriptors_say() {
    check(
        Php,
        &[
            ("proc_open('ls', [1 => ['file', '/etc/x', 'w']], $p);", "write /etc/x; shell ls"),
            ("proc_open('ls', [1 => ['pipe', 'w']], $p);", "shell ls"),
            ("proc_open('touch x', [], $p, '/etc');", "enter /etc; shell touch x"),
        ],
    );
}
