use super::*;
use crate::account::Account;

#[test]
fn what_another_run_could_not_see_is_said_where_it_matters() {
    let word = |beside: &[Account]| {
        let facts = Facts { beside: beside.to_vec(), ..facts(Privilege::Ordinary) };
        let plan = build(&permit(), &order(), &facts).unwrap();
        let protect = plan.enforced().iter().find(|one| one.layer == Layer::Protect).cloned();
        protect.unwrap().strength.word()
    };
    let saw = Account { trees: vec!["/home/dev/app".into()], whole: true, ..Account::default() };
    let elsewhere = Account { trees: vec!["/srv".into()], ..Account::default() };
    assert_eq!(word(&[saw.clone(), elsewhere]), word(&[]));
    assert_ne!(word(&[]), "partial");
    assert_eq!(word(&[Account { whole: false, ..saw }]), "partial");
    assert_eq!(word(&[Account::unknown()]), "partial");
}
