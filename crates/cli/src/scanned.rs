//! The scan of a target for an engine: its progress, and its line on the terminal.

use std::time::Instant;

use hypocenter_program::{Program, Scope, StateOptions};

use crate::screen::{self, Working};
use crate::target::Target;

/// The facts about a target.
pub struct Scanned {
    begun: Instant,
    /// The facts.
    pub program: Program,
}

impl Scanned {
    /// Scans the target.
    pub fn of(target: &Target, scope: &Scope, options: &StateOptions) -> Scanned {
        let begun = Instant::now();
        let working = Working::new("scan");
        let program = Program::of(&target.with_jdk, scope, options, |it| working.step(it.name()));
        working.finish();
        Scanned { begun, program }
    }

    /// Shows what there is: `of_engine` after the number of classes.
    pub fn show(&self, of_engine: &[String]) {
        let classes = self.program.world.system_classes().len() as u64;
        let parts = [&[screen::count(classes, "class", "classes")], of_engine].concat().join(", ");
        screen::line("scan", &format!("{parts}, in {:.1} s", self.begun.elapsed().as_secs_f64()));
    }
}
