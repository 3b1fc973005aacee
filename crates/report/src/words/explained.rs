//! Sentences about the place where a failing run left the right path.

use hypocenter_results::explained::{Explanation, Inflection, InflectionKind, RunAct, RunPoint, Unanswered};

use super::Sentence;
use crate::text::{count, simple};

/// The answer in one sentence.
pub fn explained(it: &Explanation) -> Sentence {
    let said = Sentence::default();
    if let Some(found) = it.findings.first() {
        return inflection(&found.detail);
    }
    let symptom = brief_point(&it.symptom);
    match &it.unanswered {
        None => said.words("No answer yet."),
        Some(Unanswered::NoFailure(runs)) => {
            said.words(format!("The failure did not happen in {}.", count(*runs, "run", "runs")))
        }
        Some(Unanswered::NoSymptom) => {
            said.words("The failure happens, but no run reaches ").name(symptom).words(".")
        }
        Some(Unanswered::NoNeighbour) => {
            said.words("Nothing to compare with: no run counts as one that does not fail.")
        }
        Some(Unanswered::NoDeviation) => said
            .words("No deviation: the failing run and its neighbours take the same path to ")
            .name(symptom)
            .words("."),
        Some(Unanswered::Unreadable(why)) => said.words(format!("The runs cannot be compared: {why}.")),
    }
}

/// The inflection point in one sentence.
fn inflection(it: &Inflection) -> Sentence {
    let at = Sentence::default().name(brief_point(&it.point)).words(" ");
    let nearest = format!("in the nearest run that does not fail ({})", it.neighbour);
    match (it.kind, &it.cause) {
        (InflectionKind::Order, Some(cause)) => {
            let said = at.words(act(&it.point)).words(" after ").name(brief_point(cause));
            let value =
                cause.value.as_ref().map_or_else(|| "written it".to_owned(), |it| format!("set it to {it}"));
            let said = said.words(format!(" has {value}; {nearest} it reads "));
            match &it.instead {
                Some(instead) => said.words("what ").name(brief_point(instead)).words(" wrote."),
                None => said.words("it before."),
            }
        }
        (InflectionKind::Branch, _) => {
            let line =
                |it: Option<u32>| it.map_or_else(|| "elsewhere".to_owned(), |it| format!("at line {it}"));
            let instead = it.instead.as_ref().and_then(|it| it.to_line);
            at.words(format!("goes on {}; {nearest} it goes on {}.", line(it.point.to_line), line(instead)))
        }
        _ => at.words(act(&it.point)).words(format!(", which {nearest} does not happen there.")),
    }
}

/// The act of an instruction.
pub fn act(it: &RunPoint) -> String {
    let subject = it.subject.as_str();
    match it.act {
        RunAct::Reads => format!("reads {subject}"),
        RunAct::Writes => format!("writes {subject}"),
        RunAct::Calls => format!("calls {subject}"),
        RunAct::Makes => format!("makes {subject}"),
        RunAct::Throws => "throws".to_owned(),
        RunAct::Branches => {
            it.to_line.map_or_else(|| "branches".to_owned(), |to| format!("goes on at line {to}"))
        }
        RunAct::Runs => "is reached".to_owned(),
    }
}

/// The place of an instruction, as `Class.method:line`.
pub fn brief_point(it: &RunPoint) -> String {
    let (class, method) = it.method.rsplit_once('.').unwrap_or(("", &it.method));
    let line = it.line.map_or_else(String::new, |it| format!(":{it}"));
    format!("{}.{method}{line}", simple(class))
}

/// An instruction in a line.
pub fn point(it: &RunPoint) -> String {
    let value = it.value.as_ref().map_or_else(String::new, |it| format!(" = {it}"));
    format!("{} {}{value}", brief_point(it), act(it))
}
