//! One campaign in one directory, and one who carries out a trial: whoever has the lock works there. The kernel gives it
//! back when its holder dies.

use std::fs::{File, OpenOptions};
use std::io::{Read, Seek, Write};
use std::path::Path;

use rustix::fs::{FlockOperation, flock};

use crate::{LabError, files};

/// A lock, held while this lives.
#[derive(Debug)]
pub struct Lock {
    _file: File,
}

impl Lock {
    /// Takes the lock, or says who has it.
    pub fn take(campaign: &Path) -> Result<Lock, LabError> {
        let path = campaign.join("lock");
        let error = |source| LabError::File { path: path.display().to_string(), source };
        let mut options = OpenOptions::new();
        options.read(true).write(true).create(true).truncate(false);
        let mut file = files::open(&mut options, &path).map_err(error)?;
        match flock(&file, FlockOperation::NonBlockingLockExclusive) {
            Ok(()) => {}
            Err(rustix::io::Errno::WOULDBLOCK) => {
                let mut holder = String::new();
                file.read_to_string(&mut holder).map_err(error)?;
                return Err(LabError::Busy {
                    campaign: campaign.display().to_string(),
                    holder: holder.trim().to_owned(),
                });
            }
            Err(code) => return Err(error(code.into())),
        }
        file.set_len(0).and_then(|()| file.rewind()).map_err(error)?;
        writeln!(file, "{}", std::process::id()).map_err(error)?;
        Ok(Lock { _file: file })
    }

    /// Tests whether somebody works on the campaign. The question itself holds the lock for an instant, beside others who ask.
    pub fn is_held(campaign: &Path) -> bool {
        let Ok(file) = File::open(campaign.join("lock")) else { return false };
        flock(&file, FlockOperation::NonBlockingLockShared) == Err(rustix::io::Errno::WOULDBLOCK)
    }

    /// Takes the lock of a trial: its directory itself.
    pub fn of_trial(directory: &Path) -> Result<Lock, LabError> {
        let error = |source| LabError::File { path: directory.display().to_string(), source };
        let file = File::open(directory).map_err(error)?;
        match flock(&file, FlockOperation::NonBlockingLockExclusive) {
            Ok(()) => Ok(Lock { _file: file }),
            Err(rustix::io::Errno::WOULDBLOCK) => {
                Err(LabError::TrialBusy { trial: directory.display().to_string() })
            }
            Err(code) => Err(error(code.into())),
        }
    }
}
