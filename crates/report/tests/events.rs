//! Output on a terminal while a campaign runs.

mod support;

use hypocenter_plan::Fault;
use hypocenter_report::{Line, RoundLine, Style, Voice};
use hypocenter_results::Rate;
use hypocenter_results::event::{Effect, Event, Learned, RoundEnded, Search};
use hypocenter_results::explored::Severity;
use hypocenter_results::reproduced::{Again, Missing, Silent};
use support::injected;

/// Single log of all nodes.
fn voice() -> Voice {
    Voice { campaign: "reproduce-0001".into(), round: "round", several_nodes: false, several_logs: false }
}

/// Several nodes, each with a log.
fn of_several() -> Voice {
    Voice { several_nodes: true, several_logs: true, ..voice() }
}

/// A round with one fault, of which nothing came.
fn round() -> RoundEnded {
    RoundEnded {
        number: 12,
        trial: 15,
        faults: vec![injected(1)],
        meant: None,
        given: Vec::new(),
        effect: Effect::Fine,
        again: None,
        runs: None,
        new_states: 0,
        tried: None,
        ends: Vec::new(),
        left: 100,
        record: String::new(),
    }
}

/// A round that came to none of so many faults.
fn unreached(given: impl IntoIterator<Item = u64>) -> RoundEnded {
    let given = given.into_iter().map(injected).map(|it| (it.fault, it.site)).collect();
    let effect = Effect::NoFault { why: "the workload did not get there".into(), is_bad: false };
    RoundEnded { faults: Vec::new(), given, effect, ..round() }
}

const FAULT: &str = "IOException at Log1.append:31 -> FileChannel.force, hit 2 of thread Writer-1";

#[test]
fn a_round_is_its_fault_what_came_of_it_and_its_trial() {
    let expected = RoundLine {
        label: "round 12".into(),
        what: FAULT.into(),
        result: (Style::Dim, "fine".into()),
        aside: "; reproduce-0001/15".into(),
    };
    assert_eq!(voice().round(&round()), expected);
    let voice = Voice { round: "trial", ..voice() };
    let it = RoundEnded { new_states: 1, tried: Some((1_234, 5_000)), ..round() };
    let step = voice.round(&it);
    assert_eq!(step.label, "trial 12");
    assert_eq!(step.aside, ", 1 new state; 1,234 of 5,000 calls tried; reproduce-0001/15");
}

#[test]
fn a_node_is_named_only_where_there_are_several() {
    let mut in_state = injected(1);
    in_state.at.state = Some("org.acme.Acceptor.run#2".into());
    let what = |voice: Voice, faults| voice.round(&RoundEnded { faults, ..round() }).what;
    assert_eq!(what(voice(), vec![injected(1)]), FAULT);
    assert_eq!(what(of_several(), vec![injected(1)]), format!("{FAULT} on server"));
    let named = format!("{FAULT} on server in org.acme.Acceptor.run#2");
    assert_eq!(what(of_several(), vec![in_state.clone()]), named);
    // Each of two has its node.
    let two = what(of_several(), vec![in_state, injected(2)]);
    assert_eq!(two.split(" + ").filter(|it| it.contains(" on server")).count(), 2, "{two}");
}

