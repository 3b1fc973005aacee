//! A table for a terminal.

use std::fmt;

/// Rows below their headings; the first column stands to the left, all others to the right.
pub struct Table {
    rows: Vec<Vec<String>>,
}

impl Table {
    pub fn new(headings: &[&str]) -> Table {
        Table { rows: vec![headings.iter().map(|it| (*it).to_owned()).collect()] }
    }

    pub fn row(&mut self, cells: Vec<String>) {
        assert_eq!(cells.len(), self.rows[0].len(), "a cell for each heading");
        self.rows.push(cells);
    }
}

impl fmt::Display for Table {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let width = |column: usize| self.rows.iter().map(|row| row[column].len()).max().unwrap_or(0);
        for row in &self.rows {
            write!(f, "{:<1$}", row[0], width(0))?;
            for (column, cell) in row.iter().enumerate().skip(1) {
                write!(f, "  {cell:>0$}", width(column))?;
            }
            writeln!(f)?;
        }
        Ok(())
    }
}

/// A number with its thousands apart.
pub fn thousands(number: u64) -> String {
    let digits = number.to_string();
    let groups: Vec<&[u8]> = digits.as_bytes().rchunks(3).rev().collect();
    String::from_utf8_lossy(&groups.join(&b',')).into_owned()
}
