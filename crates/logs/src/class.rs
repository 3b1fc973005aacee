//! Whether a class as a log writes it is a class as the program has it.

/// How a written name names a class.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Named {
    /// A class around it: inner classes use the logger of their outer class.
    Outer,
    /// The class itself.
    Itself,
}

/// The name of the outermost class without its package: what all ways of writing a class have in common.
pub(crate) fn outermost(class: &str) -> &str {
    let simple = simple(class);
    // A name may begin with a dollar sign.
    match simple.char_indices().skip(1).find(|(_, it)| *it == '$') {
        Some((at, _)) => &simple[..at],
        None => simple,
    }
}

fn simple(class: &str) -> &str {
    class.rsplit('.').next().unwrap_or(class)
}

/// How `written` names `class`, which is full. The package may be left out, cut at the left, or have its parts shortened:
/// `Leader`, `quorum.Leader`, `o.a.z.s.quorum.Leader`.
pub(crate) fn names(written: &str, class: &str) -> Option<Named> {
    let named = {
        let (written, class) = (simple(written), simple(class));
        match class.strip_prefix(written) {
            Some("") => Named::Itself,
            // An object of Scala has a dollar sign at its end, and its logger may not.
            Some("$") => Named::Itself,
            Some(inner) if inner.starts_with('$') => Named::Outer,
            _ => return None,
        }
    };
    let mut written = written.rsplit('.').skip(1).peekable();
    let mut class = class.rsplit('.').skip(1);
    while let Some(short) = written.next() {
        let full = class.next()?;
        // The leftmost part may have lost its beginning to `%.30c`.
        let is_cut = written.peek().is_none() && full.ends_with(short);
        if !(full.starts_with(short) || is_cut || short == "~") {
            return None;
        }
    }
    Some(named)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ways_to_write_a_class() {
        let leader = "org.apache.zookeeper.server.quorum.Leader";
        let listener = "org.apache.zookeeper.server.quorum.QuorumCnxManager$Listener";
        for (written, class, expected) in [
            ("Leader", leader, Some(Named::Itself)),
            (leader, leader, Some(Named::Itself)),
            ("quorum.Leader", leader, Some(Named::Itself)),
            ("o.a.z.s.q.Leader", leader, Some(Named::Itself)),
            ("o.a.z.server.quorum.Leader", leader, Some(Named::Itself)),
            ("~.~.~.~.quorum.Leader", leader, Some(Named::Itself)),
            ("keeper.server.quorum.Leader", leader, Some(Named::Itself)),
            ("o.a.h.s.q.Leader", leader, None),
            ("x.org.apache.zookeeper.server.quorum.Leader", leader, None),
            ("Lead", leader, None),
            ("LeaderBean", leader, None),
            ("QuorumCnxManager$Listener", listener, Some(Named::Itself)),
            ("QuorumCnxManager", listener, Some(Named::Outer)),
            ("QuorumCnxManager$List", listener, None),
            ("kafka.server.KafkaServer", "kafka.server.KafkaServer$", Some(Named::Itself)),
            ("", leader, None),
        ] {
            assert_eq!(names(written, class), expected, "{written} for {class}");
        }
    }

    #[test]
    fn the_outermost_class() {
        for (class, expected) in
            [("a.b.C$D$1", "C"), ("C", "C"), ("a.$C", "$C"), ("", ""), ("a.", ""), ("\u{e9}$1", "\u{e9}")]
        {
            assert_eq!(outermost(class), expected, "{class}");
        }
    }
}
