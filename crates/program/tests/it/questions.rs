//! Patterns, maps and subtypes over the compiled fixtures and the JDK.

use std::path::Path;

use hypocenter_plan::{Candidate, Fault, Guard, Plan, Repeat, Site, SiteKind, Watch, WatchLevel};
use hypocenter_program::{ClassPath, Classes, Error, build_map, concrete_subtypes, find_sites, unknown_test};
use hypocenter_trace::Map;

use crate::tools::{directory, fixtures, java_home};

fn classes() -> Classes {
    ClassPath::parse(fixtures().to_str().unwrap(), Path::new("")).open(25)
}

#[test]
fn sites_are_found_by_pattern() {
    let classes = classes();
    let check = |pattern: &str, expected: &[&str]| {
        let found = find_sites(&classes, &pattern.parse().unwrap());
        let sites: Vec<String> = found.sites.iter().map(Site::to_string).collect();
        assert_eq!(sites, expected, "{pattern}: {}", found.suggestions);
        assert_eq!(found.problems, []);
        assert_eq!(found.suggestions, Default::default());
    };
    check(
        "Calls.both -> List.add",
        &["fixture.Calls.both:11 -> java.util.List.add", "fixture.Calls.both:14 -> java.util.List.add #1"],
    );
    check("Calls.both -> List.add #1", &["fixture.Calls.both:14 -> java.util.List.add #1"]);
    check("Calls.both:14 <- List.add", &["fixture.Calls.both:14 <- java.util.List.add #1"]);
    check("fixture.Calls.both -> new ArrayList", &["fixture.Calls.both:18 -> java.util.ArrayList.<init>"]);
    check("Calls.b* log warn*", &["fixture.Calls.both:12 log java.util.logging.Logger.warning"]);
    check("Calls.both", &["fixture.Calls.both:11 entry"]);
    check(
        "Calls.Broken*.<init> -> Broken.<init>",
        &[
            "fixture.Calls$BrokenHeart.<init>:36 -> fixture.Calls$Broken.<init>",
            "fixture.Calls$BrokenPipe.<init>:32 -> fixture.Calls$Broken.<init>",
        ],
    );
    check("Loops.nested loop 1", &["fixture.Loops.nested:38 loop_iteration #1"]);
    check("Loops.nested loop 1 exit", &["fixture.Loops.nested:38 loop_exit #1"]);
    check("Loops.retry handler 0", &["fixture.Loops.retry:56 handler"]);
    check("Calls.both return #1", &["fixture.Calls.both:25 boolean_return #1"]);
}

#[test]
fn what_does_not_exist_leads_to_what_does() {
    let classes = classes();
    let check = |pattern: &str, what: &str, names: &[&str]| {
        let found = find_sites(&classes, &pattern.parse().unwrap());
        assert!(found.sites.is_empty());
        assert_eq!(found.suggestions.what, what, "{pattern}");
        assert_eq!(found.suggestions.names, names, "{pattern}");
    };
    check("Call.both", "no class `Call` is on the class path", &["fixture.Calls"]);
    check("other.Loops.retry", "no class `other.Loops` is on the class path", &["fixture.Loops"]);
    check("BrokenPipe.x", "`BrokenPipe` has no method `x`", &["fixture.Calls$BrokenPipe.<init>"]);
    check(
        "Loops.retry -> ran",
        "`Loops.retry` does not call `ran`",
        &["fixture.Loops.retry -> java.lang.Runnable.run"],
    );
    check(
        "Values.captured -> toString",
        "`Values.captured` does not call `toString`, but a lambda in it does",
        &["fixture.Values.lambda$captured$0 -> java.lang.Object.toString"],
    );
    check(
        "Loops.retry loop 3",
        "no site of kind loop_iteration has this line or number",
        &["fixture.Loops.retry:54 loop_iteration"],
    );
    check("Loops.locked loop", "`Loops.locked` has no site of kind loop_iteration", &[]);
}

#[test]
fn a_test_that_does_not_exist_leads_to_those_that_do() {
    let classes = classes();
    let check = |test: &str, expected: Option<(&str, &[&str])>| {
        let found = unknown_test(&classes, test);
        let found =
            found.as_ref().map(|it| (it.what.as_str(), it.names.iter().map(String::as_str).collect()));
        assert_eq!(found, expected.map(|(what, names)| (what, names.to_vec())), "{test}");
    };
    for there in ["Calls", "fixture.Calls", "Calls.both", "fixture.Calls.both", "Calls.Below", "Calls$Below"]
    {
        check(there, None);
    }
    // A method may be inherited.
    for there in ["isBelow", "isAbove", "isTold"] {
        check(&format!("Calls$Below.{there}"), None);
    }
    check("Cals", Some(("no class `Cals` is on the class path", &["fixture.Calls"])));
    check("other.Calls", Some(("no class `other.Calls` is on the class path", &["fixture.Calls"])));
    check("Cals.both", Some(("no class `Cals` is on the class path", &["fixture.Calls"])));
    check("Calls.bot", Some(("`Calls` has no method `bot`", &["Calls.both", "Calls.nothing"])));
    let below = ["Calls$Below.isBelow", "Calls$Below.isTold", "Calls$Below.isAbove"];
    check("Calls$Below.isBelo", Some(("`Calls$Below` has no method `isBelo`", &below)));
}

fn candidate(site: &Site) -> Candidate {
    let fault = Fault::Delay { delay_ms: 1, pause: Default::default() };
    Candidate { site: site.clone(), fault, when: Guard::default(), repeat: Repeat::Once }
}

fn watch(kinds: &[SiteKind], class: &str, level: WatchLevel) -> Watch {
    Watch { kinds: kinds.to_vec(), classes: vec![class.into()], methods: Vec::new(), level }
}

