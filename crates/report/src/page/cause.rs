//! The way from the fault to the lines of the failure log, as a drawing: a trunk with branches, the fault at the top, a line of the
//! log at every end, and the symptom at the foot of the trunk.

use std::fmt::Write;

use super::Report;
use super::drawing::{both, cut, wrapped};
use super::{MESSAGE_CHARS, Section, escaped, name};
use crate::text::count;
use crate::words;
use hypocenter_results::reproduced::{Cause, Lead};
use hypocenter_results::runs::{Interest, Line, Row, RunOf};

/// Lines of the log to which the way is drawn.
const WAYS_DRAWN: usize = 6;
/// Steps of a way that are drawn.
const STEPS_DRAWN: usize = 40;
/// Things that came after a fault and are looked at.
const FOLLOWING_MAX: usize = 200;
/// Further lines that are named.
const NAMED: usize = 12;

/// The distance of two branches, and where text begins beside them.
const COLUMN: f64 = 22.0;
const LEFT: f64 = 14.0;
/// The height of a line of text, and the room between two things.
const LINE: f64 = 18.0;
const ROOM: f64 = 10.0;
/// Half of this is enough for the code alone, and the log can stand beside it.
const BESIDE_MIN: f64 = 400.0;
/// Width of a character, with some reserve.
const CHAR: f64 = 7.3;

pub fn section(report: &Report<'_>) -> Option<Section> {
    let summary = report.summary;
    let found = summary.detail.found.first()?;
    let story = found.story.as_ref()?;
    let is_reached =
        story.causes.iter().any(|it| it.leads_to.iter().take(WAYS_DRAWN).any(|it| it.is_symptom));
    let mut body = String::new();
    for (number, cause) in story.causes.iter().enumerate() {
        let fault = found.faults.get(number).map(words::fault);
        let (what, place, when) =
            fault.unwrap_or_else(|| (cause.fault.clone(), String::new(), String::new()));
        if story.causes.len() > 1 {
            let _ = write!(body, "<h3>Fault {} of {}</h3>", number + 1, story.causes.len());
        }
        // Where no way is known, there is still what came afterwards.
        let after = if cause.leads_to.is_empty() { came_after(report, number as u32) } else { Vec::new() };
        let mut tree = if after.is_empty() { Tree::of(cause) } else { Tree::chain(&after) };
        // Of two faults the last is the one that was searched for.
        let is_last = number + 1 == story.causes.len();
        let has_failure = is_reached || after.iter().any(|it| it.1.is_symptom);
        let failure = (is_last && !has_failure).then(|| Failure::of(report, number as u32, &found.why));
        if let Some(failure) = &failure {
            tree.add(failure);
        }
        if !tree.nodes.is_empty() {
            let head = Head { what: format!("{what} at {place}"), when };
            let label = format!("Causal path from the fault, {}, to lines of the failure log", head.what);
            body += &both(|width| tree.draw(&head, width, summary.detail.logs.len() > 1), &label);
        }
        body += &beside(cause, summary.detail.logs.len() > 1);
    }
    let title = "Causal path".to_owned();
    let lead = "From the fault through the code to lines of the failure log.".to_owned();
    Some(Section { id: "cause", title, lead, body })
}

/// Links that the analysis does not follow and that may be the path anyway.
const PERHAPS: &str = "some links are not tracked, such as a stale field or a file: hypocenter guide limits";

/// Match of the oracle, if no known path leads to it.
struct Failure<'c> {
    step: String,
    /// The line of the failure log, if it has one.
    line: Option<Lead>,
    /// Evidence of the oracle in the trial.
    why: &'c str,
}

impl<'c> Failure<'c> {
    fn of(report: &Report<'_>, fault: u32, why: &'c str) -> Failure<'c> {
        let line = came_after(report, fault).into_iter().find(|it| it.1.is_symptom);
        let step = line.as_ref().map_or_else(String::new, |it| format!("{}: ", it.0));
        let step = format!("{step}no known causal path from the fault to this: {PERHAPS}");
        Failure { step, line: line.map(|it| it.1), why }
    }

    fn end(&self) -> End<'_> {
        let seen = End { line: None, message: self.why, is_symptom: true };
        self.line.as_ref().map_or(seen, End::of)
    }
}

