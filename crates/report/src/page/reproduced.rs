//! The page of a campaign of `reproduce`.

use std::fmt::Write;

use super::{Frame, MESSAGE_CHARS, Section, broken, command, left_out, name, place, stack, whole};
use super::{cause, lanes, logs, ranks, tried};
use crate::Report;
use crate::text::{count, escaped, thousands, without_numbers};
use crate::words;
use hypocenter_results::reproduced::{Found, Missing, Summary};

/// Things of the failure log that are listed.
const MISSING_SHOWN: usize = 200;
/// Lines of the oracle that are told to be missing in the failure log.
const UNMET_SHOWN: usize = 5;
/// Lines of the failure log that what was found does not show, and that are named.
const LACKING_SHOWN: usize = 3;
/// Further faults that bring the failure and are listed.
const FOUND_SHOWN: usize = 100;

pub fn page(report: &Report<'_>) -> String {
    let summary = report.summary;
    let sections = [
        cause::section(report),
        lanes::section(report),
        logs::section(report),
        others(summary),
        ranks::section(summary),
        tried::section(summary),
        missing(summary),
        Some(figures(report)),
    ];
    let chip = if summary.reproduced { ("yes", "reproduced") } else { ("no", "not reproduced") };
    let frame = Frame {
        campaign: &summary.campaign,
        workload: &summary.workload,
        tool: &summary.tool,
        is_found: summary.reproduced,
        chip: (chip.0, chip.1.to_owned()),
        verdict: words::verdict(summary),
        proof: words::proof(summary),
        rest: rest(summary),
    };
    frame.page(sections.into_iter().flatten())
}

/// What it does not explain, the command that shows it again, and what the oracle saw.
fn rest(summary: &Summary) -> String {
    let place = place(summary.directory.as_deref());
    let mut text = summary.found.first().map_or_else(String::new, |it| lacking(summary, it));
    if let Some(it) = &summary.replay {
        text += &(command(it) + "\n" + &place);
    }
    if summary.found.is_empty() {
        for it in summary.unmet.iter().take(UNMET_SHOWN) {
            let it = escaped(it, MESSAGE_CHARS);
            let _ = writeln!(text, "<p class=\"proof\">Check the oracle: {it}.</p>");
        }
    }
    let story = summary.stories.first().and_then(Option::as_ref);
    if let Some(it) = story.and_then(|it| it.sooner.as_ref()) {
        let _ = writeln!(
            text,
            "<p class=\"place\">The moment may be another than the failure\u{2019}s: by then thread {} had written {} there, {} here.</p>",
            name(&it.thread),
            count(it.failure.into(), "entry", "entries"),
            thousands(it.trial.into())
        );
    }
    if let Some(moment) = story.and_then(|it| it.moment.as_ref()) {
        let _ = writeln!(
            text,
            "<p class=\"place\">The moment may be another than the failure\u{2019}s: <span class=\"mono\">{}</span> there, \
             <span class=\"mono\">{}</span> here. Numbers in messages are not compared; if one says which it was, ask for it in \
             the oracle (<code>hypocenter guide oracles</code>).</p>",
            escaped(&moment.failure, MESSAGE_CHARS),
            escaped(&moment.trial, MESSAGE_CHARS)
        );
    }
    if let Some(found) = summary.found.first() {
        if let Some(others) = words::as_likely(&found.as_likely, summary.has_several_nodes()) {
            let _ = writeln!(
                text,
                "<p class=\"place\">{}. <code>--keep-going</code> goes on with the search; an oracle that says more tells faults apart.</p>",
                escaped(&others, MESSAGE_CHARS)
            );
        }
        let _ = writeln!(
            text,
            "<details class=\"why\"><summary>What the oracle saw, in trial {}</summary><p class=\"mono\">{}</p>{}</details>",
            found.trial,
            escaped(&found.why, MESSAGE_CHARS),
            found.faults.iter().map(stack).collect::<String>()
        );
    }
    text
}

