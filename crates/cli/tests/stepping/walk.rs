//! Where a thread was by the instructions that it executed: its calls, loops, iterations and branches.

use std::collections::{BTreeMap, BTreeSet};

use crate::listing::{Instruction, Method};

/// A path: the callers, what it is around, and its branches.
pub type Path = (String, String, Vec<String>);

/// What hooks should see of a run. A site is written as its method, its kind and its number.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Seen {
    /// Each hit, with the outcome of branches.
    pub hits: Vec<String>,
    /// Each loop that was left: callers, site and iterations.
    pub runs: Vec<(String, String, u64)>,
    /// The paths that occurred.
    pub paths: BTreeSet<Path>,
    /// The iterations of each loop, by its callers and the loop around it.
    pub tallies: BTreeMap<(String, String, Option<String>), u64>,
}

impl Seen {
    /// Leaves out what some methods have a part in.
    pub fn without(mut self, methods: &BTreeSet<String>) -> Seen {
        let is_kept = |text: &str| !text.split([' ', '<']).any(|word| methods.contains(word));
        self.hits.retain(|it| is_kept(it));
        self.runs.retain(|it| is_kept(&it.0));
        self.paths.retain(|it| is_kept(&it.0));
        self.tallies.retain(|it, _| is_kept(&it.0));
        self
    }
}

/// A loop that the thread is in.
struct Open {
    number: usize,
    iterations: u64,
    around: Option<String>,
    path: Vec<String>,
}

/// A call.
struct Call<'m> {
    name: &'m str,
    method: &'m Method,
    /// The instruction that was executed last.
    last: u32,
    loops: Vec<Open>,
    path: Vec<String>,
}

/// The walk of a thread.
pub struct Walk<'m> {
    methods: &'m BTreeMap<String, Method>,
    /// How many calls away the branches are that belong to an iteration.
    depth: usize,
    calls: Vec<Call<'m>>,
    seen: Seen,
}

/// A branch with its outcome. That of a switch is where it goes: steps do not show the key.
pub fn branch(name: &str, method: &Method, pc: u32, to: u32) -> String {
    let it = &method.code[&pc];
    if it.is_switch() {
        format!("{name} switch {} to {to}", method.ordinal(pc, Instruction::is_switch))
    } else {
        let outcome = if it.target == Some(to) { "taken" } else { "not taken" };
        format!("{name} branch {} {outcome}", method.ordinal(pc, Instruction::is_branch))
    }
}

/// The methods that are followed.
pub fn is_followed(name: &str) -> bool {
    name.strip_prefix('m').is_some_and(|number| number.parse::<u32>().is_ok())
}

impl<'m> Walk<'m> {
    pub fn new(methods: &'m BTreeMap<String, Method>, depth: usize) -> Walk<'m> {
        Walk { methods, depth, calls: Vec::new(), seen: Seen::default() }
    }

    /// The thread executed an instruction.
    pub fn step(&mut self, name: &str, pc: u32) {
        // No method calls itself, and none begins with a loop.
        if pc != 0 {
            while self.calls.last().is_some_and(|it| it.name != name) {
                self.leave_call();
            }
        }
        if !is_followed(name) {
            assert!(pc == 0 || self.calls.is_empty(), "{name} is called by no method that is followed");
            return;
        }
        if pc == 0 {
            let (name, method) = self.methods.get_key_value(name).expect("a method of the class");
            self.calls.push(Call { name, method, last: 0, loops: Vec::new(), path: Vec::new() });
            self.seen.hits.push(format!("{name} entry 0"));
            return;
        }
        self.decide(pc);
        while self.open().is_some_and(|it| !it.all.contains(&pc)) {
            self.leave_loop();
        }
        self.arrive(pc);
        self.calls.last_mut().expect("a method is left only after it was entered").last = pc;
    }

    /// The end of the thread.
    pub fn end(mut self) -> Seen {
        while !self.calls.is_empty() {
            self.leave_call();
        }
        self.seen
    }

    /// The loop that the thread is in.
    fn open(&self) -> Option<&'m crate::listing::Loop> {
        let call = self.calls.last()?;
        Some(&call.method.loops[call.loops.last()?.number])
    }

    fn callers(&self) -> String {
        self.calls.iter().rev().map(|it| it.name).collect::<Vec<_>>().join("<")
    }

    /// Adds the outcome of the last instruction, if it is a branch.
    fn decide(&mut self, pc: u32) {
        let call = self.calls.last().expect("a step of a method that was entered");
        let it = &call.method.code[&call.last];
        if !it.is_branch() && !it.is_switch() {
            return;
        }
        let text = branch(call.name, call.method, call.last, pc);
        let hit = if it.is_switch() {
            text.split(" to ").next().expect("some text").to_owned()
        } else {
            text.clone()
        };
        self.seen.hits.push(hit);
        let depth = self.depth;
        // The iteration that is at most so many calls away, or else the call itself.
        let near = self.calls.iter_mut().rev().take(depth + 1);
        match near.filter_map(|it| it.loops.last_mut()).next() {
            Some(it) => it.path.push(text),
            None => self.calls.last_mut().expect("the call").path.push(text),
        }
    }

    /// Enters a loop, or begins an iteration.
    fn arrive(&mut self, pc: u32) {
        let around = self.calls.iter().rev().find_map(|it| Some(site(it, it.loops.last()?.number)));
        let call = self.calls.last_mut().expect("a step of a method that was entered");
        let entered = call.method.loops.iter().position(|it| it.head == pc && !it.all.contains(&call.last));
        if let Some(number) = entered {
            call.loops.push(Open { number, iterations: 0, around, path: Vec::new() });
        }
        if let Some(number) = call.method.marked(pc) {
            self.seen.hits.push(site(call, number));
            self.tell_iteration();
            let own = self.calls.last_mut().and_then(|it| it.loops.last_mut()).expect("the loop is open");
            assert_eq!(own.number, number);
            own.iterations += 1;
        }
    }

    fn tell_iteration(&mut self) {
        let callers = self.callers();
        let call = self.calls.last_mut().expect("a loop is in a call");
        let name = site(call, call.loops.last().expect("a loop is open").number);
        let own = call.loops.last_mut().expect("a loop is open");
        let path = std::mem::take(&mut own.path);
        if own.iterations > 0 {
            self.seen.paths.insert((callers, name, path));
        }
    }

    fn leave_loop(&mut self) {
        self.tell_iteration();
        let callers = self.callers();
        let call = self.calls.last_mut().expect("a loop is in a call");
        let Some(own) = call.loops.pop() else { return };
        let name = site(call, own.number);
        if own.iterations > 0 {
            *self.seen.tallies.entry((callers.clone(), name.clone(), own.around)).or_default() +=
                own.iterations;
        }
        self.seen.runs.push((callers, name, own.iterations));
    }

    fn leave_call(&mut self) {
        while self.open().is_some() {
            self.leave_loop();
        }
        let callers = self.callers();
        let Some(call) = self.calls.pop() else { return };
        if !call.path.is_empty() {
            self.seen.paths.insert((callers, format!("{} entry 0", call.name), call.path));
        }
    }
}

fn site(call: &Call<'_>, number: usize) -> String {
    format!("{} loop_body {number}", call.name)
}
