//! What of an interrupted run is kept when it goes on.

use std::fs;
use std::path::{Path, PathBuf};

use crate::index::{CaseIndex, Ended, JournalIndex};
use crate::sealed::{table_path, verify};
use crate::store::TABLES;
use crate::{Manifest, RecordError, RunState};

/// An interrupted run.
pub(crate) struct Kept {
    pub(crate) index: JournalIndex,
    pub(crate) state: RunState,
    /// The highest number that a batch was given.
    pub(crate) batches: u32,
}

impl Kept {
    /// What `index` says of the run in `directory`. Tables that did not reach stable storage before the
    /// host went down count as never sealed: their cases are sealed again from the journal.
    pub(crate) fn of(mut index: JournalIndex, directory: &Path) -> Self {
        let batches = index.batches.keys().last().copied().unwrap_or(0);
        index.batches.retain(|&number, batch| {
            batch
                .sealed
                .iter()
                .all(|table| verify(&table_path(directory, &table.table, number), table).is_ok())
        });
        for case in index.cases.values_mut() {
            case.batch = case.batch.filter(|number| index.batches.contains_key(number));
        }
        Self { state: index.state(), index, batches }
    }

    /// The cases that need not run again: those that ended well and whose rows are all there.
    pub(crate) fn finished(&self) -> Vec<String> {
        let whole = |case: &&CaseIndex| case.ended == Ended::Well && (!case.damaged || case.batch.is_some());
        self.index.cases.values().filter(whole).map(|case| case.id.clone()).collect()
    }

    /// Whether every case of the plan is among them.
    pub(crate) fn is_all(&self, manifest: &Manifest) -> bool {
        let finished = self.finished();
        manifest.plan.cases.iter().all(|case| finished.contains(&case.id))
    }

    /// Takes away tables that the journal does not know: they were being sealed when the run was
    /// ended, and their rows are sealed again under other numbers.
    pub(crate) fn remove_unknown_tables(&self, directory: &Path) -> Result<(), RecordError> {
        let known: Vec<_> = self
            .index
            .batches
            .iter()
            .flat_map(|(&number, batch)| {
                batch.sealed.iter().map(move |table| table_path(directory, &table.table, number))
            })
            .collect();
        for table in TABLES {
            let Ok(entries) = fs::read_dir(directory.join(table)) else { continue };
            let ours = |path: &PathBuf| {
                path.extension().is_some_and(|extension| extension == "parquet" || extension == "unfinished")
            };
            let paths = entries.flatten().map(|entry| entry.path()).filter(ours);
            for path in paths.filter(|path| !known.contains(path)) {
                fs::remove_file(&path).map_err(RecordError::io("remove", &path))?;
            }
        }
        Ok(())
    }
}
