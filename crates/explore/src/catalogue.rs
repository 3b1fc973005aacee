//! The calls that can fail, and what.

use std::collections::BTreeSet;

use hypocenter_plan::{Fault, Frame, MethodLine, Site};
use rustc_hash::FxHashMap;

/// A call and the faults that can happen there.
#[derive(Debug, Clone, PartialEq)]
pub struct SiteFaults {
    /// Where.
    pub site: Site,
    /// What, in the order of class names, a delay last.
    pub faults: Vec<Fault>,
}

/// See the module. Sites are in the order of the program.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Catalogue {
    sites: Vec<SiteFaults>,
    by_method: FxHashMap<(String, String, String), Vec<u32>>,
    /// Lines whose calls only work in memory.
    in_memory: BTreeSet<MethodLine>,
}

impl Catalogue {
    /// These calls.
    pub fn new(sites: Vec<SiteFaults>) -> Catalogue {
        let mut by_method: FxHashMap<_, Vec<u32>> = FxHashMap::default();
        for (number, SiteFaults { site, .. }) in sites.iter().enumerate() {
            let key = (site.class.clone(), site.method.clone(), site.descriptor.clone());
            by_method.entry(key).or_default().push(number as u32);
        }
        Catalogue { sites, by_method, in_memory: BTreeSet::new() }
    }

    /// The same, and the calls of these lines only work in memory.
    pub fn with_memory(self, lines: impl IntoIterator<Item = MethodLine>) -> Catalogue {
        Catalogue { in_memory: lines.into_iter().collect(), ..self }
    }

    /// Lines whose calls only work in memory: whatever they call works there too, however it is used elsewhere.
    pub fn in_memory(&self) -> impl Iterator<Item = &MethodLine> {
        self.in_memory.iter()
    }

    /// Tests whether a stack, innermost frame first, goes through a call that only works in memory.
    pub fn is_in_memory(&self, stack: &[Frame]) -> bool {
        let line = |it: &Frame| it.at.as_deref()?.rsplit_once(':')?.1.parse::<u32>().ok();
        let at = |it: &Frame| Some(MethodLine { method: it.method.clone(), line: line(it)? });
        stack.iter().skip(1).filter_map(at).any(|it| self.in_memory.contains(&it))
    }

    /// All calls, by their numbers.
    pub fn sites(&self) -> &[SiteFaults] {
        &self.sites
    }

    /// The number of a call.
    pub fn find(&self, site: &Site) -> Option<u32> {
        let key = (site.class.clone(), site.method.clone(), site.descriptor.clone());
        let of_method = self.by_method.get(&key)?;
        of_method.iter().copied().find(|&it| self.sites[it as usize].site.same_point(site))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_called_by_a_call_in_memory_is_in_memory() {
        let lines = [("reply", 5), ("pack", 9)];
        let line = |(method, line): (&str, u32)| MethodLine { method: format!("a.Store.{method}"), line };
        let catalogue = Catalogue::default().with_memory(lines.map(line));
        let frame = |method: &str, at: &str| Frame { method: method.into(), at: Some(at.into()) };
        let below = |caller: Frame| {
            let stack = [frame("a.Store.write", "Store.java:7"), caller];
            catalogue.is_in_memory(&stack)
        };
        assert!(below(frame("a.Store.reply", "Store.java:5")));
        assert!(!below(frame("a.Store.reply", "Store.java:6")));
        assert!(!below(frame("a.Store.reply", "Unknown")));
        assert!(below(frame("a.Store.pack", "Store.java:9")));
        let itself = [frame("a.Store.reply", "Store.java:5")];
        assert!(!catalogue.is_in_memory(&itself), "its own call is no caller");
    }
}
