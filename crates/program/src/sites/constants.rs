//! Sites at which a constant has been loaded: a number or a string.

use std::sync::Arc;

use hypocenter_classfile::{ClassFile, Code, constant_text};
use hypocenter_plan::SiteKind;
use hypocenter_trace::Placement;
use rustc_hash::FxHashMap;

use crate::methods::flow::FlowError;
use crate::sites::{Hook, Listing, hook};

impl Listing {
    /// Lists them in the order of the code, those of one value numbered together.
    pub(super) fn of_constants(&mut self, class: &ClassFile<'_>, code: &Code<'_>) -> Result<(), FlowError> {
        let mut found: Vec<(Arc<str>, usize, Hook)> = Vec::new();
        let mut totals: FxHashMap<Arc<str>, usize> = FxHashMap::default();
        for (number, instruction) in code.instructions().enumerate() {
            let instruction = instruction?;
            let Some(text) = constant_text(&class.pool, &instruction) else { continue };
            let text: Arc<str> = text.into();
            let total = totals.entry(text.clone()).or_default();
            found.push((text, *total, hook(Placement::After, &instruction, number)));
            *total += 1;
        }
        for (text, ordinal, hook) in found {
            let total = totals.get(&text).copied().unwrap_or(0);
            self.add(SiteKind::Constant, Some(text), (ordinal, total), hook.pc.into(), vec![hook]);
        }
        Ok(())
    }
}
