//! Checks whether data was written by this program, so that other data is not overwritten.

use std::fs::File;
use std::io;
use std::os::fd::AsFd;
use std::os::unix::fs::{FileExt, MetadataExt};
use std::path::Path;

use rustix::fs::{Advice, Mode, OFlags, SeekFrom};
use rustix::io::Errno;

use crate::data::stamp::{CELL, SIGNED, STAMP, Stamp, noise, noise_index, signature_of};

/// Bytes read at each sampled place of a file.
const WINDOW: usize = 4096;
/// Maximum number of places that [`is_own_file`] samples in a file. This covers a file of 256 KiB completely,
/// and takes a fraction of a second on a disk.
pub const OWN_PLACES: u64 = 64;

/// Upper bound of the block size of common file systems.
const BLOCK: usize = 64 << 10;

/// Whether `cell` (512 bytes) has a stamp written by a workload with `signature`.
#[must_use]
pub fn is_own_cell(signature: u64, cell: &[u8]) -> bool {
    if cell.len() != CELL {
        return false;
    }
    let noise = noise(signature, noise_index(word(cell, STAMP / 8)));
    Stamp::read([0, 1, 2, 3].map(|index| word(cell, index)), signature, &noise).is_some()
}

/// Whether the regular file at `path` (links are followed) holds only data written by this program. The
/// decision is based on at most `places` samples (limit: [`OWN_PLACES`]), including the first and last
/// place. A file of up to 4 KiB per place is read completely.
///
/// Every sampled cell must have been written at its offset in a file, by any run. Zeros and holes between
/// cells are ignored, because a write that was ended by the clock leaves them. These files are never
/// recognised as this program's: a file of only zeros, a file of transfers below 48 bytes, a file of several
/// transfer sizes that are not multiples of 512, and a file with several hard links.
///
/// # Errors
/// Errors if the file cannot be read.
pub fn is_own_file(path: &Path, places: u64) -> io::Result<bool> {
    // The path may have been replaced in the meantime, for example by a pipe without a writer.
    let flags = OFlags::RDONLY | OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::CLOEXEC;
    // Only the owner of a file may use `O_NOATIME`.
    let file = rustix::fs::open(path, flags | OFlags::NOATIME, Mode::empty())
        .or_else(|_| rustix::fs::open(path, flags, Mode::empty()))?;
    let file = File::from(file);
    let metadata = file.metadata()?;
    Ok(metadata.is_file() && metadata.nlink() == 1 && holds_own(&file, metadata.len(), places)?)
}

/// Whether `file`, which has `bytes` bytes, holds only data written by this program.
fn holds_own(file: &File, bytes: u64, places: u64) -> io::Result<bool> {
    // The places are far apart, so disable read-ahead. This is only a hint.
    let _ = rustix::fs::fadvise(file, 0, None, Advice::Random);
    let sample = Sample { file, bytes, places: places.clamp(1, OWN_PLACES) };
    // If the transfer size is a multiple of 512 bytes, a cell starts at each multiple of 512.
    if sample.is_own(CELL as u64)? {
        return Ok(true);
    }
    match sample.transfer()? {
        Some(transfer) if !transfer.is_multiple_of(CELL as u64) => sample.is_own(transfer),
        Some(_) | None => Ok(false),
    }
}

/// Classification of a cell.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum CellKind {
    Own(Stamp),
    /// Zeros.
    Nothing,
    /// Too short to classify.
    Short,
    Foreign,
}

/// Classifies the cell `bytes` at `offset` of a file.
fn kind_of(bytes: &[u8], offset: u64) -> CellKind {
    if bytes.iter().all(|byte| *byte == 0) {
        return CellKind::Nothing;
    }
    if bytes.len() < SIGNED {
        return CellKind::Short;
    }
    signed_stamp(bytes).filter(|stamp| stamp.offset == offset).map_or(CellKind::Foreign, CellKind::Own)
}

/// Returns the stamp of a cell of at least [`SIGNED`] bytes if a run of any signature wrote all of it.
pub(crate) fn signed_stamp(bytes: &[u8]) -> Option<Stamp> {
    if bytes.len() < SIGNED {
        return None;
    }
    let signature = signature_of(word(bytes, 4), word(bytes, 5));
    let noise = noise(signature, noise_index(word(bytes, STAMP / 8)));
    let stamp = Stamp::read([0, 1, 2, 3].map(|index| word(bytes, index)), signature, &noise)?;
    let rest = noise.iter().flat_map(|word| word.to_le_bytes()).skip(STAMP);
    bytes[STAMP..].iter().copied().eq(rest.take(bytes.len() - STAMP)).then_some(stamp)
}

fn word(bytes: &[u8], index: usize) -> u64 {
    bytes[index * 8..].first_chunk::<8>().map_or(0, |bytes| u64::from_le_bytes(*bytes))
}

struct Sample<'a> {
    file: &'a File,
    bytes: u64,
    places: u64,
}

