//! System calls without the C library.
//!
//! A process that works in the memory of another has that one's thread-local memory too, or, once
//! that thread has ended, none at all. There the C library keeps `errno`, and looks whether a thread
//! is to be cancelled. What such a process does goes through rustix, or through here.

use rustix::io::{Errno, Result};

/// Makes a system call.
///
/// # Safety
///
/// What the call does with these numbers must be sound.
pub(super) unsafe fn call(number: libc::c_long, arguments: [usize; 5]) -> Result<libc::c_long> {
    // SAFETY: as the caller says.
    let returned = unsafe { enter(number, arguments) };
    match i32::try_from(returned) {
        Ok(errno @ -4095..=-1) => Err(Errno::from_raw_os_error(-errno)),
        Ok(_) | Err(_) => Ok(returned),
    }
}

#[cfg(target_arch = "x86_64")]
unsafe fn enter(number: libc::c_long, [a, b, c, d, e]: [usize; 5]) -> libc::c_long {
    let returned: libc::c_long;
    // SAFETY: the kernel changes these registers and no others, and what memory it uses is the
    // caller's concern.
    unsafe {
        std::arch::asm!("syscall", inlateout("rax") number => returned,
            in("rdi") a, in("rsi") b, in("rdx") c, in("r10") d, in("r8") e,
            lateout("rcx") _, lateout("r11") _, options(nostack));
    }
    returned
}

#[cfg(target_arch = "aarch64")]
unsafe fn enter(number: libc::c_long, [a, b, c, d, e]: [usize; 5]) -> libc::c_long {
    let returned: libc::c_long;
    // SAFETY: the kernel changes this register and no other, and what memory it uses is the caller's
    // concern.
    unsafe {
        std::arch::asm!("svc 0", inlateout("x0") a => returned, in("x8") number,
            in("x1") b, in("x2") c, in("x3") d, in("x4") e, options(nostack));
    }
    returned
}

/// Nobody is confined on other machines: there is no filter for them.
#[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
unsafe fn enter(_: libc::c_long, _: [usize; 5]) -> libc::c_long {
    -libc::c_long::from(libc::ENOSYS)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_fails_is_told_and_errno_is_as_it_was() {
        // SAFETY: the call returns the address of this thread's errno.
        let errno = unsafe { libc::__errno_location() };
        // SAFETY: the address is valid for this thread.
        unsafe { *errno = 7 };
        // SAFETY: there is no such descriptor to close, and no such call.
        let closed = unsafe { call(libc::SYS_close, [usize::MAX, 0, 0, 0, 0]) };
        // SAFETY: as above.
        let unknown = unsafe { call(9999, [0; 5]) };
        assert_eq!((closed, unknown), (Err(Errno::BADF), Err(Errno::NOSYS)));
        // SAFETY: the call takes nothing.
        let own = unsafe { call(libc::SYS_getpid, [0; 5]) };
        assert_eq!(own, Ok(std::process::id().into()));
        // SAFETY: as above.
        assert_eq!(unsafe { *errno }, 7);
    }
}
