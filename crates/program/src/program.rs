//! The whole target as facts.

use hypocenter_plan::Problem;

use crate::causality::causal::Causes;
use crate::dataflow::exceptions::Exceptions;
use crate::dataflow::memory::Memory;
use crate::facts::Facts;
use crate::facts::calls::CallGraph;
use crate::facts::tasks::Tasks;
use crate::loading::classes::Classes;
use crate::loading::load::load;
use crate::loading::scope::Scope;
use crate::loading::world::World;
use crate::logging::statements::Statements;
use crate::shapes::detectors::Detectors;
use crate::shapes::loop_facts::LoopFacts;
use crate::shapes::states::{StateOptions, States};
use crate::shapes::test_methods::Tests;
use crate::shapes::waits::Waits;
use crate::sites::fault_sites::FaultSites;

/// A step of a scan.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Phase {
    /// Classes are read and numbered.
    Load,
    /// Every method is looked at.
    Facts,
    /// Call graph.
    Calls,
    /// Destinations of exceptions.
    Exceptions,
    /// Streams that live in memory, and possible faults by place.
    Faults,
    /// Log entries.
    Statements,
    /// Abstract states.
    States,
    /// Loops, waits, error detectors, tests.
    Shapes,
}

impl Phase {
    /// All, in their order.
    pub const ALL: [Phase; 8] = [
        Phase::Load,
        Phase::Facts,
        Phase::Calls,
        Phase::Exceptions,
        Phase::Faults,
        Phase::Statements,
        Phase::States,
        Phase::Shapes,
    ];

    /// The name, for people and for JSON.
    pub fn name(self) -> &'static str {
        match self {
            Phase::Load => "load",
            Phase::Facts => "facts",
            Phase::Calls => "calls",
            Phase::Exceptions => "exceptions",
            Phase::Faults => "faults",
            Phase::Statements => "statements",
            Phase::States => "states",
            Phase::Shapes => "shapes",
        }
    }
}

/// The whole target as facts. Causal graphs and slices are built from it on demand.
#[derive(Debug)]
pub struct Program {
    /// Everything that has a name.
    pub world: World,
    /// Work of every method.
    pub facts: Facts,
    /// Call graph.
    pub calls: CallGraph,
    /// Code that libraries run.
    pub tasks: Tasks,
    /// Destinations of exceptions.
    pub exceptions: Exceptions,
    /// Streams that live in memory.
    pub memory: Memory,
    /// Possible faults by place.
    pub faults: FaultSites,
    /// Log entries.
    pub statements: Statements,
    /// Abstract states.
    pub states: States,
    /// Loops.
    pub loops: LoopFacts,
    /// Calls that wait.
    pub waits: Waits,
    /// Methods that detect errors.
    pub detectors: Detectors,
    /// Tests.
    pub tests: Tests,
    /// Parts that could not be analyzed.
    pub problems: Vec<Problem>,
}

impl Program {
    /// Scans the target. `done` is called after every phase.
    pub fn of(
        classes: &Classes,
        scope: &Scope,
        options: &StateOptions,
        mut done: impl FnMut(Phase),
    ) -> Program {
        let (world, mut problems) = load(classes, scope);
        done(Phase::Load);
        let facts = Facts::of(&world);
        problems.extend_from_slice(facts.problems());
        done(Phase::Facts);
        let calls = CallGraph::of(&world, &facts);
        let tasks = Tasks::of(&world, &facts);
        done(Phase::Calls);
        let exceptions = Exceptions::of(&world, &facts, &calls);
        done(Phase::Exceptions);
        let memory = Memory::of(&world, &facts, &calls);
        let faults = FaultSites::of(&world, &facts, &calls, &exceptions, &memory);
        done(Phase::Faults);
        let statements = Statements::of(&world, &facts, &calls);
        done(Phase::Statements);
        let states = States::of(&world, &facts, &calls, options);
        done(Phase::States);
        let loops = LoopFacts::of(&world, &facts, &calls);
        let waits = Waits::of(&world, &facts);
        let tests = Tests::of(&world);
        let detectors = Detectors::of(&world, &facts, &calls, &tests);
        done(Phase::Shapes);
        Program {
            world,
            facts,
            calls,
            tasks,
            exceptions,
            memory,
            faults,
            statements,
            states,
            loops,
            waits,
            detectors,
            tests,
            problems,
        }
    }

    /// Sources of a causal graph.
    pub fn causes(&self) -> Causes<'_> {
        Causes {
            world: &self.world,
            facts: &self.facts,
            calls: &self.calls,
            tasks: &self.tasks,
            exceptions: &self.exceptions,
        }
    }
}
