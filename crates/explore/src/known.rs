//! Findings that somebody has looked at already, and that are not reported again.

use hypocenter_plan::{Fault, glob_matches};
use hypocenter_program::SitePattern;
use hypocenter_results::Injected;

/// A finding that is known.
#[derive(Debug, Clone, PartialEq)]
pub struct Known {
    /// The call whose fault it is; any if none is given.
    pub site: Option<SitePattern>,
    /// A method on the way there, as `package.Class.method`, where `*` stands for any text; any if none is given.
    pub stack: Option<String>,
    /// The kind of its fault; any if none is given.
    pub fault: Option<FaultName>,
    /// Explanation, such as the number of a report.
    pub why: String,
}

/// A kind of fault, by its name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FaultName {
    /// An exception.
    Exception,
    /// A delay.
    Delay,
}

impl Known {
    /// Tests whether a fault is this one. `stack` has the methods of the system that led to it.
    pub(crate) fn fits(&self, injected: &Injected, stack: &[String]) -> bool {
        let name = match injected.fault {
            Fault::Exception { .. } => Some(FaultName::Exception),
            Fault::Delay { .. } => Some(FaultName::Delay),
            _ => None,
        };
        self.fault.is_none_or(|it| Some(it) == name)
            && self.site.as_ref().is_none_or(|it| it.fits(&injected.site))
            && self.stack.as_ref().is_none_or(|it| stack.iter().any(|method| glob_matches(it, method)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::findings::tests::injected;

    #[test]
    fn a_fault_is_known_by_its_call_its_way_and_its_kind() {
        let delay = Fault::Delay { delay_ms: 1, pause: hypocenter_plan::Pause::Sleep };
        let injected = injected(&delay, "java.io.DataOutput.writeInt(I)V", Vec::new());
        let stack = ["a.Packet.write".to_owned(), "a.Tree.save".to_owned()];
        let check = |site: Option<&str>, method: Option<&str>, fault, expected: bool| {
            let site = site.map(|it| it.parse().unwrap());
            let known = Known { site, stack: method.map(str::to_owned), fault, why: "seen".into() };
            assert_eq!(known.fits(&injected, &stack), expected, "{known:?}");
        };
        check(Some("Packet.write -> DataOutput.*"), None, None, true);
        check(Some("Packet.write -> DataOutput.*"), None, Some(FaultName::Exception), false);
        check(Some("Input.read -> DataInput.*"), None, None, false);
        check(None, Some("*.Tree.save"), Some(FaultName::Delay), true);
        check(None, Some("*.Tree.load"), None, false);
        check(Some("Packet.write -> DataOutput.*"), Some("*.Tree.load"), None, false);
    }
}
