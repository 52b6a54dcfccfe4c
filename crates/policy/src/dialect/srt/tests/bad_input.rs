//! Wrong types name their field, words list their kin, nothing is dropped in silence.

use super::*;

#[test]
fn wrong_types_name_the_field() {
    #[rustfmt::skip]
    let cases = [
        (r#"{"network":[]}"#,                                        "network"),
        (r#"{"network":{"allowedDomains":{}}}"#,                     "network.allowedDomains"),
        (r#"{"network":{"deniedDomains":[1]}}"#,                     "network.deniedDomains"),
        (r#"{"network":{"strictAllowlist":"yes"}}"#,                 "network.strictAllowlist"),
        (r#"{"network":{"allowLocalBinding":1}}"#,                   "network.allowLocalBinding"),
        (r#"{"network":{"httpProxyPort":0}}"#,                       "network.httpProxyPort"),
        (r#"{"network":{"socksProxyPort":65536}}"#,                  "network.socksProxyPort"),
        (r#"{"network":{"mitmProxy":{"socketPath":1}}}"#,            "network.mitmProxy.socketPath"),
        (r#"{"network":{"tlsTerminate":{"maxTunnels":0}}}"#,         "network.tlsTerminate.maxTunnels"),
        (r#"{"network":{"deniedDomainReasons":{"a.test":1}}}"#,      "network.deniedDomainReasons"),
        (r#"{"filesystem":{"denyRead":[true]}}"#,                    "filesystem.denyRead"),
        (r#"{"filesystem":{"allowWrite":"."}}"#,                     "filesystem.allowWrite"),
        (r#"{"filesystem":{"disabled":"true"}}"#,                    "filesystem.disabled"),
        (r#"{"filesystem":{"denyWrite":[{"path":1}]}}"#,             "filesystem.denyWrite.path"),
        (r#"{"filesystem":{"denyWrite":[{"path":"a","literal":1}]}}"#, "filesystem.denyWrite.literal"),
        (r#"{"credentials":{"files":[{"path":"a","mode":"hide"}]}}"#,  "credentials.files.mode"),
        (r#"{"credentials":{"sigv4":{"streaming":"allow"}}}"#,       "credentials.sigv4.streaming"),
        (r#"{"mandatoryDenySearchDepth":11}"#,                       "mandatoryDenySearchDepth"),
        (r#"{"mandatoryDenySearchDepth":2.5}"#,                      "mandatoryDenySearchDepth"),
        (r#"{"ripgrep":"rg"}"#,                                      "ripgrep"),
        (r#"{"windows":{"proxyPortRange":[0]}}"#,                    "windows.proxyPortRange"),
    ];
    for (text, field) in cases {
        let problems = problems(text);
        assert_eq!(problems.len(), 1, "{text}: {problems:?}");
        assert_eq!(problems[0].code(), "wrong-type", "{text}");
        let message = problems[0].message();
        assert!(message.starts_with(&format!("`{field}` must be ")), "{text}: {message}");
        assert!(problems[0].place().is_some(), "{text}");
    }
    let word = &problems(r#"{"credentials":{"files":[{"path":"a","mode":"hide"}]}}"#)[0];
    assert!(word.message().contains("one of deny, mask"), "{}", word.message());
}

#[test]
fn unknown_keys_are_errors_at_every_level() {
    for (text, field) in [
        (r#"{"filesytem":{}}"#, "filesytem"),
        (r#"{"$schema":"x"}"#, "$schema"),
        (r#"{"network":{"allowedDomain":[]}}"#, "network.allowedDomain"),
        (r#"{"network":{"filterRequest":"x"}}"#, "network.filterRequest"),
        (r#"{"network":{"allowManagedDomainsOnly":true}}"#, "network.allowManagedDomainsOnly"),
        (r#"{"filesystem":{"denyExec":[]}}"#, "filesystem.denyExec"),
        (r#"{"filesystem":{"denyRead":[{"path":"a","glob":true}]}}"#, "filesystem.denyRead.glob"),
        (r#"{"credentials":{"keychain":[]}}"#, "credentials.keychain"),
        (r#"{"network":{"parentProxy":{"socks":"x"}}}"#, "network.parentProxy.socks"),
    ] {
        let problems = problems(text);
        assert_eq!(problems.len(), 1, "{text}");
        assert_eq!(problems[0].message(), format!("unknown key `{field}`"), "{text}");
    }
}

#[test]
fn what_protects_and_cannot_be_done_is_an_error() {
    #[rustfmt::skip]
    let cases = [
        (r#"{"network":{"stripResponseHeaders":["Set-Cookie"]}}"#,  "cannot-protect"),
        (r#"{"network":{"deniedResolvedAddresses":["a.test"]}}"#,   "srt-address"),
        (r#"{"network":{"deniedResolvedAddresses":["10.0.0.0/8:22"]}}"#, "srt-address"),
        (r#"{"network":{"deniedResolvedAddresses":["10.0.0.1/8"]}}"#, "host-network-bits"),
        (r#"{"credentials":{"files":[{"mode":"deny"}]}}"#,          "missing-key"),
        (r#"{"filesystem":{"denyRead":[{"literal":true}]}}"#,       "missing-key"),
        (r#"{"filesystem":{"denyWrite":[{}]}}"#,                    "missing-key"),
        (r#"{"filesystem":{"allowRead":[{"literal":false}]}}"#,     "missing-key"),
        (r#"{"credentials":{"envVars":[{"mode":"deny"}]}}"#,        "missing-key"),
        (r#"{"credentials":{"envVars":[{"name":"A B"}]}}"#,         "env-name"),
        (r#"{"filesystem":{"denyRead":["/**/*.pem"]}}"#,            "path-reach"),
        (r#"{"filesystem":{"denyRead":["a/*/"]}}"#,                 "srt-slash"),
        (r#"{"filesystem":{"denyRead":["a/[!b]"]}}"#,               "srt-set"),
        (r#"{"filesystem":{"denyRead":[""]}}"#,                     "path-empty"),
        (r#"{"filesystem":{"denyRead":["a/x**y"]}}"#,               "path-stars"),
        (r#"{"filesystem":{"denyRead":["a/*/../b"]}}"#,             "path-climb"),
        (r#"{"filesystem":{"denyWrite":["~root/x"]}}"#,             "path-user"),
        (r#"{"filesystem":{"allowWrite":["src/*"]}}"#,              "wildcard-not-enforceable"),
        (r#"{"filesystem":{"allowWrite":["pages/[no]"]}}"#,         "wildcard-not-enforceable"),
    ];
    for (text, code) in cases {
        let problems = problems(text);
        let codes: Vec<&str> = problems.iter().map(Diagnostic::code).collect();
        assert_eq!(codes, [code], "{text}");
    }
}

#[test]
fn paths_are_read_as_srt_reads_them() {
    let text = r#"{"filesystem":{
        "denyRead":["~","a\\b",{"path":"~/[x]*","literal":true},"keys/**","**/*.pem","../up","/srv/v?/[ab]"],
        "allowWrite":["pages/[id]",{"path":"new/[*]","literal":true},"/**"]}}"#;
    let policy = reading(text).document.policy;
    assert_eq!(
        shown(policy.files.hide.values()),
        [
            "/home/dev",
            r"/proj/app/sub/a\\b",
            r"/home/dev/\[x]\*",
            "/proj/app/sub/keys",
            "/proj/app/sub/**/*.pem",
            "/proj/app/up",
            "/srv/v?/[ab]",
        ]
    );
    let paths: Vec<_> = policy.files.write.values().map(crate::name::Folder::path).collect();
    let expected = ["/proj/app/sub/pages/[id]", "/proj/app/sub/new/[*]", "/"];
    assert_eq!(paths, expected.map(Path::new));
}

#[test]
fn credentials_are_kept_away_and_the_strict_switches_hold() {
    let reading = reading(include_str!("../fixtures/latest-generation.json"));
    let policy = &reading.document.policy;
    let hidden = shown(policy.files.hide.values());
    assert!(hidden.contains(&"/home/dev/.tool/token".to_owned()), "{hidden:?}");
    assert!(hidden.contains(&"/home/dev/.tool/session.json".to_owned()), "{hidden:?}");
    let set: Vec<_> = policy.env.set.iter().map(|(k, v)| (k.as_str(), v.value.as_str())).collect();
    assert_eq!(set, [("TOOL_LOGIN", "")]);
    assert!(policy.network.strict.value().0);
    assert_eq!(shown(policy.network.unix.values()), ["/"]);
    let denied = shown(policy.network.deny.values());
    for host in ["*:22", "10.0.0.0/8", "[2001:db8::/32]", "192.0.2.7"] {
        assert!(denied.contains(&host.to_owned()), "{host} in {denied:?}");
    }
    let noted = notes(&reading).join("\n");
    for key in [
        "httpProxyPort",
        "mitmProxy",
        "parentProxy",
        "tlsTerminate",
        "allowMachLookup",
        "windows",
        "seccomp",
        "bwrapPath",
        "ripgrep",
        "allowGitConfig",
        "mandatoryDenySearchDepth",
        "deniedDomainReasons",
        "strictAllowlist",
        "injectHosts",
        "sigv4",
        "safeDirectories",
    ] {
        assert!(noted.contains(key), "{key} was dropped in silence:\n{noted}");
    }
}

#[test]
fn switching_the_file_rules_off_is_loud_and_for_a_project_a_matter_of_trust() {
    let text = r#"{"filesystem":{"disabled":true,"denyRead":["/k"],"denyWrite":["/p"]}}"#;
    let user = reading(text);
    assert!(notes(&user).iter().any(|note| note.starts_with("files-open:")));
    let policy = resolved(&[(Layer::User, user.document)]).policy;
    assert_eq!(shown(policy.files.write.values()), ["/"]);
    let protected = |path: &str| policy.files.protect.values().any(|p| p.matches(path.as_ref()));
    assert!(protected("/p/x") && protected("/proj/app/.git/hooks/x"));

    // A project's word counts once the project is trusted.
    let project = read_in(text, Layer::Project).unwrap().document;
    let with = |trust| {
        let mut stack = Stack::new(&anchors()).unwrap();
        stack.push(Layer::Project, project.clone());
        resolve(&stack, &Choice::default(), trust).unwrap()
    };
    let (doubted, trusted) = (with(Trust::NotTrusted), with(Trust::Trusted));
    assert!(!shown(doubted.policy.files.write.values()).contains(&"/".to_owned()));
    assert!(doubted.ignored.iter().any(|part| part.key == "files.write" && part.value == "/"));
    assert_eq!(shown(trusted.policy.files.write.values()), ["/"]);
    let hidden = |policy: &Policy| {
        policy.files.hide.values().any(|hide| hide.matches("/home/dev/.ssh".as_ref()))
    };
    assert!(hidden(&doubted.policy) && !hidden(&trusted.policy), "`denyRead` replaces our list");
}
