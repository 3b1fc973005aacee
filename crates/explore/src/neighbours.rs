//! Trials that a finding is compared with: the same call at other occurrences, other calls at the same place, and other calls in the same state.

use std::collections::BTreeMap;

use hypocenter_logs::role;
use hypocenter_plan::{Candidate, Fault, Guard, NO_TASK, Repeat, Site};
use hypocenter_results::Injected;
use serde::Serialize;

use crate::findings::way;

use crate::catalogue::Catalogue;

use crate::reader::{Situation, TrialDigest};

/// Share of the calls of a state that may lie between two occurrences that count as equally far along.
const AS_FAR: f64 = 0.1;

/// Common properties of a trial and the finding that it is near.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Near {
    /// The same call, come to by the same way, at another moment or on another node.
    Site,
    /// Another call of the same method, come to by the same way.
    Place,
    /// A call somewhere else, in the same state of the same node.
    State,
}

impl Near {
    pub(crate) const ALL: [Near; 3] = [Near::Site, Near::Place, Near::State];
}

/// Of how many trials how many showed the same.
pub type Showed = (u64, u64);

/// Results of trials near a finding.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct Neighbours {
    /// The same call by the same way, at other moments or on other nodes.
    pub same_site: Showed,
    /// Other calls of the same method, by the same way.
    pub same_place: Showed,
    /// Calls somewhere else, in the same state.
    pub same_state: Showed,
}

impl Neighbours {
    pub(crate) fn take_down(&mut self, near: Near, shows_it: bool) {
        let (hits, runs) = match near {
            Near::Site => &mut self.same_site,
            Near::Place => &mut self.same_place,
            Near::State => &mut self.same_state,
        };
        (*hits, *runs) = (*hits + u64::from(shows_it), *runs + 1);
    }

    pub(crate) fn runs(&self, near: Near) -> u64 {
        match near {
            Near::Site => self.same_site.1,
            Near::Place => self.same_place.1,
            Near::State => self.same_state.1,
        }
    }

    /// Relevant property of the finding, as far as its neighbours show.
    pub fn what_matters(&self) -> Option<String> {
        let mostly = |(hits, runs): Showed| (runs > 0).then_some(hits * 2 >= runs);
        let moment = mostly(self.same_site);
        // The widest circle in which the same comes about.
        let (matters, of) = match (mostly(self.same_place), mostly(self.same_state)) {
            (_, Some(true)) => {
                let matters = match moment {
                    Some(true) => "the state matters, not the call or its occurrence",
                    Some(false) => {
                        "the state and the occurrence matter: other calls in this state have the same effect"
                    }
                    None => "the state matters, not the call",
                };
                (matters, vec![self.same_state])
            }
            (Some(true), _) => {
                let matters = match moment {
                    Some(true) => "the place matters, not the call or its occurrence",
                    Some(false) => {
                        "the place and the occurrence matter: other calls there have the same effect"
                    }
                    None => "the place matters, not the call",
                };
                (matters, vec![self.same_place])
            }
            (None, None) => match moment? {
                true => ("the occurrence does not matter", vec![]),
                false => ("the occurrence matters", vec![]),
            },
            _ => {
                let matters = match moment {
                    Some(true) => "the call matters, not its occurrence",
                    Some(false) => "this occurrence of this call matters",
                    None => "the call matters",
                };
                (matters, vec![self.same_place, self.same_state])
            }
        };
        let is_mixed = |&(hits, runs): &Showed| 0 < hits && hits < runs;
        let mixed = is_mixed(&self.same_site) || of.iter().any(is_mixed);
        Some(if mixed { format!("mostly, {matters}") } else { matters.to_owned() })
    }
}

/// Calls by situation, and their number, in runs without a fault: the maximum of all runs.
#[derive(Debug, Clone, Default)]
pub(crate) struct Surroundings {
    calls: BTreeMap<Key, Vec<(u32, u64)>>,
}

/// Node, state and, where there is no state, thread.
type Key = (String, String, Option<String>);

impl Surroundings {
    pub(crate) fn take_down(&mut self, digest: &TrialDigest) {
        for it in &digest.requested {
            let Some(situation) = digest.situations.get(it.situation as usize) else { continue };
            let calls = self.calls.entry(key(situation)).or_default();
            match calls.iter_mut().find(|(site, _)| *site == it.site) {
                Some((_, times)) => *times = it.times.max(*times),
                None => calls.push((it.site, it.times)),
            }
        }
    }

