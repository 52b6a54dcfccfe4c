//! Files that leave by another way than an option of the tool that sends them.

use std::net::IpAddr;

use super::kept::{Carriage, Contents};
use super::walk::{Input, Walk};
use crate::command::tool::is_own_machine;
use crate::command::{Act, Arg, Concern, HOLE, Holed as _};
use crate::jail::{Last, Standing};

/// Programs that ask other machines, and are given no address.
const ASKERS: [&str; 18] = [
    "dig",
    "drill",
    "finger",
    "fping",
    "getent",
    "host",
    "http",
    "https",
    "mtr",
    "nslookup",
    "ping",
    "ping6",
    "resolvectl",
    "tracepath",
    "traceroute",
    "traceroute6",
    "whois",
    "xh",
];

impl Walk<'_> {
    /// Judges what the words of a command carry to another machine.
    #[inline(never)]
    pub(super) fn carries(
        &mut self,
        (name, plain): (&str, &str),
        args: &[Arg<'_>],
        acts: &[Act<'_>],
        input: &Input,
    ) {
        let connects = || acts.iter().filter_map(Act::host).any(|host| !is_own_machine(host));
        let carried = match self.holds_files() {
            true => args.iter().find(|arg| self.is_carried(arg, acts)),
            false => None, // nearly always
        };
        let asks = |arg: &Arg<'_>| {
            ASKERS.contains(&name)
                || is_client(name) && is_told_of_host(args)
                || fetches(name, &arg.text)
                || is_service(name, args)
        };
        if let Some(arg) = carried.filter(|arg| connects() || asks(arg)) {
            self.raise(Concern::Exfiltrates, arg.span);
        }
        match plain {
            // Programs that send the files of items such as `@file` and `name@file`.
            "curlie" | "http" | "httpie" | "https" | "xh" => {
                let own = |arg: &Arg<'_>| is_own_machine(&arg.text) || arg.text.starts_with(':');
                let mut operands = args.iter().filter(|arg| !arg.text.starts_with('-'));
                let is_method =
                    |arg: &Arg<'_>| arg.text.bytes().all(|byte| byte.is_ascii_uppercase());
                let address = operands.position(|arg| !is_method(arg));
                let named = |arg: &Arg<'_>| {
                    arg.text.find(['@', '=', ':']).is_some_and(|at| {
                        arg.text.get(at..).is_some_and(|rest| rest.starts_with('@'))
                    })
                };
                let sent = |arg: &&Arg<'_>| {
                    arg.text.len() > 1 && arg.text.starts_with('@')
                        || arg.text.contains("=@")
                        || arg.text.contains(":@")
                };
                let item = args
                    .iter()
                    .find(sent)
                    .or_else(|| address.and_then(|_| operands.find(|arg| named(arg))));
                let item = item.map(|arg| arg.span);
                if let Some(span) = item.filter(|_| !args.iter().any(own)) {
                    self.raise(Concern::Exfiltrates, span);
                }
            }
            "git" if args.iter().any(|arg| arg.text == "push") => self.pushes(acts),
            "python" if args.iter().any(|arg| arg.text == "http.server") => self.serves(args),
            "php" if args.iter().any(|arg| is_server(&arg.text)) => self.serves(args),
            "caddy" if args.iter().any(|arg| arg.text == "file-server") => self.serves(args),
            "esbuild" if args.iter().any(|arg| arg.text.starts_with("--serve")) => {
                self.serves(args);
            }
            "http-server" | "httpd" | "jupyter" | "jupyter-lab" | "jupyter-notebook" | "serve" => {
                self.serves(args);
            }
            // This scheme sends what arrives on the input.
            "curl" => {
                let dials = |arg: &&Arg<'_>| arg.text.starts_with("telnet:");
                if let Some(span) = args.iter().find(dials).map(|arg| arg.span) {
                    self.perform(&Act::Send(span), input);
                }
            }
            "aws" | "gh" | "glab" | "hub" | "tea" => self.posts(acts),
            client if is_client(client) => {
                self.loads(args);
                if let Some(span) =
                    args.first().map(|arg| arg.span).filter(|_| is_told_of_host(args))
                {
                    self.perform(&Act::Send(span), input);
                }
            }
            _ => {}
        }
    }

    /// Whether words of the command at hand may hold what a file holds.
    pub(super) fn holds_files(&self) -> bool {
        !self.carried.is_empty() || self.poured_in != Contents::Any
    }

    /// Whether a word holds what a file holds. An address that is all of it is none that carries
    /// it away: whoever wrote the file knows where it leads.
    fn is_carried(&self, arg: &Arg<'_>, acts: &[Act<'_>]) -> bool {
        let is_address = || {
            let connects =
                |act: &Act<'_>| matches!(act, Act::Connect(target) if target.span == arg.span);
            arg.text.trim_matches(HOLE).is_empty() && acts.iter().any(connects)
        };
        let mut carried = self.carried.iter().filter(|(span, _)| *span == arg.span);
        let written = carried.any(|(_, how)| match how {
            Carriage::Printed => true,
            Carriage::Kept => !is_address(),
        });
        written || self.poured_in == Contents::OfFile && arg.text.has_hole() && !is_address()
    }

    /// A service's client posts what stands in a file: not what looks like a secret.
    fn posts(&mut self, acts: &[Act<'_>]) {
        let secret = acts.iter().find_map(|act| {
            let Act::Read(file) = act else { return None };
            is_secret_name(&file.text).then_some(file.span)
        });
        if let Some(span) = secret {
            self.raise(Concern::Exfiltrates, span);
        }
    }

    /// What is pushed to an address goes to whoever has it; to a name, where the project says.
    fn pushes(&mut self, acts: &[Act<'_>]) {
        let target = acts.iter().find_map(|act| {
            let Act::Connect(target) = act else { return None };
            (!is_own_machine(&target.text)).then_some(target.span)
        });
        if let Some(span) = target {
            self.raise(Concern::Exfiltrates, span);
        }
    }

    /// A client of another machine's database that loads a file into it.
    fn loads(&mut self, args: &[Arg<'_>]) {
        let loading = |arg: &&Arg<'_>| {
            let text = arg.text.to_ascii_lowercase();
            text.contains("\\copy ") && text.contains(" from ") && !text.contains("stdin")
                || text.contains("local infile")
                || text.starts_with("--file")
        };
        if is_told_of_host(args)
            && let Some(span) = args.iter().find(loading).map(|arg| arg.span)
        {
            self.raise(Concern::Exfiltrates, span);
        }
    }

    /// A server of files shows a folder to whoever asks: of the project, and of nothing else.
    fn serves(&mut self, args: &[Arg<'_>]) {
        let outside = args.iter().find(|arg| {
            let equals = arg.text.find('=').filter(|_| arg.text.starts_with('-'));
            // `-t/folder`
            let glued = || {
                arg.tail(2).filter(|rest| arg.text.starts_with('-') && rest.text.starts_with('/'))
            };
            let value = equals.and_then(|at| arg.tail(at + 1)).or_else(glued);
            let value = value.unwrap_or_else(|| (*arg).clone());
            let is_path = value.text.starts_with(['/', '~', '.']);
            is_path
                && self.any_place(&value, Last::Follow, |place| {
                    matches!(place.standing, Standing::Outside(_))
                })
        });
        if let Some(span) = outside.map(|arg| arg.span) {
            self.raise(Concern::Exfiltrates, span);
        }
        let heard = |arg: &&Arg<'_>| address(&arg.text).is_some_and(is_reached_by_others);
        if let Some(span) = args.iter().find(heard).map(|arg| arg.span) {
            self.raise(Concern::Listens, span);
        }
    }
}

/// Clients of databases: of this machine, unless they are told of another.
fn is_client(name: &str) -> bool {
    matches!(
        name,
        "clickhouse-client"
            | "mariadb"
            | "mongoimport"
            | "mongorestore"
            | "mongosh"
            | "mysql"
            | "mysqlimport"
            | "psql"
            | "redis-cli"
            | "sqlcmd"
            | "valkey-cli"
    )
}

/// Clients of services: what is given to them goes there. Of a forge what it is given to say of
/// changes does so by the nature of things.
fn is_service(name: &str, args: &[Arg<'_>]) -> bool {
    match name {
        "aliyun" | "aws" | "az" | "databricks" | "doctl" | "firebase" | "fly" | "flyctl"
        | "gcloud" | "gsutil" | "heroku" | "mail" | "mailx" | "mutt" | "netlify" | "ntfy"
        | "oci" | "sendmail" | "slack" | "slackcat" | "stripe" | "supabase" | "swaks"
        | "telegram-send" | "twilio" | "vercel" | "wrangler" => true,
        "gh" | "glab" | "hub" | "tea" => args
            .iter()
            .find(|arg| !arg.text.starts_with('-'))
            .is_some_and(|arg| matches!(&*arg.text, "api" | "gist" | "snippet")),
        _ => false,
    }
}

/// `-S localhost:8000`, `--server=localhost:8000`
fn is_server(word: &str) -> bool {
    word.starts_with("-S") || word.starts_with("--server")
}

/// Returns the host that a word of a server names: `-S0.0.0.0:80`, `--bind=::`, `0.0.0.0`.
fn address(word: &str) -> Option<&str> {
    let value = match word.strip_prefix("--") {
        Some(long) => long.split_once('=')?.1,
        None => word.strip_prefix("-S").unwrap_or(word),
    };
    let rest = value.split_once("://").map_or(value, |(_, rest)| rest);
    let end = rest.rfind(':').filter(|at| !rest.ends_with(':') && rest.find(':') == Some(*at));
    let host = end.and_then(|at| rest.get(..at)).unwrap_or(rest);
    Some(host.split(']').next().unwrap_or(host).trim_start_matches('['))
}

/// Whether others reach a server at an address: every one of the machine, or one that is not its
/// own alone.
fn is_reached_by_others(host: &str) -> bool {
    host == "*" || host.parse::<IpAddr>().is_ok_and(|address| !address.is_loopback())
}

/// Whether a client is told of another machine: `-h host`, `--host=host`, `-hhost`.
fn is_told_of_host(args: &[Arg<'_>]) -> bool {
    let is_other = |host: &str| !host.is_empty() && !host.starts_with('/') && !is_own_machine(host);
    let mut words = args.iter().map(|arg| &*arg.text);
    while let Some(word) = words.next() {
        let host = match word {
            "-h" | "-H" | "--host" | "-S" | "-u" | "--uri" => words.next(),
            // `host=name dbname=x`, `postgresql://name/x`
            _ if !word.starts_with('-') => {
                let named = word.split_whitespace().find_map(|part| part.strip_prefix("host="));
                named.or_else(|| word.split_once("://").map(|(_, rest)| rest))
            }
            _ => ["--host=", "--uri=", "-h"].iter().find_map(|start| word.strip_prefix(start)),
        };
        if host.is_some_and(|host| !word.starts_with("-u") || host.contains("://"))
            && host.is_some_and(is_other)
        {
            return true;
        }
    }
    false
}

/// Whether a program asks another machine for what a word names: an address, or a name that begins
/// with a host. Or the word is a line that is sent along.
fn fetches(name: &str, word: &str) -> bool {
    let known = word.split(HOLE).next().unwrap_or_default();
    let is_hosted = || {
        known.ends_with('/')
            && !known.starts_with(['-', '.', '/'])
            && known.split('/').next().is_some_and(|host| host.contains('.'))
    };
    match name {
        "brew" | "bun" | "cargo" | "composer" | "gem" | "gpg" | "helm" | "npm" | "npx" | "pip"
        | "pip3" | "pipx" | "pnpm" | "uv" | "uvx" | "yarn" => known.contains("://"),
        "docker" | "finch" | "go" | "nerdctl" | "podman" => known.contains("://") || is_hosted(),
        "git" => {
            known.contains("://") || known.to_ascii_lowercase().starts_with("http.extraheader=")
        }
        _ => false,
    }
}

/// Names of files with keys and passwords.
fn is_secret_name(path: &str) -> bool {
    let name = path.rsplit('/').next().unwrap_or(path);
    let ending = name.rsplit_once('.').map_or("", |(_, ending)| ending);
    name == ".env"
        || name.starts_with(".env.")
        || matches!(ending, "key" | "pem" | "p12" | "pfx" | "kdbx")
        || matches!(name, "id_dsa" | "id_ecdsa" | "id_ed25519" | "id_rsa" | ".netrc" | ".npmrc")
        || name.starts_with("credentials")
}
