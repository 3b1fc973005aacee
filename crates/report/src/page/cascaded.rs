//! The page of a campaign of `cascade`: each cycle as a ring.

use std::f64::consts::PI;
use std::fmt::Write;

use super::drawing::{both, cut, wrapped};
use super::{Frame, MESSAGE_CHARS, Section, command, figures, left_out, name, place};
use crate::text::{count, escaped, thousands};
use crate::words::{self, test};
use hypocenter_results::cascaded::{Cascade, CascadeKind, CascadeStep, Cycle, LoopRate};
use hypocenter_results::{Document, Finding, Proof};

/// Cycles and steps that are shown.
const CYCLES_SHOWN: usize = 50;
const STEPS_SHOWN: usize = 500;
/// Clusters that are listed.
const CLUSTERS_SHOWN: usize = 100;

pub fn page(document: &Document<Cascade>) -> String {
    let Document { header, detail: it } = document;
    let is_found = !it.cycles.is_empty();
    let chip = match it.cycles.len() as u64 {
        0 if it.tests.iter().all(|it| it.left_out.is_some()) => {
            ("no", "tests fail without a fault".to_owned())
        }
        0 => ("yes", "no cycle".to_owned()),
        some => ("bad", count(some, "cycle", "cycles")),
    };
    let frame = Frame {
        header,
        is_found,
        chip,
        verdict: words::cascaded(it),
        proof: Some(format!(
            "{} in {}, {}. It took {}.",
            count(it.experiments.made, "experiment", "experiments"),
            count(it.tests.len() as u64, "test", "tests"),
            count(it.runs, "run", "runs"),
            words::seconds((header.seconds * 1e3) as u64)
        )),
        rest: place(header.directory.as_deref()),
    };
    frame.page(
        [cycles(it), unconfirmed(it), steps(it), clusters(it), Some(coverage(it))].into_iter().flatten(),
    )
}

fn cycles(it: &Cascade) -> Option<Section> {
    let body = rings_of(&it.cycles);
    let lead = "Each arrow is an experiment: the fault at its start was injected into the test that is named, and the fault at its end \
                followed, which runs of that test without the fault do not show.";
    let (title, lead) = ("Cycles".to_owned(), lead.to_owned());
    (!it.cycles.is_empty()).then_some(Section { id: "cycles", title, lead, body })
}

fn unconfirmed(it: &Cascade) -> Option<Section> {
    let lead =
        "A last run of one of their steps did not show it again, or was not made. They may be coincidence."
            .to_owned();
    let (title, body) = ("Seen, not confirmed".to_owned(), rings_of(&it.unconfirmed));
    (!it.unconfirmed.is_empty()).then_some(Section { id: "unconfirmed", title, lead, body })
}

fn rings_of(cycles: &[Finding<Cycle>]) -> String {
    let rings: String = cycles.iter().take(CYCLES_SHOWN).map(one).collect();
    rings + &left_out(cycles.len(), CYCLES_SHOWN, "summary.json has all.")
}

fn one(it: &Finding<Cycle>) -> String {
    let steps = &it.detail.steps;
    let mut text = String::from("<article class=\"finding\">\n");
    text += &both(|width| ring(steps, width), &it.why);
    text += &table(steps);
    text += &steps.iter().filter_map(|it| Some(rate(it, it.rate.as_ref()?))).collect::<String>();
    let found = match it.detail.in_one_test {
        true => "One test shows the whole cycle, so a single fault in it is enough to see it.".to_owned(),
        false => format!(
            "No test shows the whole cycle. Found in phase {}. As many experiments, chosen at random, include those of the cycle with \
             a probability of {:.0} %.",
            it.detail.phase,
            it.detail.by_chance * 100.0
        ),
    };
    let proof = match it.proof {
        Proof::Confirmed => "Confirmed: the last run of each step shows it again.",
        Proof::SeenOnce => "Seen once: some of its steps were not run again.",
        Proof::Refuted => "Refuted: the last run of some step does not show it again.",
    };
    let _ = write!(text, "<p class=\"dim\">{proof} {found}</p>\n</article>\n");
    text
}

