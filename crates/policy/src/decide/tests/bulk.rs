//! Everything at once, and git by other routes.

use super::*;

#[test]
fn e016_the_project_is_not_emptied_without_being_named() {
    assert_stopped(
        &confined(),
        &[
            "rm -rf *",
            "rm -rf ./*",
            "rm -rf ../app/*",
            "rm -rf \"$PWD\"/*",
            "rm *",
            "rm -rf */*",
            "rm -rf $(ls -A)",
            "cd src && rm -rf ../*",
            "for x in *; do rm -rf \"$x\"; done",
            "for x in *; do > \"$x\"; done",
            "truncate -s 0 *",
            "find . -type f -delete",
            "find -type f -delete",
            "find . -mindepth 1 -delete",
            "find . ! -name keep -delete",
            "find . -name keep -o -delete",
            "find . -name '*' -delete",
            "find . -delete -name '*.o'",
            "find . -exec echo -name x ';' -delete",
            "find . -name '*t' -delete",
            "find . -exec rm {} +",
            "find . -type f -exec rm -f {} ';'",
            "find . -exec rm {} ';' -name '*.o'",
            "find . -name '*' -exec rm {} +",
            "find . ! -name keep -exec rm {} +",
            "find . -name x -o -exec rm {} +",
            "find . -name '*.o' -exec rm * ';'",
            "find . -name '*.o' -exec rm /etc/{} ';'",
            "find / -name '*.o' -exec rm {} +",
            "find . -name '*.o' -exec sh {} ';'",
            "python3 -c 'import os; [os.remove(f) for f in os.listdir(\".\")]'",
            "python3 -c 'import os\nfor f in os.listdir(\".\"):\n  os.unlink(f)'",
            "python3 -c 'import os, shutil; [shutil.rmtree(f) for f in os.listdir(\".\")]'",
            "rsync -a --delete empty/ ./",
            "python3 -m venv --clear .",
            "virtualenv --clear .",
            "vite build --emptyOutDir --outDir=.",
            "mv * /tmp",
            "gzip -r .",
            "chmod -R 000 .",
        ],
    );
    assert_allowed(
        &confined(),
        &[
            "rm -rf build/*",
            "cd build && rm -rf *",
            "rm -rf *.o",
            "rm -f a* *~",
            "find . -name '*.pyc' -delete",
            "find . -type d -empty -delete",
            "find build -type f -delete",
            "find . -name '*.pyc' -exec rm {} +",
            "find . -name '*.orig' -exec rm -f {} ';'",
            "find . -name node_modules -exec rm -rf {} +",
            "find build out -type f -exec rm {} +",
            "find . -type f -name '*.bak' -exec mv {} old/ ';'",
            "python3 -c 'import os; [os.remove(\"build/\" + f) for f in os.listdir(\"build\")]'",
            "python3 -c 'import os; [print(f) for f in os.listdir(\".\")]'",
            "find . \\( -name '*.o' -o -name '*.a' \\) -delete",
            "rsync -a --delete src/ dist/",
            "rsync -an --delete src/ ./",
            "python3 -m venv --clear .venv",
            "vite build --emptyOutDir --outDir dist",
            "truncate -s 0 app.log",
            "for x in *; do wc -l \"$x\"; done",
            "mv * sub/",
        ],
    );
}

