//! Lines below which nothing is read or written but in memory.
//!
//! Objects of a method often depend on its caller: the same record is packed into a buffer by one caller and written to
//! a file by another. A stack tells which way it was, by lines and not by calls. So a line counts if all that its calls read
//! and write lives in memory, whether they do it themselves or what they run does.

use crate::dataflow::memory::{InMemory, Memory, MemoryPlace};
use crate::facts::CallId;
use crate::program::Program;

impl Program {
    /// These lines, sorted. It takes a while, so it is asked for where it is needed.
    pub fn memory_lines(&self) -> Vec<MemoryPlace> {
        let Program { world, facts, calls, memory, .. } = self;
        let mut at: Vec<(MemoryPlace, CallId)> = (0..)
            .zip(facts.calls())
            .map(|(number, it)| (MemoryPlace { method: it.method, line: it.line }, CallId(number)))
            .filter(|it| it.0.line > 0)
            .collect();
        at.sort_unstable();
        let lines = || at.chunk_by(|one, other| one.0 == other.0);
        let is_site = |it: CallId| memory.verdict(it).is_some();
        let below = Memory::of_below(world, facts, calls, |sketcher| {
            let in_memory = |it: CallId| memory.verdict(it) == Some(InMemory::Always);
            let is_worth_it = |it: CallId| in_memory(it) || sketcher.is_given_stream(it);
            let lines = lines().filter(|line| line.iter().any(|it| is_worth_it(it.1)));
            let called = lines.flatten().map(|it| it.1);
            called.filter(|&it| !is_site(it) && !calls.targets(facts.call(it)).is_empty()).collect()
        });
        let verdict = |it: CallId| if is_site(it) { memory.verdict(it) } else { below.below(it) };
        let counts = |line: &&[(MemoryPlace, CallId)]| {
            let mut found = line.iter().filter_map(|it| verdict(it.1)).peekable();
            found.peek().is_some() && found.all(|it| it == InMemory::Always)
        };
        lines().filter(counts).map(|line| line[0].0).collect()
    }
}
