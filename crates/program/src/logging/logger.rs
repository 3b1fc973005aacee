//! Calls that write to a log.

/// Types whose methods log, with slashes. `java.io.PrintStream` is not among them: what a program prints is not
/// what it logs.
const LOGGERS: [&[u8]; 12] = [
    b"ch/qos/logback/classic/Logger",
    b"com/google/common/flogger/LoggingApi",
    b"java/lang/System$Logger",
    b"java/util/logging/Logger",
    b"org/apache/commons/logging/Log",
    b"org/apache/log4j/Category",
    b"org/apache/log4j/Logger",
    b"org/apache/logging/log4j/LogBuilder",
    b"org/apache/logging/log4j/Logger",
    b"org/jboss/logging/Logger",
    b"org/slf4j/Logger",
    b"org/slf4j/spi/LoggingEventBuilder",
];

/// Methods of those types that log. What only asks or sets (`isDebugEnabled`, `setLevel`) is left out.
const METHODS: [&[u8]; 27] = [
    b"catching",
    b"config",
    b"debug",
    b"debugf",
    b"debugv",
    b"entering",
    b"error",
    b"errorf",
    b"errorv",
    b"exiting",
    b"fatal",
    b"fine",
    b"finer",
    b"finest",
    b"forcedLog",
    b"info",
    b"infof",
    b"infov",
    b"log",
    b"logp",
    b"logrb",
    b"severe",
    b"throwing",
    b"trace",
    b"warn",
    b"warnf",
    b"warning",
];

/// Tests whether a type (with slashes) is one whose methods log.
pub(crate) fn is_logger(owner: &[u8]) -> bool {
    LOGGERS.binary_search(&owner).is_ok()
}

/// Tests whether a call of this method (owner with slashes) writes to a log.
pub(crate) fn is_log_call(owner: &[u8], name: &[u8]) -> bool {
    is_logger(owner) && METHODS.binary_search(&name).is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_tables_are_sorted_and_found() {
        assert!(LOGGERS.is_sorted());
        assert!(METHODS.is_sorted());
        assert!(is_log_call(b"org/slf4j/Logger", b"warn"));
        assert!(is_log_call(b"org/apache/log4j/Category", b"forcedLog"));
        assert!(!is_log_call(b"org/slf4j/Logger", b"isDebugEnabled"));
        assert!(!is_log_call(b"java/io/PrintStream", b"println"));
    }
}
