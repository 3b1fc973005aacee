//! Orders between instances: a thread that is to come after another instance waits for it, and no longer than the plan says.
//!
//! The thread sleeps in the helper, in Java, so that a virtual thread gives up its carrier; here it asks from time to time whether
//! it may go on. The other instance may be in another JVM, so what both know of each other is in the trial's file.

use hypocenter_plan::{DumpedThread, glob_matches};
use hypocenter_trace::{ArmedCandidate, ArmedFault, ReportKind, Session};

use crate::dump;
use crate::jni::Jni;
use crate::state::State;

/// The shortest and the longest sleep between two looks at the other instance.
const NAP_NANOS_MIN: u64 = 50_000;
const NAP_NANOS_MAX: u64 = 1_000_000;

/// The instances that wait for others.
pub(crate) struct Orders(Vec<Wait>);

struct Wait {
    /// The number of the candidate that waits. It is for the one before it.
    number: u32,
    /// The longest wait.
    nanos: u64,
    /// Names of the threads that may reach the other.
    threads: Option<String>,
}

impl Orders {
    pub(crate) fn new(candidates: &[ArmedCandidate]) -> Orders {
        let wait = |(number, pair): (u32, &[ArmedCandidate])| {
            let ArmedFault::Then { nanos } = pair[1].fault else { return None };
            Some(Wait { number, nanos, threads: pair[0].thread.clone() })
        };
        Orders((1..).zip(candidates.windows(2)).filter_map(wait).collect())
    }

    /// How long a thread that waits at a candidate sleeps before it asks again; 0 if it goes on.
    pub(crate) fn nap(&self, state: &'static State, session: &Session, jni: Jni, number: u32) -> u64 {
        let Some(wait) = self.0.iter().find(|it| it.number == number) else { return 0 };
        let trial = session.trial();
        let (occurrence, waited) = trial.waiting(number);
        if trial.is_injected(number - 1) {
            trial.set_injected(number, session.jvm(), occurrence, waited);
            return 0;
        }
        if waited < wait.nanos {
            return (waited / 4).clamp(NAP_NANOS_MIN, NAP_NANOS_MAX).min(wait.nanos - waited);
        }
        let held = held_up(state, jni, wait.threads.as_deref());
        let why = match held {
            Some(Held { lock, by, other }) => format!(
                "thread `{by}` waited {} ms and holds the lock `{lock}`, which thread `{other}` needs to get there",
                waited / 1_000_000
            ),
            None => format!("the time is up: the wait of {} ms was not enough", waited / 1_000_000),
        };
        session.report(ReportKind::Refused, number, &why);
        trial.set_refused(number);
        0
    }
}

/// A lock of the thread that waits.
struct Held {
    lock: String,
    by: String,
    /// The thread that cannot go on without it.
    other: String,
}

/// A lock that the current thread holds and that one of these threads needs, if there is one: for itself, or because whoever it waits for
/// does.
fn held_up(state: &State, jni: Jni, threads: Option<&str>) -> Option<Held> {
    let mut held = None;
    jni.frame(|| {
        let me = jni.long_field(state.jvmti.current_thread().ok()?, c"tid")?;
        let dump = dump::take(state.jvmti, jni, &state.node, std::process::id()).ok()?;
        let mut meant =
            dump.threads.iter().filter(|it| threads.is_none_or(|name| glob_matches(name, &it.name)));
        let (lock, other) = meant.find_map(|it| Some((lock_of(me, it, &dump.threads)?, it.name.clone())))?;
        held = Some(Held { lock, by: state.jvmti.thread_name().ok()?, other });
        None
    });
    held
}

/// The lock of a thread that another waits for, directly or through others.
fn lock_of(me: i64, thread: &DumpedThread, all: &[DumpedThread]) -> Option<String> {
    let mut thread = thread;
    // Threads in a deadlock among themselves would be followed for ever.
    for _ in all {
        let wait = thread.waits_for.as_ref()?;
        let owner = wait.owner_id?;
        if owner == me {
            return Some(wait.lock.clone());
        }
        thread = all.iter().find(|it| it.id == owner)?;
    }
    None
}

#[cfg(test)]
mod tests {
    use hypocenter_plan::WaitsFor;

    use super::*;

    #[test]
    fn a_lock_is_found_through_other_threads() {
        let thread = |id: i64, owner: Option<i64>| DumpedThread {
            name: format!("t{id}"),
            id,
            state: "BLOCKED".into(),
            daemon: None,
            waits_for: owner.map(|it| WaitsFor { lock: format!("of{it}"), owner: None, owner_id: Some(it) }),
            locks: Vec::new(),
            frames: Vec::new(),
        };
        let check = |owners: &[Option<i64>], expected: Option<&str>| {
            let all: Vec<DumpedThread> = (1..).zip(owners).map(|(id, &owner)| thread(id, owner)).collect();
            assert_eq!(lock_of(9, &all[0], &all).as_deref(), expected, "{owners:?}");
        };
        check(&[None], None);
        check(&[Some(9)], Some("of9"));
        check(&[Some(2), Some(3), Some(9)], Some("of9"));
        check(&[Some(2), Some(1)], None);
        check(&[Some(2), None], None);
        check(&[Some(7)], None);
    }
}
