//! Ways that were left open once.

use super::*;

#[test]
fn texts_that_launchers_are_given_are_read() {
    assert_stopped(
        &confined(),
        &[
            "just -c 'rm -rf /srv'",
            "lerna exec 'rm -rf /srv'",
            "composer exec 'rm -rf /srv'",
            "sops exec-env x 'rm -rf /srv'",
            "mlr -n put 'end{system(\"rm -rf ~\")}'",
            "m4 -D x='syscmd(rm -rf /srv)' y",
            "tcc -run - <<< 'int main(){system(\"rm -rf /srv\");}'",
            "nim e --eval:'exec \"rm -rf /srv\"'",
            "es -c 'rm -rf /srv'",
            "flask shell <<< 'import shutil; shutil.rmtree(\"/srv\")'",
            "php artisan tinker --execute='system(\"rm -rf ~\");'",
            "apt-get -o APT::Update::Pre-Invoke::='rm -rf ~' update",
            "unheard-of -c 'rm -rf /srv'",
        ],
    );
    assert_allowed(
        &confined(),
        &[
            "just test",
            "lerna exec 'ls src'",
            "lerna exec -- ls",
            "composer exec phpunit",
            "mlr --icsv --ojson cat a.csv",
            "flask run",
            "php artisan migrate",
            "tcc -c a.c",
            "unheard-of -c 'some words'",
            "unheard-of -c config.toml",
        ],
    );
}

#[test]
fn code_that_the_text_wrote_is_read_where_it_runs() {
    assert_stopped(
        &confined(),
        &[
            "echo 'import shutil; shutil.rmtree(\"/srv\")' > a.py; uv run a.py",
            "echo 'import shutil; shutil.rmtree(\"/srv\")' > a.py; python3 -m a",
        ],
    );
    assert_allowed(
        &confined(),
        &[
            "echo 'print(1)' > a.py; uv run a.py",
            "echo 'print(1)' > a.py; python3 -m a",
            "uv run pytest",
        ],
    );
}

#[test]
fn options_that_write_outside_are_known() {
    assert_stopped(
        &confined(),
        &[
            "python3 -m compileall /srv",
            "python3 -m lib2to3 -w /srv",
            "sort -T /srv a",
            "tox --workdir /srv/x",
            "babel src -d /srv",
            "sass a.scss /srv/x.css",
            "zig cc -o /srv/x a.c",
            "nim c -r -o:/srv/x a.nim",
            "pax -r -f x -s ',^,/srv/,'",
            "rails new /srv/x",
            "terraform -chdir=/srv apply",
            "gio trash /srv/x",
            "npx cpy a /srv",
            "npx degit a/b /srv/y",
            "npx rimraf '*'",
            "PYTEST_ADDOPTS='--basetemp=/srv' pytest",
            "convert label:@/etc/shadow x.png",
            "docker build --secret id=x,src=/home/dev/.ssh/id_rsa .",
            "head --bytes=/etc/shadow",
        ],
    );
    assert_allowed(
        &confined(),
        &[
            "python3 -m compileall src",
            "python3 -m py_compile src/a.py",
            "sort -T /tmp a",
            "tox -e py311",
            "babel src -d lib",
            "sass a.scss out/a.css",
            "zig build",
            "rails new blog",
            "terraform init",
            "terraform apply",
            "npx degit a/b y",
            "npx rimraf dist",
            "PYTEST_ADDOPTS=-q pytest",
            "convert label:@a.txt x.png",
            "head --bytes=10 a",
        ],
    );
}

#[test]
fn hosts_that_are_told_by_other_words_are_hosts() {
    let judge = judge("network: { mode: allow-list, allow: [example.com] }");
    assert_shell(
        &judge,
        &[
            ("go get other.example/x", Answer::Deny),
            ("go get -u example.com/x", Answer::Allow),
            ("go get ./...", Answer::Allow),
            ("docker pull other.example/x:1", Answer::Deny),
            ("docker pull example.com/x:1", Answer::Allow),
            ("git -c http.proxy=http://other.example fetch", Answer::Deny),
            ("git -c http.proxy=http://example.com fetch", Answer::Allow),
            ("HTTPS_PROXY=http://other.example make", Answer::Deny),
            ("export http_proxy=http://other.example", Answer::Deny),
            ("HTTPS_PROXY=http://example.com make", Answer::Allow),
        ],
    );
}

#[test]
fn a_named_file_of_ones_own_and_a_part_of_the_project_may_go() {
    assert_shell(
        &confined(),
        &[
            ("rm /tmp/x", Answer::Allow),
            ("rm -f /tmp/x", Answer::Ask),
            ("rm -f /tmp/*", Answer::Ask),
            ("rm -rf /tmp/x", Answer::Ask),
            ("find . -name '*.orig' | xargs rm", Answer::Allow),
            ("find . -name '*.orig' -print0 | xargs -0 rm -f", Answer::Allow),
            ("find . -name '*.orig' | sort | xargs rm", Answer::Allow),
            ("find . | xargs rm", Answer::Ask),
            ("find . -type f | xargs rm -f", Answer::Ask),
            ("find . -name '*' | xargs rm", Answer::Ask),
            ("find . -name '*.orig' -o -type f | xargs rm", Answer::Ask),
            ("ls | xargs rm", Answer::Ask),
            ("find . -name '*.orig' | grep old | xargs rm", Answer::Allow),
            ("grep -rl '' . | xargs rm", Answer::Ask),
            ("find . -name '*.orig' | grep -rl '' . | xargs rm", Answer::Ask),
            ("find . -name '*.orig' | cat; grep -rl '' . | xargs rm", Answer::Ask),
        ],
    );
}
