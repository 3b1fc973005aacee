//! Exit codes of the command.

/// The exit codes of the `hypocenter` command, the same for every verb.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub enum ExitCode {
    /// Done as asked: the fault was injected, the failure reproduced, or nothing was found.
    Done = 0,
    /// The command line, the configuration or a file named in them is wrong.
    Usage = 1,
    /// There are findings; or everything was tried and the failure was not reproduced, the fault not injected.
    Findings = 2,
    /// A budget or a time limit was used up first.
    Budget = 3,
    /// The run without a fault already fails.
    AlreadyFails = 4,
    /// An internal error.
    Bug = 70,
    /// The trial could not be carried out here and now; another try, or another machine, may (`trial` only).
    TryAgain = 75,
}
