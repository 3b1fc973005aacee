//! Content of the page, for any documents.

mod support;

use hypocenter_plan::{Candidate, Guard, Repeat};
use hypocenter_results::Document;
use hypocenter_results::explored;
use hypocenter_results::reproduced::{Missing, Noise, Reproduction, Standing};
use hypocenter_results::runs::{Row, Runs};
use support::{
    HOSTILE, changed, exploration, explore_page, injected, nothing_found, nothing_suspicious, page, runs,
    story, summary,
};

fn noise() -> Noise {
    Noise { node: "server".into(), line: 3, message: HOSTILE.into(), times: 12, normal: (9, 11) }
}

/// The elements of a page outside of scripts, as far as they matter here.
fn tags(page: &str, name: &str) -> usize {
    page.matches(&format!("<{name}>")).count() + page.matches(&format!("<{name} ")).count()
}

#[test]
fn hostile_text_makes_no_markup() {
    let (summary, runs) = (summary(60), runs(400));
    let clean = page(&summary, Some(&runs));
    // Two blocks of data and one script, which is ours.
    assert_eq!(tags(&clean, "script"), 3);
    assert_eq!(clean.matches("</script>").count(), 3);
    assert_eq!((tags(&clean, "img"), tags(&clean, "style"), clean.matches("</style>").count()), (0, 1, 1));
    assert!(
        clean.contains("&lt;/script&gt;&lt;/style&gt;&lt;script&gt;document.title="),
        "it is shown as text"
    );
    assert!(!clean.contains(['\0', '\u{1b}', '\u{202e}', '\u{2028}', '\r']), "controls are made visible");
    assert!(clean.contains("\u{241b}[31m \u{2400} \u{240d}\u{240a} \u{27e8}U+202E\u{27e9}"));
}

#[test]
fn the_fault_that_was_found_has_the_rules_by_which_it_was_tried() {
    let found = page(&summary(60), None);
    let section = found.split("id=\"why\"").nth(1).and_then(|it| it.split("</section>").next());
    let section = section.expect("a section");
    assert!(section.contains("125 points, aimed at line 9 of the failure log"), "{section}");
    let row = "<td class=\"n\">62</td><td><code>causal-step</code></td><td>one event between &lt;fault&gt; and line</td>";
    assert!(section.contains(row), "{section}");
    // A document of before has no scores, and its page no such section.
    let old = changed(summary(60), |it| it.tried.iter_mut().for_each(|it| it.score = None));
    assert!(!page(&old, None).contains("id=\"why\""));
}

#[test]
fn each_missing_line_has_its_weight_with_its_reason_and_noise_is_counted() {
    let page = page(&changed(summary(60), |it| it.noise = vec![noise(), noise()]), None);
    assert!(page.contains("<td>8: <span class=\"dim\">warning, in no normal run</span></td>"));
    assert!(page.contains("2 more entries are ignored as noise:"));
}

/// A browser runs the script only if the page has its hash.
#[test]
fn the_hash_of_the_script_is_its_own() {
    let directory = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("src/page");
    let output =
        std::process::Command::new("sha256sum").arg(directory.join("script.js")).output().expect("sha256sum");
    let hex = String::from_utf8_lossy(&output.stdout).split_whitespace().next().expect("a hash").to_owned();
    let bits: String = hex.chars().map(|it| format!("{:04b}", it.to_digit(16).expect("a digit"))).collect();
    let alphabet: Vec<char> = ('A'..='Z').chain('a'..='z').chain('0'..='9').chain(['+', '/']).collect();
    let sixes = bits.as_bytes().chunks(6).map(|it| {
        let digits = String::from_utf8_lossy(it).into_owned();
        alphabet[usize::from_str_radix(&format!("{digits:0<6}"), 2).expect("six bits")]
    });
    let base64 = sixes.collect::<String>() + "=";
    let kept = std::fs::read_to_string(directory.join("script.sha256")).expect("it is there");
    assert_eq!(kept.trim(), base64, "openssl dgst -sha256 -binary script.js | base64 > script.sha256");
}

