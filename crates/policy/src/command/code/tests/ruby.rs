use super::{check, harmless};
use crate::command::Language::Ruby;

#[test]
fn harmless_ruby_passes() {
    harmless(
        Ruby,
        &[
            "puts $_ if /x/",
            "puts 'system(\"id\")', %q(exec), :system",
            "puts \"a#{1 + 2}b #{'}'}\"",
            "require 'json'; puts JSON.parse(STDIN.read)['a']",
            "puts ARGV.map { |x| x.to_i / 2 }.sum",
            "# `id`\nputs %w[a b].join(',')",
            "x = y ? 1 : 2; puts x",
            "puts [1, 2].send(:first)",
            "puts <<~EOS\n  system('id')\nEOS\nputs 1",
            "$_.gsub!(/a\\/b/, 'c')",
            "puts RUBY_VERSION; h = {system: 1, 'a' => ?b}",
            "def system_name; 'x'; end; puts system_name",
        ],
    );
}

#[test]
fn ruby_that_does_more_says_what() {
    check(
        Ruby,
        &[
            ("system('ls')", "shell ls"),
            ("system 'rm', '-rf', '/x'", "run rm -rf /x"),
            ("exec '/bin/sh' if true", "shell /bin/sh"),
            ("puts `id`", "shell id"),
            ("puts %x(id)", "shell id"),
            ("puts <<E\n#{system('id')}\nE\n", "shell id"),
            ("puts \"#{`id`}\"", "shell id"),
            ("puts \"#{\"#{system('id')}\"}\"", "shell id"),
            ("Kernel.system('id')", "shell id"),
            ("::Kernel.exec('id')", "shell id"),
            ("Kernel.send(:system, 'id')", "!Spawns"),
            ("Object.send(x, 'id')", "!Evaluates"),
            ("method(:system).call('id')", "!Spawns"),
            ("IO.popen(['ls', '-l'])", "run ls -l"),
            ("IO.popen(%w[ls -l])", "run ls -l"),
            ("IO.popen('id')", "shell id"),
            ("open('|id')", "shell id"),
            ("IO.read('|id')", "shell id"),
            ("require 'open3'; Open3.capture2('id')", "shell id"),
            ("system(\"rm #{x}\")", "!Spawns"),
            ("eval(ARGV[0])", "!Evaluates"),
            ("x.instance_eval(y)", "!Evaluates"),
            ("x /system('id')/ 1", "!Unclear"),
            ("puts 'a", "!Unclear"),
            ("File.write('/etc/x', 'y')", "write /etc/x"),
            ("File.open('a', 'w') { |f| f << 1 }", "write a"),
            ("puts File.read('a')", "read a"),
            ("require 'fileutils'; FileUtils.rm_rf(['/a', 'b'])", "delete /a Tree; delete b Tree"),
            ("File.delete('a')", "delete a Single"),
            ("require 'open-uri'; URI.open('http://a.test')", "connect http://a.test"),
            (
                "require 'socket'; s = TCPSocket.new('a.test', 9); exec 'sh'",
                "connect a.test; shell sh; !Backdoor",
            ),
            ("require 'fiddle'; Fiddle.dlopen('x.so')", "!Spawns"),
        ],
    );
}

#[test]
fn ruby_files_are_named_by_paths_modules_and_streams() {
    check(
        Ruby,
        &[
            ("include FileUtils; rm_rf '/etc'", "delete /etc Tree"),
            ("Pathname('/etc/x').write('a')", "write /etc/x"),
            ("$stdout.reopen('/etc/x', 'w')", "write /etc/x"),
            ("ERB.new(t).result", "!Evaluates"),
            (":system.to_proc.call(self, 'id')", "!Evaluates"),
        ],
    );
    harmless(Ruby, &["include Comparable; puts 1", "$stdout.reopen($stderr)", "io.write('a')"]);
}

#[test]
fn streams_of_a_program_lead_where_its_options_say() {
    check(
        Ruby,
        &[
            ("spawn('ls', out: '/etc/x')", "write /etc/x; shell ls"),
            ("system('ls', [:out] => ['/etc/x', 'w'])", "write /etc/x; shell ls"),
            ("system('ls', '-l', :err => '/etc/x')", "write /etc/x; run ls -l"),
            ("exec({'A' => 'b'}, 'ls', 1 => '/etc/x')", "write /etc/x; shell ls"),
            ("system('cat', in: '/etc/x')", "read /etc/x; shell cat"),
            ("system('touch x', chdir: '/etc')", "enter /etc; shell touch x"),
            ("IO.popen(['ls', {err: '/etc/x'}])", "write /etc/x; run ls"),
            ("IO.popen('ls', {err: '/etc/x'})", "write /etc/x; shell ls"),
        ],
    );
    check(
        Ruby,
        &[
            ("system('make', out: File::NULL, exception: true)", "shell make"),
            ("system({'A' => '1'}, 'make', 'test')", "run make test"),
        ],
    );
}

#[test]
fn a_pattern_reads_what_it_finds() {
    check(
        Ruby,
        &[
            ("Dir.glob('/a/.b*/c')", "read /a/.b*/c"),
            ("Dir['/a/{.b,c}/d']", "read /a/{.b,c}/d; read /a/.b/d; read /a/c/d"),
            ("require 'tempfile'; Tempfile.new('a', '/etc')", "write /etc"),
        ],
    );
    harmless(Ruby, &["Dir.pwd", "Dir.exist?('a')"]);
}
