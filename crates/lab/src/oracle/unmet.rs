//! Lines that an oracle asks for and the failure log itself does not have. Such an oracle may be wrong, and a search by it then goes
//! on until its budget is used up. It need not be: what a test's runner prints, or another stream of the program, may be missing in
//! the log that was kept. So it is a warning, before the search and where it has found nothing.

use hypocenter_plan::Oracle;

use super::{OracleError, lines};

/// A warning for each line that the failure would have to have, and that its logs have too seldom. Of alternatives one is enough. A
/// log may have the name of the process that wrote it: what is asked of a process is then looked for in its own, and a log that was
/// not kept says nothing.
pub fn unmet(oracle: &Oracle, texts: &[(Option<String>, String)]) -> Result<Vec<String>, OracleError> {
    match oracle {
        Oracle::Log { times, process, .. } => {
            let is_of = |it: &&(Option<String>, String)| match (&it.0, process) {
                (Some(name), Some(process)) => name == process,
                _ => true,
            };
            let texts: Vec<&(Option<String>, String)> = texts.iter().filter(is_of).collect();
            if texts.is_empty() {
                return Ok(Vec::new());
            }
            let wanted = lines(oracle)?;
            let lines = texts.iter().flat_map(|it| it.1.lines());
            let seen = lines.filter(|line| wanted.iter().any(|it| it.fits(line.as_bytes()))).count() as u64;
            Ok(match seen {
                0 => vec![format!("the failure log has no line that matches the oracle: {oracle}")],
                some if some < *times => {
                    vec![format!(
                        "the failure log has only {some} of {times} lines that match the oracle: {oracle}"
                    )]
                }
                _ => Vec::new(),
            })
        }
        Oracle::All(parts) => {
            let all = parts.iter().map(|it| unmet(it, texts)).collect::<Result<Vec<_>, _>>()?;
            Ok(all.concat())
        }
        Oracle::Any(parts) => {
            let all = parts.iter().map(|it| unmet(it, texts)).collect::<Result<Vec<_>, _>>()?;
            Ok(if all.iter().any(Vec::is_empty) { Vec::new() } else { all.concat() })
        }
        _ => Ok(Vec::new()),
    }
}

#[cfg(test)]
mod tests {
    use hypocenter_logs::Log;
    use hypocenter_plan::LogText;

    use super::*;

    fn line(text: &str, times: u64) -> Oracle {
        Oracle::Log { line: LogText::Either(text.to_owned()), process: None, times }
    }

    #[test]
    fn what_the_failure_log_lacks_is_named() {
        let utf16 = |mark: &[u8], text: &str| {
            [mark, &text.encode_utf16().flat_map(u16::to_le_bytes).collect::<Vec<_>>()].concat()
        };
        let logs = [
            ("a".to_owned(), b"a is lost\r\nb is lost\n".to_vec()),
            ("b".to_owned(), b"\xff the end\n".to_vec()),
            ("c".to_owned(), utf16(b"\xff\xfe", "c is gone\r\nd is gone\r\n")),
            ("d".to_owned(), utf16(b"", "and so is e, which is far away\n")),
        ];
        let texts = logs.map(|(_, bytes)| (None, Log::text_of(&bytes)));
        let check = |oracle: Oracle, expected: &[&str]| {
            let found = unmet(&oracle, &texts).expect("the oracle is well");
            assert_eq!(found.len(), expected.len(), "{found:?}");
            assert!(found.iter().zip(expected).all(|(it, text)| it.contains(text)), "{found:?}");
        };
        check(line("is lost$", 2), &[]);
        check(line("is lost", 3), &["only 2 of 3 lines"]);
        check(line("moon", 1), &["no line"]);
        // Lines of two bytes a character have their ends where they have them.
        check(line("^[cd] is gone$", 2), &[]);
        check(line("^and so is e.*away$", 1), &[]);
        let moon = || line("moon", 1);
        check(Oracle::All(vec![moon(), line("the end", 1), line("sun", 1)]), &["moon", "sun"]);
        check(Oracle::Any(vec![moon(), line("the end", 1)]), &[]);
        check(Oracle::Any(vec![moon(), line("sun", 1)]), &["moon", "sun"]);
        // What is not asked of a log, or is not to be there, says nothing.
        check(Oracle::Not(Box::new(moon())), &[]);
        check(Oracle::Any(vec![moon(), Oracle::Command("true".to_owned())]), &[]);
    }

    #[test]
    fn what_is_asked_of_a_process_is_looked_for_in_its_own_log_if_that_was_kept() {
        let logs = |are_named: bool| {
            let of = |(name, text): (&str, &str)| (are_named.then(|| name.to_owned()), text.to_owned());
            [("depot", "is lost\n"), ("mirror", "is well\n")].map(of)
        };
        let of = |process: &str| Oracle::Log {
            line: LogText::Either("is lost".to_owned()),
            process: Some(process.to_owned()),
            times: 1,
        };
        for (process, are_named, expected) in [
            ("depot", true, 0),
            ("mirror", true, 1),
            ("finder", true, 0),
            // Of one command every log is its own.
            ("finder", false, 0),
        ] {
            let found = unmet(&of(process), &logs(are_named)).expect("the oracle is well");
            assert_eq!(found.len(), expected, "{process}: {found:?}");
        }
        let both = Oracle::All(vec![of("finder"), of("mirror")]);
        assert_eq!(unmet(&both, &logs(true)).expect("the oracle is well").len(), 1);
    }
}
