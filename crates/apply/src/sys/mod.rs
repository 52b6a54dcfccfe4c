//! What only the kernel and its tables know, one file per subject. No policy here.

pub mod identity;
