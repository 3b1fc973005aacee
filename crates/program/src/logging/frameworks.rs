//! The frameworks by which programs log: which calls write, at which level, and where the message stands.

use hypocenter_classfile::descriptor;

use crate::loading::world::{MethodRef, TypeId, World};
use crate::logging::format::Style;

/// By what a message is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Api {
    /// slf4j, and logback which implements it.
    Slf4j,
    /// log4j 1.
    Log4j1,
    /// log4j 2.
    Log4j2,
    /// commons-logging.
    CommonsLogging,
    /// `java.util.logging`.
    JavaUtilLogging,
    /// `java.lang.System.Logger`.
    SystemLogger,
    /// jboss-logging.
    JBossLogging,
    /// flogger.
    Flogger,
    /// kotlin-logging.
    KotlinLogging,
    /// The logging of akka and pekko.
    Akka,
    /// The logging of jetty.
    Jetty,
    /// The logging of netty.
    Netty,
    /// `System.out` and `System.err`.
    Print,
    /// `printStackTrace()`.
    StackTrace,
}

/// The methods, of classes with dots, that a framework enters for what its level filter has let through, in the thread that
/// logs. Those of log4j 1, log4j 2, logback, `java.util.logging` and slf4j-simple.
pub const EMITTING: [(&str, &str); 5] = [
    ("org.apache.log4j.Category", "callAppenders"),
    ("org.apache.logging.log4j.core.config.LoggerConfig", "processLogEvent"),
    ("ch.qos.logback.classic.Logger", "callAppenders"),
    ("java.util.logging.Logger", "doLog"),
    ("org.slf4j.simple.SimpleLogger", "write"),
];

/// Severity of a message. Finer levels of `java.util.logging` are in [`Statement::said`].
///
/// [`Statement::said`]: crate::Statement::said
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Level {
    /// `TRACE`, `FINEST`.
    Trace,
    /// `DEBUG`, `FINE`, `FINER`.
    Debug,
    /// `INFO`, `CONFIG`.
    Info,
    /// `WARN`, `WARNING`.
    Warn,
    /// `ERROR`, `SEVERE`.
    Error,
    /// `FATAL`.
    Fatal,
    /// It is printed, not logged.
    Print,
    /// The code computes the level.
    Unknown,
}

/// The words for levels, in capitals.
const LEVELS: [(&str, Level); 15] = [
    ("TRACE", Level::Trace),
    ("DEBUG", Level::Debug),
    ("INFO", Level::Info),
    ("WARN", Level::Warn),
    ("ERROR", Level::Error),
    ("FATAL", Level::Fatal),
    ("SEVERE", Level::Error),
    ("WARNING", Level::Warn),
    ("CONFIG", Level::Info),
    ("FINE", Level::Debug),
    ("FINER", Level::Debug),
    ("FINEST", Level::Trace),
    ("PRINT", Level::Print),
    ("OFF", Level::Unknown),
    ("ALL", Level::Unknown),
];

/// A level with the word that the code has for it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct Named {
    pub level: Level,
    pub said: &'static str,
}

impl Named {
    pub const UNKNOWN: Named = Named { level: Level::Unknown, said: "" };
    pub const PRINT: Named = Named { level: Level::Print, said: "PRINT" };

    /// The level of a word in any case: of a method (`warn`), a constant (`WARN`), or behind `at` (`atWarn`).
    pub fn of(word: &[u8]) -> Option<Named> {
        let found = LEVELS.iter().find(|(it, _)| it.as_bytes().eq_ignore_ascii_case(word));
        found.map(|&(said, level)| Named { level, said })
    }

    /// The numbers of slf4j's `LocationAwareLogger`.
    pub fn of_number(number: i64) -> Option<Named> {
        let word = match number {
            0 => "TRACE",
            10 => "DEBUG",
            20 => "INFO",
            30 => "WARN",
            40 => "ERROR",
            _ => return None,
        };
        Named::of(word.as_bytes())
    }
}

