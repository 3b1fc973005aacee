//! What only one of two runs has, moved together.
//!
//! Of equal entries in a row any may be the one that has no partner. What came about together stands together, so an entry
//! without a partner that can be taken for one beside another such entry is taken for it.

/// Moves the entries of a run without a partner together as far as that costs no partner. `pairs` are those of a longest common
/// subsequence of the run and another, in order.
pub(crate) fn gather(run: &[u32], pairs: &mut [(u32, u32)]) {
    if pairs.is_empty() || pairs.len() == run.len() {
        return;
    }
    let mut partners: Vec<Option<u32>> = vec![None; run.len()];
    pairs.iter().for_each(|&(at, partner)| partners[at as usize] = Some(partner));
    let mut from = 0;
    while let Some(first) = (from..run.len()).find(|&at| partners[at].is_none()) {
        let end = end_of(&partners, first);
        let up = slides_up(run, &partners, first, end);
        let down = slides_down(run, &partners, first, end);
        from = match (up, down) {
            (Some(up), down) if down.is_none_or(|it| up <= it) => {
                slide_up(&mut partners, first, end, up);
                let (end, by) = (end - up, end - first);
                let first = (0..first - up).rev().find(|&at| partners[at].is_some()).map_or(0, |it| it + 1);
                // What goes wrong is told before how: it stands before what it was moved to, if it can.
                if can_slide_up(run, &partners, first, end, by) {
                    slide_up(&mut partners, first, end, by);
                }
                end_of(&partners, end)
            }
            (_, Some(down)) => {
                for by in 0..down {
                    partners[first + by] = partners[end + by].take();
                }
                // What it was moved to is looked at next, together with it.
                first + down
            }
            _ => end,
        };
    }
    let matched = partners.iter().enumerate().filter_map(|(at, it)| Some((at as u32, (*it)?)));
    pairs.iter_mut().zip(matched).for_each(|(pair, it)| *pair = it);
}

/// Moves entries without a partner up.
fn slide_up(partners: &mut [Option<u32>], first: usize, end: usize, by: usize) {
    for by in 1..=by {
        partners[end - by] = partners[first - by].take();
    }
}

/// Whether entries without a partner can be moved up so far.
fn can_slide_up(run: &[u32], partners: &[Option<u32>], first: usize, end: usize, by: usize) -> bool {
    first >= by && (1..=by).all(|it| partners[first - it].is_some() && run[first - it] == run[end - it])
}

/// The first entry with a partner from here on.
fn end_of(partners: &[Option<u32>], from: usize) -> usize {
    (from..partners.len()).find(|&at| partners[at].is_some()).unwrap_or(partners.len())
}

/// How far entries must be moved up to stand beside others without a partner, if they can be.
fn slides_up(run: &[u32], partners: &[Option<u32>], first: usize, end: usize) -> Option<usize> {
    let mut by = 0;
    loop {
        let before = first.checked_sub(by + 1)?;
        if partners[before].is_none() {
            return Some(by);
        }
        if run[before] != run[end - by - 1] {
            return None;
        }
        by += 1;
    }
}

/// As above, down.
fn slides_down(run: &[u32], partners: &[Option<u32>], first: usize, end: usize) -> Option<usize> {
    let mut by = 0;
    loop {
        let behind = *partners.get(end + by)?;
        if behind.is_none() {
            return Some(by);
        }
        if run[end + by] != run[first + by] {
            return None;
        }
        by += 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::diff::Differ;

    fn own(run: &str, other: &str) -> Vec<usize> {
        let numbers = |text: &str| text.bytes().map(u32::from).collect::<Vec<u32>>();
        let (run, other) = (numbers(run), numbers(other));
        let mut pairs: Vec<(u32, u32)> = Differ::default().pairs(&run, &other);
        let before = pairs.len();
        gather(&run, &mut pairs);
        assert_eq!(pairs.len(), before);
        assert!(pairs.is_sorted_by(|a, b| a.0 < b.0 && a.1 < b.1), "{pairs:?}");
        assert!(pairs.iter().all(|&(x, y)| run[x as usize] == other[y as usize]), "{pairs:?}");
        (0..run.len()).filter(|&at| !pairs.iter().any(|it| it.0 as usize == at)).collect()
    }

    #[test]
    fn what_only_one_run_has_stands_together() {
        // The fourth `f` is the one that `c` tells of.
        assert_eq!(own("ffffcff", "ffffff"), [4]);
        assert_eq!(own("ffffcff", "fffff"), [3, 4]);
        assert_eq!(own("xcff", "xf"), [1, 2]);
        // What stands together stays.
        assert_eq!(own("abababcab", "ababab"), [6, 7, 8]);
        // Where there is nothing to stand beside, nothing is moved.
        assert_eq!(own("aaa", "aa").len(), 1);
        assert_eq!(own("abc", "abc"), []);
        assert_eq!(own("abc", ""), [0, 1, 2]);
        assert_eq!(own("xaaay", "aaa"), [0, 4]);
    }

    #[test]
    fn any_two_runs_keep_as_many_pairs() {
        let mut seed = 7_u64;
        for _ in 0..2000 {
            let mut text = || -> String {
                seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
                (0..(seed >> 33) % 12).map(|at| (b'a' + ((seed >> (at * 4 + 8)) % 3) as u8) as char).collect()
            };
            let (run, other) = (text(), text());
            own(&run, &other);
        }
    }
}
