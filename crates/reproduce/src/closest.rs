//! Answers of a search that found nothing: the rounds that came nearest, and what they suggest to try.

use std::collections::BTreeSet;

use hypocenter_plan::Fault;
use hypocenter_results::Injected;
use hypocenter_results::reproduced::{CLOSEST_MAX, Closest, Missing, Round, Standing, Suggestion};

use crate::engine::{Settings, Verdict};

/// The rounds that came nearest, with what they show and what they lack.
pub(crate) fn closest(verdict: &Verdict) -> Vec<Closest> {
    let of = |(round, shown): (&Round, BTreeSet<u32>)| {
        let (shows, lacks) =
            (0..).zip(&verdict.missing).partition::<Vec<_>, _>(|(_, it)| shown.contains(&it.key));
        let places = |all: Vec<(u32, &Missing)>| all.into_iter().map(|it| it.0).collect();
        Closest { round: round.number, shows: places(shows), lacks: places(lacks) }
    };
    nearest(verdict).into_iter().take(CLOSEST_MAX).map(of).collect()
}

/// Rounds with a fault, each with the observables that it shows, those first that show most. Of each fault at each site only the
/// best round.
pub(crate) fn nearest(verdict: &Verdict) -> Vec<(&Round, BTreeSet<u32>)> {
    let shown = verdict.rounds.iter().map(|it| (it, it.shown.iter().copied().collect::<BTreeSet<u32>>()));
    let mut near: Vec<(&Round, BTreeSet<u32>)> = shown.filter(|it| !it.1.is_empty()).collect();
    near.sort_by_key(|(it, shown)| (std::cmp::Reverse(shown.len()), it.number));
    let mut seen: BTreeSet<String> = BTreeSet::new();
    let key = |it: &Injected| format!("{} {}", it.fault, it.site);
    near.retain(|(it, _)| it.fault.as_ref().is_some_and(|it| seen.insert(key(it))));
    near
}

/// Observables that the fault kept in a round shows alone.
pub(crate) fn shown_alone(rounds: &[Round], round: &Round) -> BTreeSet<u32> {
    let is_kept = |it: &Injected| {
        round
            .kept
            .iter()
            .any(|kept| (&kept.site, &kept.fault, &kept.guard) == (&it.site, &it.fault, &it.guard))
    };
    let alone = rounds.iter().filter(|it| it.kept.is_empty() && it.fault.as_ref().is_some_and(is_kept));
    alone.flat_map(|it| it.shown.iter().copied()).collect()
}

/// What to try next.
pub(crate) fn suggestions(verdict: &Verdict, settings: &Settings) -> Vec<Suggestion> {
    let never = || (0..).zip(&verdict.missing).filter(|(_, it)| it.shown == 0);
    let mut found = Vec::new();
    let longer = never().find(|(_, it)| it.is_longer());
    found.extend(longer.map(|(missing, _)| Suggestion::LongerWorkload { missing }));
    // Of a line to which nothing leads the command would say no more.
    let ask = never().find(|(_, it)| it.sites > 0 && can_be_typed(&it.message));
    found.extend(ask.map(|(missing, _)| Suggestion::AskWhy { missing }));
    found.extend(verdict.doubtful.iter().map(|it| Suggestion::SteadierReplays {
        round: it.round,
        hits: it.hits,
        runs: it.runs,
    }));
    found.extend(of_reach(verdict));
    let near = nearest(verdict);
    let best = near.first().map_or(0, |it| it.1.len()) as u64;
    let together: BTreeSet<u32> = near.iter().flat_map(|it| it.1.iter().copied()).collect();
    found.extend(of_faults(verdict, settings, best, together.len() as u64));
    let never = never().count();
    found.extend(of_delays(verdict, settings, never > 0));
    if never > 0 && never == verdict.missing.iter().filter(|it| it.sites == 0).count() {
        found.push(Suggestion::CheckPackages);
    }
    if best == verdict.missing.len() as u64 && best > 0 {
        found.push(Suggestion::CheckOracle);
    }
    let left = verdict.rounds.iter().rev().map(|it| it.left).find(|&it| it > 0).unwrap_or(0);
    // Who ended the search before that knows how to go on.
    if verdict.standing == Standing::Budget && left > 0 {
        found.push(Suggestion::MoreRounds { calls: left });
    }
    found
}

