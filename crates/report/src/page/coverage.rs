//! Coverage of the program by the trials: calls and states.

use std::fmt::Write;

use super::drawing::bar;
use super::{Section, broken, left_out, name};
use crate::text::{count, thousands};
use crate::words::state;
use hypocenter_results::explored::{Exploration, Task};

/// Tasks that are listed.
const TASKS_SHOWN: usize = 100;

pub fn section(it: &Exploration) -> Option<Section> {
    if it.sites.total == 0 && it.tasks.is_empty() {
        return None;
    }
    let states: u64 = it.tasks.iter().map(|it| it.states.len() as u64).sum();
    let struck = it.tasks.iter().flat_map(|it| &it.states).filter(|it| it.injected > 0).count() as u64;
    let mut body = String::from("<div class=\"scroll\"><table class=\"cover\"><tbody>");
    body += &row("calls that can fail", it.sites.injected, it.sites.reached, it.sites.total);
    body += &row("abstract states", struck, Some(it.states.min(states)), states);
    body.push_str("</tbody></table></div>\n");
    if !it.tasks.is_empty() {
        let mut tasks: Vec<&Task> = it.tasks.iter().collect();
        tasks.sort_by_key(|it| std::cmp::Reverse(it.states.iter().filter(|it| it.is_reached).count()));
        body.push_str(
            "<details><summary>By task</summary><div class=\"scroll\"><table class=\"cover\"><tbody>",
        );
        for it in tasks.iter().take(TASKS_SHOWN) {
            let reached = it.states.iter().filter(|it| it.is_reached).count() as u64;
            let injected = it.states.iter().filter(|it| it.injected > 0).count() as u64;
            let title = format!("<code>{}</code>", broken(&name(&state(&it.name))));
            body += &row(&title, injected, Some(reached), it.states.len() as u64);
        }
        body.push_str("</tbody></table></div>");
        body.push_str(&left_out(tasks.len(), TASKS_SHOWN, "summary.json has all."));
        body.push_str("</details>");
    }
    body.push_str(
        "<ul class=\"legend\"><li><i class=\"symptom\"></i>a fault was injected there</li>\
         <li><i class=\"serious\"></i>the workload reaches it</li><li><i class=\"plain\"></i>it does not</li></ul>",
    );
    let lead = format!(
        "The workload limits the search: a call that no run makes and a state that no thread reaches cannot be tested. The target has {} and {} in {}.",
        count(it.sites.total, "call that can fail", "calls that can fail"),
        count(states, "abstract state", "abstract states"),
        count(it.tasks.len() as u64, "task", "tasks")
    );
    Some(Section { id: "coverage", title: "Coverage".to_owned(), lead, body })
}

/// A bar of what was struck, of what was reached, and of all; nothing if there is nothing of it. The title is markup.
fn row(title: &str, struck: u64, reached: Option<u64>, total: u64) -> String {
    if total == 0 {
        return String::new();
    }
    let share = |part: u64| part.min(total) as f64 / total as f64;
    let reached_share = share(reached.unwrap_or(struck).max(struck));
    let parts = [(share(struck), "bad"), (reached_share - share(struck), "seen")];
    let mut text = format!("<tr><td>{title}</td><td>{}</td>", bar(&parts));
    let reached = reached.map_or_else(|| "?".to_owned(), thousands);
    let _ = write!(
        text,
        "<td class=\"n\">{} with a fault, {reached} reached, of {}</td></tr>",
        thousands(struck),
        thousands(total)
    );
    text
}
