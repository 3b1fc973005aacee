//! The labels of a switch as the source has them: numbers, constants of an enumeration, strings.
//!
//! A switch over an enumeration goes through a table of numbers in a class of its own, and a switch over strings through
//! a number that another switch and comparisons have chosen; both are undone here.

use hypocenter_classfile::{display_name, op};

use crate::loading::world::FieldId;
use crate::methods::dependence::ControlDependence;
use crate::methods::dominance::Edges;
use crate::methods::values::{Const, Value, ValueId};
use crate::methods::view::MethodView;

/// A label of a switch.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum Label {
    /// A number.
    Number(i32),
    /// A constant of an enumeration.
    Constant(FieldId),
    /// A string.
    Text(String),
    /// `default`.
    Default,
}

/// The keys with which a switch goes to an address, and whether it also does so with any other.
pub(crate) fn keys(view: &MethodView<'_>, branch: u32, target: u32) -> (Vec<i32>, bool) {
    let (default, cases) = cases(view, branch);
    (cases.iter().filter(|it| it.1 == target).map(|it| it.0).collect(), default == Some(target))
}

/// The keys with which a switch goes elsewhere.
pub(crate) fn other_keys(view: &MethodView<'_>, branch: u32, target: u32) -> Vec<i32> {
    cases(view, branch).1.iter().filter(|it| it.1 != target).map(|it| it.0).collect()
}

/// Targets of a switch, by default and for each key.
fn cases(view: &MethodView<'_>, branch: u32) -> (Option<u32>, Vec<(i32, u32)>) {
    let instruction = view.instruction(branch);
    let word = |at: usize| -> Option<i32> {
        let bytes = instruction.bytes.get(at..at + 4)?;
        Some(i32::from_be_bytes(bytes.try_into().ok()?))
    };
    // Operands begin at the next multiple of four behind the opcode.
    let operands = 4 - (instruction.pc as usize & 3);
    let key = |at: usize| match instruction.opcode {
        op::TABLESWITCH => word(operands + 4)?.checked_add(at as i32),
        _ => word(operands + 8 + at * 8),
    };
    // The default comes first and has no key.
    let mut targets = instruction.targets();
    let default = targets.next();
    (default, targets.enumerate().filter_map(|(at, it)| Some((key(at)?, it))).collect())
}

impl MethodView<'_> {
    /// The labels with which a switch goes to a block.
    pub fn labels(&self, branch: u32, block: u32) -> Vec<Label> {
        let (keys, is_default) = keys(self, branch, self.body.flow.first(block).pc);
        let Some(&key) = self.body.operands(branch).first() else { return Vec::new() };
        let names = self.names_of_keys(key);
        let label = |key: i32| {
            let named = names.iter().find(|it| it.0 == key);
            named.map_or(Label::Number(key), |it| it.1.clone())
        };
        let mut labels: Vec<Label> = keys.into_iter().map(label).collect();
        if is_default {
            labels.push(Label::Default);
        }
        labels
    }

    fn names_of_keys(&self, key: ValueId) -> Vec<(i32, Label)> {
        match self.chosen_by(key) {
            Some((_, constants)) => {
                constants.into_iter().map(|(key, it)| (key, Label::Constant(it))).collect()
            }
            None => self.texts(key),
        }
    }

    /// The object of an enumeration for which a table has the number that a switch is over, with the whole table.
    pub(crate) fn chosen_by(&self, key: ValueId) -> Option<(ValueId, Vec<(i32, FieldId)>)> {
        let Value::Result(number) = self.body.value(key) else { return None };
        let &[array, index] = self.body.operands(number) else { return None };
        let table = self.field_of(array).filter(|_| self.instruction(number).opcode == op::IALOAD)?;
        let Value::Result(ordinal) = self.body.value(index) else { return None };
        let &object = self.body.operands(ordinal).first()?;
        Some((object, self.constants(table)))
    }

    /// Values that the class with the number table of an enumeration puts into it.
    fn constants(&self, table: FieldId) -> Vec<(i32, FieldId)> {
        let owner = self.world.field(table).owner;
        let Some(clinit) = self.world.methods_of(owner).find(|&it| self.world.method_name(it) == b"<clinit>")
        else {
            return Vec::new();
        };
        let found = self.world.look(clinit, |view| {
            let stores =
                view.body.flow.instructions.iter().enumerate().filter(|it| it.1.opcode == op::IASTORE);
            let entry = |number: u32| {
                let &[array, index, value] = view.body.operands(number) else { return None };
                let Some(Const::Int(value)) = view.body.constant(value) else { return None };
                let Value::Result(ordinal) = view.body.value(index) else { return None };
                let constant = view.field_of(*view.body.operands(ordinal).first()?)?;
                let is_table = view.field_of(array) == Some(table);
                is_table.then_some((i32::try_from(value).ok()?, constant))
            };
            stores.filter_map(|(number, _)| entry(number as u32)).collect()
        });
        found.unwrap_or_default()
    }

    /// The strings for which a number was chosen by comparing.
    fn texts(&self, key: ValueId) -> Vec<(i32, Label)> {
        let Ok(dependence) = ControlDependence::of(&self.body.flow, Edges::Normal) else { return Vec::new() };
        let text = |origin: ValueId| {
            let Value::Result(number) = self.body.value(origin) else { return None };
            let Some(Const::Int(value)) = self.body.constant(origin) else { return None };
            let decided = dependence.of_block(self.body.block_of(number));
            let compared = decided.iter().find_map(|it| {
                let branch = self.body.flow.blocks[it.branch as usize].end - 1;
                let Value::Result(call) = self.body.value(*self.body.operands(branch).first()?) else {
                    return None;
                };
                let &[_, other] = self.body.operands(call) else { return None };
                match self.body.constant(other) {
                    Some(Const::String(text)) => Some(text),
                    _ => None,
                }
            })?;
            // Only names have slashes turned into dots, and a label may have some.
            let text = String::from_utf8(compared.to_vec()).unwrap_or_else(|_| display_name(compared));
            Some((i32::try_from(value).ok()?, Label::Text(text)))
        };
        self.body.origins(key).into_iter().filter_map(text).collect()
    }
}
