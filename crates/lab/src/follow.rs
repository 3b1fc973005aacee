//! The logs of a trial, read while it runs.
//!
//! Nothing depends on it: what counts is what the files have when the trial is over. But what was read before need not be read
//! then, when the next trial waits for it.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io;
use std::os::unix::fs::{FileExt, MetadataExt};
use std::path::{Path, PathBuf};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, TryRecvError};
use std::thread;
use std::time::Duration;

use crate::oracle::open_regular;
use crate::trial::TrialFiles;

/// How often files are looked at.
const TICK: Duration = Duration::from_millis(20);
/// After how many looks new files are looked for.
const LIST_TICKS: u32 = 10;
/// How much is read at a time.
const PIECE_BYTES: usize = 256 << 10;
/// How many pieces of one file are read before the others have their turn.
const PIECES_MAX: usize = 16;
/// The most files that are followed.
const FILES_MAX: usize = 64;
/// The most bytes that are followed of all files of a trial together.
const FOLLOWED_BYTES_MAX: u64 = 256 << 20;

/// Runs a trial in a directory and shows what its processes write meanwhile: a file by its path in that directory, a place in
/// it, and the bytes from there on. `more` knows the files that they write beside what they print. The bytes of a file come
/// in order; if it was begun anew, from its beginning again.
pub(crate) fn beside<T>(
    directory: &Path,
    more: &(dyn Fn(&Path) -> Vec<PathBuf> + Sync),
    see: &mut (dyn FnMut(&str, u64, &[u8]) + Send),
    trial: impl FnOnce() -> T,
) -> T {
    let (running, over) = mpsc::channel();
    thread::scope(|scope| {
        scope.spawn(move || {
            let mut follower = Follower {
                directory,
                more,
                see,
                files: BTreeMap::new(),
                left: FOLLOWED_BYTES_MAX,
                buffer: vec![0; PIECE_BYTES],
            };
            follower.run(&over);
        });
        let result = trial();
        drop(running);
        result
    })
}

struct Follower<'a> {
    directory: &'a Path,
    more: &'a (dyn Fn(&Path) -> Vec<PathBuf> + Sync),
    see: &'a mut (dyn FnMut(&str, u64, &[u8]) + Send),
    files: BTreeMap<PathBuf, Followed>,
    left: u64,
    buffer: Vec<u8>,
}

struct Followed {
    file: File,
    /// Where it is in the trial's directory.
    path: String,
    /// How much of it was shown.
    at: u64,
}

impl Follower<'_> {
    /// Goes on until nobody can say any more that the trial runs.
    fn run(&mut self, over: &Receiver<()>) {
        let mut ticks = 0;
        while let Err(RecvTimeoutError::Timeout) = over.recv_timeout(TICK) {
            if ticks % LIST_TICKS == 0 {
                self.list();
            }
            ticks += 1;
            for it in self.files.values_mut() {
                for _ in 0..PIECES_MAX {
                    // What cannot be read any more is read at the end, or said then.
                    let Ok(1..) = it.show(&mut self.buffer, &mut self.left, self.see) else { break };
                    if !matches!(over.try_recv(), Err(TryRecvError::Empty)) {
                        return;
                    }
                }
            }
        }
    }

    /// Looks for files that are not known yet, and for other files where one was known.
    fn list(&mut self) {
        let printed = fs::read_dir(TrialFiles::of(self.directory).logs);
        let printed = printed.into_iter().flatten().flatten().map(|it| it.path());
        for path in printed.chain((self.more)(self.directory)) {
            let known = self.files.get(&path);
            if known.is_some_and(|it| it.is_at(&path)) || (known.is_none() && self.files.len() >= FILES_MAX) {
                continue;
            }
            let below = path.strip_prefix(self.directory).ok().and_then(Path::to_str).map(str::to_owned);
            if let (Some(below), Ok(file)) = (below, open_regular(&path)) {
                self.files.insert(path, Followed { file, path: below, at: 0 });
            }
        }
    }
}

impl Followed {
    /// Shows the next piece, and says how long it is.
    fn show(
        &mut self,
        buffer: &mut [u8],
        left: &mut u64,
        see: &mut (dyn FnMut(&str, u64, &[u8]) + Send),
    ) -> io::Result<usize> {
        // One that got shorter was begun anew.
        if self.file.metadata()?.len() < self.at {
            self.at = 0;
        }
        let room = buffer.len().min(usize::try_from(*left).unwrap_or(usize::MAX));
        let count = self.file.read_at(&mut buffer[..room], self.at)?;
        if count > 0 {
            see(&self.path, self.at, &buffer[..count]);
            self.at += count as u64;
            *left -= count as u64;
        }
        Ok(count)
    }

    /// Whether this is the file at a path.
    fn is_at(&self, path: &Path) -> bool {
        let identity = |it: fs::Metadata| (it.dev(), it.ino());
        let (here, there) = (self.file.metadata().map(identity), fs::metadata(path).map(identity));
        here.ok() == there.ok()
    }
}