#[test]
fn names_may_be_as_hostile_as_messages() {
    let mut summary = summary(3);
    let hostile = || HOSTILE.repeat(2_000);
    summary.header.campaign = hostile();
    summary.header.workload = hostile();
    summary.header.tool = hostile();
    summary.detail.strategy = hostile();
    summary.detail.logs = vec![(hostile(), hostile()); 3];
    summary.detail.found[0].replay = hostile();
    for it in summary
        .detail
        .tried
        .iter_mut()
        .flat_map(|it| &mut it.fault)
        .chain(&mut summary.detail.found[0].faults)
    {
        it.site.class = hostile();
        it.site.method = hostile();
        it.site.callee = Some(hostile());
        it.at.thread = hostile();
        it.at.node = hostile();
    }
    for it in &mut story(&mut summary).causes {
        it.named_by[0].frame = hostile();
        it.leads_to.iter_mut().for_each(|it| {
            it.steps[2] = hostile();
            it.node = hostile();
        });
    }
    let mut runs = runs(40);
    runs.lanes.as_mut().unwrap().lanes.iter_mut().for_each(|it| {
        it.node = hostile();
        it.thread = Some(hostile());
    });
    let page = page(&summary, Some(&runs));
    assert_eq!((tags(&page, "script"), tags(&page, "img"), page.matches("</style>").count()), (3, 0, 1));
    assert!(page.len() < 800_000, "{} bytes", page.len());
}

#[test]
fn a_thread_that_falls_silent_is_told() {
    let mut summary = summary(3);
    let cause = &mut story(&mut summary).causes[0];
    cause.leads_to.clear();
    cause.named_by.clear();
    cause.silent = Some("sweeper".into());
    summary.detail.silent[0].thread = "sweeper".into();
    summary.detail.silent.push(summary.detail.silent[0].clone());
    let page = page(&summary, Some(&runs(40)));
    for part in [
        "Thread sweeper stops logging in it: 12 entries of a normal run are missing; 1 other thread stops logging too.",
        "<p>Thread sweeper stops logging in the failure. ",
    ] {
        assert!(page.contains(part), "{part}");
    }
}

#[test]
fn a_large_campaign_is_a_small_page() {
    let page = page(&summary(5_000), Some(&runs(100_000)));
    assert!(page.len() < 10_000_000, "{} bytes", page.len());
    // What is at once in the document is as much as in one of a small campaign.
    assert!(tags(&page, "tr") < 400, "{}", tags(&page, "tr"));
    assert!(page.matches("<div class=\"row ").count() <= 400);
    assert!(page.contains("left out"), "it says so");
}

#[test]
fn a_story_has_all_its_parts() {
    let page = page(&summary(60), Some(&runs(400)));
    for part in [
        "<h1>The failure happens again when <code>FileChannel.<wbr>force</code>, called at <code>Log1.<wbr>append:31</code>",
        "throws <code>IOException</code>, 2nd occurrence on thread <code>Writer-1</code>.</h1>",
        "5 of 5 replays showed it (2 more did not reach the fault), 0 of 5 runs without the fault did. Found in round 60, after 39 s; total time 237 s.",
        "<code>hypocenter replay reproduce-0001/63</code>",
        "id=\"cause\"",
        "line 9 of the failure log \u{b7} the failure",
        "id=\"timeline\"",
        "Normal run",
        "The failure<",
        "Reproduced run",
        "id=\"logs\"",
        "id=\"ranks\"",
        "id=\"tried\"",
        "Show more",
        "77 rows left out",
    ] {
        assert!(page.contains(part), "{part}");
    }
}

#[test]
fn it_is_said_how_logs_that_name_no_threads_stand_side_by_side() {
    let said = |threads: [bool; 2]| {
        let mut runs = runs(40);
        for row in &mut runs.beside.as_mut().unwrap().rows {
            let Row::Entries(entries) = row else { continue };
            for (it, is_named) in [&mut entries.failure, &mut entries.trial].into_iter().zip(threads) {
                it.iter_mut().filter(|_| !is_named).for_each(|it| it.thread = None);
            }
        }
        page(&summary(3), Some(&runs)).contains("entries in a different order are in two rows")
    };
    assert_eq!(
        [[true, true], [false, true], [true, false], [false, false]].map(said),
        [false, true, true, true]
    );
}

#[test]
fn where_no_way_is_known_there_is_what_came_after() {
    let (mut summary, runs) = (summary(3), runs(41));
    let cause = &mut story(&mut summary).causes[0];
    cause.leads_to.clear();
    cause.is_delay = true;
    let page = page(&summary, Some(&runs));
    let drawing = page.split("id=\"cause\"").nth(1).and_then(|it| it.split("</section>").next()).unwrap();
    // On the clock of the trial everything was before the fault.
    assert!(!drawing.contains("<svg") && drawing.contains("A delay has no code path to show"), "{drawing}");
    // Earlier, the failure is what came after it, and what was before is not drawn.
    let mut early = runs;
    early.lanes.as_mut().unwrap().runs[2].faults[0].2 = 100;
    let page = support::page(&summary, Some(&early));
    assert!(page.contains("187 ms later") && page.contains("\u{b7} the failure"));
}

