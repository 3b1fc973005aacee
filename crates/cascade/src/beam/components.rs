//! Strongly connected components of the steps.

use super::Joins;

/// Component of each step: two steps have the same number if each can be reached from the other (Tarjan).
pub(super) fn components(joins: &Joins) -> Vec<u32> {
    const NEW: u32 = u32::MAX;
    let steps = joins.steps();
    let mut component = vec![NEW; steps];
    // Order of discovery, and the earliest open step that is known to be reachable.
    let (mut order, mut low) = (vec![NEW; steps], vec![NEW; steps]);
    let (mut open, mut path) = (Vec::new(), Vec::new());
    let (mut discovered, mut components) = (0, 0);
    for root in 0..steps as u32 {
        if order[root as usize] != NEW {
            continue;
        }
        path.push((root, 0));
        while let Some((step, done)) = path.last_mut() {
            let at = *step as usize;
            if *done == 0 {
                (order[at], low[at]) = (discovered, discovered);
                discovered += 1;
                open.push(*step);
            }
            if let Some(&next) = joins.following(*step).get(*done) {
                *done += 1;
                let next_at = next as usize;
                if order[next_at] == NEW {
                    path.push((next, 0));
                } else if component[next_at] == NEW {
                    low[at] = low[at].min(order[next_at]);
                }
                continue;
            }
            path.pop();
            if low[at] == order[at] {
                while let Some(member) = open.pop() {
                    component[member as usize] = components;
                    if member as usize == at {
                        break;
                    }
                }
                components += 1;
            }
            if let Some((before, _)) = path.last() {
                low[*before as usize] = low[*before as usize].min(low[at]);
            }
        }
    }
    component
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Members of each component, sorted.
    fn check(steps: usize, pairs: &[(u32, u32)], expect: &[&[u32]]) {
        let joins = Joins::from_pairs(steps, pairs.iter().copied()).expect("all steps exist");
        let of = components(&joins);
        let mut sets = vec![Vec::new(); steps];
        (0..).zip(&of).for_each(|(step, component)| sets[*component as usize].push(step));
        sets.retain(|it: &Vec<u32>| !it.is_empty());
        sets.sort();
        assert_eq!(sets, expect);
    }

    #[test]
    fn steps_that_reach_each_other_are_together() {
        check(0, &[], &[]);
        check(2, &[(0, 1)], &[&[0], &[1]]);
        check(3, &[(0, 0), (0, 1), (1, 2), (2, 1)], &[&[0], &[1, 2]]);
        let eight = [(0, 1), (1, 2), (2, 0), (2, 3), (3, 4), (4, 5), (5, 3), (6, 4), (6, 7), (7, 6)];
        check(8, &eight, &[&[0, 1, 2], &[3, 4, 5], &[6, 7]]);
        check(4, &[(0, 1), (1, 2), (2, 3), (3, 1), (2, 0)], &[&[0, 1, 2, 3]]);
    }
}