#[test]
fn a_map_has_what_the_plan_watches_and_names() {
    let classes = classes();
    let call = find_sites(&classes, &"Calls.both -> List.add #1".parse().unwrap()).sites.remove(0);
    let exit = find_sites(&classes, &"Loops.nested loop 1 exit".parse().unwrap()).sites.remove(0);
    let entry = find_sites(&classes, &"Loops.retry".parse().unwrap()).sites.remove(0);
    let mut plan = Plan { candidates: [&call, &exit, &entry].map(candidate).to_vec(), ..Plan::default() };
    plan.record.watch.push(watch(&[SiteKind::Entry], "fixture.Loops", WatchLevel::Off));
    plan.record.watch.push(watch(&[SiteKind::Entry, SiteKind::LoopExit], "*.Loops", WatchLevel::Event));
    let (builder, summary, problems) = build_map(&classes, &plan).unwrap();
    assert_eq!(problems, []);
    assert_eq!((summary.classes, summary.candidates.len()), (2, 3));
    // A map is read in place and wants to be aligned, which a vector of bytes need not be.
    let bytes = builder.finish().unwrap();
    let mut buffer = vec![0; bytes.len() + 8];
    let at = buffer.as_ptr().align_offset(8);
    buffer[at..at + bytes.len()].copy_from_slice(&bytes);
    let map = Map::new(&buffer[at..at + bytes.len()]).unwrap();
    assert_eq!(map.site_count(), summary.levels.len());
    let level = |site: &Site| summary.levels[map.find(site).unwrap().0 as usize];
    assert_eq!(level(&call), WatchLevel::Count);
    assert_eq!(level(&exit), WatchLevel::Event);
    assert_eq!(level(&entry), WatchLevel::Event);
    for (site, id) in [&call, &exit, &entry].into_iter().zip(&summary.candidates) {
        assert_eq!(map.site(*id).unwrap(), *site);
    }
    // Of Calls only the method that the candidate names, of it only that site.
    let of_calls = map.class(b"fixture/Calls").unwrap();
    assert_eq!(of_calls.methods().map(|it| it.hooks().count()).collect::<Vec<_>>(), [1]);
}

#[test]
fn the_same_plan_gives_the_same_map() {
    let classes = classes();
    let mut plan = Plan::default();
    plan.record.watch.push(watch(&SiteKind::ALL, "*", WatchLevel::Count));
    let map = || build_map(&classes, &plan).unwrap().0.finish().unwrap();
    let one = rayon::ThreadPoolBuilder::new().num_threads(1).build().unwrap();
    assert_eq!(map(), one.install(map));
}

#[test]
fn a_candidate_without_its_site_is_an_error_that_names_it() {
    let classes = classes();
    let good = find_sites(&classes, &"Calls.both -> List.add #1".parse().unwrap()).sites.remove(0);
    let sites = [
        good.clone(),
        Site { ordinal: 2, ..good.clone() },
        Site { method: "neither".into(), ..good.clone() },
        Site { class: "fixture.Gone".into(), ..good },
    ];
    let plan = Plan { candidates: sites.iter().map(candidate).collect(), ..Plan::default() };
    let Err(Error::MissingCandidates { missing }) = build_map(&classes, &plan) else { panic!("no error") };
    let whys: Vec<(usize, &str)> = missing.iter().map(|it| (it.candidate, it.why.as_str())).collect();
    assert_eq!(
        whys,
        [
            (1, "the method has no such site"),
            (2, "the class has no method neither(Ljava/util/List;Ljava/lang/String;)Z"),
            (3, "the class is not on the class path"),
        ]
    );
}

#[test]
fn what_can_be_thrown_is_concrete_and_near() {
    let path = ClassPath::parse(fixtures().to_str().unwrap(), Path::new(""));
    let classes = path.clone().with_jdk(&java_home()).open(25);
    let check = |class: &str, expected: Result<&[&str], &str>| {
        let found = concrete_subtypes(&classes, class).map_err(|error| error.to_string());
        match (found, expected) {
            (Ok(found), Ok(expected)) => assert_eq!(found, expected, "{class}"),
            (Err(found), Err(expected)) => assert!(found.contains(expected), "{class}: {found}"),
            (found, _) => panic!("{class}: {found:?}"),
        }
    };
    check("java.io.IOException", Ok(&["java.io.IOException"]));
    check("java.lang.Throwable", Ok(&["java.lang.Throwable"]));
    check(
        "fixture.Calls$Broken",
        Ok(&["fixture.Calls$BrokenPipe", "fixture.Calls$BrokenHeart", "fixture.Calls$BrokenLeadPipe"]),
    );
    check("fixture.Calls$Childless", Err("no class on the class path extends it"));
    check("java.lang.String", Err("extends java.lang.Object"));
    check("java.lang.Object", Err("cannot be thrown"));
    check("java.nio.IOException", Err("java.io.IOException"));
    let without_jdk = path.open(25);
    assert!(matches!(
        concrete_subtypes(&without_jdk, "fixture.Calls$BrokenPipe"),
        Err(Error::MissingParent { .. })
    ));
}

#[test]
fn a_class_in_the_wrong_place_is_a_problem() {
    let root = directory("wrong-place");
    std::fs::copy(fixtures().join("fixture/Loops.class"), root.join("Loops.class")).unwrap();
    let found = find_sites(&ClassPath::parse("", &root).open(25), &"Loops.retry".parse().unwrap());
    assert!(found.sites.is_empty());
    assert!(found.problems[0].what.contains("holds fixture.Loops"), "{:?}", found.problems);
}
