//! Activity of the threads of a trial at its end, from the dumps of its JVMs.

use std::collections::{BTreeMap, BTreeSet};

use hypocenter_logs::role;
use hypocenter_plan::{DumpedThread, ThreadDump};
use serde::{Deserialize, Serialize};

use crate::findings::is_platform;

/// Maximum number of distinct threads of a trial that are kept.
const THREADS_MAX: usize = 1 << 12;

/// Threads of a node that did the same at the end of a trial.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct ThreadAtEnd {
    /// The node.
    pub node: String,
    /// The name of the thread, with every number as `#`.
    pub thread: String,
    /// The innermost method on its stack that is not the platform's.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub at: Option<String>,
    /// Object that it waited for.
    #[serde(default, skip_serializing_if = "Waits::is_no")]
    pub waits: Waits,
    /// True if it sleeps with a lock in its hands, that others may need.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub holds: bool,
}

/// Object that a thread waits for.
#[derive(Debug, Clone, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Waits {
    /// For nothing, or not for ever.
    #[default]
    No,
    /// For somebody to wake it, without an end.
    ForEver,
    /// For a lock that another thread holds.
    Lock {
        /// The thread.
        owner: String,
        /// Its place.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        owner_at: Option<String>,
        /// True if that thread waits for this one in its turn.
        circle: bool,
    },
}

impl Waits {
    fn is_no(&self) -> bool {
        *self == Waits::No
    }
}

/// The threads of all JVMs.
pub(crate) fn at_end(dumps: &[ThreadDump]) -> Vec<ThreadAtEnd> {
    let mut found = BTreeSet::new();
    for dump in dumps {
        let by_id: BTreeMap<i64, &DumpedThread> = dump.threads.iter().map(|it| (it.id, it)).collect();
        for thread in &dump.threads {
            if found.len() >= THREADS_MAX {
                break;
            }
            found.insert(ThreadAtEnd {
                node: dump.node.clone(),
                thread: role(&thread.name).into_owned(),
                at: at(thread),
                waits: waits(thread, &by_id),
                holds: holds(thread),
            });
        }
    }
    found.into_iter().collect()
}

fn at(thread: &DumpedThread) -> Option<String> {
    thread.frames.iter().map(|it| &it.method).find(|it| !is_platform(it)).cloned()
}

/// A worker of the JDK's pools holds a lock of its own while it works on a task.
const OWN_LOCK: &str = "java.util.concurrent.ThreadPoolExecutor$Worker@";

fn holds(thread: &DumpedThread) -> bool {
    thread.frames.first().is_some_and(|it| it.method.starts_with("java.lang.Thread.sleep"))
        && thread.locks.iter().any(|it| !it.starts_with(OWN_LOCK))
}

fn waits(thread: &DumpedThread, by_id: &BTreeMap<i64, &DumpedThread>) -> Waits {
    let owner_of = |it: &DumpedThread| {
        let id = it.waits_for.as_ref()?.owner_id.filter(|id| *id != it.id)?;
        by_id.get(&id).copied()
    };
    let Some(owner) = owner_of(thread) else {
        return if thread.state == "WAITING" { Waits::ForEver } else { Waits::No };
    };
    let mut last = owner;
    // A chain is at most as long as there are threads; one that goes round without this thread has no end.
    for _ in 0..by_id.len() {
        if last.id == thread.id {
            break;
        }
        let Some(next) = owner_of(last) else { break };
        last = next;
    }
    Waits::Lock { owner: role(&owner.name).into_owned(), owner_at: at(owner), circle: last.id == thread.id }
}

#[cfg(test)]
mod tests {
    use hypocenter_plan::{FORMAT_VERSION, Frame, WaitsFor};

    use super::*;

    fn thread(name: &str, id: i64, state: &str, at: &str, owner_id: Option<i64>) -> DumpedThread {
        let waits_for = owner_id.map(|it| WaitsFor {
            lock: "a.Node@1".into(),
            owner: Some("whoever".into()),
            owner_id: Some(it),
        });
        let frame = |method: &str| Frame { method: method.into(), at: None };
        DumpedThread {
            name: name.into(),
            id,
            state: state.into(),
            daemon: None,
            waits_for,
            locks: Vec::new(),
            frames: vec![frame("java.lang.Object.wait0"), frame(at)],
        }
    }

    #[test]
    fn threads_wait_for_locks_for_ever_or_not_at_all() {
        let threads = vec![
            thread("Snapshot", 1, "TIMED_WAITING", "a.Tree.write", None),
            thread("worker-1", 2, "BLOCKED", "a.Tree.get", Some(1)),
            thread("worker-2", 3, "BLOCKED", "a.Tree.get", Some(1)),
            thread("main", 4, "WAITING", "a.Main.join", None),
            thread("left", 5, "BLOCKED", "a.Left.run", Some(6)),
            thread("right", 6, "BLOCKED", "a.Right.run", Some(5)),
            thread("behind", 7, "BLOCKED", "a.Left.get", Some(5)),
        ];
        let dump = ThreadDump { version: FORMAT_VERSION, node: "n1".into(), pid: 1, threads };
        let found = at_end(&[dump]);
        let of = |name: &str| found.iter().find(|it| it.thread == name).map(|it| it.waits.clone());
        let lock = |owner: &str, at: &str, circle| Waits::Lock {
            owner: owner.into(),
            owner_at: Some(at.into()),
            circle,
        };
        assert_eq!(of("Snapshot"), Some(Waits::No), "a pause has an end");
        assert_eq!(of("worker-#"), Some(lock("Snapshot", "a.Tree.write", false)));
        assert_eq!(of("main"), Some(Waits::ForEver));
        assert_eq!(of("left"), Some(lock("right", "a.Right.run", true)));
        assert_eq!(of("behind"), Some(lock("left", "a.Left.run", false)), "it is no part of the circle");
        assert_eq!(found.len(), 6, "the workers do the same");
        assert!(found.iter().all(|it| it.node == "n1" && it.at.is_some()));
        let text = serde_json::to_string(&found).unwrap();
        assert_eq!(serde_json::from_str::<Vec<ThreadAtEnd>>(&text).unwrap(), found);
    }

    #[test]
    fn a_lock_counts_where_its_thread_sleeps_and_it_is_not_the_pools() {
        for (frame, lock, expected) in [
            ("java.lang.Thread.sleep", "a.Node@1", true),
            ("java.lang.Thread.sleep0", "java.lang.Object@1", true),
            ("java.lang.Thread.sleep", "java.util.concurrent.ThreadPoolExecutor$Worker@1", false),
            ("sun.nio.ch.Net.poll", "java.io.BufferedInputStream@1", false),
        ] {
            let frames = vec![Frame { method: frame.into(), at: None }];
            let thread = thread("t", 1, "TIMED_WAITING", "a.A.run", None);
            assert_eq!(
                holds(&DumpedThread { frames, locks: vec![lock.into()], ..thread }),
                expected,
                "{frame}"
            );
        }
    }
}