#[test]
fn e016_git_is_judged_by_whatever_route_it_is_reached() {
    assert_stopped(
        &confined(),
        &[
            "/usr/lib/git-core/git-reset --hard",
            "git-clean -fdx",
            "git-push --force",
            "git -c alias.x=clean x -fdx",
            "git -c alias.x=reset x --hard",
            "git -c alias.a=b -c alias.b=reset a --hard",
            "git -c alias.x='!rm' x -rf /etc",
            "git -c alias.x=push x --force",
            "git -c clean.requireForce=false clean -d",
            "git -c remote.up.push=+HEAD:main push",
            "git -c remote.up.mirror=true push",
            "git rm -rf ':/'",
            "git rm -rf '*'",
            "git read-tree --reset -u HEAD~1",
            "git update-ref --stdin <<< 'delete refs/heads/main'",
            "git hash-object --stdin-paths <<< /home/dev/.ssh/id_rsa",
            "git -c commit.template=/home/dev/.ssh/id_rsa commit",
            "git -c credential.helper='store --file=/home/dev/.bashrc' fetch",
        ],
    );
    assert_allowed(
        &confined(),
        &[
            "git-status",
            "git -c alias.x=log x --oneline",
            "git -c clean.requireForce=false clean -n",
            "git rm -r old",
            "git rm --cached -r '*'",
            "git merge --abort",
            "git rebase --abort",
            "git -c user.name=x commit -m y",
        ],
    );
}

#[test]
fn e017_what_a_repository_stands_on_is_written_by_git_alone() {
    assert_stopped(
        &confined(),
        &[
            "cp -rT sub .git",
            "mv -T sub .git",
            "tar xf a.tar -C .git",
            "tar xf a.tar .git/config",
            "unzip a.zip -d .git",
            "unzip a.zip .git/config",
            "wget -P .git http://localhost/config",
            "curl --output-dir .git -O http://localhost/config",
            "cd .git; tar xf ../a.tar",
            "echo x > .git/config.worktree",
            "echo x > .git/modules/a/hooks/b",
            "echo 'gitdir: /opt' > sub/.git",
            ": > .git/HEAD",
            "echo x >> .git/refs/heads/main",
            "truncate -s 0 .git/objects/*/*",
            "echo x | tee .git/commondir",
        ],
    );
    assert_allowed(
        &confined(),
        &[
            "echo x >> .git/info/exclude",
            "echo x > .git/COMMIT_EDITMSG",
            "cat .git/HEAD",
            "mkdir -p .claude",
            "cp a.md .claude/",
            "tar xf a.tar -C out",
            "tar xf a.tar src/a",
            "tar xOf a.tar .git/config",
            "git --git-dir=.git commit -m x",
            "git gc",
        ],
    );
}

#[test]
fn e013_a_patch_on_the_input_of_git_is_read() {
    assert_stopped(
        &confined(),
        &[
            "git apply <<'E'\n--- /dev/null\n+++ b/.mcp.json\n@@ -0,0 +1 @@\n+{}\nE",
            "git am <<'E'\nFrom: a\nSubject: b\n\n---\n--- /dev/null\n+++ b/.bashrc\n@@ -0,0 +1 @@\n+x\nE",
        ],
    );
    assert_allowed(
        &confined(),
        &[
            "git apply <<'E'\n--- a/src/x\n+++ b/src/x\n@@ -1 +1 @@\n-a\n+b\nE",
            "git apply fix.patch",
            "git am --abort",
        ],
    );
}

#[test]
fn a_search_is_narrowed_only_by_what_holds_for_all_it_finds() {
    assert_stopped(
        &confined(),
        &[
            r"find . ! \( -name x \) -delete",
            r"find . -not \( -name x \) -delete",
            r"find . ! \( -name x -o -name y \) -delete",
            r"find . -type f ! \( -name x \) -delete",
            r"find . \( ! \( -name x \) \) -delete",
            r"find . \( -type f -o -name x \) -delete",
            r"find . ! \( -name x -delete \) -delete",
            r"find . -exec echo + -name x \; -delete",
            r"find . -name x , -delete",
            r"find . ! \( -name x \) -exec rm -rf {} +",
            r"find . ! \( -name x \) | xargs rm -rf",
            r"find ~ ! \( -name '*.py' \) -exec cat {} +",
            r"find / ! \( -name '*.py' \) -exec cat {} +",
            r"find ~ ! \( -name '*.py' \) | xargs cat",
            r"find / ! \( -name '*.py' -o -name '*.c' \) | xargs cat",
            r"find ~ -exec cat {} + -name '*.py'",
            r"find -L ~ -name id_rsa | xargs cat",
        ],
    );
    assert_allowed(
        &confined(),
        &[
            r"find . -not \( -path ./.git -prune \) -name '*.pyc' -delete",
            r"find . -type f \( -name '*.o' -o -name '*.a' \) -delete",
            r"find . \( -name node_modules -o -name .git \) -prune -o -name '*.pyc' -delete",
            r"find . ! ! -name '*.pyc' -delete",
            r"find . ! \( ! -name '*.pyc' \) -delete",
            r"find . -type d \( -name __pycache__ -o -name .cache \) -exec rm -rf {} +",
            r"find . ! \( -name x -o -name y \) -exec grep -n z {} +",
            r"find ~ \( -name '*.h' -o -name '*.c' \) -print | xargs grep x",
        ],
    );
}

