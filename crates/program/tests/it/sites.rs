//! The sites of compiled fixtures. Addresses are shown as the lines they belong to: `edges@8<-{7}` is a hook before
//! the instruction in line 8, on the way in by the jump in line 7.

use hypocenter_classfile::{ClassFile, Code};
use hypocenter_plan::SiteKind::{self, *};
use hypocenter_program::{Hook, KindSet, MethodSite, sites_of_method};
use hypocenter_trace::{FALL_THROUGH, Placement};

use crate::tools::fixtures;

fn shown(code: &Code<'_>, site: &MethodSite) -> String {
    let line = |pc: u32| code.line_at(pc).map_or("?".into(), |line| line.to_string());
    let hook = |hook: &Hook| {
        let ways: Vec<String> = hook
            .edges
            .iter()
            .map(|&way| if way == FALL_THROUGH { "fall".into() } else { line(way) })
            .collect();
        let at = line(hook.pc.into());
        match hook.placement {
            Placement::Edges => format!("edges@{at}<-{{{}}}", ways.join(",")),
            other => format!("{other:?}@{at}").to_lowercase(),
        }
    };
    let hooks: Vec<String> = site.hooks.iter().map(hook).collect();
    let callee = site.callee.as_deref().map_or(String::new(), |callee| format!(" {callee}"));
    format!(
        "{}{callee} {}/{} :{} {}",
        site.kind.name(),
        site.ordinal,
        site.total,
        site.line.unwrap_or(0),
        hooks.join(" ")
    )
}

fn check(class: &str, method: &str, kinds: &[SiteKind], expected: &[&str]) {
    let bytes = std::fs::read(fixtures().join(format!("fixture/{class}.class"))).unwrap();
    let class = ClassFile::parse(&bytes).unwrap();
    let member = class.methods().iter().find(|it| it.name == method.as_bytes()).unwrap();
    let code = member.code().unwrap().unwrap();
    let found = sites_of_method(&class, member, KindSet::of(kinds)).unwrap();
    let sites: Vec<String> = found.sites.iter().map(|site| shown(&code, site)).collect();
    assert_eq!(sites, expected, "{method}");
    assert_eq!(found.irreducible, 0, "{method}");
    for hook in found.sites.iter().flat_map(|site| &site.hooks) {
        let instruction = code.instructions().nth(hook.instruction.into()).unwrap().unwrap();
        assert_eq!(instruction.pc, u32::from(hook.pc), "{method}");
    }
}

const LOOPS: [SiteKind; 3] = [LoopEntry, LoopIteration, LoopExit];

#[test]
fn loops_have_their_ways_in_and_out() {
    let check = |method: &str, expected: &[&str]| check("Loops", method, &LOOPS, expected);
    check(
        "plainFor",
        &[
            "loop_exit 0/1 :7 edges@10<-{7}",
            "loop_entry 0/1 :7 edges@7<-{fall}",
            "loop_iteration 0/1 :7 before@7",
        ],
    );
    check(
        "plainWhile",
        &[
            "loop_exit 0/1 :13 edges@16<-{13}",
            "loop_entry 0/1 :13 edges@13<-{fall}",
            "loop_iteration 0/1 :13 before@13",
        ],
    );
    check(
        "doWhile",
        &[
            "loop_exit 0/1 :21 edges@23<-{fall}",
            "loop_entry 0/1 :21 edges@21<-{fall}",
            "loop_iteration 0/1 :21 before@21",
        ],
    );
    check(
        "returnInside",
        &[
            "loop_exit 0/1 :26 edges@28<-{fall} edges@31<-{26}",
            "loop_entry 0/1 :26 edges@26<-{fall}",
            "loop_iteration 0/1 :26 before@26",
        ],
    );
    check(
        "nested",
        &[
            "loop_exit 1/2 :38 edges@40<-{fall} edges@43<-{fall} edges@37<-{38}",
            "loop_exit 0/2 :37 edges@43<-{fall} edges@48<-{37}",
            "loop_entry 0/2 :37 edges@37<-{fall}",
            "loop_iteration 0/2 :37 before@37",
            "loop_entry 1/2 :38 edges@38<-{fall}",
            "loop_iteration 1/2 :38 before@38",
        ],
    );
    check(
        "retry",
        &[
            "loop_exit 0/1 :54 before@55",
            "loop_entry 0/1 :54 edges@54<-{fall}",
            "loop_iteration 0/1 :54 before@54",
        ],
    );
    check(
        "finallyInside",
        &[
            "loop_exit 0/1 :63 edges@70<-{63}",
            "loop_entry 0/1 :63 edges@63<-{fall}",
            "loop_iteration 0/1 :63 before@63",
        ],
    );
    check("locked", &[]);
    check("firstThing", &["loop_entry 0/1 :80 edges@80<-{fall}", "loop_iteration 0/1 :80 before@80"]);
}

