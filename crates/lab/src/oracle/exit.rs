//! End of a process.

use hypocenter_plan::{End, ExitWanted, OracleOutcome, ProcessOutcome, Role};

use super::Scene;

pub(super) fn judge(wanted: ExitWanted, process: Option<&str>, scene: &Scene<'_>) -> OracleOutcome {
    if wanted == ExitWanted::TimedOut && process.is_none() {
        let why = match scene.end {
            End::TimedOut => "the trial timed out".to_owned(),
            end => format!("the trial did not time out: the workload {end}"),
        };
        return OracleOutcome { happened: scene.end == End::TimedOut, why };
    }
    let asked = asked(process, scene.processes);
    if asked.is_empty() {
        return OracleOutcome { happened: false, why: super::not_started(process, scene) };
    }
    match asked.iter().find(|it| fits(wanted, it, scene.end)) {
        Some(it) => OracleOutcome { happened: true, why: shown(it, scene.end) },
        None => {
            let ends: Vec<String> = asked.iter().map(|it| shown(it, scene.end)).collect();
            OracleOutcome { happened: false, why: super::text::names(ends.iter().map(String::as_str)) }
        }
    }
}

/// The processes that are asked, each in its last incarnation.
fn asked<'a>(process: Option<&str>, all: &'a [ProcessOutcome]) -> Vec<&'a ProcessOutcome> {
    let of_role = |role: Role| all.iter().any(|it| it.role == role);
    let role = if of_role(Role::Command) { Role::Command } else { Role::Client };
    all.iter()
        .filter(|it| process.map_or(it.role == role, |name| it.name == name))
        .filter(|it| !all.iter().any(|other| other.name == it.name && other.incarnation > it.incarnation))
        .collect()
}

fn fits(wanted: ExitWanted, process: &ProcessOutcome, trial: End) -> bool {
    match (wanted, process.end) {
        (ExitWanted::Status(wanted), Some(End::Exited { status })) => status == wanted,
        (ExitWanted::Failed, Some(End::Exited { status })) => status != 0,
        (ExitWanted::Failed, Some(End::Signalled { .. })) => true,
        (ExitWanted::Signal(wanted), Some(End::Signalled { signal })) => signal == wanted,
        (ExitWanted::TimedOut, None | Some(End::TimedOut)) => trial == End::TimedOut,
        _ => false,
    }
}

fn shown(process: &ProcessOutcome, trial: End) -> String {
    match (process.end, trial) {
        (Some(end), _) => format!("{} {end}", process.name),
        (None, End::TimedOut) => format!("{} was still running at the timeout", process.name),
        (None, _) => format!("{} was still running at the end of the trial", process.name),
    }
}
