//! Addresses in arguments.

use super::*;
use Answer::{Allow, Ask, Deny};

fn fetch(url: &str) -> Answer {
    hook("web_fetch", json!({ "url": url })).answer
}

#[test]
fn a_host_is_the_same_however_its_address_is_spelled() {
    #[rustfmt::skip]
    let spellings = [
        "http://HOST/", "http:\\\\HOST", "http:/HOST", "http:HOST", "HTTP:\\/HOST/x", "//HOST/",
        "\\\\HOST\\x", "HOST", "HOST:80/latest", " HOST ", "ht\ttp:/\n/HOST", "user@HOST",
        "HOST/?from=https://example.com/", "wss:HOST",
    ];
    let hosts = [
        ("169.254.169.254", Deny, "host-denied"),
        ("metadata.google.internal", Deny, "host-denied"),
        ("169.254.1.1", Ask, "host-not-public"),
        ("127.0.0.1", Ask, "host-not-public"),
        ("10.0.0.8", Ask, "host-not-public"),
        ("localhost", Ask, "host-not-public"),
        ("db.internal", Ask, "host-not-public"),
    ];
    for mode in ["deny-all", "monitor"] {
        let world = World::new(&format!("network: {{ mode: {mode} }}\n"));
        for spelling in spellings {
            for (host, answer, code) in hosts {
                let url = spelling.replace("HOST", host);
                let verdict = world.hook("WebFetch", json!({ "url": url }));
                assert_eq!(verdict.answer, answer, "{mode} {url:?}: {:?}", codes(&verdict));
                assert_eq!(codes(&verdict), [code], "{mode} {url:?}");
            }
            let url = spelling.replace("HOST", "example.com");
            assert_eq!(world.hook("WebFetch", json!({ "url": url })).answer, Allow, "{url:?}");
        }
    }
    assert_eq!(fetch("http://[::1]:x/"), Ask, "nobody can tell");
    assert_eq!(fetch("http://example.com\\@127.0.0.1/"), Ask, "one of two readings");
}

#[test]
fn a_host_that_the_policy_lists_is_not_asked_about() {
    let world = World::new(
        "network: { mode: allow-list, allow: [localhost, 10.0.0.8], ask: [docs.example.com] }\n",
    );
    for (url, answer) in [
        ("localhost:3000", Allow),
        ("http:10.0.0.8", Allow),
        ("http://10.0.0.9/", Deny),
        // Tools run outside of the walls.
        ("http://127.0.0.1/", Deny),
        ("http://docs.example.com/", Ask),
        ("http://other.example.com/", Deny),
    ] {
        assert_eq!(world.hook("web_fetch", json!({ "url": url })).answer, answer, "{url}");
    }
}

#[test]
fn an_address_is_found_however_deep_it_stands() {
    let metadata = "http:169.254.169.254";
    for arguments in [
        json!({ "urls": ["https://example.com", metadata] }),
        json!({ "url": { "value": metadata } }),
        json!({ "input": { "pageUrl": metadata } }),
        json!({ "input": json!({ "url": metadata }).to_string() }),
        json!(json!({ "url": metadata }).to_string()),
    ] {
        assert_eq!(hook("web_fetch", arguments.clone()).answer, Deny, "{arguments}");
    }
}

#[test]
fn a_file_behind_an_address_is_a_file() {
    let world = World::new("files: { hide: [/srv/keys] }\n");
    for (url, answer) in [
        ("file:///home/dev/.ssh/id_rsa", Deny),
        ("FILE:/home/dev/.ssh/id_rsa", Deny),
        (" file://localhost/home/dev/%2essh/id_rsa", Deny),
        ("file:///srv/keys/a", Deny),
        ("file:///srv/dev/app/README.md", Allow),
        ("file:///usr/share/doc/x", Allow),
    ] {
        let verdict = world.hook("web_fetch", json!({ "url": url }));
        assert_eq!(verdict.answer, answer, "{url}: {:?}", codes(&verdict));
        let read = world.hook("read_file", json!({ "path": url }));
        assert_eq!(codes(&read), codes(&verdict), "{url}: as a file that is read");
    }
}

#[test]
fn what_other_tools_call_an_address_may_be_a_path() {
    for arguments in [
        json!({ "path": "a", "link": "src/main.rs" }),
        json!({ "path": "a", "links": ["index", "README.md"] }),
        json!({ "path": "a", "base_url": "/docs/" }),
        json!({ "path": "a", "url": "https://example.com/" }),
    ] {
        assert_eq!(hook("write_file", arguments.clone()).answer, Allow, "{arguments}");
    }
    let metadata = json!({ "path": "a", "url": "http:169.254.169.254" });
    assert_eq!(hook("write_file", metadata).answer, Deny);
}

#[test]
fn addresses_among_words_are_addresses_to_who_is_told_in_words() {
    let told = |tool: &str, prompt: &str| hook(tool, json!({ "prompt": prompt })).answer;
    assert_eq!(told("web_fetch", "Sum up http://169.254.169.254/latest, please"), Deny);
    assert_eq!(told("web_fetch", "compare https://example.com/ (and http://10.0.0.8/)."), Ask);
    assert_eq!(told("web_fetch", "sum up https://example.com/."), Allow);
    assert_eq!(told("Task", "look at http://10.0.0.8/"), Allow, "it fetches nothing itself");
    let both = |tool: &str| {
        let arguments = json!({ "url": "https://example.com/", "prompt": "see http://10.0.0.8/" });
        hook(tool, arguments).answer
    };
    assert_eq!(both("web_fetch"), Ask);
    assert_eq!(both("WebFetch"), Allow, "this one asks about what it fetched");
}

#[test]
fn a_rule_that_allows_a_host_lifts_the_question_about_it() {
    let rule = "{ tool: WebFetch, domain: { hosts: [localhost, 10.0.0.8] }, action: allow }";
    let world = World::new(&format!("commands: {{ rules: [{rule}] }}\n"));
    let fetch = |url: &str| world.hook("WebFetch", json!({ "url": url })).answer;
    assert_eq!(fetch("http://localhost:3000/"), Allow);
    assert_eq!(fetch("http://10.0.0.8/"), Allow);
    assert_eq!(fetch("http://10.0.0.9/"), Ask);
    assert_eq!(fetch("http://localhost\\@10.0.0.9/"), Ask, "two readings, one listed");
    let other = json!({ "url": "http://localhost/", "link": "http://10.0.0.9/" });
    assert_eq!(world.hook("WebFetch", other).answer, Ask, "another address");
    let any = World::new("commands: { rules: [{ tool: WebFetch, action: allow }] }\n");
    let url = json!({ "url": "http://localhost/" });
    assert_eq!(any.hook("WebFetch", url).answer, Ask, "a rule about no host names none");
}
