//! The data that is written. It is generated so that it can be verified when read back.
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
//! per cell. Compressing storage looks back over less than that. Shorter transfers have several *windows* of
//! noise, [`REPEAT`] bytes together, and take the one corresponding to their offset, so that neighbours in a
//! file differ. A buffer either holds all windows and is shifted, or a window is copied to it from an *image*
//! ([`BufferUse`]). Either way the bytes depend only on signature, generation, file, offset and transfer size:
//! every backend writes the same file.
//!
//! A cell shorter than a stamp (32 bytes) holds its offset in a scrambled word, followed by noise; a
//! cell shorter than a word holds only noise. Damage to such cells is detected, but their generation is
//! unknown.
//!
//! A reader may use any transfer size that is a multiple of 512 if the writer's was one too. A file with
//! other transfer sizes must be checked with the size it was written with.

use std::ops::Range;

use rand_core::{Rng, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

use crate::data::buffer::{PAGE, touch};

/// Size of a cell in bytes.
pub(crate) const CELL: usize = 512;
/// Size of a stamp in bytes.
pub(crate) const STAMP: usize = 32;
const WORDS: usize = CELL / 8;
/// Index of the word that encodes the signature.
const SIGNATURE: usize = 5;
/// Minimum size of a cell that encodes the signature.
pub(crate) const SIGNED: usize = (SIGNATURE + 1) * 8;
/// Number of noise cells. Their total of 2 MiB exceeds the window of compressing storage.
pub(crate) const NOISE_CELLS: usize = 4096;
const NOISE_MASK: u64 = NOISE_CELLS as u64 - 1;
/// Multiplier of the offset in the checksum. It is odd, so that no two offsets give the same product.
const OFFSET_FACTOR: u64 = 0x9e37_79b9_7f4a_7c15;

/// Like [`OFFSET_FACTOR`], for the origin. It differs, so that an error in one cannot cancel an error
/// in the other.
const ORIGIN_FACTOR: u64 = 0xd1b5_4a32_d192_ed03;
/// Distance within which noise does not repeat in a file: the longest record that common storage compresses
/// as a whole (btrfs and ZFS: 128 KiB), also beyond the window of LZ4.
pub(crate) const REPEAT: usize = 128 << 10;

/// A cell of noise.
pub(crate) type Noise = [u64; WORDS];

/// Returns the noise of cell `index` for `signature`. The low 12 bits of the fifth and the last word hold
/// the number, so that a damaged cell can still be recognised.
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

/// Decodes the signature from words 4 and 5 of a cell.
pub(crate) fn signature_of(fourth: u64, fifth: u64) -> u64 {
    fifth ^ mix(fourth)
}

/// The contents of a stamp.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Stamp {
    pub(crate) offset: u64,
    pub(crate) generation: u16,
    pub(crate) file: u32,
    /// Index of the cell in the transfer that wrote it.
    pub(crate) place: u32,
    /// Number of cells of that transfer.
    pub(crate) cells: u32,
}

impl Stamp {
    /// Encodes this stamp as four words over `noise`.
    pub(crate) fn words(&self, signature: u64, noise: &Noise) -> [u64; 4] {
        let third = ((u64::from(self.place) << 32) | u64::from(self.cells)) ^ noise[3];
        let number = noise[STAMP / 8] & NOISE_MASK;
        let mut words =
            [check_sum(number, third, signature), noise[1], (noise[2] & !NOISE_MASK) | number, third];
        move_stamp(&mut words, self.offset, origin(self.generation, self.file));
        words
    }

