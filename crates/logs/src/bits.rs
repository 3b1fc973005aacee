//! A longest common subsequence by a table of bits, sixty-four places at a time.
//!
//! A row stands for an element of the one sequence, a bit for one of the other: it is clear where the common subsequence gets
//! longer there. How a row follows from the one before is due to Hyyrö (2004). What two sequences have in common does not
//! matter for the time, which goes by the size of the table, and the table is kept to find the way back.

/// No place.
const NONE: u32 = u32::MAX;

/// See the module. It is kept for its memory.
#[derive(Debug, Default)]
pub(crate) struct Table {
    rows: Vec<u64>,
    /// The places of the element of a row.
    places: Vec<u64>,
    /// For each number its first place, and for each place the next one of its number.
    first: Vec<u32>,
    next: Vec<u32>,
}

/// How many words the table of two sequences takes.
pub(crate) fn words(a: usize, b: usize) -> usize {
    a.saturating_add(1).saturating_mul(b.div_ceil(64))
}

impl Table {
    /// Tells the pairs of places of a longest common subsequence, the last first.
    pub fn pairs(&mut self, a: &[u32], b: &[u32], mut found: impl FnMut(usize, usize)) {
        let width = b.len().div_ceil(64);
        if self.rows.len() < words(a.len(), b.len()) {
            self.rows.resize(words(a.len(), b.len()), 0);
        }
        self.enter(b);
        self.rows[..width].fill(!0);
        self.places.clear();
        self.places.resize(width, 0);
        for (n, number) in a.iter().enumerate() {
            let (above, row) = self.rows[n * width..(n + 2) * width].split_at_mut(width);
            let mut at = self.first.get(*number as usize).copied().unwrap_or(NONE);
            while at != NONE {
                self.places[at as usize / 64] |= 1 << (at % 64);
                at = self.next[at as usize];
            }
            let mut carry = false;
            for ((above, row), places) in above.iter().zip(row).zip(&mut self.places) {
                let (sum, over) = above.overflowing_add(above & *places);
                let (sum, over_too) = sum.overflowing_add(u64::from(carry));
                *row = sum | (above & !*places);
                carry = over | over_too;
                *places = 0;
            }
        }
        self.leave(b);
        let is_clear = |row: usize, at: usize| self.rows[row * width + at / 64] >> (at % 64) & 1 == 0;
        let (mut n, mut m) = (a.len(), b.len());
        while n > 0 && m > 0 {
            if !is_clear(n, m - 1) {
                m -= 1;
            } else if is_clear(n - 1, m - 1) {
                n -= 1;
            } else {
                (n, m) = (n - 1, m - 1);
                found(n, m);
            }
        }
    }

    fn enter(&mut self, b: &[u32]) {
        let greatest = b.iter().copied().max().unwrap_or(0) as usize;
        if self.first.len() <= greatest {
            self.first.resize(greatest + 1, NONE);
        }
        self.next.clear();
        self.next.resize(b.len(), NONE);
        for (at, number) in b.iter().enumerate().rev() {
            self.next[at] = std::mem::replace(&mut self.first[*number as usize], at as u32);
        }
    }

    fn leave(&mut self, b: &[u32]) {
        b.iter().for_each(|it| self.first[*it as usize] = NONE);
    }
}
