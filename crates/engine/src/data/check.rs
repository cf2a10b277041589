//! Compares the data read with the data expected, and classifies the differences.

use std::ops::Range;
use std::path::{Path, PathBuf};

use crate::data::own::signed_stamp;
use crate::data::stamp::{
    CELL, NOISE_CELLS, Noise, STAMP, Stamp, generation_of, noise, noise_index, short_word,
};
use crate::phase::job::Expect;
use crate::phase::outcome::{Mismatch, MismatchKind, Mismatches};

/// A damaged cell is recognised as ours if at least this many words of its noise match.
const RECOGNISED_WORDS: usize = 8;
/// Bytes of wrong data shown in a report.
const SHOWN_BYTES: usize = 16;

/// All noise cells of a signature: 2 MiB, shared by the tasks of a process.
#[derive(Debug)]
pub(crate) struct NoiseTable {
    signature: u64,
    cells: Box<[Noise]>,
}

impl NoiseTable {
    pub(crate) fn new(signature: u64) -> Self {
        Self { signature, cells: (0..NOISE_CELLS).map(|index| noise(signature, index)).collect() }
    }
}

/// The data that one task expects to read.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Expected<'a> {
    pub(crate) table: &'a NoiseTable,
    pub(crate) file: u32,
    /// The first and last generation accepted.
    pub(crate) generations: Option<(u16, u16)>,
}

/// Returns the range of generations accepted by `expect`.
pub(crate) fn generations(expect: &Expect) -> Option<(u16, u16)> {
    match expect {
        Expect::Any => None,
        Expect::Generations(range) => Some((*range.start(), *range.end())),
    }
}

/// A wrong cell, before it is formatted as text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Finding {
    pub(crate) task: u32,
    pub(crate) file: u32,
    pub(crate) offset: u64,
    pub(crate) cell: u64,
    pub(crate) kind: MismatchKind,
    pub(crate) found: Vec<u8>,
}

/// What the checks of one worker found.
#[derive(Debug, Default)]
pub(crate) struct CheckResults {
    pub(crate) checked_cells: u64,
    pub(crate) wrong_cells: u64,
    by_kind: [u64; 6],
    pub(crate) first: Vec<Finding>,
}

impl CheckResults {
    fn add(&mut self, finding: impl FnOnce() -> Finding, kind: MismatchKind) {
        self.wrong_cells += 1;
        self.by_kind[kind.index()] += 1;
        if self.first.len() < Mismatches::DESCRIBED {
            self.first.push(finding());
        }
    }

    /// Describes the first finding.
    pub(crate) fn first_described(&self, generations: Option<(u16, u16)>, path: &Path) -> Option<Mismatch> {
        self.first.first().map(|finding| describe(finding, generations, path.to_owned()))
    }

    /// Describes all findings. `path` maps a file number to its path.
    pub(crate) fn describe(
        &self,
        generations: Option<(u16, u16)>,
        path: impl Fn(u32) -> PathBuf,
    ) -> Mismatches {
        Mismatches {
            wrong_cells: self.wrong_cells,
            by_kind: self.by_kind,
            checked_cells: self.checked_cells,
            first: self
                .first
                .iter()
                .map(|finding| describe(finding, generations, path(finding.file)))
                .collect(),
        }
    }
}

fn describe(finding: &Finding, expected_generations: Option<(u16, u16)>, path: PathBuf) -> Mismatch {
    Mismatch {
        path,
        task: finding.task,
        offset: finding.offset,
        cell: finding.cell,
        expected_file: finding.file,
        expected_generations,
        kind: finding.kind,
        found: finding.found.clone(),
    }
}

/// Result of examining one cell.
#[derive(Debug, Clone, Copy)]
enum CellState {
    Right(Stamp),
    /// Too short for a stamp, but correct.
    RightShort,
    Stale(Stamp),
    Wrong(MismatchKind),
}

