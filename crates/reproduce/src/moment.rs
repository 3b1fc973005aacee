//! Signs that a finding is the right fault at another occurrence than in the failure. The search does not compare the numbers in
//! messages, so `block 7` of the failure log and `block 3` of a trial are the same to it. And a workload that is shorter than what
//! failed may not have that occurrence at all.

use hypocenter_results::reproduced::{Moment, Sooner};
use hypocenter_results::runs::{Beside, Interest, Line, Row};

use crate::beside::Before;

/// The nearest line that the fault leads to, if it differs in a number and the trial does not have it as it was. Where no such line
/// is known, the first that says that the failure happened. `leads` are those lines, the nearest first, each with its node.
pub fn moment_of<'b>(beside: &'b Beside, leads: &[(&str, u32)]) -> Option<Moment> {
    let entries = beside.rows.iter().filter_map(|it| match it {
        Row::Entries(it) => Some((it.failure.as_ref(), it.trial.as_ref(), it.is)),
        _ => None,
    });
    let entries: Vec<(Option<&'b Line>, Option<&'b Line>, Interest)> = entries.collect();
    let pairs = || entries.iter().filter_map(|&(failure, trial, is)| Some((failure?, trial?, is)));
    let of_lead = |&(node, line): &(&str, u32)| pairs().find(|(it, _, _)| it.line == line && it.node == node);
    let symptom = pairs().find(|(_, _, is)| *is == Interest::Symptom);
    // What says no number says nothing of this.
    let telling = |(failure, trial, _): (&'b Line, &'b Line, Interest)| {
        Some((failure, trial, numbers(&failure.message, &trial.message)?))
    };
    let (failure, trial, differs) = leads.iter().filter_map(of_lead).chain(symptom).find_map(telling)?;
    let number = differs?;
    let is_there = entries.iter().filter_map(|(_, trial, _)| *trial).any(|it| number.is_in(&it.message));
    (!is_there).then(|| Moment { failure: failure.message.clone(), trial: trial.message.clone() })
}

/// True if another run of the same fault, beside the failure, says the same. Else the number says how long something took, or how
/// far others were by then, and no run would have it as it was.
pub fn is_so_in(moment: &Moment, other: Option<&Beside>) -> bool {
    let Some(Some(number)) = numbers(&moment.trial, &moment.failure) else { return true };
    let lines = other.iter().flat_map(|it| &it.rows).filter_map(|it| match it {
        Row::Entries(it) => it.trial.as_ref(),
        _ => None,
    });
    lines.into_iter().any(|it| number.is_in(&it.message))
}

/// Entries that the thread of the fault had written by then, where the failure had come much farther, or not nearly as far. Twice as
/// many and some more is no jitter.
pub fn sooner_of(it: &Before) -> Option<Sooner> {
    let is_far = |one: u32, other: u32| one >= 2 * other + 2;
    let Before { thread, failure, trial } = it.clone();
    (is_far(failure, trial) || is_far(trial, failure)).then_some(Sooner { thread, failure, trial })
}

/// A number of a text that another does not have.
#[derive(Debug)]
struct Number<'t> {
    /// How the text begins, with it.
    start: &'t str,
    /// How both go on: `checkpoint 4 taken` says nothing of a `checkpoint 4` that is not.
    words: &'t str,
}

impl Number<'_> {
    /// Whether a text says the same of it.
    fn is_in(&self, text: &str) -> bool {
        let behind = text.strip_prefix(self.start).filter(|it| !it.starts_with(is_digit));
        behind.is_some_and(|it| it.starts_with(self.words))
    }
}

/// What two texts begin with.
fn common_start<'t>(text: &'t str, other: &str) -> &'t str {
    let same = text.chars().zip(other.chars()).take_while(|(one, other)| one == other);
    &text[..same.map(|it| it.0.len_utf8()).sum()]
}

fn is_digit(it: char) -> bool {
    it.is_ascii_digit()
}

/// Compares the numbers of two texts as far as their words are the same. Nothing if there is none; else the first of the text that the
/// other has not, if there is one.
fn numbers<'t>(text: &'t str, other: &str) -> Option<Option<Number<'t>>> {
    let (mut rest, mut other) = (text, other);
    let mut compared = None;
    loop {
        let Some(word) = rest.find(is_digit) else { return compared };
        if other.get(..word) != Some(&rest[..word]) || !other[word..].starts_with(is_digit) {
            return compared;
        }
        (rest, other) = (&rest[word..], &other[word..]);
        let end = |it: &str| it.find(|it| !is_digit(it)).unwrap_or(it.len());
        let (own, others) = (end(rest), end(other));
        if rest[..own] != other[..others] {
            let (start, behind) = text.split_at(text.len() - rest.len() + own);
            let words = common_start(behind, &other[others..]);
            return Some(Some(Number { start, words: words.split(is_digit).next().unwrap_or_default() }));
        }
        compared = Some(None);
        (rest, other) = (&rest[own..], &other[others..]);
    }
}

#[cfg(test)]
mod tests {
    use hypocenter_results::runs::Entries;

    use super::*;

