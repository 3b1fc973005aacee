//! Where code that runs in a JVM writes the events of its thread without a call into the agent.
//!
//! A lane is a few words of memory that a native thread lends out while none of its own code runs: where the next event goes, where the
//! room ends, and how to publish it. The Java code finds its lane by the number of its thread and writes events of two words.

use std::sync::atomic::{AtomicU64, Ordering};

/// One thread's lane. Only its owner changes it, from Java code and from native code in turn, so relaxed accesses suffice.
#[derive(Debug, Default)]
#[repr(C, align(64))]
pub struct Lane {
    /// The number of the thread that has it; 0 for nobody.
    owner: AtomicU64,
    /// The address of the next event.
    next: AtomicU64,
    /// The address at which there is no room for an event any more; that of the next event if none may be written.
    end: AtomicU64,
    /// The address of the chunk's `used` word, and what to subtract from the address of the next event to get its value.
    used: AtomicU64,
    base: AtomicU64,
    /// The number of the Java thread that events are of, where a native thread may run several.
    speaker: AtomicU64,
    spare: [u64; 2],
}

impl Lane {
    /// The size of a lane as a power of two.
    pub const SHIFT: u32 = 6;
    /// Offsets of the words, for the code in Java.
    pub const OWNER: i64 = 0;
    /// See [`Lane::OWNER`].
    pub const NEXT: i64 = 8;
    /// See [`Lane::OWNER`].
    pub const END: i64 = 16;
    /// See [`Lane::OWNER`].
    pub const USED: i64 = 24;
    /// See [`Lane::OWNER`].
    pub const BASE: i64 = 32;
    /// See [`Lane::OWNER`].
    pub const SPEAKER: i64 = 40;

    /// Takes the lane for a thread, if nobody has it. It has no room then.
    pub fn claim(&self, owner: u64) -> bool {
        let free = self.owner.compare_exchange(0, u64::MAX, Ordering::AcqRel, Ordering::Relaxed).is_ok();
        if free {
            for word in [&self.next, &self.end, &self.speaker] {
                word.store(0, Ordering::Relaxed);
            }
            self.owner.store(owner, Ordering::Release);
        }
        free
    }

    /// Gives it up. Its owner calls, and has taken back what it lent.
    pub fn release(&self) {
        self.owner.store(0, Ordering::Release);
    }

    /// The thread that has it.
    pub fn owner(&self) -> u64 {
        self.owner.load(Ordering::Relaxed)
    }

    /// Lets the Java thread of this number write `room` bytes at an address of a chunk, which starts its count at `base`.
    pub(crate) fn lend(&self, speaker: u64, next: u64, room: u64, used: u64, base: u64) {
        self.speaker.store(speaker, Ordering::Relaxed);
        self.used.store(used, Ordering::Relaxed);
        self.base.store(base, Ordering::Relaxed);
        self.next.store(next, Ordering::Relaxed);
        self.end.store(next + (room - room % EVENT_BYTES), Ordering::Relaxed);
    }

    /// Takes the room back; the address of the next event, or 0 if nothing was lent. Events that Java code comes to meanwhile, because
    /// the agent runs Java code itself, find no room.
    pub(crate) fn take_back(&self) -> u64 {
        self.end.store(0, Ordering::Relaxed);
        self.next.swap(0, Ordering::Relaxed)
    }
}

/// The size of an event that Java code writes.
pub(crate) const EVENT_BYTES: u64 = 16;

const _: () = {
    use std::mem::offset_of;
    assert!(size_of::<Lane>() == 1 << Lane::SHIFT);
    assert!(offset_of!(Lane, owner) as i64 == Lane::OWNER && offset_of!(Lane, next) as i64 == Lane::NEXT);
    assert!(offset_of!(Lane, end) as i64 == Lane::END && offset_of!(Lane, used) as i64 == Lane::USED);
    assert!(offset_of!(Lane, base) as i64 == Lane::BASE && offset_of!(Lane, speaker) as i64 == Lane::SPEAKER);
};