/// What the failure log has and something found does not show.
fn lacking(summary: &Summary, found: &Found) -> String {
    let all = summary.lacking(found).count();
    if all == 0 {
        return String::new();
    }
    let lines = count(all as u64, "line", "lines");
    let mut text = format!(
        "<div class=\"lacks\"><p>The run that was found lacks {lines} of the failure log, which no normal run has:</p><ul>"
    );
    for it in summary.lacking(found).take(LACKING_SHOWN) {
        let message = escaped(&it.message, MESSAGE_CHARS);
        let _ = write!(text, "<li>{}: <span class=\"mono\">{message}</span></li>", line_of(summary, it));
    }
    let more = match all.saturating_sub(LACKING_SHOWN) {
        0 => String::new(),
        it => format!("And {} more. ", thousands(it as u64)),
    };
    let _ = writeln!(
        text,
        "</ul><p>{more}If that belongs to the failure, ask for it too: <code>all</code> in the oracle (<code>hypocenter guide oracles</code>).</p></div>"
    );
    text
}

/// Where something stands in the failure log.
fn line_of(summary: &Summary, it: &Missing) -> String {
    let line = format!("line {}", thousands(u64::from(it.line)));
    if summary.logs.len() > 1 { format!("{line} of {}\u{2019}s log", name(&it.node)) } else { line }
}

/// The same in short.
fn lacking_lines(summary: &Summary, found: &Found) -> String {
    let lines: Vec<String> =
        summary.lacking(found).take(LACKING_SHOWN).map(|it| line_of(summary, it)).collect();
    let more = if summary.lacking(found).nth(LACKING_SHOWN).is_some() { ", ..." } else { "" };
    match lines.is_empty() {
        true => String::new(),
        false => {
            format!(
                "<br><span class=\"dim\">of the failure log it does not show {}{more}</span>",
                lines.join(", ")
            )
        }
    }
}

/// What else brings the failure.
fn others(summary: &Summary) -> Option<Section> {
    let rest = summary.found.get(1..).filter(|it| !it.is_empty())?;
    let mut body = String::from(
        "<div class=\"scroll\"><table><thead><tr><th>round</th><th>fault</th><th>replays</th><th>command</th></tr></thead><tbody>",
    );
    for (number, found) in rest.iter().take(FOUND_SHOWN).enumerate() {
        let what: Vec<String> = found.faults.iter().map(whole).collect();
        let _ = write!(
            body,
            "<tr><td class=\"n\">{}</td><td>{}{}</td><td>{} of {}</td><td>{}</td></tr>",
            found.round,
            what.join("<br>"),
            lacking_lines(summary, found),
            found.hits,
            found.runs,
            command(&summary.replay_of(number + 1, found))
        );
    }
    body.push_str("</tbody></table></div>");
    body.push_str(&left_out(rest.len(), FOUND_SHOWN, "summary.json has all."));
    let lead = count(rest.len() as u64, "other fault brings", "other faults bring") + " the failure too.";
    Some(Section { id: "others", title: "What else brings it".to_owned(), lead, body })
}