    fn line(line: u32, message: &str) -> Line {
        let message = message.to_owned();
        let (node, thread, level, exception) = (String::new(), None, None, None);
        Line { node, line, time_ms: None, thread, level, message, exception }
    }

    #[test]
    fn a_moment_is_another_where_the_thread_had_done_far_more_or_less_by_then() {
        let check = |failure: u32, trial: u32, expected: bool| {
            let before = Before { thread: "compactor".to_owned(), failure, trial };
            assert_eq!(sooner_of(&before).is_some(), expected, "{before:?}");
        };
        check(11, 3, true);
        check(3, 11, true);
        check(2, 0, true);
        check(1, 0, false);
        check(7, 3, false);
        check(100, 90, false);
    }

    #[test]
    fn a_number_that_differs_from_run_to_run_is_no_other_moment() {
        let moment = |trial: &str| {
            let failure = "block 7 is lost after 31 ms".to_owned();
            Moment { failure, trial: trial.to_owned() }
        };
        let check = |trial: &str, again: &str, expected: bool| {
            let entries = Entries { failure: None, trial: Some(line(1, again)), is: Interest::Around };
            let row = Row::Entries(Box::new(entries));
            let other = Beside { rows: vec![row], ..Beside::default() };
            assert_eq!(is_so_in(&moment(trial), Some(&other)), expected, "{trial}, {again}");
        };
        check("block 3 is lost after 31 ms", "block 3 is lost after 28 ms", true);
        check("block 3 is lost after 31 ms", "block 4 is lost after 31 ms", false);
        check("block 3 is lost after 31 ms", "block 30 is lost after 31 ms", false);
        check("block 7 is lost after 30 ms", "block 7 is lost after 29 ms", false);
        // The other run has it as it was.
        check("block 3 is lost after 31 ms", "block 7 is lost after 31 ms", false);
        assert!(!is_so_in(&moment("block 3 is lost after 31 ms"), None));
    }

    #[test]
    fn numbers_that_differ_are_told_and_nothing_else() {
        type Rows<'r> = &'r [(&'r str, &'r str, Interest)];
        let check_with = |rows: Rows<'_>, leads: &[(&str, u32)], expected: Option<(&str, &str)>| {
            let side = |at: u32, text: &str| (!text.is_empty()).then(|| line(at, text));
            let row = |(at, it): (u32, &(&str, &str, Interest))| {
                Row::Entries(Box::new(Entries { failure: side(at, it.0), trial: side(at, it.1), is: it.2 }))
            };
            let beside = Beside { rows: (1..).zip(rows).map(row).collect(), ..Beside::default() };
            let found = moment_of(&beside, leads);
            assert_eq!(found.as_ref().map(|it| (&*it.failure, &*it.trial)), expected, "{rows:?}");
        };
        let check = |rows: Rows<'_>, expected: Option<(&str, &str)>| check_with(rows, &[], expected);
        use Interest::{Around, Observable, Symptom};
        check(
            &[("block 17 is lost", "block 3 is lost", Symptom)],
            Some(("block 17 is lost", "block 3 is lost")),
        );
        check(&[("block 7 is lost", "block 7 is lost", Symptom)], None);
        // What follows may be told in other words.
        check(
            &[("run 7 failed: no space", "run 3 failed: injected", Symptom)],
            Some(("run 7 failed: no space", "run 3 failed: injected")),
        );
        check(
            &[("run 7 failed: no space", "run 3 failed", Symptom), ("", "run 7 failed: injected", Around)],
            None,
        );
        check(&[("run 7 failed: 3", "run 7 broke: 4", Symptom)], None);
        check(&[("run 7", "run seven", Symptom)], None);
        // Other words are no other moment, and neither are other lines.
        check(&[("block 7 is lost", "chunk 3 is lost", Symptom)], None);
        check(&[("block 7", "block 3", Observable), ("the end", "the end", Symptom)], None);
        check(&[("block 7 is lost", "", Symptom)], None);
        // What the fault leads to says more surely which it was.
        let went = ("went from 233 to 89", "went from 80 to 8", Symptom);
        check(&[went], Some((went.0, went.1)));
        let cut = ("checkpoint 8 failed", "checkpoint 2 failed", Observable);
        let led_to = [("", 1)];
        check_with(&[cut, went], &led_to, Some((cut.0, cut.1)));
        check_with(&[("checkpoint 8 failed", "checkpoint 8 failed", Observable), went], &led_to, None);
        check_with(&[cut], &led_to, Some((cut.0, cut.1)));
        check_with(&[("cannot write", "cannot write", Observable), went], &led_to, Some((went.0, went.1)));
        check_with(&[cut, went], &[("", 7)], Some((went.0, went.1)));
        // Something else of the same number is there.
        let taken = ("checkpoint 8 taken", "checkpoint 8 taken", Around);
        check_with(&[cut, taken], &led_to, Some((cut.0, cut.1)));
        // It is there, beside another.
        check(&[("block 7 is lost", "block 3 is lost", Symptom), ("", "block 7 is lost", Around)], None);
        check(&[], None);
    }
}
