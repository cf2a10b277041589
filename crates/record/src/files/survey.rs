//! Checks the files of a run directory, and the sizes claimed by its tables, before they are trusted.

use std::path::{Path, PathBuf};

use plan::limits::MANIFEST_BYTES;

use crate::files::directory::{self, RunDirectory};
use crate::files::limits::{check_phases, check_rows, check_rows_of_record};
use crate::files::unexpected::Unexpected;
use crate::format::{JOURNAL, MANIFEST, PARTS};
use crate::table::parquet_store::size_of_table;
use crate::table::tables::{TABLES, bytes_of_table};
use crate::{PhaseRow, RecordError, Row, WarningRow};

/// The complete files of `table` in the run `directory`, in the order of the cases.
pub(crate) fn tables_in(directory: &RunDirectory, table: &str) -> Vec<PathBuf> {
    let is_table = |path: &PathBuf| {
        path.extension().is_some_and(|extension| extension == "parquet")
            && path.file_name().is_some_and(|name| !name.to_string_lossy().starts_with('.'))
    };
    directory::list(directory, table).unwrap_or_default().into_iter().filter(is_table).collect()
}

/// The sizes claimed by the tables of a run.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Survey {
    /// Total size of the tables on disk, in bytes.
    pub(crate) stored: u64,
    /// The memory that all their rows would use.
    claimed: u64,
}

impl Survey {
    /// Surveys the run in `directory`. Rejects links and anything else that cannot be part of a record, and
    /// tables that claim to contain more than they can.
    pub(crate) fn of(directory: &RunDirectory) -> Result<Self, RecordError> {
        check_file_types(directory)?;
        for name in [MANIFEST, PARTS] {
            let path = directory.join(name);
            if directory::length(directory, &path).is_some_and(|length| length > MANIFEST_BYTES) {
                let message = format!("it has more than {}", plan::Bytes(MANIFEST_BYTES));
                return Err(RecordError::TooLarge { path, message });
            }
        }
        let mut all = Self::default();
        for table in TABLES {
            let mut of_table = Self::default();
            for path in tables_in(directory, table) {
                // A table that cannot be read is reported when its rows are requested.
                let Ok((stored, rows)) = size_of_table(directory, &path) else { continue };
                let one = Self { stored, claimed: bytes_of_table(table, rows) };
                check_rows(one.claimed, one.stored)
                    .map_err(|message| RecordError::TooLarge { path: path.clone(), message })?;
                all.add(one);
                of_table.add(one);
                // All warnings are in memory at once. There is a part of a figure for each phase. Of the other tables
                // a few files are in memory.
                match table {
                    WarningRow::TABLE => of_table.check(&path)?,
                    PhaseRow::TABLE => check_phases(of_table.claimed, of_table.stored)
                        .map_err(|message| RecordError::TooLarge { path: path.clone(), message })?,
                    _ => {}
                }
            }
        }
        Ok(all)
    }

    fn add(&mut self, more: Self) {
        self.stored = self.stored.saturating_add(more.stored);
        self.claimed = self.claimed.saturating_add(more.claimed);
    }

    /// Rejects tables whose rows, all in memory at once, would use too much for their size on disk.
    ///
    /// # Errors
    /// Errors if the limit is exceeded, with `path` as the location.
    pub(crate) fn check(self, path: &Path) -> Result<(), RecordError> {
        check_rows_of_record(self.claimed, self.stored)
            .map_err(|message| RecordError::TooLarge { path: path.to_owned(), message })
    }
}

/// Rejects a run directory in which a file of a record is not a regular file, or the directory of a table is not
/// a directory.
fn check_file_types(directory: &RunDirectory) -> Result<(), RecordError> {
    let check = |path: &Path| directory::check_file(directory, path).map_err(RecordError::io("read", path));
    for name in [MANIFEST, JOURNAL, PARTS] {
        check(&directory.join(name))?;
    }
    for table in TABLES {
        let inside = match directory::list(directory, table) {
            // A directory that cannot be listed now is reported when its files are read.
            Err(error) if !Unexpected::is(&error) => continue,
            inside => inside.map_err(RecordError::io("read", &directory.join(table)))?,
        };
        inside.iter().try_for_each(|path| check(path))?;
    }
    Ok(())
}