/// Entries that normal runs lack and the trial showed after its fault, as the failure log does: each once, with its time.
fn came_after(report: &Report<'_>, fault: u32) -> Vec<(String, Lead)> {
    let runs = report.runs;
    let Some(beside) = runs.and_then(|it| it.beside.as_ref()) else { return Vec::new() };
    let trial = runs.and_then(|it| it.lanes.as_ref()).filter(|it| it.from_fault);
    let trial = trial.and_then(|it| it.runs.iter().find(|it| it.of == RunOf::Trial));
    let struck = trial.and_then(|it| Some((it.zero_ms, it.faults.iter().find(|it| it.0 == fault)?.2)));
    let Some((zero_ms, at_ms)) = struck else { return Vec::new() };
    let mut found: Vec<(i64, &Line, &Line, Interest)> = Vec::new();
    for row in &beside.rows {
        let Row::Entries(it) = row else { continue };
        let (Some(failure), Some(trial), is) = (&it.failure, &it.trial, &it.is) else { continue };
        let Some(time_ms) = trial.time_ms.filter(|_| *is != Interest::Around) else { continue };
        let later_ms = time_ms.saturating_sub(zero_ms).saturating_sub(at_ms);
        let is_known =
            |it: &(i64, &Line, &Line, Interest)| it.1.message == failure.message && it.1.node == failure.node;
        if later_ms > 0 && found.len() < FOLLOWING_MAX && !found.iter().any(is_known) {
            found.push((later_ms, failure, trial, *is));
        }
    }
    found.sort_by_key(|it| it.0);
    // The failure is where the way ends.
    let last = found.iter().position(|it| it.3 == Interest::Symptom).map_or(found.len(), |it| it + 1);
    let (shown, _) = found.split_at(last.min(WAYS_DRAWN));
    let symptom = found[..last].last().filter(|_| last > WAYS_DRAWN);
    shown
        .iter()
        .chain(symptom)
        .map(|(later_ms, failure, trial, is)| {
            let thread =
                trial.thread.as_deref().map_or_else(String::new, |it| format!(", {}", shown_name(it)));
            let lead = Lead {
                node: failure.node.clone(),
                line: failure.line,
                message: failure.message.clone(),
                is_symptom: *is == Interest::Symptom,
                distance: 0,
                steps: Vec::new(),
                places: Vec::new(),
            };
            (format!("{} later{thread}", words::seconds(later_ms.unsigned_abs())), lead)
        })
        .collect()
}

fn shown_name(name: &str) -> String {
    crate::text::shown(name, 60).into_owned()
}

/// Text without a drawing.
fn beside(cause: &Cause, several_logs: bool) -> String {
    let mut text = String::new();
    if let Some(it) = cause.named_by.first() {
        let _ = write!(
            text,
            "<p>The stack trace of the <code>{}</code> at {} names the fault: <code>{}</code>.</p>",
            name(crate::text::simple(&it.exception)),
            name(&line_of(it.line, &it.node, several_logs)),
            name(&it.frame)
        );
    }
    let rest: Vec<&Lead> = cause.leads_to.iter().skip(WAYS_DRAWN).collect();
    if !rest.is_empty() {
        let many = count(rest.len() as u64, "more line of the failure log", "more lines of the failure log");
        let _ =
            write!(text, "<details><summary>It has a causal path to {many}</summary><ul class=\"leads\">");
        for it in rest.iter().take(NAMED) {
            let _ = write!(
                text,
                "<li>{}: <span class=\"mono\">{}</span></li>",
                name(&line_of(it.line, &it.node, several_logs)),
                escaped(&it.message, MESSAGE_CHARS)
            );
        }
        text.push_str("</ul>");
        text += &super::left_out(rest.len(), NAMED, "summary.json has all.");
        text.push_str("</details>");
    }
    if cause.is_delay {
        text.push_str(
            "<p>A delay has no code path to show. The drawing has only entries after it that no normal run has.</p>",
        );
    } else if cause.leads_to.is_empty() && cause.named_by.is_empty() {
        text.push_str(
            "<p>No known causal path leads from the fault to the failure log; it was tried after all others.</p>",
        );
        if let Some(thread) = &cause.silent {
            let _ = write!(
                text,
                "<p>Thread {} stops logging in the failure. A task that dies of an exception that nobody logs leaves its work undone.</p>",
                name(thread)
            );
        }
    }
    text
}

