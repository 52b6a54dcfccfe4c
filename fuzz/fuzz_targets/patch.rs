//! Any text as a patch: it is read or refused, every place lies in the text, judging ends, and a
//! patch that stands behind the text on its own is seen.
#![no_main]

use libfuzzer_sys::fuzz_target;
use palisade_policy::decide::Answer;
use palisade_policy::jail::{Ground, NoLookup};
use palisade_policy::patch::{self, Naming};

const EVIL: [&str; 3] = [
    "--- /dev/null\n+++ b/../evil\n@@ -0,0 +1 @@\n+x\n",
    "diff --git a/../evil b/../evil\nold mode 100644\nnew mode 100755\n",
    "*** Add File: b/../../evil\n+x\n",
];

fuzz_target!(|text: &str| {
    match patch::read(text) {
        Err(error) => assert!(text.get(error.span.start()..error.span.end()).is_some()),
        Ok(patch) => {
            for touched in &patch.touched {
                assert!(text.get(touched.span.start()..touched.span.end()).is_some());
                assert!(!touched.readings().is_empty());
            }
            assert_eq!(patch::read(text).as_ref(), Ok(&patch));
        }
    }
    let ground = Ground::bare("/srv/app");
    let answer = |text: &str| {
        patch::judge(text, Naming::InPatch, &ground, "/srv/app", &NoLookup).answer()
    };
    answer(text);
    for evil in EVIL {
        assert_eq!(answer(&format!("{text}\n{evil}")), Answer::Deny, "{evil}");
    }
});
