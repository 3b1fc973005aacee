//! Content of a `StringBuilder`: as javac concatenated before Java 9, and as people write it over several lines.

use hypocenter_classfile::{descriptor, op};

use crate::logging::message::{Message, concatenated};
use crate::logging::wording::Reader;
use crate::methods::values::{Value, ValueId};

/// The most calls on one builder that are looked at.
const CALLS_MAX: usize = 256;
/// The most blocks that are walked to see whether a call is repeated.
const BLOCKS_MAX: usize = 4096;

/// Effect of a call on a builder.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Act {
    /// It adds its first argument, by constructor or `append`.
    Add,
    /// It may add anything.
    Unknown,
}

impl Reader<'_, '_> {
    /// Tests whether a value is a builder made here.
    pub(crate) fn is_builder(&self, value: ValueId) -> bool {
        self.builder(value).is_some()
    }

    /// Content of a builder where an instruction takes it; none if it cannot be followed.
    pub(crate) fn built(&mut self, value: ValueId, at: u32) -> Option<Vec<Message>> {
        let builder = self.builder(value)?;
        let acts = self.acts(builder, at)?;
        self.spend(acts.len());
        let is_certain = self.certain(builder, &acts, at)?;
        let mut parts = Vec::new();
        for (&(number, act), is_certain) in acts.iter().zip(is_certain) {
            let Some(is_certain) = is_certain else { continue };
            if act == Act::Unknown || !is_certain {
                parts.push(vec![Message::hole()]);
                continue;
            }
            let descriptor = self.view.world.signature(self.signature(number)?).1;
            let mut parameters = descriptor::parameters(descriptor);
            let is_constructor = self.view.instruction(number).opcode == op::INVOKESPECIAL;
            match (parameters.next(), parameters.next()) {
                (None, _) => {}
                (Some(b"I"), None) if is_constructor => {}
                (Some(parameter), None) if !parameter.starts_with(b"[") => {
                    let operand = *self.view.body.operands(number).get(1)?;
                    parts.push(self.printed(operand, parameter, number));
                }
                _ => parts.push(vec![Message::hole()]),
            }
        }
        Some(concatenated(&parts))
    }

    /// The `new` that a value goes back to through calls of `append`.
    fn builder(&self, value: ValueId) -> Option<ValueId> {
        let mut value = value;
        for _ in 0..CALLS_MAX {
            let Value::Result(number) = self.view.body.value(value) else { return None };
            match self.view.instruction(number).opcode {
                op::NEW => {
                    let class = self.view.body.new_class(value)?;
                    return is_builder_class(class).then_some(value);
                }
                op::CHECKCAST => {}
                op::INVOKEVIRTUAL if self.name_on_builder(number) == Some(b"append") => {}
                _ => return None,
            }
            value = *self.view.body.operands(number).first()?;
        }
        None
    }

    fn signature(&self, number: u32) -> Option<crate::loading::world::SignatureId> {
        Some(self.view.world.method_ref(self.view.callee_at(number)?).signature)
    }

    /// The name of the method that is called, if the class is a builder.
    fn name_on_builder(&self, number: u32) -> Option<&[u8]> {
        let world = self.view.world;
        let reference = world.method_ref(self.view.callee_at(number)?);
        is_builder_class(world.type_name(reference.owner)).then(|| world.signature(reference.signature).0)
    }

    /// Calls on a builder before it is read, in the order of the code; and after them, if it may come
    /// before in a loop.
    fn acts(&self, builder: ValueId, at: u32) -> Option<Vec<(u32, Act)>> {
        let body = self.view.body;
        let mut aliases = vec![builder];
        let mut acts = Vec::new();
        let mut next = 0;
        while let Some(&alias) = aliases.get(next) {
            next += 1;
            // Where it becomes one of several builders, what is added is not seen from here.
            if !body.phi_uses(alias).is_empty() || aliases.len() > CALLS_MAX {
                return None;
            }
            for &number in body.uses(alias) {
                if number == at || !self.view.instruction(number).is_invoke() {
                    continue;
                }
                let is_receiver = body.operands(number).first() == Some(&alias)
                    && self.view.instruction(number).opcode != op::INVOKESTATIC
                    && self.view.instruction(number).opcode != op::INVOKEDYNAMIC;
                match self.name_on_builder(number).filter(|_| is_receiver) {
                    Some(b"append" | b"<init>") => {
                        acts.push((number, Act::Add));
                        aliases.extend(body.result(number));
                    }
                    Some(
                        b"insert" | b"delete" | b"deleteCharAt" | b"replace" | b"reverse" | b"setLength"
                        | b"setCharAt",
                    ) => return None,
                    _ if self.may_add(number) => acts.push((number, Act::Unknown)),
                    _ => {}
                }
            }
        }
        acts.sort_unstable_by_key(|it| it.0);
        acts.dedup_by_key(|it| it.0);
        Some(acts)
    }

    /// Tests whether a call that is given a builder may add to it. Of libraries only what takes a builder as such does.
    fn may_add(&self, number: u32) -> bool {
        let world = self.view.world;
        let Some(callee) = self.view.callee_at(number) else { return false };
        let reference = world.method_ref(callee);
        let is_system = reference.method.is_some_and(|it| world.is_system_method(it));
        let takes = |it: &[u8]| {
            matches!(
                it,
                b"Ljava/lang/StringBuilder;" | b"Ljava/lang/StringBuffer;" | b"Ljava/lang/Appendable;"
            )
        };
        let is_given = descriptor::parameters(world.signature(reference.signature).1).any(takes);
        (is_given || is_system) && self.name_on_builder(number).is_none()
    }

    /// For each act whether it happens exactly once before the builder is read; none if it never comes before that.
    /// No list at all if the order is not known.
    fn certain(&self, builder: ValueId, acts: &[(u32, Act)], at: u32) -> Option<Vec<Option<bool>>> {
        let body = self.view.body;
        let end = body.block_of(at);
        let Value::Result(made) = body.value(builder) else { return None };
        let start = body.block_of(made);
        if start == end && made < at && acts.iter().all(|it| (made..=at).contains(&it.0)) {
            return Some(vec![Some(true); acts.len()]);
        }
        let dominance = self.dominance()?;
        let certain = |&(number, _): &(u32, Act)| {
            let block = body.block_of(number);
            let comes_before = (block == end && number < at) || self.leads(block, end, start);
            let is_once = number < at && dominance.dominates(block, end) && !self.leads(block, block, start);
            comes_before.then_some(is_once)
        };
        Some(acts.iter().map(certain).collect())
    }

    /// Tests whether a way leads from the end of one block to the start of another without the builder being made anew.
    fn leads(&self, from: u32, to: u32, start: u32) -> bool {
        let flow = &self.view.body.flow;
        let mut seen = rustc_hash::FxHashSet::default();
        let mut pending = vec![from];
        while let Some(from) = pending.pop() {
            for edge in flow.out_of(from) {
                if edge.to == start {
                    continue;
                }
                if edge.to == to || seen.len() > BLOCKS_MAX {
                    return true;
                }
                if seen.insert(edge.to) {
                    pending.push(edge.to);
                }
            }
        }
        false
    }
}

fn is_builder_class(name: &[u8]) -> bool {
    matches!(
        name,
        b"java/lang/StringBuilder"
            | b"java/lang/StringBuffer"
            | b"java/lang/AbstractStringBuilder"
            | b"scala/collection/mutable/StringBuilder"
    )
}