    /// Similarity of two faults, if they are near each other.
    pub(crate) fn near(&self, one: &Injected, other: &Injected) -> Option<Near> {
        if kind(&one.fault) != kind(&other.fault) {
            return None;
        }
        let at_one_place = way(one) == way(other) && method(&one.site) == method(&other.site);
        if one.site == other.site {
            // Where it happened, not how the plan came to it.
            let moment = |it: &Injected| {
                let guard = Guard { occurrence: None, probability: None, ..it.guard.clone() };
                (it.at.node.clone(), it.at.occurrence, guard)
            };
            return (at_one_place && moment(one) != moment(other)).then_some(Near::Site);
        }
        if at_one_place {
            return Some(Near::Place);
        }
        (key(&situation(one)) == key(&situation(other))).then_some(Near::State)
    }

    /// Tests whether two faults are about as far along, each among the calls of its own, so that only the call tells them apart.
    pub(crate) fn are_as_far(&self, one: &Injected, other: &Injected, catalogue: &Catalogue) -> bool {
        let share = |it: &Injected| Some(it.at.occurrence as f64 / self.times(it, catalogue)? as f64);
        match (share(one), share(other)) {
            (Some(a), Some(b)) => (a - b).abs() <= AS_FAR,
            _ => one.at.occurrence == other.at.occurrence,
        }
    }

