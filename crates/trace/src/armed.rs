//! The plan as the agent reads it: candidates with their sites resolved to ids and their names to offsets.

use std::cell::Cell;

use hypocenter_plan::{MethodLine, StateId};
use zerocopy::{FromBytes, Immutable, IntoBytes, KnownLayout};

use crate::{SiteId, TraceError};

/// A fault, ready to be carried out.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ArmedFault {
    /// Throw the first of these classes that can be built.
    Exception {
        /// Class names with dots: the one asked for, then concrete subtypes.
        classes: Vec<String>,
        /// The message.
        message: String,
    },
    /// Sleep.
    Sleep {
        /// How long.
        nanos: u64,
    },
    /// Burn a core.
    Spin {
        /// How long.
        nanos: u64,
    },
    /// Halt the JVM.
    Crash {
        /// The exit status.
        status: i32,
    },
    /// Turn the boolean around.
    Negate,
    /// Swallow what is sent over a connection from now on.
    Drop,
    /// Let writes below a path fail from now on.
    DiskFull {
        /// The path.
        path: String,
    },
    /// Let no packet get from one node to the other from now on.
    Partition {
        /// The nodes.
        nodes: [String; 2],
    },
    /// Let the branch go this way.
    Force {
        /// True if its jump is taken.
        taken: bool,
    },
    /// Nothing: the candidate behind this one waits for it.
    First,
    /// Wait until the candidate before this one, which is an [`ArmedFault::First`], has happened.
    Then {
        /// How long at the most.
        nanos: u64,
    },
    /// Load another number, given by its bits.
    Number {
        /// An `int` or `float` has the lower half.
        bits: u64,
    },
    /// Load another string.
    Text {
        /// Which.
        text: String,
    },
}

impl ArmedFault {
    /// Tests whether it takes one of the faults that the plan allows: what steers a trial is no fault.
    pub fn is_limited(&self) -> bool {
        use ArmedFault::*;
        !matches!(self, Force { .. } | First | Then { .. } | Number { .. } | Text { .. })
    }

    /// Tests whether it lasts until its time is over, rather than being done at a hit.
    pub fn lasts_for_a_time(&self) -> bool {
        matches!(self, ArmedFault::DiskFull { .. } | ArmedFault::Partition { .. })
    }
}

/// Which hits belong to a candidate's node.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ArmedNode {
    /// Any.
    Any,
    /// Those of the JVMs that have this name.
    Process(String),
    /// Those of some threads, in any JVM of the trial.
    Within {
        /// Threads whose name fits one of these patterns.
        threads: Vec<String>,
        /// And threads with this value in their diagnostic context.
        mdc: Option<ArmedMdc>,
    },
}

/// A value that a logging library keeps for each thread (its mapped diagnostic context).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ArmedMdc {
    /// The key.
    pub key: String,
    /// The value.
    pub value: String,
}

/// A condition on the stack.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ArmedStack {
    /// Any stack.
    Any,
    /// The innermost frames fit these patterns.
    Suffix(Vec<String>),
    /// The whole stack has this hash.
    Hash(u64),
}

/// What the agent reads of a plan.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct ArmedPlan {
    /// The candidates.
    pub candidates: Vec<ArmedCandidate>,
    /// Lines below whose calls no exception is thrown.
    pub never_below: Vec<MethodLine>,
    /// The site at whose first hit faults may begin to happen, if the trial waits for one.
    pub arm_after: Option<SiteId>,
}

/// How often a candidate happens that was injected.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ArmedRepeat {
    /// Once.
    Once,
    /// At every hit from then on.
    Always,
    /// At every hit for so long.
    Nanos(u64),
    /// So many times.
    Times(u64),
    /// Until its delays have taken so long together.
    TotalNanos(u64),
}

/// A time since another site was hit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ArmedSince {
    /// The other site.
    pub site: SiteId,
    /// The least time.
    pub least_nanos: u64,
    /// The most; `u64::MAX` for any.
    pub most_nanos: u64,
}

/// A candidate, ready for the agent.
#[derive(Debug, Clone, PartialEq)]
pub struct ArmedCandidate {
    /// Where.
    pub site: SiteId,
    /// What.
    pub fault: ArmedFault,
    /// On which node.
    pub node: ArmedNode,
    /// On threads whose name fits; any if absent.
    pub thread: Option<String>,
    /// In this state of its thread; any if absent.
    pub state: Option<StateId>,
    /// How the site was reached.
    pub stack: ArmedStack,
    /// The n-th matching hit; the first if absent.
    pub occurrence: Option<u64>,
    /// The chance of each matching hit.
    pub probability: Option<f64>,
    /// How often.
    pub repeat: ArmedRepeat,
    /// When, after another site.
    pub since: Option<ArmedSince>,
    /// In which loop, by the site of its body; any place if absent.
    pub within: Option<SiteId>,
    /// On files and connections whose name fits; any if absent.
    pub resource: Option<String>,
}

