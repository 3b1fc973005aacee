//! What the failure log has beyond normal runs: how much each line of it counts, and what is taken for noise.

use hypocenter_results::reproduced::{Missing, NOISE_MAX, Noise, WEIGHT_MAX};

use super::{Level, Reproduce};
use crate::policy;
use crate::space::Choice;

impl Reproduce {
    /// What is missing at the start.
    pub(super) fn missing(&self) -> Vec<Missing> {
        let Some(level) = self.levels.first() else { return Vec::new() };
        (0..).zip(&level.observables).map(|(number, &key)| self.missing_of(level, number, key)).collect()
    }

    fn missing_of(&self, level: &Level, number: u32, key: u32) -> Missing {
        let it = &self.case.keys()[key as usize];
        let (normal, spread) = (level.matched[key as usize], level.spread[key as usize]);
        // What may lead anywhere says nothing where exceptions are tried.
        let leads = |(choice, known): &(&Choice, &bool)| {
            let mut led_to = choice.distances.iter();
            (**known || !self.settings.kinds.exceptions)
                && led_to.any(|&(observable, _)| observable == number)
        };
        let choices = level.search.space().choices.iter().zip(&level.known);
        let sites = choices.filter(leads).count() as u64;
        let (weight, why) = self.weight(level, number, sites);
        Missing {
            key,
            node: self.case.node(it.log).to_owned(),
            entry: it.entries.first().copied().unwrap_or(0),
            line: it.line,
            message: it.message.clone(),
            times: it.entries.len() as u32 - normal,
            normal,
            normal_least: normal - spread.min(normal),
            weight,
            why,
            not_run: self.not_run(key, normal),
            sites,
            shown: self.rounds.iter().filter(|it| it.shown.contains(&key)).count() as u64,
        }
    }

    /// How much an observable counts, and why: what speaks against it is taken off.
    fn weight(&self, level: &Level, number: u32, sites: u64) -> (u32, String) {
        let mut less = level.less(&self.case, number);
        less.add(&policy::NO_LEAD, if sites == 0 { policy::NO_LEAD.weight } else { 0 });
        let has = |rule: &hypocenter_results::Rule| less.points.iter().any(|it| it.rule == rule.name);
        let key = level.observables[number as usize] as usize;
        let severity = match (has(&policy::MILD), has(&policy::WARNING)) {
            (true, _) => "no warning",
            (_, true) => "warning",
            _ => "error",
        };
        let (most, spread) = (level.matched[key], level.spread[key]);
        let normal = match (most, spread) {
            (0, _) => "in no normal run".to_owned(),
            (1, 0) => "once in normal runs".to_owned(),
            (most, 0) => format!("{most} times in normal runs"),
            (most, spread) => format!("{} to {most} times in normal runs", most - spread),
        };
        let near = match (has(&policy::REMOTE), self.case.symptoms().is_empty()) {
            (true, _) => ", far from the failure",
            (false, false) => ", near the failure",
            (false, true) => "",
        };
        let lead = if sites == 0 { ", no fault is known to lead to it" } else { "" };
        let weight = u64::from(WEIGHT_MAX).saturating_sub(less.total()).max(1);
        (weight as u32, format!("{severity}, {normal}{near}{lead}"))
    }

    /// What is taken for noise at the start.
    pub(super) fn noise(&self) -> Vec<Noise> {
        let Some(level) = self.levels.first() else { return Vec::new() };
        let of = |&key: &u32| {
            let it = &self.case.keys()[key as usize];
            let (most, spread) = (level.matched[key as usize], level.spread[key as usize]);
            Noise {
                node: self.case.node(it.log).to_owned(),
                line: it.line,
                message: it.message.clone(),
                times: it.entries.len() as u32,
                normal: (most - spread.min(most), most),
            }
        };
        level.noise.iter().take(NOISE_MAX).map(of).collect()
    }

    /// The method that writes something, if no normal run did anything in its class.
    fn not_run(&self, key: u32, matched: u32) -> Option<String> {
        let program = self.case.program();
        let statements = &self.case.keys()[key as usize].wanted.statements;
        let classes: Vec<String> = statements
            .iter()
            .map(|&it| {
                let method = program.statements.statements()[it as usize].method;
                program.world.show_type(program.world.method(method).owner)
            })
            .collect();
        let is_idle = matched == 0 && classes.iter().all(|it| self.idle.contains(it));
        let method = program.statements.statements()[*statements.first()? as usize].method;
        is_idle.then(|| program.world.show_method(method))
    }
}
