//! The monitors that `synchronized` methods hold.
//!
//! A method takes its monitor before its first instruction, where its hook sees the object. Where an exception leaves it the object is at hand
//! no more, so each thread remembers what its methods hold.

use hypocenter_plan::SiteKind;
use hypocenter_trace::{Map, ObjectId, Placement, SiteId};
use rustc_hash::FxHashMap;

/// A monitor that a method of a thread holds.
#[derive(Clone, Copy)]
pub(crate) struct Held {
    enter: SiteId,
    object: ObjectId,
}

/// The sites of `synchronized` methods, each with the one at which the monitor is taken.
#[derive(Default)]
pub(crate) struct Monitors {
    enters: FxHashMap<u32, SiteId>,
}

impl Monitors {
    /// Those of methods of which both ends are seen.
    pub(crate) fn new(map: &Map<'_>, is_seen: impl Fn(SiteId) -> bool) -> Monitors {
        let mut enters = FxHashMap::default();
        for class in (0..map.class_count()).filter_map(|it| map.class_at(it)) {
            for method in class.methods() {
                let find = |kind, placement| {
                    let is_it = |site| map.kind(site) == Some(kind) && is_seen(site);
                    method.hooks().find(|it| it.placement == placement && is_it(it.site)).map(|it| it.site)
                };
                let enter = find(SiteKind::MonitorEnter, Placement::Entry);
                if let Some((enter, exit)) = enter.zip(find(SiteKind::MonitorExit, Placement::Unwind)) {
                    enters.extend([(enter.0, enter), (exit.0, enter)]);
                }
            }
        }
        Monitors { enters }
    }

    /// Tests whether a site is one of a `synchronized` method.
    #[inline]
    pub(crate) fn has(&self, site: SiteId) -> bool {
        !self.enters.is_empty() && self.enters.contains_key(&site.0)
    }

    /// The object of a hit: the one that is given, or that the method has held since it was entered.
    pub(crate) fn follow(&self, held: &mut Vec<Held>, site: SiteId, object: ObjectId) -> ObjectId {
        match self.enters.get(&site.0) {
            None => object,
            Some(&enter) if enter == site => {
                held.push(Held { enter, object });
                object
            }
            Some(&enter) => {
                let Some(at) = held.iter().rposition(|it| it.enter == enter) else { return object };
                let object = held[at].object;
                // Whatever lies above it has ended.
                held.truncate(at);
                object
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_method_gives_back_what_it_took() {
        let (enter, exit, other) = (SiteId(1), SiteId(2), SiteId(3));
        let monitors = Monitors { enters: [(1, enter), (2, enter), (4, SiteId(4))].into_iter().collect() };
        let mut held = Vec::new();
        let mut follow = |site, object| monitors.follow(&mut held, site, ObjectId(object)).0;
        assert_eq!(follow(enter, 7), 7);
        assert_eq!(follow(enter, 8), 8);
        assert_eq!(follow(other, 9), 9, "a block has its object at hand");
        assert_eq!(follow(exit, 0), 8);
        assert_eq!(follow(SiteId(4), 10), 10);
        assert_eq!(follow(exit, 0), 7, "the end of the method within it was missed");
        assert_eq!(follow(exit, 0), 0);
    }
}
