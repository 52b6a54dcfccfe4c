//! Upper bounds.

use super::choice::Keep;
use crate::key::{Count, Limit, Setting, Smallest, section, text_item};
use crate::name::{ByteSize, Period};

section! {
    /// Upper bounds for one run.
    pub struct Limits {
        /// Wall-clock time.
        timeout: Setting<Limit<Period>>,
        /// Time without any output.
        idle: Setting<Limit<Period>>,
        /// Bytes kept of each output stream when it is captured; a run that streams has no cap unless a file sets one.
        output: Setting<Limit<ByteSize>>,
        /// Which end of a longer output is kept.
        keep: Setting<Keep>,
        /// Processes at the same time.
        processes: Setting<Limit<Count>>,
        /// Memory of all processes together.
        memory: Setting<Limit<ByteSize>>,
        /// Processor time.
        cpu: Setting<Limit<Period>>,
        /// Size of any one file written.
        file_size: Setting<Limit<ByteSize>>,
        /// Open files per process.
        open_files: Setting<Limit<Count>>,
        /// Size of the private temporary folder.
        tmp: Setting<Limit<ByteSize>>,
    }
}

text_item!(ByteSize, "a size such as `64KiB`", numbers);
text_item!(Period, "a time such as `30s` or `1h30m`", numbers);

impl Smallest for ByteSize {
    fn smallest() -> Self {
        Self::new(0)
    }
}

impl Smallest for Period {
    fn smallest() -> Self {
        Self::ZERO
    }
}
