//! Brings the loopback interface of a new network namespace up. Without it Java finds no network interface at all.

use rustix::io::Errno;
use rustix::net::{AddressFamily, RecvFlags, SendFlags, SocketFlags, SocketType, recv, send, socket_with};

/// The kernel gives this number to the loopback interface of every network namespace.
const LOOPBACK_INDEX: i32 = 1;

const RTM_NEWLINK: u16 = 16;
const NLM_F_REQUEST: u16 = 1;
const NLM_F_ACK: u16 = 4;
const NLMSG_ERROR: u16 = 2;
const IFF_UP: u32 = 1;
/// `nlmsghdr` and `ifinfomsg`.
const MESSAGE_BYTES: u32 = 32;

pub(super) fn up() -> rustix::io::Result<()> {
    // No protocol is that of routes and links.
    let socket = socket_with(AddressFamily::NETLINK, SocketType::RAW, SocketFlags::CLOEXEC, None)?;
    let mut message = Vec::with_capacity(MESSAGE_BYTES as usize);
    // The header: length, kind, flags, number, sender.
    message.extend(MESSAGE_BYTES.to_ne_bytes());
    message.extend(RTM_NEWLINK.to_ne_bytes());
    message.extend((NLM_F_REQUEST | NLM_F_ACK).to_ne_bytes());
    message.extend([0; 8]);
    // The interface: family and kind are not said, then its number, the flags and which of them are meant.
    message.extend([0; 4]);
    message.extend(LOOPBACK_INDEX.to_ne_bytes());
    message.extend(IFF_UP.to_ne_bytes());
    message.extend(IFF_UP.to_ne_bytes());
    send(&socket, &message, SendFlags::empty())?;
    let mut answer = [0; 1024];
    let (count, _) = recv(&socket, &mut answer[..], RecvFlags::empty())?;
    // The answer is a header and a negative error number, which is zero if all is well.
    let (Some(kind), Some(error)) = (answer[..count].get(4..6), answer[..count].get(16..20)) else {
        return Err(Errno::BADMSG);
    };
    let (kind, error) = ([kind[0], kind[1]], [error[0], error[1], error[2], error[3]]);
    match (u16::from_ne_bytes(kind), i32::from_ne_bytes(error)) {
        (NLMSG_ERROR, 0) => Ok(()),
        (NLMSG_ERROR, error) => Err(Errno::from_raw_os_error(-error)),
        _ => Err(Errno::BADMSG),
    }
}
