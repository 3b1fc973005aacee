//! Exceptions that a message mentions: `cannot store: java.nio.file.NoSuchFileException: data/index`. Not everybody logs a stack.

use std::collections::BTreeSet;

use hypocenter_logs::Log;

/// How many of a message are kept.
const MENTIONED_MAX: usize = 8;
/// How many classes of all logs are looked up.
const CLASSES_MAX: usize = 1 << 12;

/// An exception in a message.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Mentioned {
    /// Its class, in full, with dots.
    pub class: String,
    /// What stands behind it, which is mostly what it says.
    pub says: String,
}

/// The exceptions of a message, by their full names.
pub(crate) fn mentioned(message: &str) -> Vec<Mentioned> {
    let is_name = |it: char| it.is_ascii_alphanumeric() || matches!(it, '.' | '_' | '$');
    let mut found = Vec::new();
    let mut rest = message;
    while let Some(from) = rest.find(is_name) {
        rest = &rest[from..];
        let (word, behind) = rest.split_at(rest.find(|it| !is_name(it)).unwrap_or(rest.len()));
        let class = word.trim_matches('.');
        let is_class = class.contains('.') && (class.ends_with("Exception") || class.ends_with("Error"));
        if is_class && found.len() < MENTIONED_MAX {
            let says = behind.trim_start_matches([':', ' ']).to_owned();
            found.push(Mentioned { class: class.to_owned(), says });
        }
        rest = behind;
    }
    found
}

/// The classes of all exceptions in some logs, with or without a stack: what a program is asked about need not be named in it.
pub fn exceptions_in(logs: &[(String, Log)]) -> Vec<String> {
    let mut found: BTreeSet<String> = BTreeSet::new();
    for entry in logs.iter().flat_map(|it| it.1.entries()) {
        let logged = entry.trace().exceptions.iter().map(|it| it.class.to_owned()).collect::<Vec<_>>();
        let mentioned = mentioned(entry.first_line()).into_iter().map(|it| it.class);
        found.extend(logged.into_iter().chain(mentioned));
        if found.len() >= CLASSES_MAX {
            break;
        }
    }
    found.into_iter().collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn exceptions_are_known_by_their_full_names() {
        let of = |message: &str| -> Vec<(String, String)> {
            mentioned(message).into_iter().map(|it| (it.class, it.says)).collect()
        };
        let pair = |class: &str, says: &str| (class.to_owned(), says.to_owned());
        assert_eq!(
            of("run 7 abandoned: java.nio.file.FileSystemException: a.tmp -> a: busy"),
            [pair("java.nio.file.FileSystemException", "a.tmp -> a: busy")]
        );
        assert_eq!(
            of("failed (org.acme.Wrapped$StoreException: java.io.IOException), and ended."),
            [
                pair("org.acme.Wrapped$StoreException", "java.io.IOException), and ended."),
                pair("java.io.IOException", "), and ended.")
            ]
        );
        assert_eq!(of("an Exception. ConnectionError or not"), []);
        assert_eq!(of("java.lang.Error"), [pair("java.lang.Error", "")]);
        assert_eq!(of("\u{e9}\u{1f980}...Exception"), []);
        assert_eq!(of(&"a.Error ".repeat(100)).len(), MENTIONED_MAX);
    }
}
