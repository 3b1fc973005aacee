//! Output for people on stdout: aligned, with colours on a terminal.

use std::fmt::Write as _;
use std::io::Write as _;

use anstyle::Style;

use crate::screen::{BOLD, DIM, clean};

/// The widest column that others are moved for.
const COLUMN_MAX: usize = 72;
/// The room for the label of a line.
const LABEL_WIDTH: usize = 18;
/// The room for a number.
const NUMBER_WIDTH: usize = 11;

/// A text that grows. All that is put in is from outside, so it is cleaned.
#[derive(Debug, Default)]
pub struct Page {
    text: String,
}

impl Page {
    /// A heading.
    pub fn heading(&mut self, text: &str) {
        let _ = writeln!(self.text, "{BOLD}{}{BOLD:#}", clean(text));
    }

    /// An empty line.
    pub fn gap(&mut self) {
        self.text.push('\n');
    }

    /// A line with a label.
    pub fn labelled(&mut self, label: &str, text: &str) {
        let _ = writeln!(self.text, "  {DIM}{label:<LABEL_WIDTH$}{DIM:#}{}", clean(text));
    }

    /// A line with a label, a number, and what to say of it.
    pub fn counted(&mut self, label: &str, number: &str, note: &str) {
        let gap = if note.is_empty() { "" } else { "   " };
        let _ = writeln!(
            self.text,
            "  {DIM}{label:<LABEL_WIDTH$}{DIM:#}{BOLD}{number:>NUMBER_WIDTH$}{BOLD:#}{gap}{DIM}{}{DIM:#}",
            clean(note)
        );
    }

    /// A line that is moved in so far.
    pub fn indented(&mut self, columns: usize, style: Style, text: &str) {
        let _ = writeln!(self.text, "{:columns$}{style}{}{style:#}", "", clean(text));
    }

    /// Rows of cells, in columns; each with lines below it.
    pub fn table(&mut self, rows: &[(Vec<String>, Vec<String>)], styles: &[Style]) {
        let rows: Vec<(Vec<String>, &Vec<String>)> =
            rows.iter().map(|(cells, below)| (cells.iter().map(|it| clean(it)).collect(), below)).collect();
        let columns = rows.iter().map(|it| it.0.len()).max().unwrap_or(0);
        let width = |column: usize| {
            let widths = rows.iter().filter_map(|(cells, _)| cells.get(column)).map(|it| it.chars().count());
            widths.filter(|&it| it <= COLUMN_MAX).max().unwrap_or(0)
        };
        let widths: Vec<usize> = (0..columns).map(width).collect();
        for (cells, below) in rows {
            self.text.push(' ');
            let filled = cells.iter().rposition(|it| !it.is_empty()).map_or(0, |it| it + 1);
            for (column, cell) in cells.iter().take(filled).enumerate() {
                let style = styles.get(column).copied().unwrap_or_default();
                let is_last = column + 1 == filled;
                let padding = if is_last { 0 } else { widths[column].saturating_sub(cell.chars().count()) };
                let _ = write!(self.text, " {style}{cell}{style:#}{:padding$}", "");
                if !is_last {
                    self.text.push(' ');
                }
            }
            self.text.push('\n');
            for line in below {
                self.indented(6, DIM, line);
            }
        }
    }

    /// Puts it on stdout. A reader that has seen enough is no error.
    pub fn print(&self) {
        let _ = anstream::stdout().write_all(self.text.as_bytes());
    }
}
