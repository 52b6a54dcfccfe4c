//! What only the kernel and its tables know, one file per subject. No policy here.
#![expect(unsafe_code, reason = "the one directory that may; see docs/adr/0004")]

pub mod beneath;
#[cfg(all(target_arch = "x86_64", any(test, all(feature = "own-bytes", target_env = "musl"))))]
pub mod bytes;
pub mod entry;
pub mod identity;

#[cfg(target_os = "linux")]
pub(crate) mod ahead;
#[cfg(target_os = "linux")]
pub(crate) mod beside;
#[cfg(target_os = "linux")]
pub(crate) mod depth;
#[cfg(target_os = "linux")]
pub(crate) mod descriptor;
#[cfg(target_os = "linux")]
pub(crate) mod environment;
#[cfg(any(target_os = "linux", target_os = "macos"))]
mod handlers;
#[cfg(target_os = "linux")]
pub(crate) mod heap;
#[cfg(target_os = "linux")]
pub(crate) mod idle;
#[cfg(target_os = "linux")]
pub(crate) mod inlet;
#[cfg(target_os = "linux")]
pub(crate) mod landlock;
#[cfg(target_os = "linux")]
pub(crate) mod lock;
#[cfg(target_os = "macos")]
pub(crate) mod macos;
#[cfg(target_os = "linux")]
pub mod memory;
#[cfg(target_os = "linux")]
pub(crate) mod mount;
#[cfg(target_os = "linux")]
pub(crate) mod network;
#[cfg(target_os = "linux")]
pub(crate) mod notify;
#[cfg(target_os = "linux")]
pub(crate) mod process;
#[cfg(target_os = "linux")]
mod raw;
#[cfg(target_os = "linux")]
pub(crate) mod restrict;
#[cfg(target_os = "linux")]
pub(crate) mod signal;
#[cfg(target_os = "linux")]
pub(crate) mod straight;

/// Turns what a raw system call returned into a result.
#[cfg(target_os = "linux")]
fn check(returned: libc::c_long) -> rustix::io::Result<libc::c_long> {
    if returned < 0 {
        // The C library keeps the number in this thread; reading it allocates nothing.
        let errno = std::io::Error::last_os_error().raw_os_error().unwrap_or(libc::EIO);
        Err(rustix::io::Errno::from_raw_os_error(errno))
    } else {
        Ok(returned)
    }
}
