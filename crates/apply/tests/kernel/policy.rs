//! What policies say, in force: from the text of a file to what the kernel does.

use std::fs;
use std::os::unix::net::UnixListener;

use palisade_apply::{Host, Outcome, Streams};
use palisade_plan::policy::name::Anchors;
use palisade_plan::policy::policy::Document;
use palisade_plan::policy::text::Source;
use palisade_plan::policy::{Choice, Layer, Policy, Stack, Trust, resolve};
use palisade_plan::{Order, Plan, build};
use palisade_testkit::Project;

use crate::{Place, all, as_both, out, permit};

/// Resolves these files around a place, as a person's own.
fn policy(place: &Place, files: &[&str]) -> Policy {
    let (root, home) = (place.project.root(), place.home.root());
    let anchors =
        Anchors { root: root.to_str().unwrap().into(), home: Some(home.to_str().unwrap().into()) };
    let mut stack = Stack::new(&anchors).unwrap();
    for text in files {
        let source = Source::new("policy.yaml", text);
        stack.push(Layer::User, Document::parse(&source, Layer::User, &anchors).unwrap());
    }
    resolve(&stack, &Choice::default(), Trust::NotTrusted).unwrap().policy
}

/// Plans a script of the shell under a policy, with this environment outside.
fn plan(
    place: &Place,
    host: &Host,
    files: &[&str],
    outside: &[(&str, &str)],
    script: &str,
) -> Plan {
    let policy = policy(place, files);
    let argv = ["/bin/sh", "-c", script].map(str::to_owned);
    let mut outside: Vec<(String, String)> =
        outside.iter().map(|(name, value)| ((*name).into(), (*value).into())).collect();
    outside.push(("HOME".into(), place.home.root().to_str().unwrap().into()));
    outside.push(("PATH".into(), "/usr/bin:/bin".into()));
    let (root, home) = (place.project.root(), place.home.root());
    let order = Order::new(&policy, root, root, Some(home), &argv, &outside);
    build(&permit(), &order, &host.facts(&order.questions())).unwrap()
}

fn run(place: &Place, files: &[&str], script: &str) -> Outcome {
    let host = Host::probe();
    let plan = plan(place, &host, files, &[], script);
    host.start(&plan, Streams::default()).unwrap().wait().unwrap()
}

#[test]
fn a195_without_any_file_the_built_in_default_is_in_force() {
    as_both("policy::a195_without_any_file_the_built_in_default_is_in_force", || {
        let place = Place::new();
        let outcome = run(
            &place,
            &[],
            "cat inside; echo made > made; echo x > /etc/x; echo x > ~/x; cat ~/.ssh/id; \
             python3 -c 'import socket; socket.create_connection((\"192.0.2.1\", 80), 2)' 2>&1 | tail -1",
        );
        assert!(out(&outcome).starts_with("inside\n"), "{}", all(&outcome));
        assert!(out(&outcome).contains("Network is unreachable"), "{}", all(&outcome));
        assert!(!all(&outcome).contains("secret"), "{}", all(&outcome));
        assert_eq!(fs::read(place.project.path("made")).unwrap(), b"made\n");
        assert!(!place.home.path("x").exists());
    });
}

#[test]
fn a180_no_policy_file_in_a_writable_workspace_can_be_changed() {
    as_both("policy::a180_no_policy_file_in_a_writable_workspace_can_be_changed", || {
        let files = [
            ".palisade/policy.yaml",
            ".claude/settings.json",
            ".claude/settings.local.json",
            ".codex/config.toml",
            ".cursor/mcp.json",
            ".gemini/settings.json",
        ];
        let project =
            files.iter().fold(Project::new(), |made, path| made.file(path, "as it was\n"));
        let place = Place::with(project);
        let script: String = files
            .iter()
            .map(|path| {
                format!(
                    "echo x > {path}; echo x >> {path}; rm -f {path}; mv {path} y; ln -f {path} z; \
                     echo n > n && mv n {path}; sed -i s/as/is/ {path}; chmod 777 {path}; cat {path};\n"
                )
            })
            .collect();
        let outcome = run(&place, &[], &format!("{script} mv .palisade p; rm -rf .claude; true"));
        assert_eq!(out(&outcome), "as it was\n".repeat(files.len()), "{}", all(&outcome));
        for path in files {
            assert_eq!(fs::read(place.project.path(path)).unwrap(), b"as it was\n", "{path}");
        }
        // A person may, and the next run has it.
        fs::write(place.project.path(files[0]), "edited\n").unwrap();
        let outcome = run(&place, &[], &format!("cat {}; echo fine > elsewhere", files[0]));
        assert_eq!(out(&outcome), "edited\n", "{}", all(&outcome));
        assert!(place.project.path("elsewhere").exists());
    });
}

#[test]
fn a178_a_variable_that_is_handed_over_is_in_no_plan_and_no_argument() {
    as_both("policy::a178_a_variable_that_is_handed_over_is_in_no_plan_and_no_argument", || {
        let (place, host) = (Place::new(), Host::probe());
        let value = "n0t-t0-be-sh0wn";
        let outside = [("MY_TOKEN", value), ("OTHER_TOKEN", "stays outside")];
        let file = "version: 1\nenv: { pass: [MY_TOKEN, PATH, HOME] }\n";
        let script = "printf %s \"$MY_TOKEN\" | tr 0 o; echo \" [$OTHER_TOKEN]\"; \
            cat /proc/*/cmdline | tr '\\0' '\\n' | grep -c 'n[0]t-t0'; true";
        let plan = plan(&place, &host, &[file], &outside, script);
        for text in [plan.to_string(), plan.json().to_string()] {
            assert!(text.contains("MY_TOKEN") && !text.contains(value), "{text}");
        }
        let outcome = host.start(&plan, Streams::default()).unwrap().wait().unwrap();
        let mut lines = out(&outcome).lines().map(str::to_owned).collect::<Vec<_>>();
        assert_eq!(lines.remove(0), "not-to-be-shown []", "{}", all(&outcome));
        assert_eq!(lines, ["0"], "no argument of anybody: {}", all(&outcome));
    });
}

#[test]
fn a128_sockets_of_the_host_are_blocked_and_own_ones_work() {
    as_both("policy::a128_sockets_of_the_host_are_blocked_and_own_ones_work", || {
        let (place, elsewhere) = (Place::new(), Project::new());
        let paths = [
            place.project.path("host.sock"),
            place.home.path("agent.sock"),
            elsewhere.path("tmp.sock"),
        ];
        let _listening = paths.each_ref().map(|path| UnixListener::bind(path).unwrap());
        let list: Vec<_> = paths.iter().map(|path| format!("'{}'", path.display())).collect();
        fs::write(
            place.project.path("try.py"),
            format!(
                "import socket\n\
                 def t(p):\n\
                 \x20   for kind in (1, 2):\n\
                 \x20       try: socket.socket(1, kind).connect(p); print('reached', p)\n\
                 \x20       except OSError: pass\n\
                 for p in [{}]: t(p)\n\
                 s = socket.socket(1); s.bind('own.sock'); s.listen()\n\
                 socket.socket(1).connect('own.sock'); print('own')\n",
                list.join(",")
            ),
        )
        .unwrap();
        let outcome = run(&place, &[], "/usr/bin/python3 try.py");
        assert_eq!(out(&outcome), "own\n", "{}", all(&outcome));
    });
}