    /// Decodes the stamp in `words` over `noise`. Returns `None` if the checksum is wrong.
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

/// Packs generation and file into one word; the bits of the noise number stay zero.
fn origin(generation: u16, file: u32) -> u64 {
    (u64::from(generation) << 48) | (u64::from(file) << 16)
}

/// Decodes the generation from word 2 of a stamp over `noise`, whether or not the stamp is damaged.
pub(crate) fn generation_of(second_word: u64, noise: &Noise) -> u16 {
    (second_word.wrapping_sub(noise[2] & !NOISE_MASK) >> 48) as u16
}

/// Adds an offset and an origin to a stamp that has none.
#[inline(always)]
fn move_stamp(words: &mut [u64; 4], offset: u64, origin: u64) {
    let sum = offset.wrapping_mul(OFFSET_FACTOR).wrapping_add(origin.wrapping_mul(ORIGIN_FACTOR));
    words[0] = words[0].wrapping_add(sum);
    words[1] = words[1].wrapping_add(offset);
    words[2] = words[2].wrapping_add(origin);
}

/// The noise number, which a stamp holds in clear.
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

/// The word stored in a cell that is too short for a stamp.
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

/// Adds `distance` to the offset in each cell of `buffer`, and `origin` to the origin.
#[inline(always)]
fn shift(buffer: &mut [u8], distance: u64, origin: u64) {
    let by_offset = distance.wrapping_mul(OFFSET_FACTOR);
    let sum = by_offset.wrapping_add(origin.wrapping_mul(ORIGIN_FACTOR));
    let (cells, tail) = buffer.as_chunks_mut::<CELL>();
    if tail.len() >= STAMP {
        shift_cell(tail, sum, distance, origin);
    } else if tail.len() >= 8 {
        add(tail, 0, by_offset);
    }
    // Goes backwards: after a write the end of a large buffer is in the cache, and the next write
    // begins at its start.
    for cell in cells.iter_mut().rev() {
        shift_cell(cell, sum, distance, origin);
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

/// How the buffers that hold a pattern are used.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum BufferUse {
    /// One buffer for each task, only used for writes.
    Task,
    /// One buffer for each transfer in flight, only used for writes: as small as possible.
    Request,
    /// Buffers that reads overwrite.
    Mixed,
}

impl BufferUse {
    /// Whether a buffer holds all windows of its noise.
    fn keeps_windows(self, transfer: usize) -> bool {
        match self {
            Self::Task => transfer >= LEAST_KEPT,
            Self::Request => transfer >= REPEAT,
            Self::Mixed => false,
        }
    }
}

/// Minimum transfer size for which a task keeps all windows. For smaller transfers copying is cheap, and all
/// windows fit in the first-level cache.
const LEAST_KEPT: usize = 16 << 10;
/// Maximum number of windows in a buffer.
const MOST_KEPT: usize = REPEAT / LEAST_KEPT;

/// The data pattern written by the tasks of a phase.
#[derive(Debug)]
pub(crate) struct DataPattern {
    signature: u64,
    generation: u16,
    transfer: usize,
    /// Number of windows, that is of transfers with different noise.
    windows: usize,
    /// Transfers at offset 0 without an origin, one for each window. Empty if the buffers hold all
    /// windows.
    image: Box<[u8]>,
}

impl DataPattern {
    /// Creates the pattern for transfers of `transfer` bytes.
    pub(crate) fn new(signature: u64, generation: u16, transfer: usize, buffers: BufferUse) -> Self {
        let windows = REPEAT.div_ceil(transfer);
        let image = if buffers.keeps_windows(transfer) { 0 } else { windows * transfer };
        let mut image = vec![0; image].into_boxed_slice();
        for (window, transfer) in image.chunks_mut(transfer).enumerate() {
            fill(transfer, window * transfer.len().div_ceil(CELL), signature, 0);
        }
        Self { signature, generation, transfer, windows, image }
    }

    /// Size of a buffer in bytes.
    pub(crate) fn buffer_bytes(&self) -> usize {
        if self.image.is_empty() { (self.windows - 1) * self.stride() + self.transfer } else { self.transfer }
    }

    /// Distance in bytes between two windows in a buffer. Each window has the same alignment as the
    /// buffer.
    fn stride(&self) -> usize {
        self.transfer.next_multiple_of(PAGE)
    }

    /// The windows in a buffer that holds all of them.
    fn windows_of<'b>(&self, buffer: &'b mut [u8]) -> impl Iterator<Item = &'b mut [u8]> {
        let transfer = self.transfer;
        buffer.chunks_mut(self.stride()).map(move |window| &mut window[..transfer])
    }

    /// Creates a writer for `buffer`, of at least [`DataPattern::buffer_bytes`], which is filled or at least touched.
    pub(crate) fn writer(&self, buffer: &mut [u8], file: u32) -> PatternWriter {
        let origin = origin(self.generation, file);
        if self.image.is_empty() {
            for (number, window) in self.windows_of(buffer).enumerate() {
                fill(window, number * self.transfer.div_ceil(CELL), self.signature, origin);
            }
        } else {
            touch(buffer);
        }
        PatternWriter { offsets: [0; MOST_KEPT], origin }
    }
}

