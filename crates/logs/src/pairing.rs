//! Which thread of one run is which of another, among threads of one role.
//!
//! Threads that wrote the same are paired first, which costs nothing of the best pairing: what a pair of equals could gain
//! with others is no more than the others lose. The rest is an assignment that leaves the fewest entries alone.

use rustc_hash::FxHashMap;

use crate::diff::Differ;

/// What a thread wrote, as numbers.
#[derive(Debug)]
pub(crate) struct Written<'t> {
    pub name: &'t str,
    pub numbers: Vec<u32>,
}

/// How many threads of a role are assigned to one another at once. Of more, those that came first are assigned among
/// themselves, then the next.
const ASSIGNED_MAX: usize = 32;
/// How much may be compared to assign threads by the order of their entries. Beyond it they are assigned by how many
/// entries they have in common.
const COMPARED_MAX: usize = 1 << 22;

/// Pairs threads, given by their places.
pub(crate) fn pair(a: &[Written<'_>], b: &[Written<'_>], differ: &mut Differ) -> Vec<(usize, usize)> {
    if let ([_], [_]) = (a, b) {
        return vec![(0, 0)];
    }
    let mut pairs = equals(a, b);
    let left = |all: &[Written<'_>], used: Vec<usize>| {
        let mut is_left = vec![true; all.len()];
        used.into_iter().for_each(|it| is_left[it] = false);
        (0..all.len()).filter(|it| is_left[*it]).collect::<Vec<usize>>()
    };
    let left_a = left(a, pairs.iter().map(|it| it.0).collect());
    let left_b = left(b, pairs.iter().map(|it| it.1).collect());
    if left_a.is_empty() || left_b.is_empty() {
        return pairs;
    }
    let blocks = left_a.len().max(left_b.len()).div_ceil(ASSIGNED_MAX);
    for n in 0..blocks {
        let block = |all: &'_ [usize]| all[n * all.len() / blocks..(n + 1) * all.len() / blocks].to_vec();
        let (rows, columns) = (block(&left_a), block(&left_b));
        let of = |row: usize, column: usize| (&a[rows[row]], &b[columns[column]]);
        let compared: usize = (0..rows.len())
            .flat_map(|row| (0..columns.len()).map(move |column| (row, column)))
            .map(|(row, column)| of(row, column).0.numbers.len() * of(row, column).1.numbers.len())
            .fold(0, usize::saturating_add);
        let common: Vec<Vec<u32>> = if compared <= COMPARED_MAX {
            let mut pairs = |row, column| {
                let (one, other) = of(row, column);
                differ.pairs(&one.numbers, &other.numbers).len() as u32
            };
            (0..rows.len()).map(|row| (0..columns.len()).map(|it| pairs(row, it)).collect()).collect()
        } else {
            let one: Vec<&[u32]> = rows.iter().map(|it| &a[*it].numbers[..]).collect();
            let other: Vec<&[u32]> = columns.iter().map(|it| &b[*it].numbers[..]).collect();
            in_common(&one, &other)
        };
        let gain = |row: usize, column: usize| {
            let (one, other) = of(row, column);
            // Of pairings that are equally good the one with most equal names.
            (ASSIGNED_MAX as i64 + 1) * i64::from(common[row][column]) + i64::from(one.name == other.name)
        };
        let gains: Vec<Vec<i64>> =
            (0..rows.len()).map(|row| (0..columns.len()).map(|it| gain(row, it)).collect()).collect();
        let assigned = assign(&gains, columns.len());
        pairs.extend(assigned.into_iter().map(|(row, column)| (rows[row], columns[column])));
    }
    pairs.sort_unstable();
    pairs
}

