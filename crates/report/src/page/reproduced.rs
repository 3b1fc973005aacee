//! The page of a campaign of `reproduce`.

use std::fmt::Write;

use super::Report;
use super::{Frame, MESSAGE_CHARS, Section, broken, command, left_out, name, place, stack, whole};
use super::{cause, lanes, logs, ranks, tried, why};
use crate::text::{count, escaped, thousands, without_numbers};
use crate::words;
use hypocenter_results::reproduced::{Explained, Missing, Reproduction};
use hypocenter_results::runs::Runs;
use hypocenter_results::{Document, Finding};

/// Things of the failure log that are listed.
const MISSING_SHOWN: usize = 200;
/// Maximum number of conditions of the oracle that are reported as unmet by the failure log.
const UNMET_SHOWN: usize = 5;
/// Lines of the failure log that what was found does not show, and that are named.
const LACKING_SHOWN: usize = 3;
/// Further faults that bring the failure and are listed.
const FOUND_SHOWN: usize = 100;

pub fn page(summary: &Document<Reproduction>, runs: Option<&Runs>) -> String {
    let report = &Report { summary, runs };
    let sections = [
        cause::section(report),
        lanes::section(report),
        logs::section(report),
        others(summary),
        ranks::section(summary),
        why::section(summary),
        tried::section(summary),
        missing(summary),
        Some(figures(report)),
    ];
    let chip = if summary.detail.reproduced { ("yes", "reproduced") } else { ("no", "not reproduced") };
    let frame = Frame {
        header: &summary.header,
        is_found: summary.detail.reproduced,
        chip: (chip.0, chip.1.to_owned()),
        verdict: words::verdict(summary),
        proof: words::proof(summary),
        rest: rest(summary),
    };
    frame.page(sections.into_iter().flatten())
}

/// Unexplained lines, the command that reproduces it, and the evidence of the oracle.
fn rest(summary: &Document<Reproduction>) -> String {
    let place = place(summary.header.directory.as_deref());
    let mut text = summary.detail.found.first().map_or_else(String::new, |it| lacking(summary, it));
    if let Some(it) = &summary.detail.replay {
        text += &(command(it) + "\n" + &place);
    }
    if summary.detail.found.is_empty() {
        for it in summary.detail.unmet.iter().take(UNMET_SHOWN) {
            let it = escaped(it, MESSAGE_CHARS);
            let _ = writeln!(text, "<p class=\"proof\">Check the oracle: {it}.</p>");
        }
    }
    let story = summary.detail.found.first().and_then(|it| it.story.as_ref());
    if let Some(it) = story.and_then(|it| it.sooner.as_ref()) {
        let _ = writeln!(
            text,
            "<p class=\"place\">Possibly another occurrence than in the failure: by then thread {} had written {} in the failure, {} in this run.</p>",
            name(&it.thread),
            count(it.failure.into(), "entry", "entries"),
            thousands(it.trial.into())
        );
    }
    if let Some(moment) = story.and_then(|it| it.moment.as_ref()) {
        let _ = writeln!(
            text,
            "<p class=\"place\">Possibly another occurrence: the failure log has <span class=\"mono\">{}</span>, this run <span class=\"mono\">{}</span>. Numbers in messages are not compared. If a number identifies the occurrence, require it in the oracle (<code>hypocenter guide oracles</code>).</p>",
            escaped(&moment.failure, MESSAGE_CHARS),
            escaped(&moment.trial, MESSAGE_CHARS)
        );
    }
    if let Some(found) = summary.detail.found.first() {
        if let Some(others) = words::as_likely(&found.detail.as_likely, summary.detail.has_several_nodes()) {
            let _ = writeln!(
                text,
                "<p class=\"place\">{}. <code>--keep-going</code> continues the search; a stricter oracle separates such faults.</p>",
                escaped(&others, MESSAGE_CHARS)
            );
        }
        let _ = writeln!(
            text,
            "<details class=\"why\"><summary>Evidence of the oracle, in trial {}</summary><p class=\"mono\">{}</p>{}</details>",
            found.trial,
            escaped(&found.why, MESSAGE_CHARS),
            found.faults.iter().map(stack).collect::<String>()
        );
    }
    text
}

