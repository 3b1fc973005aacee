//! What a campaign came to, for people and for other tools.
//!
//! A [`Summary`] is the document that a campaign of `reproduce` keeps and that `--json` prints; [`Runs`] has beside it what is to be
//! drawn: runs above one another, and two logs side by side. A [`Report`] is made of both, and is written as a page for people
//! ([`Report::page`]), as JUnit's XML and as SARIF. A campaign of `explore` keeps an [`Exploration`], of which an
//! [`ExploreReport`] makes the same.
//!
//! Whatever a log says is shown as text, cut where it is too long; controls are made visible. The page is one file that asks for
//! nothing else, and what is in it is bounded: it says what was left out.
//!
//! **Architecture Invariant:** this crate touches no file and no clock, and knows neither engines nor logs: all it sees are these
//! documents.

mod junit;
mod page;
mod sarif;
mod text;
mod words;

pub use text::without_numbers;
pub use words::{as_likely, compared, proven, replays};

use hypocenter_results::explored::Exploration;
use hypocenter_results::reproduced::Summary;
use hypocenter_results::runs::Runs;

/// Where a source is in the project, by its path in its package (`org/acme/Log.java`), if that is known.
pub type Sources<'s> = &'s dyn Fn(&str) -> Option<String>;

/// How many seconds a trial took, if that is known.
pub type Times<'t> = &'t dyn Fn(u64) -> Option<f64>;

/// What is reported.
#[derive(Debug, Clone, Copy)]
pub struct Report<'r> {
    /// What the campaign came to.
    pub summary: &'r Summary,
    /// What is drawn, if it was kept.
    pub runs: Option<&'r Runs>,
}

impl Report<'_> {
    /// The page.
    pub fn page(&self) -> String {
        page::reproduced(self)
    }

    /// What a reader of JUnit's results takes: a test case for each fault that brings the failure.
    pub fn junit(&self, times: Times<'_>) -> String {
        junit::reproduced(self.summary, times)
    }

    /// SARIF 2.1.0: a result for each fault that brings the failure, with the way from the fault to the log.
    pub fn sarif(&self, sources: Sources<'_>) -> String {
        sarif::reproduced(self.summary, sources)
    }
}

/// What is reported of a campaign of `explore`.
#[derive(Debug, Clone, Copy)]
pub struct ExploreReport<'r>(pub &'r Exploration);

impl ExploreReport<'_> {
    /// The page.
    pub fn page(&self) -> String {
        page::explored(self.0)
    }

    /// What a reader of JUnit's results takes: a test case for each suspicious finding.
    pub fn junit(&self, times: Times<'_>) -> String {
        junit::explored(self.0, times)
    }

    /// SARIF 2.1.0: a result for each suspicious finding, with the way to the call where the fault went in.
    pub fn sarif(&self, sources: Sources<'_>) -> String {
        sarif::explored(self.0, sources)
    }
}
