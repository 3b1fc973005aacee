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

/// Interval at which files are checked.
const TICK: Duration = Duration::from_millis(20);
/// After how many looks new files are looked for.
const LIST_TICKS: u32 = 10;
/// Number of bytes that are read at a time.
const PIECE_BYTES: usize = 256 << 10;
/// Maximum number of pieces of one file that are read before the others have their turn.
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
    /// Its place in the trial's directory.
    path: String,
    /// Number of them that were shown.
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

    /// Tests whether this is the file at a path.
    fn is_at(&self, path: &Path) -> bool {
        let identity = |it: fs::Metadata| (it.dev(), it.ino());
        let (here, there) = (self.file.metadata().map(identity), fs::metadata(path).map(identity));
        here.ok() == there.ok()
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write;
    use std::sync::{Condvar, Mutex};

    use super::*;

    /// Time limit of an action that is almost immediate.
    const SOON: Duration = Duration::from_secs(60);

    /// Shown part of each file, and the number of its restarts.
    #[derive(Default)]
    struct Seen {
        files: Mutex<BTreeMap<String, (Vec<u8>, usize)>>,
        more: Condvar,
    }

    impl Seen {
        fn see(&self, path: &str, at: u64, bytes: &[u8]) {
            let mut files = self.files.lock().unwrap();
            let (seen, begun) = files.entry(path.to_owned()).or_default();
            if at == 0 {
                seen.clear();
                *begun += 1;
            }
            assert_eq!(seen.len() as u64, at, "{path} comes in order");
            seen.extend_from_slice(bytes);
            self.more.notify_all();
        }

        /// Waits until a file was shown as it is now.
        fn wait(&self, path: &str, expected: &[u8], begun: usize) {
            let is_open = |files: &mut BTreeMap<String, (Vec<u8>, usize)>| {
                files.get(path).is_none_or(|it| it.0 != expected || it.1 != begun)
            };
            let (files, timeout) =
                self.more.wait_timeout_while(self.files.lock().unwrap(), SOON, is_open).unwrap();
            assert!(!timeout.timed_out(), "{path}: {:?}", files.get(path));
        }
    }

    #[test]
    fn what_is_written_is_shown_while_the_trial_runs() {
        let directory = tempfile::tempdir().unwrap();
        let (logs, own) = (directory.path().join("logs"), directory.path().join("dir/own.log"));
        let seen = Seen::default();
        let more = |it: &Path| vec![it.join("dir/own.log"), it.join("dir/pipe"), it.join("dir/none")];
        let mut see = |path: &str, at, bytes: &[u8]| seen.see(path, at, bytes);
        let result = beside(directory.path(), &more, &mut see, || {
            fs::create_dir_all(&logs).unwrap();
            fs::create_dir_all(own.parent().unwrap()).unwrap();
            // Nobody will ever write to it.
            let pipe = directory.path().join("dir/pipe");
            rustix::fs::mknodat(rustix::fs::CWD, pipe, rustix::fs::FileType::Fifo, 0o600.into(), 0).unwrap();
            let mut printed = File::create(logs.join("n.stdout.log")).unwrap();
            let mut expected = Vec::new();
            // More than one piece, and then bits of lines.
            for piece in [&b"x".repeat(3 * PIECE_BYTES + 1)[..], b"a line", b" and its end\n", b"\xff"] {
                printed.write_all(piece).unwrap();
                expected.extend_from_slice(piece);
                seen.wait("logs/n.stdout.log", &expected, 1);
            }
            fs::write(&own, "first\nsecond\n").unwrap();
            seen.wait("dir/own.log", b"first\nsecond\n", 1);
            // Cut, and written again.
            File::options().write(true).truncate(true).open(&own).unwrap().write_all(b"third\n").unwrap();
            seen.wait("dir/own.log", b"third\n", 2);
            // Put aside, with another in its place.
            fs::rename(&own, own.with_extension("1")).unwrap();
            fs::write(&own, "a fourth line\n").unwrap();
            seen.wait("dir/own.log", b"a fourth line\n", 3);
            7
        });
        assert_eq!(result, 7);
    }

    #[test]
    fn a_trial_without_a_directory_is_none_of_its_business() {
        let mut see = |_: &str, _, _: &[u8]| panic!("there is nothing to see");
        assert_eq!(beside(Path::new("/nowhere"), &|_| Vec::new(), &mut see, || 1), 1);
    }
}