/// The types whose methods log.
const LOGGERS: [(&[u8], Api); 22] = [
    (b"org/slf4j/Logger", Api::Slf4j),
    (b"org/slf4j/spi/LocationAwareLogger", Api::Slf4j),
    (b"org/slf4j/spi/LoggingEventBuilder", Api::Slf4j),
    (b"ch/qos/logback/classic/Logger", Api::Slf4j),
    (b"org/apache/log4j/Category", Api::Log4j1),
    (b"org/apache/log4j/Logger", Api::Log4j1),
    (b"org/apache/logging/log4j/Logger", Api::Log4j2),
    (b"org/apache/logging/log4j/LogBuilder", Api::Log4j2),
    (b"org/apache/commons/logging/Log", Api::CommonsLogging),
    (b"java/util/logging/Logger", Api::JavaUtilLogging),
    (b"java/lang/System$Logger", Api::SystemLogger),
    (b"org/jboss/logging/BasicLogger", Api::JBossLogging),
    (b"org/jboss/logging/Logger", Api::JBossLogging),
    (b"com/google/common/flogger/LoggingApi", Api::Flogger),
    (b"mu/KLogger", Api::KotlinLogging),
    (b"io/github/oshai/kotlinlogging/KLogger", Api::KotlinLogging),
    (b"akka/event/LoggingAdapter", Api::Akka),
    (b"org/apache/pekko/event/LoggingAdapter", Api::Akka),
    (b"org/eclipse/jetty/util/log/Logger", Api::Jetty),
    (b"io/netty/util/internal/logging/InternalLogger", Api::Netty),
    (b"io/netty/util/internal/logging/AbstractInternalLogger", Api::Netty),
    (b"ch/qos/logback/classic/spi/LoggingEventBuilder", Api::Slf4j),
];

/// Interfaces that are asked for a text: the type and its method.
const ASKED: [(&[u8], &[u8]); 8] = [
    (b"java/util/function/Supplier", b"get"),
    (b"java/util/concurrent/Callable", b"call"),
    (b"org/apache/logging/log4j/util/Supplier", b"get"),
    (b"org/apache/logging/log4j/util/MessageSupplier", b"get"),
    (b"scala/Function0", b"apply"),
    (b"kotlin/jvm/functions/Function0", b"invoke"),
    (b"com/google/common/base/Supplier", b"get"),
    (b"com/google/common/flogger/LazyArg", b"evaluate"),
];

/// Tests whether a call of this method asks an object for a text.
pub(crate) fn is_asked(owner: &[u8], name: &[u8]) -> bool {
    ASKED.contains(&(owner, name))
}

/// Tests whether objects of this type (a descriptor) are asked for the text rather than being it.
pub(crate) fn is_asked_type(descriptor: &[u8]) -> bool {
    let name = descriptor.strip_prefix(b"L").and_then(|it| it.strip_suffix(b";"));
    name.is_some_and(|name| ASKED.iter().any(|it| it.0 == name))
}

/// The name of a method by which an object is asked for a text.
pub(crate) fn is_asking_name(name: &[u8]) -> bool {
    ASKED.iter().any(|it| it.1 == name)
}

/// Position of the level in a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) enum LevelFrom {
    /// The method has it in its name.
    Known(Named),
    /// This operand is it.
    Operand(u16),
    /// The calls that made the receiver say it (`atInfo().log("..")`).
    Receiver,
}

/// A call that writes a message. Operands are counted as [`Body::operands`](crate::Body::operands) has them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Form {
    pub api: Api,
    pub level: LevelFrom,
    /// The operand that is the message; none if there is none, or if the receiver has it.
    pub message: Option<u16>,
    /// True if the message is asked for it.
    pub is_asked: bool,
    /// The format of the message.
    pub style: Option<Style>,
    /// The operands from here on are arguments or exceptions.
    pub arguments: u16,
    /// True if an exception is among the operands by its declared type: which.
    pub exception: Option<u16>,
}

