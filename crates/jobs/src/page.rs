//! Pages: layout of the header, and checks.
//!
//! A table is a file of pages of equal size. A page is a header of 128 bytes followed by records of equal
//! size; the rest is zero. Only the last page of a table may have room for more records.

use plan::jobs::TableOrder;
use twox_hash::XxHash64;

use crate::PageBuffer;
use crate::row::Origin;

/// Size of a page's header in bytes.
pub(crate) const HEADER_BYTES: usize = 128;
/// First bytes of each page.
const MAGIC: &[u8; 8] = b"IOPTABLE";
/// The version of this layout.
const VERSION: u32 = 1;
/// Offset of the header's checksum, which covers everything before it.
const SEAL: usize = 120;

/// The contents of a page header.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Header {
    /// Number of the page in the table, from 0.
    pub number: u64,
    /// Number of records in it.
    pub records: u32,
    /// Size of a record in bytes.
    pub record_bytes: u32,
    /// Whether it is the last page.
    pub last: bool,
    /// XXH64 (seed 0) of its records.
    pub checksum: u64,
    /// The origin of the table's rows.
    pub origin: Origin,
}

/// Number of records that fit into a page.
pub(crate) const fn records_per_page(page_bytes: usize, record_bytes: usize) -> usize {
    (page_bytes - HEADER_BYTES) / record_bytes
}

/// XXH64 of `bytes`, with the seed 0.
pub(crate) fn hash(bytes: &[u8]) -> u64 {
    XxHash64::oneshot(0, bytes)
}

/// Wrapping sum of the hashes of records.
pub(crate) fn sum_of_hashes(records: &[u8], record_bytes: usize) -> u64 {
    records.chunks_exact(record_bytes).map(hash).fold(0, u64::wrapping_add)
}

impl Header {
    /// Completes `page`, whose records are already in place: writes zeros after them, and the header
    /// before them.
    pub(crate) fn seal(mut self, page: &mut [u8]) {
        let end = HEADER_BYTES + self.records as usize * self.record_bytes as usize;
        page[end..].fill(0);
        self.checksum = hash(&page[HEADER_BYTES..end]);
        let page_bytes = u32::try_from(page.len()).unwrap_or(u32::MAX);
        let header = &mut page[..HEADER_BYTES];
        header.fill(0);
        header[..8].copy_from_slice(MAGIC);
        let order = u32::from(self.origin.order == TableOrder::Key);
        for (place, word) in [
            (8, VERSION),
            (12, self.records),
            (24, u32::from(self.last)),
            (28, page_bytes),
            (64, order),
            (68, self.record_bytes),
        ] {
            header[place..place + 4].copy_from_slice(&word.to_le_bytes());
        }
        for (place, word) in [
            (16, self.number),
            (32, self.checksum),
            (40, self.origin.seed),
            (48, self.origin.rows),
            (56, self.origin.groups),
        ] {
            header[place..place + 8].copy_from_slice(&word.to_le_bytes());
        }
        let seal = hash(&header[..SEAL]);
        header[SEAL..].copy_from_slice(&seal.to_le_bytes());
    }

    /// The records of the page with this header.
    pub(crate) fn records_of<'a>(&self, page: &'a PageBuffer) -> &'a [u8] {
        &page.bytes()[HEADER_BYTES..HEADER_BYTES + self.records as usize * self.record_bytes as usize]
    }

    /// Parses the header of `page`. Errors with a description unless it is an intact page `number` of a
    /// table with records of this size.
    pub(crate) fn open(page: &[u8], number: u64, record_bytes: usize) -> Result<Self, String> {
        if &page[..8] != MAGIC {
            return Err(format!("it begins with {} and not with `IOPTABLE`", page[..8].escape_ascii()));
        }
        let four = |place: usize| {
            let mut word = [0; 4];
            word.copy_from_slice(&page[place..place + 4]);
            u32::from_le_bytes(word)
        };
        let eight = |place: usize| u64::from(four(place)) | u64::from(four(place + 4)) << 32;
        if four(8) != VERSION {
            return Err(format!("it has version {}, but this program supports version {VERSION}", four(8)));
        }
        if eight(SEAL) != hash(&page[..SEAL]) {
            return Err("the checksum of its header is wrong".to_owned());
        }
        let header = Self {
            number: eight(16),
            records: four(12),
            record_bytes: four(68),
            last: four(24) == 1,
            checksum: eight(32),
            origin: Origin {
                seed: eight(40),
                rows: eight(48),
                groups: eight(56),
                order: if four(64) == 1 { TableOrder::Key } else { TableOrder::Number },
            },
        };
        if four(28) as usize != page.len() {
            return Err(format!("the table has pages of {} bytes, not of {}", four(28), page.len()));
        }
        if header.number != number {
            return Err(format!("it is page {} of a table", header.number));
        }
        if header.record_bytes as usize != record_bytes {
            return Err(format!("its records have {} bytes, not {record_bytes}", header.record_bytes));
        }
        let most = records_per_page(page.len(), record_bytes);
        let records = header.records as usize;
        if records > most || (records < most && !header.last) {
            return Err(format!("it has {records} records, but {most} fit"));
        }
        if hash(&page[HEADER_BYTES..HEADER_BYTES + records * record_bytes]) != header.checksum {
            return Err("the checksum of its rows is wrong".to_owned());
        }
        Ok(header)
    }
}

#[cfg(test)]
mod tests {
    use plan::jobs::TableOrder;
    use proptest::prelude::{any, proptest};

    use super::{HEADER_BYTES, Header};
    use crate::row::Origin;

    fn page(records: u32) -> Vec<u8> {
        let origin = Origin { seed: 3, rows: 9, groups: 2, order: TableOrder::Key };
        let mut page = vec![1; 1024];
        origin.fill(0, &mut page[HEADER_BYTES..]);
        Header { number: 5, records, record_bytes: 128, last: true, checksum: 0, origin }.seal(&mut page);
        page
    }

    #[test]
    fn a_sealed_page_opens_and_says_what_it_is() {
        let header = Header::open(&page(6), 5, 128).expect("whole");
        assert_eq!((header.number, header.records, header.last), (5, 6, true));
        assert_eq!(header.origin, Origin { seed: 3, rows: 9, groups: 2, order: TableOrder::Key });
        assert!(page(6)[HEADER_BYTES + 6 * 128..].iter().all(|byte| *byte == 0));
    }

    #[test]
    fn another_page_is_told_from_this_one() {
        let told = |number, record_bytes| Header::open(&page(7), number, record_bytes).expect_err("not it");
        assert_eq!(told(4, 128), "it is page 5 of a table");
        assert_eq!(told(5, 16), "its records have 128 bytes, not 16");
        assert!(Header::open(&[0; 1024], 5, 128).expect_err("no page").contains("IOPTABLE"));
    }

    proptest! {
        #[test]
        fn no_changed_bit_of_header_or_rows_is_missed(place in 0..HEADER_BYTES + 6 * 128, bit in 0..8_u32) {
            let mut page = page(6);
            page[place] ^= 1 << bit;
            assert!(Header::open(&page, 5, 128).is_err());
        }

        #[test]
        fn any_bytes_are_an_error_and_no_panic(mut noise in proptest::collection::vec(any::<u8>(), 512)) {
            assert!(Header::open(&noise, 0, 128).is_err());
            noise[..8].copy_from_slice(b"IOPTABLE");
            noise[8..12].copy_from_slice(&[1, 0, 0, 0]);
            assert!(Header::open(&noise, 0, 128).is_err());
        }
    }
}
