//! The table that is printed.

use std::fmt;

use crate::sample::Estimate;

/// Goals.
#[derive(Debug, Clone, Copy)]
pub enum Goal {
    AtMost(f64),
    AtLeast(f64),
}

impl Goal {
    /// The whole interval has to lie on the right side.
    pub fn verdict(self, it: &Estimate) -> &'static str {
        let (worst, best, sign) = match self {
            Goal::AtMost(_) => (it.high, it.low, 1.0),
            Goal::AtLeast(_) => (it.low, it.high, -1.0),
        };
        let (Goal::AtMost(goal) | Goal::AtLeast(goal)) = self;
        match (worst * sign <= goal * sign, best * sign <= goal * sign) {
            (true, _) => "met",
            (false, true) => "open",
            (false, false) => "not met",
        }
    }
}

#[derive(Debug)]
enum Line {
    Section { row: String, title: String },
    Cells([String; COLUMNS]),
    Note(String),
}

const COLUMNS: usize = 6;
const HEAD: [&str; COLUMNS] = ["", "bare", "with", "over bare", "interval", "goal"];

/// See the module. What is added is also said at once on stderr, so that a run that is ended early has said
/// something.
#[derive(Debug, Default)]
pub struct Table {
    lines: Vec<Line>,
}

impl Table {
    pub fn section(&mut self, row: &str, title: &str) {
        eprintln!("row {row}: {title}");
        self.lines.push(Line::Section { row: row.to_owned(), title: title.to_owned() });
    }

    pub fn note(&mut self, text: impl Into<String>) {
        let text = text.into();
        eprintln!("  {text}");
        self.lines.push(Line::Note(text));
    }

    /// Measurement: both sides, their ratio, its interval, and the goal.
    pub fn row(&mut self, cells: [String; COLUMNS]) {
        eprintln!("  {}", cells.join(" | "));
        self.lines.push(Line::Cells(cells));
    }
}

impl fmt::Display for Table {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut widths = HEAD.map(str::len);
        for line in &self.lines {
            if let Line::Cells(cells) = line {
                for (width, cell) in widths.iter_mut().zip(cells) {
                    *width = (*width).max(cell.chars().count());
                }
            }
        }
        let write = |f: &mut fmt::Formatter<'_>, cells: [&str; COLUMNS]| {
            let mut text = format!("   {:<width$}", cells[0], width = widths[0]);
            for (cell, width) in cells.iter().zip(widths).skip(1) {
                text += &format!("  {cell:>width$}");
            }
            writeln!(f, "{}", text.trim_end())
        };
        for line in &self.lines {
            match line {
                Line::Section { row, title } => {
                    writeln!(f, "\n{row}  {title}")?;
                    write(f, HEAD)?;
                }
                Line::Cells(cells) => write(f, cells.each_ref().map(String::as_str))?,
                Line::Note(text) => writeln!(f, "   {text}")?,
            }
        }
        Ok(())
    }
}
