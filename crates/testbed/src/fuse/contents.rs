//! The contents of a file in memory. They are sparse, and keep what was there before the last overwrite.

use std::collections::BTreeMap;

/// Allocation granularity in bytes.
pub(crate) const PAGE_BYTES: u64 = 4096;
const PAGE: usize = 4096;

/// Selects a version of the data.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Version {
    /// The data of the last write.
    Now,
    /// The data before that.
    Before,
}

#[derive(Debug)]
struct Page {
    now: Box<[u8; PAGE]>,
    before: Option<Box<[u8; PAGE]>>,
}

/// The contents of one file.
#[derive(Debug, Default)]
pub(crate) struct Contents {
    pages: BTreeMap<u64, Page>,
    bytes: u64,
    removed: bool,
}

/// The part of a range that lies in one page.
struct Piece {
    page: u64,
    start: usize,
    length: usize,
}

/// Splits a range at page boundaries.
fn pieces(offset: u64, length: usize) -> impl Iterator<Item = Piece> {
    let mut at = offset;
    let mut left = length;
    std::iter::from_fn(move || {
        if left == 0 {
            return None;
        }
        let start = usize::try_from(at % PAGE_BYTES).expect("a remainder of 4096 fits");
        let piece = Piece { page: at / PAGE_BYTES, start, length: left.min(PAGE - start) };
        left -= piece.length;
        at += piece.length as u64;
        Some(piece)
    })
}

impl Contents {
    /// The file size in bytes.
    pub(crate) const fn bytes(&self) -> u64 {
        self.bytes
    }

    /// The number of allocated bytes.
    pub(crate) fn allocated_bytes(&self) -> u64 {
        self.pages.len() as u64 * PAGE_BYTES
    }

    /// Marks the file as unlinked and returns its allocated bytes. Its space counts as free from now on, because the
    /// kernel reports the last close to a FUSE file system at an unpredictable time.
    pub(crate) fn remove(&mut self) -> u64 {
        self.removed = true;
        self.allocated_bytes()
    }

    /// Whether the file is unlinked.
    pub(crate) const fn is_removed(&self) -> bool {
        self.removed
    }

    /// The bytes that a write to the range would newly allocate.
    pub(crate) fn missing_bytes(&self, offset: u64, length: u64) -> u64 {
        if length == 0 {
            return 0;
        }
        let (first, last) = (offset / PAGE_BYTES, (offset + length - 1) / PAGE_BYTES);
        (last - first + 1 - self.pages.range(first..=last).count() as u64) * PAGE_BYTES
    }

    /// Reads up to the end of the file. Returns the number of bytes read.
    pub(crate) fn read(&self, offset: u64, into: &mut [u8], version: Version) -> usize {
        let there = usize::try_from(self.bytes.saturating_sub(offset)).unwrap_or(usize::MAX);
        let length = into.len().min(there);
        let mut rest = &mut into[..length];
        for Piece { page, start, length } in pieces(offset, length) {
            let (here, others) = rest.split_at_mut(length);
            let source = self.pages.get(&page).and_then(|page| match version {
                Version::Now => Some(&page.now),
                Version::Before => page.before.as_ref(),
            });
            match source {
                Some(source) => here.copy_from_slice(&source[start..start + length]),
                None => here.fill(0),
            }
            rest = others;
        }
        length
    }

    /// Writes data, and extends the file if necessary.
    pub(crate) fn write(&mut self, offset: u64, data: &[u8]) {
        let mut rest = data;
        for Piece { page, start, length } in pieces(offset, data.len()) {
            let (here, others) = rest.split_at(length);
            let range = start..start + length;
            let page = self.pages.entry(page).and_modify(|page| {
                // Save only the bytes that are overwritten now. The rest keeps its previous version.
                let before = page.before.get_or_insert_with(|| Box::new([0; PAGE]));
                before[range.clone()].copy_from_slice(&page.now[range.clone()]);
            });
            let page = page.or_insert_with(|| Page { now: Box::new([0; PAGE]), before: None });
            page.now[range].copy_from_slice(here);
            rest = others;
        }
        self.bytes = self.bytes.max(offset + data.len() as u64);
    }