/// What the failure log has and normal runs do not.
fn missing(summary: &Summary) -> Option<Section> {
    if summary.missing.is_empty() {
        return None;
    }
    let mut body = String::from(
        "<details><summary>The list</summary><div class=\"scroll\"><table><thead><tr><th>line</th><th>message</th><th>times</th>\
         <th>sites that lead to it</th><th>rounds that showed it</th></tr></thead><tbody>",
    );
    for it in summary.missing.iter().take(MISSING_SHOWN) {
        let Missing { node, line, message, times, normal, sites, shown, .. } = it;
        let node = if summary.logs.len() > 1 { format!("{} ", name(node)) } else { String::new() };
        let _ = write!(
            body,
            "<tr><td class=\"n\">{node}{}</td><td class=\"mono\">{}</td><td class=\"n\">{}</td><td class=\"n\">{}</td><td class=\"n\">{}</td></tr>",
            thousands(u64::from(*line)),
            match normal {
                0 => escaped(message, MESSAGE_CHARS),
                // What is counted has other numbers each time.
                _ => escaped(&without_numbers(message), MESSAGE_CHARS),
            },
            match normal {
                0 => thousands(u64::from(*times)),
                &some => {
                    let all = thousands(u64::from(*times) + u64::from(some));
                    format!("{all}, normal runs {}", thousands(u64::from(some)))
                }
            },
            thousands(*sites),
            thousands(*shown)
        );
    }
    body.push_str("</tbody></table></div>");
    body.push_str(&left_out(summary.missing.len(), MISSING_SHOWN, "summary.json has all."));
    body.push_str("</details>");
    let all = summary.missing.len();
    let never = summary.missing.iter().filter(|it| it.shown == 0).count();
    let never = match never {
        0 => "Every one of them came in some round.".to_owned(),
        it => format!("{} came in no round.", thousands(it as u64)),
    };
    let lead = format!(
        "{} in the failure log that normal runs do not show. {never}{}",
        count(all as u64, "thing is", "things are"),
        silent(summary)
    );
    Some(Section { id: "missing", title: "What was looked for".to_owned(), lead, body })
}

/// What is looked for, too: that threads say no more.
fn silent(summary: &Summary) -> String {
    let Some(first) = summary.silent.first() else { return String::new() };
    let node = if summary.has_several_nodes() { format!(" of {}", name(&first.node)) } else { String::new() };
    let others = match summary.silent.len() - 1 {
        0 => String::new(),
        some => {
            format!("; {} too", count(some as u64, "other thread falls silent", "other threads fall silent"))
        }
    };
    let entries = count(u64::from(first.entries), "entry", "entries");
    format!(
        " Thread {}{node} falls silent in it: {entries} of a normal run are not there{others}.",
        name(&first.thread)
    )
}

/// What was counted and measured, and what is where.
fn figures(report: &Report<'_>) -> Section {
    let summary = report.summary;
    let mut rows: Vec<(&str, String)> = vec![
        ("sites in the program", thousands(summary.sites_total)),
        ("sites that lead to the failure log", thousands(summary.sites)),
        ("moments to try, at these and at others", thousands(summary.instances)),
        (
            "rounds",
            format!("{} of at most {}", thousands(summary.tried.len() as u64), thousands(summary.budget)),
        ),
        ("runs without a fault", thousands(summary.normal_runs)),
        ("strategy, seed", format!("{}, {}", name(&summary.strategy), summary.seed)),
        ("time in all", words::seconds((summary.seconds * 1e3) as u64)),
    ];
    let measured = [
        ("the workload ran, median", summary.workload_s.map(|it| words::seconds((it * 1e3) as u64))),
        ("between two rounds, median", summary.between_rounds_ms.map(|it| format!("{it:.0} ms"))),
        ("decisions of a run, median", summary.requests.map(thousands)),
        ("a decision took, median", summary.decision_ns.map(|it| format!("{it:.0} ns"))),
    ];
    rows.extend(measured.into_iter().filter_map(|(what, it)| Some((what, it?))));
    let mut body = super::figures(&rows);
    body.push_str("<details><summary>Files</summary><ul class=\"files\">");
    for (node, path) in summary.logs.iter().take(100) {
        let _ = write!(
            body,
            "<li>failure log of {}: <code>{}</code></li>",
            name(node),
            broken(&escaped(path, MESSAGE_CHARS))
        );
    }
    body.push_str(
        "<li><code>summary.json</code>: all of this for other tools (<code>hypocenter schema summary</code>)</li>\
         <li><code>rounds.jsonl</code>: a line a round</li>\
         <li><code>junit.xml</code>, <code>findings.sarif</code>: for CI and editors</li>\
         <li><code>trials/NNN/</code>: plan, logs and outcome of every trial</li></ul></details>",
    );
    Section { id: "figures", title: "Figures".to_owned(), lead: String::new(), body }
}