#[test]
fn a_search_finds_names_in_another_case_and_behind_backslashes() {
    assert_stopped(
        &confined(),
        &[
            "find . -iname .GIT -exec rm -rf {} +",
            "find . -iname .Git -delete",
            "find . -ipath './.GIT/*' -delete",
            "find . -iregex './.GIT/.*' -delete",
            r"find . -name '.gi\t' -exec rm -rf {} +",
            r"find . -path './.gi\t/*' -delete",
            r"find sub -name '.gi\t' -exec rm -rf {} +",
            "find ~ -iname ID_RSA -exec cat {} +",
            "find ~ -iname '*.PEM' | xargs cat",
            r"find ~ -name 'id\_rsa' -exec cat {} +",
            r"find ~ -name 'id\_rsa' | xargs cat",
        ],
    );
    assert_allowed(
        &confined(),
        &[
            "find . -iname '*.PYC' -delete",
            "find . -iname '*.bak' -exec rm {} +",
            r"find . -name '\#*\#' -delete",
            r"find . -regex '.*\.\(pyc\|pyo\)' -delete",
            "find / -iname '*.H' -exec grep -n x {} +",
            "find . -iname 'README*' -exec cat {} +",
        ],
    );
}

#[test]
fn a_command_that_a_search_starts_beside_what_it_found_is_judged_there() {
    assert_stopped(
        &confined(),
        &[
            r"find /etc -name passwd -execdir tee passwd \;",
            r"find /etc -name passwd -execdir sh -c 'echo x > passwd' \;",
            r"find ~ -name .bashrc -execdir cat .netrc \;",
            r"find ~ -name .bashrc -execdir ./x \;",
            r"find src ~ -name .bashrc -okdir cat .netrc \;",
            r"find .git -maxdepth 1 -name hooks -execdir cp ../a.py hooks/pre-commit \;",
            r"find . -path './.git/hooks' -execdir cp ../a.py hooks/pre-commit \;",
            r"find sub -name .git -prune -exec rm -rf {} +",
        ],
    );
    assert_allowed(
        &confined(),
        &[
            "find src -name '*.py' -execdir black {} +",
            r"find . -name Makefile -execdir make clean \;",
            r"find a b c d e f -name package.json -execdir npm test \;",
            r"find src -name '*.txt' -execdir mv {} {}.bak \;",
            r"find src -name x -execdir touch y \;",
            r"find /usr/src -name '*.html' -execdir grep -H x {} \;",
            r"find . -path '*/.git' -prune -o -name '*.orig' -execdir rm {} +",
            r"find . -name .git -type d -execdir git status \;",
        ],
    );
}

#[test]
fn a_search_that_follows_links_deletes_nothing_unasked() {
    assert_stopped(
        &confined(),
        &["find -L . -name '*.pyc' -delete", "find src -follow -name '*.pyc' -delete"],
    );
    assert_allowed(
        &confined(),
        &[
            "find -L build -type l -delete",
            "find -L . -name '*.pyc'",
            "find -P . -name '*.pyc' -delete",
        ],
    );
}
