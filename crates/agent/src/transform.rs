//! Puts the map's hooks into a class as it loads.
//!
//! The map was made from the class path; what the JVM loads may be something else, because another agent was there
//! first. A method whose code is the one that was scanned (by its digest) gets its hooks where the map says. One
//! that was changed gets those hooks that can still be told apart, by callee and order, and they are reported as
//! moved; the others are refused. A hook is never put at a place that is merely likely.

use hypocenter_classfile::{
    CallCatch, ClassFile, Code, Insertion, Instruction, Mark, Member, MethodPatch, Patcher, Place, Snippet,
    Unpatched, callee_text, code_digest_symbolic, constant_text, op,
};
use std::collections::BTreeMap;

use hypocenter_plan::{OperationKind, SiteKind};
use hypocenter_trace::{
    Deed, FALL_THROUGH, Map, MapClass, MapHook, MapMethod, Operand, PatchTally, Placement, ReportKind,
    Session, SiteId, Waist, level, waist,
};

use rustc_hash::FxHashSet;

use crate::helper;
use crate::lasting::Lasting;
use crate::sights::{self, Extra, Method};
use crate::values::ValueCall;

/// HotSpot never compiles a longer method (`-XX:-DontCompileHugeMethods` changes that).
const HUGE_METHOD_BYTES: usize = 8000;

/// A hook with its place in the code at hand.
#[derive(Clone, Copy)]
pub(crate) struct Placed<'a> {
    pub site: SiteId,
    pub kind: SiteKind,
    pub placement: Placement,
    pub pc: u32,
    edges: &'a [u32],
    moved: bool,
    /// The index of the helper's method for what a constant is.
    constant: usize,
    /// Of an operation: where its operands are.
    waist: Option<&'static Waist>,
}

pub(crate) struct Transform<'a> {
    pub map: Map<'a>,
    pub levels: &'a [u8],
    pub with_values: &'a FxHashSet<u32>,
    pub session: &'a Session,
    pub lasting: &'a Lasting,
}

impl<'a> Transform<'a> {
    /// The patched class file, or none if nothing could be hooked.
    pub(crate) fn class(&self, entry: MapClass<'a>, bytes: &[u8], tally: &mut PatchTally) -> Option<Vec<u8>> {
        let class = match ClassFile::parse(bytes) {
            Ok(class) => class,
            Err(error) => {
                entry.methods().for_each(|method| self.refuse_all(&method, &error.to_string(), tally));
                return None;
            }
        };
        let mut patch =
            ClassPatch { patcher: Patcher::new(&class), helpers: [None; HELPERS], sights: Vec::new() };
        for method in entry.methods() {
            self.method(&class, &mut patch, method, tally);
        }
        (tally.placed + tally.moved > 0).then(|| patch.patcher.finish())
    }

    fn refuse(&self, site: SiteId, why: &str, tally: &mut PatchTally) {
        tally.refused += 1;
        self.session.report(ReportKind::Unhooked, site.0, why);
    }

    fn refuse_all(&self, method: &MapMethod<'_>, why: &str, tally: &mut PatchTally) {
        method.hooks().for_each(|hook| self.refuse(hook.site, why, tally));
    }

    fn method(
        &self,
        class: &ClassFile<'_>,
        patch: &mut ClassPatch<'_>,
        entry: MapMethod<'a>,
        tally: &mut PatchTally,
    ) {
        let named =
            |method: &Member<'_>| method.name == entry.name() && method.descriptor == entry.descriptor();
        let index = match class.methods().get(entry.index()) {
            Some(method) if named(method) => Some(entry.index()),
            _ => class.methods().iter().position(named),
        };
        let Some(index) = index else {
            return self.refuse_all(&entry, "the loaded class has no such method", tally);
        };
        let code = match class.methods()[index].code() {
            Ok(Some(code)) => code,
            Ok(None) => return self.refuse_all(&entry, "the method of the loaded class has no code", tally),
            Err(error) => return self.refuse_all(&entry, &error.to_string(), tally),
        };
        let member = &class.methods()[index];
        let method = Method { class, member, code: &code };
        let mut placed = Vec::new();
        for hook in self.place(class, &code, entry, tally) {
            // A hook that does something may not sit in code that the helper itself runs through.
            let active = self.levels.get(hook.site.0 as usize).is_some_and(|&level| level != 0);
            if active && helper::runs_through(class.name(), member.name) {
                self.refuse(hook.site, "the agent's own helper runs through this class", tally);
            } else if self.with_values.contains(&hook.site.0) && sights::is_too_early(&hook, &method) {
                let why = "the constructor has not called that of the superclass yet, and no object can be seen before it has";
                self.refuse(hook.site, why, tally);
            } else {
                placed.push(hook);
            }
        }
        self.patch(patch, index, &method, placed, tally);
    }

