//! The ordered journal of a campaign (`results.jsonl`): what was asked and told, a line each, synced before the campaign goes on.
//!
//! The first line says whose journal it is. A line that a dying tool left half-written has no line end; it is cut off
//! when the campaign is resumed, and what it was about is done again.

use std::collections::BTreeMap;
use std::fs::{File, OpenOptions};
use std::io::{BufRead, BufReader, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use hypocenter_engine::{Job, JobId};
use hypocenter_plan::Outcome;
use serde::{Deserialize, Serialize};

use crate::{Kept, LabError, files};

/// The version of the journal's lines.
pub const JOURNAL_VERSION: u32 = 4;

/// Whose journal it is: a campaign goes on only with the same of all these.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Head {
    /// The version of the lines.
    pub journal: u32,
    /// The engine.
    pub engine: String,
    /// The campaign's seed.
    pub seed: u64,
    /// Stand-in for the target: its classes and its workload.
    pub target: String,
    /// The version of the tool that began it.
    pub tool: String,
}

/// A line behind the first.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Entry {
    /// The engine was asked for work and gave some.
    Asked {
        /// For how many idle workers.
        room: usize,
        /// Its result.
        jobs: Vec<Job>,
    },
    /// The engine was told a result.
    Told {
        /// Of which job.
        id: JobId,
        /// The outcome; a study has none.
        outcome: Option<Box<Outcome>>,
        /// The digest.
        digest: Kept,
        /// For how long the campaign had been under way, over all its sittings.
        #[serde(default)]
        after_ms: u64,
    },
}

/// The journal of a campaign, open for more.
#[derive(Debug)]
pub struct Journal {
    file: File,
    path: PathBuf,
    /// True if something was written that may not be on the disk.
    is_noted: bool,
}

impl Journal {
    /// The journal of the campaign in a directory.
    pub fn path_in(campaign: &Path) -> PathBuf {
        campaign.join("results.jsonl")
    }

    fn error(path: &Path) -> impl Fn(std::io::Error) -> LabError {
        let path = path.display().to_string();
        move |source| LabError::File { path: path.clone(), source }
    }

    /// Opens the journal at `path` for a campaign with this head, making it if it is not there. Entries that it has
    /// already go to `seen`, in order. Says whether a half-written last line was cut off.
    pub fn open(
        path: &Path,
        head: &Head,
        mut seen: impl FnMut(Entry) -> Result<(), String>,
    ) -> Result<(Journal, bool), LabError> {
        let error = Journal::error(path);
        let mut options = OpenOptions::new();
        let file = files::open(options.read(true).append(true).create(true), path).map_err(&error)?;
        let mut reader = BufReader::new(&file);
        let (mut line, mut number, mut good) = (Vec::new(), 0u64, 0u64);
        let broken = |number: u64, why: String| LabError::Journal {
            path: path.display().to_string(),
            why: format!("line {number}: {why}"),
        };
        let cut = loop {
            line.clear();
            let len = reader.read_until(b'\n', &mut line).map_err(&error)?;
            if line.last() != Some(&b'\n') {
                break len > 0;
            }
            number += 1;
            line.pop();
            let bad = |why: serde_json::Error| {
                // The line is ours; serde's is always the first.
                let text = why.to_string();
                let what = text.split(" at line ").next().unwrap_or_default();
                broken(number, format!("column {}: {what}; the file was changed", why.column()))
            };
            if number == 1 {
                check_head(&serde_json::from_slice(&line).map_err(bad)?, head)
                    .map_err(|why| broken(1, why))?;
            } else {
                let entry = serde_json::from_slice(&line).map_err(bad)?;
                seen(entry).map_err(|why| broken(number, format!("{why}; start a new campaign")))?;
            }
            good += len as u64;
        };
        drop(reader);
        file.set_len(good).map_err(&error)?;
        let mut journal = Journal { file, path: path.to_owned(), is_noted: false };
        journal.file.seek(SeekFrom::End(0)).map_err(&error)?;
        if number == 0 {
            journal.line(head)?;
            journal.sync()?;
        }
        Ok((journal, cut))
    }

    /// Reads what the journal at `path` has, whoever's it is. A last line that is only half there is left out.
    pub fn read(path: &Path, mut seen: impl FnMut(Entry)) -> Result<Head, LabError> {
        let mut reader = BufReader::new(File::open(path).map_err(Journal::error(path))?);
        let (mut line, mut number, mut head) = (Vec::new(), 0u64, None);
        loop {
            line.clear();
            reader.read_until(b'\n', &mut line).map_err(Journal::error(path))?;
            if line.pop() != Some(b'\n') {
                break;
            }
            number += 1;
            let bad = |why: serde_json::Error| LabError::Journal {
                path: path.display().to_string(),
                why: format!("line {number}, column {}: the file was changed", why.column()),
            };
            if number == 1 {
                head = Some(serde_json::from_slice(&line).map_err(bad)?);
            } else {
                seen(serde_json::from_slice(&line).map_err(bad)?);
            }
        }
        head.ok_or_else(|| LabError::Journal {
            path: path.display().to_string(),
            why: "it is empty".to_owned(),
        })
    }

    /// The jobs that the journal at `path` asks for, whoever's it is. The campaign may be running meanwhile.
    pub fn jobs(path: &Path) -> Result<(Head, BTreeMap<JobId, Job>), LabError> {
        let mut all = BTreeMap::new();
        let head = Journal::read(path, |entry| {
            if let Entry::Asked { jobs, .. } = entry {
                all.extend(jobs.into_iter().map(|it| (it.id, it)));
            }
        })?;
        Ok((head, all))
    }

