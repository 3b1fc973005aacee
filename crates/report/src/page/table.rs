//! A long table: its first rows are in the document, all of them as inert text for the script, which searches them.

use std::fmt::Write;

use serde_json::{Value, json};

use super::{broken, left_out};
use crate::text::{count, escaped, inert, shown};

/// Rows that are in the document at once.
const ROWS_OPEN: usize = 40;
/// The most rows that can be searched, and the most bytes for them.
const ROWS_MAX: usize = 20_000;
const BYTES_MAX: usize = 4 << 20;
/// Maximum length of a cell.
const CELL_CHARS: usize = 240;
/// The column with the place in the program, which may be broken behind its dots.
const PLACE: usize = 2;

/// Subject of the table.
pub struct Kind {
    /// One of its rows, and several.
    pub nouns: (&'static str, &'static str),
    pub headings: &'static [&'static str],
    /// Searchable columns.
    pub hint: &'static str,
    /// File that has all rows, if some are left out.
    pub whole: &'static str,
}

pub struct Table {
    kind: Kind,
    first: String,
    rows: Vec<Value>,
    bytes: usize,
    total: usize,
}

impl Table {
    pub fn new(kind: Kind) -> Table {
        Table { kind, first: String::new(), rows: Vec::new(), bytes: 0, total: 0 }
    }

    /// Adds a row; one that matters stands out.
    pub fn push(&mut self, matters: bool, cells: &[String]) {
        assert_eq!(cells.len(), self.kind.headings.len(), "a cell for each column");
        self.total += 1;
        // Behind one that was left out all are, so that what is there is the beginning.
        if self.total > self.rows.len() + 1 || self.rows.len() >= ROWS_MAX {
            return;
        }
        let cells: Vec<_> = cells.iter().map(|it| shown(it, CELL_CHARS)).collect();
        let value = json!([matters, cells]);
        self.bytes += value.to_string().len();
        if self.bytes > BYTES_MAX {
            return;
        }
        if self.rows.len() < ROWS_OPEN {
            self.first += if matters { "<tr class=\"hit\">" } else { "<tr>" };
            for (at, it) in cells.iter().enumerate() {
                let text = escaped(it, 2 * CELL_CHARS);
                let text = if at == PLACE { broken(&text) } else { text };
                let _ = write!(self.first, "<td>{text}</td>");
            }
            self.first += "</tr>";
        }
        self.rows.push(value);
    }

    pub fn body(self) -> String {
        let Kind { nouns: (one, many), headings, hint, whole } = self.kind;
        let known = self.rows.len();
        let all = count(known as u64, one, many);
        let more = if known > ROWS_OPEN {
            format!(
                "<button type=\"button\" id=\"more\">Show more</button> <span class=\"dim\" id=\"shown\" role=\"status\">{ROWS_OPEN} of {all}</span>"
            )
        } else {
            format!("<span class=\"dim\" id=\"shown\" role=\"status\">{all}</span>")
        };
        let headings: String = headings.iter().map(|it| format!("<th>{it}</th>")).collect();
        format!(
            "<details open id=\"{many}\"><summary>The {many}</summary>\n\
             <p class=\"search\"><input type=\"search\" id=\"search\" placeholder=\"Search: {hint}\" aria-label=\"Search what was tried\" autocomplete=\"off\" spellcheck=\"false\"></p>\n\
             <div class=\"scroll\"><table id=\"tried-table\" class=\"{many}\" data-one=\"{one}\" data-many=\"{many}\"><thead><tr>{headings}</tr></thead>\n<tbody>{}</tbody></table></div>\n\
             <p class=\"more\">{more}</p>{}<script type=\"application/json\" id=\"tried-rows\">{}</script></details>",
            self.first,
            left_out(self.total, known, whole),
            inert(&Value::Array(self.rows))
        )
    }
}