    /// Where the hooks go in the code at hand.
    fn place(
        &self,
        class: &ClassFile<'_>,
        code: &Code<'_>,
        entry: MapMethod<'a>,
        tally: &mut PatchTally,
    ) -> Vec<Placed<'a>> {
        let waist = waist(class.name(), entry.name(), entry.descriptor());
        let at = |hook: MapHook<'a>, pc: u32, edges: &'a [u32], moved: bool| {
            let kind = self.map.kind(hook.site)?;
            let constant = if kind == SiteKind::Constant { self.constant(hook.site)? } else { 0 };
            Some(Placed {
                site: hook.site,
                kind,
                placement: hook.placement,
                pc,
                edges,
                moved,
                constant,
                waist,
            })
        };
        if code.digest() == entry.digest() {
            return entry.hooks().filter_map(|hook| at(hook, hook.pc.into(), hook.edges, false)).collect();
        }
        let Ok(instructions) = code.instructions().collect::<Result<Vec<_>, _>>() else {
            self.refuse_all(&entry, "the code of the loaded class cannot be read", tally);
            return Vec::new();
        };
        if code_digest_symbolic(class, code).is_ok_and(|digest| digest == entry.symbolic_digest()) {
            // The same instructions behind another constant pool: only their offsets may differ.
            let hooks = entry.hooks().filter_map(|hook| {
                let pc = instructions.get(usize::from(hook.instruction))?.pc;
                // Edges name jumps by their offset in the scanned code, which is at hand no more.
                if hook.placement == Placement::Edges && pc != u32::from(hook.pc) {
                    self.refuse(
                        hook.site,
                        "the loaded bytes are not those of the class path, and their jumps have moved",
                        tally,
                    );
                    return None;
                }
                at(hook, pc, hook.edges, false)
            });
            return hooks.collect();
        }
        let hooks = entry.hooks().filter_map(|hook| match self.relocate(class, &instructions, hook) {
            Some(pc) => at(hook, pc, &[], true),
            None => {
                let why = "the loaded bytes are not those of the class path, and the site cannot be told from others there";
                self.refuse(hook.site, why, tally);
                None
            }
        });
        hooks.collect()
    }

    /// The index of the helper's method for the type of a constant.
    fn constant(&self, site: SiteId) -> Option<usize> {
        let text = String::from_utf8_lossy(self.map.match_key(site)?.0);
        helper::CONSTANTS.iter().position(|it| text.split(' ').next() == Some(it.0))
    }

    /// The place of a hook in code that was changed: only where callee (or kind) and order leave no doubt.
    fn relocate(&self, class: &ClassFile<'_>, code: &[Instruction<'_>], hook: MapHook<'a>) -> Option<u32> {
        let (callee, ordinal, total) = self.map.match_key(hook.site)?;
        let nth = |wanted: &dyn Fn(&Instruction<'_>) -> bool| {
            let all: Vec<u32> = code.iter().filter(|it| wanted(it)).map(|it| it.pc).collect();
            (all.len() == usize::from(total)).then(|| all.get(usize::from(ordinal)).copied()).flatten()
        };
        match self.map.kind(hook.site)? {
            SiteKind::Entry | SiteKind::Unwind => Some(0),
            SiteKind::Call | SiteKind::CallReturn | SiteKind::CallThrow | SiteKind::Log => nth(&|it| {
                it.is_invoke() && callee_text(&class.pool, it).is_some_and(|text| text.as_bytes() == callee)
            }),
            SiteKind::Operation | SiteKind::OperationEnd if !callee.is_empty() => nth(&|it| {
                it.is_invoke() && callee_text(&class.pool, it).is_some_and(|text| text.as_bytes() == callee)
            }),
            SiteKind::Constant => {
                nth(&|it| constant_text(&class.pool, it).is_some_and(|text| text.as_bytes() == callee))
            }
            SiteKind::Operation => Some(0),
            SiteKind::OperationEnd if hook.placement == Placement::Unwind => Some(0),
            SiteKind::Exit => nth(&|it| it.is_return()),
            SiteKind::BooleanReturn => nth(&|it| it.opcode == op::IRETURN),
            SiteKind::FieldRead
            | SiteKind::FieldWrite
            | SiteKind::ArrayRead
            | SiteKind::ArrayWrite
            | SiteKind::Allocation
            | SiteKind::MonitorEnter
            | SiteKind::MonitorExit
            | SiteKind::Block
            | SiteKind::LoopEntry
            | SiteKind::LoopIteration
            | SiteKind::LoopExit
            | SiteKind::LoopBody
            | SiteKind::LoopUnwind
            | SiteKind::Branch
            | SiteKind::Switch
            | SiteKind::Throw
            | SiteKind::OperationEnd
            | SiteKind::Handler => None,
        }
    }

    /// Patches one method; what does not fit is given up step by step and reported, the sites of candidates last.
    fn patch(
        &self,
        patch: &mut ClassPatch<'_>,
        index: usize,
        method: &Method<'_, '_>,
        mut hooks: Vec<Placed<'a>>,
        tally: &mut PatchTally,
    ) {
        let code = method.code;
        let decides = |hook: &Placed<'_>| {
            self.levels.get(hook.site.0 as usize).is_some_and(|&level| level & level::DECIDE != 0)
        };
        while !hooks.is_empty() {
            let mark = patch.patcher.mark();
            let why = match self.insert(patch, index, method, &hooks) {
                Ok(()) => {
                    for hook in &hooks {
                        if hook.outlet().is_some() {
                            self.lasting.outlet_is_placed();
                        }
                        if hook.moved {
                            tally.moved += 1;
                            self.session.report(
                                ReportKind::Moved,
                                hook.site.0,
                                "the loaded bytes are not those of the class path; found by callee and order",
                            );
                        } else {
                            tally.placed += 1;
                        }
                    }
                    if code.bytes.len() <= HUGE_METHOD_BYTES
                        && code.bytes.len() + hooks.len() * 6 > HUGE_METHOD_BYTES
                    {
                        let text = "with its hooks the method is too long for the JIT compiler and stays interpreted; \
                                    give the JVM -XX:-DontCompileHugeMethods";
                        self.session.report(ReportKind::Trouble, hooks[0].site.0, text);
                    }
                    return;
                }
                Err(why) => why,
            };
            patch.rollback(mark);
            let text = why.to_string();
            let given_up: Vec<SiteId> = match &why {
                Unpatched::EdgeNotSeparable { pc } if hooks.iter().any(|it| it.on_edges_at(*pc)) => {
                    let gone: Vec<SiteId> =
                        hooks.iter().filter(|it| it.on_edges_at(*pc)).map(|it| it.site).collect();
                    hooks.retain(|it| !gone.contains(&it.site));
                    gone
                }
                Unpatched::CallNotCovered { pc } => {
                    let gone = |it: &mut Placed<'_>| it.placement == Placement::Thrown && it.pc == *pc;
                    hooks.extract_if(.., gone).map(|it| it.site).collect()
                }
                Unpatched::NothingToGuard => {
                    hooks.extract_if(.., |it| it.placement == Placement::Unwind).map(|it| it.site).collect()
                }
                // What is in the way may be its frames.
                _ if hooks.iter().any(|it| it.placement == Placement::Thrown) => {
                    hooks.extract_if(.., |it| it.placement == Placement::Thrown).map(|it| it.site).collect()
                }
                _ if hooks.iter().any(|it| !decides(it)) && hooks.iter().any(decides) => {
                    hooks.extract_if(.., |it| !decides(it)).map(|it| it.site).collect()
                }
                _ => hooks.drain(..).map(|it| it.site).collect(),
            };
            given_up.into_iter().for_each(|site| self.refuse(site, &text, tally));
        }
    }

    fn insert(
        &self,
        patch: &mut ClassPatch<'_>,
        index: usize,
        method: &Method<'_, '_>,
        hooks: &[Placed<'_>],
    ) -> Result<(), Unpatched> {
        let mut bytes: Vec<u8> = Vec::with_capacity(hooks.len() * 8);
        let mut ends: Vec<usize> = Vec::with_capacity(hooks.len());
        let mut jumps: Vec<u32> = Vec::new();
        let mut outcomes: Vec<(u32, u8)> = Vec::new();
        let mut kept: Vec<(u32, &[u8])> = Vec::new();
        let mut locals = 0;
        for hook in hooks {
            if hook.placement == Placement::Thrown {
                // Its code is in a block that it shares with others.
                ends.push(bytes.len());
                continue;
            }
            let idle = self.levels.get(hook.site.0 as usize).is_none_or(|&level| level == 0);
            let seen = match self.with_values.contains(&hook.site.0) {
                true => patch.sight(hook, method, &mut bytes)?,
                false => None,
            };
            let extra = seen.unwrap_or(Extra { then_plain: true, ..Extra::default() });
            kept.extend(extra.keep);
            locals = locals.max(extra.locals);
            if extra.then_plain {
                let call = HelperCall::of(hook, idle, method.code);
                if let HelperCall::Branch(_) = call {
                    outcomes.push((hook.pc, op::IFNE));
                }
                locals = locals.max(patch.snippet(hook, call, method, &mut bytes)?);
            }
            ends.push(bytes.len());
            jumps.extend(hook.edges.iter().filter(|&&edge| edge != FALL_THROUGH));
        }
        let mut insertions = Vec::with_capacity(hooks.len());
        // Where the code of the catch-all starts: several sites may share it, and their hooks follow each other.
        let mut catch_all: Option<(usize, Snippet<'_>)> = None;
        // The sites of each call from which an exception may come.
        let mut thrown: BTreeMap<u32, Vec<i32>> = BTreeMap::new();
        let (mut start, mut first_jump) = (0, 0);
        for (hook, &end) in hooks.iter().zip(&ends) {
            let stack = match self.with_values.contains(&hook.site.0) {
                true => sights::STACK_WORDS,
                false => stack_words(hook.kind),
            };
            let snippet = Snippet { bytes: &bytes[start..end], stack };
            start = end;
            let place = match hook.placement {
                Placement::Before => Place::Before,
                Placement::After => Place::After,
                Placement::Entry => Place::Entry,
                Placement::Thrown => {
                    thrown.entry(hook.pc).or_default().push(hook.site.0 as i32);
                    continue;
                }
                Placement::Unwind => {
                    let (first, stack) =
                        catch_all.map_or((end - snippet.bytes.len(), 0), |(first, it)| (first, it.stack));
                    let stack = snippet.stack.max(stack);
                    catch_all = Some((first, Snippet { bytes: &bytes[first..end], stack }));
                    continue;
                }
                Placement::Edges => {
                    let fall = hook.edges.contains(&FALL_THROUGH);
                    let count = hook.edges.len() - usize::from(fall);
                    let from = &jumps[first_jump..first_jump + count];
                    first_jump += count;
                    Place::Edges { fall, from }
                }
            };
            insertions.push(Insertion { at: hook.pc, place, snippet });
        }
        for &(at, bytes) in &kept {
            insertions.push(Insertion {
                at,
                place: Place::Before,
                snippet: Snippet { bytes, stack: sights::STACK_WORDS },
            });
        }
        outcomes.sort_unstable();
        let blocks = patch.thrown(&thrown)?;
        let calls: Vec<CallCatch<'_>> = blocks
            .iter()
            .map(|(bytes, calls)| CallCatch { snippet: Snippet { bytes, stack: 0 }, calls })
            .collect();
        let patched = MethodPatch {
            insertions: &insertions,
            catch_all: catch_all.as_ref().map(|it| &it.1),
            jumps: &outcomes,
            calls: &calls,
            locals,
        };
        patch.patcher.method(index, &patched)
    }
}

/// Code for what comes out of calls, and these with their sites.
type CaughtCalls = (Vec<u8>, Vec<(u32, i32)>);

impl Placed<'_> {
    /// The local variable with the descriptor that what is written goes to, of the begin of an operation that writes to nothing else.
    fn outlet(&self) -> Option<u8> {
        self.waist?.outlet.filter(|_| self.kind == SiteKind::Operation)
    }

    /// Tests whether what the operation has got is an object that it returns.
    fn returns_object(&self) -> bool {
        self.waist.is_some_and(|it| it.second.is_some_and(|it| it.1 == Operand::Result))
    }

    fn on_edges_at(&self, pc: u32) -> bool {
        self.placement == Placement::Edges && self.pc == pc
    }
}