/// The iterations of a loop over the time of a run, and the fault in it.
fn rate(step: &CascadeStep, it: &LoopRate) -> String {
    let most = it.counts.iter().copied().max().unwrap_or(0).max(1) as f64;
    let label = format!(
        "Iterations of the {} in a run of {} with the fault: at most {} in {}",
        words::brief_fault(&it.of),
        test(step.test.as_deref().unwrap_or_default()),
        thousands(most as u64),
        words::seconds(it.span_ms.ceil() as u64)
    );
    let draw = |width: f64| {
        let height = 70.0;
        let each = width / it.counts.len().max(1) as f64;
        let mut text = String::new();
        for (number, &count) in it.counts.iter().enumerate().filter(|it| *it.1 > 0) {
            let tall = (height - 14.0) * count as f64 / most;
            let _ = write!(
                text,
                "<rect class=\"rate\" x=\"{:.1}\" y=\"{:.1}\" width=\"{:.1}\" height=\"{tall:.1}\"/>",
                number as f64 * each,
                height - tall,
                (each - 1.0).max(1.0)
            );
        }
        let whole = words::seconds((it.span_ms * it.counts.len() as f64) as u64);
        let _ = write!(
            text,
            "<path class=\"base\" d=\"M0 {height}H{width}\"/><text class=\"seen\" x=\"0\" y=\"{y}\">start</text>\
             <text class=\"seen\" text-anchor=\"end\" x=\"{width}\" y=\"{y}\">{whole}</text>",
            y = height + 14.0
        );
        let x = (it.fault_ms / it.span_ms * each).clamp(0.0, width);
        let _ = write!(
            text,
            "<path class=\"arc fault-line\" d=\"M{x:.1} 12V{height}\"/><text class=\"how\" x=\"{:.1}\" y=\"10\" text-anchor=\"{}\">fault</text>",
            x.min(width - 2.0),
            if x > width / 2.0 { "end" } else { "start" }
        );
        (height + 20.0, text)
    };
    format!("<p>{}.</p>\n{}", escaped(&label, MESSAGE_CHARS), both(draw, &label))
}

/// Experiments as a table, each with its command below it.
fn table(steps: &[CascadeStep]) -> String {
    let mut text = String::from(
        "<div class=\"scroll\"><table class=\"steps\"><thead><tr><th></th><th>injected</th><th>test</th><th>followed by</th>\
         <th>with the fault</th><th>without</th><th>p</th></tr></thead><tbody>",
    );
    for it in steps {
        let numbers = |of: &[u64]| of.iter().map(u64::to_string).collect::<Vec<_>>().join(" ");
        let injected = it.injected.as_ref().map_or_else(String::new, |it| format!("{it}: "));
        let note = it.note.as_deref().map_or_else(String::new, |it| {
            format!("<br><span class=\"dim\">{}</span>", escaped(it, MESSAGE_CHARS))
        });
        let _ = write!(
            text,
            "<tr><td>{}</td><td>{}{note}</td><td>{}</td><td>{}</td><td class=\"n\">{}</td><td class=\"n\">{}</td><td class=\"n\">{}</td></tr>",
            it.kind.name(),
            name(&format!("{injected}{}", it.cause)),
            name(it.test.as_deref().map_or("", test)),
            name(&it.effect.to_string()),
            numbers(&it.with),
            numbers(&it.without),
            it.p.map_or_else(String::new, |it| format!("{it:.3}")),
        );
        if !it.replay.is_empty() {
            let _ = write!(text, "<tr><td></td><td colspan=\"6\">{}</td></tr>", command(&it.replay));
        }
    }
    text + "</tbody></table></div>"
}

/// Cycles of more steps have their labels in a list below the ring, since there is no room for them around it.
const AROUND_MAX: usize = 4;
/// Width of a drawing from which labels may be around the ring.
const AROUND_WIDTH: f64 = 600.0;
/// Distance of lines of text.
const LINE: f64 = 15.0;
/// Distance of labels from the ring.
const MARGIN: f64 = 24.0;

/// A line of text in a drawing.
struct Label {
    x: f64,
    /// Its base line.
    y: f64,
    anchor: &'static str,
    class: &'static str,
    text: String,
}

/// A cycle as it is drawn: its faults around a circle, and an arrow from each to the next.
struct Drawn {
    width: f64,
    height: f64,
    /// Centre and radius of the ring.
    x: f64,
    y: f64,
    radius: f64,
    /// True if the faults have numbers, by which the list below names them.
    is_numbered: bool,
    labels: Vec<Label>,
}

/// The drawing of a cycle.
fn ring(steps: &[CascadeStep], width: f64) -> (f64, String) {
    let it = Drawn::of(steps, width);
    (it.height, it.svg(steps))
}

impl Drawn {
    fn of(steps: &[CascadeStep], width: f64) -> Drawn {
        if width > AROUND_WIDTH && steps.len() <= AROUND_MAX {
            Drawn::with_labels_around(steps, width)
        } else {
            Drawn::with_a_list(steps, width)
        }
    }

