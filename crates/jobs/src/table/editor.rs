//! Changes a table in place.

use std::path::Path;

use plan::JobSpace;

use super::file::{Io, TableFile};
use super::reader::TableReader;
use crate::page::Header;
use crate::row::ROW_BYTES;
use crate::{JobError, PageBuffer};

/// A table whose pages can be changed. Threads may share it if they change different pages.
#[derive(Debug)]
pub(crate) struct TableEditor {
    reader: TableReader,
}

impl TableEditor {
    /// Opens the table at `path`.
    pub(crate) fn open(io: &Io, space: JobSpace, path: &Path) -> Result<Self, JobError> {
        let file = TableFile::open(io, space, path, true)?;
        Ok(Self { reader: TableReader::of(file, ROW_BYTES)? })
    }

    /// The current contents.
    pub(crate) const fn reader(&self) -> &TableReader {
        &self.reader
    }

    /// Writes `page` with the contents of `header`. The checksum is recomputed.
    pub(crate) fn write(&self, page: &mut PageBuffer, header: &Header) -> Result<(), JobError> {
        header.seal(page.bytes_mut());
        self.reader.file.write(header.number, page.bytes(), header.number >= self.reader.pages)
    }

    /// Finishes after all changes.
    pub(crate) fn finish(self) -> Result<(), JobError> {
        self.reader.file.close()
    }
}