/// How many elements each of `a` has in common with each of `b`, in any order: no fewer than a subsequence. There are no more than
/// [`ASSIGNED_MAX`] of either.
fn in_common(a: &[&[u32]], b: &[&[u32]]) -> Vec<Vec<u32>> {
    // Numbers that some of both have get small numbers.
    let greatest = a.iter().chain(b).copied().flatten().copied().max().unwrap_or(0) as usize;
    let mut small = vec![u32::MAX; greatest + 1];
    b.iter().copied().flatten().for_each(|it| small[*it as usize] = 0);
    let mut count = 0;
    for it in a.iter().copied().flatten() {
        if small[*it as usize] == 0 {
            count += 1;
            small[*it as usize] = count;
        }
    }
    // How often each occurs, side by side for all of one side.
    let counts = |all: &[&[u32]]| {
        let mut counts = vec![[0_u32; ASSIGNED_MAX]; count as usize + 1];
        for (n, numbers) in all.iter().enumerate() {
            for it in *numbers {
                let it = small[*it as usize];
                if it != u32::MAX {
                    counts[it as usize][n] += 1;
                }
            }
        }
        counts
    };
    let (of_a, of_b) = (counts(a), counts(b));
    let mut common = vec![[0_u32; ASSIGNED_MAX]; a.len()];
    // Number 0 is of those that only one side has.
    for (x, y) in of_a.iter().zip(&of_b).skip(1) {
        for (common, x) in common.iter_mut().zip(x).filter(|(_, x)| **x > 0) {
            common.iter_mut().zip(y).for_each(|(common, y)| *common += x.min(y));
        }
    }
    common.iter().map(|it| it[..b.len()].to_vec()).collect()
}

/// Pairs threads that wrote the same, those with equal names first.
fn equals(a: &[Written<'_>], b: &[Written<'_>]) -> Vec<(usize, usize)> {
    let mut pairs = Vec::new();
    let mut is_paired = vec![false; a.len()];
    let mut named: FxHashMap<(&[u32], &str), Vec<usize>> = FxHashMap::default();
    for (n, it) in b.iter().enumerate().rev() {
        named.entry((&it.numbers, it.name)).or_default().push(n);
    }
    for (n, it) in a.iter().enumerate() {
        if let Some(other) = named.get_mut(&(&it.numbers[..], it.name)).and_then(Vec::pop) {
            pairs.push((n, other));
            is_paired[n] = true;
        }
    }
    let mut others: FxHashMap<&[u32], Vec<usize>> = FxHashMap::default();
    for ((numbers, _), left) in named {
        others.entry(numbers).or_default().extend(left);
    }
    others.values_mut().for_each(|it| it.sort_unstable_by(|x, y| y.cmp(x)));
    for (n, it) in a.iter().enumerate().filter(|(n, _)| !is_paired[*n]) {
        if let Some(other) = others.get_mut(&it.numbers[..]).and_then(Vec::pop) {
            pairs.push((n, other));
        }
    }
    pairs
}

