//! The stacks of the exceptions in a failure log, and the faults that they name: what a stack-trace injector goes by.

use hypocenter_logs::{Exception, Relation, Trace};
use hypocenter_plan::Fault;
use hypocenter_program::Program;
use hypocenter_trace::StackFrame;

use crate::catalogue::Catalogue;

/// An innermost exception of the failure log.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Logged {
    /// The faults that its first frame of the system names: site and what is thrown.
    pub faults: Vec<(u32, Fault)>,
    /// Who called the method of that frame, the nearest first.
    callers: Vec<Caller>,
}

/// A frame behind the site's.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Caller {
    /// `package.Class.method`.
    method: String,
    line: Option<u32>,
}

impl Logged {
    /// What the exceptions of a stack trace name; nothing for those that name no fault.
    pub(crate) fn of<'t>(
        program: &'t Program,
        catalogue: &'t Catalogue,
        trace: &'t Trace<'_>,
    ) -> impl Iterator<Item = Logged> + 't {
        let innermost = |at: usize| {
            let is_cause = |it: &Exception<'_>| it.relation == Relation::Cause && it.parent == Some(at);
            !trace.exceptions.iter().any(is_cause)
        };
        let all = trace.exceptions.iter().enumerate();
        let wanted = all.filter(move |(at, it)| it.relation != Relation::Suppressed && innermost(*at));
        wanted.flat_map(|(_, it)| catalogue.of_stack(program, it.class, &it.frames)).map(
            |(faults, callers)| {
                let caller = |it: &hypocenter_logs::Frame<'_>| Caller {
                    method: format!("{}.{}", it.class, it.method),
                    line: it.line,
                };
                Logged { faults, callers: callers.iter().map(caller).collect() }
            },
        )
    }

    /// Whether a stack that was recorded at a site, the site's own frame first, can be this one. A recording ends after some
    /// frames, and a log may show fewer.
    pub(crate) fn fits(&self, stack: &[StackFrame]) -> bool {
        let behind = stack.get(1..).unwrap_or_default();
        self.callers.iter().zip(behind).all(|(caller, (method, place))| {
            let line = place.rsplit_once(':').and_then(|(_, line)| line.parse::<u32>().ok());
            let same_line = caller.line.is_none() || line.is_none() || caller.line == line;
            caller.method == *method && same_line
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stack_fits_if_the_same_callers_are_behind_the_site() {
        let caller = |method: &str, line| Caller { method: method.to_owned(), line };
        let logged =
            Logged { faults: Vec::new(), callers: vec![caller("a.B.c", Some(7)), caller("a.D.e", None)] };
        let fits = |frames: &[(&str, &str)]| {
            let frames: Vec<StackFrame> =
                frames.iter().map(|(method, place)| ((*method).to_owned(), (*place).to_owned())).collect();
            logged.fits(&frames)
        };
        assert!(fits(&[
            ("a.Site.m", "Site.java:1"),
            ("a.B.c", "B.java:7"),
            ("a.D.e", "D.java:9"),
            ("x.Y.z", "")
        ]));
        // The site itself is not compared, a line that is not known is no other line, and a recording may be short.
        assert!(fits(&[("b.Site.n", ""), ("a.B.c", "B.java"), ("a.D.e", "")]));
        assert!(fits(&[("a.Site.m", ""), ("a.B.c", "B.java:7")]));
        assert!(!fits(&[("a.Site.m", ""), ("a.B.c", "B.java:8"), ("a.D.e", "")]));
        assert!(!fits(&[("a.Site.m", ""), ("a.D.e", ""), ("a.B.c", "B.java:7")]));
    }
}
