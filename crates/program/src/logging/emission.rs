//! A call that writes a message, itself or through wrappers: what it writes, at which level, with an exception or not.

use hypocenter_classfile::{descriptor, op};

use crate::facts::CallId;
use crate::logging::format::Style;
use crate::logging::frameworks::{Api, Form, Frameworks, LevelFrom, Named};
use crate::logging::message::{Message, Piece, Slot, substituted};
use crate::logging::wording::Reader;
use crate::methods::values::{Const, Value, ValueId};

/// The longest chain of calls by which a fluent logger is configured.
const CHAIN_MAX: usize = 32;

/// Origin of a level, from the view of a method.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) enum LevelAt {
    Known(Named),
    Parameter(u16),
}

impl LevelAt {
    const UNKNOWN: LevelAt = LevelAt::Known(Named::UNKNOWN);

    pub fn named(self) -> Named {
        match self {
            LevelAt::Known(named) => named,
            LevelAt::Parameter(_) => Named::UNKNOWN,
        }
    }
}

/// Position of the written exception, from the view of a method.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) enum ExceptionAt {
    Known(bool),
    /// If the callers give one for this parameter, which is declared as one or else may be anything.
    Parameter {
        number: u16,
        is_declared: bool,
    },
}

impl ExceptionAt {
    /// Tests whether there is one as far as is known.
    pub fn is_given(self) -> bool {
        match self {
            ExceptionAt::Known(is_given) => is_given,
            ExceptionAt::Parameter { is_declared, .. } => is_declared,
        }
    }
}

/// A call that writes a message.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Emission {
    pub call: CallId,
    /// Effect of the wrapper that is called; none for the call of a framework.
    pub parent: Option<u32>,
    /// The call of the framework.
    pub written: CallId,
    pub api: Api,
    pub level: LevelAt,
    pub messages: Vec<Message>,
    pub exception: ExceptionAt,
    /// True if a part of the message stands here rather than in the wrapper.
    pub has_own_text: bool,
}

impl Emission {
    /// Tests whether the callers have a part in the message.
    pub fn is_handing_on(&self) -> bool {
        self.messages.iter().any(|it| it.slots().next().is_some())
    }

    /// Tests whether all of the message is a parameter.
    pub fn is_only_handing_on(&self) -> bool {
        self.messages.iter().all(|it| matches!(it.pieces(), [Piece::Parameter(_)]))
    }

    /// Tests whether a call writes the same twice.
    pub fn is_same(&self, other: &Emission) -> bool {
        (self.written, self.level, self.exception, &self.messages)
            == (other.written, other.level, other.exception, &other.messages)
    }
}

/// A call while it is looked at.
pub(crate) struct Calling<'c, 'r, 'v> {
    pub frameworks: &'c Frameworks<'c>,
    pub reader: &'c mut Reader<'r, 'v>,
    pub call: CallId,
    /// The number of its instruction.
    pub number: u32,
}

