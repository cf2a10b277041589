//! The data written, made so that data read back can be verified.
//!
//! A transfer is a sequence of *cells* of 512 bytes (the last one may be shorter), counted from its start. A
//! cell is incompressible *noise* whose first four words carry a *stamp*:
//!
//! | word | holds |
//! |---|---|
//! | 0 | checksum: hash of noise number, word 3 and signature, plus multiples of offset and origin |
//! | 1 | offset of the cell in the file, plus noise |
//! | 2 | origin: generation (16 bits) and file number (32), plus noise; number of the noise (12) in clear |
//! | 3 | cell's index in its transfer (32) and number of cells of that transfer (32), covered by noise |
//!
//! Cells are identified by their noise: each signature has 4096 noise cells, each from its own xoshiro256++
//! stream, so a cell's 512 bytes hold about 12 bits that are not random. Word 5 is the signature under a hash
//! of word 4: a cell can be recognised without knowing which run wrote it.
//!
//! Words 0 to 2 are sums, so a stamp for another offset or origin is made by adding to them. A transfer of
//! [`REPEAT`] bytes or more has its own buffer, which is *shifted* from one offset to the next: two additions
//! per cell. Compressing storage looks back over less than that. Shorter transfers are copied from an *image*
//! of [`REPEAT`] bytes, at the position corresponding to their offset, so that neighbours in a file differ.
//! Either way the bytes depend only on signature, generation, file, offset and transfer size: every backend
//! writes the same file.
//!
//! A cell shorter than a stamp (32 bytes) holds its offset in a scrambled word, followed by noise; one
//! shorter than a word only noise. Damage to it is detected, but its generation is unknown.
//!
//! A reader may use any transfer size that is a multiple of 512 if the writer's was one too; a file with
//! other transfer sizes must be checked with the same size.

use rand_core::{Rng, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

/// Bytes of a cell.
pub(crate) const CELL: usize = 512;
/// Bytes of a stamp.
pub(crate) const STAMP: usize = 32;
const WORDS: usize = CELL / 8;
/// Index of the word that encodes the signature.
const SIGNATURE: usize = 5;
/// Minimum size of a cell that encodes the signature.
pub(crate) const SIGNED: usize = (SIGNATURE + 1) * 8;
/// Number of noise cells. At 2 MiB the noise exceeds the window of compressing storage.
pub(crate) const NOISE_CELLS: usize = 4096;
const NOISE_MASK: u64 = NOISE_CELLS as u64 - 1;
/// Multiplies the offset in the checksum: odd, so that no two offsets give the same product.
const OFFSET_FACTOR: u64 = 0x9e37_79b9_7f4a_7c15;

/// As [`OFFSET_FACTOR`], for the origin: an error in one cannot be cancelled by one in the other.
const ORIGIN_FACTOR: u64 = 0xd1b5_4a32_d192_ed03;
/// Distance within which noise does not repeat in a file: the longest record that common storage compresses
/// as a whole (btrfs and ZFS: 128 KiB), also beyond the window of LZ4.
pub(crate) const REPEAT: usize = 128 << 10;

/// A cell of noise.
pub(crate) type Noise = [u64; WORDS];

/// The noise of cell `index` for `signature`. The number is in the low 12 bits of its fifth and last words,
/// so that a damaged cell can still be recognised.
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
    words[SIGNATURE] = signature ^ mix(words[SIGNATURE - 1]);
    words
}

/// The signature encoded in words 4 and 5 of a cell.
pub(crate) fn signature_of(fourth: u64, fifth: u64) -> u64 {
    fifth ^ mix(fourth)
}

/// The contents of a stamp.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Stamp {
    pub(crate) offset: u64,
    pub(crate) generation: u16,
    pub(crate) file: u32,
    /// Index in the transfer that wrote it.
    pub(crate) place: u32,
    /// Cells of that transfer.
    pub(crate) cells: u32,
}

impl Stamp {
    /// The four words of this stamp over `noise`.
    pub(crate) fn words(&self, signature: u64, noise: &Noise) -> [u64; 4] {
        let third = ((u64::from(self.place) << 32) | u64::from(self.cells)) ^ noise[3];
        let number = noise[STAMP / 8] & NOISE_MASK;
        let mut words =
            [check_sum(number, third, signature), noise[1], (noise[2] & !NOISE_MASK) | number, third];
        move_stamp(&mut words, self.offset, origin(self.generation, self.file));
        words
    }

