//! The names nearest to one that does not exist.

/// The most names that are suggested.
pub(crate) const SUGGESTIONS_MAX: usize = 8;
/// Longer names are not compared letter by letter.
const NAME_BYTES_MAX: usize = 120;

/// Suggestions, in one sentence and a list.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Suggestions {
    /// Patterns that nothing matched; empty if all matched.
    pub what: String,
    /// The nearest things that exist, at most eight.
    pub names: Vec<String>,
}

impl std::fmt::Display for Suggestions {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}", self.what)?;
        if !self.names.is_empty() {
            write!(f, "; there is {}", self.names.join(", "))?;
        }
        Ok(())
    }
}

/// The candidates nearest to a name, by the text that `key` gives for each; ties keep their order. Those too far
/// away are left out unless `keep_all`, and those beyond the number `most`.
pub(crate) fn nearest<T>(
    wanted: &str,
    candidates: impl IntoIterator<Item = T>,
    key: impl Fn(&T) -> &str,
    keep_all: bool,
    most: usize,
) -> Vec<T> {
    let wanted = wanted.to_lowercase();
    let far = 1 + wanted.len() / 4;
    let mut ranked: Vec<(usize, T)> = candidates
        .into_iter()
        .filter_map(|candidate| {
            let name = key(&candidate);
            if !keep_all && name.len().abs_diff(wanted.len()) > far {
                return None;
            }
            let name = name.to_lowercase();
            let distance = if name.contains(&wanted) {
                1.min(name.len() - wanted.len())
            } else {
                distance(&wanted, &name)
            };
            (keep_all || distance <= far).then_some((distance, candidate))
        })
        .collect();
    ranked.sort_by_key(|(distance, _)| *distance);
    ranked.into_iter().map(|(_, candidate)| candidate).take(most).collect()
}

/// Edit distance: number of letters to insert, delete or replace.
fn distance(a: &str, b: &str) -> usize {
    let (a, b) = (a.as_bytes(), b.as_bytes());
    if a.len().max(b.len()) > NAME_BYTES_MAX {
        return NAME_BYTES_MAX;
    }
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, x) in a.iter().enumerate() {
        let mut diagonal = row[0];
        row[0] = i + 1;
        for (j, y) in b.iter().enumerate() {
            let changed = diagonal + usize::from(x != y);
            diagonal = row[j + 1];
            row[j + 1] = changed.min(row[j] + 1).min(diagonal + 1);
        }
    }
    row[b.len()]
}

/// Names of classes near to one that does not exist: of the same simple name in any package, then of a similar one.
pub(crate) fn nearest_classes<'n>(wanted: &str, names: impl Iterator<Item = &'n str>) -> Vec<String> {
    let simple = |name: &str| name.rsplit(['.', '$']).next().unwrap_or(name).len();
    let wanted = &wanted[wanted.len() - simple(wanted)..];
    let candidates = names.map(|name| (&name[name.len() - simple(name)..], name));
    nearest(wanted, candidates, |(simple, _)| simple, false, SUGGESTIONS_MAX)
        .into_iter()
        .map(|(_, name)| name.to_owned())
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn near_names_come_first_and_far_ones_not_at_all() {
        let names = [
            "a.FileTxnLog",
            "b.FileTxnSnapLog",
            "c.filetxnlog",
            "d.Zebra",
            "e.FileTxnLg",
            "f.Outer$FileTxnLog",
        ];
        assert_eq!(
            nearest_classes("x.y.FileTxnLog", names.into_iter()),
            ["a.FileTxnLog", "c.filetxnlog", "f.Outer$FileTxnLog", "e.FileTxnLg"]
        );
        assert_eq!(
            nearest("comit", ["run", "commit", "close"], |it| it, true, 8),
            ["commit", "close", "run"]
        );
        assert_eq!(distance("kitten", "sitting"), 3);
    }
}
