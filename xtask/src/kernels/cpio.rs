//! Writes an archive that the kernel unpacks as its first file system (cpio, "newc").

/// An archive that grows.
#[derive(Debug, Default)]
pub(super) struct Archive {
    bytes: Vec<u8>,
    number: u32,
}

const FOLDER: u32 = 0o040_755;
const PROGRAM: u32 = 0o100_755;
const LINK: u32 = 0o120_777;

impl Archive {
    /// Adds a folder; the one above it must be there.
    pub(super) fn folder(&mut self, path: &str) {
        self.entry(path, FOLDER, b"");
    }

    /// Adds a file that can be executed.
    pub(super) fn file(&mut self, path: &str, content: &[u8]) {
        self.entry(path, PROGRAM, content);
    }

    /// Adds a symbolic link.
    pub(super) fn link(&mut self, path: &str, to: &str) {
        self.entry(path, LINK, to.as_bytes());
    }

    /// Ends the archive.
    pub(super) fn finish(mut self) -> Vec<u8> {
        self.entry("TRAILER!!!", 0, b"");
        self.bytes
    }

    fn entry(&mut self, path: &str, mode: u32, content: &[u8]) {
        self.number += 1;
        let size = u32::try_from(content.len()).unwrap_or(u32::MAX);
        let name = u32::try_from(path.len() + 1).unwrap_or(u32::MAX);
        // inode, mode, uid, gid, links, time, size, device and its kind twice, name, checksum
        let fields = [self.number, mode, 0, 0, 1, 0, size, 0, 0, 0, 0, name, 0];
        self.bytes.extend_from_slice(b"070701");
        for field in fields {
            self.bytes.extend_from_slice(format!("{field:08x}").as_bytes());
        }
        self.bytes.extend_from_slice(path.as_bytes());
        self.bytes.push(0);
        self.align();
        self.bytes.extend_from_slice(content);
        self.align();
    }

    fn align(&mut self) {
        self.bytes.resize(self.bytes.len().next_multiple_of(4), 0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_archive_has_headers_names_and_contents_at_multiples_of_four() {
        let mut archive = Archive::default();
        archive.folder("bin");
        archive.file("bin/x", b"hello");
        archive.link("bin/y", "x");
        let bytes = archive.finish();
        assert_eq!(bytes.len() % 4, 0);
        let text = String::from_utf8_lossy(&bytes);
        assert_eq!(text.matches("070701").count(), 4);
        assert!(text.starts_with("07070100000001000041ed"), "{text}");
        // A name of six bytes with its end makes the header 116, which needs no more.
        assert!(text.contains("bin/x\0hello\x00\x00\x00070701"), "{text}");
        assert!(text.contains("TRAILER!!!"));
    }
}
