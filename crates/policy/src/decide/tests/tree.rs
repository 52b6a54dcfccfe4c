//! Folders that are read as a whole, and stores of credentials.

use super::*;

#[test]
fn a_folder_that_holds_what_is_hidden_is_not_read_as_a_whole_unasked() {
    assert_shell(
        &confined(),
        &[
            ("cp -r ~ .", Answer::Ask),
            ("cp -a /home/dev/. .", Answer::Ask),
            ("tar cf x.tar ~", Answer::Ask),
            ("tar -czf x.tgz /home", Answer::Ask),
            ("zip -r x.zip ~", Answer::Ask),
            ("rsync -a ~/ x/", Answer::Ask),
            ("cp -r /etc .", Answer::Ask),
            ("grep -r '' /root", Answer::Ask),
            ("grep '' -r --include=shadow /etc", Answer::Ask),
            ("grep --recur . ~", Answer::Ask),
            ("grep --deref . ~", Answer::Ask),
            ("grep --directories=recurse . ~", Answer::Ask),
            ("grep --dir=rec . ~", Answer::Ask),
            ("grep --dir recurse . ~", Answer::Ask),
            ("grep -sd recurse . ~", Answer::Ask),
            ("cp --recur ~ x", Answer::Ask),
            ("rg -uuu PRIVATE ~", Answer::Ask),
            ("diff -r ~/.config x", Answer::Ask),
            ("cp -r / x", Answer::Ask),
            ("cp -r src dst", Answer::Allow),
            ("cp -r ~/notes .", Answer::Allow),
            ("cp ~/notes .", Answer::Allow),
            ("tar czf x.tgz src", Answer::Allow),
            ("tar xzf ~/x.tgz", Answer::Allow),
            ("grep -r foo .", Answer::Allow),
            ("grep -r foo /usr/include", Answer::Allow),
            ("grep -r foo /etc/nginx", Answer::Allow),
            ("grep foo /etc/hosts", Answer::Allow),
            ("grep -d skip foo ~/notes /etc", Answer::Allow),
            ("grep --directories=skip recurse /etc", Answer::Allow),
            ("grep --dir=recurse foo src", Answer::Allow),
            ("rg foo ~", Answer::Allow),
            ("ls -R ~", Answer::Allow),
        ],
    );
}

#[test]
fn stores_of_credentials_are_hidden() {
    for store in [
        "~/.pgpass",
        "~/.my.cnf",
        "~/.vault-token",
        "~/.config/rclone/rclone.conf",
        "~/.gem/credentials",
        "~/.terraform.d/credentials.tfrc.json",
        "~/.local/share/keyrings/login.keyring",
        "~/.config/gcloud/credentials.db",
        "~/.netrc",
        "/var/run/secrets/kubernetes.io/serviceaccount/token",
        "/run/secrets/kubernetes.io/serviceaccount/token",
        "/proc/1/environ",
    ] {
        assert_stopped(&confined(), &[&format!("cat {store}")]);
    }
    assert_stopped(&confined(), &["getent shadow", "getent shadow root", "cat /proc/*/environ"]);
    assert_allowed(
        &confined(),
        &[
            "getent passwd",
            "cat ~/.config/app/settings.toml",
            "cat ~/.gem/specs",
            "cat /proc/self/environ",
            "cat /run/app.pid",
        ],
    );
}

#[test]
fn files_that_git_obeys_are_protected() {
    for file in [".git/info/attributes", ".git/config.worktree", ".git/commondir"] {
        assert_stopped(&confined(), &[&format!("echo x > {file}"), &format!("cp a sub/{file}")]);
    }
    assert_stopped(&confined(), &["echo x > .claude/settings.local.json"]);
    assert_allowed(&confined(), &["cat .git/info/attributes", "echo x > .gitattributes"]);
}
