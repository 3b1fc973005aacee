//! A network of its own for a command: two that use the same ports cannot meet, and nobody outside can connect.

use std::ffi::OsStr;
use std::process::{Command, Stdio};
use std::sync::OnceLock;

const LOOPBACK_UP: &str = "ip link set lo up && exec \"$@\"";

/// Tests whether this machine lets us have one.
pub fn available() -> bool {
    static ANSWER: OnceLock<bool> = OnceLock::new();
    *ANSWER.get_or_init(|| {
        let mut command = own("true");
        let status = command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).status();
        let available = status.is_ok_and(|it| it.success());
        if !available {
            eprintln!("note: no network namespaces here (unshare -r -n, ip), ports of this machine are used");
        }
        available
    })
}

/// The command for a program, in a network of its own where there can be one.
pub fn isolated(program: impl AsRef<OsStr>) -> Command {
    if available() { own(program) } else { Command::new(program) }
}

/// Both programs on the way end by `exec`, so the process that is started is the program itself.
fn own(program: impl AsRef<OsStr>) -> Command {
    let mut command = Command::new("unshare");
    command.args(["-r", "-n", "sh", "-c", LOOPBACK_UP, "sh"]).arg(program);
    command
}