#[test]
fn the_failure_is_drawn_also_where_no_way_leads_to_it() {
    let drawing = |summary: &Document<Reproduction>, runs: Option<&Runs>| {
        let page = page(summary, runs);
        page.split("id=\"cause\"").nth(1).and_then(|it| it.split("</section>").next()).unwrap().to_owned()
    };
    let mut early = runs(41);
    early.lanes.as_mut().unwrap().runs[2].faults[0].2 = 100;
    let mut summary = summary(3);
    let (unknown, seen) = ("no known causal path from", "match of the oracle \u{b7} the failure");
    assert!(!drawing(&summary, Some(&early)).contains(unknown), "a way leads there");
    let leads = &mut story(&mut summary).causes[0].leads_to;
    leads.iter_mut().for_each(|it| it.is_symptom = false);
    // The failure log has the line that the oracle looks for.
    let known = drawing(&summary, Some(&early));
    assert!(known.contains(unknown) && known.contains("187 ms later"), "{known}");
    // Nothing is cut off, on a wide page or on a narrow one.
    assert_eq!(known.matches("limits</text>").count(), known.matches("<svg").count(), "{known}");
    assert!(
        known.contains("line 41 of the failure log \u{b7} the failure") && !known.contains(seen),
        "{known}"
    );
    // It has none: there is what the trial has.
    let other = drawing(&summary, None);
    assert!(
        other.contains(unknown) && other.contains(seen) && other.contains("logs/server.log:9:"),
        "{other}"
    );
    // Where the fault leads to nothing at all there is no drawing.
    story(&mut summary).causes[0].leads_to.clear();
    assert!(!drawing(&summary, None).contains("<svg"));
}

#[test]
fn drawings_of_next_to_nothing_are_sentences() {
    let part = |page: &str, id: &str| {
        let part = page.split(&format!("<section id=\"{id}\"")).nth(1)?.split("</section>").next()?;
        assert!(!part.contains("NaN") && !part.contains("inf\""), "{part}");
        Some(part.to_owned())
    };
    // Of one round there is one rank, and of a round that did not rank the site none.
    let ranks = |rounds: u64, ranked: usize| {
        let mut summary = summary(rounds);
        summary.detail.tried.iter_mut().skip(ranked).for_each(|it| it.found_rank = None);
        part(&page(&summary, None), "ranks")
    };
    assert_eq!((ranks(1, 0), ranks(3, 0)), (None, None));
    let one = ranks(1, 1).expect("a sentence");
    assert!(
        !one.contains("<svg")
            && one.contains("had rank 1 of the 500 remaining sites, and 10 faults were tried together.")
    );
    assert!(ranks(3, 1).is_some_and(|it| !it.contains("<svg") && it.contains("When round 1 was planned")));
    assert!(ranks(2, 2).is_some_and(|it| it.matches("<svg").count() == 2 && it.contains("class=\"point\"")));
    // Trials have a curve from the second on.
    let course = |trials: u64| part(&explore_page(&nothing_suspicious(trials)), "course");
    assert_eq!((course(0), course(1)), (None, None));
    assert!(course(2).is_some_and(|it| it.contains("class=\"curve\"")));
    // What there is nothing of has no bar.
    let coverage = |sites: u64, states: usize| {
        let it = changed(nothing_suspicious(1), |it| {
            (it.sites.total, it.sites.reached, it.sites.injected) = (sites, Some(sites), 0);
            it.tasks[0].states.truncate(states);
            it.tasks.truncate(states.min(1));
        });
        part(&explore_page(&it), "coverage").map(|it| it.matches("class=\"bar\"").count())
    };
    assert_eq!(
        [coverage(0, 0), coverage(1, 0), coverage(0, 1), coverage(2, 2)],
        [None, Some(1), Some(2), Some(3)]
    );
}

