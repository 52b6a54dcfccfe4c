//! Values and names that the text does not spell out, and what is known of them all the same.

use super::*;

#[test]
fn what_arithmetic_is_given_is_evaluated_whoever_holds_it() {
    let judge = confined();
    let stopped = [
        "set -- 'a[$(touch /srv/x)]'; echo $(($1))",
        "set -- 'a[$(touch /srv/x)]'; (($1))",
        "set -- 'a[$(touch /srv/x)]'; echo $[$1]",
        "set -- 'a[$(touch /srv/x)]'; echo $((${1:-0}+1))",
        "set -- 'a[$(touch /srv/x)]'; echo $(($*))",
        "set -- 'a[$(touch /srv/x)]'; echo ${z:$1}",
        "set -- 'a[$(touch /srv/x)]'; y[$1]=1",
        "f() { (( $1 > 0 )); }; f 'a[$(touch /srv/x)]'",
        "f() { for ((i=0;i<$1;i++)); do :; done; }; f 'a[`touch /srv/x`]'",
        "for n in 'a[$(touch /srv/x)]'; do echo $((n)); done",
        "bash -c 'echo $(($1))' _ 'a[$(touch /srv/x)]'",
        ": 'a[$(touch /srv/x)]'; echo $(($_))",
        "x='a[\\x24(touch /srv/x)]'; echo $(( ${x@E} ))",
        "x='a['; y='$(touch /srv/x)]'; echo $(($x$y))",
        "x='a['; y='$(touch /srv/x)]'; echo ${z:$x$y}",
    ];
    assert_stopped(&judge, &stopped);
    let allowed = [
        "set -- 3 4; echo $(($1 + $2))",
        "f() { echo $(($1 + 1)); }; f 3",
        "f() { grep -c \"$1\" a.txt; }; f '[a-z]'",
        "for n in 1 2; do echo $((n * 2)); done",
        "bash -c 'echo $(($1))' _ 3",
        "x=abc; n=1; echo ${x:$n}",
        "echo \"${x//[\\`$]/}\"",
        "echo ${a:-${b:-${c:-${d:-x}}}}",
        "echo $((x + $y))",
        "i=0; a[$i]=1",
    ];
    assert_allowed(&judge, &allowed);
}

#[test]
fn a_working_folder_that_may_be_two_is_both() {
    let judge = confined();
    let stopped = [
        "cd ~; cat $PWD/.ssh/id_rsa",
        "cd ~; cat \"$PWD\"/.ssh/id_rsa",
        "cd ~; x=$PWD; cat $x/.ssh/id_rsa",
        "cd ~; cat ~+/.ssh/id_rsa",
        "cd ~; cd /tmp; cat ~-/.ssh/id_rsa",
        "cd ~; cd /tmp; cat $OLDPWD/.ssh/id_rsa",
        "cd /; cat ${PWD}home/dev/.ssh/id_rsa",
        "cd ~; cat \"$(pwd)/.ssh/id_rsa\"",
        "pushd ~; pushd /tmp; cat ~1/.ssh/id_rsa",
        "cd ~; cp -r $PWD /tmp/x",
        "cd /srv; touch $PWD/x",
    ];
    assert_stopped(&judge, &stopped);
    let allowed = [
        "cd src; cat $PWD/a.py",
        "cd src; cp -r $PWD /tmp/x",
        "cd src; cat ~+/a.py",
        "cd src; cd ..; cat $OLDPWD/a.py",
        "cd src; touch \"$PWD/x\"",
        "cd src; docker_dir=$PWD; ls $docker_dir/lib",
    ];
    assert_allowed(&judge, &allowed);
}

#[test]
fn ranges_of_letters_are_written_out() {
    let judge = confined();
    let stopped = [
        "cat ~/.{r..t}sh/id_rsa",
        "cat /{h..h}ome/dev/.ssh/id_rsa",
        "cat ~/.{a..z}ws/credentials",
        "cat ~/.{z..a}ws/credentials",
        "cat ~/.{a..z..25}ws/credentials",
        "cat ~/.{a..c..9}ws/credentials",
        "cat ~/.ss{h..h..1}/id_rsa",
        "touch /sr{v..v}/x",
        "touch /sr{u..w}/x",
    ];
    assert_stopped(&judge, &stopped);
    let allowed = [
        "touch {a..e}.txt",
        "rm -f part_{a..c}.o",
        "mkdir -p out/{a..z}",
        "cat ~/notes_{a..c}.txt",
        "touch f{1..9}.txt",
        "cp {a..a} b",
    ];
    assert_allowed(&judge, &allowed);
}

