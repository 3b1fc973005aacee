//! The lines of the source that the instructions of a method come from.

use hypocenter_classfile::Code;

/// The line table, sorted, so that a long method does not search it from the start for each site.
#[derive(Debug)]
pub(crate) struct Lines(Vec<(u32, u16)>);

impl Lines {
    pub fn of(code: &Code<'_>) -> Lines {
        let mut lines: Vec<_> = code.lines().collect();
        lines.sort_by_key(|&(pc, _)| pc);
        Lines(lines)
    }

    /// The line of an address: the entry nearest before it. Of several entries for one address the first counts
    /// at the address itself and the last behind it, as in HotSpot.
    pub fn at(&self, pc: u32) -> Option<u32> {
        let behind = self.0.partition_point(|&(start, _)| start <= pc);
        let nearest = self.0.get(behind.checked_sub(1)?)?;
        let line = if nearest.0 == pc {
            self.0[self.0.partition_point(|&(start, _)| start < pc)].1
        } else {
            nearest.1
        };
        (line > 0).then_some(line.into())
    }
}
