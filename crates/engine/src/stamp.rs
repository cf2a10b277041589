//! What is written, so that what is read can be told to be right.
//!
//! A transfer is a row of *cells* of 512 bytes (the last one may be shorter), counted from its
//! start. A cell is *noise* that no storage can compress, under a *stamp* of four words:
//!
//! | word | holds |
//! |---|---|
//! | 0 | check sum: hash of words 2 and 3 and the signature, plus offset × odd constant |
//! | 1 | offset of the cell in the file, plus noise |
//! | 2 | generation (16 bits), file number (32), 4 spare, covered by noise; number of the noise (12) in clear |
//! | 3 | the cell's place in its transfer (32) and the number of cells of that transfer (32), covered by noise |
//!
//! Cells are told by their noise: there are 4096 of them for each signature, each from its own
//! xoshiro256++ stream, so a cell's 512 bytes hold about 12 bits that are not random.
//!
//! Words 0 and 1 are sums with the offset. A buffer that goes to another offset is therefore
//! *moved*: the distance is added to word 1 and its multiple to word 0 of each cell, which is all
//! that a transfer costs. Nothing else in the buffer changes during a phase.
//!
//! A cell shorter than a stamp (32 bytes) holds its offset in a scrambled word and noise after
//! it; one shorter than a word only noise. Its damage is found, its generation is not known.
//!
//! A reader may use any transfer size that is a multiple of 512 when the writer's was one too; a
//! file of other transfers is checked with the same transfer size.

use rand_core::{Rng, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

/// Bytes of a cell.
pub(crate) const CELL: usize = 512;
/// Bytes of a stamp.
pub(crate) const STAMP: usize = 32;
const WORDS: usize = CELL / 8;
/// Cells of noise. At 2 MiB it is longer than what storage looks back on when it compresses.
pub(crate) const NOISE_CELLS: usize = 4096;
const NOISE_MASK: u64 = NOISE_CELLS as u64 - 1;
/// Multiplies the offset in the check sum: odd, so that no two offsets give the same product.
const OFFSET_FACTOR: u64 = 0x9e37_79b9_7f4a_7c15;

/// A cell of noise.
pub(crate) type Noise = [u64; WORDS];

/// The noise of cell `index` under `signature`. The number is in the low 12 bits of its fifth and
/// of its last word, so that a damaged cell can still be recognised.
pub(crate) fn noise(signature: u64, index: usize) -> Noise {
    let index = index as u64 & NOISE_MASK;
    let mut stream = Xoshiro256PlusPlus::seed_from_u64(mix(signature).wrapping_add(index));
    let mut words = [0; WORDS];
    for word in &mut words {
        *word = stream.next_u64();
    }
    for word in [STAMP / 8, WORDS - 1] {
        words[word] = (words[word] & !NOISE_MASK) | index;
    }
    words
}

/// Whose data a buffer holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Origin {
    pub(crate) signature: u64,
    pub(crate) generation: u16,
    pub(crate) file: u32,
}

/// What a stamp says about its cell.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Stamp {
    pub(crate) offset: u64,
    pub(crate) generation: u16,
    pub(crate) file: u32,
    /// Place in the transfer that wrote it.
    pub(crate) place: u32,
    /// Cells of that transfer.
    pub(crate) cells: u32,
}

impl Stamp {
    /// The four words of this stamp over `noise`.
    pub(crate) fn words(&self, signature: u64, noise: &Noise) -> [u64; 4] {
        let index = noise[STAMP / 8] & NOISE_MASK;
        let origin = (u64::from(self.generation) << 48) | (u64::from(self.file) << 16);
        let second = (origin ^ (noise[2] & !NOISE_MASK)) | index;
        let third = ((u64::from(self.place) << 32) | u64::from(self.cells)) ^ noise[3];
        [
            check_sum(second, third, signature).wrapping_add(self.offset.wrapping_mul(OFFSET_FACTOR)),
            noise[1].wrapping_add(self.offset),
            second,
            third,
        ]
    }

    /// The stamp in `words` over `noise`; `None` when the check sum is wrong.
    #[inline(always)]
    #[expect(clippy::cast_possible_truncation, reason = "fields are cut out of words")]
    pub(crate) fn read(words: [u64; 4], signature: u64, noise: &Noise) -> Option<Self> {
        let offset = words[1].wrapping_sub(noise[1]);
        let sum = check_sum(words[2], words[3], signature).wrapping_add(offset.wrapping_mul(OFFSET_FACTOR));
        let origin = words[2] ^ (noise[2] & !NOISE_MASK);
        let place = words[3] ^ noise[3];
        (sum == words[0]).then_some(Self {
            offset,
            generation: (origin >> 48) as u16,
            file: (origin >> 16) as u32,
            place: (place >> 32) as u32,
            cells: place as u32,
        })
    }
}

/// The number of the noise that a stamp names in clear.
#[inline(always)]
pub(crate) fn noise_index(second_word: u64) -> usize {
    (second_word & NOISE_MASK) as usize
}

#[inline(always)]
fn check_sum(second: u64, third: u64, signature: u64) -> u64 {
    mix(mix(second ^ signature).wrapping_add(third))
}

