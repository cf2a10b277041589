//! Writes a table: either in order row by row, or page by page from several threads.

use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use plan::JobSpace;

use super::file::{Io, TableFile};
use crate::page::{HEADER_BYTES, Header, records_per_page, sum_of_hashes};
use crate::row::{Origin, ROW_BYTES};
use crate::{JobError, PageBuffer};

/// The result of writing a table.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Written {
    /// Number of rows.
    pub rows: u64,
    /// Size of the file in bytes.
    pub bytes: u64,
    /// Wrapping sum of the XXH64 (seed 0) of the bytes of each row.
    pub checksum: u64,
}

/// The pages of a table that is being written, in any order and by any thread.
#[derive(Debug)]
pub(crate) struct PageSink {
    file: TableFile,
    origin: Origin,
    record_bytes: usize,
    records: AtomicU64,
    pages: AtomicU64,
    checksum: AtomicU64,
}

impl PageSink {
    /// Creates the table.
    pub(crate) fn create(
        io: &Io,
        space: JobSpace,
        path: &Path,
        origin: Origin,
        record_bytes: usize,
    ) -> Result<Self, JobError> {
        Ok(Self {
            file: TableFile::create(io, space, path)?,
            origin,
            record_bytes,
            records: AtomicU64::new(0),
            pages: AtomicU64::new(0),
            checksum: AtomicU64::new(0),
        })
    }

    /// Writes page `number`, whose `records` records are already in place after the header.
    pub(crate) fn write(
        &self,
        number: u64,
        page: &mut PageBuffer,
        records: usize,
        last: bool,
    ) -> Result<(), JobError> {
        let header = Header {
            number,
            records: u32::try_from(records).unwrap_or(u32::MAX),
            record_bytes: u32::try_from(self.record_bytes).unwrap_or(u32::MAX),
            last,
            checksum: 0,
            origin: self.origin,
        };
        header.seal(page.bytes_mut());
        let written = &page.bytes()[HEADER_BYTES..HEADER_BYTES + records * self.record_bytes];
        // A checksum is only reported for tables of rows.
        if self.record_bytes == ROW_BYTES {
            self.checksum.fetch_add(sum_of_hashes(written, ROW_BYTES), Relaxed);
        }
        self.records.fetch_add(records as u64, Relaxed);
        self.pages.fetch_add(1, Relaxed);
        self.file.write(number, page.bytes(), true)
    }

    /// Finishes after all pages.
    pub(crate) fn finish(self) -> Result<Written, JobError> {
        let page_bytes = self.file.io.page_bytes.0;
        self.file.close()?;
        Ok(Written {
            rows: self.records.into_inner(),
            bytes: self.pages.into_inner() * page_bytes,
            checksum: self.checksum.into_inner(),
        })
    }
}

/// A table that is written row by row. It is complete only once it is finished.
#[derive(Debug)]
pub struct TableWriter {
    sink: PageSink,
    page: PageBuffer,
    /// Number of the current page.
    number: u64,
    /// Number of rows in it.
    records: usize,
    /// Maximum number of rows in it.
    most: usize,
}

impl TableWriter {
    /// Creates the table at `path`. `origin` is stored in its pages for steps that append rows.
    ///
    /// # Errors
    /// Errors if the call fails.
    pub fn create(io: &Io, space: JobSpace, path: &Path, origin: Origin) -> Result<Self, JobError> {
        Self::create_records(io, space, path, origin, ROW_BYTES)
    }

    /// Like [`TableWriter::create`], with records of a different size than rows.
    pub(crate) fn create_records(
        io: &Io,
        space: JobSpace,
        path: &Path,
        origin: Origin,
        record_bytes: usize,
    ) -> Result<Self, JobError> {
        let sink = PageSink::create(io, space, path, origin, record_bytes)?;
        let most = records_per_page(io.page(), record_bytes);
        Ok(Self { sink, page: PageBuffer::new(io.page()), number: 0, records: 0, most })
    }

    /// Adds a row.
    ///
    /// # Errors
    /// Errors if the previous page cannot be written.
    ///
    /// # Panics
    /// Panics if it does not have the size of the table's records.
    pub fn push(&mut self, row: &[u8]) -> Result<(), JobError> {
        if self.records == self.most {
            self.flush(false)?;
        }
        let width = self.sink.record_bytes;
        let place = HEADER_BYTES + self.records * width;
        self.page.bytes_mut()[place..place + width].copy_from_slice(row);
        self.records += 1;
        Ok(())
    }

    /// Adds consecutive rows.
    ///
    /// # Errors
    /// Errors if a page cannot be written.
    pub fn push_all(&mut self, mut rows: &[u8]) -> Result<(), JobError> {
        let width = self.sink.record_bytes;
        while !rows.is_empty() {
            if self.records == self.most {
                self.flush(false)?;
            }
            let length = rows.len().min((self.most - self.records) * width);
            let (now, later) = rows.split_at(length);
            let place = HEADER_BYTES + self.records * width;
            self.page.bytes_mut()[place..place + length].copy_from_slice(now);
            self.records += length / width;
            rows = later;
        }
        Ok(())
    }

    /// Writes the last page, and closes the file.
    ///
    /// # Errors
    /// Errors if the call fails.
    pub fn finish(mut self) -> Result<Written, JobError> {
        self.flush(true)?;
        self.sink.finish()
    }

    fn flush(&mut self, last: bool) -> Result<(), JobError> {
        self.sink.write(self.number, &mut self.page, self.records, last)?;
        self.number += 1;
        self.records = 0;
        Ok(())
    }
}
