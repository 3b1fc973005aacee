//! Results of a campaign, for people.

use std::collections::BTreeSet;

use hypocenter_engine::Look;
use hypocenter_plan::{CandidateResult, Fault, Outcome};
use hypocenter_results::cascaded::{
    Cascade as Results, CascadeKind, CascadeStep, Cycle, ExperimentCounts, FaultCluster, FaultCounts,
    LoopRate, Share, StepKind, TestRow,
};
use hypocenter_results::event::{Effect as EventEffect, RoundEnded};
use hypocenter_results::{Event, Finding, Proof, Rate};

use hypocenter_trace::SiteId;

use crate::engine::Cascade;
use crate::experiment::{Dose, Standing, Variant};
use crate::stitch::{self, Ring, Shown};

/// A run is shown in so many spans of time.
const SPANS: usize = 80;

impl Cascade {
    /// Says what came of an experiment that is over.
    pub(crate) fn told_of(&self, number: usize, outcome: &Outcome) -> Option<Event> {
        let experiment = &self.experiments[number];
        if experiment.standing == Standing::Open {
            return None;
        }
        let last = experiment.variants.iter().flat_map(Variant::told).map(|it| it.trial).max().unwrap_or(0);
        let faults = self.model.faults();
        let fault = &faults[experiment.fault as usize].shown;
        let test = &self.what.tests[experiment.test];
        let mut caused: Vec<String> = stitch::steps(&self.model, std::slice::from_ref(experiment))
            .iter()
            .map(|it| format!("{} {}", it.kind.name(), faults[it.effect as usize].shown))
            .collect();
        caused.sort();
        caused.dedup();
        let meant = Some(format!("{fault} in {}", short(test)));
        let effect = match experiment.standing {
            Standing::Void => {
                let why = outcome.candidates.iter().find_map(|it| match &it.result {
                    CandidateResult::NotReached { why } | CandidateResult::Refused { why } => {
                        Some(why.clone())
                    }
                    _ => None,
                });
                EventEffect::NoFault { why: why.unwrap_or_default(), is_bad: false }
            }
            Standing::Open | Standing::Over => EventEffect::Caused { what: caused },
        };
        let left = self.allocation.as_ref().map_or(0, |it| it.budget().total().saturating_sub(it.spent()));
        let ended = self.experiments.iter().filter(|it| it.standing != Standing::Open).count() as u64;
        let round = RoundEnded {
            number: ended,
            trial: last,
            meant,
            effect,
            left: left as u64,
            record: format!("{{\"experiment\":{ended},\"trial\":{last}}}"),
            ..RoundEnded::default()
        };
        Some(Event::Round(Box::new(round)))
    }

    pub(crate) fn document(&self, look: &Look<'_>) -> Results {
        let faults = self.model.faults();
        let count = |kind| faults.iter().filter(|it| it.shown.kind == kind).count() as u64;
        let (part, of) = self.false_growth();
        let clusters = self.allocation.as_ref().map(|it| it.clusters());
        let clusters = clusters.iter().flat_map(|it| it.list()).map(|it| FaultCluster {
            faults: it.faults.iter().map(|&it| faults[it as usize].shown.clone()).collect(),
            alike: it.score,
        });
        let all = self.rings.iter().map(|it| self.finding(it, look));
        let (cycles, unconfirmed) = all.partition(|it| it.proof == Proof::Confirmed);
        let void = self.experiments.iter().filter(|it| it.standing == Standing::Void).count() as u64;
        Results {
            faults: FaultCounts {
                delays: count(CascadeKind::Delay),
                exceptions: count(CascadeKind::Exception),
                negations: count(CascadeKind::Negation),
                unreached: self.allocation.as_ref().map_or(0, |it| it.unreached().len()) as u64,
            },
            tests: self.rows(),
            experiments: ExperimentCounts {
                budget: self.allocation.as_ref().map_or(0, |it| it.budget().total()) as u64,
                made: self.experiments.len() as u64 - void,
                void,
            },
            runs: self.asked,
            allocation: if self.what.is_random { "random" } else { "three_phase" }.to_owned(),
            false_growth: Share { part, of },
            steps: (0..self.shown.len()).map(|it| self.step(it)).collect(),
            clusters: clusters.collect(),
            cycles,
            unconfirmed,
            accepted: self
                .accepted
                .iter()
                .map(|(&known, &times)| (self.what.known[known].why.clone(), times))
                .collect(),
            is_going: !self.is_over(),
            problems: self.problems.iter().cloned().collect(),
        }
    }

