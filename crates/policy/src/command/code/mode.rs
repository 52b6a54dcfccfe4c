//! Modes that let others run a program as its owner.

use super::scan::Scan;
use super::stream::{Commas, Stream};
use super::token::Kind;
use crate::command::Concern;

impl<'t> Scan<'t, '_> {
    /// Looks whether the function called at `at` gives a file such a mode.
    pub(super) fn mode(&mut self, stream: &Stream<'t>, at: usize) {
        let changes = |name: &str| {
            matches!(name, "chmod" | "chmodSync" | "fchmod" | "fchmodSync" | "lchmod" | "chmod_R")
        };
        if !stream.name(at).is_some_and(changes) {
            return;
        }
        let end = match stream.is(at + 1, "(") {
            true => stream.after(at + 1),
            false => stream.expression_end(at + 1, Commas::Stay),
        };
        let args = stream.tokens.get(at + 1..end).unwrap_or_default();
        let raises = args.iter().take_while(|_| stream.pays(1)).any(|token| match &token.kind {
            Kind::Number => self.text.get(token.start..token.end).is_some_and(is_powerful),
            Kind::Text(text, _) => is_powerful(text) || text.contains("+s") || text.contains("=s"),
            Kind::Name(name) => matches!(&**name, "S_ISUID" | "S_ISGID"),
            Kind::Break | Kind::Pattern | Kind::Shell(_) | Kind::Sign(_) => false,
        });
        if raises {
            let (start, end) = stream.bytes((at, end));
            self.out.raise(Concern::Privilege, start, end);
        }
    }
}

fn is_powerful(number: &str) -> bool {
    let digits = number.replace('_', "").to_ascii_lowercase();
    let digits = digits.trim_start_matches("0o").trim_start_matches('0');
    digits.len() == 4 && u32::from_str_radix(digits, 8).is_ok_and(|mode| mode & 0o6000 != 0)
}
