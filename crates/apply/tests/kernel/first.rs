//! The least that a sandbox does.

use palisade_apply::End;

use crate::{Place, all, as_both, out};

#[test]
fn a009_echo_ls_and_cat_run_and_end_with_zero() {
    as_both("first::a009_echo_ls_and_cat_run_and_end_with_zero", || {
        let place = Place::new();
        for (argv, expected) in [
            (&["echo", "hello"][..], "hello\n"),
            (&["ls"], "inside\n"),
            (&["cat", "inside"], "inside\n"),
        ] {
            let outcome = place.run(argv);
            assert_eq!(outcome.end, End::Exited(0), "{}", all(&outcome));
            assert_eq!(out(&outcome), expected);
        }
    });
}
