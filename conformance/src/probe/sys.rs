//! System calls that no safe wrapper offers, because nobody should need them.
#![expect(unsafe_code, reason = "an attack is a system call; see docs/adr/0004")]

use std::ffi::CStr;
use std::io;
use std::os::fd::{AsRawFd as _, BorrowedFd};

use libc::{c_int, c_long, c_void};

fn check(returned: c_long) -> io::Result<c_long> {
    if returned < 0 { Err(io::Error::last_os_error()) } else { Ok(returned) }
}

/// What `io_uring_setup` reads and fills in: 120 bytes, all zero will do.
#[repr(C, align(8))]
struct Ring([u8; 120]);

/// Makes a ring of one entry, and leaves it open until the probe ends.
pub(crate) fn io_uring() -> io::Result<()> {
    let mut ring = Ring([0; 120]);
    // SAFETY: the kernel writes no more than the 120 bytes of its own structure.
    check(unsafe { libc::syscall(libc::SYS_io_uring_setup, 1, &raw mut ring) }).map(drop)
}

/// The same by the table of 32 bits. A filter may end the process; the kernel may not know the way.
#[cfg(target_arch = "x86_64")]
pub(crate) fn io_uring_of_32_bits() -> io::Result<()> {
    let room = low_page()?;
    let returned: i64;
    // SAFETY: call 425 of either table takes a count and an address, and writes 120 bytes to it:
    // the page is ours, and lies where 32 bits reach. The instruction changes rax alone, but the
    // kernel of old also cleared r8 to r11. rbx belongs to the compiler, so it is put back.
    unsafe {
        std::arch::asm!(
            "xchg rbx, {count}",
            "int 0x80",
            "xchg rbx, {count}",
            count = inout(reg) 1_u64 => _,
            inlateout("rax") 425_i64 => returned,
            in("rcx") room,
            out("r8") _, out("r9") _, out("r10") _, out("r11") _,
        );
    }
    // The answer is one of 32 bits.
    let number = i32::try_from(returned & 0xffff_ffff).unwrap_or_else(|_| low_half(returned));
    if number < 0 { Err(io::Error::from_raw_os_error(-number)) } else { Ok(()) }
}

#[cfg(target_arch = "x86_64")]
fn low_half(wide: i64) -> i32 {
    let [a, b, c, d, ..] = wide.to_le_bytes();
    i32::from_le_bytes([a, b, c, d])
}

/// Other machines have no such table.
#[cfg(not(target_arch = "x86_64"))]
pub(crate) fn io_uring_of_32_bits() -> io::Result<()> {
    Err(io::ErrorKind::Unsupported.into())
}

#[cfg(target_arch = "x86_64")]
fn low_page() -> io::Result<u64> {
    let how = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_32BIT;
    // SAFETY: a new mapping, at an address that the kernel chooses.
    let page = unsafe {
        libc::mmap(std::ptr::null_mut(), 4096, libc::PROT_READ | libc::PROT_WRITE, how, -1, 0)
    };
    if page == libc::MAP_FAILED { Err(io::Error::last_os_error()) } else { Ok(page as u64) }
}

/// Makes namespaces of this process's own.
pub(crate) fn unshare(flags: c_int) -> io::Result<()> {
    // SAFETY: the call takes one integer; nothing of this process relies on what it leaves.
    check(unsafe { libc::unshare(flags) }.into()).map(drop)
}

/// Has a child made by `clone3`, whose flags no filter can see; it ends at once.
pub(crate) fn clone3(flags: c_int) -> io::Result<()> {
    let flags = u64::from(flags.unsigned_abs());
    let signal = u64::from(libc::SIGCHLD.unsigned_abs());
    // flags, pidfd, child_tid, parent_tid, exit_signal, stack, stack_size, tls
    let wanted: [u64; 8] = [flags, 0, 0, 0, signal, 0, 0, 0];
    let size = size_of_val(&wanted);
    // SAFETY: without a stack and shared memory this is a fork. The child makes one call that
    // takes an integer, and does not return.
    let child = check(unsafe { libc::syscall(libc::SYS_clone3, &raw const wanted, size) })?;
    if child == 0 {
        // SAFETY: ends this process and runs nothing of it.
        unsafe { libc::_exit(0) };
    }
    Ok(())
}

