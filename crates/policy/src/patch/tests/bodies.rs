//! `apply_patch` bodies.

use super::*;

#[test]
fn every_header_of_a_body_names_a_file() {
    use Deed::{Change, Create, Delete, MoveFrom, MoveTo};
    let body = "*** Begin Patch\n*** Add File: a/new.md\n+text\n*** Delete File: old one.md\n\
                *** Update File: x.rs\n@@ fn main()\n-x\n+y\n*** End of File\n\
                *** Update File: from.rs\n*** Move to: to.rs\n@@\n-x\n+y\n*** End Patch\n";
    let expected = [
        ("a/new.md".to_owned(), Create),
        ("old one.md".to_owned(), Delete),
        ("x.rs".to_owned(), Change),
        ("from.rs".to_owned(), MoveFrom),
        ("to.rs".to_owned(), MoveTo),
    ];
    assert_eq!(deeds(body), expected);
    assert_eq!(deeds(&body.replace('\n', "\r\n")), expected, "CRLF");
    assert_eq!(deeds(&body.replace("***", " \t ***")), expected, "indentation");
    assert_eq!(
        deeds(&body.replace(" File:", " FILE :").replace(" FILE :", " file:")),
        expected,
        "case"
    );
    for word in ["apply_patch <<'EOF'", "applypatch << EOF", "apply_patch x <<\"EOF\""] {
        assert_eq!(deeds(&format!("{word}\n{body}EOF\n")), expected, "{word}");
    }
}

#[test]
fn bodies_are_seen_wherever_a_reader_may_see_one() {
    assert_eq!(read("*** Begin Patch\n*** End Patch\n"), Ok(Patch::default()));
    // Without an envelope, and with a verb that is not known yet.
    assert_eq!(paths("*** Add File: x\n+y\n"), ["x"]);
    assert_eq!(paths("*** Begin Patch\n*** Truncate File: x\n*** End Patch\n"), ["x"]);
    // Some programs end lines at more than line feeds.
    for end in ["\r", "\u{b}", "\u{c}", "\u{85}", "\u{2028}"] {
        let text = format!("*** Begin Patch\n*** Add File: x\n+y{end}*** Add File: /etc/x\n+z\n");
        assert_eq!(paths(&text), ["x", "/etc/x"], "{end:?}");
    }
    // What a body adds or takes away is no header, nor are its comments.
    let sql = "*** Begin Patch\n*** Update File: x.sql\n@@\n--- /etc/old\n-- *** Add File: /y\n\
               +*** Add File: /etc/x\n*** End Patch\n";
    assert_eq!(paths(sql), ["x.sql"]);
}

#[test]
fn a_command_that_moves_the_patch_elsewhere_is_refused() {
    let body = "*** Begin Patch\n*** Add File: x\n+y\n*** End Patch\nEOF\n";
    for command in [
        "cd /etc && apply_patch <<EOF",
        "(cd ..; apply_patch <<EOF",
        "patch -d /etc -p1 <<EOF",
        "git apply --directory=../.. <<EOF",
        "/usr/bin/patch -o x <<EOF",
        "cd /etc\napply_patch <<EOF",
        "apply_patch $HOME <<EOF",
    ] {
        assert_eq!(refused(&format!("{command}\n{body}")), "patch-in-command", "{command}");
    }
    // In a file that is changed such a line is only text.
    let text = "--- a/x\n+++ b/x\n@@ -1,2 +1,2 @@\n patch -d /etc <<EOF\n-x\n+y\n";
    assert_eq!(paths(text), ["a/x", "b/x"]);
}