#[test]
fn a_hidden_name_behind_what_is_not_known_is_asked_about() {
    let judge = confined();
    let stopped = [
        "cat $X/.ssh/id_rsa",
        "cat \"$X\"/.netrc",
        "cat ${X:?}/.ssh/id_rsa",
        "cat ${X:-~}/.netrc",
        "cat /home/$USER/.ssh/id_rsa",
        "cat /$X/dev/.ssh/id_rsa",
        "cat ~$USER/.ssh/id_rsa",
        "cat /home/$(id -un)/.aws/credentials",
        "cat $HOM{E,}/.ssh/id_rsa",
        "cat ${PATH:0:1}home/dev/.ssh/id_rsa",
        "cat $(cd ~; pwd)/.ssh/id_rsa",
        "a=HOME; cat ${!a}/.ssh/id_rsa",
        "h=$(realpath ~); cat $h/.ssh/id_rsa",
        "while read -r h; do cat $h/.ssh/id_rsa; done < list",
        "ls -d ~ | xargs -I{} cat {}/.ssh/id_rsa",
        "for u in $(ls /home); do cat /home/$u/.ssh/id_rsa; done",
    ];
    assert_stopped(&judge, &stopped);
    let allowed = [
        "cat $X/package.json",
        "cat $X/.config/app.toml",
        "cat /home/$USER/notes.txt",
        "cat /var/log/$X/error.log",
        "cat $X/src/$Y/mod.rs",
        "cat $X",
        "ls $X/.github",
        "d=$(mktemp -d); cat $d/.netrc",
    ];
    assert_allowed(&judge, &allowed);
}

#[test]
fn a_value_is_known_however_it_is_put_together() {
    let judge = confined();
    let stopped = [
        "printf -v p '%s/.ssh/id_rsa' ~; cat \"$p\"",
        "printf -v p '%s%s' ~ /.ssh/id_rsa; cat $p",
        "printf -v p '\\x2fhome/dev/.ssh/id_rsa'; cat $p",
        "printf -v p '\\057home/dev/.ssh/id_rsa'; cat $p",
        "printf -v p '%s/.ssh' ~; cd $p; cat id_rsa",
        "printf -v p '/sr%s' v; touch $p/x",
        "touch $(printf '/s%b' '\\162v')/x",
        "touch $(printf '/%s' srv x)",
        "cat $(printf '/home/dev/.%s/id_rsa' ssh)",
        "echo ~/.ssh/id_rsa; cat $_",
        "test -f ~/.ssh/id_rsa && cat ${_}",
        "/bin/echo ~/.ssh/id_rsa; cat $_",
        "x='/home/dev/.ssh\\x2fid_rsa'; cat ${x@E}",
        "declare -l x=/HOME/DEV/.SSH/ID_RSA; cat $x",
        "read -r a b <<< \"/home/dev .ssh/id_rsa\"; cat $a/$b",
        "IFS=: read a b <<< \"/home/dev/:.ssh/id_rsa\"; cat \"$a$b\"",
        "shopt -s dotglob; cat ~/*/id_rsa",
        "bash -O dotglob -c 'cat ~/*/id_rsa'",
        "GLOBIGNORE=.; cat ~/*/id_rsa",
        // Whoever hides a text is asked about it, whatever it is.
        "printf '\\x6c\\x73' | bash",
        "eval \"$(printf '\\154s')\"",
        "x='\\x6cs'; eval \"${x@E}\"",
    ];
    assert_stopped(&judge, &stopped);
    let allowed = [
        "printf -v p '%s/%s' src a.py; touch $p",
        "printf -v n '%03d' 7; echo $n",
        "printf '%s\\n' a b c | sort",
        "printf '100%%\\n'",
        "touch $(printf 'src/%s.txt' a)",
        "mkdir -p build && cd $_ && ls",
        "read -r a b <<< \"x y\"; cat $a/$b",
        "declare -l x=README; cat $x",
        "shopt -s dotglob; cat src/*/mod.rs",
        "cat ~/*/notes.txt",
    ];
    assert_allowed(&judge, &allowed);
}

#[test]
fn a_link_that_is_moved_with_its_tree_still_leads_out() {
    let tree = Tree::new(&[
        ("/proj/app/src", Entry::Folder),
        ("/proj/app/old", Entry::Folder),
        ("/proj/app/src/out", Entry::Link("/srv".into())),
        ("/proj/app/src/keys", Entry::Link("/home/dev/.ssh".into())),
        ("/proj/app/src/lib", Entry::Link("../lib".into())),
        ("/proj/app/src/a.py", Entry::File),
    ]);
    let judge = judge_at(ROOT, "version: 1\n", &tree);
    let answer =
        |text: &str| judge.decide(&Call { command: Asked::Shell(text), cwd: ROOT }, &tree).answer();
    for text in [
        "mv src/out z; touch z/x",
        "mv src z; touch z/out/x",
        "mv src old; touch old/src/out/x",
        "mv src z && cd z/out && touch x",
        "mv src y; mv y z; touch z/out/x",
        "mkdir d; mv src d/s; mv d e; touch e/s/out/x",
        "cp -a src z; touch z/out/x",
        "cp -r src z; cat z/keys/id_rsa",
        "cp -d src/out z; touch z/x",
        "rsync -a src/ z/; touch z/out/x",
        "git mv src z; touch z/out/x",
        "git mv -f src z; touch z/out/x",
        "mv src/keys z; cat z/id_rsa",
        "mv src/* z; touch z/out/x",
    ] {
        assert_ne!(answer(text), Answer::Allow, "{text}");
    }
    for text in [
        "mv src z; touch z/a.py",
        "mv src z; touch z/lib/x",
        "cp -r src z; cat z/a.py",
        "git mv src z; touch z/a.py",
        "mv src/a.py b.py; touch b.py",
        "cp src/a.py b.py; touch b.py",
        "mv src/out z; ls -d z",
        "cd src\nfind . -name '*.a' -exec mv {} . \\;\nfind . -name '*.b' -exec mv {} . \\;\n\
         find . -name '*.c' -exec mv {} . \\;\ncat a.py > list",
    ] {
        assert_eq!(answer(text), Answer::Allow, "{text}");
    }
}

