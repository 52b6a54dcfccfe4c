//! Cutting a disagreement down to what it is about.

use std::error::Error;

use palisade_policy::shell;

use crate::explain::explain;
use crate::oracle;

/// Returns a short text about which bash and we still disagree in the same way.
pub fn minimize(text: &str, bash: bool) -> Result<String, Box<dyn Error>> {
    let mut text = text.to_owned();
    let mut size = text.len() / 2;
    while size > 0 {
        let candidates: Vec<String> = (0..text.len())
            .step_by(size.div_ceil(2))
            .filter(|&at| text.is_char_boundary(at))
            .filter_map(|at| {
                let to = (at + size).min(text.len());
                text.is_char_boundary(to).then(|| format!("{}{}", &text[..at], &text[to..]))
            })
            .filter(|text| shell::parse(text).is_ok() != bash)
            .filter(|text| explain(&shell::parse(text)).is_none())
            .collect();
        let answers = oracle::ask(&candidates)?;
        let found = candidates.into_iter().zip(answers).find(|&(_, answer)| answer == bash);
        match found {
            Some((shorter, _)) => text = shorter,
            None => size /= 2,
        }
    }
    Ok(text)
}