/// Index of all frameworks by the numbers of a world.
pub(crate) struct Frameworks<'w> {
    world: &'w World,
    loggers: Vec<(TypeId, Api)>,
    throwable: Option<TypeId>,
}

impl<'w> Frameworks<'w> {
    pub fn of(world: &'w World) -> Frameworks<'w> {
        let loggers = LOGGERS.iter().filter_map(|&(name, api)| Some((world.find_type(name)?, api))).collect();
        Frameworks { world, loggers, throwable: world.find_type(b"java/lang/Throwable") }
    }

    /// Tests whether a type is a throwable.
    pub fn is_throwable(&self, id: TypeId) -> bool {
        self.throwable.is_some_and(|it| self.world.is_subtype(id, it))
    }

    /// Tests whether objects of a type are loggers.
    pub fn is_logger(&self, id: TypeId) -> bool {
        self.loggers.iter().any(|it| self.world.is_subtype(id, it.0))
    }

    fn is_throwable_descriptor(&self, descriptor: &[u8]) -> bool {
        self.world.find_descriptor(descriptor).is_some_and(|it| self.is_throwable(it))
    }

    /// Effect of calls of a method that write, if they do.
    pub fn form(&self, reference: &MethodRef) -> Option<Form> {
        let (name, descriptor) = self.world.signature(reference.signature);
        let owner = self.world.type_name(reference.owner);
        if name == b"printStackTrace" {
            return self.stack_trace(reference, descriptor);
        }
        if matches!(owner, b"java/io/PrintStream" | b"java/io/PrintWriter") {
            return (owner == b"java/io/PrintStream").then(|| print(name, descriptor)).flatten();
        }
        if !is_writing_name(name) {
            return None;
        }
        // A method of the system that overrides one of a framework is a wrapper if anything, unless the framework
        // itself is taken for a part of the system.
        let own =
            reference.method.map(|it| self.world.method(it).owner).filter(|&it| self.world.is_system(it));
        if own.is_some_and(|own| self.loggers.iter().all(|it| it.0 != own)) {
            return None;
        }
        let is_below = |it: TypeId| self.world.is_subtype(reference.owner, it);
        let api = self.loggers.iter().find(|it| is_below(it.0))?.1;
        self.logging(api, name, descriptor)
    }

    fn stack_trace(&self, reference: &MethodRef, descriptor: &[u8]) -> Option<Form> {
        let is_plain = descriptor == b"()V" && self.is_throwable(reference.owner);
        is_plain.then_some(Form {
            api: Api::StackTrace,
            level: LevelFrom::Known(Named::PRINT),
            message: None,
            is_asked: false,
            style: None,
            arguments: 1,
            exception: Some(0),
        })
    }

    fn logging(&self, api: Api, name: &[u8], descriptor: &[u8]) -> Option<Form> {
        let parameters: Vec<&[u8]> = descriptor::parameters(descriptor).collect();
        let (word, suffix) = match name.split_last() {
            Some((&last @ (b'f' | b'v'), word)) if api == Api::JBossLogging => (word, Some(last)),
            _ => (name, None),
        };
        let mut level = Named::of(word).map(LevelFrom::Known);
        let mut exception = None;
        let mut message = None;
        // The names of class and method come before the message, in other frameworks that of the class alone
        // before the level.
        let mut skipped = match name {
            b"logp" => 2,
            b"logrb" if parameters.iter().filter(|it| **it == b"Ljava/lang/String;").count() > 2 => 3,
            b"log" | b"logf" | b"logv"
                if parameters.first() == Some(&&b"Ljava/lang/String;"[..])
                    && parameters.get(1).is_some_and(|it| is_level_type(it)) =>
            {
                1
            }
            b"log" if parameters.get(2) == Some(&&b"I"[..]) => 1,
            _ => 0,
        };
        for (operand, &parameter) in (1..).zip(&parameters) {
            if is_level_type(parameter) || (parameter == b"I" && level.is_none() && name == b"log") {
                level = level.or(Some(LevelFrom::Operand(operand)));
            } else if self.is_throwable_descriptor(parameter) {
                exception = exception.or(Some(operand));
            } else if is_message_type(parameter) {
                if skipped == 0 {
                    message = Some(operand);
                    break;
                }
                skipped -= 1;
            }
        }
        let first = message.unwrap_or(parameters.len() as u16) + 1;
        let rest = parameters.get(usize::from(first) - 1..).unwrap_or_default();
        let declared = (first..).zip(rest).find(|it| self.is_throwable_descriptor(it.1));
        exception = exception.or(declared.map(|it| it.0));
        let has_arguments = rest.iter().any(|it| !self.is_throwable_descriptor(it));
        let message_type = message.and_then(|it| parameters.get(usize::from(it) - 1));
        let style = match (api, suffix) {
            (Api::JBossLogging, Some(b'f')) => Some(Style::Percent),
            (Api::JBossLogging, _) => suffix.map(|_| Style::Numbered),
            _ if name == b"printf" => Some(Style::Percent),
            _ if !has_arguments => None,
            (Api::JavaUtilLogging | Api::SystemLogger, _) => Some(Style::Numbered),
            (Api::Log4j2, _) => Some(Style::Either),
            (Api::Flogger, _) => Some(Style::Percent),
            (Api::Log4j1 | Api::CommonsLogging, _) => None,
            _ => Some(Style::Braces),
        };
        Some(Form {
            api,
            level: level.unwrap_or(LevelFrom::Receiver),
            message,
            is_asked: message_type.is_some_and(|it| is_asked_type(it)),
            style,
            arguments: first,
            exception,
        })
    }
}

/// The methods that write, of all frameworks. What only asks or sets is not among them.
fn is_writing_name(name: &[u8]) -> bool {
    let is_level = |word: &[u8]| {
        Named::of(word).is_some_and(|it| it.level != Level::Print && it.level != Level::Unknown)
    };
    let formats = matches!(name.last(), Some(b'f' | b'v')) && is_level(&name[..name.len() - 1]);
    // Names of methods are in small letters; `INFO` is a field at most.
    name.iter().all(u8::is_ascii_lowercase)
        && (is_level(name)
            || formats
            || matches!(name, b"log" | b"logp" | b"logrb" | b"logf" | b"logv" | b"printf"))
        || name == b"logVarargs"
}

fn is_level_type(descriptor: &[u8]) -> bool {
    [&b"/Level;"[..], b"$Level;", b"/Priority;"].iter().any(|it| descriptor.ends_with(it))
}

fn is_message_type(descriptor: &[u8]) -> bool {
    matches!(descriptor, b"Ljava/lang/String;" | b"Ljava/lang/Object;" | b"Ljava/lang/CharSequence;")
        || descriptor == b"Lorg/apache/logging/log4j/message/Message;"
        || is_asked_type(descriptor)
}

fn print(name: &[u8], descriptor: &[u8]) -> Option<Form> {
    let mut parameters = descriptor::parameters(descriptor);
    let is_format = matches!(name, b"printf" | b"format");
    if !is_format && !matches!(name, b"print" | b"println") {
        return None;
    }
    let first = parameters.next();
    let message = match first {
        Some(b"Ljava/util/Locale;") => Some(2),
        Some(_) => Some(1),
        None => None,
    };
    Some(Form {
        api: Api::Print,
        level: LevelFrom::Known(Named::PRINT),
        message,
        is_asked: false,
        style: is_format.then_some(Style::Percent),
        arguments: message.unwrap_or(0) + 1,
        exception: None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_that_write() {
        for (name, expected) in [
            ("info", true),
            ("warning", true),
            ("infof", true),
            ("debugv", true),
            ("log", true),
            ("logp", true),
            ("printf", true),
            ("isInfoEnabled", false),
            ("INFO", false),
            ("print", false),
            ("off", false),
            ("f", false),
            ("", false),
        ] {
            assert_eq!(is_writing_name(name.as_bytes()), expected, "{name}");
        }
    }
}
