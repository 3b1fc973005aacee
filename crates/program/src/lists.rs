//! Many short lists in two arrays.

/// Lists of `T`, numbered from 0: list `n` is `items[starts[n]..starts[n + 1]]`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Lists<T> {
    starts: Vec<u32>,
    items: Vec<T>,
}

impl<T> Default for Lists<T> {
    fn default() -> Self {
        Lists { starts: vec![0], items: Vec::new() }
    }
}

impl<T> Lists<T> {
    /// Ends the list that is being filled, and begins the next.
    pub(crate) fn close(&mut self) {
        self.starts.push(self.items.len() as u32);
    }

    /// Adds a whole list.
    pub(crate) fn add(&mut self, items: impl IntoIterator<Item = T>) {
        self.items.extend(items);
        self.close();
    }

    /// Number of lists.
    pub fn len(&self) -> usize {
        self.starts.len() - 1
    }

    /// Tests whether there is none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// A list; empty for a number that there is not.
    pub fn get(&self, number: u32) -> &[T] {
        match (self.starts.get(number as usize), self.starts.get(number as usize + 1)) {
            (Some(&start), Some(&end)) => &self.items[start as usize..end as usize],
            _ => &[],
        }
    }

    /// All items of all lists.
    pub fn items(&self) -> &[T] {
        &self.items
    }

    /// The lists one after the other.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = &[T]> + Clone {
        self.starts.windows(2).map(|it| &self.items[it[0] as usize..it[1] as usize])
    }
}

impl<T: Copy + Default> Lists<T> {
    /// Sorts pairs of a number below `count` and an item into the lists; each list keeps the order of the pairs.
    pub(crate) fn of(count: usize, pairs: impl Iterator<Item = (u32, T)> + Clone) -> Lists<T> {
        // Sizes are counted two places further on, so that after summing up, the place one further on is where
        // the list begins, and after filling, where it ends: no second array of positions is needed.
        let mut starts = vec![0u32; count + 2];
        for (number, _) in pairs.clone() {
            starts[number as usize + 2] += 1;
        }
        for at in 2..starts.len() {
            starts[at] += starts[at - 1];
        }
        let mut items = vec![T::default(); starts[count + 1] as usize];
        for (number, item) in pairs {
            let next = &mut starts[number as usize + 1];
            items[*next as usize] = item;
            *next += 1;
        }
        starts.pop();
        Lists { starts, items }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pairs_are_sorted_into_lists_in_their_order() {
        let pairs = [(2, 'a'), (0, 'b'), (2, 'c')];
        let lists = Lists::of(4, pairs.into_iter());
        let all: Vec<&[char]> = lists.iter().collect();
        assert_eq!(all, [&['b'][..], &[], &['a', 'c'], &[]]);
        assert_eq!(lists.get(9), &[] as &[char]);
    }
}
