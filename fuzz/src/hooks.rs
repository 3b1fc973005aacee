//! Which hooks go into a method: chosen by a few bytes, made like those of the agent.

use std::collections::BTreeSet;

use hypocenter_classfile::{CallCatch, Code, Insertion, Instruction, Patcher, Place, Snippet, Unpatched, op};

/// The number of option bytes before the class.
pub const OPTION_BYTES: usize = 5;
/// How many hooks a method gets at most; numbers up to here fit `sipush`.
const HOOKS_MAX: usize = 1000;
/// How many of them are on edges: each set of ways in is compared with the others at its target.
const EDGES_MAX: usize = 64;
/// Added to the number of a hook that is pushed by `ldc_w`.
const LARGE: i32 = 100_000;

/// The options of an input.
#[derive(Debug, Clone, Copy)]
pub struct Options {
    kinds: u8,
    methods: u8,
    density: u8,
    edges: u8,
    seen: u8,
}

mod kind {
    pub const BEFORE: u8 = 1;
    pub const AFTER: u8 = 2;
    pub const BLOCKS: u8 = 4;
    pub const ENTRY: u8 = 8;
    pub const EDGES: u8 = 16;
    pub const CATCH_ALL: u8 = 32;
    pub const LARGE: u8 = 64;
    pub const ANYWHERE: u8 = 128;
}

/// The kinds of hooks that see something.
mod seen {
    /// The operands of a conditional jump.
    pub const BRANCHES: u8 = 1;
    /// The key of a switch.
    pub const SWITCHES: u8 = 2;
    /// What comes out of a call.
    pub const CALLS: u8 = 4;
    /// What the code itself throws.
    pub const THROWS: u8 = 8;
}

/// A hook, before the snippet exists.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Hook {
    /// What its snippet pushes.
    pub number: i32,
    /// The instruction.
    pub at: u32,
    /// Where.
    pub spot: Spot,
}

/// [`Place`], owned.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Spot {
    /// See [`Place::Before`].
    Before,
    /// See [`Place::After`].
    After,
    /// See [`Place::Entry`].
    Entry,
    /// See [`Place::Edges`].
    Edges {
        /// From the instruction before.
        fall: bool,
        /// From these jumps.
        from: Vec<u32>,
    },
    /// Directly before a conditional jump, in place of its test: the hook takes the operands and answers.
    Branch,
    /// Before a switch, whose key it sees.
    Switch,
    /// Before a throw, whose exception it sees.
    Throw,
    /// See [`CallCatch`].
    Thrown,
}

impl Spot {
    /// Whether it runs whenever control reaches the instruction; that at a call stores its number there.
    pub fn is_before(&self) -> bool {
        matches!(self, Spot::Before | Spot::Branch | Spot::Switch | Spot::Throw | Spot::Thrown)
    }
}

impl Options {
    /// The options, and the class behind them.
    pub fn split(bytes: &[u8]) -> Option<(Options, &[u8])> {
        let (&[kinds, methods, density, edges, seen], class) = bytes.split_first_chunk::<OPTION_BYTES>()?;
        Some((Options { kinds, methods, density, edges, seen }, class))
    }

    fn has(&self, kind: u8) -> bool {
        self.kinds & kind != 0
    }

    /// Whether the n-th method is to be patched.
    pub fn method(&self, n: usize) -> bool {
        self.methods >> (n % 8) & 1 == 1
    }

    /// Whether methods get a handler over everything.
    pub fn catch_all(&self) -> bool {
        self.has(kind::CATCH_ALL)
    }

    /// A choice that depends on the options and on what it is about, and on nothing else.
    fn chosen(&self, salt: u8, subject: u32) -> bool {
        let mixed = (u64::from(salt) << 40 | u64::from(self.density) << 32 | u64::from(subject))
            .wrapping_mul(0x9E37_79B9_7F4A_7C15);
        self.density == 0xFF || (mixed >> 56) as u8 <= self.density
    }
}

