//! Runs above one another, a lane for each thread, the fault among them.

use std::collections::BTreeMap;
use std::fmt::Write;

use super::Report;
use super::drawing::{both, cut, ticks};
use super::{Section, escaped};
use crate::text::{count, shown, thousands};
use hypocenter_results::runs::{Lane, Lanes, Mark, Run, RunOf, Runs, Sign};

/// The height of a lane, of the title of a run, and of the axis.
const LANE: f64 = 17.0;
const TITLE: f64 = 30.0;
const AXIS: f64 = 34.0;
/// The most lanes and runs that are drawn, whatever the document says.
const LANES_MAX: usize = 40;
const RUNS_MAX: usize = 3;
/// Width of a character of a lane's name.
const CHAR: f64 = 6.7;

pub fn section(report: &Report<'_>) -> Option<Section> {
    let runs = report.runs?;
    let lanes = runs.lanes.as_ref().filter(|it| !it.runs.is_empty() && !it.lanes.is_empty())?;
    let body = both(
        |width| Scene { runs, lanes, width }.draw(),
        "Log entries of every thread over time, in each run",
    );
    let legend = "<ul class=\"legend\"><li><i class=\"plain\"></i>an entry</li><li><i class=\"serious\"></i>a warning or worse</li>\
        <li><i class=\"observable\"></i>missing from normal runs, or less frequent there</li><li><i class=\"symptom\"></i>the failure</li>\
        <li><i class=\"strike\"></i>the fault</li></ul>";
    let lead = if lanes.from_fault {
        "Log entries of every thread, in seconds from the fault. The other two runs are aligned with the reproduced run by their common entries; the dashed line marks the probable place of the fault."
    } else {
        "Log entries of every thread, in seconds from the start of each run."
    };
    let coarse = if lanes.whole_seconds {
        " A log has timestamps in whole seconds: within a second, its entries are spaced evenly in their order."
    } else {
        ""
    };
    Some(Section {
        id: "timeline",
        title: "When".to_owned(),
        lead: format!("{lead}{coarse}"),
        body: format!("{body}{legend}"),
    })
}

struct Scene<'r> {
    runs: &'r Runs,
    lanes: &'r Lanes,
    width: f64,
}

