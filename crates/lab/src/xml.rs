//! XML as a stream of events, for documents that others wrote: reports of tests, build files.
//!
//! No tree is built and nothing outside of the document is read. Entities that the document declares are expanded once, as plain
//! text up to a bound, so time and memory are linear in the size of the document, however deep it is.

use std::borrow::Cow;
use std::collections::HashMap;

use quick_xml::escape::{resolve_predefined_entity, unescape};
use quick_xml::events::{BytesRef, BytesStart, Event};

/// The most text that references to declared entities stand for in one document.
const EXPANDED_BYTES_MAX: usize = 1 << 20;

/// A reason to stop reading a document.
#[derive(Debug, thiserror::Error)]
pub enum XmlError {
    /// The text ends within an element, or within a tag.
    #[error("it ends within an element")]
    CutOff,
    /// The text is not well-formed.
    #[error("{what}, at byte {at}")]
    Malformed {
        /// The rule that it breaks.
        what: String,
        /// The position of the reader.
        at: u64,
    },
    /// Its entities stand for too much text.
    #[error("its entities expand to more than {} MB", EXPANDED_BYTES_MAX >> 20)]
    Expansion,
}

/// One step through a document. Every `Open` has its `Close`, also where an element is empty.
#[derive(Debug)]
pub enum XmlEvent<'a> {
    /// A document type is declared.
    DocumentType,
    /// An element begins.
    Open(XmlElement<'a>),
    /// Text, CDATA or a reference. The text of one element may come in several parts.
    Text(Cow<'a, str>),
    /// The element that was opened last and is still open ends.
    Close,
}

/// The start tag of an element.
#[derive(Debug)]
pub struct XmlElement<'a>(BytesStart<'a>);

impl XmlElement<'_> {
    /// Its name without namespace.
    pub fn name(&self) -> &str {
        self.0.local_name().into_inner()
    }

    /// The value of an attribute, empty if there is none.
    pub fn attribute(&self, name: &str) -> String {
        // Without the check for duplicates, which is quadratic.
        let mut attributes = self.0.attributes();
        let found = attributes.with_checks(false).flatten().find(|it| it.key.as_ref() == name);
        let Some(found) = found else { return String::new() };
        unescape(&found.value).map_or_else(|_| found.value.to_string(), Cow::into_owned)
    }
}

/// Reads a document from its text.
#[derive(Debug)]
pub struct XmlReader<'a> {
    reader: quick_xml::Reader<&'a [u8]>,
    length: u64,
    depth: usize,
    entities: HashMap<String, String>,
    expanded_bytes: usize,
    is_over: bool,
}

impl<'a> XmlReader<'a> {
    /// At the beginning of a text.
    pub fn new(text: &'a str) -> XmlReader<'a> {
        let mut reader = quick_xml::Reader::from_str(text);
        reader.config_mut().expand_empty_elements = true;
        let entities = HashMap::new();
        XmlReader { reader, length: text.len() as u64, depth: 0, entities, expanded_bytes: 0, is_over: false }
    }

    fn step(&mut self) -> Result<Option<XmlEvent<'a>>, XmlError> {
        loop {
            let event = self.reader.read_event().map_err(|error| self.error(&error))?;
            return Ok(Some(match event {
                Event::Start(element) | Event::Empty(element) => {
                    self.depth += 1;
                    XmlEvent::Open(XmlElement(element))
                }
                Event::End(_) => {
                    self.depth -= 1;
                    XmlEvent::Close
                }
                Event::Text(text) => XmlEvent::Text(text.into_inner()),
                Event::CData(text) => XmlEvent::Text(text.into_inner()),
                Event::GeneralRef(reference) => XmlEvent::Text(self.resolve(&reference)?),
                Event::DocType(text) => {
                    self.entities.extend(declared(&text.into_inner()));
                    XmlEvent::DocumentType
                }
                Event::Eof if self.depth > 0 => return Err(XmlError::CutOff),
                Event::Eof => return Ok(None),
                Event::Comment(_) | Event::Decl(_) | Event::PI(_) => continue,
            }));
        }
    }

    fn error(&self, error: &quick_xml::Error) -> XmlError {
        let at = self.reader.buffer_position();
        match error {
            quick_xml::Error::Syntax(_) if at >= self.length => XmlError::CutOff,
            error => XmlError::Malformed { what: error.to_string(), at },
        }
    }

