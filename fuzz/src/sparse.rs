//! Files that are mostly zeros, as a few stretches of bytes.
//!
//! A trial's file has at least 80 KB, nearly all of it empty JVM slots; a mutation of such bytes hits nothing. So
//! the fuzzer works on this form: the size in units of 64 bytes (16 bits), then stretches, each with its place in
//! units of 16 bytes (16 bits), its length (8 bits) and its bytes. Places do not depend on what stands before, so a
//! stretch that is lost or repeated leaves the others where they are.

const SIZE_UNIT: usize = 64;
const PLACE_UNIT: usize = 16;
/// The largest multiple of the place unit that a length can say.
const STRETCH_MAX: usize = 240;
/// The largest file that is unpacked.
pub const FILE_BYTES_MAX: usize = 512 << 10;

/// The file that the stretches describe.
pub fn unpack(packed: &[u8]) -> Vec<u8> {
    let Some((size, mut rest)) = packed.split_first_chunk::<2>() else { return Vec::new() };
    let size = (usize::from(u16::from_le_bytes(*size)) * SIZE_UNIT).min(FILE_BYTES_MAX);
    let mut file = vec![0; size];
    while let Some((&[low, high, len], after)) = rest.split_first_chunk::<3>() {
        let at = usize::from(u16::from_le_bytes([low, high])) * PLACE_UNIT;
        let (stretch, after) = after.split_at(after.len().min(usize::from(len)));
        rest = after;
        if let Some(place) = file.get_mut(at..) {
            let len = place.len().min(stretch.len());
            place[..len].copy_from_slice(&stretch[..len]);
        }
    }
    file
}

/// The stretches of a file; what is beyond [`FILE_BYTES_MAX`] is cut off.
pub fn pack(file: &[u8]) -> Vec<u8> {
    let file = &file[..file.len().min(FILE_BYTES_MAX)];
    let mut out = (file.len().div_ceil(SIZE_UNIT) as u16).to_le_bytes().to_vec();
    let mut at = 0;
    while at < file.len() {
        // Two empty units are cheaper to leave out than to say; one is not.
        let mut end = at;
        while end < file.len().min(at + STRETCH_MAX) && file[end..].iter().take(32).any(|byte| *byte != 0) {
            end = (end + PLACE_UNIT).min(file.len());
        }
        if end == at {
            at += PLACE_UNIT;
            continue;
        }
        let stretch = &file[at..end];
        let len = stretch.iter().rposition(|byte| *byte != 0).map_or(0, |last| last + 1);
        out.extend_from_slice(&((at / PLACE_UNIT) as u16).to_le_bytes());
        out.push(len as u8);
        out.extend_from_slice(&stretch[..len]);
        at = end;
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_comes_back_as_it_went_in() {
        let mut file = vec![0u8; 4096];
        for (at, len) in [(0, 7), (16, 1), (63, 2), (500, 700), (4095, 1)] {
            file[at..at + len].fill(9);
        }
        assert_eq!(unpack(&pack(&file)), file);
        assert_eq!(unpack(&pack(&[0; 128])), [0; 128]);
        assert!(unpack(&[]).is_empty());
    }
}
