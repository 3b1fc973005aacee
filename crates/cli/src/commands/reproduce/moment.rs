//! Whether what was found may be the same fault at another moment: the search does not compare the numbers in messages, so `block 7`
//! of the failure log and `block 3` of a trial are the same to it.

use hypocenter_logs::role;
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
    /// Where the first line that counts differs in its numbers alone, and the trial does not have it as it was. What the thread of the
    /// fault says is nearest to the moment; numbers of others may be a matter of who came first.
    pub fn of(beside: &Beside, threads: &[&str]) -> Option<Moment> {
        let rows: Vec<Both<'_>> = beside.rows.iter().filter_map(Both::of).collect();
        let roles: Vec<_> = threads.iter().map(|it| role(it)).collect();
        let is_own = |it: &Line| it.thread.as_deref().is_some_and(|it| roles.contains(&role(it)));
        let own: Vec<&Both<'_>> = rows.iter().filter(|it| is_own(it.trial)).collect();
        let by_own =
            own.iter().find_map(|it| Some((it.failure.filter(|_| it.is != Interest::Around)?, it.trial)));
        let symptom = || {
            rows.iter().find_map(|it| Some((it.failure.filter(|_| it.is == Interest::Symptom)?, it.trial)))
        };
        let (failure, trial) = by_own.or_else(symptom)?;
        let is_there = rows.iter().any(|it| it.trial.message == failure.message);
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

/// A row with an entry of the trial.
struct Both<'b> {
    failure: Option<&'b Line>,
    trial: &'b Line,
    is: Interest,
}

impl Both<'_> {
    fn of(row: &Row) -> Option<Both<'_>> {
        match row {
            Row::Entries { failure, trial: Some(trial), is } => {
                Some(Both { failure: failure.as_deref(), trial, is: *is })
            }
            _ => None,
        }
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
    use super::*;

    #[test]
    fn numbers_that_differ_are_told_and_nothing_else() {
        let line = |message: &str| {
            let thread = message.split_once('|').map(|it| it.0.to_owned());
            let message = message.rsplit('|').next().unwrap_or_default().to_owned();
            let (node, level, exception) = (String::new(), None, None);
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
            let found = Moment::of(&beside, &["keeper-3"]);
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
        // The thread of the fault knows best.
        let refused = ("feeder|115 refused", "feeder|175 refused", Symptom);
        check(&[("keeper-1|pass 9", "keeper-1|pass 9", Observable), refused], None);
        check(&[("keeper-1|pass 9", "keeper-1|pass 8", Observable), refused], Some(("pass 9", "pass 8")));
        check(
            &[("keeper-1|pass 9", "keeper-1|pass 8", Around), refused],
            Some(("115 refused", "175 refused")),
        );
    }
}
