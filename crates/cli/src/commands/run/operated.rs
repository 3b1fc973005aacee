//! What a run did with files and connections, and what its threads did with each other: how often, with how many bytes.

use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::path::Path;

use hypocenter_lab::evidence_of;
use hypocenter_plan::{OperationKind, Outcome, SiteKind};
use hypocenter_trace::TracedOperation;

use crate::failure::Failure;
use crate::screen;

/// Operations on one file, connection or object by one node.
#[derive(Default)]
struct Tally {
    by_kind: BTreeMap<OperationKind, u64>,
    failed: u64,
    bytes: u64,
}

impl Tally {
    fn add(&mut self, it: &TracedOperation) {
        *self.by_kind.entry(it.kind).or_default() += 1;
        self.failed += u64::from(it.failed != 0);
        if it.kind.is_of_connection() {
            self.bytes += u64::try_from(it.result).unwrap_or(0);
        }
    }

    fn all(&self) -> u64 {
        self.by_kind.values().sum()
    }

    fn is_of_connection(&self) -> bool {
        self.by_kind.keys().all(|it| it.is_of_connection())
    }

    fn is_between_threads(&self) -> bool {
        self.by_kind.keys().all(|it| it.is_between_threads())
    }

    fn told(&self) -> String {
        let kinds = self.by_kind.iter().map(|(kind, count)| format!("{} {kind}", screen::thousands(*count)));
        let mut parts: Vec<String> = kinds.collect();
        if self.failed > 0 {
            parts.push(format!("{} failed", screen::thousands(self.failed)));
        }
        if self.is_of_connection() {
            parts.push(screen::count(self.bytes, "byte", "bytes"));
        }
        parts.join(", ")
    }
}

/// Shows the busiest files, connections and objects, where the run recorded operations.
pub fn show(directory: &Path, outcome: &Outcome, top: usize) -> Result<(), Failure> {
    let evidence = evidence_of(directory, outcome)?;
    let (map, trace) = (evidence.map()?, evidence.trace()?);
    let mut all: BTreeMap<(String, String), Tally> = BTreeMap::new();
    for jvm in trace.jvms() {
        let dictionary = trace.dictionary(&jvm);
        for it in trace.operations(&jvm).filter(|it| map.kind(it.site) == Some(SiteKind::OperationEnd)) {
            let names = [it.resource, it.other].map(|it| dictionary.string(it).to_owned());
            let names = match it.kind.is_between_threads() {
                true => vec![format!("{} {}", names[0], it.object.0)],
                false => names.into_iter().filter(|it| !it.is_empty()).collect(),
            };
            for name in names {
                all.entry((jvm.node.clone(), name)).or_default().add(&it);
            }
        }
    }
    let (objects, others): (Vec<_>, Vec<_>) = all.iter().partition(|it| it.1.is_between_threads());
    let (connections, files): (Vec<_>, Vec<_>) = others.into_iter().partition(|it| it.1.is_of_connection());
    for (label, mut of_kind) in [("files", files), ("connections", connections), ("objects", objects)] {
        of_kind.sort_by_key(|it| Reverse((it.1.bytes, it.1.all())));
        for (number, ((node, name), tally)) in of_kind.iter().take(top).enumerate() {
            let label = if number == 0 { label } else { "" };
            screen::line(label, &screen::clean(&format!("{node}: {name}: {}", tally.told())));
        }
        if let Some(more) = of_kind.len().checked_sub(top).filter(|&it| it > 0) {
            screen::line("", &format!("... {} more", screen::thousands(more as u64)));
        }
    }
    Ok(())
}
