//! What is said when nothing was found: what came near, what never came, and what that suggests.

use std::collections::BTreeSet;

use hypocenter_plan::Fault;
use hypocenter_reproduce::Verdict;
use hypocenter_results::Injected;
use hypocenter_results::reproduced::{Missing, Round, Standing};

use super::live::{fault, is_longer, line_of, number_of, shortened};
use super::result::Ended;
use crate::screen;

/// Rounds that came near and are shown.
const CLOSEST_SHOWN: usize = 3;
/// Lines that never came and are shown.
const NEVER_SHOWN: usize = 5;

/// Lines of the failure log that are named of a round.
const LINES_NAMED: usize = 8;

/// The rounds that came nearest, what no round ever showed, and what to try.
pub fn show(ended: &Ended<'_>, name: &str) {
    let verdict = ended.verdict;
    let all = verdict.missing.len();
    let near = nearest(verdict);
    for (number, (it, shown)) in near.iter().take(CLOSEST_SHOWN).enumerate() {
        let what: Vec<String> =
            it.kept.iter().chain(&it.fault).map(|it| fault(it, ended.several_nodes())).collect();
        let what = what.join(" + ");
        let text = format!("{name}/{}: {what}, shows {} of {all}", it.trial, shown.len());
        screen::line(if number == 0 { "closest" } else { "" }, &screen::clean(&text));
        // What the first shows and what it lacks is the nearest thing to an answer.
        if number == 0 {
            let several = ended.case.logs() > 1;
            let lacks = lines(verdict, shown, false, several);
            let lacks = if lacks.is_empty() { String::new() } else { format!(", and not {lacks}") };
            let (shows, of) = (lines(verdict, shown, true, several), if several { "logs" } else { "log" });
            let text = format!("  it shows {shows} of the failure {of}{lacks}");
            screen::line("", &screen::clean(&text));
        }
    }
    if near.is_empty() {
        screen::line("closest", "no round showed anything of what is missing");
    }
    let never: Vec<&Missing> = verdict.missing.iter().filter(|it| it.shown == 0).collect();
    for (number, it) in never.iter().take(NEVER_SHOWN).enumerate() {
        let reason = match (&it.not_run, it.sites) {
            (Some(method), _) => format!(" (logged by {method}, which this workload does not seem to run)"),
            (None, 0) => " (no fault is known to lead to it)".to_owned(),
            (None, _) => String::new(),
        };
        let line = line_of(it.line, &it.node, ended.case.logs() > 1);
        let text = format!("{line}{reason}: {}", shortened(&it.message));
        screen::line(if number == 0 { "never" } else { "" }, &screen::clean(&text));
    }
    if never.len() > NEVER_SHOWN {
        screen::line("", &format!("and {} more (--json has all)", never.len() - NEVER_SHOWN));
    }
    let first = ended.unmet().chain(longer(ended, &never)).chain(why(ended, &never));
    for (number, it) in first.chain(suggestions(ended, &near, never.len())).enumerate() {
        screen::line(if number == 0 { "try" } else { "" }, &it);
    }
}

/// That the workload may be shorter than what failed, where that did something more often, and no round as often.
fn longer(ended: &Ended<'_>, never: &[&Missing]) -> Option<String> {
    let it = never.iter().find(|it| is_longer(it))?;
    let line = screen::clean(&line_of(it.line, &it.node, ended.case.logs() > 1));
    let (times, normal) = (it.times + it.normal, it.normal);
    Some(format!(
        "a longer workload: the failure shows {line} {times} times, normal runs {normal}; see `hypocenter guide start`"
    ))
}

/// The command that says what can lead to the first line that never came; of one to which nothing leads it would say no more.
fn why(ended: &Ended<'_>, never: &[&Missing]) -> Option<String> {
    // What a shell, or a person who copies it, would not get whole is no help.
    let can_be_typed = |it: &str| !it.is_empty() && !it.starts_with('-') && !it.contains(char::is_control);
    let it = never.iter().find(|it| it.sites > 0 && can_be_typed(&it.message))?;
    let line = screen::clean(&line_of(it.line, &it.node, ended.case.logs() > 1));
    let (text, target) = (screen::quoted(&it.message), ended.request.target.flags());
    Some(format!("what can lead to {line}: `hypocenter scan --why {text}{target}`"))
}

/// The lines that are shown, or are not: of the failure log, or, as `node:line`, of one of several.
fn lines(verdict: &Verdict, shown: &BTreeSet<u32>, is_shown: bool, several: bool) -> String {
    let of = verdict.missing.iter().filter(|it| shown.contains(&it.key) == is_shown);
    let all: Vec<String> = of.map(|it| number_of(it, several)).collect();
    let (line, lines) = if several { ("", "") } else { ("line ", "lines ") };
    match all.len() {
        0 => String::new(),
        1 => format!("{line}{}", all[0]),
        2..=LINES_NAMED => format!("{lines}{}", all.join(", ")),
        some => format!("{lines}{} and {} more", all[..LINES_NAMED].join(", "), some - LINES_NAMED),
    }
}

