//! Lines of a file of any size, in bounded memory.

use std::fs::{File, OpenOptions};
use std::io::{self, BufRead, BufReader, Read};
use std::ops::ControlFlow;
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

use rustix::fs::OFlags;

/// A longer line is seen up to here.
pub(super) const LINE_BYTES_MAX: usize = 1 << 20;
const BUFFER_BYTES: usize = 256 << 10;

/// Opens a regular file. The target may have put anything at a path: a pipe would keep us waiting and a device may
/// never end.
pub(crate) fn open_regular(path: &Path) -> io::Result<File> {
    let file = OpenOptions::new().read(true).custom_flags(OFlags::NONBLOCK.bits() as i32).open(path)?;
    match file.metadata()?.is_file() {
        true => Ok(file),
        false => Err(io::Error::new(io::ErrorKind::InvalidInput, "it is not a regular file")),
    }
}

/// Hands each line on with its number from 1, without its end, until told to stop. What is appended while this
/// runs is not read, so that it comes to an end.
pub(crate) fn each_line(path: &Path, mut see: impl FnMut(u64, &[u8]) -> ControlFlow<()>) -> io::Result<()> {
    let file = open_regular(path)?;
    let length = file.metadata()?.len();
    let mut reader = BufReader::with_capacity(BUFFER_BYTES, file.take(length));
    let mut line = Vec::new();
    let mut number = 0;
    loop {
        line.clear();
        let read = reader.by_ref().take(LINE_BYTES_MAX as u64).read_until(b'\n', &mut line)?;
        if read == 0 {
            return Ok(());
        }
        if line.last() == Some(&b'\n') {
            line.pop();
            line.pop_if(|last| *last == b'\r');
        } else if read == LINE_BYTES_MAX {
            reader.skip_until(b'\n')?;
        }
        number += 1;
        if see(number, &line).is_break() {
            return Ok(());
        }
    }
}
