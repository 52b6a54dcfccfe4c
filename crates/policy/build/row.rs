//! What a row of the table says, before it is written down as Rust.

/// One tool under all its names.
pub(crate) struct Row {
    pub(crate) names: Vec<String>,
    pub(crate) grammar: Grammar,
}

#[derive(Clone, Default)]
pub(crate) struct Grammar {
    pub(crate) habits: Vec<&'static str>,
    pub(crate) options: Vec<Opt>,
    pub(crate) slots: Vec<Slot>,
    pub(crate) rest: Option<Slot>,
    pub(crate) last: Option<Slot>,
    pub(crate) after: Option<Slot>,
    pub(crate) rules: Vec<Rule>,
    pub(crate) subs: Vec<(Vec<String>, Self)>,
    pub(crate) other: Option<Box<Self>>,
}

#[derive(Clone)]
pub(crate) struct Opt {
    pub(crate) names: Vec<String>,
    pub(crate) value: &'static str,
    pub(crate) slot: Slot,
    /// The number of the bit that rules ask for.
    pub(crate) bit: Option<u32>,
}

/// A role and a concern, both as Rust.
#[derive(Clone)]
pub(crate) struct Slot {
    pub(crate) role: String,
    pub(crate) concern: Option<String>,
}

/// Terms and an effect, both as Rust but for options, which are bits by now.
#[derive(Clone)]
pub(crate) struct Rule {
    pub(crate) terms: Vec<String>,
    pub(crate) effect: String,
}

impl Grammar {
    /// Tells whether an option of this grammar runs something.
    pub(crate) fn is_wary(&self) -> bool {
        const RUNS: [&str; 8] =
            ["Shell", "Program", "Argv", "Fed", "Code", "Script", "Load", "Inner(Inner::TarAction"];
        !self.habits.contains(&"STOPS")
            && !self.habits.contains(&"unwary")
            && self.options.iter().any(|option| {
                RUNS.iter().any(|run| {
                    option
                        .slot
                        .role
                        .strip_prefix("Role::")
                        .is_some_and(|role| role.starts_with(run))
                })
            })
    }

    /// Tells whether anything here is more than text.
    pub(crate) fn does_something(&self) -> bool {
        let slots = self.slots.iter().chain(&self.rest).chain(&self.last).chain(&self.after);
        let mut all = slots.chain(self.options.iter().map(|option| &option.slot));
        all.any(|slot| {
            slot.concern.is_some() || !matches!(&*slot.role, "Role::Text" | "Role::Guess")
        }) || !self.rules.is_empty()
            || self.subs.iter().any(|(_, sub)| sub.does_something())
    }
}