#[derive(Debug, Clone, Copy, FromBytes, IntoBytes, KnownLayout, Immutable)]
#[repr(C)]
struct Entry {
    site: u32,
    fault: u8,
    stack: u8,
    repeat: u8,
    flags: u8,
    occurrence: u64,
    probability: u64,
    amount: u64,
    stack_hash: u64,
    /// Strings, in this order: the node's process, thread, resource, message or path, then classes or nodes, then stack patterns, then patterns of
    /// the node's threads, then key and value of its diagnostic context.
    strings_start: u32,
    classes_len: u16,
    stack_len: u16,
    threads_len: u16,
    node: u8,
    reserved: u8,
    state: u32,
    repeat_amount: u64,
    since_least: u64,
    since_most: u64,
    since_site: u32,
    /// The site and one more; 0 if there is none.
    within: u32,
}

#[derive(Debug, Clone, Copy, FromBytes, IntoBytes, KnownLayout, Immutable)]
#[repr(C)]
struct LineEntry {
    /// A string.
    method: u32,
    line: u32,
}

#[derive(Debug, Clone, Copy, FromBytes, IntoBytes, KnownLayout, Immutable)]
#[repr(C)]
struct Text {
    at: u32,
    len: u32,
}

mod node {
    pub const ANY: u8 = 0;
    pub const PROCESS: u8 = 1;
    pub const WITHIN: u8 = 2;
    pub const WITHIN_MDC: u8 = 3;
}

mod flag {
    pub const THREAD: u8 = 2;
    pub const OCCURRENCE: u8 = 4;
    pub const PROBABILITY: u8 = 8;
    pub const STATE: u8 = 16;
    pub const SINCE: u8 = 32;
    pub const RESOURCE: u8 = 64;
}

