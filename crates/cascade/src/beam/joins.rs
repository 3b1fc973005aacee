//! Steps that may follow each step.

use super::{BeamError, Step};

/// Steps that may follow each step, as compressed rows.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Joins {
    /// Start of each row, and the end of the last one.
    starts: Vec<usize>,
    following: Vec<u32>,
}

impl Joins {
    /// Joins between so many steps, from pairs of a step and one that may follow it.
    ///
    /// # Errors
    ///
    /// [`BeamError::NoSuchStep`] if a pair names a step that does not exist.
    pub fn from_pairs(steps: usize, pairs: impl IntoIterator<Item = (u32, u32)>) -> Result<Joins, BeamError> {
        let mut pairs: Vec<(u32, u32)> = pairs.into_iter().collect();
        let missing = |it: &u32| *it as usize >= steps;
        if let Some(step) = pairs.iter().flat_map(|(last, next)| [*last, *next]).find(missing) {
            return Err(BeamError::NoSuchStep { step, steps });
        }
        pairs.sort_unstable();
        pairs.dedup();
        let mut starts = vec![0; steps + 1];
        for (last, _) in &pairs {
            starts[*last as usize + 1] += 1;
        }
        for at in 0..steps {
            starts[at + 1] += starts[at];
        }
        Ok(Joins { starts, following: pairs.into_iter().map(|(_, next)| next).collect() })
    }

    /// Joins of all pairs in which the second step starts from the fault that the first one leads to, if they are compatible.
    /// Steps beyond the first `u32::MAX` are left out.
    pub fn matching(steps: &[Step], mut compatible: impl FnMut(u32, u32) -> bool) -> Joins {
        let mut by_cause: Vec<u32> = (0..u32::MAX).take(steps.len()).collect();
        let cause = |it: u32| steps[it as usize].cause;
        by_cause.sort_unstable_by_key(|it| (cause(*it), *it));
        Joins::from_rows(steps.len(), |last, row| {
            let effect = steps[last].effect;
            let start = by_cause.partition_point(|it| cause(*it) < effect);
            let next = by_cause[start..].iter().copied().take_while(|it| cause(*it) == effect);
            row.extend(next.filter(|next| compatible(last as u32, *next)));
        })
    }

    /// Joins whose rows are filled in one after another, each sorted and without repetition.
    pub(super) fn from_rows(steps: usize, mut fill: impl FnMut(usize, &mut Vec<u32>)) -> Joins {
        let (mut starts, mut following, mut row) = (vec![0], Vec::new(), Vec::new());
        for step in 0..steps {
            row.clear();
            fill(step, &mut row);
            following.extend_from_slice(&row);
            starts.push(following.len());
        }
        Joins { starts, following }
    }

    /// Number of steps.
    pub fn steps(&self) -> usize {
        self.starts.len() - 1
    }

    /// Steps that may follow a step, sorted. None if there is no such step.
    pub fn following(&self, step: u32) -> &[u32] {
        let step = step as usize;
        if step < self.steps() { &self.following[self.starts[step]..self.starts[step + 1]] } else { &[] }
    }

    /// Checks if one step may follow another.
    pub fn may_follow(&self, last: u32, next: u32) -> bool {
        self.following(last).binary_search(&next).is_ok()
    }
}
