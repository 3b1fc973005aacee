//! What a value must be for a branch to go one way.

use hypocenter_classfile::op;

use crate::facts::Given;
use crate::loading::world::{FieldId, access};
use crate::methods::switch::{keys, other_keys};
use crate::methods::values::{Const, Value, ValueId};
use crate::methods::view::MethodView;

/// What a value must be.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Need {
    /// It only matters.
    Any,
    /// A number from the first to the second.
    Within(i32, i32),
    /// A number outside of these bounds.
    Outside(i32, i32),
    /// No object.
    Null,
    /// Some object.
    Object,
    /// The object that this static field holds, such as a constant of an enumeration.
    Is(FieldId),
    /// Another object than that.
    IsNot(FieldId),
}

impl Need {
    /// Whether a value that is written or returned may be what is needed.
    pub fn allows(self, given: Given) -> bool {
        match (self, given) {
            (Need::Within(low, high), Given::Number(it)) => (low..=high).contains(&it),
            (Need::Outside(low, high), Given::Number(it)) => !(low..=high).contains(&it),
            (Need::Null, Given::Object | Given::Static(_)) => false,
            (Need::Object | Need::Is(_), Given::Null) => false,
            (Need::Is(wanted), Given::Static(it)) => it == wanted,
            (Need::IsNot(unwanted), Given::Static(it)) => it != unwanted,
            _ => true,
        }
    }
}

/// A comparison: how the first relates to the second.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Relation {
    Equal,
    Different,
    Less,
    LessOrEqual,
    Greater,
    GreaterOrEqual,
}

impl Relation {
    fn negated(self) -> Relation {
        match self {
            Relation::Equal => Relation::Different,
            Relation::Different => Relation::Equal,
            Relation::Less => Relation::GreaterOrEqual,
            Relation::LessOrEqual => Relation::Greater,
            Relation::Greater => Relation::LessOrEqual,
            Relation::GreaterOrEqual => Relation::Less,
        }
    }

    fn mirrored(self) -> Relation {
        match self {
            Relation::Less => Relation::Greater,
            Relation::LessOrEqual => Relation::GreaterOrEqual,
            Relation::Greater => Relation::Less,
            Relation::GreaterOrEqual => Relation::LessOrEqual,
            same => same,
        }
    }

    /// What the first must be, if the second is this number.
    fn to(self, number: i32) -> Need {
        match self {
            Relation::Equal => Need::Within(number, number),
            Relation::Different => Need::Outside(number, number),
            Relation::Less => number.checked_sub(1).map_or(Need::Any, |it| Need::Within(i32::MIN, it)),
            Relation::LessOrEqual => Need::Within(i32::MIN, number),
            Relation::Greater => number.checked_add(1).map_or(Need::Any, |it| Need::Within(it, i32::MAX)),
            Relation::GreaterOrEqual => Need::Within(number, i32::MAX),
        }
    }
}

/// What the operands of a branch must be for it to be taken or not: pairs of a value and its need. Of a switch, what
/// the key must be to get to the instruction at address `target`.
pub(crate) fn needs(view: &MethodView<'_>, branch: u32, is_taken: bool, target: u32) -> Vec<(ValueId, Need)> {
    let operands = view.body.operands(branch);
    let instruction = view.instruction(branch);
    if matches!(instruction.opcode, op::TABLESWITCH | op::LOOKUPSWITCH) {
        return operands.first().map(|&key| of_switch(view, branch, key, target)).into_iter().collect();
    }
    let Some(relation) = relation(instruction.opcode) else { return Vec::new() };
    let relation = if is_taken { relation } else { relation.negated() };
    match (instruction.opcode, operands) {
        (op::IFNULL | op::IFNONNULL, &[value]) => vec![(value, object(relation))],
        (op::IF_ACMPEQ | op::IF_ACMPNE, &[a, b]) => of_objects(view, relation, a, b),
        (op::IFEQ..=op::IFLE, &[value]) => match compared(view, value) {
            Some((a, b)) => of_numbers(view, relation, a, b),
            None => vec![(value, relation.to(0))],
        },
        (_, &[a, b]) => of_numbers(view, relation, a, b),
        _ => Vec::new(),
    }
}

