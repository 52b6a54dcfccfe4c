//! Programs that run other programs, in every grammar they have for it.

use super::*;

#[test]
fn e009_env_runs_its_command_however_its_words_are_written() {
    let judge = confined();
    let stopped = [
        "env - rm -rf /srv/data",
        "env - A=1 rm -rf /srv/data",
        "env -- - rm -rf /srv/data",
        "env -i - rm -rf /srv/data",
        "env - sudo id",
        "env -- A=1 B=2 rm -rf /srv/data",
        "env =1 rm -rf /srv/data",
        "env -S 'rm -rf /srv/data'",
        "env -S 'rm -rf' /srv/data",
        "env -S'-u A rm -rf /srv/data'",
        "env -iS 'rm -rf /srv/data'",
        "env --split-string='rm -rf' /srv/data",
        r"env -S 'rm\_-rf\_/srv/data'",
        r"env -S 'A=1 rm\_-rf\c x' /srv/data",
        "env -S '# nothing' rm -rf /srv/data",
        "env -S 'A=1' rm -rf /srv/data",
        "env -S sudo id",
        "env -S 'sh -c' 'rm -rf /srv/data'",
        "env -S \"-S 'rm -rf /srv/data'\"",
        "env -S '${TOOL} x'",
        r"env -S 'ls \q'",
        "nice env - rm -rf /srv/data",
        "find . -exec env - rm -rf /srv/data ';'",
    ];
    assert_stopped(&judge, &stopped);
    let allowed = [
        "env",
        "env -",
        "env -- A=1",
        "env - A=1 ls -l",
        "env -i PATH=/usr/bin ls",
        "env -S 'ls -l' src",
        "env -S 'node --no-warnings' build.js",
        "env -S 'A=1 make -j4' test",
    ];
    assert_allowed(&judge, &allowed);
}

#[test]
fn e034_a_link_that_takes_no_folder_for_its_place_is_followed_too() {
    let judge = confined();
    let stopped = [
        "ln -sT .git g; echo x > g/config",
        "ln -sfT /srv a; rm -rf a/data",
        "ln -s --no-target-directory /srv a; echo x > a/b",
        "ln -sT /root/.ssh a; cat a/id_rsa",
        "ln -sT .. up; rm -rf up/other",
    ];
    assert_stopped(&judge, &stopped);
    assert_allowed(&judge, &["ln -sT src lib; echo x > lib/a", "ln -sfT build/a current"]);
}

#[test]
fn e010_launchers_that_few_know_run_what_they_are_given() {
    let judge = confined();
    let stopped = [
        "uclampset -m 5 rm -rf /srv/data",
        "coresched new -- rm -rf /srv/data",
        "systemd-inhibit --what=idle sudo id",
        "gpg-agent --daemon rm -rf /srv/data",
        "pipesz -- rm -rf /srv/data",
        "enosys -s open rm -rf /srv/data",
        "lckdo lock rm -rf /srv/data",
        "mispipe 'rm -rf /srv/data' ls",
        "parallel {} ::: 'rm -rf /srv/data'",
        "pnpm -c exec 'rm -rf /srv/data'",
        "pnpm exec -c 'rm -rf /srv/data'",
        "yarn run -T rm -rf /srv/data",
        "nx exec -- rm -rf /srv/data",
        "kitty rm -rf /srv/data",
        "cgexec -g cpu:a rm -rf /srv/data",
        "rr record rm -rf /srv/data",
        "py-spy record -o a.svg -- rm -rf /srv/data",
        "bash-static -c 'rm -rf /srv/data'",
        "lksh -c 'rm -rf /srv/data'",
        "gs -sOutputFile='%pipe%rm -rf /srv/data' a.ps",
        "bmake -V '${:!rm -rf /srv/data!}'",
        "mvn exec:exec -Dexec.executable=rm -Dexec.args='-rf /srv/data'",
    ];
    assert_stopped(&judge, &stopped);
    let allowed = [
        "uclampset -m 5 make -j4",
        "systemd-inhibit --what=sleep cargo build",
        "parallel echo {} ::: a b",
        "pnpm exec eslint src",
        "yarn run build -T",
        "nx run-many -t build",
        "nx exec -- tsc -p .",
        "py-spy record -o a.svg -- python3 bench.py",
        "gs -sDEVICE=pdfwrite -sOutputFile=out.pdf -dBATCH --version",
        "bmake -V CFLAGS",
        "mvn -q exec:java -Dexec.mainClass=a.Main -Dexec.args='x y'",
    ];
    assert_allowed(&judge, &allowed);
}

#[test]
fn e010_a_launcher_that_nobody_knows_is_judged_by_what_follows_it() {
    let judge = confined();
    let stopped = [
        "wrap-it rm -rf /srv/data",
        "wrap-it -- sudo id",
        "wrap-it -m 5 dd if=a of=/dev/sda",
        "wrap-it once chmod -R 777 /srv",
        "wrap-it git reset --hard",
    ];
    assert_stopped(&judge, &stopped);
    let allowed = [
        "wrap-it rm build/a.o",
        "wrap-it remove rm",
        "wrap-it git status",
        "echo rm -rf /srv/data",
        "printf '%s\\n' sudo id",
    ];
    assert_allowed(&judge, &allowed);
}

#[test]
fn commands_on_the_input_of_ssh_run_elsewhere() {
    assert_shell(
        &confined(),
        &[
            ("ssh h.example <<< reboot", Answer::Ask),
            ("ssh -p 22 h.example <<< reboot", Answer::Ask),
            ("echo reboot | ssh h.example", Answer::Ask),
            ("ssh -T h.example <<'E'\nreboot\nE\n", Answer::Ask),
            ("sshpass -p x ssh h.example <<< reboot", Answer::Ask),
            ("ssh h.example < a.sh", Answer::Ask),
        ],
    );
    for quiet in ["ssh -N h.example <<< x", "ssh -n h.example <<< x", "ssh h.example < /dev/null"] {
        let verdict = of_shell(&confined(), quiet);
        assert!(!codes(&verdict).contains(&"elsewhere"), "{quiet}");
    }
}

#[test]
fn every_shell_that_an_unknown_tool_is_given_is_judged_as_bash_is() {
    for shell in ["bash", "rbash", "hush", "rksh", "pwsh"] {
        let texts = [format!("frob {shell} -c 'rm -rf /etc'"), format!("frob --exec={shell}")];
        assert_stopped(&confined(), &texts.each_ref().map(String::as_str));
    }
    assert_allowed(&confined(), &["frob rbash -c 'ls src'", "frob --exec=list"]);
}