pub(crate) fn encode(plan: &ArmedPlan) -> Vec<u8> {
    let mut entries = Vec::new();
    let mut texts = Vec::new();
    let mut blob = Vec::new();
    let mut text = |texts: &mut Vec<Text>, string: &str| {
        texts.push(Text { at: blob.len() as u32, len: string.len() as u32 });
        blob.extend_from_slice(string.as_bytes());
    };
    for it in &plan.candidates {
        let strings_start = texts.len() as u32;
        let mut text = |string: &str| text(&mut texts, string);
        let (node, process, threads, mdc): (u8, &str, &[String], Option<&ArmedMdc>) = match &it.node {
            ArmedNode::Any => (node::ANY, "", &[], None),
            ArmedNode::Process(name) => (node::PROCESS, name, &[], None),
            ArmedNode::Within { threads, mdc: None } => (node::WITHIN, "", threads, None),
            ArmedNode::Within { threads, mdc: Some(mdc) } => (node::WITHIN_MDC, "", threads, Some(mdc)),
        };
        text(process);
        text(it.thread.as_deref().unwrap_or(""));
        text(it.resource.as_deref().unwrap_or(""));
        let (fault, amount, classes): (u8, u64, &[String]) = match &it.fault {
            ArmedFault::Exception { classes, message } => {
                text(message);
                (1, 0, classes)
            }
            ArmedFault::Sleep { nanos } => (2, *nanos, &[]),
            ArmedFault::Spin { nanos } => (3, *nanos, &[]),
            ArmedFault::Crash { status } => (4, *status as u32 as u64, &[]),
            ArmedFault::Negate => (5, 0, &[]),
            ArmedFault::Force { taken } => (6, u64::from(*taken), &[]),
            ArmedFault::First => (7, 0, &[]),
            ArmedFault::Then { nanos } => (8, *nanos, &[]),
            ArmedFault::Number { bits } => (9, *bits, &[]),
            ArmedFault::Text { text: value } => {
                text(value);
                (10, 0, &[])
            }
            ArmedFault::Drop => (11, 0, &[]),
            ArmedFault::DiskFull { path } => {
                text(path);
                (12, 0, &[])
            }
            ArmedFault::Partition { nodes } => (13, 0, nodes),
        };
        if !matches!(fault, 1 | 10 | 12) {
            text("");
        }
        classes.iter().for_each(|class| text(class));
        let (stack, stack_hash, patterns): (u8, u64, &[String]) = match &it.stack {
            ArmedStack::Any => (0, 0, &[]),
            ArmedStack::Suffix(patterns) => (1, 0, patterns),
            ArmedStack::Hash(hash) => (2, *hash, &[]),
        };
        patterns.iter().chain(threads).for_each(|pattern| text(pattern));
        if let Some(mdc) = mdc {
            text(&mdc.key);
            text(&mdc.value);
        }
        let mut flags = 0;
        for (bit, given) in [
            (flag::THREAD, it.thread.is_some()),
            (flag::OCCURRENCE, it.occurrence.is_some()),
            (flag::PROBABILITY, it.probability.is_some()),
            (flag::STATE, it.state.is_some()),
            (flag::SINCE, it.since.is_some()),
            (flag::RESOURCE, it.resource.is_some()),
        ] {
            flags |= if given { bit } else { 0 };
        }
        let (repeat, repeat_amount) = match it.repeat {
            ArmedRepeat::Once => (0, 0),
            ArmedRepeat::Always => (1, 0),
            ArmedRepeat::Nanos(amount) => (2, amount),
            ArmedRepeat::Times(amount) => (3, amount),
            ArmedRepeat::TotalNanos(amount) => (4, amount),
        };
        entries.push(Entry {
            site: it.site.0,
            fault,
            stack,
            repeat,
            flags,
            occurrence: it.occurrence.unwrap_or(0),
            probability: it.probability.unwrap_or(1.0).to_bits(),
            amount,
            stack_hash,
            strings_start,
            classes_len: classes.len() as u16,
            stack_len: patterns.len() as u16,
            threads_len: threads.len() as u16,
            node,
            reserved: 0,
            state: it.state.map_or(0, |it| it.0),
            repeat_amount,
            since_least: it.since.map_or(0, |it| it.least_nanos),
            since_most: it.since.map_or(0, |it| it.most_nanos),
            since_site: it.since.map_or(0, |it| it.site.0),
            within: it.within.map_or(0, |it| it.0.saturating_add(1)),
        });
    }
    let line = |it: &MethodLine| {
        text(&mut texts, &it.method);
        LineEntry { method: texts.len() as u32 - 1, line: it.line }
    };
    let lines: Vec<LineEntry> = plan.never_below.iter().map(line).collect();
    let arm_after = plan.arm_after.map_or(0, |it| u64::from(it.0) + 1);
    let counts = [entries.len() as u64, lines.len() as u64, texts.len() as u64, arm_after];
    let mut out = counts.as_bytes().to_vec();
    out.extend_from_slice(entries.as_bytes());
    out.extend_from_slice(lines.as_bytes());
    out.extend_from_slice(texts.as_bytes());
    out.extend_from_slice(&blob);
    out
}

/// The first `count` items, copied because the bytes may lie at any address, and what follows them.
fn items<T: FromBytes>(bytes: &[u8], count: usize) -> Option<(Vec<T>, &[u8])> {
    let (these, rest) = bytes.split_at_checked(count.checked_mul(size_of::<T>())?)?;
    Some((
        these.chunks_exact(size_of::<T>()).filter_map(|item| T::read_from_bytes(item).ok()).collect(),
        rest,
    ))
}

