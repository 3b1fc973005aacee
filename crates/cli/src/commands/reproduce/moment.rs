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
    /// Where the first such line differs in its numbers alone, and the trial does not have it as it was.
    pub fn of(beside: &Beside) -> Option<Moment> {
        let symptoms = beside.rows.iter().filter_map(|it| match it {
            Row::Entries { failure, trial: Some(trial), is } => {
                Some((failure.as_ref().filter(|_| *is == Interest::Symptom), trial))
            }
            _ => None,
        });
        let symptoms: Vec<_> = symptoms.collect();
        let (failure, trial) = symptoms.iter().find_map(|(failure, trial)| Some(((*failure)?, *trial)))?;
        let is_there = symptoms.iter().any(|(_, it)| it.message == failure.message);
        let differs = !is_there && without_numbers(&failure.message) == without_numbers(&trial.message);
        differs.then(|| Moment { failure: failure.message.clone(), trial: trial.message.clone() })
    }

    /// For people.
    pub fn show(&self) {
        let (failure, trial) = (shortened(&self.failure), shortened(&self.trial));
        let text = format!("it may be another than the failure's: `{failure}` there, `{trial}` here");
        screen::line("moment", &screen::clean(&text));
        screen::line(
            "",
            "to ask for that very one, name its number in the oracle (`hypocenter guide oracles`)",
        );
    }
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
        // It is there, beside another.
        check(&[("block 7 is lost", "block 3 is lost", Symptom), ("", "block 7 is lost", Around)], None);
        check(&[], None);
    }
}
