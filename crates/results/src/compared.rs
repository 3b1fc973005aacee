//! Result of a comparison of strategies: the rounds that each of them needs on the same trials.

use hypocenter_plan::ExitCode;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::reproduced::Standing;
use crate::{Detail, Finding};

/// Strategies that played on the same trials.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Compared {
    /// The most rounds of a game.
    pub rounds_max: u64,
    /// Kinds of faults in the games.
    pub faults: String,
    /// Games of each strategy.
    pub seeds: u64,
    /// Faults at instances that are recorded.
    pub recorded: u64,
    /// True if that is every fault at every instance of a normal run.
    pub every_instance: bool,
    /// The strategies.
    pub strategies: Vec<StrategyRow>,
    /// The games.
    pub games: Vec<Played>,
    /// Comparison of the paper that is missing here.
    pub left_out: String,
}

impl Detail for Compared {
    const VERSION: u32 = 1;
    type Finding = ();

    fn findings(&self) -> &[Finding<()>] {
        &[]
    }

    fn name_replays(&mut self, _: &dyn Fn(u64) -> String) {}

    fn exit_code(&self) -> ExitCode {
        ExitCode::Done
    }
}

/// Result of a game: one strategy with one seed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Played {
    /// The strategy.
    pub strategy: String,
    /// Its seed.
    pub seed: u64,
    /// The rounds that were played.
    pub rounds: u64,
    /// Its state; a game that continues waits for missing records.
    pub standing: Standing,
}

/// Result of a strategy.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct StrategyRow {
    /// Its name.
    pub strategy: String,
    /// Games in which the failure happened.
    pub reproduced: u64,
    /// Games that had tried everything.
    pub exhausted: u64,
    /// Rounds of the game in the middle.
    pub median: RoundCount,
    /// Rounds of the longest.
    pub worst: RoundCount,
}

/// Rounds, or more than so many.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct RoundCount {
    /// True if there may have been more.
    pub more_than: bool,
    /// Their number.
    pub rounds: u64,
}

impl StrategyRow {
    /// Results of the games of a strategy.
    pub fn of(strategy: &str, games: &[Played]) -> StrategyRow {
        let own: Vec<&Played> = games.iter().filter(|it| it.strategy == strategy).collect();
        let is = |it: &Played, standing: &Standing| it.standing == *standing;
        let mut counts: Vec<RoundCount> = own
            .iter()
            .map(|it| RoundCount { more_than: !is(it, &Standing::Reproduced), rounds: it.rounds })
            .collect();
        // A game that did not get there may have needed any number more: it is worse than all that did.
        counts.sort_by_key(|it| (it.more_than, it.rounds));
        let none = RoundCount { more_than: true, rounds: 0 };
        let at = |place: usize| counts.get(place).copied().unwrap_or(none);
        StrategyRow {
            strategy: strategy.to_owned(),
            reproduced: own.iter().filter(|it| is(it, &Standing::Reproduced)).count() as u64,
            exhausted: own.iter().filter(|it| is(it, &Standing::Exhausted)).count() as u64,
            median: at((counts.len() / 2).min(counts.len().saturating_sub(1))),
            worst: at(counts.len().saturating_sub(1)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_game_that_did_not_get_there_is_worse_than_all_that_did() {
        let game = |rounds, standing| Played { strategy: "full".to_owned(), seed: 0, rounds, standing };
        let games = [
            game(3, Standing::Going),
            game(9, Standing::Reproduced),
            game(20, Standing::Budget),
            game(2, Standing::Reproduced),
            game(4, Standing::Reproduced),
        ];
        let count = |more_than, rounds| RoundCount { more_than, rounds };
        let row = StrategyRow::of("full", &games);
        assert_eq!((row.median, row.worst), (count(false, 9), count(true, 20)));
        assert_eq!((row.reproduced, row.exhausted), (3, 0));
        let none = StrategyRow::of("fate", &games);
        assert_eq!((none.median, none.reproduced), (count(true, 0), 0));
    }
}