/// The pairs of rows and columns with the greatest sum of gains, each row and each column in one at most. It is the
/// Hungarian method, with a row added to the pairs at a time.
fn assign(gains: &[Vec<i64>], columns: usize) -> Vec<(usize, usize)> {
    if gains.len() > columns {
        let turned: Vec<Vec<i64>> =
            (0..columns).map(|column| gains.iter().map(|row| row[column]).collect()).collect();
        let mut pairs: Vec<_> = assign(&turned, gains.len()).into_iter().map(|(x, y)| (y, x)).collect();
        pairs.sort_unstable();
        return pairs;
    }
    const FREE: usize = usize::MAX;
    // One more column, the last, is where the row stands that is being added.
    let (mut row_price, mut column_price) = (vec![0_i64; gains.len()], vec![0_i64; columns + 1]);
    let mut row_of = vec![FREE; columns + 1];
    for row in 0..gains.len() {
        row_of[columns] = row;
        let mut least = vec![i64::MAX; columns];
        let mut came_from = vec![columns; columns];
        let mut is_done = vec![false; columns + 1];
        let mut column = columns;
        while row_of[column] != FREE {
            is_done[column] = true;
            let from = row_of[column];
            let mut nearest = (i64::MAX, columns);
            for it in (0..columns).filter(|it| !is_done[*it]) {
                let cost = -gains[from][it] - row_price[from] - column_price[it];
                if cost < least[it] {
                    (least[it], came_from[it]) = (cost, column);
                }
                nearest = nearest.min((least[it], it));
            }
            for it in 0..=columns {
                if is_done[it] {
                    row_price[row_of[it]] += nearest.0;
                    column_price[it] -= nearest.0;
                } else if it < columns {
                    least[it] -= nearest.0;
                }
            }
            column = nearest.1;
        }
        while column != columns {
            let before = came_from[column];
            row_of[column] = row_of[before];
            column = before;
        }
    }
    let mut pairs: Vec<(usize, usize)> =
        (0..columns).filter(|it| row_of[*it] != FREE).map(|it| (row_of[it], it)).collect();
    pairs.sort_unstable();
    pairs
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// The best sum by trying everything.
    fn best(gains: &[Vec<i64>], row: usize, used: u32) -> i64 {
        let Some(gain) = gains.get(row) else { return 0 };
        let with = (0..gain.len()).filter(|it| used & 1 << it == 0);
        let with = with.map(|it| gain[it] + best(gains, row + 1, used | 1 << it)).max().unwrap_or(0);
        with.max(best(gains, row + 1, used))
    }

    proptest! {
        #![proptest_config(ProptestConfig { cases: 256, failure_persistence: None, ..ProptestConfig::default() })]

        #[test]
        fn what_two_have_in_common_is_counted_for_all_at_once(
            a in prop::collection::vec(prop::collection::vec(0_u32..20, 0..30), 1..5),
            b in prop::collection::vec(prop::collection::vec(5_u32..25, 0..30), 1..5),
        ) {
            let (x, y): (Vec<&[u32]>, Vec<&[u32]>) =
                (a.iter().map(Vec::as_slice).collect(), b.iter().map(Vec::as_slice).collect());
            let common = |one: &[u32], other: &[u32]| {
                let mut left = other.to_vec();
                let mut found = |it: &u32| left.iter().position(|other| it == other).map(|it| left.swap_remove(it));
                one.iter().filter(|it| found(it).is_some()).count() as u32
            };
            let expected: Vec<Vec<u32>> =
                a.iter().map(|one| b.iter().map(|other| common(one, other)).collect()).collect();
            prop_assert_eq!(in_common(&x, &y), expected);
        }

        #[test]
        fn an_assignment_is_the_best(
            gains in (1_usize..6, 1_usize..6).prop_flat_map(|(rows, columns)| {
                prop::collection::vec(prop::collection::vec(0_i64..20, columns), rows)
            }),
        ) {
            let pairs = assign(&gains, gains[0].len());
            prop_assert_eq!(pairs.len(), gains.len().min(gains[0].len()));
            let sum: i64 = pairs.iter().map(|(row, column)| gains[*row][*column]).sum();
            prop_assert_eq!(sum, best(&gains, 0, 0));
        }
    }

    #[test]
    fn threads_find_their_like() {
        let check =
            |a: &[(&'static str, &[u32])], b: &[(&'static str, &[u32])], expected: &[(usize, usize)]| {
                let written = |all: &[(&'static str, &[u32])]| {
                    all.iter()
                        .map(|(name, numbers)| Written { name, numbers: numbers.to_vec() })
                        .collect::<Vec<_>>()
                };
                let (x, y) = (written(a), written(b));
                let mut pairs = pair(&x, &y, &mut Differ::default());
                pairs.sort_unstable();
                assert_eq!(pairs, expected, "{a:?} {b:?}");
            };
        check(&[("t1", &[1])], &[("t2", &[2])], &[(0, 0)]);
        // The leader of one run is the follower of the other.
        check(&[("t1", &[1, 2, 3]), ("t2", &[7, 8])], &[("t1", &[7, 8]), ("t2", &[1, 3])], &[(0, 1), (1, 0)]);
        check(&[("t1", &[1, 2]), ("t2", &[1, 2])], &[("t2", &[1, 2]), ("t1", &[1, 2])], &[(0, 1), (1, 0)]);
        check(&[("t1", &[1]), ("t2", &[1, 2]), ("t3", &[1])], &[("t9", &[1, 2])], &[(1, 0)]);
        check(&[("t1", &[1, 2, 3])], &[("t8", &[3, 2, 1]), ("t9", &[1, 2])], &[(0, 1)]);
    }

    #[test]
    fn threads_beyond_the_bound_are_paired_in_blocks() {
        let threads = |shift: u32| {
            (0..1000_u32)
                .map(|it| Written { name: "t", numbers: vec![it / 100, 5000 + it + shift, it % 7] })
                .collect::<Vec<_>>()
        };
        let (a, b) = (threads(0), threads(100_000));
        let pairs = pair(&a, &b, &mut Differ::default());
        assert_eq!(pairs.len(), 1000);
        let mut seen: Vec<usize> = pairs.iter().map(|it| it.1).collect();
        seen.sort_unstable();
        seen.dedup();
        assert_eq!(seen.len(), 1000, "no thread is in two pairs");
    }
}