impl<'v> Calling<'_, '_, 'v> {
    fn operands(&self) -> &'v [ValueId] {
        self.reader.view.body.operands(self.number)
    }

    fn operand(&self, at: u16) -> Option<ValueId> {
        self.operands().get(usize::from(at)).copied()
    }

    /// Text that a call of a framework writes; none if it prints elsewhere than to the standard streams.
    pub fn written(&mut self, form: &Form) -> Option<Emission> {
        if form.api == Api::Print && !self.operand(0).is_some_and(|it| self.is_standard_stream(it)) {
            return None;
        }
        let chain = self.chain();
        let arguments = form.message.and_then(|_| self.operands().get(usize::from(form.arguments)..));
        let arguments = self.spread(arguments.unwrap_or_default());
        let mut messages = self.messages(form, &chain)?;
        if let Some(style) = form.style {
            let arguments = self.reader.arguments(&arguments, self.number);
            messages = messages.iter().map(|it| it.formatted(style, &arguments)).collect();
        }
        let level = match form.level {
            LevelFrom::Known(named) => LevelAt::Known(named),
            LevelFrom::Operand(at) => self.level(at),
            LevelFrom::Receiver => chain.level.map_or(LevelAt::UNKNOWN, LevelAt::Known),
        };
        // Where arguments are counted off by braces, an exception at their end is not one of them.
        let is_attached = matches!(form.style, Some(Style::Braces | Style::Either));
        let exception = match (form.exception, arguments.last()) {
            _ if chain.has_exception => ExceptionAt::Known(true),
            (Some(at), _) => {
                self.operand(at).map_or(ExceptionAt::Known(false), |it| self.exception(it, true))
            }
            (None, Some(&last)) if is_attached => self.exception(last, false),
            _ => ExceptionAt::Known(false),
        };
        let has_own_text = messages.iter().any(Message::has_text);
        let (call, written) = (self.call, self.call);
        Some(Emission {
            call,
            parent: None,
            written,
            api: form.api,
            level,
            messages,
            exception,
            has_own_text,
        })
    }

    fn messages(&mut self, form: &Form, chain: &Chain) -> Option<Vec<Message>> {
        let view = self.reader.view;
        let number = self.number;
        let Some((at, message)) = form.message.and_then(|at| Some((at, self.operand(at)?))) else {
            return Some(match chain.message {
                Some((message, at)) => self.reader.text(message, at),
                None if matches!(form.api, Api::Print | Api::StackTrace) => vec![Message::default()],
                None => vec![Message::hole()],
            });
        };
        if form.is_asked {
            return Some(self.reader.asked(message));
        }
        let reference = view.world.method_ref(view.callee_at(number)?);
        let mut parameters = descriptor::parameters(view.world.signature(reference.signature).1);
        let parameter = parameters.nth(usize::from(at).checked_sub(1)?)?;
        Some(self.reader.printed(message, parameter, number))
    }

    /// Effect of a call of a wrapper, given the effect of the wrapper.
    pub fn handed(&mut self, parent: u32, above: &Emission) -> Emission {
        let (operands, number) = (self.operands(), self.number);
        let mut has_own_text = false;
        let messages = substituted(&above.messages, &mut |slot: &Slot| {
            let said = self.reader.said(slot, operands, number);
            has_own_text |= said.iter().all(Message::has_text);
            said
        });
        let level = match above.level {
            LevelAt::Parameter(at) => self.level(at),
            level => level,
        };
        let exception = match above.exception {
            ExceptionAt::Parameter { number, is_declared } => {
                self.operand(number).map_or(ExceptionAt::Known(false), |it| self.exception(it, is_declared))
            }
            exception => exception,
        };
        let parent = Some(parent);
        Emission { call: self.call, parent, level, messages, exception, has_own_text, ..above.clone() }
    }

    /// The arguments behind a message, with the elements of an array that is made for them in its place.
    fn spread(&self, arguments: &[ValueId]) -> Vec<ValueId> {
        let elements = match arguments {
            [array] | [array, _] => self.reader.elements(*array, self.number),
            _ => Vec::new(),
        };
        if elements.is_empty() { arguments.to_vec() } else { elements }
    }

    fn level(&self, operand: u16) -> LevelAt {
        let view = self.reader.view;
        let Some(value) = self.operand(operand) else { return LevelAt::UNKNOWN };
        if let Some(Const::Int(number)) = view.body.constant(value) {
            return Named::of_number(number).map_or(LevelAt::UNKNOWN, LevelAt::Known);
        }
        match view.body.value(value) {
            Value::Parameter(number) => LevelAt::Parameter(number),
            Value::Result(number) if view.instruction(number).opcode == op::GETSTATIC => {
                let field = view.field_at(number).map(|it| view.world.field_name(it));
                field.and_then(Named::of).map_or(LevelAt::UNKNOWN, LevelAt::Known)
            }
            _ => LevelAt::UNKNOWN,
        }
    }

    /// Tests whether a value, or the last element of an array that is made here, is an exception. `is_declared` says that
    /// it can be nothing else but `null`.
    fn exception(&self, value: ValueId, is_declared: bool) -> ExceptionAt {
        let view = self.reader.view;
        let value = self.reader.elements(value, self.number).last().copied().unwrap_or(value);
        let origins = view.body.origins_through_casts(value);
        if let [only] = origins[..]
            && let Value::Parameter(number) = view.body.value(only)
            && (number > 0 || view.is_static())
        {
            let is_declared = is_declared || self.is_throwable(only);
            return ExceptionAt::Parameter { number, is_declared };
        }
        let is_null = |it: &ValueId| view.body.constant(*it) == Some(Const::Null);
        let is_exception = |it: &ValueId| !is_null(it) && (is_declared || self.is_throwable(*it));
        ExceptionAt::Known(origins.iter().any(is_exception))
    }

    fn is_throwable(&self, value: ValueId) -> bool {
        let view = self.reader.view;
        matches!(view.body.value(value), Value::Caught(_))
            || view.class_of(value).is_some_and(|it| self.frameworks.is_throwable(it.class))
    }

    /// Tests whether a value is `System.out` or `System.err`.
    fn is_standard_stream(&self, value: ValueId) -> bool {
        let view = self.reader.view;
        view.field_of(value).is_some_and(|it| {
            view.world.type_name(view.world.field(it).owner) == b"java/lang/System"
                && matches!(view.world.field_name(it), b"out" | b"err")
        })
    }

    fn chain(&self) -> Chain {
        let view = self.reader.view;
        let mut chain = Chain::default();
        let mut next = self.operand(0);
        for _ in 0..CHAIN_MAX {
            let Some(Value::Result(number)) = next.map(|it| view.body.value(it)) else { break };
            let Some(callee) = view.callee_at(number) else { break };
            let name = view.world.signature(view.world.method_ref(callee).signature).0;
            let operands = view.body.operands(number);
            match name {
                b"setCause" | b"withCause" | b"withThrowable" => chain.has_exception = true,
                b"setMessage" => chain.message = operands.get(1).map(|&it| (it, number)),
                _ => {
                    if let Some(level) = name.strip_prefix(b"at").and_then(Named::of) {
                        chain.level = Some(level);
                        break;
                    }
                }
            }
            next = operands.first().copied();
        }
        chain
    }
}

/// Calls that built a fluent logger: `atInfo().setCause(e).log("..")`.
#[derive(Default)]
struct Chain {
    level: Option<Named>,
    /// The message, and the instruction that takes it.
    message: Option<(ValueId, u32)>,
    has_exception: bool,
}