/// Writes the pattern into one buffer of a task.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct PatternWriter {
    /// The offset in the current stamps of each window in the buffer.
    offsets: [u64; MOST_KEPT],
    origin: u64,
}

impl PatternWriter {
    /// Switches to `file`.
    pub(crate) fn turn_to(&mut self, pattern: &DataPattern, buffer: &mut [u8], file: u32) {
        let origin = origin(pattern.generation, file);
        if pattern.image.is_empty() && origin != self.origin {
            for window in pattern.windows_of(buffer) {
                shift(window, 0, origin.wrapping_sub(self.origin));
            }
        }
        self.origin = origin;
    }

    /// Prepares a write at `offset`, a multiple of the transfer size, and returns where in `buffer` it is.
    #[inline(always)]
    pub(crate) fn place(&mut self, pattern: &DataPattern, buffer: &mut [u8], offset: u64) -> Range<usize> {
        self.place_from(pattern, buffer, offset / pattern.transfer as u64, offset)
    }

    /// Like [`PatternWriter::place`], with the window of noise for `number`.
    #[inline(always)]
    pub(crate) fn place_from(
        &mut self,
        pattern: &DataPattern,
        buffer: &mut [u8],
        number: u64,
        offset: u64,
    ) -> Range<usize> {
        let window = usize::try_from(number % pattern.windows as u64).unwrap_or(0);
        if pattern.image.is_empty() {
            let range = window * pattern.stride()..window * pattern.stride() + pattern.transfer;
            let before = std::mem::replace(&mut self.offsets[window % MOST_KEPT], offset);
            shift(&mut buffer[range.clone()], offset.wrapping_sub(before), 0);
            range
        } else {
            let buffer = &mut buffer[..pattern.transfer];
            buffer.copy_from_slice(&pattern.image[window * pattern.transfer..][..pattern.transfer]);
            shift(buffer, offset, self.origin);
            0..pattern.transfer
        }
    }
}

#[cfg(test)]
pub(crate) fn written(length: usize, offset: u64, (signature, generation, file): (u64, u16, u32)) -> Vec<u8> {
    let pattern = DataPattern::new(signature, generation, length, BufferUse::Mixed);
    let mut buffer = vec![0; length];
    pattern.writer(&mut buffer, file).place(&pattern, &mut buffer, offset);
    buffer
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use proptest::prelude::{Strategy, prop, prop_assert_eq, proptest};

    use super::{
        BufferUse, CELL, DataPattern, LEAST_KEPT, PAGE, REPEAT, STAMP, Stamp, noise, noise_index, short_word,
        written,
    };

    fn words(cell: &[u8]) -> [u64; 4] {
        std::array::from_fn(|i| u64::from_le_bytes(cell[i * 8..][..8].try_into().expect("8 bytes")))
    }

    const USES: [BufferUse; 3] = [BufferUse::Task, BufferUse::Request, BufferUse::Mixed];

    /// Sizes on both sides of those from which buffers hold all windows.
    fn lengths() -> impl Strategy<Value = usize> {
        (1_usize..5000, prop::sample::select(vec![0, LEAST_KEPT - 2500, 47_008, REPEAT - 2500, REPEAT]))
            .prop_map(|(more, least)| least + more)
    }

    proptest! {
        #[test]
        fn every_use_of_buffers_writes_the_same(
            length in lengths(),
            places in proptest::collection::vec((0_u64..1 << 40, 0_u32..3), 1..12),
        ) {
            for buffers in USES {
                let pattern = DataPattern::new(7, 3, length, buffers);
                let mut buffer = vec![0; pattern.buffer_bytes()];
                let mut writer = pattern.writer(&mut buffer, 12);
                for (place, file) in &places {
                    let offset = place * length as u64;
                    writer.turn_to(&pattern, &mut buffer, *file);
                    let range = writer.place(&pattern, &mut buffer, offset);
                    prop_assert_eq!(range.start % PAGE, 0);
                    prop_assert_eq!(&buffer[range], &written(length, offset, (7, 3, *file)), "{:?}", buffers);
                }
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
        fn written_data_names_its_place(length in lengths(), place in 0_u64..1 << 40) {
            let offset = place * length as u64;
            holds(&written(length, offset, (7, 3, 12)), offset)?;
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
