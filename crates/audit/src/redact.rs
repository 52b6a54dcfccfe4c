//! Taking secrets out of what a command line says.
//!
//! What is taken out: the value behind a name that looks secret (`--token=…`, `--password …`,
//! `API_KEY=…`, `?token=…`, in JSON, YAML, XML and forms as well), the value of a header that proves who
//! one is (`Authorization: …`, `X-Api-Key: …`, `Cookie: …`), the password behind a user (`-u me:…`), what
//! stands in front of a host, and what some programs take under a plain name (`mysql -p…`). So is what
//! looks like a secret itself: tokens of well-known services, signed tokens, private keys. Names of
//! options, headers, users and hosts stay. What a program calls a secret under a plain name, and looks
//! like nothing, cannot be seen, and stays.
//!
//! What runs stays as well: shell text is taken apart as the shell does ([`shell`]), a value never goes
//! beyond its word, and of a command or a variable in a value it is told which.

mod address;
mod name;
mod pair;
mod shape;
mod shell;
mod text;
mod tool;
mod value;
mod word;

const GONE: &str = "[redacted]";

/// Stands for what a shell puts in.
const HOLE: char = '\u{f8ff}';

/// Ways to prove who one is, as in a header.
const SCHEMES: [&str; 5] = ["Bearer", "Basic", "token", "Digest", "Negotiate"];

/// Options that take a user with a password.
const USER: [&str; 6] = ["--user", "--proxy-user", "--auth", "--proxy-auth", "-u", "-U"];

const QUOTES: [char; 3] = ['\'', '"', '`'];

/// What a text is a part of.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum Within {
    /// Nothing that runs: a word, a document, a message.
    Data,
    /// A word that is a header.
    Header,
    /// Shell text.
    Shell,
}

/// Returns the words of a command, with secrets taken out.
pub fn redact(argv: &[String]) -> Vec<String> {
    word::redact(argv, 0)
}

/// Returns shell text, with secrets taken out. What runs, and in which order, stays.
pub fn redact_shell(source: &str) -> String {
    shell::redact(source, 0)
}