/// What a hook calls of the helper.
#[derive(Clone, Copy)]
enum HelperCall {
    /// One of [`PLAIN`].
    Plain(usize),
    /// The method that takes the operands of a jump with this opcode, and answers whether it is taken.
    Branch(u8),
}

/// The helper's methods that take no operands.
const PLAIN: [(&str, &str); 8 + helper::CONSTANTS.len()] = [
    helper::IDLE,
    helper::HIT,
    helper::CAUGHT,
    helper::BOOL,
    helper::KEY,
    helper::OPERATION,
    helper::OUTLET,
    helper::RETURNED,
    helper::CONSTANTS[0].1,
    helper::CONSTANTS[1].1,
    helper::CONSTANTS[2].1,
    helper::CONSTANTS[3].1,
    helper::CONSTANTS[4].1,
];
const IDLE: usize = 0;
const HIT: usize = 1;
const CAUGHT: usize = 2;
const BOOL: usize = 3;
const KEY: usize = 4;
const OPERATION: usize = 5;
const OUTLET: usize = 6;
const RETURNED: usize = 7;
/// The first of those for constants.
const CONSTANT: usize = 8;
/// Conditional jumps have the opcodes from `ifeq` to `if_acmpne`, and two more.
const HELPERS: usize = PLAIN.len() + (op::IF_ACMPNE - op::IFEQ) as usize + 1 + 2;

