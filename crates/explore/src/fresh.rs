//! Each key once: whichever of those that had no injection yet is reached first. It knows numbers only.

/// Maximum number of keys that a trial waits for; those seen first have precedence.
const WAITED_FOR_MAX: usize = 64;
/// Maximum number of successive trials that may wait for a key in vain.
const MISSES_MAX: u32 = 3;

#[derive(Debug, Clone, Copy, Default)]
struct Info {
    used: bool,
    open: bool,
    misses: u32,
}

/// See the module.
#[derive(Debug, Clone, Default)]
pub(crate) struct Fresh {
    keys: Vec<Info>,
}

impl Fresh {
    /// A trial had requests with this key. Keys are numbered from 0, in the order in which they were seen.
    pub(crate) fn seen(&mut self, key: u32) {
        if self.keys.len() <= key as usize {
            self.keys.resize(key as usize + 1, Info::default());
        }
    }

    /// The keys that a trial waits for; none if all were used, or are waited for by trials that are not over.
    pub(crate) fn next(&mut self) -> Vec<u32> {
        let waiting = |it: &(usize, &mut Info)| !it.1.used && !it.1.open && it.1.misses < MISSES_MAX;
        let chosen = self.keys.iter_mut().enumerate().filter(waiting).take(WAITED_FOR_MAX);
        chosen
            .map(|(key, info)| {
                info.open = true;
                key as u32
            })
            .collect()
    }

    /// The trial that waited for these is over.
    pub(crate) fn told(&mut self, keys: &[u32], injected: Option<u32>) {
        for &key in keys {
            let info = &mut self.keys[key as usize];
            info.open = false;
            info.misses = if injected.is_none() { info.misses + 1 } else { 0 };
        }
        if let Some(key) = injected {
            self.keys[key as usize].used = true;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_key_is_used_once() {
        let mut it = Fresh::default();
        assert_eq!(it.next(), [] as [u32; 0]);
        it.seen(2);
        assert_eq!(it.next(), [0, 1, 2]);
        assert_eq!(it.next(), [] as [u32; 0], "another trial waits for them");
        it.told(&[0, 1, 2], Some(1));
        assert_eq!(it.next(), [0, 2]);
        it.told(&[0, 2], Some(2));
        for _ in 0..MISSES_MAX {
            assert_eq!(it.next(), [0]);
            it.told(&[0], None);
        }
        assert_eq!(it.next(), [] as [u32; 0], "it is reached no more");
    }

    #[test]
    fn a_trial_waits_for_so_many_keys_only() {
        let mut it = Fresh::default();
        it.seen(1000);
        assert_eq!(it.next().len(), WAITED_FOR_MAX);
        assert_eq!(it.next()[0], WAITED_FOR_MAX as u32);
    }
}
