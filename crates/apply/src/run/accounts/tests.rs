use palisade_testkit::Project;

use super::*;

fn account(known: &str) -> Account {
    let protect = ["/w/**/.bashrc", "/w/.mcp.json", "/w/a b/**/.git/hooks"];
    Account {
        trees: vec!["/w".into()],
        protect: protect.iter().map(|text| text.parse().unwrap()).collect(),
        known: [known, "/w/sub/.git"].iter().map(PathBuf::from).collect(),
        unsearched: vec!["/w/shut".into()],
        absent: ["/w/.git/commondir"].iter().map(PathBuf::from).collect(),
        whole: true,
    }
}

#[test]
fn an_account_is_read_as_it_was_written_and_not_by_halves() {
    for account in [account("/w/x"), Account::default()] {
        let bytes = to_bytes(&account);
        assert_eq!(from_bytes(&bytes), Some(account));
        for length in 0..bytes.len() {
            assert_eq!(from_bytes(&bytes[..length]), None, "{length}");
        }
        assert_eq!(from_bytes(&[&*bytes, b"x\0"].concat()), None);
    }
}

fn others(folder: Option<&Path>) -> Vec<Account> {
    Looking::begin(folder).others().beside
}

fn is_told(announced: Option<&Announced>) -> bool {
    announced.is_some_and(|it| it.held().is_some())
}

#[test]
fn runs_are_told_of_while_they_last_and_to_who_looked_then() {
    let state = Project::new();
    let folder = Some(state.root());
    assert!(others(folder).is_empty());
    let (before, later) = (Looking::begin(folder), Looking::begin(folder));
    let one = Announced::new(folder, || account("/w/one"));
    let two = Announced::new(folder, || account("/w/two"));
    assert!(is_told(one.as_ref()) && is_told(two.as_ref()));
    assert_eq!(before.others().beside, [account("/w/one"), account("/w/two")]);
    drop(one);
    assert_eq!(later.others().beside.len(), 2, "it went on when somebody began to look");
    std::thread::sleep(std::time::Duration::from_millis(30));
    assert_eq!(others(folder), [account("/w/two")]);
    // The next has its file, and says what it knows.
    let three = Announced::new(folder, || account("/w/three"));
    assert_eq!(others(folder), [account("/w/three"), account("/w/two")]);
    drop((two, three));
    std::thread::sleep(std::time::Duration::from_millis(30));
    assert!(others(folder).is_empty());
    assert_eq!(std::fs::read_dir(state.root()).unwrap().count(), 2);
    assert!(Announced::new(None, Account::default).is_none());
}

#[test]
fn an_account_is_not_written_over_while_somebody_may_still_look() {
    let state = Project::new();
    let folder = Some(state.root());
    let looks = Looking::begin(folder);
    drop(Announced::new(folder, || account("/w/one")));
    let two = Announced::new(folder, || account("/w/two"));
    assert_eq!(looks.others().beside, [account("/w/one"), account("/w/two")]);
    drop(two);
    // Nobody looks now.
    drop(Announced::new(folder, || account("/w/three")));
    assert_eq!(std::fs::read_dir(state.root()).unwrap().count(), 2);
}

#[test]
fn files_that_many_runs_needed_go_away_and_those_of_others_stay() {
    let state = Project::new();
    let folder = Some(state.root());
    let count = || std::fs::read_dir(state.root()).unwrap().count();
    let mut runs: Vec<_> =
        (0..90).map(|number| Announced::new(folder, || account(&format!("/w/{number}")))).collect();
    assert_eq!(count(), 90);
    let last = runs.split_off(89);
    drop(runs);
    std::thread::sleep(std::time::Duration::from_millis(30));
    assert_eq!((others(folder), count()), (vec![account("/w/89")], 90), "the last is held");
    drop(last);
    let looks = Looking::begin(folder);
    others(folder);
    assert_eq!(count(), 90, "somebody looks");
    drop(looks);
    others(folder);
    assert_eq!(count(), 90 - AWAY);
    others(folder);
    assert_eq!(count(), KEPT);
}

#[test]
fn what_cannot_be_told_and_what_cannot_be_read_is_said() {
    let state = Project::new().file("file", "").file("odd/.run-0", "+12345678nothing");
    let file = state.path("file");
    let failed = Announced::new(Some(&file), Account::default).unwrap();
    assert!(failed.held().is_none());
    // One that is held and not understood, as that of another version.
    let odd = state.path("odd");
    let held = File::open(odd.join(".run-0")).unwrap();
    rustix::fs::flock(&held, FlockOperation::LockExclusive).unwrap();
    assert_eq!(others(Some(&odd)), [Account::unknown()]);
}

#[test]
fn what_a_killed_run_told_stays_until_it_is_looked_over() {
    let state = Project::new();
    let folder = Some(state.root());
    let killed = || Looking::begin(folder).others().killed;
    drop(Announced::new(folder, || account("/w/one")).unwrap().begun());
    drop(Announced::new(folder, || account("/w/two")).unwrap().begun().looked_over());
    // The same once more does not take its place either.
    drop(Announced::new(folder, || account("/w/one")).unwrap());
    let found = killed();
    assert_eq!(found.len(), 1);
    assert_eq!(found[0].account, account("/w/one"));
    assert!(found[0].ran.1.is_some_and(|ended| ended >= found[0].ran.0));
    assert_eq!(found[0].settle(state.root(), || "looked"), Some("looked"));
    assert_eq!(found[0].settle(state.root(), || "looked"), None, "once is enough");
    assert!(killed().is_empty());
    // Of one that could say nothing nobody knows when it ended.
    let mut all = head(HOLDS).to_vec();
    all.extend(to_bytes(&account("/w/three")));
    std::fs::write(state.path(".run-0"), all).unwrap();
    let found = killed();
    assert_eq!((found.len(), found[0].ran.1), (1, None));
}