#[test]
fn a_round_without_a_fault_names_what_was_not_reached() {
    let check = |it: &RoundEnded, expected: &str| assert_eq!(voice().round(it).what, expected);
    let place =
        |number: u64| format!("IOException at Log{number}.append:{} -> FileChannel.force", 30 + number);
    let (first, second) = (place(1), place(2));
    check(&unreached([]), "no fault");
    check(&unreached([1]), &format!("its fault was not reached ({first})"));
    check(&unreached([1, 2]), &format!("none of 2 faults was reached ({first}, {second})"));
    check(&unreached([1, 2, 3, 4]), &format!("none of 4 faults was reached ({first}, {second} and 2 more)"));
    // A place is named once, at however many moments a fault was armed there.
    check(&unreached([1, 1, 2, 1]), &format!("none of 4 faults was reached ({first}, {second})"));
    let mut delay = unreached([1]);
    delay.given[0].0 = Fault::Delay { delay_ms: 3_000, pause: Default::default() };
    let said = voice().round(&delay).what;
    assert!(said.starts_with("its fault was not reached (delay of 3 s at Log1.append:31"), "{said}");
    // What it was meant for says more.
    let meant = RoundEnded { meant: Some("org.acme.Acceptor.run#1".into()), ..unreached([1]) };
    check(&meant, "no fault (org.acme.Acceptor.run#1)");
    // The fault that is kept happened, and the second did not.
    let kept = RoundEnded { faults: vec![injected(1)], ..unreached([2]) };
    check(&kept, &format!("{FAULT} + its fault was not reached ({second})"));
    assert_eq!(voice().round(&kept).result, (Style::Dim, "the workload did not get there".into()));
    let bad = Effect::NoFault { why: "it failed all the same".into(), is_bad: true };
    let bad = RoundEnded { effect: bad, ..unreached([1]) };
    assert_eq!(voice().round(&bad).result, (Style::Warn, "it failed all the same".into()));
}

/// A round that shows so many of nine, and these for the first time.
fn shows(shown: usize, beyond_first: Option<usize>, new: &[(&str, u32)]) -> RoundEnded {
    let new = new.iter().map(|(node, line)| ((*node).to_owned(), *line)).collect();
    RoundEnded { effect: Effect::Shows { shown, of: 9, beyond_first, new }, ..round() }
}

#[test]
fn the_new_lines_that_a_round_shows_are_named() {
    let check = |voice: Voice, it: &RoundEnded, expected: &str| {
        assert_eq!(voice.round(it).result, (Style::Dim, expected.to_owned()));
    };
    check(voice(), &shows(2, None, &[]), "shows 2 of 9");
    check(voice(), &shows(2, None, &[("q1", 7)]), "shows 2 of 9, new: line 7");
    let three = [("q1", 7), ("q2", 9), ("q1", 1_041)];
    check(voice(), &shows(4, None, &three), "shows 4 of 9, new: line 7, 9, 1041");
    check(of_several(), &shows(4, None, &three), "shows 4 of 9, new: q1:7, q2:9, q1:1041");
    // Of more there is only how many.
    check(voice(), &shows(5, None, &[("q1", 7); 4]), "shows 5 of 9, 4 of them new");
    let both = "both show 3 of 9, 1 that the first alone does not, new: line 7";
    check(voice(), &shows(3, Some(1), &[("q1", 7)]), both);
}

#[test]
fn what_came_of_a_round_has_its_style() {
    let check = |effect: Effect, style: Style, text: &str| {
        assert_eq!(voice().round(&RoundEnded { effect, ..round() }).result, (style, text.to_owned()));
    };
    let symptom = |severity| Effect::Symptom { severity, why: "clients wait".into() };
    check(Effect::Failure, Style::Good, "the failure happened");
    check(symptom(Severity::Critical), Style::Bad, "clients wait");
    check(symptom(Severity::Major), Style::Bad, "clients wait");
    check(symptom(Severity::Minor), Style::Warn, "clients wait");
    check(symptom(Severity::Expected), Style::Dim, "expected: clients wait");
}

#[test]
fn a_round_that_is_not_an_ordinary_one_says_why() {
    let result = |again, ends: &[&str]| {
        let ends = ends.iter().map(|&it| it.to_owned()).collect();
        voice().round(&RoundEnded { again: Some(again), ends, ..round() }).result.1
    };
    let second = "again, alone: a second fault is searched for after it; fine";
    assert_eq!(result(Again::ForSecond, &[]), second);
    assert_eq!(result(Again::WithoutKept, &[]), "fine; the kept fault was not injected this time");
    // The nodes that ended come first.
    let ended = result(Again::Instead, &["q1 exited with status 1", "q2 was killed"]);
    assert_eq!(ended, "q1 exited with status 1; q2 was killed; instead of the delay; fine");
}

/// Lines with their labels.
fn said(voice: &Voice, it: &Event) -> Vec<String> {
    let line = |it: &Line| format!("{:<10}{}", it.label.as_deref().unwrap_or_default(), it.plain());
    voice.event(it, 4.0).iter().map(|it| line(it).trim_end().to_owned()).collect()
}

