//! What a finding is compared with: the same call at other moments, and other calls in the same state.

use std::collections::BTreeMap;

use hypocenter_logs::role;
use hypocenter_plan::{Candidate, Fault, Guard, NO_TASK, Repeat};
use serde::Serialize;

use crate::catalogue::Catalogue;
use crate::findings::Injected;
use crate::reader::{Digest, Situation};

/// How something that was tried is near a finding.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Near {
    /// The same call, at another moment or on another node.
    SameSite,
    /// Another call, in the same state of the same node.
    SameState,
}

/// What came of what is near a finding: how often it showed the same, of how many.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct Neighbours {
    /// The same call, at other moments or on other nodes.
    pub same_site: (u64, u64),
    /// Other calls, in the same state.
    pub same_state: (u64, u64),
}

impl Neighbours {
    pub(crate) fn take_down(&mut self, near: Near, shows_it: bool) {
        let (hits, runs) = match near {
            Near::SameSite => &mut self.same_site,
            Near::SameState => &mut self.same_state,
        };
        (*hits, *runs) = (*hits + u64::from(shows_it), *runs + 1);
    }

    pub(crate) fn runs(&self, near: Near) -> u64 {
        match near {
            Near::SameSite => self.same_site.1,
            Near::SameState => self.same_state.1,
        }
    }

    /// What matters for the finding, as far as its neighbours tell.
    pub fn what_matters(&self) -> Option<String> {
        let mostly = |(hits, runs): (u64, u64)| (runs > 0).then_some(hits * 2 >= runs);
        let matters = match (mostly(self.same_site), mostly(self.same_state)) {
            (Some(true), Some(true)) => "the state matters: whichever call goes wrong in it, and whenever",
            (Some(false), Some(true)) => "the state matters, and the moment: other calls in it do the same",
            (Some(true), Some(false)) => "the call matters, not the moment",
            (Some(false), Some(false)) => "this call at this moment matters",
            (Some(true), None) => "the moment does not matter",
            (Some(false), None) => "the moment matters",
            (None, Some(true)) => "the state matters, not the call",
            (None, Some(false)) => "the call matters",
            (None, None) => return None,
        };
        let is_mixed = |(hits, runs): (u64, u64)| 0 < hits && hits < runs;
        let mixed = is_mixed(self.same_site) || is_mixed(self.same_state);
        Some(if mixed { format!("mostly, {matters}") } else { matters.to_owned() })
    }
}

/// Which calls were made in which situation, and how often, by runs without a fault: the most of all of them.
#[derive(Debug, Clone, Default)]
pub(crate) struct Surroundings {
    calls: BTreeMap<Key, Vec<(u32, u64)>>,
}

/// Node, state and, where there is no state, thread.
type Key = (String, String, Option<String>);

impl Surroundings {
    pub(crate) fn take_down(&mut self, digest: &Digest) {
        for it in &digest.requested {
            let Some(situation) = digest.situations.get(it.situation as usize) else { continue };
            let calls = self.calls.entry(key(situation)).or_default();
            match calls.iter_mut().find(|(site, _)| *site == it.site) {
                Some((_, times)) => *times = it.times.max(*times),
                None => calls.push((it.site, it.times)),
            }
        }
    }

    /// How two faults are near each other, if they are.
    pub(crate) fn near(&self, one: &Injected, other: &Injected) -> Option<Near> {
        if kind(&one.fault) != kind(&other.fault) {
            return None;
        }
        if one.site == other.site {
            // Where it happened, not how the plan came to it.
            let moment = |it: &Injected| {
                let guard = Guard { occurrence: None, probability: None, ..it.guard.clone() };
                (it.at.node.clone(), it.at.occurrence, guard)
            };
            return (moment(one) != moment(other)).then_some(Near::SameSite);
        }
        (key(&situation(one)) == key(&situation(other))).then_some(Near::SameState)
    }

    /// How often a call is made in the situation of a fault, if runs without a fault came there and its plan counts there.
    fn times(&self, injected: &Injected, catalogue: &Catalogue) -> Option<u64> {
        injected.guard.state.as_ref()?;
        let site = catalogue.find(&injected.site)?;
        let calls = self.calls.get(&key(&situation(injected)))?;
        calls.iter().find(|it| it.0 == site).map(|it| it.1)
    }