impl Sample<'_> {
    /// Whether all sampled cells were written by this program with transfers of `transfer` bytes.
    fn is_own(&self, transfer: u64) -> io::Result<bool> {
        let step = (self.bytes / self.places).max(WINDOW as u64);
        let last = self.bytes.saturating_sub(WINDOW as u64);
        let places = (0..self.places).map(|place| place * step).filter(|at| *at < self.bytes).chain([last]);
        let mut some = false;
        for place in places {
            let Some(at) = self.data_from(place)? else { continue };
            let start = cell_at(at, transfer);
            let window = self.read(start, WINDOW + CELL)?;
            let end = start + window.len() as u64;
            let mut offset = start;
            while offset < end {
                let next = cell_after(offset, transfer).min(self.bytes);
                if next > end {
                    break;
                }
                let (from, to) = (offset - start, next - start);
                match kind_of(&window[index(from)..index(to)], offset) {
                    CellKind::Own(_) => some = true,
                    CellKind::Nothing => {}
                    // Only the last cell of a transfer may be this short.
                    CellKind::Short if next.is_multiple_of(transfer) => {}
                    CellKind::Short | CellKind::Foreign => return Ok(false),
                }
                offset = next;
            }
        }
        Ok(some)
    }

    /// Returns the transfer size of the first data in the file, if this program wrote it.
    fn transfer(&self) -> io::Result<Option<u64>> {
        let Some(first) = self.data_from(0)? else { return Ok(None) };
        // After a hole, data begins at a block of the file system, which starts with zeros or within a
        // transfer.
        let window = self.read(first, BLOCK + 2 * CELL)?;
        let Some(zeros) = window.iter().position(|byte| *byte != 0) else { return Ok(None) };
        let found = (zeros.saturating_sub(STAMP)..=zeros + CELL).find_map(|skip| {
            let offset = first + skip as u64;
            window.get(skip..).and_then(|bytes| stamp_at(bytes, offset)).map(|stamp| (stamp, offset))
        });
        let Some((stamp, offset)) = found else { return Ok(None) };
        let (before, whole) = (u64::from(stamp.place) * CELL as u64, u64::from(stamp.cells) - 1);
        let Some(start) = offset.checked_sub(before) else { return Ok(None) };
        let last = whole * CELL as u64;
        let tail = self.read(start + last, 3 * CELL)?;
        // The cell ends where the next one begins, or at the end of the file.
        let next = (1..=CELL).find(|length| {
            let offset = start + last + *length as u64;
            offset == self.bytes || tail.get(*length..).is_some_and(|bytes| stamp_at(bytes, offset).is_some())
        });
        Ok(next.map(|length| last + length as u64))
    }

    /// Returns the start of the data at or after `at`, or `None` if only a hole follows.
    fn data_from(&self, at: u64) -> io::Result<Option<u64>> {
        match rustix::fs::seek(self.file.as_fd(), SeekFrom::Data(at)) {
            Ok(found) => Ok((found < self.bytes).then_some(found)),
            Err(Errno::NXIO) => Ok(None),
            // This file system does not report holes.
            Err(Errno::INVAL | Errno::OPNOTSUPP) => Ok((at < self.bytes).then_some(at)),
            Err(errno) => Err(errno.into()),
        }
    }

    /// Reads up to `length` bytes at `offset`.
    fn read(&self, offset: u64, length: usize) -> io::Result<Vec<u8>> {
        let left = usize::try_from(self.bytes.saturating_sub(offset)).unwrap_or(usize::MAX);
        let mut bytes = vec![0; length.min(left)];
        self.file.read_exact_at(&mut bytes, offset)?;
        Ok(bytes)
    }
}

/// Returns the stamp of the cell at the start of `bytes`, which is at `offset` of a file. Other cells
/// may follow.
fn stamp_at(bytes: &[u8], offset: u64) -> Option<Stamp> {
    // The length of the cell is not known yet, but its first words are enough.
    match kind_of(bytes.get(..SIGNED)?, offset) {
        CellKind::Own(stamp) => Some(stamp),
        CellKind::Nothing | CellKind::Short | CellKind::Foreign => None,
    }
}

/// Returns the start of the cell that contains `offset`.
fn cell_at(offset: u64, transfer: u64) -> u64 {
    offset - offset % transfer % CELL as u64
}

/// Returns the end of the cell that begins at `offset`.
fn cell_after(offset: u64, transfer: u64) -> u64 {
    (offset + CELL as u64).min(offset - offset % transfer + transfer)
}

/// Converts a distance within a window to an index.
fn index(distance: u64) -> usize {
    usize::try_from(distance).unwrap_or(usize::MAX)
}

#[cfg(test)]
mod tests {
    use std::fs::File;
    use std::io::Write;
    use std::os::unix::fs::FileExt;

    use super::{OWN_PLACES, holds_own, is_own_cell, is_own_file};
    use crate::data::stamp::{CELL, written};

    #[test]
    fn own_data_is_known_by_its_signature_alone() {
        let mut buffer = written(4 * CELL, 8192, (5, 3, 2));
        assert!(buffer.chunks(CELL).all(|cell| is_own_cell(5, cell)));
        assert!(!buffer.chunks(CELL).any(|cell| is_own_cell(6, cell)));
        assert!(!is_own_cell(5, &[0; CELL]));
        buffer[3] ^= 1;
        assert!(!is_own_cell(5, &buffer[..CELL]), "a damaged stamp is nobody's");
    }