/// False for a text that a shell, or a person who copies it, would not get whole.
fn can_be_typed(it: &str) -> bool {
    !it.is_empty() && !it.starts_with('-') && !it.contains(char::is_control)
}

/// Suggestions from how much of the code the workload reaches, and how often.
fn of_reach(verdict: &Verdict) -> impl Iterator<Item = Suggestion> {
    let (reached, inferred) = (verdict.sites_reached, verdict.sites_inferred);
    let other = (reached * 4 < inferred)
        .then_some(Suggestion::OtherWorkload { reached: reached as u64, inferred: inferred as u64 });
    let rounds = verdict.rounds.len() as u64;
    let unreached = verdict.rounds.iter().filter(|it| it.fault.is_none()).count() as u64;
    let steadier = (unreached * 2 > rounds).then_some(Suggestion::SteadierWorkload { unreached, rounds });
    other.into_iter().chain(steadier)
}

/// Suggestions to combine faults, where the best round and all rounds together show so many observables.
fn of_faults(verdict: &Verdict, settings: &Settings, best: u64, together: u64) -> Option<Suggestion> {
    let all = verdict.missing.len() as u64;
    let second = verdict.rounds.iter().any(|it| !it.kept.is_empty());
    match second {
        false if best < all && together > best => {
            Some(Suggestion::TwoFaults { best, together, patience: settings.patience })
        }
        true if best < all => Some(Suggestion::MoreFaults { best }),
        _ => None,
    }
}

fn of_delays(verdict: &Verdict, settings: &Settings, lacks: bool) -> Option<Suggestion> {
    let Some(delay_ms) = settings.kinds.delay_ms else { return Some(Suggestion::Delays) };
    let faults = verdict.rounds.iter().filter_map(|it| it.fault.as_ref());
    let tried = faults.filter(|it| matches!(it.fault, Fault::Delay { .. })).count() as u64;
    (tried > 0 && lacks).then_some(Suggestion::LongerDelay { delay_ms, tried })
}

#[cfg(test)]
mod tests {
    use hypocenter_plan::Guard;
    use serde_json::json;

    use super::*;
    use crate::{Kinds, SearchOptions, Strategy};

    fn injected(line: u32) -> Injected {
        let site = json!({
            "class": "a.B", "method": "run", "descriptor": "()V", "line": line, "kind": "call", "ordinal": 0, "callee": "c.D.read()V",
        });
        let at = json!({
            "jvm": 0, "node": "main", "thread": "t", "occurrence": 1, "at_ms": 1.0, "times": 1, "stack_hash": 0, "stack": [],
        });
        Injected {
            site: serde_json::from_value(site).expect("a site"),
            fault: Fault::Negate,
            guard: Guard::default(),
            at: serde_json::from_value(at).expect("an injection"),
            process: None,
        }
    }

    fn round(number: u64, kept: Option<u32>, fault: u32, shown: &[u32]) -> Round {
        Round {
            number,
            trial: number + 1,
            window: 1,
            fault: Some(injected(fault)),
            rank: None,
            found_rank: None,
            left: 0,
            kept: kept.map(injected).into_iter().collect(),
            again: None,
            runs: None,
            score: None,
            shown: shown.to_vec(),
            happened: false,
        }
    }

    #[test]
    fn what_a_kept_fault_shows_alone_is_what_its_own_rounds_show() {
        let rounds = [
            round(1, None, 10, &[1, 2]),
            round(2, None, 20, &[3]),
            round(3, Some(10), 30, &[1, 4]),
            round(4, Some(20), 10, &[3]),
        ];
        let shown = |round: usize| shown_alone(&rounds, &rounds[round]).into_iter().collect::<Vec<_>>();
        assert_eq!([shown(0), shown(2), shown(3)], [vec![], vec![1, 2], vec![3]]);
    }

