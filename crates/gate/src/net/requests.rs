//! What a policy says of plain requests, by method and path (`network.http_rules`).

use palisade_policy::key::Standing;
use palisade_policy::name::{Found, Host, HostPattern, Pattern};
use palisade_policy::policy::{Action, HttpRule, Network};

/// The rules of all layers.
#[derive(Clone, Debug, Default)]
pub(super) struct RequestRules(Vec<List>);

#[derive(Clone, Debug)]
struct List {
    standing: Standing,
    rules: Vec<Rule>,
}

#[derive(Clone, Debug)]
struct Rule {
    host: HostPattern,
    methods: Vec<String>,
    path: Path,
    action: Action,
    text: String,
}

#[derive(Clone, Debug)]
enum Path {
    Every,
    /// One that matches from its start.
    From(Pattern),
    /// Nobody can tell.
    Unknown,
}

/// What the rules say of a request.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(super) struct Said {
    pub(super) action: Action,
    /// The rule, if one speaks.
    pub(super) rule: Option<String>,
}

impl RequestRules {
    pub(super) fn new(network: &Network) -> Self {
        let lists = network.http_rules.lists().iter().map(|list| List {
            standing: list.standing,
            rules: list.rules.iter().map(|rule| Rule::new(&rule.value)).collect(),
        });
        Self(lists.collect())
    }

    /// Whether requests to a host and port have to be looked at.
    pub(super) fn covers(&self, host: &Host, port: u16) -> bool {
        self.0.iter().flat_map(|list| &list.rules).any(|rule| rule.host.matches(host, port))
    }

    /// Judges a request: the first rule that matches speaks for its list, and the strictest list
    /// for all. `also` is what the path may be to some servers; the strictest of all counts.
    pub(super) fn judge(
        &self,
        host: &Host,
        port: u16,
        method: &str,
        path: &str,
        also: &[String],
    ) -> Said {
        let paths = || [path].into_iter().chain(also.iter().map(String::as_str));
        let said = self
            .0
            .iter()
            .flat_map(|list| paths().filter_map(|path| list.judge(host, port, method, path)));
        let strictest = said.min_by_key(|said| match said.action {
            Action::Deny => 0,
            Action::Ask => 1,
            Action::Allow => 2,
        });
        strictest.unwrap_or(Said { action: Action::Allow, rule: None })
    }
}

impl List {
    /// Returns what this list says, if it says anything. One that allows something at a host says of
    /// everything else there that it is not allowed.
    fn judge(&self, host: &Host, port: u16, method: &str, path: &str) -> Option<Said> {
        let mut here = self.rules.iter().filter(|rule| rule.host.matches(host, port)).peekable();
        here.peek()?;
        let mut allows = false;
        for rule in here {
            if rule.matches(method, path) {
                let is_heard = rule.action != Action::Allow || self.standing == Standing::Full;
                let said = Said { action: rule.action, rule: Some(rule.text.clone()) };
                return is_heard.then_some(said);
            }
            allows |= rule.action == Action::Allow;
        }
        allows.then_some(Said { action: Action::Deny, rule: None })
    }
}

impl Rule {
    fn new(rule: &HttpRule) -> Self {
        let HttpRule { host, methods, path, action } = rule;
        let mut text = format!("http_rules: {} {host}", action.word());
        if !methods.is_empty() {
            text.push_str(&format!(" {}", methods.join("|")));
        }
        if let Some(path) = path {
            text.push_str(&format!(" {path}"));
        }
        let path = path.as_ref().map_or(Path::Every, |path| from_start(path, *action));
        Self { host: host.clone(), methods: methods.clone(), path, action: *action, text }
    }

    fn matches(&self, method: &str, path: &str) -> bool {
        if !self.methods.is_empty() && !self.methods.iter().any(|it| it == method) {
            return false;
        }
        // Many servers read a path with and without a slash at its end alike.
        let shorter = path.strip_suffix('/').filter(|it| self.is_strict() && !it.is_empty());
        let found = match &self.path {
            Path::Every => return true,
            Path::From(pattern) => match pattern.search(path) {
                Found::No => shorter.map_or(Found::No, |path| pattern.search(path)),
                found @ (Found::Yes | Found::Undecided) => found,
            },
            Path::Unknown => Found::Undecided,
        };
        match found {
            Found::Yes => true,
            Found::No => false,
            // Whatever is stricter.
            Found::Undecided => self.is_strict(),
        }
    }

    /// Returns whether it is safer that it speaks than that it does not.
    fn is_strict(&self) -> bool {
        self.action != Action::Allow
    }
}

/// Makes a pattern that has to match where a path begins. One that refuses or asks does so whatever
/// the case of letters, which is one to some servers, unless it says `(?-i)`.
fn from_start(pattern: &Pattern, action: Action) -> Path {
    let flag = if action == Action::Allow { "" } else { "i" };
    // A newline ends a comment, should the pattern end in one.
    let texts = [format!(r"\A(?{flag}:{pattern})"), format!("\\A(?{flag}:{pattern}\n)")];
    texts.iter().find_map(|text| text.parse().ok()).map_or(Path::Unknown, Path::From)
}

#[cfg(test)]
mod tests {
    use palisade_policy::key::{RuleLists, Sourced};
    use palisade_policy::layer::{Layer, Origin};

    use super::*;

    fn rule(host: &str, methods: &[&str], path: Option<&str>, action: Action) -> HttpRule {
        HttpRule {
            host: host.parse().unwrap(),
            methods: methods.iter().map(ToString::to_string).collect(),
            path: path.map(|path| path.parse().unwrap()),
            action,
        }
    }

