//! Telling the ways into an instruction apart without a branch.
//!
//! Snippets before an instruction form a chain: falling through runs all of them, and a jump that lands between two
//! runs the rest. So the sets of ways in that have to run each snippet must be nested, the smallest first, and
//! falling through (where it can happen) must belong to all. An unconditional `goto` is more flexible, because it
//! can run its own copy of a snippet before it jumps.

use crate::instruction::{Instruction, Jump, jump};
use crate::layout::{HANDLER, Landing, Layout, Part, Slot};
use crate::{Code, Insertion, Place, Unpatched, op};

/// The source of the way in from the instruction before.
const FALL: u32 = u32::MAX - 1;

/// The ways into one instruction, and which of its snippets each has to run.
struct Point<'w> {
    target: u32,
    /// Sources in ascending order: jumps, then `FALL`, then `HANDLER`.
    ways: &'w [(u32, u32)],
    /// Words of a row.
    words: usize,
    /// One row of bits a snippet.
    rows: Vec<u64>,
}

impl Point<'_> {
    fn row(&self, snippet: usize) -> &[u64] {
        &self.rows[snippet * self.words..(snippet + 1) * self.words]
    }

    fn runs(&self, snippet: usize, way: usize) -> bool {
        self.row(snippet)[way / 64] >> (way % 64) & 1 == 1
    }

    fn way(&self, source: u32) -> Option<usize> {
        self.ways.binary_search(&(self.target, source)).ok()
    }

    /// Puts the snippets in an order in which their sets of ways in, as far as they are in `mask`, are nested.
    fn chain(&self, snippets: usize, mask: &[u64]) -> Option<Vec<usize>> {
        let masked = |n: usize| self.row(n).iter().zip(mask).map(|(row, mask)| row & mask);
        let count = |n: usize| self.row(n).iter().map(|word| word.count_ones()).sum::<u32>();
        // What every way has to run stays before the instruction, behind every landing: a copy before a `goto` would be
        // outside of the exception ranges and the line that it belongs to.
        let stays = |n: usize| masked(n).any(|word| word != 0) || count(n) as usize == self.ways.len();
        let mut chain: Vec<usize> = (0..snippets).filter(|n| stays(*n)).collect();
        chain.sort_by_key(|n| (masked(*n).map(u64::count_ones).sum::<u32>(), count(*n)));
        let nested =
            chain.windows(2).all(|pair| masked(pair[0]).zip(masked(pair[1])).all(|(a, b)| a & !b == 0));
        let falls = match (self.way(FALL), chain.first()) {
            (Some(fall), Some(&first)) => self.runs(first, fall),
            _ => true,
        };
        (nested && falls).then_some(chain)
    }
}

