//! Fate of what a plan orders, forces and sets.

use hypocenter_plan::{
    CandidateResult, ForceOutcome, Happening, Injection, Order, OrderOutcome, OrderResult, SetOutcome,
    Steering,
};
use hypocenter_trace::CandidateEnd;

use super::{Asked, Reader};
use crate::arm::steering::Numbers;

/// `end_of`: the end of each that the agent was given, by its number.
pub(super) fn read(reader: &Reader<'_>, end_of: impl Fn(usize) -> CandidateEnd) -> Steering {
    let plan = reader.plan;
    let numbers = Numbers::of(plan);
    let order = plan.order.iter().zip((numbers.orders..).step_by(2)).map(|(it, number)| {
        let ends = [end_of(number), end_of(number + 1)];
        let result = order(reader, it, number, ends);
        OrderOutcome { first: it.first.clone(), then: it.then.clone(), result }
    });
    let force = plan.force.iter().zip(numbers.forces..).map(|(it, number)| {
        let asked = Asked { number, site: &it.branch, when: &it.when, limited: false, thrown: false };
        ForceOutcome {
            branch: it.branch.clone(),
            way: it.way,
            hits: reader.hits(asked),
            result: reader.result(asked, end_of(number)),
        }
    });
    let set = plan.set.iter().zip(numbers.sets..).map(|(it, number)| {
        let asked = Asked { number, site: &it.constant, when: &it.when, limited: false, thrown: false };
        SetOutcome {
            constant: it.constant.clone(),
            value: it.value.clone(),
            hits: reader.hits(asked),
            result: reader.result(asked, end_of(number)),
        }
    });
    Steering { order: order.collect(), force: force.collect(), set: set.collect() }
}

fn order(reader: &Reader<'_>, order: &Order, number: usize, [first, then]: [CandidateEnd; 2]) -> OrderResult {
    let waited_ms = match then {
        CandidateEnd::Injected { spent_ns, .. } => spent_ns as f64 / 1e6,
        _ => 0.0,
    };
    let was_refused = then == CandidateEnd::Refused;
    match (side(reader, &order.first, number, first), side(reader, &order.then, number + 1, then)) {
        (Ok(first), Ok(then)) => {
            OrderResult::Kept { first: Box::new(first), then: Box::new(then), waited_ms }
        }
        (first, Err(why)) if was_refused => {
            let what = match first {
                Ok(first) => {
                    format!("{why}; the other came {:.0} ms after the start of the trial", first.at_ms)
                }
                Err(missing) => format!("{why}; the other never came: {missing}"),
            };
            OrderResult::NotPossible { why: what }
        }
        (first, then) => {
            let missing = [("first", first.err()), ("then", then.err())];
            let missing = missing.into_iter().filter_map(|(side, why)| Some(format!("{side}: {}", why?)));
            OrderResult::NotReached { why: missing.collect::<Vec<String>>().join("; ") }
        }
    }
}

/// One instance of an order, or why it is not known to have happened.
fn side(reader: &Reader<'_>, it: &Happening, number: usize, end: CandidateEnd) -> Result<Injection, String> {
    let asked = Asked { number, site: &it.site, when: &it.when, limited: false, thrown: false };
    match reader.result(asked, end) {
        CandidateResult::Injected(it) => Ok(it),
        CandidateResult::Refused { .. } if end == CandidateEnd::Claimed => {
            Err("a thread was there when its JVM ended".to_owned())
        }
        CandidateResult::Refused { why } | CandidateResult::NotReached { why } => Err(why),
        CandidateResult::NotNeeded => Err("it was not needed".to_owned()),
    }
}