#[test]
fn calls_are_numbered_by_callee() {
    let check = |kinds: &[SiteKind], expected: &[&str]| check("Calls", "both", kinds, expected);
    check(
        &[Call],
        &[
            "call java.util.List.add(Ljava/lang/Object;)Z 0/2 :11 before@11",
            "call java.util.logging.Logger.warning(Ljava/lang/String;)V 0/1 :12 before@12",
            "call java.util.List.size()I 0/1 :13 before@13",
            "call java.util.List.add(Ljava/lang/Object;)Z 1/2 :14 before@14",
            "call java.util.ArrayList.<init>(Ljava/util/Collection;)V 0/1 :18 before@18",
            "call java.util.ArrayList.add(Ljava/lang/Object;)Z 0/1 :18 before@18",
            "call java.util.logging.Logger.info(Ljava/lang/String;)V 0/1 :20 before@20",
            "call indy.run(Ljava/util/List;)Ljava/lang/Runnable; 0/1 :22 before@22",
            "call java.lang.Runnable.run()V 0/1 :23 before@23",
            "call java.io.PrintStream.println(Ljava/lang/String;)V 0/1 :24 before@24",
        ],
    );
    check(
        &[Log],
        &[
            "log java.util.logging.Logger.warning(Ljava/lang/String;)V 0/1 :12 before@12",
            "log java.util.logging.Logger.info(Ljava/lang/String;)V 0/1 :20 before@20",
        ],
    );
    check(
        &[Entry, Exit, Unwind, Handler, BooleanReturn],
        &[
            "entry 0/1 :11 entry@11",
            "boolean_return 0/2 :15 before@15",
            "exit 0/2 :15 before@15",
            "handler 0/1 :19 before@19",
            "boolean_return 1/2 :25 before@25",
            "exit 1/2 :25 before@25",
            "unwind 0/1 :11 unwind@11",
        ],
    );
}

#[test]
fn a_call_is_seen_before_and_after() {
    let of_both = |kind: SiteKind| -> usize {
        let bytes = std::fs::read(fixtures().join("fixture/Calls.class")).unwrap();
        let class = ClassFile::parse(&bytes).unwrap();
        let member = class.methods().iter().find(|it| it.name == b"both").unwrap();
        let found = sites_of_method(&class, member, KindSet::of(&[kind])).unwrap();
        assert!(
            found
                .sites
                .iter()
                .all(|site| (site.hooks[0].placement == Placement::After) == (kind == CallReturn))
        );
        found.sites.len()
    };
    assert_eq!(of_both(Call), 10);
    assert_eq!(of_both(CallReturn), 10);
}

#[test]
fn blocks_begin_where_control_can_arrive() {
    check(
        "Loops",
        "retry",
        &[Block, Handler],
        &["block 0/2 :54 before@54", "handler 0/1 :56 before@56", "block 1/2 :56 before@56"],
    );
    check("Loops", "firstThing", &[Block], &["block 0/1 :80 before@80"]);
}

#[test]
fn methods_without_code_have_no_sites() {
    let bytes = std::fs::read(fixtures().join("fixture/Calls.class")).unwrap();
    let class = ClassFile::parse(&bytes).unwrap();
    let member = class.methods().iter().find(|it| it.name == b"nothing").unwrap();
    assert!(sites_of_method(&class, member, KindSet::ALL).unwrap().sites.is_empty());
}

#[test]
fn constants_are_named_by_type_and_value() {
    check(
        "Constants",
        "numbers",
        &[Constant],
        &[
            "constant int 5 0/2 :7 after@7",
            "constant int 1000 0/1 :8 after@8",
            "constant int 70000 0/1 :9 after@9",
            "constant int -100 0/1 :10 after@10",
            "constant int 5 1/2 :11 after@11",
        ],
    );
    check(
        "Constants",
        "others",
        &[Constant],
        &[
            "constant long 1 0/1 :15 after@15",
            "constant long 5000000000 0/1 :16 after@16",
            "constant float 2 0/1 :17 after@17",
            "constant float 0.5 0/1 :18 after@18",
            "constant double 0 0/1 :19 after@19",
            "constant double 2.5 0/1 :20 after@20",
            "constant String a (b)/c 0/1 :21 after@21",
        ],
    );
}
