//! Tables and properties that are too long to stand beside the code.

mod host;
mod path;
mod property;

use super::*;

#[test]
fn messages_cannot_forge_a_screen_or_flood_it() {
    let invalid = "a\u{1b}[2J\u{202e}b".parse::<HostPattern>().unwrap_err();
    assert_eq!(invalid.to_string(), r"`a\u{1b}[2J\u{202e}b` contains a control character");
    let invalid = "a b".repeat(400).parse::<HostPattern>().unwrap_err();
    assert!(invalid.problem().len() < 200, "{invalid}");
}

#[test]
fn serde_uses_the_same_door() {
    let host: HostPattern = serde_json::from_str(r#""*.Example.COM.:443""#).unwrap();
    assert_eq!(serde_json::to_string(&host).unwrap(), r#""*.example.com:443""#);
    let refused = serde_json::from_str::<HostPattern>(r#""*""#).unwrap_err();
    assert!(refused.to_string().starts_with("`*` is every host"), "{refused}");
    assert!(serde_json::from_str::<ByteSize>("12").is_err(), "a number is not a text");
}

#[test]
fn ports_are_one_to_65535_in_one_spelling() {
    assert_eq!("1".parse::<Port>().unwrap().number(), 1);
    assert_eq!("65535".parse::<Port>().unwrap().number(), 65535);
    assert!(Port::try_from(0).is_err());
    #[rustfmt::skip]
    let cases = [
        ("",        "port-empty"),
        ("0",       "port-range"),
        ("65536",   "port-range"),
        ("99999999999999999999", "port-range"),
        ("-1",      "port-number"),
        ("+80",     "port-number"),
        ("080",     "port-number"),
        (" 80",     "port-number"),
        ("80\0",    "port-number"),
        ("http",    "port-number"),
    ];
    for (text, code) in cases {
        assert_eq!(text.parse::<Port>().unwrap_err().code(), code, "{text:?}");
    }
}
