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
    /// Every instance of every site that can lead to an observable, in the order of the run.
    Exhaustive,
    /// The site by distance, its instances in the order of the run.
    Distance,
    /// As `Distance`, of each site the first instances only.
    DistanceLimit,
    /// The site by distance and feedback, of each site the first instances only.
    SiteFeedback,
    /// The instance by the product of both distances.
    Multiply,
    /// Every fault once for each way that leads to its site.
    Fate,
    /// By chance.
    Random,
}

impl Strategy {
    /// Every strategy.
    pub const ALL: [Strategy; 9] = [
        Strategy::Full,
        Strategy::TwoLevel,
        Strategy::Exhaustive,
        Strategy::Distance,
        Strategy::DistanceLimit,
        Strategy::SiteFeedback,
        Strategy::Multiply,
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
            Strategy::Fate => "fate",
            Strategy::Random => "random",
        }
    }

    /// Whether it looks at the stacks with which sites are reached.
    pub fn needs_stacks(self) -> bool {
        self == Strategy::Fate
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