    /// Sets the size. Bytes beyond a smaller size are dropped.
    pub(crate) fn resize(&mut self, bytes: u64) {
        if bytes < self.bytes {
            self.pages.split_off(&bytes.div_ceil(PAGE_BYTES));
            let tail = usize::try_from(bytes % PAGE_BYTES).expect("a remainder of 4096 fits");
            if tail > 0
                && let Some(page) = self.pages.get_mut(&(bytes / PAGE_BYTES))
            {
                page.now[tail..].fill(0);
            }
        }
        self.bytes = bytes;
    }

    /// Allocates zeroed pages for all holes in the range.
    pub(crate) fn allocate(&mut self, offset: u64, length: u64, keep_size: bool) {
        if length == 0 {
            return;
        }
        for page in offset / PAGE_BYTES..=(offset + length - 1) / PAGE_BYTES {
            self.pages.entry(page).or_insert_with(|| Page { now: Box::new([0; PAGE]), before: None });
        }
        if !keep_size {
            self.bytes = self.bytes.max(offset + length);
        }
    }

    /// The offset of the first allocated byte at or after `offset`, if there is one before the end.
    pub(crate) fn next_data(&self, offset: u64) -> Option<u64> {
        let (page, _) = self.pages.range(offset / PAGE_BYTES..).next()?;
        let at = (page * PAGE_BYTES).max(offset);
        (at < self.bytes).then_some(at)
    }

    /// The offset of the first hole at or after `offset`. The end of the file counts as a hole.
    pub(crate) fn next_hole(&self, offset: u64) -> Option<u64> {
        if offset >= self.bytes {
            return None;
        }
        let mut page = offset / PAGE_BYTES;
        while self.pages.contains_key(&page) {
            page += 1;
        }
        Some((page * PAGE_BYTES).max(offset).min(self.bytes))
    }
}

#[cfg(test)]
mod tests {
    use proptest::collection::vec;
    use proptest::prelude::{any, prop_assert_eq, proptest};

    use super::{Contents, Version};

    proptest! {
        #[test]
        fn reads_return_what_a_plain_vector_holds(writes in vec((0_u64..20_000, vec(any::<u8>(), 1..9000)), 1..12)) {
            let (mut contents, mut now, mut before) = (Contents::default(), Vec::new(), Vec::new());
            for (offset, data) in &writes {
                let start = usize::try_from(*offset).expect("small");
                let end = start + data.len();
                now.resize(now.len().max(end), 0);
                before.resize(now.len(), 0);
                before[start..end].copy_from_slice(&now[start..end]);
                now[start..end].copy_from_slice(data);
                contents.write(*offset, data);
            }
            let mut read = vec![1; now.len() + 10];
            prop_assert_eq!(contents.read(0, &mut read, Version::Now), now.len());
            prop_assert_eq!(&read[..now.len()], &now[..]);
            prop_assert_eq!(contents.read(0, &mut read, Version::Before), now.len());
            prop_assert_eq!(&read[..now.len()], &before[..]);
        }
    }

    #[test]
    fn holes_are_found_and_filled() {
        let mut contents = Contents::default();
        contents.write(8192, &[7; 4096]);
        contents.resize(20_000);
        assert_eq!((contents.next_data(0), contents.next_hole(0)), (Some(8192), Some(0)));
        assert_eq!((contents.next_data(12_288), contents.next_hole(8192)), (None, Some(12_288)));
        assert_eq!((contents.allocated_bytes(), contents.missing_bytes(0, 20_000)), (4096, 16_384));
        contents.allocate(0, 20_000, false);
        assert_eq!((contents.next_hole(0), contents.missing_bytes(0, 20_000)), (Some(20_000), 0));
    }

    #[test]
    fn what_is_cut_off_does_not_come_back() {
        let mut contents = Contents::default();
        contents.write(0, &[7; 5000]);
        contents.resize(100);
        contents.resize(5000);
        let mut read = [1; 5000];
        contents.read(0, &mut read, Version::Now);
        assert!(read[..100].iter().all(|&byte| byte == 7) && read[100..].iter().all(|&byte| byte == 0));
    }
}
