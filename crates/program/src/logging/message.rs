//! A message while it is put together: text, holes, and what the callers of a method will say.

use crate::logging::format::{Segment, Style, segments};
use crate::logging::template::{Part, Template};

/// The most pieces of a message; what follows is a hole.
const PIECES_MAX: usize = 64;
/// The most bytes of text in a message; what follows is a hole. Concatenations of concatenations may double it
/// with every step.
const TEXT_MAX: usize = 1 << 14;
/// The most messages that one value may be. A part that has more is a hole.
pub(crate) const ALTERNATIVES_MAX: usize = 16;

/// Contribution of a parameter of a method to a message.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct Slot {
    /// Number of the parameter, as in [`Value::Parameter`](crate::Value::Parameter).
    pub number: u16,
    /// True if it is asked for the text (`Supplier.get`) rather than being it.
    pub is_called: bool,
    /// The formats that its text goes through, in that order.
    pub styles: Vec<Style>,
}

/// A piece of a message.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) enum Piece {
    Text(String),
    Hole,
    Parameter(Slot),
}

/// One of the messages that a value may be.
#[derive(Debug, Clone, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct Message {
    pieces: Vec<Piece>,
    text: usize,
}

impl Message {
    pub fn of(piece: Piece) -> Message {
        let mut message = Message::default();
        message.push(piece);
        message
    }

    pub fn text(text: impl Into<String>) -> Message {
        Message::of(Piece::Text(text.into()))
    }

    pub fn hole() -> Message {
        Message::of(Piece::Hole)
    }

    pub fn pieces(&self) -> &[Piece] {
        &self.pieces
    }

    fn push(&mut self, piece: Piece) {
        if self.pieces.len() >= PIECES_MAX || self.text > TEXT_MAX {
            if self.pieces.last() != Some(&Piece::Hole) {
                self.pieces.push(Piece::Hole);
            }
            return;
        }
        match (self.pieces.last_mut(), piece) {
            (Some(Piece::Hole), Piece::Hole) => {}
            (_, Piece::Text(text)) if text.is_empty() => {}
            (Some(Piece::Text(before)), Piece::Text(text)) => {
                self.text += text.len();
                before.push_str(&text);
            }
            (_, piece) => {
                if let Piece::Text(text) = &piece {
                    self.text += text.len();
                }
                self.pieces.push(piece);
            }
        }
    }

    fn append(&mut self, other: &Message) {
        other.pieces.iter().for_each(|it| self.push(it.clone()));
    }

    /// Tests whether nothing is known of it.
    pub fn is_open(&self) -> bool {
        self.pieces == [Piece::Hole]
    }

    /// Tests whether it says something itself.
    pub fn has_text(&self) -> bool {
        self.pieces.iter().any(|it| matches!(it, Piece::Text(text) if !text.trim().is_empty()))
    }

    /// The parameters in it.
    pub fn slots(&self) -> impl Iterator<Item = &Slot> {
        self.pieces.iter().filter_map(|it| match it {
            Piece::Parameter(slot) => Some(slot),
            _ => None,
        })
    }

    /// It with holes for parameters.
    pub fn closed(&self) -> Message {
        let mut closed = Message::default();
        for piece in &self.pieces {
            closed.push(if let Piece::Parameter(_) = piece { Piece::Hole } else { piece.clone() });
        }
        closed
    }

    /// As a template, with holes for parameters.
    pub fn template(&self) -> Template {
        Template::new(self.pieces.iter().map(|piece| match piece {
            Piece::Text(text) => Part::Text(text.clone()),
            Piece::Hole | Piece::Parameter(_) => Part::Hole,
        }))
    }

    /// It as a format with these arguments. An argument that may be several things is a hole.
    pub fn formatted(&self, style: Style, arguments: &[Vec<Message>]) -> Message {
        let mut result = Message::default();
        let mut next = 0;
        let mut is_counted = true;
        // A format without a word of its own hands its arguments on; otherwise they are data.
        let says_nothing = !self
            .pieces
            .iter()
            .any(|it| matches!(it, Piece::Text(text) if text.chars().any(char::is_alphabetic)));
        for piece in &self.pieces {
            match piece {
                Piece::Text(text) => {
                    for segment in segments(style, text, &mut next) {
                        match segment {
                            Segment::Text(text) => result.push(Piece::Text(text)),
                            Segment::Changed => result.push(Piece::Hole),
                            Segment::Argument(number) => match arguments.get(number).filter(|_| is_counted) {
                                Some(only) if only.len() == 1 && says_nothing => result.append(&only[0]),
                                Some(only) if only.len() == 1 => result.append(&only[0].closed()),
                                _ => result.push(Piece::Hole),
                            },
                        }
                    }
                }
                // How many arguments it takes is not known, so those behind it are not known by number.
                Piece::Hole => {
                    is_counted = false;
                    result.push(Piece::Hole);
                }
                Piece::Parameter(slot) => {
                    is_counted = false;
                    let mut slot = slot.clone();
                    slot.styles.push(style);
                    result.push(Piece::Parameter(slot));
                }
            }
        }
        result
    }
}

