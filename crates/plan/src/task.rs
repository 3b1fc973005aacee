//! Tasks and their abstract states: the stages of service that a thread goes through (LEGOLAS 4.2).
//!
//! A plan lists the task methods whose states are followed. In a trial a state is a number: 0 for a thread that works
//! on no task, then the states of the first method of the list from 1, and so on.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A method that is a task, or a part of one, and the blocks of its code at which its states begin.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct TaskMethod {
    /// The class, with dots.
    pub class: String,
    /// The method.
    pub method: String,
    /// Its descriptor, as in the class file.
    pub descriptor: String,
    /// The basic blocks that begin a state, by their ordinals as sites of kind `block`, ascending. Block 0 stands for the
    /// entry of the method; without it, the method goes on in the state of its caller until it reaches another.
    pub states: Vec<u32>,
}

/// The number of a state in a trial: 0 for a thread that works on no task.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Serialize, Deserialize, JsonSchema,
)]
#[serde(transparent)]
pub struct StateId(pub u32);

impl StateId {
    /// A thread that works on no task.
    pub const NO_TASK: StateId = StateId(0);
}

/// The number of the first state of each method of a list, and behind them the first that nothing has.
pub fn first_states(tasks: &[TaskMethod]) -> Vec<u32> {
    let mut next: u32 = 1;
    let mut firsts = Vec::with_capacity(tasks.len() + 1);
    for task in tasks {
        firsts.push(next);
        next = next.saturating_add(task.states.len() as u32);
    }
    firsts.push(next);
    firsts
}

/// The names of the states of each method: `quorum.SyncThread.run#0` and so on. Methods of one name have their descriptors in them.
pub fn states_by_task(tasks: &[TaskMethod]) -> Vec<Vec<String>> {
    let mut times: BTreeMap<(&str, &str), u32> = BTreeMap::new();
    tasks.iter().for_each(|it| *times.entry((&it.class, &it.method)).or_default() += 1);
    let named = |it: &TaskMethod| {
        let is_only = times[&(it.class.as_str(), it.method.as_str())] == 1;
        let descriptor = if is_only { "" } else { &it.descriptor };
        (0..it.states.len())
            .map(|number| format!("{}.{}{descriptor}#{number}", it.class, it.method))
            .collect()
    };
    tasks.iter().map(named).collect()
}

/// The names of all states, by their numbers; that of number 0 is [`NO_TASK`].
pub fn state_names(tasks: &[TaskMethod]) -> Vec<String> {
    std::iter::once(NO_TASK.to_owned()).chain(states_by_task(tasks).into_iter().flatten()).collect()
}

/// Guard value for a thread that works on no task.
pub const NO_TASK: &str = "none";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn states_are_numbered_through_the_list() {
        let task = |class: &str, states: &[u32]| TaskMethod {
            class: class.into(),
            method: "run".into(),
            descriptor: "()V".into(),
            states: states.to_vec(),
        };
        let tasks = [task("a.A", &[0, 3]), task("a.B", &[]), task("a.C", &[2])];
        assert_eq!(first_states(&tasks), [1, 3, 3, 4]);
        assert_eq!(state_names(&tasks), ["none", "a.A.run#0", "a.A.run#1", "a.C.run#0"]);
        let other = TaskMethod { descriptor: "(I)V".into(), ..task("a.C", &[0]) };
        let overloaded = [task("a.C", &[2]), other];
        assert_eq!(state_names(&overloaded), ["none", "a.C.run()V#0", "a.C.run(I)V#0"]);
    }
}
