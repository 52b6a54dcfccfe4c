//! Lints about lists that add up.

use super::{Context, Finding};
use crate::key::{Field as _, Row};
use crate::policy::Policy;

/// Lists that open something.
const OPENING: [&str; 7] = [
    "files.write",
    "files.allow_read",
    "network.allow",
    "network.host_ports",
    "network.publish",
    "network.unix",
    "tools.roots",
];

/// Finds lists of an agent's or a task's section that look like a limit and are none.
pub(super) fn idle(policy: &Policy, context: &Context<'_>) -> Vec<Finding> {
    let in_force = rows(policy);
    let mut found = Vec::new();
    for own in context.own {
        for row in rows(own).into_iter().filter(|row| row.stated) {
            let Some(whole) = in_force.iter().find(|whole| whole.key == row.key) else { continue };
            let own = |value: &_| row.values.iter().any(|own| own.value == *value);
            let more: Vec<String> = whole
                .values
                .iter()
                .filter(|value| !own(&value.value))
                .map(|value| crate::key::bare(&value.value))
                .collect();
            // What it opens itself, it does not repeat.
            let origins: Vec<_> = row.values.iter().map(|value| &value.origin).collect();
            let opens = whole.values.iter().any(|value| origins.contains(&&value.origin));
            if more.is_empty() || opens {
                continue;
            }
            let origin = row.said.clone().or_else(|| Some(row.values.first()?.origin.clone()));
            found.push(Finding {
                message: format!("`{}` stays open beyond this list: {}", row.key, more.join(", ")),
                fix: format!(
                    "say less of `{}` for everyone, and open it where it is needed",
                    row.key
                ),
                origin,
            });
        }
    }
    found
}

fn rows(policy: &Policy) -> Vec<Row> {
    let mut rows = Vec::new();
    policy.rows("", &mut rows);
    rows.retain(|row| OPENING.contains(&&*row.key));
    rows
}