impl Scene<'_> {
    /// Width of the names of the lanes.
    fn names(&self) -> f64 {
        if self.width < 600.0 { 96.0 } else { 210.0 }
    }

    fn x(&self, at_ms: i64) -> f64 {
        let (from, to) = self.lanes.span_ms;
        let share = (at_ms.saturating_sub(from)) as f64 / (to.saturating_sub(from)).max(1) as f64;
        self.names() + share.clamp(0.0, 1.0) * (self.width - self.names() - 10.0)
    }

    fn draw(&self) -> (f64, String) {
        let mut text = String::new();
        let mut y = 0.0;
        let runs = &self.lanes.runs[..self.lanes.runs.len().min(RUNS_MAX)];
        let bottom = runs.len() as f64 * (TITLE + LANE * self.count() as f64 + 8.0);
        self.axis(bottom, &mut text);
        for run in runs {
            self.run(run, y, &mut text);
            y += TITLE + LANE * self.count() as f64 + 8.0;
        }
        (bottom + AXIS, text)
    }

    fn count(&self) -> usize {
        self.lanes.lanes.len().min(LANES_MAX)
    }

    fn axis(&self, bottom: f64, text: &mut String) {
        let (from, to) = self.lanes.span_ms;
        let about = if self.width < 600.0 { 4 } else { 10 };
        for it in ticks(from as f64 / 1e3, to as f64 / 1e3, about) {
            let x = self.x((it * 1e3) as i64);
            let sign = match it {
                0.0.. if self.lanes.from_fault => "+",
                0.0.. => "",
                _ => "\u{2212}",
            };
            let _ = write!(
                text,
                "<path d=\"M{x:.1} {:.1}V{bottom:.1}\" class=\"grid\"/><text x=\"{x:.1}\" y=\"{:.1}\" class=\"tick\">{}</text>",
                TITLE - 4.0,
                bottom + 16.0,
                if it == 0.0 { "0".to_owned() } else { format!("{sign}{} s", it.abs()) }
            );
        }
    }

    fn title(&self, of: RunOf) -> (&'static str, String) {
        let trial = |it: Option<u64>| it.map_or_else(String::new, |it| format!("trial {it}"));
        match of {
            RunOf::Normal => ("Normal run", trial(self.runs.normal)),
            RunOf::Failure => ("The failure", "from its log".to_owned()),
            RunOf::Trial => ("Reproduced run", trial(self.runs.trial)),
        }
    }

    fn run(&self, run: &Run, top: f64, text: &mut String) {
        let (title, more) = self.title(run.of);
        let outside = match run.outside {
            (0, 0) => String::new(),
            (before, 0) => {
                format!(" \u{b7} {} not shown", count(before.into(), "earlier entry", "earlier entries"))
            }
            (0, behind) => {
                format!(" \u{b7} {} not shown", count(behind.into(), "later entry", "later entries"))
            }
            (before, behind) => format!(
                " \u{b7} {} earlier and {} later entries not shown",
                thousands(u64::from(before)),
                thousands(u64::from(behind))
            ),
        };
        let sub = if self.width < 600.0 { more } else { more + &outside };
        let _ = write!(
            text,
            "<text x=\"0\" y=\"{:.1}\" class=\"run\">{title}<tspan class=\"sub\" dx=\"8\">{sub}</tspan></text>",
            top + 18.0
        );
        let first = top + TITLE;
        let room = ((self.names() - 10.0) / CHAR) as usize;
        for (number, lane) in self.lanes.lanes.iter().take(LANES_MAX).enumerate() {
            let y = first + number as f64 * LANE;
            let _ = write!(
                text,
                "<text x=\"0\" y=\"{:.1}\" class=\"lane\">{}</text><path d=\"M{:.1} {:.1}H{:.1}\" class=\"lane-line\"/>",
                y + 12.0,
                lane_name(lane, room),
                self.names(),
                y + LANE / 2.0,
                self.width - 10.0
            );
        }
        // One path for all marks of a lane that look the same: there may be thousands.
        let mut paths: BTreeMap<(Sign, bool, u32), String> = BTreeMap::new();
        for &Mark { lane, at_ms, count: many, sign } in
            run.marks.iter().filter(|it| (it.lane as usize) < LANES_MAX)
        {
            let tall = if sign >= Sign::Observable || many > 3 { LANE - 4.0 } else { LANE - 9.0 };
            let y = first + f64::from(lane) * LANE + (LANE - tall) / 2.0;
            let path = paths.entry((sign, many > 3, lane)).or_default();
            let _ = write!(path, "M{:.1} {y:.1}v{tall}", self.x(at_ms));
        }
        for ((sign, is_dense, _), path) in paths {
            let class = match sign {
                Sign::Plain => "plain",
                Sign::Serious => "serious",
                Sign::Observable => "observable",
                Sign::Symptom => "symptom",
            };
            let dense = if is_dense { " dense" } else { "" };
            let _ = write!(text, "<path d=\"{path}\" class=\"mark {class}{dense}\"/>");
        }
        self.faults(run, top, text);
    }

    fn faults(&self, run: &Run, top: f64, text: &mut String) {
        let bottom = top + TITLE + LANE * self.count() as f64;
        let class = match run.of {
            RunOf::Trial => "struck",
            _ => "supposed",
        };
        if run.of == RunOf::Normal && self.lanes.from_fault {
            let x = self.x(0);
            let _ = write!(
                text,
                "<path d=\"M{x:.1} {:.1}V{bottom:.1}\" class=\"strike-line none\"/>",
                top + TITLE - 8.0
            );
        }
        for &(_, lane, at_ms) in run.faults.iter().take(16) {
            let x = self.x(at_ms);
            let y = top + TITLE + f64::from(lane.min(LANES_MAX as u32)) * LANE + LANE / 2.0;
            let _ = write!(
                text,
                "<path d=\"M{x:.1} {:.1}V{bottom:.1}\" class=\"strike-line {class}\"/>\
                 <circle cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"10\" class=\"strike-wave {class}\"/>\
                 <circle cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"5\" class=\"strike-dot {class}\"/>",
                top + TITLE - 8.0
            );
        }
    }
}

fn lane_name(lane: &Lane, room: usize) -> String {
    let thread = match &lane.thread {
        Some(it) if it.is_empty() => "\u{2014}".to_owned(),
        Some(it) => shown(it, 100).into_owned(),
        None => "all other threads".to_owned(),
    };
    if lane.node.is_empty() {
        return escaped(&cut(&thread, room), 200);
    }
    // On a phone the thread is what matters.
    let node = shown(&lane.node, 100);
    let node = if room < 20 { node.chars().take(3).collect() } else { cut(&node, room / 2) };
    let rest = room.saturating_sub(node.chars().count() + 1);
    format!("<tspan class=\"node\">{}</tspan> {}", escaped(&node, 200), escaped(&cut(&thread, rest), 200))
}
