//! Names of files of one series, such as the segments of a log: runs number them differently.

/// Stands for any text, in the resource of a guard as well.
const ANY: char = '*';

/// A name with its numbers as `*`, decimal ones and whole words that are hexadecimal numbers.
pub(crate) fn series(name: &str) -> String {
    let mut series = String::with_capacity(name.len());
    let mut rest = name;
    while let Some(first) = rest.chars().next() {
        let is_word = first.is_ascii_alphanumeric();
        let end = rest.find(|it: char| it.is_ascii_alphanumeric() != is_word).unwrap_or(rest.len());
        let (part, after) = rest.split_at(end);
        let has_digit = part.bytes().any(|it| it.is_ascii_digit());
        if has_digit && part.bytes().all(|it| it.is_ascii_hexdigit()) {
            series.push(ANY);
        } else {
            part.chars().for_each(|it| match it.is_ascii_digit() {
                true if series.ends_with(ANY) => {}
                true => series.push(ANY),
                false => series.push(it),
            });
        }
        rest = after;
    }
    series
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_of_a_series_are_alike() {
        let check = |name: &str, expected: &str| assert_eq!(series(name), expected, "{name}");
        check("server/image.10000001a", "server/image.*");
        check("p0/segment-17.log", "p*/segment-*.log");
        check("server/position", "server/position");
        check("wal/v2alpha10", "wal/v*alpha*");
        check("data/\u{e4}1", "data/\u{e4}*");
    }
}
