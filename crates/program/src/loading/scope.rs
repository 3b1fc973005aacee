//! Classes of the system.

/// The packages that are the system under test; everything else is a library, of which that is known which the system names.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Scope {
    packages: Vec<String>,
    known: Vec<String>,
}

impl Scope {
    /// These packages and those below them. None at all means every class on the class path that is not the JDK's.
    pub fn of(packages: &[String]) -> Scope {
        let plain = |it: &String| it.trim_end_matches(['.', '*']).to_owned();
        Scope { packages: packages.iter().map(plain).collect(), known: Vec::new() }
    }

    /// The same, and these classes of libraries (with dots) must be known although nothing of the system names them: a log does.
    pub fn knowing(self, known: Vec<String>) -> Scope {
        Scope { known, ..self }
    }

    /// Classes that must be known although nothing of the system names them.
    pub(crate) fn known(&self) -> &[String] {
        &self.known
    }

    /// Tests whether a class (with dots) belongs to the system.
    pub fn takes(&self, name: &str, is_jdk: bool) -> bool {
        let fits = |package: &String| {
            name.strip_prefix(package.as_str())
                .is_some_and(|rest| package.is_empty() || rest.is_empty() || rest.starts_with(['.', '$']))
        };
        if self.packages.is_empty() { !is_jdk } else { self.packages.iter().any(fits) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_package_takes_what_is_below_it_and_nothing_beside_it() {
        let scope = Scope::of(&["a.b".into(), "c.*".into()]);
        for (name, expected) in [
            ("a.b.C", true),
            ("a.b.c.D", true),
            ("a.bc.D", false),
            ("a.b", true),
            ("a.b$1", true),
            ("c.D", true),
            ("d.E", false),
        ] {
            assert_eq!(scope.takes(name, false), expected, "{name}");
        }
        assert!(Scope::default().takes("x.Y", false));
        assert!(!Scope::default().takes("java.lang.String", true));
    }
}