    /// A place by the turn from the top, in clock direction, and the distance from the centre.
    fn at(&self, turn: f64, radius: f64) -> (f64, f64) {
        let angle = turn * 2.0 * PI - PI / 2.0;
        (self.x + radius * angle.cos(), self.y + radius * angle.sin())
    }

    /// The labels stand outside the ring: of a fault at its place, of an arrow at its middle.
    fn with_labels_around(steps: &[CascadeStep], width: f64) -> Drawn {
        let (radius, chars) = (140.0, 44);
        let mut drawn = Drawn {
            width,
            height: 0.0,
            x: width / 2.0,
            y: radius + 76.0,
            radius,
            is_numbered: false,
            labels: Vec::new(),
        };
        let all = steps.len().max(1) as f64;
        for (number, step) in steps.iter().enumerate() {
            let fault = wrapped(&words::brief_fault(&step.cause), chars, 3).into_iter();
            drawn.outside(number as f64 / all, fault.map(|it| ("fault", it)).collect());
            drawn.outside((number as f64 + 0.5) / all, how(step, chars));
        }
        let lowest = drawn.labels.iter().map(|it| it.y).fold(drawn.y + radius, f64::max);
        drawn.height = lowest + MARGIN;
        drawn
    }

    /// Lines of text outside the ring.
    fn outside(&mut self, turn: f64, lines: Vec<(&'static str, String)>) {
        let (x, y) = self.at(turn, self.radius + MARGIN);
        let anchor = match x - self.x {
            it if it > 20.0 => "start",
            it if it < -20.0 => "end",
            _ => "middle",
        };
        // They grow away from the ring: up where they are above it, and down below it.
        let down = (1.0 + (y - self.y) / (self.radius + MARGIN)) / 2.0;
        let first = y - LINE * (lines.len() as f64 - 1.0) * (1.0 - down) + 8.0 * down;
        for (number, (class, text)) in lines.into_iter().enumerate() {
            self.labels.push(Label { x, y: first + LINE * number as f64, anchor, class, text });
        }
    }

    /// The labels stand below the ring, which has numbers.
    fn with_a_list(steps: &[CascadeStep], width: f64) -> Drawn {
        let (radius, left) = (90.0, 34.0);
        let mut drawn = Drawn {
            width,
            height: 0.0,
            x: width / 2.0,
            y: radius + MARGIN,
            radius,
            is_numbered: true,
            labels: Vec::new(),
        };
        let all = steps.len().max(1) as f64;
        let chars = ((width - left) / 7.5) as usize;
        let mut y = drawn.y + radius + 2.0 * MARGIN;
        for (number, step) in steps.iter().enumerate() {
            if steps.len() <= AROUND_MAX {
                let (x, y) =
                    drawn.at((number as f64 + 0.5) / all, radius * if all > 1.0 { 0.6 } else { 0.0 });
                let text = step.kind.name().to_owned();
                drawn.labels.push(Label { x, y: y + 4.0, anchor: "middle", class: "how", text });
            }
            let label = |x, y, class, text| Label { x, y, anchor: "start", class, text };
            drawn.labels.push(label(left - 24.0, y, "fault", (number + 1).to_string()));
            let fault = wrapped(&words::brief_fault(&step.cause), chars, 3).into_iter();
            for (class, text) in fault.map(|it| ("fault", it)).chain(how(step, chars)) {
                drawn.labels.push(label(left, y, class, text));
                y += LINE;
            }
            y += LINE / 2.0;
        }
        drawn.height = y;
        drawn
    }

    fn svg(&self, steps: &[CascadeStep]) -> String {
        let all = steps.len().max(1) as f64;
        let radius = self.radius;
        // A marker of a drawing that is not shown is not shown either, so each width has its own.
        let tip = format!("tip{:.0}", self.width);
        let mut text = format!(
            "<defs><marker id=\"{tip}\" viewBox=\"0 0 8 8\" refX=\"7\" refY=\"4\" markerWidth=\"7\" markerHeight=\"7\" \
             orient=\"auto\"><path d=\"M0 0 8 4 0 8z\" class=\"tip\"/></marker></defs>"
        );
        let size = if self.is_numbered { 10.0 } else { 8.0 };
        // Arrows keep this part of a turn from the faults.
        let gap = ((size + 8.0) / (2.0 * PI * radius)).min(0.25 / all);
        for (number, step) in steps.iter().enumerate() {
            let (from, to) = (number as f64 / all, (number as f64 + 1.0) / all);
            let ((x1, y1), (x2, y2)) = (self.at(from + gap, radius), self.at(to - gap, radius));
            let large = i32::from(to - from - 2.0 * gap > 0.5);
            let _ = write!(
                text,
                "<path class=\"arc\" marker-end=\"url(#{tip})\" d=\"M{x1:.1} {y1:.1}A{radius} {radius} 0 {large} 1 {x2:.1} {y2:.1}\"/>"
            );
            let (cx, cy) = self.at(from, radius);
            let class = match step.cause.kind {
                CascadeKind::Delay => "delay",
                CascadeKind::Exception => "exception",
                CascadeKind::Negation => "negation",
            };
            let _ =
                write!(text, "<circle class=\"node {class}\" cx=\"{cx:.1}\" cy=\"{cy:.1}\" r=\"{size}\"/>");
            if self.is_numbered {
                let (y, number) = (cy + 4.0, number + 1);
                let _ = write!(
                    text,
                    "<text class=\"number\" text-anchor=\"middle\" x=\"{cx:.1}\" y=\"{y:.1}\">{number}</text>"
                );
            }
        }
        for Label { x, y, anchor, class, text: words } in &self.labels {
            let _ = write!(
                text,
                "<text class=\"{class}\" text-anchor=\"{anchor}\" x=\"{x:.1}\" y=\"{y:.1}\">{}</text>",
                escaped(words, 200)
            );
        }
        text
    }
}

/// Evidence of a step, in lines: its kind, the test, and the counts of both sides.
fn how(step: &CascadeStep, chars: usize) -> Vec<(&'static str, String)> {
    let mut lines = vec![("how", step.kind.name().to_owned())];
    // A method is told from its class on a line of its own.
    let test = step.test.as_deref().map_or("", test);
    let (class, method) = test.find('#').map_or((test, ""), |at| test.split_at(at));
    let test = if test.chars().count() <= chars { [test, ""] } else { [class, method] };
    lines.extend(test.into_iter().filter(|it| !it.is_empty()).map(|it| ("where", cut(it, chars))));
    lines.extend(wrapped(&words::counted(step), chars, 2).into_iter().map(|it| ("seen", it)));
    lines.retain(|it| !it.1.is_empty());
    lines
}

/// All steps, also those that close no cycle.
fn steps(it: &Cascade) -> Option<Section> {
    let shown = &it.steps[..it.steps.len().min(STEPS_SHOWN)];
    let body = format!(
        "<details><summary>The list</summary>{}{}</details>",
        table(shown),
        left_out(it.steps.len(), STEPS_SHOWN, "summary.json has all.")
    );
    let lead = format!(
        "{} were seen; those that close no cycle are of use where a cycle is expected and was not found.",
        count(it.steps.len() as u64, "step", "steps")
    );
    let title = "All steps".to_owned();
    (!it.steps.is_empty()).then_some(Section { id: "steps", title, lead, body })
}

fn clusters(it: &Cascade) -> Option<Section> {
    let mut body = String::from(
        "<details><summary>The list</summary><div class=\"scroll\"><table><thead><tr><th>faults</th><th>alike</th></tr></thead><tbody>",
    );
    for cluster in it.clusters.iter().take(CLUSTERS_SHOWN) {
        let faults: Vec<String> = cluster.faults.iter().take(20).map(|it| name(&it.to_string())).collect();
        let more = cluster.faults.len().saturating_sub(faults.len());
        let more = if more > 0 { format!("<br>and {more} more") } else { String::new() };
        let _ = write!(
            body,
            "<tr><td>{}{more}</td><td class=\"n\">{:.2}</td></tr>",
            faults.join("<br>"),
            cluster.alike
        );
    }
    body += "</tbody></table></div>";
    body += &left_out(it.clusters.len(), CLUSTERS_SHOWN, "summary.json has all.");
    body += "</details>";
    let lead = "Faults with like consequences. Experiments went first to clusters whose consequences depend most on the test (low figures)."
        .to_owned();
    let title = "Clusters of faults".to_owned();
    (!it.clusters.is_empty()).then_some(Section { id: "clusters", title, lead, body })
}

fn coverage(it: &Cascade) -> Section {
    let mut body = figures(&[
        ("loops", thousands(it.faults.delays)),
        ("exceptions", thousands(it.faults.exceptions)),
        ("detectors", thousands(it.faults.negations)),
        ("reached by no test", thousands(it.faults.unreached)),
        (
            "experiments",
            format!("{} of {}", thousands(it.experiments.made), thousands(it.experiments.budget)),
        ),
        ("never injected", thousands(it.experiments.void)),
        (
            "growth by chance",
            format!("{} of {}", thousands(it.false_growth.part), thousands(it.false_growth.of)),
        ),
    ]);
    body += "<div class=\"scroll\"><table><thead><tr><th>test</th><th>seconds</th><th>faults reached</th><th></th></tr></thead><tbody>";
    for row in it.tests.iter().take(STEPS_SHOWN) {
        let _ = write!(
            body,
            "<tr><td>{}</td><td class=\"n\">{:.1}</td><td class=\"n\">{}</td><td>{}</td></tr>",
            name(&row.name),
            row.seconds,
            thousands(row.reached),
            escaped(row.left_out.as_deref().unwrap_or_default(), MESSAGE_CHARS)
        );
    }
    body += "</tbody></table></div>";
    body += &left_out(it.tests.len(), STEPS_SHOWN, "summary.json has all.");
    let lead = "Growth by chance: loops that seem to run more often in runs without a fault compared with other runs without a fault. It \
                tells how far the steps can be trusted."
        .to_owned();
    Section { id: "coverage", title: "What was tried".to_owned(), lead, body }
}

#[cfg(test)]
mod tests {
    use super::super::drawing::WIDTHS;
    use super::*;
    use hypocenter_results::cascaded::{CascadeFault, StepKind};

