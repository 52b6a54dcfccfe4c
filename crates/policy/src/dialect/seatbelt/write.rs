//! From a policy to a profile: everything is denied but what the policy allows.
//!
//! Strings are always escaped, and the project's root is never written at all: it is the parameter
//! `_RW1`. What a profile cannot say is listed as lost; where the order of rules cannot say what
//! the places of a policy say, the text is stricter.

use super::place::{Place, Reach, depth, overlap};
use super::regex;
use super::rule::Verdict;
use super::shut::{Shut, distinct};
use super::spell;
use crate::dialect::{Lost, Surroundings, Written, left_out, refuses, shared_temp};
use crate::name::PathPattern;
use crate::policy::{NetworkMode, Policy};

/// Writes a policy as a profile.
pub(super) fn write(policy: &Policy, around: &Surroundings<'_>) -> Written {
    let mut out = Writer { around, text: String::new(), lost: Vec::new() };
    out.text.push_str("(version 1)\n(deny default)\n(allow process*)\n");
    out.text.push_str("(allow signal (target same-sandbox))\n");
    out.text.push_str("(allow sysctl-read)\n(allow mach-lookup)\n(allow ipc-posix-shm*)\n");
    out.text.push_str("(allow pseudo-tty)\n");
    out.reading(policy);
    out.writing(policy);
    out.network(policy);
    out.rest(policy);
    Written { text: out.text, lost: out.lost }.sorted()
}

struct Writer<'a> {
    around: &'a Surroundings<'a>,
    text: String,
    lost: Vec<Lost>,
}

/// Keys that a profile says, or that are settled before one is written.
const SAID: &[&str] = &[
    "files.allow_read",
    "files.hide",
    "files.protect",
    "files.unhide",
    "files.write",
    "network.host_ports",
    "network.local_binding",
    "network.mode",
    "network.publish",
    "network.unix",
    "profile",
    "root",
];

