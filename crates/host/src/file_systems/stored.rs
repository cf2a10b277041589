//! How much the storage holds of the data that files present: extents that share blocks, are compressed or were never
//! written, and blocks that are equal to each other.

use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::fs::File;
use std::hash::{BuildHasher, RandomState};
use std::os::unix::fs::{FileExt, MetadataExt, OpenOptionsExt};
use std::path::Path;

use rustix::fs::{Advice, OFlags};
use serde::{Deserialize, Serialize};

use crate::file_systems::cache::open_to_look;
use crate::system::sys;

/// Unit of `st_blocks`: 512 bytes on every file system (`stat(3type)`).
pub(crate) const STAT_BLOCK_BYTES: u64 = 512;
/// Maximum size of a file that a file system may keep in its inode, without allocating a block.
pub(crate) const IN_INODE_MAX: u64 = 4095;
/// Flags of extents (`linux/fiemap.h`).
const ENCODED: u32 = 0x8;
const DATA_ENCRYPTED: u32 = 0x80;
const UNWRITTEN: u32 = 0x800;
const SHARED: u32 = 0x2000;

/// Size of a sampled block: what storage that recognises equal blocks compares.
const BLOCK: u64 = 4096;
/// Number of sampled blocks of all files, which takes a few seconds on a disk.
const SAMPLES: usize = 512;
/// Maximum number of sampled blocks of a file. Each file is sampled at the same offsets, so that copies show.
const SAMPLES_PER_FILE: usize = 64;
/// Maximum number of files that are sampled; of more, evenly spread ones.
const FILES_MAX: usize = 256;
/// Up to this share, blocks that are stored in less space do not matter.
const SHARE_MAX: f64 = 0.05;

/// Offset of the first extent of `file` that was allocated but never written, below `bytes`. Reading it returns zeros
/// without access to the device. `None` also if the file system does not tell.
pub(crate) fn first_unwritten(file: &File, bytes: u64) -> Option<u64> {
    let find = |sync| {
        let extents = sys::extents(file, bytes, sync).ok()?;
        extents.iter().find(|extent| extent.flags & UNWRITTEN != 0).map(|extent| extent.offset)
    };
    // Data that is only in the page cache has no written extent yet, so the answer counts once it was written back.
    find(false).and_then(|_| find(true))
}

/// What the files of a phase store of the bytes that it reads. The sums of several processes can be added.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Stored {
    /// Bytes to be read.
    pub bytes: u64,
    /// Bytes that the file systems have allocated for the files (`st_blocks`).
    pub allocated_bytes: u64,
    /// Bytes of files that this run has not written for which no block is allocated.
    pub missing_bytes: u64,
    /// Bytes in extents that are compressed by the file system.
    pub compressed_bytes: u64,
    /// Bytes in extents that also belong to other files, or occur twice.
    pub shared_bytes: u64,
    /// The distinct bytes on the device among the shared ones.
    pub shared_once_bytes: u64,
    /// Sampled blocks.
    pub sampled: u64,
    /// Those that hold one byte again and again, or are equal to another one.
    pub repeated: u64,
}

