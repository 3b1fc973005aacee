//! Statistics that engines share: whether a difference between runs can be chance.
//!
//! Every test here is one-sided, since the question is always whether a fault brings *more* of something.

use statrs::distribution::{ContinuousCDF, DiscreteCDF, Hypergeometric, StudentsT};

/// The probability that at least so many of the hits fall on one of two groups of runs, if it makes no difference which group a run
/// is of: Fisher's exact test. Hits above the runs count as all of them.
pub fn fisher(with: (u64, u64), without: (u64, u64)) -> f64 {
    let ((hits, runs), (others, other_runs)) = (with, without);
    let (hits, others) = (hits.min(runs), others.min(other_runs));
    if hits == 0 {
        return 1.0;
    }
    // Of all runs those of one group are drawn, and the hits among them counted.
    match Hypergeometric::new(runs + other_runs, hits + others, runs) {
        Ok(distribution) => distribution.sf(hits - 1),
        Err(_) => 1.0,
    }
}

/// How probable it may be that a difference between two rates is chance.
const CHANCE_MAX: f64 = 0.1;

/// Whether the rate of one group of runs is higher than that of another, by Fisher's test.
pub fn exceeds(with: (u64, u64), without: (u64, u64)) -> bool {
    fisher(with, without) <= CHANCE_MAX
}

/// The probability that the mean of one sample exceeds that of another by so much, if both come from the same mean: Welch's t-test,
/// which does not ask for equal variances. Two samples without any spread differ for sure or not at all; a sample of fewer than two
/// values has no spread to judge by, and proves nothing unless neither has any.
pub fn welch(sample: &[f64], other: &[f64]) -> f64 {
    let (Some(one), Some(two)) = (Moments::of(sample), Moments::of(other)) else { return 1.0 };
    let difference = one.mean - two.mean;
    let (a, b) = (one.variance / one.count, two.variance / two.count);
    let spread = a + b;
    if spread <= f64::EPSILON * (one.mean.abs() + two.mean.abs()) {
        return if difference > 0.0 { 0.0 } else { 1.0 };
    }
    let freedom = spread * spread / (share(a, one.count) + share(b, two.count));
    match StudentsT::new(0.0, 1.0, freedom) {
        Ok(distribution) => distribution.sf(difference / spread.sqrt()),
        Err(_) => 1.0,
    }
}

/// Contribution of a sample to the degrees of freedom (Welch and Satterthwaite).
fn share(of_mean: f64, count: f64) -> f64 {
    if count > 1.0 { of_mean * of_mean / (count - 1.0) } else { 0.0 }
}

/// Mean and variance of a sample.
struct Moments {
    count: f64,
    mean: f64,
    variance: f64,
}

impl Moments {
    fn of(sample: &[f64]) -> Option<Moments> {
        let count = sample.len() as f64;
        if sample.is_empty() || !sample.iter().all(|it| it.is_finite()) {
            return None;
        }
        let mean = sample.iter().sum::<f64>() / count;
        let squares: f64 = sample.iter().map(|it| (it - mean) * (it - mean)).sum();
        let variance = if sample.len() > 1 { squares / (count - 1.0) } else { 0.0 };
        Some(Moments { count, mean, variance })
    }
}