/// Entries of the failure log that a finding does not show.
fn lacking(summary: &Document<Reproduction>, found: &Finding<Explained>) -> String {
    let all = summary.detail.lacking(found).count();
    if all == 0 {
        return String::new();
    }
    let lines = count(all as u64, "line", "lines");
    let mut text = format!(
        "<div class=\"lacks\"><p>The reproduced run lacks {lines} of the failure log, which no normal run has:</p><ul>"
    );
    for it in summary.detail.lacking(found).take(LACKING_SHOWN) {
        let message = escaped(&it.message, MESSAGE_CHARS);
        let _ = write!(text, "<li>{}: <span class=\"mono\">{message}</span></li>", line_of(summary, it));
    }
    let more = match all.saturating_sub(LACKING_SHOWN) {
        0 => String::new(),
        it => format!("And {} more. ", thousands(it as u64)),
    };
    let _ = writeln!(
        text,
        "</ul><p>{more}If they belong to the failure, require them too: <code>all</code> in the oracle (<code>hypocenter guide oracles</code>).</p></div>"
    );
    text
}

/// Place in the failure log.
fn line_of(summary: &Document<Reproduction>, it: &Missing) -> String {
    let line = format!("line {}", thousands(u64::from(it.line)));
    if summary.detail.logs.len() > 1 { format!("{line} of {}\u{2019}s log", name(&it.node)) } else { line }
}

/// The same in short.
fn lacking_lines(summary: &Document<Reproduction>, found: &Finding<Explained>) -> String {
    let lines: Vec<String> =
        summary.detail.lacking(found).take(LACKING_SHOWN).map(|it| line_of(summary, it)).collect();
    let more = if summary.detail.lacking(found).nth(LACKING_SHOWN).is_some() { ", ..." } else { "" };
    match lines.is_empty() {
        true => String::new(),
        false => {
            format!(
                "<br><span class=\"dim\">it does not show {}{more} of the failure log</span>",
                lines.join(", ")
            )
        }
    }
}

/// Other faults that cause the failure.
fn others(summary: &Document<Reproduction>) -> Option<Section> {
    let rest = summary.detail.found.get(1..).filter(|it| !it.is_empty())?;
    let mut body = String::from(
        "<div class=\"scroll\"><table><thead><tr><th>round</th><th>fault</th><th>replays</th><th>command</th></tr></thead><tbody>",
    );
    for found in rest.iter().take(FOUND_SHOWN) {
        let what: Vec<String> = found.faults.iter().map(whole).collect();
        let _ = write!(
            body,
            "<tr><td class=\"n\">{}</td><td>{}{}</td><td>{} of {}</td><td>{}</td></tr>",
            found.detail.round,
            what.join("<br>"),
            lacking_lines(summary, found),
            found.rate.hits,
            found.rate.runs,
            command(&found.replay)
        );
    }
    body.push_str("</tbody></table></div>");
    body.push_str(&left_out(rest.len(), FOUND_SHOWN, "summary.json has all."));
    let lead = count(rest.len() as u64, "other fault causes", "other faults cause") + " the failure too.";
    Some(Section { id: "others", title: "Other faults".to_owned(), lead, body })
}

