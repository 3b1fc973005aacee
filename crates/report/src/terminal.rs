//! Lines on a terminal for a document.
//!
//! A [`Line`] has a label in the margin and a text in pieces, each with a [`Style`] by its meaning. Whoever prints it finds the colours
//! and takes out what could steer a terminal: text from logs is in these lines as it was written.

mod cascaded;
mod cause;
mod closest;
mod columns;
mod compared;
mod events;
mod explained;
mod explored;
mod planned;
mod reproduced;

use hypocenter_plan::Frame;

pub use cascaded::cascaded;
pub use compared::compared;
pub use events::{RoundLine, Voice};
pub use explained::{explained, ticket};
pub use explored::explored;
pub use planned::{Forecast, planned};
pub use reproduced::{refusal, reproduced};

/// A line of the terminal.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Line {
    /// Word in the margin, empty where a line goes on with the one before. Without one the text takes the whole width.
    pub label: Option<String>,
    /// Style of the label.
    pub style: Style,
    /// The text.
    pub text: Vec<Piece>,
}

/// A part of a line in one style.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Piece {
    /// Its style.
    pub style: Style,
    /// Its text.
    pub text: String,
}

/// Meaning of a text, by which it gets its colour.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Style {
    /// Nothing in particular.
    #[default]
    Plain,
    /// Said in passing.
    Dim,
    /// A heading.
    Bold,
    /// Good news.
    Good,
    /// Bad news.
    Bad,
    /// To be looked at.
    Warn,
}

impl Line {
    /// A labelled line.
    pub fn new(label: impl Into<String>, text: impl Into<String>) -> Line {
        Line { label: Some(label.into()), style: Style::Dim, text: Vec::new() }.with(Style::Plain, text)
    }

    /// A line that goes on with the one before.
    pub fn more(text: impl Into<String>) -> Line {
        Line::new("", text)
    }

    /// Something that the user should know about a part of the campaign, and that is no error.
    pub fn note(place: &str, text: &str) -> Line {
        Line { style: Style::Warn, ..Line::new("note", format!("{place}: {text}")) }
    }

    /// A line that takes the whole width.
    pub fn wide(style: Style, text: impl Into<String>) -> Line {
        Line::default().with(style, text)
    }

    /// An empty line.
    pub fn gap() -> Line {
        Line::default()
    }

    /// Adds a piece.
    #[must_use]
    pub fn with(mut self, style: Style, text: impl Into<String>) -> Line {
        let text = text.into();
        if !text.is_empty() {
            self.text.push(Piece { style, text });
        }
        self
    }

    /// The text without its styles.
    pub fn plain(&self) -> String {
        self.text.iter().map(|it| it.text.as_str()).collect()
    }
}

/// Lines of which only the first has the label.
fn labelled(label: &str, texts: impl IntoIterator<Item = String>) -> impl Iterator<Item = Line> {
    let label = move |number: usize| if number == 0 { label } else { "" };
    texts.into_iter().enumerate().map(move |(number, it)| Line::new(label(number), it))
}

/// At most so many frames of a stack, those that say most: the innermost, and those of the system before others.
pub fn stack(frames: &[Frame], most: usize, is_own: impl Fn(&str) -> bool) -> Vec<Line> {
    let mut next = 0;
    let line = |number: usize| {
        let left_out = if number > next { "... " } else { "" };
        next = number + 1;
        let label = if number == 0 { "stack" } else { "" };
        Line::new(label, "").with(Style::Dim, left_out).with(Style::Plain, frames[number].to_string())
    };
    telling(frames, most, is_own).into_iter().map(line).collect()
}

fn telling(frames: &[Frame], most: usize, is_own: impl Fn(&str) -> bool) -> Vec<usize> {
    let (own, others): (Vec<usize>, Vec<usize>) =
        (0..frames.len()).partition(|&it| it == 0 || is_own(&frames[it].method));
    let mut shown: Vec<usize> = own.into_iter().chain(others).take(most).collect();
    shown.sort_unstable();
    shown
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn frames_of_ones_own_come_before_those_of_libraries() {
        let frames = ["java.nio.A.a", "java.util.B.b", "my.C.c", "java.util.D.d", "my.E.e"];
        let frames = frames.map(|it| Frame { method: it.to_owned(), at: None });
        let shown = |most| telling(&frames, most, |it| it.starts_with("my."));
        assert_eq!([shown(3), shown(4), shown(9)], [vec![0, 2, 4], vec![0, 1, 2, 4], vec![0, 1, 2, 3, 4]]);
        assert!(telling(&[], 3, |_| true).is_empty());
        let lines: Vec<String> =
            stack(&frames, 3, |it| it.starts_with("my.")).iter().map(Line::plain).collect();
        assert_eq!(lines, ["java.nio.A.a", "... my.C.c", "... my.E.e"]);
    }
}
