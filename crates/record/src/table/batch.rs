//! The tables of several cases. Many small cases share one set of files.

use std::any::Any;
use std::path::PathBuf;

use crate::files::directory::{self, RunDirectory};
use crate::rows::phase_record::PhaseRecord;
use crate::table::parquet_store::{SealedTable, TableWriter};
use crate::table::tables::{TableRow, TableVisitor, each_table};
use crate::{RecordError, Row, ServerTextRow, WarningRow};

/// A batch is sealed after the case with which it reaches this number of rows. A reader of one case then
/// reads at most a few megabytes, and 10,000 small cases result in about a hundred files.
const BATCH_ROWS: usize = 1 << 17;

/// Tables that are being written.
pub(crate) struct Batch {
    directory: RunDirectory,
    number: u32,
    cases: Vec<u32>,
    rows: usize,
    /// The tables in the order in which they were opened.
    tables: Vec<Box<dyn OpenTable>>,
}

/// A [`TableWriter`] of any kind of row.
trait OpenTable: Any + Send {
    fn seal(self: Box<Self>) -> Result<Option<SealedTable>, RecordError>;
}

impl<R: Row> OpenTable for TableWriter<R> {
    fn seal(self: Box<Self>) -> Result<Option<SealedTable>, RecordError> {
        TableWriter::seal(*self)
    }
}

impl Batch {
    pub(crate) fn new(directory: &RunDirectory, number: u32) -> Self {
        Self { directory: directory.clone(), number, cases: Vec::new(), rows: 0, tables: Vec::new() }
    }

    fn add_rows<R: Row>(&mut self, rows: &[R]) -> Result<(), RecordError> {
        self.rows += rows.len();
        for table in &mut self.tables {
            let table: &mut dyn Any = table.as_mut();
            if let Some(writer) = table.downcast_mut::<TableWriter<R>>() {
                return writer.add(rows);
            }
        }
        let mut writer = TableWriter::new(&self.directory, self.number);
        writer.add(rows)?;
        self.tables.push(Box::new(writer));
        Ok(())
    }

    /// Adds the rows of one phase.
    pub(crate) fn add(&mut self, record: &PhaseRecord) -> Result<(), RecordError> {
        self.rows += record.server_texts.iter().map(ServerTextRow::further_rows).sum::<usize>();
        self.add_rows(std::slice::from_ref(&record.phase))?;
        each_table(&mut AddTables { batch: self, record })?;
        self.add_rows(&record.warnings)
    }

    /// Ends the case with this number, whose phases have all been added. `warnings` are those that do not
    /// belong to a phase.
    pub(crate) fn end_case(&mut self, number: u32, warnings: &[WarningRow]) -> Result<(), RecordError> {
        self.cases.push(number);
        self.add_rows(warnings)
    }

    /// Whether it should be sealed.
    pub(crate) fn is_full(&self) -> bool {
        self.rows >= BATCH_ROWS
    }

    /// Moves the files into place. Returns the numbers of the cases, and the tables.
    pub(crate) fn seal(self) -> Result<(Vec<u32>, Vec<SealedTable>), RecordError> {
        let sealed: Result<Vec<_>, _> = self.tables.into_iter().map(OpenTable::seal).collect();
        Ok((self.cases, sealed?.into_iter().flatten().collect()))
    }
}

/// Adds all rows of a phase to a batch.
struct AddTables<'a> {
    batch: &'a mut Batch,
    record: &'a PhaseRecord,
}

impl TableVisitor for AddTables<'_> {
    type Error = RecordError;

    fn visit<R: TableRow>(&mut self) -> Result<(), RecordError> {
        self.batch.add_rows(R::of(self.record))
    }
}

/// Syncs `files` and their names to stable storage.
pub(crate) fn sync_all(directory: &RunDirectory, files: &[PathBuf]) -> Result<(), RecordError> {
    for path in files {
        directory::open(directory, path)
            .and_then(|file| file.sync_all())
            .map_err(RecordError::io("sync", path))?;
    }
    // One file of each directory stands for its names.
    let mut files: Vec<&PathBuf> = files.iter().collect();
    files.sort_unstable();
    files.dedup_by_key(|path| path.parent());
    files.into_iter().try_for_each(|path| {
        directory::sync_names_beside(directory, path).map_err(RecordError::io("sync", path))
    })
}