/// Compares `buffer`, which `task` read at `offset`, with the expected data and adds the differences to
/// `findings`.
pub(crate) fn check(
    buffer: &[u8],
    offset: u64,
    task: u32,
    expected: &Expected<'_>,
    findings: &mut CheckResults,
) {
    findings.checked_cells += buffer.len().div_ceil(CELL) as u64;
    // The newest write seen so far whose range covers the following cells.
    let mut cover: Option<(u16, u32)> = None;
    // Cells before this one are already classified: torn, or not covered by a newer write.
    let mut settled = 0;
    // Generation of the previous cell, if its stamp is correct.
    let mut before = None;
    let mut at = offset;
    for (index, cell) in buffer.chunks(CELL).enumerate() {
        let mut verdict = examine(cell, at, expected);
        if let CellState::Right(stamp) | CellState::Stale(stamp) = verdict {
            let generation_before = before.replace(stamp.generation);
            match cover {
                Some((generation, left)) if left > 0 && stamp.generation < generation => {
                    verdict = CellState::Wrong(MismatchKind::Torn { found: Some(stamp.generation) });
                    cover = Some((generation, left - 1));
                    settled = index + 1;
                }
                _ => {
                    cover = Some((stamp.generation, stamp.cells.saturating_sub(stamp.place + 1)));
                    let covered = settled.max(index.saturating_sub(stamp.place as usize));
                    if covered < index
                        && generation_before.is_some_and(|generation| generation < stamp.generation)
                    {
                        relabel(buffer, offset, covered..index, task, &stamp, expected, findings);
                        settled = index;
                    }
                }
            }
        } else {
            before = None;
            cover = cover.map(|(generation, left)| (generation, left.saturating_sub(1)));
        }
        let kind = match verdict {
            CellState::Right(_) | CellState::RightShort => None,
            CellState::Stale(stamp) => Some(MismatchKind::Stale { found: stamp.generation }),
            CellState::Wrong(kind) => Some(kind),
        };
        if let Some(kind) = kind {
            report(cell, at, offset, buffer.len(), task, kind, expected, findings);
        }
        at += CELL as u64;
    }
}

/// Marks cells as torn: `newer` belongs to a transfer that also wrote the range `cells` of `buffer`, so
/// cells of an older generation in that range, so far classified as correct or stale, are torn.
#[cold]
#[inline(never)]
fn relabel(
    buffer: &[u8],
    offset: u64,
    cells: Range<usize>,
    task: u32,
    newer: &Stamp,
    expected: &Expected<'_>,
    findings: &mut CheckResults,
) {
    for index in cells {
        let (cell, at) = (&buffer[index * CELL..][..CELL], offset + (index * CELL) as u64);
        let verdict = examine(cell, at, expected);
        let (CellState::Right(stamp) | CellState::Stale(stamp)) = verdict else { continue };
        if stamp.generation >= newer.generation {
            continue;
        }
        let kind = MismatchKind::Torn { found: Some(stamp.generation) };
        if matches!(verdict, CellState::Right(_)) {
            report(cell, at, offset, buffer.len(), task, kind, expected, findings);
            continue;
        }
        let stale = MismatchKind::Stale { found: stamp.generation };
        findings.by_kind[stale.index()] -= 1;
        findings.by_kind[kind.index()] += 1;
        for finding in &mut findings.first {
            if finding.cell == at && finding.file == expected.file && finding.kind == stale {
                finding.kind = kind;
            }
        }
    }
}

fn stamp_words(cell: &[u8]) -> [u64; 4] {
    let (words, _) = cell.as_chunks::<8>();
    std::array::from_fn(|index| u64::from_le_bytes(words[index]))
}

/// Classifies a cell as correct, stale, or wrong in another way. A correct cell costs one hash and one
/// comparison.
#[inline(always)]
fn examine(cell: &[u8], at: u64, expected: &Expected<'_>) -> CellState {
    if cell.len() < STAMP {
        return examine_short(cell, at, expected);
    }
    let words = stamp_words(cell);
    let noise = &expected.table.cells[noise_index(words[2])];
    if let Some(stamp) = Stamp::read(words, expected.table.signature, noise)
        && stamp.offset == at
        && stamp.file == expected.file
        && same_filler(cell, noise)
    {
        return match expected.generations {
            Some((first, last)) if stamp.generation < first || stamp.generation > last => {
                CellState::Stale(stamp)
            }
            _ => CellState::Right(stamp),
        };
    }
    CellState::Wrong(classify(cell, at, expected))
}