/// Enters the namespace behind a descriptor.
pub(crate) fn setns(space: BorrowedFd<'_>) -> io::Result<()> {
    // SAFETY: the call takes two integers.
    check(unsafe { libc::setns(space.as_raw_fd(), 0) }.into()).map(drop)
}

/// Returns a handle of a path, in the kernel's own form.
pub(crate) fn name_to_handle(path: &CStr) -> io::Result<[u8; 136]> {
    let mut handle = [0; 136];
    let [first, ..] = &mut handle;
    // How many bytes there are behind the head of eight.
    *first = 128;
    let mut mount: c_int = 0;
    let at = libc::AT_FDCWD;
    // SAFETY: the kernel writes at most the 128 bytes that the head promises, and one integer.
    let returned = unsafe {
        libc::syscall(
            libc::SYS_name_to_handle_at,
            at,
            path.as_ptr(),
            handle.as_mut_ptr(),
            &raw mut mount,
            0,
        )
    };
    check(returned).map(|_| handle)
}

/// Opens a handle on the file system that the current folder is on.
pub(crate) fn open_by_handle(folder: BorrowedFd<'_>, handle: &[u8; 136]) -> io::Result<()> {
    // SAFETY: the kernel reads the head and as many bytes as it says, which it has itself written.
    let returned = unsafe {
        libc::syscall(
            libc::SYS_open_by_handle_at,
            folder.as_raw_fd(),
            handle.as_ptr(),
            libc::O_RDONLY,
        )
    };
    check(returned).map(drop)
}

/// Writes into the memory of another process.
pub(crate) fn write_memory(process: i32, address: u64, bytes: &[u8]) -> io::Result<()> {
    let base = bytes.as_ptr().cast_mut().cast::<c_void>();
    let ours = libc::iovec { iov_base: base, iov_len: bytes.len() };
    let theirs = libc::iovec { iov_base: address as *mut c_void, iov_len: bytes.len() };
    // SAFETY: our bytes are read only; the other address means nothing in this process.
    let written = unsafe {
        libc::syscall(
            libc::SYS_process_vm_writev,
            process,
            &raw const ours,
            1,
            &raw const theirs,
            1,
            0,
        )
    };
    check(written).map(drop)
}

/// Takes another process under control, writes one word into it and lets it go.
pub(crate) fn trace_and_poke(process: i32, address: u64, word: [u8; 8]) -> io::Result<()> {
    let word = i64::from_le_bytes(word);
    // SAFETY: requests that take integers; addresses are those of the other process.
    check(unsafe { libc::ptrace(libc::PTRACE_ATTACH, process, 0, 0) })?;
    let mut status: c_int = 0;
    // SAFETY: the kernel writes one integer.
    check(unsafe { libc::waitpid(process, &raw mut status, libc::__WALL) }.into())?;
    // SAFETY: as above.
    let poked = check(unsafe { libc::ptrace(libc::PTRACE_POKEDATA, process, address, word) });
    // SAFETY: as above.
    check(unsafe { libc::ptrace(libc::PTRACE_DETACH, process, 0, 0) }).and(poked).map(drop)
}

/// Puts a key onto the keyring of the user.
pub(crate) fn add_key(name: &CStr, value: &[u8]) -> io::Result<c_long> {
    const USER_KEYRING: c_int = -4;
    // SAFETY: two texts with an end, bytes with their length, and an integer; all are read only.
    let returned = unsafe {
        libc::syscall(
            libc::SYS_add_key,
            c"user".as_ptr(),
            name.as_ptr(),
            value.as_ptr(),
            value.len(),
            USER_KEYRING,
        )
    };
    check(returned)
}