    fn missing(key: u32, shown: u64, sites: u64) -> Missing {
        Missing {
            key,
            node: "main".to_owned(),
            entry: key,
            line: key,
            message: format!("message {key}"),
            times: 1,
            normal: 0,
            normal_least: 0,
            weight: 10,
            why: String::new(),
            sites,
            not_run: None,
            shown,
        }
    }

    fn verdict(rounds: Vec<Round>, missing: Vec<Missing>) -> Verdict {
        Verdict {
            standing: Standing::Exhausted,
            found: Vec::new(),
            proving: None,
            doubtful: Vec::new(),
            rounds,
            missing,
            noise: Vec::new(),
            silent: Vec::new(),
            sites_total: 9,
            sites_inferred: 4,
            sites_reached: 4,
            sites_beyond: 0,
            instances: 9,
            normal: (2, 0),
            normal_first: 0,
            busy_ms: None,
            normal_failure: None,
            unjudged: 0,
            refused: 0,
        }
    }

    #[test]
    fn of_each_fault_the_best_round_is_kept() {
        let rounds = vec![
            round(1, None, 10, &[7]),
            round(2, None, 10, &[7, 8]),
            round(3, None, 20, &[9, 9]),
            round(4, None, 30, &[]),
        ];
        let it = verdict(rounds, vec![missing(7, 2, 1), missing(8, 1, 1), missing(9, 1, 1)]);
        let near = |round, shows: &[u32], lacks: &[u32]| Closest {
            round,
            shows: shows.to_vec(),
            lacks: lacks.to_vec(),
        };
        assert_eq!(closest(&it), [near(2, &[0, 1], &[2]), near(3, &[2], &[0, 1])]);
    }

    #[test]
    fn suggestions_follow_from_what_the_rounds_lack() {
        let settings = |delay_ms| Settings {
            workload: "main".to_owned(),
            plan: Default::default(),
            search: SearchOptions { strategy: Strategy::Full, window: 10, step: 1, seed: 0 },
            kinds: Kinds { exceptions: true, delay_ms },
            budget: 9,
            normal_runs: 2,
            replays: 5,
            repeats: 1,
            patience: 20,
            doubt: 0,
            keep_going: false,
            without: Default::default(),
            about: Default::default(),
        };
        let check = |it: &Verdict, delay_ms, expected: &[Suggestion]| {
            assert_eq!(suggestions(it, &settings(delay_ms)), expected);
        };
        let why = |missing: u32| Suggestion::AskWhy { missing };
        let both = vec![round(1, None, 10, &[7]), round(2, None, 20, &[8])];
        let three = vec![missing(7, 1, 1), missing(8, 1, 1), missing(9, 0, 1)];
        let two_faults = Suggestion::TwoFaults { best: 1, together: 2, patience: 20 };
        check(&verdict(both.clone(), three.clone()), Some(1_000), &[why(2), two_faults]);
        let second = vec![round(1, None, 10, &[7]), round(2, Some(10), 20, &[7, 8])];
        let more = Suggestion::MoreFaults { best: 2 };
        check(&verdict(second, three), None, &[why(2), more, Suggestion::Delays]);
        // Everything is shown, and the oracle does not hold.
        let all = vec![missing(7, 1, 1)];
        check(&verdict(both[..1].to_vec(), all), Some(1_000), &[Suggestion::CheckOracle]);
        // No fault leads to what never came, and nothing was reached.
        let unreached = Round { fault: None, left: 3, ..round(1, None, 10, &[]) };
        let mut it = verdict(vec![unreached], vec![missing(7, 0, 0)]);
        (it.standing, it.sites_reached) = (Standing::Budget, 0);
        let expected = [
            Suggestion::OtherWorkload { reached: 0, inferred: 4 },
            Suggestion::SteadierWorkload { unreached: 1, rounds: 1 },
            Suggestion::CheckPackages,
            Suggestion::MoreRounds { calls: 3 },
        ];
        check(&it, Some(1_000), &expected);
        it.missing[0] = Missing { times: 4, normal: 2, sites: 1, ..missing(7, 0, 1) };
        check(
            &it,
            Some(1_000),
            &[
                Suggestion::LongerWorkload { missing: 0 },
                why(0),
                expected[0].clone(),
                expected[1].clone(),
                expected[3].clone(),
            ],
        );
    }
}
