//! Text of a printed value: the texts that code concatenates.
//!
//! A value is followed back to what made it: constants, concatenations of every kind, formats, constants in fields,
//! methods of the system that return a text, lambdas. What cannot be followed is a hole; what a parameter says is left
//! open for the callers ([`Slot`]).

use std::cell::OnceCell;
use std::hash::Hash;
use std::sync::{Arc, RwLock};

use hypocenter_classfile::{BootstrapMethod, ClassFile, Constant, Member, descriptor, op};
use rustc_hash::{FxHashMap, FxHashSet};

use crate::facts::Facts;
use crate::facts::calls::CallGraph;
use crate::loading::world::{FieldId, MethodId, RefId, SignatureId, SystemClass, TypeId, World, access};
use crate::logging::format::Style;
use crate::logging::frameworks::{is_asked, is_asking_name};
use crate::logging::message::{Message, Piece, Slot, concatenated, decoded, substituted, united};
use crate::methods::body::Body;
use crate::methods::dominance::{Dominance, Edges};
use crate::methods::values::{Const, Value, ValueId};
use crate::methods::view::MethodView;

/// Maximum depth of methods through which a text is followed.
const DEPTH_MAX: u8 = 3;
/// The most methods that a call may run for what they return to be followed.
const TARGETS_MAX: usize = 4;
/// The most values that are looked at for one message.
const STEPS_MAX: u32 = 2000;
/// The deepest nesting of values within a method.
const NESTING_MAX: usize = 32;
/// The longest array of arguments that is looked at.
const ELEMENTS_MAX: usize = 64;

/// The messages that something may be, shared by all who asked.
type Found = Arc<[Message]>;

/// Cache of results, by subject and depth.
struct Kept<K> {
    known: RwLock<FxHashMap<(K, u8), Found>>,
}

impl<K> Default for Kept<K> {
    fn default() -> Self {
        Kept { known: RwLock::default() }
    }
}

impl<K: Copy + Eq + Hash> Kept<K> {
    /// Known value, or the result of `find`; a hole if there is none.
    fn get(&self, key: K, depth: u8, find: impl FnOnce() -> Option<Vec<Message>>) -> Found {
        let known = self.known.read().unwrap_or_else(|it| it.into_inner()).get(&(key, depth)).cloned();
        known.unwrap_or_else(|| {
            // Nothing is locked meanwhile: what is found may need others of its kind.
            let found: Found = find().unwrap_or_else(|| vec![Message::hole()]).into();
            let mut known = self.known.write().unwrap_or_else(|it| it.into_inner());
            known.entry((key, depth)).or_insert(found).clone()
        })
    }
}

/// Parts of texts over the whole system. Results are kept: they depend only on the query, so
/// that it does not matter who asked first.
pub(crate) struct Wording<'w> {
    pub world: &'w World,
    facts: &'w Facts,
    calls: &'w CallGraph,
    /// The interfaces of the system that lambdas implement, with the method.
    asked: FxHashSet<(TypeId, SignatureId)>,
    returns: Kept<MethodId>,
    fields: Kept<FieldId>,
}

