//! Time at a hook: the processor's cycle counter, which is read in a few nanoseconds and agrees between cores
//! and processes of one machine; pairs with the monotonic clock turn it into nanoseconds.

use crate::layout::ClockPair;

/// The cycle counter.
#[inline(always)]
pub fn ticks() -> u64 {
    #[cfg(target_arch = "x86_64")]
    {
        // SAFETY: rdtsc exists on every x86_64 processor and has no memory effect.
        unsafe { core::arch::x86_64::_rdtsc() }
    }
    #[cfg(target_arch = "aarch64")]
    {
        let ticks: u64;
        // SAFETY: the virtual counter is readable from user space on Linux and has no memory effect.
        unsafe { core::arch::asm!("mrs {}, cntvct_el0", out(reg) ticks, options(nomem, nostack)) };
        ticks
    }
    #[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
    {
        nanos()
    }
}

/// The monotonic clock in nanoseconds.
pub fn nanos() -> u64 {
    read(libc::CLOCK_MONOTONIC)
}

/// The processor time of the current thread in nanoseconds.
pub fn thread_nanos() -> u64 {
    read(libc::CLOCK_THREAD_CPUTIME_ID)
}

fn read(clock: libc::clockid_t) -> u64 {
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: `time` is a valid place for the result, and both clocks always exist.
    unsafe { libc::clock_gettime(clock, &mut time) };
    time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64
}

pub(crate) fn pair() -> ClockPair {
    ClockPair { ticks: ticks(), nanos: nanos() }
}
