//! A table for a terminal.

/// The rows below their headings, in columns: text to the left, numbers to the right.
pub fn text(headings: &[&str], rows: &[Vec<String>]) -> String {
    let width = |column: usize| {
        let cells = rows.iter().filter_map(|row| row.get(column)).map(|cell| cell.chars().count());
        cells.chain([headings[column].chars().count()]).max().unwrap_or(0)
    };
    let is_number = |column: usize| {
        let number = |cell: &String| cell.chars().all(|it| it.is_ascii_digit() || it == ',');
        rows.iter().filter_map(|row| row.get(column)).all(number)
    };
    let line = |cells: Vec<&str>| {
        let padded = cells.iter().enumerate().map(|(column, cell)| {
            let width = width(column);
            if is_number(column) { format!("{cell:>width$}") } else { format!("{cell:<width$}") }
        });
        padded.collect::<Vec<_>>().join("  ").trim_end().to_owned() + "\n"
    };
    let body = rows.iter().map(|row| line(row.iter().map(String::as_str).collect()));
    std::iter::once(line(headings.to_vec())).chain(body).collect()
}

/// A number with its thousands apart.
pub fn thousands(number: u64) -> String {
    let digits = number.to_string();
    let mut out = String::new();
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_stand_to_the_right() {
        let row = |cells: [&str; 2]| cells.map(str::to_owned).to_vec();
        let rows = [row(["zk1", "9"]), row(["client", &thousands(1_234_567)])];
        assert_eq!(
            text(&["node", "hits"], &rows),
            "node         hits\nzk1             9\nclient  1,234,567\n"
        );
    }
}
