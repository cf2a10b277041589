//! Generates the bytes sent over a connection and checks those received.
//!
//! A stream runs through a table of random bytes from its own starting point, so any part of it is a slice of
//! the table. No data has to be generated between two exchanges, and lost, duplicated or misdelivered data
//! does not match.

use rand_core::Rng;
use rand_core::SeedableRng;
use rand_xoshiro::Xoshiro256PlusPlus;

/// Period of a stream in bytes. It is a prime, so that no message or cell size divides it, and larger
/// than the window of a compressor.
const PERIOD: usize = 131_071;
/// Maximum number of bytes passed to the kernel at once.
pub(super) const CHUNK_MAX: usize = 256 << 10;

/// The table of random bytes.
pub(super) struct Noise {
    table: Vec<u8>,
    /// Whether data depends on the offset. If not, the same bytes are sent repeatedly. They stay in the
    /// nearest cache, as they would in the buffer of any other program.
    placed: bool,
}

impl Noise {
    /// Creates the table for `signature`.
    pub(super) fn new(signature: u64, placed: bool) -> Self {
        let mut table = vec![0; PERIOD + CHUNK_MAX];
        Xoshiro256PlusPlus::seed_from_u64(signature).fill_bytes(&mut table[..PERIOD]);
        for place in PERIOD..table.len() {
            table[place] = table[place - PERIOD];
        }
        Self { table, placed }
    }

    /// Whether received bytes are checked.
    pub(super) fn is_placed(&self) -> bool {
        self.placed
    }

    /// The bytes of `stream` from `offset` on.
    #[inline]
    pub(super) fn from(&self, stream: u64, offset: u64) -> &[u8] {
        if !self.placed {
            return &self.table;
        }
        // Streams start far from each other; the multiplier is that of Fibonacci hashing.
        let begin = stream.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 32;
        let place = (begin + offset % PERIOD as u64) % PERIOD as u64;
        &self.table[usize::try_from(place).unwrap_or(0)..]
    }

    /// Index of the first wrong byte in `bytes`, received on `stream` at `offset`.
    pub(super) fn first_wrong(&self, stream: u64, offset: u64, bytes: &[u8]) -> Option<usize> {
        let mut done = 0;
        for chunk in bytes.chunks(CHUNK_MAX) {
            let expected = &self.from(stream, offset + done as u64)[..chunk.len()];
            if expected != chunk {
                let within = expected.iter().zip(chunk).position(|(expected, found)| expected != found)?;
                return Some(done + within);
            }
            done += chunk.len();
        }
        None
    }
}

/// The number of the stream for a task's requests or responses.
pub(super) fn stream(task: u32, responses: bool) -> u64 {
    u64::from(task) * 2 + u64::from(responses) + 1
}

#[cfg(test)]
mod tests {
    use proptest::prelude::{prop_assert, prop_assert_eq, proptest};

    use super::{CHUNK_MAX, Noise, stream};

    proptest! {
        #[test]
        fn what_is_sent_fits_where_it_belongs_and_nowhere_else(
            task: u16, offset in 0_u64..1 << 40, length in 16_usize..2000, moved in 1_u64..1000, flipped in 0_usize..16,
        ) {
            let noise = Noise::new(7, true);
            let requests = stream(u32::from(task), false);
            let mut bytes = noise.from(requests, offset)[..length].to_vec();
            prop_assert_eq!(noise.first_wrong(requests, offset, &bytes), None);
            prop_assert!(noise.first_wrong(requests, offset + moved, &bytes).is_some());
            prop_assert!(noise.first_wrong(stream(u32::from(task), true), offset, &bytes).is_some());
            bytes[flipped] ^= 1;
            prop_assert_eq!(noise.first_wrong(requests, offset, &bytes), Some(flipped));
        }
    }

    #[test]
    fn long_pieces_are_compared_to_their_end() {
        let noise = Noise::new(7, true);
        let mut bytes: Vec<u8> = Vec::new();
        while bytes.len() < 3 * CHUNK_MAX {
            let at = bytes.len() as u64;
            bytes.extend(&noise.from(1, at)[..CHUNK_MAX / 2]);
        }
        assert_eq!(noise.first_wrong(1, 0, &bytes), None);
        let last = bytes.len() - 1;
        bytes[last] ^= 0x80;
        assert_eq!(noise.first_wrong(1, 0, &bytes), Some(last));
    }
}
