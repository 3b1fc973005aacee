//! Names of threads as a log shows them: some layouts cut them.

use rustc_hash::FxHashSet;

use crate::role::role;

/// The least that a layout leaves of a name; what is shorter is the end of too many names.
const WIDTH_MIN: usize = 8;

/// The names of threads that a log shows, to know others by what it leaves of them.
///
/// `%15.15t` of logback and log4j leaves the last fifteen characters of a name, `%.-15t` the first. A log that has such names has
/// none that is longer.
#[derive(Clone, Debug, Default)]
pub struct ShownNames {
    /// The names, without what numbers them.
    roles: FxHashSet<String>,
    /// How long the longest is, in characters.
    width: usize,
}

impl ShownNames {
    /// Of a log, or of several with one layout, that show these.
    pub fn of<'n>(names: impl IntoIterator<Item = &'n str>) -> ShownNames {
        let mut shown = ShownNames::default();
        for name in names {
            shown.width = shown.width.max(name.chars().count());
            shown.roles.insert(role(name).into_owned());
        }
        shown
    }

    /// What the log shows of a name. One of which it has nothing stays as it is.
    pub fn of_name<'n>(&self, name: &'n str) -> &'n str {
        let more = name.chars().count().saturating_sub(self.width);
        if more == 0 || self.width < WIDTH_MIN || self.roles.contains(&*role(name)) {
            return name;
        }
        let place = |character: usize| name.char_indices().nth(character).map_or(name.len(), |it| it.0);
        let cut = [&name[place(more)..], &name[..place(self.width)]].map(str::trim);
        let is_shown = |it: &&str| !it.is_empty() && self.roles.contains(&*role(it));
        cut.into_iter().find(is_shown).unwrap_or(name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(shown: &[&str], cases: &[(&str, &str)]) {
        let shown = ShownNames::of(shown.iter().copied());
        for (name, expected) in cases {
            assert_eq!(shown.of_name(name), *expected, "{name}");
        }
    }

    #[test]
    fn a_name_is_known_by_its_end_or_its_beginning() {
        let cases = [
            ("main", "main"),
            ("totals-checkpointer", "ls-checkpointer"),
            // Another number is another thread of the same kind.
            ("reactor-http-nio-14", "tor-http-nio-14"),
            ("überlanger-checkpointer", "überlanger-checkpointer"),
            ("a-thread-of-which-nothing-is-shown", "a-thread-of-which-nothing-is-shown"),
        ];
        check(&["main", "ls-checkpointer", "tor-http-nio-12"], &cases);
        check(&["main", "totals-checkpoi"], &[("totals-checkpointer", "totals-checkpoi")]);
        // What is left may begin with what stands between two words.
        check(&["request handler", "name of a pool"], &[("this is the name of a pool", "name of a pool")]);
    }

    #[test]
    fn a_log_that_shows_longer_names_or_very_short_ones_cuts_none() {
        check(&["checkpointer", "a-much-longer-thread"], &[("totals-checkpointer", "totals-checkpointer")]);
        check(&["main"], &[("not-main", "not-main")]);
        // A number more is no cut.
        check(&["pool-1-thread-1"], &[("pool-1-thread-12", "pool-1-thread-12")]);
    }
}
