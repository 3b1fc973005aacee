//! Which elements of two sequences belong together: a longest common subsequence, as long as that can be afforded.
//!
//! The algorithm is Myers's, in linear space: the middle of the shortest way from one sequence to the other is searched from
//! both ends, and each half is done in the same way. It takes time by the length of the sequences and the square of
//! their differences. So the steps are counted. When they take longer than a table of bits would, that is made instead, if it
//! is not too large. If it is, equal elements are paired by their order (the third with the third), the longest run of such
//! pairs that cross nothing is kept, and what lies between two of them is done as before. Time stays linear but for a
//! logarithm, and the answer may be shorter than the longest.

use crate::bits::{self, Table};

/// Steps that are free: what differs little or is short is always done exactly.
const STEPS_FREE: usize = 1 << 18;
/// Steps for each element.
const STEPS_EACH: usize = 32;
/// How many words a table may have: sequences of 16,000 each, or a short one and a very long one.
const WORDS_MAX: usize = 1 << 22;
/// How many words of a table are made in the time of a step, and of the way back through it.
const STEP_WORDS: usize = 8;
/// How often a part is cut at pairs before what is left of it stays without partners.
const CUTS_MAX: u32 = 8;

/// Compares sequences. It is kept for its memory.
#[derive(Debug, Default)]
pub(crate) struct Differ {
    /// How often a number occurs: in the one sequence, in the other.
    counts: Vec<[u32; 2]>,
    forward: Reach,
    backward: Reach,
    table: Table,
    /// Steps that are left for what is too long for a table.
    steps: usize,
    /// Whether the last answer may be shorter than the longest.
    pub is_cut: bool,
}

/// The two sequences, in both directions.
struct Both {
    a: Vec<u32>,
    b: Vec<u32>,
    a_reversed: Vec<u32>,
    b_reversed: Vec<u32>,
}

/// A part of the two sequences that is still to be done.
#[derive(Clone, Copy)]
struct Part {
    a: (usize, usize),
    b: (usize, usize),
    cuts: u32,
}

impl Differ {
    /// Pairs of places in `a` and `b` with equal numbers, both growing. The numbers should be small: memory goes by the
    /// greatest.
    pub fn pairs(&mut self, a: &[u32], b: &[u32]) -> Vec<(u32, u32)> {
        self.is_cut = false;
        self.steps = STEPS_FREE + STEPS_EACH * (a.len() + b.len());
        // What only one of them has can have no partner.
        let (kept_a, kept_b) = self.shared(a, b);
        let number =
            |all: &[u32], kept: &[u32]| kept.iter().map(|it| all[*it as usize]).collect::<Vec<u32>>();
        let (short_a, short_b) = (number(a, &kept_a), number(b, &kept_b));
        let reversed = |it: &[u32]| it.iter().rev().copied().collect::<Vec<u32>>();
        let both =
            Both { a_reversed: reversed(&short_a), b_reversed: reversed(&short_b), a: short_a, b: short_b };
        let mut pairs = Vec::new();
        let mut parts = vec![Part { a: (0, both.a.len()), b: (0, both.b.len()), cuts: 0 }];
        while let Some(part) = parts.pop() {
            self.part(&both, part, &mut pairs, &mut parts);
        }
        pairs.sort_unstable();
        for (x, y) in &mut pairs {
            (*x, *y) = (kept_a[*x as usize], kept_b[*y as usize]);
        }
        pairs
    }

    /// The places whose numbers both have.
    fn shared(&mut self, a: &[u32], b: &[u32]) -> (Vec<u32>, Vec<u32>) {
        let greatest = a.iter().chain(b).copied().max().unwrap_or(0) as usize;
        if self.counts.len() <= greatest {
            self.counts.resize(greatest + 1, [0; 2]);
        }
        a.iter().for_each(|it| self.counts[*it as usize][0] += 1);
        b.iter().for_each(|it| self.counts[*it as usize][1] += 1);
        let kept = |all: &[u32], other: usize| {
            let places = (0_u32..).zip(all).filter(|(_, it)| self.counts[**it as usize][other] > 0);
            places.map(|(n, _)| n).collect()
        };
        let kept = (kept(a, 1), kept(b, 0));
        a.iter().chain(b).for_each(|it| self.counts[*it as usize] = [0; 2]);
        kept
    }

