//! Operations of a run, as they are compared with those of other runs.

use hypocenter_plan::{Candidate, Fault, Frame, Guard, Repeat, Site, SiteKind, StackGuard};
use hypocenter_results::predicted::{Access, CrashSide};

use crate::reader::{Group, JvmOperations, OperationReader, RunOperations};
use crate::touch::{Touch, touches};

/// Like operations of a JVM of a run.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Seen<'r> {
    pub run: &'r RunOperations,
    pub jvm: &'r JvmOperations,
    pub group: &'r Group,
}

impl RunOperations {
    /// The operations of some JVMs.
    pub(crate) fn seen(&self, of: impl Fn(&JvmOperations) -> bool) -> impl Iterator<Item = Seen<'_>> {
        let jvms = self.jvms.iter().filter(move |it| of(it));
        jvms.flat_map(move |jvm| jvm.groups.iter().map(move |group| Seen { run: self, jvm, group }))
    }

    /// The operations of the first start of a node.
    pub(crate) fn before(&self, node: &str) -> impl Iterator<Item = Seen<'_>> {
        self.seen(move |it| it.node == node && it.incarnation == 1)
    }

    /// The operations of its later starts.
    pub(crate) fn recovery(&self, node: &str) -> impl Iterator<Item = Seen<'_>> {
        self.seen(move |it| it.node == node && it.incarnation > 1)
    }

    pub(crate) fn first_start(&self, node: &str) -> Option<&JvmOperations> {
        self.jvms.iter().find(|it| it.node == node && it.incarnation == 1)
    }

    fn string(&self, id: u32) -> &str {
        self.strings.get(id as usize).map_or("", String::as_str)
    }

    /// The frames of a stack, innermost first.
    fn frames(&self, stack: u32) -> Vec<Frame> {
        let frame = |&(method, at): &(u32, u32)| {
            let at = self.string(at);
            Frame { method: self.string(method).to_owned(), at: (!at.is_empty()).then(|| at.to_owned()) }
        };
        self.stacks.get(stack as usize).into_iter().flatten().map(frame).collect()
    }

    /// The stacks from which bytes are sent.
    pub(crate) fn sends(&self) -> impl Iterator<Item = Vec<Frame>> {
        self.sends.iter().map(|&it| self.frames(it))
    }

    fn is_whole(&self) -> bool {
        self.unreadable.is_none() && self.lost == 0 && self.jvms.iter().all(|it| it.crowded == 0)
    }

    /// Why the operations of a run are not all there.
    pub(crate) fn gap(&self) -> Option<String> {
        if self.is_whole() {
            return None;
        }
        let crowded: u64 = self.jvms.iter().map(|it| it.crowded).sum();
        let lost = || match (self.lost, crowded) {
            (0, some) => format!("{some} operations are beyond the limit of different ones"),
            (some, _) => format!("{some} records were lost: is the disk full?"),
        };
        Some(self.unreadable.clone().unwrap_or_else(lost))
    }
}

impl<'r> Seen<'r> {
    pub(crate) fn resource(self) -> &'r str {
        self.run.string(self.group.resource)
    }

    pub(crate) fn other(self) -> &'r str {
        self.run.string(self.group.other)
    }

    pub(crate) fn touches(self) -> Vec<Touch<'r>> {
        touches(self.group.kind, self.group.is_done, self.resource(), self.other())
    }

    pub(crate) fn site(self) -> &'r Site {
        &self.run.sites[self.group.site as usize]
    }

    /// The frames, innermost first.
    pub(crate) fn stack(self) -> impl Iterator<Item = (&'r str, &'r str)> {
        let frames = self.run.stacks.get(self.group.stack as usize).into_iter().flatten();
        frames.map(move |&(method, at)| (self.run.string(method), self.run.string(at)))
    }

    /// All frames, as analyses name them.
    pub(crate) fn frames(self) -> Vec<Frame> {
        self.run.frames(self.group.stack)
    }

    /// The same calls, in every run: the frames of the system, or all if there are none.
    pub(crate) fn calls(self, reader: &OperationReader) -> String {
        let own: Vec<String> =
            self.stack().filter(|it| reader.is_own(it.0)).map(|it| format!("{}@{}", it.0, it.1)).collect();
        match own.is_empty() {
            false => own.join("<"),
            true => self.stack().map(|it| it.0).collect::<Vec<_>>().join("<"),
        }
    }

    /// The same operation, in every run.
    pub(crate) fn key(self, reader: &OperationReader) -> String {
        let site = self.site();
        format!(
            "{} {}.{} {} {} {} {}",
            self.group.kind,
            site.class,
            site.method,
            self.resource(),
            self.other(),
            self.group.is_done,
            self.calls(reader)
        )
    }

    pub(crate) fn thread(self) -> &'r str {
        self.run.string(self.group.thread)
    }

    /// The operation for people.
    pub(crate) fn access(self, reader: &OperationReader) -> Access {
        let frames = self.frames();
        let own: Vec<Frame> = frames.iter().filter(|it| reader.is_own(&it.method)).cloned().collect();
        let nearest = own.first().or(frames.last());
        let line = |it: &Frame| it.at.as_ref()?.rsplit_once(':')?.1.parse().ok();
        Access {
            operation: self.group.kind,
            resource: self.resource().to_owned(),
            other: Some(self.other().to_owned()).filter(|it| !it.is_empty()),
            node: self.jvm.node.clone(),
            thread: self.thread().to_owned(),
            method: nearest.map_or_else(String::new, |it| it.method.clone()),
            line: nearest.and_then(line),
            stack: own,
        }
    }

    /// A crash on a side of the operation that is so many among those that a plan cannot tell apart.
    pub(crate) fn crash(self, reader: &OperationReader, side: CrashSide, occurrence: u64) -> Candidate {
        let kind = match side {
            CrashSide::Before => SiteKind::Operation,
            CrashSide::After => SiteKind::OperationEnd,
        };
        let named = reader.named(self.stack().map(|it| it.0));
        let suffix: Vec<String> = self.stack().take(named).map(|it| it.0.to_owned()).collect();
        let name = Some(self.resource()).filter(|it| !it.is_empty()).unwrap_or(self.other());
        Candidate {
            site: Site { kind, ..self.site().clone() },
            fault: Fault::Crash { status: Fault::CRASH_STATUS },
            when: Guard {
                node: Some(self.jvm.node.clone()),
                occurrence: Some(occurrence),
                stack: (!suffix.is_empty()).then_some(StackGuard::Suffix(suffix)),
                resource: Some(name.to_owned()),
                ..Guard::default()
            },
            repeat: Repeat::Once,
        }
    }
}
