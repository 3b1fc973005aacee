//! Small programs and runs, written as text.

use hypocenter_plan::MethodName;
use hypocenter_program::{
    Act, Callee, FieldId, MethodId, Outline, OutlineLoop, OutlineStep, OutlineValue, Reports,
};
use hypocenter_trace::{ObjectId, SeenValue, ValueKind};
use rustc_hash::FxHashMap;

use crate::model::SliceModel;
use crate::recorded_run::{Note, RecordedRun, Seen};
use crate::study::{Answer, Inquiry, Parts, Subject};

/// Everything that can be left out.
pub(crate) const ALL: Parts =
    Parts { objects: true, map_loops: true, repair: true, work_list: true, merge: true };

/// An instruction: its operands are the numbers of the instructions that make them, its deciders those of branches.
pub(crate) fn step(act: Act, operands: &[u32], deciders: &[u32]) -> OutlineStep {
    OutlineStep { line: None, act, operands: operands.to_vec(), deciders: deciders.to_vec() }
}

/// A call of the method with this index.
pub(crate) fn calls(method: u32) -> Act {
    Act::Calls(Callee { shown: format!("m{method}"), targets: vec![MethodId(method)], ..Callee::default() })
}

pub(crate) fn reads(field: u32) -> Act {
    Act::Reads(FieldId(field), format!("f{field}"))
}

pub(crate) fn writes(field: u32) -> Act {
    Act::Writes(FieldId(field), format!("f{field}"))
}

/// A method: the blocks as numbers of their instructions, and values that are no result of an instruction behind those that are. Each instruction
/// has its number as its line.
pub(crate) fn method(
    name: &str,
    blocks: &[(u32, u32)],
    mut steps: Vec<OutlineStep>,
    more: &[OutlineValue],
    loops: &[OutlineLoop],
) -> Outline {
    (0..).zip(&mut steps).for_each(|(line, it)| it.line = Some(line));
    let results = (0..steps.len() as u32).map(OutlineValue::Result);
    Outline {
        name: MethodName { class: "T".to_owned(), method: name.to_owned(), descriptor: "()V".to_owned() },
        blocks: blocks.to_vec(),
        regions: vec![None; blocks.len()],
        values: results.chain(more.iter().cloned()).collect(),
        steps,
        loops: loops.to_vec(),
        sites: Vec::new(),
    }
}

/// A model of these methods with the symptom at an instruction of one of them.
pub(crate) fn model(methods: Vec<Outline>, symptom: (u32, u32)) -> SliceModel {
    let all = (0..).map(MethodId).zip(methods).collect();
    SliceModel::with(all, [(MethodId(symptom.0), symptom.1)].into_iter())
}

/// A run from pieces of threads in the order of time. `m(` enters a method, a number begins a block of it, `)` returns, `!` throws, and
/// `@I=O:V` says that instruction I saw the value V of object O.
pub(crate) fn run(model: &SliceModel, pieces: &[(&str, &str)]) -> RecordedRun {
    let mut names: Vec<String> = Vec::new();
    let mut stacks: FxHashMap<usize, Vec<u32>> = FxHashMap::default();
    let mut notes = Vec::new();
    for (thread, text) in pieces {
        let known = names.iter().position(|it| it == thread);
        let thread = known.unwrap_or_else(|| {
            names.push((*thread).to_owned());
            names.len() - 1
        });
        let stack = stacks.entry(thread).or_default();
        for word in text.split_whitespace() {
            let (reports, seen) = match word {
                ")" => (Reports::Exit, None),
                "!" => (Reports::Unwind, None),
                _ if word.ends_with('(') => {
                    let is_named = |it: &Outline| it.name.method == word.trim_end_matches('(');
                    stack.push(model.methods().iter().position(is_named).expect("a method") as u32);
                    (Reports::Entry, None)
                }
                _ => match word.strip_prefix('@') {
                    Some(seen) => accessed(seen),
                    None => (Reports::Block(word.parse().expect("a block")), None),
                },
            };
            let method = *stack.last().expect("a method is entered first");
            if matches!(reports, Reports::Exit | Reports::Unwind) {
                stack.pop();
            }
            notes.push(Note { thread: thread as u32, ticks: notes.len() as u64, method, reports, seen });
        }
    }
    notes.sort_by_key(|it| it.thread);
    RecordedRun::of(model, names, &notes, true)
}

fn accessed(text: &str) -> (Reports, Option<Seen>) {
    let (instruction, seen) = text.split_once('=').expect("I=O:V");
    let (object, value) = seen.split_once(':').expect("O:V");
    let value = SeenValue { kind: ValueKind::Int, bits: value.parse().expect("a value") };
    let object = ObjectId(object.parse().expect("an object"));
    let seen = Seen { part: 0, object, value, index: 0 };
    (Reports::Accessed(instruction.parse().expect("an instruction")), Some(seen))
}

/// The inflection point of a run beside others, in words.
pub(crate) fn inflection(
    model: &SliceModel,
    failing: &[(&str, &str)],
    others: &[&[(&str, &str)]],
    parts: Parts,
) -> String {
    let subject = |pieces: &[(&str, &str)]| Subject::of(model, run(model, pieces), parts);
    let failing = subject(failing);
    let neighbours: Vec<Subject> = others.iter().map(|it| subject(it)).collect();
    let inquiry = Inquiry { model, failing: &failing, neighbours: &neighbours, parts };
    let Some(answer) = inquiry.answer() else { return "no symptom".to_owned() };
    let Some(found) = inquiry.shown(&answer, &|it| it.to_string()) else { return "no deviation".to_owned() };
    let at = |it: &hypocenter_results::explained::RunPoint| {
        let line = it.line.expect("tests have lines");
        format!("{}:{line}", it.method.trim_start_matches("T."))
    };
    let cause = found.cause.as_ref().map_or_else(String::new, |it| format!(" after {}", at(it)));
    format!("{:?} {}{cause}", found.kind, at(&found.point)).to_lowercase() + &round(&failing, &answer)
}

/// The iteration that the inflection point is in.
fn round(failing: &Subject, answer: &Answer) -> String {
    use crate::recorded_run::Within;
    let Some(node) = answer.point else { return String::new() };
    let scope = failing.run.scopes[failing.run.block(node.run).scope as usize];
    match scope.within {
        Within::Round(_, round) => format!(" in round {round}"),
        _ => String::new(),
    }
}