/// Returns a text, with secrets taken out. Its blanks stay as they are.
pub fn redact_text(source: &str) -> String {
    text::redact(source, Within::Shell)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn secrets_are_taken_out_and_the_rest_stays() {
        #[rustfmt::skip]
        let cases = [
            // text                                     told
            ("git status --short",                      "git status --short"),
            ("x --token=abc y",                         "x --token=[redacted] y"),
            ("x --token abc y",                         "x --token [redacted] y"),
            ("x --api-key 'abc' y",                     "x --api-key '[redacted]' y"),
            ("x --token --verbose",                     "x --token --verbose"),
            ("API_KEY=abc make",                        "API_KEY=[redacted] make"),
            ("export 'DB_PASSWORD=abc'",                "export 'DB_PASSWORD=[redacted]'"),
            ("curl -H 'Authorization: Bearer abc' u",   "curl -H 'Authorization: Bearer [redacted]' u"),
            ("get https://me:abc@example.com/a@b",      "get https://me:[redacted]@example.com/a@b"),
            ("get https://example.com/a@b",             "get https://example.com/a@b"),
            ("cc -DKEYBOARD=1 a.c",                     "cc -DKEYBOARD=1 a.c"),
            ("a  b\n\tc",                               "a  b\n\tc"),
            ("TOKEN=",                                  "TOKEN="),
            ("curl -u me:abc https://example.com",      "curl -u me:[redacted] https://example.com"),
            ("curl -sSu me:abc https://example.com",    "curl -sSu me:[redacted] https://example.com"),
            ("curl -ume:abc https://example.com",       "curl -ume:[redacted] https://example.com"),
            ("curl --user me:abc example.com",          "curl --user me:[redacted] example.com"),
            ("curl --proxy-user=me:abc example.com",    "curl --proxy-user=me:[redacted] example.com"),
            ("curl -u me example.com",                  "curl -u me example.com"),
            ("curl -u 'me:a b c' example.com",          "curl -u 'me:[redacted]' example.com"),
            ("x --token 'a b' y",                       "x --token '[redacted]' y"),
            ("run -u 1000:1000 image:tag",              "run -u 1000:1000 image:tag"),
            ("sort -u a.txt b:c",                       "sort -u a.txt b:c"),
            ("git push -u origin main:main",            "git push -u origin main:main"),
            ("curl --cookie a=b example.com",           "curl --cookie [redacted] example.com"),
            ("curl --oauth2-bearer abc example.com",    "curl --oauth2-bearer [redacted] example.com"),
            ("get https://abc@example.com/a",           "get https://[redacted]@example.com/a"),
            ("get https://x-token:abc@example.com/a",   "get https://x-token:[redacted]@example.com/a"),
            ("get ssh://git@example.com/a",             "get ssh://git@example.com/a"),
            ("--proxy=https://me:abc@example.com",      "--proxy=https://me:[redacted]@example.com"),
            ("get https://example.com/?a=1&token=abc&b=2", "get https://example.com/?a=1&token=[redacted]&b=2"),
            ("get https://example.com/?a=1&b=2#c",      "get https://example.com/?a=1&b=2#c"),
            ("curl -H Authorization:abc example.com",   "curl -H Authorization:[redacted] example.com"),
            ("curl -H 'X-Api-Key: abc' example.com",    "curl -H 'X-Api-Key: [redacted]' example.com"),
            ("curl -H 'Accept: text/html' example.com", "curl -H 'Accept: text/html' example.com"),
            ("curl --header \"authorization: Basic abc d\" u", "curl --header \"authorization: Basic [redacted]\" u"),
            ("curl -H 'Cookie: a=b; c=d' example.com",  "curl -H 'Cookie: [redacted]' example.com"),
        ];
        for (text, told) in cases {
            assert_eq!(redact_shell(text), told);
            if !text.contains(['\'', '"', '\n']) && !text.contains("  ") {
                let argv: Vec<String> = text.split(' ').map(str::to_owned).collect();
                assert_eq!(redact(&argv).join(" "), told, "as words");
            }
        }
    }

    #[test]
    fn a_word_is_one_whatever_stands_in_it() {
        #[rustfmt::skip]
        let cases: [(&[&str], &[&str]); 7] = [
            (&["curl", "-u", "me:a b c", "example.com"],    &["curl", "-u", "me:[redacted]", "example.com"]),
            (&["curl", "--header", "Authorization: a b"],   &["curl", "--header", "Authorization: [redacted]"]),
            (&["curl", "-HX-Auth-Token: a b", "x"],         &["curl", "-HX-Auth-Token: [redacted]", "x"]),
            (&["curl", "--header=Cookie: a=b; c", "x"],     &["curl", "--header=Cookie: [redacted]", "x"]),
            (&["curl", "-H", "Accept: a b", "-u", "me"],    &["curl", "-H", "Accept: a b", "-u", "me"]),
            (&["x", "--token", "a b", "y:z"],               &["x", "--token", "[redacted]", "y:z"]),
            (&["x", "-u", "--", "a:b"],                     &["x", "-u", "--", "a:b"]),
        ];
        for (argv, told) in cases {
            let argv: Vec<String> = argv.iter().map(|word| (*word).to_owned()).collect();
            assert_eq!(redact(&argv), told);
        }
    }

    /// Where a secret is known by what stands around it.
    #[test]
    fn secrets_of_many_shapes_are_taken_out() {
        let token = "a1b2c3d4e5f60718".repeat(5);
        let cases: &[&[&str]] = &[
            &["mysql", "-u", "root", "-pSECRET1"],
            &["sshpass", "-p", "SECRET1", "ssh", "h"],
            &["sudo", "sshpass", "-pSECRET1", "ssh", "h"],
            &["docker", "login", "-u", "b", "-p", "SECRET1"],
            &["docker", "run", "-e", "DB_PASSWORD=a SECRET1", "x"],
            &["redis-cli", "-a", "SECRET1", "ping"],
            &["ldapsearch", "-x", "-w", "SECRET1"],
            &["openssl", "rsa", "-passin", "pass:SECRET1"],
            &["7z", "a", "-pSECRET1", "a.7z"],
            &["zip", "-P", "SECRET1", "a.zip"],
            &["htpasswd", "-b", "f", "bob", "SECRET1"],
            &["smbclient", "-U", "bob%SECRET1", "//x/y"],
            &["curl", "-b", "session=SECRET1", "u"],
            &["aws", "configure", "set", "aws_secret_access_key", "SECRET1"],
            &["npm", "config", "set", "//registry.example.com/:_authToken", "SECRET1"],
            &["git", "config", "github.token", "SECRET1"],
            &["java", "-Djavax.net.ssl.keyStorePassword=SECRET1"],
            &["x", "--dbPassword", "SECRET1"],
            &["x", "-password", "SECRET1"],
            &["x", "/password:SECRET1"],
            &["x", "--password=ab SECRET1"],
            &["x", "Bearer", "SECRET1"],
            &["x", "Authorization:", "SECRET1"],
            &["curl", "-d", "user=a&password=SECRET1", "u"],
            &["curl", "-d", r#"{"user":"a","password":"b SECRET1"}"#, "u"],
            &["curl", "-d", r#"{"password":["SECRET1"]}"#, "u"],
            &["curl", "-d", r#"{"password":{"value":"SECRET1"}}"#, "u"],
            &["curl", "-d", r#"{"a":"{\"password\":\"SECRET1\"}"}"#, "u"],
            &["curl", "-d", r#"{"password":"a\"SECRET1"}"#, "u"],
            &["x", "{'password': 'SECRET1'}"],
            &["x", ":password => 'SECRET1'"],
            &["x", "password = SECRET1"],
            &["x", "<password>SECRET1</password>"],
            &["x", "db:\n  password: a SECRET1\n"],
            &["x", "db:\n  password: |\n    SECRET1\n    SECRET1\n  user: b"],
            &["x", "Server=x;Uid=a;Pwd=SECRET1;"],
            &["x", "AccountName=a;AccountKey=SECRET1==;EndpointSuffix=x"],
            &["psql", "host=x user=b password='ab SECRET1'"],
            &["curl", "http://x.example/?pass%77ord=SECRET1"],
            &["curl", "http://x.example/#access_token=SECRET1"],
            &["curl", "http://x.example/?sv=1&sig=SECRET1"],
            &["curl", "bob:SECRET1@x.example/"],
            &["curl", "https://hooks.slack.com/services/T0/B0/SECRET1"],
            &["curl", "https://discord.com/api/webhooks/1/SECRET1"],
            &["curl", "https://api.telegram.org/bot1:SECRET1/getMe"],
        ];
        for case in cases {
            let argv: Vec<String> = case.iter().map(|word| (*word).to_owned()).collect();
            let told = redact(&argv).join(" ");
            assert!(!told.contains("SECRET1") && told.contains(GONE), "{case:?}: {told}");
        }
        let shapes = [
            format!("hvs.{token}"),
            format!("ya29.{token}"),
            format!("SK{}", &token[..32]),
            format!("SG.{}.{}", &token[..22], &token[..43]),
            "AKIAIOSFODNN7EXAMPLQ:wJalrXUtnFEMI/K7MDENG/bPxRfiCYzzzzzzzKEY".to_owned(),
            "xAKIAIOSFODNN7EXAMPLQy".to_owned(),
        ];
        for shape in shapes {
            let told = redact(&["x".to_owned(), shape.clone()]).join(" ");
            assert!(told.len() <= "x x[redacted]y".len(), "{shape}: {told}");
        }
        let key = "-----BEGIN RSA PRIVATE KEY-----\nMIIEowIBAAKCAQEAabcdef\n-----END RSA PRIVATE KEY-----";
        let argv: Vec<String> = ["x"].into_iter().chain(key.lines()).map(str::to_owned).collect();
        assert!(!redact(&argv).concat().contains("MIIE"));
    }

    #[test]
    fn what_only_looks_like_it_stays() {
        for text in [
            "npm i alias@npm:react@18.2.0",
            "docker run -p 8080:80 image:tag",
            "ssh -p 22 me@example.com",
            "mkdir -p a/b",
            "git commit -m 'password reset flow'",
            "grep -rn token src",
            "scp a.txt me@example.com:b",
            "make KEYBOARD=us",
            "git config user.name me",
            "cargo test auth::tests",
            "curl -b cookies.txt u",
            "docker image ls -a",
            "kubectl get secret my-secret",
            "find . -name '*.pem' -exec ls {} +",
        ] {
            assert_eq!(redact_shell(text), text);
        }
    }
}