/// All messages that are one of each of these, one after the other.
pub(crate) fn concatenated(parts: &[Vec<Message>]) -> Vec<Message> {
    let mut results = vec![Message::default()];
    for part in parts {
        let is_vague = part.is_empty()
            || part.iter().any(Message::is_open)
            || results.len() * part.len() > ALTERNATIVES_MAX;
        if is_vague {
            results.iter_mut().for_each(|it| it.push(Piece::Hole));
        } else if let [only] = &part[..] {
            results.iter_mut().for_each(|it| it.append(only));
        } else {
            let with = |it: &Message, next: &Message| {
                let mut both = it.clone();
                both.append(next);
                both
            };
            results = results.iter().flat_map(|it| part.iter().map(move |next| with(it, next))).collect();
        }
    }
    results
}

/// All of these, each once; a hole if there are none or too many.
pub(crate) fn united(mut all: Vec<Message>) -> Vec<Message> {
    all.sort_unstable();
    all.dedup();
    if all.is_empty() || all.len() > ALTERNATIVES_MAX { vec![Message::hole()] } else { all }
}

/// Messages of a method as its caller sees them; `said` has what the caller gives for a parameter.
pub(crate) fn substituted(messages: &[Message], said: &mut dyn FnMut(&Slot) -> Vec<Message>) -> Vec<Message> {
    let mut results = Vec::new();
    for message in messages {
        let parts: Vec<Vec<Message>> = message
            .pieces()
            .iter()
            .map(|piece| match piece {
                Piece::Parameter(slot) => slot.styles.iter().fold(said(slot), |texts, &style| {
                    texts.iter().map(|it| it.formatted(style, &[])).collect()
                }),
                piece => vec![Message::of(piece.clone())],
            })
            .collect();
        // Alone it may be several things of which one is not known; among other pieces that would only be a hole.
        results.extend(if let [only] = &parts[..] { only.clone() } else { concatenated(&parts) });
    }
    united(results)
}

/// A text of a class file.
pub(crate) fn decoded(text: &[u8]) -> String {
    match std::str::from_utf8(text) {
        Ok(text) if !text.contains('\0') => text.to_owned(),
        // `display_name` knows modified UTF-8, and makes dots of slashes.
        _ => {
            let parts: Vec<String> =
                text.split(|&b| b == b'/').map(hypocenter_classfile::display_name).collect();
            parts.join("/")
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn slot(number: u16) -> Message {
        Message::of(Piece::Parameter(Slot { number, is_called: false, styles: Vec::new() }))
    }

    fn show(messages: &[Message]) -> Vec<String> {
        messages.iter().map(|it| it.template().to_string()).collect()
    }

    #[test]
    fn alternatives_multiply_up_to_a_bound() {
        let either = vec![Message::text("a"), Message::text("b")];
        assert_eq!(
            show(&concatenated(&[either.clone(), vec![Message::text("-")], either.clone()])),
            ["a-a", "a-b", "b-a", "b-b"]
        );
        let many = vec![either; 9];
        let all = concatenated(&many);
        assert_eq!(all.len(), ALTERNATIVES_MAX);
        assert_eq!(all[0].template().to_string(), "aaaa{}");
    }

    #[test]
    fn a_message_has_an_end() {
        let mut message = vec![Message::text("x")];
        for _ in 0..60 {
            message = concatenated(&[message.clone(), message]);
        }
        assert!(message[0].text <= 2 * TEXT_MAX + 2);
        assert_eq!(message[0].pieces().last(), Some(&Piece::Hole));
    }

    #[test]
    fn a_format_with_words_keeps_parameters_out() {
        let check = |format: &str, slots: usize| {
            let formatted = Message::text(format).formatted(Style::Braces, &[vec![slot(1)], vec![slot(2)]]);
            assert_eq!(formatted.slots().count(), slots, "{format}");
        };
        check("closed {}", 0);
        check("{}", 1);
        check("[{}] {}", 2);
    }

    #[test]
    fn what_a_caller_says_goes_through_the_formats_of_the_wrapper() {
        let wrapper = concatenated(&[vec![Message::text("[x] ")], vec![slot(1)]]);
        let wrapper: Vec<Message> = wrapper.iter().map(|it| it.formatted(Style::Percent, &[])).collect();
        let composed = substituted(&wrapper, &mut |_| vec![Message::text("%s of %d")]);
        assert_eq!(show(&composed), ["[x] {} of {}"]);
    }

    #[test]
    fn texts_are_modified_utf_8() {
        for (bytes, expected) in [
            (&b"a/b"[..], "a/b"),
            (b"\xC0\x80/\xC3\xA4", "\0/\u{e4}"),
            (b"\xED\xA0\xBD\xED\xB8\x80", "\u{1F600}"),
        ] {
            assert_eq!(decoded(bytes), expected);
        }
    }
}
