//! What holds for any patch.

use proptest::prelude::*;

use super::*;

/// Lines that collide: headers, lines of hunks, noise.
fn any_line() -> impl Strategy<Value = String> {
    prop_oneof![
        prop::sample::select(vec![
            "--- a/x",
            "+++ b/x",
            "@@ -1,2 +1,2 @@",
            "@@ -1 +1 @@",
            "+x",
            "-x",
            " x",
            "",
            "\\ No newline at end of file",
            "diff --git a/x b/x",
            "new file mode 120000",
            "rename from x",
            "rename to y",
            "*** Begin Patch",
            "*** Update File: x",
            "***************",
        ])
        .prop_map(str::to_owned),
        "[-+ @*\\\\\"a/.\r\t]{0,8}",
    ]
}

proptest! {
    /// Wherever a patch of its own stands, in front of it is nothing that could hide it.
    #[test]
    fn nothing_in_front_hides_a_patch(lines in prop::collection::vec(any_line(), 0..12)) {
        let front = lines.join("\n");
        for evil in [
            "--- /dev/null\n+++ b/../evil\n@@ -0,0 +1 @@\n+x\n",
            "diff --git a/../evil b/../evil\nold mode 100644\nnew mode 100755\n",
            "*** Add File: b/../evil\n+x\n",
        ] {
            if let Ok(patch) = read(&format!("{front}\n{evil}")) {
                let found = patch.touched.iter().any(|it| it.path.contains("../evil"));
                prop_assert!(found, "{front}\n{evil}");
            }
        }
    }

    /// Every path lies in the text, in order.
    #[test]
    fn spans_lie_in_the_text(lines in prop::collection::vec(any_line(), 0..20)) {
        let text = lines.join("\n");
        if let Ok(patch) = read(&text) {
            let mut last = 0;
            for touched in patch.touched {
                prop_assert!(text.get(touched.span.start()..touched.span.end()).is_some());
                prop_assert!(last <= touched.span.start());
                last = touched.span.start();
            }
        }
    }
}