/// The rounds with a fault and all that they show, those first that show most; of each fault at each site the best alone.
pub fn nearest(verdict: &Verdict) -> Vec<(&Round, BTreeSet<u32>)> {
    let shown = verdict.rounds.iter().map(|it| (it, it.shown.iter().copied().collect::<BTreeSet<u32>>()));
    let mut near: Vec<(&Round, BTreeSet<u32>)> = shown.filter(|it| !it.1.is_empty()).collect();
    near.sort_by_key(|(it, shown)| (std::cmp::Reverse(shown.len()), it.number));
    let mut seen: BTreeSet<String> = BTreeSet::new();
    let key = |it: &Injected| format!("{} {}", it.fault, it.site);
    near.retain(|(it, _)| it.fault.as_ref().is_some_and(|it| seen.insert(key(it))));
    near
}

/// What the fault shows alone that is kept in a round.
pub fn shown_alone(rounds: &[Round], round: &Round) -> BTreeSet<u32> {
    let is_kept = |it: &Injected| {
        round
            .kept
            .iter()
            .any(|kept| (&kept.site, &kept.fault, &kept.guard) == (&it.site, &it.fault, &it.guard))
    };
    let alone = rounds.iter().filter(|it| it.kept.is_empty() && it.fault.as_ref().is_some_and(is_kept));
    alone.flat_map(|it| it.shown.iter().copied()).collect()
}

/// What the rounds suggest.
fn suggestions(ended: &Ended<'_>, near: &[(&Round, BTreeSet<u32>)], never: usize) -> Vec<String> {
    let verdict = ended.verdict;
    let asked = ended.request.reproduce.as_ref();
    let all = verdict.missing.len();
    let rounds = verdict.rounds.len();
    let mut found = Vec::new();
    let injected = verdict.rounds.iter().filter(|it| it.fault.is_some()).count();
    let no_way = verdict.missing.iter().filter(|it| it.sites == 0).count();
    for it in &verdict.doubtful {
        found.push(format!(
            "a steadier workload: the failure happened in round {}, then in {} of {} replays; that may be chance",
            it.round, it.hits, it.runs
        ));
    }
    if verdict.sites_reached * 4 < verdict.sites_inferred {
        found.push(format!(
            "another workload: this one reaches {} of the {} calls that lead to what is missing",
            verdict.sites_reached, verdict.sites_inferred
        ));
    }
    if injected * 2 < rounds {
        found.push(format!(
            "a steadier workload: in {} of {rounds} rounds no fault was reached that normal runs reach",
            rounds - injected
        ));
    }
    let best = near.first().map_or(0, |it| it.1.len());
    let together: BTreeSet<u32> = near.iter().flat_map(|it| it.1.iter().copied()).collect();
    let second = verdict.rounds.iter().any(|it| !it.kept.is_empty());
    if best < all && together.len() > best && !second {
        let patience = asked.map_or(0, |it| it.patience);
        found.push(format!(
            "two faults: no round shows more than {best} of {all}, and together they show {}; a second fault is searched \
             for after {} (--patience)",
            together.len(),
            screen::count(patience, "round", "rounds")
        ));
    } else if second && best < all {
        found.push(format!(
            "more than two faults may be needed: no two that were tried show more than {best} of {all}"
        ));
    }
    let delays = verdict.rounds.iter().filter_map(|it| it.fault.as_ref());
    let delays = delays.filter(|it| matches!(it.fault, Fault::Delay { .. })).count();
    match asked.and_then(|it| it.delay_ms) {
        None => found.push("delays: they were left out (--faults exceptions,delays)".to_owned()),
        Some(delay_ms) if delays > 0 && never > 0 => found.push(format!(
            "a longer delay: those of {} s were tried {} (--delay)",
            delay_ms / 1000,
            if delays == 1 { "once".to_owned() } else { format!("{delays} times") }
        )),
        Some(_) => {}
    }
    if never > 0 && never == no_way {
        found.push(
            "check the packages and the class path: what never came is logged by code that no known fault leads to".to_owned(),
        );
    }
    if best == all && all > 0 {
        found.push(
            "check the oracle: a round shows all that is missing, and the oracle does not hold there"
                .to_owned(),
        );
    }
    let left = verdict.rounds.iter().rev().map(|it| it.left).find(|&it| it > 0).unwrap_or(0);
    // Who ended the search before that knows how to go on.
    if verdict.standing == Standing::Budget && left > 0 {
        found.push(format!(
            "more rounds (--budget): {} moments that were not tried",
            screen::count(left, "call has", "calls have")
        ));
    }
    found
}

#[cfg(test)]
mod tests {
    use hypocenter_plan::Guard;
    use serde_json::json;

    use super::*;

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
}
