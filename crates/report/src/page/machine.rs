//! The abstract states of a task as a drawing: from the top in the order of the code, with the ways that threads took, and the state
//! in which the fault happened.

use std::collections::BTreeMap;
use std::fmt::Write;

use super::drawing::{both, cut};
use crate::text::{escaped, shown, thousands};
use hypocenter_results::explored::{StateChange, Task, TaskState};

/// The most states and ways that are drawn.
const STATES_MAX: usize = 24;
const WAYS_MAX: usize = 80;
const BOX: f64 = 34.0;
const GAP: f64 = 22.0;
const TOP: f64 = 30.0;
/// Bend of transitions that pass over states, and its increase for each state.
const BEND: f64 = 16.0;
const BEND_MORE: f64 = 9.0;
const DOWN: (f64, f64) = (0.0, 1.0);

/// The task that a state is of.
pub fn task_of<'t>(tasks: &'t [Task], state: &str) -> Option<&'t Task> {
    tasks.iter().find(|it| it.states.iter().any(|it| it.name == state))
}

/// The drawing, with its legend.
pub fn drawing(task: &Task, trial: &[StateChange], state: &str) -> String {
    let machine = Machine::of(task, trial, state);
    let label = format!("States of {} and the transitions between them", task.name);
    let mut text = both(|width| machine.draw(width), &label);
    text += "<ul class=\"legend\"><li><i class=\"strike\"></i>state in which the fault was injected</li>";
    // A task of one state may have no way at all.
    if machine.ways.iter().any(|it| it.2 > 0) {
        text += "<li><i class=\"serious\"></i>transitions in a run without a fault</li>";
    }
    if machine.ways.iter().any(|it| it.2 == 0) {
        text += "<li><i class=\"symptom\"></i>transitions only in this trial</li>";
    }
    text += "</ul>";
    match machine.hidden {
        0 => {}
        1 => text += "<p class=\"dim\">1 state that no thread reached is not drawn.</p>",
        all => {
            let all = thousands(all as u64);
            let _ = write!(text, "<p class=\"dim\">{all} states that no thread reached are not drawn.</p>");
        }
    }
    text
}

struct Machine<'t> {
    /// The states that are drawn, with their numbers in the task.
    states: Vec<(u32, &'t TaskState)>,
    /// From row to row how often, without a fault and in the trial; nothing stands for where the task begins or ends.
    ways: Vec<(Option<usize>, Option<usize>, u64, u64)>,
    marked: Option<usize>,
    hidden: usize,
}