impl Stored {
    /// Examines the first `bytes` of each of `files`. Those that are `foreign`, not written by this run, are sampled.
    #[must_use]
    pub fn of<'p>(files: impl IntoIterator<Item = &'p Path>, bytes: u64, foreign: bool) -> Self {
        let mut found = Self::default();
        let mut shared: BTreeMap<u64, Vec<(u64, u64)>> = BTreeMap::new();
        let mut all: Vec<&Path> = Vec::new();
        for path in files {
            let Ok(file) = open_to_look(path) else { continue };
            let Ok(metadata) = file.metadata().map(|one| (one.is_file(), one.blocks(), one.dev())) else {
                continue;
            };
            let (true, blocks, device) = metadata else { continue };
            found.bytes += bytes;
            let allocated = blocks.saturating_mul(STAT_BLOCK_BYTES);
            found.allocated_bytes += allocated;
            if foreign && bytes > IN_INODE_MAX {
                found.missing_bytes += bytes.saturating_sub(allocated);
            }
            // The subvolumes of btrfs have different numbers and the same blocks.
            let device = if rustix::fs::major(device) == 0 { 0 } else { device };
            for extent in sys::extents(&file, bytes, false).unwrap_or_default() {
                if is_compressed(extent.flags) {
                    found.compressed_bytes += extent.bytes;
                }
                if extent.flags & SHARED != 0 {
                    found.shared_bytes += extent.bytes;
                    shared.entry(device).or_default().push((extent.physical, extent.physical + extent.bytes));
                }
            }
            all.push(path);
        }
        found.shared_once_bytes = shared.into_values().map(union).sum();
        if foreign {
            (found.sampled, found.repeated) = repeated(&all, bytes);
        }
        found
    }

    /// Adds what another process found. Which blocks its files share with those of this one is unknown, so all shared
    /// blocks count as stored elsewhere.
    #[must_use]
    pub fn with(self, other: Self) -> Self {
        Self {
            bytes: self.bytes.saturating_add(other.bytes),
            allocated_bytes: self.allocated_bytes.saturating_add(other.allocated_bytes),
            missing_bytes: self.missing_bytes.saturating_add(other.missing_bytes),
            compressed_bytes: self.compressed_bytes.saturating_add(other.compressed_bytes),
            shared_bytes: self.shared_bytes.saturating_add(other.shared_bytes),
            shared_once_bytes: if self.bytes == 0 {
                other.shared_once_bytes
            } else if other.bytes == 0 {
                self.shared_once_bytes
            } else {
                0
            },
            sampled: self.sampled.saturating_add(other.sampled),
            repeated: self.repeated.saturating_add(other.repeated),
        }
    }

    /// Why the storage may hold much less than is read, or `None`.
    #[must_use]
    pub fn lack(&self) -> Option<String> {
        let is_much = |part: u64, of: u64| part as f64 > of as f64 * SHARE_MAX;
        let of = |part: u64| format!("{} of {}", plan::Bytes(part), plan::Bytes(self.bytes));
        if is_much(self.missing_bytes, self.bytes) {
            return Some(format!(
                "{} that are read are not allocated by the file system",
                of(self.missing_bytes)
            ));
        }
        let lacking = self.shared_bytes.saturating_sub(self.shared_once_bytes);
        if is_much(lacking, self.bytes) {
            return Some(format!(
                "{} that are read are in blocks that several files share (reflinks)",
                of(lacking)
            ));
        }
        if is_much(self.compressed_bytes, self.bytes) {
            return Some(format!(
                "{} that are read are compressed by the file system",
                of(self.compressed_bytes)
            ));
        }
        is_much(self.repeated, self.sampled).then(|| {
            format!(
                "{} of {} sampled blocks hold one byte only or are equal to another one, which storage may hold once",
                self.repeated, self.sampled
            )
        })
    }
}

/// Whether an extent with these flags is compressed. The kernel marks encrypted extents as encoded too, and these have
/// their full size.
const fn is_compressed(flags: u32) -> bool {
    flags & ENCODED != 0 && flags & DATA_ENCRYPTED == 0
}

/// The length of the union of ranges.
fn union(mut ranges: Vec<(u64, u64)>) -> u64 {
    ranges.sort_unstable();
    let (mut all, mut end) = (0, 0);
    for (from, to) in ranges {
        all += to.saturating_sub(from.max(end));
        end = end.max(to);
    }
    all
}

/// Number of blocks sampled in the first `bytes` of `files`, and how many of them hold nothing of their own.
fn repeated(files: &[&Path], bytes: u64) -> (u64, u64) {
    let random = RandomState::new();
    let count = (SAMPLES / files.len().max(1)).clamp(2, SAMPLES_PER_FILE);
    let blocks = bytes / BLOCK;
    let offsets: BTreeSet<u64> = match blocks {
        0 => BTreeSet::from([0]),
        _ if blocks <= count as u64 => (0..blocks).map(|block| block * BLOCK).collect(),
        // Nobody can prepare the places that are looked at.
        _ => (0..count).map(|index| random.hash_one(index) % blocks * BLOCK).collect(),
    };
    let (mut sampled, mut repeated) = (0, 0);
    let mut seen = HashSet::new();
    for path in files.iter().step_by(files.len().div_ceil(FILES_MAX).max(1)) {
        let Some(reader) = Reader::open(path) else { continue };
        for &offset in &offsets {
            let Some(block) = reader.block(offset) else { continue };
            sampled += 1;
            let is_new =
                block.windows(2).any(|pair| pair[0] != pair[1]) && seen.insert(random.hash_one(&block));
            repeated += u64::from(!is_new);
        }
    }
    (sampled, repeated)
}

