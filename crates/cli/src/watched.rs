//! An engine whose computations are shown when they take long, and end with the tool when a signal asks for it.

use hypocenter_engine::{DigestOf, Digester, Engine, Evidence, Job, JobId, Look, Next};
use hypocenter_plan::Outcome;
use hypocenter_results::Event;

use crate::interrupt::Interrupt;
use crate::screen::Working;

/// The engine of a campaign. See the module.
#[derive(Debug)]
pub struct Watched<'e, E>(pub &'e mut E);

/// The digester of such an engine.
#[derive(Debug)]
pub struct WatchedDigester<D>(D);

/// Carries out a step that computes.
fn computed<R>(step: &str, work: impl FnOnce() -> R) -> R {
    let _computing = Interrupt::computing();
    let _working = Working::at("analysis", step);
    work()
}

impl<E: Engine> Engine for Watched<'_, E> {
    type Digester = WatchedDigester<E::Digester>;
    type Results = E::Results;

    fn name(&self) -> &'static str {
        self.0.name()
    }

    fn next(&mut self, room: usize) -> Next {
        computed("choose the next trials", || self.0.next(room))
    }

    fn digester(&self) -> WatchedDigester<E::Digester> {
        WatchedDigester(self.0.digester())
    }

    fn tell(&mut self, id: JobId, outcome: Option<&Outcome>, digest: DigestOf<E>) -> Vec<Event> {
        computed(&format!("results of trial {id}"), || self.0.tell(id, outcome, digest))
    }

    fn keeps_trace(&self, id: JobId) -> bool {
        self.0.keeps_trace(id)
    }

    fn results(&self, look: &Look<'_>) -> E::Results {
        self.0.results(look)
    }
}

impl<D: Digester> Digester for WatchedDigester<D> {
    type Digest = D::Digest;
    type Reading = D::Reading;
    const READS_EARLY: bool = D::READS_EARLY;
    const NEEDS_ALL: bool = D::NEEDS_ALL;

    fn read(&self, reading: &mut D::Reading, path: &str, at: u64, bytes: &[u8]) {
        self.0.read(reading, path, at, bytes);
    }

    fn digest(&self, job: &Job, evidence: &[Evidence], reading: D::Reading) -> D::Digest {
        let step = format!("logs and trace of trial {}", job.id);
        computed(&step, || self.0.digest(job, evidence, reading))
    }
}
