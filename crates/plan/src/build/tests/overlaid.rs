use super::*;

#[test]
fn an_overlay_that_may_show_what_is_hidden_is_told() {
    let mut facts = facts(Privilege::Ordinary);
    let hides =
        |facts: &Facts| format!("{:?}", build(&permit(), &order(), facts).unwrap().enforced);
    assert!(!hides(&facts).contains("overlay"));
    facts.mounts.push(Mount {
        point: "/srv/merged".into(),
        root: "/".into(),
        device: "0:99".into(),
        kind: "overlay".into(),
        layers: vec!["/srv/other".into(), "/home/dev".into()],
    });
    let told = hides(&facts);
    let what = "`/home/dev/.ssh` may be seen as `/srv/merged/.ssh`, in an overlay over its folder";
    assert!(told.contains(what), "{told}");
}
