//! Whether an executable needs a dynamic linker: the program headers say so.

/// How a binary gets its libraries.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Linking {
    /// A loader named in the file maps libraries at start.
    Dynamic,
    /// The file is all there is.
    Static,
    /// Not a 64-bit little-endian ELF file, or a damaged one.
    Unknown,
}

const PT_INTERP: u64 = 3;

/// Reads the ELF header and looks for `PT_INTERP` among the program headers.
pub(crate) fn linking(bytes: &[u8]) -> Linking {
    headers(bytes).map_or(Linking::Unknown, |kinds| {
        if kinds.contains(&PT_INTERP) { Linking::Dynamic } else { Linking::Static }
    })
}

fn headers(bytes: &[u8]) -> Option<Vec<u64>> {
    // Class 2 is 64 bits, data 1 is little-endian: all that we release.
    if bytes.get(..6)? != b"\x7fELF\x02\x01" {
        return None;
    }
    let table = number(bytes, 32, 8)?;
    let (size, count) = (number(bytes, 54, 2)?, number(bytes, 56, 2)?);
    let kinds = (0..count).map(|at| {
        let start = table.checked_add(at.checked_mul(size)?)?;
        number(bytes, usize::try_from(start).ok()?, 4)
    });
    kinds.collect()
}

fn number(bytes: &[u8], start: usize, length: usize) -> Option<u64> {
    let field = bytes.get(start..start.checked_add(length)?)?;
    Some(field.iter().rev().fold(0, |number, byte| number << 8 | u64::from(*byte)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn image(kind: u8) -> Vec<u8> {
        let mut bytes = vec![0; 64 + 56];
        bytes[..6].copy_from_slice(b"\x7fELF\x02\x01");
        (bytes[32], bytes[54], bytes[56], bytes[64]) = (64, 56, 1, kind);
        bytes
    }

    #[test]
    fn an_interpreter_means_dynamic() {
        assert_eq!(linking(&image(1)), Linking::Static);
        assert_eq!(linking(&image(3)), Linking::Dynamic);
    }

    #[test]
    fn damaged_files_are_neither() {
        let mut huge = image(1);
        huge[32..40].copy_from_slice(&u64::MAX.to_le_bytes());
        let cases = [Vec::new(), b"\x7fELF".to_vec(), image(3)[..80].to_vec()[..66].to_vec(), huge];
        for bytes in cases {
            assert_eq!(linking(&bytes), Linking::Unknown, "{} bytes", bytes.len());
        }
    }
}
