//! Results of a campaign, for people and for other tools.
//!
//! A [`Summary`] is the document that a campaign of `reproduce` keeps and that `--json` prints; [`Runs`] has beside it what is to be
//! drawn: runs above one another, and two logs side by side. A [`Report`] is made of both, and is written as a page for people
//! ([`Report::page`]), as JUnit's XML and as SARIF. A campaign of `explore` keeps an [`Exploration`], of which an
//! [`ExploreReport`] makes the same. [`terminal`] has what is shown of a document at the end of a campaign.
//!
//! Whatever a log says is shown as text, cut where it is too long; controls are made visible. The page is one file that asks for
//! nothing else, and what is in it is bounded: it says what was left out.
//!
//! **Architecture Invariant:** this crate touches no file and no clock, and knows neither engines nor logs: all it sees are these
//! documents.

mod junit;
mod page;
mod plain;
mod sarif;
pub mod terminal;
mod text;
mod words;

pub use terminal::{Line, RoundLine, Style, Voice};
pub use text::{middle, shortened, span};
pub use words::Sentence;

use hypocenter_results::cascaded::Cascade;
use hypocenter_results::compared::Compared;
use hypocenter_results::explained::Explanation;
use hypocenter_results::explored::Exploration;
use hypocenter_results::predicted::Prediction;
use hypocenter_results::reproduced::Reproduction;
use hypocenter_results::runs::Runs;
use hypocenter_results::{Detail, Document};

/// Place of a source in the project, by its path in its package (`org/acme/Log.java`), if known.
pub type Sources<'s> = &'s dyn Fn(&str) -> Option<String>;

/// Duration of a trial in seconds, if known.
pub type Times<'t> = &'t dyn Fn(u64) -> Option<f64>;

/// A document of which a report can be made: what the terminal shows, a page for people, JUnit's XML and SARIF. What an engine does not
/// word for itself is made from its findings.
pub trait Reported: Detail {
    /// The verdict in one sentence.
    fn verdict(document: &Document<Self>) -> Sentence {
        plain::verdict(document)
    }

    /// The end of a campaign, on a screen of so many columns; `None` where there is no screen.
    fn lines(document: &Document<Self>, _columns: Option<usize>) -> Vec<Line> {
        plain::lines(document)
    }

    /// The page; with what is drawn, if it was kept.
    fn page(document: &Document<Self>, _runs: Option<&Runs>) -> String {
        page::plain(document)
    }

    /// The answer as Markdown for a ticket, of an engine that has one answer.
    fn ticket(_document: &Document<Self>) -> Option<String> {
        None
    }

    /// Report for readers of JUnit results: a test case for each finding.
    fn junit(document: &Document<Self>, times: Times<'_>) -> String {
        junit::plain(document, times)
    }

    /// SARIF 2.1.0: a result for each finding, with the way from the fault to what was seen.
    fn sarif(document: &Document<Self>, sources: Sources<'_>) -> String {
        sarif::plain(document, sources)
    }
}

impl Reported for Exploration {
    fn verdict(document: &Document<Exploration>) -> Sentence {
        words::explored(&document.detail)
    }

    fn lines(document: &Document<Exploration>, _columns: Option<usize>) -> Vec<Line> {
        terminal::explored(document)
    }

    fn page(document: &Document<Exploration>, _runs: Option<&Runs>) -> String {
        page::explored(document)
    }

    fn junit(document: &Document<Exploration>, times: Times<'_>) -> String {
        junit::explored(document, times)
    }

    fn sarif(document: &Document<Exploration>, sources: Sources<'_>) -> String {
        sarif::explored(document, sources)
    }
}

impl Reported for Cascade {
    fn verdict(document: &Document<Cascade>) -> Sentence {
        words::cascaded(&document.detail)
    }

    fn lines(document: &Document<Cascade>, _columns: Option<usize>) -> Vec<Line> {
        terminal::cascaded(document)
    }

    fn page(document: &Document<Cascade>, _runs: Option<&Runs>) -> String {
        page::cascaded(document)
    }

    fn junit(document: &Document<Cascade>, times: Times<'_>) -> String {
        junit::cascaded(document, times)
    }

    fn sarif(document: &Document<Cascade>, sources: Sources<'_>) -> String {
        sarif::cascaded(document, sources)
    }
}

impl Reported for Prediction {
    fn verdict(document: &Document<Prediction>) -> Sentence {
        words::predicted(&document.detail)
    }

    fn lines(document: &Document<Prediction>, _columns: Option<usize>) -> Vec<Line> {
        terminal::predicted(document)
    }

    fn page(document: &Document<Prediction>, _runs: Option<&Runs>) -> String {
        page::predicted(document)
    }

    fn junit(document: &Document<Prediction>, times: Times<'_>) -> String {
        junit::predicted(document, times)
    }

    fn sarif(document: &Document<Prediction>, sources: Sources<'_>) -> String {
        sarif::predicted(document, sources)
    }
}

impl Reported for Explanation {
    fn verdict(document: &Document<Explanation>) -> Sentence {
        words::explained(&document.detail)
    }

    fn lines(document: &Document<Explanation>, _columns: Option<usize>) -> Vec<Line> {
        terminal::explained(document)
    }

    fn ticket(document: &Document<Explanation>) -> Option<String> {
        Some(terminal::ticket(document))
    }

    fn page(document: &Document<Explanation>, _runs: Option<&Runs>) -> String {
        page::explained(document)
    }

    fn junit(document: &Document<Explanation>, times: Times<'_>) -> String {
        junit::explained(document, times)
    }

    fn sarif(document: &Document<Explanation>, sources: Sources<'_>) -> String {
        sarif::explained(document, sources)
    }
}

impl Reported for Compared {
    fn lines(document: &Document<Compared>, _columns: Option<usize>) -> Vec<Line> {
        terminal::compared(&document.detail)
    }
}

impl Reported for Reproduction {
    fn verdict(document: &Document<Reproduction>) -> Sentence {
        words::verdict(document)
    }

    fn lines(document: &Document<Reproduction>, columns: Option<usize>) -> Vec<Line> {
        terminal::reproduced(document, columns)
    }

    fn page(document: &Document<Reproduction>, runs: Option<&Runs>) -> String {
        page::reproduced(document, runs)
    }

    fn junit(document: &Document<Reproduction>, times: Times<'_>) -> String {
        junit::reproduced(document, times)
    }

    fn sarif(document: &Document<Reproduction>, sources: Sources<'_>) -> String {
        sarif::reproduced(document, sources)
    }
}
