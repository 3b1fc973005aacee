//! The code of a class as `javap` prints it: instructions, jumps, handlers and lines. None of the tool's own reading of class files.

use std::collections::{BTreeMap, BTreeSet};

/// An instruction.
#[derive(Debug, Default)]
pub struct Instruction {
    pub name: String,
    /// The targets of a jump, or of a switch by key.
    pub target: Option<u32>,
    pub keys: BTreeMap<i32, u32>,
    pub default: Option<u32>,
}

/// A method.
#[derive(Debug, Default)]
pub struct Method {
    pub code: BTreeMap<u32, Instruction>,
    /// The methods of the class that it calls.
    pub calls: BTreeSet<String>,
    /// Exception ranges: start, end, handler.
    handlers: Vec<(u32, u32, u32)>,
    /// Lines, each with the code index that it starts at.
    lines: Vec<(u32, u32)>,
    /// The loops, by their heads.
    pub loops: Vec<Loop>,
}

/// A natural loop.
#[derive(Debug)]
pub struct Loop {
    pub head: u32,
    pub all: BTreeSet<u32>,
    /// Where its body is known to begin.
    pub marks: Vec<u32>,
}

impl Instruction {
    pub fn is_branch(&self) -> bool {
        self.name.starts_with("if")
    }

    pub fn is_switch(&self) -> bool {
        self.default.is_some()
    }

    fn goes_on(&self) -> bool {
        let ends = self.name.ends_with("return") || self.name == "athrow" || self.name.starts_with("goto");
        !ends && !self.is_switch()
    }

    /// Where a switch goes with a key.
    pub fn of_key(&self, key: i32) -> u32 {
        *self.keys.get(&key).or(self.default.as_ref()).expect("a switch has a default")
    }
}

/// The methods of a class by name, from the text of `javap -c -l -p`.
pub fn read(text: &str, marks: &[u32]) -> BTreeMap<String, Method> {
    let mut methods: BTreeMap<String, Method> = BTreeMap::new();
    let (mut name, mut at, mut section) = (String::new(), 0, "");
    for line in text.lines().map(str::trim) {
        let words: Vec<&str> = line.split_whitespace().collect();
        let number = |word: &str| word.trim_end_matches(':').parse::<i64>().ok();
        match &words[..] {
            ["Code:"] => section = "code",
            ["static", "{};"] => {
                name = "static".to_owned();
                methods.entry(name.clone()).or_default();
            }
            ["Exception", "table:"] => section = "handlers",
            ["LineNumberTable:"] => section = "lines",
            [.., last] if last.ends_with(");") => {
                let before = line.split('(').next().unwrap_or_default();
                name = before.split_whitespace().last().unwrap_or_default().to_owned();
                methods.entry(name.clone()).or_default();
            }
            ["line", source, pc] => {
                let line = number(source).expect("a line") as u32;
                let pc = pc.parse().expect("a code index");
                methods.get_mut(&name).expect("a method").lines.push((line, pc));
            }
            [from, to, handler, ..] if section == "handlers" && number(from).is_some() => {
                let all = [from, to, handler].map(|it| number(it).expect("a code index") as u32);
                methods.get_mut(&name).expect("a method").handlers.push((all[0], all[1], all[2]));
            }
            [key, target] if section == "switch" => {
                let of = methods.get_mut(&name).and_then(|it| it.code.get_mut(&at)).expect("a switch");
                let target = target.parse().expect("a target");
                match number(key) {
                    Some(key) => drop(of.keys.insert(key as i32, target)),
                    None => of.default = Some(target),
                }
            }
            ["}"] if section == "switch" => section = "code",
            [pc, opcode, rest @ ..] if section == "code" && pc.ends_with(':') => {
                at = number(pc).expect("a code index") as u32;
                let jumps = opcode.starts_with("if") || opcode.starts_with("goto");
                let target = rest.first().filter(|_| jumps).map(|it| it.parse().expect("a target"));
                let it = Instruction { name: (*opcode).to_owned(), target, ..Instruction::default() };
                let own = methods.get_mut(&name).expect("a method");
                own.code.insert(at, it);
                // `#7  // Method m3:(I)I`
                let called = rest.iter().position(|it| *it == "Method").and_then(|at| rest.get(at + 1));
                own.calls.extend(called.and_then(|it| Some(it.split_once(':')?.0.to_owned())));
                if opcode.ends_with("switch") {
                    section = "switch";
                }
            }
            _ => {}
        }
    }
    methods.values_mut().for_each(|it| it.find_loops(marks));
    methods
}

impl Method {
    /// The number of an instruction among those of its kind.
    pub fn ordinal(&self, pc: u32, of_kind: impl Fn(&Instruction) -> bool) -> usize {
        self.code.range(..pc).filter(|(_, it)| of_kind(it)).count()
    }

    pub fn count(&self, of_kind: impl Fn(&Instruction) -> bool) -> usize {
        self.code.values().filter(|it| of_kind(it)).count()
    }

    /// The loop with a mark there, by its number.
    pub fn marked(&self, pc: u32) -> Option<usize> {
        self.loops.iter().position(|it| it.marks.contains(&pc))
    }

    /// The ways from one instruction to another without an exception.
    fn ways(&self) -> Vec<(u32, u32)> {
        let mut ways = Vec::new();
        for (&pc, it) in &self.code {
            let next = self.code.range(pc + 1..).next().filter(|_| it.goes_on()).map(|(&next, _)| next);
            let all = it.target.into_iter().chain(it.keys.values().copied()).chain(it.default).chain(next);
            ways.extend(all.map(|to| (pc, to)));
        }
        ways
    }

    /// All instructions that can be reached from one by some ways, without going through another.
    fn reached(ways: &[(u32, u32)], from: u32, without: Option<u32>) -> BTreeSet<u32> {
        let mut reached = BTreeSet::new();
        let mut pending = vec![from];
        while let Some(pc) = pending.pop() {
            if Some(pc) != without && reached.insert(pc) {
                pending.extend(ways.iter().filter(|it| it.0 == pc).map(|it| it.1));
            }
        }
        reached
    }

    /// By definition: a way back to an instruction without which its start cannot be reached makes a loop of all that can get to that start
    /// without going through the head.
    fn find_loops(&mut self, marks: &[u32]) {
        let normal = self.ways();
        let mut all = normal.clone();
        for &(from, to, handler) in &self.handlers {
            all.extend(self.code.range(from..to).map(|(&pc, _)| (pc, handler)));
        }
        let live = Self::reached(&all, 0, None);
        let backward: Vec<(u32, u32)> =
            all.iter().filter(|it| live.contains(&it.0)).map(|&(from, to)| (to, from)).collect();
        let mut loops: BTreeMap<u32, BTreeSet<u32>> = BTreeMap::new();
        for &(from, head) in normal.iter().filter(|(from, to)| to <= from && live.contains(from)) {
            let is_passed = !Self::reached(&all, 0, Some(head)).contains(&from);
            assert!(is_passed, "the methods of this test have no loop with two ways in");
            let own = loops.entry(head).or_insert_with(|| BTreeSet::from([head]));
            own.extend(Self::reached(&backward, from, Some(head)));
        }
        self.loops = loops.into_iter().map(|(head, all)| Loop { head, all, marks: Vec::new() }).collect();
        for &(_, pc) in self.lines.iter().filter(|(line, _)| marks.contains(line)) {
            let around = self.loops.iter_mut().filter(|it| it.all.contains(&pc));
            if let Some(it) = around.min_by_key(|it| it.all.len()) {
                it.marks.push(pc);
            }
        }
    }
}
