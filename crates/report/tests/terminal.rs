//! The end of a campaign as a terminal shows it.

mod support;

use hypocenter_report::Reported;
use hypocenter_report::terminal::{Line, Style, refusal};
use hypocenter_results::Document;
use hypocenter_results::reproduced::{Closest, NormalFailure, Reproduction, Standing, Suggestion};
use support::{changed, nothing_found, runs, story, summary};

/// A line as it is read: label, then text.
fn text(it: &Line) -> String {
    match &it.label {
        Some(label) => format!("{label:<10}{}", it.plain()),
        None => it.plain(),
    }
}

fn lines(summary: &Document<Reproduction>) -> Vec<String> {
    Reproduction::lines(summary, None).iter().map(text).collect()
}

#[track_caller]
fn assert_says(lines: &[String], expected: &[&str]) {
    for it in expected {
        assert!(lines.iter().any(|line| line == it), "`{it}` is not in {lines:#?}");
    }
}

#[test]
fn a_finding_is_shown_with_its_cause_its_proof_and_its_replay() {
    let lines = lines(&summary(12));
    assert!(lines[0].starts_with("fault     throw java.io.IOException at org.acme"), "{lines:#?}");
    assert_says(
        &lines,
        &[
            "cause     causal path from this fault",
            "            1. FileChannel.force, called at Log1.append:31, throws IOException",
            "            1-2. as above",
            "            3. Store.close:80 logs it",
            "rate      5 of 5 replays, 2 more did not reach the fault",
            "replay    hypocenter replay reproduce-0001/15",
            "export    hypocenter replay reproduce-0001/15 --export DIR",
            "          a longer workload may reach that occurrence (`hypocenter guide start`)",
            "done      reproduced in round 12 after 39 s, 3.9 min in all",
        ],
    );
    let trace = "the stack trace of the IOException at line 7 of the failure log names it: org.acme.store.Log1.append:31";
    assert_says(&lines, &[&format!("          {trace}")]);
}

#[test]
fn two_logs_stand_side_by_side_in_the_width_of_the_screen() {
    let mut summary = summary(12);
    story(&mut summary).beside = runs(20).beside;
    for (columns, width) in [(None, 140), (Some(100), 100), (Some(20), 72), (Some(1_000), 200)] {
        let lines = Reproduction::lines(&summary, columns);
        let wide: Vec<&Line> = lines.iter().filter(|it| it.label.is_none() && !it.text.is_empty()).collect();
        assert!(wide.len() > 20, "{wide:#?}");
        // The legend behind the rows is as long as it is.
        for it in &wide[..wide.len() - 1] {
            assert!(it.plain().chars().count() + 2 <= width, "{width}: {it:?}");
        }
        assert_eq!(wide[0].text[0].style, Style::Bold);
        let has = |style, start: &str| {
            wide.iter().any(|it| it.text[0].style == style && it.plain().starts_with(start))
        };
        assert!(has(Style::Bad, ">>> throw java.io.IOException at ") && has(Style::Dim, "... 77 entries"));
    }
}

#[test]
fn rounds_that_came_near_are_told_with_what_to_try() {
    let suggestions = vec![
        Suggestion::LongerWorkload { missing: 1 },
        Suggestion::AskWhy { missing: 1 },
        Suggestion::Delays,
        // Of an entry that is not there nothing can be said.
        Suggestion::LongerWorkload { missing: 9 },
        Suggestion::AskWhy { missing: 9 },
        Suggestion::MoreRounds { calls: 1 },
    ];
    let summary = changed(nothing_found(12), |it| {
        it.closest = vec![Closest { round: 4, shows: vec![1], lacks: vec![0] }];
        it.missing[1].shown = 0;
        it.missing[1].message = "the store isn't there".into();
        it.flags = " --config a.toml".into();
        it.suggestions = suggestions;
        it.unmet = vec!["it is not there".into()];
    });
    let told = lines(&summary);
    assert_says(
        &told,
        &[
            "not found the budget of 12 rounds is used up",
            "            it shows line 9 of the failure log, and not line 7",
            "never     line 9 of the failure log: the store isn't there",
            "try       check the oracle first: it is not there",
            "          list the faults that can lead to line 9 of the failure log: `hypocenter scan --why 'the store isn'\\''t there' --config a.toml`",
            "          delays: they were not tried (--faults exceptions,delays)",
            "          more rounds (--trials): 1 call has occurrences that were not tried",
        ],
    );
    assert!(told[1].starts_with("closest   reproduce-0001/5: throw ") && told[1].ends_with(", shows 1 of 2"));
    let several = lines(&changed(summary.clone(), |it| it.several_logs = true));
    assert_says(&several, &["            it shows server:9 of the failure logs, and not server:7"]);
    let none = lines(&changed(summary, |it| it.closest.clear()));
    assert_says(&none, &["closest   no round showed any of the missing entries"]);
}

#[test]
fn a_campaign_that_could_not_begin_says_why() {
    let ended = |standing| {
        changed(nothing_found(0), |it| {
            it.standing = standing;
            it.unmet = vec!["it is not there".into()];
        })
    };
    let failed = changed(ended(Standing::AlreadyFails { failed: 1, runs: 2 }), |it| {
        it.normal_failure = Some(NormalFailure { trial: 1, why: "seen".into() });
    });
    let unmet = "note      oracle: check the oracle first: it is not there";
    assert_says(&lines(&failed), &[unmet, "          reproduce-0001/1: seen"]);
    assert_eq!(refusal(&failed, false), None);
    let unreadable = changed(ended(Standing::Unreadable { why: "no log".into() }), |it| it.unjudged = 3);
    assert_eq!(lines(&unreadable), [unmet]);
    let hint = |fails: bool| refusal(&unreadable, fails).expect("a refusal").1;
    assert!(hint(true).starts_with("the command fails") && hint(false).starts_with("log to standard output"));
}
