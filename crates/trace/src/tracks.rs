//! Where the trails of threads lead: through which calls, loops and branches.

use zerocopy::{FromBytes, Immutable, IntoBytes, KnownLayout};

use crate::{SiteId, TraceError};

/// What a hit of a site means for the trail of its thread.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Track {
    /// A method begins, named by its entry.
    EnterMethod(SiteId),
    /// It ends, normally or by an exception.
    LeaveMethod(SiteId),
    /// A loop begins, named by the site of its body.
    EnterLoop(SiteId),
    /// An iteration of it begins.
    Iterate(SiteId),
    /// It ends, if the thread is in it.
    LeaveLoop(SiteId),
    /// A branch or switch, or another site whose value belongs to the path.
    Branch,
    /// The path up to here is told.
    Point,
}

/// A track and its site.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ArmedTrack {
    /// Where.
    pub site: SiteId,
    /// What.
    pub track: Track,
}

#[derive(Debug, Clone, Copy, FromBytes, IntoBytes, KnownLayout, Immutable)]
#[repr(C)]
struct Entry {
    site: u32,
    kind: u32,
    subject: u32,
}

pub(crate) fn encode(tracks: &[ArmedTrack]) -> Vec<u8> {
    let entry = |it: &ArmedTrack| {
        let (kind, subject) = match it.track {
            Track::EnterMethod(method) => (1, method.0),
            Track::LeaveMethod(method) => (2, method.0),
            Track::EnterLoop(it) => (3, it.0),
            Track::Iterate(it) => (4, it.0),
            Track::LeaveLoop(it) => (5, it.0),
            Track::Branch => (6, 0),
            Track::Point => (7, 0),
        };
        Entry { site: it.site.0, kind, subject }
    };
    let entries: Vec<Entry> = tracks.iter().map(entry).collect();
    entries.as_bytes().to_vec()
}

pub(crate) fn decode(bytes: &[u8]) -> Result<Vec<ArmedTrack>, TraceError> {
    let entries = bytes.chunks_exact(size_of::<Entry>()).filter_map(|it| Entry::read_from_bytes(it).ok());
    let track = |Entry { site, kind, subject }: Entry| {
        let subject = SiteId(subject);
        let track = match kind {
            1 => Track::EnterMethod(subject),
            2 => Track::LeaveMethod(subject),
            3 => Track::EnterLoop(subject),
            4 => Track::Iterate(subject),
            5 => Track::LeaveLoop(subject),
            6 => Track::Branch,
            7 => Track::Point,
            _ => return Err(TraceError::Malformed("a trail has an unknown step")),
        };
        Ok(ArmedTrack { site: SiteId(site), track })
    };
    entries.map(track).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tracks_come_back_as_they_went_in() {
        let all = [
            Track::EnterMethod(SiteId(3)),
            Track::LeaveMethod(SiteId(3)),
            Track::EnterLoop(SiteId(5)),
            Track::Iterate(SiteId(5)),
            Track::LeaveLoop(SiteId(5)),
            Track::Branch,
            Track::Point,
        ];
        let tracks: Vec<ArmedTrack> =
            (0..).zip(all).map(|(site, track)| ArmedTrack { site: SiteId(site), track }).collect();
        assert_eq!(decode(&encode(&tracks)).unwrap(), tracks);
        let mut broken = encode(&tracks);
        broken[4] = 9;
        assert!(decode(&broken).is_err());
    }
}
