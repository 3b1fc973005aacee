//! Where threads change their abstract state, as the agent reads it.

use hypocenter_plan::StateId;
use zerocopy::{FromBytes, Immutable, IntoBytes, KnownLayout};

use crate::{SiteId, TraceError};

/// What a hit of a site means for the task that its thread works on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Step {
    /// A task method begins: its task is nested in what the thread does already.
    Enter {
        /// The method, by its number in the plan.
        task: u32,
        /// The state that it begins in; that of its caller if absent.
        state: Option<StateId>,
    },
    /// The task comes into another state.
    Reach {
        /// The method.
        task: u32,
        /// The state.
        state: StateId,
    },
    /// The task method ends, normally or by an exception.
    Leave {
        /// The method.
        task: u32,
    },
}

/// A step and its site.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ArmedStep {
    /// Where.
    pub site: SiteId,
    /// What.
    pub step: Step,
}

#[derive(Debug, Clone, Copy, FromBytes, IntoBytes, KnownLayout, Immutable)]
#[repr(C)]
pub(crate) struct StepEntry {
    site: u32,
    kind: u32,
    task: u32,
    state: u32,
}

const ENTER: u32 = 1;
const ENTER_AS_CALLER: u32 = 2;
const REACH: u32 = 3;
const LEAVE: u32 = 4;

pub(crate) fn encode(steps: &[ArmedStep]) -> Vec<u8> {
    let entry = |it: &ArmedStep| {
        let (kind, task, state) = match it.step {
            Step::Enter { task, state: Some(state) } => (ENTER, task, state.0),
            Step::Enter { task, state: None } => (ENTER_AS_CALLER, task, 0),
            Step::Reach { task, state } => (REACH, task, state.0),
            Step::Leave { task } => (LEAVE, task, 0),
        };
        StepEntry { site: it.site.0, kind, task, state }
    };
    let entries: Vec<StepEntry> = steps.iter().map(entry).collect();
    entries.as_bytes().to_vec()
}

pub(crate) fn decode(bytes: &[u8]) -> Result<Vec<ArmedStep>, TraceError> {
    let entries =
        bytes.chunks_exact(size_of::<StepEntry>()).filter_map(|it| StepEntry::read_from_bytes(it).ok());
    entries
        .map(|StepEntry { site, kind, task, state }| {
            let state = StateId(state);
            let step = match kind {
                ENTER => Step::Enter { task, state: Some(state) },
                ENTER_AS_CALLER => Step::Enter { task, state: None },
                REACH => Step::Reach { task, state },
                LEAVE => Step::Leave { task },
                _ => return Err(TraceError::Malformed("a task does something unknown")),
            };
            Ok(ArmedStep { site: SiteId(site), step })
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn steps_come_back_as_they_went_in() {
        let step = |site, step| ArmedStep { site: SiteId(site), step };
        let steps = vec![
            step(3, Step::Enter { task: 1, state: Some(StateId(4)) }),
            step(5, Step::Enter { task: 2, state: None }),
            step(6, Step::Reach { task: 1, state: StateId(5) }),
            step(9, Step::Leave { task: 1 }),
        ];
        assert_eq!(decode(&encode(&steps)).unwrap(), steps);
        let mut broken = encode(&steps);
        broken[4] = 9;
        assert!(decode(&broken).is_err());
    }
}