impl HelperCall {
    fn of(hook: &Placed<'_>, idle: bool, code: &Code<'_>) -> HelperCall {
        let opcode = code.bytes.get(hook.pc as usize).copied().unwrap_or(op::NOP);
        HelperCall::Plain(match hook.kind {
            _ if idle => IDLE,
            SiteKind::Handler | SiteKind::Unwind | SiteKind::Throw => CAUGHT,
            SiteKind::BooleanReturn => BOOL,
            SiteKind::Branch if helper::branch(opcode).is_some() => return HelperCall::Branch(opcode),
            SiteKind::Switch => KEY,
            SiteKind::Operation if hook.outlet().is_some() => OUTLET,
            SiteKind::Operation => OPERATION,
            SiteKind::OperationEnd if matches!(hook.placement, Placement::Unwind | Placement::Thrown) => {
                CAUGHT
            }
            SiteKind::OperationEnd if opcode == op::ARETURN && hook.returns_object() => RETURNED,
            SiteKind::Constant => CONSTANT + hook.constant,
            SiteKind::OperationEnd => KEY,
            _ => HIT,
        })
    }

    /// Its place in a list of all that there are.
    fn index(self) -> usize {
        match self {
            HelperCall::Plain(index) => index,
            HelperCall::Branch(opcode @ op::IFEQ..=op::IF_ACMPNE) => {
                PLAIN.len() + usize::from(opcode - op::IFEQ)
            }
            HelperCall::Branch(opcode) => HELPERS - 2 + usize::from(opcode != op::IFNULL),
        }
    }

