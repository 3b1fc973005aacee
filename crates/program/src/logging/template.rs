//! The message of a log statement as far as its code says it.

use std::fmt;

/// A piece of a template.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Part {
    /// Text that every message has.
    Text(String),
    /// Text of which nothing is known; it may be empty.
    Hole,
}

/// Text and holes, in order. No two texts and no two holes stand side by side.
#[derive(Debug, Clone, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Template {
    parts: Vec<Part>,
}

impl Template {
    /// A template of these parts; neighbours of the same kind become one.
    pub fn new(parts: impl IntoIterator<Item = Part>) -> Template {
        let mut joined: Vec<Part> = Vec::new();
        for part in parts {
            match (joined.last_mut(), part) {
                (Some(Part::Hole), Part::Hole) => {}
                (_, Part::Text(text)) if text.is_empty() => {}
                (Some(Part::Text(before)), Part::Text(text)) => before.push_str(&text),
                (_, part) => joined.push(part),
            }
        }
        Template { parts: joined }
    }

    /// The parts.
    pub fn parts(&self) -> &[Part] {
        &self.parts
    }

    /// Tests whether nothing of the message is known.
    pub fn is_open(&self) -> bool {
        self.parts == [Part::Hole]
    }
}

/// Holes are written as `{}`.
impl fmt::Display for Template {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.parts.iter().try_for_each(|part| match part {
            Part::Text(text) => f.write_str(text),
            Part::Hole => f.write_str("{}"),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn neighbours_of_a_kind_are_joined() {
        let text = |it: &str| Part::Text(it.into());
        let template = Template::new([text("a"), text(""), text("b"), Part::Hole, text(""), Part::Hole]);
        assert_eq!(template.parts(), [text("ab"), Part::Hole]);
        assert_eq!(template.to_string(), "ab{}");
        assert!(Template::new([Part::Hole, Part::Hole]).is_open());
        assert!(!Template::default().is_open());
    }
}
