//! What tools can be made to do beside their work, tool by tool.

use super::*;

/// Function and command, a line each.
const FUNCTIONS: &str = include_str!("functions.txt");

/// What stands for each mark in them.
const MARKS: [(&str, [&str; 3]); 4] = [
    ("%c", ["/bin/sh", "sh -i", "rm -rf /etc"]),
    ("%p", ["/bin/sh", "/tmp/x", "/usr/bin/bash"]),
    ("%w", ["/etc/cron.d/x", "/usr/bin/x", "/home/dev/.bashrc"]),
    ("%r", ["/etc/shadow", "/home/dev/.ssh/id_rsa", "/root/.ssh/id_rsa"]),
];

#[test]
fn e016_no_tool_is_made_to_do_what_it_is_not_for_without_a_question() {
    let judge = confined();
    let mut allowed = Vec::new();
    let mut tools = std::collections::BTreeSet::new();
    let mut count = 0;
    let lines = FUNCTIONS.lines().filter(|line| !line.starts_with('#'));
    for line in lines {
        let (function, command) = line.split_once(' ').unwrap();
        let command = command.trim();
        tools.insert((function, command.split(' ').next()));
        for at in 0..3 {
            let marked = MARKS
                .iter()
                .fold(command.to_owned(), |text, (mark, values)| text.replace(mark, values[at]));
            count += 1;
            if of_shell(&judge, &marked).answer() == Answer::Allow {
                allowed.push(marked.clone());
            }
            if marked == command {
                break;
            }
        }
    }
    assert!(tools.len() >= 150, "{}", tools.len());
    assert!(allowed.is_empty(), "{} of {count} allowed: {allowed:#?}", allowed.len());
}

#[test]
fn e016_the_same_tools_do_what_they_are_for() {
    assert_allowed(
        &confined(),
        &[
            "find . -name '*.rs' -exec wc -l {} +",
            "tar czf out.tgz src",
            "tar xf a.tar -C out",
            "sed -n '1,5p' a",
            "awk '{ print $1 }' a",
            "rg --pretty x src",
            "fd -e rs",
            "man ls",
            "less a",
            "vim -es -c '%s/a/b/g' -c 'wq' a",
            "git -c core.quotepath=off log --oneline",
            "sort -u a",
            "rsync -a src/ out/",
            "zip -r a.zip src",
            "go test ./...",
            "make -j4 test",
            "xargs -n1 echo < a",
            "timeout 60 cargo test",
            "nohup ./server &",
            "python3 -c 'print(1)'",
            "perl -pe 's/a/b/' a",
            "openssl s_client -connect example.com:443 < /dev/null",
            "echo | openssl s_client -connect example.com:443",
            "ab -n 10 http://localhost:8080/",
            "dig +short example.com",
            "exiftool a.jpg",
            "bc -l <<< '1 + 1'",
            "last -n 5",
            "aspell list < a",
            "tcpdump -X -r a.pcap",
            "tshark -r a.pcap",
            "gcc @flags.txt a.c -o a",
            "pdflatex a.tex",
            "less /etc/hosts",
            "cat /etc/os-release",
            "ls /etc/*release",
            "ncdu --version",
        ],
    );
}
