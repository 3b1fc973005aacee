//! Meaning of an operation for the files that it names: what it reads, what it writes, and whether it leaves anything of what was there.

use hypocenter_plan::OperationKind;

/// The directory of the trial itself.
const ROOT: &str = ".";

/// What an operation does to a resource.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Touch<'a> {
    /// The file or directory.
    pub resource: &'a str,
    /// True if its result depends on the resource.
    pub reads: bool,
    /// True if it changes the resource.
    pub writes: bool,
    /// True if nothing is left of what was there.
    pub is_whole: bool,
}

/// What an operation does to files. One that failed, or that answered that it did nothing, only read.
///
/// What is made only if it is not there, and what fails if it is not there, reads as well. Whatever adds or removes a name writes the
/// directory.
pub(crate) fn touches<'a>(
    kind: OperationKind,
    is_done: bool,
    resource: &'a str,
    other: &'a str,
) -> Vec<Touch<'a>> {
    use OperationKind as Kind;
    let touch = |resource, reads, writes, is_whole| Touch { resource, reads, writes, is_whole };
    let mut all = match kind {
        Kind::OpenRead | Kind::Read | Kind::List | Kind::Test => vec![touch(resource, true, false, false)],
        Kind::OpenWrite | Kind::Write => vec![touch(resource, false, true, false)],
        Kind::Map => vec![touch(resource, true, true, false)],
        Kind::Truncate => vec![touch(resource, false, true, true)],
        Kind::Create | Kind::MakeDirectory | Kind::Delete => vec![touch(resource, true, true, true)],
        // What has the new name before is replaced, whatever it is.
        Kind::Rename => vec![touch(resource, true, true, true), touch(other, false, true, true)],
        Kind::Link => vec![touch(resource, true, false, false), touch(other, true, true, true)],
        // Those on connections and between threads touch no file, and bringing one to the disk changes nothing that is read.
        _ => Vec::new(),
    };
    let makes_name = matches!(
        kind,
        Kind::OpenWrite
            | Kind::Truncate
            | Kind::Create
            | Kind::MakeDirectory
            | Kind::Delete
            | Kind::Rename
            | Kind::Link
    );
    if makes_name {
        let named = all.iter().filter(|it| it.writes).filter_map(|it| parent(it.resource));
        let parents: Vec<Touch<'_>> = named.map(|it| touch(it, false, true, false)).collect();
        all.extend(parents);
    }
    for it in &mut all {
        it.writes &= is_done;
        it.is_whole &= is_done;
    }
    all.retain(|it| !it.resource.is_empty() && (it.reads || it.writes));
    all
}

/// The directory of a file.
fn parent(path: &str) -> Option<&str> {
    match path.rsplit_once('/') {
        Some((parent, _)) => Some(parent),
        None => (path != ROOT && !path.is_empty()).then_some(ROOT),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Touches as text: `r` reads, `w` writes a part, `W` writes the whole.
    #[track_caller]
    fn check(kind: OperationKind, is_done: bool, (resource, other): (&str, &str), expected: &str) {
        let letters = |it: &Touch<'_>| {
            let write = if it.is_whole { "W" } else { "w" };
            format!(
                "{}{}{}",
                it.resource,
                if it.reads { " r" } else { " " },
                if it.writes { write } else { "" }
            )
        };
        let found: Vec<String> = touches(kind, is_done, resource, other).iter().map(letters).collect();
        assert_eq!(found.join(", "), expected, "{kind} {is_done}");
    }

    #[test]
    fn each_kind_reads_and_writes_what_it_does() {
        use OperationKind as Kind;
        let (one, two) = (("n/a", ""), ("n/a.tmp", "n/a"));
        check(Kind::OpenRead, true, one, "n/a r");
        check(Kind::Read, false, one, "n/a r");
        check(Kind::Test, true, one, "n/a r");
        check(Kind::List, true, ("n", ""), "n r");
        check(Kind::Write, true, one, "n/a  w");
        check(Kind::Truncate, true, one, "n/a  W, n  w");
        check(Kind::OpenWrite, true, one, "n/a  w, n  w");
        check(Kind::Create, true, one, "n/a rW, n  w");
        check(Kind::Delete, true, ("a", ""), "a rW, .  w");
        check(Kind::Rename, true, two, "n/a.tmp rW, n/a  W, n  w, n  w");
        check(Kind::Link, true, two, "n/a.tmp r, n/a rW, n  w");
        check(Kind::Sync, true, one, "");
        check(Kind::MakeDirectory, true, (".", ""), ". rW");
    }

    #[test]
    fn what_was_not_done_only_reads() {
        check(OperationKind::Create, false, ("n/lock", ""), "n/lock r");
        check(OperationKind::Write, false, ("n/lock", ""), "");
        check(OperationKind::Rename, false, ("a", "b"), "a r");
    }
}
