//! Sleeping on a word of the trial's file until another process changes it. The kernel knows the word by its file and
//! place, so it does not matter who mapped it where, or in which namespaces they live.

use std::io;
use std::sync::atomic::AtomicU32;
use std::time::Duration;

/// Sleeps while the word has this value, for so long at the most. May also return for no reason: the caller looks at the word again. An error is
/// one that will come again.
pub(crate) fn wait(word: &AtomicU32, value: u32, most: Option<Duration>) -> io::Result<()> {
    let most = most
        .map(|it| libc::timespec { tv_sec: it.as_secs() as libc::time_t, tv_nsec: it.subsec_nanos().into() });
    let limit = most.as_ref().map_or(std::ptr::null(), std::ptr::from_ref);
    // SAFETY: the word and the time limit are live for the call, and the kernel only reads them. Not the private
    // kind of futex, which is for one process alone.
    let code = unsafe { libc::syscall(libc::SYS_futex, word.as_ptr(), libc::FUTEX_WAIT, value, limit) };
    let error = io::Error::last_os_error();
    match error.raw_os_error() {
        _ if code == 0 => Ok(()),
        Some(libc::EAGAIN | libc::EINTR | libc::ETIMEDOUT) => Ok(()),
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
