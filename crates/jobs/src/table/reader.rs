//! Reads a table page by page, sequentially or at random.

use std::path::Path;

use plan::JobSpace;

use super::file::{Io, TableFile};
use crate::page::{Header, records_per_page};
use crate::row::{Origin, ROW_BYTES};
use crate::{JobError, PageBuffer};

/// A table that is open for reading. Each page is checked when it is read. Threads may share it.
#[derive(Debug)]
pub struct TableReader {
    pub(super) file: TableFile,
    pub(super) pages: u64,
    record_bytes: usize,
}

impl TableReader {
    /// Opens the table at `path`, without reading any of it.
    ///
    /// # Errors
    /// Errors if it cannot be opened, or does not consist of whole pages.
    pub fn open(io: &Io, space: JobSpace, path: &Path) -> Result<Self, JobError> {
        Self::open_records(io, space, path, ROW_BYTES)
    }

    /// Like [`TableReader::open`], with records of a different size than rows.
    pub(crate) fn open_records(
        io: &Io,
        space: JobSpace,
        path: &Path,
        record_bytes: usize,
    ) -> Result<Self, JobError> {
        Self::of(TableFile::open(io, space, path, false)?, record_bytes)
    }

    /// The table in `file`.
    pub(super) fn of(file: TableFile, record_bytes: usize) -> Result<Self, JobError> {
        let pages = file.pages()?;
        Ok(Self { file, pages, record_bytes })
    }

    /// Number of pages of the table, at least one.
    #[must_use]
    pub const fn pages(&self) -> u64 {
        self.pages
    }

    /// Upper bound of its number of rows. The actual number is known once the last page has been read.
    #[must_use]
    pub fn rows_at_most(&self) -> u64 {
        self.pages * self.rows_per_page()
    }

    /// Number of rows in each page except the last.
    #[must_use]
    pub fn rows_per_page(&self) -> u64 {
        records_per_page(self.file.io.page(), self.record_bytes) as u64
    }

    /// The path of the file.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.file.path
    }

    /// Creates a buffer for a page of the table.
    #[must_use]
    pub fn buffer(&self) -> PageBuffer {
        PageBuffer::new(self.file.io.page())
    }

    /// Reads page `number` into `buffer`, checks it, and returns its rows as one slice.
    ///
    /// # Errors
    /// Errors if the read fails, or if the page is damaged.
    pub fn read<'a>(&self, number: u64, buffer: &'a mut PageBuffer) -> Result<&'a [u8], JobError> {
        let header = self.read_header(number, buffer)?;
        Ok(header.records_of(buffer))
    }

    /// Like [`TableReader::read`], but returns the header; the rows are in the buffer.
    pub(crate) fn read_header(&self, number: u64, buffer: &mut PageBuffer) -> Result<Header, JobError> {
        self.file.read(number, buffer.bytes_mut())?;
        let header = Header::open(buffer.bytes(), number, self.record_bytes)
            .map_err(|what| JobError::damaged(&self.file.path, number, what))?;
        if header.last == (number + 1 == self.pages) {
            return Ok(header);
        }
        let what = if header.last { "more pages follow the last one" } else { "its last page is missing" };
        Err(JobError::damaged(&self.file.path, number, what))
    }

    /// The origin of the table's rows, from its first page.
    ///
    /// # Errors
    /// Same as for [`TableReader::read`].
    pub fn origin(&self, buffer: &mut PageBuffer) -> Result<Origin, JobError> {
        Ok(self.read_header(0, buffer)?.origin)
    }

    /// Reads all pages in order and passes the rows of each to `take`. Returns the number of rows.
    ///
    /// # Errors
    /// Same as for [`TableReader::read`], or the error returned by `take`.
    pub fn for_each_page(
        &self,
        mut take: impl FnMut(&[u8]) -> Result<(), JobError>,
    ) -> Result<u64, JobError> {
        let mut buffer = self.buffer();
        let mut rows = 0;
        for number in 0..self.pages {
            let page = self.read(number, &mut buffer)?;
            rows += (page.len() / self.record_bytes) as u64;
            take(page)?;
        }
        Ok(rows)
    }
}