#[test]
fn a_replay_says_what_it_showed_and_how_often_that_was_so() {
    let replayed = |is_injected, is_reached, shows, hits, runs| Event::Replayed {
        trial: 20,
        of: 15,
        is_injected,
        is_reached,
        shows,
        rate: Rate { hits, runs },
        replays: 5,
        ends: Vec::new(),
    };
    let check = |it: Event, expected: &str| {
        let head = "run       reproduce-0001/20: a replay of reproduce-0001/15 (of 5), and ";
        assert_eq!(said(&voice(), &it), [format!("{head}{expected}")]);
    };
    check(replayed(true, true, true, 1, 1), "it happened again");
    check(replayed(true, true, true, 2, 3), "it happened again, 2 of 3 replays so far");
    check(replayed(true, true, false, 0, 1), "nothing happened");
    check(replayed(false, false, false, 0, 0), "its fault was not reached");
    check(replayed(true, false, false, 0, 0), "its call was reached by another path");
    let near = |is_injected, shows| Event::Near {
        trial: 20,
        of: 15,
        is_injected,
        shows,
        ends: vec!["q1 exited with status 1".into()],
    };
    let check = |it: Event, expected: &str| {
        let head = "run       reproduce-0001/20: q1 exited with status 1; compared with reproduce-0001/15: ";
        assert_eq!(said(&voice(), &it), [format!("{head}{expected}")]);
    };
    check(near(true, true), "it shows the same");
    check(near(true, false), "it does not show the same");
    check(near(false, false), "its fault was not reached");
}

#[test]
fn lines_of_the_failure_log_are_named_with_their_node_only_where_there_are_several_logs() {
    let lines = vec![("q1".to_owned(), 7), ("q2".to_owned(), 9)];
    let doubt = Event::Learned(Learned::Doubt { rounds: 1, lines });
    let check = |voice: Voice, expected: &str| {
        let said = said(&voice, &doubt);
        assert!(said.len() == 1 && said[0].contains(expected), "`{expected}` is not in {said:?}");
    };
    check(voice(), "but not line 7, 9, to which other faults lead: at most 1 more round");
    check(of_several(), "but not q1:7, q2:9, to which other faults lead: at most 1 more round");
}

#[test]
fn a_round_has_a_step_and_no_lines_beside_it() {
    assert!(said(&voice(), &Event::Round(Box::new(round()))).is_empty());
}

#[test]
fn what_is_learnt_is_said_in_a_line() {
    let check = |it: Learned, expected: &[&str]| assert_eq!(said(&voice(), &Event::Learned(it)), expected);
    let chance = |hits, goes_on| Learned::Chance { round: 3, rate: Rate { hits, runs: 4 }, goes_on };
    check(chance(0, true), &["          round 3 was chance: 0 of 4 replays showed it; going on"]);
    check(chance(1, false), &["          round 3 may be chance: 1 of 4 replays showed it"]);
    check(Learned::Unreadable { trial: 4, why: "no log".into() }, &["note      trial 4: no log"]);
    // What is to come is told with the time that it takes.
    check(
        Learned::Confirming { claims: 2, replays: 3, near: 4 },
        &[
            "replays   the trials are over; 2 suspicious findings are replayed 3 times, and a repeated finding is compared with up to 4 other trials: 14 runs at most, about 56 s",
        ],
    );
    check(
        Learned::Confirming { claims: 1, replays: 1, near: 0 },
        &["replays   the trials are over; 1 suspicious finding is replayed once: 1 run at most, about 4 s"],
    );
    check(
        Learned::Flaky(Rate { hits: 2, runs: 10 }),
        &[
            "flaky     the failure happens without a fault, in 2 of 10 runs",
            "          a fault counts as found if it brings the failure at a higher rate (Fisher's test)",
        ],
    );
    check(
        Learned::Busy { least_ms: 1_200, most_ms: 5_000 },
        &[
            "machine   it is busy: one normal run took 1.2 s, another 5 s",
            "          timeouts may expire without a fault; fewer --jobs may help",
        ],
    );
    let site = injected(1).site;
    let busy = format!(
        "busy      {site} makes 9,000 of the 9,010 requests in q1 Acceptor.run#2, so the 3 other calls there are rarely chosen"
    );
    let key = "q1 Acceptor.run#2".to_owned();
    let crowded = Learned::Crowded { key, site, made: 9_000, requests: 9_010, others: 3 };
    check(
        crowded,
        &[&busy, "          `key = \"operation\"` under [explore] gives each call turns of its own"],
    );
}