    fn part(&mut self, both: &Both, part: Part, pairs: &mut Vec<(u32, u32)>, parts: &mut Vec<Part>) {
        let Both { a, b, a_reversed, b_reversed } = both;
        let Part { a: (mut a0, mut a1), b: (mut b0, mut b1), cuts } = part;
        while a0 < a1 && b0 < b1 && a[a0] == b[b0] {
            pairs.push((a0 as u32, b0 as u32));
            (a0, b0) = (a0 + 1, b0 + 1);
        }
        while a0 < a1 && b0 < b1 && a[a1 - 1] == b[b1 - 1] {
            (a1, b1) = (a1 - 1, b1 - 1);
            pairs.push((a1 as u32, b1 as u32));
        }
        if a0 == a1 || b0 == b1 {
            return;
        }
        let (x, y) = (&a[a0..a1], &b[b0..b1]);
        let (x_reversed, y_reversed) =
            (&a_reversed[a.len() - a1..a.len() - a0], &b_reversed[b.len() - b1..b.len() - b0]);
        let words = bits::words(x.len(), y.len());
        let has_table = words <= WORDS_MAX;
        let mut steps = if has_table { words / STEP_WORDS } else { self.steps };
        let middle = self.middle(x, y, x_reversed, y_reversed, &mut steps);
        if !has_table {
            self.steps = steps;
        }
        if let Some((n, m)) = middle {
            parts.push(Part { a: (a0, a0 + n), b: (b0, b0 + m), cuts });
            parts.push(Part { a: (a0 + n, a1), b: (b0 + m, b1), cuts });
            return;
        }
        if has_table {
            self.table.pairs(x, y, |n, m| pairs.push(((a0 + n) as u32, (b0 + m) as u32)));
            return;
        }
        self.is_cut = true;
        if cuts == CUTS_MAX {
            return;
        }
        let (mut a_from, mut b_from) = (a0, b0);
        for (n, m) in by_order(x, y) {
            let (n, m) = (a0 + n as usize, b0 + m as usize);
            pairs.push((n as u32, m as u32));
            parts.push(Part { a: (a_from, n), b: (b_from, m), cuts: cuts + 1 });
            (a_from, b_from) = (n + 1, m + 1);
        }
        if a_from > a0 {
            parts.push(Part { a: (a_from, a1), b: (b_from, b1), cuts: cuts + 1 });
        }
    }

    /// A place on a shortest way, near its middle; nothing when the steps are used up.
    fn middle(
        &mut self,
        a: &[u32],
        b: &[u32],
        a_reversed: &[u32],
        b_reversed: &[u32],
        steps: &mut usize,
    ) -> Option<(usize, usize)> {
        let (n, m) = (a.len() as i32, b.len() as i32);
        let delta = n - m;
        let is_odd = delta & 1 != 0;
        let limit = (n + m + 1) / 2 + 1;
        self.forward.begin(limit);
        self.backward.begin(limit);
        let mut middle = None;
        for d in 0..limit {
            let ks = (-(d - 2 * (d - m).max(0)), d - 2 * (d - n).max(0));
            let (one, other) = (&mut self.forward, &mut self.backward);
            let (walked, met) = match is_odd {
                true => one.step::<true>(ks, a, b, other, (delta - d + 1, delta + d - 1)),
                false => one.step::<false>(ks, a, b, other, (0, 0)),
            };
            if let Some((k, begin, _)) = met {
                middle = Some((begin, begin - k));
                break;
            }
            let (walked_back, met) = match is_odd {
                true => other.step::<false>(ks, a_reversed, b_reversed, one, (0, 0)),
                false => other.step::<true>(ks, a_reversed, b_reversed, one, (delta - d, delta + d)),
            };
            if let Some((k, _, x)) = met {
                middle = Some((n - x, m - (x - k)));
                break;
            }
            let walked = walked + walked_back;
            if walked > *steps {
                *steps = 0;
                break;
            }
            *steps -= walked;
        }
        // The ends are no middle: the part would stay as it is.
        let (x, y) = middle.map(|(x, y)| (x.clamp(0, n), y.clamp(0, m)))?;
        ((x, y) != (0, 0) && (x, y) != (n, m)).then_some((x as usize, y as usize))
    }
}

