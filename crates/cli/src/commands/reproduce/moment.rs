//! Whether what was found may be the same fault at another moment: the search does not compare the numbers in messages, so `block 7`
//! of the failure log and `block 3` of a trial are the same to it.

use hypocenter_reproduce::{Beside, Interest, Row};
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
    /// Where the first such line differs in its numbers alone, and the trial does not have it as it was. Of the lines that then differ so,
    /// and that normal runs do not show, the one is told in which the fewest numbers differ: `block 7` says which one it was, and
    /// `after 233 ms` comes only once.
    pub fn of(beside: &Beside) -> Option<Moment> {
        let shown: Vec<&str> = beside
            .rows
            .iter()
            .filter_map(|it| match it {
                Row::Entries { trial, .. } => Some(trial.as_ref()?.message.as_str()),
                _ => None,
            })
            .collect();
        let pair = |it: &'_ Row| match it {
            Row::Entries { failure: Some(failure), trial: Some(trial), is } if *is != Interest::Around => {
                Some((*is == Interest::Symptom, failure.message.clone(), trial.message.clone()))
            }
            _ => None,
        };
        let pairs: Vec<(bool, String, String)> = beside.rows.iter().filter_map(pair).collect();
        let differing = |(_, failure, trial): &(bool, String, String)| {
            let is_there = shown.contains(&failure.as_str());
            let is_same = without_numbers(failure) == without_numbers(trial);
            (!is_there && is_same).then(|| numbers_apart(failure, trial))
        };
        let first = pairs.iter().find(|it| it.0)?;
        differing(first)?;
        let told = pairs.iter().filter_map(|it| Some((differing(it)?, !it.0, it)));
        let (_, _, (_, failure, trial)) = told.min_by_key(|it| (it.0, it.1))?;
        Some(Moment { failure: failure.clone(), trial: trial.clone() })
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

/// How many numbers differ in two texts that have the same words.
fn numbers_apart(one: &str, other: &str) -> usize {
    let numbers = |text: &str| -> Vec<String> {
        let of = text.split(|it: char| !it.is_ascii_digit()).filter(|it| !it.is_empty());
        of.map(str::to_owned).collect()
    };
    numbers(one).iter().zip(numbers(other)).filter(|(a, b)| **a != *b).count()
}

/// A text with each number in it made the same.
fn without_numbers(text: &str) -> String {
    let mut masked = String::with_capacity(text.len());
    for it in text.chars() {
        match it {
            '0'..='9' if masked.ends_with('0') => {}
            '0'..='9' => masked.push('0'),
            _ => masked.push(it),
        }
    }
    masked
}

#[cfg(test)]
mod tests {
    use hypocenter_reproduce::Line;

    use super::*;

    #[test]
    fn numbers_that_differ_are_told_and_nothing_else() {
        let line = |message: &str| {
            let message = message.to_owned();
            let (node, thread, level, exception) = (String::new(), None, None, None);
            Box::new(Line { node, line: 1, time_ms: None, thread, level, message, exception })
        };
        let check = |rows: &[(&str, &str, Interest)], expected: Option<(&str, &str)>| {
            let side = |text: &str| (!text.is_empty()).then(|| line(text));
            let row = |it: &(&str, &str, Interest)| Row::Entries {
                failure: side(it.0),
                trial: side(it.1),
                is: it.2,
            };
            let beside = Beside { rows: rows.iter().map(row).collect(), ..Beside::default() };
            let found = Moment::of(&beside);
            assert_eq!(found.as_ref().map(|it| (&*it.failure, &*it.trial)), expected, "{rows:?}");
        };
        use Interest::{Around, Observable, Symptom};
        check(
            &[("block 17 is lost", "block 3 is lost", Symptom)],
            Some(("block 17 is lost", "block 3 is lost")),
        );
        check(&[("block 7 is lost", "block 7 is lost", Symptom)], None);
        // Other words are no other moment, and neither are other lines.
        check(&[("block 7 is lost", "chunk 3 is lost", Symptom)], None);
        check(&[("block 7", "block 3", Observable), ("the end", "the end", Symptom)], None);
        check(&[("block 7 is lost", "", Symptom)], None);
        // Of several the one that says most surely which it was.
        let went = ("went from 233 to 89", "went from 80 to 8", Symptom);
        check(&[went], Some((went.0, went.1)));
        let cut = ("checkpoint 8 failed", "checkpoint 2 failed", Observable);
        check(&[cut, went], Some((cut.0, cut.1)));
        check(&[("checkpoint 8 failed", "checkpoint 8 failed", Observable), went], Some((went.0, went.1)));
        check(&[("gate 3 shut", "gate 4 shut", Around), went], Some((went.0, went.1)));
        // It is there, beside another.
        check(&[("block 7 is lost", "block 3 is lost", Symptom), ("", "block 7 is lost", Around)], None);
        check(&[], None);
    }
}
