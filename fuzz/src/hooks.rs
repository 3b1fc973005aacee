//! Which hooks go into a method: chosen by a few bytes, made like those of the agent.

use std::collections::BTreeSet;

use hypocenter_classfile::{Code, Insertion, Instruction, Patcher, Place, Snippet, Unpatched, op};

/// The number of option bytes before the class.
pub const OPTION_BYTES: usize = 4;
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
}

impl Options {
    /// The options, and the class behind them.
    pub fn split(bytes: &[u8]) -> Option<(Options, &[u8])> {
        let (&[kinds, methods, density, edges], class) = bytes.split_first_chunk::<OPTION_BYTES>()?;
        Some((Options { kinds, methods, density, edges }, class))
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
    hooks
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
}

/// The constants that the snippets call.
#[derive(Debug, Clone, Copy)]
pub struct Helpers {
    /// `hit(I)V`
    pub hit: u16,
    /// `caught(Ljava/lang/Throwable;I)V`
    pub caught: u16,
}

impl Snippets {
    /// Makes the snippets, with the constants they need.
    pub fn build(patcher: &mut Patcher<'_>, hooks: &[Hook]) -> Result<(Snippets, Helpers), Unpatched> {
        let mut snippets = Snippets::default();
        let class = b"hypocenter/Rt";
        let hit = patcher.method_ref(class, b"hit", b"(I)V")?;
        let caught = patcher.method_ref(class, b"caught", b"(Ljava/lang/Throwable;I)V")?;
        for hook in hooks {
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
            snippets.bytes.extend_from_slice(&hit.to_be_bytes());
            snippets.ends.push(snippets.bytes.len());
        }
        let [high, low] = caught.to_be_bytes();
        snippets.caught = vec![op::DUP, op::SIPUSH, 0x7F, 0xFF, op::INVOKESTATIC, high, low];
        Ok((snippets, Helpers { hit, caught }))
    }

    /// The insertions for the patcher.
    pub fn insertions<'p>(&'p self, hooks: &'p [Hook]) -> Vec<Insertion<'p>> {
        let starts = std::iter::once(&0).chain(&self.ends);
        let snippets = starts.zip(&self.ends).map(|(&start, &end)| &self.bytes[start..end]);
        hooks
            .iter()
            .zip(snippets)
            .map(|(hook, bytes)| Insertion {
                at: hook.at,
                place: match &hook.spot {
                    Spot::Before => Place::Before,
                    Spot::After => Place::After,
                    Spot::Entry => Place::Entry,
                    Spot::Edges { fall, from } => Place::Edges { fall: *fall, from },
                },
                snippet: Snippet { bytes, stack: 1 },
            })
            .collect()
    }
}