    fn list(standing: Standing, rules: Vec<HttpRule>) -> List {
        List { standing, rules: rules.iter().map(Rule::new).collect() }
    }

    fn said(rules: &RequestRules, method: &str, path: &str) -> Action {
        rules.judge(&"a.test".parse().unwrap(), 80, method, path, &[]).action
    }

    #[test]
    fn the_first_rule_that_matches_speaks_and_what_is_not_allowed_is_not() {
        let rules = RequestRules(vec![list(
            Standing::Full,
            vec![
                rule("a.test", &[], Some("/admin"), Action::Deny),
                rule("a.test", &["GET", "HEAD"], None, Action::Allow),
                rule("a.test", &["POST"], Some("/upload$"), Action::Allow),
                rule("a.test", &["DELETE"], None, Action::Ask),
            ],
        )]);
        #[rustfmt::skip]
        let cases = [
            ("GET",    "/",            Action::Allow),
            ("GET",    "/admin",       Action::Deny),
            ("GET",    "/admin/x",     Action::Deny),
            ("GET",    "/x/admin",     Action::Allow),
            ("POST",   "/upload",      Action::Allow),
            ("POST",   "/upload/x",    Action::Deny),
            ("POST",   "/x/upload",    Action::Deny),
            ("PUT",    "/",            Action::Deny),
            ("DELETE", "/",            Action::Ask),
        ];
        for (method, path, expected) in cases {
            assert_eq!(said(&rules, method, path), expected, "{method} {path}");
        }
    }

    #[test]
    fn a_list_that_only_denies_leaves_the_rest_as_it_was() {
        let deny = rule("a.test:80", &[], Some("/x"), Action::Deny);
        let rules = RequestRules(vec![list(Standing::Full, vec![deny])]);
        assert_eq!(said(&rules, "GET", "/x"), Action::Deny);
        assert_eq!(said(&rules, "GET", "/y"), Action::Allow);
        let host = |text: &str| text.parse::<Host>().unwrap();
        assert!(rules.covers(&host("a.test"), 80));
        assert!(!rules.covers(&host("a.test"), 443));
        assert!(!rules.covers(&host("b.test"), 80));
        assert_eq!(rules.judge(&host("b.test"), 80, "GET", "/x", &[]).action, Action::Allow);
    }

    #[test]
    fn the_strictest_list_speaks_for_all_and_an_untrusted_one_opens_nothing() {
        let allow = || rule("a.test", &[], None, Action::Allow);
        let deny = || rule("a.test", &["PUT"], None, Action::Deny);
        let rules = RequestRules(vec![
            list(Standing::Full, vec![deny()]),
            list(Standing::Full, vec![allow()]),
        ]);
        assert_eq!(
            (said(&rules, "PUT", "/"), said(&rules, "GET", "/")),
            (Action::Deny, Action::Allow)
        );
        let narrow = RequestRules(vec![list(Standing::NarrowOnly, vec![allow(), deny()])]);
        assert_eq!(narrow.judge(&"a.test".parse().unwrap(), 80, "PUT", "/", &[]).rule, None);
        let narrow = RequestRules(vec![list(Standing::NarrowOnly, vec![deny(), allow()])]);
        assert_eq!(said(&narrow, "PUT", "/"), Action::Deny);
    }

    #[test]
    fn a_rule_that_refuses_hears_every_reading_and_one_that_allows_only_its_own() {
        let judged = |action, pattern: &str, path: &str, also: &[&str]| {
            let rules = vec![rule("a.test", &[], Some(pattern), action)];
            let rules = RequestRules(vec![list(Standing::Full, rules)]);
            let also: Vec<String> = also.iter().map(ToString::to_string).collect();
            rules.judge(&"a.test".parse().unwrap(), 80, "GET", path, &also).action
        };
        #[rustfmt::skip]
        let cases: [(Action, &str, &str, &[&str], Action); 9] = [
            (Action::Deny,  "/private$",       "/private;x",  &["/private"], Action::Deny),
            (Action::Deny,  "/private$",       "/private/",   &[],           Action::Deny),
            (Action::Deny,  "/private",        "/PRIVATE/x",  &[],           Action::Deny),
            (Action::Deny,  "(?-i)/private",   "/PRIVATE/x",  &[],           Action::Allow),
            (Action::Deny,  "/private$",       "/privates",   &[],           Action::Allow),
            (Action::Ask,   "/private$",       "/Private/",   &[],           Action::Ask),
            (Action::Allow, "/open/",          "/open/a;b",   &["/open/a"],  Action::Allow),
            (Action::Allow, "/open/;",         "/open/;b",    &["/open/"],   Action::Deny),
            (Action::Allow, "/open$",          "/OPEN",       &[],           Action::Deny),
        ];
        for (action, pattern, path, also, expected) in cases {
            assert_eq!(
                judged(action, pattern, path, also),
                expected,
                "{action:?} {pattern} {path}"
            );
        }
    }

    #[test]
    fn a_rule_is_named_as_it_was_written() {
        let value = rule("a.test", &["PUT"], Some("/x"), Action::Deny);
        let rules = vec![Sourced { value, origin: Origin::of(Layer::User) }];
        let network = Network { http_rules: RuleLists::new(rules), ..Network::default() };
        let said =
            RequestRules::new(&network).judge(&"a.test".parse().unwrap(), 80, "PUT", "/x", &[]);
        assert_eq!(said.rule.as_deref(), Some("http_rules: deny a.test PUT /x"));
    }
}
