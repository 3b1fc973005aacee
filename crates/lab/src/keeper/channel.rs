//! Messages over a stream socket: four bytes of length, JSON, and now and then descriptors.
//!
//! The kernel hands descriptors over with the first byte that they were sent with, or earlier by the tail of the message
//! before. So they are kept in a queue: messages and descriptors each come in the order in which they were sent.

use std::collections::VecDeque;
use std::io::{self, IoSlice, IoSliceMut};
use std::mem::MaybeUninit;
use std::os::fd::{BorrowedFd, OwnedFd};
use std::os::unix::net::UnixStream;

use rustix::io::Errno;
use rustix::net::{
    RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, SendAncillaryBuffer, SendAncillaryMessage,
    SendFlags, recvmsg, sendmsg,
};
use serde::Serialize;
use serde::de::DeserializeOwned;

/// The longest message: the kernel takes two megabytes of arguments and variables, and JSON writes a byte as a number.
const MESSAGE_BYTES_MAX: usize = 16 << 20;
const LENGTH_BYTES: usize = 4;
const READ_BYTES: usize = 64 << 10;
/// Maximum number of descriptors of a message: those of a process.
pub(super) const DESCRIPTORS: usize = 3;

/// Sends a message.
pub(super) fn send(
    socket: &UnixStream,
    message: &impl Serialize,
    descriptors: &[BorrowedFd<'_>],
) -> io::Result<()> {
    let mut bytes = vec![0; LENGTH_BYTES];
    serde_json::to_writer(&mut bytes, message)?;
    let length = bytes.len() - LENGTH_BYTES;
    if length > MESSAGE_BYTES_MAX {
        let what = format!("a message of {length} bytes, the limit is {MESSAGE_BYTES_MAX}");
        return Err(io::Error::new(io::ErrorKind::InvalidInput, what));
    }
    bytes[..LENGTH_BYTES].copy_from_slice(&(length as u32).to_le_bytes());
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(DESCRIPTORS))];
    let mut control = SendAncillaryBuffer::new(&mut space);
    if !descriptors.is_empty() {
        assert!(control.push(SendAncillaryMessage::ScmRights(descriptors)), "room for three descriptors");
    }
    let mut sent = 0;
    while sent < bytes.len() {
        match sendmsg(socket, &[IoSlice::new(&bytes[sent..])], &mut control, SendFlags::NOSIGNAL) {
            Ok(count) => {
                sent += count;
                control.clear();
            }
            Err(Errno::INTR) => {}
            Err(error) => return Err(error.into()),
        }
    }
    Ok(())
}

/// The receiving half of a socket.
pub(super) struct Inbox {
    bytes: Vec<u8>,
    descriptors: VecDeque<OwnedFd>,
}

impl Inbox {
    pub(super) fn new() -> Inbox {
        Inbox { bytes: Vec::new(), descriptors: VecDeque::new() }
    }

    /// Waits for more and takes what is there; false if the other side is gone.
    pub(super) fn fill(&mut self, socket: &UnixStream) -> io::Result<bool> {
        let mut buffer = vec![0; READ_BYTES];
        let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(DESCRIPTORS))];
        let mut control = RecvAncillaryBuffer::new(&mut space);
        let count = loop {
            let parts = &mut [IoSliceMut::new(&mut buffer)];
            match recvmsg(socket, parts, &mut control, RecvFlags::CMSG_CLOEXEC) {
                Ok(received) => break received.bytes,
                Err(Errno::INTR) => {}
                // The other side died and left something unread.
                Err(Errno::CONNRESET) => return Ok(false),
                Err(error) => return Err(error.into()),
            }
        };
        for message in control.drain() {
            if let RecvAncillaryMessage::ScmRights(descriptors) = message {
                self.descriptors.extend(descriptors);
            }
        }
        self.bytes.extend_from_slice(&buffer[..count]);
        Ok(count > 0)
    }

    /// The next message that is complete.
    pub(super) fn next<M: DeserializeOwned>(&mut self) -> io::Result<Option<M>> {
        let Some((length, rest)) = self.bytes.split_first_chunk::<LENGTH_BYTES>() else {
            return Ok(None);
        };
        let length = u32::from_le_bytes(*length) as usize;
        if length > MESSAGE_BYTES_MAX {
            return Err(io::Error::new(io::ErrorKind::InvalidData, "not a message of the keeper"));
        }
        let Some(text) = rest.get(..length) else {
            return Ok(None);
        };
        let message = serde_json::from_slice(text)?;
        self.bytes.drain(..LENGTH_BYTES + length);
        Ok(Some(message))
    }

    /// Waits for a message; none if the other side is gone.
    pub(super) fn wait<M: DeserializeOwned>(&mut self, socket: &UnixStream) -> io::Result<Option<M>> {
        loop {
            if let Some(message) = self.next()? {
                return Ok(Some(message));
            }
            if !self.fill(socket)? {
                return Ok(None);
            }
        }
    }

    /// The descriptors of the message that was just taken.
    pub(super) fn descriptors(&mut self) -> io::Result<[OwnedFd; DESCRIPTORS]> {
        let taken: Vec<OwnedFd> = self.descriptors.drain(..DESCRIPTORS.min(self.descriptors.len())).collect();
        taken
            .try_into()
            .map_err(|_| io::Error::new(io::ErrorKind::InvalidData, "a message without descriptors"))
    }
}

#[cfg(test)]
mod tests {
    use std::io::{Read, Write};
    use std::os::fd::AsFd;

    use super::*;

    #[test]
    fn long_and_glued_messages_keep_their_descriptors() {
        let (ours, theirs) = UnixStream::pair().expect("a socket pair");
        let texts: Vec<String> =
            (0..40).map(|number| "x".repeat(if number % 7 == 3 { 400_000 } else { number })).collect();
        let sender = std::thread::spawn({
            let texts = texts.clone();
            move || {
                for (number, text) in texts.iter().enumerate() {
                    let (reader, mut writer) = io::pipe().expect("a pipe");
                    writer.write_all(&[number as u8]).expect("a pipe takes a byte");
                    let all = [reader.as_fd(), reader.as_fd(), reader.as_fd()];
                    let some: &[BorrowedFd<'_>] = if number % 2 == 0 { &all } else { &[] };
                    send(&ours, text, some).expect("it can be sent");
                }
            }
        });
        let mut inbox = Inbox::new();
        for (number, text) in texts.iter().enumerate() {
            let got: String = inbox.wait(&theirs).expect("a message").expect("not the end");
            assert!(got == *text, "message {number}");
            if number % 2 == 0 {
                let [first, ..] = inbox.descriptors().expect("three descriptors");
                let mut byte = [0];
                std::fs::File::from(first).read_exact(&mut byte).expect("the pipe has a byte");
                assert_eq!(byte, [number as u8]);
            }
        }
        sender.join().expect("the sender does not panic");
        assert!(inbox.wait::<String>(&theirs).expect("the end").is_none());
        assert!(inbox.descriptors().is_err(), "no descriptor is left over");
    }
}