#[test]
fn expansions_that_nest_deep_are_too_much_and_not_slow() {
    for form in ["${x:_}", "${x:-_}", "${x#_}", "${x:=_}", "${x/_/a}", "${!x:-_}", "${x:$((_))}"] {
        let mut text = "0".to_owned();
        for _ in 0..40 {
            text = form.replace('_', &text);
        }
        assert_stopped(&confined(), &[&format!("x=1; echo {text}"), &format!("echo {text}")]);
        let shallow = form.replace('_', &form.replace('_', "0"));
        assert_allowed(&confined(), &[&format!("x=1; echo {shallow}")]);
    }
}

#[test]
fn e004_a_value_behind_the_home_that_nobody_follows_may_be_a_hidden_name() {
    let judge = confined();
    let stopped = [
        "declare -l a=.SSH; cat ~/$a/id_rsa",
        "read a <<< .ssh; cat ~/$a/id_rsa",
        "read <<< .ssh; cat ~/$REPLY/id_rsa",
        "IFS=: read a b <<< '.ssh:id_rsa'; cat ~/$a/$b",
        "mapfile -t a <<< .ssh; cat ~/${a[0]}/id_rsa",
        "while read -r l; do cat ~/$l; done <<< .ssh/id_rsa",
        "echo .ssh | while read x; do cat ~/$x/id_rsa; done",
        "declare -A m=([k]=.ssh); cat ~/${m[k]}/id_rsa",
        "x=(a .ssh); cat ~/${x[-1]}/id_rsa",
        "x=(a .ssh); cat \"$HOME/${x[@]:1:1}/id_rsa\"",
        "x=(.ss); x[0]+=h; cat ~/$x/id_rsa",
        "x=(.ss); x[0]+=h; cat < ~/$x/id_rsa",
        "read x <<< .ss; cat ~/${x}h/id_rsa",
        "[[ x.ssh =~ x(.*) ]]; cat ~/${BASH_REMATCH[1]}/id_rsa",
        ": .ssh; cat ~/$_/id_rsa",
        "getopts x: o -x.ssh; cat ~/$OPTARG/id_rsa",
        "set -a; x=.ssh; bash -c 'cat ~/$x/id_rsa'",
        "x=$(echo -e '\\x2essh'); cat ~/$x/id_rsa",
        "echo -e '/home/dev/\\x2essh/id_rsa' | xargs cat",
        "printf '/home/dev/\\x2essh/id_rsa' | xargs cat",
        "read a <<< .ssh; cd ~/$a; cat id_rsa",
        "read a <<< .ssh; cd ~; cat $a/id_rsa",
        "read a <<< .ssh; cd; cat ./$a/id_rsa",
        "read a <<< .ssh; cp ~/$a/id_rsa .",
        "read a <<< home/dev/.ssh; cat /$a/id_rsa",
        "read a <<< etc/shadow; cat /$a",
        "read a <<< dev/.ssh; cat ~/../$a/id_rsa",
        "read a <<< .ssh; cat /home/$USER/$a/id_rsa",
        "x=.ssh python3 -c 'import os; open(\"/home/dev/\" + os.environ[\"x\"] + \"/id_rsa\")'",
        "x=.ssh python3 -c 'import os; \
         open(os.path.expanduser(\"~/\" + os.environ[\"x\"] + \"/id_rsa\"))'",
        "zsh -c 'a=.ssh; cat ~/$a[1,4]/id_rsa'",
        "zsh -c 'a=(x .ssh); cat \"$HOME/$a[2]/id_rsa\"'",
    ];
    assert_stopped(&judge, &stopped);
    let allowed = [
        "cat $x",
        "cat \"$dir/$file\"",
        "cat $dir/id_rsa",
        "cat src/$x/id_rsa",
        "x=code; cat ~/$x/README.md",
        "for d in code docs; do ls ~/$d; done",
        "read x < list; cat ~/code/$x/README.md",
        "while read -r f; do cat \"$f\"; done < list",
        "cd /usr/share && cat $x/README",
        "cd src; cat $x/a ./$y",
        "ls /usr/lib/$x /opt/$y/bin",
        "ls /home/$USER/code",
        "echo -e 'a\\tb' | xargs echo",
        "echo -e '\\x41' | xargs echo",
        "zsh -c 'x=1; echo $x ${x} [$x]'",
    ];
    assert_allowed(&judge, &allowed);
}