impl<'w> Wording<'w> {
    pub fn of(world: &'w World, facts: &'w Facts, calls: &'w CallGraph) -> Wording<'w> {
        let asked = facts.lambdas().iter().filter_map(|it| Some((it.interface?, it.signature?))).collect();
        let (returns, fields) = (Kept::default(), Kept::default());
        Wording { world, facts, calls, asked, returns, fields }
    }

    /// Return value of a method, in terms of its parameters.
    fn returns(&self, method: MethodId, depth: u8) -> Found {
        self.returns.get(method, depth, || {
            with_view(self.world, method, |view, bootstraps| {
                let mut reader = Reader::new(self, view, bootstraps, depth);
                let mut all = Vec::new();
                for (number, it) in (0..).zip(&view.body.flow.instructions) {
                    let operand = view.body.operands(number).first().filter(|_| it.opcode == op::ARETURN);
                    let Some(&operand) = operand else { continue };
                    if view.body.constant(operand) != Some(Const::Null) {
                        all.extend(reader.text(operand, number));
                    }
                }
                united(all)
            })
        })
    }

    /// Value of a field that is written in only one place, where its class is initialised or objects are created.
    fn field(&self, field: FieldId, depth: u8) -> Found {
        self.fields.get(field, depth, || self.constant_value(field).or_else(|| self.written(field, depth)))
    }

    fn constant_value(&self, field: FieldId) -> Option<Vec<Message>> {
        let it = self.world.field(field);
        if it.access & (access::STATIC | access::FINAL) != access::STATIC | access::FINAL {
            return None;
        }
        let class = ClassFile::parse(&self.world.system_class(it.owner)?.bytes).ok()?;
        let (name, descriptor) = self.world.signature(it.signature);
        let member = class.fields().iter().find(|it| it.name == name && it.descriptor == descriptor)?;
        let index = member.attribute(b"ConstantValue")?.first_chunk::<2>()?;
        let text = class.pool.string(u16::from_be_bytes(*index)).ok()?;
        Some(vec![Message::text(decoded(text))])
    }

    fn written(&self, field: FieldId, depth: u8) -> Option<Vec<Message>> {
        let &[write] = self.facts.writes(field) else { return None };
        let it = self.world.field(field);
        let expected: &[u8] = if it.access & access::STATIC != 0 { b"<clinit>" } else { b"<init>" };
        let is_initial = self.world.method(write.method).owner == it.owner
            && self.world.method_name(write.method) == expected
            && (it.access & access::FINAL != 0 || expected == b"<clinit>");
        if !is_initial {
            return None;
        }
        let number = u32::from(write.instruction);
        with_view(self.world, write.method, |view, bootstraps| {
            let &operand = view.body.operands(number).last()?;
            let texts = Reader::new(self, view, bootstraps, depth).text(operand, number);
            Some(united(texts.iter().map(Message::closed).collect()))
        })?
    }

    /// The body of the lambda that is made at an instruction.
    fn lambda(&self, method: MethodId, instruction: u32) -> Option<MethodId> {
        let all = self.facts.lambdas();
        let at =
            all.binary_search_by_key(&(method, instruction), |it| (it.method, it.instruction.into())).ok()?;
        all[at].implementation
    }
}

/// Shows a method of the system with its body, if it has one.
pub(crate) fn with_view<T>(
    world: &World,
    id: MethodId,
    work: impl FnOnce(MethodView<'_>, &[BootstrapMethod]) -> T,
) -> Option<T> {
    let system = world.system_class(world.method(id).owner)?;
    let class = ClassFile::parse(&system.bytes).ok()?;
    let bootstraps = class.bootstrap_methods().unwrap_or_default();
    view_in(world, system, &class, id, |view| work(view, &bootstraps))
}

/// Shows a method of a class that has been read.
pub(crate) fn view_in<T>(
    world: &World,
    system: &SystemClass,
    class: &ClassFile<'_>,
    id: MethodId,
    work: impl FnOnce(MethodView<'_>) -> T,
) -> Option<T> {
    let member: &Member<'_> = class.methods().get(usize::from(world.method(id).member))?;
    let body = Body::of_method(class, member).ok()??;
    Some(work(MethodView { world, id, class, member, body: &body, pool: &system.pool }))
}

/// Reads the texts of one method.
pub(crate) struct Reader<'r, 'v> {
    pub wording: &'r Wording<'r>,
    pub view: MethodView<'v>,
    bootstraps: &'r [BootstrapMethod],
    depth: u8,
    steps: u32,
    dominance: OnceCell<Option<Dominance>>,
    /// The values that are being looked at: a text that is put together in a loop contains itself.
    active: Vec<ValueId>,
}

impl<'r, 'v> Reader<'r, 'v> {
    pub fn new(
        wording: &'r Wording<'r>,
        view: MethodView<'v>,
        bootstraps: &'r [BootstrapMethod],
        depth: u8,
    ) -> Self {
        let dominance = OnceCell::new();
        Reader { wording, view, bootstraps, depth, steps: 0, dominance, active: Vec::new() }
    }

    /// Dominators of the method's blocks; none if they cannot be computed.
    pub fn dominance(&self) -> Option<&Dominance> {
        self.dominance.get_or_init(|| Dominance::of(&self.view.body.flow, Edges::All).ok()).as_ref()
    }

    /// Counts work against the bound of a message.
    pub fn spend(&mut self, steps: usize) {
        self.steps = self.steps.saturating_add(steps as u32);
    }

    /// Begins another message.
    pub fn restart(&mut self) {
        self.steps = 0;
    }

    /// Text of a value where an instruction takes it.
    pub fn text(&mut self, value: ValueId, at: u32) -> Vec<Message> {
        self.steps += 1;
        if self.steps > STEPS_MAX || self.active.len() > NESTING_MAX || self.active.contains(&value) {
            return vec![Message::hole()];
        }
        self.active.push(value);
        let texts = match self.view.body.value(value) {
            Value::Phi(_) => {
                let origins = self.view.body.origins(value);
                united(origins.into_iter().flat_map(|it| self.text(it, at)).collect())
            }
            Value::Parameter(number) => vec![self.parameter(number)],
            Value::Result(number) => self.result(value, number, at),
            Value::Caught(_) | Value::Unknown => vec![Message::hole()],
        };
        self.active.pop();
        texts
    }

    /// Text of a value of this type; characters and numbers are the same values.
    pub fn printed(&mut self, value: ValueId, descriptor: &[u8], at: u32) -> Vec<Message> {
        let text = match (descriptor, self.view.body.constant(value)) {
            (b"C", Some(Const::Int(it))) => {
                u32::try_from(it).ok().and_then(char::from_u32).map(|it| it.to_string())
            }
            (b"Z", Some(Const::Int(it))) => Some((it != 0).to_string()),
            (b"I" | b"S" | b"B", Some(Const::Int(it))) | (b"J", Some(Const::Long(it))) => {
                Some(it.to_string())
            }
            (b"C" | b"Z" | b"I" | b"S" | b"B" | b"J" | b"F" | b"D", _) => None,
            _ => return self.text(value, at),
        };
        vec![text.map_or_else(Message::hole, Message::text)]
    }

    /// Text of an object.
    pub fn asked(&mut self, value: ValueId) -> Vec<Message> {
        let origins = self.view.body.origins_through_casts(value);
        united(origins.into_iter().flat_map(|it| self.asked_one(it)).collect())
    }

    fn asked_one(&mut self, value: ValueId) -> Vec<Message> {
        let view = self.view;
        self.steps += 1;
        if self.steps > STEPS_MAX || self.active.contains(&value) {
            return vec![Message::hole()];
        }
        self.active.push(value);
        let texts = match view.body.value(value) {
            Value::Parameter(number) if number > 0 || view.is_static() => {
                vec![Message::of(Piece::Parameter(Slot { number, is_called: true, styles: Vec::new() }))]
            }
            Value::Result(number) if view.instruction(number).opcode == op::INVOKEDYNAMIC => {
                let body = self.wording.lambda(view.id, number);
                body.map_or_else(
                    || vec![Message::hole()],
                    |it| self.follow(&[it], view.body.operands(number), number),
                )
            }
            _ => {
                let class = view.class_of(value).map(|it| it.class).filter(|&it| view.world.is_system(it));
                let asking = class.and_then(|it| {
                    view.world.methods_of(it).find(|&it| {
                        is_asking_name(view.world.method_name(it))
                            && view.world.method_descriptor(it).starts_with(b"()L")
                            && !view.world.method(it).is_abstract()
                    })
                });
                asking.map_or_else(|| vec![Message::hole()], |it| self.follow(&[it], &[], 0))
            }
        };
        self.active.pop();
        texts
    }

    fn parameter(&self, number: u16) -> Message {
        let is_text = matches!(
            self.view.parameter(number),
            Some(b"Ljava/lang/String;" | b"Ljava/lang/Object;" | b"Ljava/lang/CharSequence;")
        );
        if is_text {
            Message::of(Piece::Parameter(Slot { number, is_called: false, styles: Vec::new() }))
        } else {
            Message::hole()
        }
    }

    fn result(&mut self, value: ValueId, number: u32, at: u32) -> Vec<Message> {
        let view = self.view;
        match view.instruction(number).opcode {
            op::LDC..=op::LDC2_W | op::ACONST_NULL => vec![match view.body.constant(value) {
                Some(Const::String(text)) => Message::text(decoded(text)),
                Some(Const::Null) => Message::text("null"),
                _ => Message::hole(),
            }],
            op::CHECKCAST => match view.body.operands(number) {
                &[operand] => self.text(operand, at),
                _ => vec![Message::hole()],
            },
            op::GETSTATIC | op::GETFIELD => match view.field_at(number) {
                Some(field) if self.depth < DEPTH_MAX && self.is_text_field(field) => {
                    self.wording.field(field, self.depth + 1).to_vec()
                }
                _ => vec![Message::hole()],
            },
            op::INVOKEDYNAMIC => self.joined(number).unwrap_or_else(|| vec![Message::hole()]),
            op::INVOKEVIRTUAL..=op::INVOKEINTERFACE => {
                self.called(value, number, at).unwrap_or_else(|| vec![Message::hole()])
            }
            op::NEW => {
                let texts = self.built(value, at).or_else(|| self.message_object(value));
                texts.unwrap_or_else(|| vec![Message::hole()])
            }
            _ => vec![Message::hole()],
        }
    }

    fn is_text_field(&self, field: FieldId) -> bool {
        let field = self.view.world.field(field);
        self.view.world.is_system(field.owner)
            && self.view.world.signature(field.signature).1 == b"Ljava/lang/String;"
    }

    /// A concatenation by `invokedynamic`.
    fn joined(&mut self, number: u32) -> Option<Vec<Message>> {
        let view = self.view;
        let pool = &view.class.pool;
        let site = pool.invoke_dynamic(view.instruction(number).pool_index()?).ok()?;
        let bootstrap = self.bootstraps.get(usize::from(site.bootstrap))?;
        let Constant::MethodHandle { reference, .. } = pool.get(bootstrap.method).ok()? else { return None };
        let made_by = pool.member(reference).ok()?;
        if made_by.owner != b"java/lang/invoke/StringConcatFactory" {
            return None;
        }
        let mut operands =
            descriptor::parameters(site.descriptor).zip(view.body.operands(number).iter().copied());
        let mut parts = Vec::new();
        if made_by.name == b"makeConcat" {
            for (descriptor, operand) in operands {
                parts.push(self.printed(operand, descriptor, number));
            }
            return Some(concatenated(&parts));
        }
        let (&recipe, constants) = bootstrap.arguments.split_first()?;
        let mut constants = constants.iter();
        let recipe = decoded(pool.string(recipe).ok()?);
        let mut rest = recipe.as_str();
        while let Some(place) = rest.find(['\u{1}', '\u{2}']) {
            parts.push(vec![Message::text(&rest[..place])]);
            parts.push(if rest.as_bytes()[place] == 1 {
                match operands.next() {
                    Some((descriptor, operand)) => self.printed(operand, descriptor, number),
                    None => vec![Message::hole()],
                }
            } else {
                let text = constants.next().and_then(|&it| match pool.get(it).ok()? {
                    Constant::String { text } => Some(decoded(pool.utf8(text).ok()?)),
                    Constant::Integer(it) => Some(it.to_string()),
                    Constant::Long(it) => Some(it.to_string()),
                    _ => None,
                });
                vec![text.map_or_else(Message::hole, Message::text)]
            });
            rest = &rest[place + 1..];
        }
        parts.push(vec![Message::text(rest)]);
        Some(concatenated(&parts))
    }

    /// Return value of a call.
    fn called(&mut self, value: ValueId, number: u32, at: u32) -> Option<Vec<Message>> {
        let view = self.view;
        let callee = view.callee_at(number)?;
        let reference = view.world.method_ref(callee);
        let (name, signature) = view.world.signature(reference.signature);
        let operands = view.body.operands(number);
        let operand = |at: usize| operands.get(at).copied();
        let locale = usize::from(signature.starts_with(b"(Ljava/util/Locale;"));
        match (view.world.type_name(reference.owner), name) {
            (b"java/lang/String", b"valueOf") | (b"java/util/Objects", b"toString") => {
                let parameter = descriptor::parameters(signature).next()?;
                let printed = operand(0).filter(|_| !parameter.starts_with(b"["))?;
                Some(self.printed(printed, parameter, number))
            }
            (b"java/lang/String", b"toString" | b"intern") => Some(self.text(operand(0)?, number)),
            (b"java/lang/String", b"concat") | (b"kotlin/jvm/internal/Intrinsics", b"stringPlus") => {
                let parts = [self.text(operand(0)?, number), self.text(operand(1)?, number)];
                Some(concatenated(&parts))
            }
            (b"java/lang/String", b"format") => {
                self.formatted(Style::Percent, operand(locale)?, operand(locale + 1), number)
            }
            (b"java/lang/String", b"formatted") => {
                self.formatted(Style::Percent, operand(0)?, operand(1), number)
            }
            (b"com/google/common/base/Strings", b"lenientFormat") => {
                self.formatted(Style::Percent, operand(0)?, operand(1), number)
            }
            (b"java/text/MessageFormat", b"format") if operands.len() == 2 => {
                self.formatted(Style::Numbered, operand(0)?, operand(1), number)
            }
            (b"scala/StringContext", b"s") => self.interpolated(operand(0)?, operand(1), number),
            (b"scala/Predef$", b"augmentString") => Some(self.text(operand(1)?, number)),
            (
                b"scala/collection/StringOps$" | b"scala/collection/immutable/StringOps$",
                b"format$extension",
            ) => {
                let arguments = operand(2).map(|it| self.wrapped(it));
                self.formatted(Style::Percent, operand(1)?, arguments, number)
            }
            (_, b"toString") if operands.len() == 1 && self.is_builder(operand(0)?) => {
                self.built(operand(0)?, number)
            }
            (b"java/lang/StringBuilder" | b"java/lang/StringBuffer", b"append") => self.built(value, at),
            (owner, name) if is_asked(owner, name) && operands.len() == 1 => Some(self.asked(operand(0)?)),
            _ if operands.len() == 1
                && view.instruction(number).opcode == op::INVOKEINTERFACE
                && self.wording.asked.contains(&(reference.owner, reference.signature))
                && matches!(view.body.value(operand(0)?), Value::Parameter(it) if it > 0 || view.is_static()) =>
            {
                Some(self.asked(operand(0)?))
            }
            _ => {
                let targets = self.targets(callee, number)?;
                Some(self.follow(&targets, operands, number))
            }
        }
    }

    /// The methods whose results a call has, if all are known and few.
    fn targets(&self, callee: RefId, number: u32) -> Option<Vec<MethodId>> {
        let world = self.view.world;
        let reference = world.method_ref(callee);
        let declared = reference.method.filter(|&it| world.is_system_method(it))?;
        let result = descriptor::return_type(world.signature(reference.signature).1);
        if !matches!(result, b"Ljava/lang/String;" | b"Ljava/lang/Object;" | b"Ljava/lang/CharSequence;") {
            return None;
        }
        if matches!(self.view.instruction(number).opcode, op::INVOKESTATIC | op::INVOKESPECIAL) {
            return Some(vec![declared]);
        }
        let targets = self.wording.calls.targets_of_ref(callee);
        let is_same = |it: &MethodId| world.method(*it).signature == reference.signature;
        if targets.len() <= TARGETS_MAX && targets.iter().all(is_same) {
            return (!targets.is_empty()).then(|| targets.to_vec());
        }
        // Every class that mixes in a trait of Scala has a method that does nothing but call the trait's.
        let owner = world.method(declared).owner;
        let is_trait =
            world.get(owner).access & access::INTERFACE != 0 && !world.method(declared).is_abstract();
        is_trait.then(|| vec![declared])
    }

    /// Return values of some methods that are called with these operands.
    fn follow(&mut self, methods: &[MethodId], operands: &[ValueId], at: u32) -> Vec<Message> {
        if self.depth >= DEPTH_MAX {
            return vec![Message::hole()];
        }
        let mut all = Vec::new();
        for &method in methods {
            let returned = self.wording.returns(method, self.depth + 1);
            all.extend(substituted(&returned, &mut |slot| self.said(slot, operands, at)));
        }
        united(all)
    }

    /// Operands of a call for a parameter of the called method.
    pub fn said(&mut self, slot: &Slot, operands: &[ValueId], at: u32) -> Vec<Message> {
        match operands.get(usize::from(slot.number)) {
            Some(&operand) if slot.is_called => self.asked(operand),
            Some(&operand) => self.text(operand, at),
            None => vec![Message::hole()],
        }
    }

    fn formatted(
        &mut self,
        style: Style,
        format: ValueId,
        arguments: Option<ValueId>,
        at: u32,
    ) -> Option<Vec<Message>> {
        let arguments = arguments.map_or_else(Vec::new, |it| self.elements(it, at));
        let arguments = self.arguments(&arguments, at);
        Some(self.text(format, at).iter().map(|it| it.formatted(style, &arguments)).collect())
    }

    /// Text of a log4j 2 message that is created here as an object.
    fn message_object(&mut self, value: ValueId) -> Option<Vec<Message>> {
        let view = self.view;
        let style = match view.body.new_class(value)?.strip_prefix(b"org/apache/logging/log4j/message/")? {
            b"SimpleMessage" => None,
            b"ParameterizedMessage" => Some(Style::Braces),
            b"FormattedMessage" => Some(Style::Either),
            b"StringFormattedMessage" => Some(Style::Percent),
            b"MessageFormatMessage" => Some(Style::Numbered),
            _ => return None,
        };
        let made = view.body.uses(value).iter().copied().find(|&it| {
            view.instruction(it).opcode == op::INVOKESPECIAL && view.body.operands(it).first() == Some(&value)
        })?;
        let reference = view.world.method_ref(view.callee_at(made)?);
        let has_locale = view.world.signature(reference.signature).1.starts_with(b"(Ljava/util/Locale;");
        let operands = view.body.operands(made).get(1 + usize::from(has_locale)..)?;
        let (&format, arguments) = operands.split_first()?;
        let texts = self.text(format, made);
        let Some(style) = style else { return Some(texts) };
        let arguments = match arguments {
            [array, ..] if !self.elements(*array, made).is_empty() => self.elements(*array, made),
            arguments => arguments.to_vec(),
        };
        let arguments = self.arguments(&arguments, made);
        Some(texts.iter().map(|it| it.formatted(style, &arguments)).collect())
    }

    /// Arguments of a format.
    pub fn arguments(&mut self, values: &[ValueId], at: u32) -> Vec<Vec<Message>> {
        values.iter().map(|&it| self.text(it, at)).collect()
    }

    /// Elements of an array that is created here, in order; unknown for those that are not seen.
    pub fn elements(&self, array: ValueId, at: u32) -> Vec<ValueId> {
        let body = self.view.body;
        let mut elements = Vec::new();
        let is_made_here = |number| self.view.instruction(number).opcode == op::ANEWARRAY;
        if !matches!(body.value(array), Value::Result(number) if is_made_here(number)) {
            return elements;
        }
        for &number in body.uses(array).iter().take_while(|it| **it < at) {
            let &[into, index, value] = body.operands(number) else { continue };
            let Some(Const::Int(index)) = body.constant(index) else { continue };
            let Ok(index) = usize::try_from(index) else { continue };
            if into == array && index < ELEMENTS_MAX {
                if elements.len() <= index {
                    elements.resize(index + 1, ValueId::UNKNOWN);
                }
                elements[index] = value;
            }
        }
        elements
    }

    /// `s"..."` of Scala: the texts in an array given to the constructor, the arguments in another.
    fn interpolated(
        &mut self,
        context: ValueId,
        arguments: Option<ValueId>,
        at: u32,
    ) -> Option<Vec<Message>> {
        let view = self.view;
        let made = view.body.uses(context).iter().copied().find(|&it| {
            view.instruction(it).opcode == op::INVOKESPECIAL
                && view.body.operands(it).first() == Some(&context)
        })?;
        let texts = self.elements(self.wrapped(*view.body.operands(made).get(1)?), at);
        let arguments = arguments.map_or_else(Vec::new, |it| self.elements(self.wrapped(it), at));
        let mut parts = Vec::new();
        for (number, &text) in texts.iter().enumerate() {
            parts.push(self.text(text, at));
            if number + 1 < texts.len() {
                parts.push(
                    arguments.get(number).map_or_else(|| vec![Message::hole()], |&it| self.text(it, at)),
                );
            }
        }
        Some(concatenated(&parts))
    }

    /// The array behind a sequence that Scala makes of it for a call.
    fn wrapped(&self, value: ValueId) -> ValueId {
        let body = self.view.body;
        let mut value = value;
        for _ in 0..3 {
            match body.value(value) {
                Value::Result(number) if self.view.instruction(number).is_invoke() => {
                    let Some(&last) = body.operands(number).last() else { break };
                    value = last;
                }
                Value::Result(number) if self.view.instruction(number).opcode == op::CHECKCAST => {
                    let Some(&cast) = body.operands(number).first() else { break };
                    value = cast;
                }
                _ => break,
            }
        }
        value
    }
}
