//! The tasks of a program as a plan names them.

use hypocenter_plan::TaskMethod;
use rustc_hash::FxHashMap;

use crate::loading::world::MethodId;
use crate::program::Program;

/// The methods whose abstract states can be followed, in the order of the program: those of task classes, and the lambdas
/// that are handed to threads and executors, each of which is one state.
pub fn task_methods(program: &Program) -> Vec<TaskMethod> {
    let world = &program.world;
    let mut methods: Vec<MethodId> = Vec::new();
    let mut starts: FxHashMap<MethodId, Vec<u32>> = FxHashMap::default();
    let states = program.states.states().iter().map(|it| (it.method, u32::from(it.instruction)));
    let lambdas = program.states.lambdas().iter().map(|it| (it.body, 0));
    for (method, instruction) in states.chain(lambdas) {
        let of_method = starts.entry(method).or_insert_with(|| {
            methods.push(method);
            Vec::new()
        });
        of_method.push(instruction);
    }
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    let named = methods.into_iter().filter_map(|method| {
        let instructions = &starts[&method];
        // Code that cannot be followed has no hooks either.
        let mut states = world.look(method, |view| {
            let flow = &view.body.flow;
            let reachable = (0..flow.blocks.len()).filter(|&it| flow.reachable[it]);
            let blocks =
                reachable.enumerate().filter(|(_, it)| instructions.contains(&flow.blocks[*it].start));
            blocks.map(|(ordinal, _)| ordinal as u32).collect::<Vec<u32>>()
        })?;
        states.sort_unstable();
        Some(TaskMethod {
            class: world.show_type(world.method(method).owner),
            method: text(world.method_name(method)),
            descriptor: text(world.method_descriptor(method)),
            states,
        })
    });
    named.collect()
}