#[cold]
#[inline(never)]
fn examine_short(cell: &[u8], at: u64, expected: &Expected<'_>) -> CellState {
    if cell == &expected_short(cell.len(), at, expected)[..] {
        return CellState::RightShort;
    }
    let zeros = cell.iter().all(|&byte| byte == 0);
    CellState::Wrong(if zeros { MismatchKind::Zeros } else { MismatchKind::Foreign })
}

/// Returns the expected bytes of a cell that is shorter than a stamp.
fn expected_short(length: usize, at: u64, expected: &Expected<'_>) -> Vec<u8> {
    let mut words = expected.table.cells[0];
    if length >= 8 {
        words[0] = short_word(expected.table.signature, at);
    }
    words.iter().flat_map(|word| word.to_le_bytes()).take(length).collect()
}

#[inline(always)]
fn same_filler(cell: &[u8], noise: &Noise) -> bool {
    // Word by word: the compiler turns it into wide compares without a call.
    let (words, rest) = cell.as_chunks::<8>();
    let differ = words[4..]
        .iter()
        .zip(&noise[4..])
        .fold(0, |sum, (word, noise)| sum | (u64::from_le_bytes(*word) ^ noise));
    differ == 0 && (rest.is_empty() || rest == &noise[words.len()].to_le_bytes()[..rest.len()])
}

/// Classifies a cell that is neither correct nor stale.
#[cold]
#[inline(never)]
fn classify(cell: &[u8], at: u64, expected: &Expected<'_>) -> MismatchKind {
    if cell.iter().all(|&byte| byte == 0) {
        return MismatchKind::Zeros;
    }
    let words = stamp_words(cell);
    let noise = &expected.table.cells[noise_index(words[2])];
    match Stamp::read(words, expected.table.signature, noise) {
        Some(stamp) if stamp.offset != at || stamp.file != expected.file => {
            MismatchKind::Misplaced { file: stamp.file, offset: stamp.offset }
        }
        Some(_) => MismatchKind::Torn { found: None },
        None if recognise(cell, expected).is_some() => MismatchKind::Torn { found: None },
        None => signed_stamp(cell)
            .map_or(MismatchKind::Foreign, |stamp| MismatchKind::OtherRun { found: stamp.generation }),
    }
}

/// Identifies the number of the noise pattern in a damaged cell from its undamaged words.
fn recognise(cell: &[u8], expected: &Expected<'_>) -> Option<usize> {
    let (words, _) = cell.as_chunks::<8>();
    let word = |index: usize| words.get(index).map(|word| noise_index(u64::from_le_bytes(*word)));
    // The stamp and the first and last word of the filler each contain the number.
    [word(2), word(STAMP / 8), word(CELL / 8 - 1)].into_iter().flatten().find(|&number| {
        let noise = &expected.table.cells[number];
        let same =
            words[4..].iter().zip(&noise[4..]).filter(|(word, noise)| u64::from_le_bytes(**word) == **noise);
        same.count() >= RECOGNISED_WORDS
    })
}

/// Records a wrong cell together with its first wrong byte.
#[cold]
#[inline(never)]
#[expect(clippy::too_many_arguments, reason = "one call in the cold path, all of it needed")]
fn report(
    cell: &[u8],
    at: u64,
    transfer_offset: u64,
    transfer_bytes: usize,
    task: u32,
    kind: MismatchKind,
    expected: &Expected<'_>,
    findings: &mut CheckResults,
) {
    let finding = || {
        let damaged = matches!(kind, MismatchKind::Torn { found: None });
        let place = (at - transfer_offset) / CELL as u64;
        let cells = transfer_bytes.div_ceil(CELL) as u64;
        let skip = if damaged {
            first_damaged_byte(cell, at, place, cells, expected)
        } else if cell.len() < STAMP {
            let right = expected_short(cell.len(), at, expected);
            cell.iter().zip(&right).position(|(found, right)| found != right).unwrap_or(0)
        } else {
            0
        };
        let found = cell[skip..].iter().take(SHOWN_BYTES).copied().collect();
        Finding { task, file: expected.file, offset: at + skip as u64, cell: at, kind, found }
    };
    findings.add(finding, kind);
}