pub(crate) fn decode(bytes: &[u8]) -> Result<ArmedPlan, TraceError> {
    const SHORT: TraceError = TraceError::Malformed("the mapped plan is cut short");
    const SHARED: TraceError = TraceError::Malformed("candidates of the mapped plan share their texts");
    let (counts, rest) = <[u64; 4]>::read_from_prefix(bytes).map_err(|_| SHORT)?;
    let count = |n: u64| usize::try_from(n).map_err(|_| SHORT);
    let (entries, rest) = items::<Entry>(rest, count(counts[0])?).ok_or(SHORT)?;
    let (lines, rest) = items::<LineEntry>(rest, count(counts[1])?).ok_or(SHORT)?;
    let (texts, blob) = items::<Text>(rest, count(counts[2])?).ok_or(SHORT)?;
    // Every candidate has its own texts, so all of them together are no more than there is. Without this bound a
    // broken plan whose candidates share long texts would multiply them.
    let left = Cell::new(texts.len() + blob.len());
    let text = |at: usize| -> Result<String, TraceError> {
        let text = texts.get(at).ok_or(SHORT)?;
        left.set(left.get().checked_sub(1 + text.len as usize).ok_or(SHARED)?);
        let start = text.at as usize;
        let bytes = blob.get(start..start.saturating_add(text.len as usize)).ok_or(SHORT)?;
        Ok(String::from_utf8_lossy(bytes).into_owned())
    };
    let lines = lines.iter().map(|it| Ok(MethodLine { method: text(it.method as usize)?, line: it.line }));
    let never_below = lines.collect::<Result<Vec<MethodLine>, TraceError>>()?;
    let candidates = entries
        .iter()
        .map(|entry| {
            let at = entry.strings_start as usize;
            let list = |from: usize, len: u16| -> Result<Vec<String>, TraceError> {
                (from..from + usize::from(len)).map(text).collect()
            };
            let given = |bit: u8| entry.flags & bit != 0;
            let threads_at = at + 4 + usize::from(entry.classes_len) + usize::from(entry.stack_len);
            let mdc_at = threads_at + usize::from(entry.threads_len);
            Ok(ArmedCandidate {
                site: SiteId(entry.site),
                fault: match entry.fault {
                    1 => ArmedFault::Exception {
                        classes: list(at + 4, entry.classes_len)?,
                        message: text(at + 3)?,
                    },
                    2 => ArmedFault::Sleep { nanos: entry.amount },
                    3 => ArmedFault::Spin { nanos: entry.amount },
                    4 => ArmedFault::Crash { status: entry.amount as u32 as i32 },
                    5 => ArmedFault::Negate,
                    6 => ArmedFault::Force { taken: entry.amount != 0 },
                    7 => ArmedFault::First,
                    8 => ArmedFault::Then { nanos: entry.amount },
                    9 => ArmedFault::Number { bits: entry.amount },
                    10 => ArmedFault::Text { text: text(at + 3)? },
                    11 => ArmedFault::Drop,
                    12 => ArmedFault::DiskFull { path: text(at + 3)? },
                    13 => ArmedFault::Partition {
                        nodes: list(at + 4, entry.classes_len)?.try_into().map_err(|_| {
                            TraceError::Malformed("a partition of the mapped plan is not between two nodes")
                        })?,
                    },
                    _ => return Err(TraceError::Malformed("the mapped plan has an unknown fault")),
                },
                node: match entry.node {
                    node::ANY => ArmedNode::Any,
                    node::PROCESS => ArmedNode::Process(text(at)?),
                    node::WITHIN => {
                        ArmedNode::Within { threads: list(threads_at, entry.threads_len)?, mdc: None }
                    }
                    node::WITHIN_MDC => ArmedNode::Within {
                        threads: list(threads_at, entry.threads_len)?,
                        mdc: Some(ArmedMdc { key: text(mdc_at)?, value: text(mdc_at + 1)? }),
                    },
                    _ => return Err(TraceError::Malformed("the mapped plan has an unknown kind of node")),
                },
                thread: if given(flag::THREAD) { Some(text(at + 1)?) } else { None },
                state: given(flag::STATE).then_some(StateId(entry.state)),
                stack: match entry.stack {
                    0 => ArmedStack::Any,
                    1 => ArmedStack::Suffix(list(at + 4 + usize::from(entry.classes_len), entry.stack_len)?),
                    2 => ArmedStack::Hash(entry.stack_hash),
                    _ => return Err(TraceError::Malformed("the mapped plan has an unknown stack guard")),
                },
                occurrence: given(flag::OCCURRENCE).then_some(entry.occurrence),
                probability: given(flag::PROBABILITY).then(|| f64::from_bits(entry.probability)),
                repeat: match entry.repeat {
                    0 => ArmedRepeat::Once,
                    1 => ArmedRepeat::Always,
                    2 => ArmedRepeat::Nanos(entry.repeat_amount),
                    3 => ArmedRepeat::Times(entry.repeat_amount),
                    4 => ArmedRepeat::TotalNanos(entry.repeat_amount),
                    _ => {
                        return Err(TraceError::Malformed(
                            "the mapped plan has an unknown kind of repetition",
                        ));
                    }
                },
                since: given(flag::SINCE).then_some(ArmedSince {
                    site: SiteId(entry.since_site),
                    least_nanos: entry.since_least,
                    most_nanos: entry.since_most,
                }),
                within: entry.within.checked_sub(1).map(SiteId),
                resource: if given(flag::RESOURCE) { Some(text(at + 2)?) } else { None },
            })
        })
        .collect::<Result<Vec<ArmedCandidate>, TraceError>>()?;
    let arm_after = counts[3].checked_sub(1).map(|it| SiteId(it as u32));
    Ok(ArmedPlan { candidates, never_below, arm_after })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_plan_comes_back_as_it_went_in() {
        let base = ArmedCandidate {
            site: SiteId(7),
            fault: ArmedFault::Negate,
            node: ArmedNode::Any,
            thread: None,
            state: None,
            stack: ArmedStack::Any,
            occurrence: None,
            probability: None,
            repeat: ArmedRepeat::Once,
            since: None,
            within: None,
            resource: None,
        };
        let candidates = vec![
            base.clone(),
            ArmedCandidate {
                fault: ArmedFault::Exception {
                    classes: vec!["java.io.IOException".into(), "a.B".into()],
                    message: "disk".into(),
                },
                node: ArmedNode::Process("zk1".into()),
                thread: Some("Sync*".into()),
                stack: ArmedStack::Suffix(vec!["a.B.c".into(), "*".into()]),
                state: Some(StateId(3)),
                occurrence: Some(5_000_000),
                probability: Some(0.25),
                repeat: ArmedRepeat::Always,
                ..base.clone()
            },
            ArmedCandidate { repeat: ArmedRepeat::Nanos(7), ..base.clone() },
            ArmedCandidate { repeat: ArmedRepeat::Times(8), ..base.clone() },
            ArmedCandidate {
                repeat: ArmedRepeat::TotalNanos(9),
                within: Some(SiteId(5)),
                resource: Some("zk1/*".into()),
                since: Some(ArmedSince { site: SiteId(3), least_nanos: 4, most_nanos: u64::MAX }),
                ..base.clone()
            },
            ArmedCandidate {
                fault: ArmedFault::Sleep { nanos: 1 },
                stack: ArmedStack::Hash(9),
                state: Some(StateId::NO_TASK),
                ..base.clone()
            },
            ArmedCandidate {
                fault: ArmedFault::Spin { nanos: 2 },
                node: ArmedNode::Process(String::new()),
                ..base.clone()
            },
            ArmedCandidate {
                node: ArmedNode::Within { threads: vec!["zk2-*".into(), "".into()], mdc: None },
                thread: Some("Sync*".into()),
                stack: ArmedStack::Suffix(vec!["a.B.c".into()]),
                ..base.clone()
            },
            ArmedCandidate {
                fault: ArmedFault::Exception { classes: vec!["a.B".into()], message: "disk".into() },
                node: ArmedNode::Within {
                    threads: Vec::new(),
                    mdc: Some(ArmedMdc { key: "node".into(), value: "zk3".into() }),
                },
                ..base.clone()
            },
            ArmedCandidate { fault: ArmedFault::Crash { status: 137 }, ..base.clone() },
            ArmedCandidate { fault: ArmedFault::Force { taken: true }, ..base.clone() },
            ArmedCandidate { fault: ArmedFault::First, ..base.clone() },
            ArmedCandidate { fault: ArmedFault::Then { nanos: 5 }, ..base.clone() },
            ArmedCandidate { fault: ArmedFault::Number { bits: u64::MAX }, ..base.clone() },
            ArmedCandidate { fault: ArmedFault::Text { text: "a b".into() }, ..base.clone() },
            ArmedCandidate {
                fault: ArmedFault::Partition { nodes: ["n1".into(), "n2".into()] },
                ..base.clone()
            },
            ArmedCandidate { fault: ArmedFault::Drop, ..base.clone() },
            ArmedCandidate { fault: ArmedFault::DiskFull { path: "zk1/*".into() }, ..base },
        ];
        let line = |method: &str, line| MethodLine { method: method.into(), line };
        let plan = ArmedPlan {
            candidates,
            never_below: vec![line("a.B.pack", 12), line("", u32::MAX)],
            arm_after: Some(SiteId(0)),
        };
        assert_eq!(decode(&encode(&plan)).unwrap(), plan);
    }

    #[test]
    fn candidates_that_share_texts_do_not_multiply_them() {
        let classes = vec!["x".repeat(50); 100];
        let candidate = ArmedCandidate {
            site: SiteId(0),
            fault: ArmedFault::Exception { classes, message: String::new() },
            node: ArmedNode::Any,
            thread: None,
            state: None,
            stack: ArmedStack::Any,
            occurrence: None,
            probability: None,
            repeat: ArmedRepeat::Once,
            since: None,
            within: None,
            resource: None,
        };
        let plan = ArmedPlan { candidates: vec![candidate; 100], ..ArmedPlan::default() };
        let mut bytes = encode(&plan);
        // From 500 KB of texts, each now as long as all of them, come 5 GB.
        let (texts, len) = (32 + 100 * size_of::<Entry>(), (100 * 100 * 50u32).to_le_bytes());
        for text in bytes[texts..].chunks_exact_mut(size_of::<Text>()).take(100 * 104) {
            text[..4].fill(0);
            text[4..].copy_from_slice(&len);
        }
        assert!(decode(&bytes).unwrap_err().to_string().contains("share their texts"));
    }
}
