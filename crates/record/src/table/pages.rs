//! Validates the page headers of a column before the table reader uses them, because the reader allocates
//! as many bytes and values as a header states.
//!
//! The layout is that of the Parquet format (<https://parquet.apache.org/docs/file-format/>,
//! `PageHeader` in `parquet.thrift`) in Thrift's compact protocol.

use crate::files::limits::SNAPPY_EXPANSION_MAX;

/// The kinds of page that this program writes.
const DATA: i64 = 0;
const DICTIONARY: i64 = 2;
/// `PLAIN`, `PLAIN_DICTIONARY`, `RLE`, `DELTA_BINARY_PACKED` and `RLE_DICTIONARY`. Some of the other
/// encodings repeat previous data.
const ENCODINGS: [i64; 5] = [0, 2, 3, 5, 8];
/// The first few bytes of a page may consist of nothing but its length.
const PAGE_BYTES_FREE: u64 = 64;
/// Maximum nesting of structures in a header: `PageHeader`, `DataPageHeader`, `Statistics`.
const DEPTH_MAX: u32 = 3;

/// Checks the pages in `chunk`, the bytes of one column in a group of `rows` rows.
pub(crate) fn check(mut chunk: &[u8], rows: usize) -> Result<(), String> {
    while !chunk.is_empty() {
        let mut header = Header::default();
        let mut input = Input(chunk);
        input.structure(0, DEPTH_MAX, &mut header).ok_or("the header of a page cannot be parsed")?;
        let compressed = header.check(rows).ok_or("the header of a page is implausible")?;
        chunk = input.0.get(compressed..).ok_or("one of its pages is incomplete")?;
    }
    Ok(())
}

#[derive(Default)]
struct Header {
    kind: i64,
    uncompressed_bytes: i64,
    compressed_bytes: i64,
    values: i64,
    encoding: i64,
}

impl Header {
    /// Stores field `id` of the page header (if `outer` is 0) or of the structure in its field `outer`.
    fn take(&mut self, outer: i64, id: i64, value: i64) {
        match (outer, id) {
            (0, 1) => self.kind = value,
            (0, 2) => self.uncompressed_bytes = value,
            (0, 3) => self.compressed_bytes = value,
            // For a data page, and for a dictionary page.
            (5 | 7, 1) => self.values = value,
            (5 | 7, 2) => self.encoding = value,
            _ => {}
        }
    }

    /// Returns the number of bytes that follow, if they can expand to what the header states.
    fn check(&self, rows: usize) -> Option<usize> {
        let compressed = u64::try_from(self.compressed_bytes).ok()?;
        let uncompressed = u64::try_from(self.uncompressed_bytes).ok()?;
        let values = usize::try_from(self.values).ok()?;
        let holds = uncompressed <= compressed.saturating_mul(SNAPPY_EXPANSION_MAX) + PAGE_BYTES_FREE
            && matches!(self.kind, DATA | DICTIONARY)
            && values <= rows
            && ENCODINGS.contains(&self.encoding);
        usize::try_from(compressed).ok().filter(|_| holds)
    }
}

struct Input<'a>(&'a [u8]);

impl Input<'_> {
    fn byte(&mut self) -> Option<u8> {
        let (&byte, rest) = self.0.split_first()?;
        self.0 = rest;
        Some(byte)
    }

    fn skip(&mut self, bytes: u64) -> Option<()> {
        self.0 = self.0.get(usize::try_from(bytes).ok()?..)?;
        Some(())
    }

    /// Reads a number encoded in groups of seven bits, the lowest first.
    fn varint(&mut self) -> Option<u64> {
        let mut value = 0;
        for shift in (0..64).step_by(7) {
            let byte = self.byte()?;
            value |= u64::from(byte & 0x7f) << shift;
            if byte & 0x80 == 0 {
                return Some(value);
            }
        }
        None
    }

    /// Reads a signed number, whose sign is the lowest bit.
    fn number(&mut self) -> Option<i64> {
        let value = self.varint()?;
        Some((value >> 1).cast_signed() ^ -(value & 1).cast_signed())
    }

    /// Reads the fields up to the end of a structure, which is in field `outer` of the header.
    fn structure(&mut self, outer: i64, depth: u32, header: &mut Header) -> Option<()> {
        let depth = depth.checked_sub(1)?;
        let mut id = 0_i64;
        loop {
            let head = self.byte()?;
            if head == 0 {
                return Some(());
            }
            id = match head >> 4 {
                0 => self.number()?,
                more => id.checked_add(i64::from(more))?,
            };
            match head & 0x0f {
                // Booleans.
                1 | 2 => {}
                3 => self.skip(1)?,
                // Integers of 16, 32 and 64 bits.
                4..=6 => {
                    let value = self.number()?;
                    header.take(outer, id, value);
                }
                7 => self.skip(8)?,
                8 => {
                    let length = self.varint()?;
                    self.skip(length)?;
                }
                // The fields of a page's statistics are not fields of the header itself.
                12 => self.structure(if outer == 0 { id } else { -1 }, depth, header)?,
                // Headers have no lists.
                _ => return None,
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::check;

    /// A dictionary page as the table writer makes it: kind 2, 5 bytes uncompressed, 7 compressed, one value.
    fn page(uncompressed: u8, values: u8) -> Vec<u8> {
        let mut page = vec![0x15, 2 << 1, 0x15, uncompressed << 1, 0x15, 7 << 1];
        page.extend([0x4c, 0x15, values << 1, 0x15, 0, 0x00, 0x00]);
        page.extend([0; 7]);
        page
    }

    #[test]
    fn pages_are_believed_that_can_be_true() {
        check(&[page(5, 1), page(60, 3)].concat(), 3).expect("true");
    }

    #[test]
    fn pages_that_cannot_be_true_are_refused() {
        check(&page(5, 4), 3).expect_err("more values than rows");
        let mut large = page(5, 1);
        // 2,147,483,647 bytes.
        large.splice(3..4, [0xfe, 0xff, 0xff, 0xff, 0x0f]);
        check(&large, 3).expect_err("more bytes than Snappy can make");
        let whole = page(5, 1);
        for length in 1..whole.len() {
            check(&whole[..length], 3).expect_err("cut");
        }
    }
}