/// Significant tests among many, so that at most this share of them is false: Benjamini and Hochberg.
pub fn discoveries(p_values: &[f64], false_rate: f64) -> Vec<bool> {
    let all = p_values.len() as f64;
    let mut order: Vec<usize> = (0..p_values.len()).collect();
    order.sort_by(|&a, &b| p_values[a].total_cmp(&p_values[b]));
    let is_below = |(rank, &it): (usize, &usize)| p_values[it] <= false_rate * (rank + 1) as f64 / all;
    let last = order.iter().enumerate().filter(|it| is_below(*it)).map(|it| it.0).max();
    let mut found = vec![false; p_values.len()];
    order.iter().take(last.map_or(0, |it| it + 1)).for_each(|&it| found[it] = true);
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn is_near(found: f64, expected: f64, within: f64) {
        assert!((found - expected).abs() <= within, "{found}, not {expected}");
    }

    #[test]
    fn fishers_test_gives_what_can_be_counted_by_hand() {
        // The lady who tastes tea: 3 of 4 right is 17 of 70 ways, all right is one.
        is_near(fisher((3, 4), (1, 4)), 17.0 / 70.0, 1e-12);
        is_near(fisher((4, 4), (0, 4)), 1.0 / 70.0, 1e-12);
        // All hits on one side: 5 of 5 replays beside 5 runs without the fault.
        is_near(fisher((5, 5), (0, 5)), 1.0 / 252.0, 1e-12);
        is_near(fisher((1, 5), (0, 2)), 5.0 / 7.0, 1e-12);
        for (with, without) in [((0, 5), (0, 5)), ((0, 0), (0, 0)), ((0, 3), (3, 3)), ((5, 5), (5, 5))] {
            is_near(fisher(with, without), 1.0, 1e-12);
        }
        // What cannot be is no reason to panic.
        is_near(fisher((9, 5), (0, 5)), 1.0 / 252.0, 1e-12);
    }

    #[test]
    fn a_rate_exceeds_another_where_that_is_hardly_chance() {
        for (with, without, expected) in [
            ((5, 5), (2, 10), true),
            ((3, 5), (0, 5), true),
            ((2, 5), (0, 5), false),
            ((20, 20), (18, 20), false),
            ((20, 20), (16, 20), true),
            ((0, 5), (0, 5), false),
        ] {
            assert_eq!(exceeds(with, without), expected, "{with:?} {without:?}");
        }
    }

    #[test]
    fn welchs_test_gives_published_values() {
        // Three pairs of samples with equal and unequal sizes and variances; t and the degrees of freedom are published, and p is
        // of two sides there.
        let one: [&[f64]; 2] = [
            &[27.5, 21.0, 19.0, 23.6, 17.0, 17.9, 16.9, 20.1, 21.9, 22.6, 23.1, 19.6, 19.0, 21.7, 21.4],
            &[27.1, 22.0, 20.8, 23.4, 23.4, 23.5, 25.8, 22.0, 24.8, 20.2, 21.9, 22.1, 22.9, 20.5, 24.4],
        ];
        is_near(welch(one[1], one[0]), 0.021 / 2.0, 0.0005);
        is_near(welch(one[0], one[1]), 1.0 - 0.021 / 2.0, 0.0005);
        let two: [&[f64]; 2] = [
            &[17.2, 20.9, 22.6, 18.1, 21.7, 21.4, 23.5, 24.2, 14.7, 21.8],
            &[
                21.5, 22.8, 21.0, 23.0, 21.6, 23.6, 22.5, 20.7, 23.4, 21.8, 20.7, 21.7, 21.5, 22.5, 23.6,
                21.5, 22.5, 23.5, 21.5, 21.8,
            ],
        ];
        is_near(welch(two[1], two[0]), 0.149 / 2.0, 0.0005);
    }

    #[test]
    fn welchs_test_gives_what_scipy_gives() {
        // Computed with scipy 1.17.1, for each row:
        // `scipy.stats.ttest_ind(a, b, equal_var=False, alternative="greater").pvalue`
        for (sample, other, expected) in [
            (&[12.0, 13.0, 11.0, 12.0, 12.0][..], &[10.0, 11.0, 9.0, 10.0, 10.0][..], 0.001_038_668_856),
            (&[10.0, 11.0, 9.0, 10.0, 10.0], &[12.0, 13.0, 11.0, 12.0, 12.0], 0.998_961_331_1),
            (&[60.0, 60.0, 60.0, 61.0, 60.0], &[60.0; 5], 0.186_950_483_2),
            (&[60.0, 61.0, 61.0, 60.0, 61.0], &[60.0; 5], 0.035_241_998_46),
            (&[24.0, 30.0, 18.0, 41.0, 25.0], &[12.0, 20.0, 15.0, 33.0, 14.0], 0.071_038_815_51),
            (&[7.0, 7.0, 8.0, 7.0], &[7.0, 6.0, 7.0, 7.0, 7.0], 0.104_068_646_4),
            (&[105.0, 98.0, 120.0], &[90.0, 95.0, 93.0, 88.0, 97.0], 0.069_318_121_95),
            (
                &[1000.0, 1020.0, 990.0, 1500.0, 1005.0],
                &[1000.0, 1003.0, 998.0, 1001.0, 999.0],
                0.179_667_806_9,
            ),
            (&[3.0, 2.0], &[1.0, 2.0], 0.146_446_609_4),
            (&[0.25, 0.31, 0.28, 0.4, 0.35], &[0.2, 0.22, 0.21, 0.25, 0.19], 0.006_700_374_106),
        ] {
            is_near(welch(sample, other), expected, 1e-8);
        }
    }

    #[test]
    fn samples_without_spread_differ_for_sure_or_not_at_all() {
        for (sample, other, expected) in [
            (&[3.0, 3.0, 3.0][..], &[2.0, 2.0][..], 0.0),
            (&[2.0, 2.0], &[3.0, 3.0], 1.0),
            (&[2.0, 2.0], &[2.0, 2.0], 1.0),
            (&[0.0; 5], &[0.0; 5], 1.0),
            (&[], &[1.0], 1.0),
            (&[f64::NAN, 1.0], &[0.0, 0.0], 1.0),
        ] {
            assert_eq!(welch(sample, other), expected, "{sample:?} {other:?}");
        }
        // One side that never moves is judged by the spread of the other.
        let p = welch(&[9.0, 10.0, 11.0, 10.0, 10.0], &[0.0; 5]);
        assert!(p > 0.0 && p < 1e-4, "{p}");
        assert!(welch(&[0.0, 1.0, 0.0, 0.0, 0.0], &[0.0; 5]) > 0.1);
    }

    #[test]
    fn discoveries_are_bounded_by_the_rate_of_false_ones() {
        let check = |p_values: &[f64], expected: &[bool]| {
            assert_eq!(discoveries(p_values, 0.05), expected, "{p_values:?}");
        };
        check(&[], &[]);
        check(&[0.04], &[true]);
        check(&[0.06], &[false]);
        // 0.03 is below 0.05 and not below 0.05 * 1 / 3, nor with its rank.
        check(&[0.9, 0.03, 0.8], &[false, false, false]);
        // One that lies above its own line is carried by a later one that lies below.
        check(&[0.02, 0.04, 0.03, 0.045], &[true, true, true, true]);
        check(&[0.001, 0.5, 0.02, 0.9], &[true, false, true, false]);
    }

    #[test]
    fn equal_runs_are_called_different_no_more_often_than_promised() {
        // Pairs of samples of one distribution, by a generator of our own so that the figure is always the same.
        let mut state = 0x9e37_79b9_7f4a_7c15_u64;
        let mut draw = || {
            let unit = |bits: u64| (bits >> 11) as f64 / (1u64 << 53) as f64;
            (0..12)
                .map(|_| {
                    state =
                        state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
                    unit(state)
                })
                .sum::<f64>()
        };
        const PAIRS: usize = 4_000;
        let mut below = 0;
        for _ in 0..PAIRS {
            let samples: Vec<f64> = (0..10).map(|_| draw()).collect();
            below += usize::from(welch(&samples[..5], &samples[5..]) <= 0.1);
        }
        let share = below as f64 / PAIRS as f64;
        assert!((0.08..=0.12).contains(&share), "{share}");
    }
}
