//! Faults to try, and their places in a program.

use std::collections::BTreeMap;

use hypocenter_plan::{Fault, MethodLine, Pause};
use hypocenter_program::{CallId, FaultKind, MemoryPlace, Program, TypeId, name_calls};

use crate::catalogue::{Catalogue, SiteFaults};

/// Kinds of faults to try.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FaultScope {
    /// Exceptions of input and output: `IOException` and what is below it.
    pub io_exceptions: bool,
    /// All other exceptions that calls declare, or that the system itself makes.
    pub other_exceptions: bool,
    /// Delays of this many milliseconds at calls that wait for a disk or a network.
    pub delay_ms: Option<u64>,
    /// Also exceptions of input and output at calls that only work in memory, where they cannot happen.
    pub in_memory: bool,
}

impl FaultScope {
    /// The faults of a program that are asked for.
    pub fn catalogue(self, program: &Program) -> Catalogue {
        let world = &program.world;
        let io_exception = world.find_type(b"java/io/IOException");
        let is_io = |it: TypeId| io_exception.is_some_and(|io| world.is_subtype(it, io));
        let takes = |it: TypeId| if is_io(it) { self.io_exceptions } else { self.other_exceptions };
        let mut faults: BTreeMap<CallId, Vec<Fault>> = BTreeMap::new();
        let mut throws = |call: CallId, exceptions: &[TypeId]| {
            let of_call = faults.entry(call).or_default();
            for &it in exceptions.iter().filter(|&&it| takes(it)) {
                let fault = Fault::Exception { class: world.show_type(it), message: None };
                if !of_call.contains(&fault) {
                    of_call.push(fault);
                }
            }
        };
        for site in program.faults.sites() {
            throws(site.call, site.kind.exceptions());
        }
        if self.in_memory {
            program.faults.dropped().iter().for_each(|it| throws(it.call, &it.exceptions[..]));
        }
        faults.values_mut().for_each(|it| it.sort_by_key(Fault::to_string));
        if let Some(delay_ms) = self.delay_ms {
            let delays = program.faults.sites().iter().filter(|it| it.kind == FaultKind::Delay);
            for site in delays {
                let delay = Fault::Delay { delay_ms, pause: Pause::Sleep };
                faults.entry(site.call).or_default().push(delay);
            }
        }
        faults.retain(|_, it| !it.is_empty());
        let calls: Vec<CallId> = faults.keys().copied().collect();
        let named = name_calls(world, &program.facts, &calls);
        // A call in a method that cannot be read has no name, and no hook can be put there.
        let sites = faults.into_values().zip(named);
        let sites = sites.filter_map(|(faults, site)| Some(SiteFaults { site: site?, faults })).collect();
        // Other exceptions may well happen in memory, and a catalogue does not tell them apart.
        let is_told = self.io_exceptions && !self.other_exceptions && !self.in_memory;
        let lines = if is_told { program.memory_lines() } else { Vec::new() };
        let line =
            |it: MemoryPlace| MethodLine { method: world.show_method(it.method), line: it.line.into() };
        Catalogue::new(sites).with_memory(lines.into_iter().map(line))
    }
}
