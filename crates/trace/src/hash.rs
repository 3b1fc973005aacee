//! A hash that is the same in every build and on every machine: it is written into files and guards.

const K: u64 = 0x9e37_79b9_7f4a_7c15;

/// Mixes one word into a hash.
pub fn word(word: u64, seed: u64) -> u64 {
    let product = u128::from(seed ^ word ^ K) * u128::from(0xa076_1d64_78bd_642f_u64 ^ word.rotate_left(32));
    (product as u64) ^ ((product >> 64) as u64) ^ seed.rotate_left(17)
}

/// Hashes bytes.
pub fn bytes(bytes: &[u8], seed: u64) -> u64 {
    let mut hash = word(bytes.len() as u64, seed);
    let mut chunks = bytes.chunks_exact(8);
    for chunk in &mut chunks {
        hash = word(u64::from_le_bytes(chunk.try_into().expect("eight bytes")), hash);
    }
    let mut last = [0; 8];
    last[..chunks.remainder().len()].copy_from_slice(chunks.remainder());
    word(u64::from_le_bytes(last), hash)
}
