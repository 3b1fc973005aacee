//! A set of kinds of sites.

use hypocenter_plan::SiteKind;

/// A set of [`SiteKind`]s.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Hash)]
pub struct KindSet(u32);

impl KindSet {
    /// No kind.
    pub const NONE: KindSet = KindSet(0);
    /// Every kind.
    pub const ALL: KindSet = KindSet::of(&SiteKind::ALL);
    /// Those about calls.
    pub(crate) const CALLS: KindSet =
        KindSet::of(&[SiteKind::Call, SiteKind::CallReturn, SiteKind::Log, SiteKind::CallThrow]);
    /// Those about operations of the JDK. One without the other would leave the agent without the begin or the end of an operation.
    pub(crate) const OPERATIONS: KindSet = KindSet::of(&[SiteKind::Operation, SiteKind::OperationEnd]);
    /// Those about objects and their monitors.
    pub(crate) const ACCESSES: KindSet = KindSet::of(&[
        SiteKind::FieldRead,
        SiteKind::FieldWrite,
        SiteKind::ArrayRead,
        SiteKind::ArrayWrite,
        SiteKind::Allocation,
        SiteKind::MonitorEnter,
        SiteKind::MonitorExit,
    ]);
    /// Those about loops.
    pub(crate) const LOOPS: KindSet = KindSet::of(&[
        SiteKind::LoopEntry,
        SiteKind::LoopIteration,
        SiteKind::LoopExit,
        SiteKind::LoopBody,
        SiteKind::LoopUnwind,
    ]);

    /// These kinds.
    pub const fn of(kinds: &[SiteKind]) -> KindSet {
        let mut set = KindSet::NONE;
        let mut at = 0;
        while at < kinds.len() {
            set = set.with(kinds[at]);
            at += 1;
        }
        set
    }

    /// The set with one more kind.
    #[must_use]
    pub const fn with(self, kind: SiteKind) -> KindSet {
        KindSet(self.0 | 1 << kind as u8)
    }

    /// The set without a kind.
    #[must_use]
    pub const fn without(self, kind: SiteKind) -> KindSet {
        KindSet(self.0 & !(1 << kind as u8))
    }

    /// Entries that both have.
    #[must_use]
    pub const fn and(self, other: KindSet) -> KindSet {
        KindSet(self.0 & other.0)
    }

    /// Tests whether a kind is in the set.
    pub const fn contains(self, kind: SiteKind) -> bool {
        self.0 & 1 << kind as u8 != 0
    }

    /// Tests whether both have a kind in common.
    pub const fn intersects(self, other: KindSet) -> bool {
        self.0 & other.0 != 0
    }

    /// Tests whether there is no kind in it.
    pub const fn is_empty(self) -> bool {
        self.0 == 0
    }
}
