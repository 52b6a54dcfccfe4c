//! Bodies that are compressed.
//!
//! An upstream is asked not to compress what is judged. One that does so all the same is read, and
//! its answer is passed on without: whoever can read it compressed can read it so.

use std::io::{self, Read, Write as _};

use flate2::write::{DeflateDecoder, GzDecoder, ZlibDecoder};

/// Reads what is compressed piece by piece.
pub(super) enum Decoder {
    Plain,
    Gzip(Box<GzDecoder<Vec<u8>>>),
    /// It is told by the first bytes whether there is a head; servers differ.
    Unknown(Vec<u8>),
    Zlib(Box<ZlibDecoder<Vec<u8>>>),
    Deflate(Box<DeflateDecoder<Vec<u8>>>),
}

impl std::fmt::Debug for Decoder {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Decoder")
    }
}

impl Decoder {
    /// Makes one for what a header says; none for what is not known.
    pub(super) fn of(encoding: Option<&str>) -> Option<Self> {
        match encoding.map(|encoding| encoding.trim().to_ascii_lowercase()).as_deref() {
            None | Some("" | "identity") => Some(Self::Plain),
            Some("gzip" | "x-gzip") => Some(Self::Gzip(Box::new(GzDecoder::new(Vec::new())))),
            Some("deflate") => Some(Self::Unknown(Vec::new())),
            Some(_) => None,
        }
    }

    /// Takes bytes and returns what they say. `most` bounds it: a small body can say much.
    pub(super) fn push(&mut self, bytes: &[u8], most: usize) -> io::Result<Vec<u8>> {
        let mut out = Vec::new();
        if let Self::Plain = self {
            return Ok(bytes.to_vec());
        }
        if let Self::Unknown(start) = self {
            start.extend_from_slice(bytes);
            if start.len() < 2 {
                return Ok(out);
            }
            let start = std::mem::take(start);
            *self = if is_zlib(&start) {
                Self::Zlib(Box::new(ZlibDecoder::new(Vec::new())))
            } else {
                Self::Deflate(Box::new(DeflateDecoder::new(Vec::new())))
            };
            return self.push(&start, most);
        }
        // A little at a time, so that the bound holds before the memory is taken.
        for piece in bytes.chunks(1 << 10) {
            let said = match self {
                Self::Gzip(decoder) => {
                    decoder.write_all(piece)?;
                    std::mem::take(decoder.get_mut())
                }
                Self::Zlib(decoder) => {
                    decoder.write_all(piece)?;
                    std::mem::take(decoder.get_mut())
                }
                Self::Deflate(decoder) => {
                    decoder.write_all(piece)?;
                    std::mem::take(decoder.get_mut())
                }
                Self::Plain | Self::Unknown(_) => Vec::new(),
            };
            out.extend(said);
            if out.len() > most {
                let message = "the body says more than may be held";
                return Err(io::Error::new(io::ErrorKind::FileTooLarge, message));
            }
        }
        Ok(out)
    }

    /// Returns what is left at the end.
    pub(super) fn end(&mut self) -> io::Result<Vec<u8>> {
        match self {
            Self::Plain | Self::Unknown(_) => Ok(Vec::new()),
            Self::Gzip(decoder) => {
                decoder.try_finish()?;
                Ok(std::mem::take(decoder.get_mut()))
            }
            Self::Zlib(decoder) => {
                decoder.try_finish()?;
                Ok(std::mem::take(decoder.get_mut()))
            }
            Self::Deflate(decoder) => {
                decoder.try_finish()?;
                Ok(std::mem::take(decoder.get_mut()))
            }
        }
    }
}

/// Whether the two bytes of a zlib head stand there.
fn is_zlib(start: &[u8]) -> bool {
    let [first, second, ..] = start else { return false };
    first & 0x0f == 8 && u16::from_be_bytes([*first, *second]) % 31 == 0
}

/// Why a body that is there as a whole is not read.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Unread {
    /// Nobody knows how.
    Unknown,
    /// It says more than may be held.
    TooMuch,
}

