//! Reads a table record by record.

use crate::page::HEADER_BYTES;
use crate::row::Origin;
use crate::table::TableReader;
use crate::{JobError, PageBuffer};

/// A position that moves from the first record of a table to its end. One page is kept in memory.
pub(crate) struct Cursor {
    table: TableReader,
    buffer: PageBuffer,
    origin: Origin,
    width: usize,
    page: u64,
    /// Number of records in the current page.
    records: usize,
    /// Index of the next record in the page.
    next: usize,
    /// Number of records before it in the table.
    passed: u64,
}

impl Cursor {
    /// Starts at the first record of `table`, whose records have `width` bytes.
    pub(crate) fn new(table: TableReader, width: usize) -> Result<Self, JobError> {
        let mut buffer = table.buffer();
        let header = table.read_header(0, &mut buffer)?;
        let (origin, records) = (header.origin, header.records as usize);
        Ok(Self { table, buffer, origin, width, page: 0, records, next: 0, passed: 0 })
    }

    /// The next record, or `None` at the end.
    #[inline]
    pub(crate) fn record(&self) -> Option<&[u8]> {
        let start = HEADER_BYTES + self.next * self.width;
        (self.next < self.records).then(|| &self.buffer.bytes()[start..start + self.width])
    }

    /// Advances to the following record.
    #[inline]
    pub(crate) fn step(&mut self) -> Result<(), JobError> {
        self.next += 1;
        self.passed += 1;
        if self.next == self.records && self.page + 1 < self.table.pages() {
            self.page += 1;
            self.next = 0;
            self.records = self.table.read_header(self.page, &mut self.buffer)?.records as usize;
        }
        Ok(())
    }

    /// The origin of the table's rows.
    pub(crate) const fn origin(&self) -> Origin {
        self.origin
    }

    /// Number of records passed.
    pub(crate) const fn passed(&self) -> u64 {
        self.passed
    }

    /// The table.
    pub(crate) const fn table(&self) -> &TableReader {
        &self.table
    }
}