/// How far along the first sequence the best way goes on each diagonal. Diagonal `k` has the places `(x, x - k)`. A step is
/// made on every second diagonal, from those between, so the two kinds are kept apart, each in order.
#[derive(Debug, Default)]
struct Reach {
    even: Vec<i32>,
    odd: Vec<i32>,
    /// Where the diagonals 0 and 1 are.
    zero: i32,
}

/// No way goes along this diagonal.
const NOWHERE: i32 = i32::MIN / 2;

impl Reach {
    /// For no more than `limit` steps from the beginning.
    fn begin(&mut self, limit: i32) {
        self.zero = limit / 2 + 2;
        for it in [&mut self.even, &mut self.odd] {
            it.clear();
            it.resize(2 * self.zero as usize + 2, NOWHERE);
        }
        // So that the first step begins at the beginning.
        self.odd[self.zero as usize] = 0;
    }

    /// Goes one step further on the diagonals from `first` to `last`, every second, and along each as far as the sequences are
    /// equal. The answer is how many places were looked at and, if it can meet, the first of the diagonals `meeting` on which it
    /// has met the way from the `other` end: the diagonal, and where the step began and ended on it.
    // On its own, or the loop runs out of registers.
    #[inline(never)]
    fn step<const CAN_MEET: bool>(
        &mut self,
        (first, last): (i32, i32),
        a: &[u32],
        b: &[u32],
        other: &Reach,
        meeting: (i32, i32),
    ) -> (usize, Option<(i32, i32, i32)>) {
        if first > last {
            return (0, None);
        }
        let from = ((first >> 1) + self.zero) as usize;
        let count = ((last - first) / 2 + 1) as usize;
        let (out, left, right) = if first & 1 == 0 {
            (&mut self.even[from..from + count], &self.odd[from - 1..], &self.odd[from..])
        } else {
            (&mut self.odd[from..from + count], &self.even[from..], &self.even[from + 1..])
        };
        let (n, delta) = (a.len() as i32, a.len() as i32 - b.len() as i32);
        // The other way is on the diagonals that count from the other end.
        let others = if (delta - first) & 1 == 0 { &other.even[..] } else { &other.odd[..] };
        let mut other_at = ((delta - first) >> 1) + other.zero;
        let mut walked = count as i32;
        let mut k = first;
        for ((out, left), right) in out.iter_mut().zip(left).zip(right) {
            let begin = (left + 1).max(*right);
            let (mut x, mut y) = (begin as usize, (begin - k) as usize);
            while x < a.len() && y < b.len() && a[x] == b[y] {
                (x, y) = (x + 1, y + 1);
            }
            let x = x as i32;
            walked += x - begin;
            *out = x;
            if CAN_MEET {
                let there = others.get(other_at as usize).copied().unwrap_or(NOWHERE);
                if x + there >= n && meeting.0 <= k && k <= meeting.1 {
                    return (walked as usize, Some((k, begin, x)));
                }
                other_at -= 1;
            }
            k += 2;
        }
        (walked as usize, None)
    }
}

/// Pairs the `k`-th of a number in `a` with the `k`-th in `b`, and keeps the longest run of pairs of which none cross.
fn by_order(a: &[u32], b: &[u32]) -> Vec<(u32, u32)> {
    let sorted = |all: &[u32]| {
        let mut places: Vec<u32> = (0..all.len() as u32).collect();
        places.sort_by_key(|it| all[*it as usize]);
        places
    };
    let (by_a, by_b) = (sorted(a), sorted(b));
    let mut pairs = Vec::new();
    let (mut n, mut m) = (0, 0);
    while let (Some(x), Some(y)) = (by_a.get(n), by_b.get(m)) {
        match a[*x as usize].cmp(&b[*y as usize]) {
            std::cmp::Ordering::Less => n += 1,
            std::cmp::Ordering::Greater => m += 1,
            std::cmp::Ordering::Equal => {
                // Both are in the order of their places among equals.
                pairs.push((*x, *y));
                (n, m) = (n + 1, m + 1);
            }
        }
    }
    pairs.sort_unstable();
    growing(&pairs)
}

