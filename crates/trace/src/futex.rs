//! Sleeping on a word of the trial's file until another process changes it. The kernel knows the word by its file and
//! place, so it does not matter who mapped it where, or in which namespaces they live.

use std::io;
use std::sync::atomic::AtomicU32;

/// Sleeps while the word has this value. May also return for no reason: the caller looks at the word again. An error is
/// one that will come again.
pub(crate) fn wait(word: &AtomicU32, value: u32) -> io::Result<()> {
    // SAFETY: the word is live for the call, the kernel only reads it, and no time limit is given. Not the private
    // kind of futex, which is for one process alone.
    let code = unsafe {
        let for_ever = std::ptr::null::<libc::timespec>();
        libc::syscall(libc::SYS_futex, word.as_ptr(), libc::FUTEX_WAIT, value, for_ever)
    };
    let error = io::Error::last_os_error();
    match error.raw_os_error() {
        _ if code == 0 => Ok(()),
        Some(libc::EAGAIN | libc::EINTR) => Ok(()),
        _ => Err(error),
    }
}

/// Wakes everybody who sleeps on the word, in whichever process.
pub(crate) fn wake_all(word: *const u32) {
    // SAFETY: the kernel uses nothing of the word but its address, and answers one that leads nowhere with an error.
    unsafe {
        libc::syscall(libc::SYS_futex, word, libc::FUTEX_WAKE, i32::MAX);
    }
}
