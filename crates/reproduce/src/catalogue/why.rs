//! The rules behind a distance: the same sum as in [`Catalogue::choices`], told rule by rule.

use hypocenter_plan::Fault;
use hypocenter_program::{CallId, Program, TypeId};
use hypocenter_results::Score;

use super::{Catalogue, NamedFrame, Wanted, against_delay};
use crate::before::Before;
use crate::policy;

impl Catalogue {
    /// The rules that make up the distance of a fault from an observable, or from a silent thread where there is none. Of several ways
    /// to come there it is the one that has this distance.
    pub(crate) fn why(
        &self,
        program: &Program,
        observable: Option<(&Wanted, &Before)>,
        (site, fault): (u32, &Fault),
        distance: u32,
    ) -> Score {
        let call = self.call(site);
        let ways = match (fault, observable) {
            (Fault::Delay { .. }, Some((wanted, before))) => delay_ways(program, wanted, before, call),
            (Fault::Delay { .. }, None) => vec![one(&policy::SILENCE)],
            (_, None) => vec![one(&policy::DEATH)],
            (Fault::Exception { class, .. }, Some(of)) => {
                let class = program.world.find_type(class.replace('.', "/").as_bytes());
                class.map_or_else(Vec::new, |class| self.exception_ways(program, of, (call, class)))
            }
            _ => Vec::new(),
        };
        let totals: Vec<u64> = ways.iter().map(Score::total).collect();
        let found = ways.into_iter().find(|it| it.total() == u64::from(distance));
        debug_assert!(
            found.is_some(),
            "{fault} at site {site} is {distance} away, and its ways are {totals:?}"
        );
        found.unwrap_or_else(|| {
            let mut score = Score::default();
            score.add(&policy::STEP, distance);
            score
        })
    }

    fn exception_ways(
        &self,
        program: &Program,
        (wanted, before): (&Wanted, &Before),
        (call, class): (CallId, TypeId),
    ) -> Vec<Score> {
        let world = &program.world;
        let evidence = self.evidence(program, wanted);
        let site = self.number(call).map(|it| &self.sites[it as usize]);
        let against = evidence.against(world, call, site, class);
        let is_io = world.find_type(b"java/io/IOException").is_some_and(|it| world.is_subtype(class, it));
        let no_io = (!is_io).then_some(&policy::NO_IO);
        let by_code = before.fault(call, class).map(|steps| {
            let faults = program.faults.at(call);
            let is_declared = faults.iter().any(|it| it.kind.exceptions().contains(&class));
            let subtype = (!is_declared).then_some(&policy::SUBTYPE);
            let mut score = Score::default();
            score.add(&policy::STEP, steps);
            [subtype, against, no_io].into_iter().flatten().for_each(|it| score.add(it, it.weight));
            score
        });
        let by_stack = evidence.named.get(&(call, class)).map(|&all| {
            let is_other = self
                .frame_of(program, wanted, call, class)
                .is_some_and(|it| is_other_line(program, &it, call));
            let other_line = if is_other { policy::OTHER_LINE.weight } else { 0 };
            let mut score = Score::default();
            score.add(&policy::FRAME, all.saturating_sub(other_line));
            score.add(&policy::OTHER_LINE, other_line);
            no_io.into_iter().for_each(|it| score.add(it, it.weight));
            score
        });
        let mut far = one(&policy::NO_PATH);
        against.into_iter().for_each(|it| far.add(it, it.weight));
        by_code.into_iter().chain(by_stack).chain([far]).collect()
    }
}

/// A call in the method of a frame, at another line than the frame has.
fn is_other_line(program: &Program, frame: &NamedFrame, call: CallId) -> bool {
    let (world, call) = (&program.world, program.facts.call(call));
    let class = world.find_type(frame.class.replace('.', "/").as_bytes());
    let is_there = class == Some(world.method(call.method).owner)
        && world.method_name(call.method) == frame.method.as_bytes();
    is_there && frame.line.is_some_and(|it| it != u32::from(call.line))
}

fn delay_ways(program: &Program, wanted: &Wanted, before: &Before, call: CallId) -> Vec<Score> {
    let method = program.facts.call(call).method;
    let on_path = before.method(method).map(|steps| {
        let mut score = Score::default();
        score.add(&policy::STEP, steps);
        score.add(&policy::LATE_METHOD, policy::LATE_METHOD.weight);
        score
    });
    let mut ways: Vec<Score> = on_path.into_iter().chain([one(&policy::DELAY)]).collect();
    for it in &mut ways {
        against_delay(wanted, before).into_iter().for_each(|rule| it.add(rule, rule.weight));
    }
    ways
}

fn one(rule: &'static hypocenter_results::Rule) -> Score {
    let mut score = Score::default();
    score.add(rule, rule.weight);
    score
}