fn of_switch(view: &MethodView<'_>, branch: u32, key: ValueId, target: u32) -> (ValueId, Need) {
    let (keys, is_default) = keys(view, branch, target);
    if let Some((object, constants)) = view.chosen_by(key) {
        // A switch over an enumeration: the object is what is needed, not the number that a table has for it.
        let mut fitting = constants.iter().filter(|it| keys.contains(&it.0)).map(|it| it.1);
        return match (fitting.next(), fitting.next()) {
            (Some(constant), None) if !is_default => (object, Need::Is(constant)),
            _ => (object, Need::Any),
        };
    }
    let bounds = |keys: &[i32]| Some((*keys.iter().min()?, *keys.iter().max()?));
    if !is_default {
        return (key, bounds(&keys).map_or(Need::Any, |(low, high)| Need::Within(low, high)));
    }
    let others = other_keys(view, branch, target);
    let is_dense = |low: i32, high: i32| i64::from(high) - i64::from(low) == others.len() as i64 - 1;
    let need = bounds(&others).filter(|&(low, high)| keys.is_empty() && is_dense(low, high));
    (key, need.map_or(Need::Any, |(low, high)| Need::Outside(low, high)))
}

fn object(relation: Relation) -> Need {
    if relation == Relation::Equal { Need::Null } else { Need::Object }
}

fn relation(opcode: u8) -> Option<Relation> {
    Some(match opcode {
        op::IFEQ | op::IF_ICMPEQ | op::IF_ACMPEQ | op::IFNULL => Relation::Equal,
        op::IFNE | op::IF_ICMPNE | op::IF_ACMPNE | op::IFNONNULL => Relation::Different,
        op::IFLT | op::IF_ICMPLT => Relation::Less,
        op::IFGE | op::IF_ICMPGE => Relation::GreaterOrEqual,
        op::IFGT | op::IF_ICMPGT => Relation::Greater,
        op::IFLE | op::IF_ICMPLE => Relation::LessOrEqual,
        _ => return None,
    })
}

/// The two values whose comparison (`lcmp` and its kin) a value is.
fn compared(view: &MethodView<'_>, value: ValueId) -> Option<(ValueId, ValueId)> {
    let Value::Result(number) = view.body.value(value) else { return None };
    let operands = view.body.operands(number);
    match (view.instruction(number).opcode, operands) {
        (op::LCMP..=op::DCMPG, &[a, b]) => Some((a, b)),
        _ => None,
    }
}

fn number(view: &MethodView<'_>, value: ValueId) -> Option<i32> {
    match view.body.constant(value)? {
        Const::Int(it) | Const::Long(it) => i32::try_from(it).ok(),
        _ => None,
    }
}

fn of_numbers(view: &MethodView<'_>, relation: Relation, a: ValueId, b: ValueId) -> Vec<(ValueId, Need)> {
    match (number(view, a), number(view, b)) {
        (_, Some(b)) => vec![(a, relation.to(b))],
        (Some(a), None) => vec![(b, relation.mirrored().to(a))],
        (None, None) => vec![(a, Need::Any), (b, Need::Any)],
    }
}

fn of_objects(view: &MethodView<'_>, relation: Relation, a: ValueId, b: ValueId) -> Vec<(ValueId, Need)> {
    let is_null = |it: ValueId| view.body.constant(it) == Some(Const::Null);
    let is_equal = relation == Relation::Equal;
    let named = |field: FieldId| if is_equal { Need::Is(field) } else { Need::IsNot(field) };
    if is_null(b) {
        vec![(a, object(relation))]
    } else if is_null(a) {
        vec![(b, object(relation))]
    } else if let Some(field) = constant_field(view, b) {
        vec![(a, named(field))]
    } else if let Some(field) = constant_field(view, a) {
        vec![(b, named(field))]
    } else {
        vec![(a, Need::Any), (b, Need::Any)]
    }
}

/// The static final field that a value was read from.
pub(crate) fn constant_field(view: &MethodView<'_>, value: ValueId) -> Option<FieldId> {
    let field = view.field_of(value)?;
    let both = access::STATIC | access::FINAL;
    (view.world.field(field).access & both == both).then_some(field)
}