/// An entry of the failure log at a line, to which so many calls lead.
fn missing(line: u32, sites: u64) -> Missing {
    Missing {
        key: line,
        node: "q1".into(),
        entry: line,
        line,
        message: format!("entry {line}"),
        times: 1,
        normal: 0,
        normal_least: 0,
        weight: 8,
        why: "warning, in no normal run".into(),
        sites,
        not_run: None,
        shown: 0,
    }
}

fn search() -> Search {
    Search {
        missing: vec![missing(3, 0), missing(7, 12)],
        silent: Vec::new(),
        sites_total: 2_000,
        sites_inferred: 500,
        sites_reached: 90,
        sites_beyond: 0,
        instances: 784_893,
        has_delays: true,
    }
}

#[test]
fn a_search_begins_with_what_is_missing_and_what_is_tried() {
    let of = |voice: &Voice, it: Search| said(voice, &Event::Learned(Learned::Search(Box::new(it))));
    let expected = [
        "missing   2 entries of the failure log are missing from normal runs",
        // What nothing is known to lead to comes last.
        "          line 7     entry 7 [8: warning, in no normal run]",
        "          line 3     entry 3 [8: warning, in no normal run]",
        "search    500 of 2,000 calls have a causal path to these entries; the workload reaches 90 of the 500; 784,893 occurrences to try",
        "",
    ];
    assert_eq!(of(&voice(), search()), expected);
    assert_eq!(of(&of_several(), search())[1], format!("          q1{}", &expected[1][9..]));
    // A document of before has no weights.
    let mut old = search();
    old.missing.iter_mut().for_each(|it| it.weight = 0);
    let named =
        ["          line 7     entry 7", "          line 3     entry 3 (no known exception leads here)"];
    assert_eq!(of(&voice(), old)[1..3], named);
    let mut many = Search { missing: (1..=17).map(|it| missing(it, 1)).collect(), ..search() };
    many.missing[16].weight = 10;
    let many = of(&voice(), many);
    // What weighs most comes first.
    assert!(
        many[1].starts_with("          line 17 ") && many[2].starts_with("          line 1 "),
        "{many:?}"
    );
    assert_eq!(many[16], "          and 2 more (the report has all)");
    // What is counted has other numbers each time, and may need a longer workload; the end of a log is ragged.
    let mut often = missing(7, 1);
    (often.times, often.normal, often.normal_least, often.message) =
        (8, 2, 1, "flush 31 of java.io.IOException".into());
    let silent = |thread: &str, entries| Silent { node: "q1".into(), thread: thread.into(), entries };
    let silent = vec![silent("sweeper", 12), silent("pinger", 2)];
    let lines = of(&voice(), Search { missing: vec![often], silent, sites_beyond: 1, ..search() });
    assert_eq!(
        lines[1],
        "          line 7     flush # of java.io.IOException (10 times, normal runs 1 to 2) [8: warning, in no normal run]"
    );
    assert!(lines[2].contains("a longer workload may be needed"), "{lines:#?}");
    assert!(lines[3].contains("90 of the 500, and 1 other (tried last"), "{lines:#?}");
    assert_eq!(lines[4], "silent    thread sweeper stops logging, and lacks 12 entries of normal runs");
    assert_eq!(lines.len(), 6, "{lines:#?}");
    // An exception that normal runs do not have makes delays less likely.
    let mut named = search();
    named.missing[1].message = "java.io.IOException: gone".into();
    let hint = "the log names exceptions: `--faults exceptions` saves the rounds with delays";
    assert!(of(&voice(), named.clone()).iter().any(|it| it.ends_with(hint)));
    named.has_delays = false;
    assert!(!of(&voice(), named).iter().any(|it| it.ends_with(hint)));
}
