//! Names that some disks take for one.

use std::borrow::Cow;

use icu_normalizer::DecomposingNormalizerBorrowed;

/// Returns the spelling that `name` shares with every other that a case-folding or normalising
/// disk (macOS, vfat, casefolded ext4) would take for the same file.
///
/// It is coarser than any one of them: it only decides what counts as a protected or hidden name.
pub(super) fn fold(name: &str) -> Cow<'_, str> {
    if name.bytes().all(|byte| byte.is_ascii() && !byte.is_ascii_uppercase()) {
        return Cow::Borrowed(name);
    }
    if name.is_ascii() {
        return Cow::Owned(name.to_ascii_lowercase());
    }
    let seen: String = name.chars().filter(|c| !is_ignored(*c)).collect();
    // Folding twice: a decomposition may bring up a letter that has a lower case of its own.
    let decomposed =
        |text: &str| DecomposingNormalizerBorrowed::new_nfkd().normalize(text).to_lowercase();
    Cow::Owned(decomposed(&decomposed(&seen)))
}

/// Characters that HFS+ leaves out of a comparison, so that `.g<U+200C>it` is `.git`.
fn is_ignored(c: char) -> bool {
    matches!(c, '\u{200C}'..='\u{200F}' | '\u{202A}'..='\u{202E}' | '\u{206A}'..='\u{206F}' | '\u{FEFF}')
}
