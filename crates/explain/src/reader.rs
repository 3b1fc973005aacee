//! Digests: of a trial what it came to, of a study of the failing run and its neighbours the inflection point.

use std::sync::Arc;

use hypocenter_engine::{Digester, Evidence, Job, Work};
use hypocenter_results::explained::Inflection;
use serde::{Deserialize, Serialize};

use crate::model::SliceModel;
use crate::recorded_run::RecordedRun;
use crate::study::{Inquiry, Parts, Subject};

/// Digest of a job.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct ExplainDigest {
    /// True if the symptom was reached.
    pub reached: bool,
    /// Events that were recorded.
    pub events: u64,
    /// Threads that were recorded.
    pub threads: u64,
    /// Records that were lost, or that were too many.
    #[serde(default, skip_serializing_if = "is_none")]
    pub lost: u64,
    /// Of a study: where the failing run left the path of its neighbours. The neighbours are named by their numbers in the study.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub inflection: Option<Inflection>,
    /// Why the evidence says less than it could.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unreadable: Option<String>,
}

fn is_none(number: &u64) -> bool {
    *number == 0
}

/// Reads the evidence of runs.
#[derive(Debug, Clone)]
pub struct ExplainReader {
    model: Arc<SliceModel>,
    parts: Parts,
}

impl ExplainReader {
    pub(crate) fn new(model: Arc<SliceModel>, parts: Parts) -> ExplainReader {
        ExplainReader { model, parts }
    }

    fn trial(&self, evidence: &Evidence) -> Result<ExplainDigest, String> {
        let run = RecordedRun::read(&self.model, evidence, self.parts.map_loops)?;
        Ok(ExplainDigest {
            reached: run.first_at(&self.model, self.model.symptom()).is_some(),
            events: run.notes,
            threads: run.threads.len() as u64,
            lost: run.lost,
            ..ExplainDigest::default()
        })
    }

    fn study(&self, evidence: &[Evidence]) -> Result<ExplainDigest, String> {
        let subject = |it: &Evidence| {
            let run = RecordedRun::read(&self.model, it, self.parts.map_loops)?;
            Ok(Subject::of(&self.model, run, self.parts))
        };
        let subjects = evidence.iter().map(subject).collect::<Result<Vec<Subject>, String>>()?;
        Ok(study(&self.model, self.parts, &subjects))
    }
}

/// Studies a failing run, which comes first, and its neighbours.
pub(crate) fn study(model: &SliceModel, parts: Parts, subjects: &[Subject]) -> ExplainDigest {
    let Some((failing, neighbours)) = subjects.split_first() else { return ExplainDigest::default() };
    let inquiry = Inquiry { model, failing, neighbours, parts };
    let answer = inquiry.answer();
    ExplainDigest {
        reached: answer.is_some(),
        inflection: answer.and_then(|it| inquiry.shown(&it, &|it| it.to_string())),
        ..ExplainDigest::default()
    }
}

impl Digester for ExplainReader {
    type Digest = ExplainDigest;
    type Reading = ();

    fn digest(&self, job: &Job, evidence: &[Evidence], (): ()) -> ExplainDigest {
        let digest = match (&job.work, evidence) {
            (Work::Trial { .. }, [evidence]) => self.trial(evidence),
            (Work::Study { .. }, evidence) => self.study(evidence),
            _ => Err("its files are gone".to_owned()),
        };
        digest.unwrap_or_else(|why| ExplainDigest { unreadable: Some(why), ..ExplainDigest::default() })
    }
}
