//! Whether what was found may be the same fault at another moment: the search does not compare the numbers in messages, so `block 7`
//! of the failure log and `block 3` of a trial are the same to it.

use hypocenter_reproduce::{Beside, Interest, Line, Row};
use serde::Serialize;

use super::live::shortened;
use crate::screen;

/// A line that says that the failure happened, as its log and the reproduced one have it.
#[derive(Debug, PartialEq, Eq, Serialize)]
pub struct Moment {
    /// In the failure log.
    failure: String,
    /// In the log of the trial.
    trial: String,
}

impl Moment {
    /// Where the nearest line that the fault leads to differs in a number, and the trial does not have it as it was; where no
    /// such line is known, the first that says that the failure happened. `leads` are those lines, the nearest first, each with its
    /// node.
    pub fn of<'b>(beside: &'b Beside, leads: &[(&str, u32)]) -> Option<Moment> {
        let entries = beside.rows.iter().filter_map(|it| match it {
            Row::Entries { failure, trial, is } => Some((failure.as_deref(), trial.as_deref(), *is)),
            _ => None,
        });
        let entries: Vec<(Option<&'b Line>, Option<&'b Line>, Interest)> = entries.collect();
        let pairs = || entries.iter().filter_map(|&(failure, trial, is)| Some((failure?, trial?, is)));
        let of_lead =
            |&(node, line): &(&str, u32)| pairs().find(|(it, _, _)| it.line == line && it.node == node);
        let symptom = pairs().find(|(_, _, is)| *is == Interest::Symptom);
        // What says no number says nothing of this.
        let telling = |(failure, trial, _): (&'b Line, &'b Line, Interest)| {
            Some((failure, trial, numbers(&failure.message, &trial.message)?))
        };
        let (failure, trial, differs) = leads.iter().filter_map(of_lead).chain(symptom).find_map(telling)?;
        let same = differs?;
        let is_there = |it: &Line| it.message.strip_prefix(same).is_some_and(|it| !it.starts_with(is_digit));
        let is_there = entries.iter().filter_map(|(_, trial, _)| *trial).any(is_there);
        (!is_there).then(|| Moment { failure: failure.message.clone(), trial: trial.message.clone() })
    }

    /// For people.
    pub fn show(&self) {
        let (failure, trial) = (shortened(&self.failure), shortened(&self.trial));
        let text = format!("it may be another than the failure's: `{failure}` there, `{trial}` here");
        screen::line("moment", &screen::clean(&text));
        screen::line(
            "",
            "if a number there says which one it was, ask for it in the oracle (`hypocenter guide oracles`)",
        );
    }
}

fn is_digit(it: char) -> bool {
    it.is_ascii_digit()
}

/// Compares the numbers of two texts as far as their words are the same. Nothing if there is none; else how the text begins, with the
/// first number in it that the other has not, if there is one.
fn numbers<'t>(text: &'t str, other: &str) -> Option<Option<&'t str>> {
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
            return Some(Some(&text[..text.len() - rest.len() + own]));
        }
        compared = Some(None);
        (rest, other) = (&rest[own..], &other[others..]);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_that_differ_are_told_and_nothing_else() {
        let line = |line: u32, message: &str| {
            let message = message.to_owned();
            let (node, thread, level, exception) = (String::new(), None, None, None);
            Box::new(Line { node, line, time_ms: None, thread, level, message, exception })
        };
        type Rows<'r> = &'r [(&'r str, &'r str, Interest)];
        let check_with = |rows: Rows<'_>, leads: &[(&str, u32)], expected: Option<(&str, &str)>| {
            let side = |at: u32, text: &str| (!text.is_empty()).then(|| line(at, text));
            let row = |(at, it): (u32, &(&str, &str, Interest))| Row::Entries {
                failure: side(at, it.0),
                trial: side(at, it.1),
                is: it.2,
            };
            let beside = Beside { rows: (1..).zip(rows).map(row).collect(), ..Beside::default() };
            let found = Moment::of(&beside, leads);
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
        // It is there, beside another.
        check(&[("block 7 is lost", "block 3 is lost", Symptom), ("", "block 7 is lost", Around)], None);
        check(&[], None);
    }
}