fn line_of(line: u32, node: &str, several_logs: bool) -> String {
    if several_logs {
        format!("line {line} of {node}\u{2019}s log")
    } else {
        format!("line {line} of the failure log")
    }
}

/// The fault.
struct Head {
    what: String,
    when: String,
}

/// Ways that have their first steps in common, as a tree. The root is the fault.
#[derive(Default)]
struct Tree<'c> {
    nodes: Vec<Node<'c>>,
    roots: Vec<usize>,
}

struct Node<'c> {
    step: &'c str,
    children: Vec<usize>,
    /// End of its path.
    ends: Vec<End<'c>>,
    has_symptom: bool,
    depth: usize,
}

/// End of a path: a line of the log, or the evidence of the oracle.
struct End<'c> {
    /// The line, and the node whose log has it.
    line: Option<(u32, &'c str)>,
    message: &'c str,
    is_symptom: bool,
}

impl<'c> End<'c> {
    fn of(lead: &'c Lead) -> End<'c> {
        End { line: Some((lead.line, &lead.node)), message: &lead.message, is_symptom: lead.is_symptom }
    }
}

impl<'c> Tree<'c> {
    fn of(cause: &'c Cause) -> Tree<'c> {
        let mut tree = Tree::default();
        for lead in cause.leads_to.iter().take(WAYS_DRAWN) {
            let mut at: Option<usize> = None;
            for step in lead.steps.iter().take(STEPS_DRAWN) {
                let siblings = at.map_or(&tree.roots, |it| &tree.nodes[it].children);
                let next =
                    siblings.iter().copied().find(|&it| tree.nodes[it].step == step).unwrap_or_else(|| {
                        let new = tree.nodes.len();
                        let depth = at.map_or(0, |it| tree.nodes[it].depth + 1);
                        tree.nodes.push(Node {
                            step,
                            children: Vec::new(),
                            ends: Vec::new(),
                            has_symptom: false,
                            depth,
                        });
                        match at {
                            Some(it) => tree.nodes[it].children.push(new),
                            None => tree.roots.push(new),
                        }
                        new
                    });
                tree.nodes[next].has_symptom |= lead.is_symptom;
                at = Some(next);
            }
            if let Some(at) = at {
                tree.nodes[at].ends.push(End::of(lead));
            }
        }
        // The trunk is what goes on longest, or to the symptom; it is drawn last, straight down.
        let weights: Vec<(bool, usize)> = (0..tree.nodes.len()).map(|it| tree.weight(it)).collect();
        tree.nodes.iter_mut().for_each(|it| it.children.sort_by_key(|&it| weights[it]));
        tree.roots.sort_by_key(|&it| weights[it]);
        tree
    }

    /// One thing after the other.
    fn chain(steps: &'c [(String, Lead)]) -> Tree<'c> {
        let node = |(at, (step, lead)): (usize, &'c (String, Lead))| Node {
            step,
            children: (at + 1 < steps.len()).then_some(at + 1).into_iter().collect(),
            ends: vec![End::of(lead)],
            has_symptom: lead.is_symptom,
            depth: at,
        };
        Tree {
            nodes: steps.iter().enumerate().map(node).collect(),
            roots: (!steps.is_empty()).then_some(0).into_iter().collect(),
        }
    }

    /// Adds the failure below the fault, if there is anything else to draw.
    fn add(&mut self, failure: &'c Failure<'_>) {
        if self.nodes.is_empty() {
            return;
        }
        self.roots.push(self.nodes.len());
        self.nodes.push(Node {
            step: &failure.step,
            children: Vec::new(),
            ends: vec![failure.end()],
            has_symptom: true,
            depth: 0,
        });
    }

    fn weight(&self, node: usize) -> (bool, usize) {
        let mut deepest = 0;
        let mut open = vec![node];
        while let Some(it) = open.pop() {
            deepest = deepest.max(self.nodes[it].depth);
            open.extend(&self.nodes[it].children);
        }
        (self.nodes[node].has_symptom, deepest)
    }

    /// Gives the height, and the drawing.
    fn draw(&self, head: &Head, width: f64, several_logs: bool) -> (f64, String) {
        let (rails, text) = (String::new(), String::new());
        let mut pen = Pen { width, y: 0.0, rails, text, several_logs, cards_end: 0.0, long_end: 0.0 };
        let top = pen.head(head);
        self.branch(&self.roots, 0, top, &mut pen);
        (pen.y + 4.0, pen.rails + &pen.text)
    }

    /// Draws what begins at one point: all but the last beside it, the last straight below.
    fn branch(&self, nodes: &[usize], column: usize, from_y: f64, pen: &mut Pen) {
        for (number, &it) in nodes.iter().enumerate() {
            let own = column + usize::from(number + 1 < nodes.len());
            let node = &self.nodes[it];
            let y = pen.step(node.step, column, own, from_y, &node.ends);
            self.branch(&node.children, own, y, pen);
        }
    }
}

struct Pen {
    width: f64,
    y: f64,
    rails: String,
    text: String,
    several_logs: bool,
    /// End of the last line of the log that is beside the code, and of the last step that reaches as far.
    cards_end: f64,
    long_end: f64,
}

impl Pen {
    fn x(column: usize) -> f64 {
        LEFT + column as f64 * COLUMN
    }

    /// Start of text, and its maximum length in characters.
    fn room(&self, column: usize) -> (f64, usize) {
        let x = Pen::x(column) + 18.0;
        (x, ((self.width - x - 16.0) / CHAR).max(8.0) as usize)
    }

    /// The fault. Gives the height at which the way begins.
    fn head(&mut self, head: &Head) -> f64 {
        let (x, room) = self.room(0);
        let lines = wrapped(&head.what, room.saturating_sub(2).min(96), 3);
        let longest = lines
            .iter()
            .map(|it| it.chars().count())
            .max()
            .unwrap_or(0)
            .max(head.when.chars().count().min(room));
        let height = LINE * (lines.len() + 1) as f64 + 16.0;
        let wide = (longest as f64 * CHAR + 40.0).min(self.width - x + 8.0);
        let _ = write!(
            self.text,
            "<rect x=\"{:.1}\" y=\"1\" width=\"{wide:.1}\" height=\"{height:.1}\" rx=\"9\" class=\"fault-box\"/>",
            x - 8.0
        );
        let mut y = 22.0;
        for it in &lines {
            let _ = write!(
                self.text,
                "<text x=\"{:.1}\" y=\"{y:.1}\" class=\"fault-text\">{}</text>",
                x + 6.0,
                escaped(it, 400)
            );
            y += LINE;
        }
        let _ = write!(
            self.text,
            "<text x=\"{:.1}\" y=\"{y:.1}\" class=\"fault-when\">{}</text>",
            x + 6.0,
            escaped(&cut(&head.when, room), 400)
        );
        let middle = 1.0 + height / 2.0;
        let _ = write!(
            self.text,
            "<circle cx=\"{0:.1}\" cy=\"{middle:.1}\" r=\"8\" class=\"fault-ring\"/><circle cx=\"{0:.1}\" cy=\"{middle:.1}\" r=\"4\" class=\"fault-dot\"/>",
            Pen::x(0)
        );
        self.y = height + ROOM + 4.0;
        self.cards_end = height + ROOM;
        middle
    }

    /// The line from a point above to one below, in another column perhaps.
    fn rail(&mut self, from: (f64, f64), to: (f64, f64)) {
        let path = if from.0 == to.0 {
            format!("M{:.1} {:.1}V{:.1}", from.0, from.1, to.1)
        } else {
            // Down beside the trunk, and then into the branch.
            format!(
                "M{0:.1} {1:.1}V{2:.1}Q{0:.1} {4:.1} {3:.1} {4:.1}",
                from.0,
                from.1,
                to.1 - 9.0,
                to.0,
                to.1
            )
        };
        let _ = write!(self.rails, "<path d=\"{path}\" class=\"rail\"/>");
    }

    /// A step, and what it ends in. Gives the height of its point.
    fn step(&mut self, step: &str, from: usize, column: usize, from_y: f64, ends: &[End<'_>]) -> f64 {
        let (x, room) = self.room(column);
        // Where there is room, the log stands beside the code.
        let is_beside = !ends.is_empty() && self.width > 2.0 * BESIDE_MIN;
        let beside_x = self.width / 2.0;
        let room_beside = ((beside_x - x - 30.0) / CHAR).max(8.0) as usize;
        let lines = wrapped(step, if is_beside { room_beside } else { room }, 4);
        let cards: Vec<Card> =
            ends.iter().map(|it| self.card(it, if is_beside { beside_x } else { x })).collect();
        let is_long = lines.iter().any(|it| it.chars().count() > room_beside);
        if let Some(first) = cards.first().filter(|_| is_beside) {
            self.y = self.y.max(self.cards_end.max(self.long_end) + first.height / 2.0 - 9.0);
        } else if is_long {
            self.y = self.y.max(self.cards_end);
        }
        let y = self.y + 9.0;
        self.rail((Pen::x(from), from_y), (Pen::x(column), y));
        let _ =
            write!(self.text, "<circle cx=\"{:.1}\" cy=\"{y:.1}\" r=\"4.5\" class=\"dot\"/>", Pen::x(column));
        for (at, it) in lines.iter().enumerate() {
            let _ = write!(
                self.text,
                "<text x=\"{x:.1}\" y=\"{:.1}\" class=\"step\">{}</text>",
                y + 4.5 + at as f64 * LINE,
                named(it)
            );
        }
        self.y += LINE * lines.len() as f64 + ROOM;
        if is_long {
            self.long_end = self.y;
        }
        if is_beside {
            let begin = x + lines[0].chars().count() as f64 * CHAR + 6.0;
            let mut top = y - cards[0].height / 2.0;
            for card in &cards {
                let middle = top + card.height / 2.0;
                let path = if middle == y {
                    format!("M{begin:.1} {y:.1}H{:.1}", card.x)
                } else {
                    format!(
                        "M{0:.1} {y:.1}V{1:.1}Q{0:.1} {middle:.1} {2:.1} {middle:.1}",
                        card.x - 14.0,
                        middle - 8.0,
                        card.x
                    )
                };
                let _ = write!(self.rails, "<path d=\"{path}\" class=\"rail {}\"/>", card.class);
                self.put(card, top);
                top += card.height + ROOM;
                self.cards_end = top;
            }
            self.y = self.y.max(self.cards_end - cards[0].height / 2.0 + 9.0);
        } else {
            for card in &cards {
                let middle = self.y + card.height / 2.0;
                let _ = write!(
                    self.rails,
                    "<path d=\"M{0:.1} {y:.1}V{1:.1}Q{0:.1} {middle:.1} {2:.1} {middle:.1}\" class=\"rail {3}\"/>",
                    Pen::x(column),
                    middle - 8.0,
                    card.x,
                    card.class
                );
                self.put(card, self.y);
                self.y += card.height + ROOM + 2.0;
            }
        }
        y
    }

    /// A line of the log, before it has a height on the page.
    fn card(&self, end: &End<'_>, x: f64) -> Card {
        let room = ((self.width - x - 34.0) / CHAR).max(8.0) as usize;
        let lines = wrapped(&crate::text::shown(end.message, 400), room, 3);
        let place = match end.line {
            Some((line, node)) => line_of(line, node, self.several_logs),
            None => "match of the oracle".to_owned(),
        };
        let place = if end.is_symptom { format!("{place} \u{b7} the failure") } else { place };
        let place = cut(&place, room);
        let longest = lines.iter().chain([&place]).map(|it| it.chars().count()).max().unwrap_or(0);
        Card {
            x,
            width: (longest as f64 * CHAR + 28.0).min(self.width - x - 2.0),
            height: LINE * (lines.len() + 1) as f64 + 12.0,
            class: if end.is_symptom { "symptom" } else { "observable" },
            place,
            lines,
        }
    }

    fn put(&mut self, card: &Card, y: f64) {
        let Card { x, width, height, class, place, lines } = card;
        let _ = write!(
            self.text,
            "<rect x=\"{x:.1}\" y=\"{y:.1}\" width=\"{width:.1}\" height=\"{height:.1}\" rx=\"6\" class=\"log-box {class}\"/>\
             <rect x=\"{x:.1}\" y=\"{y:.1}\" width=\"4\" height=\"{height:.1}\" rx=\"2\" class=\"log-edge {class}\"/>\
             <text x=\"{:.1}\" y=\"{:.1}\" class=\"log-place {class}\">{}</text>",
            x + 14.0,
            y + 19.0,
            escaped(place, 400)
        );
        for (at, it) in lines.iter().enumerate() {
            let _ = write!(
                self.text,
                "<text x=\"{:.1}\" y=\"{:.1}\" class=\"log-text\">{}</text>",
                x + 14.0,
                y + 19.0 + (at + 1) as f64 * LINE,
                escaped(it, 400)
            );
        }
    }
}

/// A line of the log as it is drawn.
struct Card {
    x: f64,
    width: f64,
    height: f64,
    class: &'static str,
    place: String,
    lines: Vec<String>,
}

/// A step with the names of the program in it set off.
fn named(text: &str) -> String {
    let is_name = |word: &str| {
        let bare = word.trim_end_matches([',', '.']);
        bare.contains('.') && bare.chars().next().is_some_and(char::is_alphabetic)
    };
    let words = text.split(' ').map(|word| {
        let safe = escaped(word, 400);
        if is_name(word) { format!("<tspan class=\"name\">{safe}</tspan>") } else { safe }
    });
    words.collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Text after a mark, up to the quote, as a number.
    fn number(text: &str, mark: &str) -> f64 {
        let from = text.split(mark).nth(1).unwrap_or_else(|| panic!("{mark} in {text}"));
        from.split('"').next().unwrap().parse().unwrap()
    }

    /// The elements of a drawing that begin with this, each as its text up to the end of its line of text.
    fn elements<'d>(drawing: &'d str, begin: &str, class: &str) -> Vec<&'d str> {
        let parts = drawing.match_indices(begin).map(|(at, _)| &drawing[at..]);
        parts.filter(|it| it.split('>').next().unwrap().contains(class)).collect()
    }

    #[test]
    fn no_step_is_written_across_a_line_of_the_log() {
        let long = |number: usize| {
            format!("Handler.run:{number} calls org.acme.{}.notifyStopping", "Critical".repeat(5))
        };
        let lead = |line: u32, steps: &[usize]| Lead {
            node: "n1".into(),
            line,
            message: "Severe unrecoverable error, from thread : acceptor ".repeat(3),
            is_symptom: false,
            distance: 1,
            steps: steps
                .iter()
                .map(|&it| if it % 2 == 0 { format!("Log.run:{it} logs it") } else { long(it) })
                .collect(),
            places: Vec::new(),
        };
        let leads_to =
            vec![lead(1, &[1, 2]), lead(2, &[1, 3, 4]), lead(3, &[1, 3, 5, 7, 6]), lead(4, &[1, 3, 5, 7, 8])];
        let cause =
            Cause { fault: "it".into(), is_delay: false, leads_to, named_by: Vec::new(), silent: None };
        let head = Head { what: "it".into(), when: "now".into() };
        let (_, drawing) = Tree::of(&cause).draw(&head, 1040.0, false);
        let cards = elements(&drawing, "<rect", "log-box");
        let steps = elements(&drawing, "<text", "\"step\"");
        assert!(cards.len() == 4 && steps.len() >= 8, "{} cards, {} steps", cards.len(), steps.len());
        for step in steps {
            let text = step.split("</text>").next().unwrap();
            let letters: usize =
                text.split('<').filter_map(|it| it.split('>').nth(1)).map(|it| it.chars().count()).sum();
            let (right, base) = (number(text, "x=\"") + letters as f64 * CHAR, number(text, "y=\""));
            for card in &cards {
                let (top, height) = (number(card, " y=\""), number(card, "height=\""));
                let is_apart = right <= number(card, "x=\"") || base < top || base - 12.0 > top + height;
                assert!(is_apart, "{text} at {base} lies across the card at {top}");
            }
        }
    }
}