    fn method(self) -> (&'static str, &'static str) {
        match self {
            HelperCall::Plain(index) => PLAIN[index],
            HelperCall::Branch(opcode) => helper::branch(opcode).expect("only conditional jumps are wrapped"),
        }
    }
}

/// A class being patched.
pub(crate) struct ClassPatch<'a> {
    pub patcher: Patcher<'a>,
    /// The constants of the helper's methods that the class has already.
    helpers: [Option<u16>; HELPERS],
    /// Likewise of those that see values.
    pub sights: Vec<(ValueCall, u16)>,
}

impl ClassPatch<'_> {
    /// Takes back constants that were added for a method that is given up.
    fn rollback(&mut self, mark: Mark) {
        self.patcher.rollback(mark);
        self.helpers = [None; HELPERS];
        self.sights.clear();
    }

    /// The hook's code: what it sees, the site's number, and a call of the helper; the call alone if it does nothing in this trial. The words
    /// of local variables that it needs.
    fn snippet(
        &mut self,
        hook: &Placed<'_>,
        call: HelperCall,
        method: &Method<'_, '_>,
        out: &mut Vec<u8>,
    ) -> Result<u16, Unpatched> {
        let (mut locals, mut back) = (0, Vec::new());
        match call {
            HelperCall::Plain(KEY) if hook.kind == SiteKind::OperationEnd => {
                out.extend_from_slice(result(hook, method.code.bytes.get(hook.pc as usize).copied()));
            }
            // The exception or key stays for the code itself.
            HelperCall::Plain(CAUGHT | KEY | RETURNED) => out.push(op::DUP),
            HelperCall::Plain(OPERATION) if hook.placement == Placement::Before => {
                (locals, back) = self.receiver(hook, method, out);
                out.extend_from_slice(&[op::ACONST_NULL, op::ICONST_0]);
            }
            HelperCall::Plain(OPERATION) => operands(hook.waist, out),
            HelperCall::Plain(OUTLET) => out.extend(hook.outlet().into_iter().flat_map(|it| [op::ALOAD, it])),
            _ => {}
        }
        if !matches!(call, HelperCall::Plain(IDLE)) {
            self.push_number(hook.site.0, out)?;
        }
        out.extend_from_slice(&self.call(call)?);
        if let (HelperCall::Plain(OUTLET), Some(local)) = (call, hook.outlet()) {
            out.extend([op::ASTORE, local]);
        }
        out.extend_from_slice(&back);
        Ok(locals)
    }

    /// The code for what comes out of calls, with the calls that have it. A block has the exception and the first site of its call on the
    /// stack, so that calls with one site share their code.
    fn thrown(&mut self, sites: &BTreeMap<u32, Vec<i32>>) -> Result<Vec<CaughtCalls>, Unpatched> {
        if sites.is_empty() {
            return Ok(Vec::new());
        }
        let caught = self.call(HelperCall::Plain(CAUGHT))?;
        let mut groups = vec![(caught.to_vec(), Vec::new())];
        for (&at, sites) in sites {
            match sites.as_slice() {
                [] => {}
                [only] => groups[0].1.push((at, *only)),
                [first, others @ ..] => {
                    let mut bytes = caught.to_vec();
                    for &site in others {
                        bytes.push(op::DUP);
                        self.push_number(site as u32, &mut bytes)?;
                        bytes.extend_from_slice(&caught);
                    }
                    groups.push((bytes, vec![(at, *first)]));
                }
            }
        }
        Ok(groups)
    }

    /// The instruction that calls the helper.
    fn call(&mut self, call: HelperCall) -> Result<[u8; 3], Unpatched> {
        let constant = match self.helpers[call.index()] {
            Some(constant) => constant,
            None => {
                let (name, descriptor) = call.method();
                let owner = helper::CLASS.as_bytes();
                let constant = self.patcher.method_ref(owner, name.as_bytes(), descriptor.as_bytes())?;
                *self.helpers[call.index()].insert(constant)
            }
        };
        let [high, low] = constant.to_be_bytes();
        Ok([op::INVOKESTATIC, high, low])
    }

    pub(crate) fn push_number(&mut self, site: u32, out: &mut Vec<u8>) -> Result<(), Unpatched> {
        match i16::try_from(site) {
            Ok(small) => {
                out.push(op::SIPUSH);
                out.extend_from_slice(&small.to_be_bytes());
            }
            Err(_) => {
                out.push(op::LDC_W);
                out.extend_from_slice(&self.patcher.integer(site as i32)?.to_be_bytes());
            }
        }
        Ok(())
    }
}

