//! The ways to choose what is tried next.

use std::fmt;
use std::str::FromStr;

/// How a search chooses. All but [`Strategy::Full`] are there to be compared with it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Strategy {
    /// The site by distance, feedback and how near it is executed, its instance by the distance in the log.
    Full,
    /// The site by distance and feedback alone, its instance by the distance in the log: the two levels of the paper.
    TwoLevel,
    /// Every instance of every fault that can lead to an observable, in the order of the run.
    Exhaustive,
    /// The site by distance, its instances in the order of the run.
    Distance,
    /// As `Distance`, of each site the first instances only.
    DistanceLimit,
    /// The site by distance and feedback, of each site the first instances only.
    SiteFeedback,
    /// The instance by the product of both distances.
    Multiply,
    /// What the failure log's own stack traces name: at the site of each innermost exception, reached by the callers that were
    /// logged, the first instance that was not tried. It looks at no observable.
    Stacktrace,
    /// Every call to a library with every exception that it declares, whether it can lead to an observable or not, once for each
    /// stack with which it is reached, in the order of the run.
    Fate,
    /// Any instance of any fault that can lead to an observable, by chance and one at a time.
    Random,
}

impl Strategy {
    /// Every strategy.
    pub const ALL: [Strategy; 10] = [
        Strategy::Full,
        Strategy::TwoLevel,
        Strategy::Exhaustive,
        Strategy::Distance,
        Strategy::DistanceLimit,
        Strategy::SiteFeedback,
        Strategy::Multiply,
        Strategy::Stacktrace,
        Strategy::Fate,
        Strategy::Random,
    ];

    /// The name used on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Strategy::Full => "full",
            Strategy::TwoLevel => "two-level",
            Strategy::Exhaustive => "exhaustive",
            Strategy::Distance => "distance",
            Strategy::DistanceLimit => "distance-limit",
            Strategy::SiteFeedback => "site-feedback",
            Strategy::Multiply => "multiply",
            Strategy::Stacktrace => "stacktrace",
            Strategy::Fate => "fate",
            Strategy::Random => "random",
        }
    }

    /// Whether it looks at the stacks with which sites are reached.
    pub fn needs_stacks(self) -> bool {
        matches!(self, Strategy::Fate | Strategy::Stacktrace)
    }
}

impl fmt::Display for Strategy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for Strategy {
    type Err = String;

    fn from_str(name: &str) -> Result<Strategy, String> {
        Strategy::ALL.into_iter().find(|it| it.name() == name).ok_or_else(|| {
            let known = Strategy::ALL.map(Strategy::name).join(", ");
            format!("there is no strategy `{name}`; there are {known}")
        })
    }
}
