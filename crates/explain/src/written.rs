//! The writes of a run by what they write: a field or an element of one object, the content of an object of a library.

use hypocenter_program::{Act, FieldId};
use hypocenter_trace::ObjectId;
use rustc_hash::FxHashMap;

use crate::model::SliceModel;
use crate::recorded_run::{Node, RecordedRun};

/// Writes in the order of time.
type Writes = Vec<(u64, Node)>;

/// The writes of a run.
#[derive(Debug, Default)]
pub(crate) struct Written {
    /// Those of which the object is not known are under 0.
    fields: FxHashMap<(FieldId, ObjectId), Writes>,
    elements: FxHashMap<(ObjectId, i64), Writes>,
    /// Calls of libraries that may change the object that they are called on.
    told: FxHashMap<ObjectId, Writes>,
    /// The same by what is passed to them.
    passed: FxHashMap<ObjectId, Writes>,
}

impl Written {
    /// Collects the writes of a run.
    pub fn of(model: &SliceModel, run: &RecordedRun) -> Written {
        let mut written = Written::default();
        for (node, act) in run.acts(model) {
            written.note(run, node, act);
        }
        let Written { fields, elements, told, passed } = &mut written;
        let lists = fields.values_mut().chain(elements.values_mut());
        lists.chain(told.values_mut()).chain(passed.values_mut()).for_each(|it| it.sort_unstable());
        written
    }

    fn note(&mut self, run: &RecordedRun, node: Node, act: &Act) {
        let write = (run.ticks(node), node);
        let seen = run.seen(node);
        match act {
            Act::Writes(field, _) => {
                let object = seen.map_or_else(ObjectId::default, |it| it.at.object);
                self.fields.entry((*field, object)).or_default().push(write);
            }
            Act::WritesElement => {
                if let Some(seen) = seen {
                    self.elements.entry((seen.at.object, seen.at.index)).or_default().push(write);
                }
            }
            Act::Calls(callee) if callee.tells => {
                let passed = seen.map_or(&[][..], |it| &it.passed);
                // What is put somewhere may be taken out before the call is over.
                let write = (seen.and_then(|it| it.begun).unwrap_or(write.0), node);
                let mut objects = passed.iter().map(|it| it.object());
                if let Some(Some(receiver)) = objects.next() {
                    self.told.entry(receiver).or_default().push(write);
                    objects.flatten().for_each(|it| self.passed.entry(it).or_default().push(write));
                }
            }
            _ => {}
        }
    }

    /// The write that a read of a field or an element reads from.
    pub fn before(&self, model: &SliceModel, run: &RecordedRun, read: Node) -> Option<Node> {
        let seen = run.seen(read);
        match model.act(run.place(read)) {
            Act::Reads(field, _) => {
                let object = seen.map_or_else(ObjectId::default, |it| it.at.object);
                let own = self.fields.get(&(*field, object)).and_then(|it| last(run, it, read));
                if object == ObjectId::default() {
                    return own;
                }
                // A constructor writes before its object can be seen, and only its own thread can then read it.
                let unseen = self.fields.get(&(*field, ObjectId::default()));
                let unseen = unseen.and_then(|it| last(run, it, read));
                let unseen = unseen.filter(|&it| run.thread_of(it) == run.thread_of(read));
                own.or(unseen)
            }
            Act::ReadsElement => {
                let at = seen?.at;
                last(run, self.elements.get(&(at.object, at.index))?, read)
            }
            _ => None,
        }
    }

    /// The call of a library that put what another one gives where that found it, else the last that changed the same object.
    pub fn told(&self, run: &RecordedRun, asks: Node) -> Option<Node> {
        let seen = run.seen(asks)?;
        let given = seen.at.value.object();
        let put = given.and_then(|it| last(run, self.passed.get(&it)?, asks));
        let receiver = seen.passed.first().and_then(|it| it.object());
        put.or_else(|| last(run, self.told.get(&receiver?)?, asks))
    }
}

/// The last write before an instruction whose value it has: in the order of its own thread, and by time in others.
fn last(run: &RecordedRun, writes: &Writes, read: Node) -> Option<Node> {
    let (ticks, thread) = (run.ticks(read), run.thread_of(read));
    let is_before = |&&(at, write): &&(u64, Node)| match run.thread_of(write) == thread {
        true => run.order(write) < run.order(read),
        false => at <= ticks,
    };
    let before = || writes.iter().rev().filter(is_before).map(|it| it.1);
    // A write is recorded before it is made, so a read of another thread may still have come first.
    before().find(|&it| !run.is_other_value(it, read)).or_else(|| before().next())
}