impl Writer<'_> {
    fn reading(&mut self, policy: &Policy) {
        let opens = distinct(policy.files.allow_read.values());
        let mut hides = distinct(policy.files.hide.values());
        hides.retain(|hide| !opens.contains(hide)); // of two equals `allow_read` wins
        if !hides.iter().any(is_everything) {
            self.text.push_str("(allow file-read*)\n");
        }
        hides.retain(|hide| !is_everything(hide));
        let order = Order::new(&hides, &opens);
        for open in order.lost {
            let why = "the order of rules cannot say this together with what is hidden";
            self.lose("files.allow_read", open.to_string(), why);
        }
        for (verdict, pattern) in order.rules {
            let key = match verdict {
                Verdict::Allow => "files.allow_read",
                Verdict::Deny => "files.hide",
            };
            self.rule(verdict, "file-read*", key, &pattern);
        }
    }

    fn writing(&mut self, policy: &Policy) {
        self.text
            .push_str("(allow file-write-data (literal \"/dev/null\") (literal \"/dev/tty\"))\n");
        let shut = Shut::new(policy);
        for folder in &shut.open {
            self.rule(Verdict::Allow, "file-write*", "files.write", folder);
        }
        for pattern in policy.files.protect.values() {
            self.rule(Verdict::Deny, "file-write*", "files.protect", pattern);
        }
        // Who may not read a file must not move it to where they may.
        for hide in &shut.hidden {
            self.rule(Verdict::Deny, "file-write*", "files.hide", hide);
        }
        for open in shut.readable {
            let why = "it lies in a hidden path; it is readable there, but not writable";
            self.lose("files.write", open.to_string(), why);
        }
        for pin in shut.pins {
            match self.exactly(&pin) {
                Some(filter) => {
                    self.text.push_str(&format!("(deny file-write-unlink {filter})\n"));
                }
                None => self.lose("files.protect", pin.to_string(), NO_REGEX),
            }
        }
        for pattern in shut.movable {
            let why = "a folder above it can be moved there, and what lies in it is then open";
            self.lose("files.protect", pattern.to_string(), why);
        }
    }

    fn network(&mut self, policy: &Policy) {
        let network = &policy.network;
        let mode = network.mode.value();
        let open = mode == NetworkMode::Monitor && !refuses(policy);
        match mode {
            NetworkMode::DenyAll => {}
            NetworkMode::AllowList => {
                let why = "a profile cannot tell hosts apart; it denies all of them";
                self.lose("network.mode", mode.to_string(), why);
            }
            NetworkMode::Monitor | NetworkMode::Disabled if refuses(policy) => {
                let why = "a profile cannot tell hosts apart; it denies all of them";
                self.lose("network.mode", mode.to_string(), why);
            }
            NetworkMode::Monitor => {
                self.text.push_str("(allow network-outbound)\n");
                self.text.push_str(NO_SOCKETS);
                let silent = "a profile records nothing";
                self.lost.push(Lost::new("network.mode", mode.to_string(), silent).wider());
                let ports: Vec<_> = network.host_ports.values().map(ToString::to_string).collect();
                let shown = if ports.is_empty() { "none".into() } else { ports.join(" ") };
                let why = "where connections are open, every port of the host is";
                self.lost.push(Lost::new("network.host_ports", shown, why).wider());
            }
            // The host's own network, its ports included.
            NetworkMode::Disabled => {
                self.text.push_str("(allow network*)\n");
                self.text.push_str(NO_SOCKETS);
            }
        }
        if mode != NetworkMode::Disabled || refuses(policy) {
            if network.local_binding.value().0 {
                self.text.push_str("(allow network-bind)\n");
            }
            for port in network.host_ports.values().filter(|_| !open) {
                let end = format!("(remote ip \"localhost:{}\")", port.number());
                self.text.push_str(&format!("(allow network-outbound {end})\n"));
            }
            for port in network.publish.values() {
                let end = format!("(local ip \"localhost:{}\")", port.number());
                self.text.push_str(&format!("(allow network-inbound {end})\n"));
            }
        }
        for pattern in network.unix.values() {
            let end = match self.filter(pattern) {
                Some(_) if is_everything(pattern) => "(remote unix-socket)".to_owned(),
                Some(filter) => format!("(remote unix-socket {filter})"),
                None => {
                    self.lose("network.unix", pattern.to_string(), NO_REGEX);
                    continue;
                }
            };
            self.text.push_str(&format!("(allow network-outbound {end})\n"));
        }
    }

    /// Lists the keys that no profile has.
    fn rest(&mut self, policy: &Policy) {
        self.lost.extend(shared_temp(policy));
        self.lost.extend(left_out(policy, |key, _| {
            (!SAID.contains(&key)).then_some("a profile has no such key")
        }));
    }

    fn rule(&mut self, verdict: Verdict, operation: &str, key: &str, pattern: &PathPattern) {
        let word = match verdict {
            Verdict::Allow => "allow",
            Verdict::Deny => "deny",
        };
        match self.filter(pattern) {
            Some(filter) => self.text.push_str(&format!("({word} {operation} {filter})\n")),
            None => self.lose(key, pattern.to_string(), NO_REGEX),
        }
    }

    /// Writes a pattern as a filter; none if no filter says the same.
    fn filter(&self, pattern: &PathPattern) -> Option<String> {
        let Some(path) = pattern.literal() else {
            let text = spell::regex_of(pattern);
            let tree = Place { pattern: pattern.clone(), reach: Reach::Tree };
            let same = regex::places(&text).is_ok_and(|places| places.contains(&tree));
            return same.then(|| format!("(regex {})", quoted(&text)));
        };
        if path == self.around.anchors.root {
            return Some("(subpath (param \"_RW1\"))".into());
        }
        path.to_str().map(|path| format!("(subpath {})", quoted(path)))
    }

    /// Writes a filter for what a pattern matches, without what lies below.
    fn exactly(&self, pattern: &PathPattern) -> Option<String> {
        let Some(path) = pattern.literal() else {
            let text = spell::exact_regex_of(pattern);
            let exact = Place { pattern: pattern.clone(), reach: Reach::Exact };
            let same = regex::places(&text).is_ok_and(|places| places == [exact]);
            return same.then(|| format!("(regex {})", quoted(&text)));
        };
        if path == self.around.anchors.root {
            return Some("(literal (param \"_RW1\"))".into());
        }
        path.to_str().map(|path| format!("(literal {})", quoted(path)))
    }

    fn lose(&mut self, key: &str, value: String, why: &'static str) {
        self.lost.push(Lost::new(key, value, why));
    }
}

