//! A patched method, taken apart again into original instructions and the hooks before each.

use std::collections::{BTreeMap, HashMap};

use hypocenter_classfile::{Code, Constant, ConstantPool, Handler, Instruction, op};

use crate::hooks::{Helpers, Hook, Spot};

/// The source of a way in that is no jump.
const FALL: u32 = u32::MAX;

/// The hooks directly before an original instruction, or at the end of the code.
#[derive(Debug, Default)]
struct Zone {
    /// New address and number of each.
    hooks: Vec<(u32, i32)>,
    /// The new address of the instruction, or the end.
    place: u32,
}

/// A block that should be there for what comes out of a call.
struct Block<'o> {
    hook: &'o Hook,
    /// The end of the call.
    end: u32,
    /// The handler that goes on, by its type and address; none if the exception is thrown again.
    to: Option<(u16, u32)>,
}

/// A patched method against its original.
pub struct Output<'o, 'a> {
    pub hooks: &'o [Hook],
    pub helpers: &'o Helpers,
    pub old: &'o [Instruction<'a>],
    pub new: &'o [Instruction<'a>],
    pub old_code: &'o Code<'a>,
    pub new_code: &'o Code<'a>,
    pub pool: &'o ConstantPool<'a>,
}

impl<'a> Output<'_, 'a> {
    /// Checks that the original instructions are there in order, and that every way into each of them runs the
    /// hooks that it should and no others.
    pub fn check(&self, catch_all: bool) {
        let effective = self.hooks.iter().filter(|hook| self.is_effective(hook)).count();
        assert!(self.new.len() >= self.old.len() + effective * 2, "hooks are missing");
        let (zones, rest) = self.zones();
        let mut entries = self.new_code.handlers();
        let rest = self.check_blocks(rest, &zones, &mut entries);
        let (resumed, rest) = self.check_resumed(rest, &zones);
        self.check_handlers(&zones, &resumed, &mut entries);
        self.check_tail(rest, catch_all, &mut entries);
        let mut falls = true;
        let mut before: Option<&Instruction<'_>> = None;
        for (it, zone) in self.old.iter().zip(&zones) {
            self.check_fall(it.pc, before, falls, zone);
            falls = it.falls_through();
            before = Some(it);
        }
        self.check_jumps(&zones);
    }

    fn hook(&self, number: i32) -> &Hook {
        let found = self.hooks.binary_search_by_key(&number, |hook| hook.number);
        &self.hooks[found.unwrap_or_else(|_| panic!("a hook that was never inserted: {number}"))]
    }

    /// Whether any way of the code runs the hook.
    fn is_effective(&self, hook: &Hook) -> bool {
        let index = self.old.binary_search_by_key(&hook.at, |it| it.pc);
        match &hook.spot {
            Spot::Before | Spot::Entry | Spot::Branch | Spot::Switch | Spot::Throw | Spot::Thrown => true,
            Spot::After => index.is_ok_and(|n| self.old[n].falls_through()),
            Spot::Edges { fall, from } => {
                let reached = index.is_ok_and(|n| n == 0 || self.old[n - 1].falls_through());
                *fall && reached || !from.is_empty()
            }
        }
    }

    /// One zone an original instruction, and one for the end. With what follows there.
    fn zones(&self) -> (Vec<Zone>, &[Instruction<'a>]) {
        let mut zones = Vec::with_capacity(self.old.len() + 1);
        let mut zone = Zone::default();
        let mut rest = self.new;
        while zones.len() < self.old.len() {
            if let Some((number, after)) = self.take_hook(rest) {
                zone.hooks.push((rest[0].pc, number));
                rest = after;
                continue;
            }
            let (first, after) = rest.split_first().expect("original instructions are missing");
            let old = &self.old[zones.len()];
            self.check_opcode(first, old, &zone);
            if first.targets().next().is_none() {
                assert_eq!(first.bytes, old.bytes, "operands changed at pc {}", old.pc);
            }
            zone.place = first.pc;
            zones.push(std::mem::take(&mut zone));
            rest = after;
        }
        while let Some((number, after)) = self.take_hook(rest) {
            zone.hooks.push((rest[0].pc, number));
            rest = after;
        }
        zone.place = rest.first().map_or(self.new_code.bytes.len() as u32, |it| it.pc);
        zones.push(zone);
        (zones, rest)
    }

    /// The instruction is the original one, but for a jump whose operands a hook directly before it takes.
    fn check_opcode(&self, new: &Instruction<'_>, old: &Instruction<'_>, zone: &Zone) {
        let on_jump = |hook: &&Hook| hook.spot == Spot::Branch && hook.at == old.pc;
        let opcode = match self.hooks.iter().find(on_jump) {
            Some(hook) => {
                let last = zone.hooks.last().map(|it| it.1);
                assert_eq!(
                    last,
                    Some(hook.number),
                    "the jump at pc {} does not test its hook's answer",
                    old.pc
                );
                op::IFNE
            }
            None => old.opcode,
        };
        assert_eq!(new.opcode, opcode, "another instruction than the original at pc {}", old.pc);
    }

    /// The hook whose snippet comes next, and what follows it.
    fn take_hook<'n>(&self, new: &'n [Instruction<'a>]) -> Option<(i32, &'n [Instruction<'a>])> {
        let (keeps, [push, call, rest @ ..]) = (match new {
            [first, after @ ..] if first.opcode == op::DUP => (true, after),
            all => (false, all),
        }) else {
            return None;
        };
        let index = call.pool_index().filter(|_| call.opcode == op::INVOKESTATIC)?;
        let Helpers { hit, caught, key, ways } = self.helpers;
        if ![*hit, *caught, *key].contains(&index) && !ways.iter().any(|it| it.1 == index) {
            return None;
        }
        let number = match push.opcode {
            op::SIPUSH => i32::from(i16::from_be_bytes([push.bytes[1], push.bytes[2]])),
            op::LDC_W => match self.pool.get(push.pool_index()?) {
                Ok(Constant::Integer(value)) => value,
                other => panic!("the number of a hook is {other:?}"),
            },
            other => panic!("a call of the helper behind opcode {other}"),
        };
        // Those of calls, and of the handler over everything, stand behind the code.
        let found = self.hooks.binary_search_by_key(&number, |hook| hook.number);
        let hook = found.ok().map(|at| &self.hooks[at]).filter(|hook| hook.spot != Spot::Thrown)?;
        let (wanted, keeps_it) = self.helpers.call(hook);
        // A `dup` of the code itself may stand before a hook that needs none.
        if !keeps_it && keeps {
            return None;
        }
        assert_eq!((index, keeps), (wanted, keeps_it), "hook {number} calls something else");
        Some((number, rest))
    }

    /// The blocks for calls, in order.
    fn blocks(&self) -> Vec<Block<'_>> {
        let mut blocks = Vec::new();
        for hook in self.hooks.iter().filter(|it| it.spot == Spot::Thrown) {
            let call = self.old.iter().find(|it| it.pc == hook.at).expect("the hook of a call is at one");
            let mut is_caught = false;
            for it in self.old_code.handlers() {
                if covers(&it, call.pc) && !is_caught {
                    let to = Some((it.catch_type, u32::from(it.handler)));
                    blocks.push(Block { hook, end: call.end(), to });
                    is_caught = it.catch_type == 0;
                }
            }
            if !is_caught {
                blocks.push(Block { hook, end: call.end(), to: None });
            }
        }
        blocks
    }

    /// The blocks for what comes out of calls: the first entries of the exception table, for each in order one over its call, and those that
    /// cover its own code. Returns what follows this code.
    fn check_blocks<'n>(
        &self,
        mut rest: &'n [Instruction<'a>],
        zones: &[Zone],
        entries: &mut impl Iterator<Item = Handler>,
    ) -> &'n [Instruction<'a>] {
        for Block { hook, end, to } in self.blocks() {
            let [dup, push, call, last, after @ ..] = rest else { panic!("the block of a call is missing") };
            let Handler { start, end: covered, handler, catch_type } = entries.next().expect("its entry");
            let n = self.old.partition_point(|it| it.pc < hook.at);
            assert_eq!(u32::from(start), zones[n].place, "the block at {handler} covers another call");
            assert_eq!(u32::from(covered - start), end - hook.at, "more than the call is covered");
            assert_eq!((u32::from(handler), catch_type), (dup.pc, to.map_or(0, |it| it.0)));
            assert_eq!((dup.opcode, call.opcode), (op::DUP, op::INVOKESTATIC));
            assert_eq!(call.pool_index(), Some(self.helpers.caught));
            let number = match push.opcode {
                op::SIPUSH => Some(i32::from(i16::from_be_bytes([push.bytes[1], push.bytes[2]]))),
                _ => match push.pool_index().map(|index| self.pool.get(index)) {
                    Some(Ok(Constant::Integer(value))) => Some(value),
                    _ => None,
                },
            };
            assert_eq!(number, Some(hook.number));
            assert_eq!(last.opcode, op::ATHROW);
            for (catch_type, target) in self.covering(to) {
                let entry = entries.next().expect("a handler of the block of a call");
                assert_eq!((u32::from(entry.start), u32::from(entry.end)), (dup.pc, last.pc + 1));
                assert_eq!(entry.catch_type, catch_type, "an exception that the handler does not catch");
                self.check_way(zones, FALL - 1, target, u32::from(entry.handler), Vec::new());
            }
            rest = after;
        }
        rest
    }

    /// The handlers that cover a block: its own, and those that cover this one, up to the first for everything.
    fn covering(&self, own: Option<(u16, u32)>) -> Vec<(u16, u32)> {
        let Some(own) = own else { return Vec::new() };
        let others = self.old_code.handlers().filter(|it| covers(it, own.1));
        let others = others.map(|it| (it.catch_type, u32::from(it.handler)));
        let mut all: Vec<(u16, u32)> = std::iter::once(own).chain(others).collect();
        let last = all.iter().position(|it| it.0 == 0);
        all.truncate(last.map_or(all.len(), |last| last + 1));
        all
    }

    /// The jumps that resume handlers which cover their own hooks: their addresses by those of the handlers. With what follows.
    fn check_resumed<'n>(
        &self,
        rest: &'n [Instruction<'a>],
        zones: &[Zone],
    ) -> (BTreeMap<u32, u32>, &'n [Instruction<'a>]) {
        let mut resumed = BTreeMap::new();
        for it in self.old_code.handlers().filter(|it| covers(it, u32::from(it.handler))) {
            let n = self.old.partition_point(|old| old.pc < u32::from(it.handler));
            let is_plain = self.old[n].targets().next().is_none();
            if is_plain && self.boundary(zones, it.handler) < self.place(zones, it.handler) {
                resumed.insert(u32::from(it.handler), 0);
            }
        }
        let (jumps, after) = rest.split_at_checked(resumed.len()).expect("the jumps to resumed handlers");
        for ((handler, at), jump) in resumed.iter_mut().zip(jumps) {
            assert_eq!(jump.opcode, op::GOTO_W);
            assert_eq!(jump.targets().next(), Some(self.place(zones, *handler as u16)));
            *at = jump.pc;
        }
        (resumed, after)
    }

    /// The handler over everything, which may be left out of a constructor.
    fn check_tail(
        &self,
        rest: &[Instruction<'_>],
        catch_all: bool,
        entries: &mut impl Iterator<Item = Handler>,
    ) {
        let opcodes: Vec<u8> = rest.iter().map(|it| it.opcode).collect();
        if !rest.is_empty() {
            assert!(catch_all, "instructions behind the end: {opcodes:?}");
            assert_eq!(opcodes, [op::DUP, op::SIPUSH, op::INVOKESTATIC, op::ATHROW]);
            assert_eq!(rest[2].pool_index(), Some(self.helpers.caught));
            let last = entries.next().expect("catch_all has a handler");
            assert_eq!(u32::from(last.handler), rest[0].pc);
            assert_eq!(last.catch_type, 0);
            assert_eq!(last.end, last.handler);
        }
        assert_eq!(entries.next(), None, "a handler too many");
    }

    /// The numbers of the hooks that one way into `target` should run, in no order.
    fn expected(&self, target: u32, source: u32) -> Vec<i32> {
        let runs = |hook: &&Hook| {
            hook.at == target
                && match &hook.spot {
                    spot if spot.is_before() => true,
                    Spot::Edges { fall, from } => {
                        if source == FALL {
                            *fall
                        } else {
                            from.contains(&source)
                        }
                    }
                    _ => false,
                }
        };
        self.hooks.iter().filter(runs).map(|hook| hook.number).collect()
    }

    /// Copies that a `goto` runs before it leaves stand before it, but belong to its target.
    fn is_leaving(&self, number: i32, at: u32) -> bool {
        let hook = self.hook(number);
        let leaving = hook.at != at && (hook.spot.is_before() || matches!(hook.spot, Spot::Edges { .. }));
        // An exception that a copy of another hook threw would not be caught as if the instruction had thrown it.
        let only_edges = matches!(hook.spot, Spot::Edges { .. });
        assert!(
            !leaving || only_edges,
            "a copy of a hook that belongs to the exception ranges of pc {}",
            hook.at
        );
        leaving
    }

    fn check_fall(&self, pc: u32, before: Option<&Instruction<'_>>, falls: bool, zone: &Zone) {
        if !falls {
            return;
        }
        let mut expected = self.expected(pc, FALL);
        for hook in self.hooks {
            let runs = match hook.spot {
                Spot::Entry => before.is_none(),
                Spot::After => before.is_some_and(|it| it.pc == hook.at),
                _ => false,
            };
            if runs {
                expected.push(hook.number);
            }
        }
        // What a `goto` to itself copies cannot be told from what it runs on its way in.
        if self.loops_on_itself(pc) {
            return;
        }
        let found = zone.hooks.iter().map(|hook| hook.1).filter(|number| !self.is_leaving(*number, pc));
        assert_same(found.collect(), expected, pc, FALL);
    }

    fn loops_on_itself(&self, pc: u32) -> bool {
        let it = self.old.binary_search_by_key(&pc, |it| it.pc).map(|n| &self.old[n]);
        it.is_ok_and(|it| matches!(it.opcode, op::GOTO | op::GOTO_W) && it.targets().any(|t| t == pc))
    }

    fn check_way(&self, zones: &[Zone], source: u32, target: u32, landing: u32, copies: Vec<i32>) {
        let n = self.old.binary_search_by_key(&target, |it| it.pc).expect("a jump to an instruction");
        let zone = &zones[n];
        let lands = landing == zone.place || zone.hooks.iter().any(|hook| hook.0 == landing);
        assert!(lands, "the way from {source} to {target} lands elsewhere: {landing}");
        let behind = zone.hooks.iter().filter(|hook| hook.0 >= landing).map(|hook| hook.1);
        let leaving = |number: &i32| self.is_leaving(*number, target);
        let skipped = zone.hooks.iter().filter(|hook| hook.0 < landing).map(|hook| hook.1);
        if !self.loops_on_itself(target) {
            assert!(!skipped.into_iter().any(|number| leaving(&number)), "lands behind the way out");
            let found = behind.filter(|number| !leaving(number)).chain(copies).collect();
            assert_same(found, self.expected(target, source), target, source);
        }
    }

    fn check_jumps(&self, zones: &[Zone]) {
        let at: HashMap<u32, &Instruction<'_>> = self.new.iter().map(|it| (it.pc, it)).collect();
        for (old, zone) in self.old.iter().zip(zones) {
            let new = at[&zone.place];
            assert_eq!(old.targets().count(), new.targets().count());
            for (target, landing) in old.targets().zip(new.targets()) {
                let copies = zone.hooks.iter().map(|hook| hook.1);
                let copies = copies.filter(|number| self.is_leaving(*number, old.pc)).collect();
                self.check_way(zones, old.pc, target, landing, copies);
            }
        }
    }

    /// Where exception ranges start and end: behind what belongs to the instruction before.
    fn boundary(&self, zones: &[Zone], pc: u16) -> u32 {
        let n = self.old.partition_point(|it| it.pc < u32::from(pc));
        let zone = &zones[n];
        let ahead = |hook: &&(u32, i32)| matches!(self.hook(hook.1).spot, Spot::After | Spot::Entry);
        // The end of the code lies behind all that is there.
        let first = if n == self.old.len() { None } else { zone.hooks.iter().find(|hook| !ahead(hook)) };
        first.map_or(zone.place, |hook| hook.0)
    }

    /// The new address of the instruction that starts at an old one.
    fn place(&self, zones: &[Zone], pc: u16) -> u32 {
        zones[self.old.partition_point(|it| it.pc < u32::from(pc))].place
    }

    /// The entries that were there. Those that cover the hooks of their own handler are cut, and what these hooks throw resumes the handler.
    fn check_handlers(
        &self,
        zones: &[Zone],
        resumed: &BTreeMap<u32, u32>,
        entries: &mut impl Iterator<Item = Handler>,
    ) {
        for old in self.old_code.handlers() {
            let handler = u32::from(old.handler);
            let (start, end) = (self.boundary(zones, old.start), self.boundary(zones, old.end));
            let jump = resumed.get(&handler).filter(|_| covers(&old, handler));
            let parts = match jump {
                None => vec![(start, end, None)],
                Some(&jump) => {
                    let hooks = (self.boundary(zones, old.handler), self.place(zones, old.handler));
                    let before = Some((start, hooks.0, None)).filter(|it| it.0 < it.1);
                    let behind = [(hooks.0, hooks.1, Some(jump)), (hooks.1, end, None)];
                    before.into_iter().chain(behind).collect()
                }
            };
            for (start, end, jump) in parts {
                let new = entries.next().expect("a handler is missing");
                assert_eq!(new.catch_type, old.catch_type);
                assert_eq!((u32::from(new.start), u32::from(new.end)), (start, end), "a range");
                match jump {
                    Some(jump) => assert_eq!(u32::from(new.handler), jump),
                    // A handler is entered by no jump: it runs what stands before the instruction whatever the way in.
                    None => {
                        self.check_way(zones, FALL - 1, handler, u32::from(new.handler), Vec::new());
                    }
                }
            }
        }
    }
}

fn covers(handler: &Handler, pc: u32) -> bool {
    (u32::from(handler.start)..u32::from(handler.end)).contains(&pc)
}

fn assert_same(mut found: Vec<i32>, mut expected: Vec<i32>, target: u32, source: u32) {
    found.sort_unstable();
    expected.sort_unstable();
    assert_eq!(found, expected, "hooks on the way from {source} to {target}");
}
