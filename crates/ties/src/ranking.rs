//! The order of statements that fit one entry alike.

use hypocenter_logs::{Ranking, StatementId, Tied};
use hypocenter_program::{Following, Program};
use rustc_hash::FxHashMap;

use crate::copies::firsts;

/// Distance of statements without a known path: larger than any path.
const NO_WAY_DISTANCE: u32 = 24;
/// Maximum number of copies of a statement from which the search continues.
const COPIES_MAX: usize = 8;
/// Of how many statements the neighbours are kept.
const NEIGHBOURS_MAX: usize = 4096;

/// For each entry of a log its statements, those first that fit best between the entries around it in its thread.
pub fn ranking(program: &Program, tied: &Tied) -> Ranking {
    let world = &program.world;
    let following = Following::of(program.causes(), &program.statements);
    let statements = program.statements.statements();
    let firsts = firsts(program);
    let mut after: FxHashMap<StatementId, FxHashMap<u32, u32>> = FxHashMap::default();
    Ranking::of(tied, |from, to| {
        if after.len() > NEIGHBOURS_MAX {
            after.clear();
        }
        let after = after.entry(from).or_insert_with(|| {
            let mut found: FxHashMap<u32, u32> = FxHashMap::default();
            let copies = (from.0..).zip(&firsts[from.0 as usize..]).filter(|it| *it.1 == from.0);
            let behind = copies.take(COPIES_MAX).flat_map(|(it, _)| following.after(it));
            for (to, distance) in behind {
                let known = found.entry(firsts[to as usize]).or_insert(distance);
                *known = distance.min(*known);
            }
            found
        });
        after.get(&to.0).copied().unwrap_or_else(|| {
            let of = |it: StatementId| statements[it.0 as usize].method;
            let class = |it: StatementId| world.show_type(world.method(of(it)).owner);
            let (from_class, to_class) = (class(from), class(to));
            let package = |it: &str| it.rfind('.').map_or(0, |at| at);
            let apart = if of(from) == of(to) {
                0
            } else if from_class == to_class {
                1
            } else if from_class[..package(&from_class)] == to_class[..package(&to_class)] {
                2
            } else {
                3
            };
            NO_WAY_DISTANCE + apart
        })
    })
}