    /// Number of times that a call is made in the situation of a fault, if runs without a fault reached it and its plan counts there.
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
            Near::Site => {
                let at = injected.at.occurrence;
                // Beside it and far from it: where the failure takes some time to show, only an early one has it.
                let moments =
                    [at + 1, at / 2, at - 1, 1, at + 2].into_iter().filter(|it| *it != at && *it > 0);
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
            Near::Place | Near::State => {
                let here = situation(injected);
                let guard = Guard {
                    node: Some(here.node.clone()),
                    state: Some(here.state.clone()),
                    thread: here.thread.clone(),
                    ..Guard::default()
                };
                let calls = self.calls.get(&key(&here)).into_iter().flatten();
                let others =
                    calls.filter_map(|&(it, times)| Some((catalogue.sites().get(it as usize)?, times)));
                let is_there = |it: &Site| method(it) == method(&injected.site);
                let others = others.filter(|(it, _)| it.site != injected.site);
                let others = others.filter(|(it, _)| is_there(&it.site) == (near == Near::Place));
                // As far along as the finding, so that only the call differs.
                let (at, of) = (injected.at.occurrence, self.times(injected, catalogue).unwrap_or(u64::MAX));
                let moment = |times: u64| (at.min(of) as f64 / of as f64 * times as f64).ceil() as u64;
                let fault_of = |faults: &[Fault]| {
                    let same = faults.iter().find(|it| **it == injected.fault);
                    same.or_else(|| faults.iter().find(|it| kind(it) == kind(&injected.fault))).cloned()
                };
                let candidates = others.filter_map(|(it, times)| {
                    let when = Guard { occurrence: Some(moment(times).max(1)), ..guard.clone() };
                    let site = it.site.clone();
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

/// The method that makes a call.
fn method(site: &Site) -> (&str, &str, &str) {
    (&site.class, &site.method, &site.descriptor)
}

/// Place of a fault, in terms of requests.
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
    use hypocenter_plan::Frame;

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
            surroundings.take_down(&TrialDigest {
                situations: vec![situation(finding)],
                requested: vec![Requested { situation: 0, site: 0, stack: 0, times }],
                ..TrialDigest::default()
            });
            let found = surroundings.of(finding, &catalogue, Near::Site, 9);
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
        for (same_site, same_place, same_state, expected) in [
            ((0, 0), (0, 0), (0, 0), None),
            ((2, 2), (0, 0), (0, 2), Some("the call matters, not its occurrence")),
            ((2, 2), (0, 2), (0, 0), Some("the call matters, not its occurrence")),
            ((0, 2), (0, 0), (0, 2), Some("this occurrence of this call matters")),
            ((2, 2), (0, 0), (2, 2), Some("the state matters, not the call or its occurrence")),
            ((2, 2), (0, 0), (1, 2), Some("mostly, the state matters, not the call or its occurrence")),
            (
                (0, 2),
                (0, 0),
                (2, 2),
                Some("the state and the occurrence matter: other calls in this state have the same effect"),
            ),
            // What other places of the state show is no doubt of the place.
            ((2, 2), (2, 2), (1, 8), Some("the place matters, not the call or its occurrence")),
            (
                (0, 2),
                (2, 3),
                (0, 2),
                Some("mostly, the place and the occurrence matter: other calls there have the same effect"),
            ),
            ((0, 0), (2, 2), (0, 2), Some("the place matters, not the call")),
            ((0, 1), (0, 0), (0, 0), Some("the occurrence matters")),
            ((0, 0), (0, 0), (0, 1), Some("the call matters")),
        ] {
            let neighbours = Neighbours { same_site, same_place, same_state };
            assert_eq!(neighbours.what_matters().as_deref(), expected, "{neighbours:?}");
        }
    }

    /// A fault at a call of `a.Packet.write`, made by a method of this name, in the state of a thread.
    fn by(callee: &str, caller: &str, occurrence: u64) -> Injected {
        let fault = Fault::Exception { class: "java.io.IOException".into(), message: None };
        let frame = |method: &str| Frame { method: method.into(), at: None };
        let mut injected = injected(&fault, callee, vec![frame("a.Packet.write"), frame(caller)]);
        injected.at.occurrence = occurrence;
        injected
    }

    #[test]
    fn what_was_come_to_by_another_way_is_no_other_moment() {
        let surroundings = Surroundings::default();
        let finding = by("a.Out.flush()V", "a.Compactor.compact", 6);
        let near = |callee: &str, caller: &str, occurrence| {
            surroundings.near(&finding, &by(callee, caller, occurrence))
        };
        assert_eq!(near("a.Out.flush()V", "a.Compactor.compact", 5), Some(Near::Site));
        assert_eq!(near("a.Out.flush()V", "a.Compactor.compact", 6), None);
        assert_eq!(near("a.Out.flush()V", "a.Writer.roll", 5), None);
        assert_eq!(near("a.Out.close()V", "a.Compactor.compact", 5), Some(Near::Place));
        assert_eq!(near("a.Out.close()V", "a.Writer.roll", 5), Some(Near::State));
    }

    #[test]
    fn what_was_tried_at_another_moment_does_not_tell_calls_apart() {
        let mut surroundings = Surroundings::default();
        let in_state = |callee: &str, occurrence: u64| {
            let mut it = by(callee, "a.Compactor.compact", occurrence);
            it.at.state = Some("a.A.run#0".into());
            it.guard.state = it.at.state.clone();
            it
        };
        let finding = in_state("a.Out.flush()V", 6);
        let sites = [finding.site.clone(), in_state("a.Out.write()V", 1).site];
        let faults = vec![finding.fault.clone()];
        let sites = sites.map(|site| SiteFaults { site, faults: faults.clone() });
        let catalogue = Catalogue::new(sites.into());
        let requested = [(0, 6), (1, 60)];
        let requested = requested.map(|(site, times)| Requested { situation: 0, site, stack: 0, times });
        surroundings.take_down(&TrialDigest {
            situations: vec![situation(&finding)],
            requested: requested.into(),
            ..TrialDigest::default()
        });
        let as_far = |occurrence| {
            surroundings.are_as_far(&finding, &in_state("a.Out.write()V", occurrence), &catalogue)
        };
        assert_eq!([1, 6, 53, 55, 60].map(as_far), [false, false, false, true, true]);
        // Of what runs without a fault never made nothing is known but the number.
        let unknown = |occurrence| {
            surroundings.are_as_far(&finding, &in_state("a.Out.sync()V", occurrence), &catalogue)
        };
        assert_eq!([5, 6, 7].map(unknown), [false, true, false]);
    }

    #[test]
    fn other_calls_are_tried_as_far_along_and_by_where_they_are() {
        let mut finding = by("a.Out.flush()V", "a.Compactor.compact", 6);
        finding.at.state = Some("a.A.run#0".into());
        finding.guard.state = finding.at.state.clone();
        let faults = vec![finding.fault.clone()];
        let site = |callee: &str| by(callee, "a.Compactor.compact", 1).site;
        let elsewhere = Site { method: "read".into(), ..site("a.In.read()I") };
        let sites = [finding.site.clone(), site("a.Out.close()V"), elsewhere];
        let sites = sites.map(|site| SiteFaults { site, faults: faults.clone() });
        let catalogue = Catalogue::new(sites.into());
        let mut surroundings = Surroundings::default();
        let requested = [(0, 8), (1, 8), (2, 40)];
        let requested = requested.map(|(site, times)| Requested { situation: 0, site, stack: 0, times });
        surroundings.take_down(&TrialDigest {
            situations: vec![situation(&finding)],
            requested: requested.into(),
            ..TrialDigest::default()
        });
        let tried = |near| -> Vec<(String, u64)> {
            let found = surroundings.of(&finding, &catalogue, near, 9).into_iter();
            found.map(|it| (it.site.callee.unwrap(), it.when.occurrence.unwrap())).collect()
        };
        assert_eq!(tried(Near::Place), [("a.Out.close()V".to_owned(), 6)]);
        assert_eq!(tried(Near::State), [("a.In.read()I".to_owned(), 30)]);
    }
}