/// The hooks for a method.
pub fn choose(options: &Options, code: &[Instruction<'_>], whole: &Code<'_>) -> Vec<Hook> {
    let mut hooks = Vec::new();
    let mut push = |at: u32, spot: Spot| {
        if hooks.len() < HOOKS_MAX {
            let large = if options.has(kind::LARGE) { LARGE } else { 0 };
            hooks.push(Hook { number: hooks.len() as i32 + large, at, spot });
        }
    };
    if options.has(kind::ENTRY) {
        push(u32::MAX, Spot::Entry);
    }
    for it in code.iter().filter(|it| it.is_invoke() || options.has(kind::ANYWHERE)) {
        if options.has(kind::BEFORE) && options.chosen(1, it.pc) {
            push(it.pc, Spot::Before);
        }
        if options.has(kind::AFTER) && options.chosen(2, it.pc) {
            push(it.pc, Spot::After);
        }
    }
    if options.has(kind::BLOCKS) {
        for at in block_starts(code, whole).into_iter().filter(|at| options.chosen(3, *at)) {
            push(at, Spot::Before);
        }
    }
    if options.has(kind::EDGES) {
        for (at, spot) in edges(options, code) {
            push(at, spot);
        }
    }
    // Last, as a hook that takes the operands of a jump has to stand directly before it.
    for it in code {
        let (kind, spot) = match it.opcode {
            op::ATHROW => (seen::THROWS, Spot::Throw),
            op::TABLESWITCH | op::LOOKUPSWITCH => (seen::SWITCHES, Spot::Switch),
            _ if it.is_invoke() => (seen::CALLS, Spot::Thrown),
            opcode if operands(opcode).is_some() => (seen::BRANCHES, Spot::Branch),
            _ => continue,
        };
        if options.seen & kind != 0 && options.chosen(5, it.pc) {
            push(it.pc, spot);
        }
    }
    hooks
}

/// The operands of a conditional jump, as a descriptor has them.
fn operands(opcode: u8) -> Option<&'static str> {
    match opcode {
        op::IFEQ..=op::IFLE => Some("I"),
        op::IF_ICMPEQ..=op::IF_ICMPLE => Some("II"),
        op::IF_ACMPEQ | op::IF_ACMPNE => Some("Ljava/lang/Object;Ljava/lang/Object;"),
        op::IFNULL | op::IFNONNULL => Some("Ljava/lang/Object;"),
        _ => None,
    }
}

