//! What a configuration that is written anew takes over from the one before: what its owner says of a failure, and of findings that
//! are known. Nobody but the owner knows these, and everything else is found out anew.

use toml::Table;

/// The text of these tables, as it stood there.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Carried {
    /// `[failure]`, with the tables in it.
    pub failure: Option<String>,
    /// Every `[[explore.known]]`.
    pub known: Option<String>,
}

impl Carried {
    /// From the text of a file.
    pub fn of(text: &str) -> Carried {
        Carried { failure: cut(text, "failure"), known: cut(text, "explore") }
    }

    /// Whether a new text has of these tables what the old one has; also in forms that are not told apart by their headers.
    pub fn is_whole(old: &str, new: &str) -> bool {
        let (Ok(old), Ok(new)) = (old.parse::<Table>(), new.parse::<Table>()) else { return false };
        ["failure", "explore"].into_iter().all(|name| old.get(name) == new.get(name))
    }
}

/// The lines of all tables below a name, from each header to the last setting. Comments behind that are those of what follows.
fn cut(text: &str, name: &str) -> Option<String> {
    let mut kept: Vec<&str> = Vec::new();
    let mut settings = 0;
    let mut is_inside = false;
    for line in text.lines() {
        let bare = line.trim();
        if let Some(header) = bare.strip_prefix('[') {
            let header = header.trim_start_matches('[').trim_start();
            let rest = header.strip_prefix(name).map(str::trim_start);
            is_inside = rest.is_some_and(|it| it.starts_with([']', '.']));
            kept.truncate(settings);
            if is_inside && !kept.is_empty() {
                kept.push("");
            }
        }
        if is_inside {
            kept.push(line);
            if !bare.is_empty() && !bare.starts_with('#') {
                settings = kept.len();
            }
        }
    }
    kept.truncate(settings);
    (!kept.is_empty()).then(|| kept.join("\n") + "\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_tables_of_the_owner_are_cut_out_as_they_stand() {
        let old = "[target]\npackages = ['a']\n# Mine.\n[failure]\n# As seen on Monday.\nlogs = [\n  'a.log', # both\n  'b.log',\n]\n\n\
                   oracle = { log = 'x' }\n\n# Known:\n#[[explore.known]]\n#why = 'y'\n[[workload]]\nname = 'w'\ncommand = 'true'\n\
                   [[explore.known]]\nstack = 'a.B.c'\nwhy = '1'\n\n[[explore.known]]\nstack = 'a.B.d'\nwhy = '2'\n";
        let carried = Carried::of(old);
        let failure = "[failure]\n# As seen on Monday.\nlogs = [\n  'a.log', # both\n  'b.log',\n]\n\noracle = { log = 'x' }\n";
        assert_eq!(carried.failure.as_deref(), Some(failure));
        let known = "[[explore.known]]\nstack = 'a.B.c'\nwhy = '1'\n\n[[explore.known]]\nstack = 'a.B.d'\nwhy = '2'\n";
        assert_eq!(carried.known.as_deref(), Some(known));
        assert!(Carried::is_whole(old, &format!("{failure}{known}")));
        assert!(!Carried::is_whole(old, failure));
        assert_eq!(Carried::of("[failures]\na = 1\n#[failure]\n"), Carried::default());
        // Tables in it come along; what has no header of its own does not, and that is seen.
        let inner = "[failure]\nlogs = []\n\n[failure.oracle]\nexit = 1\n";
        assert_eq!(Carried::of(inner).failure.as_deref(), Some(inner));
        assert_eq!(Carried::of("failure.logs = ['a']\n"), Carried::default());
        assert!(!Carried::is_whole("failure.logs = ['a']\n", ""));
        assert!(!Carried::is_whole("[failure]\nlogs = [\n['a'],\n]\n", "[failure]\nlogs = [\n"));
    }
}
