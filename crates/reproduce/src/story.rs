//! How a fault led to the failure: the causal path through the code, and both logs side by side.

use hypocenter_engine::{Evidence, JobId, Look};
use hypocenter_logs::role;
use hypocenter_plan::Fault;
use hypocenter_program::{PathStep, Words};
use hypocenter_results::Injected;
use hypocenter_results::reproduced::{Cause, Lead, LinePlace, NamedBy, Story, WAYS_SHOWN};

use crate::case::Case;
use crate::catalogue::NamedFrame;
use crate::causes::{Causes, Way};
use crate::engine::{Found, Verdict};
use crate::moment::{is_so_in, moment_of, sooner_of};
use crate::silence::Silent;

impl Case {
    /// The story of something that was found; `None` if the trial's evidence is gone. `symptom_is_logged` says that the oracle looks
    /// for a line of the log.
    pub(crate) fn story(
        &self,
        verdict: &Verdict,
        found: &Found,
        several_nodes: bool,
        symptom_is_logged: bool,
        look: &Look<'_>,
    ) -> Option<Story> {
        let trial = found.replayed.unwrap_or(found.trial);
        let normal = self.shown_by_normal(verdict);
        let (_, evidence) = look(JobId(trial))?;
        let beside = self.beside(&evidence, &normal);
        let shown = beside.as_ref().map_or(&[][..], |it| &it.matched);
        let cause = |it: &Injected| self.cause(it, shown, verdict, several_nodes);
        let causes: Vec<Cause> = found.faults.iter().map(cause).collect();
        let leads = || causes.iter().flat_map(|it| &it.leads_to);
        let lines: Vec<(&str, u32)> = leads().map(|it| (it.node.as_str(), it.line)).collect();
        // At length: the rows that are picked for a glance need not have the line that tells.
        let at_length = |it: &Evidence| self.beside_at_length(it, &normal);
        let mut moment = at_length(&evidence).and_then(|it| moment_of(&it.beside, &lines));
        if moment.is_some() && trial != found.trial {
            let first = look(JobId(found.trial)).as_ref().and_then(|it| at_length(&it.1));
            moment = moment.filter(|it| is_so_in(it, first.as_ref().map(|it| &it.beside)));
        }
        let before = beside.as_ref().and_then(|it| it.before.as_ref());
        let sooner = before.filter(|_| moment.is_none()).and_then(sooner_of);
        let has_paths = causes.last().is_some_and(|it| !it.has_no_path());
        let symptom_unexplained = symptom_is_logged && has_paths && !leads().any(|it| it.is_symptom);
        let zero_ms = beside.as_ref().map(|it| it.zero).unwrap_or_default();
        let beside = beside.map(|it| it.beside);
        Some(Story { trial, causes, beside, moment, sooner, zero_ms, symptom_unexplained })
    }

    /// The keys of which normal runs do not show all entries, each with how many they show.
    pub(crate) fn shown_by_normal(&self, verdict: &Verdict) -> Vec<(u32, u32)> {
        let matched = |key: u32, times: u32| self.keys()[key as usize].entries.len() as u32 - times;
        verdict.missing.iter().map(|it| (it.key, matched(it.key, it.times))).collect()
    }

    fn cause(&self, fault: &Injected, shown: &[u32], verdict: &Verdict, several_nodes: bool) -> Cause {
        let found = self.causes(&fault.site, &fault.fault, &fault.at.stack, shown);
        let (leads_to, named_by) = found.map_or_else(Default::default, |it| {
            let named = it.named.iter().map(|(key, frame)| self.named_by(*key, frame));
            (self.leads(&it), named.collect())
        });
        let is_silent = |it: &&Silent| it.node == fault.at.node && role(&it.thread) == role(&fault.at.thread);
        let silent = verdict.silent.iter().filter(|it| it.is_long()).find(is_silent);
        Cause {
            fault: fault.line(several_nodes),
            is_delay: matches!(fault.fault, Fault::Delay { .. }),
            leads_to,
            named_by,
            silent: silent.map(|_| fault.at.thread.clone()),
        }
    }

    fn named_by(&self, key: u32, frame: &NamedFrame) -> NamedBy {
        let key = &self.keys()[key as usize];
        let line = frame.line.map_or_else(String::new, |it| format!(":{it}"));
        NamedBy {
            node: self.node(key.log).to_owned(),
            line: key.line,
            frame: format!("{}.{}{line}", frame.class, frame.method),
            exception: frame.exception.clone(),
        }
    }

    /// The lines that a fault leads to, the nearest first. The nearest of those that say that the failure happened is among the
    /// first, which are shown.
    fn leads(&self, causes: &Causes) -> Vec<Lead> {
        let is_symptom = |it: &Way| {
            let entries = &self.keys()[it.key as usize].entries;
            entries.iter().any(|it| self.symptoms().binary_search(it).is_ok())
        };
        let mut ways: Vec<&Way> = causes.ways.iter().collect();
        if let Some(at) = ways.iter().position(|it| is_symptom(it))
            && at >= WAYS_SHOWN
        {
            let symptom = ways.remove(at);
            ways.insert(WAYS_SHOWN - 1, symptom);
        }
        let lead = |it: &Way| {
            let key = &self.keys()[it.key as usize];
            let steps = Words(self.program()).onward(&it.path);
            let places = steps.iter().map(|it| self.place(it)).collect();
            Lead {
                node: self.node(key.log).to_owned(),
                line: key.line,
                message: key.message.clone(),
                is_symptom: is_symptom(it),
                distance: it.distance,
                steps: steps.into_iter().map(|it| it.text).collect(),
                places,
            }
        };
        ways.into_iter().map(lead).collect()
    }

    fn place(&self, step: &PathStep) -> Option<LinePlace> {
        let (method, line) = step.at?;
        let world = &self.program().world;
        Some(LinePlace {
            class: world.show_type(world.method(method).owner),
            method: String::from_utf8_lossy(world.method_name(method)).into_owned(),
            line: (line > 0).then_some(line.into()),
        })
    }
}