/// Entries of the failure log that normal runs lack.
fn missing(summary: &Document<Reproduction>) -> Option<Section> {
    if summary.detail.missing.is_empty() {
        return None;
    }
    let mut body = String::from(
        "<details><summary>The list</summary><div class=\"scroll\"><table><thead><tr><th>line</th><th>message</th><th>weight</th><th>times</th>\
         <th>sites with a causal path</th><th>rounds that showed it</th></tr></thead><tbody>",
    );
    for it in summary.detail.missing.iter().take(MISSING_SHOWN) {
        let Missing { node, line, message, times, normal, sites, shown, weight, why, .. } = it;
        let node = if summary.detail.logs.len() > 1 { format!("{} ", name(node)) } else { String::new() };
        let _ = write!(
            body,
            "<tr><td class=\"n\">{node}{}</td><td class=\"mono\">{}</td><td>{}</td><td class=\"n\">{}</td><td class=\"n\">{}</td><td class=\"n\">{}</td></tr>",
            thousands(u64::from(*line)),
            match normal {
                0 => escaped(message, MESSAGE_CHARS),
                // What is counted has other numbers each time.
                _ => escaped(&without_numbers(message), MESSAGE_CHARS),
            },
            match weight {
                0 => String::new(),
                some => format!("{some}: <span class=\"dim\">{}</span>", escaped(why, MESSAGE_CHARS)),
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
    body.push_str(&left_out(summary.detail.missing.len(), MISSING_SHOWN, "summary.json has all."));
    body.push_str("</details>");
    let all = summary.detail.missing.len();
    let never = summary.detail.missing.iter().filter(|it| it.shown == 0).count();
    let never = match never {
        0 => "Each of them appeared in some round.".to_owned(),
        it => format!("{} appeared in no round.", thousands(it as u64)),
    };
    let lead = format!(
        "{} of the failure log missing from normal runs. {never}{}{}",
        count(all as u64, "entry", "entries"),
        noise(summary),
        silent(summary)
    );
    Some(Section { id: "missing", title: "Entries of the failure log".to_owned(), lead, body })
}

/// Entries that the search ignores, since normal runs differ in them as much.
fn noise(summary: &Document<Reproduction>) -> String {
    match summary.detail.noise.len() {
        0 => String::new(),
        some => format!(
            " {} ignored as noise: normal runs differ in it as much (<code>noise</code> in summary.json).",
            count(some as u64, "more entry is", "more entries are")
        ),
    }
}

/// Silent threads, which the search also looks for.
fn silent(summary: &Document<Reproduction>) -> String {
    let Some(first) = summary.detail.silent.first() else { return String::new() };
    let node =
        if summary.detail.has_several_nodes() { format!(" of {}", name(&first.node)) } else { String::new() };
    let others = match summary.detail.silent.len() - 1 {
        0 => String::new(),
        some => {
            format!(
                "; {} too",
                count(some as u64, "other thread stops logging", "other threads stop logging")
            )
        }
    };
    let entries = count(u64::from(first.entries), "entry", "entries");
    format!(
        " Thread {}{node} stops logging in it: {entries} of a normal run are missing{others}.",
        name(&first.thread)
    )
}

/// Counts, measurements, and places.
fn figures(report: &Report<'_>) -> Section {
    let summary = report.summary;
    let mut rows: Vec<(&str, String)> = vec![
        ("sites in the program", thousands(summary.detail.sites_total)),
        ("sites with a causal path to the failure log", thousands(summary.detail.sites)),
        ("occurrences to try, at these and at other sites", thousands(summary.detail.instances)),
        (
            "rounds",
            format!(
                "{} of at most {}",
                thousands(summary.detail.tried.len() as u64),
                thousands(summary.detail.budget)
            ),
        ),
        ("runs without a fault", thousands(summary.detail.normal_runs)),
        ("runs without a fault that failed", thousands(summary.detail.normal_failures)),
        ("strategy, seed", format!("{}, {}", name(&summary.detail.strategy), summary.header.seed)),
        ("total time", words::seconds((summary.header.seconds * 1e3) as u64)),
    ];
    if let Some((least, most)) = summary.detail.busy_ms {
        let times = format!("{} to {}: the machine was busy", words::seconds(least), words::seconds(most));
        rows.push(("runs without a fault took", times));
    }
    let measured = [
        (
            "the workload ran, median",
            summary.header.measured.workload_s.map(|it| words::seconds((it * 1e3) as u64)),
        ),
        (
            "between two rounds, median",
            summary.header.measured.between_rounds_ms.map(|it| format!("{it:.0} ms")),
        ),
        ("decisions of a run, median", summary.header.measured.requests.map(thousands)),
        ("a decision took, median", summary.header.measured.decision_ns.map(|it| format!("{it:.0} ns"))),
    ];
    rows.extend(measured.into_iter().filter_map(|(what, it)| Some((what, it?))));
    let mut body = super::figures(&rows);
    body.push_str("<details><summary>Files</summary><ul class=\"files\">");
    for (node, path) in summary.detail.logs.iter().take(100) {
        let _ = write!(
            body,
            "<li>failure log of {}: <code>{}</code></li>",
            name(node),
            broken(&escaped(path, MESSAGE_CHARS))
        );
    }
    body.push_str(
        "<li><code>summary.json</code>: all results for other tools (<code>hypocenter schema summary</code>)</li>\
         <li><code>rounds.jsonl</code>: one line per round</li>\
         <li><code>junit.xml</code>, <code>findings.sarif</code>: for CI and editors</li>\
         <li><code>trials/NNN/</code>: plan, logs and outcome of every trial</li></ul></details>",
    );
    Section { id: "figures", title: "Figures".to_owned(), lead: String::new(), body }
}
