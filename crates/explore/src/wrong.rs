//! Symptoms of runs without a fault: the same symptom of several runs is one, though each quotes a line of its own.

/// Prefix of the last line that a process wrote.
const QUOTED: &str = "; its last line: ";

/// Puts together what differs only in the line that it quotes, or in numbers; each with the number of runs that say so.
pub(crate) fn together(wrong: &[(String, u64)], runs: u64) -> Vec<(String, u64)> {
    let mut found: Vec<(String, &str, u64)> = Vec::new();
    for (what, times) in wrong {
        let key = masked(what);
        match found.iter_mut().find(|it| it.0 == key) {
            // A run may say it of several starts of a node.
            Some(it) => it.2 = (it.2 + times).min(runs),
            None => found.push((key, what, *times)),
        }
    }
    found.into_iter().map(|(_, what, times)| (what.to_owned(), times)).collect()
}

/// Without the line that is quoted, and with each number made the same. A digit of a name is none: `q1` is not `q2`.
fn masked(what: &str) -> String {
    let said = what.split_once(QUOTED).map_or(what, |it| it.0);
    let is_number =
        |it: &str| it.contains(|it: char| it.is_ascii_digit()) && !it.contains(|it: char| it.is_alphabetic());
    // The name of the process, which may be a number, is the first word, or the second behind its role.
    let names = if said.starts_with("node ") { 2 } else { 1 };
    let words = said.split(' ').enumerate();
    let words = words.map(|(at, it)| if at >= names && is_number(it) { "0" } else { it });
    words.collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_differs_in_a_quoted_line_or_a_number_is_said_once_and_nodes_stay_apart() {
        let check = |wrong: &[(&str, u64)], expected: &[(&str, u64)]| {
            let wrong: Vec<(String, u64)> = wrong.iter().map(|it| (it.0.to_owned(), it.1)).collect();
            let found = together(&wrong, 3);
            let found: Vec<(&str, u64)> = found.iter().map(|it| (it.0.as_str(), it.1)).collect();
            assert_eq!(found, expected);
        };
        check(
            &[
                ("q1: it was not ready after 30 s: no `up`; its last line: 10:22:01 a; check `ready`", 1),
                ("q1: it was not ready after 29 s: no `up`; its last line: 10:23:07 b; check `ready`", 1),
                ("q2: it was not ready after 30 s: no `up`; its last line: 10:22:01 a; check `ready`", 1),
                ("the workload did not become ready", 3),
            ],
            &[
                ("q1: it was not ready after 30 s: no `up`; its last line: 10:22:01 a; check `ready`", 2),
                ("q2: it was not ready after 30 s: no `up`; its last line: 10:22:01 a; check `ready`", 1),
                ("the workload did not become ready", 3),
            ],
        );
        check(&[("1: port 7201 is shut", 2), ("1: port 7202 is shut", 2)], &[("1: port 7201 is shut", 3)]);
        check(&[("1: it ended", 1), ("2: it ended", 1)], &[("1: it ended", 1), ("2: it ended", 1)]);
        check(
            &[("node 1 exited with status 1", 1), ("node 2 exited with status 1", 1)],
            &[("node 1 exited with status 1", 1), ("node 2 exited with status 1", 1)],
        );
        check(
            &[("n says: node-1 fails", 1), ("n says: node-2 fails", 1)],
            &[("n says: node-1 fails", 1), ("n says: node-2 fails", 1)],
        );
    }
}
