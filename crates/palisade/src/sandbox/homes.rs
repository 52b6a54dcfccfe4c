//! The home that `HOME` names, and the one that the user table does.

use std::path::Path;

use palisade_plan::Order;
use palisade_policy::name::{Folder, PathPattern};

/// Hides in the user's home, as the user table has it, what is hidden in the one that `HOME` names:
/// that a variable is wrong must show nobody's keys. Of a home that is not there nothing is.
pub(super) fn hide_in_both(order: &mut Order, real: Option<&Path>) {
    let (Some(real), Some(named)) = (real, order.home.as_deref()) else { return };
    if real == Path::new("/") || real == named || !real.is_dir() {
        return;
    }
    let (Ok(named), Ok(real)) = (Folder::literal(named), Folder::literal(real)) else { return };
    let (named, real) = (named.as_pattern().to_string(), real.as_pattern().to_string());
    let moved = |pattern: &PathPattern| moved(pattern, &named, &real);
    let also: Vec<PathPattern> = order.hide.iter().filter_map(moved).collect();
    order.hide.extend(also);
}

/// Returns a pattern that begins in one folder as one that begins in another; none of one that does
/// not.
fn moved(pattern: &PathPattern, from: &str, to: &str) -> Option<PathPattern> {
    let text = pattern.to_string();
    // Of `/` nothing is left: what is in it begins with one.
    let rest = text.strip_prefix(from.trim_end_matches('/')).filter(|it| it.starts_with('/'))?;
    format!("{to}{rest}").parse().ok()
}

#[cfg(test)]
mod tests {
    use super::moved as moved_to;

    #[test]
    fn a_pattern_moves_with_the_folder_it_begins_in() {
        let moved = |pattern: &str| {
            let pattern = pattern.parse().unwrap();
            moved_to(&pattern, "/named", "/real").map(|moved| moved.to_string())
        };
        assert_eq!(moved("/named/.ssh").as_deref(), Some("/real/.ssh"));
        assert_eq!(moved("/named/**/*.pem").as_deref(), Some("/real/**/*.pem"));
        let of_root = |pattern: &str| {
            let pattern = pattern.parse().unwrap();
            moved_to(&pattern, "/", "/real").map(|moved| moved.to_string())
        };
        assert_eq!(of_root("/.ssh").as_deref(), Some("/real/.ssh"), "`HOME` may name the root");
        for other in ["/named", "/named2/.ssh", "/other/named/.ssh"] {
            assert_eq!(moved(other), None, "{other}");
        }
    }
}