    /// Adds an entry; it is on the disk when this returns, and so is all that was noted before.
    pub fn append(&mut self, entry: &Entry) -> Result<(), LabError> {
        self.line(entry)?;
        self.sync()
    }

    /// Adds an entry that outlives this process at once, and the machine from the next [`Journal::sync`] on.
    pub fn note(&mut self, entry: &Entry) -> Result<(), LabError> {
        self.line(entry)
    }

    /// Brings what was noted to the disk.
    pub fn sync(&mut self) -> Result<(), LabError> {
        if self.is_noted {
            self.file.sync_data().map_err(Journal::error(&self.path))?;
            self.is_noted = false;
        }
        Ok(())
    }

    fn line(&mut self, value: &impl Serialize) -> Result<(), LabError> {
        let mut line = serde_json::to_vec(value).expect("a journal's line is always JSON");
        line.push(b'\n');
        self.is_noted = true;
        self.file.write_all(&line).map_err(Journal::error(&self.path))
    }
}

fn check_head(found: &serde_json::Value, wanted: &Head) -> Result<(), String> {
    let version = found.get("journal").and_then(serde_json::Value::as_u64);
    if version != Some(u64::from(JOURNAL_VERSION)) {
        return Err(match version {
            Some(version) => format!(
                "journal version {version}, this tool supports version {JOURNAL_VERSION}; use the version of the tool that wrote it, or start a new campaign"
            ),
            None => "this is not the journal of a campaign".to_owned(),
        });
    }
    let found: Head = serde_json::from_value(found.clone()).map_err(|error| error.to_string())?;
    for (what, found, wanted) in [
        ("engine", &found.engine, &wanted.engine),
        ("seed", &found.seed.to_string(), &wanted.seed.to_string()),
        ("target", &found.target, &wanted.target),
    ] {
        if found != wanted {
            return Err(format!(
                "the campaign was started with {what} {found}, and now it is {wanted}; start a new campaign"
            ));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn head() -> Head {
        Head {
            journal: JOURNAL_VERSION,
            engine: "plans".into(),
            seed: 7,
            target: "abc".into(),
            tool: "0.1.0".into(),
        }
    }

    fn told(id: u64) -> Entry {
        Entry::Told {
            id: JobId(id),
            outcome: None,
            digest: Kept::Here(serde_json::json!({ "hits": id })),
            after_ms: id,
        }
    }

    fn read(path: &Path, head: &Head) -> Result<(Vec<Entry>, bool), LabError> {
        let mut entries = Vec::new();
        let (_, cut) = Journal::open(path, head, |entry| {
            entries.push(entry);
            Ok(())
        })?;
        Ok((entries, cut))
    }

    #[test]
    fn a_journal_cut_at_any_byte_keeps_every_whole_line() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("results.jsonl");
        let (mut journal, _) = Journal::open(&path, &head(), |_| Ok(())).unwrap();
        (0..3).for_each(|id| journal.append(&told(id)).unwrap());
        let whole = std::fs::read(&path).unwrap();
        for len in 0..=whole.len() {
            std::fs::write(&path, &whole[..len]).unwrap();
            let (entries, cut) = read(&path, &head()).unwrap();
            let lines = whole[..len].iter().filter(|&&byte| byte == b'\n').count();
            assert_eq!(entries, (0..lines.saturating_sub(1) as u64).map(told).collect::<Vec<_>>());
            assert_eq!(cut, len > 0 && whole[len - 1] != b'\n', "at {len}");
            // The rest can be resumed.
            let (mut journal, _) = Journal::open(&path, &head(), |_| Ok(())).unwrap();
            journal.append(&told(9)).unwrap();
            assert_eq!(read(&path, &head()).unwrap().0.last(), Some(&told(9)));
        }
    }

    #[test]
    fn another_campaigns_journal_is_refused_and_left_as_it_is() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("results.jsonl");
        let (mut journal, _) = Journal::open(&path, &head(), |_| Ok(())).unwrap();
        journal.append(&told(0)).unwrap();
        let before = std::fs::read(&path).unwrap();
        let check = |head: Head, expected: &str| {
            let why = read(&path, &head).unwrap_err().to_string();
            assert!(why.contains(expected), "{why}");
            assert_eq!(std::fs::read(&path).unwrap(), before);
        };
        check(Head { seed: 8, ..head() }, "started with seed 7");
        check(Head { engine: "bsrr".into(), ..head() }, "started with engine plans");
        check(Head { target: "x".into(), ..head() }, "started with target abc");
        let newer = String::from_utf8(before.clone()).unwrap().replace("\"journal\":4", "\"journal\":5");
        std::fs::write(&path, &newer).unwrap();
        let why = read(&path, &head()).unwrap_err().to_string();
        assert!(why.contains("journal version 5") && why.contains("start a new campaign"), "{why}");
        assert_eq!(std::fs::read_to_string(&path).unwrap(), newer);
        let broken = String::from_utf8(before).unwrap() + "{\"told\":\n" + "{}\n";
        std::fs::write(&path, &broken).unwrap();
        assert!(read(&path, &head()).unwrap_err().to_string().contains("line 3"));
        assert_eq!(std::fs::read_to_string(&path).unwrap(), broken);
    }
}