/// Takes a key off the keyring of the user.
pub(crate) fn forget_key(key: c_long) -> io::Result<()> {
    const UNLINK: c_int = 9;
    const USER_KEYRING: c_int = -4;
    // SAFETY: integers.
    check(unsafe { libc::syscall(libc::SYS_keyctl, UNLINK, key, USER_KEYRING) }).map(drop)
}

/// Finds a segment of shared memory, or makes one of a page.
pub(crate) fn segment(key: i32, make: bool) -> io::Result<c_int> {
    let flags = if make { libc::IPC_CREAT | libc::IPC_EXCL | 0o666 } else { 0 };
    // SAFETY: integers.
    let found = unsafe { libc::shmget(key, if make { 4096 } else { 0 }, flags) };
    check(found.into()).map(|_| found)
}

/// Reads or writes the first bytes of a segment.
pub(crate) fn segment_bytes(segment: c_int, write: Option<[u8; 8]>) -> io::Result<[u8; 8]> {
    // SAFETY: the kernel chooses the address of a new mapping.
    let at = unsafe { libc::shmat(segment, std::ptr::null(), 0) }.cast::<[u8; 8]>();
    if at.addr() == usize::MAX {
        return Err(io::Error::last_os_error());
    }
    if let Some(bytes) = write {
        // SAFETY: the segment has a page, which is mapped for writing.
        unsafe { at.write_volatile(bytes) };
    }
    // SAFETY: the same page.
    let read = unsafe { at.read_volatile() };
    // SAFETY: it is not used any more.
    check(unsafe { libc::shmdt(at.cast()) }.into()).map(|_| read)
}

/// Removes a segment.
pub(crate) fn remove_segment(segment: c_int) -> io::Result<()> {
    // SAFETY: integers, and no structure for this request.
    check(unsafe { libc::shmctl(segment, libc::IPC_RMID, std::ptr::null_mut()) }.into()).map(drop)
}

/// Opens a queue of messages, or makes one.
pub(crate) fn queue(name: &CStr, make: bool) -> io::Result<c_int> {
    let flags = libc::O_RDWR | libc::O_NONBLOCK | if make { libc::O_CREAT } else { 0 };
    // Room for few and short messages: a user may not have many.
    let attributes: [c_long; 8] = [0, 2, 64, 0, 0, 0, 0, 0];
    // SAFETY: a text with an end, integers, and a structure that is read only.
    let open = unsafe {
        libc::syscall(libc::SYS_mq_open, name.as_ptr(), flags, 0o666, attributes.as_ptr())
    };
    check(open).map(|open| c_int::try_from(open).unwrap_or(-1))
}

/// Sends to a queue of messages.
pub(crate) fn queue_send(queue: c_int, bytes: &[u8]) -> io::Result<()> {
    let (at, length) = (bytes.as_ptr(), bytes.len());
    // SAFETY: bytes with their length, which are read only; no time is given.
    let sent = unsafe { libc::syscall(libc::SYS_mq_timedsend, queue, at, length, 0, 0) };
    check(sent).map(drop)
}

/// Returns whether something waits in a queue of messages.
pub(crate) fn queue_has(queue: c_int) -> bool {
    let mut room = [0_u8; 64];
    let (at, length) = (room.as_mut_ptr(), room.len());
    // SAFETY: the kernel writes no more than the length; no time is given.
    let read = unsafe { libc::syscall(libc::SYS_mq_timedreceive, queue, at, length, 0, 0) };
    check(read).is_ok()
}

/// Removes a queue of messages.
pub(crate) fn remove_queue(name: &CStr) -> io::Result<()> {
    // SAFETY: a text with an end.
    check(unsafe { libc::syscall(libc::SYS_mq_unlink, name.as_ptr()) }).map(drop)
}

