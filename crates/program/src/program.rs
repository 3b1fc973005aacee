//! The whole target as facts.

use hypocenter_plan::Problem;

use crate::calls::CallGraph;
use crate::causal::Causes;
use crate::classes::Classes;
use crate::detectors::Detectors;
use crate::exceptions::Exceptions;
use crate::facts::Facts;
use crate::fault_sites::FaultSites;
use crate::load::load;
use crate::loop_facts::LoopFacts;
use crate::memory::Memory;
use crate::scope::Scope;
use crate::statements::Statements;
use crate::states::{StateOptions, States};
use crate::tasks::Tasks;
use crate::test_methods::Tests;
use crate::waits::Waits;
use crate::world::World;

/// A step of a scan.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Phase {
    /// Classes are read and numbered.
    Load,
    /// Every method is looked at.
    Facts,
    /// Who calls whom.
    Calls,
    /// Where exceptions go.
    Exceptions,
    /// Which streams live in memory, and what can go wrong where.
    Faults,
    /// What is logged.
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
    /// What every method does.
    pub facts: Facts,
    /// Who calls whom.
    pub calls: CallGraph,
    /// What libraries run.
    pub tasks: Tasks,
    /// Where exceptions go.
    pub exceptions: Exceptions,
    /// Which streams live in memory.
    pub memory: Memory,
    /// What can go wrong where.
    pub faults: FaultSites,
    /// What is logged.
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
    /// What could not be read or followed.
    pub problems: Vec<Problem>,
}

impl Program {
    /// Scans the target. `done` is told of every phase when it is over.
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

    /// What a causal graph is built from.
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