/// Finds the first differing byte of a cell that is still recognised as ours.
///
/// The stamp's checksum covers the whole cell, so a wrong sum alone does not tell which word is damaged.
/// Words 1 and 2 are known from the expectation; for word 3 both the found value and that of this transfer
/// are tried, and the one with a matching checksum is taken.
fn first_damaged_byte(cell: &[u8], at: u64, place: u64, cells: u64, expected: &Expected<'_>) -> usize {
    let found = stamp_words(cell);
    let signature = expected.table.signature;
    let Some(number) = recognise(cell, expected) else { return 0 };
    let noise = &expected.table.cells[number];
    let narrow = |value: u64| u32::try_from(value).unwrap_or(u32::MAX);
    let own = expected.generations.map_or(0, |(first, _)| first);
    let generation_found = generation_of(found[2], noise);
    let place_found = found[3] ^ noise[3];
    let mut best: Option<[u64; 4]> = None;
    for generation in [generation_found, own] {
        for (place, cells) in [(place_found >> 32, place_found & 0xffff_ffff), (place, cells)] {
            let stamp = Stamp {
                offset: at,
                generation,
                file: expected.file,
                place: narrow(place),
                cells: narrow(cells),
            };
            let words = stamp.words(signature, noise);
            // The best candidate matches the checksum found, or otherwise the most words.
            let score = |words: &[u64; 4]| {
                let same = words.iter().zip(&found).filter(|(a, b)| a == b).count();
                same + if words[0] == found[0] { 4 } else { 0 }
            };
            if best.as_ref().is_none_or(|best| score(&words) > score(best)) {
                best = Some(words);
            }
        }
    }
    let mut right = *noise;
    right[..4].copy_from_slice(&best.unwrap_or(found));
    let right = right.iter().flat_map(|word| word.to_le_bytes());
    cell.iter().zip(right).position(|(&found, right)| found != right).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::{prop_assert, prop_assert_eq, proptest};

    use super::{CheckResults, Expected, NoiseTable, check};
    use crate::data::stamp::{self, CELL};
    use crate::phase::outcome::MismatchKind;

    fn written(length: usize, offset: u64, generation: u16) -> Vec<u8> {
        stamp::written(length, offset, (7, generation, 2))
    }

    fn found(buffer: &[u8], offset: u64, generations: (u16, u16)) -> CheckResults {
        let table = NoiseTable::new(7);
        let expected = Expected { table: &table, file: 2, generations: Some(generations) };
        let mut findings = CheckResults::default();
        check(buffer, offset, 0, &expected, &mut findings);
        findings
    }

    #[test]
    fn right_data_is_right_whatever_the_length() {
        for length in [1, 7, 8, 31, 32, 511, 512, 4096, 47_008] {
            let offset = 3 * length as u64;
            let findings = found(&written(length, offset, 1), offset, (1, 1));
            assert_eq!((findings.wrong_cells, findings.checked_cells), (0, length.div_ceil(CELL) as u64));
        }
    }

    #[test]
    fn readers_with_other_transfers_accept_it() {
        let file: Vec<u8> = (0..4).flat_map(|i| written(4096, i * 4096, 1)).collect();
        assert_eq!(found(&file, 0, (1, 1)).wrong_cells, 0);
        assert_eq!(found(&file[512..2048], 512, (1, 1)).wrong_cells, 0);
    }

    #[test]
    fn each_kind_of_wrong_data_is_told_apart() {
        let right = written(4096, 8192, 2);
        let kinds = |buffer: &[u8]| {
            let findings = found(buffer, 8192, (2, 2));
            findings.first.iter().map(|f| (f.offset, f.kind)).collect::<Vec<_>>()
        };
        let with = |at: usize, bytes: &[u8]| {
            let mut buffer = right.clone();
            buffer[at..at + bytes.len()].copy_from_slice(bytes);
            kinds(&buffer)
        };
        assert_eq!(with(512, &[0; 512]), [(8704, MismatchKind::Zeros)]);
        assert_eq!(with(1024, &[0xaa; 512]), [(9216, MismatchKind::Foreign)]);
        let of_another = stamp::written(4096, 8192, (8, 3, 2));
        assert_eq!(with(1024, &of_another[1024..1536]), [(9216, MismatchKind::OtherRun { found: 3 })]);
        assert_eq!(with(600, b"!"), [(8792, MismatchKind::Torn { found: None })]);
        let elsewhere = written(4096, 1 << 30, 2);
        assert_eq!(
            with(512, &elsewhere[512..1024]),
            [(8704, MismatchKind::Misplaced { file: 2, offset: (1 << 30) + 512 })]
        );
        let older = written(4096, 8192, 1);
        assert_eq!(kinds(&older).len(), 8);
        assert!(kinds(&older).iter().all(|(_, kind)| *kind == MismatchKind::Stale { found: 1 }));
        // The same older cell amid newer ones was torn from their write.
        assert_eq!(with(1024, &older[1024..1536]), [(9216, MismatchKind::Torn { found: Some(1) })]);
        assert_eq!(with(0, &older[..1024]).len(), 2);
        assert!(
            with(0, &older[..1024]).iter().all(|(_, kind)| *kind == MismatchKind::Torn { found: Some(1) })
        );
        assert_eq!(with(3584, &older[3584..]), [(11776, MismatchKind::Torn { found: Some(1) })]);
    }

    #[test]
    fn a_torn_write_is_found_even_where_both_generations_are_accepted() {
        for cut in [512, 2048, 3584] {
            let (older, newer) = (written(4096, 0, 1), written(4096, 0, 2));
            let half_landed = [&newer[..cut], &older[cut..]].concat();
            let findings = found(&half_landed, 0, (1, 2));
            assert_eq!(findings.wrong_cells, 8 - cut as u64 / 512);
            let end_landed = [&older[..cut], &newer[cut..]].concat();
            let findings = found(&end_landed, 0, (1, 2));
            assert_eq!(findings.wrong_cells, cut as u64 / 512);
            assert!(findings.first.iter().all(|f| f.kind == MismatchKind::Torn { found: Some(1) }));
        }
    }

    #[test]
    fn smaller_writes_over_larger_ones_are_no_tear() {
        let mut file = written(8192, 0, 1);
        file[2048..4096].copy_from_slice(&written(2048, 2048, 2));
        assert_eq!(found(&file, 0, (1, 2)).wrong_cells, 0);
    }

    proptest! {
        #[test]
        fn the_first_wrong_byte_is_named_wherever_it_is(at in 0_usize..4096, bits in 1_u8..=255) {
            let mut buffer = written(4096, 40_960, 2);
            buffer[at] ^= bits;
            let findings = found(&buffer, 40_960, (2, 2));
            prop_assert_eq!(findings.wrong_cells, 1);
            let finding = &findings.first[0];
            prop_assert_eq!(finding.kind, MismatchKind::Torn { found: None });
            prop_assert_eq!(finding.offset, 40_960 + at as u64);
            prop_assert_eq!(finding.found[0], buffer[at]);
        }

        #[test]
        fn any_change_is_found(length in 1_usize..3000, at: usize, bits in 1_u8..=255) {
            let at = at % length;
            let mut buffer = written(length, 0, 1);
            buffer[at] ^= bits;
            let findings = found(&buffer, 0, (1, 1));
            prop_assert_eq!(findings.wrong_cells, 1);
            prop_assert!(findings.first[0].offset <= at as u64);
        }
    }
}
