//! Removes merges that merge nothing, and numbers the rest.

use crate::methods::tracer::{Traced, merge_of};
use crate::methods::values::{Value, ValueId};

/// The most passes over all merges. One suffices for most code, as many as loops are nested for all that is
/// reducible; what is left behind them is right, only not as simple as it could be.
const PASSES_MAX: u32 = 64;
const NONE: ValueId = ValueId(u32::MAX);

/// The merges that are left.
#[derive(Debug, Default)]
pub(crate) struct Merges {
    /// Start of the inputs of each; one more for the end of the last.
    pub starts: Vec<u32>,
    pub inputs: Vec<ValueId>,
}

/// Replaces merges in the operands of `traced` by values, and adds those that are left to its values.
pub(crate) fn settle(traced: &mut Traced) -> Merges {
    if traced.merges.is_empty() {
        return Merges::default();
    }
    let mut same = simplify(traced);
    let mut numbers = Numbers {
        values: &mut traced.values,
        numbered: vec![ValueId::UNKNOWN; traced.merges.len()],
        blocks: traced.merges.iter().map(|it| it.block).collect(),
        order: Vec::new(),
    };
    for operand in &mut traced.operands {
        *operand = numbers.of(resolve(&mut same, *operand));
    }
    let mut starts = vec![0];
    let mut inputs: Vec<ValueId> = Vec::new();
    let mut at = 0;
    // The inputs of a merge may need numbers for further ones, which then stand at the end of the order.
    while let Some(&merge) = numbers.order.get(at) {
        let start = inputs.len();
        let own = numbers.numbered[merge];
        for &input in traced.merges[merge].inputs.of(&traced.inputs) {
            let input = numbers.of(resolve(&mut same, input));
            if input != own {
                inputs.push(input);
            }
        }
        inputs[start..].sort_unstable();
        let mut kept = start;
        for i in start..inputs.len() {
            if i == start || inputs[i] != inputs[kept - 1] {
                inputs[kept] = inputs[i];
                kept += 1;
            }
        }
        inputs.truncate(kept);
        starts.push(inputs.len() as u32);
        at += 1;
    }
    Merges { starts, inputs }
}

/// For each merge what it is the same as: itself if it merges several values.
fn simplify(traced: &Traced) -> Vec<ValueId> {
    let count = traced.merges.len();
    let mut same = vec![NONE; count];
    // A merge is made before those that it needs, so the last are the simplest.
    let mut left: Vec<usize> = (0..count).rev().collect();
    for _ in 0..PASSES_MAX {
        let before = left.len();
        left.retain(|&merge| {
            let mut only = NONE;
            for &input in traced.merges[merge].inputs.of(&traced.inputs) {
                let input = resolve(&mut same, input);
                if input == only || merge_of(input) == Some(merge) {
                    continue;
                }
                if only != NONE {
                    return true;
                }
                only = input;
            }
            same[merge] = if only == NONE { ValueId::UNKNOWN } else { only };
            false
        });
        if left.len() == before {
            break;
        }
    }
    same
}

/// Value that a value equals. Chains over several merges are shortened.
fn resolve(same: &mut [ValueId], value: ValueId) -> ValueId {
    let mut end = value;
    while let Some(merge) = merge_of(end)
        && same[merge] != NONE
    {
        end = same[merge];
    }
    let mut at = value;
    while at != end
        && let Some(merge) = merge_of(at)
    {
        at = std::mem::replace(&mut same[merge], end);
    }
    end
}

/// Gives numbers to merges in the order in which they are needed; what is never asked for gets none.
struct Numbers<'t> {
    values: &'t mut Vec<Value>,
    numbered: Vec<ValueId>,
    blocks: Vec<u32>,
    order: Vec<usize>,
}

impl Numbers<'_> {
    fn of(&mut self, value: ValueId) -> ValueId {
        let Some(merge) = merge_of(value) else { return value };
        if self.numbered[merge] == ValueId::UNKNOWN {
            self.numbered[merge] = ValueId(self.values.len() as u32);
            self.values.push(Value::Phi(self.blocks[merge]));
            self.order.push(merge);
        }
        self.numbered[merge]
    }
}
