//! Event of an engine while a campaign runs. The console, `rounds.jsonl` and the progress bar are made from it.

use hypocenter_plan::{Fault, Site};

use crate::explored::Severity;
use crate::reproduced::{Again, Missing, Silent};
use crate::{Injected, Rate};

/// Something that an engine learnt.
#[derive(Debug, Clone, PartialEq)]
pub enum Event {
    /// A trial under an armed plan is over.
    Round(Box<RoundEnded>),
    /// A replay is over.
    Replayed {
        /// Its trial.
        trial: u64,
        /// The trial that it is a replay of.
        of: u64,
        /// True if its fault happened.
        is_injected: bool,
        /// True if it happened as it did in that trial.
        is_reached: bool,
        /// True if it showed the same.
        shows: bool,
        /// The replays so far that say something, and those of them that showed it.
        rate: Rate,
        /// Number of replays that are wanted, as far as known now.
        replays: u64,
        /// The nodes that ended, in words, and how.
        ends: Vec<String>,
    },
    /// A run is over with which something that holds is compared.
    Near {
        /// Its trial.
        trial: u64,
        /// The trial that it is near.
        of: u64,
        /// True if its fault happened.
        is_injected: bool,
        /// True if it showed the same.
        shows: bool,
        /// The nodes that ended, in words, and how.
        ends: Vec<String>,
    },
    /// Something worth a word.
    Learned(Learned),
}

/// A trial under an armed plan that is over.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct RoundEnded {
    /// Its number among the rounds, in the order of start.
    pub number: u64,
    /// Its number in the campaign.
    pub trial: u64,
    /// The faults that happened.
    pub faults: Vec<Injected>,
    /// Its purpose, if it is not a fault.
    pub meant: Option<String>,
    /// Candidates of a round without a fault, the likeliest first.
    pub given: Vec<(Fault, Site)>,
    /// Its result.
    pub effect: Effect,
    /// Why the round is not an ordinary one.
    pub again: Option<Again>,
    /// Its runs, if there were several, and those in which the failure happened.
    pub runs: Option<Rate>,
    /// States that no trial before it had come to.
    pub new_states: u64,
    /// At how many calls a fault has happened so far, and how many there are to try, where that is known.
    pub tried: Option<(u64, u64)>,
    /// The nodes that ended, in words, and how.
    pub ends: Vec<String>,
    /// The most rounds that may follow.
    pub left: u64,
    /// The line for `rounds.jsonl`: the engine's own record of the round.
    pub record: String,
}

/// Result of a round.
#[derive(Debug, Clone, Default, PartialEq)]
pub enum Effect {
    /// Subject of the search.
    Failure,
    /// Some of what was looked for.
    Shows {
        /// Number of items.
        shown: usize,
        /// Of how many.
        of: usize,
        /// Number of them that the kept fault does not show alone.
        beyond_first: Option<usize>,
        /// Those that no round before has shown: the node and the line of its log.
        new: Vec<(String, u32)>,
    },
    /// Other faults.
    Caused {
        /// Each, in words.
        what: Vec<String>,
    },
    /// Something that is wrong.
    Symptom {
        /// Its weight.
        severity: Severity,
        /// What, in words.
        why: String,
    },
    /// Nothing.
    #[default]
    Fine,
    /// No fault happened.
    NoFault {
        /// Why not, as far as is known.
        why: String,
        /// True if the workload failed all the same.
        is_bad: bool,
    },
}

/// Something worth a word.
#[derive(Debug, Clone, PartialEq)]
pub enum Learned {
    /// The runs without a fault are over, and the search can begin.
    Search(Box<Search>),
    /// It is known which test reaches which fault, and the experiments begin.
    Experiments {
        /// Number of faults that a test reaches.
        faults: u64,
        /// Number of tests.
        tests: u64,
        /// The most experiments.
        most: u64,
        /// Time that a run takes.
        each_ms: u64,
    },
    /// The failure happens now and then without a fault: so often.
    Flaky(Rate),
    /// Runs without a fault differ so much in their time that the machine must be busy.
    Busy {
        /// The shortest.
        least_ms: u64,
        /// The longest.
        most_ms: u64,
    },
    /// One call makes nearly all requests of a state, so others there are seldom drawn.
    Crowded {
        /// The node and the state.
        key: String,
        /// The call.
        site: Site,
        /// Number of its requests.
        made: u64,
        /// Of how many.
        requests: u64,
        /// Number of other calls that make the rest.
        others: u64,
    },
    /// The trials are over, and what they found is confirmed.
    Confirming {
        /// Number of findings.
        claims: u64,
        /// Number of replays of each.
        replays: u64,
        /// The most trials that each is compared with.
        near: u64,
    },
    /// The replays of a round did not confirm it.
    Chance {
        /// The round.
        round: u64,
        /// Number of those that showed it.
        rate: Rate,
        /// True if the search goes on.
        goes_on: bool,
    },
    /// The replays begin anew, with the moment counted over these threads.
    Pool(String),
    /// Finding leaves something unexplained, so the search continues.
    Doubt {
        /// For so many rounds at most.
        rounds: u64,
        /// Unexplained line: its node and its number in the log.
        lines: Vec<(String, u32)>,
    },
    /// The evidence of a trial could not be read.
    Unreadable {
        /// The trial.
        trial: u64,
        /// Why.
        why: String,
    },
}

/// Start of a search by a failure log.
#[derive(Debug, Clone, PartialEq)]
pub struct Search {
    /// Entries of the failure log that normal runs lack.
    pub missing: Vec<Missing>,
    /// The threads that say no more in the failure log where normal runs go on.
    pub silent: Vec<Silent>,
    /// Calls of the program.
    pub sites_total: u64,
    /// Calls that can lead to what is missing.
    pub sites_inferred: u64,
    /// Those of them that the workload makes.
    pub sites_reached: u64,
    /// Further calls that it makes, from which no way is known.
    pub sites_beyond: u64,
    /// The moments of both.
    pub instances: u64,
    /// True if delays are tried.
    pub has_delays: bool,
}