    fn rows(&self) -> Vec<TestRow> {
        let row = |(name, it): (&String, &crate::engine::TestRuns)| {
            let runs = it.told();
            let seconds = runs.iter().map(|it| it.seconds).sum::<f64>() / runs.len().max(1) as f64;
            TestRow {
                name: name.clone(),
                seconds,
                reached: it.reached.len() as u64,
                left_out: it.left_out.clone(),
            }
        };
        self.what.tests.iter().zip(&self.tests).map(row).collect()
    }

    fn step(&self, number: usize) -> CascadeStep {
        let shown = &self.shown[number];
        let experiment = &self.experiments[shown.experiment];
        let variant = &experiment.variants[shown.variant];
        if matches!(shown.kind, StepKind::Outer | StepKind::Beside) {
            return self.static_step(shown);
        }
        let faults = self.model.faults();
        let injected =
            experiment.candidates(&self.lab(), shown.variant).0.into_iter().next().map(|it| it.fault);
        let again = self.again.get(&number);
        let mut notes = Vec::new();
        if let (Dose::Delay { ms }, Some(Fault::Delay { .. })) = (&variant.dose, &injected)
            && variant.told().any(|it| it.times * ms >= self.what.delay_total_ms)
        {
            notes.push(format!("the delays of a run came to their limit of {} ms", self.what.delay_total_ms));
        }
        if variant.told().any(|it| it.has_timed_out) {
            notes.push("a run was ended because its time was up; it counts up to there".to_owned());
        }
        if let Dose::Once { after: true } | Dose::Repeated { after: true, .. } = variant.dose {
            notes.push("thrown after the call had done its work".to_owned());
        }
        if let Dose::Repeated { .. } = variant.dose {
            notes.push(format!("at every hit for {} ms", self.what.for_ms));
        }
        CascadeStep {
            cause: faults[shown.cause as usize].shown.clone(),
            effect: faults[shown.effect as usize].shown.clone(),
            kind: shown.kind,
            test: Some(self.what.tests[experiment.test].clone()),
            injected,
            with: shown.strongest.with.clone(),
            without: shown.strongest.without.clone(),
            p: shown.strongest.p,
            phase: experiment.phase,
            trial: again.map_or_else(|| self.first_trial(number), |it| it.0.0),
            replay: String::new(),
            note: (!notes.is_empty()).then(|| notes.join("; ")),
            shown_again: again.and_then(|it| it.1),
            rate: None,
        }
    }

    /// A step that nobody injected: the code shows it.
    fn static_step(&self, shown: &Shown) -> CascadeStep {
        let faults = self.model.faults();
        let experiment = &self.experiments[shown.experiment];
        CascadeStep {
            cause: faults[shown.cause as usize].shown.clone(),
            effect: faults[shown.effect as usize].shown.clone(),
            kind: shown.kind,
            test: None,
            injected: None,
            with: Vec::new(),
            without: Vec::new(),
            p: None,
            phase: experiment.phase,
            trial: 0,
            replay: String::new(),
            note: Some(format!(
                "the loops were seen to run so in {}",
                short(&self.what.tests[experiment.test])
            )),
            shown_again: None,
            rate: None,
        }
    }