    /// The text that a reference stands for. One that is not known stays as it is written.
    fn resolve(&mut self, reference: &BytesRef<'_>) -> Result<Cow<'a, str>, XmlError> {
        let name = reference.xml10_content();
        if let Ok(Some(character)) = reference.resolve_char_ref() {
            return Ok(character.to_string().into());
        }
        if let Some(text) = resolve_predefined_entity(&name) {
            return Ok(text.into());
        }
        let Some(text) = self.entities.get(name.as_ref()) else { return Ok(format!("&{name};").into()) };
        self.expanded_bytes += text.len();
        if self.expanded_bytes > EXPANDED_BYTES_MAX {
            return Err(XmlError::Expansion);
        }
        Ok(text.clone().into())
    }
}

impl<'a> Iterator for XmlReader<'a> {
    type Item = Result<XmlEvent<'a>, XmlError>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.is_over {
            return None;
        }
        let step = self.step().transpose();
        self.is_over = !matches!(step, Some(Ok(_)));
        step
    }
}

/// The entities that a document type declares as plain text. Others name a file, or stand for more references or elements.
fn declared(document_type: &str) -> impl Iterator<Item = (String, String)> {
    document_type.split("<!ENTITY").skip(1).filter_map(|it| {
        let (name, rest) = it.trim_start().split_once(char::is_whitespace)?;
        let rest = rest.trim_start();
        let quote = rest.chars().next().filter(|it| "'\"".contains(*it))?;
        let (value, _) = rest[1..].split_once(quote)?;
        (!value.contains(['&', '<'])).then(|| (name.to_owned(), value.to_owned()))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The events in short, `<name a=..>` for an element with an attribute `a`.
    fn events(text: &str) -> Result<String, XmlError> {
        let mut short = String::new();
        for event in XmlReader::new(text) {
            match event? {
                XmlEvent::DocumentType => short.push('!'),
                XmlEvent::Open(it) if it.attribute("a").is_empty() => short += &format!("<{}>", it.name()),
                XmlEvent::Open(it) => short += &format!("<{} a={}>", it.name(), it.attribute("a")),
                XmlEvent::Text(text) => short += &text,
                XmlEvent::Close => short.push('/'),
            }
        }
        Ok(short)
    }

    #[test]
    fn a_document_is_elements_and_text() {
        let check = |text: &str, expected: &str| assert_eq!(events(text).unwrap(), expected, "{text}");
        check("<?xml version='1.0'?><p:x a='1 &lt; 2'><y/><!-- no --></p:x>", "<x a=1 < 2><y>//");
        check("<x>1 &lt; 2 &#65;<![CDATA[<&]]></x>", "<x>1 < 2 A<&/");
        check("<x a='&unknown;'>&unknown;</x>", "<x a=&unknown;>&unknown;/");
        check("no XML", "no XML");
    }

    #[test]
    fn an_entity_is_plain_text_of_the_document() {
        let check = |declared: &str, expected: &str| {
            let text = format!("<!DOCTYPE x [{declared}]><x>&e;</x>");
            assert_eq!(events(&text).unwrap(), format!("!<x>{expected}/"), "{text}");
        };
        check("<!ENTITY e 'core'>", "core");
        check("<!ENTITY other ''>\n<!ENTITY  e  \"it's\" >", "it's");
        check("<!ENTITY e SYSTEM 'file:///etc/passwd'>", "&e;");
        check("<!ENTITY a 'x'><!ENTITY e '&a;&a;'>", "&e;");
        let text =
            format!("<!DOCTYPE x [<!ENTITY e '{}'>]><x>{}</x>", "x".repeat(1 << 10), "&e;".repeat(1025));
        assert!(matches!(events(&text), Err(XmlError::Expansion)));
    }

    #[test]
    fn a_document_that_ends_early_is_told_from_a_wrong_one() {
        let is_cut_off = |text: &str| match events(text) {
            Err(XmlError::CutOff) => true,
            Err(XmlError::Malformed { .. }) => false,
            other => panic!("{text}: {other:?}"),
        };
        for text in ["<x>", "<x><y/>", "<x a='", "<x><![CDATA[ y", "<x><!-- y", &"<x>".repeat(500_000)] {
            assert!(is_cut_off(text), "{text:.40}");
        }
        for text in ["<x></y>", "</x>", "<x>&</x>"] {
            assert!(!is_cut_off(text), "{text}");
        }
    }
}
