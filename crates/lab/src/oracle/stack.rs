//! The stack of a thread that is alive at the end.

use hypocenter_plan::{OracleOutcome, glob_matches};

use super::text::cut;
use super::{LiveThread, OracleError, Scene};

const SHOWN_CHARS_MAX: usize = 200;

pub(super) fn check(frames: &[String], thread: Option<&str>) -> Result<(), OracleError> {
    let wrong = |pattern: &str, why: &str| {
        Err(OracleError::Pattern { what: "stack", pattern: pattern.to_owned(), why: why.to_owned() })
    };
    if frames.is_empty() {
        return wrong("", "it has no frame; give at least one");
    }
    for frame in frames {
        if frame.is_empty() || frame.contains(|it: char| "(:/ ".contains(it)) {
            return wrong(
                frame,
                "a frame is `package.Class.method` without file and line; `*` stands for any text",
            );
        }
    }
    let any = |pattern: &str| pattern.bytes().all(|it| it == b'*');
    if frames.iter().all(|it| any(it)) && thread.is_none_or(any) {
        return wrong(&frames.join(", "), "it matches every thread; name a frame, or the thread");
    }
    if thread == Some("") {
        return wrong(
            &frames.join(", "),
            "its `thread` is empty; name the thread, or remove it to match any",
        );
    }
    Ok(())
}

pub(super) fn judge(
    frames: &[String],
    thread: Option<&str>,
    process: Option<&str>,
    scene: &Scene<'_>,
) -> OracleOutcome {
    let threads = || {
        scene.threads.iter().filter(|it| {
            process.is_none_or(|name| it.process == name)
                && thread.is_none_or(|pattern| glob_matches(pattern, it.name))
        })
    };
    for it in threads() {
        if let Some(at) = it.frames.windows(frames.len()).position(|window| fits(frames, window)) {
            let stack = cut(&it.frames[at..at + frames.len()].join(", "), SHOWN_CHARS_MAX);
            return OracleOutcome { happened: true, why: format!("{} is in {stack}", shown(it)) };
        }
    }
    OracleOutcome { happened: false, why: missing(frames, thread, process, scene, threads().count()) }
}

fn missing(
    frames: &[String],
    thread: Option<&str>,
    process: Option<&str>,
    scene: &Scene<'_>,
    looked_at: usize,
) -> String {
    let of = process.map_or(String::new(), |name| format!(" of {name}"));
    let called = thread.map_or(String::new(), |pattern| format!(" called `{pattern}`"));
    if looked_at == 0 {
        let seen = scene.threads.iter().filter(|it| process.is_none_or(|name| it.process == name)).count();
        return match seen {
            0 => format!("no thread{of} was alive at the end"),
            _ => format!("none of the {seen} threads{of} that were alive at the end is{called}"),
        };
    }
    let stack = cut(&frames.join(", "), SHOWN_CHARS_MAX);
    let mut why = format!("none of the {looked_at} threads{of}{called} is in {stack}");
    // The frames may all be there with others between them: that is worth a word, as a pattern is easily too short.
    let scattered = scene.threads.iter().find(|it| {
        frames.len() > 1
            && frames.iter().all(|pattern| it.frames.iter().any(|frame| fits_name(pattern, frame)))
    });
    if let Some(it) = scattered {
        why.push_str(&format!("; {} has these frames, but not next to each other", shown(it)));
    }
    why
}

fn shown(it: &LiveThread<'_>) -> String {
    format!("thread `{}` of {}", cut(it.name, SHOWN_CHARS_MAX), it.process)
}

fn fits(patterns: &[String], frames: &[&str]) -> bool {
    patterns.iter().zip(frames).all(|(pattern, frame)| fits_name(pattern, frame))
}

/// Tests whether a dotted name fits a pattern as a whole, or from one of its dots on.
pub(crate) fn fits_name(pattern: &str, name: &str) -> bool {
    glob_matches(pattern, name) || glob_matches(&format!("*.{pattern}"), name)
}
