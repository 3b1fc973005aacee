//! An answer as data for people: instructions with their lines, both runs side by side.

use hypocenter_program::Act;
use hypocenter_results::Rate;
use hypocenter_results::explained::{BesideRow, Inflection, InflectionKind, NearestRun, RunAct, RunPoint};

use crate::model::{CodePlace, SliceModel};
use crate::recorded_run::{Node, RecordedRun};
use crate::study::{Answer, Inquiry, ThreadFound};

/// Instructions that are shown before the inflection point, and maximum number of rows.
const BEFORE: usize = 8;
const ROWS_MAX: usize = 60;

/// An instruction of the model, as it is without a run.
pub(crate) fn place(model: &SliceModel, place: CodePlace) -> RunPoint {
    let outline = model.method(place.method);
    let step = &outline.steps[place.instruction as usize];
    let (act, subject) = match &step.act {
        Act::Reads(_, it) => (RunAct::Reads, it.clone()),
        Act::Writes(_, it) => (RunAct::Writes, it.clone()),
        Act::Calls(it) => (RunAct::Calls, it.shown.clone()),
        Act::Branches => (RunAct::Branches, String::new()),
        Act::Throws => (RunAct::Throws, String::new()),
        Act::Makes(it) => (RunAct::Makes, it.clone()),
        _ => (RunAct::Runs, String::new()),
    };
    RunPoint {
        method: format!("{}.{}", outline.name.class, outline.name.method),
        line: step.line,
        act,
        subject,
        ..RunPoint::default()
    }
}

/// An instruction of a run.
fn point(model: &SliceModel, run: &RecordedRun, node: Node) -> RunPoint {
    let outline = model.method(run.frame_of(node.run).method);
    let to = run.block(node.run).next.map(|it| outline.blocks[it as usize].0);
    let it = place(model, run.place(node));
    RunPoint {
        thread: run.threads[run.thread_of(node) as usize].clone(),
        to_line: to.filter(|_| it.act == RunAct::Branches).and_then(|it| outline.steps[it as usize].line),
        value: run.value(node).or_else(|| constant(model, run, node)),
        ..it
    }
}

/// The constant that a write writes.
fn constant(model: &SliceModel, run: &RecordedRun, node: Node) -> Option<String> {
    let outline = model.method(run.frame_of(node.run).method);
    let step = &outline.steps[node.instruction as usize];
    let Act::Writes(..) = &step.act else { return None };
    match outline.values[*step.operands.last()? as usize] {
        hypocenter_program::OutlineValue::Result(at) => match &outline.steps[at as usize].act {
            Act::Constant(it) => Some(it.clone()),
            _ => None,
        },
        _ => None,
    }
}

impl Inquiry<'_> {
    /// The inflection point of an answer; none if nothing differs. `names` are those of the neighbours.
    pub(crate) fn shown(&self, answer: &Answer, names: &dyn Fn(usize) -> String) -> Option<Inflection> {
        let run = &self.failing.run;
        let node = answer.point?;
        let of = |root: u32| answer.threads.iter().find(|it| it.root == root);
        let own = of(run.root_of(node))?;
        let symptoms = of(run.root_of(answer.symptom))?;
        let instead = self.instead(answer, own, node);
        let cause = answer.cause.map(|it| point(self.model, run, it));
        let mut at = point(self.model, run, node);
        if at.value.is_none() {
            at.value = cause.as_ref().and_then(|it| it.value.clone());
        }
        let kind = match (&cause, &at.act) {
            (Some(_), _) => InflectionKind::Order,
            (None, RunAct::Branches) if instead.is_some() => InflectionKind::Branch,
            _ => InflectionKind::Absent,
        };
        let consequence = symptoms.prefix.deviation.map(|it| it.0).filter(|&it| it != node);
        let nearest = |it: &ThreadFound| NearestRun {
            thread: run.threads[run.frames[it.root as usize].thread as usize].clone(),
            step: self.name(it.root),
            neighbour: names(it.neighbour),
            same: it.prefix.same.len() as u64,
            of: it.of as u64,
        };
        let before = |it: &&Node| (run.ticks(**it), run.order(**it)) < (run.ticks(node), run.order(node));
        Some(Inflection {
            kind,
            neighbour: names(own.neighbour),
            point: at,
            cause,
            instead,
            consequence: consequence.map(|it| point(self.model, run, it)),
            nearest: answer.threads.iter().map(nearest).collect(),
            slice: answer.slice.nodes().len() as u64,
            prefix: answer.slice.nodes().iter().filter(before).count() as u64,
            beside: self.beside(answer, node),
            others: answer.others.iter().map(|&it| point(self.model, run, it)).collect(),
            nearest_rate: Rate::default(),
        })
    }

    /// Name of the method of an outermost frame.
    fn name(&self, root: u32) -> String {
        let name = &self.model.method(self.failing.run.frames[root as usize].method).name;
        format!("{}.{}", name.class, name.method)
    }

    /// What the nearest run has in the place of the inflection point.
    fn instead(&self, answer: &Answer, own: &ThreadFound, node: Node) -> Option<RunPoint> {
        let other = &self.neighbours[own.neighbour];
        let there = match (answer.cause, own.prefix.deviation) {
            (Some(_), _) => {
                let read = own.prefix.partner(node)?;
                other.written.before(self.model, &other.run, read)?
            }
            (None, Some((_, there))) => there?,
            (None, None) => return None,
        };
        Some(point(self.model, &other.run, there))
    }

    /// Both runs side by side.
    fn beside(&self, answer: &Answer, inflection: Node) -> Vec<BesideRow> {
        let run = &self.failing.run;
        let mut nodes: Vec<Node> = answer.slice.nodes().iter().copied().collect();
        let is_shown = |it: &Node| {
            let is_of_thread = answer.threads.iter().any(|found| found.root == run.root_of(*it));
            let act = place(self.model, run.place(*it)).act;
            *it == inflection || is_of_thread && act != RunAct::Runs
        };
        nodes.retain(is_shown);
        nodes.sort_by_key(|&it| (run.ticks(it), run.thread_of(it), run.order(it)));
        let from = nodes.iter().position(|&it| it == inflection).unwrap_or(0).saturating_sub(BEFORE);
        let end = nodes.iter().position(|&it| it == answer.symptom).map_or(nodes.len(), |it| it + 1);
        let rows = nodes.get(from..end.max(from)).unwrap_or(&[]).iter().take(ROWS_MAX);
        rows.map(|&it| self.row(answer, it, inflection)).collect()
    }

    fn row(&self, answer: &Answer, node: Node, inflection: Node) -> BesideRow {
        let run = &self.failing.run;
        let found = answer.threads.iter().find(|it| it.root == run.root_of(node));
        let nearest = found.and_then(|it| {
            let differs = it.prefix.deviation.filter(|it| it.0 == node).and_then(|it| it.1);
            let there = it.prefix.partner(node).or(differs)?;
            Some(point(self.model, &self.neighbours[it.neighbour].run, there))
        });
        let is_inflection = node == inflection;
        // The value of the same instruction may be another.
        BesideRow { failing: point(self.model, run, node), nearest, is_inflection }
    }
}
