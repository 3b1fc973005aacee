//! Numbers in order, found fast.

use std::ops::Deref;

use crate::timeline::{AFTER_FACTOR, Place};

/// Where in growing numbers one belongs: for even steps between the first and the last, how many come before.
#[derive(Clone, Debug, Default)]
pub(crate) struct Steps {
    first: f64,
    per_unit: f64,
    before: Vec<u32>,
}

impl Steps {
    pub fn of(numbers: impl ExactSizeIterator<Item = f64> + Clone) -> Steps {
        let (first, last) = (numbers.clone().next().unwrap_or(0.0), numbers.clone().last().unwrap_or(0.0));
        let count = numbers.len() as f64;
        let per_unit = if last > first { count / (last - first) } else { 0.0 };
        let mut before = Vec::with_capacity(numbers.len() + 3);
        // A step before the first, since what is rounded may be off by one.
        before.push(0);
        for (n, it) in (0_u32..).zip(numbers.clone()) {
            let step = ((it - first) * per_unit) as usize + 1;
            while before.len() <= step {
                before.push(n);
            }
        }
        before.extend([numbers.len() as u32; 2]);
        Steps { first, per_unit, before }
    }

    /// How many of the numbers are smaller: between these two.
    #[inline]
    pub fn around(&self, number: f64) -> (usize, usize) {
        // What is before the first counts as in the first step, and what is behind the last as in the last.
        let step = (((number - self.first) * self.per_unit) as usize).min(self.before.len() - 3);
        (self.before[step] as usize, self.before[step + 2] as usize)
    }
}

/// Places of the failure's log in order, such as those of an observable.
#[derive(Clone, Debug)]
pub struct Marks {
    /// With one before all and one behind all.
    places: Vec<Place>,
    steps: Steps,
}

/// As many numbers are looked at one after the other; of more a half is left out at a time.
const FEW: usize = 8;

impl Marks {
    /// Marks at these places.
    pub fn of(mut places: Vec<Place>) -> Marks {
        places.sort_unstable_by(f64::total_cmp);
        let steps = Steps::of(places.iter().copied());
        places.insert(0, f64::NEG_INFINITY);
        places.push(f64::INFINITY);
        Marks { places, steps }
    }

    /// How many entries of the failure's log lie between an instance of a fault and the nearest mark: the temporal distance of
    /// ANDURIL 5.2.3. An instance that comes after a mark counts three times as far from it. With no mark it is infinite.
    #[inline]
    pub fn distance(&self, place: Place) -> f64 {
        let (low, high) = self.steps.around(place);
        let within = &self.places[low + 1..=high];
        let smaller = if within.len() <= FEW {
            within.iter().map(|it| usize::from(*it < place)).sum()
        } else {
            within.partition_point(|it| *it < place)
        };
        let (before, next) = (self.places[low + smaller], self.places[low + smaller + 1]);
        // The mark itself is not between.
        (next - place).min(AFTER_FACTOR * (place - before - 1.0).max(0.0))
    }
}

impl Default for Marks {
    fn default() -> Marks {
        Marks::of(Vec::new())
    }
}

impl Deref for Marks {
    type Target = [Place];

    fn deref(&self) -> &[Place] {
        &self.places[1..self.places.len() - 1]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #![proptest_config(ProptestConfig { cases: 512, failure_persistence: None, ..ProptestConfig::default() })]

        #[test]
        fn a_number_is_found_where_it_belongs(
            mut numbers in prop::collection::vec((0_u32..5000).prop_map(|it| f64::from(it) / 7.0), 0..50),
            near in prop::collection::vec((0_u32..6000).prop_map(|it| f64::from(it) / 7.0 - 50.0), 1..50),
        ) {
            numbers.sort_unstable_by(f64::total_cmp);
            let steps = Steps::of(numbers.iter().copied());
            for number in near.into_iter().chain(numbers.iter().copied()).chain([f64::INFINITY, f64::NEG_INFINITY, 1e300]) {
                let expected = numbers.partition_point(|it| *it < number);
                let (low, high) = steps.around(number);
                prop_assert!(low <= expected && expected <= high, "{number}: {expected} in {low}..{high}");
            }
        }
    }

    #[test]
    fn an_instance_is_as_far_as_there_are_entries_between() {
        for (place, marks, expected) in [
            (3.0, &[5.0][..], 2.0),
            (5.0, &[5.0], 0.0),
            (6.0, &[5.0], 0.0),
            (8.0, &[5.0], 6.0),
            (8.0, &[12.0, 5.0], 4.0),
            (8.5, &[2.0, 9.0, 40.0], 0.5),
            (1.0, &[], f64::INFINITY),
        ] {
            assert_eq!(Marks::of(marks.to_vec()).distance(place), expected, "{place} {marks:?}");
        }
    }
}