    /// A file of transfers of these lengths, one after the other, as of any run.
    fn file_of(transfers: impl IntoIterator<Item = usize>) -> (File, u64) {
        let mut file = tempfile::tempfile().unwrap();
        let mut bytes = 0;
        for (number, length) in transfers.into_iter().enumerate() {
            file.write_all(&written(length, bytes, (number as u64 / 3, 1, 2))).unwrap();
            bytes += length as u64;
        }
        (file, bytes)
    }

    fn is_own((file, bytes): &(File, u64)) -> bool {
        holds_own(file, *bytes, OWN_PLACES).unwrap()
    }

    #[test]
    fn a_file_of_any_run_is_known_whatever_its_transfers() {
        for (length, count) in [
            (512, 1),
            (4096, 100),
            (1 << 20, 3),
            (47_008, 20),
            (1000, 300),
            (100, 300),
            (48, 1),
            (48, 7),
            (700, 1),
        ] {
            assert!(is_own(&file_of(vec![length; count])), "{count} transfers of {length}");
        }
        assert!(is_own(&file_of([4096, 1024, 131_072, 512])), "transfers that end on cells");
        let (file, bytes) = file_of([4096; 20]);
        file.set_len(bytes - 300).unwrap();
        assert!(is_own(&(file, bytes - 300)), "one that was cut");
    }

    #[test]
    fn one_cell_of_anything_else_makes_it_somebody_s() {
        for length in [4096, 47_008, 700] {
            let count = 100_000 / length;
            let all = file_of(vec![length; count]);
            for at in [0, 30, 50_000, 90_001, count * length - 1] {
                let mut one = [0];
                all.0.read_exact_at(&mut one, at as u64).unwrap();
                all.0.write_all_at(&[one[0] ^ 1], at as u64).unwrap();
                assert!(!is_own(&all), "byte {at}, transfers of {length}");
                all.0.write_all_at(&one, at as u64).unwrap();
            }
            let (file, bytes) = all;
            file.write_all_at(b"and my notes", bytes).unwrap();
            assert!(!is_own(&(file, bytes + 12)), "what follows transfers of {length}");
        }
        // A copy of a benchmark file inside another file, such as an image or an archive.
        let (file, _) = file_of([4096]);
        file.write_all_at(&written(4096, 0, (1, 1, 2)), 8192).unwrap();
        assert!(!is_own(&(file, 12_288)));
    }

    #[test]
    fn zeros_are_nobody_s_unless_they_stand_between_cells() {
        let zeros = tempfile::tempfile().unwrap();
        zeros.set_len(1 << 20).unwrap();
        assert!(!holds_own(&zeros, 1 << 20, OWN_PLACES).unwrap(), "a hole");
        zeros.write_all_at(&[0; 1 << 20], 0).unwrap();
        assert!(!holds_own(&zeros, 1 << 20, OWN_PLACES).unwrap(), "zeros on the disk");
        zeros.write_all_at(&written(4096, 65_536, (1, 1, 2)), 65_536).unwrap();
        assert!(holds_own(&zeros, 1 << 20, OWN_PLACES).unwrap(), "a write that was ended");
        // The transfers before it were never made.
        let sparse = tempfile::tempfile().unwrap();
        sparse.write_all_at(&written(47_008, 470_080, (1, 1, 2)), 470_080).unwrap();
        sparse.write_all_at(&written(47_008, 517_088, (1, 1, 2)), 517_088).unwrap();
        assert!(holds_own(&sparse, 564_096, OWN_PLACES).unwrap(), "one with a hole at its start");
    }

    #[test]
    fn a_file_of_any_size_is_looked_at_in_no_time() {
        let file = tempfile::tempfile().unwrap();
        let bytes = 1 << 43;
        file.set_len(bytes).unwrap();
        assert!(!holds_own(&file, bytes, OWN_PLACES).unwrap());
        file.write_all_at(&written(4096, 0, (1, 1, 2)), 0).unwrap();
        file.write_all_at(b"an island", 1 << 42).unwrap();
        assert!(!holds_own(&file, bytes, OWN_PLACES).unwrap(), "data between holes are found");
    }

    #[test]
    fn what_has_several_names_or_is_no_file_is_somebody_s() {
        let place = tempfile::tempdir().unwrap();
        let path = place.path().join("f");
        std::fs::write(&path, written(4096, 0, (1, 1, 2))).unwrap();
        assert!(is_own_file(&path, 4).unwrap());
        std::os::unix::fs::symlink(&path, place.path().join("link")).unwrap();
        assert!(is_own_file(&place.path().join("link"), 4).unwrap());
        std::fs::hard_link(&path, place.path().join("g")).unwrap();
        assert!(!is_own_file(&path, 4).unwrap());
        assert!(is_own_file(&place.path().join("none"), 4).is_err());
        assert!(!is_own_file(place.path(), 4).unwrap());
    }
}