    /// The stamp in `words` over `noise`; `None` when the checksum is wrong.
    #[inline(always)]
    #[expect(clippy::cast_possible_truncation, reason = "fields are cut out of words")]
    pub(crate) fn read(words: [u64; 4], signature: u64, noise: &Noise) -> Option<Self> {
        let offset = words[1].wrapping_sub(noise[1]);
        let origin = words[2].wrapping_sub((noise[2] & !NOISE_MASK) | (words[2] & NOISE_MASK));
        let sum = check_sum(words[2] & NOISE_MASK, words[3], signature)
            .wrapping_add(offset.wrapping_mul(OFFSET_FACTOR))
            .wrapping_add(origin.wrapping_mul(ORIGIN_FACTOR));
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

/// Generation and file in one word, with the bits of the noise number clear.
fn origin(generation: u16, file: u32) -> u64 {
    (u64::from(generation) << 48) | (u64::from(file) << 16)
}

/// The generation in word 2 of a stamp over `noise`, damaged or not.
pub(crate) fn generation_of(second_word: u64, noise: &Noise) -> u16 {
    (second_word.wrapping_sub(noise[2] & !NOISE_MASK) >> 48) as u16
}

/// Adds an offset and an origin to a stamp without them.
#[inline(always)]
fn move_stamp(words: &mut [u64; 4], offset: u64, origin: u64) {
    let sum = offset.wrapping_mul(OFFSET_FACTOR).wrapping_add(origin.wrapping_mul(ORIGIN_FACTOR));
    words[0] = words[0].wrapping_add(sum);
    words[1] = words[1].wrapping_add(offset);
    words[2] = words[2].wrapping_add(origin);
}

/// The noise number a stamp holds in clear.
#[inline(always)]
pub(crate) fn noise_index(second_word: u64) -> usize {
    (second_word & NOISE_MASK) as usize
}

#[inline(always)]
fn check_sum(noise_number: u64, third: u64, signature: u64) -> u64 {
    mix(mix(noise_number ^ signature).wrapping_add(third))
}

/// The finaliser of splitmix64 (Steele, Lea and Flood, OOPSLA 2014).
#[inline(always)]
fn mix(value: u64) -> u64 {
    let value = (value ^ (value >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let value = (value ^ (value >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    value ^ (value >> 31)
}

/// The word of a cell too short for a stamp.
pub(crate) fn short_word(signature: u64, offset: u64) -> u64 {
    mix(!signature).wrapping_add(offset.wrapping_mul(OFFSET_FACTOR))
}

/// Fills `buffer` with one transfer at offset 0 whose noise begins at number `first`.
fn fill(buffer: &mut [u8], first: usize, signature: u64, origin: u64) {
    let cells = u32::try_from(buffer.len().div_ceil(CELL)).unwrap_or(u32::MAX);
    for (place, cell) in (0..cells).zip(buffer.chunks_mut(CELL)) {
        let offset = u64::from(place) * CELL as u64;
        let number = if cell.len() < STAMP { 0 } else { first + place as usize };
        let mut words = noise(signature, number);
        if cell.len() >= STAMP {
            let stamp = Stamp { offset, generation: 0, file: 0, place, cells };
            let mut stamp = stamp.words(signature, &words);
            move_stamp(&mut stamp, 0, origin);
            words[..4].copy_from_slice(&stamp);
        } else if cell.len() >= 8 {
            words[0] = short_word(signature, offset);
        }
        for (bytes, word) in cell.chunks_mut(8).zip(words) {
            bytes.copy_from_slice(&word.to_le_bytes()[..bytes.len()]);
        }
    }
}

/// Adds `distance` to the offset in each cell of `buffer`, and `origin` to its origin.
#[inline(always)]
fn shift(buffer: &mut [u8], distance: u64, origin: u64) {
    let by_offset = distance.wrapping_mul(OFFSET_FACTOR);
    let sum = by_offset.wrapping_add(origin.wrapping_mul(ORIGIN_FACTOR));
    let (cells, tail) = buffer.as_chunks_mut::<CELL>();
    for cell in cells {
        shift_cell(cell, sum, distance, origin);
    }
    if tail.len() >= STAMP {
        shift_cell(tail, sum, distance, origin);
    } else if tail.len() >= 8 {
        add(tail, 0, by_offset);
    }
}

#[inline(always)]
fn shift_cell(cell: &mut [u8], sum: u64, distance: u64, origin: u64) {
    add(cell, 0, sum);
    add(cell, 8, distance);
    if origin != 0 {
        add(cell, 16, origin);
    }
}

#[inline(always)]
fn add(cell: &mut [u8], at: usize, amount: u64) {
    if let Some(bytes) = cell[at..].first_chunk_mut::<8>() {
        *bytes = u64::from_le_bytes(*bytes).wrapping_add(amount).to_le_bytes();
    }
}

/// The data pattern written by the tasks of a phase.
#[derive(Debug)]
pub(crate) struct DataPattern {
    signature: u64,
    generation: u16,
    transfer: usize,
    /// Number of transfers in the image.
    windows: u64,
    /// Transfers at offset 0 without an origin, one for each window; empty if each buffer has its own noise.
    image: Box<[u8]>,
}

impl DataPattern {
    /// The pattern for transfers of `transfer` bytes.
    pub(crate) fn new(signature: u64, generation: u16, transfer: usize) -> Self {
        let windows = if transfer < REPEAT { REPEAT.div_ceil(transfer) } else { 0 };
        let mut image = vec![0; windows * transfer].into_boxed_slice();
        let cells = transfer.div_ceil(CELL);
        for (window, transfer) in image.chunks_mut(transfer).enumerate() {
            fill(transfer, window * cells, signature, 0);
        }
        Self { signature, generation, transfer, windows: windows as u64, image }
    }

    /// Creates a writer for `buffer`, which is filled or at least touched.
    pub(crate) fn writer(&self, buffer: &mut [u8], file: u32) -> PatternWriter {
        let origin = origin(self.generation, file);
        if self.image.is_empty() {
            fill(buffer, 0, self.signature, origin);
        } else {
            crate::data::buffer::touch(buffer);
        }
        PatternWriter { offset: 0, origin }
    }
}

/// Writes the pattern into one buffer of a task.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct PatternWriter {
    /// The offset in the buffer's current stamps.
    offset: u64,
    origin: u64,
}

impl PatternWriter {
    /// Switches to `file`.
    pub(crate) fn turn_to(&mut self, ink: &DataPattern, buffer: &mut [u8], file: u32) {
        let origin = origin(ink.generation, file);
        if ink.image.is_empty() && origin != self.origin {
            shift(buffer, 0, origin.wrapping_sub(self.origin));
        }
        self.origin = origin;
    }

    /// Prepares `buffer` for a write at `offset`, a multiple of the transfer size.
    #[inline(always)]
    pub(crate) fn place(&mut self, ink: &DataPattern, buffer: &mut [u8], offset: u64) {
        self.place_from(ink, buffer, offset / ink.transfer as u64, offset);
    }

    /// As [`PatternWriter::place`], with noise from the position in the image selected by `window`.
    #[inline(always)]
    pub(crate) fn place_from(&mut self, ink: &DataPattern, buffer: &mut [u8], window: u64, offset: u64) {
        if ink.image.is_empty() {
            shift(buffer, offset.wrapping_sub(self.offset), 0);
            self.offset = offset;
        } else {
            let window = usize::try_from(window % ink.windows).unwrap_or(0);
            buffer.copy_from_slice(&ink.image[window * ink.transfer..][..ink.transfer]);
            shift(buffer, offset, self.origin);
        }
    }
}

#[cfg(test)]
pub(crate) fn written(length: usize, offset: u64, (signature, generation, file): (u64, u16, u32)) -> Vec<u8> {
    let ink = DataPattern::new(signature, generation, length);
    let mut buffer = vec![0; length];
    ink.writer(&mut buffer, file).place(&ink, &mut buffer, offset);
    buffer
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use proptest::prelude::{prop_assert_eq, proptest};

    use super::{CELL, DataPattern, REPEAT, STAMP, Stamp, noise, noise_index, short_word, written};

    fn words(cell: &[u8]) -> [u64; 4] {
        std::array::from_fn(|i| u64::from_le_bytes(cell[i * 8..][..8].try_into().expect("8 bytes")))
    }

    proptest! {
        #[test]
        fn a_pen_that_turns_to_another_file_writes_as_a_new_one(
            length in 1_usize..3000, large: bool, offset in 0_u64..1000, files: [u32; 3],
        ) {
            let length = if large { REPEAT + length } else { length };
            let offset = offset * length as u64;
            let ink = DataPattern::new(7, 3, length);
            let mut buffer = vec![0; length];
            let mut writer = ink.writer(&mut buffer, files[0]);
            for file in files {
                writer.turn_to(&ink, &mut buffer, file);
                writer.place(&ink, &mut buffer, offset);
                prop_assert_eq!(&buffer, &written(length, offset, (7, 3, file)));
            }
        }
    }

    fn holds(buffer: &[u8], offset: u64) -> Result<(), proptest::test_runner::TestCaseError> {
        for (place, cell) in buffer.chunks(CELL).enumerate() {
            let at = offset + (place * CELL) as u64;
            if cell.len() >= STAMP {
                let words = words(cell);
                let noise = noise(7, noise_index(words[2]));
                let stamp = Stamp::read(words, 7, &noise).expect("the check sum moved along");
                prop_assert_eq!((stamp.offset, stamp.generation, stamp.file), (at, 3, 12));
                prop_assert_eq!(
                    (stamp.place as usize, stamp.cells as usize),
                    (place, buffer.len().div_ceil(CELL))
                );
                prop_assert_eq!(Stamp::read(words, 8, &noise), None);
            } else if cell.len() >= 8 {
                let word = u64::from_le_bytes(cell[..8].try_into().expect("8 bytes"));
                prop_assert_eq!(word, short_word(7, at));
            }
        }
        Ok(())
    }

    proptest! {
        #[test]
        fn a_buffer_names_its_place_wherever_it_was_before(
            length in 1_usize..5000, large: bool, places in proptest::collection::vec(0_u64..1 << 40, 1..5),
        ) {
            let length = if large { REPEAT + length } else { length };
            let ink = DataPattern::new(7, 3, length);
            let mut buffer = vec![0; length];
            let mut writer = ink.writer(&mut buffer, 12);
            for place in places {
                let offset = place * length as u64;
                writer.place(&ink, &mut buffer, offset);
                holds(&buffer, offset)?;
                // The bytes do not depend on the buffer's previous offset.
                prop_assert_eq!(&buffer, &written(length, offset, (7, 3, 12)));
            }
        }
    }

    /// Mean bits per byte needed by an order-0 coder.
    fn entropy(bytes: impl Iterator<Item = u8>) -> f64 {
        let mut counts = [0_u32; 256];
        bytes.for_each(|byte| counts[usize::from(byte)] += 1);
        let total = f64::from(counts.iter().sum::<u32>());
        let shares = counts.iter().filter(|&&count| count > 0).map(|&count| f64::from(count) / total);
        shares.map(|share| -share * share.log2()).sum()
    }

    #[test]
    fn a_file_does_not_compress() {
        for transfer in [512, 4096, 47_008, 64 << 10, 128 << 10, 1 << 20] {
            let count = (1_usize << 20).div_ceil(transfer) as u64;
            let file: Vec<u8> =
                (0..count).flat_map(|i| written(transfer, i * transfer as u64, (7, 1, 0))).collect();
            assert!(entropy(file.iter().copied()) > 7.99, "transfers of {transfer}");
            // The bytes that stamps could make uneven; the number in clear is in 16 and 17.
            for byte in (0..STAMP).filter(|byte| *byte != 16 && *byte != 17 && transfer.is_multiple_of(CELL))
            {
                let bits = entropy(file.iter().copied().skip(byte).step_by(CELL));
                assert!(bits > 7.0, "transfers of {transfer}, byte {byte}: {bits} bits");
            }
            // No eight bytes repeat within the window of a compressor.
            for window in file.chunks(REPEAT) {
                let (words, _) = window.as_chunks::<8>();
                let distinct: HashSet<_> = words.iter().collect();
                let repeated = words.len() - distinct.len();
                assert!(repeated * 100 < words.len(), "transfers of {transfer}: {repeated} words repeat");
            }
        }
    }
}
