//! What only the kernel and its tables know, one file per subject. No policy here.

pub mod beneath;
pub mod entry;
pub mod identity;