/// The longest run of pairs whose second numbers grow, out of pairs whose first ones do.
pub(crate) fn growing(pairs: &[(u32, u32)]) -> Vec<(u32, u32)> {
    const NONE: u32 = u32::MAX;
    // For each length the smallest second number that ends such a run and the pair that has it, and for each pair the one
    // before it.
    let mut least: Vec<u32> = Vec::new();
    let mut ends: Vec<u32> = Vec::new();
    let mut before = vec![NONE; pairs.len()];
    for (n, (_, y)) in pairs.iter().enumerate() {
        let length = first_not_below(&least, *y);
        before[n] = length.checked_sub(1).map_or(NONE, |it| ends[it]);
        if length == ends.len() {
            least.push(*y);
            ends.push(n as u32);
        } else {
            (least[length], ends[length]) = (*y, n as u32);
        }
    }
    let mut run = Vec::with_capacity(ends.len());
    let mut at = ends.last().copied().unwrap_or(NONE);
    while at != NONE {
        run.push(pairs[at as usize]);
        at = before[at as usize];
    }
    run.reverse();
    run
}

/// How many of these numbers, which grow, are below another. It is mostly near the end.
fn first_not_below(growing: &[u32], number: u32) -> usize {
    let mut reach = 1;
    let mut end = growing.len();
    while let Some(at) = end.checked_sub(reach) {
        if growing[at] < number {
            return at + 1 + growing[at + 1..end].partition_point(|it| *it < number);
        }
        end = at;
        reach *= 2;
    }
    growing[..end].partition_point(|it| *it < number)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn pairs(a: &str, b: &str) -> String {
        let numbers = |it: &str| it.bytes().map(u32::from).collect::<Vec<_>>();
        let (x, y) = (numbers(a), numbers(b));
        let pairs = Differ::default().pairs(&x, &y);
        pairs.iter().map(|(n, _)| a.as_bytes()[*n as usize] as char).collect()
    }

    #[test]
    fn the_longest_common_subsequence() {
        for (a, b, expected) in [
            ("", "", ""),
            ("abc", "", ""),
            ("abc", "abc", "abc"),
            ("abc", "def", ""),
            ("abcabba", "cabdba", "cabba"),
            ("xaxbxc", "abc", "abc"),
            ("aaaa", "aa", "aa"),
            ("abcdef", "fabcde", "abcde"),
        ] {
            assert_eq!(pairs(a, b), expected, "{a} {b}");
        }
    }

    /// The length of a longest common subsequence, by the table that everybody knows.
    fn longest(a: &[u32], b: &[u32]) -> usize {
        let mut row = vec![0; b.len() + 1];
        for x in a {
            let mut diagonal = 0;
            for (m, y) in b.iter().enumerate() {
                let above = row[m + 1];
                row[m + 1] = if x == y { diagonal + 1 } else { above.max(row[m]) };
                diagonal = above;
            }
        }
        row[b.len()]
    }

    fn check(a: &[u32], b: &[u32], pairs: &[(u32, u32)]) {
        assert!(pairs.iter().all(|(n, m)| a[*n as usize] == b[*m as usize]), "pairs are equal");
        assert!(pairs.windows(2).all(|it| it[0].0 < it[1].0 && it[0].1 < it[1].1), "pairs grow");
    }

    proptest! {
        #![proptest_config(ProptestConfig { cases: 512, failure_persistence: None, ..ProptestConfig::default() })]

        #[test]
        fn it_is_the_longest_while_there_are_steps(
            a in prop::collection::vec(0_u32..6, 0..60),
            b in prop::collection::vec(0_u32..6, 0..60),
        ) {
            let mut differ = Differ::default();
            let pairs = differ.pairs(&a, &b);
            check(&a, &b, &pairs);
            prop_assert!(!differ.is_cut);
            prop_assert_eq!(pairs.len(), longest(&a, &b));
        }

        /// Taking out what has no partner and putting in what the other has gives the other.
        #[test]
        fn applied_it_gives_the_other_side(
            a in prop::collection::vec(0_u32..40, 0..300),
            b in prop::collection::vec(0_u32..40, 0..300),
        ) {
            let pairs = Differ::default().pairs(&a, &b);
            let mut given = vec![None; b.len()];
            pairs.iter().for_each(|(n, m)| given[*m as usize] = Some(a[*n as usize]));
            let applied: Vec<u32> = given.iter().zip(&b).map(|(it, own)| it.unwrap_or(*own)).collect();
            prop_assert_eq!(applied, b);
        }

        #[test]
        fn a_table_finds_the_longest_however_much_differs(
            a in prop::collection::vec(0_u32..30, 0..300),
            b in prop::collection::vec(0_u32..30, 0..300),
        ) {
            let mut pairs = Vec::new();
            let mut table = Table::default();
            // What was entered before is forgotten.
            table.pairs(&b, &a, |_, _| {});
            table.pairs(&a, &b, |n, m| pairs.push((n as u32, m as u32)));
            pairs.reverse();
            check(&a, &b, &pairs);
            prop_assert_eq!(pairs.len(), longest(&a, &b));
        }

        #[test]
        fn a_sequence_against_itself_has_no_difference(a in prop::collection::vec(0_u32..9, 0..200)) {
            prop_assert_eq!(Differ::default().pairs(&a, &a).len(), a.len());
        }

        #[test]
        fn a_number_is_found_from_the_end(growing in prop::collection::btree_set(0_u32..200, 0..80), number in 0_u32..201) {
            let growing: Vec<u32> = growing.into_iter().collect();
            prop_assert_eq!(first_not_below(&growing, number), growing.partition_point(|it| *it < number));
        }

        #[test]
        fn pairs_by_order_cross_nothing(
            a in prop::collection::vec(0_u32..9, 0..80),
            b in prop::collection::vec(0_u32..9, 0..80),
        ) {
            check(&a, &b, &by_order(&a, &b));
        }
    }

    /// Long enough for many words, with few differences and with many.
    #[test]
    fn it_is_the_longest_however_long_and_however_different() {
        let mut seed = 3_u64;
        let mut random = |below: u32| {
            seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (seed >> 33) as u32 % below
        };
        for one_in in [1000, 100, 10, 2, 1] {
            let a: Vec<u32> = (0..2500).map(|_| random(200)).collect();
            let b: Vec<u32> =
                a.iter().map(|it| if random(one_in) == 0 { random(200) } else { *it }).collect();
            let mut differ = Differ::default();
            let pairs = differ.pairs(&a, &b);
            check(&a, &b, &pairs);
            assert!(!differ.is_cut, "1 in {one_in}");
            assert_eq!(pairs.len(), longest(&a, &b), "1 in {one_in}");
        }
    }

    /// There is no clock here: were time the square of the length, the test would not end.
    #[test]
    fn sequences_on_which_nothing_helps_take_bounded_time() {
        const LENGTH: u32 = 100_000;
        let mut seed = 7_u64;
        let mut random = |below: u32| {
            seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (seed >> 33) as u32 % below
        };
        let equal = vec![1; LENGTH as usize];
        let growing: Vec<u32> = (0..LENGTH).collect();
        let falling: Vec<u32> = (0..LENGTH).rev().collect();
        let others: Vec<u32> = (LENGTH..2 * LENGTH).collect();
        let two: Vec<u32> = (0..LENGTH).map(|_| random(2)).collect();
        let other_two: Vec<u32> = (0..LENGTH).map(|_| random(2)).collect();
        let many: Vec<u32> = (0..LENGTH).map(|_| random(LENGTH)).collect();
        let periodic: Vec<u32> = (0..LENGTH).map(|it| it % 7).collect();
        let mut differ = Differ::default();
        for (a, b, at_least) in [
            (&equal, &equal, LENGTH),
            (&growing, &falling, 1),
            (&growing, &others, 0),
            (&two, &other_two, LENGTH / 2),
            (&growing, &many, 100),
            (&periodic, &two, LENGTH / 8),
            (&periodic, &many, 1),
        ] {
            let pairs = differ.pairs(a, b);
            check(a, b, &pairs);
            assert!(pairs.len() >= at_least as usize, "{} of {at_least}", pairs.len());
        }
    }
}