/// The finaliser of splitmix64 (Steele, Lea and Flood, OOPSLA 2014).
#[inline(always)]
fn mix(value: u64) -> u64 {
    let value = (value ^ (value >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let value = (value ^ (value >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    value ^ (value >> 31)
}

/// The word of a cell that is too short for a stamp.
pub(crate) fn short_word(signature: u64, offset: u64) -> u64 {
    mix(!signature).wrapping_add(offset.wrapping_mul(OFFSET_FACTOR))
}

/// Fills `buffer` as one transfer at offset 0, with noise from number `first` on.
pub(crate) fn fill(buffer: &mut [u8], first: usize, origin: Origin) {
    let count = u32::try_from(buffer.len().div_ceil(CELL)).unwrap_or(u32::MAX);
    for (place, cell) in (0..count).zip(buffer.chunks_mut(CELL)) {
        let offset = u64::from(place) * CELL as u64;
        let mut noise_number = first.wrapping_add(place as usize);
        if cell.len() < STAMP {
            noise_number = 0;
        }
        let mut words = noise(origin.signature, noise_number);
        if cell.len() >= STAMP {
            let Origin { signature, generation, file } = origin;
            let stamp = Stamp { offset, generation, file, place, cells: count };
            let stamp = stamp.words(signature, &words);
            words[..4].copy_from_slice(&stamp);
        } else if cell.len() >= 8 {
            words[0] = short_word(origin.signature, offset);
        }
        copy_words(cell, &words);
    }
}

/// Moves a filled buffer by `distance` (wrapping), to be written at another offset.
#[inline]
pub(crate) fn shift(buffer: &mut [u8], distance: u64) {
    let step = distance.wrapping_mul(OFFSET_FACTOR);
    let (cells, tail) = buffer.as_chunks_mut::<CELL>();
    for cell in cells {
        add(cell, 0, step);
        add(cell, 8, distance);
    }
    if tail.len() >= STAMP {
        add(tail, 0, step);
        add(tail, 8, distance);
    } else if tail.len() >= 8 {
        add(tail, 0, step);
    }
}

#[inline(always)]
fn add(cell: &mut [u8], at: usize, amount: u64) {
    if let Some(bytes) = cell[at..].first_chunk_mut::<8>() {
        *bytes = u64::from_le_bytes(*bytes).wrapping_add(amount).to_le_bytes();
    }
}

/// Writes `words` in little-endian order, cut to the length of `cell`.
pub(crate) fn copy_words(cell: &mut [u8], words: &Noise) {
    for (bytes, word) in cell.chunks_mut(8).zip(words) {
        bytes.copy_from_slice(&word.to_le_bytes()[..bytes.len()]);
    }
}

/// A buffer under the pen of one task, and the offset that its stamps name now.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Pen {
    offset: u64,
}

impl Pen {
    /// Makes `buffer`, which [`fill`] has filled, ready to be written at `offset`.
    #[inline(always)]
    pub(crate) fn place(&mut self, buffer: &mut [u8], offset: u64) {
        let distance = offset.wrapping_sub(self.offset);
        self.offset = offset;
        shift(buffer, distance);
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::{prop_assert_eq, proptest};

    use super::{CELL, Origin, Pen, STAMP, Stamp, fill, noise, noise_index, short_word};

    const ORIGIN: Origin = Origin { signature: 7, generation: 3, file: 12 };

    fn words(cell: &[u8]) -> [u64; 4] {
        std::array::from_fn(|i| u64::from_le_bytes(cell[i * 8..][..8].try_into().expect("8 bytes")))
    }

    proptest! {
        #[test]
        fn a_moved_buffer_names_its_new_offset_in_each_cell(
            length in 1_usize..5000, first: u16, offsets in proptest::collection::vec(0_u64..1 << 62, 1..5),
        ) {
            let mut buffer = vec![0; length];
            fill(&mut buffer, first.into(), ORIGIN);
            let mut pen = Pen::default();
            for offset in offsets {
                pen.place(&mut buffer, offset);
                for (place, cell) in buffer.chunks(CELL).enumerate() {
                    let at = offset + (place * CELL) as u64;
                    if cell.len() >= STAMP {
                        let words = words(cell);
                        let noise = noise(7, noise_index(words[2]));
                        let stamp = Stamp::read(words, 7, &noise).expect("the check sum moved along");
                        prop_assert_eq!((stamp.offset, stamp.generation, stamp.file), (at, 3, 12));
                        prop_assert_eq!(stamp.place as usize, place);
                        prop_assert_eq!(stamp.cells as usize, length.div_ceil(CELL));
                        prop_assert_eq!(Stamp::read(words, 8, &noise), None);
                    } else if cell.len() >= 8 {
                        let word = u64::from_le_bytes(cell[..8].try_into().expect("8 bytes"));
                        prop_assert_eq!(word, short_word(7, at));
                    }
                }
            }
        }
    }

    #[test]
    fn a_buffer_does_not_compress_or_repeat() {
        let mut buffer = vec![0; 1 << 20];
        fill(&mut buffer, 100, ORIGIN);
        // Order-0 entropy of all bytes, and of the bytes that stamps alone could make uneven.
        for stride in [1, CELL] {
            for start in 0..stride.min(STAMP) {
                let mut counts = [0_u32; 256];
                buffer.iter().skip(start).step_by(stride).for_each(|&byte| counts[usize::from(byte)] += 1);
                let total = f64::from(counts.iter().sum::<u32>());
                let bits: f64 = counts
                    .iter()
                    .filter(|&&count| count > 0)
                    .map(|&count| f64::from(count) / total)
                    .map(|share| -share * share.log2())
                    .sum();
                // The upper half of the number in clear lies in byte 17; 2048 samples cannot show 8 bits.
                let least = if stride == 1 { 7.999 } else { 7.5 };
                assert!(bits > least || start == 17, "byte {start}: {bits} bits");
            }
        }
        let distinct: std::collections::HashSet<&[u8]> = buffer.chunks(CELL).collect();
        assert_eq!(distinct.len(), (1 << 20) / CELL);
    }
}
