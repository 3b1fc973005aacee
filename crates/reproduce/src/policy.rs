//! The rules of the search, all of them: what makes a fault more or less likely, and when the order of tries is left.
//!
//! A score is a sum of points, and the fewest come first. One point is one step of the causal graph. Weights that are no points are
//! numbers that a rule goes by: rounds, faults, a factor. No rule knows a target.
//!
//! `source` names the section of the paper (ANDURIL) that a rule follows. Rules marked `own` go past it.

use std::borrow::Cow;
use std::collections::BTreeSet;

use hypocenter_results::{Rule, Score};

macro_rules! rules {
    ($($id:ident: $name:literal, $weight:literal, $source:literal, $why:literal;)*) => {
        $(#[doc = $why] pub(crate) static $id: Rule = Rule::new($name, $weight, $why, $source);)*
        /// Every rule, in the order of this file.
        static ALL: &[&Rule] = &[$(&$id),*];
    };
}

rules! {
    // How far a fault is from a line, by the code.
    STEP: "causal-step", 1, "ANDURIL 5.2.2", "one event in the code between the fault and the log line";
    FRAME: "stack-frame", 1, "own", "one frame between the fault and the frame of a logged stack trace that names it";
    SUBTYPE: "subtype", 1, "own", "the call declares another class; only a handler on the way names this one";
    OTHER_LINE: "other-line", 2, "own", "a stack trace has this method at another line, as another build would";
    OTHER_EXCEPTION: "other-exception", 3, "own", "the line was logged with an exception of another kind";
    OTHER_STACK: "other-stack", 2, "own", "the stack traces logged with the line do not lead to this call";
    OTHER_SOURCE: "other-source", 1, "own", "the exception that the message mentions comes from other calls";
    NO_IO: "no-io", 2, "ANDURIL Table 5", "the fault is no failure of input or output; 21 of 22 root causes were";
    NO_PATH: "no-path", 10, "own", "no causal path is known; the effect may travel by files, collections or processes";
    DEATH: "silent-death", 9, "own", "a thread falls silent; an exception may end a thread or task without a word";
    DELAY: "delay", 12, "own", "a delay may lead anywhere, so an exception with a causal path explains more";
    LATE_METHOD: "delay-on-path", 7, "own", "the delay is in a method on the causal path: what follows it comes late";
    SILENCE: "delay-silence", 8, "own", "a thread falls silent; a delay may keep it from going on";
    // How much a line counts.
    WARNING: "warning", 2, "own", "the line is a warning, not an error";
    MILD: "mild", 4, "own", "the line is neither a warning nor an error";
    KNOWN: "more-often", 2, "own", "normal runs have the line too, only less often";
    REMOTE: "remote", 2, "own", "the line is far from the lines of the failure itself, per doubling of the distance";
    NO_LEAD: "no-lead", 3, "own", "no fault is known to lead to the line; taken off the weight that is shown, not searched by";
    SPREAD: "spread", 1, "own", "factor: a line counts if the failure has it more often than normal runs by more than they spread";
    // How far an execution is from a line, by the logs.
    ENTRIES: "entries-between", 1, "ANDURIL 5.2.3", "log entries between the execution and the line, per doubling";
    LATE: "late", 3, "own", "factor for entries by which the execution comes after the line that it is to cause";
    BEHIND: "behind-failure", 4, "own", "the execution comes after the last line of the failure";
    SAME_ROLE: "same-role", 1, "own", "another thread of the same kind logged the line";
    OTHER_THREAD: "other-thread", 3, "own", "a thread of another kind logged the line";
    OTHER_NODE: "other-node", 6, "own", "a thread of another kind on another node logged the line";
    PEER_NODE: "peer-node", 5, "own", "a thread of the same kind on another node logged the line";
    // What rounds taught.
    SHOWN: "already-shown", 1, "ANDURIL 5.2.1", "rounds without the failure that showed the line, times --step";
    UNMOVED: "not-shown", 1, "own", "rounds whose fault was nearest to the line and did not bring it, times --step";
    FAILED: "site-failed", 1, "own", "rounds with this call that failed, counted 1, 3, 6, ..., times --step";
    ELSEWHERE: "any-place", 1, "own", "a line that no normal run has counts as shown wherever a round has it";
    // What is tried together, and when it is given up.
    MARGIN: "margin", 2, "own", "points by which a fault may be worse than the best and be tried in the same round";
    BEST_FIRST: "best-first", 1, "own", "a less likely fault is not tried together with the best if it is reached earlier";
    WIDER: "wider-window", 2, "ANDURIL 5.2.5", "factor for the window after a round in which no fault was reached";
    GIVEN_UP: "given-up", 5, "own", "rounds in which a fault was not reached before it is given up";
    ROAMS: "farther", 2, "own", "factor for how far the next execution is, where no causal path says when a fault matters";
    // When the order of tries is left.
    FOLLOW: "near-miss", 2, "own", "factor by which a round must show more than all others for tries about its fault to come first";
    FOLLOW_SHARE: "near-miss-share", 4, "own", "the part of the failure log, one in so many, that such a round must show if it shows less than half";
    FOLLOW_AFTER: "near-miss-after", 3, "own", "rounds with other faults to compare a round with that shows less than half";
    FOLLOW_TRIES: "near-miss-tries", 4, "own", "executions tried about such a round, before the same is tried once more";
    INSTEAD: "instead-of-delay", 10, "own", "exceptions tried in place of a delay that brought the failure";
    EARLIER: "earlier", 4, "own", "earlier executions tried where replays did not prove a fault: its effect takes time";
    SECOND: "second-fault", 4, "own", "rounds with the fault that showed most kept, in search of a second";
    KEPT_AGAIN: "kept-again", 3, "own", "runs asked for in which a fault that is to be kept happens again";
    // What counts as chance.
    RATE_RUNS: "fault-free-rate", 10, "own", "runs without a fault at the least, where the failure happened in one of them";
    BUSY: "busy-machine", 2, "own", "factor between the longest and the shortest run without a fault that tells a busy machine";
    // What counts as silence.
    LONG_SILENCE: "long-silence", 3, "own", "entries that a silent thread lacks at the least: the end of a log is ragged";
}

/// The rules that can be switched off, to see what they are worth.
static SWITCHES: [&Rule; 5] = [&FOLLOW, &INSTEAD, &EARLIER, &SPREAD, &ELSEWHERE];

/// Names of rules that a search goes without.
pub fn without(names: &[String]) -> Result<BTreeSet<String>, String> {
    let known = || SWITCHES.iter().map(|it| &*it.name);
    match names.iter().find(|it| !known().any(|known| known == **it)) {
        Some(it) => {
            let known = known().collect::<Vec<_>>().join(", ");
            Err(format!("there is no rule `{it}` that can be switched off; there are {known}"))
        }
        None => Ok(names.iter().cloned().collect()),
    }
}

/// The rules that some scores name, each once, in the order of this file.
pub(crate) fn named_by<'s>(scores: impl IntoIterator<Item = &'s Score>) -> Vec<Rule> {
    let named: Vec<&Cow<'_, str>> = scores.into_iter().flat_map(|it| &it.points).map(|it| &it.rule).collect();
    ALL.iter().filter(|it| named.contains(&&it.name)).map(|&it| it.clone()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_rule_has_a_name_of_its_own_a_weight_and_a_reason() {
        for (at, rule) in ALL.iter().enumerate() {
            assert!(!ALL[..at].iter().any(|it| it.name == rule.name), "{} twice", rule.name);
            assert!(rule.weight > 0 && !rule.why.is_empty(), "{rule:?}");
            assert!(rule.source == "own" || rule.source.starts_with("ANDURIL "), "{rule:?}");
        }
    }

    #[test]
    fn only_what_is_a_switch_can_be_switched_off() {
        let names = |all: &[&str]| all.iter().map(|it| (*it).to_owned()).collect::<Vec<_>>();
        assert_eq!(without(&names(&["near-miss", "near-miss"])).map(|it| it.len()), Ok(1));
        let error = without(&names(&["near-miss", "warning"])).expect_err("it is no switch");
        assert!(
            error.starts_with("there is no rule `warning` that can be switched off; there are near-miss, ")
        );
    }

    #[test]
    fn a_document_has_the_rules_that_its_scores_name() {
        let mut score = Score::default();
        score.add(&WARNING, 2);
        score.add(&STEP, 3);
        score.add(&MILD, 0);
        assert_eq!((score.total(), named_by([&score, &score])), (5, vec![STEP.clone(), WARNING.clone()]));
    }
}
