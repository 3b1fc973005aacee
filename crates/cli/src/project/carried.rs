//! Tables that a new configuration takes from the old one: the failure, the settings of the search, and known findings. Only the
//! owner of the file knows these; everything else is detected again.

use toml::Table;

/// Text of these tables in the old file.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Carried {
    /// `[failure]`, with the tables in it.
    pub failure: Option<String>,
    /// `[reproduce]` and `[explore]`, with every `[[explore.known]]`.
    pub search: Option<String>,
}

impl Carried {
    /// Cuts the tables out of the text of a file.
    pub fn of(text: &str) -> Carried {
        let search: Vec<String> = ["reproduce", "explore"].iter().filter_map(|it| cut(text, it)).collect();
        Carried { failure: cut(text, "failure"), search: (!search.is_empty()).then(|| search.join("\n")) }
    }

    /// Tests whether these tables are the same in a new text, even in forms without headers of their own.
    pub fn is_whole(old: &str, new: &str) -> bool {
        let (Ok(old), Ok(new)) = (old.parse::<Table>(), new.parse::<Table>()) else { return false };
        ["failure", "reproduce", "explore"].into_iter().all(|name| old.get(name) == new.get(name))
    }
}

/// Cuts out all tables of a name, each from the comment above its header to the comment right after its last setting. Later comments
/// belong to the next table.
fn cut(text: &str, name: &str) -> Option<String> {
    let lines: Vec<&str> = text.lines().collect();
    let headers: Vec<usize> = (0..lines.len()).filter(|&it| lines[it].trim().starts_with('[')).collect();
    let is_wanted = |header: usize| {
        let header = lines[header].trim().trim_start_matches('[').trim_start();
        header.strip_prefix(name).is_some_and(|it| it.trim_start().starts_with([']', '.']))
    };
    let mut kept = Vec::new();
    for (number, &header) in headers.iter().enumerate().filter(|it| is_wanted(*it.1)) {
        let next = headers.get(number + 1).map_or(lines.len(), |&it| commented(&lines, it));
        kept.push(lines[commented(&lines, header)..end(&lines, header, next)].join("\n") + "\n");
    }
    (!kept.is_empty()).then(|| kept.join("\n"))
}

/// First line of the comment directly above a header. A setting that is commented out is no comment.
fn commented(lines: &[&str], header: usize) -> usize {
    let is_prose = |line: &&&str| {
        let line = line.trim();
        let is_off = |it: &str| !it.starts_with(' ') && (it.starts_with('[') || it.contains('='));
        line.strip_prefix('#').is_some_and(|it| !is_off(it))
    };
    header - lines[..header].iter().rev().take_while(is_prose).count()
}

/// End of the table with this header, before the comment of the next one.
fn end(lines: &[&str], header: usize, next: usize) -> usize {
    let is_setting = |line: &str| !line.trim().is_empty() && !line.trim().starts_with('#');
    let last = (header..next).rev().find(|&it| is_setting(lines[it])).unwrap_or(header);
    let behind: Vec<&str> = lines[last + 1..next].iter().map(|it| it.trim()).collect();
    let comment = behind.split(|it| it.is_empty()).next().unwrap_or_default();
    // A table that is commented out is a separate one.
    if comment.iter().any(|it| it.starts_with("#[")) { last + 1 } else { last + 1 + comment.len() }
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
        let failure = "# Mine.\n[failure]\n# As seen on Monday.\nlogs = [\n  'a.log', # both\n  'b.log',\n]\n\noracle = { log = 'x' }\n";
        assert_eq!(carried.failure.as_deref(), Some(failure));
        let known = "[[explore.known]]\nstack = 'a.B.c'\nwhy = '1'\n\n[[explore.known]]\nstack = 'a.B.d'\nwhy = '2'\n";
        assert_eq!(carried.search.as_deref(), Some(known));
        assert!(Carried::is_whole(old, &format!("{failure}{known}")));
        assert!(!Carried::is_whole(old, failure));
        assert_eq!(Carried::of("[failures]\na = 1\n#[failure]\n"), Carried::default());
        // Tables in it come along; what has no header of its own does not, and that is seen.
        let inner = "[failure]\nlogs = []\n\n[failure.oracle]\nexit = 1\n";
        assert_eq!(Carried::of(inner).failure.as_deref(), Some(inner));
        assert_eq!(Carried::of("failure.logs = ['a']\n"), Carried::default());
        // Comments come along that are right above and right behind, but none that is about something else.
        let check = |before: &str, own: &str, behind: &str| {
            assert_eq!(Carried::of(&format!("{before}{own}{behind}")).failure.as_deref(), Some(own));
        };
        let own = "# Ticket 7.\n#\n# On Monday.\n[failure]\nlogs = []\n# Not always:\n#layout = '%m'\n";
        check("", own, "");
        check("# All of it.\n\n", own, "\n# Workloads.\n\n[[workload]]\n");
        check("[[workload]]\n#steps = 10\n", own, "\n# Known:\n#[[explore.known]]\n");
        check("#[target]\n", "[failure]\nlogs = []\n", "# Known:\n#[[explore.known]]\n#why = 'y'\n");
        check("", "[failure]\nlogs = []\n", "# Workloads.\n[[workload]]\n");
        check("", "[failure]\nlogs = []\n\n# By its end.\n[failure.oracle]\nexit = 1\n", "");
        assert!(!Carried::is_whole("failure.logs = ['a']\n", ""));
        assert!(!Carried::is_whole("[failure]\nlogs = [\n['a'],\n]\n", "[failure]\nlogs = [\n"));
    }
}
