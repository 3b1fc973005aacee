//! Facts about the target that trials need, kept with the campaign: whoever carries out one of its trials builds nothing.

use std::collections::BTreeMap;
use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use hypocenter_trace::Map;

use crate::{LabError, files};

/// See the module.
#[derive(Debug, Clone)]
pub struct Prepared {
    /// The instrumentation map.
    pub map: PathBuf,
    /// Its digest.
    pub digest: u64,
    /// For each class that may be thrown: the classes to try in turn.
    pub throwables: BTreeMap<String, Vec<String>>,
}

fn map_path(campaign: &Path) -> PathBuf {
    campaign.join("map")
}

fn throwables_path(campaign: &Path) -> PathBuf {
    campaign.join("throwables.json")
}

impl Prepared {
    /// Keeps a map, and what may be thrown under it, in the directory of a campaign.
    pub fn keep(
        campaign: &Path,
        map: (&[u8], u64),
        throwables: BTreeMap<String, Vec<String>>,
    ) -> Result<Prepared, LabError> {
        let (bytes, digest) = map;
        let path = map_path(campaign);
        if !fs::read(&path).is_ok_and(|it| it == bytes) {
            write(&path, bytes)?;
        }
        // Somebody may be carrying out a trial of it right now, with more than is known here yet.
        let mut known = read_throwables(campaign).unwrap_or_default();
        known.extend(throwables);
        let prepared = Prepared { map: path, digest, throwables: known };
        prepared.keep_throwables(campaign)?;
        Ok(prepared)
    }

    /// The classes to try where one is to be thrown that cannot be made itself.
    pub fn may_throw(
        &mut self,
        campaign: &Path,
        classes: impl IntoIterator<Item = (String, Vec<String>)>,
    ) -> Result<(), LabError> {
        self.throwables.extend(classes);
        self.keep_throwables(campaign)
    }

    fn keep_throwables(&self, campaign: &Path) -> Result<(), LabError> {
        let json = serde_json::to_vec_pretty(&self.throwables).expect("a table of names is always JSON");
        write(&throwables_path(campaign), &json)
    }

    /// Reads what the campaign in a directory has kept.
    pub fn read(campaign: &Path) -> Result<Prepared, LabError> {
        let map = map_path(campaign);
        let bytes = read(&map)?;
        let digest = Map::new(&bytes)?.digest();
        Ok(Prepared { map, digest, throwables: read_throwables(campaign)? })
    }
}

fn read_throwables(campaign: &Path) -> Result<BTreeMap<String, Vec<String>>, LabError> {
    let path = throwables_path(campaign);
    serde_json::from_slice(&read(&path)?).map_err(|error| LabError::Journal {
        path: path.display().to_string(),
        why: format!("{error}; the file was changed"),
    })
}

fn write(path: &Path, bytes: &[u8]) -> Result<(), LabError> {
    files::replace(path, bytes).map_err(|source| LabError::File { path: path.display().to_string(), source })
}

fn read(path: &Path) -> Result<Vec<u8>, LabError> {
    fs::read(path).map_err(|source| match source.kind() {
        ErrorKind::NotFound => LabError::Journal {
            path: path.display().to_string(),
            why: "it is gone, and trials need it; resume the campaign to make it again, or begin a new one"
                .to_owned(),
        },
        _ => LabError::File { path: path.display().to_string(), source },
    })
}