    /// At most this many of each kind, the nearest first.
    pub(crate) fn of(
        &self,
        injected: &Injected,
        catalogue: &Catalogue,
        near: Near,
        most: usize,
    ) -> Vec<Candidate> {
        match near {
            Near::SameSite => {
                let at = injected.at.occurrence;
                let mut moments = vec![at + 1];
                moments.extend(at.checked_sub(1).filter(|&it| it > 0));
                moments.extend([1, at + 2].into_iter().filter(|it| *it != at));
                let times = self.times(injected, catalogue);
                let mut found: Vec<u64> = Vec::new();
                for it in moments {
                    // What no run without a fault comes to would be waited for in vain.
                    if !found.contains(&it) && times.is_none_or(|times| it <= times) {
                        found.push(it);
                    }
                }
                let same = injected.candidate();
                let other = |it: u64| Candidate {
                    when: Guard { occurrence: Some(it), ..same.when.clone() },
                    ..same.clone()
                };
                found.into_iter().take(most).map(other).collect()
            }
            Near::SameState => {
                let here = situation(injected);
                let guard = Guard {
                    node: Some(here.node.clone()),
                    state: Some(here.state.clone()),
                    thread: here.thread.clone(),
                    occurrence: Some(1),
                    ..Guard::default()
                };
                let calls = self.calls.get(&key(&here)).into_iter().flatten();
                let others = calls.filter_map(|&(it, _)| catalogue.sites().get(it as usize));
                let others = others.filter(|it| it.site != injected.site);
                let fault_of = |faults: &[Fault]| {
                    let same = faults.iter().find(|it| **it == injected.fault);
                    same.or_else(|| faults.iter().find(|it| kind(it) == kind(&injected.fault))).cloned()
                };
                let candidates = others.filter_map(|it| {
                    let (site, when) = (it.site.clone(), guard.clone());
                    Some(Candidate { site, fault: fault_of(&it.faults)?, when, repeat: Repeat::Once })
                });
                candidates.take(most).collect()
            }
        }
    }
}

/// The kind of a fault: an exception is like any other.
fn kind(fault: &Fault) -> std::mem::Discriminant<Fault> {
    std::mem::discriminant(fault)
}

/// Where a fault happened, in the words of requests.
fn situation(it: &Injected) -> Situation {
    let thread = it.at.state.is_none().then(|| role(&it.at.thread).replace('#', "*"));
    let state = it.at.state.clone().unwrap_or_else(|| NO_TASK.to_owned());
    Situation { node: it.at.node.clone(), state, thread }
}

fn key(it: &Situation) -> Key {
    (it.node.clone(), it.state.clone(), it.thread.clone())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::catalogue::SiteFaults;
    use crate::findings::tests::injected;
    use crate::reader::Requested;

    #[test]
    fn moments_that_never_come_are_not_tried() {
        let fault = Fault::Exception { class: "java.io.IOException".into(), message: None };
        let mut finding = injected(&fault, "a.Out.flush()V", Vec::new());
        finding.at.state = Some("a.A.run#0".into());
        let faults = vec![fault];
        let catalogue = Catalogue::new(vec![SiteFaults { site: finding.site.clone(), faults }]);
        let moments = |finding: &Injected, times: u64| -> Vec<u64> {
            let mut surroundings = Surroundings::default();
            surroundings.take_down(&Digest {
                situations: vec![situation(finding)],
                requested: vec![Requested { situation: 0, site: 0, stack: 0, times }],
                ..Digest::default()
            });
            let found = surroundings.of(finding, &catalogue, Near::SameSite, 9);
            found.iter().filter_map(|it| it.when.occurrence).collect()
        };
        // Without a state in its plan the hits of other states count as well.
        assert_eq!(moments(&finding, 1), [2, 3]);
        finding.guard.state = finding.at.state.clone();
        assert_eq!(moments(&finding, 1), [0; 0]);
        assert_eq!(moments(&finding, 2), [2]);
    }

    #[test]
    fn what_matters_is_told_by_what_shows_the_same() {
        for (same_site, same_state, expected) in [
            ((0, 0), (0, 0), None),
            ((2, 2), (0, 2), Some("the call matters, not the moment")),
            ((0, 2), (0, 2), Some("this call at this moment matters")),
            ((2, 2), (2, 2), Some("the state matters: whichever call goes wrong in it, and whenever")),
            (
                (2, 2),
                (1, 2),
                Some("mostly, the state matters: whichever call goes wrong in it, and whenever"),
            ),
            ((0, 2), (2, 2), Some("the state matters, and the moment: other calls in it do the same")),
            ((0, 1), (0, 0), Some("the moment matters")),
            ((0, 0), (0, 1), Some("the call matters")),
        ] {
            let neighbours = Neighbours { same_site, same_state };
            assert_eq!(neighbours.what_matters().as_deref(), expected, "{neighbours:?}");
        }
    }
}