/// All connections are allowed before: those to the host's sockets are not meant.
const NO_SOCKETS: &str = "(deny network-outbound (remote unix-socket))\n";

const NO_REGEX: &str = "no filter of a profile says the same";

/// The order in which rules about reading say what places say.
struct Order {
    rules: Vec<(Verdict, PathPattern)>,
    lost: Vec<PathPattern>,
}

impl Order {
    /// From the wide to the narrow; then the wildcards, each followed by the plain paths that lie
    /// in what it matches; wildcards of any depth last, because nothing can be opened after them.
    fn new(hides: &[PathPattern], opens: &[PathPattern]) -> Self {
        let mut order = Self { rules: Vec::new(), lost: Vec::new() };
        let (hide_globs, plain_hides) = split(hides);
        let (open_globs, plain_opens) = split(opens);
        let mut plain: Vec<(usize, Verdict, PathPattern)> = Vec::new();
        for (verdict, patterns) in [(Verdict::Deny, &plain_hides), (Verdict::Allow, &plain_opens)] {
            plain.extend(patterns.iter().map(|p| (depth(p).unwrap_or(0), verdict, (*p).clone())));
        }
        plain.sort_by_key(|(depth, ..)| *depth); // stable: hides stay before opens
        plain.retain(|(_, verdict, pattern)| {
            let shut = |hide: &&&PathPattern| depth(hide).is_none() && hide.covers(pattern);
            let lost = *verdict == Verdict::Allow && hide_globs.iter().any(|hide| shut(&hide));
            if lost {
                order.lost.push(pattern.clone());
            }
            !lost
        });
        order.rules.extend(plain.iter().map(|(_, verdict, p)| (*verdict, p.clone())));
        for open in open_globs {
            let met = hide_globs.iter().any(|hide| overlap(hide, open));
            let holds = |hide: &&&PathPattern| open.covers(hide);
            if met || depth(open).is_none() && plain_hides.iter().any(|hide| holds(&hide)) {
                order.lost.push(open.clone());
            } else {
                order.push_glob(Verdict::Allow, open, &plain);
            }
        }
        for hide in hide_globs {
            order.push_glob(Verdict::Deny, hide, &plain);
        }
        order
    }

    fn push_glob(
        &mut self,
        verdict: Verdict,
        glob: &PathPattern,
        plain: &[(usize, Verdict, PathPattern)],
    ) {
        self.rules.push((verdict, glob.clone()));
        let Some(outer) = depth(glob) else { return };
        for (inner, verdict, pattern) in plain {
            let deeper = match verdict {
                Verdict::Allow => *inner >= outer,
                Verdict::Deny => *inner > outer,
            };
            if deeper && glob.covers(pattern) {
                self.rules.push((*verdict, pattern.clone()));
            }
        }
    }
}

/// Parts patterns with wildcards from plain ones; the former by depth, those of any depth last.
fn split(patterns: &[PathPattern]) -> (Vec<&PathPattern>, Vec<&PathPattern>) {
    let (mut globs, plain): (Vec<_>, Vec<_>) =
        patterns.iter().partition(|pattern| pattern.has_wildcard());
    globs.sort_by_key(|glob| depth(glob).unwrap_or(usize::MAX));
    (globs, plain)
}

fn is_everything(pattern: &PathPattern) -> bool {
    pattern.to_string() == "/"
}

/// Writes a string so that nothing in it can end it.
fn quoted(text: &str) -> String {
    let mut out = String::from("\"");
    for c in text.chars() {
        match c {
            '"' | '\\' => out.extend(['\\', c]),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            c => out.push(c),
        }
    }
    out.push('"');
    out
}
