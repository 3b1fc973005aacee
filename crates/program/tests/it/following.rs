//! Statements that a thread can log next, and their distances.

use hypocenter_program::{ClassPath, Following, Part, Program, Scope, StateOptions};

use crate::tools::{directory, java_home, tool};

const SOURCE: &str = "
package order;

import java.util.logging.Logger;

class Chain {
    static final Logger LOG = Logger.getLogger(\"x\");

    interface Step { void stop(); }

    static class First implements Step {
        final Step next;
        First(Step next) { this.next = next; }
        public void stop() { LOG.info(\"first\"); next.stop(); }
    }

    static class Second implements Step {
        final Step next;
        Second(Step next) { this.next = next; }
        public void stop() { LOG.info(\"second\"); next.stop(); }
    }

    static class Last implements Step {
        public void stop() { LOG.info(\"last\"); }
    }

    static class Server {
        final Step steps = new First(new Second(new Last()));
        void stop(boolean isSlow) {
            LOG.info(\"stopping\");
            if (isSlow) {
                LOG.info(\"slowly\");
            }
            LOG.fine(\"details\");
            steps.stop();
            LOG.info(\"stopped\");
        }
    }

    void work() { LOG.info(\"working\"); throw new IllegalStateException(); }

    void run() {
        LOG.info(\"begin\");
        try {
            work();
        } catch (RuntimeException e) {
            LOG.warning(\"failed\");
        }
    }

    void again(int n) { LOG.info(\"again\"); again(n - 1); }

    public static void main(String[] args) {
        new Server().stop(args.length > 0);
        new Chain().run();
        new Chain().again(3);
    }
}
";

#[test]
fn what_can_be_logged_next_and_how_far_it_is() {
    let directory = directory("following");
    std::fs::write(directory.join("Chain.java"), SOURCE).unwrap();
    tool("javac", &["-g", "-d", ".", "Chain.java"], &directory);
    let classes = ClassPath::from_paths(vec![directory]).with_jdk(&java_home()).open(17);
    let scope = Scope::of(&["order".to_owned()]);
    let program = Program::of(&classes, &scope, &StateOptions::default(), |_| ());
    let number = |text: &str| {
        let says = |it: &hypocenter_program::Statement| it.templates[0].parts() == [Part::Text(text.into())];
        let found = program.statements.statements().iter().position(says);
        found.unwrap_or_else(|| panic!("no statement says {text}")) as u32
    };
    let following = Following::of(program.causes(), &program.statements);
    for (from, to, expected, why) in [
        ("stopping", "slowly", Some(0), "in the same method"),
        ("stopping", "first", Some(1), "the branch and what is too fine to be written are passed"),
        ("slowly", "first", Some(1), "one call"),
        ("first", "second", Some(1), "the constructor was given nothing else"),
        ("first", "last", Some(6), "an entry must be written before"),
        ("second", "last", Some(1), "one call"),
        ("last", "stopped", Some(3), "back out of three methods"),
        ("stopping", "stopped", Some(12), "what is called writes three entries"),
        ("stopped", "first", None, "nobody calls it again"),
        ("second", "first", None, "the chain has no way back"),
        ("begin", "working", Some(1), "one call"),
        ("working", "failed", Some(3), "by an exception"),
        ("begin", "failed", Some(1), "the call may fail at once"),
        ("again", "again", Some(1), "it calls itself"),
        ("stopped", "begin", Some(2), "back, and into what is called next"),
        ("begin", "stopped", None, "it is over"),
    ] {
        let found = following.after(number(from)).get(&number(to)).copied();
        assert_eq!(found, expected, "{from} to {to}: {why}");
    }
    assert!(following.after(u32::MAX).is_empty(), "there is no such statement");
}