/// Reads a body that is there as a whole, and says no more than `most`.
pub(super) fn whole(encoding: Option<&str>, bytes: &[u8], most: usize) -> Result<Vec<u8>, Unread> {
    let fits = |out: Vec<u8>| if out.len() <= most { Ok(out) } else { Err(Unread::TooMuch) };
    if encoding.is_some_and(|encoding| encoding.trim().eq_ignore_ascii_case("zstd")) {
        // What a window may take is said by the body, and taken at once.
        let window = (most as u64).max(8 << 20);
        let decoder = ruzstd::decoding::StreamingDecoder::new_with_max_window_size(
            bytes,
            window.max(1 << 10),
        )
        .map_err(|_| Unread::Unknown)?;
        let mut out = Vec::new();
        let read = decoder.take(most as u64 + 1).read_to_end(&mut out);
        return fits(out).and_then(|out| read.map(|_| out).map_err(|_| Unread::Unknown));
    }
    let mut decoder = Decoder::of(encoding).ok_or(Unread::Unknown)?;
    let unread = |error: io::Error| {
        let is_more = error.kind() == io::ErrorKind::FileTooLarge;
        if is_more { Unread::TooMuch } else { Unread::Unknown }
    };
    let mut out = decoder.push(bytes, most).map_err(unread)?;
    out.extend(decoder.end().map_err(unread)?);
    fits(out)
}

#[cfg(test)]
mod tests {
    use super::*;
    use flate2::Compression;
    use flate2::write::{DeflateEncoder, GzEncoder, ZlibEncoder};

    #[test]
    fn what_is_compressed_is_read_however_it_is_cut() {
        let text = b"data: {\"a\": 1}\n\n".repeat(50);
        let encoded = |what: &str| {
            let mut out = Vec::new();
            let level = Compression::default();
            match what {
                "gzip" => GzEncoder::new(&mut out, level).write_all(&text).unwrap(),
                "zlib" => ZlibEncoder::new(&mut out, level).write_all(&text).unwrap(),
                _ => DeflateEncoder::new(&mut out, level).write_all(&text).unwrap(),
            }
            out
        };
        for (what, header) in [("gzip", "GZIP"), ("zlib", "deflate"), ("raw", "deflate")] {
            let bytes = encoded(what);
            assert_eq!(whole(Some(header), &bytes, 1 << 20).unwrap(), text, "{what}");
            let mut decoder = Decoder::of(Some(header)).unwrap();
            let mut out = Vec::new();
            for byte in bytes.chunks(2) {
                out.extend(decoder.push(byte, 1 << 20).unwrap());
            }
            out.extend(decoder.end().unwrap());
            assert_eq!(out, text, "{what}");
        }
        assert_eq!(whole(None, b"x", 1).unwrap(), b"x");
        assert_eq!(whole(Some("br"), b"x", 1), Err(Unread::Unknown));
        assert_eq!(whole(Some("gzip"), b"x", 1), Err(Unread::Unknown));
    }

    #[test]
    fn a_small_body_that_says_much_is_refused() {
        let mut bomb = Vec::new();
        GzEncoder::new(&mut bomb, Compression::best()).write_all(&vec![0; 1 << 22]).unwrap();
        assert_eq!(whole(Some("gzip"), &bomb, 1 << 20), Err(Unread::TooMuch));
        assert_eq!(whole(None, &bomb, 1), Err(Unread::TooMuch));
        assert!(Decoder::of(Some("gzip")).unwrap().push(&bomb, 1 << 20).is_err());
        assert_eq!(whole(Some("zstd"), b"\x28\xb5\x2f\xfd", 10), Err(Unread::Unknown));
        let level = ruzstd::encoding::CompressionLevel::Fastest;
        let bomb = ruzstd::encoding::compress_to_vec(&[0; 1 << 16][..], level);
        assert_eq!(whole(Some("zstd"), &bomb, 1 << 10), Err(Unread::TooMuch));
        assert_eq!(whole(Some("zstd"), &bomb, 1 << 16).map(|said| said.len()), Ok(1 << 16));
    }
}
