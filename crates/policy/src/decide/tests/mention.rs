//! Names of hidden files that stand in code.

use super::*;

#[test]
fn a_hidden_name_that_code_puts_together_is_asked_about() {
    assert_stopped(
        &confined(),
        &[
            r#"python3 -c 'h="/home/dev"; print(open(f"{h}/.ssh/id_rsa").read())'"#,
            r#"python3 -c 'import os; h=os.path.expanduser("~"); print(open(f"{h}/.ssh/id_rsa").read())'"#,
            r#"python3 -c 'p="/home/dev/.ssh"; p+="/id_rsa"; print(open(p).read())'"#,
            r#"python3 -c 'p="/home/dev/.s"; p+="sh"; p+="/id_rsa"; print(open(p).read())'"#,
            r#"php -r '$p="/home/dev/.s"; $p.="sh/id_rsa"; readfile($p);'"#,
            r#"python3 -c 'from pathlib import Path as P; p=P.home(); p=p/".ssh"; print(p.read_text())'"#,
            r#"python3 -c 'from pathlib import Path as P; print(list(P("/home/dev").glob(".ssh/*")))'"#,
            r#"python3 -c 'import toml; print(toml.load("/home/dev/.cargo/credentials.toml"))'"#,
            "python3 -c 'import contextlib as c\nwith c.chdir(\"/home/dev/.ssh\"): print(open(\"id_rsa\").read())'",
            "node -e 'fs.readFileSync(`${process.env.HOME}/.ssh/id_rsa`)'",
            r#"node -e 'fs.readFileSync(["/home/dev",".ssh","id_rsa"].join("/"))'"#,
            r#"node -e 'fs.readFileSync(new URL("file:///home/dev/.ssh/id_rsa"))'"#,
            r#"perl -e 'open F,"<","$ENV{HOME}/.ssh/id_rsa"; print <F>'"#,
            r#"perl -e 'chdir; open F,".ssh/id_rsa"; print <F>'"#,
            r##"ruby -e 'puts File.read("#{Dir.home}/.ssh/id_rsa")'"##,
            r#"ruby -e 'Dir["/home/dev/.ssh/*"].each{|f| puts File.read(f)}'"#,
            r#"php -r '$h=getenv("HOME"); echo file_get_contents("$h/.ssh/id_rsa");'"#,
            r#"php -r 'echo file_get_contents(sprintf("%s/.ssh/id_rsa","/home/dev"));'"#,
            r#"python3 -c 'a="/home/dev/.s"; print(open(f"{a}sh/id_rsa").read())'"#,
            r#"python3 -c 'a="/home/dev/.s"; b=f"{a}sh"; print(open(f"{b}/id_rsa").read())'"#,
            r#"python3 -c 'import os,sys; print(open(os.path.join(sys.argv[1],".ssh/id_rsa")).read())'"#,
            "node -e 'const a=\"/home/dev/.s\"; fs.readFileSync(`${a}sh/id_rsa`)'",
            r#"php -r '$a="/home/dev/.s"; echo file_get_contents("{$a}sh/id_rsa");'"#,
            r##"ruby -e 'a="/home/dev/.s"; puts File.read("#{a}sh/id_rsa")'"##,
            r#"perl -e '$a="/home/dev/.s"; open F,"<","${a}sh/id_rsa"; print <F>'"#,
            r#"duckdb x.db "select * from '/home/dev/.aws/credentials'""#,
            r#"awk 'BEGIN{f=ENVIRON["HOME"]"/.ssh/id_rsa"; while((getline l<f)>0)print l}'"#,
        ],
    );
}

#[test]
fn other_names_in_code_are_not_asked_about() {
    assert_allowed(
        &confined(),
        &[
            r#"python3 -c 'h="src"; print(open(f"{h}/main.py").read())'"#,
            r#"python3 -c 'p="/usr/share"; p+="/doc"; print(open(p).read())'"#,
            r#"python3 -c 'd="."; print(open(f"{d}/.gitignore").read())'"#,
            r#"python3 -c 'print(".ssh is hidden, and ~/.ssh/id_rsa too")'"#,
            r#"python3 -c 'print(open(".npmrc").read())'"#,
            "node -e 'const p=\"src\"; fs.readFileSync(`${p}/index.js`)'",
            r#"node -e 'console.log("/usr/share", require("os").homedir())'"#,
            r#"duckdb x.db "select * from 'a.csv'""#,
            r##"ruby -e 'puts File.read("#{Dir.pwd}/README.md")'"##,
            r#"awk 'BEGIN{f="src/" "a.txt"; while((getline l<f)>0)print l}'"#,
        ],
    );
}

#[test]
fn code_is_read_wherever_a_runner_takes_it() {
    assert_stopped(
        &confined(),
        &[
            "uv run - <<< 'open(\"/etc/x\",\"w\")'",
            "echo 'open(\"/etc/x\",\"w\")' | uv run -",
            "uv run --script - <<< 'open(\"/etc/x\",\"w\")'",
            "uv run -m timeit 'open(\"/etc/x\",\"w\")'",
            "yarn run node -e 'require(\"fs\").writeFileSync(\"/etc/x\",\"\")'",
            "pylint --init-hook='import os;os.system(\"touch /etc/x\")' src",
            "perl -F'/x/,system(\"touch\\x20/etc/x\")' -ane 1 README.md",
            "awk -v f=/home/dev/.ssh/id_rsa 'BEGIN{while((getline l<f)>0)print l}'",
        ],
    );
    assert_allowed(
        &confined(),
        &[
            "uv run - <<< 'print(1)'",
            "uv run -m pytest -x tests",
            "uv run pytest",
            "yarn run node -e 'console.log(1)'",
            "pylint --init-hook='import sys' src",
            "perl -F'/,/' -ane 'print $F[0]' a.csv",
            "perl -F: -lane 'print $F[0]' a.csv",
            "awk -v n=3 -v d=/usr/share '{print n}' a.txt",
        ],
    );
}