/// Orders the snippets at every instruction that has [`Place::Edges`], and notes where each way in lands.
pub(crate) fn separate(
    layout: &mut Layout,
    code: &Code<'_>,
    insertions: &[Insertion<'_>],
) -> Result<(), Unpatched> {
    let mut targets: Vec<u32> =
        insertions.iter().filter(|i| matches!(i.place, Place::Edges { .. })).map(|i| i.at).collect();
    targets.sort_unstable();
    targets.dedup();
    let ways = ways_into(layout, code, &targets)?;
    let mut copies = Vec::new();
    let mut dropped = Vec::new();
    for target in targets {
        let from = ways.partition_point(|way| way.0 < target);
        let to = ways.partition_point(|way| way.0 <= target);
        let first = layout.slots.partition_point(|slot| (slot.at, slot.part) < (target, Part::Chain));
        let len =
            layout.slots[first..].iter().take_while(|s| (s.at, s.part) == (target, Part::Chain)).count();
        let slots = &mut layout.slots[first..first + len];
        let point = point(target, &ways[from..to], slots, insertions)?;
        let all = vec![u64::MAX; point.words];
        let chain = match point.chain(len, &all) {
            Some(chain) => chain,
            None => {
                let mut mask = all;
                for (n, &(_, source)) in point.ways.iter().enumerate() {
                    if is_goto(code, source) {
                        mask[n / 64] &= !(1 << (n % 64));
                    }
                }
                point.chain(len, &mask).ok_or(Unpatched::EdgeNotSeparable { pc: target })?
            }
        };
        let mut suffix = Vec::with_capacity(chain.len());
        let mut only_fall = point.way(FALL).is_some();
        for (n, &(_, source)) in point.ways.iter().enumerate() {
            let skipped =
                chain.iter().rposition(|snippet| !point.runs(*snippet, n)).map_or(0, |last| last + 1);
            suffix.clear();
            suffix.extend_from_slice(&chain[skipped..]);
            // What this way has to run and does not find behind its landing, its own copy does; only a `goto` can
            // be in that position.
            for (snippet, slot) in slots.iter().enumerate() {
                if point.runs(snippet, n) && !suffix.contains(&snippet) {
                    copies.push(Slot { at: source, part: Part::Leaving, ..*slot });
                }
            }
            let offset: usize = chain[..skipped]
                .iter()
                .map(|snippet| insertions[slots[*snippet].insertion as usize].snippet.bytes.len())
                .sum();
            if offset > 0 && source != FALL {
                let offset =
                    u32::try_from(offset).map_err(|_| Unpatched::MethodTooLarge { bytes: offset })?;
                layout.landings.push(Landing { target, source, offset });
            } else if source != FALL {
                only_fall = false;
            }
        }
        if only_fall {
            layout.fallen_into.push(target);
        }
        for (snippet, slot) in slots.iter_mut().enumerate() {
            match chain.iter().position(|n| *n == snippet) {
                Some(order) => slot.order = order as u32,
                None => dropped.push(*slot),
            }
        }
    }
    if !dropped.is_empty() {
        dropped.sort_unstable();
        layout.slots.retain(|slot| slot.part != Part::Chain || dropped.binary_search(slot).is_err());
    }
    layout.slots.extend(copies);
    Ok(())
}

fn is_goto(code: &Code<'_>, source: u32) -> bool {
    matches!(code.bytes.get(source as usize), Some(&(op::GOTO | op::GOTO_W)))
}

/// Every way into one of `targets`, as (target, source), sorted.
fn ways_into(layout: &Layout, code: &Code<'_>, targets: &[u32]) -> Result<Vec<(u32, u32)>, Unpatched> {
    let mut ways = Vec::new();
    let mut falls = true;
    for &pc in &layout.pcs {
        let opcode = code.bytes[pc as usize];
        if falls && targets.binary_search(&pc).is_ok() {
            ways.push((pc, FALL));
        }
        falls = crate::instruction::falls_through(opcode);
        if jump(opcode) != Jump::None {
            let instruction = Instruction::decode(code.bytes, pc as usize, code.offset)?;
            let hit = instruction.targets().filter(|target| targets.binary_search(target).is_ok());
            ways.extend(hit.map(|target| (target, pc)));
        }
    }
    let handlers = code.handlers().map(|handler| u32::from(handler.handler));
    ways.extend(
        handlers.filter(|target| targets.binary_search(target).is_ok()).map(|target| (target, HANDLER)),
    );
    ways.sort_unstable();
    ways.dedup();
    Ok(ways)
}

fn point<'w>(
    target: u32,
    ways: &'w [(u32, u32)],
    slots: &[Slot],
    insertions: &[Insertion<'_>],
) -> Result<Point<'w>, Unpatched> {
    let words = ways.len().div_ceil(64).max(1);
    let mut point = Point { target, ways, words, rows: vec![0; words * slots.len()] };
    for (n, slot) in slots.iter().enumerate() {
        let mut set = |way: usize| point.rows[n * words + way / 64] |= 1 << (way % 64);
        match insertions[slot.insertion as usize].place {
            Place::Edges { fall, from } => {
                if fall && let Ok(way) = ways.binary_search(&(target, FALL)) {
                    set(way);
                }
                for &source in from {
                    match ways.binary_search(&(target, source)) {
                        Ok(way) if source < FALL => set(way),
                        _ => return Err(Unpatched::EdgeNotSeparable { pc: source }),
                    }
                }
            }
            _ => (0..ways.len()).for_each(&mut set),
        }
    }
    Ok(point)
}