#[test]
fn a_campaign_that_found_nothing_has_a_page_too() {
    let text = page(&nothing_found(30), None);
    assert!(text.contains("<h1>Not reproduced: the budget of 30 rounds is used up.</h1>"));
    assert!(
        !text.contains("id=\"cause\"") && !text.contains("id=\"ranks\"") && text.contains("id=\"tried\"")
    );
    let check = |standing: Standing, expected: &str| {
        let summary = changed(nothing_found(1), |it| {
            it.standing = standing;
            it.tried.clear();
            it.missing.clear();
        });
        let page = page(&summary, None);
        assert!(page.contains(expected), "{expected}");
    };
    check(Standing::Exhausted, "every fault with a causal path to the failure log was tried");
    check(Standing::AlreadyFails { failed: 2, runs: 3 }, "without any fault, in 2 of 3 runs");
    check(Standing::NothingMissing, "Nothing to search for");
    check(Standing::NothingToTry, "Nothing to try");
    check(Standing::Unreadable { why: HOSTILE.into() }, "left no readable log");
    check(Standing::Unjudged { why: HOSTILE.into() }, "The oracle could not judge");
}

#[test]
fn odd_documents_are_no_reason_to_give_up() {
    // Numbers that point nowhere, times at both ends of what there is, and nothing at all.
    let mut odd: Runs = runs(12);
    let lanes = odd.lanes.as_mut().unwrap();
    lanes.span_ms = (i64::MIN, i64::MAX);
    for run in &mut lanes.runs {
        run.faults = vec![(9, u32::MAX, i64::MIN), (0, 3, i64::MAX)];
        run.marks[0].lane = u32::MAX;
        run.marks[1].at_ms = i64::MIN;
    }
    odd.beside.as_mut().unwrap().rows.push(Row::Fault(u32::MAX));
    assert!(page(&summary(2), Some(&odd)).contains("id=\"timeline\""));
    let mut bare = summary(1);
    bare.detail.tried[0].number = u64::MAX;
    bare.detail.tried[0].found_rank = Some(u64::MAX);
    bare.header.seconds = f64::NAN;
    bare.detail.found[0].faults.clear();
    assert!(page(&bare, None).ends_with("</html>\n"));
}

#[test]
fn a_page_of_explore_has_all_its_parts() {
    let page = explore_page(&exploration(60));
    for part in [
        "2 small faults break part of the service. The worst: <code>FileChannel.<wbr>force</code>",
        "60 trials, 54 with a fault; threads reached 40 abstract states. It took 103 s.",
        "<code>hypocenter replay explore-0001/106</code>",
        "in the state <code>Acceptor.<wbr>run#2</code>",
        "4 of 20",
        "alive at the end, and reports healthy",
        "class=\"state marked\"",
        "The state matters (the same call at other occurrences 1 of 2, other calls at the same place 0 of 1, ",
        "id=\"course\"",
        "30 with a fault, 90 reached, of 162",
        "id=\"known\"",
        "id=\"expected\"",
        "id=\"tried\"",
    ] {
        assert!(page.contains(part), "{part}");
    }
    let nothing = explore_page(&nothing_suspicious(60));
    assert!(
        nothing.contains("<h1>Nothing suspicious in 60 trials.</h1>") && !nothing.contains("id=\"findings\"")
    );
}

#[test]
fn a_suspicion_that_no_replay_confirms_is_not_stated_as_a_finding() {
    let it = changed(exploration(60), |it| it.findings.clear());
    let page = explore_page(&it);
    let headline = "<h1>Nothing confirmed in 60 trials; 2 suspicious results were seen and not confirmed by a replay.</h1>";
    assert!(page.contains(headline) && page.contains("nothing confirmed</span>"));
    assert!(!page.contains("id=\"findings\"") && !page.contains("break a part of the service"));
    assert!(page.contains("seen once, not confirmed") && page.contains("refuted: no replay repeated it"));
}

#[test]
fn a_campaign_of_explore_that_could_not_begin_says_why() {
    let wrong = vec![("the workload exited with status 1".to_owned(), 2)];
    let page = explore_page(&changed(exploration(1), |it| {
        it.standing = explored::Standing::NormalFails { wrong, runs: 3 };
        it.findings.clear();
        it.tried.clear();
    }));
    assert!(
        page.contains("fix the workload first")
            && page.contains("the workload exited with status 1, in 2 of 3")
    );
}