    /// A cycle of so many steps with long names.
    fn steps(number: usize) -> Vec<CascadeStep> {
        let fault = |it: usize| CascadeFault {
            kind: [CascadeKind::Delay, CascadeKind::Exception, CascadeKind::Negation][it % 3],
            method: format!("org.acme.storage.IncrementalReportMerger{it}.mergeAllPendingEntries"),
            line: Some(1234),
            exception: Some("org.acme.storage.ReplicaAlreadyExistsException".to_owned()),
            ordinal: None,
        };
        let step = |it: usize| CascadeStep {
            cause: fault(it),
            effect: fault((it + 1) % number),
            kind: [StepKind::ErrorOfDelay, StepKind::GrowthOfInjection, StepKind::Outer][it % 3],
            test: Some(
                "test@org.acme.storage.IncrementalReportTest#everyReportOfALostNodeIsMerged".to_owned(),
            ),
            injected: None,
            with: vec![1_234_567; 5],
            without: vec![1_234_560; 5],
            p: (it % 3 == 1).then_some(0.05),
            phase: 1,
            trial: 1,
            replay: String::new(),
            note: None,
            shown_again: None,
            rate: None,
        };
        (0..number).map(step).collect()
    }

    /// Left, top, right and bottom of a label. Characters are taken to be as wide as the widest of the fonts.
    fn bounds(it: &Label) -> [f64; 4] {
        let width = 7.4 * it.text.chars().count() as f64;
        let left = match it.anchor {
            "start" => it.x,
            "end" => it.x - width,
            _ => it.x - width / 2.0,
        };
        [left, it.y - 10.0, left + width, it.y + 3.0]
    }

