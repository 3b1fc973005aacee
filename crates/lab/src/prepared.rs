//! Facts about the target that trials need, kept with the campaign: whoever carries out one of its trials builds nothing.
//!
//! Instrumentation maps are kept by their digests (`maps/DIGEST`), so a campaign can have several; `prepared.json` names the one of
//! trials that ask for none.

use std::collections::BTreeMap;
use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use hypocenter_engine::HookSet;
use serde::{Deserialize, Serialize};

use crate::{LabError, files};

/// See the module.
#[derive(Debug, Clone)]
pub struct Prepared {
    campaign: PathBuf,
    document: Document,
}

/// `prepared.json`.
#[derive(Debug, Clone, Serialize, Deserialize)]
struct Document {
    /// The hooks of trials that ask for no others.
    hooks: HookSet,
    /// For each class that may be thrown: the classes to try in turn.
    throwables: BTreeMap<String, Vec<String>>,
}

fn path(campaign: &Path) -> PathBuf {
    campaign.join("prepared.json")
}

impl Prepared {
    /// Keeps the map that a campaign begins with, and what may be thrown under it, in its directory.
    pub fn keep(
        campaign: &Path,
        map: (&[u8], u64),
        throwables: BTreeMap<String, Vec<String>>,
    ) -> Result<Prepared, LabError> {
        let hooks = Prepared::keep_map(campaign, map)?;
        // Somebody may be carrying out a trial of it right now, with more than is known here yet.
        let mut known = read(campaign).map(|it| it.throwables).unwrap_or_default();
        known.extend(throwables);
        let document = Document { hooks, throwables: known };
        let prepared = Prepared { campaign: campaign.to_owned(), document };
        prepared.write()?;
        Ok(prepared)
    }

    /// Keeps a map in the directory of a campaign, for trials that ask for it.
    pub fn keep_map(campaign: &Path, (bytes, digest): (&[u8], u64)) -> Result<HookSet, LabError> {
        let directory = campaign.join("maps");
        files::make_directory(&directory).map_err(file_error(&directory))?;
        let (hooks, path) = (HookSet(digest), directory.join(HookSet(digest).to_string()));
        if !fs::read(&path).is_ok_and(|it| it == bytes) {
            files::replace(&path, bytes).map_err(file_error(&path))?;
        }
        Ok(hooks)
    }

    /// Reads what the campaign in a directory has kept.
    pub fn read(campaign: &Path) -> Result<Prepared, LabError> {
        Ok(Prepared { campaign: campaign.to_owned(), document: read(campaign)? })
    }

    /// The hooks of trials that ask for no others.
    pub fn hooks(&self) -> HookSet {
        self.document.hooks
    }

    /// The file of a map.
    pub fn map(&self, hooks: HookSet) -> Result<PathBuf, LabError> {
        let path = self.campaign.join("maps").join(hooks.to_string());
        match path.exists() {
            true => Ok(path),
            false => Err(gone(&path)),
        }
    }

    /// For each class that may be thrown: the classes to try in turn.
    pub fn throwables(&self) -> &BTreeMap<String, Vec<String>> {
        &self.document.throwables
    }

    /// The classes to try where one is to be thrown that cannot be made itself.
    pub fn may_throw(
        &mut self,
        classes: impl IntoIterator<Item = (String, Vec<String>)>,
    ) -> Result<(), LabError> {
        self.document.throwables.extend(classes);
        self.write()
    }

    fn write(&self) -> Result<(), LabError> {
        let path = path(&self.campaign);
        let json = serde_json::to_vec_pretty(&self.document).expect("a table of names is always JSON");
        files::replace(&path, &json).map_err(file_error(&path))
    }
}

fn read(campaign: &Path) -> Result<Document, LabError> {
    let path = path(campaign);
    let bytes = fs::read(&path).map_err(|source| match source.kind() {
        ErrorKind::NotFound => gone(&path),
        _ => file_error(&path)(source),
    })?;
    serde_json::from_slice(&bytes).map_err(|error| LabError::Journal {
        path: path.display().to_string(),
        why: format!("{error}; the file was changed"),
    })
}

fn file_error(path: &Path) -> impl FnOnce(std::io::Error) -> LabError {
    let path = path.display().to_string();
    move |source| LabError::File { path, source }
}

fn gone(path: &Path) -> LabError {
    LabError::Journal {
        path: path.display().to_string(),
        why:
            "it does not exist, and trials need it; resume the campaign to write it again, or start a new one"
                .to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn maps_are_kept_side_by_side_and_one_is_that_of_the_campaign() {
        let directory = tempfile::tempdir().unwrap();
        let campaign = directory.path();
        let why = Prepared::read(campaign).unwrap_err().to_string();
        assert!(why.contains("prepared.json") && why.contains("resume the campaign"), "{why}");
        let first = Prepared::keep(campaign, (b"first", 1), BTreeMap::new()).unwrap();
        let second = Prepared::keep_map(campaign, (b"second", 2)).unwrap();
        let bytes = |it: HookSet| fs::read(first.map(it).unwrap()).unwrap();
        assert_eq!((bytes(first.hooks()), bytes(second)), (b"first".to_vec(), b"second".to_vec()));
        let read = Prepared::read(campaign).unwrap();
        assert_eq!(read.hooks(), HookSet(1));
        // What was known of exceptions before stays known.
        let mut read = read;
        read.may_throw([("A".to_owned(), vec!["B".to_owned()])]).unwrap();
        let again = Prepared::keep(campaign, (b"first", 1), [("C".to_owned(), Vec::new())].into()).unwrap();
        assert_eq!(again.throwables().keys().collect::<Vec<_>>(), ["A", "C"]);
        fs::remove_file(read.map(second).unwrap()).unwrap();
        let why = read.map(second).unwrap_err().to_string();
        assert!(why.contains("maps/0000000000000002: it does not exist"), "{why}");
        fs::write(campaign.join("prepared.json"), "{}").unwrap();
        assert!(Prepared::read(campaign).unwrap_err().to_string().contains("the file was changed"));
    }
}
