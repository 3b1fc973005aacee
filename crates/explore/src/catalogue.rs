//! The calls at which something can go wrong, and what.

use hypocenter_plan::{Fault, Site};
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
}

impl Catalogue {
    /// These calls.
    pub fn new(sites: Vec<SiteFaults>) -> Catalogue {
        let mut by_method: FxHashMap<_, Vec<u32>> = FxHashMap::default();
        for (number, SiteFaults { site, .. }) in sites.iter().enumerate() {
            let key = (site.class.clone(), site.method.clone(), site.descriptor.clone());
            by_method.entry(key).or_default().push(number as u32);
        }
        Catalogue { sites, by_method }
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