    #[test]
    fn labels_of_a_ring_neither_overlap_nor_leave_the_drawing() {
        for number in 1..=12 {
            for (name, width) in WIDTHS {
                let drawn = Drawn::of(&steps(number), width);
                assert!(drawn.labels.len() >= 3 * number, "{name}: {number} steps");
                for (at, one) in drawn.labels.iter().enumerate() {
                    let a = bounds(one);
                    let is_inside = a[0] >= 0.0 && a[1] >= 0.0 && a[2] <= width && a[3] <= drawn.height;
                    assert!(is_inside, "{name}, {number} steps: {} at {a:?}", one.text);
                    for other in &drawn.labels[..at] {
                        let b = bounds(other);
                        let is_apart = a[2] <= b[0] || b[2] <= a[0] || a[3] <= b[1] || b[3] <= a[1];
                        assert!(is_apart, "{name}, {number} steps: {} and {}", one.text, other.text);
                    }
                }
            }
        }
    }

    #[test]
    fn labels_around_a_ring_do_not_touch_it() {
        for number in 1..=AROUND_MAX {
            let drawn = Drawn::of(&steps(number), 1040.0);
            assert!(!drawn.is_numbered);
            for it in &drawn.labels {
                let [left, top, right, bottom] = bounds(it);
                let (dx, dy) = (drawn.x - drawn.x.clamp(left, right), drawn.y - drawn.y.clamp(top, bottom));
                assert!(dx.hypot(dy) > drawn.radius + 8.0, "{number} steps: {}", it.text);
            }
        }
    }
}