/// Reads blocks of a file so that the page cache holds nothing of them afterwards.
struct Reader(File);

impl Reader {
    fn open(path: &Path) -> Option<Self> {
        let open = |flags: OFlags| {
            let flags = (flags | OFlags::NONBLOCK).bits().cast_signed();
            File::options().read(true).custom_flags(flags).open(path)
        };
        let file = open(OFlags::DIRECT).or_else(|_| open(OFlags::empty())).ok()?;
        // Only a hint; it keeps the kernel from reading ahead.
        let _ = rustix::fs::fadvise(&file, 0, None, Advice::Random);
        Some(Self(file))
    }

    /// The block at `offset`, or what is left of the file.
    fn block(&self, offset: u64) -> Option<Vec<u8>> {
        let bytes = usize::try_from(BLOCK).ok()?;
        let mut memory = vec![0; 2 * bytes];
        let start = memory.as_ptr().align_offset(bytes);
        let block = memory.get_mut(start..start + bytes)?;
        let read = self.0.read_at(block, offset).ok().filter(|read| *read > 0)?;
        let length = std::num::NonZeroU64::new(BLOCK);
        let _ = rustix::fs::fadvise(&self.0, offset, length, Advice::DontNeed);
        Some(block[..read].to_vec())
    }
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::path::Path;

    use super::{DATA_ENCRYPTED, ENCODED, SHARED, Stored, is_compressed, union};

    #[test]
    fn ranges_that_overlap_count_once() {
        assert_eq!(union(vec![(0, 10), (20, 30), (5, 12), (20, 30)]), 22);
        assert_eq!(union(Vec::new()), 0);
    }

    #[test]
    fn encrypted_extents_are_not_compressed() {
        assert!(is_compressed(ENCODED) && is_compressed(ENCODED | SHARED));
        assert!(!is_compressed(ENCODED | DATA_ENCRYPTED) && !is_compressed(SHARED));
    }

    /// Bytes that do not repeat (a counter through splitmix64).
    fn noise(bytes: usize, seed: u64) -> Vec<u8> {
        let word = |index: u64| {
            let value = (seed << 32 | index).wrapping_mul(0x9e37_79b9_7f4a_7c15);
            let value = (value ^ (value >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
            (value ^ (value >> 27)).to_le_bytes()
        };
        (0..bytes as u64 / 8).flat_map(word).collect()
    }

    #[test]
    fn copies_and_zeros_are_told_from_data_that_differ() {
        let directory = tempfile::tempdir().unwrap();
        let lack = |names: &[&str]| {
            let paths: Vec<_> = names.iter().map(|name| directory.path().join(name)).collect();
            Stored::of(paths.iter().map(|path| &**path as &Path), 1 << 20, true).lack()
        };
        fs::write(directory.path().join("one"), noise(1 << 20, 1)).unwrap();
        fs::write(directory.path().join("two"), noise(1 << 20, 2)).unwrap();
        fs::write(directory.path().join("copy"), noise(1 << 20, 1)).unwrap();
        fs::write(directory.path().join("zeros"), vec![0; 1 << 20]).unwrap();
        fs::write(directory.path().join("short"), noise(64 << 10, 3).repeat(16)).unwrap();
        assert_eq!(lack(&["one", "two"]), None);
        for names in [&["one", "copy"][..], &["zeros"], &["short"]] {
            assert!(lack(names).is_some_and(|words| words.contains("sampled blocks")), "{names:?}");
        }
    }
}
