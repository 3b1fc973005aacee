//! Large digests, kept beside the journal: a line of it stays short, whatever an engine keeps of a trial.

use std::io::{Read, Write};
use std::path::{Path, PathBuf};

use flate2::Compression;
use flate2::read::GzDecoder;
use flate2::write::GzEncoder;
use hypocenter_engine::JobId;
use hypocenter_trace::hash;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::{LabError, files};

/// The longest digest that stands in the journal itself.
const INLINE_BYTES_MAX: usize = 16 << 10;
/// The longest digest that is read back.
const BYTES_MAX: u64 = 4 << 30;

/// A digest as the journal has it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Kept {
    /// The digest itself.
    Here(Value),
    /// In a file of its own.
    Beside {
        /// Its duration.
        bytes: u64,
        /// Stands for what is in it.
        hash: String,
    },
}

fn path(campaign: &Path, id: JobId) -> PathBuf {
    campaign.join("digests").join(format!("{:03}.gz", id.0))
}

impl Kept {
    /// Keeps a digest: in the journal if it is short, in a file that is on the disk when this returns otherwise.
    pub(crate) fn new(campaign: &Path, id: JobId, digest: &impl Serialize) -> Result<Kept, LabError> {
        let path = path(campaign, id);
        let text = serde_json::to_vec(digest).map_err(|error| changed(&path, &error))?;
        if text.len() <= INLINE_BYTES_MAX {
            return Ok(Kept::Here(serde_json::from_slice(&text).map_err(|error| changed(&path, &error))?));
        }
        let io = |source| LabError::File { path: path.display().to_string(), source };
        let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
        let packed = encoder.write_all(&text).and_then(|()| encoder.finish()).map_err(io)?;
        path.parent().map_or(Ok(()), files::make_directory).map_err(io)?;
        files::replace(&path, &packed).map_err(io)?;
        Ok(Kept::Beside { bytes: text.len() as u64, hash: format!("{:016x}", hash::bytes(&text, 0)) })
    }

    /// The digest.
    pub fn read(self, campaign: &Path, id: JobId) -> Result<Value, String> {
        let (bytes, hash) = match self {
            Kept::Here(value) => return Ok(value),
            Kept::Beside { bytes, hash } => (bytes, hash),
        };
        let path = path(campaign, id);
        let shown = path.display();
        let file = std::fs::File::open(&path).map_err(|error| format!("{shown}: {error}"))?;
        let mut text = Vec::new();
        let limit = bytes.min(BYTES_MAX) + 1;
        GzDecoder::new(file)
            .take(limit)
            .read_to_end(&mut text)
            .map_err(|error| format!("{shown}: {error}"))?;
        if text.len() as u64 != bytes || format!("{:016x}", hash::bytes(&text, 0)) != hash {
            return Err(format!("{shown}: the file was changed"));
        }
        serde_json::from_slice(&text).map_err(|error| format!("{shown}: {error}"))
    }
}

fn changed(path: &Path, error: &serde_json::Error) -> LabError {
    LabError::Journal { path: path.display().to_string(), why: format!("a digest is not JSON: {error}") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_digest_is_kept_beside_the_journal_and_read_back() {
        let directory = tempfile::tempdir().unwrap();
        let long: Vec<u64> = (0..100_000).collect();
        let kept = Kept::new(directory.path(), JobId(3), &long).unwrap();
        assert!(serde_json::to_string(&kept).unwrap().len() < 200, "{kept:?}");
        assert_eq!(kept.clone().read(directory.path(), JobId(3)).unwrap(), serde_json::json!(long));
        let short = Kept::new(directory.path(), JobId(4), &[1]).unwrap();
        assert_eq!(short, Kept::Here(serde_json::json!([1])));
        let path = path(directory.path(), JobId(3));
        std::fs::write(&path, "cut").unwrap();
        assert!(kept.clone().read(directory.path(), JobId(3)).unwrap_err().contains("003.gz"));
        std::fs::remove_file(&path).unwrap();
        assert!(kept.read(directory.path(), JobId(3)).unwrap_err().contains("003.gz"));
    }
}