impl<'t> Machine<'t> {
    fn of(task: &'t Task, trial: &[StateChange], state: &str) -> Machine<'t> {
        let mut times: BTreeMap<(Option<u32>, Option<u32>), (u64, u64)> = BTreeMap::new();
        for it in &task.ways {
            times.entry((it.from, it.to)).or_default().0 += it.times;
        }
        for it in trial {
            times.entry((it.from, it.to)).or_default().1 += it.times;
        }
        let is_used = |number: u32| times.keys().any(|it| it.0 == Some(number) || it.1 == Some(number));
        let states: Vec<(u32, &TaskState)> = (0..)
            .zip(&task.states)
            .filter(|(number, it)| it.is_reached || it.name == state || is_used(*number))
            .take(STATES_MAX)
            .collect();
        let row = |number: Option<u32>| match number {
            None => Some(None),
            Some(number) => states.iter().position(|it| it.0 == number).map(Some),
        };
        let ways = times
            .into_iter()
            .filter_map(|((from, to), (normal, trial))| Some((row(from)?, row(to)?, normal, trial)))
            .take(WAYS_MAX)
            .collect();
        let marked = states.iter().position(|it| it.1.name == state);
        Machine { hidden: task.states.len() - states.len(), states, ways, marked }
    }

    fn draw(&self, width: f64) -> (f64, String) {
        let is_narrow = width < 600.0;
        let side = if is_narrow { 64.0 } else { 150.0 };
        let wide = (width - 2.0 * side).min(440.0);
        let scene = Scene { left: side, right: side + wide, rows: self.states.len() };
        let mut text = String::new();
        for it in &self.ways {
            scene.way(*it, &mut text);
        }
        let room = ((wide - 24.0) / 7.2) as usize;
        for (row, (number, it)) in self.states.iter().enumerate() {
            let is_marked = self.marked == Some(row);
            let y = scene.y(row);
            let class = match (is_marked, it.is_reached) {
                (true, _) => "state marked",
                (false, true) => "state",
                (false, false) => "state never",
            };
            let mut said = format!("#{number}");
            if let Some(begins) = &it.begins {
                let _ = write!(said, " {}", shown(begins, 60));
            }
            if let Some(line) = it.line {
                let _ = write!(said, ", line {line}");
            }
            if it.injected > 0 && !is_narrow {
                let _ =
                    write!(said, " \u{b7} faults in {}", crate::text::count(it.injected, "trial", "trials"));
            }
            let _ = write!(
                text,
                "<rect x=\"{0:.1}\" y=\"{y:.1}\" width=\"{wide:.1}\" height=\"{BOX}\" rx=\"8\" class=\"{class}\"/>\
                 <text x=\"{1:.1}\" y=\"{2:.1}\" class=\"state-name\">{3}</text>",
                scene.left,
                scene.left + 14.0,
                y + BOX / 2.0 + 4.5,
                escaped(&cut(&said, room), 400)
            );
            if is_marked {
                let (x, y) = (scene.right - 20.0, y + BOX / 2.0);
                let _ = write!(
                    text,
                    "<circle cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"10\" class=\"strike-wave struck\"/><circle cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"5\" class=\"strike-dot struck\"/>"
                );
            }
        }
        (scene.y(self.states.len()) + 14.0, text)
    }
}

struct Scene {
    left: f64,
    right: f64,
    rows: usize,
}

impl Scene {
    fn y(&self, row: usize) -> f64 {
        TOP + row as f64 * (BOX + GAP)
    }

