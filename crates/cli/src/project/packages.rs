//! Many packages brought down to the few that name a system.
//!
//! Common prefix of all packages of a system names it best (`org.apache.hadoop`), but not if others share it too: `org.apache` would
//! take in half of the class path. So a shared beginning is taken if the system has sources right in it, or if it is long
//! enough to be nobody else's; else it is split where its packages part.

use std::collections::{BTreeMap, BTreeSet};

/// The most packages that are proposed.
const PACKAGES_MAX: usize = 5;
/// A beginning with this many parts belongs to one system: `com.google.common`.
const OWN_PARTS: usize = 3;
/// A beginning with this many parts is still taken where splitting it gives too many: `org.acme`, but never `org`.
const PARTS_MIN: usize = 2;

/// The packages that stand for all of those given (with the number of files in each), sorted. With them comes how many
/// packages they leave out.
pub fn common(packages: &BTreeMap<String, usize>) -> (Vec<String>, usize) {
    let all: Vec<Vec<&str>> = packages.keys().map(|it| parts(it)).collect();
    let mut found: Vec<String> = if all.iter().any(Vec::is_empty) { vec![String::new()] } else { Vec::new() };
    let named: Vec<&[&str]> = all.iter().filter(|it| !it.is_empty()).map(Vec::as_slice).collect();
    found.extend(split(&named).into_iter().map(|it| it.join(".")));
    let files = |package: &str| -> usize {
        packages.iter().filter(|(it, _)| covers(package, it)).map(|(_, files)| files).sum()
    };
    // Where there are too many, those with the most files say best what the system is.
    found.sort_by_key(|it| std::cmp::Reverse(files(it)));
    found.truncate(PACKAGES_MAX);
    found.sort();
    let left_out = packages.keys().filter(|it| !found.iter().any(|package| covers(package, it))).count();
    (found, left_out)
}

/// Tests whether a package is another or above it. The one without a name is above nothing.
fn covers(package: &str, other: &str) -> bool {
    other
        .strip_prefix(package)
        .is_some_and(|rest| rest.is_empty() || (!package.is_empty() && rest.starts_with('.')))
}

fn parts(package: &str) -> Vec<&str> {
    package.split('.').filter(|it| !it.is_empty()).collect()
}

/// The beginnings that stand for some packages.
fn split<'a>(packages: &[&[&'a str]]) -> Vec<Vec<&'a str>> {
    let Some(first) = packages.first() else { return Vec::new() };
    let shared =
        (0..first.len()).take_while(|&at| packages.iter().all(|it| it.get(at) == first.get(at))).count();
    let beginning = &first[..shared];
    if shared >= OWN_PARTS || packages.contains(&beginning) {
        // What is longer than needed says too little: one package of a system is not all of it.
        return vec![beginning.to_vec()];
    }
    let next: BTreeSet<&str> = packages.iter().map(|it| it[shared]).collect();
    let apart: Vec<Vec<&str>> = next
        .into_iter()
        .flat_map(|part| {
            let of_part: Vec<&[&str]> = packages.iter().filter(|it| it[shared] == part).copied().collect();
            split(&of_part)
        })
        .collect();
    if apart.len() > PACKAGES_MAX && shared >= PARTS_MIN { vec![beginning.to_vec()] } else { apart }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn packages_are_brought_down_to_what_names_the_system() {
        let check = |packages: &[&str], expected: &[&str]| {
            let counted = packages.iter().map(|it| (it.to_string(), 1)).collect();
            assert_eq!(
                common(&counted),
                (expected.iter().map(ToString::to_string).collect(), 0),
                "{packages:?}"
            );
        };
        check(&[], &[]);
        check(&["org.acme"], &["org.acme"]);
        check(&["org.acme", "org.acme.store", "org.acme.net.http"], &["org.acme"]);
        check(&["org.acme.store", "org.acme.net"], &["org.acme.net", "org.acme.store"]);
        check(
            &["org.apache.zookeeper.server", "org.apache.zookeeper", "org.apache.jute"],
            &["org.apache.jute", "org.apache.zookeeper"],
        );
        check(&["org.apache.hadoop.hdfs", "org.apache.hadoop.yarn"], &["org.apache.hadoop"]);
        check(&["org.acme", "com.other.x"], &["com.other.x", "org.acme"]);
        check(
            &["org.acme.a", "org.acme.b", "org.acme.c", "org.acme.d", "org.acme.e", "org.acme.f"],
            &["org.acme"],
        );
        check(&[""], &[""]);
        check(&["", "journal"], &["", "journal"]);
        check(&["a", "a.b"], &["a"]);
    }

    #[test]
    fn of_too_many_the_largest_are_kept_and_the_others_counted() {
        let packages: BTreeMap<String, usize> =
            ('a'..='h').zip(1..).map(|(it, files)| (it.to_string(), files)).collect();
        let (found, left_out) = common(&packages);
        assert_eq!(found, ["d", "e", "f", "g", "h"]);
        assert_eq!(left_out, 3);
    }
}