fn block_starts(code: &[Instruction<'_>], whole: &Code<'_>) -> BTreeSet<u32> {
    let mut starts = BTreeSet::from([0]);
    for it in code {
        starts.extend(it.targets());
        if it.targets().next().is_some() && (it.end() as usize) < whole.bytes.len() {
            starts.insert(it.end());
        }
    }
    starts.extend(whole.handlers().map(|handler| u32::from(handler.handler)));
    // Jumps to nowhere are the patcher's to refuse; it does so without a hook at their target.
    starts.retain(|pc| code.binary_search_by_key(pc, |it| it.pc).is_ok());
    starts
}

/// For each jump: a hook on its edge alone, on all ways in but this one, or on it and falling through.
fn edges(options: &Options, code: &[Instruction<'_>]) -> Vec<(u32, Spot)> {
    let mut ways: Vec<(u32, u32)> =
        code.iter().flat_map(|it| it.targets().map(move |target| (target, it.pc))).collect();
    ways.sort_unstable();
    ways.dedup();
    let mut edges = Vec::new();
    for &(target, source) in ways.iter().filter(|(target, source)| options.chosen(4, target ^ source << 16)) {
        if edges.len() >= EDGES_MAX {
            break;
        }
        let sources = |wanted: &dyn Fn(u32) -> bool| {
            let first = ways.partition_point(|way| way.0 < target);
            let all = ways[first..].iter().take_while(|way| way.0 == target).map(|way| way.1);
            all.filter(|pc| wanted(*pc)).collect::<Vec<u32>>()
        };
        let fall = options.edges & 1 != 0;
        let from = match options.edges >> 1 & 3 {
            0 => vec![source],
            1 => sources(&|pc| pc != source),
            2 => sources(&|pc| pc <= source),
            _ => sources(&|pc| (pc <= target) == (source <= target)),
        };
        edges.push((target, Spot::Edges { fall, from }));
        if options.edges & 8 != 0 {
            edges.push((target, Spot::Edges { fall: !fall, from: vec![source] }));
        }
    }
    // Some jumps that do not lead there, and some instructions that are none.
    if options.edges & 0xF0 == 0xF0
        && let Some(edge) = edges.last().cloned()
    {
        edges.push((edge.0.wrapping_add(1), edge.1));
    }
    edges
}

/// The snippets of some hooks, one behind the other.
#[derive(Debug, Default)]
pub struct Snippets {
    bytes: Vec<u8>,
    ends: Vec<usize>,
    /// The snippet of the handler over everything.
    pub caught: Vec<u8>,
    /// The snippet for what comes out of calls, and these with their numbers.
    thrown: Vec<u8>,
    calls: Vec<(u32, i32)>,
}

/// The constants that the snippets call.
#[derive(Debug, Clone)]
pub struct Helpers {
    /// `hit(I)V`
    pub hit: u16,
    /// `caught(Ljava/lang/Throwable;I)V`
    pub caught: u16,
    /// `key(II)V`
    pub key: u16,
    /// `way(..I)Z`, for each hook at a conditional jump: its number and what it calls.
    pub ways: Vec<(i32, u16)>,
}

impl Helpers {
    /// What the snippet of a hook calls, and whether it leaves there what it sees.
    pub fn call(&self, hook: &Hook) -> (u16, bool) {
        match hook.spot {
            Spot::Branch => {
                let way = self.ways.iter().find(|it| it.0 == hook.number);
                (way.expect("a hook at a jump has its own helper").1, false)
            }
            Spot::Switch => (self.key, true),
            Spot::Throw | Spot::Thrown => (self.caught, true),
            Spot::Before | Spot::After | Spot::Entry | Spot::Edges { .. } => (self.hit, false),
        }
    }
}

impl Snippets {
    /// Makes the snippets, with the constants they need.
    pub fn build(
        patcher: &mut Patcher<'_>,
        hooks: &[Hook],
        code: &[Instruction<'_>],
    ) -> Result<(Snippets, Helpers), Unpatched> {
        let mut snippets = Snippets::default();
        let class = b"hypocenter/Rt";
        let mut helpers = Helpers {
            hit: patcher.method_ref(class, b"hit", b"(I)V")?,
            caught: patcher.method_ref(class, b"caught", b"(Ljava/lang/Throwable;I)V")?,
            key: patcher.method_ref(class, b"key", b"(II)V")?,
            ways: Vec::new(),
        };
        for hook in hooks.iter().filter(|it| it.spot == Spot::Branch) {
            let jump = code.iter().find(|it| it.pc == hook.at).and_then(|it| operands(it.opcode));
            let descriptor = format!("({}I)Z", jump.expect("such a hook is at a conditional jump"));
            helpers.ways.push((hook.number, patcher.method_ref(class, b"way", descriptor.as_bytes())?));
        }
        for hook in hooks {
            if hook.spot == Spot::Thrown {
                snippets.calls.push((hook.at, hook.number));
                snippets.ends.push(snippets.bytes.len());
                continue;
            }
            let (call, keeps) = helpers.call(hook);
            if keeps {
                snippets.bytes.push(op::DUP);
            }
            match i16::try_from(hook.number) {
                Ok(small) => {
                    snippets.bytes.push(op::SIPUSH);
                    snippets.bytes.extend_from_slice(&small.to_be_bytes());
                }
                Err(_) => {
                    snippets.bytes.push(op::LDC_W);
                    snippets.bytes.extend_from_slice(&patcher.integer(hook.number)?.to_be_bytes());
                }
            }
            snippets.bytes.push(op::INVOKESTATIC);
            snippets.bytes.extend_from_slice(&call.to_be_bytes());
            snippets.ends.push(snippets.bytes.len());
        }
        let [high, low] = helpers.caught.to_be_bytes();
        snippets.caught = vec![op::DUP, op::SIPUSH, 0x7F, 0xFF, op::INVOKESTATIC, high, low];
        snippets.thrown = vec![op::INVOKESTATIC, high, low];
        Ok((snippets, helpers))
    }

    fn of<'p>(&'p self, hooks: &'p [Hook]) -> impl Iterator<Item = (&'p Hook, Snippet<'p>)> {
        let starts = std::iter::once(&0).chain(&self.ends);
        let snippets = starts.zip(&self.ends).map(|(&start, &end)| &self.bytes[start..end]);
        hooks.iter().zip(snippets.map(|bytes| Snippet { bytes, stack: 2 }))
    }

    /// The insertions for the patcher.
    pub fn insertions<'p>(&'p self, hooks: &'p [Hook]) -> Vec<Insertion<'p>> {
        let insertion = |(hook, snippet): (&'p Hook, Snippet<'p>)| {
            let place = match &hook.spot {
                Spot::Thrown => return None,
                Spot::After => Place::After,
                Spot::Entry => Place::Entry,
                Spot::Edges { fall, from } => Place::Edges { fall: *fall, from },
                Spot::Before | Spot::Branch | Spot::Switch | Spot::Throw => Place::Before,
            };
            Some(Insertion { at: hook.at, place, snippet })
        };
        self.of(hooks).filter_map(insertion).collect()
    }

    /// What the patcher gets for what comes out of calls.
    pub fn calls(&self) -> CallCatch<'_> {
        CallCatch { snippet: Snippet { bytes: &self.thrown, stack: 0 }, calls: &self.calls }
    }
}

/// The jumps that only test what their hooks answer.
pub fn jumps(hooks: &[Hook]) -> Vec<(u32, u8)> {
    hooks.iter().filter(|it| it.spot == Spot::Branch).map(|it| (it.at, op::IFNE)).collect()
}