    /// One way: down the middle to the next state, around the right to a later one, around the left to an earlier one.
    fn way(&self, (from, to, normal, trial): (Option<usize>, Option<usize>, u64, u64), text: &mut String) {
        let is_new = normal == 0;
        let new = if is_new { " new" } else { "" };
        let middle = (self.left + self.right) / 2.0;
        let bend = |rows: usize| (BEND + BEND_MORE * rows as f64).min(self.left - 26.0);
        let center = |row: usize| self.y(row) + BOX / 2.0;
        // The way, where it is told how often, how that stands there, and the tip with its direction.
        let (path, (x, y), end, (tip_x, tip_y, (dx, dy))) = match (from, to) {
            (None, None) => return,
            (None, Some(row)) => {
                let y = self.y(row);
                (
                    format!("M{:.1} {:.1}V{y:.1}", self.left + 30.0, y - 16.0),
                    (self.left + 36.0, y - 6.0),
                    "",
                    (self.left + 30.0, y, DOWN),
                )
            }
            (Some(row), None) => {
                let y = self.y(row) + BOX;
                (
                    format!("M{:.1} {y:.1}v13", self.right - 50.0),
                    (self.right - 44.0, y + 13.0),
                    "",
                    (self.right - 50.0, y + 14.0, DOWN),
                )
            }
            (Some(a), Some(b)) if b == a + 1 => {
                let y = self.y(b);
                (
                    format!("M{middle:.1} {:.1}V{y:.1}", self.y(a) + BOX),
                    (middle + 6.0, y - 7.0),
                    "",
                    (middle, y, DOWN),
                )
            }
            (Some(a), Some(b)) if b > a => {
                let (out, top, bottom) = (self.right + bend(b - a), center(a) + 5.0, center(b) - 5.0);
                let path = format!(
                    "M{0:.1} {top:.1}C{out:.1} {top:.1} {out:.1} {bottom:.1} {0:.1} {bottom:.1}",
                    self.right
                );
                (
                    path,
                    (self.right + (out - self.right) * 0.75 + 4.0, (top + bottom) / 2.0 + 4.0),
                    "",
                    (self.right, bottom, (-1.0, 0.0)),
                )
            }
            (Some(a), Some(b)) => {
                let (out, bottom, top) = (self.left - bend(a - b), center(a) + 5.0, center(b) - 5.0);
                let path = format!(
                    "M{0:.1} {bottom:.1}C{out:.1} {bottom:.1} {out:.1} {top:.1} {0:.1} {top:.1}",
                    self.left
                );
                (
                    path,
                    (self.left - (self.left - out) * 0.75 - 4.0, (top + bottom) / 2.0 + 4.0),
                    " end",
                    (self.left, top, (1.0, 0.0)),
                )
            }
        };
        debug_assert!(from.max(to).is_none_or(|it| it < self.rows));
        let times = if is_new { trial } else { normal };
        let (back_x, back_y) = (tip_x - 7.0 * dx, tip_y - 7.0 * dy);
        let _ = write!(
            text,
            "<path d=\"{path}\" class=\"way{new}\"/><path d=\"M{tip_x:.1} {tip_y:.1}L{:.1} {:.1}L{:.1} {:.1}z\" class=\"tip{new}\"/>\
             <text x=\"{x:.1}\" y=\"{y:.1}\" class=\"times{end}\">{}</text>",
            back_x - 3.5 * dy,
            back_y - 3.5 * dx,
            back_x + 3.5 * dy,
            back_y + 3.5 * dx,
            thousands(times)
        );
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn task(states: usize, ways: &[(Option<u32>, Option<u32>, u64)]) -> Task {
        let state = |number: usize| TaskState {
            name: format!("a.A.run#{number}"),
            line: Some(10 + number as u32),
            begins: Some("branch".into()),
            is_reached: number < 3,
            injected: 0,
        };
        let way = |&(from, to, times): &_| StateChange { from, to, times };
        Task {
            name: "a.A.run".into(),
            states: (0..states).map(state).collect(),
            ways: ways.iter().map(way).collect(),
        }
    }

    #[test]
    fn states_that_no_thread_came_to_are_not_drawn_but_the_marked_one_is() {
        let task = task(40, &[(None, Some(0), 1), (Some(0), Some(2), 5)]);
        let machine =
            Machine::of(&task, &[StateChange { from: Some(0), to: Some(9), times: 1 }], "a.A.run#7");
        let drawn: Vec<u32> = machine.states.iter().map(|it| it.0).collect();
        assert_eq!(drawn, [0, 1, 2, 7, 9]);
        assert_eq!((machine.marked, machine.hidden), (Some(3), 35));
        // The way of the trial alone is another than those of a run without a fault.
        let (_, text) = machine.draw(1040.0);
        assert_eq!(text.matches("class=\"way new\"").count(), 1);
        assert_eq!(text.matches("class=\"way\"").count(), 2);
        assert_eq!(text.matches("class=\"state marked\"").count(), 1);
    }

    #[test]
    fn a_task_of_a_state_or_two_has_what_there_is_of_it() {
        let check = |states: usize,
                     ways: &[(Option<u32>, Option<u32>, u64)],
                     trial: &[StateChange],
                     says: [bool; 3]| {
            let text = drawing(&task(states, ways), trial, "a.A.run#0");
            let said = [
                "transitions in a run without",
                "transitions only in this trial",
                "1 state that no thread reached is",
            ];
            assert_eq!(said.map(|it| text.contains(it)), says, "{text}");
            assert_eq!(text.matches("class=\"state marked\"").count(), 2, "wide and narrow: {text}");
            assert!(!text.contains("NaN") && !text.contains("inf"), "{text}");
        };
        let own = [StateChange { from: Some(0), to: None, times: 1 }];
        check(1, &[], &[], [false, false, false]);
        check(1, &[(None, Some(0), 1), (Some(0), Some(0), 3)], &[], [true, false, false]);
        check(2, &[(Some(0), Some(1), 1)], &own, [true, true, false]);
        check(4, &[], &own, [false, true, true]);
    }

    #[test]
    fn numbers_that_no_state_has_and_hostile_names_do_no_harm() {
        let mut task = task(2, &[(Some(7), Some(0), u64::MAX), (Some(1), Some(99), 2), (None, None, 1)]);
        task.states[0].begins = Some("<script>".into());
        let text =
            drawing(&task, &[StateChange { from: Some(u32::MAX), to: Some(0), times: 1 }], "a.A.run#0");
        assert!(!text.contains("<script>"), "{text}");
    }
}
