//! Fatal errors of an analysis. Others are a `Problem` in its result.

use crate::sites::nearest::Suggestions;

/// Why a question about the target has no answer.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Error {
    /// Candidates of a plan name sites that the target does not have.
    #[error(
        "the plan does not fit the class path: {}; scan the target again and take the sites from there",
        .missing.iter().map(|it| format!("candidate {}, {}: {}", it.candidate, it.site, it.why)).collect::<Vec<_>>().join("; ")
    )]
    MissingCandidates {
        /// Which.
        missing: Vec<MissingCandidate>,
    },
    /// A class is not on the class path.
    #[error("{0}")]
    UnknownClass(Suggestions),
    /// A class is not an exception.
    #[error("`{class}` cannot be thrown: it extends {ancestors}, not java.lang.Throwable")]
    NotThrowable {
        /// Which.
        class: String,
        /// Its supertypes, nearest first.
        ancestors: String,
    },
    /// The superclass of a class is not on the class path.
    #[error("`{class}` extends `{parent}`, which is not on the class path; add its jar, or the JDK")]
    MissingParent {
        /// Which.
        class: String,
        /// Its superclass.
        parent: String,
    },
    /// An abstract exception has no concrete subclass.
    #[error("`{class}` is abstract and no class on the class path extends it; name a concrete exception")]
    NoConcreteSubtype {
        /// Which.
        class: String,
    },
    /// A class cannot be read.
    #[error("{place}: {what}")]
    Unreadable {
        /// Which.
        place: String,
        /// Why.
        what: String,
    },
}

/// A candidate of a plan whose site does not exist.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MissingCandidate {
    /// Its number in the plan, from 0.
    pub candidate: usize,
    /// Its site.
    pub site: String,
    /// Item that does not exist.
    pub why: String,
}