/// Puts a byte into the input of a terminal.
pub(crate) fn type_byte(terminal: BorrowedFd<'_>, byte: u8) -> io::Result<()> {
    // SAFETY: the kernel reads one byte.
    let typed = unsafe { libc::ioctl(terminal.as_raw_fd(), libc::TIOCSTI, &raw const byte) };
    check(typed.into()).map(drop)
}

/// Blocks the signal of a terminal that changes its size: one that is sent then stays to be seen.
pub(crate) fn block_window_signal() -> io::Result<()> {
    // SAFETY: a set of signals is plain memory, for which zero is a value.
    let mut set: libc::sigset_t = unsafe { std::mem::zeroed() };
    // SAFETY: the set is ours.
    check(unsafe { libc::sigaddset(&raw mut set, libc::SIGWINCH) }.into())?;
    let nothing = std::ptr::null_mut();
    // SAFETY: the set is read only, and the old one is not asked for.
    let how = unsafe { libc::sigprocmask(libc::SIG_BLOCK, &raw const set, nothing) };
    check(how.into()).map(drop)
}

/// Makes sure that no program gets a capability by being started.
pub(crate) fn empty_bounding_set() -> io::Result<()> {
    for number in 0..64 {
        // SAFETY: integers; a number that the kernel does not know is EINVAL.
        let dropped = unsafe { libc::prctl(libc::PR_CAPBSET_DROP, number, 0, 0, 0) };
        match check(dropped.into()) {
            Err(error) if error.raw_os_error() == Some(libc::EINVAL) => break,
            // An ordinary user has none to drop, and may not say so.
            Err(error) if error.raw_os_error() == Some(libc::EPERM) => break,
            outcome => outcome.map(drop)?,
        }
    }
    Ok(())
}

/// Refuses new user namespaces to this process and all descendants, as some hosts do.
#[cfg(target_arch = "x86_64")]
pub(crate) fn without_user_namespaces() -> io::Result<()> {
    let one = |code: u32, jt: u8, jf: u8, k: u32| libc::sock_filter {
        code: u16::try_from(code).unwrap_or(0),
        jt,
        jf,
        k,
    };
    let load = libc::BPF_LD | libc::BPF_W | libc::BPF_ABS;
    let equal = libc::BPF_JMP | libc::BPF_JEQ | libc::BPF_K;
    let any = libc::BPF_JMP | libc::BPF_JSET | libc::BPF_K;
    let answer = libc::BPF_RET | libc::BPF_K;
    let user = libc::CLONE_NEWUSER.unsigned_abs();
    let errno = |number: c_int| libc::SECCOMP_RET_ERRNO | number.unsigned_abs();
    let program = [
        one(load, 0, 0, 0),
        // unshare 272, clone 56: the flags come first. clone3 435 keeps them in memory.
        one(equal, 2, 0, 272),
        one(equal, 1, 0, 56),
        one(equal, 3, 4, 435),
        one(load, 0, 0, 16),
        one(any, 0, 2, user),
        one(answer, 0, 0, errno(libc::EPERM)),
        one(answer, 0, 0, errno(libc::ENOSYS)),
        one(answer, 0, 0, libc::SECCOMP_RET_ALLOW),
    ];
    let filter = libc::sock_fprog { len: 9, filter: program.as_ptr().cast_mut() };
    let mode = libc::SECCOMP_MODE_FILTER;
    // SAFETY: integers.
    check(unsafe { libc::prctl(libc::PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) }.into())?;
    // SAFETY: a program of nine instructions, which the kernel copies.
    check(unsafe { libc::prctl(libc::PR_SET_SECCOMP, mode, &raw const filter) }.into()).map(drop)
}

/// The numbers above are those of one machine.
#[cfg(not(target_arch = "x86_64"))]
pub(crate) fn without_user_namespaces() -> io::Result<()> {
    Err(io::ErrorKind::Unsupported.into())
}
