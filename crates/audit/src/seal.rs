//! What shows that a record is ours: each ends with a signature over all that stands before it.
//!
//! A head says which records were written, but one that its writer was ended behind has no head that
//! speaks of it. Whoever can append to the file could have made such a record; the seal tells them apart.

use crate::hash::{Hash, Hashing, Key};

/// What is signed, so that no other signature of the key is one of these.
const WHAT: &[u8] = b"palisade record 1\n";

const FIELD: &str = ",\"seal\":\"";
const END: &str = "\"}";

/// A record that was looked at.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) struct Seen {
    /// The hash of its line.
    pub(crate) hash: Hash,
    /// Whether the key sealed it; false where there is no key.
    pub(crate) ours: bool,
}

/// Seals the record that begins at `from` in a text and ends with it, without a line end. Returns its
/// hash. Without a key there is no seal.
pub(crate) fn put(text: &mut String, from: usize, key: Option<&Key>) -> Hash {
    let Some(key) = key else { return Hash::of(tail(text, from)) };
    // The seal goes before the brace that ends the record.
    text.pop();
    let body = Hashing::of(tail(text, from));
    let seal = key.sign_hashed(WHAT, &body);
    let end = text.len();
    text.push_str(FIELD);
    seal.push(text);
    text.push_str(END);
    body.then(tail(text, end))
}

/// Looks at a line. There is one way to write a seal, and no other is read.
pub(crate) fn look(line: &[u8], key: Option<&Key>) -> Seen {
    let unsealed = || Seen { hash: Hash::of(line), ours: false };
    let Some(key) = key else { return unsealed() };
    let length = FIELD.len() + 64 + END.len();
    let Some((body, rest)) = line.len().checked_sub(length).map(|at| line.split_at(at)) else {
        return unsealed();
    };
    let seal = rest.strip_prefix(FIELD.as_bytes()).and_then(|it| it.strip_suffix(END.as_bytes()));
    let Some(seal) = seal.and_then(Hash::read) else { return unsealed() };
    let hashing = Hashing::of(body);
    let ours = key.sign_hashed(WHAT, &hashing) == seal;
    Seen { hash: hashing.then(rest), ours }
}

fn tail(text: &str, from: usize) -> &[u8] {
    text.as_bytes().get(from..).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_seal_holds_for_one_record_and_one_key() {
        let (key, other) = (Key::new([1; 32]), Key::new([2; 32]));
        let mut text = "before\n{\"a\":1}".to_owned();
        let hash = put(&mut text, 7, Some(&key));
        let line = &text.as_bytes()[7..];
        let value: serde_json::Value = serde_json::from_slice(line).unwrap();
        assert_eq!((&value["a"], value["seal"].as_str().unwrap().len()), (&1.into(), 64));
        assert_eq!(hash, Hash::of(line));
        assert_eq!(look(line, Some(&key)), Seen { hash, ours: true });
        assert_eq!(look(line, Some(&other)), Seen { hash, ours: false });
        assert_eq!(look(line, None), Seen { hash, ours: false }, "nothing shows whose it is");
        for at in 0..line.len() {
            let mut changed = line.to_vec();
            changed[at] ^= 1;
            let seen = Seen { hash: Hash::of(&changed), ours: false };
            assert_eq!(look(&changed, Some(&key)), seen, "byte {at}");
            let seen = Seen { hash: Hash::of(&line[..at]), ours: false };
            assert_eq!(look(&line[..at], Some(&key)), seen, "cut at {at}");
        }
        let mut plain = "{\"a\":1}".to_owned();
        let hash = put(&mut plain, 0, None);
        assert_eq!((plain.as_str(), hash), ("{\"a\":1}", Hash::of(plain.as_bytes())));
    }
}