/// Pushes what a method returns, as an `int`; 0 if it is no number. A lock that is taken without an answer is taken.
fn result(hook: &Placed<'_>, opcode: Option<u8>) -> &'static [u8] {
    let takes = hook.waist.is_some_and(|it| it.deed == Deed::Plain(OperationKind::Acquire));
    match opcode {
        _ if hook.placement != Placement::Before => &[op::ICONST_0],
        Some(op::RETURN) if takes => &[op::ICONST_1],
        Some(op::IRETURN) => &[op::DUP],
        Some(op::LRETURN) => &[op::DUP2, op::L2I],
        _ => &[op::ICONST_0],
    }
}

/// Pushes the operands of an operation, from the local variables that they are in at the start of its method.
fn operands(waist: Option<&Waist>, out: &mut Vec<u8>) {
    let local = |it: (u8, Operand)| (!matches!(it.1, Operand::Caller | Operand::Result)).then_some(it.0);
    let first = waist.and_then(|it| local(it.first));
    let second = waist.and_then(|it| it.second).and_then(local);
    for local in [first, second] {
        match local {
            Some(local) => out.extend_from_slice(&[op::ALOAD, local]),
            None => out.push(op::ACONST_NULL),
        }
    }
    match waist.and_then(|it| it.number) {
        Some(local) => out.extend_from_slice(&[op::ILOAD, local]),
        None => out.push(op::ICONST_0),
    }
}

/// What the hook's code needs on the stack above what is there.
fn stack_words(kind: SiteKind) -> u16 {
    match kind {
        SiteKind::Handler
        | SiteKind::Unwind
        | SiteKind::Throw
        | SiteKind::CallThrow
        | SiteKind::Branch
        | SiteKind::Switch => 2,
        SiteKind::OperationEnd => 3,
        SiteKind::Operation => 5,
        _ => 1,
    }
}
