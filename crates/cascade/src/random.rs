//! Random numbers that follow from a seed, the same in every build and on every machine.

use hypocenter_trace::hash;

/// A sequence of random numbers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Random {
    state: u64,
    drawn: u64,
}

impl Random {
    pub(crate) fn new(seed: u64) -> Random {
        Random { state: seed, drawn: 0 }
    }

    fn draw(&mut self) -> u64 {
        // Hashes of successive numbers with one seed have similar high bits, so each is the seed of the next.
        self.drawn += 1;
        self.state = hash::word(self.drawn, self.state);
        hash::word(self.state, self.drawn)
    }

    /// A number from 0 and below another, which is above 0.
    pub(crate) fn below(&mut self, end: usize) -> usize {
        assert!(end > 0, "there is no number below 0");
        ((u128::from(self.draw()) * end as u128) >> 64) as usize
    }

    /// A number from 0 and below 1.
    pub(crate) fn unit(&mut self) -> f64 {
        const BITS: u32 = f64::MANTISSA_DIGITS;
        (self.draw() >> (u64::BITS - BITS)) as f64 / (1_u64 << BITS) as f64
    }

    /// Puts a list into a random order.
    pub(crate) fn shuffle<T>(&mut self, list: &mut [T]) {
        for end in (1..list.len()).rev() {
            let at = self.below(end + 1);
            list.swap(at, end);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_number_is_as_likely_as_any_other() {
        for seed in [0, 1, 2, 3, u64::MAX] {
            let mut random = Random::new(seed);
            let mut counts = [[0_u32; 3]; 7];
            for _ in 0..7000 {
                counts[random.below(7)][(random.unit() * 3.0) as usize] += 1;
            }
            // 333 are expected in each of 21 cells. Chi-square with 20 degrees of freedom is above 45.3 once in 1,000 seeds.
            let expected = 7000.0 / 21.0;
            let square = |it: &u32| (f64::from(*it) - expected).powi(2) / expected;
            let chi_square: f64 = counts.iter().flatten().map(square).sum();
            assert!(chi_square < 45.3, "seed {seed}: {chi_square}, {counts:?}");
        }
    }

    #[test]
    fn a_shuffled_list_has_the_same_items_in_another_order() {
        let shuffled = |seed| {
            let mut list: Vec<u32> = (0..50).collect();
            Random::new(seed).shuffle(&mut list);
            list
        };
        let mut one = shuffled(1);
        assert_eq!(one, shuffled(1));
        assert_ne!(one, shuffled(2));
        assert!(!one.is_sorted());
        one.sort_unstable();
        assert_eq!(one, (0..50).collect::<Vec<u32>>());
        // Each item may end at each place.
        let places: std::collections::BTreeSet<(usize, u32)> =
            (0..100).flat_map(|seed| shuffled(seed).into_iter().take(5).enumerate()).collect();
        assert!(places.len() > 5 * 50 * 3 / 4, "{}", places.len());
    }
}