    fn finding(&self, ring: &Ring, look: &Look<'_>) -> Finding<Cycle> {
        let with_rate = |&it: &usize| CascadeStep { rate: self.rate(it, look), ..self.step(it) };
        let steps: Vec<CascadeStep> = ring.steps.iter().map(with_rate).collect();
        let injected = || steps.iter().filter(|it| it.test.is_some());
        let again = injected().map(|it| it.shown_again);
        let proof = match again.collect::<Option<Vec<bool>>>() {
            None => Proof::SeenOnce,
            Some(all) if all.iter().all(|&it| it) => Proof::Confirmed,
            Some(_) => Proof::Refuted,
        };
        let mut words: Vec<String> = steps.iter().map(|it| it.cause.to_string()).collect();
        words.extend(words.first().cloned());
        let pairs: BTreeSet<(u32, usize)> = ring
            .steps
            .iter()
            .map(|&it| {
                let it = &self.experiments[self.shown[it].experiment];
                (it.fault, it.test)
            })
            .collect();
        let tests: BTreeSet<&Option<String>> = injected().map(|it| &it.test).collect();
        let shown = steps.iter().filter(|it| it.shown_again == Some(true)).count() as u64;
        Finding {
            faults: Vec::new(),
            why: words.join(" → "),
            proof,
            rate: Rate { hits: shown, runs: injected().count() as u64 },
            trial: injected().next().map_or(0, |it| it.trial),
            replay: String::new(),
            missed: 0,
            story: None,
            detail: Cycle {
                score: ring.score,
                phase: steps.iter().map(|it| it.phase).max().unwrap_or(1),
                by_chance: self.by_chance(pairs.len()),
                in_one_test: tests.len() == 1,
                alike: ring.alike.iter().map(|it| it.iter().map(|&it| self.step(it)).collect()).collect(),
                alike_count: ring.alike_count,
                steps,
            },
        }
    }

    /// Iterations of the loop of a step over the time of its last run: the loop that grew, else the one that was delayed.
    fn rate(&self, number: usize, look: &Look<'_>) -> Option<LoopRate> {
        let (id, _) = self.again.get(&number)?;
        let shown = &self.shown[number];
        let faults = self.model.faults();
        let of = [shown.effect, shown.cause].map(|it| &faults[it as usize]);
        let of = of.into_iter().find(|it| it.shown.kind == CascadeKind::Delay)?;
        let (outcome, evidence) = look(*id)?;
        let (map, trace) = (evidence.map().ok()?, evidence.trace().ok()?);
        let bodies: BTreeSet<SiteId> = of.observe.iter().filter_map(|it| map.find(it)).collect();
        let span_ms = (outcome.wall_ms as f64 / SPANS as f64).max(1.0);
        let mut counts = vec![0; SPANS];
        for jvm in trace.jvms() {
            for event in trace.events(&jvm).filter(|it| bodies.contains(&it.site)) {
                let at = (trace.ms_since_start(event.ticks) / span_ms) as usize;
                counts[at.min(SPANS - 1)] += 1;
            }
        }
        let faults = outcome.candidates.iter().filter_map(|it| match &it.result {
            CandidateResult::Injected(it) => Some(it.at_ms),
            _ => None,
        });
        let fault_ms = faults.fold(f64::INFINITY, f64::min);
        fault_ms.is_finite().then(|| LoopRate { of: of.shown.clone(), span_ms, counts, fault_ms })
    }

    /// The probability that a random choice of as many experiments has certain ones among them.
    fn by_chance(&self, wanted: usize) -> f64 {
        let made = self.experiments.iter().filter(|it| it.standing == Standing::Over).count();
        let all: u64 = self.rows().iter().filter(|it| it.left_out.is_none()).map(|it| it.reached).sum();
        let factor = |it: usize| (made as f64 - it as f64).max(0.0) / (all as f64 - it as f64).max(1.0);
        (0..wanted).map(factor).product::<f64>().min(1.0)
    }
}

/// A test without its package.
fn short(test: &str) -> &str {
    let test = test.split_once('@').map_or(test, |it| it.1);
    let class = test.split('#').next().unwrap_or(test);
    test.get(class.rfind('.').map_or(0, |it| it + 1)..).unwrap_or(test)
}
