//! The calls at which something can go wrong, and what.

use std::collections::BTreeSet;

use hypocenter_plan::{Fault, Frame, MethodLine, Site};
use rustc_hash::{FxHashMap, FxHashSet};

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

    /// The same, and these calls are left out since they only work in memory.
    pub fn without(mut self, in_memory: &[Site]) -> Catalogue {
        let line_of =
            |it: &Site| Some(MethodLine { method: format!("{}.{}", it.class, it.method), line: it.line? });
        // One may still fail with what the system makes of its own accord.
        let left_out: FxHashSet<usize> =
            in_memory.iter().filter_map(|it| self.find(it)).map(|it| it as usize).collect();
        let other = self.sites.iter().enumerate().filter(|it| !left_out.contains(&it.0));
        let other: FxHashSet<MethodLine> = other.filter_map(|it| line_of(&it.1.site)).collect();
        // A line says which call a stack went through only where all of its calls are of one kind.
        self.in_memory = in_memory.iter().filter_map(line_of).filter(|it| !other.contains(it)).collect();
        self
    }

    /// Lines whose calls only work in memory: whatever they call works there too, however it is used elsewhere.
    pub fn in_memory(&self) -> impl Iterator<Item = &MethodLine> {
        self.in_memory.iter()
    }

    /// Whether a stack, innermost frame first, goes through a call that only works in memory.
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
    use hypocenter_plan::SiteKind;

    use super::*;

    fn site(method: &str, line: u32) -> Site {
        Site {
            class: "a.Store".into(),
            method: method.into(),
            descriptor: "()V".into(),
            kind: SiteKind::Call,
            callee: Some("java.io.OutputStream.write(I)V".into()),
            ordinal: 0,
            line: Some(line),
        }
    }

    #[test]
    fn what_is_called_by_a_call_in_memory_is_in_memory() {
        let faults = vec![Fault::Exception { class: "java.io.IOException".into(), message: None }];
        let second = Site { ordinal: 1, ..site("save", 3) };
        let sites = [site("write", 7), second, site("pack", 9)]
            .map(|site| SiteFaults { site, faults: faults.clone() });
        let in_memory = [site("reply", 5), site("save", 3), site("pack", 9)];
        let catalogue = Catalogue::new(sites.into()).without(&in_memory);
        let frame = |method: &str, at: &str| Frame { method: method.into(), at: Some(at.into()) };
        let below = |caller: Frame| {
            let stack = [frame("a.Store.write", "Store.java:7"), caller];
            catalogue.is_in_memory(&stack)
        };
        assert!(below(frame("a.Store.reply", "Store.java:5")));
        assert!(!below(frame("a.Store.reply", "Store.java:6")));
        assert!(!below(frame("a.Store.save", "Store.java:3")), "another call of that line is not");
        assert!(!below(frame("a.Store.reply", "Unknown")));
        // It can fail, but not with what is below it.
        assert!(below(frame("a.Store.pack", "Store.java:9")));
        let itself = [frame("a.Store.reply", "Store.java:5")];
        assert!(!catalogue.is_in_memory(&itself), "its own call is no caller");
    }
}
