//! Lists by number: for each of `0..count` a list, all in two flat arrays.

/// For each number a list.
#[derive(Debug)]
pub(crate) struct Lists<T> {
    /// Where the list of each number begins; one more for the end of the last.
    start: Vec<u32>,
    items: Vec<T>,
}

impl<T: Copy + Default> Lists<T> {
    /// Sorts pairs of a number below `count` and an item into the lists; each list keeps the order of the pairs.
    pub fn of(count: usize, pairs: impl Iterator<Item = (u32, T)> + Clone) -> Lists<T> {
        // Sizes are counted two places further on, so that after summing up, the place one further on is where
        // the list begins, and after filling, where it ends: no second array of positions is needed.
        let mut start = vec![0u32; count + 2];
        for (number, _) in pairs.clone() {
            start[number as usize + 2] += 1;
        }
        for at in 2..start.len() {
            start[at] += start[at - 1];
        }
        let mut items = vec![T::default(); start[count + 1] as usize];
        for (number, item) in pairs {
            let next = &mut start[number as usize + 1];
            items[*next as usize] = item;
            *next += 1;
        }
        start.pop();
        Lists { start, items }
    }

    /// The list of a number.
    pub fn get(&self, number: u32) -> &[T] {
        let at = number as usize;
        &self.items[self.start[at] as usize..self.start[at + 1] as usize]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pairs_are_sorted_into_lists() {
        let pairs = [(2, 'a'), (0, 'b'), (2, 'c'), (3, 'd')];
        let lists = Lists::of(5, pairs.into_iter());
        let shown: Vec<String> = (0..5).map(|number| lists.get(number).iter().collect()).collect();
        assert_eq!(shown, ["b", "", "ac", "d", ""]);
        assert!(Lists::<u32>::of(0, [].into_iter()).items.is_empty());
    }
}
