//! Quotas of clusters, and the transfer of those that a cluster cannot use (CSNAKE 5.2, "Test Budget Transfer").

use std::cmp::Ordering;

use crate::random::Random;

/// Divides a number equally. Odd ones go to the first.
pub(super) fn equal(total: usize, parts: usize) -> Vec<usize> {
    (0..parts).map(|it| total / parts + usize::from(it < total % parts)).collect()
}

/// Draws a part so many times, each with a chance in proportion to its weight; counts the draws of each. Weights are above 0.
pub(super) fn weighted(total: usize, weights: &[f64], random: &mut Random) -> Vec<usize> {
    let mut counts = vec![0; weights.len()];
    let mut until = Vec::with_capacity(weights.len());
    let mut sum = 0.0;
    for weight in weights {
        assert!(*weight > 0.0, "a weight is above 0, not {weight}");
        sum += weight;
        until.push(sum);
    }
    if weights.is_empty() {
        return counts;
    }
    for _ in 0..total {
        let drawn = random.unit() * sum;
        let at = until.partition_point(|it| *it <= drawn);
        // Rounding may reach the sum itself.
        counts[at.min(weights.len() - 1)] += 1;
    }
    counts
}

/// Moves what exceeds the rooms of clusters: each unit to a random cluster of a higher rank that has room. If there is none, the excess is
/// divided among all that have room, those of the highest rank first, so that no budget is lost.
pub(super) fn transfer(quotas: &mut [usize], rooms: &[usize], ranks: &[f64], random: &mut Random) {
    assert_eq!((quotas.len(), quotas.len()), (rooms.len(), ranks.len()), "each cluster has all three");
    let mut order: Vec<usize> = (0..quotas.len()).collect();
    order.sort_by(|&a, &b| ranks[a].total_cmp(&ranks[b]));
    let mut open: Vec<usize> = order.iter().copied().filter(|&it| quotas[it] < rooms[it]).collect();
    let mut excess = 0;
    for from in order {
        while quotas[from] > rooms[from] {
            let higher = open.partition_point(|&it| ranks[it].total_cmp(&ranks[from]) != Ordering::Greater);
            if higher == open.len() {
                excess += quotas[from] - rooms[from];
                quotas[from] = rooms[from];
                break;
            }
            let at = higher + random.below(open.len() - higher);
            quotas[from] -= 1;
            quotas[open[at]] += 1;
            if quotas[open[at]] == rooms[open[at]] {
                open.remove(at);
            }
        }
    }
    while excess > 0 && !open.is_empty() {
        open.retain(|&it| quotas[it] < rooms[it]);
        for &to in open.iter().rev().take(excess) {
            quotas[to] += 1;
        }
        excess = excess.saturating_sub(open.len());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_shares_differ_by_one_at_most() {
        for (total, parts, expected) in [
            (0, 3, vec![0, 0, 0]),
            (7, 3, vec![3, 2, 2]),
            (6, 2, vec![3, 3]),
            (2, 3, vec![1, 1, 0]),
            (5, 0, vec![]),
        ] {
            assert_eq!(equal(total, parts), expected);
        }
    }

    #[test]
    fn draws_follow_the_weights() {
        let counts = weighted(10_000, &[0.01, 0.5, 0.25, 0.24], &mut Random::new(7));
        assert_eq!(counts.iter().sum::<usize>(), 10_000);
        for (count, expected) in counts.iter().zip([100.0, 5000.0, 2500.0, 2400.0_f64]) {
            // Four standard deviations.
            let limit = 4.0 * (expected * (1.0 - expected / 10_000.0)).sqrt();
            assert!((*count as f64 - expected).abs() < limit, "{counts:?}");
        }
        assert_eq!(weighted(3, &[0.01], &mut Random::new(7)), [3]);
        assert_eq!(weighted(3, &[], &mut Random::new(7)), [] as [usize; 0]);
    }

    #[test]
    fn quotas_move_to_clusters_of_a_higher_rank() {
        for (quotas, rooms, ranks, expected) in [
            // Nothing to move.
            (vec![2, 2], vec![2, 9], vec![1.0, 2.0], vec![2, 2]),
            // To the only larger one with room, although a smaller one has more.
            (vec![3, 5, 3, 3], vec![9, 1, 3, 9], vec![1.0, 2.0, 3.0, 3.0], vec![3, 1, 3, 7]),
            // To one just as large only if no larger one has room.
            (vec![4, 0, 1], vec![1, 2, 2], vec![1.0, 1.0, 2.0], vec![1, 2, 2]),
            // A larger one has room, so one just as large gets nothing.
            (vec![9, 0, 0], vec![1, 9, 9], vec![1.0, 1.0, 2.0], vec![1, 0, 8]),
            // No larger one has room: to all others, the largest first.
            (vec![0, 0, 5], vec![9, 9, 2], vec![1.0, 2.0, 3.0], vec![1, 2, 2]),
            // No room at all: the excess is lost.
            (vec![4, 4], vec![1, 2], vec![1.0, 2.0], vec![1, 2]),
            (vec![], vec![], vec![], vec![]),
        ] {
            let mut found = quotas.clone();
            transfer(&mut found, &rooms, &ranks, &mut Random::new(1));
            assert_eq!(found, expected, "{quotas:?} {rooms:?} {ranks:?}");
        }
    }

    #[test]
    fn the_higher_cluster_is_random() {
        let mut quotas = [100, 0, 0];
        transfer(&mut quotas, &[0, 100, 100], &[1.0, 2.0, 3.0], &mut Random::new(1));
        assert!(quotas[0] == 0 && quotas[1] > 30 && quotas[2] > 30, "{quotas:?}");
    }
}