#[test]
fn hostile_and_large_explorations_are_small_harmless_pages() {
    let mut document = exploration(5_000);
    document.header.campaign = HOSTILE.into();
    document.header.workload = HOSTILE.into();
    let it = &mut document.detail;
    it.policy = HOSTILE.into();
    for finding in it.findings.iter_mut().chain(&mut it.known).chain(&mut it.expected) {
        finding.faults[0].site.class = HOSTILE.into();
        finding.faults[0].at.thread = HOSTILE.into();
        finding.replay = HOSTILE.into();
        finding.detail.matters = Some(HOSTILE.into());
        finding.detail.processes.iter_mut().for_each(|it| it.end = Some(HOSTILE.into()));
    }
    it.tasks[0].name = HOSTILE.into();
    it.tasks[0].states[2].begins = Some(HOSTILE.into());
    let page = explore_page(&document);
    // One script is ours, one is data.
    assert_eq!((tags(&page, "script"), tags(&page, "img"), page.matches("</style>").count()), (2, 0, 1));
    assert!(page.len() < 5_000_000, "{} bytes", page.len());
    assert!(tags(&page, "tr") < 400, "{}", tags(&page, "tr"));
}

#[test]
fn what_is_not_shown_of_the_failure_log_stands_beneath_the_rate() {
    let said = |lacks: &[u32]| {
        let mut summary = summary(3);
        summary.detail.missing = vec![summary.detail.missing[0].clone(); 6];
        summary.detail.missing.push(Missing {
            line: 1_041,
            message: "the end".into(),
            ..summary.detail.missing[0].clone()
        });
        summary.detail.found[0].detail.lacks = lacks.to_vec();
        summary.detail.found.push(summary.detail.found[0].clone());
        page(&summary, None)
    };
    assert!(!said(&[]).contains("run lacks") && !said(&[]).contains("class=\"lacks\""));
    let one = said(&[6]);
    let (before, behind) = one.split_once("lacks 1 line of the failure log").expect("it is said");
    assert!(before.contains("5 of 5 replays showed it") && behind.contains("class=\"command\""));
    assert!(behind.contains("<li>line 1,041: <span class=\"mono\">the end</span></li>"));
    assert!(
        behind.contains(">it does not show line 1,041 of the failure log<"),
        "the other fault has it too"
    );
    // What is more is counted, what is nowhere is left out, and text is text.
    let more = said(&[0, 1, 2, 3, 6, u32::MAX]);
    assert!(more.contains("lacks 5 lines") && more.contains("And 2 more. If they belong"));
    assert!(more.contains("<li>line 7: <span class=\"mono\">&lt;/script&gt;&lt;/style&gt;&lt;script&gt;"));
    assert!(more.contains("it does not show line 7, line 7, line 7, ... of the failure log<"));
    assert_eq!((tags(&more, "img"), more.matches("</style>").count()), (0, 1));
}

#[test]
fn what_was_as_likely_is_named_and_what_is_more_is_counted() {
    let candidate = |number: u64| Candidate {
        site: injected(number).site,
        fault: injected(number).fault,
        when: Guard { occurrence: Some(number + 1), thread: Some(HOSTILE.into()), ..Guard::default() },
        repeat: Repeat::Once,
    };
    let said = |count: u64| {
        let mut summary = summary(3);
        summary.detail.found[0].detail.as_likely = (0..count).map(candidate).collect();
        page(&summary, None)
    };
    assert!(!said(0).contains("as likely"));
    let one = said(1);
    assert!(
        one.contains("1 other fault was equally likely and was not tried: IOException at Log0.append:30")
    );
    assert_eq!((tags(&one, "img"), one.matches("</style>").count()), (0, 1));
    let more = said(4);
    assert!(
        more.contains("4 other faults were equally likely and were not tried") && more.contains("; ....")
    );
    assert!(
        more.contains("Log2.append") && !more.contains("Log3.append:33 \u{2192} FileChannel.force, hit 4")
    );
    assert!(said(100).contains("100 other faults or more were"));
}

#[test]
fn where_logs_are_of_several_nodes_a_fault_says_on_which_it_is() {
    let mut summary = summary(3);
    let when = Guard { occurrence: Some(7), node: Some("mirror".into()), ..Guard::default() };
    let it = injected(0);
    summary.detail.found[0].detail.as_likely =
        vec![Candidate { site: it.site, fault: it.fault, when, repeat: Repeat::Once }];
    summary.detail.logs = vec![("depot".into(), "depot.log".into()); 2];
    assert!(!page(&summary, None).contains(" on mirror"));
    summary.detail.logs[1].0 = "mirror".into();
    assert!(page(&summary, None).contains("hit 7 on mirror"));
}
